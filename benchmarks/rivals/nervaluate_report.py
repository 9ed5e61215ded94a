"""Prints nervaluate's two reports over two files of ``word<TAB>tag`` columns, as in its documentation.

A sentence ends at a line without a tab: a blank line or an XML tag. ``-DOCSTART-`` lines are skipped. nervaluate gets
the entity types that occur.

python benchmarks/rivals/nervaluate_report.py GOLD PREDICTED [--column 2]
"""

from __future__ import annotations

import argparse
from pathlib import Path

from nervaluate.evaluator import Evaluator


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


def types_of(sentences: list[list[str]]) -> set[str]:
    """Return the entity types that occur."""
    return {tag[2:] for tags in sentences for tag in tags if tag != "O"}


def main() -> None:
    parser = argparse.ArgumentParser(description="Print nervaluate's reports.")
    parser.add_argument("gold", type=Path)
    parser.add_argument("predicted", type=Path)
    parser.add_argument("--column", type=int, default=2, help="of the tags, from 1 (%(default)s)")
    options = parser.parse_args()
    gold = read_tags(options.gold, options.column)
    predicted = read_tags(options.predicted, options.column)
    types = sorted(types_of(gold) | types_of(predicted))
    evaluator = Evaluator(gold, predicted, tags=types, loader="list")
    print(evaluator.summary_report())
    print(evaluator.summary_report(mode="entities"))


if __name__ == "__main__":
    main()
