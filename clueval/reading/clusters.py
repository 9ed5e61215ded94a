"""Rows of tags as text, cut into clusters, and the bag of the cases in them.

A row has the tags of all sides, in some layers, at one position, and the length of the token there: in characters if
positions are characters, else 1. Each different row is one character, and a row that is outside every span a blank::

    gold        O  B-X  O  B-Y  I-Y  O
    predicted   O  B-X  O  B-Y  O    O
    text           a       b    c           the clusters are "a" and "bc"

No span goes on over a blank, so `str.split` cuts a text into clusters, and equal clusters have equal cases. They are
kept as text, as far as memory allows until a file ends. Then all different clusters are decoded, merged and cut into
cases together, as one document with a row of O after each.

`bag_of_tags` counts lists of tags in memory. What is unusual is left to documents (`Unusual`).
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial, reduce
from itertools import accumulate, chain, compress, pairwise, product, repeat
from operator import ne, not_, or_
from typing import TYPE_CHECKING, Any, cast

from clueval.core.bag import Bag, Bounds
from clueval.core.case import Key, Where, keys_of, other_key
from clueval.core.count import ALTERNATIVES, EITHER, FEW_DOCUMENTS, SENTENCE, UNIT, DocumentPlace, Plan
from clueval.core.document import ID, Document, Layers, Row
from clueval.core.metric import added, split_metrics
from clueval.core.span import DEFAULT_LAYER, NOTHING, SIDES
from clueval.core.tags import (
    OUTSIDE,
    Neighbours,
    continues,
    count_illegal,
    decode,
    decode_strictly,
    scheme_of,
    split_tag,
)
from clueval.files.errors import CluevalError, TagError

if TYPE_CHECKING:
    from clueval.formats.options import Reading
    from clueval.transforms.changes import EachLabel

# What is left to documents


class Unusual(Exception):
    """Something that the fast way leaves to documents, which say what is wrong if it is an error.

    It is raised for nothing else: any other exception is a mistake in the fast way.
    """


def require_usual(plan: Plan, layers: Sequence[str], *, are_tags: bool = False) -> None:
    """Raise `Unusual` for a plan that needs documents: metrics, steps, or filters that a metric does not take.

    Where spans `are_tags`, a metric of documents may have the method `count_tags`, which takes the tags of both sides
    between two positions outside all spans, and returns None if it needs documents.

    Alternatives change nothing, because tags and plain spans have none. Steps that change single labels
    (`clueval.transforms.changes.EachLabel`) are done by `NewLabels`.
    """
    of_cases, of_documents = split_metrics(plan.metrics)
    needing = [metric for metric in of_documents if not (are_tags and hasattr(metric, "count_tags"))]
    if needing or not all(metric.keeps for metric in of_cases):
        raise Unusual("a metric needs documents")
    if plan.align is not None or not all(
        step.signature[0] in (ALTERNATIVES, UNIT) or step.is_of_labels for step in plan.steps
    ):
        raise Unusual("documents are changed before they are counted")
    filters_spans = any(key in layers for key in plan.where)
    if filters_spans and any(metric.filters is not None for metric in plan.metrics):
        raise Unusual("a metric does not take filters on layers")


def is_in_characters(plan: Plan) -> bool:
    """Return whether positions become characters."""
    return any(step.signature[0] == UNIT for step in plan.steps)


def check_case(bag: Bag, sequence: str, key: Key, *, is_flat: bool = False) -> None:
    """Raise `Unusual` for a case, new in a bag, that a metric cannot count; see `Bag.check`."""
    try:
        bag.check(sequence, key, is_flat=is_flat)
    except CluevalError as error:
        raise Unusual("a metric cannot count a case") from error


class NewLabels:
    """The labels that the steps of a plan give to the labels of each side, and what they note of it."""

    def __init__(self, plan: Plan) -> None:
        self.steps = cast("list[EachLabel]", [step for step in plan.steps if step.is_of_labels])
        if self.steps and plan.sides != SIDES:
            raise Unusual("labels of other sides than gold and predicted are changed")
        # by side and label; an empty one: its spans are left out
        self._new_label: dict[tuple[str, str], str] = {}
        self._read: Counter[tuple[str, str]] = Counter()  # sides and labels of spans

    def rows(self, rows: Iterable[Row], side: str, times: Iterable[int]) -> list[Row]:
        """Return the spans of a side with new labels; each of them stands for a number of spans."""
        renamed: list[Row] = []
        for (start, end, label), number in zip(rows, times, strict=True):
            key = side, label
            self._read[key] += number
            if key not in self._new_label:
                for step in self.steps:
                    label = (step.renamed(label, side) or "") if label else ""
                self._new_label[key] = label
            if self._new_label[key]:
                renamed.append((start, end, self._new_label[key]))
        return renamed

    def notes(self) -> Counter[tuple[str, ...]]:
        """Return what all steps note of the spans so far."""
        notes: Counter[tuple[str, ...]] = Counter()
        for (side, label), number in self._read.items():
            for step in self.steps:
                new = step.renamed(label, side) or ""
                for note in step.noted([label], side, dropped=not new, renamed=bool(new) and new != label):
                    notes[step.signature[0], *note] += number
                label = new
                if not label:
                    break
        return notes


# Rows as characters

BLANK = " "
"""The character of a row that is outside every span."""

_LATIN = "".join(chr(number) for number in range(0x21, 0x100) if not chr(number).isspace())
"""The characters of the first rows: Python has one object for each of these, which is hashed once."""

FIRST = 0x3000
"""The code point before the first that is used for other rows; no white space follows it."""

MOST_ROWS = 0x110000 - 0x800 - FIRST
"""The number of characters from `FIRST` on that are no surrogates."""

MOST_CLUSTERS = 1 << 15
"""The number of different clusters, or of different rows, that are collected before they are counted."""

MOST_ENTRIES = 1 << 17
"""The number of clusters that are collected in several places before they are counted."""


class RowCharacters(dict[tuple[Any, ...], str]):
    """The character of each row, which is made when it is looked up first; `rows` are the rows by character.

    A row is the length of a token, and the tags of `columns` columns: those of the first side, one for each layer, then
    those of the next. Raises `Unusual` for what is no tag, and if there are too many different rows.

    >>> characters = RowCharacters(2)
    >>> text = "".join(map(characters.__getitem__, [(1, "B-PER", "O"), (1, "O", "O"), (1, "B-PER", "O")]))
    >>> text[1], text[0] == text[2], characters.rows[text[0]]
    (' ', True, (1, 'B-PER', 'O'))
    """

    def __init__(self, columns: int) -> None:
        self._outside = (OUTSIDE,) * columns
        self.rows: dict[str, tuple[Any, ...]] = {BLANK: (1, *self._outside)}

    def __missing__(self, row: tuple[Any, ...]) -> str:
        tags = row[1:]
        try:
            for tag in tags:
                if not isinstance(tag, str):
                    raise Unusual("a tag that is no text")
                split_tag(tag)
        except TagError as error:
            raise Unusual("a value that is no tag") from error
        if tags == self._outside:
            character = BLANK
        else:
            if len(self.rows) == MOST_ROWS:
                raise Unusual("too many different combinations of tags")
            number = len(self.rows) + FIRST
            if len(self.rows) <= len(_LATIN):
                character = _LATIN[len(self.rows) - 1]
            else:
                character = chr(number if number < 0xD800 else number + 0x800)  # no surrogates
        self[row] = character
        self.rows.setdefault(character, row)
        return character


class _SameTags(dict[str, str]):
    """The character of each tag that all sides have, where there is one layer."""

    def __init__(self, characters: RowCharacters, sides: int) -> None:
        self._characters, self._sides = characters, sides

    def __missing__(self, tag: str) -> str:
        character = self[tag] = self._characters[(1, *(tag,) * self._sides)]
        return character


class LayerClusters:
    """The clusters of some layers by place; None is the place of documents that do not count.

    Attributes:
        layers: the layers.
        characters: the characters of their rows.
        of_place: how often each cluster occurs in each place.
        of_sentence: the text of each place that is a sentence.
    """

    def __init__(self, layers: Sequence[str], sides: int) -> None:
        self.layers, self._sides = tuple(layers), sides
        self.begin(with_rows=False)

    def begin(self, *, with_rows: bool) -> None:
        """Begin again, with the rows so far or without them."""
        if not with_rows:
            self.characters = RowCharacters(self._sides * len(self.layers))
            self._same = _SameTags(self.characters, self._sides)
        self.of_place: dict[DocumentPlace | None, Counter[str]] = {}
        self.of_sentence: dict[DocumentPlace, str] = {}
        self._entries = 0

    def text(self, columns: Iterable[Iterable[str]], lengths: Iterable[int] = repeat(1)) -> str:
        """Return the characters of rows, given the tags of each layer of the first side, then those of the next."""
        return "".join(map(self.characters.__getitem__, zip(lengths, *columns, strict=False)))

    def text_of_same(self, columns: Sequence[Sequence[str]]) -> str:
        """Return the characters of rows of length 1 with the same tags on all sides, given those of each layer."""
        if len(columns) == 1:
            return "".join(map(self._same.__getitem__, columns[0]))
        return self.text([*columns] * self._sides)

    def add(self, place: DocumentPlace | None, text: str) -> None:
        """Add the clusters of a text, after which there is a blank, to a place."""
        clusters = self.of_place.get(place)
        if clusters is None:
            clusters = self.of_place[place] = Counter()
        before = len(clusters)
        clusters.update(text.split())
        self._entries += len(clusters) - before

    def add_lists(self, place: DocumentPlace | None, sides: Sequence[Sequence[Sequence[str]]]) -> None:
        """Add the tags of sentences of each side, in the only layer; those that are equal are read once."""
        first = sides[0]
        differ = list(reduce(partial(map, or_), (map(ne, first, side) for side in sides[1:])))
        self.add(place, self.text([_flat_tags(compress(side, differ)) for side in sides]))
        same = _flat_tags(compress(first, map(not_, differ)))
        self.add(place, "".join(map(self._same.__getitem__, same)))

    def add_sentences(self, places: Iterable[DocumentPlace], texts: Iterable[str]) -> None:
        """Add the clusters of sentences to their places, of which most have one sentence each."""
        for place, text in zip(places, texts, strict=True):
            clusters, before = BLANK.join(text.split()), self.of_sentence.get(place)
            self.of_sentence[place] = clusters if before is None else f"{before}{BLANK}{clusters}"

    def clusters(self, *, counting: bool = False) -> Counter[str]:
        """Return how often each cluster occurs: in all documents, or in those that count."""
        totals: Counter[str] = Counter()
        for place, clusters in self.of_place.items():
            if place is not None or not counting:
                totals.update(clusters)
        for text, times in Counter(self.of_sentence.values()).items():
            for cluster in text.split():
                totals[cluster] += times
        return totals

    @property
    def is_full(self) -> bool:
        """Whether the clusters should be counted now, to limit the memory."""
        most = MOST_CLUSTERS if len(self.of_place) == 1 else MOST_ENTRIES
        return self._entries + len(self.of_sentence) > most or len(self.characters) > MOST_CLUSTERS


Cases = Mapping[str, Sequence[int]]
"""The numbers of the keys of the cases in each cluster."""


class ClusterCounting:
    """Counts clusters into a bag.

    A filter on a layer, and merging, need all layers of a position: then all layers are one group, else each is one.

    Args:
        plan: what is counted.
        layers: all layers of the corpus.
        readings: how the tags of each side are read.
        files: the file of each side; None: in memory.
        bounds: how many keys the bag keeps.

    Raises `Unusual` for a plan that needs documents.

    Attributes:
        bag: what has been counted.
        groups: the groups of layers, to which rows are added.
        in_characters: whether positions are characters; then rows have the lengths of their tokens.
        is_late: whether nothing can be decoded before all tags are known.
        by_document: whether documents must be told apart: for break-downs, units, and filters on metadata.
    """

    def __init__(
        self,
        plan: Plan,
        layers: Sequence[str],
        readings: Sequence[Reading],
        files: Sequence[str | None],
        bounds: Bounds,
    ) -> None:
        require_usual(plan, layers, are_tags=True)
        self.bag = Bag(plan.metrics, layers, bounds)
        self.in_characters = is_in_characters(plan)
        self.by_document = bool(plan.by or plan.units or any(key not in layers for key in plan.where))
        if self.in_characters and self.by_document:
            raise Unusual("documents are told apart, and their positions are characters")
        together = plan.merge or any(key in layers for key in plan.where)
        groups = [layers] if together else [[layer] for layer in layers]
        self.groups = [LayerClusters(group, len(files)) for group in groups]
        self._of_tags = [metric for metric in plan.metrics if hasattr(metric, "count_tags")]
        self._new_labels = NewLabels(plan)
        if self._of_tags and (together or self._new_labels.steps):
            raise Unusual("tags of a layer are counted, and layers are counted together or labels changed")
        self._plan, self._layers, self._readings, self._files = plan, layers, readings, files
        self.is_late = any(reading.needs_scheme for reading in readings)
        self._present = (1 << len(files)) - 1
        self._conditions: dict[tuple[str, ...], Where] = {}  # on spans, by what a place waits for
        self._ids: Counter[str] = Counter()
        # by the number of the side, and the layer
        self._neighbours: defaultdict[tuple[int, str], Neighbours] = defaultdict(Counter)

    # Adding

    def place_of(self, id_: str = "", metadata: Mapping[str, str] = NOTHING) -> DocumentPlace | None:
        """Return the place of a document; None if it does not count."""
        metadata = {**metadata, ID: id_}
        if ID in self._plan.where:
            self.bag.read.values.setdefault(ID, set()).add(id_)
        if not self._plan.takes(metadata, self._layers):
            return None
        place = self._plan.place(metadata, self._layers)
        if place.name is not None and place.name == id_:
            self._ids[id_] += 1
            place = place._replace(repeat=self._ids[id_])
        if place.waits not in self._conditions:
            self._conditions[place.waits] = self._plan.on_spans(metadata, self._layers)
        return place

    def see(self, metadata: Mapping[str, str]) -> None:
        """Note the metadata of a document."""
        read = self.bag.read
        read.keys.update(dict.fromkeys(metadata))
        for key in self._plan.where:
            if key in metadata:
                read.values.setdefault(key, set()).add(metadata[key])

    def add_sentences(self, places: Sequence[DocumentPlace], sizes: Sequence[int], documents: int) -> None:
        """Add sentences in places that are new, of which the first begins this number of documents."""
        self.bag.add_parts(dict(zip(places, sizes, strict=True)), self._present)
        if places and documents:
            self.bag.add_text(places[0], 0, documents, self._present)

    def add_text(self, place: DocumentPlace | None, positions: int, documents: int) -> None:
        """Add a text, or a part of one, by its number of positions; its rows are added to the groups."""
        if place is not None:
            self.bag.add_text(place, positions, documents, self._present)

    def count_if_much(self) -> None:
        """Count what was added if it is much, unless nothing can be decoded before all tags are known."""
        if not self.is_late and any(group.is_full for group in self.groups):
            self._count()

    def finish(self) -> Bag:
        """Count what is left, and return the bag.

        Raises `Unusual` for a corpus without positions, for tags of several schemes, and for those that are refused.
        """
        self._count()
        if self._new_labels.steps:
            self.bag.notes.update(self._new_labels.notes())
        if not any(self.bag.positions.get(self._present, NOTHING).values()):
            raise Unusual("there are no positions")
        read = self.bag.read
        read.units.add("character" if self.in_characters else "token")
        for layer in self._layers:
            if layer in self._plan.where:
                read.values.setdefault(layer, set())
            for side, (name, file) in enumerate(zip(self._plan.sides, self._files, strict=True)):
                pairs = self._neighbours[side, layer]
                self._scheme(side, pairs)
                read.neighbours[name, file, layer] = pairs
                read.spans[name, layer] += 0
                read.tagged.add((name, layer))
        return self.bag

    # Counting

    def _count(self) -> None:
        self._count_cases()
        for metric, group in product(self._of_tags, self.groups):
            tallies = {}
            for cluster in group.clusters(counting=True):
                _, *sides = zip(*map(group.characters.rows.__getitem__, cluster), strict=True)
                tallies[cluster] = metric.count_tags(*sides)
                if tallies[cluster] is None:
                    raise Unusual("the spans of tags depend on the tags before them")
            of_sentences = ((place, Counter(text.split())) for place, text in group.of_sentence.items())
            for place, clusters in chain(group.of_place.items(), of_sentences):
                if place is not None:
                    tally = added((tallies[cluster], times) for cluster, times in clusters.items())
                    self.bag.add_tally(place, group.layers[0], metric.name, tally)
        for group in self.groups:
            group.begin(with_rows=len(group.characters) <= MOST_CLUSTERS)
        if self.bag.is_full:
            self.bag.fold()

    def _count_cases(self) -> None:
        numbers: dict[tuple[str, Key], int] = {}
        cases = [self._cases(group, numbers) for group in self.groups]
        in_bag = _NumbersInBag(self.bag, list(numbers))
        for place in dict.fromkeys(chain.from_iterable(group.of_place for group in self.groups)):
            if place is not None:
                clusters = [group.of_place.get(place, NOTHING).items() for group in self.groups]
                self.bag.add_occurrences(
                    [place], _row(clusters, [cases_of[place.waits] for cases_of in cases], in_bag)
                )
        places_of_texts: dict[tuple[Any, ...], list[DocumentPlace]] = {}
        of_sentence = [group.of_sentence.values() for group in self.groups]
        for place, *texts in zip(self.groups[0].of_sentence, *of_sentence, strict=True):
            places_of_texts.setdefault((place.waits, *texts), []).append(place)
        for (waits, *texts), places in places_of_texts.items():
            of_texts = [zip(text.split(), repeat(1), strict=False) for text in texts]
            self.bag.add_occurrences(places, _row(of_texts, [cases_of[waits] for cases_of in cases], in_bag))

    def _cases(
        self, group: LayerClusters, numbers: dict[tuple[str, Key], int]
    ) -> Mapping[tuple[str, ...], Cases]:
        """Return the cases of all clusters of a group, by the conditions that wait; `numbers` gets their keys."""
        clusters = group.clusters()
        if not clusters:
            return {waits: {} for waits in self._conditions}
        pairs = _neighbours_in(clusters)
        rows = group.characters.rows
        for number, (side, layer) in enumerate(product(range(len(self._files)), group.layers), 1):
            total = self._neighbours[side, layer]
            tags = {character: row[number] for character, row in rows.items()}
            for (before, after), times in pairs.items():
                pair = tags[before], tags[after]
                total[pair] = total.get(pair, 0) + times
            total.pop((OUTSIDE, OUTSIDE), None)
        parts_of = self._parts(clusters, pairs, group)
        parts: dict[str, int] = clusters
        if parts_of is not None:
            parts = {}
            for cluster, number in clusters.items():
                for part in parts_of[cluster]:
                    parts[part] = parts.get(part, 0) + number
        documents, starts = self._documents(parts, parts_of, group)
        cases: dict[tuple[str, ...], Cases] = {}
        for waits, where in self._conditions.items():
            of_parts = dict(zip(parts, self._keys(documents, group, where, starts, numbers), strict=False))
            cases[waits] = of_parts
            if parts_of is not None:
                cases[waits] = {
                    cluster: list(chain.from_iterable(map(of_parts.__getitem__, parts_of[cluster])))
                    for cluster in clusters
                }
        return cases

    def _parts(
        self, clusters: Mapping[str, int], pairs: Mapping[tuple[str, str], int], group: LayerClusters
    ) -> Mapping[str, Sequence[str]] | None:
        """Return the parts of clusters between which no span goes on; many clusters have the same parts.

        None: clusters are not divided. Where ill-formed tags are not repaired, whether tags are a span may depend on
        those around them.
        """
        if not all(reading.repairs for reading in self._readings):
            return None
        rows = group.characters.rows
        divided: dict[tuple[str, str], str] = {}
        for before, after in pairs:
            divided[before, after] = "\n" if after == BLANK else BLANK + after
            if BLANK not in (before, after) and any(map(continues, rows[before][1:], rows[after][1:])):
                divided[before, after] = after
        lines = "".join(map(divided.__getitem__, pairwise(BLANK.join(["", *clusters, ""]))))
        return dict(zip(clusters, map(str.split, lines.splitlines()), strict=True))

    def _documents(
        self, parts: Mapping[str, int], parts_of: Mapping[str, Sequence[str]] | None, group: LayerClusters
    ) -> tuple[list[Document], Sequence[int]]:
        """Return the document of each side that has all parts, with a row of O after each, and where they start.

        The spans that are read are counted, each as often as its part occurs.
        """
        rows_of_parts = map(group.characters.rows.__getitem__, BLANK.join([*parts, ""]))
        lengths, *columns = zip(*rows_of_parts, strict=True)
        times = list(chain.from_iterable(repeat(n, len(part) + 1) for part, n in parts.items()))
        counts: Sequence[bool] = ()
        if not self._plan.where.keys().isdisjoint(group.layers):
            counting = {*group.clusters(counting=True)}
            if parts_of is not None:
                counting = {part for cluster in counting for part in parts_of[cluster]}
            counts = list(chain.from_iterable(repeat(part in counting, len(part) + 1) for part in parts))
        starts = list(accumulate([len(part) + 1 for part in parts], initial=0))
        begins: Sequence[int] = range(len(lengths) + 1)  # of each token
        if self.in_characters:
            begins = list(accumulate(lengths, lambda begin, length: begin + length + 1, initial=0))
        documents = []
        for side, name in enumerate(self._plan.sides):
            tags = dict(zip(group.layers, columns[side * len(group.layers) :], strict=False))
            rows: dict[str, Sequence[Row]] = {}
            for layer, of_layer in tags.items():
                spans = self._decoded(side, layer, of_layer)
                numbers = [times[row[0]] for row in spans]
                self.bag.read.spans[name, layer] += sum(numbers)
                if self._new_labels.steps:
                    spans = self._new_labels.rows(spans, name, numbers)
                if layer in self._plan.where:
                    labels = self.bag.read.values.setdefault(layer, set())
                    labels.update([row[2] for row in spans if counts[row[0]]])
                if self.in_characters:
                    spans = [(begins[start], begins[end] - 1, label) for start, end, label in spans]
                rows[layer] = spans
            layers = Layers({}, rows, within=(0, begins[-1]))
            if self.in_characters:
                documents.append(Document("", layers, text="x" * begins[-1], unit="character"))
            else:
                tokens = ("",) * len(lengths)
                document_tags = NOTHING if any(step.may_rename for step in self._new_labels.steps) else tags
                documents.append(Document("", layers, tokens=tokens, tags=document_tags))
        return documents, [begins[start] for start in starts]

    def _keys(
        self,
        documents: Sequence[Document],
        group: LayerClusters,
        where: Where,
        starts: Sequence[int],
        numbers: dict[tuple[str, Key], int],
    ) -> list[list[int]]:
        """Return the numbers of the keys between each start and the next."""
        key_numbers: list[list[int]] = [[] for _ in starts]
        for column in keys_of(documents, group.layers, merge=self._plan.merge, where=where):
            keys = chain(
                zip(column.keys, [first for first, _ in column.ranges], strict=True),
                zip(repeat(other_key(self._present)), column.others, strict=False),
            )
            for key, first in keys:
                number = numbers.setdefault((column.sequence, key), len(numbers))
                key_numbers[bisect_right(starts, first) - 1].append(number)
        return key_numbers

    def _decoded(self, side: int, layer: str, tags: Sequence[str]) -> list[Row]:
        """Return the spans of a column of tags in the reading of its side."""
        if not self._readings[side].repairs:
            pairs = self._neighbours[side, layer]
            scheme = self._scheme(side, pairs)
            if scheme is not None and count_illegal(pairs, scheme):
                return list(decode_strictly(tags, scheme))
        return list(decode(tags))

    def _scheme(self, side: int, pairs: Neighbours) -> str | None:
        """Return the scheme of pairs of tags. Raises `Unusual` for two schemes, and for tags that are refused."""
        reading = self._readings[side]
        try:
            scheme = reading.scheme or scheme_of(pairs)
            must_fit = reading.scheme is not None or reading.invalid == "error"
            illegal = count_illegal(pairs, scheme) if scheme is not None and must_fit else 0
        except TagError as error:
            raise Unusual("tags of different schemes") from error
        if illegal and reading.invalid == "error":
            raise Unusual("ill-formed tags")
        if reading.invalid == "discard" and scheme == "IOE1":
            # the span of E-X I-X after an O is discarded only if tags of the same document are ill-formed
            raise Unusual("whether a span counts may depend on tags elsewhere")
        return scheme


class _NumbersInBag(dict[int, int]):
    """The number that the bag has for each of some keys, by their numbers here; a key is new when it is looked up."""

    def __init__(self, bag: Bag, keys: Sequence[tuple[str, Key]]) -> None:
        self._bag, self._keys = bag, keys

    def __missing__(self, number: int) -> int:
        sequence, key = self._keys[number]
        self[number], is_new = self._bag.number_of(sequence, key)
        if is_new:
            check_case(self._bag, sequence, key, is_flat=True)
        return self[number]


def _row(
    clusters: Iterable[Iterable[tuple[str, int]]], cases: Iterable[Cases], in_bag: Mapping[int, int]
) -> dict[int, int]:
    """Return how often each case occurs in a place, by its number in the bag, given the clusters of each group."""
    row: dict[int, int] = {}
    for of_group, of_cluster in zip(clusters, cases, strict=True):
        for cluster, times in of_group:
            for case in of_cluster[cluster]:
                number = in_bag[case]
                row[number] = row.get(number, 0) + times
    return row


def _neighbours_in(clusters: Mapping[str, int]) -> dict[tuple[str, str], int]:
    """Return how often characters are adjacent in clusters with a blank around each.

    >>> _neighbours_in({"ab": 3})["a", "b"]
    3
    """
    of_times: dict[int, list[str]] = {}  # those that occur equally often are counted together
    for cluster, times in clusters.items():
        of_times.setdefault(times, []).append(cluster)
    pairs: dict[tuple[str, str], int] = {}
    for times, same in of_times.items():
        for pair, number in Counter(pairwise(BLANK.join(["", *same, ""]))).items():
            pairs[pair] = pairs.get(pair, 0) + number * times
    return pairs


# Lists of tags in memory

BATCH = 500
"""The number of sentences that are counted together; more would no longer fit in the processor's cache."""

