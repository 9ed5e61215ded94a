"""XML with a text and spans: how formats are described, their descriptions, and the engine that reads and writes them.

Spans are elements in the text, or elements elsewhere that have positions. Positions are Unicode code points of the text
after XML parsing: without tags, with ``&amp;`` and similar references resolved, and with every CRLF and CR replaced
by LF, as XML 1.0 (2.11) requires. A document type declaration is an error, so the only entities are the five that XML
defines.

i2b2 (n2c2) from 2014 on, and MEDDOCAN: ``<TEXT>`` has the text, usually as CDATA; the children of ``<TAGS>`` are spans,
with ``start``, ``end`` (exclusive), ``text`` and ``TYPE``. In 2006, each ``<RECORD ID="1">`` is a document whose spans
are elements in its ``<TEXT>``. Sources: ``TYPE`` (the default), ``category`` (the name of the element), or another
attribute. loio's tagging format is a ``<body>`` whose ``<e>`` are spans without labels; all else is an error in it.

Sources: the annotation guidelines of the 2014 i2b2/UTHealth shared task, track 1; the data of the challenge of 2006
(Uzuner, Luo and Szolovits 2007); the format of ``loio_metrics``, the library of Serge Sotnyk.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, NamedTuple

from clueval.core.document import Document
from clueval.core.span import DEFAULT_LAYER, NO_LABEL, NOTHING, by_position, name_of
from clueval.files.errors import CluevalError, FormatError, OverlapError, SpanError, UsageError, with_noun
from clueval.formats.form import Form, Kind
from clueval.formats.input_file import InputFile
from clueval.formats.options import FormatOptions
from clueval.formats.span_forms import LayerSpan, layers_of
from clueval.formats.writer import Writer
from clueval.formats.xml_text import ESCAPES, EventReader, forbidden


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Markup(Form):
    """How a format of XML is read. A path has the names of elements from the outermost on, ``*`` for any.

    Attributes:
        text: the path of the element that has the text.
        document, id: the path of a document and the attribute of its id, if a file has several.
        inline: the name of the elements in the text that are spans, ``*``: of any name; none if there are none.
        tags: the path of the elements with positions, whose attributes are `start`, `end` and `reference`.
        label: the attribute of the label; none if spans have no labels.
        named_by_file: whether the id of the only document of a file is the name of the file.
        strict: whether other elements, attributes, comments and instructions are errors.
    """

    text: str
    document: str = ""
    id: str = ""
    inline: str = ""
    tags: str = ""
    start: str = "start"
    end: str = "end"
    reference: str = "text"
    label: str = ""
    strict: bool = False
    named_by_file: bool = True
    is_one_document: bool = True
    kind: ClassVar[Kind] = "markup"


I2B2 = Markup(
    name="i2b2",
    holds="XML of the i2b2 challenges: `<TEXT>`, and `<TAGS>` with `start`, `end` (exclusive), `text` and `TYPE`",
    text="*/TEXT",
    tags="*/TAGS/*",
    label="TYPE",
)

I2B2_2006 = Markup(
    name="i2b2-2006",
    holds='XML of the i2b2 challenge of 2006: `<RECORD ID="1">` with spans in its text, as `<PHI TYPE="DATE">`',
    text="*/RECORD/TEXT",
    document="*/RECORD",
    is_one_document=False,
    id="ID",
    inline="*",
    label="TYPE",
)

LTF = Markup(
    name="ltf",
    holds="loio's tagging format: an XML text whose `<e>` are the spans; no labels",
    text="body",
    inline="e",
    options=frozenset(),
    strict=True,
    named_by_file=False,
)

# Reading


def documents_of_file(form: Markup, file: InputFile, options: FormatOptions) -> Iterator[Document]:
    """Yield the documents of a file, which is held as a whole.

    Raises `FormatError` and `SpanError`, with file and line, for malformed XML and for what is not part of the format.
    """
    reader = _MarkupReader(form, options, file.name, file.stem if form.named_by_file else "1")
    reader.read(file.text())
    return iter(reader.documents())


class _Element(NamedTuple):
    """An element that is a span; its place is None if its attributes have the positions."""

    name: str
    attributes: Mapping[str, str]
    line: int
    place: tuple[int, int] | None = None


class _MarkupReader(EventReader):
    """Reads one file once."""

    def __init__(self, form: Markup, options: FormatOptions, file: str, identifier: str) -> None:
        super().__init__(file)
        self._form, self._options = form, options
        self._documents: list[Document] = []
        if form.strict:
            self._parser.CommentHandler = lambda _: self._refuse("a comment", "remove it")
            self._parser.ProcessingInstructionHandler = lambda target, _: self._refuse(
                f"a processing instruction {target[:40]!r}", "remove it"
            )
        self._begin(identifier)

    def documents(self) -> list[Document]:
        """Return the documents, after all events."""
        if not self._form.document:
            if self._texts != 1:
                name = self._form.text.rpartition("/")[2]
                self._refuse(f"{self._texts or 'no'} elements <{name}>", "there must be one")
            self._finish()
        return self._documents

    def _begin(self, identifier: str) -> None:
        self._id = identifier
        self._texts = 0
        self._pieces: list[str] = []
        self._length = 0
        self._elements: list[_Element] = []
        self._open: tuple[_Element, int] | None = None

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        form = self._form
        element = _Element(name, attributes, self._line)
        if _begin_with(form.text, self._path):
            if form.inline not in ("*", name):
                advice = f"only <{form.inline}> is allowed; write &lt; for the character"
                problem = f"an element <{name:.40}> in the text"
                self._refuse(problem, advice if form.inline else "write the text as CDATA")
            if self._open is not None:
                outer, _ = self._open
                problem = f"an element <{name:.40}> within the <{outer.name:.40}> of line {outer.line}"
                self._refuse(problem, "spans of this format do not nest")
            self._open = element, self._length
        elif self._is_at(form.document, name):
            self._begin(attributes.get(form.id) or str(len(self._documents) + 1))
        elif self._is_at(form.text, name):
            self._texts += 1
        elif self._is_at(form.tags, name):
            self._elements.append(element)
        elif form.strict:
            self._refuse(f"the outermost element is <{name:.40}>, not <{form.text}>")
        if form.strict and attributes:
            problem = f"an attribute {next(iter(attributes))[:40]!r} of <{name}>"
            self._refuse(problem, "this format has none; remove it")

    def _is_at(self, path: str, element: str) -> bool:
        """Return whether an element that begins or ends has this path."""
        return path.count("/") == len(self._path) and _begin_with(path, [*self._path, element])

    def _text(self, text: str) -> None:
        if _begin_with(self._form.text, self._path):
            self._pieces.append(text)
            self._length += len(text)

    def _end(self, name: str) -> None:
        if self._open is not None:
            element, start = self._open
            self._elements.append(element._replace(place=(start, self._length)))
            self._open = None
        elif self._is_at(self._form.document, name):
            self._finish()

    def _finish(self) -> None:
        """Add the document whose text has ended."""
        text = "".join(self._pieces)
        places = [element.place or self._positions(element, text) for element in self._elements]
        layers: dict[str, list[LayerSpan]] = {}
        for layer, source in (self._options.layers or {DEFAULT_LAYER: self._form.label}).items():
            layers[layer] = []
            for element, place in zip(self._elements, places, strict=True):
                label = element.name if source == "category" else element.attributes.get(str(source))
                if label is not None or source == self._form.label:
                    identifier = None if element.place else element.attributes.get("id")
                    details = NOTHING, identifier, element.line
                    layers[layer].append(((place,), label or NO_LABEL, details))
        self._documents.append(
            Document(self._id, layers_of(layers), text=text, unit="character", file=self._file)
        )

    def _positions(self, element: _Element, text: str) -> tuple[int, int]:
        """Return the positions in the attributes of an element, after comparing its text."""
        form, line = self._form, element.line
        positions = []
        for name in (form.start, form.end):
            value = element.attributes.get(name, "")
            if not (value.isascii() and value.isdigit() and len(value) <= 18):
                problem = f"{value[:40]!r} is not a position"
                advice = f"`{name}` of <{element.name[:40]}> must be a number from 0 on"
                raise FormatError(problem, file=self._file, line=line, advice=advice)
            positions.append(int(value))
        start, end = positions
        if not start <= end <= len(text):
            problem = f"the span [{start},{end}) lies outside the text, which has {with_noun(len(text), 'characters')}"
            if end < start:
                problem = f"the span ends before it starts: {start} to {end}"
            raise SpanError(problem, file=self._file, line=line)
        reference = element.attributes.get(form.reference)
        if reference is not None and reference.split() != text[start:end].split():
            raise FormatError(
                f"the text of the span [{start},{end}) differs from its attribute `{form.reference}`",
                file=self._file,
                line=line,
                advice=f"offsets count code points from the first character in <{form.text.rpartition('/')[2]}>",
            )
        return start, end


def _begin_with(path: str, elements: Sequence[str]) -> bool:
    """Return whether open elements begin with those of a path; an empty path is that of none."""
    names = path.split("/")
    return len(names) <= len(elements) and all(
        name in ("*", element) for name, element in zip(names, elements, strict=False)
    )


# Writing


def marked_up(form: Markup, document: Document, layer: str = DEFAULT_LAYER) -> str:
    """Return the content of a file of a format without labels, whose text is its only element besides spans.

    The document has a text and spans without gaps, as `fitted` returns it. If all spans of the layer have the same
    label, it is left out. Raises `UsageError` for spans with different labels, `OverlapError` for overlapping spans,
    and `FormatError` for characters that XML cannot contain, with their position.

    >>> from clueval import Span
    >>> marked_up(LTF, Document("d", {"label": [Span(0, 3, "LOC")]}, text="Ulm", unit="character"))
    '<body><e>Ulm</e></body>\\n'
    """

    def unwritable(kind: type[CluevalError], problem: str, advice: str | None = None) -> CluevalError:
        return kind(f"cannot be written as {form.name}: it {problem}", **document.in_errors, advice=advice)

    spans = sorted(document.layers[layer], key=by_position)
    for span in spans:
        if span.label != spans[0].label:
            problem = f"has the spans {name_of(spans[0])} and {name_of(span)} with different labels"
            raise unwritable(UsageError, problem, "write the spans of one label, as in label='person'")
    for before, after in pairwise(spans):
        if after.start < before.end:
            problem = f"has the spans {name_of(before)} and {name_of(after)}, which overlap"
            raise unwritable(OverlapError, problem)
    text = document.text or ""
    if match := forbidden(text):
        problem = f"has the character U+{ord(match[0]):04X} at position {document.start + match.start()}"
        raise unwritable(FormatError, problem, "XML has no way to write it; replace it")
    pieces, done = [f"<{form.text}>"], 0
    for span in spans:
        start, end = span.start - document.start, span.end - document.start
        span_text = text[start:end].translate(ESCAPES)
        pieces.append(text[done:start].translate(ESCAPES))
        pieces.append(f"<{form.inline}>{span_text}</{form.inline}>" if start < end else f"<{form.inline}/>")
        done = end
    return "".join([*pieces, text[done:].translate(ESCAPES), f"</{form.text}>\n"])


def markup_writer(form: Markup) -> Writer:
    """Return how files of a format without labels are written, which refuse by name what they cannot hold."""

    def pieces(documents: Iterable[Document], layers: Sequence[str], with_ids: bool) -> Iterator[str]:
        document = next(iter(documents), None)
        if document is None:  # an empty file would not be valid
            yield f"<{form.text}></{form.text}>\n"
            return
        if len(document.layers) != 1:
            problem = f"the format {form.name} holds one layer, not {len(document.layers)}"
            raise UsageError(problem, advice="name one with layers=...")
        yield marked_up(form, document, next(iter(document.layers)))

    holds = frozenset({"layers", "zero-length spans", "overlapping spans", "spans across sentences"})
    return Writer(pieces=pieces, ending=".xml", unit="character", holds=holds, single=True)
