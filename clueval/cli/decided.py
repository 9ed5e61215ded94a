"""The options of the commands that read decisions about places."""

from __future__ import annotations

import argparse

from clueval.files.overwriting import input_path
from clueval.studies.decisions import CONFLICTS


def add_decisions(group: argparse._ArgumentGroup) -> None:
    """Add the options that name files of decisions, and say what to do about conflicts."""
    group.add_argument(
        "--decisions",
        action="append",
        type=input_path,
        metavar="FILE",
        help="a file of decisions that a page has exported, a workbook with choices (extra: report), or a folder; can "
        "be repeated",
    )
    group.add_argument(
        "--conflicts",
        choices=CONFLICTS,
        metavar="HOW",
        help=f"what counts where reviewers differ: {' or '.join(CONFLICTS[:2])} by time, or {CONFLICTS[2]} (default: "
        "an error)",
    )
