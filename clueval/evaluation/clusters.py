"""Counts two column files by clusters, where a filter on a layer or the unit needs spans, but no whole documents.

A cluster is a run of rows between two rows that are O in every layer of both sides, so no span reaches out of it. Each
row of tags (with the length of its token, if positions are characters) becomes one character, and a row of O a blank:
equal clusters are counted at the speed of `str.split`. Different clusters are joined to documents, with a row of O
after each, and are counted as documents are, once for each power of two in their multiplicity. The rows of O outside
clusters are positions on which both sides agree.

If positions are tokens, lockstep reads the files: its tag runs of all layers are clusters.

Memory holds a passage of each side and a limited number of clusters. Anything unusual is an error; then the documents
are counted, whose errors name the place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from itertools import compress, repeat, zip_longest
from operator import ne, not_
from typing import Any

from clueval.evaluation.cluster_counts import ClusterCounts, by_power
from clueval.evaluation.lockstep import (
    Columns,
    FileEnd,
    FileReading,
    Stretch,
    can_use_lockstep,
    lockstep,
)
from clueval.evaluation.plan import Plan
from clueval.exceptions import CluevalError
from clueval.formats.columns.columns import TokenTable, batches
from clueval.formats.columns.layout import Layout
from clueval.formats.columns.passages import Passage
from clueval.formats.columns.row_characters import Row, RowCharacters, SameTags
from clueval.formats.columns.sizes import Sizes
from clueval.metrics.counting import Tally
from clueval.reading.layers import layer_names
from clueval.reading.same_text import require_same_frame
from clueval.reading.source import Source
from clueval.spans.compared import SIDES, Compared
from clueval.spans.document import Document
from clueval.spans.making import making_many
from clueval.spans.seen_names import SeenNames
from clueval.spans.span import Frozen, Span
from clueval.tagging.decoder import BadTag, Decoder
from clueval.tagging.lenient_chunks import flat
from clueval.tagging.schemes import OUTSIDE
from clueval.tagging.transitions import Seams


class UnusualPassage(CluevalError):
    """A passage that must be read as part of a document."""


def cluster_reading(gold: Source, predicted: Source, plan: Plan, seen_names: SeenNames) -> FileReading | None:
    """Two files compared by clusters; None if documents are needed. `seen_names` gets the labels of filters."""
    layers = layer_names(gold.options.layers)
    other_texts = plan.texts_may_differ or plan.transforms or plan.observers
    whole = any(
        metric.needs.documents or metric.needs.whole is not None or metric.needs.within is not None
        for metric in plan.metrics
    )
    in_columns = gold.token_lines is not None and predicted.token_lines is not None
    other_format = gold.format != predicted.format
    if plan.counts_by_document(layers) or other_texts or whole or not in_columns or other_format:
        return None
    if layers != layer_names(predicted.options.layers):
        return None
    if not all(source.options.decoder().reads_neighbours for source in (gold, predicted)):
        return None
    by_passages = FileReading(_compared(gold, predicted, plan, seen_names, _pairs(gold, predicted)), layers)
    if plan.unit == "character" or not can_use_lockstep(gold, predicted):
        return by_passages
    steps = lockstep(gold, predicted, merge=True)
    return FileReading(_compared(gold, predicted, plan, seen_names, steps), layers, again=by_passages)


def _pairs(gold: Source, predicted: Source) -> Iterator[tuple[Passage, Passage]]:
    """The passages of both files, in pairs."""
    for own, other in zip_longest(gold.passages(), predicted.passages()):
        if own is None or other is None:
            raise UnusualPassage("one side ends early")
        yield own, other


def _compared(
    gold: Source,
    predicted: Source,
    plan: Plan,
    seen_names: SeenNames,
    items: Iterable[Stretch | tuple[Passage, Passage]],
) -> Generator[Compared, None, FileEnd]:
    decoders = {
        (side, layer): decoder
        for side, source in zip(SIDES, (gold, predicted), strict=True)
        for layer, decoder in source.decoders().items()
    }
    layers, sizes = layer_names(gold.options.layers), gold.options.sizes
    clusters = Clusters(plan, layers, decoders, sizes, seen_names)
    alike = len({decoder.treatment for decoder in decoders.values()}) == 1
    reader = _PassagePairs(clusters, plan, alike, sizes)
    unit = plan.unit or "token"
    layouts: list[Layout | None] = [None, None]
    is_empty = True
    for item in items:
        if isinstance(item, Stretch):
            for columns in item.columns:
                clusters.count_columns(columns)
            reader.positions += item.tokens
            yield Compared(item.documents, item.tokens, unit=unit)
            continue
        layouts = [known or passage.layout for known, passage in zip(layouts, item, strict=True)]
        is_empty = False  # the first item of a file with tokens is no stretch
        yield Compared(int(item[0].begins), reader.positions_of(*item), unit=unit)
    if not is_empty:
        yield Compared(0, 0, tallies=clusters.tallies(reader.positions), unit=unit)
    return FileEnd((layouts[0], layouts[1]), decoders)


class _PassagePairs:
    """Splits pairs of passages into clusters, and counts their positions."""

    def __init__(self, clusters: Clusters, plan: Plan, alike: bool, sizes: Sizes) -> None:
        self._clusters, self._sizes = clusters, sizes
        self._in_characters = plan.unit == "character"
        # otherwise, spans of equal sentences are equal, and no label depends on the number of characters that it has
        self._by_length = not alike or plan.merge or bool(plan.where)
        self._ids: tuple[set[str], set[str]] = (set(), set())
        self._has_tokens = False
        self.positions = 0

    def positions_of(self, gold: Passage, predicted: Passage) -> int:
        """Read two passages; return the number of their positions. Raises `CluevalError` if they are unusual."""
        require_same_frame(gold, predicted)
        if gold.begins:
            self._has_tokens = False
            for ids in self._ids:
                ids.clear()
        if gold.layout is None or predicted.layout is None or not gold.sentences:
            return 0
        if gold.layout.misc is not None:
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
        self.positions += found
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
        lengths: Iterable[int] = repeat(1, gold.rows)
        length = 0
        if self._in_characters or gold is not predicted:
            tokens = gold.tokens()
            if gold is not predicted and tokens != predicted.tokens():
                raise UnusualPassage("different tokens")
            if self._in_characters:
                length = len("".join(tokens))
                if self._by_length or gold is not predicted:
                    lengths = map(len, tokens)
        found_ids = [table.token_ids() or () for table in (gold, predicted)]
        if all(found_ids) and found_ids[0] != found_ids[1]:
            raise UnusualPassage("different token ids")
        for ids, found in zip(self._ids, found_ids, strict=True):
            ids.update(found)
        tags = gold.tags()
        other_tags = tags if gold is predicted else predicted.tags()
        self._clusters.add(zip(lengths, *tags.values(), *other_tags.values(), strict=True))
        return length


class Clusters:
    """Counts clusters: each different one a few times, however often it occurs."""

    def __init__(
        self,
        plan: Plan,
        layers: Sequence[str],
        decoders: Mapping[tuple[str, str], Decoder],
        sizes: Sizes,
        seen_names: SeenNames,
        check: Callable[[Any], object] | None = None,
    ) -> None:
        self._check = check
        self._layers, self._decoders, self._sizes = layers, decoders, sizes
        self._counts = ClusterCounts(plan, layers, seen_names)
        self._begin()
        self._counter: Counter[str] = Counter()
        self._open: list[str] = []

    def add(self, rows: Iterable[Row]) -> None:
        """Add rows, which go on where the last ones ended: the length of a token, or 1, and the tags of both sides."""
        self._add("".join(map(self._characters.__getitem__, rows)))

    def add_sentences(self, gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]]) -> None:
        """Add the tags of one layer of parallel sentences; those that both sides have in common are read once."""
        differ = list(map(ne, gold, predicted))
        sides = (flat(compress(side, differ)) for side in (gold, predicted))
        self.add(zip(repeat(1), *sides))
        self._add("".join(map(self._same.__getitem__, flat(compress(gold, map(not_, differ))))))

    def _add(self, text: str) -> None:
        end = text.rfind(" ") + 1
        if not end:
            self._open.append(text)
            return
        self._counter.update("".join([*self._open, text[:end]]).split())
        self._open = [text[end:]]
        if max(len(self._counter), len(self._characters)) > self._sizes.runs:
            self._count()

    def tallies(self, positions: int) -> dict[tuple[str, str], Tally]:
        """Return the counts by metric and sequence of everything added, a text of `positions` positions."""
        self._counter.update("".join(self._open).split())
        self._count()
        return self._counts.tallies(positions)

    def _count(self) -> None:
        for times, clusters in by_power(self._counter):
            self._count_together(" ".join([*clusters, ""]), times)
        self._counter.clear()
        if len(self._characters) > self._sizes.runs and not any(self._open):
            self._begin()

    def _begin(self) -> None:
        self._characters = RowCharacters(2 * len(self._layers), (1,), self._check)
        self._same = SameTags(self._characters)

    def _count_together(self, clusters: str, times: int) -> None:
        lengths, *columns = zip(*map(self._characters.rows.__getitem__, clusters), strict=True)
        tokens = list(map("x".__mul__, lengths))
        number = len(self._layers)
        self._count_documents(tokens, (columns[:number], columns[number:]), times)

    def count_columns(self, columns: Columns) -> None:
        """Count the clusters of lockstep, which are tag runs of all layers. Raises `UnusualPassage`."""
        for place, neighbours in columns.seams.items():
            self._decoders[place].accept((), neighbours)
        same, gold, predicted = (
            [tags[layer] for layer in self._layers] for tags in (columns.same, *columns.disputed)
        )
        for sides in ((same,), (gold, predicted)):
            if sides[0][0]:
                self._count_documents(["x"] * len(sides[0][0]), sides, columns.times)

    def _count_documents(
        self, tokens: list[str], sides: Sequence[Sequence[Sequence[str]]], times: int
    ) -> None:
        """Count the tags of each layer, of both sides together if they are the same."""
        with making_many(len(tokens)):
            names = [SIDES] if len(sides) == 1 else [(side,) for side in SIDES]
            documents = [
                self._document(of, tokens, columns, times) for of, columns in zip(names, sides, strict=True)
            ]
            self._counts.count(documents[0], documents[-1], times)

    def _document(
        self, sides: Sequence[str], tokens: list[str], columns: Sequence[Sequence[str]], times: int
    ) -> Document:
        """The document of some sides, which have the same tags."""
        layers: dict[str, list[Span]] = {}
        for layer, tags in zip(self._layers, columns, strict=True):
            seams = Seams(tags)
            try:
                for side in sides:
                    decoder = self._decoders[side, layer]
                    decoder.accept(tags, seams.neighbours, times)
                    spans = decoder.columns(layer, tags, seams, times)
            except BadTag as error:
                raise UnusualPassage("a tag is invalid") from error
            layers[layer] = list(spans)
        tags_of = dict(zip(self._layers, columns, strict=True))
        return Document("", Frozen(layers), tokens=tokens, tags=Frozen(tags_of))
