"""Writes the spans that only one of two files of ``word<TAB>tag`` columns has, with their words, using pandas.

Spans are read as conlleval reads them. There are no classes of errors, no contexts and no checks.

python benchmarks/rivals/pandas_errors.py GOLD PREDICTED TABLE
"""

from __future__ import annotations

import csv
import sys

import pandas  # type: ignore[import-untyped]


def spans(path: str) -> pandas.DataFrame:
    """Return the spans of a file: start, end, label and words."""
    rows = pandas.read_csv(
        path, sep="\t", names=["word", "tag"], quoting=csv.QUOTE_NONE, keep_default_na=False, dtype=str,
        skip_blank_lines=False,
    )  # fmt: skip
    prefix, label = rows.tag.str[:1], rows.tag.str[2:]
    inside = prefix.isin(["B", "I"])
    begins = inside & ((prefix == "B") | ~inside.shift(fill_value=False) | (label != label.shift()))
    chosen = rows[inside].assign(label=label[inside], span=begins.cumsum()[inside], row=rows.index[inside])
    groups = chosen.groupby("span", sort=False)
    return groups.agg(
        start=("row", "first"), end=("row", "last"), label=("label", "first"), words=("word", " ".join)
    )


def main() -> None:
    gold, predicted, table = sys.argv[1:]
    both = spans(gold).merge(
        spans(predicted),
        how="outer",
        on=["start", "end", "label"],
        indicator=True,
        suffixes=("", "_predicted"),
    )
    both[both["_merge"] != "both"].sort_values("start").to_csv(table, sep="\t", index=False)


if __name__ == "__main__":
    main()
