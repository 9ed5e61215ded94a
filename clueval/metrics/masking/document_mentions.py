"""The mentions of one document that are counted, and what needs all of them: entities, documents, replacements."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import compress
from operator import not_
from typing import NamedTuple

from clueval.metrics.counting import Tally
from clueval.metrics.masking.mention import Risk


class DocumentMentions(NamedTuple):
    """Mentions of one annotator: classes, entities, whether they are exposed, and the labels of their masks."""

    kinds: list[str]
    entities: list[int]
    exposed: list[bool]
    replacements: list[str | None]

    def add(self, other: DocumentMentions) -> None:
        """Add other mentions of the document, whose entities have the same numbers."""
        for column, more in zip(self, other, strict=True):
            column += more  # type: ignore[operator]  # the columns are in the same order

    def between(self, first: int, past: int) -> DocumentMentions:
        """Return a range of the mentions."""
        return DocumentMentions(*(column[first:past] for column in self))  # type: ignore[arg-type]

    def where(self, flags: Sequence[bool]) -> DocumentMentions:
        """Return the mentions whose flags are set."""
        return DocumentMentions(*(list(compress(column, flags)) for column in self))  # type: ignore[arg-type]


def add_document(tally: Tally, views: Mapping[str, DocumentMentions], risk: Risk) -> list[str]:
    """Add all mentions of a document by annotator; return the annotators with several replacements of an entity."""
    kinds: set[str] = set()
    exposed: set[str] = set()
    several = []
    for name, found in views.items():
        kinds.update(found.kinds)
        exposed.update(compress(found.kinds, found.exposed))
        _add_entities(tally, found, risk)
        if _add_replacements(tally, found):
            several.append(name)
    for row, is_in, is_exposed in (
        (("all", ""), bool(kinds), bool(exposed)),
        *((("class", kind), True, kind in exposed) for kind in kinds),
    ):
        tally[*row, "documents"] += is_in
        tally[*row, "documents_exposed"] += is_exposed
    return several


def _add_entities(tally: Tally, found: DocumentMentions, risk: Risk) -> None:
    kinds = dict(zip(found.entities, found.kinds, strict=True))
    if len(set(found.kinds)) > 1:
        for entity, kind in zip(found.entities, found.kinds, strict=True):
            if kind != kinds[entity]:
                kinds[entity] = min(kind, kinds[entity], key=risk)
    exposed = Counter(compress(found.entities, found.exposed))
    mentions = Counter(filter(exposed.__contains__, found.entities))
    not_protected = Counter(kinds[entity] for entity in exposed)
    in_part = Counter(kinds[entity] for entity, number in exposed.items() if number < mentions[entity])
    for kind, number in Counter(kinds.values()).items():
        for row in (("all", ""), ("class", kind)):
            tally[*row, "entities"] += number
            tally[*row, "entities_protected"] += number - not_protected[kind]
            tally[*row, "entities_in_part"] += in_part[kind]


def _add_replacements(tally: Tally, found: DocumentMentions) -> int:
    """Add how consistent replacements are, as `clueval.metrics.masking.replacements.consistency_of` does.

    Returns the number of entities with several replacements.
    """
    protected = list(map(not_, found.exposed))
    entities = list(compress(found.entities, protected))
    replacements = list(compress(found.replacements, protected))
    tally["replacements", "entities"] += sum(number > 1 for number in Counter(entities).values())
    of_last = dict(zip(entities, replacements, strict=True))
    others = {pair for pair in zip(entities, replacements, strict=True) if of_last[pair[0]] != pair[1]}
    several = len({entity for entity, _ in others})
    shared = Counter(of_last.values())
    shared.update(replacement for _, replacement in others)
    tally["replacements", "several"] += several
    tally["replacements", "shared"] += sum(number > 1 for number in shared.values())
    return several
