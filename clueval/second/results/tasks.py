"""Tasks: what a worker counts at a time, what it sends back, and what becomes of it here.

A worker may run on another machine, so it compares the sizes of the files, and both compare their versions. Any other
error than clueval's own is left to this process, which counts the task again.
"""

from __future__ import annotations

import os
import pickle
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from clueval.core.bag import Bag
from clueval.files.errors import CluevalError
from clueval.version import __version__

SMALL = 8_000_000
"""The greatest number of bytes of a task of several pairs of files."""

SMALLEST = 1_000_000
"""The number of bytes below which pairs of files are always put together."""

TASKS_EACH = 8
"""The number of tasks for each process, if files are small, so that processes end at about the same time."""

SUBMITTED_EACH = 4
"""The number of tasks for each process that are submitted and whose bags are not yet added."""

CHECK = 1.0
"""Seconds without a result before an executor is asked whether it is alive."""

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


Bags = Generator[tuple[Task[FilePair], Bag | None], None, None]
"""Tasks with their bags, in order; None for a bag that must be counted here."""


def tasks_of(
    pairs: Iterable[tuple[FilePair, Iterable[Path]]], jobs: int | None = None
) -> list[Task[FilePair]]:
    """Return the tasks for pairs of files, given with the paths of each pair, in order.

    `jobs` is the number of processes, None one for each core: tasks are so small that each has several.
    """
    found = []
    for pair, paths in pairs:
        files = tuple(dict.fromkeys(paths))
        found.append(Task((pair,), files, tuple(map(size_of, files))))
    total = sum(task.size for task in found)
    most = min(SMALL, max(SMALLEST, total // (TASKS_EACH * (jobs or cores()))))
    tasks: list[Task[FilePair]] = []
    for task in found:
        if tasks and tasks[-1].size + task.size <= most:
            last = tasks.pop()
            task = Task(last.pairs + task.pairs, last.files + task.files, last.sizes + task.sizes)
        tasks.append(task)
    return tasks


def size_of(path: Path) -> int:
    """Return the size of a file in bytes; 0 if it cannot be determined, because reading the file raises the error."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def cores() -> int:
    """Return the number of processor cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


# In the worker

Answer = tuple[str, bytes]
"""The version of the worker, and the pickled outcome of a task: a bag, an error, another file, or None."""


class _OtherFile(NamedTuple):
    """A file that a worker sees with another size than this process; None if it is missing."""

    path: Path
    size: int | None


def carry_out(call: bytes, task: Task[Any]) -> Answer:
    """Count a task; `call` is the pickled function that counts. Raises no error."""
    for path, size in zip(task.files, task.sizes, strict=True):
        if size_of(path) != size:
            return __version__, pickle.dumps(_OtherFile(path, size_of(path) if path.exists() else None))
    try:
        try:
            return __version__, pickle.dumps(pickle.loads(call)(task))
        except CluevalError as error:
            return __version__, pickle.dumps(error)
    except (Exception, SystemExit):  # a user's metric may raise any error
        return __version__, pickle.dumps(None)


# In this process


def bag_of(task: Task[Any], answer: Answer) -> Bag | None:
    """Return the bag of a task; None if it must be counted here. Raises its `CluevalError`."""
    version, sent = answer
    if version != __version__:
        raise CluevalError(
            f"a worker has clueval {version[:40]}, and this is clueval {__version__}",
            advice="install the same version everywhere",
        )
    found = pickle.loads(sent)
    if isinstance(found, CluevalError):
        raise found
    if isinstance(found, _OtherFile):
        here = size_of(found.path)
        if here == task.sizes[task.files.index(found.path)]:  # otherwise it has changed here, too
            other = "no such file" if found.size is None else f"another file, of {found.size:,} bytes"
            raise CluevalError(
                f"a worker has {other}; here it has {here:,} bytes",
                file=str(found.path),
                advice="all machines must see the same files under the same paths",
            )
        return None
    return found if isinstance(found, Bag) else None


class Workers(Protocol):
    """What carries out tasks."""

    def submit(self, task: Task[Any]) -> Future[Answer]: ...
    def result(self, task: Task[Any], future: Future[Answer]) -> Answer: ...


Waiting = deque[tuple[Task[FilePair], "Future[Answer]"]]


def in_order(
    workers: Workers, tasks: Iterator[Task[FilePair]], waiting: Waiting[FilePair], window: int
) -> Bags[FilePair]:
    """Yield each task with its bag; at most `window` of them are submitted and not yet yielded: those in `waiting`."""
    while True:
        waiting.extend((task, workers.submit(task)) for task in islice(tasks, window - len(waiting)))
        if not waiting:
            return
        task, future = waiting[0]
        bag = bag_of(task, workers.result(task, future))
        waiting.popleft()
        yield task, bag
