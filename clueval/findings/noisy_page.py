"""What the metric ``noisy`` found as one web page that needs nothing else: no network, no other file.

The page has the metric's score tables and the signature, and every gold span with its counterpart, their
texts one above the other in columns. A column that differs is marked by a sign, not by its colour alone:
``≠`` for a replaced character, ``−`` for one that only gold has, ``+`` for one that only the predicted text
has. The number of these signs is the distance. A gold span without a counterpart stands above what the
predicted text has opposite to it.

The spans stand in the page as data, a line each, and the page makes visible what is looked at. How text from
the corpus is kept from becoming markup is said in `clueval.reports.page`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from clueval.exceptions import UsageError
from clueval.metrics.noisy import Explanation
from clueval.metrics.tables import noisy
from clueval.reports.page import ShownTable, environment, json_inside, score_table, script_hash, template
from clueval.spans.span import Span
from clueval.transforms.alignment import align
from clueval.writing import whole_file

_Counts = Counter[tuple[str, str]]
"""How often a label (second) occurs, or matches (first: ``gold`` or ``matched``)."""


def write_page(
    path: Path,
    report: Mapping[str, Any],
    explained: Iterable[tuple[str, Explanation]],
    *,
    title: str = "Noisy texts",
) -> None:
    """Write the page, whole or not at all.

    `report` is what `Result.to_dict` gives, of an evaluation with the metric ``noisy``; `explained` are the
    explanations of the same files, filter and threshold, each with the id of its document. They stream into
    the file. Raises `UsageError` if the report lacks the metric or counts other spans or matches than are
    explained, `MissingExtra` without Jinja2 or rapidfuzz, `FileError` if the file cannot be written.
    """
    pieces = _rendered(report, explained, title)
    with whole_file(path) as file:
        for piece in pieces:
            file.write(piece)


def _rendered(
    report: Mapping[str, Any], explained: Iterable[tuple[str, Explanation]], title: str
) -> Iterator[str]:
    jinja = environment()
    from markupsafe import Markup  # comes with Jinja

    if "noisy" not in report["metrics"]:
        raise UsageError("the report lacks the metric 'noisy'", advice="evaluate with metrics=['noisy']")
    script = template("aligned.js")
    return jinja.get_template("aligned.html").generate(
        title=title,
        report=report,
        signature=report["signature"],
        main_tables=[ShownTable.of(table, ("ALL",)) for table in _tables(report["metrics"], "")],
        more_tables=list(_tables_of_groups(report)),
        score_table=score_table(jinja),
        style=Markup(template("page.css") + template("aligned.css")),
        script=Markup(script),
        script_hash=script_hash(script),
        data=(Markup(line) for line in _lines(explained, _counted(report))),
    )


def _tables(metrics: Mapping[str, Any], where: str) -> Iterator[Any]:
    for sequence, report in metrics["noisy"].items():
        yield from noisy(f"{where}noisy, {sequence}", report)


def _tables_of_groups(report: Mapping[str, Any]) -> Iterator[ShownTable]:
    """The tables of each value of the metadata that the report is broken down by, if it is."""
    for key, groups in report.get("by", {}).items():
        for value, group in groups.items():
            for table in _tables(group["metrics"], f"{key} {value}: "):
                yield ShownTable.of(table, ("ALL",))


# --- the data ------------------------------------------------------------------------------------------------


def _lines(explained: Iterable[tuple[str, Explanation]], counted: _Counts) -> Iterator[str]:
    """The gold spans as lines of JSON, a line before them whenever the document changes.

    Raises `UsageError` at the end if they are not those that were counted.
    """
    found: _Counts = Counter()
    here: str | None = None
    for document, one in explained:
        if document != here:
            here = document
            yield json_inside(["d", document]) + "\n"
        found["gold", one.gold.label] += 1
        found["matched", one.gold.label] += one.matched
        yield json_inside(_row(one)) + "\n"
    _check(found, counted)


def _row(one: Explanation) -> list[object]:
    """A gold span as the page reads it. The lengths are in code points."""
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
    """The two texts in pieces that stand one above the other; a span is never too long to be shown."""
    return align(own, other, max_cells=len(own) * len(other)).pieces()


def _range(span: Span | None) -> list[int] | None:
    return None if span is None else [span.start, span.end]


def _counted(report: Mapping[str, Any]) -> _Counts:
    """What the scores count, over all sequences."""
    counts: _Counts = Counter()
    for sequence in report["metrics"]["noisy"].values():
        for label, entry in sequence["per_label"].items():
            for what in ("gold", "matched"):
                counts[what, label] += entry[what]
    return counts


def _check(found: _Counts, counted: _Counts) -> None:
    for what, label in sorted(found.keys() | counted.keys()):
        if found[what, label] != counted[what, label]:
            raise UsageError(
                f"the scores count {counted[what, label]:,} {what} spans of label {label!r}, "
                f"and {found[what, label]:,} are explained",
                advice="explain the files that were scored, with the same threshold and filter",
            )
