"""Counting in several places at once: the tasks are handed out, and what they have found is put together.

What comes back are counts, which are integers, so that sums are the same in any order; they are added in the
order of the tasks. Whatever cannot be counted like that is counted here, in this process, the whole pair of
files in one piece: where a task has failed, where its parts do not fit one another, where layers turn up in the
middle. So an error is the one that a single process finds, with its file and line, and a wrong cut costs time
but never changes a number. Only a worker that has other files than this process ends it all: a large corpus is
not counted here unasked, nor an old copy of it there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from itertools import chain, islice
from typing import TYPE_CHECKING

from clueval.agreement import SIDES
from clueval.exceptions import WorkerLost
from clueval.jobs import NoProcesses, chosen_jobs, in_order, megabytes, pool
from clueval.read_options import layer_names
from clueval.running import Evaluation
from clueval.sources import Progress
from clueval.tasks import FilePair, Outcome, Strange, Task, Tasks, Work, carry_out, size_of
from clueval.version import __version__

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
    planned = Tasks(work, pairs, _task_size(size, number, executor))
    tasks = iter(planned)
    first = list(islice(tasks, 2))
    if (executor is None and len(first) < 2) or not _travels(work):
        one = "there is one pair of files, which cannot be cut; that is done where documents begin on both sides"
        remark(f"1 process: {one if len(first) < 2 else 'its metrics cannot be sent elsewhere'}")
        work.count_here(evaluation, pairs, progress)
        return
    gathering = _Gathering(evaluation, planned, progress, remark)
    if executor is not None:
        window = IN_FLIGHT if number == 1 else TASKS_EACH * number
        remark(f"{megabytes(size)} {why}, at most {window} tasks at a time")
        gathering.gather(executor, chain(first, tasks), window, cancel=True)
        return
    try:
        with pool(number) as own:
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


class _Gathering:
    """Puts together what the tasks have found, in their order."""

    def __init__(
        self,
        evaluation: Evaluation,
        tasks: Tasks,
        progress: Progress | None,
        remark: Callable[[str], object],
    ) -> None:
        self._evaluation, self._tasks = evaluation, tasks
        self._progress, self._remark = progress, remark
        self._parts: list[Outcome] = []
        self._told = 0

    def gather(self, executor: Executor, tasks: Iterable[Task], window: int, *, cancel: bool) -> None:
        """Have all tasks carried out; if that ends early, `cancel` those that have not begun."""
        with closing(in_order(executor, carry_out, tasks, window, cancel=cancel)) as outcomes:  # type: ignore[type-var]
            for task, outcome in outcomes:
                if outcome.version != __version__:
                    raise WorkerLost(
                        f"a worker has clueval {outcome.version}, and this is clueval {__version__}",
                        advice="install the same version everywhere",
                    )
                if outcome.strange is not None:
                    _require_as_sent(task, outcome.strange)
                if task.part is None:
                    self._take_whole(task, outcome)
                    self._tell(task.size)
                elif task.first not in self._tasks.given_up:
                    self._take_part(task, outcome)

    def _tell(self, size: int) -> None:
        if self._progress is not None:
            self._progress(size)

    def _take_whole(self, task: Task, outcome: Outcome) -> None:
        if outcome.found is not None and self._evaluation.fits(outcome.found):
            self._evaluation.include(outcome.found)
        else:
            self._count_here(task, outcome.problem or "other layers than before")

    def _take_part(self, task: Task, outcome: Outcome) -> None:
        self._parts.append(outcome)
        problem = outcome.problem or _misfit(self._parts)
        if problem:
            self._tasks.given_up.add(task.first)
            self._count_here(task, problem)
            self._tell(sum(task.sizes) - self._told)
        else:
            self._tell(task.size)
            self._told += task.size
            if task.last:
                self._add_parts()
        if problem or task.last:
            self._parts, self._told = [], 0

    def _add_parts(self) -> None:
        """Add the parts of one pair; what is ill-formed in their tags is told from all of them."""
        options = self._tasks.work.options[0]
        decoders = {
            (side, layer): options.decoder() for side in SIDES for layer in layer_names(options.layers)
        }
        for part in self._parts:
            assert part.found is not None
            self._evaluation.include(part.found)
            for key, decoder in (part.found.decoders or {}).items():
                decoders[key].include(decoder)
        self._evaluation.see_decoders(decoders)

    def _count_here(self, task: Task, problem: str) -> None:
        pairs = self._tasks.pairs[task.first : task.first + len(task.pairs)]
        what = str(pairs[0][1]) if len(pairs) == 1 else f"{pairs[0][1]} and {len(pairs) - 1} more"
        self._remark(f"{what}: counted again, in this process and in one piece ({problem})")
        self._tasks.work.count_here(self._evaluation, pairs)


def _require_as_sent(task: Task, strange: Strange) -> None:
    """Raise `WorkerLost` if a worker sees another file than this process; not if it changes here, too."""
    if next(task.strange_files(), None) is not None:
        return
    here = size_of(strange.path)
    what = f"has no such file; here it has {here} bytes"
    if strange.size is not None:
        what = f"has another file there, of {strange.size} bytes; here it has {here}"
    raise WorkerLost(
        f"a worker {what}",
        file=str(strange.path),
        advice="all machines must see the same files under the same paths",
    )


def _misfit(parts: Sequence[Outcome]) -> str:
    """Why parts of a pair do not belong to one file; empty if they do."""
    for side in range(2):
        layouts = {part.layouts[side] for part in parts} - {None}
        if len(layouts) > 1:
            return "its lines do not have the same columns everywhere"
    return ""
