"""The page of a chosen threshold: the curves as drawings, with the chosen points."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from clueval.reports.curve import FRAME, Line, Picture, dot
from clueval.reports.cutting import cut_label
from clueval.reports.page import ShownTable, assets, environment
from clueval.studies.threshold import Threshold
from clueval.writing import whole_file


def write_page(path: Path, found: Threshold, *, title: str = "Threshold") -> None:
    """Write the page, whole or not at all. Raises `MissingExtra` without Jinja2, `FileError`."""
    page = render_page(found, title=title)
    with whole_file(path) as file:
        file.write(page)


def render_page(found: Threshold, *, title: str = "Threshold") -> str:
    """Return the page as a string."""
    return (
        environment()
        .get_template("threshold.html")
        .render(
            title=title,
            report=found.report,
            pictures=list(_pictures(found)),
            main_tables=[ShownTable.of(table) for table in found.tables()],
            more_tables=(),
            frame=FRAME,
            **assets("curve"),
        )
    )


def _pictures(found: Threshold) -> Iterator[Picture]:
    for label, curve in found.curves.items():
        name = "all labels" if label is None else cut_label(label)
        dots = tuple(
            dot(
                f"{point['threshold']:.6g}",
                point["precision"],
                point["recall"],
                chosen=point["threshold"] == found.chosen[label]["threshold"],
            )
            for point in reversed(curve["curve"])
        )
        yield Picture(name, (Line("strict", name, dots, curve["average_precision"]),))
