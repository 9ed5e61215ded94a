"""Tasks of counting: pairs of files that are counted together, what a worker does, and the order of the results."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from clueval.core.bag import Bag
from clueval.files.errors import CluevalError
from clueval.version import __version__

if TYPE_CHECKING:
    from concurrent.futures import Future

SMALL = 8_000_000
"""The greatest number of bytes of a task of several pairs of files."""

SUBMITTED_EACH = 4
"""The number of tasks for each process that are submitted and whose bags are not yet added."""

CHECK = 1.0
"""Seconds without a result before it is checked that workers are alive."""

FilePair = TypeVar("FilePair")
"""What is counted of a pair of files: their name and paths."""


@dataclass(frozen=True)
class Task(Generic[FilePair]):
    """Pairs of files that are counted together.

    Attributes:
        pairs: what is counted.
        files: the files of all pairs, each once in a pair.
        sizes: their sizes in bytes.
    """

    pairs: tuple[FilePair, ...]
    files: tuple[Path, ...]
    sizes: tuple[int, ...]

    @property
    def size(self) -> int:
        """The number of bytes to read."""
        return sum(self.sizes)

    def __str__(self) -> str:
        """The files, for messages."""
        if len(self.pairs) == 1:
            return " with ".join(map(str, self.files))
        return f"{self.files[0]} and {len(self.files) - 1} more files, up to {self.files[-1]}"


def tasks_of(pairs: Iterable[tuple[FilePair, Iterable[Path]]]) -> list[Task[FilePair]]:
    """Return the tasks for pairs of files, given with the paths of each pair, in order."""
    tasks: list[Task[FilePair]] = []
    for pair, paths in pairs:
        files = tuple(dict.fromkeys(paths))
        task = Task((pair,), files, tuple(map(_size_of, files)))
        if tasks and tasks[-1].size + task.size <= SMALL:
            last = tasks.pop()
            task = Task(last.pairs + task.pairs, last.files + task.files, last.sizes + task.sizes)
        tasks.append(task)
    return tasks


def _size_of(path: Path) -> int:
    """Return the size of a file in bytes; 0 if it cannot be determined, because reading the file raises the error."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


# In the worker


def carry_out(version: str, call: bytes, task: Task[Any]) -> bytes:
    """Return the pickled bag of a task, or None if it must be counted elsewhere; `call` is the function that counts.

    Raises `CluevalError`, also for files or a version of clueval that are not those of the process that asks.
    """
    import pickle

    if version != __version__:
        raise CluevalError(
            f"a worker has clueval {__version__}, and the process that uses it clueval {version}",
            advice="install the same version everywhere",
        )
    for path, size in zip(task.files, task.sizes, strict=True):
        if _size_of(path) != size:
            raise CluevalError(
                f"a worker has a file of {_size_of(path):,} bytes; where the task comes from, it has {size:,} bytes"
                if path.exists()
                else f"a worker has no such file; where the task comes from, it has {size:,} bytes",
                file=str(path),
                advice="all machines must see the same files under the same paths, which must not change meanwhile",
            )
    try:
        return pickle.dumps(pickle.loads(call)(task))
    except CluevalError:
        raise
    except (Exception, SystemExit):  # a user's metric may raise any error
        return pickle.dumps(None)


# In the process that asks

Waiting = deque[tuple[Task[FilePair], "Future[bytes]"]]


def in_order(
    submit: Callable[[Task[FilePair]], Future[bytes]],
    result: Callable[[Task[FilePair], Future[bytes]], bytes],
    tasks: Iterator[Task[FilePair]],
    waiting: Waiting[FilePair],
    window: int,
) -> Generator[Bag | None, None, None]:
    """Yield the bag of each task, None if it must be counted here.

    At most `window` tasks are submitted and not yet yielded: those in `waiting`.
    """
    import pickle

    while True:
        waiting.extend((task, submit(task)) for task in islice(tasks, window - len(waiting)))
        if not waiting:
            return
        bag = pickle.loads(result(*waiting[0]))
        waiting.popleft()
        yield bag
