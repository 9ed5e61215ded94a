"""How the errors of two systems are shown: the verdict, the tables, and of each place its text and its lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from clueval.core.span import SIDES, Span
from clueval.reports.language import numeral, phrase
from clueval.reports.place import Line, MarkedText
from clueval.reports.table import Cell, Find, Rate, Table, difference, shown
from clueval.studies.errors_view import entries_of, in_words
from clueval.studies.errors_view import line_of as line_of_error
from clueval.studies.rows import Context, Row, SideTexts
from clueval.studies.wrong import REASONS, RIGHT, Choice, JudgedSpan

REASONS_OF_GOLD = (RIGHT, *REASONS[:-1])

Reports = Sequence[Mapping[str, Any]]
Counts = Mapping[str, Mapping[str, int]]
"""The number of errors by side and state."""


class SharedError(NamedTuple):
    """A span that is an error of one system or of both.

    `results` has the span in each system (None: it does not have it, or does not count it); `by` says of which it is
    an error that is listed.
    """

    state: str
    results: tuple[JudgedSpan | None, JudgedSpan | None]
    by: tuple[bool, bool]

    @property
    def judged(self) -> JudgedSpan:
        """The error as the first system has it that has it."""
        found = self.results[not self.by[0]]
        assert found is not None
        return found


def choices_of(names: Sequence[str], shown_names: Sequence[str]) -> list[tuple[str, str]]:
    """Return what may be decided about a place of two systems, in the language of the context."""
    return [
        ("gold", phrase("gold is right")),
        *((n, phrase("{system} is right", system=name)) for n, name in zip(names, shown_names, strict=True)),
        ("none", phrase("none is right")),
        ("unclear", phrase("unclear")),
    ]


# --- the summary


def verdict_of(reports: Reports, choice: Choice, counts: Counts) -> str:
    """Return F1 of both systems by layer, and the number of errors in each state."""
    of_systems = [{each.sequence: each for each in entries_of(report, choice)} for report in reports]
    rates = []
    for sequence, entry in of_systems[0].items():
        if sequence in of_systems[1]:
            one, two = entry.micro["f1"], of_systems[1][sequence].micro["f1"]
            said = f"F1 {shown(Rate(one))} → {shown(Rate(two))} ({difference(one, two) or '–'})"
            rates.append(said if len(of_systems[0]) == 1 else f"{sequence}: {said}")
    numbers: Counter[str] = Counter()
    for of_side in counts.values():
        numbers.update(of_side)
    states = ", ".join(f"{numeral(number)} {phrase(state)}" for state, number in numbers.items())
    return "; ".join([*rates, phrase("errors: {states}", states=states)])


def tables_of(
    reports: Reports,
    names: Sequence[str],
    choice: Choice,
    counts: Counts,
    places: Mapping[str | None, int],
) -> Iterator[Table]:
    """Yield the numbers of errors by state, and of each layer F1 of both systems, the greatest difference first."""
    states = list(counts[SIDES[0]])
    rows: list[list[Cell]] = [
        [phrase(side), *(_number(of, side, state) for state in states)] for side, of in counts.items()
    ]
    rows.append([phrase("places"), *(places.get(state, 0) for state in states)])
    yield Table(phrase("errors"), ["", *map(phrase, states)], rows)
    of_systems = [{each.title: each for each in entries_of(report, choice)} for report in reports]
    for title, entry in of_systems[0].items():
        if title not in of_systems[1]:
            continue
        both = [found[title] for found in of_systems]
        found: list[tuple[tuple[object, ...], list[Cell]]] = []
        for label in dict.fromkeys(label for each in both for label in each.per_label):
            one, two = (each.per_label.get(label, {"f1": None, "gold": 0}) for each in both)
            has_both = None not in (one["f1"], two["f1"])
            order = (not has_both, -abs(two["f1"] - one["f1"]) if has_both else 0, label)
            cells: list[Cell] = [Rate(one["f1"]), Rate(two["f1"]), difference(one["f1"], two["f1"])]
            name: Cell = label
            if entry.has_labels:
                name = Find(label, {"layer": entry.sequence, "label": label})
            found.append((order, [name, *cells, one["gold"] or two["gold"]]))
        f1 = [each.micro["f1"] for each in both]
        head: list[Cell] = [phrase("all"), *map(Rate, f1), difference(*f1), both[0].micro["gold"]]
        header = ["", *(f"F1 {name}" for name in names), phrase("difference"), phrase("number")]
        yield Table(title, header, [head, *(row for _, row in sorted(found, key=lambda each: each[0]))])


def _number(of_side: Mapping[str, int], side: str, state: str) -> Cell:
    return Find(of_side[state], {"side": side, "state": state}) if state in of_side else None


def transitions(reasons: Mapping[tuple[str, str], int]) -> Table:
    """Return the reasons of gold spans: rows in the old run, columns in the new run."""
    parts = [RIGHT, *REASONS[:-1]]
    rows: list[list[Cell]] = [[phrase(old), *(reasons.get((old, new), 0) for new in parts)] for old in parts]
    title = phrase("gold spans: rows in the old run, columns in the new run")
    return Table(title, ["", *map(phrase, REASONS_OF_GOLD)], rows, is_folded=True)


# --- places


def marked(
    context: Context, shown_spans: Iterable[tuple[int, Span]], errors: Sequence[SharedError]
) -> MarkedText:
    """Return the text of a place with the spans of gold and of both systems; those that are errors are marked so."""
    wrong = {
        (row, mark.start, mark.end, mark.label)
        for error in errors
        for row in _rows_of(error)
        for mark in context.marks(row, [error.judged.span])
    }
    marks = dict.fromkeys(mark for row, span in shown_spans for mark in context.marks(row, [span]))
    found = (mark._replace(is_wrong=(mark.kind, mark.start, mark.end, mark.label) in wrong) for mark in marks)
    return MarkedText(context.text, sorted(found), context.is_cut)


def _rows_of(error: SharedError) -> list[int]:
    """Return the rows of the text in which the span of an error stands."""
    return [0] if error.judged.side == 0 else [row for row, has in enumerate(error.by, 1) if has]


def line_of(error: SharedError, texts: SideTexts, names: Sequence[str], metadata: Sequence[str]) -> Line:
    """Return the line of an error, with its state, and what is wrong by system if that differs."""
    line = line_of_error(error.judged, texts, metadata)
    said = [in_words(each) if each and has else "" for each, has in zip(error.results, error.by, strict=True)]
    words = next(filter(None, said))
    if all(said) and said[0] != said[1]:
        words = ", ".join(f"{name}: {each}" for name, each in zip(names, said, strict=True))
    kind = _rows_of(error)[0]
    return line._replace(
        words=f"{phrase(error.state)}: {words}", values=(error.state, *line.values), kind=kind
    )


def row_of(error: SharedError, texts: SideTexts, names: Sequence[str], text: MarkedText) -> Row:
    """Return the row of an error, with the reason and the class of its span in both systems."""
    span, results = error.judged.span, error.results
    return {
        "context": [text],
        "state": error.state,
        "document": texts.own.id,
        "side": error.judged.side_name,
        "layer": error.judged.sequence,
        "start": span.start,
        "end_inclusive": span.end - 1,
        "label": span.label,
        **{name: _cell(each, "reason") for name, each in zip(names, results, strict=True)},
        "text": texts.of(span),
        **{f"{name}_class": _cell(each, "kind") for name, each in zip(names, results, strict=True)},
    }


def _cell(each: JudgedSpan | None, name: str) -> str:
    return "-" if each is None else str(getattr(each, name))
