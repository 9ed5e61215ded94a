"""The table of conventions: when each counts a span as correct, and why its numbers differ from those of the first row.

Each layer has a table: a row for each convention, its rates as percentages, and when a span is correct; a
convention without scores gives the reason instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from clueval.evaluation.result import Result
from clueval.evaluation.signature import Signature
from clueval.files.visible import visible
from clueval.first.metrics.metric import Rates
from clueval.first.metrics.tables import named
from clueval.reports.language import Remark, numeral, phrase
from clueval.reports.markdown import escaped, row_of, signature_line
from clueval.reports.page import ShownTable, assets
from clueval.reports.report import Data, Report
from clueval.reports.table import Content, Rate, Table
from clueval.reports.text import layers_without_spans, shown

METRIC = "conventions"
"""The name of the metric that counts under all conventions."""


class Convention(NamedTuple):
    """A convention: its key in a report, its name, the metric behind it, and when it counts a span as correct."""

    key: str
    name: str
    metric: str
    counts: str


_LEVELS = {
    1: "the same span on the other side",
    2: "the same span or one that covers it",
    3: "the same span, one that covers it, or adjacent spans that fill it exactly",
    4: "the same span, one that covers it, or adjacent spans that cover it",
}

CONVENTIONS = (
    Convention("conlleval", "conlleval", "tags", "same start, end and label; tags are repaired"),
    Convention(
        "seqeval",
        "seqeval, default",
        "tags",
        "as conlleval: same start, end and label; tags are repaired",
    ),
    Convention(
        "seqeval_strict",
        "seqeval, strict",
        "tags",
        "same start, end and label, of spans whose tags are complete and well-formed in the scheme",
    ),
    Convention("exact_unlabelled", "exact, unlabelled", "muc", "same start and end, whatever the label"),
    *(
        Convention(f"levels_{level}_unlabelled", f"CLUEval level {level}, unlabelled", "levels", counts)
        for level, counts in _LEVELS.items()
    ),
    *(
        Convention(
            f"levels_{level}_labelled",
            f"CLUEval level {level}, labelled",
            "levels",
            f"{counts}; and the same label",
        )
        for level, counts in _LEVELS.items()
    ),
    Convention("muc_strict", "MUC strict", "muc", "same start, end and label; pairs one to one"),
    Convention("muc_exact", "MUC exact", "muc", "same start and end, whatever the label; pairs one to one"),
    Convention(
        "muc_partial", "MUC partial", "muc", "same start and end; an overlap counts half, whatever the label"
    ),
    Convention("muc_type", "MUC type", "muc", "same label and an overlap; pairs one to one"),
    Convention(
        "fair_fair",
        "FairEval fair",
        "fair",
        "same start, end and label; a span with a wrong label, boundary or both is one error, not two",
    ),
    Convention(
        "partial",
        "loio",
        "partial",
        "same label; an overlap counts for its share of the longer span, times the factor",
    ),
    Convention(
        "gate_strict", "GATE strict", "gate", "same start, end and label; 0/0 is 1 if both sides are empty"
    ),
    Convention(
        "gate_lenient", "GATE lenient", "gate", "same label and an overlap; 0/0 is 1 if both sides are empty"
    ),
)
"""The conventions, in the order of the table."""


def convention_row(
    convention: Convention, rates: Rates | None, note: str | None, refused: int = 0, gaps: int = 0
) -> dict[str, Any]:
    """Return the row of a convention; in `refused` documents it is not defined, in some because of `gaps`."""
    if refused:
        rates = None
        note = Remark(
            "not defined here: {n} document has spans that overlap{length}{gaps}|"
            "not defined here: {n} documents have spans that overlap{length}{gaps}",
            n=refused,
            length=Remark(" or have no length") if convention.metric == "tags" else "",
            gaps=Remark(" or have gaps") if gaps else "",
        )
    precision, recall, f1 = rates or (None, None, None)
    return {
        "convention": convention.name,
        "precision": precision,
        "recall": recall,
        "f1": f1,
        "counts": convention.counts,
        "note": note,
    }


_IGNORES_LABELS = "labels are ignored"
_COVERED = "a span counts if one span covers it"
_TILED = "a span counts if one span covers it or adjacent spans fill it exactly"
_STUCK_OUT = "a span counts if one span or adjacent spans cover it"
_TOUCHED = "an overlap with the same label counts"
_REASONS = {
    "exact_unlabelled": _IGNORES_LABELS,
    "levels_1_unlabelled": _IGNORES_LABELS,
    "levels_2_unlabelled": f"{_IGNORES_LABELS}, and {_COVERED}",
    "levels_3_unlabelled": f"{_IGNORES_LABELS}, and {_TILED}",
    "levels_4_unlabelled": f"{_IGNORES_LABELS}, and {_STUCK_OUT}",
    "levels_2_labelled": _COVERED,
    "levels_3_labelled": _TILED,
    "levels_4_labelled": _STUCK_OUT,
    "muc_exact": _IGNORES_LABELS,
    "muc_partial": f"{_IGNORES_LABELS}, and an overlap counts half",
    "muc_type": _TOUCHED,
    "fair_fair": "a span with a wrong label or boundary is one error, not a missed and a spurious span",
    "partial": "an overlap with the same label counts in part",
    "gate_strict": "0/0 is 1 if both sides are empty",
    "gate_lenient": _TOUCHED,
}
"""Why the numbers of a convention differ from those of conlleval."""

_OTHERWISE = "invalid tags are treated in another way (--invalid)"


def with_differences(
    rows: Mapping[str, Mapping[str, Any]], repaired: Mapping[str, int]
) -> dict[str, dict[str, Any]]:
    """Return the rows with ``differs``: by how many points of F1 each differs from the first, and why.

    `repaired` is the number of repaired tags of each side, which seqeval's strict mode drops.
    """
    first = next(iter(rows.values()), None)
    return {key: {**row, "differs": _difference(key, row, first, repaired)} for key, row in rows.items()}


def _difference(
    key: str, row: Mapping[str, Any], first: Mapping[str, Any] | None, repaired: Mapping[str, int]
) -> str | None:
    rates = ("precision", "recall", "f1")
    if first is None or row["f1"] is None or first["f1"] is None:
        return None
    if [row[rate] for rate in rates] == [first[rate] for rate in rates]:
        return None
    reason = _REASONS.get(key, _OTHERWISE)
    if key == "seqeval_strict":
        sides = [side for side, number in repaired.items() if number]
        dropped = (
            "invalid tags in both sides are dropped"
            if len(sides) > 1
            else "invalid tags in {side} are dropped"
        )
        reason = phrase(dropped, side=phrase(sides[0]) if sides else phrase("one side"))
    points = numeral(100 * (row["f1"] - first["f1"]), "+.2f")
    return phrase("{points} points of F1: {reason}", points=points, reason=phrase(reason))


HEADER = ("convention", "precision", "recall", "f1", "a span is correct if", "difference from the first row")


@dataclass(frozen=True, slots=True)
class Conventions(Report):
    """The result of `conventions`: a row for each convention, for each layer."""

    _named_by: ClassVar[Sequence[str]] = ("sequence", "convention")
    _title: ClassVar[str] = "Which F1 is this?"
    _template: ClassVar[str] = "conventions"

    result: Result

    @property
    def signature(self) -> Signature:
        """The choices that the scores depend on."""
        return self.result.signature.citing(zero="0/0=0,gate=1 if both sides are empty")

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain dictionaries; rates are fractions, or None if a convention has none."""
        report = self.result.to_dict()
        sequences = report.pop("metrics")[METRIC]
        found = {
            sequence: with_differences(rows, self.result.repaired_tags)
            for sequence, rows in sequences.items()
        }
        return {**report, "signature": str(self.signature), "conventions": found}

    def tables(self) -> Iterator[Table]:
        """Yield a table for each sequence of spans."""
        return (Table(sequence, named(HEADER), rows) for sequence, rows in self._shown())

    def _shown(self) -> Iterator[tuple[str, list[Sequence[str]]]]:
        """Yield each sequence of spans, and its rows as they are shown: those with equal rates are one.

        Layers that have no spans are left out if another layer has some.
        """
        empty = layers_without_spans(self.result.inputs)
        for sequence, rows in self.to_dict()["conventions"].items():
            if sequence not in empty:
                yield (
                    phrase("{title}, in %", title=sequence),
                    [_cells(alike) for alike in _alike(rows.values())],
                )

    def _data(self) -> Data:
        columns = ("sequence", "convention", "name", "precision", "recall", "f1", "counts", "note", "differs")
        rows = (
            {"sequence": sequence, **row, "convention": key, "name": row["convention"]}
            for sequence, of_sequence in self.to_dict()["conventions"].items()
            for key, row in of_sequence.items()
        )
        return Data(columns, rows)

    def _readable(self, form: str) -> str:
        if form == "latex":
            return Report._readable(self, form)
        lines = self._text() if form == "text" else self._markdown()
        return "\n".join(lines)

    def _text(self) -> Iterator[str]:
        yield self._facts()
        yield ""
        for sequence, rows in self._shown():
            names = [row[0].split(_AND) for row in (HEADER, *rows)]
            widths = [max(len(own) for own, *_ in names)]
            widths += [max(len(row[column]) for row in (HEADER, *rows)) for column in range(1, 4)]
            yield visible(sequence)
            for number, (row, (own, *same)) in enumerate(zip((HEADER, *rows), names, strict=True)):
                rates = (cell.rjust(width) for cell, width in zip(row[1:4], widths[1:], strict=True))
                yield "  ".join([own.ljust(widths[0]), *rates, row[4]])
                if number == 0:
                    yield "  ".join("-" * width for width in (*widths, len(HEADER[4])))
                below = [f"the same: {_AND.join(same)}"] * bool(same) + [row[5]] * bool(number and row[5])
                yield from (f"{'':{widths[0]}}  {line}" for line in below)
            yield ""
        yield f"signature: {visible(str(self.signature))}"

    def _facts(self) -> str:
        """Return the numbers of documents, positions and repaired tags."""
        documents, tokens = self.result.documents, self.result.tokens
        parts = [f"{documents:,} document{'s' * (documents != 1)}, {tokens:,} positions"]
        parts += [
            f"{n:,} repaired tag{'s' * (n != 1)} in {side}"
            for side, n in self.result.repaired_tags.items()
            if n
        ]
        return "; ".join(parts)

    def _markdown(self) -> Iterator[str]:
        for sequence, rows in self._shown():
            yield from (f"**{escaped(sequence)}**", "")
            yield from (row_of(HEADER), "| --- | ---: | ---: | ---: | --- | --- |")
            yield from (row_of([escaped(cell) for cell in row]) for row in rows)
            yield ""
        yield signature_line(self._content())

    def _page(self) -> dict[str, Any]:
        tables = [ShownTable(sequence, named(HEADER), rows) for sequence, rows in self._shown()]
        return {"main_tables": tables, **assets("conventions")}


def _alike(rows: Iterable[Content]) -> Iterable[list[Content]]:
    """Return rows with equal rates together, in the order of the first of each; undefined ones alone."""
    found: dict[object, list[Content]] = {}
    for row in rows:
        rates = tuple(row[name] for name in ("precision", "recall", "f1"))
        found.setdefault(id(row) if None in rates else rates, []).append(row)
    return found.values()


def _cells(alike: Sequence[Content]) -> Sequence[str]:
    """Return the cells of a row for conventions with equal rates: the rule is that of the first."""
    row, note = alike[0], alike[0]["note"]
    counts = phrase(row["counts"]) if note is None else f"{phrase(row['counts'])} ({phrase(note)})"
    rates = (shown(Rate(row[name])) for name in ("precision", "recall", "f1"))
    names = _AND.join(each["convention"] for each in alike)
    return names, *rates, visible(counts), visible(row["differs"] or "")


_AND = "; "
"""Between the names of conventions in one row."""
