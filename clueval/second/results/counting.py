"""Counting tasks in several processes, or on any executor, and the sum of their bags."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any

from clueval.core.bag import Bag
from clueval.core.count import DOCUMENT, EITHER, FEW_DOCUMENTS, SENTENCE, Unit
from clueval.second.results.workers import (
    IN_FLIGHT,
    SUBMITTED_EACH,
    FilePair,
    Task,
    chosen_jobs,
    megabytes,
    on_executor,
    pickled,
)
from clueval.textfiles import Progress

if TYPE_CHECKING:
    from concurrent.futures import Executor


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
    call = pickled(count_one) if number > 1 or executor is not None else None
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
        with closing(on_executor(executor, call or b"", tasks, window)) as answers:
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
