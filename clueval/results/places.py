"""The places of a bag as units of a result: which units there are, and what they are called."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import replace

from clueval.core.bag import Bag, Place
from clueval.core.count import DOCUMENT, EITHER, FEW_DOCUMENTS, SENTENCE, Plan, Unit


def settled_units(bag: Bag, plan: Plan) -> Plan:
    """Return the plan with the units that were chosen for it: sentences if these are more than the documents."""
    if plan.units != EITHER:
        return plan
    sentences = {(place.name, place.repeat, place.sentence) for place in _places(bag)}
    documents = {place[:2] for place in sentences}
    more = len(documents) < FEW_DOCUMENTS and len(sentences) > len(documents)
    return replace(plan, units=SENTENCE if more else DOCUMENT)


def _places(bag: Bag) -> Iterator[Unit]:
    for place in bag.documents:
        assert isinstance(place, Unit)
        yield place


def in_units(bag: Bag, plan: Plan, files: Sequence[str], *, in_folders: bool) -> Bag:
    """Return the bag of the documents that count, with the keys of documents as their names.

    `files` are the names of files, with which ids of documents may begin.
    """
    names: dict[tuple[str | None, int], str | None] = {}
    if plan.units in (DOCUMENT, SENTENCE):
        known = {*files}
        ids = dict.fromkeys((place.name or "", place.repeat) for place in _places(bag))
        keys = different_keys(document_key(file_in(id_, known), id_, in_folders) for id_, _ in ids)
        names = dict(zip(ids, keys, strict=True))
        are_named = all(of == (name, 1) for of, name in names.items())
        if plan.units == SENTENCE and are_named and not plan.where:  # sentences are many
            return bag

    def of(place: Place) -> Place | None:
        assert isinstance(place, Unit)
        if {*place.waits} - {*bag.layers}:
            return None
        name = names.get((place.name, place.repeat), place.name)
        sentence = place.sentence if plan.units == SENTENCE else None
        return Unit(place.values, name, sentence)

    return bag.grouped(of) if names or plan.where else bag


def file_in(id_: str, files: Set[str]) -> str | None:
    """Return the name of a file with which the id of a document begins.

    >>> file_in("sub/a.vrt:d1", {"sub/a.vrt"}), file_in("a.xml", {"a.xml"}), file_in("d1", {"a.xml"})
    ('sub/a.vrt', 'a.xml', None)
    """
    parts = id_.split(":") if files else []
    return next((name for end in range(len(parts), 0, -1) if (name := ":".join(parts[:end])) in files), None)


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
