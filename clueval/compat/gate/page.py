"""The result of metric ``gate`` as one web page that loads nothing else: no network, no other file, no
script.

The page has the score tables, for every type and over all, the precision-recall curve over the score
thresholds as a drawing (SVG) with its average precision, the changes from a reference, and the evaluation of
candidate lists. Strict is a full line and lenient a dashed one. `clueval.reports.page` describes why text
from the corpus cannot become markup.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clueval.exceptions import UsageError
from clueval.metrics.tables import gate
from clueval.reports.page import ShownTable, assets, environment
from clueval.writing import whole_file

LEFT, TOP, SIDE = 52, 14, 320
"""The left and top edge of the square in the drawing, and its length, in units of the drawing."""

MOST_DOTS = 200
"""A curve of more points is drawn without dots."""

KINDS = ("strict", "lenient")


@dataclass(frozen=True, slots=True)
class Dot:
    """A point of a curve in the drawing, and its description."""

    x: float
    y: float
    title: str


@dataclass(frozen=True, slots=True)
class Line:
    """One curve: strict or lenient, its points from the highest threshold down, its average precision."""

    kind: str
    dots: tuple[Dot, ...]
    average_precision: float | None

    @property
    def points(self) -> str:
        """Return the points as SVG writes them."""
        return " ".join(f"{dot.x:g},{dot.y:g}" for dot in self.dots)

    @property
    def shows_dots(self) -> bool:
        return len(self.dots) <= MOST_DOTS


@dataclass(frozen=True, slots=True)
class Picture:
    """A precision-recall curve."""

    title: str
    lines: tuple[Line, ...]


def write_page(path: Path, report: Mapping[str, Any], *, title: str = "GATE's evaluation") -> None:
    """Write the page, whole or not at all.

    `report` is the output of `Result.to_dict` for an evaluation with metric ``gate``. Raises `UsageError` if
    it lacks the metric, `MissingExtra` without Jinja2, `FileError` if the file cannot be written.
    """
    page = render(report, title=title)
    with whole_file(path) as file:
        file.write(page)


def render(report: Mapping[str, Any], *, title: str = "GATE's evaluation") -> str:
    """Return the page as a string; see `write_page`."""
    if "gate" not in report["metrics"]:
        raise UsageError("the report lacks the metric 'gate'", advice="evaluate with metrics=['gate']")
    jinja = environment()
    return jinja.get_template("gate.html").render(
        title=title,
        report=report,
        pictures=list(pictures(report["metrics"]["gate"])),
        main_tables=list(_tables(report["metrics"], "")),
        more_tables=list(_tables_of_groups(report)),
        **assets("gate"),
        left=LEFT,
        top=TOP,
        side=SIDE,
        ticks=[n / 5 for n in range(6)],
    )


def _tables(metrics: Mapping[str, Any], where: str) -> Iterator[ShownTable]:
    for sequence, report in metrics["gate"].items():
        for table in gate(f"{where}gate, {sequence}", report):
            yield ShownTable.of(table, ("all",))


def _tables_of_groups(report: Mapping[str, Any]) -> Iterator[ShownTable]:
    """Yield the tables of each metadata value by which the report is broken down."""
    for key, groups in report.get("by", {}).items():
        for value, group in groups.items():
            yield from _tables(group["metrics"], f"{key} {value}: ")


def pictures(sequences: Mapping[str, Any]) -> Iterator[Picture]:
    """Yield the curves of every sequence that has scores, and of its candidate lists."""
    for sequence, report in sequences.items():
        curves = {
            f"{sequence}: responses by their score": (
                report["thresholds"],
                report.get("average_precision", {}),
            ),
            f"{sequence}: candidate lists by score": (report.get("lists", {}).get("by_score", {}), {}),
        }
        for name, (thresholds, average) in curves.items():
            lines = tuple(Line(kind, tuple(_dots(thresholds, kind)), average.get(kind)) for kind in KINDS)
            if lines[0].dots:
                yield Picture(name, lines)


def _dots(thresholds: Mapping[str, Any], kind: str) -> Iterator[Dot]:
    """Yield the points of a curve, from the highest threshold down, without infinity."""
    for name in sorted(filter(_is_finite, thresholds), key=float, reverse=True):
        precision, recall = (thresholds[name][f"{what}_{kind}"] for what in ("precision", "recall"))
        yield Dot(
            round(LEFT + SIDE * recall, 2),
            round(TOP + SIDE * (1 - precision), 2),
            f"threshold {name}: precision {precision:.4f}, recall {recall:.4f}",
        )


def _is_finite(threshold: str) -> bool:
    return math.isfinite(float(threshold))
