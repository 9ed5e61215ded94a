"""`diff`: which errors of an old run a new run has fixed, which are new, and which have changed.

An error is the same in both runs if document, sequence, side, start, end and labels are the same (and the number
among equal ones). An error of the gold side that is in both runs has *changed* if its class, or the label that was
found, is another one. Errors are those of `clueval.errors` for the same choice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Unpack

from clueval.exceptions import UsageError, checked_call, refuse_unknown, require_kind
from clueval.findings.choice import Choice, choice_with
from clueval.findings.stream import known_options
from clueval.reading.given import InputSide
from clueval.reading.layers import LayerColumns, require_layers
from clueval.reading.options import Reading, Readings
from clueval.reading.trios import Trio, trios
from clueval.spans.document import Document
from clueval.spans.matching import Match, match_spans
from clueval.spans.merging import with_merged
from clueval.spans.span import MERGED, Span
from clueval.studies.diff_report import CHANGED, FIXED, NEW, STILL, Diff, DiffFinding

if TYPE_CHECKING:
    from clueval.findings.stream import ErrorsOptions

_READING = Reading()


@checked_call
def diff(
    gold: InputSide,
    old: InputSide,
    new: InputSide,
    choice: Choice | None = None,
    *,
    layers: LayerColumns | None = None,
    reading: Readings = _READING,
    **options: Unpack[ErrorsOptions],
) -> Diff:
    """Return the errors of two runs, old and new, on the same gold.

    Args:
        gold, old, new: three files or three folders; or documents, lists of tags or lists of spans, as in
            `clueval.score`.
        choice: selects the errors; see `clueval.errors`. It may not name classes, because they can change.
        layers, reading, options: as in `clueval.errors`; both runs are read alike.

    Holds one document of each side, and all errors. Raises the errors of `clueval.errors`.
    """
    refuse_unknown(options, known_options(), "diff")
    choice = choice_with(choice, options)
    require_layers(layers)
    require_kind(options.get("progress"), "Progress | None", "progress")
    if choice.kinds:
        raise UsageError("diff compares errors of all classes", advice="leave out kinds")
    sides = {"gold": gold, "old": old, "new": new}
    return _compared(trios(sides, layers, reading, options), choice)


def _compared(groups: Iterable[Trio], choice: Choice) -> Diff:
    classes: Counter[tuple[str, str]] = Counter()
    found: list[DiffFinding] = []
    layers: dict[str, None] = {}
    documents = 0
    for trio in groups:
        gold, old, new = trio
        names = list(dict.fromkeys(name for document in trio for name in document.layers))
        layers |= dict.fromkeys(names)
        if not choice.where.on_documents(names).lets_through(gold.id, gold.metadata):
            continue
        documents += 1
        for sequence in [MERGED] if choice.merge else names:
            sides = _Sides(gold, sequence, choice, names)
            if "gold" in choice.sides:
                found += sides.of_gold(old, new, classes)
            if "predicted" in choice.sides:
                found += sides.of_predicted(old, new)
    choice.require_layer(layers)
    return Diff(documents, classes, found)


class _Sides:
    """The spans of one sequence of a document, and how they match those of a run."""

    def __init__(self, gold: Document, sequence: str, choice: Choice, layers: Sequence[str]) -> None:
        self._gold, self._sequence, self._choice = gold, sequence, choice
        self._filter = choice.where.on_layers(layers)

    def of_gold(
        self, old: Document, new: Document, classes: Counter[tuple[str, str]]
    ) -> Iterator[DiffFinding]:
        """Yield the errors of the gold side; the classes of all its spans are counted."""
        is_error = self._choice.is_error
        pairs = zip(self._matches(self._gold, old), self._matches(self._gold, new), strict=True)
        for before, after in pairs:
            classes[before.kind, after.kind] += 1
            if is_error(before) and is_error(after):
                same = before.kind == after.kind and before.labels == after.labels
                yield self._finding(STILL if same else CHANGED, "gold", before.span, before, after)
            elif is_error(before) or is_error(after):
                state = FIXED if is_error(before) else NEW
                yield self._finding(state, "gold", before.span, before, after)

    def of_predicted(self, old: Document, new: Document) -> Iterator[DiffFinding]:
        """Yield the errors of the predicted side, by position."""
        found: list[tuple[Span, str, Match | None, Match | None]] = []
        waiting: dict[tuple[object, ...], list[Match]] = {}
        for match in self._errors(old):
            waiting.setdefault(_place(match.span), []).append(match)
        for match in self._errors(new):
            equal = waiting.get(_place(match.span))
            if equal:
                found.append((match.span, STILL, equal.pop(0), match))
            else:
                found.append((match.span, NEW, None, match))
        found += [(match.span, FIXED, match, None) for left in waiting.values() for match in left]
        for span, state, before, after in sorted(found, key=lambda row: (row[0].start, row[0].end)):
            yield self._finding(state, "predicted", span, before, after)

    def _errors(self, run: Document) -> Iterator[Match]:
        return (match for match in self._matches(run, self._gold) if self._choice.is_error(match))

    def _matches(self, own: Document, other: Document) -> list[Match]:
        """The matches of the spans of a document that are counted, by position."""
        spans = sorted(self._spans(own), key=lambda span: (span.start, span.end))
        matches = match_spans(spans, self._spans(other), document=own.id)
        if not self._filter:
            return list(matches)
        counted = self._filter.counted(spans, own)
        return [match for match, count in zip(matches, counted, strict=True) if count]

    def _spans(self, document: Document) -> Sequence[Span]:
        source = with_merged(document) if self._choice.merge else document
        return source.layers.get(self._sequence, ())

    def _finding(
        self, state: str, side: str, span: Span, before: Match | None, after: Match | None
    ) -> DiffFinding:
        return DiffFinding(
            state,
            side,
            self._gold.id,
            self._sequence,
            span.start,
            span.end,
            dict(span.by_layer),
            None if before is None else before.kind,
            None if after is None else after.kind,
            self._gold.text_of(span),
        )


def _place(span: Span) -> tuple[object, ...]:
    return span.start, span.end, tuple(sorted(span.by_layer.items(), key=str))
