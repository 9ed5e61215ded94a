"""Rates with their intervals, for tables: a float that knows its ends.

Tables are made of the numbers of a report, whatever the metric; where a number is an `Estimate`, its interval is
shown with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clueval.reports.table import Report


class Estimate(float):
    """A rate with the ends of its interval, None if it has none."""

    low: float | None
    high: float | None

    def __new__(cls, value: float, low: float | None, high: float | None) -> Estimate:
        estimate = super().__new__(cls, value)
        estimate.low, estimate.high = low, high
        return estimate

    def __str__(self) -> str:
        """Return the rate in percent, with half the width of the interval and its ends.

        >>> str(Estimate(0.871, 0.846, 0.892))
        '87.1 ± 2.3 [84.6, 89.2]'
        """
        if self.low is None or self.high is None:
            return f"{100 * self:.1f} [-]"
        half = 50 * (self.high - self.low)
        return f"{100 * self:.1f} ± {half:.1f} [{100 * self.low:.1f}, {100 * self.high:.1f}]"


def with_estimates(report: Report) -> Report:
    """Return a report of a result in which each rate that has an interval is an `Estimate`.

    The reports of groups have intervals only if the report has some.
    """
    if "intervals" not in report:
        return report
    found = {**report, "metrics": _estimated(report["metrics"], report["intervals"]["scores"])}
    if "by" in report:
        found["by"] = {
            key: {value: with_estimates(group) for value, group in groups.items()}
            for key, groups in report["by"].items()
        }
    return found


def _estimated(report: Mapping[str, Any], intervals: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in report.items():
        interval = intervals.get(name)
        if isinstance(value, Mapping) and isinstance(interval, Mapping):
            found[name] = _estimated(value, interval)
        elif isinstance(value, float) and isinstance(interval, Mapping):
            found[name] = Estimate(value, interval.get("low"), interval.get("high"))
        else:
            found[name] = value
    return found
