"""Prints Cohen's kappa (scikit-learn) and Krippendorff's alpha (krippendorff) of the tags of two files.

A sentence ends at a line without a tab. The program does not check that both files have the same words.

python benchmarks/rivals/agreement_scores.py ONE OTHER [--column 2]
"""

from __future__ import annotations

import argparse
from itertools import chain
from pathlib import Path

import krippendorff
from seqeval_report import read_tags  # type: ignore[import-not-found]
from sklearn.metrics import cohen_kappa_score  # type: ignore[import-untyped]


def main() -> None:
    parser = argparse.ArgumentParser(description="Print the agreement of two files.")
    parser.add_argument("files", type=Path, nargs=2)
    parser.add_argument("--column", type=int, default=2, help="of the tags, from 1 (%(default)s)")
    options = parser.parse_args()
    tags = [list(chain.from_iterable(read_tags(path, options.column))) for path in options.files]
    numbers = {tag: number for number, tag in enumerate(sorted({*tags[0], *tags[1]}))}
    print(cohen_kappa_score(*tags))
    values = [[numbers[tag] for tag in side] for side in tags]
    print(krippendorff.alpha(values, level_of_measurement="nominal"))


if __name__ == "__main__":
    main()
