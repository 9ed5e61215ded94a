"""Where pairs of files are counted: in this process, in several, or on an executor; and in tasks of which size."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING

from clueval.evaluation.engine import Evaluation
from clueval.evaluation.parallel.executors import chosen_jobs, megabytes
from clueval.evaluation.parallel.work import FilePair, Work, size_of
from clueval.textfiles import Progress

if TYPE_CHECKING:
    from concurrent.futures import Executor

SMALLEST = 1_000_000
LARGEST = 32_000_000
"""Bytes of both sides that a task has at least and about at most, if they can be had."""

MOST_TASKS = 10_000
"""About so many tasks are sent to an executor at most: those of a very large corpus are larger instead.

The scheduler of a cluster hands out some hundred tasks a second, however many workers wait for them.
"""

TASKS_EACH = 4
"""So many tasks for each process, so that none has long to wait for the last one; and so many in flight."""

IN_FLIGHT = 64
"""So many tasks are in flight on an executor of which nothing else is known."""


def count_pairs(
    evaluation: Evaluation,
    work: Work,
    pairs: Sequence[FilePair],
    jobs: int | None,
    executor: Executor | None,
    progress: Progress | None,
    remark: Callable[[str], object],
) -> None:
    """Count pairs of files with so many processes (None: as many as pay), or on an executor that has so many.

    Raises what counting them here, one after the other, raises; and `WorkerLost`.
    """
    size = sum(size_of(path) for _, *both in pairs for path in both)
    if executor is None:
        number, why = chosen_jobs(jobs, size)
        most = max(size // SMALLEST, 1)
        if number > most:
            asked = "" if jobs is None else f"; {jobs} were asked for"
            number, why = most, f"{megabytes(size)} pays for no more than that{asked}"
    else:
        number, why = chosen_jobs(jobs or 1, size)[0], "on the executor"
    if executor is None and number == 1:
        remark(f"1 process: {why}")
        work.count_here(evaluation, pairs, progress)
        return
    from clueval.evaluation.parallel.gather import (
        Gathering,  # not needed in a single process, which is soon to start
    )
    from clueval.evaluation.parallel.tasks import Tasks

    planned = Tasks(work, pairs, _task_size(size, number, executor))
    tasks = iter(planned)
    first = list(islice(tasks, 2))
    if (executor is None and len(first) < 2) or not _travels(work):
        one = "there is one pair of files, which cannot be cut; that is done where documents begin on both sides"
        remark(f"1 process: {one if len(first) < 2 else 'its metrics cannot be sent elsewhere'}")
        work.count_here(evaluation, pairs, progress)
        return
    gathering = Gathering(evaluation, planned, progress, remark)
    if executor is not None:
        window = IN_FLIGHT if number == 1 else TASKS_EACH * number
        remark(f"{megabytes(size)} {why}, at most {window} tasks at a time")
        gathering.gather(executor, chain(first, tasks), window, cancel=True)
        return
    from clueval.evaluation.parallel.workers import NoProcesses, pool  # loads multiprocessing

    try:
        with pool(number, remark) as own:
            remark(f"{number} processes: {why}")
            gathering.gather(own, chain(first, tasks), TASKS_EACH * number, cancel=False)
    except NoProcesses as error:
        remark(f"1 process: others cannot be started ({error})")
        work.count_here(evaluation, pairs, progress)


def _task_size(size: int, jobs: int, executor: Executor | None) -> int:
    """About how many bytes of both sides a task is to have."""
    largest = LARGEST if executor is None else max(LARGEST, size // MOST_TASKS)
    tasks = IN_FLIGHT if executor is not None and jobs == 1 else TASKS_EACH * jobs
    return min(max(size // tasks, SMALLEST), largest)


def _travels(work: Work) -> bool:
    """Whether other processes can be told what to do."""
    import pickle

    try:
        pickle.dumps(work)
    except (pickle.PicklingError, TypeError, AttributeError):
        return False
    return True
