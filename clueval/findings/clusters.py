"""What differs in parallel passages, cluster by cluster: the errors of column files without their documents.

Only sentences whose lines differ are parsed. Their tags, those of all sides and layers, become rows, one for each
token; a cluster is a run of rows between two rows that are O in every tag, so no span reaches out of it. Each different
cluster is examined once, as a small document, and what was found there holds wherever the cluster occurs.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import accumulate, chain
from typing import Generic, NamedTuple, TypeVar

from clueval.exceptions import CluevalError
from clueval.findings.choice import Choice, ReasonKey, WrongSpan, wrong_spans
from clueval.findings.table import ErrorRows, Finding, SideName
from clueval.formats.columns.columns import tables
from clueval.formats.columns.documents import TokenLineNumbers, repeated_ids
from clueval.formats.columns.passages import Passage
from clueval.formats.columns.row_characters import Row, RowCharacters
from clueval.reading.first_error import DocumentIds
from clueval.reading.layers import layer_names
from clueval.reading.same_text import require_same_text
from clueval.reading.source import Source
from clueval.spans.document import Document, MissingId, Sentence
from clueval.spans.span import Frozen, Span
from clueval.tagging.decoder import BadTag
from clueval.tagging.schemes import OUTSIDE, neighbours_of

_CLUSTER = re.compile("[^ ]+")
_MOST = 1 << 15
"""The number of rows of clusters that are held, approximately."""


class WrongLines(CluevalError):
    """Something is wrong in passages; the place is not known."""


class SideColumns(NamedTuple):
    """What one side has in the rows: tokens, token ids (none if the file has none), and the tags of each layer."""

    tokens: list[str]
    token_ids: list[str]
    tags: dict[str, list[str]]

    @classmethod
    def of(cls, sentences: Sequence[str], passage: Passage) -> SideColumns:
        found = cls([], [], {layer: [] for layer, _ in passage.layout.layers} if passage.layout else {})
        try:
            for table in tables(sentences, passage.layout) if passage.layout else ():
                found.tokens.extend(table.tokens())
                found.token_ids.extend(table.token_ids() or ())
                for layer, tags in table.tags().items():
                    found.tags[layer].extend(tags)
        except ValueError as error:
            raise WrongLines("a line does not fit") from error
        return found


class DifferingRows:
    """The sentences of parallel passages whose lines differ, as rows of all sides, with an O for each border.

    Raises `WrongLines` for lines that do not fit, and for sentences of different lengths.
    """

    def __init__(self, passages: Sequence[Passage]) -> None:
        first, *others = self.passages = passages
        sentences = [passage.sentences for passage in passages]
        differ = [len(set(lines)) > 1 for lines in zip(*sentences, strict=True)]
        if any(other.layout != first.layout for other in others):
            differ = [True] * len(differ)
        self.numbers = [number for number, differs in enumerate(differ) if differs]
        self.sizes = [lines.count("\n") for lines in first.sentences]
        for other in others:
            if any(other.sentences[n].count("\n") != self.sizes[n] for n in self.numbers):
                raise WrongLines("sentences of different lengths")
        self._starts = list(accumulate(self.sizes, initial=first.start))
        self.columns = [
            SideColumns.of([of_side[n] for n in self.numbers], passage)
            for of_side, passage in zip(sentences, passages, strict=True)
        ]
        self._equal = [lines for lines, differs in zip(first.sentences, differ, strict=True) if not differs]

    @cached_property
    def same(self) -> SideColumns:
        """The columns of the other sentences, whose lines are the same on all sides."""
        return SideColumns.of(self._equal, self.passages[0])

    def have_one_text(self) -> bool:
        """Return whether all sides have the same tokens, and the same token ids if they have any."""
        tokens, ids, _ = self.columns[0]
        return all(
            each.tokens == tokens and (not (ids and each.token_ids) or each.token_ids == ids)
            for each in self.columns
        )

    def rows(self, layers: Iterable[str]) -> Iterator[Row]:
        """Yield the tags of each row: those of these layers of the first side, then those of the next."""
        return zip(*(column.tags[layer] for column in self.columns for layer in layers), strict=True)

    def clusters(self, text: str) -> Iterator[tuple[str, int]]:
        """Yield the clusters, given the characters of the rows, each with the position where it begins."""
        row = 0
        for number in self.numbers:
            past, shift = row + self.sizes[number], self._starts[number] - row
            for match in _CLUSTER.finditer(text, row, past):
                yield match[0], match.start() + shift
            row = past + 1

    def documents(self, sources: Sequence[Source]) -> list[Document]:
        """Return the passages of these sources as documents without layers.

        They have tokens and sentences only where the passages differ.
        """
        found: list[Document] = []
        for source, passage, column in zip(sources, self.passages, self.columns, strict=False):
            first, known = self.columns[0], found[0] if found else None
            tokens = known.tokens if known and column.tokens == first.tokens else self._spread(column.tokens)
            ids = self._spread(column.token_ids) if column.token_ids else None
            found.append(
                Document(
                    passage.document if passage.named else MissingId(passage.document),
                    Frozen(),
                    tokens=tokens,
                    start=passage.start,
                    token_ids=ids,
                    sentences=list(self._sentences(source, passage)),
                    metadata=passage.metadata,
                    lines=TokenLineNumbers([passage]),
                    file=passage.file,
                )
            )
        return found

    def _spread(self, column: Sequence[str]) -> list[str]:
        """Return a column at the positions of the passage; elsewhere it is empty."""
        spread, row, start = [""] * (self._starts[-1] - self._starts[0]), 0, self._starts[0]
        for number in self.numbers:
            size, at = self.sizes[number], self._starts[number] - start
            spread[at : at + size] = column[row : row + size]
            row += size + 1
        return spread

    def _sentences(self, source: Source, passage: Passage) -> Iterator[Sentence]:
        assert source.token_lines is not None
        sentence_id, starts = source.token_lines.sentence_id, self._starts
        without = sentence_id("")
        for number in self.numbers:
            head = passage.heads[number]
            yield Sentence(starts[number], starts[number + 1], sentence_id(head) if head else without)


Found = TypeVar("Found")


class Clusters(Generic[Found]):
    """What `examine` finds in the clusters of parallel files: each different one is examined when it occurs first.

    `examine` gets a document of each side with several clusters, and returns what it has found by position, with the
    position. Holds a limited number of clusters.
    """

    def __init__(
        self, sources: Sequence[Source], examine: Callable[[list[Document]], Iterable[tuple[int, Found]]]
    ) -> None:
        self._sources, self._examine = sources, examine
        self._layers = layer_names(sources[0].options.layers)
        self._begin()

    def _begin(self) -> None:
        self._characters = RowCharacters(len(self._sources) * len(self._layers))
        self._known: dict[str, tuple[int, list[Found]]] = {}
        self._size = 0

    def found(self, rows: DifferingRows) -> list[tuple[int, list[Found]]]:
        """Return what was found in each cluster of the rows, with the number to add to its positions."""
        if self._size > _MOST:
            self._begin()
        if not rows.numbers:
            return []
        text = "".join(map(self._characters.__getitem__, rows.rows(self._layers)))
        places = list(rows.clusters(text))
        different = dict.fromkeys(cluster for cluster, _ in places)
        self._see([cluster for cluster in different if cluster not in self._known])
        found = ((*self._known[cluster], place) for cluster, place in places)
        return [(place - start, of_cluster) for start, of_cluster, place in found if of_cluster]

    def counted(self, rows: DifferingRows) -> Iterator[tuple[list[Found], int]]:
        """Yield what was found in each cluster of the other sentences, and how often it occurs."""
        if not rows.same.tokens:
            return
        tags = [rows.same.tags[layer] for layer in self._layers] * len(self._sources)
        clusters = Counter("".join(map(self._characters.__getitem__, zip(*tags, strict=True))).split())
        self._see([cluster for cluster in clusters if cluster not in self._known])
        for cluster, times in clusters.items():
            yield self._known[cluster][1], times

    def _see(self, clusters: Sequence[str]) -> None:
        """Examine new clusters."""
        starts = [0, *accumulate(len(cluster) + 1 for cluster in clusters)]
        self._size += starts[-1]
        found: list[list[Found]] = [[] for _ in clusters]
        for position, each in self._examine(self._documents(clusters)) if clusters else ():
            found[bisect_right(starts, position) - 1].append(each)
        self._known.update(zip(clusters, zip(starts, found, strict=False), strict=True))

    def _documents(self, clusters: Sequence[str]) -> list[Document]:
        """Return clusters as a document of each side, with an O after each."""
        rows = map(self._characters.rows.__getitem__, " ".join([*clusters, ""]))
        columns = list(zip(*rows, strict=True))
        tokens, number = ["x"] * len(columns[0]), len(self._layers)
        return [
            Document("", Frozen(self._spans(source, columns[side * number :])), tokens=tokens)
            for side, source in enumerate(self._sources)
        ]

    def _spans(self, source: Source, columns: Sequence[Sequence[str]]) -> Mapping[str, list[Span]]:
        """Return the spans of each layer. Raises `WrongLines` for tags that cannot be read."""
        found = {}
        for layer, tags in zip(self._layers, columns, strict=False):
            decoder, pairs = source.options.decoder(), neighbours_of(tags)
            try:
                decoder.accept(tags, pairs)
                found[layer] = list(decoder.columns(layer, tags, pairs))
            except BadTag as error:
                raise WrongLines(error.problem) from error
        return found


class ClusterErrors:
    """Finds the errors of two column files, passage by passage; `counts` gets the numbers of `findings`."""

    def __init__(
        self, sources: tuple[Source, Source], choice: Choice, counts: Counter[ReasonKey] | None = None
    ) -> None:
        names = layer_names(sources[0].options.layers)
        self._sources, self._counts = sources, counts
        self._on_documents = choice.where.on_documents(names)
        self._choice = replace(choice, where=choice.where.on_layers(names))
        self._clusters = Clusters(sources, self._wrong)

    def _wrong(self, documents: Sequence[Document]) -> Iterator[tuple[int, WrongSpan]]:
        gold, predicted = documents
        for _, each in wrong_spans(gold, predicted, self._choice, self._counts is not None):
            yield each.span.start, each

    def findings(self, rows: DifferingRows) -> Iterator[Finding]:
        """Return the errors of two passages, one by one. Raises `WrongLines` for tags that cannot be read."""
        gold = rows.passages[0]
        if not rows.numbers or not self._on_documents.lets_through(gold.document, gold.metadata):
            return iter(())
        found = self._clusters.found(rows)
        if self._counts is not None:
            self._counts.update(key for _, wrong in found for each in wrong for key in each.counted)
        own, other = rows.documents(self._sources)
        tables: dict[SideName, ErrorRows] = {
            "gold": ErrorRows(own, other, "gold", None),
            "predicted": ErrorRows(other, own, "predicted", None),
        }
        return (
            tables[each.side].row(each.span, each.sequence, each.judged, by)
            for by, wrong in found
            for each in wrong
            if each.is_listed
        )


class LineCheck:
    """Checks the columns, the tags and the token ids of column files. Holds their different tags, and the ids of
    a document.

    Raises `TextMismatch`, and `WrongLines` for what else is wrong.
    """

    def __init__(self, sources: Sequence[Source]) -> None:
        names = layer_names(sources[0].options.layers)
        self._sources = sources
        self._decoders = [
            {name: source.options.decoder(str(source.path)) for name in names} for source in sources
        ]
        self._tags: list[dict[str, set[str]]] = [{name: set() for name in names} for _ in sources]
        self._ids = DocumentIds(sources[0])

    def see(self, rows: DifferingRows) -> None:
        """Check passages, of which some rows have been read."""
        same = rows.same
        if not rows.have_one_text():
            for error in chain.from_iterable(repeated_ids([passage]) for passage in rows.passages):
                raise error
            gold, *others = rows.documents(self._sources)
            for other in others:
                require_same_text(gold, other)
        for side, column in enumerate(rows.columns):
            for tags in (same.tags, column.tags):
                for layer, of_layer in tags.items():
                    self._see_tags(side, layer, set(of_layer))
        self._ids.see(
            rows.passages[0],
            same.token_ids + next((each.token_ids for each in rows.columns if each.token_ids), []),
        )

    def _see_tags(self, side: int, layer: str, tags: set[str]) -> None:
        new = tags - self._tags[side][layer]
        if new:
            try:
                self._decoders[side][layer].accept(list(new), Counter((OUTSIDE, tag) for tag in new))
            except BadTag as error:
                raise WrongLines(error.problem) from error
            self._tags[side][layer] |= new

    def end(self) -> None:
        """Raise `TagError` for tags of two schemes in a file."""
        for decoders in self._decoders:
            for decoder in decoders.values():
                decoder.scheme()
