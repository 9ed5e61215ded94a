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
    mentions = Counter(found.entities)
    exposed = Counter(compress(found.entities, found.exposed))
    kinds = dict(zip(found.entities, found.kinds, strict=True))
    if len(set(found.kinds)) > 1:
        for entity, kind in set(zip(found.entities, found.kinds, strict=True)):
            kinds[entity] = min(kind, kinds[entity], key=risk)
    numbers = Counter(
        (
            kinds[entity],
            "entities_protected" if entity not in exposed else _partly(number, exposed[entity]),
        )
        for entity, number in mentions.items()
    )
    for (kind, status), number in numbers.items():
        for row in (("all", ""), ("class", kind)):
            tally[*row, "entities"] += number
            if status:
                tally[*row, status] += number


def _add_replacements(tally: Tally, found: DocumentMentions) -> int:
    """Add how consistent replacements are, as `clueval.metrics.masking.replacements.consistency_of` does.

    Returns the number of entities with several replacements.
    """
    protected = list(map(not_, found.exposed))
    mentions = list(compress(found.entities, protected))
    different = set(zip(mentions, compress(found.replacements, protected), strict=True))
    tally["replacements", "entities"] += _repeated(Counter(mentions))
    several = _repeated(Counter(entity for entity, _ in different))
    tally["replacements", "several"] += several
    tally["replacements", "shared"] += _repeated(Counter(label for _, label in different))
    return several


def _partly(mentions: int, exposed: int) -> str:
    return "entities_in_part" if exposed < mentions else ""


def _repeated(numbers: Counter[int] | Counter[str | None]) -> int:
    return sum(number > 1 for number in numbers.values())
