"""Counts two column files by clusters (`clueval.evaluation.row_clusters`), without building documents.

Both files are read in step, as bytes where `reads_bytes` allows it, else as passages. Sentences of passages whose lines
are the same on both sides are split into columns once, the others on both sides, many lines at a time. Memory holds a
passage of each side and a limited number of clusters. Anything unusual is an error; bytes are then read again as
passages, and `raise_first_error` looks for an error of the files, with its place. If there is none, documents are
counted.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from itertools import compress, repeat, zip_longest
from operator import methodcaller, ne, not_
from typing import TYPE_CHECKING

from clueval.evaluation.byte_reader import ByteReader, Stretch, reads_bytes
from clueval.evaluation.cluster_counts import Tallies
from clueval.evaluation.file_reading import FileEnd, FileReading
from clueval.evaluation.plan import Plan
from clueval.evaluation.row_clusters import DocumentClusters, RowClusters
from clueval.evaluation.units.unit import SENTENCE
from clueval.exceptions import CluevalError
from clueval.formats.columns.builder import NamedDocument
from clueval.formats.columns.columns import TokenTable, batches
from clueval.formats.columns.layout import Layout
from clueval.formats.columns.passages import Passage
from clueval.reading.layers import layer_names
from clueval.reading.same_text import require_same_frame
from clueval.reading.source import Source
from clueval.spans.compared import SIDES, Compared
from clueval.spans.filters import ID
from clueval.spans.seen_names import SeenNames

if TYPE_CHECKING:
    from clueval.reading.first_error import DocumentIds


class UnusualPassage(CluevalError):
    """A passage that must be read as part of a document."""


def cluster_readings(
    gold: Source, predicted: Source, plan: Plan, seen_names: SeenNames
) -> Iterator[FileReading]:
    """Two column files, counted by clusters; another reading if an error ends the first, none if documents are needed.

    `seen_names` gets the labels of filters. Reads nothing before the first value of a reading is requested.
    """
    layers = layer_names(gold.options.layers)
    in_columns = all(source.token_lines is not None or source.in_brackets for source in (gold, predicted))
    if not in_columns or layers != layer_names(predicted.options.layers):
        return
    in_characters = plan.unit == "character"
    by_document, on_layers = plan.counts_by_document(layers), plan.where.on_layers(layers)
    if by_document and (in_characters or on_layers):  # labels of documents that are left out are not seen
        return
    if plan._replace(unit=None, resample_by=None).needs_documents or any(
        metric.needs.whole is not None or metric.needs.within is not None for metric in plan.metrics
    ):
        return
    if in_characters and plan.observers:
        return
    if not all(each.reads_passages(gold, predicted) for each in plan.passage_observers):
        return
    only_bytes = plan.unit is None and plan.resample_by != SENTENCE and not plan.observers
    in_bytes = [True, False] if only_bytes and reads_bytes(gold, predicted) else [False]
    for each in in_bytes:
        yield FileReading(_Counting(gold, predicted, plan, seen_names).items(in_bytes=each), layers)


def _passages(gold: Source, predicted: Source) -> Iterator[tuple[Passage, Passage]]:
    """Yield the passages of both files in step."""
    for own, other in zip_longest(gold.passages(), predicted.passages()):
        if own is None or other is None:
            raise UnusualPassage("one side ends early")
        yield own, other


class _Counting:
    """Counts two column files."""

    def __init__(self, gold: Source, predicted: Source, plan: Plan, seen_names: SeenNames) -> None:
        self._sources, self._unit = (gold, predicted), plan.unit or "token"
        layers = layer_names(gold.options.layers)
        self._decoders = {
            (side, layer): decoder
            for side, source in zip(SIDES, self._sources, strict=True)
            for layer, decoder in source.decoders().items()
        }
        # merging, and a filter on a layer, need all layers of a position
        together = plan.merge or bool(plan.where.on_layers(layers))
        self._by_document = plan.counts_by_document(layers)
        kind = DocumentClusters if self._by_document else RowClusters
        sizes = gold.options.sizes
        self._clusters = [
            kind(plan, group, self._decoders, sizes, seen_names)
            for group in ([layers] if together else [[layer] for layer in layers])
        ]
        alike = len({decoder.treatment for decoder in self._decoders.values()}) == 1
        self._passages = _PassagePairs(self._sources, self._clusters, plan, alike)
        self._observers = plan.passage_observers
        self._by_sentence = plan.resample_by == SENTENCE
        self._sentence = 0  # the number of the last one in its document
        part = gold.options.part
        self._needs_name = ID in plan.metadata_keys(layers) and part is not None and bool(part[0])

    def items(self, *, in_bytes: bool) -> Generator[Compared, None, FileEnd]:
        """Count both files, read as bytes (`byte_reader`) or as passages."""
        parts: Iterable[Stretch | tuple[Passage, Passage]] = _passages(*self._sources)
        if in_bytes:
            parts = ByteReader(*self._sources, by_document=self._by_document)
        layouts: list[Layout | None] = [None, None]
        positions = 0
        for item in parts:
            if isinstance(item, Stretch):
                found = Compared(item.documents, item.tokens)
                document = item.document
                for clusters in self._clusters:
                    clusters.add_fields(item.fields, item.layout)
                layouts = [item.layout, item.layout]
            else:
                layouts = [known or each.layout for known, each in zip(layouts, item, strict=True)]
                found = Compared(int(item[0].begins), self._passages.positions_of(*item), unit=self._unit)
                document = NamedDocument(item[0].document, item[0].metadata, item[0].named)
                for observer in self._observers:
                    self._passages.settle()
                    observer.see_passages(self._sources, item)
            positions += found.tokens
            if self._needs_name and document is not None and not document.named:
                raise UnusualPassage("a document without an id is known by its number in the file")
            if document is not None:
                found = found._replace(document=document.id, metadata=document.metadata)
            if self._by_sentence and not isinstance(item, Stretch):
                yield from self._sentences(item[0], found)
                continue
            if self._by_document:
                self._passages.settle()
                found = found._replace(tallies=self._tallies(found.tokens))
            yield found
        rest = self._passages.settle()
        for each in self._clusters:
            each.rest()
        if positions + rest and not self._by_document:
            yield Compared(0, rest, tallies=self._tallies(positions + rest), unit=self._unit)
        return FileEnd((layouts[0], layouts[1]), self._decoders)

    def _sentences(self, passage: Passage, found: Compared) -> Iterator[Compared]:
        """The counts of each sentence of a passage, which was read last; `found` is what is known of all of them."""
        self._passages.settle()
        if passage.begins:
            self._sentence = 0
        sizes = list(map(_lines, passage.sentences)) or [0] * passage.begins
        of_groups = [
            each.of_sentences(sizes) for each in self._clusters if isinstance(each, DocumentClusters)
        ]
        for tokens, tallies in zip(sizes, zip(*of_groups, strict=True), strict=True):
            self._sentence += 1
            yield found._replace(
                documents=int(self._sentence == 1),
                tokens=tokens,
                tallies={key: tally for of_group in tallies for key, tally in of_group.items()},
                sentence=self._sentence,
            )

    def _tallies(self, positions: int) -> Tallies:
        """The counts of what has not been counted yet, a text of this many positions."""
        of_groups = [each.tallies(positions) for each in self._clusters]
        return {key: tally for found in of_groups for key, tally in found.items()}


class _PassagePairs:
    """Splits pairs of passages into clusters, and counts their positions.

    Sentences wait until there are enough of them to be split together.
    """

    def __init__(
        self, sources: Sequence[Source], clusters: Sequence[RowClusters], plan: Plan, alike: bool
    ) -> None:
        self._clusters, self._sizes = clusters, sources[0].options.sizes
        self._in_characters = plan.unit == "character"
        # otherwise, spans of equal sentences are equal, and no label depends on the number of characters that it has
        self._by_length = not alike or plan.merge or bool(plan.where)
        self._in_order = plan.resample_by == SENTENCE
        self._sources = sources
        self._known_ids: list[DocumentIds] = []
        self._ids: tuple[list[str], list[str]] = ([], [])  # of a passage
        self._has_tokens = False
        self._layouts: list[Layout] = []
        self._same: list[str] = []
        self._disputed: tuple[list[str], list[str]] = ([], [])
        self._tokens = 0  # of the sentences that wait
        self._characters = 0  # of all tokens that were split

    def positions_of(self, gold: Passage, predicted: Passage) -> int:
        """Add two passages; return the number of their positions, less the characters that `settle` returns.

        Raises `CluevalError` if they are unusual.
        """
        require_same_frame(gold, predicted)
        if gold.begins:
            self._has_tokens = False
        if gold.layout is None or predicted.layout is None or not gold.sentences:
            self._see_ids(gold, predicted)
            return 0
        if self._in_characters and gold.layout.misc is not None:
            raise UnusualPassage("the text is not known from the tokens alone")
        self._layouts = [gold.layout, predicted.layout]
        self._add(gold.sentences, predicted.sentences)
        self._tokens += gold.tokens
        if any(layout.token_id is not None for layout in self._layouts):
            self._settle()
            self._see_ids(gold, predicted)
        elif self._tokens > self._sizes.rows:
            self._settle()
        if not self._in_characters:
            return gold.tokens
        blanks = gold.tokens - (not self._has_tokens)  # between two tokens of a document
        self._has_tokens = True
        return blanks

    def settle(self) -> int:
        """Split the sentences that wait; return the number of characters of all tokens, if these are positions."""
        self._settle()
        return self._characters

    def _add(self, gold: Sequence[str], predicted: Sequence[str]) -> None:
        """Add parallel sentences to those that wait."""
        same_layout = self._layouts[0] == self._layouts[1] and not self._in_order
        if same_layout and gold == predicted:
            self._same += gold
            return
        differs = list(map(ne, gold, predicted)) if same_layout else [True] * len(gold)
        own, other = (list(compress(side, differs)) for side in (gold, predicted))
        if any(map(ne, map(_lines, own), map(_lines, other))):
            raise UnusualPassage("sentences of different lengths")
        self._same += compress(gold, map(not_, differs))
        for waiting, sentences in zip(self._disputed, (own, other), strict=True):
            waiting += sentences

    def _see_ids(self, gold: Passage, predicted: Passage) -> None:
        """Check that the token ids of two passages, which have been split, are different from those before."""
        if not self._known_ids:
            from clueval.reading.first_error import DocumentIds  # files without token ids do not need it

            self._known_ids = [DocumentIds(source) for source in self._sources]
        for known, passage, ids in zip(self._known_ids, (gold, predicted), self._ids, strict=True):
            known.see(passage, ids)
            ids.clear()

    def _settle(self) -> None:
        try:
            for (text,) in batches([self._same], self._layouts[:1], sizes=self._sizes):
                table = TokenTable(text, self._layouts[0])
                self._add_tables(table, table)
            for texts in batches(self._disputed, self._layouts, sizes=self._sizes):
                self._add_tables(*map(TokenTable, texts, self._layouts))
        except ValueError as error:
            raise UnusualPassage("a line does not fit") from error
        if self._in_characters:
            self._characters -= len(self._same) + len(self._disputed[0])  # the rows between sentences
        for waiting in (self._same, *self._disputed):
            waiting.clear()
        self._tokens = 0

    def _add_tables(self, gold: TokenTable, predicted: TokenTable) -> None:
        """Add the clusters of two tables, which are the same one if their lines are."""
        lengths: Sequence[int] | None = None
        if self._in_characters or gold is not predicted:
            tokens = gold.tokens()
            if gold is not predicted and tokens != predicted.tokens():
                raise UnusualPassage("different tokens")
            if self._in_characters:
                self._characters += len("".join(tokens))
                if self._by_length or gold is not predicted:
                    lengths = list(map(len, tokens))
        found_ids = [table.token_ids() or () for table in (gold, predicted)]
        if all(found_ids) and found_ids[0] != found_ids[1]:
            raise UnusualPassage("different token ids")
        for ids, found in zip(self._ids, found_ids, strict=True):
            ids.extend(found)
        tags = gold.tags()
        if gold is predicted and lengths is None:
            for clusters in self._clusters:
                clusters.add_same([tags[layer] for layer in clusters.layers])
            return
        other_tags = tags if gold is predicted else predicted.tags()
        for clusters in self._clusters:
            columns = (of_side[layer] for of_side in (tags, other_tags) for layer in clusters.layers)
            clusters.add(zip(lengths or repeat(1), *columns, strict=False))


_lines = methodcaller("count", "\n")
