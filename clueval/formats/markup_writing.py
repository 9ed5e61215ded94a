"""The text of a document with its spans as elements, as formats of XML with spans in their text have them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from clueval.core.document import Document
from clueval.core.span import DEFAULT_LAYER, Span, name_of
from clueval.files.errors import CluevalError, FormatError, OverlapError, UsageError
from clueval.formats.markup import Markup
from clueval.formats.writer import Writer
from clueval.formats.xml_text import ESCAPES, forbidden


def marked_up(form: Markup, document: Document, layer: str = DEFAULT_LAYER) -> str:
    """Return the content of a file of a format without labels, whose text is its only element besides spans.

    If all spans of the layer have the same label, it is left out. Raises `UsageError` for a document without character
    positions or without the layer, and for spans with different labels or with gaps; `OverlapError` for overlapping
    spans; `FormatError` for characters that XML cannot contain, with their position.

    >>> from clueval.formats.markup import LTF
    >>> marked_up(LTF, Document("d", {"label": [Span(0, 3, "LOC")]}, text="Ulm", unit="character"))
    '<body><e>Ulm</e></body>\\n'
    """
    spans = _writable(form, document, layer)
    return f"<{form.text}>{''.join(_parts(form.inline, document, spans))}</{form.text}>\n"


def markup_writer(form: Markup) -> Writer:
    """Return how files of a format without labels are written, which refuse by name what they cannot hold."""

    def pieces(documents: Iterable[Document], layers: Sequence[str], with_ids: bool) -> Iterator[str]:
        document = next(iter(documents), None)
        if document is None:  # an empty file would not be valid
            yield f"<{form.text}></{form.text}>\n"
            return
        if len(document.layers) != 1:
            raise UsageError(
                f"the format {form.name} holds one layer, not {len(document.layers)}",
                advice="name one with layers=...",
            )
        yield marked_up(form, document, next(iter(document.layers)))

    holds = frozenset({"layers", "zero-length spans", "overlapping spans", "spans across sentences"})
    return Writer(pieces=pieces, ending=".xml", unit="character", holds=holds, single=True)


def _writable(form: Markup, document: Document, layer: str) -> list[Span]:
    """Return the spans of the layer by position; raises if the format cannot represent them or the text."""
    if document.unit != "character" or document.text is None:
        raise _unwritable(UsageError, form, document, "has no text with character positions")
    if layer not in document.layers:
        names = ", ".join(map(repr, document.layers)) or "none"
        raise _unwritable(UsageError, form, document, f"has no layer {layer!r}, only {names}")
    spans = sorted(document.layers[layer], key=lambda span: (span.start, span.end))
    for span in spans:
        if span.tokens is not None or span.parts is not None:
            raise _unwritable(UsageError, form, document, f"has the span {name_of(span)}, which has gaps")
        if span.label != spans[0].label:
            problem = f"has the spans {name_of(spans[0])} and {name_of(span)} with different labels"
            advice = "write the spans of one label, as in label='person'"
            raise _unwritable(UsageError, form, document, problem, advice)
    for one, other in pairwise(spans):
        if other.start < one.end:
            problem = f"has the spans {name_of(one)} and {name_of(other)}, which overlap"
            raise _unwritable(OverlapError, form, document, problem)
    if found := forbidden(document.text):
        problem = f"has the character U+{ord(found.group()):04X} at position {document.start + found.start()}"
        raise _unwritable(FormatError, form, document, problem, "XML has no way to write it; replace it")
    return spans


def _unwritable(
    kind: type[CluevalError], form: Markup, document: Document, problem: str, advice: str | None = None
) -> CluevalError:
    return kind(f"cannot be written as {form.name}: it {problem}", **document.in_errors, advice=advice)


def _parts(element: str, document: Document, spans: list[Span]) -> Iterator[str]:
    """Yield the parts of the escaped text with tags; the spans must be sorted and must not overlap."""
    text = document.text or ""
    done = 0
    for span in spans:
        start, end = span.start - document.start, span.end - document.start
        yield text[done:start].translate(ESCAPES)
        yield (
            f"<{element}>{text[start:end].translate(ESCAPES)}</{element}>" if start < end else f"<{element}/>"
        )
        done = end
    yield text[done:].translate(ESCAPES)
