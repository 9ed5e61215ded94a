"""Two column files read by clusters, clusters of rows, and sentences of span files, as tests make them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from clueval.evaluation.column_clusters import cluster_readings
from clueval.evaluation.file_reading import FileReading
from clueval.evaluation.plan import Plan
from clueval.evaluation.row_clusters import Decoders, RowClusters
from clueval.formats.columns.sizes import Sizes
from clueval.formats.fair_spans import sentence_of_spans
from clueval.limits import MAX_SENTENCE, sentences_of
from clueval.metrics import metric_named
from clueval.reading.source import Source
from clueval.spans.document import Document
from clueval.spans.filters import Filter
from clueval.spans.seen_names import SeenNames

LEVELS = Plan((metric_named("levels"),), False, Filter(), ())


def reading_of(gold: Source, predicted: Source, plan: Plan = LEVELS) -> FileReading | None:
    """Two files counted by clusters; None if their documents must be counted."""
    return next(cluster_readings(gold, predicted, plan, SeenNames(plan.where)), None)


def row_clusters(layers: Sequence[str], decoders: Decoders, plan: Plan = LEVELS) -> RowClusters:
    """No clusters yet."""
    return RowClusters(plan, layers, decoders, Sizes(), SeenNames(plan.where))


def fair_documents(lines: Iterable[tuple[int, str]], file: str = "gold.csv") -> Iterator[Document]:
    """The sentences of a span file of FairEval with these numbered lines."""
    for number, sentence in enumerate(sentences_of(lines, file, MAX_SENTENCE), 1):
        yield sentence_of_spans(sentence, number, file=file)
