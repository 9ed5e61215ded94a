"""Discontinuous spans, where something cannot count them."""

from __future__ import annotations

from collections.abc import Iterable

from clueval.exceptions import UsageError
from clueval.spans.document import Document
from clueval.spans.flat import Flat
from clueval.spans.span import Span, name_of


def refuse_gaps(who: str, spans: Iterable[Span], document: Document | None) -> None:
    """Raise `UsageError` for a discontinuous span, which `who` cannot count."""
    if isinstance(spans, Flat) and spans.are_of_tags():
        return
    span = next((span for span in spans if span.parts is not None), None)
    if span is not None:
        raise UsageError(
            f"span {name_of(span)} has gaps, and {who} cannot count such spans",
            file=None if document is None else document.file,
            document=None if document is None else document.id,
            line=span.line,
            advice="exact, fair, gate, muc and partial can; or make each fragment a span with fragments='split', or "
            "one span from start to end with fragments='hull'",
        )
