"""The mask that covers most of a mention, against a look at every mask."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from strategies import at_most

from clueval.metrics.masking.exposure import Mask, masks_on
from clueval.metrics.masking.mention import Mention
from clueval.metrics.masking.weights import Range

RANGES = st.tuples(st.integers(0, 12), st.integers(0, 12)).map(lambda pair: (min(pair), max(pair)))


def plain(masks: list[Range], start: int, end: int) -> int | None:
    """The number of the mask, by a look at each in order of position, then of the list."""
    best, most = None, 0
    for number in sorted(range(len(masks)), key=lambda number: (masks[number], str(number))):
        shared = min(end, masks[number][1]) - max(start, masks[number][0])
        if shared > most:
            best, most = number, shared
    return best


@at_most(500)
@given(st.lists(RANGES, max_size=12), RANGES)
def test_masks_on_a_mention_are_those_of_a_look_at_each(masks: list[Range], own: Range) -> None:
    listed = [Mask((one,), str(number), counted=True) for number, one in enumerate(masks)]
    mention = Mention((own,), "_", "A", 0, ("a",), has_id=False, counted=True)

    (mask,) = masks_on([mention], listed, lambda start, end: end - start)

    number = plain(masks, *own)
    assert (mask and mask.label) == (None if number is None else str(number))
