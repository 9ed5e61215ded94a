"""Where is counted: the options for processes and clusters."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from clueval.cli import printing
from clueval.exceptions import UsageError

if TYPE_CHECKING:
    from concurrent.futures import Executor


def add_jobs(parser: argparse.ArgumentParser) -> None:
    """The options that say where is counted."""
    group = parser.add_argument_group("speed")
    group.add_argument(
        "--jobs",
        metavar="N",
        type=_number,
        help="count in N processes; auto, the default: one for each core if there is enough to count. Large "
        "files are cut where documents begin (<text> in VRT, -DOCSTART- or # newdoc in CoNLL); a pair without "
        "these, or packed, is counted by one process",
    )
    group.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="count on the Dask cluster at tcp://HOST:PORT, whose workers see the same files (extra: dask)",
    )
    group.add_argument(
        "-v", "--verbose", action="store_true", help="say on stderr where is counted, and why there"
    )


def _number(value: str) -> int | None:
    """A number of processes; None for ``auto``."""
    if value == "auto":
        return None
    if not value.isdecimal() or int(value) < 1:
        raise argparse.ArgumentTypeError(f"{value!r} is neither auto nor a number from 1")
    return int(value)


@contextmanager
def places(options: argparse.Namespace) -> Iterator[tuple[int | None, Executor | None]]:
    """How many processes are to count, and the executor of a cluster if there is one."""
    if options.scheduler is None:
        yield options.jobs, None
        return
    if options.jobs is not None:
        raise UsageError(
            "--jobs is about this machine, and --scheduler about others", advice="give one of them"
        )
    from clueval.evaluation.parallel.dask import scheduler

    with scheduler(options.scheduler) as (executor, at_a_time):
        yield at_a_time, executor


def remark(options: argparse.Namespace) -> Callable[[str], object] | None:
    """What to do with remarks on where is counted."""
    if not options.verbose:
        return None
    return lambda line: printing.remark(f"clueval {options.command}: {line}")
