"""Limits on what the spans of a document may cost: pairs that are compared, positions whose texts are needed.

They are far above what occurs, and no option raises them.
"""

from __future__ import annotations

from clueval.files.errors import LimitError
from clueval.spans.document import Document

MAX_PAIRS = 300_000
"""The most pairs of overlapping spans of a document that are compared one by one; see `PAIRS_OF_SPAN`."""

PAIRS_OF_SPAN = 100
"""A document with many spans may have this many such pairs for each of its spans, even if that is more."""

PAIRINGS_OF_SPAN = 10
"""The same for the spans of a component in which `gate` or `fair` chooses among the pairs."""

MAX_MENTIONED = 1_000_000
"""The most words that the mentions of a document have together, and that they are compared with elsewhere."""

MENTIONED_OF_WORD = 20
"""A document with many words may have this many for each of its words, even if that is more."""

MAX_MATCHING = 5_000_000
"""The most steps of a search for the best matching of spans that overlap: spans of one side times possible pairs."""

MAX_SEARCHED = 20_000_000_000
"""The most characters of texts in which the mentions of a document are looked for: mentions times text."""

MAX_COMPARED = 5_000_000
"""The most words with which the mentions of a document are compared by the step fuzzy: mentions times words."""

MAX_COVERED = 50_000_000
"""The most positions that the spans of a document have together, where their texts are compared or written.

Spans that do not overlap never have more than a document may have (`clueval.limits.MAX_DOCUMENT`). An error table
counts a span once for each row that shows it.
"""


def require_few_pairs(
    pairs: int, spans: int, document: Document | None = None, of_span: int | None = None
) -> None:
    """Raise `LimitError` for too many pairs of overlapping spans among a number of spans.

    `of_span` (default: `PAIRS_OF_SPAN`) is how many there may always be for each span.
    """
    most = max(MAX_PAIRS, (PAIRS_OF_SPAN if of_span is None else of_span) * spans)
    if pairs > most:
        raise _at(
            document,
            f"more than {most:,} pairs of spans overlap, too many to be compared one by one",
            "score the document in parts, or leave out spans that are nested or repeated",
        )


def require_quick_matching(spans: int, pairs: int) -> None:
    """Raise `LimitError` for spans of one side with too many possible pairs."""
    if spans * pairs > MAX_MATCHING:
        raise _at(
            None,
            f"{spans:,} spans are connected by {pairs:,} possible pairs, too many to find the best",
            "set a greater min_overlap, or leave out spans that are nested or repeated",
        )


def require_short_texts(positions: int, document: Document | None) -> None:
    """Raise `LimitError` for too many positions of spans whose texts are needed."""
    if positions > MAX_COVERED:
        raise _at(
            document,
            f"the texts of the spans have together more than {MAX_COVERED:,} positions",
            "leave out spans that many others overlap or equal",
        )


def require_short_mentions(words: int, of_document: int, document: Document | None) -> None:
    """Raise `LimitError` for mentions with too many words, given the number of words of their document."""
    most = max(MAX_MENTIONED, MENTIONED_OF_WORD * of_document)
    if words > most:
        raise _at(
            document,
            f"the mentions have together more than {most:,} words that must be compared",
            "leave out spans that are nested or repeated",
        )


def require_few_searched(characters: int, words: int) -> None:
    """Raise `LimitError` for mentions that are looked for in too many characters, or compared with too many words."""
    if characters > MAX_SEARCHED or words > MAX_COMPARED:
        raise _at(
            None,
            "the mentions that are not found at once are too many for a text of this length",
            "leave out the step fuzzy, or locate the mentions in parts of the text",
        )


def _at(document: Document | None, problem: str, advice: str) -> LimitError:
    if document is None:
        return LimitError(problem, advice=advice)
    return LimitError(problem, **document.in_errors, advice=advice)
