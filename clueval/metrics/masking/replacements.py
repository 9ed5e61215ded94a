"""Replacements: what stands in the place of protected mentions, and whether each entity has one of its own.

The replacement of a mention is the placeholder of the predicted span that covers most of its characters (the
earliest of equals), or the label of that span where the predicted side has spans and no placeholders.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import itemgetter

from clueval.metrics.masking.exposure import Examination, Judged, Mask
from clueval.metrics.masking.mention import Mention
from clueval.spans.overlaps import sharing
from clueval.spans.ranges import intersect


def masks_on(
    mentions: Sequence[Mention], masks: Sequence[Mask], length: Callable[[int, int], int]
) -> Iterator[Mask | None]:
    """Yield for each mention the mask with most of its characters, the earliest of equals.

    `length` is the number of characters of a range of positions. Raises `LimitError` if too many masks lie on mentions.
    """
    ordered = sorted(masks, key=itemgetter(0, 1))  # by positions and label
    for mention, numbers in zip(mentions, sharing(mentions, ordered), strict=True):
        best, most = None, 0
        for mask in map(ordered.__getitem__, numbers):
            shared = sum([length(*one) for one in intersect(mask.ranges, mention.ranges)])
            if shared > most:
                best, most = mask, shared
        yield best


def _label(mask: Mask, mention: Mention) -> str:
    """Return what stands for a mention in a mask: the parts of it that share a character, if there are several."""
    parts = [label for start, end, label in mask.parts if intersect(((start, end),), mention.ranges)]
    return " ".join(parts) or mask.label


def replacements_of(examination: Examination) -> Iterator[tuple[str, Judged, str]]:
    """Yield every protected mention that is counted, with its annotator and its replacement."""
    for name, found in examination.judged.items():
        protected = [one for one in found if not one.exposed and one.mention.counted]
        masks = masks_on([one.mention for one in protected], examination.masks, examination.text.length)
        for one, mask in zip(protected, masks, strict=True):
            if mask is not None:
                yield name, one, _label(mask, one.mention) if mask.parts else mask.label


def consistency_of(examination: Examination) -> Mapping[str, int]:
    """Return the numbers of entities with several protected mentions, of those with several replacements among
    them, and of replacements that several entities share."""
    rows: dict[str, list[tuple[int, str]]] = {name: [] for name in examination.judged}
    for name, one, replacement in replacements_of(examination):
        rows[name].append((one.mention.entity, replacement))
    found: Counter[str] = Counter()
    for pairs in rows.values():
        different = {*pairs}
        for field, values in (
            ("entities", [entity for entity, _ in pairs]),
            ("several", [entity for entity, _ in different]),
            ("shared", [replacement for _, replacement in different]),
        ):
            found[field] += sum([number > 1 for number in Counter(values).values()])
    return found
