"""Units: their keys, their counts, and how they add up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from clueval.first.metrics.counting import Tally, add_tally
from clueval.first.metrics.metric import Metric

DOCUMENT = "document"
SENTENCE = "sentence"
BY_DEFAULT = "document or sentence"
"""What units are by default: documents; sentences if these are more, and documents fewer than `FEW_DOCUMENTS`."""

FEW_DOCUMENTS = 10

CORPUS = "corpus"
"""What the whole corpus as one unit is called, where no units were asked for."""


Tallies = Mapping[tuple[str, str], Tally]
"""Tallies by the names of metric and sequence."""


class Unit(NamedTuple):
    """What was counted in one unit. Units with equal counts may share their tallies, which must not be changed."""

    key: str
    documents: int
    tokens: int
    tallies: Tallies


class SharedTallies:
    """Keeps equal tallies of units once: most sentences are counted like many others.

    >>> shared = SharedTallies()
    >>> first, second = ({("exact", "x"): Tally({("gold", "A"): 1})} for _ in range(2))
    >>> shared(first) is shared(second)
    True
    """

    def __init__(self) -> None:
        self._known: dict[int, dict[tuple[str, str], Tally]] = {}

    def __call__(self, tallies: dict[tuple[str, str], Tally]) -> dict[tuple[str, str], Tally]:
        """Return tallies that are equal to these, and the same object for equal ones."""
        number = hash(tuple([hash(frozenset(tally.items())) for tally in tallies.values()]))
        known = self._known.setdefault(number, tallies)
        if known is tallies or list(known) != list(tallies):
            return tallies
        are_equal = all(map(dict.__eq__, known.values(), tallies.values()))  # `Counter` compares more slowly
        return known if are_equal else tallies  # different counts may have the same hash


@dataclass(frozen=True, slots=True)
class Units:
    """All units of a corpus, with different keys, and what they are.

    `by` is ``document``, ``sentence`` or the metadata whose values are the units. `groups` has, by metadata and
    value, the parts of the units that belong to this value, if scores are broken down. `gold_sha256` tells gold
    files apart; None where the gold side is no file of its own.
    """

    by: str
    units: Sequence[Unit]
    groups: Mapping[str, Mapping[str, Sequence[Unit]]]
    gold_sha256: str | None = None

    @property
    def keys(self) -> list[str]:
        return [unit.key for unit in self.units]


class CountedUnits(NamedTuple):
    """What intervals, tests and saved results are made of."""

    metrics: Sequence[Metric]
    sequences: Mapping[str, Sequence[str]]
    units: Units


def unit_key(*parts: str | None) -> str:
    """Return the key of a unit from its parts: file, document, sentence; those that are None are left out.

    >>> unit_key(None, "d1", "s7"), unit_key("sub/a.vrt", "d#1", None)
    ('d1#s7', 'sub/a.vrt#d##1')
    """
    return "#".join(part.replace("#", "##") for part in parts if part is not None)


def document_key(file: str | None, document: str, in_folder: bool, sentence: int | None = None) -> str:
    """Return the key of a document, or of a sentence of it.

    `file` is the name of the file among others, with which the id of the document may begin; it is part of the key
    if the files are those of a folder, and is not said twice.

    >>> document_key("sub/a.vrt", "sub/a.vrt:d1", True), document_key("a.xml", "a.xml", True)
    ('sub/a.vrt#d1', 'a.xml')
    >>> document_key("/x/a.vrt", "/x/a.vrt:d1", False), document_key(None, "3", False, sentence=7)
    ('d1', '3#s7')
    """
    last = None if sentence is None else f"s{sentence}"
    if file is None:
        return unit_key(document, last)
    own = None if document == file else document.removeprefix(f"{file}:")
    return unit_key(file, own, last) if in_folder else unit_key("1" if own is None else own, last)


def different_keys(keys: Iterable[str]) -> list[str]:
    """Return the keys made different: of equal ones, the second gets ``#2``, and so on.

    >>> different_keys(["d", "d", "e"])
    ['d', 'd#2', 'e']
    """
    found: list[str] = []
    last: dict[str, int] = {}
    taken: set[str] = set()
    for key in keys:
        number = last.get(key, 0) + 1
        while (name := key if number == 1 else f"{key}#{number}") in taken:
            number += 1
        last[key] = number
        taken.add(name)
        found.append(name)
    return found


def joined(units: Iterable[Unit]) -> list[Unit]:
    """Return the units with those of equal keys added together, in the order in which keys first occur."""
    by_key: dict[str, list[Unit]] = {}
    for unit in units:
        by_key.setdefault(unit.key, []).append(unit)
    return [
        alike[0]
        if len(alike) == 1
        else Unit(
            key,
            sum(unit.documents for unit in alike),
            sum(unit.tokens for unit in alike),
            summed_tallies(alike),
        )
        for key, alike in by_key.items()
    ]


def summed_tallies(units: Sequence[Unit]) -> dict[tuple[str, str], Tally]:
    """Return the sums of the tallies of units."""
    different = {id(unit.tallies): unit.tallies for unit in units}
    times = Counter(id(unit.tallies) for unit in units)
    total: dict[tuple[str, str], Tally] = {}
    for number, tallies in different.items():
        for place, tally in tallies.items():
            add_tally(total, place, tally, times[number])
    return total


def joined_corpora(own: Units, other: Units) -> Units:
    """Return the units of two corpora together; if they are not units of the same kind, the whole as one unit."""
    by = own.by if own.by == other.by else CORPUS
    keys: list[str] = [*own.keys, *other.keys]
    if by == CORPUS:
        keys = [CORPUS] * len(keys)
    elif by in (DOCUMENT, SENTENCE):
        keys = different_keys(keys)
    names = (
        dict(zip(own.keys, keys, strict=False)),
        dict(zip(other.keys, keys[len(own.units) :], strict=True)),
    )

    def together(*sides: Sequence[Unit]) -> list[Unit]:
        return joined(
            unit._replace(key=of_side[unit.key])
            for of_side, units in zip(names, sides, strict=True)
            for unit in units
        )

    groups = {
        key: {
            value: together(values.get(value, ()), other.groups[key].get(value, ()))
            for value in sorted({*values, *other.groups[key]})
        }
        for key, values in own.groups.items()
        if key in other.groups
    }
    return Units(by, together(own.units, other.units), groups)
