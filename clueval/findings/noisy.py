"""Every gold span with the predicted span that it takes, as metric ``noisy`` pairs them: as rows, and as a web page.

Positions are those of the documents; the end of a span is exclusive, and the column names say so. In rows, texts are
shown unchanged, except for characters that would control a terminal, break out of a cell or begin a formula.

The page loads nothing else: no network, no other file. It has the metric's score tables and the signature, and every
gold span with the predicted span that it takes, their texts in columns, one above the other. A column that differs is
marked by a sign, not by its colour alone: ``≠`` for a replaced character, ``−`` for one that only gold has, ``+`` for
one that only the predicted text has. The number of these signs is the distance. A gold span without a counterpart is
shown above the predicted text opposite to it.

The page holds the spans as data, one line each, and its script shows those that the reader scrolls to.
`clueval.reports.page` describes why text from the corpus cannot become markup.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice, starmap
from pathlib import Path
from typing import Any

from clueval.core.span import Span
from clueval.files.writing import whole_file
from clueval.first.metrics.metric import Side
from clueval.first.metrics.noisy import Explanation, Noisy
from clueval.first.metrics.tables import noisy
from clueval.reports.language import numeral, phrase
from clueval.reports.page import ShownTable, assets, environment, json_inside
from clueval.reports.separated import guarded
from clueval.reports.table import Cell, Rate, Table, cut_label
from clueval.spans.document import Document
from clueval.statistics.alignment import align

WITHOUT_SCRIPT = 500
"""The number of spans that the page shows without its script."""

MOST_CHARACTERS = 2000
"""The number of characters of a text that the page shows without its script."""

Explained = Iterable[tuple[str, Explanation]]
"""Explanations, each with the id of its document."""


def write_page(
    path: Path,
    report: Mapping[str, Any],
    explained: Explained,
    *,
    title: str | None = None,
) -> None:
    """Write the page, whole or not at all.

    `report` is the output of `Result.to_dict` for an evaluation with the metric ``noisy``; `explained` are the
    explanations for the same files, filter and threshold, which are streamed to the file. Raises `MissingExtra` without
    Jinja2 or rapidfuzz, `FileError` if the file cannot be written.
    """
    pieces = _rendered(report, explained, title or phrase("Noisy texts"))
    with whole_file(path) as file:
        for piece in pieces:
            file.write(piece)


def _rendered(report: Mapping[str, Any], explained: Explained, title: str) -> Iterator[str]:
    jinja = environment()
    from markupsafe import Markup  # comes with Jinja

    rest = iter(explained)
    first = list(islice(rest, WITHOUT_SCRIPT))
    return jinja.get_template("aligned.html").generate(
        title=title,
        report=report,
        main_tables=[ShownTable.of(table, (phrase("ALL"),)) for table in _tables(report["metrics"], "")],
        more_tables=list(_tables_of_groups(report)),
        **assets("aligned", "aligned"),
        without_script=WITHOUT_SCRIPT,
        cards=starmap(_card, first),
        data=(Markup(line) for line in _lines(chain(first, rest))),
    )


def _tables(metrics: Mapping[str, Any], where: str) -> Iterator[Any]:
    for sequence, report in metrics["noisy"].items():
        yield from noisy(f"{where}noisy, {sequence}", report)


def _tables_of_groups(report: Mapping[str, Any]) -> Iterator[ShownTable]:
    """Yield the tables of each metadata value by which the report is broken down."""
    for key, groups in report.get("by", {}).items():
        for value, group in groups.items():
            for table in _tables(group["metrics"], f"{key} {value}: "):
                yield ShownTable.of(table, (phrase("ALL"),))


# --- data
# ----------------------------------------------------------------------------------------------------


def _lines(explained: Explained) -> Iterator[str]:
    """Yield the gold spans as lines of JSON, with a line for the document whenever it changes."""
    here: str | None = None
    for document, one in explained:
        if document != here:
            here = document
            yield json_inside(["d", document]) + "\n"
        yield json_inside(_row(one)) + "\n"


def _card(document: str, one: Explanation) -> dict[str, Any]:
    """Return the values of a card for a browser that runs no script."""
    result = "none" if one.predicted is None else "matched" if one.matched else "not-matched"
    ranges = {"gold": _range(one.gold), "predicted": _range(one.predicted)}
    rate = "" if one.error_rate is None else f" = {numeral(100 * one.error_rate, '.2f')} %"
    distance = f"{phrase('distance')} {numeral(one.distance)} / {numeral(len(one.gold_text))}{rate}"
    what = f"{'|'.join(one.gold.by_layer)} {one.gold.label}"
    words = phrase(_RESULTS[result])[2:]
    return {
        "tips": {
            side: f"{phrase(side)} · {what} · [{ends[0]},{ends[1]}) · {words}"
            for side, ends in ranges.items()
            if ends
        },
        "document": document,
        "label": one.gold.label,
        "result": result,
        "words": phrase(_RESULTS[result]),
        "distance": distance if one.predicted else "",
        "where": " · ".join(f"{phrase(side)} [{ends[0]},{ends[1]})" for side, ends in ranges.items() if ends),
        "gold": cut_label(one.gold_text, MOST_CHARACTERS),
        "side": "predicted" if one.predicted else "opposite",
        "other": cut_label(one.predicted_text if one.predicted else one.opposite, MOST_CHARACTERS),
    }


_RESULTS = {"matched": "✓ matched", "not-matched": "✗ not matched", "none": "○ no counterpart"}


def _row(one: Explanation) -> list[object]:
    """Return a gold span in the form that the page reads. Lengths are in code points."""
    other = one.opposite if one.predicted is None else one.predicted_text
    return [
        "e",
        one.gold.label,
        "|".join(one.gold.by_layer),
        _range(one.gold),
        _range(one.predicted),
        int(one.matched),
        one.distance,
        len(one.gold_text),
        one.error_rate,
        [own if own == read else [own, read] for own, read in _pieces(one.gold_text, other)],
        one.opposite if one.predicted is not None and one.opposite != other else None,
    ]


def _pieces(own: str, other: str) -> Iterator[tuple[str, str]]:
    """Return the two texts in aligned pieces; no span is too long to be shown."""
    return align(own, other, max_cells=len(own) * len(other)).pieces()


def _range(span: Span | None) -> list[int] | None:
    return None if span is None else [span.start, span.end]


def explained(gold: Document, predicted: Document, metric: Noisy) -> Iterator[tuple[str, Explanation]]:
    """Yield the document id and the explanation of each gold span of two documents, as `Noisy.explain` gives them."""
    for layer in dict.fromkeys([*gold.layers, *predicted.layers]):
        sides = (Side(document.layers.get(layer, ()), document=document) for document in (gold, predicted))
        for explanation in metric.explain(*sides):
            yield gold.id, explanation


def _cells(document: str, one: Explanation) -> list[Any]:
    """Return a gold span with its counterpart, for a table and for lines of TSV."""
    return [
        document,
        one.gold.label,
        one.gold,
        one.gold_text,
        one.predicted,
        one.predicted_text,
        one.opposite,
        one.distance,
        Rate(one.error_rate),
        "yes" if one.matched else "no",
    ]


def explanation_table(title: str, explained: Explained) -> Table:
    """Return a table of every gold span with its counterpart, for text or Markdown. Holds all rows."""

    def shown(cell: Any) -> Cell | Rate:
        if isinstance(cell, Span):
            return f"[{cell.start},{cell.end})"
        return "" if cell is None else cell

    header = ["document", "label", "gold [start,end)", "gold text", "predicted [start,end)", "predicted text"]
    header += ["opposite", "distance", "error rate", "matched"]
    return Table(title, header, [list(map(shown, _cells(*each))) for each in explained])


def explanation_rows(explained: Explained) -> Iterator[str]:
    """Yield the same rows as lines of TSV without line ends, the header first. The error rate is a fraction."""

    def written(cell: Any) -> list[str]:
        if cell is None:
            return ["", ""]
        if isinstance(cell, Span):
            return [str(cell.start), str(cell.end)]
        if isinstance(cell, Rate):
            return ["" if cell.value is None else str(cell.value)]
        return [guarded(cell) if isinstance(cell, str) else str(cell)]

    spans = [
        f"{side}_{what}" for side in ("gold", "predicted") for what in ("start", "end_exclusive", "text")
    ]
    yield "\t".join(["document", "label", *spans, "opposite", "distance", "error_rate", "matched"])
    for each in explained:
        yield "\t".join(chain.from_iterable(map(written, _cells(*each))))
