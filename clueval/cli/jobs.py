"""The options for processes and clusters."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from clueval.cli import printing
from clueval.cli.fields import add_fields, given_fields
from clueval.cli.parser import Command
from clueval.cli.progress import progress
from clueval.evaluation.options import Workers
from clueval.exceptions import UsageError


def add_jobs(parser: Command) -> None:
    """Add the options for processes and clusters."""
    add_fields(parser, Workers, "speed")
    group = parser.topic("workers")
    group.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="count on the Dask cluster at tcp://HOST:PORT, whose workers can read the same files (extra: dask)",
    )
    group.add_argument(
        "-v",
        "--verbose",
        action="store_true",
        help="print how many processes are used, and why. Large files are cut where documents begin "
        "(<text> in VRT, -DOCSTART- or # newdoc in CoNLL); a pair without these, or a .gz file, is counted by one "
        "process",
    )


@contextmanager
def workers(options: argparse.Namespace, paths: list[Path | None]) -> Iterator[Workers]:
    """Provide the workers that the options select; show the progress of reading `paths`."""
    given = given_fields(Workers, options).get("jobs", "auto")
    jobs = None if given == "auto" else given
    with progress(paths) as advance:
        if options.scheduler is None:
            yield Workers(jobs=jobs, progress=advance, remark=_remark(options))
            return
        if given != "auto":
            raise UsageError(
                "--jobs is for processes of this machine, --scheduler for a cluster",
                advice="give one of them",
            )
        from clueval.evaluation.parallel.dask import scheduler

        with scheduler(options.scheduler) as (executor, at_a_time):
            yield Workers(jobs=at_a_time, executor=executor, progress=advance, remark=_remark(options))


def _remark(options: argparse.Namespace) -> Callable[[str], object] | None:
    """Return the function for messages about the number of processes; None without ``--verbose``."""
    if not options.verbose:
        return None
    return lambda line: printing.remark(f"clueval {options.command}: {line}")
