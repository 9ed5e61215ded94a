"""Counting in several processes, or on any executor: tasks, their bags, and the sum of these.

A task is one pair of files, or small pairs together (`tasks_of`). Its bag comes back pickled, and the bags are added in
the order of the tasks, so the sum is the same for any number of processes, and an error is that of the first task that
has one. Memory holds the sum, and the bags of a limited number of tasks.

If a process of this machine ends in the middle, by a signal or for lack of memory, one process counts what is missing,
task by task; if it ends, too, an error names the files of its task. If another executor loses a task, that is an error
at once. Whatever else fails in a worker is counted in this process, which raises the error if it is one.
"""

from __future__ import annotations

import pickle
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future
from concurrent.futures import wait as wait_for
from contextlib import closing
from typing import Any

from clueval.core.bag import Bag
from clueval.core.count import DOCUMENT, EITHER, FEW_DOCUMENTS, SENTENCE, Unit
from clueval.files.errors import CluevalError, UsageError
from clueval.second.results.tasks import (
    CHECK,
    SUBMITTED_EACH,
    Answer,
    Bags,
    FilePair,
    Task,
    Waiting,
    carry_out,
    cores,
    in_order,
)
from clueval.textfiles import Progress

IN_FLIGHT = 64
"""The number of tasks submitted to an executor whose number of processes is not known."""

WORTH_IT = 100_000_000
"""The least number of bytes for which starting more processes saves time, if columns are counted without documents."""

BY_DOCUMENTS = 3
"""How many times as long the same bytes take if documents are built of them."""


def require_jobs(jobs: object) -> None:
    """Raise `UsageError` unless `jobs` is a number of processes, or None for an automatic choice."""
    if jobs is not None and (not isinstance(jobs, int) or isinstance(jobs, bool) or jobs < 1):
        raise UsageError(
            f"jobs={jobs!r} is not a number of processes",
            advice="give a whole number from 1, or None for an automatic choice",
        )


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


def count_tasks(
    tasks: Sequence[Task[FilePair]],
    count_one: Callable[[Task[FilePair]], Bag],
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
    size = sum(task.size for task in tasks)
    number, why = chosen_jobs(
        jobs if executor is None or jobs is not None else 1, size, by_documents=by_documents
    )
    if executor is None and number > len(tasks):
        number, why = (
            len(tasks),
            f"there are no more tasks{'' if jobs is None else f'; {jobs} were requested'}",
        )
    call = _pickled(count_one) if number > 1 or executor is not None else None
    if call is None and (number > 1 or executor is not None):
        number, why, executor = 1, "the metrics cannot be sent to other processes", None
    total = Gathered(units)

    def gather(answers: Iterable[tuple[Task[FilePair], Bag | None]]) -> Bag:
        for task, bag in answers:
            total.add(count_one(task) if bag is None else bag)
            if progress is not None:
                progress(task.size)
        return total.bag

    if executor is not None:
        window = IN_FLIGHT if jobs is None else SUBMITTED_EACH * number
        remark(f"{megabytes(size)} on the executor, at most {window} tasks at a time")
        with closing(_on_executor(executor, call or b"", tasks, window)) as answers:
            return gather(answers)
    if number > 1:
        from clueval.second.results.processes import NoProcesses, on_processes  # loads multiprocessing

        remark(f"{number} processes: {why}")
        try:
            with closing(on_processes(call or b"", tasks, number, remark)) as answers:
                return gather(answers)
        except NoProcesses as error:  # before the first task
            why = f"no other can be started ({error})"
    remark(f"1 process: {why}")
    return gather((task, None) for task in tasks)


class Gathered:
    """The sum of the bags of the parts of a corpus, as if this was counted at once.

    Documents that have the same id are numbered across parts. Sentences are units, if they may be, until the tenth
    document.
    """

    def __init__(self, units: str | None) -> None:
        self._units = units
        self._bag: Bag | None = None
        self._repeats: dict[str | None, int] = {}
        self._documents = 0

    @property
    def bag(self) -> Bag:
        """The sum. Raises `ValueError` if nothing was added."""
        if self._bag is None:
            raise ValueError("there are no tasks")
        return self._bag

    def add(self, bag: Bag) -> None:
        """Add the bag of the next part, whose places are units."""
        if self._units in (DOCUMENT, SENTENCE, EITHER):
            bag = self._numbered(bag)
        before, self._documents = (
            self._documents,
            self._documents
            + sum(
                number
                for place, number in bag.documents.items()
                if isinstance(place, Unit) and not place.waits
            ),
        )
        in_documents = self._units == EITHER and self._documents >= FEW_DOCUMENTS
        if in_documents:
            bag = bag.grouped(_document_of)
        if self._bag is None:
            self._bag = bag
            return
        if in_documents and before < FEW_DOCUMENTS:
            self._bag = self._bag.grouped(_document_of)
        self._bag.include(bag)

    def _numbered(self, bag: Bag) -> Bag:
        """Return the bag with the numbers that its documents have among all those that have their id."""
        before = dict(self._repeats)
        repeated = False
        for place in bag.documents:
            assert isinstance(place, Unit)
            repeated = repeated or place.name in before
            number = before.get(place.name, 0) + place.repeat
            self._repeats[place.name] = max(number, self._repeats.get(place.name, 0))

        def of(place: Any) -> Unit:
            found: Unit = place
            return found._replace(repeat=before.get(found.name, 0) + found.repeat)

        return bag.grouped(of) if repeated else bag


def _document_of(place: Any) -> Unit:
    found: Unit = place
    return found._replace(sentence=None)


def _pickled(count_one: object) -> bytes | None:
    """Return a function as other processes get it; None if it cannot be sent to them."""
    try:
        return pickle.dumps(count_one)
    except Exception:  # a user's metric may raise any error
        return None


def _on_executor(
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
