"""Two column files read by clusters, and clusters of rows, as tests make them."""

from __future__ import annotations

from collections.abc import Sequence

from clueval.evaluation.column_clusters import cluster_readings
from clueval.evaluation.file_reading import FileReading
from clueval.evaluation.plan import Plan
from clueval.evaluation.row_clusters import Decoders, RowClusters
from clueval.formats.columns.sizes import Sizes
from clueval.metrics import metric_named
from clueval.reading.source import Source
from clueval.spans.filters import Filter
from clueval.spans.seen_names import SeenNames

LEVELS = Plan((metric_named("levels"),), False, Filter(), ())


def reading_of(gold: Source, predicted: Source, plan: Plan = LEVELS) -> FileReading | None:
    """Two files counted by clusters; None if their documents must be counted."""
    return next(cluster_readings(gold, predicted, plan, SeenNames(plan.where)), None)


def row_clusters(layers: Sequence[str], decoders: Decoders, plan: Plan = LEVELS) -> RowClusters:
    """No clusters yet."""
    return RowClusters(plan, layers, decoders, Sizes(), SeenNames(plan.where))
