"""Limits on searching in the texts of a document. They are far above what occurs, and no option raises them."""

from __future__ import annotations

from typing import Any

from clueval.files.errors import LimitError

MAX_MENTIONED = 1_000_000
"""The most words that the mentions of a document have together, and that they are compared with elsewhere."""

MENTIONED_OF_WORD = 20
"""A document with many words may have this many for each of its words, even if that is more."""

MAX_COVERED = 50_000_000
"""The most positions that the spans of a document have together, where their texts are compared or written."""


def require_short_texts(positions: int, **place: Any) -> None:
    """Raise `LimitError`, with its place, for too many positions of spans whose texts are needed."""
    if positions > MAX_COVERED:
        raise LimitError(
            f"the texts of the spans have together more than {MAX_COVERED:,} positions",
            **place,
            advice="leave out spans that many others overlap or equal",
        )


def require_short_mentions(words: int, of_document: int, **place: Any) -> None:
    """Raise `LimitError`, with its place, for mentions with too many words, given the words of their document."""
    most = max(MAX_MENTIONED, MENTIONED_OF_WORD * of_document)
    if words > most:
        raise LimitError(
            f"the mentions have together more than {most:,} words that must be compared",
            **place,
            advice="leave out spans that are nested or repeated",
        )
