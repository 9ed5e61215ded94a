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
from pathlib import Path
from typing import Any

from clueval.exceptions import UsageError
from clueval.metrics.tables import gate
from clueval.reports.curve import FRAME, Dot, Line, Picture, dot
from clueval.reports.page import ShownTable, assets, environment
from clueval.writing import whole_file

KINDS = ("strict", "lenient")


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
        **assets("curve"),
        frame=FRAME,
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
            lines = tuple(
                Line(kind, kind, tuple(_dots(thresholds, kind)), average.get(kind)) for kind in KINDS
            )
            if lines[0].dots:
                yield Picture(name, lines)


def _dots(thresholds: Mapping[str, Any], kind: str) -> Iterator[Dot]:
    """Yield the points of a curve, from the highest threshold down, without infinity."""
    for name in sorted((each for each in thresholds if math.isfinite(float(each))), key=float, reverse=True):
        precision, recall = (thresholds[name][f"{what}_{kind}"] for what in ("precision", "recall"))
        yield dot(name, precision, recall)