_LISTS = frozenset({list, tuple})


def bag_of_tags(
    sides: Sequence[Any],
    plan: Plan,
    readings: Sequence[Reading],
    ids: Iterable[str],
) -> Bag | None:
    """Count parallel sentences, one list of tags for each, given for each side of `plan`; the layer is ``label``.

    The bag is that of `clueval.core.count.count` for the sentences as documents. `readings` say how the tags of each
    side are read; `ids` are the ids of the documents. Memory holds a limited number of clusters.

    Returns None, and documents must be counted, for sides that are no lists of lists of text (or tuples), for plans
    that need documents, for corpora without tags, and for every error: different numbers of sentences or tags, what is
    no tag, tags of two schemes, ill-formed tags that are refused or discarded where no scheme is named. Iterators are
    left as they are.
    """
    if any(type(side) not in _LISTS or len(side) != len(sides[0]) for side in sides):
        return None
    try:
        counting = ClusterCounting(plan, [DEFAULT_LAYER], readings, [None] * len(sides), Bounds())
        if counting.in_characters or counting.is_late:  # there is no text, or all tags would be held
            return None
        places = None
        if counting.by_document:
            places = _places(counting, plan, ids)
        else:
            place = counting.place_of()
        for start in range(0, len(sides[0]), BATCH):
            batch = [side[start : start + BATCH] for side in sides]
            if not _LISTS.issuperset(map(type, chain.from_iterable(batch))):
                raise Unusual("a sentence that is no list")
            lengths = list(map(len, batch[0]))
            if any(list(map(len, side)) != lengths for side in batch[1:]):
                raise Unusual("sentences of different lengths")
            try:
                if places is None:
                    _add_together(counting, place, batch)
                else:
                    _add_to_places(counting, places[start : start + BATCH], batch)
                    counting.count_if_much()
            except (TypeError, ValueError):  # values that cannot be hashed, or compared
                if not all(isinstance(tag, str) for side in batch for tags in side for tag in tags):
                    return None
                raise
        return counting.finish()
    except Unusual:
        return None


