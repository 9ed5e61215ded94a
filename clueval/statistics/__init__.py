"""Formulas of statistics: intervals, resampling, tests. Numbers in, numbers out; nothing here knows a span.

To read the package, begin with `jackknife`, and with randomisation in `resampling`, the methods that clueval uses
unless asked for others; `resampling` has the bootstrap, too, `distributions` the distribution functions.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clueval.statistics.distributions import t_p, t_quantile
    from clueval.statistics.proportions import clopper_pearson, mcnemar_exact, wilson
    from clueval.statistics.resampling import bca, bca_levels, holm, percentile

_MODULES = {
    "bca": "resampling",
    "bca_levels": "resampling",
    "clopper_pearson": "proportions",
    "holm": "resampling",
    "mcnemar_exact": "proportions",
    "percentile": "resampling",
    "t_p": "distributions",
    "t_quantile": "distributions",
    "wilson": "proportions",
}
"""The module that defines each name; it is imported when the name is first used."""

__all__ = [
    "bca",
    "bca_levels",
    "clopper_pearson",
    "holm",
    "mcnemar_exact",
    "percentile",
    "t_p",
    "t_quantile",
    "wilson",
]


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
