"""The places of a bag as units of a result: which units there are, and what they are called."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import replace

from clueval.core.bag import Bag, Place
from clueval.core.count import DOCUMENT, EITHER, FEW_DOCUMENTS, SENTENCE, Plan, Unit
from clueval.evaluation.units.unit import different_keys, document_key


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
