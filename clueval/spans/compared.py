"""What two parallel texts have in common and what is left over, as values that every metric can count.

Spans that stand on both sides alike, and that no other span of either side overlaps, are counted by their labels;
the others are left over as spans. A metric counts both as it would count the documents.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from clueval.spans.span import Frozen, Span

SIDES = ("gold", "predicted")

_NOTHING: Mapping[Any, Any] = MappingProxyType({})


class Comparison(NamedTuple):
    """The two sides of one sequence: what they have in common, and what is left over.

    `agreed` counts, by their labels, the spans that stand on both sides, `equal` the positions that are tagged
    alike; `tags` are the tags of the other positions on either side, None where merged spans have no tags.
    `times` is the multiplicity of everything here. Positions of left-over spans are good for comparing, not for
    reporting.
    """

    agreed: Counter[Frozen]
    gold: Sequence[Span]
    predicted: Sequence[Span]
    equal: int
    tags: tuple[list[str], list[str]] | None
    times: int = 1


class Compared(NamedTuple):
    """A part of two parallel texts, compared: how many documents begin in it, and how many tokens it has.

    `sequences` are compared by their names; they may hold what belongs to the tokens of earlier parts.
    `document` and `metadata` are those of the one document that it belongs to, if counts are broken down or
    filtered by document. `has_text` is false where there are spans without a text. `tallies`, by metric and sequence,
    are what a metric has counted already.
    """

    documents: int
    tokens: int
    sequences: Mapping[str, Comparison] = _NOTHING
    document: str = ""
    metadata: Mapping[str, str] = _NOTHING
    has_text: bool = True
    tallies: Mapping[tuple[str, str], Counter[Any]] = _NOTHING
