"""Units: their keys, their counts, and how they add up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from clueval.metrics.counting import Tally

DOCUMENT = "document"
SENTENCE = "sentence"
CORPUS = "corpus"
"""What the whole corpus as one unit is called, where no units were asked for."""


class Unit(NamedTuple):
    """What was counted in one unit; a tally stands under the names of its metric and its sequence."""

    key: str
    documents: int
    tokens: int
    tallies: Mapping[tuple[str, str], Tally]


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


def unit_key(*parts: str | None) -> str:
    """Return the key of a unit from its parts: file, document, sentence; those that are None are left out.

    >>> unit_key(None, "d1", "s7"), unit_key("sub/a.vrt", "d#1", None)
    ('d1#s7', 'sub/a.vrt#d##1')
    """
    return "#".join(part.replace("#", "##") for part in parts if part is not None)


def document_key(file: str | None, document: str) -> str:
    """Return the key of a document; its id may begin with the name of its file, which is said only once.

    >>> document_key("sub/a.vrt", "sub/a.vrt:d1"), document_key("a.xml", "a.xml"), document_key(None, "3")
    ('sub/a.vrt#d1', 'a.xml', '3')
    """
    if file is None:
        return unit_key(document)
    if document == file:
        return unit_key(file)
    return unit_key(file, document.removeprefix(f"{file}:"))


def numbered(units: Iterable[Unit]) -> list[Unit]:
    """Return the units with different keys: of equal ones, the second gets ``#2``, and so on.

    >>> [unit.key for unit in numbered([Unit("d", 1, 5, {}), Unit("d", 1, 5, {}), Unit("e", 1, 5, {})])]
    ['d', 'd#2', 'e']
    """
    found: list[Unit] = []
    last: dict[str, int] = {}
    taken: set[str] = set()
    for unit in units:
        number = last.get(unit.key, 0) + 1
        key = unit.key if number == 1 else f"{unit.key}#{number}"
        while key in taken:
            number += 1
            key = f"{unit.key}#{number}"
        last[unit.key] = number
        taken.add(key)
        found.append(unit if key == unit.key else unit._replace(key=key))
    return found


def joined(units: Iterable[Unit]) -> list[Unit]:
    """Return the units with those of equal keys added together, in the order in which keys first occur."""
    found: dict[str, Unit] = {}
    for unit in units:
        own = found.get(unit.key)
        found[unit.key] = unit if own is None else added(own, unit)
    return list(found.values())


def added(own: Unit, other: Unit) -> Unit:
    """Return two units as one, with the key of the first."""
    tallies = {place: Tally(tally) for place, tally in own.tallies.items()}
    for place, tally in other.tallies.items():
        tallies.setdefault(place, Tally()).update(tally)
    return Unit(own.key, own.documents + other.documents, own.tokens + other.tokens, tallies)


def settled(by: str, units: Iterable[Unit]) -> list[Unit]:
    """Return units of a corpus as they are reported: with different keys, those of metadata by their value."""
    return numbered(units) if by in (DOCUMENT, SENTENCE) else joined(units)
