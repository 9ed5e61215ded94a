"""Counting pairs of files in several processes, or on any executor, and the sum of their bags.

A task is one pair of files, or small pairs together. Its bag comes back pickled, and the bags are added in the order of
the tasks, so the sum is the same for any number of processes, and an error is that of the first task that has one.
Memory holds the sum, and the bags of a limited number of tasks.

If a process of this machine ends in the middle, by a signal or for lack of memory, one process counts what is missing,
task by task; if it ends, too, an error names the files of its task. If another executor loses a task, that is an error
at once. What a worker cannot count for another reason is counted in this process, which raises the error if it is one.

One process needs neither `pickle` nor `concurrent.futures`, so functions import them.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from clueval.core.bag import Bag
from clueval.core.count import sum_of_parts
from clueval.files.errors import CluevalError, UsageError, described, with_noun
from clueval.files.opening import Progress
from clueval.version import __version__

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

SMALL = 8_000_000
"""The greatest number of bytes of a task of several pairs of files."""

SUBMITTED_EACH = 4
"""The number of tasks for each process that are submitted and whose bags are not yet added."""

CHECK = 1.0
"""Seconds without a result before it is checked that workers are alive."""

IN_FLIGHT = 64
"""The number of tasks submitted to an executor whose number of processes is not known."""

WORTH_IT = 100_000_000
"""The least number of bytes for which starting more processes saves time, if columns are counted without documents."""

BY_DOCUMENTS = 3
"""How many times as long the same bytes take if documents are built of them."""


# Tasks


class Task(NamedTuple):
    """Pairs of files that are counted together: what is counted, the files of all pairs, each once in a pair, and the
    sizes of these in bytes.
    """

    pairs: tuple[Any, ...]
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
        return f"{self.files[0]} and {with_noun(len(self.files) - 1, 'more files')}, up to {self.files[-1]}"


def tasks_of(pairs: Iterable[tuple[Any, Iterable[Path]]]) -> list[Task]:
    """Return the tasks for pairs of files, given with the paths of each pair, in order."""
    tasks: list[Task] = []
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


def carry_out(version: str, call: bytes, task: Task) -> bytes:
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


def chosen_jobs(jobs: int | None, size: int, *, by_documents: bool = False) -> tuple[int, str]:
    """Return the number of processes to count a number of bytes, and the reason for it.

    `by_documents` says that documents are built of them.

    >>> chosen_jobs(None, 2_300_000)
    (1, '2 MB is too little to share between processes')
    >>> chosen_jobs(3, 2_300_000)
    (3, 'as requested')
    """
    if jobs is not None:
        return jobs, "as requested"
    if size * (BY_DOCUMENTS if by_documents else 1) < WORTH_IT:
        return 1, f"{_megabytes(size)} is too little to share between processes"
    number = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return number, f"{_megabytes(size)}, and {with_noun(number, 'cores')}"


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.0f} MB" if size >= 1_000_000 else "less than 1 MB"


def count_tasks(
    tasks: Sequence[Task],
    count_one: Callable[[Task], Bag],
    *,
    units: str | None = None,
    jobs: int | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
    remark: Callable[[str], object] = lambda _: None,
    by_documents: bool = False,
) -> Bag:
    """Return the sum of the bags of tasks, of which there is at least one, as if all were counted at once.

    Args:
        tasks: see `tasks_of`.
        count_one: counts a task. Other processes must be able to import it, and what it holds.
        units: those of the plan (`clueval.core.count.Plan.units`).
        jobs: the number of processes, None: chosen by size; with `executor`, the number of its processes if known.
        executor: anything with the `submit` of `concurrent.futures.Executor`.
        progress: called with the number of bytes of each task that was counted.
        remark: called with a line on the number of processes, and on each that has ended.
        by_documents: see `chosen_jobs`.

    Raises the errors of `count_one`, and `CluevalError` for lost tasks.
    """

    def gather(bags: Generator[Bag | None, None, None]) -> Bag:
        def counted() -> Iterator[Bag]:
            for task, bag in zip(tasks, bags, strict=True):
                yield count_one(task) if bag is None else bag
                if progress is not None:
                    progress(task.size)

        with closing(bags):
            return sum_of_parts(counted(), units)

    size = sum(task.size for task in tasks)
    number, why = chosen_jobs(jobs or 1 if executor is not None else jobs, size, by_documents=by_documents)
    if executor is None and number > len(tasks):
        why = f"there are no more tasks{'' if jobs is None else f'; {jobs} were requested'}"
        number = len(tasks)
    if number > 1 or executor is not None:
        import pickle

        call = None
        with suppress(Exception):  # a user's metric may raise any error
            call = pickle.dumps(count_one)
        if call is None:
            number, why = 1, "the metrics cannot be sent to other processes"
        elif executor is not None:
            window = IN_FLIGHT if jobs is None else SUBMITTED_EACH * number
            remark(f"{_megabytes(size)} on the executor, at most {window} tasks at a time")
            return gather(_on_executor(executor, call, tasks, window))
        else:
            from clueval.results.processes import NoProcesses  # loads multiprocessing

            remark(f"{number} processes: {why}")
            try:
                return gather(_on_processes(call, tasks, number, remark))
            except NoProcesses as error:  # before the first task
                why = f"no other can be started ({error})"
    remark(f"1 process: {why}")
    return gather(None for _ in tasks)


# The order of results

Waiting = deque[tuple[Task, "Future[bytes]"]]


def in_order(
    submit: Callable[[Task], Future[bytes]],
    result: Callable[[Task, Future[bytes]], bytes],
    tasks: Iterator[Task],
    waiting: Waiting,
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


# On processes of this machine


def _on_processes(
    call: bytes, tasks: Sequence[Task], number: int, remark: Callable[[str], object]
) -> Generator[Bag | None, None, None]:
    """Yield the bag of each task; what is missing when a process has ended is counted by one process, task by task.

    Raises `NoProcesses` before the first task, and `CluevalError` for a task whose process ends again.
    """
    from concurrent.futures import BrokenExecutor

    from clueval.results.processes import GUARD, Pool, pool_of  # loads multiprocessing

    def begin(pool: Pool, task: Task) -> Future[bytes]:
        return pool.submit_task(carry_out, __version__, call, task)

    waiting: Waiting = deque()
    rest = iter(tasks)
    try:
        with pool_of(number, CHECK) as pool:
            yield from in_order(
                partial(begin, pool),
                lambda _, future: pool.result_of(future),
                rest,
                waiting,
                SUBMITTED_EACH * number,
            )
            return
    except BrokenExecutor:
        pass
    remark(f"a process has ended; one process counts what is missing, from {waiting[0][0]} on")
    finished = {
        task: future
        for task, future in waiting
        if future.done() and not future.cancelled() and future.exception() is None
    }
    missing = chain([task for task, _ in waiting], rest)
    with pool_of(1, CHECK) as pool:

        def result(task: Task, future: Future[bytes]) -> bytes:
            try:
                return pool.result_of(future)
            except BrokenExecutor as error:
                raise CluevalError(
                    f"a process has ended again, killed or out of memory, while it counted {task}",
                    advice=GUARD if pool.starts_script else "divide the files if memory is short",
                ) from error

        yield from in_order(lambda task: finished.get(task) or begin(pool, task), result, missing, deque(), 1)


# On an executor


def _on_executor(
    executor: Executor, call: bytes, tasks: Sequence[Task], window: int
) -> Generator[Bag | None, None, None]:
    """Yield the bag of each task; after an error, cancel those that have not begun.

    An executor with the method `require_workers` is asked while there is no result.
    """
    from concurrent.futures import BrokenExecutor
    from concurrent.futures import wait as wait_for

    require_workers = getattr(executor, "require_workers", None)
    waiting: Waiting = deque()

    def submit(task: Task) -> Future[bytes]:
        try:
            future = executor.submit(carry_out, __version__, call, task)
        except Exception as error:
            raise _loss_error(error, task) from error
        if not hasattr(future, "result"):
            problem = f"submit of the executor must return a future, not {described(future)}"
            raise UsageError(problem, advice="give an executor as those of concurrent.futures")
        return future

    def result(task: Task, future: Future[bytes]) -> bytes:
        try:
            while require_workers is not None and not wait_for([future], CHECK).done:
                require_workers()
            return future.result()
        except CluevalError:
            raise
        except BaseException as error:
            # asyncio's CancelledError, which some executors raise, is no Exception
            if isinstance(error, Exception) or type(error).__name__.endswith("CancelledError"):
                raise _loss_error(error, task) from error
            raise

    try:
        yield from in_order(submit, result, iter(tasks), waiting, window)
    except CluevalError as error:
        if isinstance(error.__cause__, BrokenExecutor):
            waiting.clear()  # it sets its error on all futures, and fails to cancel one
        raise
    finally:
        for _, future in waiting:
            future.cancel()


def _loss_error(error: BaseException, task: Task) -> CluevalError:
    from concurrent.futures import BrokenExecutor

    if isinstance(error, BrokenExecutor):
        return CluevalError(
            "a worker process has ended, killed or out of memory, and the executor has stopped; "
            f"not counted: {task} and all later tasks",
            advice="count with fewer processes",
        )
    if type(error).__name__.endswith("CancelledError"):  # several packages have such a class
        return CluevalError(
            f"the executor was stopped, or its scheduler has ended; not counted: {task} and all later tasks",
            advice="start the executor or its scheduler again",
        )
    message = ": ".join(filter(None, (type(error).__name__, " ".join(str(error).split())[:300])))
    return CluevalError(
        f"the executor could not carry out a task: {message}; not counted: {task}",
        advice="look at its workers",
    )
