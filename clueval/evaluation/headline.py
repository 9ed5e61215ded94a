"""The headline of a report: the entry whose precision, recall and F1 are cited for a metric."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clueval.spans.span import MERGED

_ENDINGS = ("", "_strict")
_RATES = ("precision", "recall", "f1")
_OF_CLASSES = "entity_recall"
"""The only rate of the headline of `masking`: an entity counts as found if all its mentions are masked."""


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
