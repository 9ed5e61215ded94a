"""The paths of numbers in a report, as ``levels.entity.unlabelled.4.recall``: metric, sequence, place in the report.

The headline of a report is the entry whose precision, recall and F1 are cited for a metric. Names may
hold dots themselves, so a path is matched against the names that there are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from clueval.exceptions import UsageError, require_kind
from clueval.metrics import METRICS
from clueval.spans.span import MERGED

Path = tuple[str, ...]

_ENDINGS = ("", "_strict")
_RATES = ("precision", "recall", "f1")
_OF_CLASSES = "entity_recall"
"""The only rate of the headline of `masking`: an entity counts as found if all its mentions are masked."""


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


def whole_path(reports: Mapping[str, Any], text: str) -> Path:
    """Return the path of a number, from the metric on; of ``f1``, that of the headline. Raises as `find_path` does.

    A path that begins with the name of a metric means this metric, not a part of another one with the same name, as
    ``exact`` in ``muc``: then `UsageError` names both.

    >>> whole_path({"exact": {"entity": {"micro": {"f1": 0.5}}}}, "micro.f1")
    ('exact', 'entity', 'micro', 'f1')
    """
    require_kind(text, "str", "the path of a score")
    try:
        return find_path(reports, text)
    except UsageError:
        short = [
            (metric, sequence, *path)
            for metric, sequences in reports.items()
            for sequence, report in sequences.items()
            for path in paths_of(report, text)
        ]
        if text in _RATES and len(short) != 1:
            return _of_headline(reports, text)
        if not short:
            raise
    metric, rate = text.partition(".")[0], text.rpartition(".")[2]
    others = dict.fromkeys(path[0] for path in short)
    if metric in METRICS.keys() - others:
        raise UsageError(
            f"{text!r} can mean the metric {metric}, or a part of {', '.join(others)}",
            advice=f"write it in full: {_listed([*_headlines(reports, rate, metric), *short])}",
        )
    if len(short) > 1:
        raise _several(text, short)
    return short[0]


def _of_headline(reports: Mapping[str, Any], rate: str) -> Path:
    paths = _headlines(reports, rate)
    if len(paths) != 1:
        raise _several(rate, paths)
    return paths[0]


def _headlines(reports: Mapping[str, Any], rate: str, metric: str | None = None) -> list[Path]:
    """Return the paths of a rate of the headlines of one metric, or of all."""
    return [
        path
        for path in headline_paths(reports)
        if metric in (None, path[0]) and path[-1].split("_")[-1] == rate
    ]


def headline_paths(reports: Mapping[str, Any], rates: slice = slice(None)) -> Iterator[Path]:
    """Yield the paths of the rates of all headlines, from the metric on; or of some of each headline's `rates`."""
    for metric, sequences in reports.items():
        for sequence, report in sequences.items():
            for path in headline_rates(sequence, report)[rates]:
                yield metric, sequence, *path


def _several(text: str, paths: Sequence[Path]) -> UsageError:
    return UsageError(
        f"{text!r} can mean {len(paths) or 'no'} score{'s' * (len(paths) != 1)}",
        advice=f"one of {_listed(paths)}" if paths else "name it by its path",
    )


def _listed(paths: Sequence[Path]) -> str:
    return ", ".join(".".join(path) for path in paths)


def headline_rates(sequence: str, report: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """Return the paths, below the sequence, of the rates of the headline: precision, recall and F1, if it has them.

    >>> headline_rates("entity", {"micro": {"precision": 1.0, "recall": 0.5, "f1": 0.6667}})
    [('micro', 'precision'), ('micro', 'recall'), ('micro', 'f1')]
    """
    layer = None if sequence == MERGED else sequence
    for place in (
        *([("labelled", layer, "1", "micro")] if layer is not None else []),
        ("unlabelled", "1"),
        ("micro",),
        ("tokens", "micro"),
        ("overall", "fair"),
        ("strict",),
        ("all",),
        ("ALL",),
        ("classes", "all"),
    ):
        entry: Any = report
        for name in place:
            entry = entry.get(name) if isinstance(entry, Mapping) else None
        found = _of_entry(entry) if isinstance(entry, Mapping) else []
        if found:
            return [(*place, name) for name in found]
    return []


def _of_entry(entry: Mapping[str, Any]) -> list[str]:
    for ending in _ENDINGS:
        found = [f"{name}{ending}" for name in _RATES if f"{name}{ending}" in entry]
        if found:
            return found
    return [_OF_CLASSES] if _OF_CLASSES in entry else []
