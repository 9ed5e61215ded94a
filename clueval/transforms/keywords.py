"""The keyword arguments that stand for fields of `Preparing`, for type checkers; no program imports this module."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypedDict


class PreparingOptions(TypedDict, total=False):
    """The fields of `Preparing`, which may be given one by one."""

    label_map: str | Path | Mapping[str, str] | None
    gold_map: str | Path | Mapping[str, str] | None
    predicted_map: str | Path | Mapping[str, str] | None
    hierarchy: str | Path | None
    depth: int | None
    by_depth: bool
    generic: str | Iterable[str] | None
    generic_gold: str | Iterable[str] | None
    untyped: bool
    ignore_layer: str | Iterable[str] | None
    ignore_label: str | Iterable[str] | None
    ignored: str
    ignore_same_label: bool
    alternatives: str | Path | None
    any_of: str | Path | Iterable[Any] | None
    fragments: str
    occurrence: str | None
    locate: str | Iterable[str] | None
    min_score: float | str | Path | Mapping[str, float] | None
    same_data: bool
