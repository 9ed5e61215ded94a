"""Reports for each depth of a hierarchy of labels: ``depths`` in each report, by the number of the depth.

The counts of a depth stand in the same totals as all others, under a name of the sequence that has the depth and the
depth of the deepest label of the document. A report at depth n adds the counts of depth n and, of documents whose
labels do not reach it, those of their deepest depth; so counts of documents with different depths add up.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from clueval.metrics.counting import Tally
from clueval.metrics.metric import Metric

DEPTHS = "depths"
"""The name of the section in a report."""

_MARK = "\x1f"
_DEPTH = re.compile(r"([1-9][0-9]{0,5})/([1-9][0-9]{0,5})")


def depth_sequence(sequence: str, depth: int, deepest: int) -> str:
    """Return the name under which a sequence is counted at a depth, in documents with this deepest depth."""
    return f"{sequence}{_MARK}{depth}/{deepest}"


def plain_sequence(name: str) -> str | None:
    """Return the sequence of the name of a tally; None if it has an invalid depth.

    >>> plain_sequence("entity"), plain_sequence("entity\x1f1/2"), plain_sequence("entity\x1f2/1")
    ('entity', 'entity', None)
    """
    sequence, mark, depth = name.partition(_MARK)
    found = _DEPTH.fullmatch(depth)
    if mark and (found is None or int(found[1]) > int(found[2])):
        return None
    return sequence


def has_depth(name: str) -> bool:
    """Return whether the name of a tally has a depth."""
    return _MARK in name


Depths = Mapping[tuple[int, int], Tally]
"""Tallies by depth and deepest depth."""


def tallies_by_depth(tallies: Mapping[tuple[str, str], Tally]) -> dict[tuple[str, str], Depths]:
    """Return the tallies that have a depth, by metric and sequence."""
    found: dict[tuple[str, str], dict[tuple[int, int], Tally]] = {}
    for (name, place), tally in tallies.items():
        sequence, mark, depth = place.partition(_MARK)
        if mark:
            at, of = depth.split("/")
            found.setdefault((name, sequence), {})[int(at), int(of)] = tally
    return dict(found)


def depth_reports(metric: Metric, found: Depths, layers: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return the report of a metric for each depth; empty if depths were not counted."""
    reports = {}
    all_deepest = {deepest for _, deepest in found}
    for number in range(1, max(all_deepest, default=0) + 1):
        total: Tally = Tally()
        for deepest in all_deepest:
            total.update(found.get((min(number, deepest), deepest), Tally()))
        reports[str(number)] = metric.scores(total, layers)
    return reports
