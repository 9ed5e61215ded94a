"""Paths of numbers that begin below the metric and the sequence, where only one report has such a number."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from clueval.evaluation.score_path import Path, find_path
from clueval.exceptions import UsageError


def whole_path(reports: Mapping[str, Any], text: str) -> Path:
    """Return the path of a number, from the metric on. Raises `UsageError` as `find_path` does.

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
        if not short:
            raise
    if len(short) > 1:
        listed = ", ".join(".".join(path) for path in short)
        raise UsageError(f"{text!r} can mean {len(short)} scores", advice=f"one of {listed}")
    return short[0]
