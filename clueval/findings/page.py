"""Findings as one web page that loads nothing else: no network, no other file.

The page has the score tables and the signature; for each layer the classes of each label in both directions
and a confusion matrix for each side, whose cells filter the list; and the list of findings. The page holds
the findings as data, one line each, and its script shows those that the reader scrolls to. Text from the
corpus never becomes markup: Jinja escapes its output, the page's script writes text only, and a content
security policy names that script by its hash, so that no other script can run.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from clueval.findings.choice import SIDES, Choice, expected
from clueval.findings.rows import LONGEST_OTHER, shortened
from clueval.findings.table import FINDING_KINDS, Finding
from clueval.metrics.tables import LEVEL_NAMES, of_known
from clueval.reports.cutting import cut_label
from clueval.reports.matrices import how_many, labels_of
from clueval.reports.page import ShownTable, environment, json_inside, script_hash, template
from clueval.reports.table import Table
from clueval.spans.match_classes import UNMATCHED
from clueval.writing import whole_file

_MEANINGS = {
    "exact": "the same span",
    "superset": "one span covers it",
    "tiling": "adjacent spans cover it exactly",
    "overlap": "adjacent spans cover it and stick out",
    "missed / spurious": "everything else",
}


def write(
    path: Path,
    findings: Iterable[Finding],
    report: Mapping[str, Any],
    choice: Choice | None = None,
    *,
    title: str = "Errors",
) -> int:
    """Write the page, whole or not at all, and return the number of findings.

    `report` is the output of `Result.to_dict` for an evaluation with the metrics ``levels`` and ``confusion``
    over the same files, filter and merging as `findings`, which were selected by `choice`. The findings are
    streamed to the file. Raises `MissingExtra` without Jinja2, `FileError` if the file cannot be written.
    """
    lines = _Lines(findings)
    pieces = _rendered(lines, report, choice or Choice(), title)
    with whole_file(path) as file:
        for piece in pieces:
            file.write(piece)
    return lines.findings


def render(
    findings: Iterable[Finding],
    report: Mapping[str, Any],
    choice: Choice | None = None,
    *,
    title: str = "Errors",
) -> str:
    """Return the page as a string; see `write`."""
    return "".join(_rendered(_Lines(findings), report, choice or Choice(), title))


def _rendered(lines: Iterable[str], report: Mapping[str, Any], choice: Choice, title: str) -> Iterator[str]:
    jinja = environment()
    from markupsafe import Markup  # comes with Jinja

    script = template("page.js")
    main_tables, more_tables = _score_tables(report, choice)
    return jinja.get_template("page.html").generate(
        title=title,
        report=report,
        choice_text=_in_words(choice),
        main_tables=main_tables,
        more_tables=more_tables,
        classes=list(_MEANINGS.items()),
        pictures=list(_pictures(report, choice)),
        style=Markup(template("page.css")),
        script=Markup(script),
        script_hash=script_hash(script),
        about=Markup(json_inside({"kinds": FINDING_KINDS, "expected": _expected(report, choice)})),
        data=(Markup(line) for line in lines),
    )


# --- data
# ----------------------------------------------------------------------------------------------------


class _Lines:
    """The findings as lines of JSON, with a line for the document whenever it changes."""

    def __init__(self, findings: Iterable[Finding]) -> None:
        self._findings = findings
        self.findings = 0

    def __iter__(self) -> Iterator[str]:
        document: tuple[object, ...] | None = None
        for finding in self._findings:
            here = (finding.document, finding.metadata, finding.file)
            if here != document:
                document = here
                yield json_inside(["d", finding.document, _metadata(finding), finding.file]) + "\n"
            self.findings += 1
            yield json_inside(_row(finding)) + "\n"


def _metadata(finding: Finding) -> dict[str, str]:
    """Return the metadata without the id, which the page shows anyway."""
    return {key: value for key, value in finding.metadata.items() if (key, value) != ("id", finding.document)}


def _row(finding: Finding) -> list[object]:
    context = finding.context
    others = zip(finding.other_texts, finding.other_labels, strict=True)
    return [
        "f",
        finding.side or "",
        finding.sequence,
        finding.kind,
        finding.reason,
        finding.text,
        finding.labels,
        finding.start,
        finding.end,
        finding.first_token_id,
        finding.last_token_id,
        finding.found,
        [[shortened(text, LONGEST_OTHER), labels] for text, labels in others],
        finding.other_start,
        finding.other_end,
        finding.other_first_token_id,
        finding.other_last_token_id,
        finding.sentences,
        finding.line,
        finding.unit,
        context.joiner,
        int(context.cut_before),
        int(context.cut_after),
        [
            [piece.text, int(piece.mark in ("own", "both")), *([piece.others] if piece.others else [])]
            for piece in context.pieces
        ],
    ]


# --- scores
# --------------------------------------------------------------------------------------------------


def _score_tables(report: Mapping[str, Any], choice: Choice) -> tuple[list[ShownTable], list[ShownTable]]:
    """Return the tables that belong to the choice, and all others."""
    first, more = [], []
    for table in of_known(report):
        if _is_main(table, choice):
            first.append(_as_shown(table, choice))
        else:
            more.append(_as_shown(table, choice))
    return first, more


def _is_main(table: Table, choice: Choice) -> bool:
    ending = "unlabelled" if choice.labelled is None else f"labelled by {cut_label(choice.labelled)}"
    return table.title.startswith("levels, ") and table.title.endswith(f": {ending}")


def _as_shown(table: Table, choice: Choice) -> ShownTable:
    level = LEVEL_NAMES[str(choice.level)]
    return ShownTable.of(table, (level, f"{level}, micro"))


def _in_words(choice: Choice) -> str:
    """Return a description of the choice."""
    listed = f"errors above level {choice.level} ({LEVEL_NAMES[str(choice.level)].lstrip('1234 +')})"
    if choice.labelled is not None:
        listed = f"errors at level {choice.level}, including wrong labels of {choice.labelled}"
    parts = [listed]
    if len(choice.sides) == 1:
        parts.append(f"{choice.sides[0]} side only")
    if choice.kinds:
        parts.append("only " + ", ".join(kind for kind in FINDING_KINDS if kind in choice.kinds))
    if choice.where:
        parts.append(f"where {choice.where}")
    return " · ".join(parts)


def _expected(report: Mapping[str, Any], choice: Choice) -> int | None:
    """Return the number of errors according to the scores, if the report has it."""
    sequences = report["metrics"].get("levels")
    if sequences is None:
        return None
    return sum(sum(expected(sequence, choice).values()) for sequence in sequences.values())


# --- charts
# --------------------------------------------------------------------------------------------------


def _pictures(report: Mapping[str, Any], choice: Choice) -> Iterator[dict[str, Any]]:
    """Yield the bars and matrices of each layer of each sequence that metric ``confusion`` counted."""
    for sequence, layers in report["metrics"].get("confusion", {}).items():
        for layer, of_layer in layers.items():
            captions = ("Gold spans: how they are found", "Predicted spans: how they match gold")
            matrices = of_layer["levels"][str(choice.level)]
            yield {
                "title": cut_label(layer if layer == sequence else f"{layer} ({sequence})"),
                "sides": [
                    {"caption": caption, "bars": _bars(of_layer["classes"][side])}
                    for side, caption in zip(SIDES, captions, strict=True)
                ],
                "matrices": [_matrix(matrices[side], side, sequence, layer, choice) for side in SIDES],
                "note": _note(layer, choice),
            }


def _bars(classes: Mapping[str, Mapping[str, int]]) -> list[dict[str, Any]]:
    most = max((sum(counts.values()) for counts in classes.values()), default=0)
    bars = []
    for label, counts in classes.items():
        spans = sum(counts.values())
        spoken = ", ".join(f"{n:,} {kind}" for kind, n in counts.items() if n)
        bars.append(
            {
                "label": cut_label(label),
                "spans": spans,
                "width": 100 * spans / most if most else 0,
                "parts": [{"kind": kind, "n": n} for kind, n in counts.items()],
                "spoken": f"{cut_label(label)}: {spoken}",
            }
        )
    return bars


def _matrix(
    matrix: Mapping[str, Any], side: str, sequence: str, layer: str, choice: Choice
) -> dict[str, Any]:
    found: Mapping[str, Mapping[str, int]] = matrix["found"]
    nothing = UNMATCHED[side]
    labels, number = labels_of(matrix, nothing)
    unlabelled = any(matrix["unlabelled"].values())
    columns = [{"name": nothing, "css": "apart" if unlabelled else "apart last"}]
    if unlabelled:
        columns.append({"name": "no label", "css": "apart last"})
    columns += [{"name": cut_label(label), "css": ""} for label in labels]
    verb = "found as" if side == "gold" else "where gold has"

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
        words = f"{n:,} {side} {cut_label(label)} {verb if name == to else ''} {cut_label(name)}"
        return {
            "n": n,
            "share": n / whole if whole else 0,
            "css": " ".join(
                filter(None, ["good" if good else "", "" if n else "none", "apart" if name != to else ""])
            ),
            "clickable": clickable,
            "spoken": words.replace("  ", " "),
            "filter": json.dumps(chosen) if clickable else "",
        }

    rows = []
    for label in labels:
        if label not in found:
            continue
        of_label = found[label]
        whole = sum(of_label.values()) + matrix["unlabelled"][label] + matrix[nothing][label]
        cells = [cell(label, matrix[nothing][label], whole, None, nothing)]
        if unlabelled:
            cells.append(cell(label, matrix["unlabelled"][label], whole, "", "no label"))
        cells[-1]["css"] += " last"
        cells += [cell(label, of_label.get(other, 0), whole, other, other) for other in labels]
        rows.append({"label": cut_label(label), "cells": cells})
    caption = "Gold spans by the label found" if side == "gold" else "Predicted spans by the label in gold"
    caption = f"{caption}, level {choice.level}{how_many(len(labels), number)}"
    return {"caption": caption, "columns": columns, "rows": rows}


def _is_listed(side: str, layer: str, to: str | None, choice: Choice) -> bool:
    """Return whether the spans of a cell off the diagonal are among the findings."""
    return side in choice.sides and (layer == choice.labelled or (choice.labelled is None and to is None))


def _note(layer: str, choice: Choice) -> str:
    text = (
        f"Rows add up to all spans with that label. The first column counts spans not matched at level "
        f"{choice.level}, including partial overlaps. Click an underlined number to show those spans."
    )
    if choice.labelled != layer:
        text += f" To list label errors too, run with --labelled {layer}."
    return text
