"""The parts by which two column files are counted, clusters of rows, sentences of span files, as tests make them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple
from unittest.mock import patch

from clueval.evaluation.column_clusters import count_columns
from clueval.evaluation.engine import Evaluation
from clueval.evaluation.inputs import FileEnd
from clueval.evaluation.plan import Plan
from clueval.evaluation.row_clusters import Decoders, RowClusters
from clueval.first.metrics import metric_named
from clueval.formats.columns.layout import Sizes
from clueval.formats.fair_formats import sentence_of_spans
from clueval.files.limits import MAX_SENTENCE, sentences_of
from clueval.reading.source import Source
from clueval.reading.options import layer_names
from clueval.spans.document import Document
from clueval.spans.filters import Filter, SeenNames

LEVELS = Plan((metric_named("levels"),), False, Filter(), ())


class Part(NamedTuple):
    """What `Evaluation.count_part` was told."""

    tallies: Mapping[tuple[str, str], Any]
    documents: int
    tokens: int
    document: str
    metadata: Mapping[str, str]


def parts_of(gold: Source, predicted: Source, plan: Plan = LEVELS) -> tuple[list[Part], FileEnd | None]:
    """Two files counted by clusters: the parts, and their end, which is None if their documents must be counted.

    Raises the error of the last reading if it ends with one.
    """
    parts: list[Part] = []

    def count_part(
        self: Evaluation,
        tallies: Any,
        *,
        documents: int,
        tokens: int,
        document: str = "",
        metadata: Any = (),
        **_: Any,
    ) -> None:
        parts.append(Part(dict(tallies), documents, tokens, document, dict(metadata)))

    def count_apart(self: Evaluation, count: Any) -> FileEnd:
        parts.clear()
        return of_evaluation(self, count)

    of_evaluation = Evaluation.count_apart
    with (
        patch.object(Evaluation, "count_part", count_part),
        patch.object(Evaluation, "count_apart", count_apart),
    ):
        end = count_columns(Evaluation(plan, layer_names(gold.options.layers)), gold, predicted)
    return parts, end


def row_clusters(layers: Sequence[str], decoders: Decoders, plan: Plan = LEVELS) -> RowClusters:
    """No clusters yet."""
    return RowClusters(plan, layers, decoders, Sizes(), SeenNames(plan.where))


def fair_documents(lines: Iterable[tuple[int, str]], file: str = "gold.csv") -> Iterator[Document]:
    """The sentences of a span file of FairEval with these numbered lines."""
    for number, sentence in enumerate(sentences_of(lines, file, MAX_SENTENCE), 1):
        yield sentence_of_spans(sentence, number, file=file)
