"""The keyword arguments that stand for options of an evaluation, for type checkers; no program imports this module."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

from clueval.second.reading.options import SidesOptions
from clueval.textfiles import Progress
from clueval.transforms.preparing import PreparingOptions


class ScoreOptions(PreparingOptions, SidesOptions, total=False):
    """The fields of `Reading`, `Counting`, `Preparing` and `Workers`, which may be given one by one."""

    merge: bool
    where: Iterable[str] | Mapping[str, Any]
    by: str | Iterable[str]
    unit: str | None
    align: bool | int
    pair_by: str | None
    score_feature: str | None
    thresholds: str | Sequence[float] | None
    jobs: int | None
    executor: Executor | None
    progress: Progress | None
    remark: Callable[[str], object] | None


class TrustedOptions(ScoreOptions, total=False):
    """The fields of `Reading`, `Counting`, `Workers` and `Trust` as single options."""

    intervals: bool
    resample_by: str | None
    confidence: float
    method: str
    resamples: int
    seed: int
    save: str | Path | None
