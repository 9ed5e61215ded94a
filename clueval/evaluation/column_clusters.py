"""Counts two column files by clusters (`clueval.evaluation.row_clusters`), without building documents.

Regular parts of two files of one format are read in lockstep (`clueval.evaluation.lockstep`), whose tag runs are
clusters; everything else as passages. Memory holds a passage of each side, or some blocks of both files, and a limited
number of clusters. Anything unusual is an error; then `raise_first_error` looks for an error of the files, with its
place, and if there is none, documents are counted.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import repeat, zip_longest
from operator import ne

from clueval.evaluation.lockstep import FileEnd, FileReading, Stretch, can_use_lockstep, lockstep
from clueval.evaluation.plan import Plan
from clueval.evaluation.row_clusters import DocumentClusters, RowClusters
from clueval.exceptions import CluevalError
from clueval.formats.columns.columns import TokenTable, batches, parsed
from clueval.formats.columns.documents import located
from clueval.formats.columns.layout import Layout
from clueval.formats.columns.passages import Passage
from clueval.formats.columns.sizes import Sizes
from clueval.reading.layers import layer_names
from clueval.reading.pairing import ends_early
from clueval.reading.same_text import first_difference, first_line, require_same_frame
from clueval.reading.source import Source
from clueval.reading.unique_ids import with_unique_ids
from clueval.spans.compared import SIDES, Compared
from clueval.spans.filters import ID
from clueval.spans.seen_names import SeenNames
from clueval.tagging.decoder import BadTag
from clueval.tagging.schemes import OUTSIDE
from clueval.tagging.transitions import Seams


class UnusualPassage(CluevalError):
    """A passage that must be read as part of a document."""


def cluster_reading(gold: Source, predicted: Source, plan: Plan, seen_names: SeenNames) -> FileReading | None:
    """Two column files, counted by clusters; None if documents are needed. `seen_names` gets the labels of filters.

    Reads nothing before the first value is requested.
    """
    layers = layer_names(gold.options.layers)
    in_columns = all(source.token_lines is not None or source.in_brackets for source in (gold, predicted))
    if not in_columns or layers != layer_names(predicted.options.layers):
        return None
    in_characters = plan.unit == "character"
    by_document, on_layers = plan.counts_by_document(layers), plan.where.on_layers(layers)
    if by_document and (in_characters or on_layers):  # labels of documents that are left out are not seen
        return None
    if plan._replace(unit=None).needs_documents or any(
        metric.needs.whole is not None or metric.needs.within is not None for metric in plan.metrics
    ):
        return None
    if in_characters and plan.observers:
        return None
    if not all(each.reads_passages(gold, predicted) for each in plan.passage_observers):
        return None
    show = partial(_show_passages, gold, predicted, plan)
    by_passages = FileReading(_Counting(gold, predicted, plan, seen_names).by_passages(), layers, show=show)
    if in_characters or not can_use_lockstep(gold, predicted):
        return by_passages
    steps = _Counting(gold, predicted, plan, seen_names).in_lockstep()
    return FileReading(steps, layers, again=by_passages, show=show)


def raise_first_error(gold: Source, predicted: Source) -> None:
    """Raise the first error of two column files with its place; return if their passages have none."""
    own, other = (replace(source, progress=None) for source in (gold, predicted))
    decoders = own.decoders(), other.decoders()
    for pair in zip_longest(with_unique_ids(own), with_unique_ids(other)):
        for number, passage in enumerate(pair):
            if passage is None:
                extra = pair[1 - number]
                raise ends_early(gold, predicted, number == 0, extra.document, first_line(extra))
        require_same_frame(*pair)
        sides = [parsed(passage) for passage in pair]
        texts = [[token for table in tables for token in table.tokens()] for tables in sides]
        ids = [[id_ for table in tables for id_ in table.token_ids() or ()] for tables in sides]
        if texts[0] != texts[1] or (all(ids) and ids[0] != ids[1]):
            raise first_difference(*pair)
        for passage, tables, of_side in zip(pair, sides, decoders, strict=True):
            for layer, decoder in of_side.items():
                tags = [tag for table in tables for tag in table.tags()[layer]]
                try:
                    decoder.accept(tags, (seams := Seams(tags)).neighbours)
                    decoder.columns(layer, tags, seams)
                except BadTag as error:
                    raise located(error, passage, layer) from None


def _show_passages(gold: Source, predicted: Source, plan: Plan) -> None:
    """Read two files that have been counted once more, and show their passages to the observers."""
    observers = plan.passage_observers
    sides = (replace(each, progress=None).short_passages() for each in (gold, predicted) if observers)
    for pair in zip(*sides, strict=True):
        for observer in observers:
            observer.see_passages((gold, predicted), pair)


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
        self._together = plan.merge or bool(plan.where.on_layers(layers))
        self._by_document = plan.counts_by_document(layers)
        kind = DocumentClusters if self._by_document else RowClusters
        sizes = gold.options.sizes
        self._clusters = [
            kind(plan, group, self._decoders, sizes, seen_names)
            for group in ([layers] if self._together else [[layer] for layer in layers])
        ]
        alike = len({decoder.treatment for decoder in self._decoders.values()}) == 1
        self._passages = _PassagePairs(self._clusters, plan, alike, sizes)
        part = gold.options.part
        self._needs_name = ID in plan.metadata_keys(layers) and part is not None and bool(part[0])
        self._positions = 0

    def by_passages(self) -> Generator[Compared, None, FileEnd]:
        """Count the passages of both files."""
        layouts: list[Layout | None] = [None, None]
        for own, other in zip_longest(*(source.passages() for source in self._sources)):
            if own is None or other is None:
                raise UnusualPassage("one side ends early")
            layouts = [known or each.layout for known, each in zip(layouts, (own, other), strict=True)]
            yield self._of_pair(own, other)
        yield from self._rest()
        return FileEnd((layouts[0], layouts[1]), self._decoders)

    def in_lockstep(self) -> Generator[Compared, None, FileEnd]:
        """Count the files in lockstep: stretches where they are regular, else passages."""
        steps = lockstep(*self._sources, merge=self._together, by_document=self._by_document)
        for item in steps:
            if not isinstance(item, Stretch):
                yield self._of_pair(*item)
                continue
            for columns in item.columns:
                for clusters in self._clusters:
                    if clusters.layers == tuple(columns.same):
                        clusters.count_columns(columns)
            if self._by_document:
                yield from self._of_parts(item)
            else:
                self._positions += item.tokens
                yield Compared(item.documents, item.tokens)
        yield from self._rest()
        return FileEnd(steps.layouts, self._decoders)

    def _of_pair(self, gold: Passage, predicted: Passage) -> Compared:
        self._require_name(gold.named)
        positions = self._passages.positions_of(gold, predicted)
        self._positions += positions
        found = Compared(int(gold.begins), positions, unit=self._unit)
        if not self._by_document:
            return found
        tallies = {
            key: tally
            for each in self._clusters
            if isinstance(each, DocumentClusters)
            for key, tally in each.document_tallies(positions).items()
        }
        return found._replace(document=gold.document, metadata=gold.metadata, tallies=tallies)

    def _of_parts(self, stretch: Stretch) -> Iterator[Compared]:
        """The counts of each part of a stretch, which is one of a document."""
        for part in stretch.parts:
            name, metadata, is_named = part.document
            self._require_name(is_named)
            tallies = {
                key: tally
                for each, runs in zip(self._clusters, part.runs, strict=True)
                if isinstance(each, DocumentClusters)
                for key, tally in each.run_tallies(runs, part.tokens).items()
            }
            yield Compared(int(part.begins), part.tokens, document=name, metadata=metadata, tallies=tallies)

    def _rest(self) -> Iterator[Compared]:
        """What has not been counted with its document."""
        for each in self._clusters:
            if isinstance(each, DocumentClusters):
                each.rest()
        if self._positions and not self._by_document:
            tallies = [each.tallies(self._positions) for each in self._clusters]
            yield Compared(
                0, 0, tallies={key: tally for of in tallies for key, tally in of.items()}, unit=self._unit
            )

    def _require_name(self, is_named: bool) -> None:
        """Raise an error if a document is known by its number in the file, of which this is only a part."""
        if self._needs_name and not is_named:
            raise UnusualPassage("a document without an id is known by its number")


class _PassagePairs:
    """Splits pairs of passages into clusters, and counts their positions."""

    def __init__(self, clusters: Sequence[RowClusters], plan: Plan, alike: bool, sizes: Sizes) -> None:
        self._clusters, self._sizes = clusters, sizes
        self._in_characters = plan.unit == "character"
        # otherwise, spans of equal sentences are equal, and no label depends on the number of characters that it has
        self._by_length = not alike or plan.merge or bool(plan.where)
        self._ids: tuple[set[str], set[str]] = (set(), set())
        self._has_tokens = False

    def positions_of(self, gold: Passage, predicted: Passage) -> int:
        """Read two passages; return the number of their positions. Raises `CluevalError` if they are unusual."""
        require_same_frame(gold, predicted)
        if gold.begins:
            self._has_tokens = False
            for ids in self._ids:
                ids.clear()
        if gold.layout is None or predicted.layout is None or not gold.sentences:
            return 0
        if self._in_characters and gold.layout.misc is not None:
            raise UnusualPassage("the text is not known from the tokens alone")
        known = list(map(len, self._ids))
        try:
            length = sum(self._lengths(gold, predicted))
        except ValueError as error:
            raise UnusualPassage("a line does not fit") from error
        for passage, ids, before in zip((gold, predicted), self._ids, known, strict=True):
            ids.discard(OUTSIDE)
            if ids and len(ids) - before != passage.tokens:
                raise UnusualPassage("a token id seems to occur again")
        found = length - len(gold.sentences) if self._in_characters else gold.tokens
        if self._in_characters:  # a blank is between two tokens of a document
            found += gold.tokens - (not self._has_tokens)
        self._has_tokens = True
        return found

    def _lengths(self, gold: Passage, predicted: Passage) -> Iterator[int]:
        """Add the clusters, and yield the numbers of characters of tokens, 1 for the border of each sentence."""
        assert gold.layout is not None
        assert predicted.layout is not None
        layouts = gold.layout, predicted.layout
        differs = list(map(ne, gold.sentences, predicted.sentences))
        if gold.layout != predicted.layout:
            differs = [True] * len(differs)
        same = [text for text, different in zip(gold.sentences, differs, strict=True) if not different]
        disputed = [
            [text for text, different in zip(passage.sentences, differs, strict=True) if different]
            for passage in (gold, predicted)
        ]
        if any(one.count("\n") != other.count("\n") for one, other in zip(*disputed, strict=True)):
            raise UnusualPassage("sentences of different lengths")
        for (text,) in batches([same], layouts[:1], sizes=self._sizes):
            table = TokenTable(text, gold.layout)
            yield self._of_tables(table, table)
        for texts in batches(disputed, layouts, sizes=self._sizes):
            yield self._of_tables(*map(TokenTable, texts, layouts))

    def _of_tables(self, gold: TokenTable, predicted: TokenTable) -> int:
        lengths: Sequence[int] | None = None
        length = 0
        if self._in_characters or gold is not predicted:
            tokens = gold.tokens()
            if gold is not predicted and tokens != predicted.tokens():
                raise UnusualPassage("different tokens")
            if self._in_characters:
                length = len("".join(tokens))
                if self._by_length or gold is not predicted:
                    lengths = list(map(len, tokens))
        found_ids = [table.token_ids() or () for table in (gold, predicted)]
        if all(found_ids) and found_ids[0] != found_ids[1]:
            raise UnusualPassage("different token ids")
        for ids, found in zip(self._ids, found_ids, strict=True):
            ids.update(found)
        tags = gold.tags()
        other_tags = tags if gold is predicted else predicted.tags()
        for clusters in self._clusters:
            columns = (of_side[layer] for of_side in (tags, other_tags) for layer in clusters.layers)
            clusters.add(zip(lengths or repeat(1), *columns, strict=False))
        return length
