"""Agreement as one web page that loads nothing else: matrices, coefficients, and the disagreements as cards.

A card has the readings of all annotators, one above the other. A reader chooses one of them, or nothing, for each
place; the page writes the choices as the file that ``clueval curate --decisions`` reads. Decisions stay in the
browser, if it allows that, so that work can be continued, also on a later page of the same annotators (see
`clueval.findings.decisions`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain, islice
from pathlib import Path
from typing import Any

from clueval.files.writing import whole_file
from clueval.findings.decisions import require_no_choices
from clueval.reports.language import numeral, phrase
from clueval.reports.page import LONG, ShownTable, assets, environment, json_inside
from clueval.reports.table import Rate, Table, cut_label
from clueval.studies.annotators.places import BOUNDARIES, FACETS, Disagreement, spans_of, written
from clueval.studies.annotators.render import (
    ceiling_tables,
    kind_in_words,
    matrices,
    reading_in_words,
    remarks,
    sequence_tables,
)

Report = Mapping[str, Any]

WITHOUT_SCRIPT = 500
"""The number of disagreements that the page shows without its script."""

MEANINGS = (
    (
        "F1 of pairs",
        "the share of spans on which two annotators agree, by a convention for when spans agree. Report the exact F1, "
        "and that of another convention, which shows how many differences are only about boundaries.",
    ),
    (
        "kappa, pi, Fleiss, alpha",
        "agreement beyond chance: 1 is full agreement, 0 is chance, below 0 is less than chance. Alpha and Fleiss are "
        "of all annotators together; alpha also uses documents that not all of them have annotated. Report alpha.",
    ),
    (
        "all positions",
        "every token or character. The number of tokens outside all spans is arbitrary, and the more there are, the "
        "closer kappa comes to F1.",
    ),
    (
        "that one of them marked",
        "strict: what one annotator missed counts as disagreement, and tokens outside all spans do not help.",
    ),
    ("that each marked", "labels only: what an annotator missed does not count."),
    (
        "units (uα, |uα, cuα)",
        "Krippendorff's alphas for marking units in a text: of units with labels and gaps, of what is a unit at all, "
        "and of the labels of overlapping units. Report uα for spans, and cuα to see whether labels are the problem.",
    ),
)
"""What the numbers mean, and which to report."""


def write_page(
    path: Path,
    report: Report,
    disagreements: Iterable[Disagreement],
    *,
    title: str | None = None,
    store: str = "",
) -> None:
    """Write the page, whole or not at all; the disagreements are streamed to the file.

    Raises `MissingExtra` without Jinja2, `UsageError` for an annotator with the name of a choice, `FileError` if the
    file cannot be written.
    """
    jinja = environment()
    require_no_choices(report["annotators"])
    from markupsafe import Markup  # comes with Jinja

    rest = iter(disagreements)
    first = list(islice(rest, WITHOUT_SCRIPT))
    pieces = jinja.get_template("agreement.html").generate(
        title=title or phrase("Agreement of annotators"),
        report=report,
        matrices=[
            _matrix(f"{cut_label(name)}, {key}", each)
            for name in report["agreement"]
            for key, each in matrices(report, name).items()
        ],
        meanings=MEANINGS,
        remarks=list(remarks(report)),
        main_tables=[
            ShownTable.of(table)
            for table in chain(
                *(sequence_tables(report, sequence) for sequence in report["agreement"]),
                ceiling_tables(report),
            )
        ],
        more_tables=(),
        about=Markup(json_inside(_about(report, store))),
        **assets(None, "places", parts=["decisions", "agreement"], words=(*FACETS, *BOUNDARIES)),
        without_script=WITHOUT_SCRIPT,
        cards=(_card(row, len(report["agreement"]) > 1) for row in first),
        data=(Markup(json_inside(_line(row)) + "\n") for row in chain(first, rest)),
    )
    with whole_file(path) as file:
        for piece in pieces:
            file.write(piece)


def _about(report: Report, store: str) -> dict[str, Any]:
    names = report["annotators"]
    return {
        "annotators": names,
        "sequences": list(report["agreement"]),
        "store": f"agreement {' '.join([store, *names])}",
    }


def _line(row: Disagreement) -> list[Any]:
    """Return a disagreement as the script reads it."""
    readings = [
        None
        if reading is None
        else [[start - row.start, end - row.start, label] for start, end, label in reading]
        for reading in row.readings.values()
    ]
    shown = [written(reading) for reading in row.readings.values()]
    return [
        row.document,
        row.sequence,
        row.start,
        row.end,
        row.kind,
        row.boundary,
        row.votes,
        readings,
        shown,
        row.context[: row.place[0]],
        row.context[row.place[0] : row.place[1]],
        row.context[row.place[1] :],
        list(row.tokens),
        spans_of(row.readings),
    ]


def _card(row: Disagreement, has_layers: bool) -> dict[str, Any]:
    """Return the values of a card for a browser that runs no script."""
    before, after = row.place
    return {
        "what": kind_in_words(row),
        "layer": row.sequence if has_layers else "",
        "document": row.document,
        "where": f"{row.start}–{row.end - 1}",
        "before": row.context[:before],
        "inside": row.context[before:after],
        "after": row.context[after:],
        "long": len(row.context) > LONG,
        "tip": " | ".join(_tip(row, name, reading) for name, reading in row.readings.items()),
        "readings": [(cut_label(name), reading_in_words(reading)) for name, reading in row.readings.items()],
    }


def _tip(row: Disagreement, name: str, reading: Iterable[tuple[int, int, str]] | None) -> str:
    """Return the line of an annotator in the tooltip of a place."""
    spans = ", ".join(f"{label} {start}–{end - 1}" for start, end, label in reading or ())
    said = phrase("not annotated") if reading is None else spans or phrase("nothing")
    return f"{cut_label(name)} · {row.sequence} · {said}"


def _matrix(caption: str, table: Table) -> dict[str, Any]:
    """Return F1 of all pairs; each cell has its text, its value from 0 to 1, and what it is in words."""
    names = [cut_label(name) for name in table.header[1:]]
    return {
        "caption": caption,
        "names": names,
        "rows": [
            (name, [_cell(value, name, other) for value, other in zip(row[1:], names, strict=True)])
            for name, row in zip(names, table.rows, strict=True)
        ],
    }


def _cell(cell: Any, name: str, other: str) -> tuple[str, float, str]:
    value = cell.value if isinstance(cell, Rate) else None
    if value is None:
        return "–", 0.0, phrase("{name} and {other}: not defined", name=name, other=other)
    percent = numeral(100 * value, ".2f")
    spoken = phrase("F1 of {name} and {other}: {percent} %", name=name, other=other, percent=percent)
    return numeral(100 * value, ".1f"), value, spoken
