"""Gates: limits that figures of a masking report must keep.

A limit is written ``FIGURE=X``. FIGURE is a figure of a row, with its class in brackets (all classes without
them), as in ``entity_recall[high]``; or a figure of precision; before it, separated by a dot, may stand the name of
the sequence, and must if there are several. It may also be the path of a number below ``metrics`` in the JSON report.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from clueval.exceptions import UsageError
from clueval.options import number
from clueval.studies.gates import require_fraction

if TYPE_CHECKING:
    from clueval.studies.masking.found import MaskingFindings

NEAR = 1e-12
"""A figure that misses its limit by no more than this keeps it."""

_FIGURE = re.compile(r"(?:(?P<sequence>.+)\.)?(?P<name>[a-z_]+)(?:\[(?P<kind>.*)\])?", re.DOTALL)

_MISSING = object()


def failures(
    report: MaskingFindings, fail_under: Iterable[str] | str, fail_over: Iterable[str] | str
) -> Iterator[str]:
    """Yield a line for each limit that is not kept; a figure that is undefined, or of an absent class, keeps none.

    Raises `UsageError` for a limit that cannot be read and for an unknown figure.
    """
    for limits, is_lower in ((fail_under, True), (fail_over, False)):
        for figure, limit in map(_limit, [limits] if isinstance(limits, str) else limits):
            value = _value(report, figure)
            require_fraction(figure, figure.partition("[")[0].rpartition(".")[2], limit)
            word = "under" if is_lower else "over"
            if value is None:
                yield f"{figure} is undefined{_why(report, figure)}, and must not be {word} {limit:g}"
            elif (value < limit - NEAR) if is_lower else (value > limit + NEAR):
                yield f"{figure} is {value:.6g}, {word} {limit:g}"


def require_limits(*limits: Iterable[str]) -> None:
    """Raise `UsageError` for a limit that cannot be read, before anything is counted."""
    for one in (one for several in limits for one in several):
        _limit(one)


def _limit(text: str) -> tuple[str, float]:
    figure, equals, limit = text.rpartition("=")
    try:
        if not (figure and equals):
            raise ValueError
        return figure, number(limit)
    except ValueError:
        raise UsageError(
            f"the limit {text!r} cannot be read", advice="write it FIGURE=X, as in entity_recall[high]=1"
        ) from None


def _value(report: MaskingFindings, figure: str) -> float | None:
    """Return the value of a figure; None if it is undefined or of an absent class."""
    reports = report.reports
    match = _FIGURE.fullmatch(figure)
    found = _MISSING
    if match is not None and match["sequence"] is None:
        named = {name: _of_report(one, match["name"], match["kind"]) for name, one in reports.items()}
        found = next(iter(named.values()), None)
        if found is not _MISSING and len(named) > 1:
            raise UsageError(
                f"there are several sequences, and {figure!r} names none",
                advice=f"write it {next(iter(named))}.{figure}",
            )
    elif match is not None and match["sequence"] in reports:
        found = _of_report(reports[match["sequence"]], match["name"], match["kind"])
    if found is _MISSING:
        found = _at({"masking": reports}, figure)
    if found is _MISSING or (found is not None and not isinstance(found, int | float)):
        raise UsageError(f"there is no figure {figure!r}", advice=_advice(report, figure))
    return found


def _why(report: MaskingFindings, figure: str) -> str:
    """Return the classes that there are, if no mention has the class of a figure."""
    match = _FIGURE.fullmatch(figure)
    kinds = sorted({kind for one in report.reports.values() for kind in one["classes"]} - {"all"})
    if match is None or match["kind"] in (None, "all", *kinds):
        return ""
    return f" (the classes are {', '.join(kinds)})"


def _of_report(report: Mapping[str, Any], name: str, kind: str | None) -> Any:
    classes = report["classes"]
    if kind is None and name == "string_leaks":
        return report[name]
    if name in classes["all"]:
        return classes.get("all" if kind is None else kind, {}).get(name)
    return report["precision"].get(name, _MISSING) if kind is None else _MISSING


def _at(report: Any, path: str) -> Any:
    """Return the value at a path whose keys are separated by dots; a key may hold dots itself."""
    if not isinstance(report, Mapping):
        return _MISSING
    if path in report:
        return report[path]
    readings = (_at(report[key], path[len(key) + 1 :]) for key in report if path.startswith(f"{key}."))
    found = [value for value in readings if value is not _MISSING]
    if len(found) > 1:
        raise UsageError(
            f"the path {path!r} can be read in {len(found)} ways", advice="name the figure alone"
        )
    return found[0] if found else _MISSING


def _advice(report: MaskingFindings, figure: str) -> str:
    from difflib import get_close_matches

    first = next(iter(report.reports.values()), None)
    if first is None:
        return "there are no spans, so there are no figures"
    names = [name for row in (first["classes"]["all"], first["precision"]) for name in row]
    asked = figure.partition("[")[0].rpartition(".")[2]
    if asked in ("leak", "leaks", "leaked"):
        return "documents_exposed counts documents that leak, missed and partial the mentions"
    near = get_close_matches(asked, names, n=1, cutoff=0.7)
    return f"did you mean {near[0]}?" if near else f"one of {', '.join(names)}"
