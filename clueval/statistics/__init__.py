"""Formulas of statistics: intervals, resampling, tests. Numbers in, numbers out; nothing here knows a span.

To read the package, begin with `jackknife` and `randomisation`, the methods that clueval uses unless asked for
others; `bootstrap` has the methods on request, `student` and `beta` the distribution functions.
"""

from __future__ import annotations

from clueval.statistics.bootstrap import bca, bca_levels, percentile
from clueval.statistics.holm import holm
from clueval.statistics.mcnemar import mcnemar_exact
from clueval.statistics.proportions import clopper_pearson, wilson
from clueval.statistics.student import t_p, t_quantile

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
