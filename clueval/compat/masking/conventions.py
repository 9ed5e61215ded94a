"""The programs whose figures a masking report can have, by name."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

from clueval.compat.masking.program import OtherProgram
from clueval.exceptions import UsageError
from clueval.metrics.masking import Masking
from clueval.spans.filters import Filter

PROGRAMS = {
    "tab": ("clueval.compat.masking.tab", "TabFigures"),
    "i2b2": ("clueval.compat.masking.i2b2", "I2b2Figures"),
    "meddocan": ("clueval.compat.masking.meddocan", "MeddocanFigures"),
    "presidio": ("clueval.compat.masking.presidio", "PresidioFigures"),
}
"""The module and the class of each program, which are imported when it is asked for."""


def programs(names: Sequence[str], metric: Masking, where: Filter | None = None) -> list[OtherProgram]:
    """Return what counts as these programs do, spans that pass the filter. Raises `UsageError` for an unknown one."""
    found = []
    for name in dict.fromkeys(names):
        if name not in PROGRAMS:
            raise UsageError(f"unknown convention {name!r}", advice=f"one of {', '.join(PROGRAMS)}")
        module, kind = PROGRAMS[name]
        found.append(getattr(import_module(module), kind)(metric, where))
    return found
