"""Jobs: tasks carried out elsewhere, by anything with the `submit` of `concurrent.futures.Executor`.

Tasks are submitted one by one, so many at a time and no more, and their results come back in the order of the
tasks. `clueval.evaluation.parallel.workers` has the executor of this machine.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, TypeVar

from clueval.exceptions import UsageError, WorkerLost

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

Task = TypeVar("Task")
TaskOutcome = TypeVar("TaskOutcome")

WORTH_IT = 12_000_000
"""Bytes; fewer are counted by one process before others have started and taken their share."""


def cores() -> int:
    """How many processor cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def require_jobs(jobs: object) -> None:
    """Raise `UsageError` unless that is a number of processes, or None for as many as pay."""
    if jobs is not None and (not isinstance(jobs, int) or isinstance(jobs, bool) or jobs < 1):
        raise UsageError(
            f"jobs={jobs!r} is no number of processes",
            advice="give a whole number from 1, or None for as many as pay",
        )


def chosen_jobs(jobs: int | None, size: int) -> tuple[int, str]:
    """How many processes are wanted to count so many bytes, and why; None: as many as pay.

    Raises `UsageError` for what is no number of processes.

    >>> chosen_jobs(None, 2_300_000)
    (1, 'a second one does not pay for 2 MB')
    >>> chosen_jobs(3, 2_300_000)
    (3, 'as asked for')
    """
    require_jobs(jobs)
    if jobs is not None:
        return jobs, "as asked for"
    if size < WORTH_IT:
        return 1, f"a second one does not pay for {megabytes(size)}"
    number = cores()
    return number, f"{megabytes(size)}, and {number} core{'s' * (number != 1)}"


def megabytes(size: int) -> str:
    """A number of bytes as a remark shows it.

    >>> megabytes(512), megabytes(2_300_000), megabytes(12_345_000_000)
    ('less than 1 MB', '2 MB', '12,345 MB')
    """
    return f"{size / 1e6:,.0f} MB" if size >= 1_000_000 else "less than 1 MB"


def in_order(
    executor: Executor,
    function: Callable[[Task], TaskOutcome],
    tasks: Iterable[Task],
    window: int,
    *,
    cancel: bool = True,
) -> Iterator[tuple[Task, TaskOutcome]]:
    """Every task with what the function makes of it, in the order of the tasks.

    At most `window` tasks are submitted and not yet returned; a task is asked for when it can be submitted, not
    sooner. What has not begun when the iterator is closed is cancelled, if `cancel` is set. Whatever the executor
    raises, a task does not: `function` is to return its errors. Raises `WorkerLost`.
    """
    waiting: deque[tuple[Task, Future[TaskOutcome]]] = deque()
    try:
        for task in tasks:
            waiting.append((task, _submitted(executor, function, task)))
            if len(waiting) >= window:
                yield _returned(*waiting.popleft())
        while waiting:
            yield _returned(*waiting.popleft())
    except WorkerLost as error:
        cancel &= not _is_broken(error.__cause__)
        raise
    finally:
        # A pool of processes that breaks gives its error to all futures, and stumbles over cancelled ones.
        for _, future in waiting if cancel else ():
            future.cancel()


def _is_broken(error: BaseException | None) -> bool:
    from concurrent.futures import BrokenExecutor

    return isinstance(error, BrokenExecutor)


def _submitted(
    executor: Executor, function: Callable[[Task], TaskOutcome], task: Task
) -> Future[TaskOutcome]:
    try:
        return executor.submit(function, task)
    except Exception as error:
        raise _lost(error, task) from error


def _returned(task: Task, future: Future[TaskOutcome]) -> tuple[Task, TaskOutcome]:
    try:
        return task, future.result()
    except (KeyboardInterrupt, SystemExit, GeneratorExit, WorkerLost):
        raise
    except BaseException as error:  # asyncio's CancelledError, which some executors use, is no Exception
        raise _lost(error, task) from error


def _lost(error: BaseException, task: object) -> WorkerLost:
    if _is_broken(error):
        return WorkerLost(
            "a process that was counting has ended in the middle, killed or out of memory, and the executor gives "
            f"up; not counted: {task} and what follows",
            advice="count with fewer processes",
        )
    if type(error).__name__.endswith("CancelledError"):  # there are several of them
        return WorkerLost(
            "the executor has cancelled a task: its scheduler has ended, or somebody has stopped it",
            advice="start again what has ended",
        )
    said = " ".join(str(error).split())[:300]
    return WorkerLost(
        f"the executor has lost a task: {type(error).__name__}{': ' if said else ''}{said}; it was to count {task}",
        advice="look at its workers",
    )
