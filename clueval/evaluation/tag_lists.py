"""Counts parallel lists of tags, in memory and in token rows of files, by clusters (`clueval.evaluation.row_clusters`).

Each list is a sentence, and each sentence is a document, so only adjacent tags of the same list matter. The counts are
those of the documents, which define them: `documents_of_tags` has those of lists. A metric that needs documents counts
these. Token rows that are not usual make the reading an error; then the documents are counted, which say what is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice, zip_longest
from typing import Any

from clueval.core.span import DEFAULT_LAYER, SIDES
from clueval.evaluation.engine import Evaluation
from clueval.evaluation.inputs import FileEnd
from clueval.evaluation.row_clusters import DocumentClusters, RowClusters
from clueval.files.errors import CluevalError, TagError, UsageError, described
from clueval.formats.columns.layout import SIZES
from clueval.reading.given import Given
from clueval.reading.items import materialised, pairs, place_of, require_as_many
from clueval.reading.source import Source
from clueval.reading.tag_sentences import TagOptions, documents_of_tags, require_lengths
from clueval.spans.document import Document, same_id
from clueval.tagging.decoder import Decoder
from clueval.tagging.schemes import OUTSIDE, count_illegal, split_tag
from clueval.transforms.group import Group

BATCH = 500
"""The number of sentences that are counted together; more would no longer fit in the processor's cache."""

Sentences = Sequence[Sequence[str]]

_TEXT = {str}


class UnusualRow(CluevalError):
    """A row that must be read as a document."""


def count_tags(
    evaluation: Evaluation, given: Given, options: TagOptions, golds: Iterator[tuple[Document, ...]]
) -> FileEnd:
    """Count all sentences in memory, and return what only all tags determine. Holds some thousand distinct clusters.

    `golds` has other golds of each sentence, or nothing.

    Raises `UsageError` for sentences of different lengths and for tags that are no text, `TagError` for tags outside
    the scheme.
    """
    decoders = options.decoders()
    end = FileEnd((None, None), decoders)
    if not options.lenient or given.golds or not evaluation.plan.counts_clusters([DEFAULT_LAYER]):
        for gold, predicted in documents_of_tags(given, options, decoders):
            evaluation.count_group(Group(gold, predicted, golds=next(golds, ())))
        return end
    evaluation.see_layers([DEFAULT_LAYER])
    _count(evaluation, decoders, _batches(given), partial(_check, options.schemes[0]), given.ids)
    evaluation.add_spans(end)
    return end


def count_token_rows(evaluation: Evaluation, gold: Source, predicted: Source) -> FileEnd | None:
    """Count two files of token rows; None, and nothing is counted, if their documents must be counted."""
    plan, own, other = evaluation.plan, gold.options, predicted.options
    usual = own.layers is None and own.reads_leniently and other.reads_leniently
    by_document = plan.counts_by_document([DEFAULT_LAYER])  # tagged rows have neither ids nor metadata
    if by_document or not (usual and plan.counts_clusters([DEFAULT_LAYER])):
        return None
    decoders = {
        (side, DEFAULT_LAYER): source.options.decoder(str(source.path))
        for side, source in zip(SIDES, (gold, predicted), strict=True)
    }

    def count(separate: Evaluation) -> FileEnd:
        separate.see_layers([DEFAULT_LAYER])
        _count(separate, decoders, _batches_of_rows(gold, predicted), require_tag)
        if not separate.total.documents:
            raise UnusualRow("without rows, there is no layer")
        return FileEnd((None, None), decoders)

    try:
        return evaluation.count_apart(count)
    except CluevalError:
        return None


def _count(
    evaluation: Evaluation,
    decoders: Mapping[tuple[str, str], Decoder],
    batches: Iterable[tuple[Sentences, Sentences]],
    check: Callable[[Any], object],
    ids: Sequence[str] | None = None,
) -> None:
    """Count parallel sentences; `ids` are their names, None: numbers from 0.

    Raises the error of the first tag that does not pass `check`, with its place.
    """
    plan = evaluation.plan
    kind = DocumentClusters if plan.counts_by_document([DEFAULT_LAYER]) else RowClusters
    clusters = kind(plan, [DEFAULT_LAYER], decoders, SIZES, evaluation.seen_names, check)
    documents = positions = 0
    for gold, predicted in batches:
        try:
            if isinstance(clusters, DocumentClusters):
                of_tags = zip(gold, clusters.of_tags(gold, predicted), strict=True)
                for number, (tags, tallies) in enumerate(of_tags, documents):
                    name = str(number) if ids is None else ids[number]
                    evaluation.count_part(tallies, documents=1, tokens=len(tags), document=name, sentence=1)
            else:
                clusters.add_sentences(gold, predicted)
        except (CluevalError, TypeError, ValueError):  # arrays have no truth value
            _require_tags((gold, predicted), check, documents, ids)
            raise
        documents += len(gold)
        positions += sum(map(len, gold))
    clusters.rest()
    if documents and not isinstance(clusters, DocumentClusters):
        evaluation.count_part(clusters.tallies(positions), documents=documents, tokens=positions)


def _require_tags(
    sides: Iterable[Sentences], check: Callable[[Any], object], done: int, ids: Sequence[str] | None
) -> None:
    """Raise the error of the first tag that does not pass `check`, with its place."""
    for side, sentences in zip(SIDES, sides, strict=True):
        for number, tags in enumerate(sentences, done):
            for position, tag in enumerate(tags):
                try:
                    check(tag)
                except CluevalError as error:
                    error.problem = f"{place_of(side, number, ids)}[{position}]: {error.problem}"
                    raise


# Lists in memory


def _batches(given: Given) -> Iterator[tuple[Sentences, Sentences]]:
    """Yield some sentences of both sides at a time.

    Raises `UsageError` if one side has more sentences, or a sentence more tags.
    """
    done = 0
    for batch in _slices(given):
        gold, predicted = map(_as_lists, batch)
        require_lengths(gold, predicted, done, given.ids)
        yield gold, predicted
        done += len(gold)


def _slices(given: Given) -> Iterator[tuple[Sequence[Any], Sequence[Any]]]:
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


# Rows of files


def _batches_of_rows(gold: Source, predicted: Source) -> Iterator[tuple[Sentences, Sentences]]:
    rows = _rows(gold, predicted)
    while batch := list(islice(rows, BATCH)):
        own, other = zip(*batch, strict=True)
        yield own, other


def _rows(gold: Source, predicted: Source) -> Iterator[tuple[list[Any], list[Any]]]:
    """Yield the tags of the rows of both files. Raises `UnusualRow` if they differ in more than their tags."""
    for own, other in zip_longest(gold.tagged_rows(), predicted.tagged_rows()):
        if own is None or other is None or not same_id(own.id, other.id) or own.tokens != other.tokens:
            raise UnusualRow("a row has no counterpart with the same tokens")
        if not _TEXT.issuperset(map(type, own.tokens)):
            raise UnusualRow("a token is not text")
        yield own.tags, other.tags


def require_tag(tag: object) -> str:
    """Return `tag`. Raises `TagError` if it is not a string, or empty."""
    if not isinstance(tag, str) or not tag:
        raise TagError(f"{tag!r} is not a tag", advice="a tag is a string, as in [['B-PER', 'O']]")
    return tag
