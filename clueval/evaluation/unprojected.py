"""Predicted spans that have no place in the text of gold."""

from __future__ import annotations

from typing import Any, NamedTuple

from clueval.spans.mention import MENTION
from clueval.spans.span import Span


class Unprojected(NamedTuple):
    """A predicted span without a place on the gold text, in predicted positions, and the id of its document.

    A mention of a language model has no positions; the feature `MENTION` has its text.
    """

    document: str
    span: Span

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of the result; a mention has its text, and None for its positions."""
        span = self.span
        if MENTION in span.features:
            places: dict[str, Any] = {"start": None, "end_exclusive": None, "text": span.features[MENTION]}
        else:
            places = {"start": span.start, "end_exclusive": span.end}
        return {"document": self.document, "label": span.label, **places}
