"""`curate`: one gold out of the spans of many annotators, by votes, by union, or by decision."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from clueval.clusters.rows import IrregularRows
from clueval.exceptions import UsageError, checked_call
from clueval.reading.options import Reading
from clueval.spans.document import Document
from clueval.spans.flat import by_position
from clueval.spans.span import Frozen, Span
from clueval.studies.annotators.clusters import DocumentRows, results_of
from clueval.studies.annotators.decisions import (
    DecisionTable,
    VoteOutcome,
    Votes,
    checked_votes,
    outcome_of,
    read_decisions,
)
from clueval.studies.annotators.naming import Naming, annotators_of
from clueval.studies.annotators.places import Disagreement, Shape, moved, placed, places
from clueval.studies.annotators.source import Group
from clueval.studies.annotators.study import Study, columns_of, sequences_of

_READING = Reading()
_NAMING = Naming()

MOST = 5_000
"""The number of different shapes whose outcomes are held."""


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
        decisions: a table of spans to keep at places, see `clueval.studies.annotators.decisions`.

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
    outcome = lru_cache(maxsize=MOST)(partial(outcome_of, votes=votes))
    of_group = partial(_of_group, study, outcome=outcome, decisions=decisions)
    if decisions is None:
        return results_of(study, partial(_of_rows, study, outcome=outcome, votes=votes), of_group)
    return _decided_groups(study, of_group, decisions)


def _decided_groups(
    study: Study, of_group: Callable[[Group], Curated], decisions: DecisionTable
) -> Iterator[Curated]:
    """Yield all documents. Raises `FormatError` for decisions about other sequences or about no place."""
    for number, group in enumerate(study.all_groups()):
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
