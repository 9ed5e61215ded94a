"""How a command runs: the options for processes and clusters, and the progress of reading.

Progress is shown on stderr, if it is a terminal and the input is large.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import Any

from clueval.cli import printing
from clueval.cli.fields import add_fields, given_fields
from clueval.cli.parser import CommandParser
from clueval.files.errors import UsageError
from clueval.files.opening import Progress
from clueval.results.options import Workers

WORTH_SHOWING = 50_000_000
"""The number of bytes from which progress is shown."""

_PAUSE = 0.1
"""The minimum number of seconds between two updates of the bar."""


@contextmanager
def progress(paths: Iterable[Path | None]) -> Iterator[Progress | None]:
    """Provide a function that is called with numbers of bytes that were read; None if progress is not shown.

    With `rich` (extra ``cli``), progress is a bar, otherwise a percentage.
    """
    total = sum(_size(path) for path in paths if path is not None)
    if total < WORTH_SHOWING or printing.is_quiet() or not sys.stderr.isatty():
        yield None
        return
    try:
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar
    except ImportError:
        yield from _plain(total)
        return
    # no `auto_refresh`: it starts a thread, and processes are forked while the bar is shown
    with Bar(
        BarColumn(),
        DownloadColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
        auto_refresh=False,
    ) as bar:
        task = bar.add_task("reading", total=total)
        drawn = 0.0

        def advance(n: int) -> None:
            nonlocal drawn
            bar.advance(task, n)
            if monotonic() > drawn + _PAUSE:
                bar.refresh()
                drawn = monotonic()

        yield advance


def _plain(total: int) -> Iterator[Progress]:
    done = shown = 0

    def advance(n: int) -> None:
        nonlocal done, shown
        done += n
        if done * 100 // total > shown:
            shown = done * 100 // total
            print(f"\r{shown:3d} % read", end="", file=sys.stderr, flush=True)

    yield advance
    print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def _size(path: Path) -> int:
    try:
        if path.is_dir():
            return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
        return path.stat().st_size
    except (OSError, ValueError):  # a name that no file can have
        return 0


def add_jobs(parser: CommandParser) -> None:
    """Add the options for processes and clusters."""
    add_fields(parser, Workers, "workers")
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
        help="print how many processes are used, and why. A pair of files is counted by one process",
    )


@contextmanager
def workers(options: argparse.Namespace, paths: list[Path | None]) -> Iterator[dict[str, Any]]:
    """Provide the fields of `Workers` that the options select; show the progress of reading `paths`."""
    given = given_fields(Workers, options).get("jobs", "auto")
    jobs = None if given == "auto" else given
    with progress(paths) as advance:
        if options.scheduler is None:
            yield {"jobs": jobs, "progress": advance, "remark": _remark(options)}
            return
        if given != "auto":
            raise UsageError(
                "--jobs is for processes of this machine, --scheduler for a cluster",
                advice="give one of them",
            )
        from clueval.results.dask import scheduler

        with scheduler(options.scheduler) as (executor, at_a_time):
            yield {
                "jobs": at_a_time,
                "executor": executor,
                "progress": advance,
                "remark": _remark(options),
            }


def _remark(options: argparse.Namespace) -> Callable[[str], object] | None:
    """Return the function for messages about the number of processes; None without ``--verbose``."""
    if not options.verbose:
        return None
    return lambda line: printing.remark(f"clueval {options.command}: {line}")
