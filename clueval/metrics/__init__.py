"""The ways of counting, by name. One file each; they never import each other."""

from __future__ import annotations

from clueval.metric import Metric
from clueval.metrics.exact import Exact
from clueval.metrics.levels import Levels

METRICS: dict[str, type[Metric]] = {"levels": Levels, "exact": Exact}
