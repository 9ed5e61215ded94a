"""The progress of reading, and the options for processes and clusters.

Progress is shown on stderr, if it is a terminal and the input is large.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from time import monotonic
from typing import NamedTuple

from clueval.cli import printing
from clueval.cli.declared import Keywords, fields, shared
from clueval.files.errors import UsageError
from clueval.files.opening import Progress
from clueval.results.options import Workers

WORTH_SHOWING = 50_000_000
"""The number of bytes from which progress is shown."""

_PAUSE = 0.1
"""The minimum number of seconds between two updates of the bar."""


@contextmanager
def progress(*paths: Path | None) -> Iterator[Progress | None]:
    """Provide a function that is called with numbers of bytes that were read; None if progress is not shown.

    It is shown as a bar, by `rich` (extra ``cli``).
    """
    total = sum(_size(path) for path in paths if path is not None)
    quiet = total < WORTH_SHOWING or printing.QUIET.get() or not sys.stderr.isatty()
    if quiet or find_spec("rich") is None:
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

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


def _size(path: Path) -> int:
    try:
        if path.is_dir():
            return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
        return path.stat().st_size
    except (OSError, ValueError):  # a name that no file can have
        return 0


class Jobs(NamedTuple):
    """The processes or the cluster that a command counts with.

    workers:
        scheduler ADDRESS: count on the Dask cluster at tcp://HOST:PORT, whose workers can read the same files (extra:
            dask)
        verbose -v, --verbose: print how many processes are used, and why. A pair of files is counted by one process
    """

    workers: Keywords = fields(Workers, "workers")
    scheduler: str | None = None
    verbose: bool = False
    command: str = ""

    @contextmanager
    def counting(self, *paths: Path | None) -> Iterator[Keywords]:
        """Provide the fields of `Workers`; show the progress of reading `paths`."""
        with progress(*paths) as advance:
            say = (lambda line: printing.remark(f"clueval {self.command}: {line}")) if self.verbose else None
            worker_fields = {"progress": advance, "remark": say, "jobs": None}
            if self.scheduler is None:
                yield {**worker_fields, **self.workers}
                return
            if self.workers:
                raise UsageError(
                    "--jobs is for processes of this machine, --scheduler for a cluster",
                    advice="give one of them",
                )
            from clueval.results.dask import scheduler

            with scheduler(self.scheduler) as (executor, at_a_time):
                yield {**worker_fields, "jobs": at_a_time, "executor": executor}


JOBS = shared(Jobs)
