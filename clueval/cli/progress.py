"""Shows the progress of reading on stderr, if it is a terminal and the input is large."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic

from clueval.textfiles import Progress

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
    if total < WORTH_SHOWING or not sys.stderr.isatty():
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
