"""Error tables: the wrong spans, the spans of the other side that overlap them, and the text around them.

To read the package, begin with `table`, `context`, `choice`, `clusters`, `places`, `stream`, in this order; `fair`
and `noisy` have the errors of these two metrics, `rows`, `text`, `tsv`, `xlsx` and `page` the output forms. Nothing
here depends on results or processes.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clueval.findings.table import (
        FINDING_KINDS,
        REASONS,
        Finding,
        FindingKind,
        PairRows,
        Reason,
        SideName,
        error_table,
        joined,
    )

_MODULES = {
    "FINDING_KINDS": "table",
    "REASONS": "table",
    "Finding": "table",
    "FindingKind": "table",
    "PairRows": "table",
    "Reason": "table",
    "SideName": "table",
    "error_table": "table",
    "joined": "table",
}
"""Where each name is defined; its module is imported when the name is first used."""

__all__ = [
    "FINDING_KINDS",
    "REASONS",
    "Finding",
    "FindingKind",
    "PairRows",
    "Reason",
    "SideName",
    "error_table",
    "joined",
]


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
