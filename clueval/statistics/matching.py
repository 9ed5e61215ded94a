"""Matching one to one: as many pairs as possible, earlier ones first, by augmenting paths (Kuhn 1955)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


def most_pairs(edges: Sequence[Sequence[tuple[int, int]]]) -> list[int | None]:
    """Return for each member of one side the value of the edge by which it is paired, None for no partner.

    `edges` has for each member its possible partners with a value for each, in the order in which they are tried.
    Earlier members keep a partner if they have one, maybe another one.

    >>> most_pairs([[(0, 10), (1, 11)], [(0, 20)], [(0, 30)]])
    [11, 20, None]
    """
    owners: dict[int, int] = {}
    chosen: list[int | None] = [None] * len(edges)
    untried = [iter(each) for each in edges]
    given_up: set[int] = set()
    for group in range(len(edges)):
        _augment(group, edges, untried, given_up, owners, chosen)
    return chosen


def _augment(
    group: int,
    edges: Sequence[Sequence[tuple[int, int]]],
    untried: Sequence[Iterator[tuple[int, int]]],
    given_up: set[int],
    owners: dict[int, int],
    chosen: list[int | None],
) -> None:
    """Give `group` a slot if there is one, moving other groups to other slots of theirs where necessary.

    A search in depth without recursion: `path` has the groups to move, each with the slot that it would get.
    No slot becomes free again, so each edge is asked once (`untried`) whether its slot is free. The slots that a search
    without success has seen are `given_up`: the groups that own them have no edge to any other slot.
    """
    seen: set[int] = set()
    path: list[tuple[int, int, int]] = []
    waiting = [(group, iter(edges[group]))]
    while waiting:
        current, rest = waiting[-1]
        found = next((edge for edge in untried[current] if edge[0] not in owners), None) or next(
            (edge for edge in rest if edge[0] not in seen and edge[0] not in given_up), None
        )
        if found is None:
            waiting.pop()
            if path:
                path.pop()
            continue
        slot, member = found
        seen.add(slot)
        path.append((current, slot, member))
        if slot not in owners:
            for each, its_slot, its_member in path:
                owners[its_slot], chosen[each] = each, its_member
            return
        waiting.append((owners[slot], iter(edges[owners[slot]])))
    given_up |= seen
