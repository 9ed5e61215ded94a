"""Replacements: what stands in the place of protected mentions, and whether each entity has one of its own.

The replacement of a mention is the placeholder of the predicted span that covers most of its characters (the
earliest of equals), or the label of that span where the predicted side has spans and no placeholders.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import accumulate

from clueval.metrics.masking.exposure import Examination, Judged, Mask
from clueval.metrics.masking.flags import Ranges
from clueval.metrics.masking.largest_share import LargestShares
from clueval.metrics.masking.masked_words import Surface
from clueval.metrics.masking.mention import Mention
from clueval.spans.limits import require_few_pairs
from clueval.spans.parts import intersect


class Masks:
    """The masks of a document by position."""

    def __init__(self, masks: Sequence[Mask]) -> None:
        self._masks = sorted(masks, key=lambda mask: (mask.ranges, mask.label))
        self._places = [(mask.ranges[0][0], mask.ranges[-1][1]) for mask in self._masks]
        self._reach = list(accumulate((end for _, end in self._places), max))
        self._have_gaps = any(len(mask.ranges) > 1 for mask in self._masks)
        self._mentions = self._compared = 0

    def on(self, mention: Mention) -> Mask | None:
        """Return the mask with most characters of a mention, the earliest of equals, in O(log n) without gaps.

        With gaps, the masks around the mention are compared one by one; too many of them raise `LimitError`.
        """
        if not self._have_gaps and len(mention.ranges) == 1:
            place = self._largest.of(*mention.ranges[0])
            return None if place is None else self._masks[bisect_left(self._places, place)]
        self._mentions += 1
        best, most = None, 0
        for mask in self._touching(mention.start, mention.end):
            self._compared += 1
            require_few_pairs(self._compared, self._mentions + len(self._masks))
            shared = _shared(mask.ranges, mention)
            if shared > most:
                best, most = mask, shared
            if (mask.ranges[0][0], mask.ranges[-1][1]) == (mention.start, mention.end):
                break
        return best

    @cached_property
    def _largest(self) -> LargestShares:
        return LargestShares(self._places)

    def _touching(self, start: int, end: int) -> Iterator[Mask]:
        """Yield the masks that may share a character with ``[start, end)``, by position."""
        for number in range(bisect_right(self._reach, start), len(self._masks)):
            if self._places[number][0] >= end:
                return
            yield self._masks[number]


def _shared(ranges: Ranges, mention: Mention) -> int:
    return sum([end - start for start, end in intersect(ranges, mention.ranges)])


def _label(mask: Mask, mention: Mention) -> str:
    """Return what stands for a mention in a mask: the parts of it that share a character, if there are several."""
    parts = [label for start, end, label in mask.parts if _shared(((start, end),), mention)]
    return " ".join(parts) or mask.label


def replacements_of(examination: Examination) -> Iterator[tuple[str, Judged, str]]:
    """Yield every protected mention that is counted, with its annotator and its replacement."""
    masks = Masks(examination.masks)
    for name, found in examination.judged.items():
        for one in found:
            mask = masks.on(one.mention) if one.is_protected and one.mention.counted else None
            if mask is not None:
                yield name, one, _label(mask, one.mention)


def consistency_of(examination: Examination) -> Mapping[str, int]:
    """Return the numbers of entities with several protected mentions, of those with several replacements among
    them, and of replacements that several entities share."""
    by_entity: dict[tuple[str, Surface], list[str]] = {}
    owners: dict[tuple[str, str], set[Surface]] = {}
    for name, one, replacement in replacements_of(examination):
        by_entity.setdefault((name, one.mention.entity), []).append(replacement)
        owners.setdefault((name, replacement), set()).add(one.mention.entity)
    repeated = [found for found in by_entity.values() if len(found) > 1]
    return {
        "entities": len(repeated),
        "several": sum(len(set(found)) > 1 for found in repeated),
        "shared": sum(len(found) > 1 for found in owners.values()),
    }
