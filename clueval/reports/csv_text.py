"""Results as comma-separated values: the rows of `clueval.reports.tsv`, with the signature in a column."""

from __future__ import annotations

import csv
from io import StringIO

from clueval.reports.table import Report
from clueval.reports.tsv import guarded, table


def render(report: Report) -> str:
    """A report as CSV."""
    header, *rows = table(report)
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*header, "signature"])
    signature = guarded(report["signature"])
    writer.writerows([*row, signature] for row in rows)
    return text.getvalue().removesuffix("\n")
