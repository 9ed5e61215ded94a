"""Formulas of statistics: intervals, resampling, tests. Numbers in, numbers out; nothing here knows a span.

To read the package, begin with `jackknife`, and with randomisation in `resampling`, the methods that clueval uses
unless asked for others; `resampling` has the bootstrap, too, `distributions` the distribution functions.
"""

from clueval.statistics.distributions import clopper_pearson, mcnemar_exact, t_p, t_quantile, wilson
from clueval.statistics.resampling import bca, bca_levels, holm, percentile

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
