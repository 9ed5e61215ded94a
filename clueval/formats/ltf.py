"""loio's tagging format: an XML ``<body>`` whose text is the document, whose ``<e>`` are its spans.

    <body>between <e>ProYard Services</e> and <e>ZOEMENS AG</e>. Signed: <e/></body>

Positions are Unicode code points of the text after XML parsing: without tags, with ``&amp;`` and similar
references resolved, and **with every CRLF and lone CR replaced by LF**, as XML 1.0 (2.11) requires; write
``&#13;`` for a CR in the text. An empty ``<e/>`` is a span of zero length. Spans have no labels and are not
nested.

Everything else is an error, so that nothing is lost silently: other elements, attributes, comments,
processing instructions. A document type declaration is an error, so the only entities are the five that XML
defines.

Source: the format of ``loio_metrics``, the library of Serge Sotnyk, who described how loio is scored.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise

from clueval.core.span import DEFAULT_LAYER, NO_LABEL, Frozen, Span, name_of
from clueval.files.errors import CluevalError, FormatError, OverlapError, UsageError
from clueval.formats import xml_text
from clueval.formats.format import ACROSS, Format, Options, Writer
from clueval.formats.opened import Opened
from clueval.formats.recognition import first_lines
from clueval.formats.xml_text import EventReader
from clueval.spans.document import Document

_ONLY_DOCUMENT = "1"
"""The id of the document; a file holds one document without a name."""

_LABELS = Frozen({DEFAULT_LAYER: NO_LABEL})


def read_ltf(data: str, *, file: str) -> Document:
    """Return the document in the decoded content of a file; `file` is the name of the file in errors.

    The spans are in the layer ``label``, with the label ``_``, in order of position. An encoding in the XML
    declaration is ignored, because `data` is already decoded. Holds the whole text.

    Raises `FormatError`, with file and line, for malformed XML and for elements that are not part of the
    format.

    >>> document = read_ltf("<body>R&amp;D in <e>Ulm</e>.</body>", file="d.xml")
    >>> document.text, [document.text_of(span) for span in document.layers["label"]]
    ('R&D in Ulm.', ['Ulm'])
    """
    reader = _BodyReader(file)
    reader.read(data)
    return Document(
        _ONLY_DOCUMENT,
        {DEFAULT_LAYER: reader.spans},
        text="".join(reader.pieces),
        unit="character",
        file=file,
    )


def write_ltf(document: Document, layer: str = DEFAULT_LAYER) -> str:
    """Return the text and the spans of one layer as the content of a file, which `read_ltf` can read.

    The format has neither labels nor features. Spans with different labels are refused, because the file
    could not distinguish them; if all spans have the same label, it is left out.

    Raises `UsageError` for a document without character positions or without `layer`, and for spans with
    different labels or with gaps; `OverlapError` for overlapping spans; `FormatError` for characters that XML
    cannot contain, with their position.

    >>> write_ltf(Document("d", {"label": [Span(0, 3, "LOC")]}, text="Ulm", unit="character"))
    '<body><e>Ulm</e></body>\\n'
    """
    spans = _writable(document, layer)
    return f"<body>{''.join(_tagged(document, spans))}</body>\n"


class _BodyReader(EventReader):
    """Handles the events of the XML parser; `pieces` is the text so far, `_length` its length."""

    def __init__(self, file: str) -> None:
        super().__init__(file)
        self.pieces: list[str] = []
        self.spans: list[Span] = []
        self._length = 0
        self._opened: tuple[int, int] | None = None
        """Position and line of the open ``<e>``."""
        self._parser.CommentHandler = self._comment
        self._parser.ProcessingInstructionHandler = self._instruction

    def _start(self, name: str, attributes: Mapping[str, str]) -> None:
        if not self._path:
            if name != "body":
                self._refuse(f"the outermost element is <{name:.40}>, not <body>")
        elif name != "e":
            self._refuse(
                f"an element <{name:.40}> in the text", "only <e> is allowed; write &lt; for the character"
            )
        elif self._opened is not None:
            self._refuse(
                f"an <e> within the <e> of line {self._opened[1]}", "spans of this format do not nest"
            )
        else:
            self._opened = self._length, self._line
        for attribute in attributes:
            self._refuse(f"an attribute {attribute[:40]!r} of <{name}>", "this format has none; remove it")

    def _end(self, name: str) -> None:
        if self._opened is not None:
            start, line = self._opened
            self.spans.append(Span(start, self._length, _LABELS, line=line))
            self._opened = None

    def _text(self, text: str) -> None:
        self.pieces.append(text)
        self._length += len(text)

    def _comment(self, _: str) -> None:
        self._refuse("a comment", "remove it")

    def _instruction(self, target: str, _: str) -> None:
        self._refuse(f"a processing instruction {target[:40]!r}", "remove it")


def _writable(document: Document, layer: str) -> list[Span]:
    """Return the spans of the layer by position; raises if the format cannot represent them or the text."""
    if document.unit != "character" or document.text is None:
        raise _unwritable(UsageError, document, "has no text with character positions")
    if layer not in document.layers:
        raise _unwritable(
            UsageError,
            document,
            f"has no layer {layer!r}, only {', '.join(map(repr, document.layers)) or 'none'}",
        )
    spans = sorted(document.layers[layer], key=lambda span: (span.start, span.end))
    for span in spans:
        if span.tokens is not None or span.parts is not None:
            raise _unwritable(UsageError, document, f"has the span {name_of(span)}, which has gaps")
        if span.label != spans[0].label:
            problem = f"has the spans {name_of(spans[0])} and {name_of(span)} with different labels"
            raise _unwritable(
                UsageError, document, problem, "write the spans of one label, as in label='person'"
            )
    for one, other in pairwise(spans):
        if other.start < one.end:
            problem = f"has the spans {name_of(one)} and {name_of(other)}, which overlap"
            raise _unwritable(OverlapError, document, problem)
    if found := xml_text.forbidden(document.text):
        problem = f"has the character U+{ord(found.group()):04X} at position {document.start + found.start()}"
        raise _unwritable(FormatError, document, problem, "XML has no way to write it; replace it")
    return spans


def _unwritable(
    kind: type[CluevalError], document: Document, problem: str, advice: str | None = None
) -> CluevalError:
    return kind(
        f"cannot be written in loio's tagging format: it {problem}", **document.in_errors, advice=advice
    )


def _tagged(document: Document, spans: list[Span]) -> Iterator[str]:
    """Yield the parts of the escaped text with tags; the spans must be sorted and must not overlap."""
    text = document.text or ""
    done = 0
    for span in spans:
        start, end = span.start - document.start, span.end - document.start
        yield text[done:start].translate(xml_text.ESCAPES)
        yield f"<e>{text[start:end].translate(xml_text.ESCAPES)}</e>" if start < end else "<e/>"
        done = end
    yield text[done:].translate(xml_text.ESCAPES)


def _read(opened: Opened, _: Options) -> Iterator[Document]:
    yield read_ltf(opened.text(), file=opened.file)


def _lines(documents: Iterator[Document], *_: object) -> Iterator[str]:
    """Yield the content for one document, or for an empty text, because an empty file would not be valid."""
    document = next(documents, None)
    if document is None:
        yield "<body></body>"
        return
    if len(document.layers) != 1:
        raise UsageError(
            f"the tagging format holds one layer, not {len(document.layers)}",
            advice="name one with layers=...",
        )
    yield write_ltf(document, next(iter(document.layers))).removesuffix("\n")


_HOLDS = frozenset({"layers", "zero-length spans", "overlapping spans", ACROSS})
"""All but features, gaps and metadata: `write_ltf` refuses what it cannot hold of the rest, by name."""

FORMAT = Format(
    name="ltf",
    holds="loio's tagging format: an XML text whose `<e>` are the spans; no labels",
    signs=(first_lines("<body>", "<body/>"),),
    read=_read,
    single=True,
    nameless=True,
    write=Writer(_lines, ".xml", unit="character", holds=_HOLDS),
)
