"""Decisions about errors: whose they are, gold as it was decided, and the scores with this gold.

The spans of a place are those that its card shows. `predicted` replaces the gold spans that predicted does not have by
the predicted spans that gold does not have; `both` adds these; `none` takes the gold spans away. Other spans, and
places without a decision that holds, stay as they are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from os import PathLike
from typing import Any, ClassVar

from clueval.core.ranges import Ranges
from clueval.core.span import SIDES, Span
from clueval.evaluation.engine import Evaluation
from clueval.evaluation.plan import Plan, chosen_metrics
from clueval.evaluation.result import result_of
from clueval.evaluation.signature import Signature
from clueval.files.errors import UsageError
from clueval.findings.choice import Choice, WrongSpan, counts_of, metrics_of, reports_of, wrong_spans
from clueval.findings.decisions import BOTH, NONE, UNCLEAR, PlaceDecisions
from clueval.findings.places import ErrorPlace, places_of_document
from clueval.first.metrics.tables import named, titled
from clueval.formats import format_named
from clueval.formats.format import Format
from clueval.reading.convert import refuse_ending, table_format
from clueval.reading.read_options import ReadOptions
from clueval.reading.source import source_of
from clueval.reports.language import phrase
from clueval.reports.table import Rate, Table
from clueval.reports.text import shown
from clueval.second.formats.options import Reading
from clueval.second.reading.options import InputSide
from clueval.second.reading.paths import as_path, files_of
from clueval.second.reading.spooled import needs_spooling
from clueval.second.transforms.options import Preparing
from clueval.spans.document import Document
from clueval.spans.flat import by_position, clash, keys_of
from clueval.transforms.group import Group


def corrected_format(
    gold: InputSide, predicted: InputSide | None, reading: Reading, preparing: Preparing, output: str
) -> tuple[Format, str]:
    """Return the format in which gold corrected is written, and the name of that in which gold is read.

    It is that of gold if it can be written; for other files, and for gold in memory, whose format has no name, conll or
    a table of spans, by the ending of `output`. Raises `UsageError` for options that change the spans of gold, for one
    input with both sides, and for the ending of something else.
    """
    if preparing != Preparing():
        raise UsageError(
            "gold corrected is gold as it is in its file, and other options change its spans",
            advice="leave one out",
        )
    if predicted is None or needs_spooling(gold):
        raise UsageError(
            "gold corrected needs the file or folder of gold, and that of the predictions",
            advice="if one file has both, give it twice",
        )
    refuse_ending(output)
    own = None
    if isinstance(gold, str | PathLike):
        (_, first), *_ = files_of(as_path(gold))
        own = source_of(first, ReadOptions.of(reading)).form
        if own.write is not None:
            return own, own.name
    other = format_named(table_format(output, "end its name in .tsv or .conll"))
    return other, "" if own is None else own.name


def is_flat(form: Format) -> bool:
    """Return whether a format that is written cannot hold overlapping spans."""
    holds = form.write.holds if form.write is not None else None
    return holds is not None and "overlapping spans" not in holds


_Key = tuple[int, int, str, Ranges | None]

WHOSE = {
    "gold": "the system's (gold is right)",
    "predicted": "gold's (the prediction is right)",
    BOTH: "gold's (both are right)",
    NONE: "of both (neither is right)",
    UNCLEAR: "unclear",
    "": "not decided",
}
"""Whose the errors of a place are, by its choice."""


def decided_places(
    gold: Document, predicted: Document, choice: Choice, decisions: PlaceDecisions
) -> Iterator[tuple[ErrorPlace, list[WrongSpan], str]]:
    """Yield the places of errors of a document, each with its wrong spans and the choice that holds, or nothing."""
    for place, wrong in _places(gold, predicted, choice):
        yield place, wrong, decisions.at(*place.in_decisions).holds
    if choice != choice.of_all:
        for place, _ in _places(gold, predicted, choice.of_all):
            decisions.leave_out(*place.in_decisions)


def _places(
    gold: Document, predicted: Document, choice: Choice
) -> Iterator[tuple[ErrorPlace, list[WrongSpan]]]:
    found = wrong_spans(gold, predicted, choice, False)
    rest = iter([wrong for _, wrong in found])
    for place in places_of_document(rows.row(each.span, each.sequence, each.judged) for rows, each in found):
        yield place, list(islice(rest, len(place.findings)))


def as_decided(gold: Document, predicted: Document, decisions: PlaceDecisions) -> tuple[Document, Document]:
    """Return both documents with the spans that were chosen at each place with a choice that holds."""
    sides = {"gold": dict(gold.layers), "predicted": dict(predicted.layers)}
    for _, wrong, choice in decided_places(gold, predicted, Choice(), decisions):
        if choice not in ("", UNCLEAR):
            changed = [
                _changed(side, sides[side], other.layers, wrong, choice)
                for side, other in zip(SIDES, (predicted, gold), strict=True)
            ]
            for side, layers in zip(SIDES, changed, strict=True):
                sides[side] |= layers
    return replace(gold, layers=sides["gold"], tags={}), replace(
        predicted, layers=sides["predicted"], tags={}
    )


class Corrections:
    """Observes the documents that are counted: corrects gold, and counts predicted against it.

    `take` is given the corrected documents of gold. With `flat`, a choice that would make gold spans of a layer overlap
    is not applied; `left` has those that were not, with the reason.
    """

    name: ClassVar[str] = "corrections"

    def __init__(
        self,
        choice: Choice,
        decisions: PlaceDecisions,
        take: Callable[[Iterable[Document]], object] = list,
        flat: bool = False,
    ) -> None:
        self._choice, self._decisions, self._take = choice, decisions, take
        self._flat = flat or choice.by_levels
        self._plan = Plan(chosen_metrics(metrics_of(choice)), choice.merge, choice.where, ())
        self._evaluation = Evaluation(self._plan, [])
        self.errors, self.left = Counter[str](), list[str]()

    def see(self, group: Group) -> None:
        """Correct the gold document of a group, and count it."""
        gold = self._corrected(group.gold, group.predicted)
        self._take([gold])
        self._evaluation.count_group(replace(group, gold=gold))

    def section(self) -> dict[str, Any]:
        """Return nothing: the errors have outputs of their own."""
        return {}

    def _corrected(self, gold: Document, predicted: Document) -> Document:
        layers = dict(gold.layers)
        for place, wrong, choice in decided_places(gold, predicted, self._choice, self._decisions):
            self.errors[choice] += len(wrong)
            if choice in ("predicted", BOTH, NONE):
                changed = _changed("gold", layers, predicted.layers, wrong, choice)
                problem = self._problem(layers, changed)
                if problem is None:
                    layers |= changed
                else:
                    self.left.append(f"{_where(place)} {choice}: {problem}")
        return replace(gold, layers=layers, tags={})

    def _problem(
        self, layers: Mapping[str, Sequence[Span]], changed: Mapping[str, Sequence[Span]]
    ) -> str | None:
        """Return why a change cannot be applied, or None."""
        for layer, spans in changed.items():
            if layer not in layers:
                return f"gold has no layer {layer}"
            if (
                self._flat
                and clash(spans) is not None
                and clash(sorted(layers[layer], key=by_position)) is None
            ):
                return "spans of gold would overlap"
        return None

    def tables(self, metrics: Mapping[str, Any]) -> Iterator[Table]:
        """Yield whose the errors are, and the scores before, in `metrics` of a report, and with gold corrected.

        To be called when all documents were counted.
        """
        if self._choice.where:
            self._decisions.leave_out_lost()
        rows = [(phrase(whose), self.errors[choice]) for choice, whose in WHOSE.items()]
        yield Table(phrase("Decisions: whose the errors are"), named(["errors", "number"]), rows)
        after = result_of(self._evaluation, Signature.of(self._plan.metrics, {})).metrics
        for sequence, report in reports_of(metrics, self._choice).items():
            corrected = reports_of(after, self._choice).get(sequence, report)
            own, other = (counts_of(each, self._choice) for each in (report, corrected))
            if own and other:  # a sequence may lack the labelled layer
                yield _scores(sequence, own, other)


def in_words(tables: Iterable[Table]) -> Iterator[str]:
    """Yield a line for each of these tables."""
    for table in tables:
        if table.header[0] == "errors":
            yield "errors: " + (
                ", ".join(f"{number:,} {whose}" for whose, number in table.rows if number) or "none"
            )
            continue
        before, after = (
            ", ".join(
                f"{name} {shown(value)}" for name, value in zip(table.header[1:4], row[1:4], strict=True)
            )
            for row in table.rows
        )
        yield f"{table.title}: {after} (as it is: {before})"


def _scores(sequence: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> Table:
    rows = [
        [phrase(name), *(Rate(each[key]) for key in ("precision", "recall", "f1")), each["gold"]]
        for name, each in (("gold as it is", before), ("gold corrected", after))
    ]
    return Table(titled(sequence, "with gold corrected"), named(["scores", "P", "R", "F1", "gold"]), rows)


def _where(place: ErrorPlace) -> str:
    return f"{place.document} {place.start}-{place.end}"


def _changed(
    side: str,
    layers: Mapping[str, Sequence[Span]],
    other_layers: Mapping[str, Sequence[Span]],
    wrong: Iterable[WrongSpan],
    choice: str,
) -> dict[str, list[Span]]:
    """Return the layers of a side that a choice changes, with their spans by position."""
    other_side = SIDES[side == "gold"]
    shown: dict[str, dict[str, dict[_Key, Span]]] = {}
    for each in wrong:
        other = SIDES[each.side == "gold"]
        sides = shown.setdefault(each.sequence, {side: {} for side in SIDES})
        sides[each.side].update(zip(keys_of([each.span]), [each.span], strict=True))
        sides[other].update(zip(keys_of(each.judged.shown), each.judged.shown, strict=True))
    changed = {}
    for layer, sides in shown.items():
        spans = layers.get(layer, ())
        known, others = set(keys_of(spans)), set(keys_of(other_layers.get(layer, ())))
        kept = [
            span
            for span, key in zip(spans, keys_of(spans), strict=True)
            if choice in (BOTH, side) or key not in sides[side] or key in others
        ]
        if choice in (BOTH, other_side):
            new = ((key, span) for key, span in sides[other_side].items() if key not in known)
            kept += [Span(span.start, span.end, span.labels, parts=span.parts) for _, span in new]
        if {*keys_of(kept)} != known:
            changed[layer] = sorted(kept, key=by_position)
    return changed
