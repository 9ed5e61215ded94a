"""The headlines of reports: the rates that people quote, and where each metric has them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from clueval.core.span import MERGED

Report = Mapping[str, Any]

Path = tuple[str, ...]
"""The path of a number: metric, sequence, place in the report."""

RATES = ("precision", "recall", "f1")

_HEADLINES = (
    ("unlabelled", "1"),
    ("micro",),
    ("tokens", "micro"),
    ("overall", "fair"),
    ("strict",),
    ("all",),
    ("ALL",),
    ("classes", "all"),
)
"""Where reports have their headline, the first that there is; in a layer, labelled level 1 comes before."""

_HEADLINE_RATES = (RATES, tuple(f"{rate}_strict" for rate in RATES), ("entity_recall",))
"""The rates of a headline, the first that it has."""


def number_at(reports: Report, path: Path) -> float | None:
    """Return the number at a path; None if it is undefined, or there is none."""
    number = entry_at(reports, path[:-1]).get(path[-1])
    return number if isinstance(number, int | float) else None


def entry_at(report: Report, path: Path) -> Report:
    """Return the dictionary at a path of a report; an empty one if there is none."""
    value: Any = report
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value if isinstance(value, Mapping) else {}


def headline_paths(reports: Report, rates: slice = slice(None)) -> Iterator[Path]:
    """Yield the paths of the rates of all headlines, from the metric on; or of some of each headline's `rates`."""
    for metric, sequences in reports.items():
        for sequence, report in sequences.items():
            for path in headline_rates(sequence, report)[rates]:
                yield metric, sequence, *path


def headline_rates(sequence: str, report: Report) -> list[Path]:
    """Return the paths, below the sequence, of the rates of the headline: precision, recall and F1, if it has them.

    That of `masking` has the recall of entities, of which one counts as found if all its mentions are masked.

    >>> headline_rates("entity", {"micro": {"precision": 1.0, "recall": 0.5, "f1": 0.6667}})
    [('micro', 'precision'), ('micro', 'recall'), ('micro', 'f1')]
    """
    labelled = [] if sequence == MERGED else [("labelled", sequence, "1", "micro")]
    for place in (*labelled, *_HEADLINES):
        entry = entry_at(report, place)
        for names in _HEADLINE_RATES:
            paths = [(*place, name) for name in names if name in entry]
            if paths:
                return paths
    return []
