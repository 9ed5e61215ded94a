"""`curate`: one gold out of the spans of many annotators, by votes, by union, or by decisions about places.

A table of decisions has the columns document, start, end_inclusive and label. Each line names a span to keep. The lines
of a component replace its outcome; a line with an empty label keeps nothing there. If there are several sequences, a
column ``sequence`` names that of each line. The page of `clueval agree` exports this table.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from itertools import pairwise
from operator import attrgetter
from pathlib import Path
from typing import Any, Literal, NamedTuple

from clueval.clusters.rows import IrregularRows
from clueval.exceptions import FormatError, UsageError, checked_call
from clueval.reading.options import Reading
from clueval.reports.separated import guarded
from clueval.spans.components import component_firsts
from clueval.spans.document import Document
from clueval.spans.flat import by_position
from clueval.spans.span import Frozen, Span
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
)
from clueval.studies.annotators.source import Group, Naming, annotators_of
from clueval.studies.annotators.study import Study, columns_of, sequences_of
from clueval.textfiles import blocks

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
    decisions: str | Path | None = None,
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
        decisions: a table of spans to keep at places, see `clueval.studies.annotators.curation`.

    A document of only one annotator is kept as it is. Holds one document of each annotator. Raises the same errors as
    `agree`, and `FormatError` for a decision at a place that no annotator has marked, after the last document.

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
    decided = None if decisions is None else read_decisions(Path(decisions))
    return _curated(study, needed, decided)


def _curated(study: Study, votes: Votes | None, decisions: DecisionTable | None) -> Iterator[Curated]:
    outcome = lru_cache(maxsize=MOST_SHAPES)(partial(outcome_of, votes=votes))
    of_group = partial(_of_group, study, outcome=outcome, decisions=decisions)
    if decisions is None:
        return results_of(study, partial(_of_rows, study, outcome=outcome, votes=votes), of_group)
    return _decided_groups(study, of_group, decisions)


def _decided_groups(
    study: Study, of_group: Callable[[Group], Curated], decisions: DecisionTable
) -> Iterator[Curated]:
    """Yield all documents. Raises `FormatError` for decisions about other sequences or about no place."""
    for number, group in enumerate(study.groups()):
        if not number:
            decisions.require_sequences(sequences_of(group))
        yield of_group(group)
    decisions.require_used()


def _of_group(
    study: Study, group: Group, outcome: Callable[[Shape], VoteOutcome], decisions: DecisionTable | None
) -> Curated:
    document = next(each for each in group if each is not None)
    outcomes = {
        sequence: [
            (start, _decided(document.id, sequence, start, shape, decisions) or outcome(shape))
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


def _decided(
    document: str, sequence: str, start: int, shape: Shape, decisions: DecisionTable | None
) -> VoteOutcome | None:
    """Return the outcome of a component as it was decided; None if it was not."""
    if decisions is None:
        return None
    end = start + max(mark[1] for reading in shape for mark in reading or ())
    kept = decisions.of(document, sequence, start, end)
    return None if kept is None else VoteOutcome(moved(kept, -start))


COLUMNS = ("document", "start", "end_inclusive", "label")

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

    Spans with enough votes are kept, unless they overlap one another; spans that no kept span overlaps are
    undecided or, by majority and where more than half of the annotators have nothing, outvoted.

    >>> voted((((0, 2, "PER"),), ((0, 2, "PER"),), ((0, 2, "ORG"),)), "majority").kept
    ((0, 2, 'PER'),)
    """
    readings = [reading for reading in shape if reading is not None]
    m = len(readings)
    counts = Counter(mark for reading in readings for mark in reading)
    kept = apart(sorted(mark for mark, n in counts.items() if _enough(n, m, votes)))
    rest = [None if reading is None else list(_not_covered(reading, kept)) for reading in shape]
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


def _not_covered(reading: Marks, kept: Sequence[Mark]) -> Iterator[Mark]:
    """Yield the marks that no kept mark overlaps; the kept marks are sorted and apart."""
    starts = [mark[0] for mark in kept]
    for mark in reading:
        before = bisect_left(starts, max(mark[1], mark[0] + 1)) - 1
        if before < 0 or not (kept[before][1] > mark[0] or kept[before][:2] == mark[:2]):
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


class DecisionLine(NamedTuple):
    """One line of the table; `end` is the position after the last one."""

    number: int
    sequence: str | None
    start: int
    end: int
    label: str


_START: Callable[[DecisionLine], int] = attrgetter("start")


