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
from typing import Any, ClassVar, NamedTuple, TypeVar

from clueval.core.case import Where
from clueval.core.document import Pair
from clueval.core.tally import Tally
from clueval.metrics.masking import Masking
from clueval.metrics.masking.exposure import Examination
from clueval.metrics.masking.mention import Mention
from clueval.metrics.masking.text import PositionWeights, Range
from clueval.reports.language import numeral, phrase
from clueval.reports.place import ANY_LAYER, Place
from clueval.studies.decisions import ANNOTATION, UNCLEAR, PlaceDecision, PlaceDecisions, PlaceKey
from clueval.studies.masking.leaks import Leak, StringLeak, fingerprint_of, fingerprints

REVIEWED = "reviewed"
"""The name of the metric in reports."""

HARMLESS = "harmless"
CHOICES = ("leak", HARMLESS, ANNOTATION, UNCLEAR)

AnyLeak = TypeVar("AnyLeak", bound=StringLeak)


def _decision(decisions: PlaceDecisions, at: PlaceKey, spans: str) -> PlaceDecision:
    return decisions.at(Place(at, spans, (), ()))


@dataclass(frozen=True, slots=True)
class ReviewedMasking(Masking):
    """The metric, counting as decided."""

    name: ClassVar[str] = REVIEWED
    zero: ClassVar[str] = "0"  # said once in the signature, by `Masking`
    decisions: PlaceDecisions = field(default_factory=lambda: PlaceDecisions(()), compare=False, repr=False)

    def examine(
        self, pair: Pair, sequence: str, where: Where, *, in_characters: bool = False
    ) -> Examination | None:
        examination = Masking.examine(self, pair, sequence, where, in_characters=in_characters)
        return None if examination is None else _Reviewed(**vars(examination), decisions=self.decisions)

    def check(self, total: Tally) -> None:
        """Do nothing: `Masking` has checked the same names."""


@dataclass(frozen=True)
class _Reviewed(Examination):
    decisions: PlaceDecisions = field(default_factory=lambda: PlaceDecisions(()))

    def mentions(self, annotator: str) -> Iterator[Mention]:
        judged = [self.masks.judge(mention) for mention in super().mentions(annotator)]
        choices = {}
        for place, spans in fingerprints(self.masks, judged).items():
            at = self.document.id, annotator, *self.text.place(*place)
            choices[place] = _decision(self.decisions, at, spans).holds
        for mention, _, is_exposed, *_ in judged:
            choice = choices.get((mention.span.start, mention.span.end), "") if is_exposed else ""
            if choice == HARMLESS:
                mention = mention._replace(harmless=True)
            yield mention._replace(counted=False) if choice == ANNOTATION else mention

    def string_leaks(self, strings: Iterable[tuple[str, ...]], mentioned: PositionWeights) -> Iterator[Range]:
        for place in super().string_leaks(strings, mentioned):
            at = self.document.id, ANY_LAYER, *self.text.place(*place)
            if _decision(self.decisions, at, fingerprint_of(self.masks, *place)).holds != HARMLESS:
                yield place


class Review(NamedTuple):
    """What was decided about the places of a report; `places` has the state and the choice of each.

    `lines` are those of all files.
    """

    fingerprint: str
    places: Mapping[PlaceKey, tuple[str, str]]
    lost: frozenset[PlaceKey]
    reviewers: frozenset[str]
    lines: Sequence[Mapping[str, Any]]

    @classmethod
    def of(cls, leaks: Iterable[StringLeak], decisions: PlaceDecisions) -> Review:
        """Return it for leaks with their decisions."""
        places = {}
        for leak in leaks:
            if leak.decision is not None:
                places[leak.at] = leak.decision.state, leak.decision.choice
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
            "choices": {choice: choices[choice] for choice in CHOICES},
            "reviewers": sorted(self.reviewers),
        }

    def in_words(self) -> str:
        """Return how many places are decided and how many are not, and the names of the reviewers."""
        n, choice_words = self.to_dict(), choices_in_words()
        choices = [
            f"{numeral(number)} {choice_words[choice]}" for choice, number in n["choices"].items() if number
        ]
        decided = phrase(
            "{decided} of {n} place decided|{decided} of {n} places decided",
            decided=n["decided"],
            n=n["places"],
        )
        decided += f" ({', '.join(choices)})" if choices else ""
        left = phrase("{number} not decided", number=n["places"] - n["decided"])
        words = {"stale": phrase("stale"), "conflict": phrase("in conflict"), "lost": phrase("lost")}
        others = [f"{numeral(n[state])} {words[state]}" for state in words if n[state]]
        reviewers = phrase("reviewers: {names}", names=", ".join(n["reviewers"]) or phrase("none named"))
        return "; ".join(filter(None, (f"{decided}, {left}", ", ".join(others), reviewers)))


def choices_in_words() -> dict[str, str]:
    """Return what may be decided about a leak, in the language of the context."""
    return {
        "leak": phrase("leak"),
        HARMLESS: phrase("harmless"),
        ANNOTATION: phrase("gold is wrong"),
        UNCLEAR: phrase("unclear"),
    }


def with_decision(leak: AnyLeak, decisions: PlaceDecisions) -> AnyLeak:
    """Return a leak with what was decided about it."""
    return replace(leak, decision=_decision(decisions, leak.at, leak.fingerprint))


def is_set_apart(leak: StringLeak) -> bool:
    """Return whether a leak is decided to be harmless, or to be an error of the annotation."""
    choice = "" if leak.decision is None else leak.decision.holds
    return choice == HARMLESS or (choice == ANNOTATION and isinstance(leak, Leak))
