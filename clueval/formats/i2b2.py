"""The XML of the i2b2 (n2c2) challenges on de-identification, and of MEDDOCAN: a text and tags with offsets.

``<TEXT>`` has the text, usually as CDATA; the children of ``<TAGS>`` are spans, with ``start``, ``end`` (exclusive),
``text`` and ``TYPE``. Offsets count code points from the first character in ``<TEXT>``, its newline included; a CRLF
is one character, as XML requires. The ``text`` of a tag must be that of its span, with runs of white space equal.
The outermost element may have any name.

Sources: ``TYPE`` (the default), ``category`` (the name of the element), or another attribute.

Source: the annotation guidelines of the 2014 i2b2/UTHealth shared task, track 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from clueval.exceptions import FormatError, SpanError
from clueval.formats.format import Format, Options
from clueval.formats.opened import Opened
from clueval.formats.recognition import first_lines
from clueval.formats.xml_text import TYPE, EventReader, label_of
from clueval.spans.document import Document
from clueval.spans.span import DEFAULT_LAYER, Frozen, Span

_SIGNS = ("<deIdi2b2", "<MEDDOCAN", "<TEXT><![CDATA[")


class Tag(NamedTuple):
    """A child of ``<TAGS>``: the name of the element, its attributes and its line."""

    category: str
    attributes: Mapping[str, str]
    line: int


class _I2b2Reader(EventReader):
    """Handles the events of the XML parser."""

    def __init__(self, file: str) -> None:
        super().__init__(file)
        self.pieces: list[str] = []
        self.tags: list[Tag] = []
        self.texts = 0
        self._path: list[str] = []

    def read(self, data: str) -> None:
        super().read(data)
        if self.texts != 1:
            self._refuse(f"{self.texts or 'no'} elements <TEXT>", "there must be one")

    def _start(self, name: str, attributes: Mapping[str, str]) -> None:
        if len(self._path) == 2 and self._path[1] == "TAGS":
            self.tags.append(Tag(name, attributes, self._parser.CurrentLineNumber))
        elif self._path[1:2] == ["TEXT"]:
            self._refuse(f"an element <{name:.40}> in the text", "write the text as CDATA")
        self.texts += name == "TEXT" and len(self._path) == 1
        self._path.append(name)

    def _end(self, _: str) -> None:
        self._path.pop()

    def _text(self, text: str) -> None:
        if len(self._path) == 2 and self._path[1] == "TEXT":
            self.pieces.append(text)


def _span(tag: Tag, layer: str, source: str, text: str, file: str) -> Span | None:
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
    label = label_of(tag.category, tag.attributes, source)
    if label is None:
        return None
    return Span(start, end, Frozen({layer: label}), id=tag.attributes.get("id"), line=tag.line)


def _position(tag: Tag, name: str, file: str) -> int:
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
    reader = _I2b2Reader(opened.file)
    reader.read(opened.text())
    text = "".join(reader.pieces)
    layers: dict[str, list[Span]] = {}
    for layer, source in (options.layers or {DEFAULT_LAYER: TYPE}).items():
        found = (_span(tag, layer, str(source), text, opened.file) for tag in reader.tags)
        layers[layer] = sorted(filter(None, found), key=lambda span: (span.start, span.end))
    yield Document(opened.stem, Frozen(layers), text=text, unit="character", file=opened.file)


FORMAT = Format(
    name="i2b2",
    holds="XML of the i2b2 challenges: `<TEXT>`, and `<TAGS>` with `start`, `end` (exclusive), `text` and `TYPE`",
    signs=(first_lines(*_SIGNS),),
    read=_read,
    options=frozenset({"layers"}),
    single=True,
    nameless=True,
)
