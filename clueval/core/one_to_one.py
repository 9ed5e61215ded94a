"""Matching one to one: as many pairs as possible, and of those the greatest sum or the earlier members.

`best_pairs` finds it by successive best augmenting paths (Busacker and Gowen 1960; paths by Bellman and
Ford), in each connected component of the possible pairs alone. A component of a few spans costs next to nothing; one of
n spans that all overlap costs O(n^4) at worst, and is refused if it is large. `most_pairs` prefers earlier members
(augmenting paths, Kuhn 1955). `overlap_groups` are those of spans that share positions.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence

from clueval.core.case import Case, LabelledRange
from clueval.core.span import Span, components, shared_positions
from clueval.files.errors import LimitError

MAX_MATCHING = 5_000_000
"""The most steps of a search for the best matching of spans that overlap: spans of one side times possible pairs."""

Pairs = Sequence[Mapping[int, float]]
"""For each number of the first side, the numbers of the other side that it can be paired with, and their worth."""


def equal_or_best_overlaps(
    case: Case,
    gold: Sequence[LabelledRange],
    predicted: Sequence[LabelledRange],
    is_enough: Callable[[Span, Span], bool],
) -> tuple[set[LabelledRange], set[LabelledRange]]:
    """Return the spans of each side of a case that are in a pair: of one label, and equal, or with enough overlap.

    `gold` and `predicted` are the spans of the sides; equal spans of one side are one.
    """
    of_gold, of_predicted = _numbers(gold), _numbers(predicted)
    ranks = {key: rank for rank, key in enumerate(of_predicted)}
    pairs: list[dict[int, float]] = [{} for _ in of_gold]
    for gold_rank, (key, number) in enumerate(of_gold.items()):
        around = {predicted[other]: other for other in case.around[0][number]}
        for mate, predicted_number in around.items():
            spans = case.gold[number], case.predicted[predicted_number]
            if mate[2] == key[2] and (mate == key or is_enough(*spans)):
                pairs[gold_rank][ranks[mate]] = shared_positions(*spans)
    chosen = best_pairs(pairs)
    golds, predicteds = list(of_gold), list(of_predicted)
    return {golds[rank] for rank in chosen}, {predicteds[rank] for rank in chosen.values()}


def _numbers(keys: Sequence[LabelledRange]) -> dict[LabelledRange, int]:
    """Return the number of the first span of each key, in the order of start, end, label and parts."""
    first = {key: number for number, key in reversed(list(enumerate(keys)))}
    return dict(sorted(first.items(), key=lambda item: (*item[0][:3], item[0][3] or ())))


def best_pairs(pairs: Pairs) -> dict[int, int]:
    """Return the chosen pairs, as numbers of the first side with those of the other.

    Raises `LimitError` for too many possible pairs that are connected.

    >>> best_pairs([{0: 4, 1: 1}, {0: 9}, {2: 1}])
    {0: 1, 1: 0, 2: 2}
    """
    chosen: dict[int, int] = {}
    sets = UnionFind(len(pairs))
    first_of: dict[int, int] = {}  # the first number that can be paired with a number of the other side
    for number, others in enumerate(pairs):
        for other in others:
            sets.unite(number, first_of.setdefault(other, number))
    for component in sets.groups():
        if not pairs[component[0]]:
            continue
        edges = [other for number in component for other in pairs[number]]
        spans = min(len(component), len(set(edges)))
        if spans * len(edges) > MAX_MATCHING:
            raise LimitError(
                f"{spans:,} spans are connected by {len(edges):,} possible pairs, too many to find the best",
                advice="set a greater min_overlap, or leave out spans that are nested or repeated",
            )
        mates: dict[int, int] = {}
        owners: dict[int, int] = {}
        while path := _best_path(component, pairs, mates, owners):
            for number, other in path:
                mates[number], owners[other] = other, number
        chosen |= mates
    return dict(sorted(chosen.items()))


def _best_path(
    numbers: Sequence[int], pairs: Pairs, mates: Mapping[int, int], owners: Mapping[int, int]
) -> list[tuple[int, int]]:
    """Return the new pairs of the augmenting path that adds most; none if there is no such path."""
    gain = {number: 0.0 for number in numbers if number not in mates}
    came: dict[int, int] = {}  # from which number of the first side the path comes to one of the other side
    best: dict[int, float] = {}
    waiting = deque(gain)
    while waiting:
        number = waiting.popleft()
        for other, worth in pairs[number].items():
            if mates.get(number) == other or gain[number] + worth <= best.get(other, float("-inf")):
                continue
            best[other], came[other] = gain[number] + worth, number
            if other in owners:
                owner = owners[other]
                gain[owner] = best[other] - pairs[owner][other]
                waiting.append(owner)
    free = [other for other in best if other not in owners]
    end = max(free, key=lambda other: (best[other], -other), default=None)
    path = []
    while end is not None:
        path.append((came[end], end))
        end = mates.get(came[end])
    return path


def most_pairs(edges: Sequence[Sequence[tuple[int, int]]]) -> list[int | None]:
    """Return for each member of one side the value of the edge by which it is paired, None for no partner.

    `edges` has for each member its possible partners with a value for each, in the order in which they are tried.
    Earlier members keep a partner if they have one, maybe another one.

    A search in depth without recursion: `path` has the members to move, each with the partner that it would get. No
    partner becomes free again, so each edge is asked once (`untried`) whether its partner is free. The partners that a
    search without success has seen are `closed`: the members that own them have no edge to any other partner.

    >>> most_pairs([[(0, 10), (1, 11)], [(0, 20)], [(0, 30)]])
    [11, 20, None]
    """
    owners: dict[int, int] = {}
    chosen: list[int | None] = [None] * len(edges)
    untried = [iter(partners) for partners in edges]
    closed: set[int] = set()
    for member in range(len(edges)):
        reached: set[int] = set()
        path: list[tuple[int, int, int]] = []
        waiting = [(member, iter(edges[member]))]
        while waiting:
            current, rest = waiting[-1]
            edge = next((edge for edge in untried[current] if edge[0] not in owners), None) or next(
                (edge for edge in rest if edge[0] not in reached and edge[0] not in closed), None
            )
            if edge is None:
                waiting.pop()
                del path[-1:]
                continue
            partner, value = edge
            reached.add(partner)
            path.append((current, partner, value))
            if partner not in owners:
                for moved, its_partner, its_value in path:
                    owners[its_partner], chosen[moved] = moved, its_value
                break
            waiting.append((owners[partner], iter(edges[owners[partner]])))
        else:
            closed |= reached
    return chosen


class UnionFind:
    """Disjoint sets of the numbers from 0 to n - 1.

    The sets are trees, united by size, and paths are halved (Tarjan and van Leeuwen, "Worst-case analysis of set union
    algorithms", 1984).
    """

    def __init__(self, n: int) -> None:
        self._parents = list(range(n))
        self._sizes = [1] * n

    def find(self, number: int) -> int:
        """Return the number that stands for the set of a number."""
        parents = self._parents
        while parents[number] != number:
            parents[number] = number = parents[parents[number]]
        return number

    def unite(self, one: int, other: int) -> None:
        """Make one set of the sets of two numbers."""
        one, other = self.find(one), self.find(other)
        if one != other:
            if self._sizes[one] < self._sizes[other]:
                one, other = other, one
            self._parents[other] = one
            self._sizes[one] += self._sizes[other]

    def groups(self) -> list[list[int]]:
        """Return the numbers of each set, sets in the order of their first numbers."""
        groups: dict[int, list[int]] = {}
        for number in range(len(self._parents)):
            groups.setdefault(self.find(number), []).append(number)
        return list(groups.values())


def overlap_groups(spans: Sequence[Span]) -> list[list[int]]:
    """Return the numbers of the spans that share positions, directly or through others, group by group.

    Discontinuous spans have the positions of their fragments, so a union-find joins the components of the fragments. A
    span of zero length shares those that it lies between; equal spans of zero length share none. Groups come by their
    first numbers. Costs O(n log n) for n fragments.

    >>> overlap_groups([Span.of_fragments([(0, 3), (7, 9)]), Span(4, 6), Span(2, 4), Span(5, 5)])
    [[0, 2], [1, 3]]
    """
    sets = UnionFind(len(spans))
    rows = sorted((*part, number) for number, span in enumerate(spans) for part in span.fragments)
    for run in components(rows):
        if run[-1][1] > run[0][0]:
            for row in run:
                sets.unite(run[0][2], row[2])
    return sets.groups()
