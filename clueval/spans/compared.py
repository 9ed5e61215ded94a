"""Compared texts: the shared and the other spans of gold and predicted, which every metric can count.

Equal spans of the two sides that no other span overlaps are counted by their labels; all other spans are kept
as spans. A metric gets the same counts from both as from the documents.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from clueval.spans.span import Frozen, Span

SIDES = ("gold", "predicted")

_NOTHING: Mapping[Any, Any] = MappingProxyType({})


class ComparedSequence(NamedTuple):
    """The two sides of one sequence: their shared spans and their other spans.

    `agreed` counts the shared spans by their labels, `equal` is the number of positions with the same tag on
    both sides; `tags` are the tags of the other positions of each side, None for merged spans, which have no
    tags. `gold` and `predicted` are the other spans; their positions can be compared with one another, but
    are not those of the file. `times` is the multiplicity of everything here.
    """

    agreed: Counter[Frozen]
    gold: Sequence[Span]
    predicted: Sequence[Span]
    equal: int
    tags: tuple[list[str], list[str]] | None
    times: int = 1


class Compared(NamedTuple):
    """One part of two parallel texts after comparison.

    `documents` is the number of documents that begin in this part, `tokens` its number of tokens. `sequences`
    holds a comparison for each sequence by its name; it may include spans and tags of earlier parts.
    `document` and `metadata` are the id and the metadata of the document that contains the part, if counts
    are broken down or filtered by document. `has_text` is false for spans without a text. `tallies` holds
    counts that a metric has made already, by metric and sequence. `unit` is what `tokens` counts.
    """

    documents: int
    tokens: int
    sequences: Mapping[str, ComparedSequence] = _NOTHING
    document: str = ""
    metadata: Mapping[str, str] = _NOTHING
    has_text: bool = True
    tallies: Mapping[tuple[str, str], Counter[Any]] = _NOTHING
    unit: str = "token"
