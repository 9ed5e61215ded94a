"""Paths of numbers that begin below the metric and the sequence, where only one report has such a number."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from clueval.evaluation.headline import headline_rates
from clueval.evaluation.score_path import Path, find_path
from clueval.exceptions import UsageError


def whole_path(reports: Mapping[str, Any], text: str) -> Path:
    """Return the path of a number, from the metric on; of ``f1``, that of the headline. Raises as `find_path` does.

    >>> whole_path({"exact": {"entity": {"micro": {"f1": 0.5}}}}, "micro.f1")
    ('exact', 'entity', 'micro', 'f1')
    """
    try:
        return find_path(reports, text)
    except UsageError:
        short: list[Path] = []
        for metric, sequences in reports.items():
            for sequence, report in sequences.items():
                with suppress(UsageError):
                    short.append((metric, sequence, *find_path(report, text)))
        if text in _RATES and len(short) != 1:
            return _of_headline(reports, text)
        if not short:
            raise
    if len(short) > 1:
        listed = ", ".join(".".join(path) for path in short)
        raise UsageError(f"{text!r} can mean {len(short)} scores", advice=f"one of {listed}")
    return short[0]


def _of_headline(reports: Mapping[str, Any], rate: str) -> Path:
    paths = [
        (metric, sequence, *path)
        for metric, sequences in reports.items()
        for sequence, report in sequences.items()
        for path in headline_rates(sequence, report)
        if path[-1].split("_")[-1] == rate
    ]
    if len(paths) == 1:
        return paths[0]
    listed = ", ".join(".".join(path) for path in paths)
    raise UsageError(
        f"{rate!r} can mean {len(paths) or 'no'} score{'s' * (len(paths) != 1)}",
        advice=f"one of {listed}" if paths else "name it by its path",
    )


_RATES = ("precision", "recall", "f1")
