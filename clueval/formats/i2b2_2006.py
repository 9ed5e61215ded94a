"""The XML of the i2b2 challenge of 2006 on de-identification: records with the spans as elements in their text.

    <ROOT><RECORD ID="1"><TEXT>seen by Dr. <PHI TYPE="DOCTOR">Ada</PHI></TEXT></RECORD></ROOT>

Each ``<RECORD>`` is a document, whose id is the attribute ``ID``. The elements in ``<TEXT>`` are spans; they do not
nest. Sources: ``TYPE`` (the default), ``category`` (the name of the element), or another attribute.

Source: the data of the challenge (Uzuner, Luo and Szolovits 2007).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from clueval.formats.format import Format, Options
from clueval.formats.opened import Opened
from clueval.formats.recognition import first_lines
from clueval.formats.xml_text import TYPE, EventReader, label_of
from clueval.spans.document import Document
from clueval.spans.span import DEFAULT_LAYER, Frozen, Span

_TEXT = ("RECORD", "TEXT")


class MarkedSpan(NamedTuple):
    """An element in a text: its name, its attributes, its range and its line."""

    category: str
    attributes: Mapping[str, str]
    start: int
    end: int
    line: int


class Record(NamedTuple):
    """A document: its id, the parts of its text and its spans."""

    id: str
    pieces: list[str]
    spans: list[MarkedSpan]


class _RecordReader(EventReader):
    """Handles the events of the XML parser."""

    def __init__(self, file: str) -> None:
        super().__init__(file)
        self.records: list[Record] = []
        self._path: list[str] = []
        self._length = 0  # characters of the text so far
        self._open: MarkedSpan | None = None

    def _start(self, name: str, attributes: Mapping[str, str]) -> None:
        if len(self._path) == 1 and name == "RECORD":
            self.records.append(Record(attributes.get("ID") or str(len(self.records) + 1), [], []))
            self._length = 0
        elif tuple(self._path[1:3]) == _TEXT:
            if self._open is not None:
                self._refuse(f"an element <{name:.40}> within a span", "spans do not nest in this format")
            line = self._parser.CurrentLineNumber
            self._open = MarkedSpan(name, attributes, self._length, self._length, line)
        self._path.append(name)

    def _end(self, _: str) -> None:
        self._path.pop()
        if self._open is not None:
            self.records[-1].spans.append(self._open._replace(end=self._length))
            self._open = None

    def _text(self, text: str) -> None:
        if tuple(self._path[1:3]) == _TEXT:
            self.records[-1].pieces.append(text)
            self._length += len(text)


def _span(marked: MarkedSpan, layer: str, source: str) -> Span | None:
    """Return the span of an element; None if it does not have the attribute that is the source."""
    label = label_of(marked.category, marked.attributes, source)
    return None if label is None else Span(marked.start, marked.end, Frozen({layer: label}), line=marked.line)


def _read(opened: Opened, options: Options) -> Iterator[Document]:
    reader = _RecordReader(opened.file)
    reader.read(opened.text())
    sources = options.layers or {DEFAULT_LAYER: TYPE}
    for record in reader.records:
        layers = {
            layer: list(filter(None, (_span(marked, layer, str(source)) for marked in record.spans)))
            for layer, source in sources.items()
        }
        text = "".join(record.pieces)
        yield Document(record.id, Frozen(layers), text=text, unit="character", file=opened.file)


FORMAT = Format(
    name="i2b2-2006",
    holds='XML of the i2b2 challenge of 2006: `<RECORD ID="1">` with spans in its text, as `<PHI TYPE="DATE">`',
    signs=(first_lines("<RECORD ID="),),
    read=_read,
    options=frozenset({"layers"}),
)
