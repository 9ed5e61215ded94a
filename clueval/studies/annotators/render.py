"""The numbers of agreement as tables and rows, in words where a number needs them, and files of places.

The columns of the table of places, which people fill in and programs read, are document, start, end_inclusive, kind,
boundary, one for each annotator (``4-5 LOC``, several spans separated by ``;``, empty: nothing, ``-``: not annotated),
votes and context; with several sequences, the sequence comes after the document. The spreadsheet has an empty column
for a comment, too.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from clueval.files.errors import FileError, UsageError
from clueval.files.visible import visible_lines
from clueval.files.writing import make_folder, whole_file
from clueval.first.metrics.tables import named
from clueval.reports.language import numeral, phrase
from clueval.reports.separated import guarded
from clueval.reports.table import Rate, Table, with_decimals
from clueval.reports.workbook import ROWS, require_package, whole_workbook
from clueval.studies.annotators.places import Disagreement, Marks, marks_of, written
from clueval.studies.annotators.study import Study, sequences_of

Content = Mapping[str, Any]

WHICH = {
    ("positions", "all"): "all positions",
    ("positions", "any"): "positions that one of them marked",
    ("positions", "both"): "positions that each marked",
    ("spans", "any"): "ranges that one of them marked",
    ("spans", "both"): "ranges that each marked",
}
"""The items of coefficients, in words."""

_LIKE = 0.005
"""A smaller difference of F1 counts as none in words."""


def tables(report: Content) -> Iterator[Table]:
    """Yield all tables: F1 by pair and label, coefficients, unitizing, disagreements, the ceiling."""
    for sequence in report["agreement"]:
        yield from matrices(report, sequence).values()
        yield from sequence_tables(report, sequence)
    yield from ceiling_tables(report)


def matrices(report: Content, sequence: str) -> dict[str, Table]:
    """Return the F1 of all pairs of annotators by each convention."""
    names, found = report["annotators"], {}
    for key, f1 in report["agreement"][sequence]["f1"].items():
        rows = [
            [name, *("" if i == j else Rate(value) for j, value in enumerate(row))]
            for i, (name, row) in enumerate(zip(names, f1["matrix"], strict=True))
        ]
        found[key] = Table(f"{sequence}: {phrase('F1 of pairs')}, {key}", ["", *names], rows)
    return found


UNITIZING = {
    "u": "units and gaps (uα)",
    "binary": "unit or gap (|uα)",
    "cu": "labels of overlapping units (cuα)",
    "cu_coverage": "share of pairs behind cuα",
}
"""The coefficients of unitizing, in words."""


def sequence_tables(report: Content, sequence: str) -> Iterator[Table]:
    """Yield all tables of a sequence but the matrices."""
    found = report["agreement"][sequence]
    f1, coefficients, kinds = found["f1"], found["coefficients"], found["disagreements"]
    units = found["unitizing"] or {"per_label": {}}
    yield Table(
        f"{sequence}: {phrase('mean F1 of pairs')}",
        [
            "F1",
            *(name for key in f1 for name in (phrase("{key} mean", key=key), *named(["sd", "pooled"]))),
        ],
        [
            [phrase("all labels"), *_of_keys(f1.values())],
            *(
                [label, *_of_keys(each["per_label"][label] for each in f1.values())]
                for label in next(iter(f1.values()))["per_label"]
            ),
        ],
    )
    yield Table(
        f"{sequence}: {phrase('coefficients (kappa, pi: means of pairs)')}",
        named(["chance-corrected", "items", "observed", "kappa", "pi", "Fleiss", "alpha"]),
        [
            *(
                [phrase(words), *_of_items(coefficients[items][which])]
                for (items, which), words in WHICH.items()
            ),
            *(
                [phrase(words), "", "", "", "", "", decimal(units.get(name))]
                for name, words in UNITIZING.items()
            ),
        ],
    )
    by_label = [coefficients["positions"]["all"]["per_label"], coefficients["spans"]["any"]["per_label"]]
    alphas = [*by_label, {label: each["alpha"] for label, each in units["per_label"].items()}]
    yield Table(
        f"{sequence}: {phrase('alpha by label')}",
        named(["label", "positions", "ranges", "cuα", "coverage of cuα %"]),
        [
            [
                label,
                *(decimal(each.get(label)) for each in alphas),
                Rate(units["per_label"].get(label, {}).get("coverage")),
            ]
            for label in sorted({label for each in alphas for label in each})
        ],
    )
    yield Table(
        f"{sequence}: {phrase('places where spans are')}",
        ["", phrase("places")],
        [
            [phrase("all agree"), kinds["unanimous"]],
            *([_facets(kind), number] for kind, number in kinds["kinds"].items()),
        ],
    )
    if "intervals" in report:
        intervals = report["intervals"]
        yield Table(
            phrase(
                "{sequence}: {confidence} % intervals over documents ({method})",
                sequence=sequence,
                confidence=numeral(100 * intervals["confidence"], "g"),
                method=phrase(intervals["method"]),
            ),
            named(["", "from", "to"]),
            [
                [name, decimal(entry["low"]), decimal(entry["high"])]
                for name, entry in intervals["scores"][sequence].items()
            ],
        )


def _of_keys(entries: Iterable[Content]) -> list[Rate]:
    return [Rate(entry[name]) for entry in entries for name in ("mean", "sd", "pooled")]


def _of_items(found: Content) -> list[int | str]:
    means = (found[name]["mean"] for name in ("observed", "kappa", "pi"))
    return [found["items"], *map(decimal, (*means, found["fleiss"], found["alpha"]))]


def ceiling_tables(report: Content) -> Iterator[Table]:
    """Yield the system beside the annotators, for each sequence."""
    columns = ["human", "system", "difference"]
    for sequence, keys in report.get("ceiling", {}).items():
        rows: list[list[Any]] = [
            [f"{key}, {phrase(words)}", *(Rate(found[name][column]) for column in columns)]
            for key, found in keys.items()
            for name, words in (("pairs", "each other"), ("majority", "the majority of the others"))
        ]
        title = f"{sequence}: {phrase('the system and the annotators, F1')}"
        yield Table(title, named(["", *columns]), rows)


def kind_in_words(row: Disagreement) -> str:
    """Return in what annotators differ."""
    kind = _facets(row.kind)
    return kind if row.boundary is None else f"{kind} ({phrase(row.boundary)})"


def _facets(kind: str) -> str:
    return "+".join(named(kind.split("+")))


def reading_in_words(reading: Marks | None) -> str:
    """Return what an annotator has marked, or why there is nothing."""
    return phrase("not annotated") if reading is None else written(reading) or phrase("nothing")


RECOMMENDED = (
    "report the mean of the exact F1 of pairs, or alpha over all positions, which takes chance into account "
    "(clueval guide concept-agreement)"
)
"""Which numbers to report."""


def remarks(report: Content) -> Iterator[str]:
    """Yield what a reader must know besides the numbers."""
    yield phrase(RECOMMENDED)
    if report["left_out"]:
        yield phrase(
            "{n} document was left out: only one annotator has annotated it|"
            "{n} documents were left out: only one annotator has annotated it",
            n=report["left_out"],
        )
    for sequence, found in report["agreement"].items():
        yield from (f"{sequence}: {phrase(note)}" for note in found["notes"])
    for sequence, keys in report.get("ceiling", {}).items():
        for key, found in keys.items():
            difference = found["pairs"]["difference"]
            if difference is not None:
                scores = report["intervals"]["scores"][sequence] if "intervals" in report else {}
                interval = scores.get(f"ceiling.{key}.pairs.difference", {})
                words = in_words(difference, interval.get("low"), interval.get("high"))
                yield f"{sequence}, {key}: {words}"
    yield from map(phrase, report.get("intervals", {}).get("remarks", ()))
    if any(_is_undefined(each) for table in tables(report) for row in table.rows for each in row):
        yield phrase(UNDEFINED)


UNDEFINED = (
    "a dash is a number that is not defined and is left out of means: neither of two annotators has such spans, or all "
    "items have the same value"
)
"""What a dash means."""


def _is_undefined(shown: Any) -> bool:
    """Return whether a cell of a table shows a number that is not defined."""
    return shown == "-" or (isinstance(shown, Rate) and shown.value is None)


def in_words(difference: float, low: float | None = None, high: float | None = None) -> str:
    """Return what the difference of a system's F1 to the annotators' means, with its interval if there is one.

    >>> in_words(0.001)
    'the system agrees with annotators as well as they do with each other'
    >>> in_words(-0.1)
    'the system agrees with annotators less than they do with each other, by 10.0 points of F1'
    """
    same = phrase("the system agrees with annotators as well as they do with each other")
    known = ""
    if low is not None and high is not None:
        ends = (numeral(100 * end, ".1f") for end in (low, high))
        known = phrase(
            "the difference is from {low} to {high} points of F1",
            **dict(zip(("low", "high"), ends, strict=True)),
        )
        if low <= 0 <= high:
            return f"{same}: {known}"
    if abs(difference) < _LIKE:
        return same
    points = phrase("{points} points of F1", points=numeral(100 * abs(difference), ".1f"))
    points += f" ({known})" if known else ""
    if difference > 0:
        return phrase(
            "the system agrees with annotators more than they do with each other, by {points}; it is like "
            "another annotator, which does not mean that it is right",
            points=points,
        )
    return phrase(
        "the system agrees with annotators less than they do with each other, by {points}", points=points
    )


def decimal(value: float | None) -> str:
    """Return a coefficient with three decimals; a dash if it is not defined."""
    return "-" if value is None else with_decimals(value, 3)


def numbers_of(report: Content) -> Iterator[dict[str, Any]]:
    """Yield a row for each number: its section and sequence, its path in the report, and its value."""
    for section in ("agreement", "ceiling"):
        for sequence, found in report.get(section, {}).items():
            for path, value in _numbers(found, report["annotators"], ()):
                yield {"section": section, "sequence": sequence, "entry": "/".join(path), "value": value}


def _numbers(
    value: Any, names: Sequence[str], path: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield each number of a report with its path; rows and columns of matrices are called by annotators."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _numbers(inner, names, (*path, key))
    elif isinstance(value, list):
        if path[-1] == "notes":
            return
        for name, inner in zip(names, value, strict=True):
            yield from _numbers(inner, names, (*path, name))
    else:
        yield path, value


LONGEST = 32_767
"""The greatest number of characters in a cell, as in spreadsheets."""


def _cells(rows: Iterable[Disagreement], names: Sequence[str], sequences: int) -> Iterator[list[str | int]]:
    """Yield the names of the columns, then the cells of each place."""
    several = sequences > 1
    place = ["document", *["sequence"] * several, "start", "end_inclusive", "kind", "boundary"]
    yield [*place, *names, "votes", "context"]
    for row in rows:
        yield [
            row.document,
            *[row.sequence] * several,
            row.start,
            row.end - 1,
            row.kind,
            row.boundary or "",
            *(written(row.readings[name]) for name in names),
            row.votes,
            row.context,
        ]


def _safe(value: str | int) -> str:
    """Return a cell that no spreadsheet runs; the dash of a document that is not annotated stays."""
    if isinstance(value, int) or value == "-":
        return str(value)
    return guarded(value[:LONGEST])


def write_tsv(path: Path, rows: Iterable[Disagreement], names: Sequence[str], sequences: int = 1) -> None:
    """Write the table, whole or not at all. Raises `FileError`."""
    table = _cells(rows, names, sequences)
    with whole_file(path) as file:
        file.write("\t".join(guarded(str(name)) for name in next(table)) + "\n")
        file.writelines("\t".join(map(_safe, cells)) + "\n" for cells in table)


def write_xlsx(path: Path, rows: Iterable[Disagreement], names: Sequence[str], sequences: int = 1) -> None:
    """Write the workbook, whole or not at all; text stays text and never becomes a formula.

    Raises `MissingExtra` without XlsxWriter, `FileError` if the file cannot be written, `UsageError` for more rows
    than a sheet holds.
    """
    require_package()
    table = _cells(rows, names, sequences)
    header = [str(name) for name in next(table)]
    with whole_workbook(path) as book:
        sheet = book.add_worksheet("disagreements")
        bold = book.add_format({"bold": True})
        for column, name in enumerate((*header, "comment")):
            sheet.write_string(0, column, visible_lines(name), bold)
        number = 0
        for number, cells in enumerate(table, 1):
            if number >= ROWS:
                raise UsageError(
                    f"a sheet holds {ROWS - 1:,} rows, but there are more disagreements", advice="use tsv=..."
                )
            for column, value in enumerate(cells):
                if isinstance(value, int):
                    sheet.write_number(number, column, value)
                else:
                    sheet.write_string(number, column, visible_lines(value[:LONGEST]))
        sheet.freeze_panes(1, 0)
        sheet.autofilter(0, 0, number, len(header))


def write_folder(folder: Path, study: Study) -> int:
    """Write a file for each shared document and return their number. Raises `FileError`."""
    make_folder(folder)
    written: set[str] = set()
    annotators = study.annotators
    for group in study.groups():
        document, *others = (each for each in group[: study.humans] if each is not None)
        if not others:
            continue
        stem = "".join(c if c.isalnum() or c in "-_." else "_" for c in document.id).lstrip(".") or "_"
        if stem in written:
            raise FileError(
                f"two documents would have the file name {stem}.csv", file=str(folder), document=document.id
            )
        written.add(stem)
        sequences = sequences_of(group)
        with whole_file(folder / f"{stem}.csv") as file:
            writer = csv.writer(file, lineterminator="\n")
            for name, each in zip(annotators.names, group, strict=False):
                for sequence in sequences if each is not None else ():
                    assert each is not None
                    for start, end, label in sorted(marks_of(each.layers.get(sequence, ()))):
                        shown = f"{sequence}:{label}" if len(sequences) > 1 else label
                        writer.writerow([name, shown, start, end])
    return len(written)
