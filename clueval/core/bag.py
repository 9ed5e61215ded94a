"""The bag: how often each case occurs in each place. It is all that is kept of a corpus.

A place is what counts are kept by: a document with its metadata, a sentence, or everything. Workers return bags, a
saved result is one, and bags can be added in any order: the numbers are the same.

A bag is bounded. If its table of cases has too many distinct keys, or too many spans in them (`Bounds`), it is
*folded*: each case is counted once by each metric, the counts are added to the tallies of its places, and the table
begins again. A bag that was folded can be added, saved, resampled and broken down, but not be scored by another metric.

A bag also has what was read, before steps and filters: for the report, for warnings, and for what a filter must name.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, pairwise
from typing import Any, NamedTuple

from clueval.core.case import BOTH, HEAD, TOKENS, CaseOfKey, Key, same_key
from clueval.core.document import Document, Sentence, Text, metadata_with_id
from clueval.core.metric import (
    AnyMetric,
    Tally,
    add_to,
    features_read,
    is_of_cases,
    keeping_metrics,
    require_countable,
)
from clueval.core.span import NOTHING, Span
from clueval.core.tags import OUTSIDE, Neighbours, count_illegal, scheme_of
from clueval.files.errors import TagError, UsageError

# What was read

_BOTH_OUTSIDE = OUTSIDE, OUTSIDE

FileLayer = tuple[str, str | None, str]
"""A side, a file (None: in memory) and a layer."""


class Read:
    """What was read of a corpus; two can be added in the order of their files.

    The scheme of a file, and which of its tags are repaired, is known when all of it was read: from `neighbours`, how
    often each pair of adjacent tags occurs, without those of two O, which say nothing. Of files whose tags are settled,
    `settled` has the scheme and the number of ill-formed tags instead.
    """

    def __init__(self) -> None:
        self.formats: dict[str, set[str]] = {}  # the names of the formats, by side
        self.files: Counter[str] = Counter()  # the number of files, by side
        self.sources: dict[tuple[str, str], set[int | str]] = {}  # columns from 1, or keys, by side and layer
        self.treatments: set[str] = set()  # how ill-formed tags were treated
        self.passed_over: Counter[tuple[str, str]] = Counter()  # what formats did not read, by side and kind
        self.spans: Counter[tuple[str, str]] = Counter()  # the number of spans by side and layer
        self.features: set[str] = set()  # the features of spans; `TOKENS` if some have tokens of their own
        self.tagged: set[tuple[str, str]] = set()  # sides and layers read from tags, or a file of tokens
        self.neighbours: dict[FileLayer, Neighbours] = {}
        self.settled: dict[FileLayer, tuple[str | None, int]] = {}
        self.keys: dict[str, None] = {}  # the keys of metadata that documents have
        self.values: dict[str, set[str]] = {}  # of filters by key: metadata, ids, labels of layers
        self.units: set[str] = set()  # what positions are where they are counted, that is, after all steps
        self.without_text = 0  # the number of texts that a side has no text of, where they are counted
        self.unplaced: list[tuple[str, Span]] = []  # spans without a place in the text, with ids of documents

    def add_file(
        self,
        side: str,
        form: str,
        sources: Mapping[str, int | str] = NOTHING,
        passed_over: Mapping[str, int] = NOTHING,
    ) -> None:
        """Add a file that was read: its format, the source of each layer, and what the format did not read, by kind."""
        self.formats.setdefault(side, set()).add(form)
        self.files[side] += 1
        for layer, source in sources.items():
            self.sources.setdefault((side, layer), set()).add(source)
        for kind, number in passed_over.items():
            self.passed_over[side, kind] += number

    def add(self, documents: Iterable[tuple[str, Document | None]], conditions: Iterable[str] = ()) -> None:
        """Add the documents of one text, with the names of their sides; `conditions` are the keys of a filter."""
        present = [(side, document) for side, document in documents if document is not None]
        first = present[0][1]
        self.keys.update(dict.fromkeys(first.metadata))
        for key in conditions:
            value = metadata_with_id(first).get(key)
            if value is not None:
                self.values.setdefault(key, set()).add(value)
        for side, document in present:
            of_tokens = document.unit == "token" and document.file is not None
            self.tagged.update((side, layer) for layer in (document.layers if of_tokens else document.tags))
            for layer in document.layers:
                rows = document.ranges_in(layer)
                if rows is not None:
                    self.spans[side, layer] += len(rows)
                    self.features.update(*[features for features, *_ in document.details_in(layer)])
                    continue
                self.spans[side, layer] += len(document.layers[layer])
                for span in document.layers[layer]:
                    if span.features or span.tokens is not None:
                        self.features.update(span.features, (TOKENS,) * (span.tokens is not None))
            self.add_tags(side, document)

    def add_tags(self, side: str, document: Document) -> None:
        """Add the pairs of adjacent tags of a document of a side, in which an O follows each sentence."""
        for layer, tags in document.tags.items():
            bordered = [OUTSIDE]
            whole = Sentence(document.start, document.start + len(tags))
            for start, end, _ in document.sentences or [whole]:
                bordered += tags[start - document.start : end - document.start]
                bordered.append(OUTSIDE)
            pairs = self.neighbours.setdefault((side, document.file, layer), Counter())
            pairs.update([pair for pair in pairwise(bordered) if pair != _BOTH_OUTSIDE])

    def add_counted(self, text: Text, conditions: Iterable[str]) -> None:
        """Add a text that meets the filter: the labels of layers that this names, and spans without a place."""
        for side in [side for side in text.sides if side is not None]:
            for layer in [key for key in conditions if key in side.layers]:
                labels = {span.by_layer.get(layer) for span in side.layers[layer]}
                self.values.setdefault(layer, set()).update(label for label in labels if label is not None)
            if text.beside:
                self.unplaced += [(text.first.id, span) for spans in side.layers.values() for span in spans]

    def settle(self, schemes: Mapping[str, str | None] = NOTHING) -> None:
        """Replace the pairs of adjacent tags, which were all read, by what follows from them.

        `schemes` has the one that was named for a side, or None; those of files with a settled scheme are these; others
        are detected. Raises `TagError`.
        """
        for file_layer in [*self.neighbours]:
            side, file, _ = file_layer
            pairs = self.neighbours.pop(file_layer)
            try:
                scheme = schemes.get(side) or self.settled.get(file_layer, (None, 0))[0] or scheme_of(pairs)
            except TagError as error:
                error.file = error.file or file or side
                raise
            self.settle_layer(file_layer, scheme, 0 if scheme is None else count_illegal(pairs, scheme))

    def settle_layer(self, file_layer: FileLayer, scheme: str | None, ill_formed: int) -> None:
        """Add a layer whose scheme is known, and the number of its ill-formed tags."""
        before = self.settled.get(file_layer, (None, 0))
        self.settled[file_layer] = scheme or before[0], ill_formed + before[1]

    def schemes(self) -> dict[FileLayer, str | None]:
        """Return the scheme of the tags of each file; None if all of them are O. Raises `TagError`."""
        settled = {file_layer: scheme for file_layer, (scheme, _) in self.settled.items()}
        return settled | {file_layer: scheme_of(pairs) for file_layer, pairs in self.neighbours.items()}

    def repaired(self, side: str) -> int:
        """Return the number of ill-formed tags of a side, by the scheme of the whole file."""
        repaired = sum(number for file_layer, (_, number) in self.settled.items() if file_layer[0] == side)
        for pairs in [pairs for file_layer, pairs in self.neighbours.items() if file_layer[0] == side]:
            if (scheme := scheme_of(pairs)) is not None:
                repaired += count_illegal(pairs, scheme)
        return repaired

    def include(self, other: Read) -> None:
        """Add what was read elsewhere."""
        self.files.update(other.files)
        self.passed_over.update(other.passed_over)
        self.spans.update(other.spans)
        self.features |= other.features
        self.tagged |= other.tagged
        self.keys.update(other.keys)
        self.treatments |= other.treatments
        self.units |= other.units
        self.without_text += other.without_text
        self.unplaced += other.unplaced
        for file_layer, pairs in other.neighbours.items():
            self.neighbours.setdefault(file_layer, Counter()).update(pairs)
        for file_layer, settled in other.settled.items():
            self.settle_layer(file_layer, *settled)
        for name in ("formats", "sources", "values"):
            for key, values in getattr(other, name).items():
                getattr(self, name).setdefault(key, set()).update(values)


# Cases by place


class Bounds(NamedTuple):
    """The most distinct keys that a bag has, and the most spans in them."""

    keys: int = 1 << 16
    spans: int = 1 << 18


LARGE = 300
"""A case with more spans is counted where it stands, so that an error names the document; others meet no limit."""

Place = Any
"""What counts are kept by: a `clueval.core.count.DocumentPlace`, or another value that can be hashed."""

Occurrences = dict[int, int] | tuple[int, ...]
"""How often each case, by its number, occurs in a place; or a flat tuple (number, times, number, times, ...), which is
one object for all places with the same row."""


def pairs_in(row: dict[int, int] | Sequence[int]) -> Iterable[tuple[int, int]]:
    """Return the pairs of numbers in a row: those of ``(4, 1, 7, 2)`` are ``(4, 1)`` and ``(7, 2)``."""
    return row.items() if isinstance(row, dict) else zip(row[::2], row[1::2], strict=True)


def listed(row: Mapping[int, int]) -> tuple[int, ...]:
    """Return a row as a tuple, in the order of the first number of its pairs."""
    return tuple(chain.from_iterable(sorted(row.items())))


_INSIDE = "inside"
"""In place of the name of a metric in tallies: the number of positions in cases of a sequence, by the sides that are
present."""

NO_LAYER = ""
"""Stands for a layer that no document has: what metrics of documents count in it is what they count in documents that
come before the first with a layer, since each layer counts in all documents."""


class Bag:
    """The cases of a corpus, by place."""

    def __init__(
        self,
        metrics: Sequence[AnyMetric] = (),
        layers: Iterable[str] = (),
        bounds: Bounds = Bounds(),  # noqa: B008  # it cannot be changed
        read: Read | None = None,
    ) -> None:
        self.metrics = tuple(metrics)  # those that count what cannot be kept
        self.layers = list(layers)  # all layers, in the order in which they occurred
        self.bounds = bounds
        self.keys: dict[tuple[str, Key], int] = {}  # the number of each key, by sequence and key
        self.places: dict[Place, Occurrences] = {}  # how often each case occurs in each place
        self.documents: Counter[Place] = Counter()  # the number of documents of each place
        # documents by the sides that are present, by place
        self.shared: defaultdict[int, Counter[Place]] = defaultdict(Counter)
        self.positions: defaultdict[int, Counter[Place]] = defaultdict(Counter)  # positions, likewise
        # what was counted at once in each place, by sequence and name of the metric
        self.tallies: dict[Place, dict[tuple[str, str], Tally]] = {}
        self.folded = False  # whether cases were counted because they were too many
        self.notes: Counter[tuple[str, ...]] = Counter()  # how often each step changed what
        self.read = Read() if read is None else read
        self._spans = 0  # in all keys
        self._counted: dict[tuple[str, Key], list[Tally]] = {}  # of large cases
        self._rows: dict[tuple[int, ...], tuple[int, ...]] = {}  # the rows that places share

    # Adding

    def see_layers(self, layers: Iterable[str]) -> None:
        """Add layers that are new."""
        new = [layer for layer in dict.fromkeys(layers) if layer not in self.layers]
        self.layers += new
        for place in self.tallies if new else ():
            self._add_to_layers(place, new, self.tallies[place])

    def _add_to_layers(
        self, place: Place, layers: Iterable[str], tallies: Mapping[tuple[str, str], Tally]
    ) -> None:
        """Add what metrics of documents have counted in layers that the documents of a place do not have."""
        for (sequence, metric), tally in list(tallies.items()):
            if sequence == NO_LAYER:
                for layer in layers:
                    self.add_tally(place, layer, metric, tally)

    def add_text(self, place: Place, positions: int, documents: int = 1, present: int = BOTH) -> None:
        """Add a text, or a part of one, by its number of positions and the sides that are present."""
        self.documents[place] = self.documents.get(place, 0) + documents
        if documents:
            self.shared[present][place] += documents
        of_place = self.positions[present]
        of_place[place] = of_place.get(place, 0) + positions

    def add_parts(self, parts: Mapping[Place, int], present: int = BOTH) -> None:
        """Add parts of a text in which no document begins, each in a new place, by their numbers of positions."""
        dict.update(self.documents, dict.fromkeys(parts, 0))  # a counter would add, which takes longer
        dict.update(self.positions[present], parts)

    def add_keys(self, sequence: str, keys: Iterable[Key], row: dict[int, int]) -> list[Key]:
        """Add the keys of cases in a sequence, and to a row how often each occurs. Returns those that are new."""
        new = []
        # saved results number the new keys from last to first
        for key, times in reversed(Counter(keys).items()):
            number, is_new = self.number_of(sequence, key)
            if is_new:
                new.append(key)
            row[number] = row.get(number, 0) + times
        return new[::-1]

    def number_of(self, sequence: str, key: Key) -> tuple[int, bool]:
        """Return the number of a key, and whether it is new."""
        number, next_number = self.keys.get((sequence, key)), len(self.keys)
        if number is not None:
            return number, False
        self.keys[sequence, key] = next_number
        self._spans += len(key) - HEAD
        return next_number, True

    def add_occurrences(self, places: Iterable[Place], row: Occurrences, times: int = 1) -> None:
        """Add to each of some places how often cases occur in it, by the numbers of their keys.

        Equal rows of places to which nothing else is added are kept once.
        """
        shared: tuple[int, ...] | None = None
        for place in places if row else ():
            total = self.places.get(place)
            if total is None and times == 1:
                if shared is None:
                    shared = row if isinstance(row, tuple) else listed(row)
                    shared = self._rows.setdefault(shared, shared)
                self.places[place] = shared
                continue
            if not isinstance(total, dict):
                total = self.places[place] = dict(pairs_in(total or ()))
            for number, of_row in pairs_in(row):
                total[number] = total.get(number, 0) + of_row * times

    def add_tally(self, place: Place, sequence: str, metric: str, tally: Tally) -> None:
        """Add what a metric counted at once."""
        add_to(self.tallies.setdefault(place, {}).setdefault((sequence, metric), Tally()), tally, 1)

    def check(self, sequence: str, key: Key, *, is_flat: bool = False) -> None:
        """Raise `UsageError` or `OverlapError` for a new case that a metric cannot count.

        A large case is counted, too, so that the bag need not count it again; `LimitError` if it is too large.
        With `is_flat`, no spans of a side overlap or have gaps, so that every metric can count them.
        """
        large = len(key) - HEAD > LARGE
        if is_flat and not large:
            return
        metrics = keeping_metrics(self.metrics)
        flat = any(metric.flat for metric in metrics)
        if not metrics or (not large and not flat and all(len(span) == 4 for span in key[HEAD:])):
            return
        case = CaseOfKey(key, sequence)
        for metric in metrics if not is_flat else ():
            require_countable(metric, case)
        if large:
            self._counted[sequence, key] = [metric.count(case) for metric in metrics]

    @property
    def is_full(self) -> bool:
        """Whether the table of cases is as large as it may become."""
        return len(self.keys) > self.bounds.keys or self._spans > self.bounds.spans

    def fold(self) -> None:
        """Count all cases, and keep the counts in place of the cases."""
        counts = BagCounts(self, self.metrics)
        for place, row in self.places.items():
            for (sequence, metric), tally in counts.in_cases(row).items():
                self.add_tally(place, sequence, metric, tally)
        self.keys, self.places, self._rows, self._counted = {}, {}, {}, {}
        self._spans, self.folded = 0, True

    def include(self, bag: Bag) -> None:
        """Add another bag, of another part of the corpus. Raises `UsageError` for one of other metrics."""
        if self.metrics != bag.metrics:
            raise UsageError("counts of different metrics cannot be added")
        self.see_layers(bag.layers)
        self.documents.update(bag.documents)
        for total, more in ((self.shared, bag.shared), (self.positions, bag.positions)):
            for present, of_places in more.items():
                total[present].update(of_places)
        self.notes.update(bag.notes)
        self.read.include(bag.read)
        unseen = [layer for layer in self.layers if layer not in bag.layers]
        for place, tallies in bag.tallies.items():
            for (sequence, metric), tally in tallies.items():
                self.add_tally(place, sequence, metric, tally)
            self._add_to_layers(place, unseen, tallies)
        numbers = [self.number_of(sequence, key)[0] for sequence, key in bag.keys]
        for place, row in bag.places.items():
            self.add_occurrences([place], {numbers[number]: times for number, times in pairs_in(row)})
        if self.folded or bag.folded or self.is_full:
            self.fold()

    # Asking

    def in_one_place(self) -> Bag:
        """Return the bag with one place, which has no value."""
        return self.grouped(lambda place: ())

    def grouped(self, group: Callable[[Place], Place | None], places: Iterable[Place] | None = None) -> Bag:
        """Return the bag with other places, in the order of the first that each has; None: the place is left out.

        `places` are those that are looked at; None: all.
        """
        bag = Bag(self.metrics, self.layers, self.bounds, self.read)
        bag.keys, bag._counted, bag._spans = self.keys, self._counted, self._spans
        bag.folded, bag.notes = self.folded, self.notes
        looked_at = self.documents if places is None else places
        groups = {place: new for place in looked_at if (new := group(place)) is not None}
        # equal ones of a new place, by the id of their only object
        rows: dict[tuple[Place, int], list[Occurrences]] = {}
        for place, new in groups.items():
            bag.documents[new] = bag.documents.get(new, 0) + self.documents[place]
            row = self.places.get(place)
            if row is not None:
                rows.setdefault((new, id(row)), []).append(row)
            for (sequence, metric), tally in self.tallies.get(place, {}).items():
                bag.add_tally(new, sequence, metric, tally)
        for (new, _), same in rows.items():
            bag.add_occurrences([new], same[0], len(same))
        for of_places, of_groups in ((self.shared, bag.shared), (self.positions, bag.positions)):
            for present, numbers in of_places.items():
                of_present = of_groups[present]
                for place, number in numbers.items():
                    if place in groups:
                        of_present[groups[place]] = of_present.get(groups[place], 0) + number
        return bag

    def tallies_of(
        self, metrics: Sequence[AnyMetric], sequences: Sequence[str], places: Iterable[Place] | None = None
    ) -> Iterator[tuple[Place, str, AnyMetric, Tally]]:
        """Yield the counts of metrics in each sequence of each place; each distinct case is counted once by each.

        `places` are those that are wanted; None: all.

        Raises `UsageError` for a metric that has not counted the cases that the bag does not have any more.
        """
        counts = self.counts(metrics)
        for place in self.documents if places is None else places:
            for sequence, metric, tally in counts.at(place, sequences):
                yield place, sequence, metric, tally

    def counts(self, metrics: Sequence[AnyMetric]) -> BagCounts:
        """Return what metrics count in the places of the bag, which must not change. Raises as `tallies_of` does."""
        for metric in [metric for metric in metrics if metric not in self.metrics]:
            reads = features_read(self.metrics)
            if self.folded:
                why = (
                    f"its cases were not kept, as they have features, or were too many (more than "
                    f"{self.bounds.keys:,} different ones, or {self.bounds.spans:,} spans in them)"
                )
            elif not is_of_cases(metric) or not metric.keeps or (metric.reads - reads) & self.read.features:
                why = "it reads more than the cases that were kept"
            else:
                continue
            raise UsageError(
                f"metric {metric.name!r} cannot count this corpus any more: {why}",
                advice="score the files with all metrics at once",
            )
        return BagCounts(self, metrics)


class BagCounts:
    """What metrics count in the places of a bag; each distinct case is counted once by each."""

    def __init__(self, bag: Bag, metrics: Sequence[AnyMetric]) -> None:
        self._bag, self._metrics = bag, metrics
        self._keeping_metrics = keeping_metrics(metrics)
        self._new_metrics = [metric for metric in self._keeping_metrics if metric not in bag.metrics]
        self._new_names = {metric.name for metric in self._new_metrics}
        self._keys = list(bag.keys)
        self._tallies: dict[int, list[Tally]] = {}  # of each case, by its number
        if tuple(metrics) == bag.metrics:
            self._tallies = {bag.keys[key]: tallies for key, tallies in bag._counted.items()}
        self._outside_tallies: dict[tuple[str, int], Tally] = {}

    def at(self, place: Place, sequences: Sequence[str]) -> Iterator[tuple[str, AnyMetric, Tally]]:
        """Yield the counts of the metrics in each sequence of a place."""
        bag = self._bag
        totals = self.in_cases(bag.places.get(place, ()))
        for counted, tally in bag.tallies.get(place, {}).items():
            if counted[1] not in self._new_names:  # those of other settings
                add_to(totals.setdefault(counted, Tally()), tally, 1)
        for sequence in sequences:
            inside: Mapping[tuple[int, ...], int] = totals.get((sequence, _INSIDE), {})
            for metric in self._metrics:
                total = totals.get((sequence, metric.name)) or Tally()
                if is_of_cases(metric):
                    # the positions of the text that are in no case have the same tag on all sides
                    for present, positions in bag.positions.items():
                        outside = positions[place] - inside.get((present,), 0)
                        if (metric.name, present) not in self._outside_tallies:
                            case = CaseOfKey(same_key(present), "")
                            self._outside_tallies[metric.name, present] = metric.count(case)
                        add_to(total, self._outside_tallies[metric.name, present], outside)
                yield sequence, metric, total

    def in_cases(self, row: Occurrences) -> dict[tuple[str, str], Tally]:
        """Return what the metrics count in a row of cases, by sequence and name; `_INSIDE` has their positions.

        Raises `UsageError` if a metric that has not counted a case before cannot count it.
        """
        totals: dict[tuple[str, str], Tally] = {}
        of_sequence: dict[str, tuple[Tally, list[Tally]]] = {}  # the same totals
        for number, times in pairs_in(row):
            sequence, key = self._keys[number]
            if sequence not in of_sequence:
                inside = totals[sequence, _INSIDE] = Tally()
                of_metrics = [
                    totals.setdefault((sequence, metric.name), Tally()) for metric in self._keeping_metrics
                ]
                of_sequence[sequence] = inside, of_metrics
            inside, of_metrics = of_sequence[sequence]
            inside[(key[2],)] += key[0] * times
            if number not in self._tallies:
                case = CaseOfKey(key, sequence)
                for metric in self._new_metrics:
                    require_countable(metric, case)
                    if metric.filters is not None and any(case.counted):
                        raise UsageError(
                            f"metric {metric.name!r} cannot leave spans out of the count, as the filter of this result "
                            "does",
                            advice=metric.filters,
                        )
                counted = self._tallies[number] = []
                for metric in self._keeping_metrics:
                    counted.append(metric.count(case))  # a comprehension would be a frame more
            for total, tally in zip(of_metrics, self._tallies[number], strict=True):
                add_to(total, tally, times)
        return totals
