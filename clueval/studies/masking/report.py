"""The masking report: the result of metric `masking` with its leaks, riskiest first, in all forms, and their decisions.

The place of a leak is its document, the layer or annotator of its mention, and the characters of the mention; that of a
string leak has the layer ``*``. The spans concerned are the mentions with this range (side ``gold``) and the masks that
share characters with it (side ``predicted``, with their labels or placeholders), so that a decision becomes stale if
more or less of the mention can be read. With a string leak they are the mentions whose words it has (see
`string_fingerprints`).

A mention whose leak is ``harmless`` counts as protected. One that is an error of the ``annotation`` is not counted, as
if a filter excluded it, and its words are no error of precision. A string leak that is ``harmless`` is not counted; one
with another choice stays, since gold lacks a mention there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import starmap
from operator import attrgetter
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from clueval.core.case import Where
from clueval.core.document import Pair
from clueval.core.metric import Tally
from clueval.files.errors import UsageError, warn
from clueval.files.opening import tsv_line
from clueval.files.writing import whole_file
from clueval.metrics import with_settings
from clueval.metrics.masking import Masking
from clueval.metrics.masking.exposure import Examination, Judged, Masks, risk_by
from clueval.metrics.masking.text import Range
from clueval.reports import Sheet
from clueval.reports.forms import guarded
from clueval.reports.language import numeral, phrase
from clueval.reports.place import ANY_LAYER, Facet, MarkKind, Place, rows_of
from clueval.reports.table import Table
from clueval.results.result import Result
from clueval.results.signature import Signature
from clueval.studies.decisions import (
    ANNOTATION,
    UNCLEAR,
    PlaceDecision,
    PlaceDecisions,
    PlaceKey,
    ReportWithDecisions,
)
from clueval.studies.masking import limits, words
from clueval.studies.masking.leaks import (
    Inconsistent,
    Leak,
    Listed,
    StringLeak,
    fingerprints,
    string_fingerprints,
)

REVIEWED = "reviewed"
"""The name of the metric in reports."""

HARMLESS = "harmless"
CHOICES = ("leak", HARMLESS, ANNOTATION, UNCLEAR)


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
        if examination is None:
            return None
        text, masks = examination.text, examination.masks

        def holds(annotator: str, place: Range, spans: str) -> str:
            at = examination.document.id, annotator, *text.place(*place)
            return _decision(self.decisions, at, spans).holds

        judged: dict[str, list[Judged]] = {}
        for annotator, of_view in examination.judged.items():
            choices = {
                place: holds(annotator, place, spans) for place, spans in fingerprints(masks, of_view).items()
            }
            judged[annotator] = [_as_decided(each, choices, masks) for each in of_view]
        strings = [
            found
            for found, spans in string_fingerprints(examination)
            if holds(ANY_LAYER, (found.start, found.end), spans) != HARMLESS
        ]
        return replace(examination, judged=judged, string_leaks=strings)

    def check(self, total: Tally) -> None:
        """Do nothing: `Masking` has checked the same names."""


def _as_decided(judged: Judged, choices: Mapping[Range, str], masks: Masks) -> Judged:
    """Return a mention as it counts with the choices that hold, by positions."""
    mention = judged.mention
    choice = choices.get((mention.span.start, mention.span.end)) if judged.exposed else None
    if choice == HARMLESS:
        return masks.judge(mention._replace(harmless=True))
    return judged._replace(mention=mention._replace(counted=False)) if choice == ANNOTATION else judged


class Review(NamedTuple):
    """What was decided about the places of a report; `places` has the state and the choice of each.

    `lines` are those of all files.
    """

    places: Mapping[PlaceKey, tuple[str, str]]
    lost: frozenset[PlaceKey]
    reviewers: frozenset[str]
    lines: Sequence[Mapping[str, Any]]

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


def _is_set_apart(leak: StringLeak) -> bool:
    """Return whether a leak is decided to be harmless, or to be an error of the annotation."""
    choice = "" if leak.decision is None else leak.decision.holds
    return choice == HARMLESS or (choice == ANNOTATION and isinstance(leak, Leak))


CONVENTION = "convention "
"""What the names of metrics that count as another program does begin with; the name of the program follows."""


@dataclass(frozen=True, repr=False)
class MaskingReport(ReportWithDecisions):
    """What was left unmasked: `result` has the figures, `leaks` each mention that is not protected, riskiest first.

    `string_leaks` are the words of mentions elsewhere in the text. `needless` are masks without any character of
    a mention, each with its text and how often it occurs, most frequent first; `inconsistent` are the entities
    whose mentions have several replacements; `aligned` is the number of redacted texts that had to be aligned,
    None if spans were masked. `set_apart` are the leaks that were decided to be none, and `review` says what was
    decided, None if no decisions were read; figures as reviewed are those of the metric `REVIEWED`. `names` are those
    of the files or folders. Without `shows_text` (see `showing`), forms and files have positions only.

    >>> from clueval import masking
    >>> gold = [{"text": "Ada met Bob", "spans": [(0, 3, "PER"), (8, 11, "PER")]}]
    >>> report = masking(gold, [[(0, 3, "MASK")]])
    >>> [leak.text for leak in report.leaks]
    ['Bob']
    """

    result: Result
    leaks: Sequence[Leak] = ()
    string_leaks: Sequence[StringLeak] = ()
    needless: Sequence[tuple[str, int]] = ()
    inconsistent: Sequence[Inconsistent] = ()
    aligned: int | None = None
    set_apart: Sequence[StringLeak] = ()
    review: Review | None = None
    names: Sequence[str] = ()
    shows_text: bool = field(default=True, compare=False)

    has_sign_off: ClassVar[bool] = True
    places_on_screen: ClassVar[int] = 0  # the first tables list them

    @property
    def signature(self) -> Signature:  # type: ignore[override]  # it is written as text
        return self.result.signature

    @property
    def title(self) -> str:  # type: ignore[override]  # it is only read
        if self.aligned is not None:
            return phrase("What can still be read in the redacted texts?")
        return ": ".join(filter(None, (phrase("What was left unmasked"), ", ".join(self.names))))

    @property
    def kinds(self) -> Sequence[MarkKind]:  # type: ignore[override]  # as above
        return [MarkKind("masked", "", phrase("masked")), MarkKind("leak", "", phrase("can be read"))]

    @property
    def facets(self) -> Sequence[Facet]:  # type: ignore[override]  # as above
        return words.facets()

    @property
    def choices(self) -> Sequence[tuple[str, str]]:  # type: ignore[override]  # as above
        choices = choices_in_words() | {"leak": phrase("leak: it must be masked")}
        return list(choices.items())

    @property
    def store(self) -> str:  # type: ignore[override]  # as above
        return f"masking.html {', '.join(self.names)}"

    @property
    def decision_lines(self) -> Sequence[Mapping[str, str | int]]:  # type: ignore[override]  # as above
        return () if self.review is None else self.review.lines

    @property
    def metric(self) -> Masking:
        """The metric, with its settings."""
        metric = self.result.plan.metrics[0]
        assert isinstance(metric, Masking)
        return metric

    @property
    def reports(self) -> Mapping[str, Mapping[str, Any]]:
        """The report of each sequence, with the figures of other programs' conventions in that of the first."""
        reports: dict[str, Any] = dict(self.result.metrics["masking"])
        if reports and (conventions := self._conventions()):
            first = next(iter(reports))
            reports[first] = {**reports[first], "conventions": conventions}
        return reports

    def _conventions(self) -> dict[str, Any]:
        return {
            name.removeprefix(CONVENTION): section
            for name, sections in self.result.metrics.items()
            if name.startswith(CONVENTION)
            for section in sections.values()
        }

    @property
    def mentions(self) -> int:
        """The number of mentions that must be masked."""
        return sum(figures["classes"]["all"]["mentions"] for figures in self.reports.values())

    @property
    def documents_to_review(self) -> list[words.DocumentToReview]:
        """The documents with leaks, riskiest first."""
        return words.documents_of(self.leaks, risk_by(self.metric.risk_order))

    def verdict(self) -> str:
        if not self.result.documents:
            return phrase("no documents, so nothing was checked")
        return words.verdict_of(self.reports, self.metric.confidence)

    def facts(self) -> Iterator[str]:
        return self.result.facts()

    def remarks(self) -> Iterator[str]:
        """Yield the sentences on documents and persons, what was decided, and what was read."""
        confidence = self.metric.confidence
        of_annotators = bool(self.metric.annotators)
        yield from words.sentences_of(self.reports, confidence, of_annotators=of_annotators)
        if self.review is not None:
            reviewed = self.result.metrics[REVIEWED]
            for sentence in words.sentences_of(reviewed, confidence, of_annotators=of_annotators):
                yield phrase("as reviewed, {sentence}", sentence=sentence)
            yield phrase("decisions: {said}", said=self.review.in_words())
        yield from self.result.remarks()

    def tables(self) -> Iterator[Table]:
        """Yield the figures, the documents to review, what was masked without need, conventions of other programs."""
        betas = self.metric.beta
        for name, figures in self.reports.items():
            yield from words.tables_of(name, figures, betas)
        for name, figures in self.result.metrics.get(REVIEWED, {}).items():
            yield from words.tables_of(phrase("{layer}, as reviewed", layer=name), figures, betas)
        if documents := self.documents_to_review:
            yield words.documents_table(documents)
        yield from self._breakdowns()
        if self.shows_text and self.needless:
            yield words.needless_table(self.needless)
        if self.shows_text and self.inconsistent:
            yield words.inconsistent_table(self.inconsistent)
        yield from starmap(words.convention_table, self._conventions().items())

    def first_tables(self, tables: Iterable[Table]) -> Iterator[Table]:
        """Yield the first leaks, then the main figures of the classes and of break-downs."""
        if self.leaks:
            yield words.first_leaks(self.leaks, text=self.shows_text)
        for name, figures in self.reports.items():
            yield words.first_classes(name, figures["classes"])
        yield from self._breakdowns()
        yield from starmap(words.convention_table, self._conventions().items())

    def _breakdowns(self) -> Iterator[Table]:
        for key, groups in (self.result.groups or {}).items():
            yield from words.groups_table(key, groups)

    def places(self) -> Iterator[Place]:
        """Yield the places of leaks, riskiest first, then of string leaks; those that are set apart come last."""
        places: dict[PlaceKey, list[StringLeak]] = {}
        for leak in (*self.leaks, *self.string_leaks, *self.set_apart):
            places.setdefault(leak.at, []).append(leak)
        return (words.place_of(leaks, text=self.shows_text) for leaks in places.values())

    def sheets(self) -> Iterator[Sheet]:
        """Yield the figures, the documents to review, the leaks, the string leaks, and how it was counted."""
        head = self.title, self.verdict(), *self.remarks()
        yield Sheet("Summary", lines=head, tables=self.tables())
        documents = (document.cells() for document in self.documents_to_review)
        yield Sheet("Documents", columns=words.DOCUMENT_COLUMNS, rows=documents)
        places = list(self.places())
        for name, of_strings in (("Leaks", False), ("Strings", True)):
            listed = [place for place in places if (place.layer == ANY_LAYER) == of_strings]
            yield Sheet(name, *rows_of(listed, self.facets))
        yield Sheet("Settings", lines=[*self.facts(), *str(self.signature).split("|")])

    def content(self) -> dict[str, Any]:
        """Everything as plain dictionaries, lists, strings and numbers; leaks have positions, no text."""
        report = self.result.content()
        report["metrics"] = {**_without_conventions(report["metrics"]), "masking": dict(self.reports)}
        if "by" in report:
            report["by"] = {
                key: {
                    value: {**group, "metrics": _without_conventions(group["metrics"])}
                    for value, group in groups.items()
                }
                for key, groups in report["by"].items()
            }
        report["leaks"] = [leak.to_dict() for leak in self.leaks]
        report["string_leaks"] = [leak.to_dict() for leak in self.string_leaks]
        if self.review is not None:
            report["set_apart"] = [leak.to_dict() for leak in self.set_apart]
            report["decisions"] = self.review.to_dict()
        return report

    def scores(self) -> dict[str, float]:
        """Return all rates by short paths, as `Result.scores` does."""
        return {path: rate for path, rate in self.result.scores().items() if CONVENTION not in path}

    def showing(self, *, text: bool) -> MaskingReport:
        """Return the report, with texts of the corpus only if it has them and `text` is true."""
        return replace(self, shows_text=self.shows_text and text)

    def write_documents(self, path: str | Path) -> None:
        """Write the documents to review, riskiest first, as tab-separated values. Raises `FileError`."""
        with whole_file(path) as file:
            for row in (words.DOCUMENT_COLUMNS, *(document.cells() for document in self.documents_to_review)):
                file.write(tsv_line(map(guarded, row)) + "\n")

    def failures(
        self,
        fail_under: Iterable[str] | str = (),
        fail_over: Iterable[str] | str = (),
        *,
        fail_on_leak: bool = False,
        reviewed: bool = False,
    ) -> list[str]:
        """A line for each limit, such as ``entity_recall[high]=1``, that the figures do not keep.

        A limit is a number or a percentage (``mention_recall=99%``). With `fail_on_leak`, also a line with the number
        of leaks, if there are any: mentions that must be masked and can be read, wholly or in part; `leaks` lists them.
        If there is no mention that must be masked, `fail_on_leak` gives a line, too, because nothing was checked.
        With `reviewed`, the figures are those as reviewed. Raises `UsageError` for a limit that cannot be read, for an
        unknown figure, and for `reviewed` if no decisions were read.
        """
        if reviewed and self.review is None:
            raise UsageError("no decisions were given", advice="masking(..., decisions='decisions.tsv')")
        figures = self.result.metrics[REVIEWED] if reviewed else self.reports
        leaks: Iterable[str] = limits.leaks_in_words(figures) if fail_on_leak else ()
        if fail_on_leak and not self.mentions:
            nothing_checked = phrase(
                "there is no mention that must be masked, so nothing was checked: check the gold file, its layer "
                "(layers=...) and keep=..."
            )
            leaks = [nothing_checked if self.result.documents else self.verdict()]
        return [*leaks, *limits.failures(figures, fail_under, fail_over, self.metric.confidence)]

    def aligned_in_words(self) -> str:
        """Say how many redacted texts had to be aligned."""
        if not self.aligned:
            return phrase("no redacted text had to be aligned")
        return phrase(
            "{n} redacted text had to be aligned; in these texts about 0.3 % of the mentions have a wrong status, with "
            "surrogates 1.6 %|"
            "{n} redacted texts had to be aligned; in these texts about 0.3 % of the mentions have a wrong status, "
            "with surrogates 1.6 %",
            n=self.aligned,
        )

    def __repr__(self) -> str:
        return f"<MaskingReport: {self.verdict()}; print(report) shows the tables>"


