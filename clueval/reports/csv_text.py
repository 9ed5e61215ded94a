"""Rows as comma-separated values: the same cells as in `clueval.reports.tsv`."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from io import StringIO

from clueval.reports.tsv import cells


def render(header: Sequence[str], rows: Iterable[Mapping[str, object]]) -> str:
    """Return rows as CSV."""
    text = StringIO()
    csv.writer(text, lineterminator="\n").writerows(cells(header, rows))
    return text.getvalue().removesuffix("\n")
