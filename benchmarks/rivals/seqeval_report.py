"""Prints seqeval's classification report over two files of ``word<TAB>tag`` columns, in a short script.

A sentence ends at a line without a tab: a blank line or an XML tag. ``-DOCSTART-`` lines are skipped.

python benchmarks/rivals/seqeval_report.py GOLD PREDICTED [--column 2]
"""

from __future__ import annotations

import argparse
from pathlib import Path

from seqeval.metrics import classification_report


def read_tags(path: Path, column: int) -> list[list[str]]:
    """Return the tags of a file by sentence; memory holds all of them. Columns count from 1."""
    sentences: list[list[str]] = []
    tags: list[str] = []
    with path.open(encoding="utf-8") as file:
        for line in file:
            if "\t" in line:
                if not line.startswith("-DOCSTART-"):
                    tags.append(line.rstrip("\n").split("\t")[column - 1])
            elif tags:
                sentences.append(tags)
                tags = []
    if tags:
        sentences.append(tags)
    return sentences


def main() -> None:
    parser = argparse.ArgumentParser(description="Print seqeval's report.")
    parser.add_argument("gold", type=Path)
    parser.add_argument("predicted", type=Path)
    parser.add_argument("--column", type=int, default=2, help="of the tags, from 1 (%(default)s)")
    options = parser.parse_args()
    gold = read_tags(options.gold, options.column)
    predicted = read_tags(options.predicted, options.column)
    print(classification_report(gold, predicted, digits=4))


if __name__ == "__main__":
    main()
