"""The page of a chosen threshold: the curves as drawings, with the chosen points."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from clueval.reports.curve import FRAME, Line, Picture, dot
from clueval.reports.cutting import cut_label
from clueval.reports.page import ShownTable, assets, environment
from clueval.reports.table import Table
from clueval.writing import whole_file

Points = Mapping[str | None, Mapping[str, Any]]
"""Of each label (None: all) its curve, or the point that was chosen on it."""


def write_page(
    path: Path,
    report: Mapping[str, Any],
    tables: Iterable[Table],
    curves: Points,
    chosen: Points,
    *,
    title: str = "Threshold",
) -> None:
    """Write the page, whole or not at all. Raises `MissingExtra` without Jinja2, `FileError`."""
    page = (
        environment()
        .get_template("threshold.html")
        .render(
            title=title,
            report=report,
            pictures=list(_pictures(curves, chosen)),
            main_tables=[ShownTable.of(table) for table in tables],
            more_tables=(),
            frame=FRAME,
            **assets("curve"),
        )
    )
    with whole_file(path) as file:
        file.write(page)


def _pictures(curves: Points, chosen: Points) -> Iterator[Picture]:
    for label, curve in curves.items():
        name = "all labels" if label is None else cut_label(label)
        dots = tuple(
            dot(
                f"{point['threshold']:.6g}",
                point["precision"],
                point["recall"],
                chosen=point["threshold"] == chosen[label]["threshold"],
            )
            for point in reversed(curve["curve"])
        )
        yield Picture(name, (Line("strict", name, dots, curve["average_precision"]),))
