"""Counts two column files by clusters (`clueval.evaluation.row_clusters`), without building documents.

Both files are read in step, as passages (`clueval.clusters.rows`). Memory holds a passage of each side and a limited
number of clusters. Anything unusual is an error; then `raise_first_error` looks for an error of the files, with its
place. If there is none, documents are counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import repeat, zip_longest
from typing import TYPE_CHECKING

from clueval.clusters.rows import IrregularRows, ParallelRows, PassageRows, are_alone, in_batches
from clueval.core.span import SIDES
from clueval.evaluation.engine import Evaluation
from clueval.evaluation.inputs import FileEnd
from clueval.evaluation.row_clusters import DocumentClusters, RowClusters
from clueval.evaluation.units.unit import SENTENCE
from clueval.files.errors import CluevalError
from clueval.first.metrics.counting import Tallies
from clueval.formats.columns.documents import Columns
from clueval.formats.columns.layout import Layout
from clueval.formats.columns.passages import NamedDocument, Passage
from clueval.reading.source import Source
from clueval.second.reading.options import layer_names
from clueval.spans.filters import ID

if TYPE_CHECKING:
    from clueval.reading.same_text import DocumentIds


def count_columns(evaluation: Evaluation, gold: Source, predicted: Source) -> FileEnd | None:
    """Count two column files; None, and nothing is counted, if their documents must be counted.

    Raises the errors of the files.
    """
    plan, layers = evaluation.plan, layer_names(gold.options.layers)
    in_columns = all(source.token_lines is not None for source in (gold, predicted))
    if not in_columns or layers != layer_names(predicted.options.layers):
        return None
    if not plan.counts_clusters(layers, in_columns=True):
        return None
    if not all(each.reads_rows(gold, predicted) for each in plan.row_observers):
        return None
    try:
        evaluation.see_layers(layers)
        return evaluation.count_apart(partial(_count, gold, predicted))
    except CluevalError:
        if gold.options.part is not None:
            raise  # the whole files are counted again
        from clueval.reading.same_text import raise_first_error  # files without errors do not need it

        raise_first_error(gold, predicted)
        if plan.observers:
            raise  # they have seen rows, so they must not see documents
    return None


def _count(gold: Source, predicted: Source, evaluation: Evaluation) -> FileEnd:
    """Count both files."""
    return _Counting(evaluation, gold, predicted).count(_in_step(gold, predicted))


def _in_step(gold: Source, predicted: Source) -> Iterator[tuple[Passage, Passage]]:
    for own, other in zip_longest(gold.passages(), predicted.passages()):
        if own is None or other is None:
            raise IrregularRows("one side ends early")
        yield own, other


def _with_one_frame(passages: Iterable[tuple[Passage, Passage]]) -> Iterator[tuple[Passage, Passage]]:
    """Yield the passages. Raises `CluevalError` for two that begin or end in different ways."""
    from clueval.reading.same_text import require_same_frame  # documents do not need it

    for pair in passages:
        require_same_frame(*pair)
        yield pair


class _Counting:
    """Counts two column files."""

    def __init__(self, evaluation: Evaluation, gold: Source, predicted: Source) -> None:
        self._evaluation, self._sources = evaluation, (gold, predicted)
        plan, layers, self._sizes = evaluation.plan, layer_names(gold.options.layers), gold.options.sizes
        self._decoders = {
            (side, layer): decoder
            for side, source in zip(SIDES, self._sources, strict=True)
            for layer, decoder in source.decoders().items()
        }
        # merging, and a filter on a layer, need all layers of a position
        together = plan.merge or bool(plan.where.on_layers(layers))
        self.by_document = plan.counts_by_document(layers)
        kind = DocumentClusters if self.by_document else RowClusters
        self._clusters = [
            kind(plan, group, self._decoders, self._sizes, evaluation.seen_names)
            for group in ([layers] if together else [[layer] for layer in layers])
        ]
        part = gold.options.part
        self._needs_name = ID in plan.metadata_keys(layers) and part is not None and bool(part[0])
        self._by_sentence = plan.resample_by == SENTENCE
        self._unit = plan.unit or "token"
        self._observers = plan.row_observers
        # otherwise, spans of equal sentences are equal, and no label depends on the number of characters that it has
        alike = len({decoder.treatment for decoder in self._decoders.values()}) == 1
        self._by_length = not alike or plan.merge or bool(plan.where)
        self._layouts: list[Layout | None] = [None, None]
        self._known_ids: list[DocumentIds] = []
        self._positions = 0
        self._characters = 0  # of all tokens that were split, if these are positions
        self._has_tokens = False
        self._sentence = 0  # the number of the last one in its document

    def count(self, passages: Iterable[tuple[Passage, Passage]]) -> FileEnd:
        """Count the passages of both files.

        Raises `CluevalError` if anything is unusual.
        """
        batches = in_batches(
            _with_one_frame(passages), self._sizes, one_by_one=self.by_document, in_order=self._by_sentence
        )
        for rows in batches:
            self._see(rows)
        for clusters in self._clusters:
            clusters.rest()
        positions = self._positions + self._characters
        if positions and not self.by_document:
            self._evaluation.count_part(
                self._tallies(positions), documents=0, tokens=self._characters, unit=self._unit
            )
        return FileEnd((self._layouts[0], self._layouts[1]), self._decoders)

    def _see(self, rows: ParallelRows) -> None:
        """Count the rows of some passages."""
        if not rows.have_one_text():
            raise IrregularRows("different tokens")
        self._add_rows(rows.columns)
        self._add_rows([rows.same])
        if are_alone(rows.parts[0].passages):
            self._see_ids(rows)
        for observer in self._observers:
            observer.see_rows(rows)
        for part in rows.parts:
            passage = part.passages[0]
            self._layouts = [
                known or each.layout for known, each in zip(self._layouts, part.passages, strict=True)
            ]
            document = NamedDocument(passage.document, passage.metadata, passage.named)
            if self._by_sentence:
                self._add_sentences(part, document)
            else:
                self._add(int(passage.begins), self._positions_of(part), document)

    def _add(self, documents: int, positions: int, document: NamedDocument) -> None:
        """Count positions of a document."""
        self._positions += positions
        tallies = self._tallies(positions) if self.by_document else {}
        id, metadata = self._named(document)
        self._evaluation.count_part(
            tallies, documents=documents, tokens=positions, document=id, metadata=metadata, unit=self._unit
        )

    def _add_sentences(self, part: PassageRows, document: NamedDocument) -> None:
        """Count each sentence of a passage, whose rows were added last."""
        id, metadata = self._named(document)
        begins = part.passages[0].begins
        if begins:
            self._sentence = 0
        sizes = part.sizes or [0] * begins
        of_groups = [
            each.of_sentences(sizes) for each in self._clusters if isinstance(each, DocumentClusters)
        ]
        for tokens, tallies in zip(sizes, zip(*of_groups, strict=True), strict=True):
            self._sentence += 1
            self._evaluation.count_part(
                {key: tally for of_group in tallies for key, tally in of_group.items()},
                documents=int(self._sentence == 1),
                tokens=tokens,
                document=id,
                metadata=metadata,
                sentence=self._sentence,
            )

    def _named(self, document: NamedDocument) -> tuple[str, Mapping[str, str]]:
        """The id and the metadata of a document."""
        if self._needs_name and not document.named:
            raise IrregularRows("a document without an id is known by its number in the file")
        return document.id, document.metadata

    def _tallies(self, positions: int) -> Tallies:
        """The counts of what has not been counted yet, a text of this many positions."""
        of_groups = [each.tallies(positions) for each in self._clusters]
        return {key: tally for found in of_groups for key, tally in found.items()}

    # Passages

    def _positions_of(self, part: PassageRows) -> int:
        """The positions of a passage, without the characters of tokens."""
        passage = part.passages[0]
        if self._unit != "character":
            return passage.tokens
        if passage.begins:
            self._has_tokens = False
        if not passage.sentences:
            return 0
        if passage.layout is not None and passage.layout.misc is not None:
            raise IrregularRows("the text is not known from the tokens alone")
        blanks = passage.tokens - (not self._has_tokens)  # between two tokens of a document
        self._has_tokens = True
        self._characters -= len(part.sizes)  # the rows between sentences
        return blanks

    def _see_ids(self, rows: ParallelRows) -> None:
        """Check that the token ids of two passages are different from those before in their document."""
        if not self._known_ids:
            from clueval.reading.same_text import DocumentIds  # files without token ids do not need it

            self._known_ids = [DocumentIds(source) for source in self._sources]
        passages = rows.parts[0].passages
        for known, passage, columns in zip(self._known_ids, passages, rows.columns, strict=True):
            known.see(passage, rows.same.token_ids + columns.token_ids)

    def _add_rows(self, columns: Sequence[Columns]) -> None:
        """Add the rows of both sides, or those that both have in common."""
        tokens, lengths = columns[0].tokens, None
        if self._unit == "character":
            self._characters += len("".join(tokens))
            if self._by_length or len(columns) > 1:
                lengths = list(map(len, tokens))
        for clusters in self._clusters if tokens else ():
            if len(columns) == 1 and lengths is None:
                clusters.add_same([columns[0].tags[layer] for layer in clusters.layers])
            else:
                tags = (columns[side].tags[layer] for side in (0, -1) for layer in clusters.layers)
                clusters.add(zip(lengths or repeat(1), *tags, strict=False))
