"""Inline tags, as language models answer: the text with its spans in it, as tags or in brackets.

``<PER>Ada</PER>`` or ``[Ada](PER)``; ``[Ada](PER:value)`` has the feature ``value``. Spans may nest. A label is one of
``--labels``, or, without that, a name in upper case. ``&amp;``, ``&lt;`` and ``&gt;`` stand for their characters; every
other ``<``, ``[`` and ``]`` is text.
Only ``--input inline`` reads the format, because every text fits.

A file is one document, or has one in each line, as JSON ``{"id": "1", "text": "<PER>Ada</PER>"}``. A code fence around
a text is taken off. A tag that is not closed or closes nothing, and spans that cross, are errors, or with
``--unparsable lenient`` left out and counted; with ``--unparsable empty``, such an answer is empty.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from clueval.core.span import DEFAULT_LAYER, Frozen, Span, name_of
from clueval.files.errors import FormatError, UsageError
from clueval.formats.format import Format, Options, Writer, only_layer
from clueval.formats.opened import Opened
from clueval.spans.document import Document
from clueval.spans.features import UNPARSABLE

_LABEL = r"[^<>\[\]()/\s:][^<>\[\]()/\n:]*"
_MARK = re.compile(
    rf"&(?P<entity>amp|lt|gt);|<(?P<open>{_LABEL})>|</(?P<close>{_LABEL})>|(?P<left>\[)"
    rf"|\]\((?P<label>{_LABEL})(?::(?P<value>[^()\n]*))?\)|(?P<right>\])"
)
_ENTITIES = {"amp": "&", "lt": "<", "gt": ">"}
_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


class _Pair(NamedTuple):
    """An opening and a closing mark that belong together, by their numbers, and the label and value between them."""

    begin: int
    end: int
    label: str
    value: str | None


class _Marks:
    """The marks of one text, and the pairs among them; a mark that is in no pair is text."""

    def __init__(
        self, text: str, labels: Collection[str] | None, file: str, *, lenient: bool = False, line: int = 1
    ) -> None:
        self._text, self._labels, self._file, self._lenient, self._first = text, labels, file, lenient, line
        self.dropped: set[int] = set()
        """The numbers of tags that belong to no pair and are left out, with `lenient`."""
        self.found = list(_MARK.finditer(text))
        self.pairs: list[_Pair] = []
        self._stack: list[tuple[int, str | None]] = []  # open marks, brackets without a label
        for number, mark in enumerate(self.found):
            self._see(number, mark)
        for number, label in self._stack:
            if label is not None:
                self._refuse(number, f"<{label:.40}> is not closed")

    def _see(self, number: int, mark: re.Match[str]) -> None:
        label = mark["open"] or mark["close"] or mark["label"]
        if label and not is_label(label, self._labels):
            label = None
        if mark["left"]:
            self._stack.append((number, None))
        elif mark["open"] and label:
            self._stack.append((number, label))
        elif mark["close"] and label:
            self._close(number, label)
        elif mark["label"] and label:
            if not self._stack or self._stack[-1][1] is not None:
                self._refuse(number, f"]({label:.40}) closes no bracket")
                return
            self.pairs.append(_Pair(self._stack.pop()[0], number, label, mark["value"]))
        elif (mark["right"] or mark["label"]) and self._stack and self._stack[-1][1] is None:
            self._stack.pop()

    def _close(self, number: int, label: str) -> None:
        while self._stack and self._stack[-1][1] is None:  # brackets that are text
            self._stack.pop()
        if all(other != label for _, other in self._stack) and (self._lenient or not self._stack):
            self._refuse(number, f"</{label:.40}> closes nothing")
            return
        begin, other = self._stack.pop()
        while other != label:
            line = self._line(begin)
            self._refuse(
                number, f"</{label:.40}> comes before the end of <{other:.40}> of line {line}", drop=begin
            )
            begin, other = self._stack.pop()
        self.pairs.append(_Pair(begin, number, label, None))

    def _line(self, number: int) -> int:
        return self._text.count("\n", 0, self.found[number].start()) + self._first

    def _refuse(self, number: int, problem: str, drop: int | None = None) -> None:
        """Leave out the mark with this number (or the number `drop`), or raise `FormatError` for it."""
        if self._lenient:
            self.dropped.add(number if drop is None else drop)
            return
        advice = "tags are closed in reverse order; write &lt; for a < in the text"
        raise FormatError(problem, file=self._file, line=self._line(number), advice=advice)


def is_label(name: str, labels: Collection[str] | None) -> bool:
    """Return whether a name between marks is a label.

    >>> is_label("PER", None), is_label("b", None), is_label("b", ["b"])
    (True, False, True)
    """
    return name.isupper() if labels is None else name in labels


def read_inline(
    content: str,
    *,
    id: str = "1",
    labels: Collection[str] | None = None,
    layer: str = DEFAULT_LAYER,
    lenient: bool = False,
    first: int = 1,
    file: str,
) -> Document:
    """Return the document in a text; for errors, `file` is the name of its file, and `first` its first line.

    >>> document = read_inline("<PER>Ada</PER> in [Ulm](LOC)", file="a.txt")
    >>> document.text, [document.text_of(span) for span in document.layers["label"]]
    ('Ada in Ulm', ['Ada', 'Ulm'])
    """
    marks = _Marks(content, labels, file, lenient=lenient, line=first)
    paired = {number for pair in marks.pairs for number in pair[:2]}
    pieces: list[str] = []
    places: dict[int, tuple[int, int]] = {}  # by mark: the position in the text, and the line
    done = length = 0
    line = first
    for number, mark in enumerate(marks.found):
        kept = content[done : mark.start()]
        pieces.append(kept)
        length, line, done = length + len(kept), line + kept.count("\n"), mark.end()
        if number in paired:
            places[number] = length, line
            continue
        if number in marks.dropped:
            continue
        pieces.append(_ENTITIES[mark["entity"]] if mark["entity"] else mark[0])
        length += len(pieces[-1])
    pieces.append(content[done:])
    return Document(
        id,
        {layer: [_span(pair, places, layer) for pair in sorted(marks.pairs)]},
        text="".join(pieces),
        unit="character",
        metadata={UNPARSABLE: str(len(marks.dropped))} if marks.dropped else {},
        file=file,
    )


def _span(pair: _Pair, places: Mapping[int, tuple[int, int]], layer: str) -> Span:
    start, line = places[pair.begin]
    features = {} if pair.value is None else {"value": pair.value}
    return Span(start, places[pair.end][0], Frozen({layer: pair.label}), features, line=line)


def _read(opened: Opened, options: Options) -> Iterator[Document]:
    layer = only_layer(options, opened.file)
    content = opened.text()
    answers = _rows(content) if _HAS_ROWS.match(content) else [(opened.stem, content, 1)]
    for id, text, line in answers:
        yield _answer(id, _unfenced(text) if text is not None else None, line, layer, options, opened.file)


def inline_answer(answer: object, id: str, options: Options) -> Document:
    """Return the document of one answer: a text with marks, or a row with such a text and an id.

    Raises `FormatError` for an answer that cannot be read.
    """
    row = answer if isinstance(answer, Mapping) else {"text": answer}
    text = row.get("text")
    content = _unfenced(text) if isinstance(text, str) else None
    return _answer(id if row.get("id") is None else str(row["id"]), content, 1, DEFAULT_LAYER, options, "")


def _answer(id: str, text: str | None, line: int, layer: str, options: Options, file: str) -> Document:
    """Return the document of an answer; None: a row that is none."""
    empty = Document(id, {layer: []}, text="", unit="character", metadata={UNPARSABLE: "1"}, file=file)
    if text is None:
        if options.unparsable != "empty":
            raise FormatError(
                "the row is not a JSON object with a text",
                file=file,
                line=line,
                advice='write {"id": "1", "text": "..."}, or count it as an empty answer with unparsable=\'empty\'',
            )
        return empty
    lenient = options.unparsable == "lenient"
    try:
        return read_inline(
            text, id=id, labels=options.labels, layer=layer, lenient=lenient, first=line, file=file
        )
    except FormatError:
        if options.unparsable != "empty":
            raise
        return empty


_HAS_ROWS = re.compile(r'\s*\{\s*"(?:id|text)"\s*:')
"""The beginning of a file with a row in each line."""

_FENCED = re.compile(r"\s*(?:```|~~~)[^\n`]*\n(.*?)\n?\s*(?:```|~~~)\s*", re.DOTALL)


def _unfenced(text: str) -> str:
    """Return a text without the code fence around it.

    >>> _unfenced("```xml\\n<PER>Ada</PER>\\n```")
    '<PER>Ada</PER>'
    """
    match = _FENCED.fullmatch(text)
    return text if match is None else match[1]


def _rows(content: str) -> Iterator[tuple[str, str | None, int]]:
    """Yield the id, the text and the line of each row; None for a row that has no text."""
    number = 0
    for line, row in enumerate(content.split("\n"), 1):
        if not row.strip():
            continue
        number += 1
        try:
            value = json.loads(row)
            text = value["text"]
            text.encode()
            id = value.get("id")
            yield str(number) if id is None else str(id), text, line
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            yield str(number), None, line


def _lines(documents: Iterator[Document], *_: object) -> Iterator[str]:
    """Yield the content for the only document; without documents, an empty text."""
    for document in documents:
        yield write_inline(document)


def write_inline(document: Document) -> str:
    """Return the text with its spans as tags, which `read_inline` reads with the labels of the document.

    Raises `UsageError` for a document without text, for labels that are no names, for features and gaps, and for
    spans that cross.

    >>> write_inline(Document("d", {"x": [Span(0, 3, "PER")]}, text="Ada < Eva", unit="character"))
    '<PER>Ada</PER> &lt; Eva'
    """
    text, start = document.text, document.start
    if text is None or document.unit != "character" or len(document.layers) > 1:
        raise _unwritable(document, "it has no text with character positions, or several layers")
    spans = [span for spans in document.layers.values() for span in spans]
    for mark in _MARK.finditer(text):
        if mark["label"] and is_label(mark["label"], None):
            raise _unwritable(
                document, f"its text has a link with a label at position {start + mark.start()}"
            )
    pieces: list[str] = []
    stack: list[Span] = []
    done = start
    for span in [*sorted(spans, key=lambda span: (span.start, -span.end)), None]:
        while stack and (span is None or stack[-1].end <= span.start):
            ended = stack.pop()
            pieces += [_escaped(text[done - start : ended.end - start]), f"</{ended.label}>"]
            done = ended.end
        if span is not None:
            _require_writable(span, stack, document)
            pieces += [_escaped(text[done - start : span.start - start]), f"<{span.label}>"]
            done = span.start
            stack.append(span)
    return "".join([*pieces, _escaped(text[done - start :])])


def _escaped(text: str) -> str:
    return text.translate(_ESCAPES)


def _require_writable(span: Span, stack: Sequence[Span], document: Document) -> None:
    if span.parts is not None or span.features:
        raise _unwritable(document, f"the span {name_of(span)} has gaps or features")
    if not re.fullmatch(_LABEL, span.label) or not is_label(span.label, None):
        raise _unwritable(document, f"the label {span.label[:40]!r} is not a name in upper case")
    if stack and span.end > stack[-1].end:
        raise _unwritable(document, f"the spans {name_of(stack[-1])} and {name_of(span)} cross")


def _unwritable(document: Document, problem: str) -> UsageError:
    return UsageError(f"inline tags cannot hold the document: {problem}", **document.in_errors)


FORMAT = Format(
    name="inline",
    holds="a text with its spans in it, as tags, `<PER>Ada</PER>`, or as links of Markdown",
    read=_read,
    options=frozenset({"layers", "labels", "unparsable"}),
    single=True,
    nameless=True,
    write=Writer(
        _lines,
        ".txt",
        unit="character",
        ends_lines=False,
        holds=frozenset({"zero-length spans", "overlapping spans", "spans across sentences"}),
    ),
)
