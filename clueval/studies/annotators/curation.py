"""`curate`: one gold out of the spans of many annotators, by votes, by union, or by decisions about places.

Decisions (`clueval.findings.decisions`) choose at a place the spans of one annotator, or ``none`` of those on which the
annotators differ; ``both`` and ``unclear`` are those of pages of errors, whose places may be parts of components,
or of several layers. An older file has the columns document, start, end_inclusive and label. Each of its lines names a
span to keep. The lines of a component replace its outcome; a line with an empty label keeps nothing there. If there
are several sequences, a column ``sequence`` names that of each line.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from itertools import accumulate, pairwise
from operator import attrgetter
from typing import Any, Literal, NamedTuple

from clueval.arguments import checked_call
from clueval.clusters.rows import IrregularRows
from clueval.core.span import SIDES, Frozen, Span
from clueval.files.errors import FormatError, UsageError, warn
from clueval.findings.decisions import (
    BOTH,
    NONE,
    UNCLEAR,
    DecisionFiles,
    KeptSpanLine,
    PlaceDecisions,
    read_decisions,
    require_no_choices,
)
from clueval.second.formats.options import Reading
from clueval.spans.components import component_firsts
from clueval.spans.document import Document
from clueval.spans.flat import by_position
from clueval.studies.annotators.clusters import DocumentRows, results_of
from clueval.studies.annotators.places import (
    MOST_SHAPES,
    Disagreement,
    Mark,
    Marks,
    Shape,
    moved,
    placed,
    places,
    spans_of,
)
from clueval.studies.annotators.source import Group, Naming, annotators_of
from clueval.studies.annotators.study import Study, columns_of, sequences_of
from clueval.studies.corrections import as_decided

_READING = Reading()
_NAMING = Naming()


@dataclass(frozen=True, slots=True)
class Curated:
    """One document with the spans that are kept, and the places where the votes do not decide.

    Attributes:
        document: the text, with the kept spans of each layer.
        undecided: places without enough votes for any span.
        outvoted: places where more than half of the annotators have nothing.
        ties: places of a union at which two labels have equally many positions.
        annotators: the names of all annotators.
    """

    document: Document
    undecided: tuple[Disagreement, ...] = ()
    outvoted: tuple[Disagreement, ...] = ()
    ties: tuple[Disagreement, ...] = ()
    annotators: tuple[str, ...] = ()

    @property
    def listed(self) -> list[Disagreement]:
        """All these places, by position."""
        return sorted((*self.undecided, *self.outvoted, *self.ties), key=lambda each: (each.start, each.end))


@checked_call
def curate(
    sources: Any,
    *others: Any,
    votes: int | str = "majority",
    union: bool = False,
    decisions: DecisionFiles | PlaceDecisions | None = None,
    conflicts: str | None = None,
    naming: Naming = _NAMING,
    reading: Reading = _READING,
    **options: Any,
) -> Iterator[Curated]:
    """Yield the documents of all annotators with one sequence of spans per layer.

    Args:
        sources, others, naming, reading, options: as in `clueval.agree`.
        votes: how many annotators must have marked a span for it to be kept: ``majority`` (more than half of those
            who have annotated the document), ``all``, or a number.
        union: keep each component as one span, whatever the votes.
        decisions: files of decisions about places, or folders, see `clueval.findings.decisions`.
        conflicts: what counts where decisions differ: ``first`` or ``last`` by time, or ``drop``; None: it is an error.

    A document of only one annotator is kept as it is. Holds one document of each annotator. Raises the same errors as
    `agree`, `FormatError` for a choice that is not known and, in an older file of decisions, for a place that no
    annotator has marked, and `UsageError` for conflicts; the last two after the last document. Warns of decisions that
    are stale or lost.

    >>> from clueval import Span
    >>> given = {name: [Document("d", {"label": [Span(0, end, "PER")]})] for name, end in zip("abc", (2, 2, 3))}
    >>> [(span.start, span.end, span.label) for each in curate(given) for span in each.document.layers["label"]]
    [(0, 2, 'PER')]
    """
    if union and votes != "majority":
        raise UsageError("votes and union cannot be used together", advice="leave one out")
    annotators = annotators_of([sources, *others] if others else sources, naming, reading, options, "curate")
    study = Study(annotators)
    needed, number = None if union else checked_votes(votes), len(annotators.columns)
    if isinstance(needed, int) and needed > number:
        raise UsageError(f"votes is {needed}, but there are {number} annotators", advice="use votes='all'")
    outcome = lru_cache(maxsize=MOST_SHAPES)(partial(outcome_of, votes=needed))
    if decisions is None:
        of_group = partial(_of_group, study, outcome=outcome, decisions=None)
        return results_of(study, partial(_of_rows, study, outcome=outcome, votes=needed), of_group)
    is_read = isinstance(decisions, PlaceDecisions)
    found = decisions if isinstance(decisions, PlaceDecisions) else read_decisions(decisions, conflicts)
    choices = PlaceChoices(found, annotators.names, of_parts=not union)
    return _decided_groups(study, outcome, choices, has_warnings=not is_read)


def _decided_groups(
    study: Study, outcome: Callable[[Shape], VoteOutcome], choices: PlaceChoices, has_warnings: bool
) -> Iterator[Curated]:
    """Yield all documents. Raises `FormatError` for decisions about other sequences or about no place."""
    for number, group in enumerate(study.groups()):
        if not number:
            choices.table.require_sequences(sequences_of(group))
        yield _of_group(study, choices.applied(group), outcome, choices)
    choices.table.require_used()
    choices.decisions.checked()
    if has_warnings and (choices.decisions.number("stale") or choices.decisions.lost):
        warn(choices.decisions.words())


def _of_group(
    study: Study, group: Group, outcome: Callable[[Shape], VoteOutcome], decisions: PlaceChoices | None
) -> Curated:
    document = next(each for each in group if each is not None)
    outcomes = {
        sequence: [
            (
                start,
                (None if decisions is None else decisions.outcome(document.id, sequence, start, shape))
                or outcome(shape),
            )
            for start, shape in places(columns_of(group, sequence))
        ]
        for sequence in sequences_of(group)
    }
    return _of_outcomes(study, group, outcomes, {})


def _of_outcomes(
    study: Study,
    group: Group,
    outcomes: Mapping[str, Sequence[tuple[int, VoteOutcome]]],
    agreed: Mapping[str, Sequence[Span]],
) -> Curated:
    """Return a document with the outcomes of its components and the spans of other places, which all have."""
    document = next(each for each in group if each is not None)
    layers: dict[str, list[Span]] = {}
    listed: dict[str, list[Disagreement]] = {"undecided": [], "outvoted": [], "ties": []}
    for sequence, of_sequence in outcomes.items():
        layers[sequence] = [
            *agreed.get(sequence, ()),
            *(
                Span(begin, end, {sequence: label})
                for start, of_place in of_sequence
                for begin, end, label in moved(of_place.kept, start)
            ),
        ]
        if sequence in agreed:
            layers[sequence].sort(key=by_position)
        for name, found in listed.items():
            shapes = (
                (start + begin, shape)
                for start, of_place in of_sequence
                for begin, shape in getattr(of_place, name)
            )
            found.extend(placed(study.annotators.names, group, sequence, shapes))
    bare = replace(document, layers=Frozen(layers), tags=Frozen(), repaired=0, transitions=None)
    rows = {name: tuple(found) for name, found in listed.items()}
    return Curated(bare, **rows, annotators=tuple(study.annotators.names))


def _of_rows(
    study: Study, rows: DocumentRows, outcome: Callable[[Shape], VoteOutcome], votes: Votes | None
) -> Curated:
    """Return the document of the first annotator who has it, with the outcomes of the rows that differ.

    Raises `IrregularRows` if what all have is not kept, and the errors of files.
    """
    if isinstance(votes, int) and 1 < len(rows.sources) < votes:
        raise IrregularRows("what all annotators have is undecided")
    document = rows.document()
    differing = [each for part, _ in rows.parts for each in part.ranges()]
    starts = [start for start, _ in differing]

    def is_agreed(span: Span) -> bool:
        before = bisect_right(starts, span.start)
        return not before or differing[before - 1][1] <= span.start

    components = [each for _, of_part in rows.parts for each in of_part]
    outcomes = {
        layer: [(start, outcome(shape)) for own, start, shape in components if own == layer]
        for layer in document.layers
    }
    agreed = {layer: list(filter(is_agreed, spans)) for layer, spans in document.layers.items()}
    return _of_outcomes(study, (document,), outcomes, agreed)


Votes = int | Literal["majority", "all"]


class VoteOutcome(NamedTuple):
    """What is kept of a component; the places that are undecided, outvoted or tied, each with its start.

    Positions count from the start of the component.
    """

    kept: Marks
    undecided: Sequence[tuple[int, Shape]] = ()
    outvoted: Sequence[tuple[int, Shape]] = ()
    ties: Sequence[tuple[int, Shape]] = ()


def checked_votes(votes: int | str) -> Votes:
    """Return the votes that a span needs. Raises `UsageError` for anything but majority, all or a number."""
    if votes == "majority" or votes == "all":
        return votes  # type: ignore[return-value]  # one of the two literals
    try:
        number = int(votes)
    except ValueError:
        number = 0
    if number < 1:
        raise UsageError(f"votes cannot be {votes!r}", advice="majority, all, or a number from 1 on")
    return number


def outcome_of(shape: Shape, votes: Votes | None) -> VoteOutcome:
    """Return the outcome of a component: by votes, or as a union; spans of only one annotator are all kept."""
    readings = [reading for reading in shape if reading is not None]
    if len(readings) == 1:
        return VoteOutcome(readings[0])
    return united(shape) if votes is None else voted(shape, votes)


def voted(shape: Shape, votes: Votes) -> VoteOutcome:
    """Return the outcome of the votes on a component.

    Spans that all annotators have are kept. Other spans with enough votes are kept, unless they overlap one with enough
    votes. Of the rest, spans that no kept span overlaps, and those with enough votes, are undecided or, by majority and
    where more than half of the annotators have nothing, outvoted.

    >>> voted((((0, 2, "PER"),), ((0, 2, "PER"),), ((0, 2, "ORG"),)), "majority").kept
    ((0, 2, 'PER'),)
    >>> voted((((0, 15, "ORG"), (12, 15, "LOC")), ((0, 15, "ORG"), (12, 15, "LOC"))), "majority").kept
    ((0, 15, 'ORG'), (12, 15, 'LOC'))
    """
    readings = [reading for reading in shape if reading is not None]
    m = len(readings)
    counts = Counter(mark for reading in readings for mark in reading)
    enough = sorted(mark for mark, n in counts.items() if _enough(n, m, votes))
    kept = sorted({*apart(enough), *(mark for mark in enough if counts[mark] == m)})
    contested = set(enough).difference(kept)
    rest = [None if reading is None else list(_left(reading, kept, contested)) for reading in shape]
    undecided: list[tuple[int, Shape]] = []
    outvoted: list[tuple[int, Shape]] = []
    for begin, left in places(rest):
        nothing = sum(reading == () for reading in left)
        lost = votes == "majority" and 2 * nothing > m
        (outvoted if lost else undecided).append((begin, left))
    return VoteOutcome(tuple(kept), undecided, outvoted)


def _enough(n: int, m: int, votes: Votes) -> bool:
    if votes == "majority":
        return 2 * n > m
    return n >= (m if votes == "all" else votes)


def apart(marks: Sequence[Mark]) -> list[Mark]:
    """Return the marks, which must be sorted, without those that overlap another or have the range of another.

    >>> apart([(0, 2, "A"), (1, 3, "A"), (5, 6, "A"), (7, 8, "A"), (7, 8, "B")])
    [(5, 6, 'A')]
    """
    firsts = component_firsts((start, end) for start, end, _ in marks)
    return [marks[first] for first, past in pairwise([*firsts, len(marks)]) if past == first + 1]


def _left(reading: Marks, kept: Sequence[Mark], contested: Collection[Mark]) -> Iterator[Mark]:
    """Yield the marks that no kept mark overlaps, and the contested ones; the kept marks are sorted."""
    starts = [mark[0] for mark in kept]
    reach = list(accumulate((mark[1] for mark in kept), max))
    ranges = {mark[:2] for mark in kept}
    for mark in reading:
        before = bisect_left(starts, max(mark[1], mark[0] + 1)) - 1
        covered = mark[:2] in ranges or (before >= 0 and reach[before] > mark[0])
        if mark in contested or not covered:
            yield mark


def united(shape: Shape) -> VoteOutcome:
    """Return a component as one span, with the label that has the most positions over all annotators.

    Of several such labels the one that begins first is taken, then that of the first annotator; this is a tie.

    >>> united((((0, 2, "A"),), ((1, 3, "B"),), ((1, 3, "A"),))).kept
    ((0, 3, 'A'),)
    """
    positions: Counter[str] = Counter()
    first: dict[str, tuple[int, int]] = {}
    for number, reading in enumerate(shape):
        for begin, end, label in reading or ():
            positions[label] += end - begin
            first[label] = min(first.get(label, (begin, number)), (begin, number))
    most = max(positions.values())
    best = sorted(
        (label for label, n in positions.items() if n == most), key=lambda label: (*first[label], label)
    )
    marks = [mark for reading in shape for mark in reading or ()]
    kept = (0, max(mark[1] for mark in marks), best[0])
    return VoteOutcome((kept,), ties=[(0, shape)] if len(best) > 1 else [])


@dataclass(frozen=True, slots=True)
class PlaceChoices:
    """The decisions about the places of the annotators with these names: what is kept where one holds.

    With `of_parts`, those of the page of errors may be about a part of a component. Raises `UsageError` for an
    annotator with the name of a choice, `FormatError` for a choice that is not known.
    """

    decisions: PlaceDecisions
    names: Sequence[str]
    of_parts: bool = True
    table: KeptSpanTable = field(init=False)

    def __post_init__(self) -> None:
        require_no_choices(self.names)
        self.decisions.require_choices([*self.names, NONE, UNCLEAR, *((BOTH,) if self._are_sides else ())])
        object.__setattr__(self, "table", KeptSpanTable.of_lines(self.decisions.older))
        self.decisions.used_older = self.table.used

    @property
    def _are_sides(self) -> bool:
        return set(self.names) == set(SIDES)

    def applied(self, group: Group) -> Group:
        """Return a group in which gold and predicted agree at the places of errors that are decided."""
        by_name = dict(zip(self.names, group, strict=True))
        gold, predicted = by_name.get("gold"), by_name.get("predicted")
        if not self._are_sides or not self.of_parts or gold is None or predicted is None:
            return group
        by_name["gold"], by_name["predicted"] = as_decided(gold, predicted, self.decisions)
        return tuple(by_name.values())

    def outcome(self, document: str, sequence: str, start: int, shape: Shape) -> VoteOutcome | None:
        """Return the outcome of a component as it was decided; None if it was not."""
        end = start + max(mark[1] for reading in shape for mark in reading or ())
        spans = self.table.of(document, sequence, start, end)
        if spans is not None:
            return VoteOutcome(moved(spans, -start))
        readings = dict(zip(self.names, shape, strict=True))
        here = {name: reading and moved(reading, start) for name, reading in readings.items()}
        choice = self.decisions.at(document, sequence, start, end, spans_of(here)).holds
        if choice in ("", UNCLEAR):
            return None
        marks = [set(reading) for reading in shape if reading is not None]
        if choice == NONE:
            kept: Iterable[Mark] = set.intersection(*marks)
        elif choice == BOTH:
            kept = set.union(*marks)
        else:
            kept = readings[choice] or ()
        return VoteOutcome(tuple(sorted(kept)))


_START: Callable[[KeptSpanLine], int] = attrgetter("start")


@dataclass(slots=True)
class KeptSpanTable:
    """The lines of older files by document, and those that were used."""

    lines: dict[str, list[KeptSpanLine]] = field(default_factory=dict)
    used: dict[KeptSpanLine, tuple[int, int]] = field(default_factory=dict)
    _longest: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of_lines(cls, lines: Iterable[KeptSpanLine]) -> KeptSpanTable:
        """Return the table of these lines."""
        table = cls()
        for line in lines:
            table.lines.setdefault(line.document, []).append(line)
        return table

    def of(self, document: str, sequence: str, start: int, end: int) -> Marks | None:
        """Return the spans that are kept of a component; None if no line is about it.

        Raises `FormatError` for a line about two components, and for lines that overlap one another.
        """
        found: dict[tuple[int, int, str], KeptSpanLine] = {}
        for line in self._near(document, start, end):
            overlaps = (line.start < end and start < line.end) or (line.start, line.end) == (start, end)
            if not overlaps or line.sequence not in (None, sequence):
                continue
            if line in self.used:
                raise _wrong(line, f"overlaps two places, {self.used[line]} and {(start, end)}")
            self.used[line] = (start, end)
            found.setdefault((line.start, line.end, line.label), line)
        if not found:
            return None
        kept = sorted(mark for mark in found if mark[2])
        for one, following in pairwise(kept):
            if following[0] < one[1]:
                raise _wrong(found[following], f"overlaps the span of line {found[one].line}")
        return tuple(kept)

    def _near(self, document: str, start: int, end: int) -> Sequence[KeptSpanLine]:
        """Return the lines that may overlap a range; those of a document are sorted when they are first needed."""
        lines = self.lines.get(document, [])
        if document not in self._longest:
            lines.sort(key=_START)
            self._longest[document] = max((line.end - line.start for line in lines), default=0)
        first = bisect_left(lines, start - self._longest[document], key=_START)
        return lines[first : bisect_right(lines, end, key=_START)]

    def require_used(self) -> None:
        """Raise `FormatError` for a line that is about no component."""
        for lines in self.lines.values():
            for line in lines:
                if line not in self.used:
                    raise _wrong(line, "is at a place that no annotator has marked")

    def require_sequences(self, sequences: Sequence[str]) -> None:
        """Raise `FormatError` for a line without a sequence if there are several, and for an unknown one."""
        for lines in self.lines.values():
            for line in lines:
                if line.sequence is None and len(sequences) > 1:
                    raise _wrong(
                        line, "names no sequence", advice=f"add a column sequence: {', '.join(sequences)}"
                    )
                if line.sequence is not None and line.sequence not in sequences:
                    raise _wrong(line, f"names the sequence {line.sequence!r}, which does not exist")


def _wrong(line: KeptSpanLine, problem: str, advice: str | None = None) -> FormatError:
    return FormatError(
        f"the decision {line.start} to {line.end - 1} {problem}",
        file=line.file,
        line=line.line,
        document=line.document,
        advice=advice
        or "each line needs the positions of a place; clueval curate --undecided lists the places",
    )