def _without_conventions(metrics: Mapping[str, Any]) -> dict[str, Any]:
    """Return the reports by metric without those of other programs."""
    return {name: report for name, report in metrics.items() if not name.startswith(CONVENTION)}


def report_of(
    result: Result,
    listed: Sequence[Listed],
    decisions: PlaceDecisions | None = None,
    names: Sequence[str] = (),
) -> MaskingReport:
    """Return the report of what was counted and listed, with decisions applied; `names` are those of the sides.

    Raises `UsageError` for conflicts of decisions, and warns if some are stale or lost.
    """
    metric = result.plan.metrics[0]
    assert isinstance(metric, Masking)
    signature = Signature({**result.signature.choices, "metrics": with_settings(metric)})
    risk = risk_by(metric.risk_order)
    leaks = sorted((leak for lists in listed for leak in lists.leaks), key=lambda leak: leak.order(risk))
    strings = sorted(_string_leaks(listed), key=attrgetter("at"))
    for layer in sorted({lists.sequence for lists in listed if lists.leaks} - {*result.metrics["masking"]}):
        warn(f"no rate and no limit counts the leaks of documents that have the layer {layer!r} alone")
    needless = Counter(text for lists in listed for text in lists.needless)
    set_apart: list[StringLeak] = []
    review = None
    if decisions is not None:
        for sequence in {lists.sequence for lists in listed}:
            decisions.require_distinct(lists.document for lists in listed if lists.sequence == sequence)
        leaks = [replace(leak, decision=_decision(decisions, leak.at, leak.fingerprint)) for leak in leaks]
        strings = [
            replace(leak, decision=_decision(decisions, leak.at, leak.fingerprint)) for leak in strings
        ]
        decisions.checked()
        decisions.warn_of_unused()
        places = {
            leak.at: (leak.decision.state, leak.decision.choice)
            for leak in (*leaks, *strings)
            if leak.decision is not None
        }
        reviewers = frozenset(decisions.reviewers)
        review = Review(places, frozenset(decisions.lost), reviewers, tuple(decisions.rows()))
        signature = signature.citing(reviewed=decisions.in_signature)
        set_apart = [leak for leak in (*leaks, *strings) if _is_set_apart(leak)]
        leaks = [leak for leak in leaks if not _is_set_apart(leak)]
        strings = [leak for leak in strings if not _is_set_apart(leak)]
    return MaskingReport(
        replace(result, signature=signature),
        leaks,
        strings,
        sorted(needless.items(), key=lambda entry: (-entry[1], entry[0])),
        sorted(entity for lists in listed for entity in lists.inconsistent),
        set_apart=set_apart,
        review=review,
        names=names,
    )


def _string_leaks(listed: Sequence[Listed]) -> Iterator[StringLeak]:
    """Yield the string leaks of each place: as many as the sequence has that has most of them there."""
    places: dict[PlaceKey, dict[str, list[StringLeak]]] = {}
    for lists in listed:
        for leak in lists.string_leaks:
            places.setdefault(leak.at, {}).setdefault(lists.sequence, []).append(leak)
    for by_sequence in places.values():
        most = max(map(len, by_sequence.values()))
        yield from [leaks for leaks in by_sequence.values() if len(leaks) == most][-1]
