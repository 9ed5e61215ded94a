"""`curate`: one gold out of the spans of many annotators, by votes, by union, or by decisions about places.

Decisions (`clueval.studies.decisions`) choose at a place the spans of one annotator, or ``none`` of those on
which the annotators differ; a place that is ``unclear`` stays undecided. If one of them is called ``gold``, it stays
as it is where nothing is decided, unless votes or a union are asked for. Annotators called ``gold`` and ``predicted``
are the sides of a page of errors, whose places may be parts of components, or of several layers.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, chain
from typing import Any, Literal, NamedTuple

from clueval.core.bag import Read
from clueval.core.count import Plan
from clueval.core.document import Document, Group, Pair
from clueval.core.span import NOTHING, SIDES, Frozen, Span, components
from clueval.files.errors import UsageError, warn
from clueval.files.options import checked_call
from clueval.formats.options import USUAL_READING, Reading
from clueval.reports.place import Place
from clueval.studies.agreement.annotators import NOTHING_SHARED, PAIRING, Annotators, annotators_of
from clueval.studies.agreement.conventions import Mark, Readings, parts_of, spans_of
from clueval.studies.agreement.conventions import Reading as Marks
from clueval.studies.agreement.metric import AgreementMetric, Annotated
from clueval.studies.agreement.places import (
    AnnotatedText,
    Disagreement,
    Documents,
    ReportOfAnnotators,
    are_different,
    parts_in,
    range_of,
    sequences_in,
)
from clueval.studies.decisions import (
    BOTH,
    NONE,
    UNCLEAR,
    Paths,
    PlaceDecisions,
    decisions_of,
    require_no_choices,
)
from clueval.studies.errors.report import changed_layers, place_of
from clueval.studies.errors.search import Choice, Search

Votes = int | Literal["majority", "all"]


class Outcome(NamedTuple):
    """What is kept of a component, and what is undecided, outvoted or tied."""

    kept: Marks
    undecided: Sequence[Readings] = ()
    outvoted: Sequence[Readings] = ()
    ties: Sequence[Readings] = ()


def voted(readings: Readings, votes: Votes) -> Outcome:
    """Return the outcome of the votes on a component.

    Spans that all annotators have are kept. Other spans with enough votes are kept, unless they overlap one with enough
    votes. Of the rest, spans that no kept span overlaps, and those with enough votes, are undecided or, by majority and
    where more than half of the annotators have nothing, outvoted.

    >>> one, other = (((0, 2),), "PER"), (((0, 2),), "ORG")
    >>> voted([(one,), (one,), (other,)], "majority").kept == (one,)
    True
    >>> nested = (((0, 15),), "ORG"), (((12, 15),), "LOC")
    >>> voted([nested, nested], "majority").kept == nested
    True
    """
    present = [reading for reading in readings if reading is not None]
    m = len(present)
    needed = m // 2 + 1 if votes == "majority" else m if votes == "all" else votes
    counts = Counter(mark for reading in present for mark in reading)
    enough = sorted(mark for mark, n in counts.items() if n >= needed)
    alone = [group[0][2] for group in components(sorted(map(_row, enough))) if len(group) == 1]
    kept = sorted({*alone, *(mark for mark in enough if counts[mark] == m)})
    contested = set(enough).difference(kept)

    rows = [_row(mark) for mark in kept]
    ranges = {(start, end) for start, end, _ in rows}
    starts = [start for start, *_ in rows]
    reach = list(accumulate((end for _, end, _ in rows), max))

    def is_left(mark: Mark) -> bool:
        """Return whether no kept mark overlaps this one, or it is contested."""
        start, end, _ = _row(mark)
        before = bisect_left(starts, max(end, start + 1)) - 1
        is_covered = (start, end) in ranges or (before >= 0 and reach[before] > start)
        return mark in contested or not is_covered

    undecided: list[Readings] = []
    outvoted: list[Readings] = []
    for left in parts_of(
        [None if reading is None else tuple(filter(is_left, reading)) for reading in readings]
    ):
        nothing = sum(reading == () for reading in left)
        (outvoted if votes == "majority" and 2 * nothing > m else undecided).append(left)
    return Outcome(tuple(kept), undecided, outvoted)


def _row(mark: Mark) -> tuple[int, int, Mark]:
    return mark[0][0][0], mark[0][-1][1], mark


def united(readings: Readings) -> Outcome:
    """Return a component as one span, with the label that has the most positions over all annotators.

    Of several such labels the one that begins first is taken, then that of the first annotator; this is a tie.

    >>> united([((((0, 2),), "A"),), ((((1, 3),), "B"),), ((((1, 3),), "A"),)]).kept
    ((((0, 3),), 'A'),)
    """
    positions: Counter[str] = Counter()
    first: dict[str, tuple[int, int]] = {}
    for number, reading in enumerate(readings):
        for fragments, label in reading or ():
            positions[label] += sum(end - start for start, end in fragments)
            first[label] = min(first.get(label, (fragments[0][0], number)), (fragments[0][0], number))
    most = max(positions.values())
    best = sorted(
        (label for label, n in positions.items() if n == most), key=lambda label: (*first[label], label)
    )
    kept = ((range_of(readings),), best[0])
    return Outcome((kept,), ties=[readings] if len(best) > 1 else [])


# --- documents


@dataclass(frozen=True, slots=True)
class Curated:
    """One document with the spans that are kept, and the places where the votes do not decide.

    Attributes:
        document: the text, with the kept spans of each layer.
        undecided: places without enough votes for any span.
        outvoted: places where more than half of the annotators have nothing.
        ties: places of a union at which two labels have equally many positions.
    """

    document: Document
    undecided: tuple[Disagreement, ...] = ()
    outvoted: tuple[Disagreement, ...] = ()
    ties: tuple[Disagreement, ...] = ()

    @property
    def listed(self) -> list[Disagreement]:
        """All these places, by position."""
        return sorted(
            (*self.undecided, *self.outvoted, *self.ties), key=lambda place: (place.start, place.end)
        )


class UndecidedPlaces(ReportOfAnnotators):
    """The places that were undecided, outvoted or tied, in the columns of those of `clueval.agree`."""

    title = "Undecided places"
    signature = ""

    def __init__(
        self,
        names: Sequence[str],
        places: Sequence[Place],
        decision_lines: Sequence[Mapping[str, str | int]] = (),
    ) -> None:
        super().__init__(names)
        self._places, self.decision_lines = places, decision_lines

    def places(self) -> Iterable[Place]:
        return self._places

    def content(self) -> dict[str, Any]:
        """Return all places as plain data, with texts of the corpus."""
        return {"places": self.rows()}


class Curation(Iterator[Curated]):
    """The documents that `curate` yields. `read` has what was read of the files so far, `decisions` those of its files.

    Raises `UsageError` for an annotator with the name of a choice, `FormatError` for a choice that is not known.
    """

    def __init__(
        self,
        annotators: Annotators,
        votes: Votes | None,
        decisions: PlaceDecisions | None,
        *,
        gold_stays: bool,
    ) -> None:
        self.names, self.read, self._votes, self.decisions = annotators.names, Read(), votes, decisions
        self._annotators = annotators
        self._gold_stays = gold_stays and decisions is not None
        self._are_sides = decisions is not None and {*self.names} == {*SIDES}
        if decisions is not None:
            require_no_choices(self.names)
            choices = [*self.names, NONE, UNCLEAR, *((BOTH,) if self._are_sides else ())]
            hint = (
                ""
                if self._are_sides
                else "; for decisions about errors, name the files gold=... predicted=..."
            )
            decisions.require_choices(choices, hint)
        metric = AgreementMetric(self.names)
        texts = Annotated(annotators, metric, Plan((metric,), sides=annotators.sides)).texts(self.read)
        self._documents = self._curated(texts)

    def __next__(self) -> Curated:
        return next(self._documents)

    def _curated(self, texts: Iterable[Group]) -> Iterator[Curated]:
        """Yield the document of each text. Raises `UsageError` for conflicts of decisions."""
        ids: list[str] = []
        alone = {*self.names}
        for group in texts:
            ids.append(group.first.id)
            names = {name for name, side in zip(self.names, group.sides, strict=True) if side is not None}
            present = len(names)
            if present == 1:
                yield Curated(replace(group.first, tags=Frozen()))
                continue
            alone -= names
            are_enough = not isinstance(self._votes, int) or self._votes <= present
            text = AnnotatedText(group.sides, self.names)
            sides = self._decided_documents(group.sides)
            layers: dict[str, list[Span]] = {}
            listed: dict[str, list[Disagreement]] = {"undecided": [], "outvoted": [], "ties": []}
            for layer in sequences_in(sides):
                common, parts = parts_in(sides, layer, apart=are_enough)
                kept: list[Mark] = [(((start, end),), label) for start, end, label in common]
                for readings in parts:
                    chosen = None
                    if self.decisions and are_different(readings):
                        chosen = self._outcome_by_choice(self.decisions, text.place(layer, readings))
                    outcome = chosen or self._outcome_by_votes(readings)
                    kept += outcome.kept
                    for name, places in listed.items():
                        for part in getattr(outcome, name):
                            place = text.place(layer, part)
                            decided = self.decisions and self._outcome_by_choice(self.decisions, place)
                            if decided:  # by a table of undecided places, which may be parts of components
                                contested = {mark for reading in part for mark in reading or ()}
                                kept = [*(mark for mark in kept if mark not in contested), *decided.kept]
                            if not decided or decided.undecided:
                                (listed["undecided"] if decided else places).append(place)
                layers[layer] = self._with_features(spans_of(sorted(kept), layer), sides, layer)
            document = replace(group.first, layers=layers, tags=Frozen())
            places_of = {name: tuple(places) for name, places in listed.items()}
            yield Curated(document, **places_of)
        if ids and alone:
            self._annotators.require_paired()
            names_alone = f"no document of {', '.join(sorted(alone))} is shared"
            whose = NOTHING_SHARED if alone == {*self.names} else names_alone
            warn(f"{whose}, so that each is kept as it is ({PAIRING})")
        if self.decisions is not None:
            self.decisions.require_distinct(ids)
            self.decisions.checked()
            self.decisions.warn_of_unused()

    def _with_features(self, spans: Sequence[Span], documents: Documents, layer: str) -> list[Span]:
        """Return spans with the features that all spans with their ranges and label have; others are passed over."""
        present = [document for document in documents if document is not None]
        if all(document.rows_in(layer) is not None for document in present):
            return list(spans)
        features_of: dict[Mark, list[Mapping[str, Any]]] = {}
        for span in chain.from_iterable(document.layers.get(layer, ()) for document in present):
            features_of.setdefault((span.fragments, span.label), []).append(span.features)
        with_features = []
        for span in spans:
            first, *others = features_of.get((span.fragments, span.label), [NOTHING])
            common = {
                name: value
                for name, value in first.items()
                if all(name in other and other[name] == value for other in others)
            }
            differing = len(common.keys() ^ set().union(first, *others))
            if differing:
                self.read.passed_over["", "features that differ"] += differing
            with_features.append(replace(span, features=common) if common else span)
        return with_features

    def _outcome_by_votes(self, readings: Readings) -> Outcome:
        """Return the outcome of a component by votes, or as a union."""
        if self._votes is None:
            return united(readings)
        gold = self._gold_that_stays(dict(zip(self.names, readings, strict=True)))
        outcome = voted(readings, self._votes)
        if gold is None:
            return outcome
        left = [*outcome.undecided, *outcome.outvoted]  # as tables of undecided places have them
        if not (left and {*outcome.kept} <= {*gold}):
            listed = {mark for part in left for reading in part for mark in reading or ()}
            rest = [r and tuple(mark for mark in r if mark not in listed) for r in readings]
            left += filter(are_different, parts_of(rest))
        return Outcome(gold, left)

    def _gold_that_stays(self, readings: Mapping[str, Marks | None]) -> Marks | None:
        """Return the reading of gold, if it stays where nothing is decided; None if there is no such reading."""
        return readings.get(SIDES[0]) if self._gold_stays else None

    def _outcome_by_choice(self, decisions: PlaceDecisions, place: Disagreement) -> Outcome | None:
        """Return the outcome of a component as it was decided; None if it was not."""
        choice = decisions.at(place).holds
        if not choice:
            return None
        marks = [set(reading) for reading in place.readings.values() if reading is not None]
        common = tuple(set.intersection(*marks))
        if choice == UNCLEAR:
            gold = self._gold_that_stays(place.readings)
            return Outcome(common if gold is None else gold, undecided=[tuple(place.readings.values())])
        if choice == NONE:
            return Outcome(common)
        if choice == BOTH:
            return Outcome(tuple(set.union(*marks)))
        return Outcome(place.readings[choice] or ())

    def _decided_documents(self, documents: Documents) -> Documents:
        """Return documents in which gold and predicted agree at the places of errors that are decided."""
        by_name = dict(zip(self.names, documents, strict=True))
        gold, predicted = (by_name.get(side) for side in SIDES)
        if not self._are_sides or self._votes is None or gold is None or predicted is None:
            return documents
        assert self.decisions is not None
        layers = [dict(gold.layers), dict(predicted.layers)]
        pair = Pair(gold, predicted)
        for place in Search(Choice()).places([pair]):
            wrong = place.made()
            choice = self.decisions.at(place_of(pair, wrong)).holds
            if choice not in ("", UNCLEAR):
                changed = [
                    changed_layers(side, layers[side], other.layers, wrong, choice)
                    for side, other in enumerate((predicted, gold))
                ]
                for side, changed_side in enumerate(changed):
                    layers[side] |= changed_side
        for name, document, decided_layers in zip(SIDES, (gold, predicted), layers, strict=True):
            by_name[name] = replace(document, layers=decided_layers, tags={})
        return list(by_name.values())


@checked_call
def curate(
    sources: Any,
    *others: Any,
    votes: int | str | None = None,
    union: bool = False,
    decisions: Paths | None = None,
    conflicts: str | None = None,
    reading: Reading = USUAL_READING,
    **options: Any,
) -> Curation:
    """Yield the documents of all annotators with one sequence of spans per layer.

    Args:
        sources, others, reading, options: as in `clueval.agree`.
        votes: how many annotators must have marked a span for it to be kept: ``majority`` (more than half of those
            who have annotated the document; the default), ``all``, or a number. By default, an annotator called
            ``gold`` stays as it is where decisions decide nothing.
        union: keep each component as one span, whatever the votes.
        decisions: files of decisions about places, or folders, see `clueval.studies.decisions`.
        conflicts: what counts where decisions differ: ``first`` or ``last`` by time, or ``drop``; None: it is an error.

    A document of only one annotator is kept as it is. Holds one document of each annotator. Raises the same errors as
    `agree`, `FormatError` for a choice that is not known, and `UsageError` for conflicts, after the last document.
    Warns of decisions that are stale or lost, and if no document is shared.

    >>> from clueval import Document, Span
    >>> sides = {name: [Document("d", {"label": [Span(0, end, "PER")]})] for name, end in zip("abc", (2, 2, 3))}
    >>> [(span.start, span.end, span.label) for each in curate(sides) for span in each.document.layers["label"]]
    [(0, 2, 'PER')]
    """
    if union and votes is not None:
        raise UsageError("union=True and votes=... cannot be used together", advice="leave one out")
    annotators = annotators_of([sources, *others] if others else sources, reading, options, "curate")
    needed, number = None if union else _checked_votes(votes), len(annotators.names)
    if isinstance(needed, int) and needed > number:
        raise UsageError(f"votes is {needed}, but there are {number} annotators", advice="use votes='all'")
    gold_stays = votes is None and not union
    return Curation(annotators, needed, decisions_of(decisions, None, conflicts), gold_stays=gold_stays)


def _checked_votes(votes: int | str | None) -> Votes:
    """Return the votes that a span needs. Raises `UsageError` for anything but majority, all or a number."""
    if votes is None or votes == "majority":
        return "majority"
    if votes == "all":
        return "all"
    try:
        number = int(votes)
    except ValueError:
        number = 0
    if number < 1:
        raise UsageError(f"votes cannot be {votes!r}", advice="majority, all, or a number from 1 on")
    return number
