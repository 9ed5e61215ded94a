"""The classes of both sides at once, against a scan and against all small cases."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, product

from hypothesis import example, given
from hypothesis import strategies as st
from strategies import flat_spans

from clueval.spans.flat import Flat
from clueval.spans.match_classes import EXACT, MISSED, OVERLAP, SUPERSET, TILING, Classes, classify
from clueval.spans.span import Span

Ranges = tuple[tuple[int, int], ...]
Side = tuple[list[int], list[int], dict[int, int]]


def scanned(own: Ranges, other: Ranges) -> Side:
    """Kinds, first partners, and the number past the last of several partners, by looking at all for each."""
    found = [scanned_one(each, other, set(own) & set(other)) for each in own]
    kinds, firsts, pasts = ([each[column] for each in found] for column in range(3))
    several = {number: past for number, past in enumerate(pasts) if kinds[number] in (TILING, OVERLAP)}
    return kinds, firsts, several


def scanned_one(one: tuple[int, int], other: Ranges, exact: set[tuple[int, int]]) -> tuple[int, int, int]:
    start, end = one
    if one in exact:
        return EXACT, other.index(one), 0
    over = [n for n, (s, e) in enumerate(other) if s < end and start < e and (s, e) not in exact]
    touch = all(other[n][1] == other[m][0] for n, m in pairwise(over))
    if not over or not touch or other[over[0]][0] > start or other[over[-1]][1] < end:
        return MISSED, -1, 0
    if len(over) == 1:
        return SUPERSET, over[0], 0
    whole = other[over[0]][0], other[over[-1]][1]
    return TILING if whole == one else OVERLAP, over[0], over[-1] + 1


def flat(ranges: Ranges) -> Flat:
    return Flat.of(Span(start, end) for start, end in ranges)


def classified(own: Ranges, other: Ranges) -> tuple[Classes, Classes]:
    return classify(flat(own), flat(other))


def layouts(tokens: int) -> list[Ranges]:
    """All flat sequences of spans with length over that many tokens.

    >>> layouts(2)
    [(), ((1, 2),), ((0, 1),), ((0, 1), (1, 2)), ((0, 2),)]
    """
    from_position: list[list[Ranges]] = [[()]]  # from the end on
    for start in range(tokens - 1, -1, -1):
        these = list(from_position[tokens - start - 1])
        for end in range(start + 1, tokens + 1):
            these += [((start, end), *rest) for rest in from_position[tokens - end]]
        from_position.append(these)
    return from_position[-1]


def test_classes_of_both_sides_are_those_of_a_scan_in_every_case_of_five_tokens() -> None:
    sides = [(ranges, flat(ranges)) for ranges in layouts(5)]

    for (one, own), (two, other) in product(sides, repeat=2):
        assert classify(own, other) == (scanned(one, two), scanned(two, one)), (one, two)


def ranges_of(spans: Sequence[Span]) -> Ranges:
    return tuple((span.start, span.end) for span in spans)


@given(*[st.builds(ranges_of, flat_spans(size=24, zero_length=True))] * 2)
@example(((0, 9),), ((1, 2), (3, 4), (4, 6), (8, 8), (8, 9), (9, 10)))
@example(((0, 2), (2, 4), (4, 4), (4, 6), (7, 9)), ((1, 3), (3, 5), (5, 8), (8, 9)))
def test_classes_of_both_sides_are_those_of_a_scan(one: Ranges, two: Ranges) -> None:
    assert classified(one, two) == (scanned(one, two), scanned(two, one))


def test_a_long_run_inside_one_span_is_covered_and_the_span_tiled() -> None:
    singles = tuple((n, n + 1) for n in range(20))

    for whole in ((0, 20), (0, 12), (4, 20)):
        assert classified((whole,), singles) == (scanned((whole,), singles), scanned(singles, (whole,)))
