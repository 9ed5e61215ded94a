"""Inline tags, as language models answer: the text with its spans in it, as tags or in brackets.

The rules of the format stand in ``formats.md``.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

from clueval.core.document import BY_ID, UNPARSABLE, Document, MissingId
from clueval.core.span import DEFAULT_LAYER, Frozen, Span, name_of
from clueval.files.errors import FormatError, UsageError
from clueval.formats.answers import WRAPPERS, Answer
from clueval.formats.documents import FileFormat, only_layer
from clueval.formats.input_file import InputFile, Numbered
from clueval.formats.options import FormatOptions
from clueval.formats.span_forms import FURTHER_ANSWERS
from clueval.formats.writer import EDGES, Writer, range_without_edges

_LABEL = r"[^<>\[\]()/\s:][^<>\[\]()/\n:]*"
_MARK = re.compile(
    rf"&(?P<entity>amp|lt|gt);|<(?P<open>{_LABEL})>|</(?P<close>{_LABEL})>|(?P<left>\[)"
    rf"|\]\((?P<label>{_LABEL})(?::(?P<value>[^()\n]*))?\)|(?P<right>\])"
)
_ENTITIES = {"amp": "&", "lt": "<", "gt": ">"}
_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
_SURROGATE = re.compile("[\ud800-\udfff]")
_HAS_ROWS = re.compile(rf'\s*\[?\s*\{{\s*"(?:\w*id|text|{"|".join(WRAPPERS)})"\s*:')
"""The beginning of a file with rows."""
_ROW_IN_LINE = re.compile(r"\s*\{.*\}\s*$", re.MULTILINE)
_FENCED = re.compile(r"\s*(?:```|~~~)[^\n`]*\n(.*?)\n?\s*(?:```|~~~)\s*", re.DOTALL)


def is_label(name: str, labels: Collection[str] | None) -> bool:
    """Return whether a name between marks is a label.

    >>> is_label("PER", None), is_label("b", None), is_label("b", ["b"])
    (True, False, True)
    """
    return name.isupper() if labels is None else name in labels


# Reading


_Pair = tuple[int, int, str, str | None]
"""The numbers of an opening and a closing mark that belong together, and the label and the value between them."""


class _Marks:
    """The marks of one text, and the pairs among them.

    A mark that is in no pair is text, or with `lenient` a tag that is left out: `dropped` has the numbers of these.
    """

    def __init__(
        self, text: str, labels: Collection[str] | None, file: str | None, line: int, *, lenient: bool
    ) -> None:
        self._text, self._file, self._lenient, self._first = text, file, lenient, line
        self.marks = list(_MARK.finditer(text))
        self.pairs: list[_Pair] = []
        self.dropped: set[int] = set()
        self._stack: list[tuple[int, str | None]] = []  # open marks, brackets without a label
        for number, mark in enumerate(self.marks):
            name = mark["open"] or mark["close"] or mark["label"]
            self._see(number, mark, name if name and is_label(name, labels) else None)
        for number, label in self._stack:
            if label is not None:
                self._refuse(number, f"<{label:.40}> is not closed")

    def _see(self, number: int, mark: re.Match[str], label: str | None) -> None:
        in_brackets = bool(self._stack) and self._stack[-1][1] is None
        if mark["left"]:
            self._stack.append((number, None))
        elif mark["open"] and label:
            self._stack.append((number, label))
        elif mark["close"] and label:
            self._close(number, label)
        elif mark["label"] and label and not in_brackets:
            self._refuse(number, f"]({label:.40}) closes no bracket")
        elif (mark["right"] or mark["label"]) and in_brackets:
            begin, _ = self._stack.pop()
            if label:
                self.pairs.append((begin, number, label, mark["value"]))

    def _close(self, number: int, label: str) -> None:
        while self._stack and self._stack[-1][1] is None:  # brackets that are text
            self._stack.pop()
        if all(open_label != label for _, open_label in self._stack) and (self._lenient or not self._stack):
            self._refuse(number, f"</{label:.40}> closes nothing")
            return
        begin, open_label = self._stack.pop()
        while open_label != label:
            problem = f"</{label:.40}> comes before the end of <{open_label:.40}> of line {self._line(begin)}"
            self._refuse(number, problem, drop=begin)
            begin, open_label = self._stack.pop()
        self.pairs.append((begin, number, label, None))

    def _line(self, number: int) -> int:
        return self._text.count("\n", 0, self.marks[number].start()) + self._first

    def _refuse(self, number: int, problem: str, drop: int | None = None) -> None:
        """Leave out the mark with this number (or the number `drop`), or raise `FormatError` for it."""
        if not self._lenient:
            advice = "tags are closed in reverse order; write &lt; for a < in the text"
            raise FormatError(problem, file=self._file, line=self._line(number), advice=advice)
        self.dropped.add(number if drop is None else drop)


def read_inline(
    content: str,
    *,
    id: str = "1",
    labels: Collection[str] | None = None,
    layer: str = DEFAULT_LAYER,
    lenient: bool = False,
    first: int = 1,
    file: str | None,
) -> Document:
    """Return the document in a text; for errors, `file` is the name of its file, and `first` its first line.

    >>> document = read_inline("<PER>Ada</PER> in [Ulm](LOC)", file="a.txt")
    >>> document.text, [document.text_of(span) for span in document.layers["label"]]
    ('Ada in Ulm', ['Ada', 'Ulm'])
    """
    marks = _Marks(content, labels, file, first, lenient=lenient)
    paired = {number for pair in marks.pairs for number in pair[:2]}
    pieces: list[str] = []
    places: dict[int, tuple[int, int]] = {}  # by mark: the position in the text, and the line
    done = length = 0
    line = first
    for number, mark in enumerate(marks.marks):
        piece = content[done : mark.start()]
        line, done = line + piece.count("\n"), mark.end()
        if number in paired:
            places[number] = length + len(piece), line
        elif number not in marks.dropped:
            piece += _ENTITIES[mark["entity"]] if mark["entity"] else mark[0]
        pieces.append(piece)
        length += len(piece)
    spans = []
    for begin, end, label, value in sorted(marks.pairs):
        start, line = places[begin]
        features = {} if value is None else {"value": value}
        spans.append(Span(start, places[end][0], Frozen({layer: label}), features, line=line))
    return Document(
        id,
        {layer: spans},
        text="".join([*pieces, content[done:]]),
        unit="character",
        metadata={UNPARSABLE: str(len(marks.dropped))} if marks.dropped else {},
        file=file,
    )


def _read(file: InputFile, options: FormatOptions) -> Iterator[Document]:
    content = file.text()
    if not _HAS_ROWS.match(content):
        layer = only_layer(options, file.name)
        return iter([_answer(file.stem, _unfenced(content), 1, layer, options, file.name)])
    rows = _rows_of(content) if _ROW_IN_LINE.match(content) else file.rows()
    return _read_rows(rows, options, file.passed_over, file.name)


def _rows_of(content: str) -> Iterator[Numbered]:
    """Yield the number and the value of each line; None for one that is no JSON."""
    for line, row in enumerate(content.split("\n"), 1):
        if not row.strip():
            continue
        try:
            yield line, json.loads(row)
        except (ValueError, RecursionError):
            yield line, None


def _read_rows(
    rows: Iterable[Numbered], options: FormatOptions, passed_over: Counter[str], file: str | None = None
) -> Iterator[Document]:
    """Yield the documents of answers, each with its line or number: a text with marks, or a row with such a text.

    Raises `FormatError` for an answer that cannot be read.
    """
    layer = only_layer(options, file)
    for number, (line, row) in enumerate(rows, 1):
        answer = Answer()
        try:
            text = _text_in(row, answer)
            content = _unfenced(text) if isinstance(text, str) and _SURROGATE.search(text) is None else None
            problem = "the row is not a JSON object with a text"
        except ValueError as error:
            content, problem = None, f"the answer cannot be read: {error}"
        passed_over[FURTHER_ANSWERS] += answer.further
        id = MissingId(number) if answer.id is None else answer.id
        document = _answer(id, content, line, layer, options, file, problem)
        yield replace(document, metadata={**document.metadata, BY_ID: id}) if answer.in_batch else document


def _text_in(value: object, answer: Answer) -> object:
    """Return the text with marks in a row, without what is around it. Raises `ValueError` for what is no answer."""
    while isinstance(value, dict):
        inner = answer.within(value)
        value = value.get("text") if inner is None else inner
    return value


def _unfenced(text: str) -> str:
    """Return a text without the code fence around it.

    >>> _unfenced("```xml\\n<PER>Ada</PER>\\n```")
    '<PER>Ada</PER>'
    """
    match = _FENCED.fullmatch(text)
    return text if match is None else match[1]


def _answer(
    id: str,
    text: str | None,
    line: int,
    layer: str,
    options: FormatOptions,
    file: str | None,
    problem: str = "",
) -> Document:
    """Return the document of an answer; None: a row that is none, with what is wrong with it."""
    lenient = options.unparsable == "lenient"
    try:
        if text is None:
            row = """{"id": "1", "text": "..."}"""
            advice = f"write {row}, or count it as an empty answer with unparsable='empty'"
            raise FormatError(problem, file=file, line=line, advice=advice)
        return read_inline(
            text, id=id, labels=options.labels, layer=layer, lenient=lenient, first=line, file=file
        )
    except FormatError:
        if options.unparsable != "empty":
            raise
        return Document(id, {layer: []}, text="", unit="character", metadata={UNPARSABLE: "1"}, file=file)


# Writing


def write_inline(document: Document) -> str:
    """Return the text with its spans as tags, which `read_inline` reads with the labels of the document.

    The document is as `fitted` returns it. Raises `UsageError` for labels that are no names, and for spans that cross.

    >>> write_inline(Document("d", {"x": [Span(0, 3, "PER")]}, text="Ada < Eva", unit="character"))
    '<PER>Ada</PER> &lt; Eva'
    """

    def refuse(problem: str) -> None:
        raise UsageError(f"inline tags cannot hold the document: {problem}", **document.in_errors)

    text, start = document.text or "", document.start
    if text.startswith("\ufeff"):
        refuse("its text begins with a byte-order mark")
    for mark in _MARK.finditer(text):
        if mark["label"] and is_label(mark["label"], None):
            refuse(f"its text has a link with a label at position {start + mark.start()}")
    pieces: list[str] = []
    stack: list[Span] = []
    done = start

    def add(end: int, tag: str) -> None:
        nonlocal done
        pieces.extend((text[done - start : end - start].translate(_ESCAPES), tag))
        done = end

    spans = [span for layer_spans in document.layers.values() for span in layer_spans]
    for span in sorted(spans, key=lambda span: (span.start, -span.end)):
        while stack and stack[-1].end <= span.start:
            add(stack[-1].end, f"</{stack.pop().label}>")
        if not re.fullmatch(_LABEL, span.label) or not is_label(span.label, None):
            refuse(f"the label {span.label[:40]!r} is not a name in upper case")
        if stack and span.end > stack[-1].end:
            refuse(f"the spans {name_of(stack[-1])} and {name_of(span)} cross")
        add(span.start, f"<{span.label}>")
        stack.append(span)
    while stack:
        add(stack[-1].end, f"</{stack.pop().label}>")
    add(start + len(text), "")
    return "".join(pieces)


def _fit(document: Document, lost: Counter[str]) -> Document:
    """Return the document with spans as they are scored: without white space at edges, unless there is nothing else."""
    text = document.text or ""
    layers: dict[str, list[Span]] = {}
    for layer, spans in document.layers.items():
        layers[layer] = []
        for span in spans:
            start, end = range_without_edges(span, text)
            has_edges = start < end and (start, end) != (span.start, span.end)
            lost[EDGES] += has_edges
            layers[layer].append(replace(span, start=start, end=end) if has_edges else span)
    return replace(document, layers=layers) if lost[EDGES] else document


INLINE = FileFormat(
    name="inline",
    options=frozenset({"labels", "layers", "unparsable"}),
    holds="a text with its spans in it, as tags, `<PER>Ada</PER>`, or as links of Markdown",
    read=_read,
    rows=_read_rows,
    is_one_document=True,
    writer=lambda types: Writer(
        pieces=lambda documents, layers, with_ids: map(write_inline, documents),
        ending=".txt",
        unit="character",
        holds=frozenset({"zero-length spans", "overlapping spans", "spans across sentences"}),
        fit=_fit,
        single=True,
    ),
)
