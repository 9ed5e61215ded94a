"""A comparison as a web page that loads nothing else: dots with whiskers, differences with the zero line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clueval.reports.cutting import cut_label
from clueval.reports.page import ShownTable, assets, environment
from clueval.studies.comparison import ComparedSystems, interval, points
from clueval.writing import whole_file

Entry = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class DotRow:
    """A dot and its whisker, as places from 0 to 100; a row without an interval has no whisker."""

    name: str
    low: float | None
    width: float
    middle: float
    text: str


@dataclass(frozen=True, slots=True)
class DotFigure:
    """Rows of dots on one axis, which goes from `low` to `high`; `zero` is the place of 0 if it is shown."""

    title: str
    first: str
    second: str
    low: str
    high: str
    zero: float | None
    rows: Sequence[DotRow]


def write_page(path: Path, comparison: ComparedSystems, *, title: str = "Comparison") -> None:
    """Write the page, whole or not at all.

    Raises `MissingExtra` without Jinja2, `FileError` if the file cannot be written.
    """
    page = render_page(comparison, title=title)
    with whole_file(path) as file:
        file.write(page)


def render_page(comparison: ComparedSystems, *, title: str = "Comparison") -> str:
    """Return the page as a string; see `write_page`."""
    jinja = environment()
    report = {
        **comparison.to_dict(),
        "documents": comparison.documents,
        "tokens": comparison.tokens,
        "repaired_tags": {},
    }
    return jinja.get_template("compare.html").render(
        title=title,
        report=report,
        sentences=list(comparison.sentences()),
        main_tables=[ShownTable.of(table) for table in comparison.tables()],
        more_tables=(),
        figures=[*_values(comparison), *_differences(comparison, comparison.scores, "Differences")],
        labels=list(_differences(comparison, comparison.labels, "F1 by label")),
        units=list(_units(comparison)),
        **assets("compare"),
    )


def _values(comparison: ComparedSystems) -> Iterator[DotFigure]:
    for score in comparison.scores:
        rows = [
            (value["system"], value["value"], value)
            for value in score["values"]
            if value["value"] is not None
        ]
        if rows:
            yield _figure(score["score"], "system", "value", rows, is_difference=False)


def _differences(comparison: ComparedSystems, scores: Sequence[Entry], title: str) -> Iterator[DotFigure]:
    """A figure for each system: its differences to the baseline, one row for each score."""
    for number, system in enumerate(comparison.systems[1:]):
        entries = [(score["score"], score["against_baseline"][number]) for score in scores]
        rows = [
            (name, entry["difference"], entry) for name, entry in entries if entry["difference"] is not None
        ]
        if rows:
            heading = f"{title}: {system}, compared with {comparison.systems[0]}"
            yield _figure(heading, "score", "difference", rows, is_difference=True)


def _figure(
    title: str, first: str, second: str, rows: Sequence[tuple[str, float, Entry]], *, is_difference: bool
) -> DotFigure:
    numbers = [value for _, middle, entry in rows for value in (middle, entry["low"], entry["high"])]
    low, high = _ends([0.0, *numbers] if is_difference else numbers)

    def place(value: float) -> float:
        return round(100 * (value - low) / (high - low), 2)

    shown = []
    for name, middle, entry in rows:
        ends = None if entry["low"] is None else (place(entry["low"]), place(entry["high"]))
        shown.append(
            DotRow(
                cut_label(name),
                None if ends is None else ends[0],
                0.0 if ends is None else round(ends[1] - ends[0], 2),
                place(middle),
                f"{points(middle, sign=is_difference)} {interval(entry, sign=is_difference)}",
            )
        )
    zero = place(0.0) if is_difference else None
    axis = points(low, sign=is_difference), points(high, sign=is_difference)
    return DotFigure(cut_label(title, 120), first, second, *axis, zero, shown)


def _ends(numbers: Iterable[float | None]) -> tuple[float, float]:
    """The ends of an axis on which all numbers lie."""
    known = [number for number in numbers if number is not None]
    low, high = min(known), max(known)
    margin = (high - low) / 20 or 0.01
    return low - margin, high + margin


def _units(comparison: ComparedSystems) -> Iterator[ShownTable]:
    for table in comparison.most:
        if not table["units"]:  # the same counts everywhere, or an undefined score
            continue
        rows = [
            [cut_label(unit), points(influence, sign=True), f"{positions:,}"]
            for unit, influence, positions in table["units"]
        ]
        title = f"{table['score']}: {table['system']}, compared with {comparison.systems[0]}"
        yield ShownTable(cut_label(title, 120), ("unit", "share of the difference", "positions"), rows)