@dataclass(slots=True)
class DecisionTable:
    """The lines of a table by document, and those that were used."""

    file: str
    lines: dict[str, list[DecisionLine]] = field(default_factory=dict)
    used: dict[int, tuple[int, int]] = field(default_factory=dict)
    _longest: dict[str, int] = field(default_factory=dict)

    def of(self, document: str, sequence: str, start: int, end: int) -> Marks | None:
        """Return the spans that are kept of a component; None if no line is about it.

        Raises `FormatError` for a line about two components, and for lines that overlap one another.
        """
        found = []
        if document not in self.lines:
            document = guarded(document)  # as the table of --undecided has it
        for line in self._near(document, start, end):
            overlaps = (line.start < end and start < line.end) or (line.start, line.end) == (start, end)
            if not overlaps or line.sequence not in (None, sequence):
                continue
            if line.number in self.used:
                raise self._wrong(line, f"overlaps two places, {self.used[line.number]} and {(start, end)}")
            self.used[line.number] = (start, end)
            found.append(line)
        if not found:
            return None
        kept = sorted((line for line in found if line.label), key=lambda line: (line.start, line.end))
        for one, following in pairwise(kept):
            if following.start < one.end:
                raise self._wrong(following, f"overlaps the span of line {one.number}")
        return tuple((line.start, line.end, line.label) for line in kept)

    def _near(self, document: str, start: int, end: int) -> Sequence[DecisionLine]:
        """Return the lines that may overlap a range; those of a document are sorted when they are first needed."""
        lines = self.lines.get(document, [])
        if document not in self._longest:
            lines.sort(key=_START)
            self._longest[document] = max((line.end - line.start for line in lines), default=0)
        first = bisect_left(lines, start - self._longest[document], key=_START)
        return lines[first : bisect_right(lines, end, key=_START)]

    def require_used(self) -> None:
        """Raise `FormatError` for a line that is about no component."""
        for document, lines in self.lines.items():
            for line in lines:
                if line.number not in self.used:
                    raise self._wrong(line, "is at a place that no annotator has marked", document)

    def require_sequences(self, sequences: Sequence[str]) -> None:
        """Raise `FormatError` for a line without a sequence if there are several, and for an unknown one."""
        for lines in self.lines.values():
            for line in lines:
                if line.sequence is None and len(sequences) > 1:
                    raise self._wrong(
                        line, "names no sequence", advice=f"add a column sequence: {', '.join(sequences)}"
                    )
                if line.sequence is not None and line.sequence not in sequences:
                    raise self._wrong(line, f"names the sequence {line.sequence!r}, which does not exist")

    def _wrong(
        self, line: DecisionLine, problem: str, document: str | None = None, advice: str | None = None
    ) -> FormatError:
        return FormatError(
            f"the decision {line.start} to {line.end - 1} {problem}",
            file=self.file,
            line=line.number,
            document=document,
            advice=advice
            or "each line needs the positions of a place; clueval curate --undecided lists the places",
        )


def read_decisions(path: Path) -> DecisionTable:
    """Return the table. Raises `FormatError` for a line that cannot be read, `FileError` for a missing file."""
    text = "".join(text for _, text in blocks(path))
    header: list[str] | None = None
    lines: defaultdict[str, list[DecisionLine]] = defaultdict(list)
    for number, row in enumerate(text.split("\n"), 1):
        if not row.strip():
            continue
        cells = row.split("\t")
        if header is None:
            header = cells
            if missing := [name for name in COLUMNS if name not in header]:
                raise FormatError(
                    f"the table has no column {missing[0]!r}",
                    file=str(path),
                    line=number,
                    advice=f"its first line must name the columns {', '.join(COLUMNS)}, separated by tabs",
                )
            continue
        document, line = _line(path, number, dict(zip(header, cells, strict=False)))
        lines[document].append(line)
    return DecisionTable(str(path), dict(lines))


def _line(path: Path, number: int, cells: dict[str, str]) -> tuple[str, DecisionLine]:
    """Return the document and the line."""
    for name in COLUMNS[:3]:
        if name not in cells:
            raise FormatError(f"the line has no {name}", file=str(path), line=number)
    places = []
    for name in COLUMNS[1:3]:
        if not cells[name].isdecimal() or len(cells[name]) > 18:
            raise FormatError(f"{name} is {cells[name][:40]!r}, not a position", file=str(path), line=number)
        places.append(int(cells[name]))
    start, end = places[0], places[1] + 1
    if end < start:
        raise FormatError(
            f"the span ends at {end - 1}, before it starts at {start}", file=str(path), line=number
        )
    return cells["document"], DecisionLine(
        number, cells.get("sequence") or None, start, end, cells.get("label", "")
    )
