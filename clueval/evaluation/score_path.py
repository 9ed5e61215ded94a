"""The paths of numbers in a report, as ``levels.entity.unlabelled.4.recall``: metric, sequence, place in the report.

Names may hold dots themselves, so a path is matched against the names that there are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from clueval.exceptions import UsageError, require_kind

Path = tuple[str, ...]


def find_path(reports: Mapping[str, Any], text: str) -> Path:
    """Return the path of a number. Raises `UsageError` if there is none, or two can be meant.

    >>> find_path({"exact": {"a.b": {"micro": {"f1": 0.5}}}}, "exact.a.b.micro.f1")
    ('exact', 'a.b', 'micro', 'f1')
    """
    require_kind(text, "str", "the path of a score")
    found = list(paths_of(reports, text))
    if len(found) > 1:
        raise UsageError(
            f"{text!r} can mean {len(found)} scores, because names have dots", advice="rename one"
        )
    if not found:
        raise UsageError(f"there is no score {text!r}", advice=_advice(reports, text))
    return found[0]


def number_at(reports: Mapping[str, Any], path: Path) -> float | None:
    """Return the number at a path; None if it is undefined, or there is none."""
    found: Any = reports
    for name in path:
        found = found.get(name) if isinstance(found, Mapping) else None
    return found if isinstance(found, int | float) else None


def paths_of(report: object, text: str) -> Iterator[Path]:
    """Yield the paths of numbers that a text can mean."""
    if not isinstance(report, Mapping):
        return
    for name, value in report.items():
        if name == text and not isinstance(value, Mapping):
            yield (name,)
        elif text.startswith(f"{name}."):
            for rest in paths_of(value, text[len(name) + 1 :]):
                yield (name, *rest)


def _all_paths(report: Mapping[str, Any], before: str = "") -> Iterator[str]:
    for name, value in report.items():
        if isinstance(value, Mapping):
            yield from _all_paths(value, f"{before}{name}.")
        else:
            yield before + name


def _advice(reports: Mapping[str, Any], text: str) -> str:
    from difflib import get_close_matches

    known = list(_all_paths(reports))
    close = get_close_matches(text, known, n=1, cutoff=0.3)
    return f"did you mean {close[0]}?" if close else f"such as {known[0]}" if known else "nothing was counted"
