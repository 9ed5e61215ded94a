"""Paths of numbers that begin below the metric and the sequence, where only one report has such a number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from clueval.evaluation.headline import headline_rates
from clueval.evaluation.score_path import Path, find_path, paths_of
from clueval.exceptions import UsageError, require_kind
from clueval.metrics import METRICS


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
        (name, sequence, *path)
        for name, sequences in reports.items()
        if metric in (None, name)
        for sequence, report in sequences.items()
        for path in headline_rates(sequence, report)
        if path[-1].split("_")[-1] == rate
    ]


def _several(text: str, paths: Sequence[Path]) -> UsageError:
    return UsageError(
        f"{text!r} can mean {len(paths) or 'no'} score{'s' * (len(paths) != 1)}",
        advice=f"one of {_listed(paths)}" if paths else "name it by its path",
    )


def _listed(paths: Sequence[Path]) -> str:
    return ", ".join(".".join(path) for path in paths)


_RATES = ("precision", "recall", "f1")
