"""The work that is the same in every process: what is counted, and how files are read, and how tasks are carried out.

An executor is any object with the `submit` of `concurrent.futures.Executor`. The number of submitted tasks is limited,
and their results are returned in the order of the tasks. `clueval.evaluation.parallel.workers` has the executor of this
machine.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from clueval.evaluation.engine import Evaluation
from clueval.evaluation.file_reading import FileEnd
from clueval.evaluation.plan import Plan
from clueval.exceptions import UsageError, WorkerLost
from clueval.reading.pairing import source_pairs
from clueval.reading.read_options import ReadOptions
from clueval.reading.source import Source
from clueval.textfiles import Progress

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

FilePair = tuple[str | None, Path, Path]
"""The name of a pair of files, and their paths."""

Count = Callable[[Evaluation, Source, Source], FileEnd | None]
"""A function of a module that counts a pair of files, except the spans and tags that its `FileEnd` counts."""


class Work(NamedTuple):
    """The plan, the layers, the options of reading for each side, and the function that counts a pair of files.

    `single` means that gold and predicted are in one file.
    """

    plan: Plan
    layers: tuple[str, ...]
    options: tuple[ReadOptions, ReadOptions]
    single: bool
    count_pair: Count

    def evaluation(self) -> Evaluation:
        """A new evaluation of the plan."""
        return Evaluation(self.plan, self.layers)

    def count_here(
        self, evaluation: Evaluation, pairs: Iterable[FilePair], progress: Progress | None = None
    ) -> None:
        """Count pairs of files, one after the other."""
        for gold, predicted in source_pairs(pairs, self.options, progress):
            if self.single:
                gold.require_both_sides()
            end = self.count_pair(evaluation, gold, predicted)
            if end is not None:
                evaluation.add_spans(end)
                evaluation.add_tags(end)
        finish(evaluation)


def finish(evaluation: Evaluation) -> None:
    """Count what was read and waits to be counted."""
    if evaluation.unfinished:
        from clueval.evaluation.span_clusters import count_unfinished  # most formats do not need it

        count_unfinished(evaluation)


def size_of(path: Path) -> int:
    """The size of a file in bytes; 0 if it cannot be determined, because reading the file raises the error."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


Task = TypeVar("Task")
TaskOutcome = TypeVar("TaskOutcome")

WORTH_IT = 100_000_000
"""Least number of bytes for which starting more processes saves time, if spans are counted without documents."""

BY_DOCUMENTS = 3
"""How many times as long the same bytes take if documents are built of them."""


def cores() -> int:
    """The number of processor cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def require_jobs(jobs: object) -> None:
    """Raise `UsageError` unless `jobs` is a number of processes, or None for an automatic choice."""
    if jobs is not None and (not isinstance(jobs, int) or isinstance(jobs, bool) or jobs < 1):
        raise UsageError(
            f"jobs={jobs!r} is not a number of processes",
            advice="give a whole number from 1, or None for an automatic choice",
        )


def chosen_jobs(jobs: int | None, size: int, plan: Plan | None = None) -> tuple[int, str]:
    """The number of processes to count this number of bytes by a plan, and the reason for it.

    What observers find in other processes takes as long to receive as to find. Raises `UsageError` as
    `require_jobs` does.

    >>> chosen_jobs(None, 2_300_000)
    (1, '2 MB is too little to share between processes')
    >>> chosen_jobs(3, 2_300_000)
    (3, 'as requested')
    """
    require_jobs(jobs)
    if jobs is not None:
        return jobs, "as requested"
    if plan is not None and plan.observers:
        return 1, "receiving what other processes find takes as long as finding it"
    if size * (BY_DOCUMENTS if plan is not None and plan.needs_documents else 1) < WORTH_IT:
        return 1, f"{megabytes(size)} is too little to share between processes"
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
    """Yield each task with the value that `function` returns for it, in the order of the tasks.

    At most `window` tasks are submitted and not yet yielded; each is taken from `tasks` only when it can be submitted.
    If `cancel` is set, closing the iterator cancels the tasks that have not begun. `function` must not raise errors,
    so every error comes from the executor and is raised as `WorkerLost`.
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
        # a broken pool of processes sets its error on all futures, and fails if one is cancelled
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
    except BaseException as error:  # asyncio's CancelledError, which some executors raise, is no Exception
        raise _lost(error, task) from error


def _lost(error: BaseException, task: object) -> WorkerLost:
    if _is_broken(error):
        return WorkerLost(
            "a worker process has ended, killed or out of memory, and the executor has stopped; not counted: "
            f"{task} and all later tasks",
            advice="count with fewer processes",
        )
    if type(error).__name__.endswith("CancelledError"):  # several packages have such a class
        return WorkerLost(
            "the executor has cancelled a task: it was stopped, or its scheduler has ended",
            advice="start the executor or its scheduler again",
        )
    message = " ".join(str(error).split())[:300]
    return WorkerLost(
        f"the executor could not carry out a task: {type(error).__name__}{': ' if message else ''}{message}; "
        f"not counted: {task}",
        advice="look at its workers",
    )
