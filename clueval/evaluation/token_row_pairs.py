"""Compares two files of token rows as lists of tags are compared (`clueval.evaluation.tag_lists`).

Each row is a document. No document is built, so that only adjacent tags of the same row matter. Rows that are not
usual make the reading an error; then the documents are counted, which say what is wrong.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from itertools import islice, zip_longest
from typing import Any

from clueval.evaluation.file_reading import FileEnd, FileReading
from clueval.evaluation.plan import Plan
from clueval.evaluation.row_clusters import RowClusters
from clueval.exceptions import CluevalError
from clueval.formats.columns.sizes import SIZES
from clueval.reading.source import Source
from clueval.spans.compared import SIDES, Compared
from clueval.spans.missing_id import same_id
from clueval.spans.seen_names import SeenNames
from clueval.spans.span import DEFAULT_LAYER
from clueval.tagging.lenient_chunks import require_tag
from clueval.tagging.stretches import BATCH

_TEXT = {str}


class UnusualRow(CluevalError):
    """A row that must be read as a document."""


def token_row_reading(
    gold: Source, predicted: Source, plan: Plan, seen_names: SeenNames
) -> FileReading | None:
    """Return two files of token rows compared; None if their documents must be counted."""
    own, other = gold.options, predicted.options
    layers = own.layers is None and other.layers is None
    lenient = own.reads_leniently and other.reads_leniently and own.scheme == other.scheme
    by_document = plan.counts_by_document([DEFAULT_LAYER])
    if plan.needs_documents or plan.observers or by_document or not (layers and lenient):
        return None
    return FileReading(_compared(gold, predicted, plan, seen_names), [DEFAULT_LAYER])


def _compared(
    gold: Source, predicted: Source, plan: Plan, seen_names: SeenNames
) -> Generator[Compared, None, FileEnd]:
    sources = dict(zip(SIDES, (gold, predicted), strict=True))
    decoders = {
        (side, DEFAULT_LAYER): source.options.decoder(str(source.path)) for side, source in sources.items()
    }
    clusters = RowClusters(plan, [DEFAULT_LAYER], decoders, SIZES, seen_names, require_tag)
    positions = 0
    pairs = _pairs(gold, predicted)
    while batch := list(islice(pairs, BATCH)):
        tags = list(zip(*batch, strict=True))
        tokens = sum(map(len, tags[0]))
        try:
            clusters.add_sentences(*tags)
        except (TypeError, CluevalError):  # a number, a list, nothing or an empty text as a tag
            raise UnusualRow("a row has a tag that is not text") from None
        yield Compared(len(batch), tokens)
        positions += tokens
    if positions:
        yield Compared(0, 0, tallies=clusters.tallies(positions))
    return FileEnd((None, None), decoders)


def _pairs(gold: Source, predicted: Source) -> Iterator[tuple[list[Any], list[Any]]]:
    """Yield the tags of the rows of both files. Raises `UnusualRow` if they differ in more than their tags."""
    for own, other in zip_longest(gold.tagged_rows(), predicted.tagged_rows()):
        if own is None or other is None or not same_id(own.id, other.id) or own.tokens != other.tokens:
            raise UnusualRow("a row has no counterpart with the same tokens")
        if not _TEXT.issuperset(map(type, own.tokens)):
            raise UnusualRow("a token is not text")
        yield own.tags, other.tags
