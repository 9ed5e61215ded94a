"""Decisions about leaks, and the metric that counts as reviewed.

The place of a leak is its document, the layer or annotator of its mention, and the characters of the mention; that of a
string leak has the layer ``*``. The spans concerned are the mentions with this range (side ``gold``) and the masks that
share characters with it (side ``predicted``, with their labels or placeholders), so that a decision becomes stale if
more or less of the mention can be read.

A mention whose leak is ``harmless`` counts as protected. One that is an error of the ``annotation`` is not counted, as
if a filter excluded it, and its words are no error of precision. A string leak that is ``harmless`` is not counted; one
with another choice stays, since gold lacks a mention there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple

from clueval.findings.decisions import (
    ANNOTATION,
    ANY_LAYER,
    HARMLESS,
    LEAK_CHOICES,
    PlaceDecisions,
    PlaceKey,
    fingerprint,
)
from clueval.first.metrics.counting import Tally
from clueval.first.metrics.masking import Masking
from clueval.first.metrics.masking.exposure import Examination, Judged, masks_near
from clueval.first.metrics.masking.mention import Mention
from clueval.first.metrics.masking.weights import Range, Ranges
from clueval.first.metrics.metric import Side
from clueval.reports.language import numeral, phrase
from clueval.studies.masking.leak import Leak, StringLeak

REVIEWED = "reviewed"
"""The name of the metric in reports."""


def fingerprints_of(examination: Examination, judged: Iterable[Judged]) -> dict[Range, str]:
    """Return the fingerprints of the leaks among the mentions of one annotator, by positions."""
    mentions: dict[Range, list[Mention]] = {}
    exposed: dict[Range, None] = {}
    for mention, _, is_exposed, *_ in judged:
        place = mention.start, mention.end
        mentions.setdefault(place, []).append(mention)
        if is_exposed and mention.counted:
            exposed[place] = None
    return dict(zip(exposed, _fingerprints(examination, [mentions[each] for each in exposed]), strict=True))


def fingerprints_of_strings(examination: Examination) -> list[str]:
    """Return the fingerprints of the string leaks of a document."""
    return list(_fingerprints(examination, [], examination.string_leaks))


def _fingerprints(
    examination: Examination, found: Sequence[Sequence[Mention]], strings: Sequence[Range] = ()
) -> Iterator[str]:
    """Yield the fingerprint of each group of mentions with the same range, then of each string leak."""
    text = examination.text

    def placed(ranges: Ranges) -> Ranges:
        return tuple(text.place(*one) for one in ranges)

    places = [*((own[0].start, own[0].end) for own in found), *strings]
    near = masks_near([(place,) for place in places], examination.masks)
    for number, ((start, end), masks) in enumerate(zip(places, near, strict=True)):
        mentions = found[number] if number < len(found) else ()
        gold = [("gold", placed(mention.ranges), mention.label) for mention in mentions]
        on_it = (mask for mask in masks if any(one < end and other > start for one, other in mask.ranges))
        yield fingerprint([*gold, *(("predicted", placed(mask.ranges), mask.label) for mask in on_it)])


@dataclass(frozen=True, slots=True)
class ReviewedMasking(Masking):
    """The metric, counting as decided."""

    name: ClassVar[str] = REVIEWED
    zero: ClassVar[str] = "0"  # said once in the signature, by `Masking`
    decisions: PlaceDecisions = field(default_factory=lambda: PlaceDecisions(()), compare=False, repr=False)

    def examine(self, gold: Side, predicted: Side, *, in_characters: bool = False) -> Examination | None:
        found = Masking.examine(self, gold, predicted, in_characters=in_characters)
        return None if found is None else as_reviewed(found, self.decisions)

    def check(self, total: Tally) -> None:
        """Do nothing: `Masking` has checked the same names."""


def as_reviewed(found: Examination, decisions: PlaceDecisions) -> Examination:
    """Return the examination of a document as decided."""
    document, text = found.document.id, found.text
    mentions = {}
    for name, judged in found.judged.items():
        choices = {
            place: decisions.at(document, name, *text.place(*place), spans).holds
            for place, spans in fingerprints_of(found, judged).items()
        }
        mentions[name] = [_decided(one, choices) for one in judged]
    strings = [
        place
        for place, spans in zip(found.string_leaks, fingerprints_of_strings(found), strict=True)
        if decisions.at(document, ANY_LAYER, *text.place(*place), spans).holds != HARMLESS
    ]
    details: dict[str, Any] = {
        name: replace(value, mentions=mentions) if isinstance(value, Examination) else value
        for name, value in found.details.items()
    }
    reviewed = replace(found, mentions=mentions, details=details)
    vars(reviewed)["string_leaks"] = strings  # in the place of what would be computed
    return reviewed


def _decided(one: Judged, choices: dict[Range, str]) -> Mention:
    mention = one.mention
    choice = choices.get((mention.start, mention.end), "") if one.exposed else ""
    if choice == HARMLESS:
        return mention._replace(harmless=True)
    return mention._replace(counted=False) if choice == ANNOTATION else mention


class Review(NamedTuple):
    """What was decided about the places of a report; `places` has the state and the choice of each.

    `lines` are those of all files.
    """

    fingerprint: str
    places: Mapping[PlaceKey, tuple[str, str]]
    lost: frozenset[PlaceKey]
    reviewers: frozenset[str]
    lines: tuple[Mapping[str, Any], ...]

    @classmethod
    def of(cls, found: Iterable[Leak | StringLeak], decisions: PlaceDecisions) -> Review:
        """Return it for leaks with their decisions."""
        places = {
            leak.key: (leak.decision.state, leak.decision.choice)
            for leak in found
            if leak.decision is not None
        }
        lost, reviewers = frozenset(decisions.lost), frozenset(decisions.reviewers)
        return cls(decisions.in_signature, places, lost, reviewers, tuple(decisions.rows()))

    def __add__(self, other: Review) -> Review:  # type: ignore[override]  # tuples are not joined
        """Return that of two corpora: what both have lost is lost."""
        return self._replace(
            places={**self.places, **other.places},
            lost=self.lost & other.lost,
            reviewers=self.reviewers | other.reviewers,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers of places by state and, of those that are decided, by choice."""
        states = Counter(state for state, _ in self.places.values())
        choices = Counter(choice for state, choice in self.places.values() if state == "decided")
        return {
            "places": len(self.places),
            **{state: states[state] for state in ("decided", "undecided", "stale", "conflict")},
            "lost": len(self.lost),
            "choices": {choice: choices[choice] for choice in LEAK_CHOICES},
            "reviewers": sorted(self.reviewers),
        }

    def in_words(self) -> str:
        """Return how many places are decided and how many are not, and the names of the reviewers."""
        n = self.to_dict()
        choices = [f"{numeral(number)} {phrase(choice)}" for choice, number in n["choices"].items() if number]
        words = {"stale": "stale", "conflict": "in conflict", "lost": "lost"}
        others = [f"{numeral(n[state])} {phrase(said)}" for state, said in words.items() if n[state]]
        decided = phrase(
            "{decided} of {n} place decided|{decided} of {n} places decided",
            decided=n["decided"],
            n=n["places"],
        )
        decided += f" ({', '.join(choices)})" if choices else ""
        left = phrase("{number} not decided", number=n["places"] - n["decided"])
        names = ", ".join(n["reviewers"]) or phrase("none named")
        reviewers = phrase("reviewers: {names}", names=names)
        return "; ".join(filter(None, (f"{decided}, {left}", ", ".join(others), reviewers)))


def is_set_apart(leak: Leak | StringLeak) -> bool:
    """Return whether a leak is decided to be harmless, or to be an error of the annotation."""
    choice = "" if leak.decision is None else leak.decision.holds
    return choice == HARMLESS or (choice == ANNOTATION and isinstance(leak, Leak))
