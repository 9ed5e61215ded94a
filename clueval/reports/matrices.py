"""The labels that a matrix shows: all of them if they are few, otherwise the most frequent.

A matrix of all labels grows with the square of their number. Reports hold only the cells that are not zero;
JSON and TSV have all of these cells.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

MOST_LABELS = 40
"""The greatest number of labels that a matrix shows."""


def frequencies(cells: Mapping[str, Mapping[str, int]]) -> Counter[str]:
    """Return how often each label occurs in a matrix: the sum of its row and its column.

    >>> sorted(frequencies({"A": {"A": 2, "B": 1}, "B": {}}).items())
    [('A', 5), ('B', 1)]
    """
    found: Counter[str] = Counter(dict.fromkeys(cells, 0))
    for label, row in cells.items():
        for other, number in row.items():
            found[label] += number
            found[other] += number
    return found


def most_frequent(labels: Iterable[str], often: Mapping[str, int], limit: int = MOST_LABELS) -> list[str]:
    """Return the most frequent labels, in the order in which they are given; of equally frequent ones the
    first.

    >>> most_frequent(["C", "A", "B"], {"A": 1, "B": 2, "C": 1}, limit=2)
    ['C', 'B']
    """
    listed = list(labels)
    if len(listed) <= limit:
        return listed
    places = sorted(range(len(listed)), key=lambda place: -often.get(listed[place], 0))[:limit]
    return [listed[place] for place in sorted(places)]


def how_many(shown: int, labels: int) -> str:
    """Return the end of the title of a matrix that does not show all labels.

    >>> how_many(40, 1_200), how_many(3, 3)
    (', the 40 most frequent of 1,200 labels', '')
    """
    return f", the {shown} most frequent of {labels:,} labels" if shown < labels else ""


def labels_of(matrix: Mapping[str, Any], unmatched: str) -> tuple[list[str], int]:
    """Return the labels that a matrix shows, in their order, and the number of all its labels.

    `matrix` has cells under ``found``; spans without a partner or label are under `unmatched` and
    ``unlabelled``.
    """
    often = frequencies(matrix["found"])
    labels = sorted(often)
    for column in ("unlabelled", unmatched):
        often.update(matrix[column])
    return most_frequent(labels, often), len(labels)
