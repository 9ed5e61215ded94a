"""Counts rows of tags by clusters.

A row has the tags of both sides at one position, in some layers. A cluster is a run of rows between two rows that are O
in every tag, so no span reaches out of it. Each row (with the length of its token, if positions are characters) becomes
one character, and a row of O a blank: equal clusters are counted at the speed of `str.split`. Different clusters are
joined to documents, with a row of O after each, and are counted as documents are, once for each power of two in their
multiplicity. The rows of O outside clusters are positions on which both sides agree.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from itertools import compress, repeat
from operator import ne, not_
from typing import Any

from clueval.evaluation.cluster_counts import ClusterCounts, Tallies, by_power
from clueval.evaluation.lockstep.tag_runs import Columns, TagRuns
from clueval.evaluation.plan import Plan
from clueval.exceptions import CluevalError
from clueval.formats.columns.row_characters import Row, RowCharacters, SameTags
from clueval.formats.columns.sizes import Sizes
from clueval.spans.compared import SIDES
from clueval.spans.document import Document
from clueval.spans.making import making_many
from clueval.spans.seen_names import SeenNames
from clueval.spans.span import Frozen, Span
from clueval.tagging.decoder import BadTag, Decoder
from clueval.tagging.transitions import Seams, flat

Decoders = Mapping[tuple[str, str], Decoder]
"""The decoder of each (side, layer)."""

Documents = tuple[Document, Document]
"""The documents of gold and of predicted."""


class InvalidTag(CluevalError):
    """A tag that is invalid; its place is not known."""


class RowClusters:
    """The clusters of some layers: each different one is counted a few times, however often it occurs.

    `check` is called with each new tag, and may raise an error. Holds a limited number of clusters. Raises `InvalidTag`
    when clusters are counted.
    """

    def __init__(
        self,
        plan: Plan,
        layers: Sequence[str],
        decoders: Decoders,
        sizes: Sizes,
        seen_names: SeenNames,
        check: Callable[[Any], object] | None = None,
    ) -> None:
        self.layers = tuple(layers)
        self._plan, self._seen_names, self._check = plan, seen_names, check
        self._decoders, self._sizes = decoders, sizes
        self._counts = self._new_counts()
        self._counter: Counter[str] = Counter()
        self._open: list[str] = []
        self._begin()

    def _new_counts(self) -> ClusterCounts:
        return ClusterCounts(self._plan, self.layers, self._seen_names)

    def _begin(self) -> None:
        self._characters = RowCharacters(2 * len(self.layers), (1,), self._check)
        self._same = SameTags(self._characters)

    def add(self, rows: Iterable[Row]) -> None:
        """Add rows, which go on where the last ones ended: the length of a token, or 1, and the tags of both sides."""
        self._add("".join(map(self._characters.__getitem__, rows)))

    def add_sentences(self, gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]]) -> None:
        """Add the tags of one layer of parallel sentences; those that both sides have in common are read once."""
        differ = list(map(ne, gold, predicted))
        own, other = (flat(compress(side, differ)) for side in (gold, predicted))
        self.add(zip(repeat(1), own, other, strict=False))
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

    def tallies(self, positions: int) -> Tallies:
        """Return the counts by metric and sequence of everything added, a text of `positions` positions."""
        self._counter.update("".join(self._open).split())
        self._count()
        return self._counts.tallies(positions)

    def _count(self) -> None:
        for times, clusters in by_power(self._counter):
            self._counts.count(*self._documents_of(clusters, self._decoders, times), times)
        self._counter.clear()
        if len(self._characters) > self._sizes.runs and not any(self._open):
            self._begin()

    def count_columns(self, columns: Columns) -> None:
        """Count the tag runs of lockstep, which are clusters of these layers."""
        for documents in self._documents_of_columns(columns):
            self._counts.count(*documents, columns.times)

    def _documents_of_columns(self, columns: Columns) -> Iterator[Documents]:
        """The documents of the tags that are the same on both sides, and of the others; the decoders count the tags."""
        try:
            for place, neighbours in columns.seams.items():
                self._decoders[place].accept((), neighbours)
        except BadTag as error:
            raise InvalidTag(error.problem) from error
        same, gold, predicted = (
            [tags[layer] for layer in self.layers] for tags in (columns.same, *columns.disputed)
        )
        for sides in ((same,), (gold, predicted)):
            if sides[0][0]:
                yield self._documents(["x"] * len(sides[0][0]), sides, self._decoders, columns.times)

    def _documents_of(self, clusters: Sequence[str], decoders: Decoders, times: int) -> Documents:
        """The documents of both sides with these clusters, and a row of O after each."""
        rows = map(self._characters.rows.__getitem__, " ".join([*clusters, ""]))
        lengths, *columns = zip(*rows, strict=True)
        tokens = list(map("x".__mul__, lengths))
        number = len(self.layers)
        return self._documents(tokens, (columns[:number], columns[number:]), decoders, times)

    def _documents(
        self, tokens: list[str], sides: Sequence[Sequence[Sequence[str]]], decoders: Decoders, times: int
    ) -> Documents:
        """The documents of both sides with the tags of each layer; `sides` may have one item for both."""
        with making_many(len(tokens)):
            names = [SIDES] if len(sides) == 1 else [(side,) for side in SIDES]
            found = [
                self._document(of, tokens, columns, decoders, times)
                for of, columns in zip(names, sides, strict=True)
            ]
        return found[0], found[-1]

    def _document(
        self,
        sides: Sequence[str],
        tokens: list[str],
        columns: Sequence[Sequence[str]],
        decoders: Decoders,
        times: int,
    ) -> Document:
        layers: dict[str, Sequence[Span]] = {}
        for layer, tags in zip(self.layers, columns, strict=True):
            seams = Seams(tags)
            try:
                for side in sides:
                    decoder = decoders[side, layer]
                    decoder.accept(tags, seams.neighbours, times)
                    spans = decoder.columns(layer, tags, seams, times)
            except BadTag as error:
                raise InvalidTag(error.problem) from error
            layers[layer] = spans
        tags_of = dict(zip(self.layers, columns, strict=True))
        return Document("", Frozen(layers), tokens=tokens, tags=Frozen(tags_of))


class DocumentClusters(RowClusters):
    """Clusters that are counted by document: the counts of each different one are kept.

    The decoders count the tags of many documents together, those of the last ones in `rest`.
    """

    def __init__(
        self,
        plan: Plan,
        layers: Sequence[str],
        decoders: Decoders,
        sizes: Sizes,
        seen_names: SeenNames,
        check: Callable[[Any], object] | None = None,
    ) -> None:
        super().__init__(plan, layers, decoders, sizes, seen_names, check)
        self._own_decoders = deepcopy(decoders)  # of single clusters
        self._known: dict[str, ClusterCounts] = {}
        self._known_runs: dict[str, Sequence[ClusterCounts]] = {}
        self._alphabet: object = None
        self._of_documents: Counter[str] = Counter()

    def _count(self) -> None:
        """Do nothing: clusters are counted with their documents."""

    def count_columns(self, columns: Columns) -> None:
        """Let the decoders count the tags of lockstep's columns, whose tag runs are counted by document."""
        for _ in self._documents_of_columns(columns):
            pass

    def document_tallies(self, positions: int) -> Tallies:
        """Return the counts of the rows added since the last call, those of a document with this many positions."""
        clusters, self._counter = self._counter, Counter()
        clusters.update("".join(self._open).split())
        self._open = []
        for cluster in clusters.keys() - self._known.keys():
            self._known[cluster] = self._alone(self._documents_of([cluster], self._own_decoders, 1))
        known = ((self._known[cluster], times) for cluster, times in clusters.items())
        found = self._counts.summed(known, positions)
        self._of_documents.update(clusters)
        if max(len(self._known), len(self._characters)) > self._sizes.runs:
            self.rest()
        return found

    def rest(self) -> None:
        """Let the decoders count the tags of the documents so far, and forget the clusters."""
        for times, clusters in by_power(self._of_documents):
            self._documents_of(clusters, self._decoders, times)
        self._of_documents.clear()
        self._known.clear()
        self._begin()

    def run_tallies(self, runs: TagRuns, positions: int) -> Tallies:
        """Return the counts of tag runs, those of a part of a document with this many positions."""
        if runs.alphabet is not self._alphabet or len(self._known_runs) > self._sizes.runs:
            self._alphabet = runs.alphabet
            self._known_runs.clear()
        known = self._known_runs
        return self._counts.summed(
            [
                (counts, times)
                for run, times in runs.counts.items()
                for counts in known.get(run) or self._counts_of_run(runs, run)
            ],
            positions,
        )

    def _counts_of_run(self, runs: TagRuns, run: str) -> Sequence[ClusterCounts]:
        """The counts of the parts of a tag run between which no span crosses."""
        parts = runs.cut(run)
        for part in parts:
            if part not in self._known_runs:
                sides = [[tags[layer] for layer in self.layers] for tags in runs.sides_of(part)]
                documents = self._documents(["x"] * len(part), sides, self._own_decoders, 1)
                self._known_runs[part] = [self._alone(documents)]
        found = self._known_runs[run] = [counts for part in parts for counts in self._known_runs[part]]
        return found

    def _alone(self, documents: Documents) -> ClusterCounts:
        counts = self._new_counts()
        counts.count(*documents, 1)
        return counts
