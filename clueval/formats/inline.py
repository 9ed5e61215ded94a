"""Inline tags, as language models answer: the text with its spans in it, as tags or in brackets.

``<PER>Ada</PER>`` or ``[Ada](PER)``; ``[Ada](PER:value)`` has the feature ``value``. Spans may nest. A label is one of
``--labels``, or, without that, a name in upper case. ``&amp;``, ``&lt;`` and ``&gt;`` stand for their characters; every
other ``<``, ``[`` and ``]`` is text. A file is one document. Only ``--input inline`` reads it, because every text fits.

A tag that is not closed or closes nothing, and spans that cross, are errors.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from clueval.exceptions import FormatError, UsageError
from clueval.formats.format import Format, Options, Writer
from clueval.formats.opened import Opened
from clueval.spans.document import Document
from clueval.spans.span import DEFAULT_LAYER, Frozen, Span, name_of

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

    def __init__(self, text: str, labels: Collection[str] | None, file: str) -> None:
        self._text, self._labels, self._file = text, labels, file
        self.found = list(_MARK.finditer(text))
        self.pairs: list[_Pair] = []
        self._stack: list[tuple[int, str | None]] = []  # open marks, brackets without a label
        for number, mark in enumerate(self.found):
            self._see(number, mark)
        for number, label in self._stack:
            if label is not None:
                raise self._wrong(number, f"<{label:.40}> is not closed")

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
                raise self._wrong(number, f"]({label:.40}) closes no bracket")
            self.pairs.append(_Pair(self._stack.pop()[0], number, label, mark["value"]))
        elif (mark["right"] or mark["label"]) and self._stack and self._stack[-1][1] is None:
            self._stack.pop()

    def _close(self, number: int, label: str) -> None:
        while self._stack and self._stack[-1][1] is None:  # brackets that are text
            self._stack.pop()
        if not self._stack:
            raise self._wrong(number, f"</{label:.40}> closes nothing")
        begin, other = self._stack.pop()
        if other != label:
            line = self._line(begin)
            raise self._wrong(number, f"</{label:.40}> comes before the end of <{other:.40}> of line {line}")
        self.pairs.append(_Pair(begin, number, label, None))

    def _line(self, number: int) -> int:
        return self._text.count("\n", 0, self.found[number].start()) + 1

    def _wrong(self, number: int, problem: str) -> FormatError:
        advice = "tags are closed in reverse order; write &lt; for a < in the text"
        return FormatError(problem, file=self._file, line=self._line(number), advice=advice)


def is_label(name: str, labels: Collection[str] | None) -> bool:
    """Return whether a name between marks is a label.

    >>> is_label("PER", None), is_label("b", None), is_label("b", ["b"])
    (True, False, True)
    """
    return name.isupper() if labels is None else name in labels


def read_inline(content: str, *, id: str = "1", labels: Collection[str] | None = None, file: str) -> Document:
    """Return the document in the content of a file; `file` is the name of the file in errors.

    >>> document = read_inline("<PER>Ada</PER> in [Ulm](LOC)", file="a.txt")
    >>> document.text, [document.text_of(span) for span in document.layers["label"]]
    ('Ada in Ulm', ['Ada', 'Ulm'])
    """
    marks = _Marks(content, labels, file)
    paired = {number for pair in marks.pairs for number in pair[:2]}
    pieces: list[str] = []
    places: dict[int, tuple[int, int]] = {}  # by mark: the position in the text, and the line
    done = length = 0
    line = 1
    for number, mark in enumerate(marks.found):
        kept = content[done : mark.start()]
        pieces.append(kept)
        length, line, done = length + len(kept), line + kept.count("\n"), mark.end()
        if number in paired:
            places[number] = length, line
            continue
        pieces.append(_ENTITIES[mark["entity"]] if mark["entity"] else mark[0])
        length += len(pieces[-1])
    pieces.append(content[done:])
    return Document(
        id,
        {DEFAULT_LAYER: [_span(pair, places) for pair in sorted(marks.pairs)]},
        text="".join(pieces),
        unit="character",
        file=file,
    )


def _span(pair: _Pair, places: Mapping[int, tuple[int, int]]) -> Span:
    start, line = places[pair.begin]
    features = {} if pair.value is None else {"value": pair.value}
    return Span(start, places[pair.end][0], Frozen({DEFAULT_LAYER: pair.label}), features, line=line)


def _read(opened: Opened, options: Options) -> Iterator[Document]:
    yield read_inline(opened.text(), id=opened.stem, labels=options.labels, file=opened.file)


def _lines(documents: Iterator[Document], *, layers: Sequence[str], with_ids: bool) -> Iterator[str]:
    """Yield the content for the only document; without documents, an empty text."""
    del layers, with_ids  # the format has neither
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
        raise _unwritable(document, f"the label {span.label[:40]!r} is no name in upper case")
    if stack and span.end > stack[-1].end:
        raise _unwritable(document, f"the spans {name_of(stack[-1])} and {name_of(span)} cross")


def _unwritable(document: Document, problem: str) -> UsageError:
    return UsageError(
        f"inline tags cannot hold the document: {problem}", file=document.file, document=document.id
    )


FORMAT = Format(
    name="inline",
    holds="a text with its spans in it, as tags, `<PER>Ada</PER>`, or as links of Markdown; one document",
    read=_read,
    options=frozenset({"labels"}),
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
