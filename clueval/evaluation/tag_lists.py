"""Counts lists of tags: one list for each sentence, and each sentence is a document.

They are counted by clusters (`clueval.evaluation.row_clusters`). The counts are those of the documents of
`documents_of_tags`, which define them: a filter on documents, a break-down, and a metric that needs documents count
these.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any

from clueval.evaluation.engine import Evaluation
from clueval.evaluation.file_reading import FileEnd
from clueval.evaluation.row_clusters import RowClusters
from clueval.exceptions import CluevalError, UsageError, described
from clueval.formats.columns.sizes import SIZES
from clueval.reading.given import Given, materialised, pairs, place_of, require_as_many
from clueval.reading.tag_sentences import Decoders, TagOptions, documents_of_tags, require_lengths
from clueval.spans.compared import SIDES, Compared
from clueval.spans.document import Document
from clueval.spans.span import DEFAULT_LAYER
from clueval.tagging.schemes import OUTSIDE, count_illegal, split_tag
from clueval.tagging.stretches import BATCH


def count_tags(
    evaluation: Evaluation,
    given: Given,
    options: TagOptions,
    golds: Iterator[tuple[Document, ...]],
) -> FileEnd:
    """Count all sentences, and return what only all tags determine. Holds some thousand distinct clusters.

    `golds` has other golds of each sentence, or nothing.

    Raises `UsageError` for sentences of different lengths and for tags that are no text, `TagError` for tags outside
    the scheme.
    """
    plan = evaluation.plan
    decoders = options.decoders()
    end = FileEnd((None, None), decoders)
    by_document = plan.counts_by_document([DEFAULT_LAYER])
    if plan.needs_documents or by_document or plan.observers or not options.lenient:
        for gold, predicted in documents_of_tags(given, options, decoders):
            from clueval.transforms.group import Group  # not needed for clusters

            evaluation.count_group(Group(gold, predicted, golds=next(golds, ())))
        return end
    evaluation.see_layers([DEFAULT_LAYER])
    for compared in _compared(evaluation, given, decoders):
        evaluation.count_compared(compared)
    evaluation.add_spans(end)
    return end


def _compared(evaluation: Evaluation, given: Given, decoders: Decoders) -> Iterator[Compared]:
    scheme = decoders[SIDES[0], DEFAULT_LAYER].named_scheme
    plan = evaluation.plan
    clusters = RowClusters(
        plan, [DEFAULT_LAYER], decoders, SIZES, evaluation.seen_names, partial(_check, scheme)
    )
    done = positions = 0
    for batch in _batches(given):
        gold, predicted = (_as_lists(sentences) for sentences in batch)
        tokens = require_lengths(gold, predicted, done, given.ids)
        try:
            clusters.add_sentences(gold, predicted)
        except (CluevalError, TypeError):
            _require_tags((gold, predicted), scheme, done, given.ids)
            raise
        yield Compared(len(gold), tokens)
        done += len(gold)
        positions += tokens
    if done:
        yield Compared(0, 0, tallies=clusters.tallies(positions))


def _batches(given: Given) -> Iterator[tuple[Sequence[Any], Sequence[Any]]]:
    """Yield some sentences of both sides at a time. Raises `UsageError` if one side has more."""
    if isinstance(given.gold, list) and isinstance(given.predicted, list):
        require_as_many(given.gold, given.predicted, "sentences")
        for start in range(0, len(given.gold), BATCH):
            yield given.gold[start : start + BATCH], given.predicted[start : start + BATCH]
        return
    both = pairs(given.gold, given.predicted, "sentences")
    while batch := list(islice(both, BATCH)):
        gold, predicted = zip(*batch, strict=True)
        yield gold, predicted


def _as_lists(sentences: Sequence[Any]) -> Sequence[Any]:
    """Return sentences with lists in place of arrays and iterators."""
    if set(map(type, sentences)) <= {list, tuple}:
        return sentences
    return list(map(materialised, sentences))


def _check(scheme: str | None, tag: Any) -> None:
    """Raise `UsageError` for a value that is no text, `TagError` for a text that is no tag of the scheme."""
    if not isinstance(tag, str):
        raise UsageError(f"{described(tag)} is not a tag", advice="tags are text, such as 'B-PER'")
    split_tag(tag)
    if scheme is not None:
        count_illegal({(OUTSIDE, tag): 1}, scheme)


def _require_tags(
    sides: Iterable[Sequence[Any]], scheme: str | None, done: int, ids: Sequence[str] | None
) -> None:
    """Raise the error of the first tag that does not pass `_check`, with its place."""
    for side, sentences in zip(SIDES, sides, strict=True):
        for number, tags in enumerate(sentences, done):
            for position, tag in enumerate(tags):
                try:
                    _check(scheme, tag)
                except CluevalError as error:
                    error.problem = f"{place_of(side, number, ids)}[{position}]: {error.problem}"
                    raise
