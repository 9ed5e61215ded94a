"""Units of a result: which places of a bag they are, what they are called, and what was counted in each.

Intervals and tests take units for independent. A unit is a document, a part of one between two sentence ends, or all
documents with one value of some metadata. The units of a bag are its places, without the values of the break-downs.
Most sentences have the same cases as others, so their counts are kept once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from clueval.core.bag import Bag, Place, pairs_in
from clueval.core.count import DOCUMENT, EITHER, FEW_DOCUMENTS, SENTENCE, DocumentPlace, Plan
from clueval.core.metric import AnyMetric, Tally, added
from clueval.files.errors import UsageError, warn


def settled_units(bag: Bag, plan: Plan) -> Plan:
    """Return the plan with the units that were chosen for it: sentences if these are more than the documents.

    Warns if sentences were asked for, and no document has several.
    """
    if plan.units not in (SENTENCE, EITHER):
        return plan
    documents = {(place.name, place.repeat) for place in bag.documents}
    if plan.units == SENTENCE:
        if len(bag.documents) == len(documents) > 1:
            warn("no document has several sentences, so each document is a unit")
        return plan
    # what has no place in the text is in no sentence
    of_sentences = [(place.name, place.repeat) for place in bag.documents if place.sentence is not None]
    more = len(documents) < FEW_DOCUMENTS and len(of_sentences) > len({*of_sentences})
    return replace(plan, units=SENTENCE if more else DOCUMENT)


def in_units(bag: Bag, plan: Plan, files: Sequence[str], *, in_folders: bool) -> Bag:
    """Return the bag of the documents that count, with the keys of documents as their names.

    `files` are the names of files, with which ids of documents may begin.
    """
    names: dict[tuple[str | None, int], str | None] = {}
    if plan.units in (DOCUMENT, SENTENCE):
        file_names = {*files}
        ids = dict.fromkeys((place.name or "", place.repeat) for place in bag.documents)
        keys = different_keys(document_key(id_, file_names, in_folders) for id_, _ in ids)
        names = dict(zip(ids, keys, strict=True))
        have_their_names = all(name_and_repeat == (name, 1) for name_and_repeat, name in names.items())
        if plan.units == SENTENCE and have_their_names and not plan.where:  # sentences are many
            return bag
    elif not plan.where:
        return bag

    def unit_of(place: Place) -> Place | None:
        name = names.get((place.name, place.repeat), place.name)
        sentence = place.sentence if plan.units == SENTENCE else None
        return None if {*place.waits} - {*bag.layers} else DocumentPlace(place.values, name, sentence)

    return bag.grouped(unit_of)


def document_key(document: str, files: Set[str] = frozenset(), in_folder: bool = False) -> str:
    """Return the key of a document, given the names of files, with one of which its id may begin.

    The name is part of the key if the files are those of a folder, and is not said twice.

    >>> document_key("sub/a.vrt:d1", {"sub/a.vrt"}, True), document_key("a.xml", {"a.xml"}, True)
    ('sub/a.vrt#d1', 'a.xml')
    >>> document_key("/x/a.vrt:d1", {"/x/a.vrt"}), document_key("b:d#1", {"b"}, True), document_key("3")
    ('d1', 'b#d##1', '3')
    """
    parts = document.split(":") if files else []
    names = (":".join(parts[:end]) for end in range(len(parts), 0, -1))
    file = next((name for name in names if name in files), None)
    rest = None if document == file else document if file is None else document.removeprefix(f"{file}:")
    shown = (file, rest) if in_folder else ("1" if rest is None else rest,)
    return "#".join(part.replace("#", "##") for part in shown if part is not None)


def different_keys(keys: Iterable[str]) -> list[str]:
    """Return the keys made different: of equal ones, the second gets ``#2``, and so on.

    >>> different_keys(["d", "d", "e"])
    ['d', 'd#2', 'e']
    """
    names: list[str] = []
    last: dict[str, int] = {}
    taken: set[str] = set()
    for key in keys:
        number = last.get(key, 0) + 1
        while (name := key if number == 1 else f"{key}#{number}") in taken:
            number += 1
        last[key] = number
        taken.add(name)
        names.append(name)
    return names


Key = tuple[Any, ...]
"""A key of a tally."""

Counts = tuple[int, ...]
"""A row of counts: the number of a key, how often it was counted, the number of the next key, and so on."""

Layers = Mapping[str, Sequence[str]]
"""The layers of each sequence."""


class CountsByUnit:
    """What one metric counted in one sequence of each unit.

    Attributes:
        keys: the number of each key of the tallies.
        rows: the number of each row of counts; no two rows are equal.
        row_of: the number of the row of each unit.
    """

    def __init__(self, units: int) -> None:
        self.keys: dict[Key, int] = {}
        self.rows: dict[Counts, int] = {}
        self.row_of = [0] * units

    def row(self, tally: Iterable[tuple[Key, int]]) -> int:
        """Return the number of the row that has these counts."""
        numbered = sorted((self.keys.setdefault(key, len(self.keys)), count) for key, count in tally if count)
        return self.rows.setdefault(tuple(chain.from_iterable(numbered)), len(self.rows))

    def tallies(self) -> Iterator[list[tuple[Key, int]]]:
        """Yield the counts of each row."""
        keys = list(self.keys)
        for row in self.rows:
            yield [(keys[number], count) for number, count in pairs_in(row)]

    def total(self) -> Tally:
        """Return the sum over all units."""
        times = Counter(self.row_of)
        return added((Tally(dict(of_row)), times[number]) for number, of_row in enumerate(self.tallies()))


@dataclass(frozen=True, slots=True)
class Units:
    """The units of a corpus.

    Attributes:
        by: what they are: `DOCUMENT`, `SENTENCE` or the metadata whose values they are; None: the whole is one.
        metrics: what counted.
        sequences: the sequences that each metric reports, with their layers.
        keys: the key of each unit, by which units of several results are told apart and random numbers are drawn.
        positions: the number of positions of each unit.
        counts: what was counted, by the name of the metric and the sequence.
    """

    by: str | None
    metrics: Sequence[AnyMetric]
    sequences: Mapping[str, Layers]
    keys: Sequence[str]
    positions: Sequence[int]
    counts: Mapping[tuple[str, str], CountsByUnit]

    def require_several(self) -> None:
        """Raise `UsageError` if there are no units, or is only one."""
        if self.by is None:
            raise UsageError(
                "intervals need counts by unit, and only those of the whole corpus were kept",
                advice="score with intervals=True, resample_by='document' or save='FILE'",
            )
        if not self.keys:
            raise UsageError(
                "intervals need several units, and there are no documents", advice="score more text"
            )
        if len(self.keys) == 1:
            raise UsageError(
                f"intervals need several units, and there is one {self.by}",
                advice="score more text" if self.by == SENTENCE else "score with resample_by='sentence'",
            )


def number_of_units(bag: Bag) -> int:
    """Return the number of units of a bag, whose places are those of `clueval.core.count.Plan.place`."""
    return len({(place.name, place.sentence) for place in bag.documents})


def units_of(bag: Bag, metrics: Sequence[AnyMetric], sequences: Layers, by: str | None) -> Units:
    """Return the units of a bag whose places are those of `clueval.core.count.Plan.place`.

    `by` is what they are. Raises `UsageError` for a metric that has not counted the cases that the bag does not have
    any more.
    """
    numbers: dict[tuple[str | None, int | None], int] = {}
    unit_of = {
        place: numbers.setdefault((place.name, place.sentence), len(numbers)) for place in bag.documents
    }
    positions = [0] * len(numbers)
    for of_places in bag.positions.values():
        for place, number in of_places.items():
            positions[unit_of[place]] += number
    counts = dict(_counts(bag, metrics, sequences, unit_of, len(numbers)))
    keys = [name or "" if sentence is None else f"{name or ''}#s{sentence}" for name, sentence in numbers]
    reported: dict[str, Layers] = {}
    for metric in metrics:
        layers_of = sequences
        if metric.whole is not None:
            layers_of = {metric.whole: list(dict.fromkeys(chain.from_iterable(sequences.values())))}
        totals = {name: counts[metric.name, name].total() for name in layers_of}
        reported[metric.name] = {name: layers_of[name] for name in metric.reported(totals)}
    return Units(by, tuple(metrics), reported, keys, positions, counts)


def _counts(
    bag: Bag,
    metrics: Sequence[AnyMetric],
    sequences: Layers,
    unit_of: Mapping[DocumentPlace, int],
    units: int,
) -> Iterator[tuple[tuple[str, str], CountsByUnit]]:
    """Yield for each metric and sequence what was counted in each unit."""
    times = Counter(unit_of.values())
    wholes = {metric.name: metric.whole for metric in metrics}
    for whole in dict.fromkeys(wholes.values()):
        counting = tuple(metric for metric in metrics if wholes[metric.name] == whole)
        names = list(sequences) if whole is None else [whole]
        counts = {(metric.name, name): CountsByUnit(units) for metric in counting for name in names}
        sums: dict[tuple[str, str, int], Tally] = {}
        for place, sequence, metric, tally in bag.tallies_of(counting, names, unit_of):
            counted, unit = counts[metric.name, sequence], unit_of[place]
            if times[unit] > 1:  # other places of this unit come, too
                key = metric.name, sequence, unit
                sums[key] = added([(sums.get(key, Tally()), 1), (tally, 1)])
            else:
                counted.row_of[unit] = counted.row(tally.items())
        for (metric_name, sequence, unit), tally in sums.items():
            counted = counts[metric_name, sequence]
            counted.row_of[unit] = counted.row(tally.items())
        yield from counts.items()
