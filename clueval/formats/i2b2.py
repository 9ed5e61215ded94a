"""The XML of the i2b2 (n2c2) challenges on de-identification, and of MEDDOCAN.

From 2014 on, a file has a text and tags with offsets:
``<TEXT>`` has the text, usually as CDATA; the children of ``<TAGS>`` are spans, with ``start``, ``end`` (exclusive),
``text`` and ``TYPE``. Offsets count code points from the first character in ``<TEXT>``, its newline included; a CRLF
is one character, as XML requires. The ``text`` of a tag must be that of its span, with runs of white space equal.
The outermost element may have any name.

In 2006, a file has records with the spans as elements in their text:

    <ROOT><RECORD ID="1"><TEXT>seen by Dr. <PHI TYPE="DOCTOR">Ada</PHI></TEXT></RECORD></ROOT>

Each ``<RECORD>`` is a document, whose id is the attribute ``ID``. The elements in ``<TEXT>`` are spans; they do not
nest.

Sources: ``TYPE`` (the default), ``category`` (the name of the element), or another attribute.

Source: the annotation guidelines of the 2014 i2b2/UTHealth shared task, track 1; the data of the challenge of 2006
(Uzuner, Luo and Szolovits 2007).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from clueval.core.span import DEFAULT_LAYER, NO_LABEL, Frozen, Span
from clueval.files.errors import FormatError, SpanError
from clueval.formats.format import Format, Options
from clueval.formats.opened import Opened
from clueval.formats.recognition import first_lines
from clueval.formats.xml_text import EventReader
from clueval.spans.document import Document

_TEXT = ["RECORD", "TEXT"]
_SIGNS = ("<deIdi2b2", "<MEDDOCAN", "<TEXT><![CDATA[")


CATEGORY, TYPE = "category", "TYPE"
"""The sources of labels: the name of an element, and the usual attribute."""


class Element(NamedTuple):
    """An element that is a span: its name, its attributes and its line."""

    category: str
    attributes: Mapping[str, str]
    line: int

    def labels(self, layer: str, source: str) -> Frozen | None:
        """Return the labels by the source; None if the element does not have the attribute that is the source."""
        label = self.category if source == CATEGORY else self.attributes.get(source)
        return None if label is None and source != TYPE else Frozen({layer: label or NO_LABEL})


class _TagReader(EventReader):
    def __init__(self, file: str) -> None:
        super().__init__(file)
        self.pieces: list[str] = []
        self.tags: list[Element] = []
        self.texts = 0

    def read(self, data: str) -> None:
        super().read(data)
        if self.texts != 1:
            self._refuse(f"{self.texts or 'no'} elements <TEXT>", "there must be one")

    def _start(self, name: str, attributes: Mapping[str, str]) -> None:
        if len(self._path) == 2 and self._path[1] == "TAGS":
            self.tags.append(Element(name, attributes, self._line))
        elif self._path[1:2] == ["TEXT"]:
            self._refuse(f"an element <{name:.40}> in the text", "write the text as CDATA")
        self.texts += name == "TEXT" and len(self._path) == 1

    def _text(self, text: str) -> None:
        if len(self._path) == 2 and self._path[1] == "TEXT":
            self.pieces.append(text)


def _span(tag: Element, layer: str, source: str, text: str, file: str) -> Span | None:
    """Return the span of a tag; None if it does not have the attribute that is the source."""
    start, end = (_position(tag, name, file) for name in ("start", "end"))
    if not start <= end <= len(text):
        raise SpanError(
            f"the span [{start},{end}) lies outside the text, which has {len(text)} characters"
            if start <= end
            else f"the span ends before it starts: {start} to {end}",
            file=file,
            line=tag.line,
        )
    own = tag.attributes.get("text")
    if own is not None and own.split() != text[start:end].split():
        raise FormatError(
            f"the text of the span [{start},{end}) differs from its attribute `text`",
            file=file,
            line=tag.line,
            advice="offsets count code points from the first character in <TEXT>",
        )
    labels = tag.labels(layer, source)
    return None if labels is None else Span(start, end, labels, id=tag.attributes.get("id"), line=tag.line)


def _position(tag: Element, name: str, file: str) -> int:
    value = tag.attributes.get(name, "")
    if not (value.isascii() and value.isdigit() and len(value) <= 18):
        raise FormatError(
            f"{value[:40]!r} is not a position",
            file=file,
            line=tag.line,
            advice=f"`{name}` of <{tag.category[:40]}> must be a number from 0 on",
        )
    return int(value)


def _read(opened: Opened, options: Options) -> Iterator[Document]:
    reader = _TagReader(opened.file)
    reader.read(opened.text())
    text = "".join(reader.pieces)
    layers: dict[str, list[Span]] = {}
    for layer, source in (options.layers or {DEFAULT_LAYER: TYPE}).items():
        found = (_span(tag, layer, str(source), text, opened.file) for tag in reader.tags)
        layers[layer] = sorted(filter(None, found), key=lambda span: (span.start, span.end))
    yield Document(opened.stem, Frozen(layers), text=text, unit="character", file=opened.file)


class Record(NamedTuple):
    """A document: its id, the parts of its text, and its elements, each with its range."""

    id: str
    pieces: list[str]
    spans: list[tuple[Element, int, int]]


class _RecordReader(EventReader):
    def __init__(self, file: str) -> None:
        super().__init__(file)
        self.records: list[Record] = []
        self._length = 0  # characters of the text so far
        self._open: tuple[Element, int] | None = None

    def _start(self, name: str, attributes: Mapping[str, str]) -> None:
        if len(self._path) == 1 and name == "RECORD":
            self.records.append(Record(attributes.get("ID") or str(len(self.records) + 1), [], []))
            self._length = 0
        elif self._path[1:3] == _TEXT:
            if self._open is not None:
                self._refuse(f"an element <{name:.40}> within a span", "spans do not nest in this format")
            self._open = Element(name, attributes, self._line), self._length

    def _end(self, name: str) -> None:
        if self._open is not None:
            self.records[-1].spans.append((*self._open, self._length))
            self._open = None

    def _text(self, text: str) -> None:
        if self._path[1:3] == _TEXT:
            self.records[-1].pieces.append(text)
            self._length += len(text)


def _read_records(opened: Opened, options: Options) -> Iterator[Document]:
    reader = _RecordReader(opened.file)
    reader.read(opened.text())
    sources = options.layers or {DEFAULT_LAYER: TYPE}
    for record in reader.records:
        layers = {
            layer: [
                Span(start, end, labels, line=element.line)
                for element, start, end in record.spans
                if (labels := element.labels(layer, str(source))) is not None
            ]
            for layer, source in sources.items()
        }
        text = "".join(record.pieces)
        yield Document(record.id, Frozen(layers), text=text, unit="character", file=opened.file)


FORMAT = Format(
    name="i2b2",
    holds="XML of the i2b2 challenges: `<TEXT>`, and `<TAGS>` with `start`, `end` (exclusive), `text` and `TYPE`",
    signs=(first_lines(*_SIGNS),),
    read=_read,
    options=frozenset({"layers"}),
    single=True,
    nameless=True,
)

FORMAT_2006 = Format(
    name="i2b2-2006",
    holds='XML of the i2b2 challenge of 2006: `<RECORD ID="1">` with spans in its text, as `<PHI TYPE="DATE">`',
    signs=(first_lines("<RECORD ID="),),
    read=_read_records,
    options=frozenset({"layers"}),
)
