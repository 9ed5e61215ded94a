"""Tasks of counting, and what carries them out: processes (`processes`), or any executor.

A task is one pair of files, or small pairs together (`tasks_of`). Its bag comes back pickled, and the bags are added in
the order of the tasks, so the sum is the same for any number of processes, and an error is that of the first task that
has one. Memory holds the sum, and the bags of a limited number of tasks.

If a process of this machine ends in the middle, by a signal or for lack of memory, one process counts what is missing,
task by task; if it ends, too, an error names the files of its task. If another executor loses a task, that is an error
at once. Whatever else fails in a worker is counted in this process, which raises the error if it is one.

A worker may run on another machine, so it compares the sizes of the files, and both compare their versions.

One process needs neither `pickle` nor `concurrent.futures`, so functions import them.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeVar

from clueval.core.bag import Bag
from clueval.files.errors import CluevalError
from clueval.second.results.options import require_jobs
from clueval.version import __version__

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

SMALL = 8_000_000
"""The greatest number of bytes of a task of several pairs of files."""

SMALLEST = 1_000_000
"""The number of bytes below which pairs of files are always put together."""

TASKS_EACH = 8
"""The number of tasks for each process, if files are small, so that processes end at about the same time."""

SUBMITTED_EACH = 4
"""The number of tasks for each process that are submitted and whose bags are not yet added."""

IN_FLIGHT = 64
"""The number of tasks submitted to an executor whose number of processes is not known."""

WORTH_IT = 100_000_000
"""The least number of bytes for which starting more processes saves time, if columns are counted without documents."""

BY_DOCUMENTS = 3
"""How many times as long the same bytes take if documents are built of them."""

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


def chosen_jobs(jobs: int | None, size: int, *, by_documents: bool = False) -> tuple[int, str]:
    """Return the number of processes to count a number of bytes, and the reason for it.

    `by_documents` says that documents are built of them. Raises `UsageError` as `require_jobs` does.

    >>> chosen_jobs(None, 2_300_000)
    (1, '2 MB is too little to share between processes')
    >>> chosen_jobs(3, 2_300_000)
    (3, 'as requested')
    """
    require_jobs(jobs)
    if jobs is not None:
        return jobs, "as requested"
    if size * (BY_DOCUMENTS if by_documents else 1) < WORTH_IT:
        return 1, f"{megabytes(size)} is too little to share between processes"
    number = cores()
    return number, f"{megabytes(size)}, and {number} core{'s' * (number != 1)}"


def megabytes(size: int) -> str:
    """Return a number of bytes as a remark shows it.

    >>> megabytes(512), megabytes(2_300_000), megabytes(12_345_000_000)
    ('less than 1 MB', '2 MB', '12,345 MB')
    """
    return f"{size / 1e6:,.0f} MB" if size >= 1_000_000 else "less than 1 MB"


# In the worker

Answer = tuple[str, bytes]
"""The version of the worker, and the pickled outcome of a task: a bag, an error, another file, or None."""


class _OtherFile(NamedTuple):
    """A file that a worker sees with another size than this process; None if it is missing."""

    path: Path
    size: int | None


def carry_out(call: bytes, task: Task[Any]) -> Answer:
    """Count a task; `call` is the pickled function that counts. Raises no error."""
    import pickle

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


def pickled(count_one: object) -> bytes | None:
    """Return a function as other processes get it; None if it cannot be sent to them."""
    import pickle

    try:
        return pickle.dumps(count_one)
    except Exception:  # a user's metric may raise any error
        return None


def bag_of(task: Task[Any], answer: Answer) -> Bag | None:
    """Return the bag of a task; None if it must be counted here. Raises its `CluevalError`."""
    import pickle

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


class TaskWorkers(Protocol):
    """What carries out tasks."""

    def submit(self, task: Task[Any]) -> Future[Answer]: ...
    def result(self, task: Task[Any], future: Future[Answer]) -> Answer: ...


Waiting = deque[tuple[Task[FilePair], "Future[Answer]"]]


def in_order(
    workers: TaskWorkers, tasks: Iterator[Task[FilePair]], waiting: Waiting[FilePair], window: int
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


def on_executor(
    executor: Executor, call: bytes, tasks: Sequence[Task[FilePair]], window: int
) -> Bags[FilePair]:
    """Yield each task with its bag; after an error, cancel those that have not begun."""
    workers = _OfExecutor(executor, call)
    waiting: Waiting[FilePair] = deque()
    try:
        yield from in_order(workers, iter(tasks), waiting, window)
    finally:
        # a broken pool of processes sets its error on all futures, and fails if one is cancelled
        for _, future in () if workers.is_broken else waiting:
            future.cancel()


class _OfExecutor:
    """The workers of an executor; one with the method `require_workers` is asked while it has no result."""

    def __init__(self, executor: Executor, call: bytes) -> None:
        self.is_broken = False
        self._executor, self._call = executor, call
        self._require_workers = getattr(executor, "require_workers", None)

    def submit(self, task: Task[Any]) -> Future[Answer]:
        try:
            return self._executor.submit(carry_out, self._call, task)
        except Exception as error:
            raise self._lost(error, task) from error

    def result(self, task: Task[Any], future: Future[Answer]) -> Answer:
        from concurrent.futures import wait as wait_for

        try:
            while self._require_workers is not None and not wait_for([future], CHECK).done:
                self._require_workers()
            return future.result()
        except CluevalError:
            raise
        except (
            BaseException
        ) as error:  # asyncio's CancelledError, which some executors raise, is no Exception
            if isinstance(error, Exception) or type(error).__name__.endswith("CancelledError"):
                raise self._lost(error, task) from error
            raise

    def _lost(self, error: BaseException, task: Task[Any]) -> CluevalError:
        from concurrent.futures import BrokenExecutor

        self.is_broken = isinstance(error, BrokenExecutor)
        if self.is_broken:
            return CluevalError(
                f"a worker process has ended, killed or out of memory, and the executor has stopped; not counted: "
                f"{task} and all later tasks",
                advice="count with fewer processes",
            )
        if type(error).__name__.endswith("CancelledError"):  # several packages have such a class
            return CluevalError(
                f"the executor was stopped, or its scheduler has ended; not counted: {task} and all later tasks",
                advice="start the executor or its scheduler again",
            )
        message = " ".join(str(error).split())[:300]
        return CluevalError(
            f"the executor could not carry out a task: {type(error).__name__}{': ' if message else ''}{message}; "
            f"not counted: {task}",
            advice="look at its workers",
        )
