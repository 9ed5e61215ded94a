"""GATE's evaluation: its sets, its candidate lists, its tables, its page, its indicators.

To read the package, begin with `run`, `changes`, `files`, `table`, `page`. The metric is
`clueval.metrics.gate`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clueval.compat.gate.files import GateListTable, GateTable, IndicatorWriter
    from clueval.compat.gate.run import gate

_MODULES = {
    "GateListTable": "files",
    "GateTable": "files",
    "IndicatorWriter": "files",
    "gate": "run",
}
"""Where each name is defined; its module is imported when the name is first used."""

__all__ = [
    "GateListTable",
    "GateTable",
    "IndicatorWriter",
    "gate",
]


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