def bag_of_tagged_documents(
    texts: Iterable[Sequence[Document]],
    plan: Plan,
    layer: str,
    readings: Sequence[Reading],
    files: Sequence[str],
) -> Bag:
    """Count documents with tags in one layer, in `files` that `bag_of_tags` could read as lists; memory holds a batch.

    Raises `Unusual`, and documents must be counted, as `bag_of_tags` returns None, for documents of several sentences,
    and if documents are told apart.
    """
    counting = ClusterCounting(plan, [layer], readings, files, Bounds())
    if counting.in_characters or counting.by_document or counting.is_late:
        raise Unusual("positions are characters, or documents are told apart")
    place = counting.place_of()
    gold_tags: list[Sequence[str]] = []  # nothing else of documents is held
    predicted_tags: list[Sequence[str]] = []
    for gold, predicted in texts:
        if len(gold.sentences) > 1 or len(predicted.sentences) > 1:
            raise Unusual("a document of several sentences")
        counting.see(gold.metadata)
        gold_tags.append(gold.tags[layer])
        predicted_tags.append(predicted.tags[layer])
        if len(gold_tags) == BATCH:
            _add_together(counting, place, (gold_tags, predicted_tags))
            gold_tags, predicted_tags = [], []
    _add_together(counting, place, (gold_tags, predicted_tags))
    return counting.finish()


