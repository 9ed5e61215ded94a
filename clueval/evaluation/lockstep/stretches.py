"""Compares the stretches of two lists of tags, which are counted in `clueval.tagging.stretches`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from clueval.evaluation.lockstep.columns import Columns, Tags
from clueval.evaluation.lockstep.compare import Decoders, compare_columns
from clueval.spans.compared import Compared
from clueval.spans.span import DEFAULT_LAYER
from clueval.tagging.schemes import OUTSIDE
from clueval.tagging.stretches import StretchCounts


def compared_stretches(
    stretches: StretchCounts, tokens: int, decoders: Decoders, merge: bool
) -> Iterator[Compared]:
    """Compare all stretches, those of the same multiplicity together, and remove them; `tokens` is their number."""
    sides = [{chr(n): pair[side] for n, pair in enumerate(stretches.pairs)} for side in (0, 1)]
    equal = {chr(number) for number, (gold, predicted) in enumerate(stretches.pairs) if gold == predicted}
    for times, group in _by_power(stretches.counts).items():
        same = " ".join(filter(equal.issuperset, group))
        disputed = " ".join(stretch for stretch in group if not equal.issuperset(stretch))
        gold, predicted = (_tags(disputed, names) for names in sides)
        here = len(disputed) - disputed.count(" ")
        columns = Columns(here, _tags(same, sides[0]), (gold, predicted), times)
        tokens -= here * times
        yield Compared(0, 0, compare_columns(columns, decoders, merge))
    nothing: list[Tags] = [{DEFAULT_LAYER: []} for _ in range(3)]
    yield Compared(
        0, 0, compare_columns(Columns(tokens, nothing[0], (nothing[1], nothing[2])), decoders, merge)
    )
    stretches.counts.clear()


def _tags(text: str, names: Mapping[str, str]) -> Tags:
    """Return the tags of stretches, with an O between them; each character of `names` is a tag."""
    return {DEFAULT_LAYER: [*map({**names, " ": OUTSIDE}.__getitem__, text)]}


def _by_power(counts: Mapping[str, int]) -> dict[int, list[str]]:
    """Return the stretches of each power of two in their multiplicity, so that there are few groups."""
    found: defaultdict[int, list[str]] = defaultdict(list)
    for stretch, times in counts.items():
        while times:
            power = times & -times
            found[power].append(stretch)
            times -= power
    return found
