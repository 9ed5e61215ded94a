"""Findings as one web page that loads nothing else: no network, no other file.

The page has a summary of each layer, three examples of each kind of error, and the list of places in text order;
confusion matrices, whose cells filter the list, and the score tables are folded. The page holds the places as data,
one line each, and its script shows those that the reader scrolls to; the first `WITHOUT_SCRIPT` are there for
browsers that run none. Text from the
corpus never becomes markup: Jinja escapes its output, the page's script writes text only, and a content
security policy names that script by its hash, so that no other script can run.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, get_args

from clueval.files.writing import whole_file
from clueval.findings.cards import card, examples, metadata_of, row
from clueval.findings.choice import SIDES, Choice, ReasonKey, expected, in_words, reports_of
from clueval.findings.decisions import PlaceDecisions
from clueval.findings.page_profile import BucketLines, PageProfile
from clueval.findings.places import ErrorPlace, places
from clueval.findings.summary import MEANINGS, summaries
from clueval.findings.systems import System
from clueval.findings.table import FINDING_KINDS, REASONS, Finding
from clueval.first.metrics.tables import LEVEL_NAMES, labelled_by, of_known, titled
from clueval.reports.language import numeral, phrase
from clueval.reports.page import ShownTable, assets, environment, json_inside
from clueval.reports.table import Table, cut_label, how_many, labels_of
from clueval.spans.document import Unit
from clueval.spans.match_classes import UNMATCHED

WITHOUT_SCRIPT = 500
"""The number of places that a page shows without its script."""


def write(
    path: Path,
    findings: Iterable[Finding],
    report: Mapping[str, Any],
    choice: Choice,
    counts: Mapping[ReasonKey, int],
    *,
    title: str | None = None,
    store: str = "",
    profile: PageProfile | None = None,
    decisions: PlaceDecisions | None = None,
    decided: Iterable[Table] = (),
) -> None:
    """Write the page, whole or not at all.

    `findings` can be iterated twice; memory does not grow with them. `report` is the output of `Result.to_dict` for an
    evaluation with the metrics of `choice` (see `metrics_of`) over the same files, filter and merging as `findings`,
    which were selected by `choice`; `counts` was filled when they were found (see `clueval.findings.choice.findings`).
    The page has the `decisions`, and shows the tables `decided`; the browser keeps those made there under `store`.
    Raises `MissingExtra` without Jinja2, `FileError` if the file cannot be written.
    """
    from markupsafe import Markup  # comes with Jinja

    buckets = BucketLines(profile)
    main_tables, more_tables = _score_tables(report, choice)
    write_places(
        path,
        "errors.html",
        lambda: places(findings),
        report,
        choice,
        {
            "expected": _expected(report, choice),
            "given": [] if decisions is None else list(decisions.rows()),
            "store": f"errors.html {store}",
        },
        see=buckets.see,
        parts=[] if profile is None else ["errors_profile"],
        title=title or phrase("Errors"),
        decided=[ShownTable.of(table) for table in decided],
        main_tables=main_tables,
        more_tables=more_tables,
        summaries=list(summaries(report, choice, counts)),
        pictures=list(_pictures(report, choice, counts)),
        profiles=[] if profile is None else list(profile.pictures()),
        buckets=map(Markup, buckets),
    )


def write_places(
    path: Path,
    template: str,
    found: Callable[[], Iterable[ErrorPlace]],
    report: Mapping[str, Any],
    choice: Choice,
    about: Mapping[str, Any],
    *,
    systems: Sequence[System] = (),
    see: Callable[[ErrorPlace], object] = lambda _: None,
    parts: Sequence[str] = (),
    **values: Any,
) -> None:
    """Write a page with a list of places, whole or not at all: its template takes `values`, its script takes `about`.

    Each call of `found` yields all places, `see` is given each while it is written. `systems` are those of places of
    two systems.
    """
    jinja = environment()
    from markupsafe import Markup  # comes with Jinja

    about = {
        "kinds": FINDING_KINDS,
        "reasons": REASONS,
        "matched": choice.matched,
        "expected": None,
        **about,
    }
    words = [*get_args(Unit), *FINDING_KINDS, *about.get("states", ()), about.get("stateTitle", "")]
    first = list(islice(found(), WITHOUT_SCRIPT))
    pieces = jinja.get_template(template).generate(
        report=report,
        choice_text=in_words(choice),
        systems=systems,
        meanings=MEANINGS,
        examples=examples(first, systems),
        cards=(card(place, systems) for place in first),
        without_script=WITHOUT_SCRIPT,
        about=Markup(json_inside(about)),
        data=map(Markup, _lines(found(), see, systems)),
        **assets(None, "places", parts=["decisions", "errors", *parts], words=words),
        **values,
    )
    with whole_file(path) as file:
        file.writelines(pieces)


def _lines(
    found: Iterable[ErrorPlace], see: Callable[[ErrorPlace], object], systems: Sequence[System]
) -> Iterator[str]:
    """Yield the places as lines of JSON, with a line for the document whenever it changes."""
    latest: list[object] = []
    for place in found:
        finding = place.findings[0]
        document: list[object] = ["d", finding.document, metadata_of(finding), finding.file]
        if document != latest:
            latest = document
            yield json_inside(document) + "\n"
        see(place)
        yield json_inside(row(place, systems)) + "\n"


# --- scores
# --------------------------------------------------------------------------------------------------


def _score_tables(report: Mapping[str, Any], choice: Choice) -> tuple[list[ShownTable], list[ShownTable]]:
    """Return the tables that belong to the choice, and all others."""
    first, more = [], []
    for table in of_known(report):
        if table.title.startswith("confusion, "):
            continue  # the page has it as a matrix
        if _is_main(table, choice):
            first.append(_as_shown(table, choice))
        else:
            more.append(_as_shown(table, choice))
    return first, more


def _is_main(table: Table, choice: Choice) -> bool:
    if not choice.by_levels:
        return True
    layer = choice.labelled
    ending = titled("", "unlabelled") if layer is None else labelled_by("", layer)
    return table.title.startswith("levels, ") and table.title.endswith(ending)


def _as_shown(table: Table, choice: Choice) -> ShownTable:
    level = phrase(LEVEL_NAMES[str(choice.at_level)])
    return ShownTable.of(table, (level, f"{level}, {phrase('micro')}"))


def _expected(report: Mapping[str, Any], choice: Choice) -> int | None:
    """Return the number of errors according to the scores, if the report has it."""
    sequences = reports_of(report["metrics"], choice)
    return sum(sum(expected(each, choice).values()) for each in sequences.values()) if sequences else None


# --- matrices
# --------------------------------------------------------------------------------------------------


def _pictures(
    report: Mapping[str, Any], choice: Choice, counts: Mapping[ReasonKey, int]
) -> Iterator[dict[str, Any]]:
    """Yield the matrices of each sequence: of metric ``confusion`` for each layer, or of the exact matches."""
    if not choice.by_levels:
        for sequence, exact in reports_of(report["metrics"], choice).items():
            pair = [
                _matrix(
                    _of_exact(exact["per_label"], counts, sequence, side), side, sequence, sequence, choice
                )
                for side in SIDES
            ]
            yield {"title": cut_label(sequence), "matrices": pair, "note": _note(sequence, choice)}
        return
    for sequence, layers in report["metrics"].get("confusion", {}).items():
        for layer, of_layer in layers.items():
            matrices = of_layer["levels"][str(choice.at_level)]
            yield {
                "title": cut_label(layer if layer == sequence else f"{layer} ({sequence})"),
                "matrices": [_matrix(matrices[side], side, sequence, layer, choice) for side in SIDES],
                "note": _note(layer, choice),
            }


def _of_exact(
    per_label: Mapping[str, Mapping[str, Any]], counts: Mapping[ReasonKey, int], sequence: str, side: str
) -> dict[str, Any]:
    """Return a matrix like those of metric ``confusion``: a span is found as another label if that has its range."""
    found: dict[str, dict[str, int]] = {}
    none: dict[str, int] = {}
    for label, numbers in per_label.items():
        right = int(numbers[f"tp_{side}"])
        found[label] = {label: right} if right else {}
        none[label] = int(numbers[side]) - right
    for (in_sequence, _, of_side, label, reason, other), number in counts.items():
        if (in_sequence, of_side, reason) == (sequence, side, "label") and other is not None:
            found[label][other] = number
            none[label] -= number
    return {"found": found, "unlabelled": {}, UNMATCHED[side]: none}


def _matrix(
    matrix: Mapping[str, Any], side: str, sequence: str, layer: str, choice: Choice
) -> dict[str, Any]:
    found: Mapping[str, Mapping[str, int]] = matrix["found"]
    nothing = UNMATCHED[side]
    labels, number = labels_of(matrix, nothing)
    rows_of = [label for label in labels if label in found and _sum(matrix, label, nothing)]
    columns_of = [label for label in labels if any(found[row].get(label) for row in rows_of)]
    unlabelled = any(matrix["unlabelled"].values())
    columns = [{"name": phrase("no match"), "css": "apart" if unlabelled else "apart last"}]
    if unlabelled:
        columns.append({"name": phrase("no label"), "css": "apart last"})
    columns += [{"name": cut_label(label), "css": ""} for label in columns_of]
    verb = phrase("found as") if side == "gold" else phrase("where gold has")

    def cell(label: str, n: int, whole: int, to: str | None, name: str) -> dict[str, Any]:
        good = to == label and name == label
        clickable = n > 0 and not good and _is_listed(side, layer, to, choice)
        chosen = {
            "side": side,
            "sequence": sequence,
            "layer": layer,
            "label": label,
            "found": None if to is None else "" if name != to else [to],
        }
        words = [numeral(n), phrase(side), cut_label(label), verb if name == to else "", cut_label(name)]
        return {
            "n": n,
            "share": n / whole if whole else 0,
            "css": " ".join(
                filter(None, ["good" if good else "", "" if n else "none", "apart" if name != to else ""])
            ),
            "clickable": clickable,
            "spoken": " ".join(filter(None, words)),
            "filter": json.dumps(chosen) if clickable else "",
        }

    rows = []
    for label in rows_of:
        of_label, whole = found[label], _sum(matrix, label, nothing)
        cells = [cell(label, matrix[nothing][label], whole, None, columns[0]["name"])]
        if unlabelled:
            cells.append(cell(label, matrix["unlabelled"][label], whole, "", columns[1]["name"]))
        cells[-1]["css"] += " last"
        cells += [cell(label, of_label.get(other, 0), whole, other, other) for other in columns_of]
        rows.append({"label": cut_label(label), "cells": cells})
    caption = phrase(
        "Gold spans by the label found" if side == "gold" else "Predicted spans by the label in gold"
    )
    at = phrase("level {level}", level=choice.at_level) if choice.by_levels else phrase("same range")
    caption = f"{caption}, {at}{how_many(len(labels), number)}"
    return {"caption": caption, "columns": columns, "rows": rows}


def _sum(matrix: Mapping[str, Any], label: str, nothing: str) -> int:
    others: Mapping[str, int] = matrix["found"][label]
    return sum(others.values()) + int(matrix["unlabelled"].get(label, 0)) + int(matrix[nothing][label])


def _is_listed(side: str, layer: str, to: str | None, choice: Choice) -> bool:
    """Return whether the spans of a cell off the diagonal are among the findings."""
    return side in choice.sides and (
        not choice.by_levels or layer == choice.labelled or (choice.labelled is None and to is None)
    )


def _note(layer: str, choice: Choice) -> str:
    if not choice.by_levels:
        return phrase(
            "Rows add up to all spans with that label. The first column counts spans without a match of the same "
            "range, including partial overlaps. Click an underlined number to show those spans."
        )
    text = phrase(
        "Rows add up to all spans with that label. The first column counts spans without a match at level {level}, "
        "including partial overlaps. Click an underlined number to show those spans.",
        level=choice.at_level,
    )
    if choice.labelled != layer:
        text += " " + phrase("To list label errors too, run with --labelled {layer}.", layer=layer)
    return text