def _add_together(
    counting: ClusterCounting, place: DocumentPlace | None, batch: Sequence[Sequence[Sequence[str]]]
) -> None:
    """Count sentences that are not told apart."""
    counting.groups[0].add_lists(place, batch)
    counting.add_text(place, sum(map(len, batch[0])), len(batch[0]))
    counting.count_if_much()


def _places(counting: ClusterCounting, plan: Plan, ids: Iterable[str]) -> list[DocumentPlace | None]:
    places = [counting.place_of(id_) for id_ in ids]
    are_few = sum(place is not None and not place.waits for place in places) < FEW_DOCUMENTS
    if plan.units == SENTENCE or (plan.units == EITHER and are_few):
        return [None if place is None else place._replace(sentence=1) for place in places]
    return places


def _add_to_places(
    counting: ClusterCounting,
    places: Sequence[DocumentPlace | None],
    batch: Sequence[Sequence[Sequence[str]]],
) -> None:
    (group,) = counting.groups
    text = group.text([_flat_tags(side) for side in batch])
    start = 0
    for place, tags in zip(places, batch[0], strict=True):
        past = start + len(tags)
        if place is None:
            group.add(place, text[start:past])
        else:
            group.add_sentences([place], [text[start:past]])
        counting.add_text(place, len(tags), 1)
        start = past + 1


def _flat_tags(sentences: Iterable[Sequence[str]]) -> Iterator[str]:
    """Return the tags of sentences, with an O after each."""
    border = (OUTSIDE,)
    return chain.from_iterable(chain.from_iterable(zip(sentences, repeat(border), strict=False)))
