"""The report of metric `masking` as tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from clueval.reports.cutting import cut_label
from clueval.reports.table import Cell, Rate, Table

_OF_CLASSES = (
    ("mentions", "entities", "entities_in_part", "documents", "documents_exposed"),
    (
        "entity_recall",
        "mention_recall",
        "word_recall",
        "character_recall",
        "document_recall",
        "document_leak_upper",
    ),
)
_OF_LABELS = (
    ("mentions", "protected", "partial", "missed"),
    ("mention_recall", "word_recall", "character_recall"),
)


def tables(title: str, report: Mapping[str, Any]) -> Iterator[Table]:
    """Yield the tables: classes riskiest first, labels, precision, replacements."""
    yield _rows(f"{title}: classes", "class", report["classes"], _OF_CLASSES)
    yield _rows(f"{title}: labels", "label", report["labels"], _OF_LABELS)
    precision = report["precision"]
    rates = ("word_precision", "weighted_word_precision", "masked_share", "retention")
    rows: list[list[Cell | Rate]] = [
        [name.replace("_", " "), Rate(value) if name in rates else value]
        for name, value in precision.items()
        if value is not None or name == "word_precision"
    ]
    rows += [[f"F{beta}", Rate(value)] for beta, value in report["f"].items()]
    yield Table(f"{title}: what was masked", ["", "value"], rows)
    other = {f"replacements, {name}": n for name, n in report["replacements"].items()}
    other["string leaks"] = report["string_leaks"]
    other |= {f"redacted, {name.replace('_', ' ')}": n for name, n in (report["redacted"] or {}).items()}
    yield Table(f"{title}: further", ["", "number"], [[name, n] for name, n in other.items()])


def _rows(title: str, first: str, rows: Mapping[str, Any], columns: tuple[tuple[str, ...], ...]) -> Table:
    counts, rates = columns
    weighted = ("weighted_word_recall",) if rows and _is_weighted(rows) else ()
    header = [first, *(name.replace("_", " ") for name in (*counts, *rates, *weighted))]
    return Table(
        title,
        header,
        [
            [cut_label(name), *(row[c] for c in counts), *(Rate(row[r]) for r in (*rates, *weighted))]
            for name, row in rows.items()
        ],
    )


def _is_weighted(rows: Mapping[str, Any]) -> bool:
    return any(row["weighted_word_recall"] is not None for row in rows.values())
