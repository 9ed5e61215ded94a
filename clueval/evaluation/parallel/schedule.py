"""Counts pairs of files in this process, in several, or on an executor, and chooses the size of tasks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING

from clueval.evaluation.engine import Evaluation
from clueval.evaluation.parallel.work import FilePair, Work, chosen_jobs, megabytes, size_of
from clueval.textfiles import Progress

if TYPE_CHECKING:
    from concurrent.futures import Executor

SMALLEST = 1_000_000
LARGEST = 32_000_000
"""The least and the approximate greatest size of a task, in bytes of both sides, if files can be cut so."""

MOST_TASKS = 10_000
"""Approximate greatest number of tasks for an executor; the tasks of a very large corpus are larger instead.

The scheduler of a cluster assigns some hundred tasks a second, for any number of workers.
"""

TASKS_EACH = 4
"""Number of tasks for each process, so that processes end at about the same time; also the number submitted."""

IN_FLIGHT = 64
"""Number of tasks submitted to an executor whose number of processes is not known."""


def count_pairs(
    evaluation: Evaluation,
    work: Work,
    pairs: Sequence[FilePair],
    jobs: int | None,
    executor: Executor | None,
    progress: Progress | None,
    remark: Callable[[str], object],
) -> None:
    """Count pairs of files with `jobs` processes (None: chosen by size), or on an executor with as many.

    Raises the errors of counting them in this process, and `WorkerLost`.
    """
    size = sum(size_of(path) for _, *both in pairs for path in both)
    if executor is None:
        number, why = chosen_jobs(jobs, size, work.plan)
        most = max(size // SMALLEST, 1)
        if number > most:
            requested = "" if jobs is None else f"; {jobs} were requested"
            number, why = most, f"{megabytes(size)} is too little for more{requested}"
    else:
        number, why = chosen_jobs(jobs or 1, size)
    if executor is None and number == 1:
        remark(f"1 process: {why}")
        work.count_here(evaluation, pairs, progress)
        return
    from clueval.evaluation.parallel.tasks import Gathering, Tasks, pickled  # not for a single process

    sent = pickled(work)
    planned = Tasks(work, sent or b"", pairs, _task_size(size, number, executor))
    tasks = iter(planned)
    first = list(islice(tasks, number if executor is None else 1))
    unshared = "" if sent is not None else "the metrics cannot be sent to other processes"
    if executor is None and len(first) < 2:
        unshared = "there is one pair of files, which has no documents at which both sides can be cut"
    if unshared:
        remark(f"1 process: {unshared}")
        work.count_here(evaluation, pairs, progress)
        return
    gathering = Gathering(evaluation, planned, progress, remark)
    if executor is not None:
        window = IN_FLIGHT if number == 1 else TASKS_EACH * number
        remark(f"{megabytes(size)} on the executor, at most {window} tasks at a time")
        gathering.gather(executor, chain(first, tasks), window)
        return
    from clueval.evaluation.parallel.workers import NoProcesses, pool  # loads multiprocessing

    if len(first) < number:
        requested = "" if jobs is None else f"; {jobs} were requested"
        number, why = len(first), f"the files have no more parts to share{requested}"
    try:
        with pool(number, remark) as processes:
            remark(f"{number} processes: {why}")
            gathering.gather(processes, chain(first, tasks), TASKS_EACH * number)
    except NoProcesses as error:
        remark(f"1 process: no other can be started ({error})")
        work.count_here(evaluation, pairs, progress)


def _task_size(size: int, jobs: int, executor: Executor | None) -> int:
    """The approximate size of a task in bytes of both sides."""
    largest = LARGEST if executor is None else max(LARGEST, size // MOST_TASKS)
    tasks = IN_FLIGHT if executor is not None and jobs == 1 else TASKS_EACH * jobs
    return min(max(size // tasks, SMALLEST), largest)
