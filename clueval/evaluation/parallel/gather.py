"""Adding the counts of tasks that other processes have carried out.

Counts are added in the order of the tasks. A pair of files is counted again in this process, as a whole, if a
task has failed, if the parts have different layouts, or if a layer first occurs in the middle. So an error is
the one that a single process raises, with its file and line, and a wrong cut costs time but changes no number.
If a worker sees other files than this process, or has another version of this package, `WorkerLost` is raised.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any

from clueval.evaluation.engine import Evaluation
from clueval.evaluation.inputs import FileEnd
from clueval.evaluation.observer import WorkerObserver
from clueval.evaluation.parallel.tasks import ChangedFile, Task, TaskOutcome, Tasks, carry_out
from clueval.evaluation.parallel.work import in_order, size_of
from clueval.exceptions import WorkerLost
from clueval.reading.layers import layer_names
from clueval.spans.span import SIDES
from clueval.textfiles import Progress
from clueval.version import __version__

if TYPE_CHECKING:
    from concurrent.futures import Executor


class Gathering:
    """Adds the counts of tasks to an evaluation, in the order of the tasks."""

    def __init__(
        self,
        evaluation: Evaluation,
        tasks: Tasks,
        progress: Progress | None,
        remark: Callable[[str], object],
    ) -> None:
        self._evaluation, self._tasks = evaluation, tasks
        self._progress, self._remark = progress, remark
        self._parts: list[TaskOutcome] = []
        self._reported = 0  # bytes of the parts of the current pair

    def gather(self, executor: Executor, tasks: Iterable[Task], window: int, *, cancel: bool) -> None:
        """Carry out all tasks, at most `window` at a time; after an error, `cancel` those that have not begun."""
        with closing(in_order(executor, carry_out, tasks, window, cancel=cancel)) as answers:  # type: ignore[type-var]
            for task, answer in answers:
                outcome = _opened(*answer)
                if outcome.changed_file is not None:
                    _require_as_sent(task, outcome.changed_file)
                if task.part is None:
                    self._add_whole(task, outcome)
                    self._report_progress(task.size)
                elif task.first not in self._tasks.not_cut:
                    self._add_part(task, outcome)

    def _report_progress(self, size: int) -> None:
        if self._progress is not None:
            self._progress(size)

    def _add_whole(self, task: Task, outcome: TaskOutcome) -> None:
        if outcome.counts is not None and self._evaluation.fits(outcome.counts):
            self._join(outcome.seen)
            self._evaluation.include(outcome.counts)
        else:
            self._count_here(task, outcome.problem or "other layers than before")

    def _join(self, seen: Sequence[Any]) -> None:
        observers = [each for each in self._evaluation.plan.observers if isinstance(each, WorkerObserver)]
        for observer, value in zip(observers, seen, strict=True):
            observer.join(value)

    def _add_part(self, task: Task, outcome: TaskOutcome) -> None:
        self._parts.append(outcome)
        problem = outcome.problem or _misfit(self._parts)
        if problem:
            self._tasks.not_cut.add(task.first)
            self._count_here(task, problem)
            self._report_progress(sum(task.sizes) - self._reported)
        else:
            self._report_progress(task.size)
            self._reported += task.size
            if task.last:
                self._include_parts(task)
        if problem or task.last:
            self._parts, self._reported = [], 0

    def _include_parts(self, task: Task) -> None:
        """Add the parts of one pair; the tags of all parts together determine which tags were repaired."""
        options = self._tasks.work.options[0]
        decoders = {
            (side, layer): options.decoder() for side in SIDES for layer in layer_names(options.layers)
        }
        for part in self._parts:
            assert part.counts is not None
            self._join(part.seen)
            self._evaluation.include(part.counts)
            for key, decoder in (part.counts.decoders or {}).items():
                decoders[key].include(decoder)
        self._evaluation.add_tags(FileEnd((None, None), decoders))

    def _count_here(self, task: Task, problem: str) -> None:
        pairs = self._tasks.pairs[task.first : task.first + len(task.pairs)]
        what = str(pairs[0][1]) if len(pairs) == 1 else f"{pairs[0][1]} and {len(pairs) - 1} more"
        shown = "".join(character if character.isprintable() else " " for character in problem)
        self._remark(f"{what}: counted again as a whole, in this process ({shown})")
        self._tasks.work.count_here(self._evaluation, pairs)


def _opened(version: str, outcome: bytes) -> TaskOutcome:
    """The outcome that a worker has sent. Raises `WorkerLost` if it has another version of this package."""
    if version != __version__:
        raise WorkerLost(
            f"a worker has clueval {version[:40]}, and this is clueval {__version__}",
            advice="install the same version everywhere",
        )
    found: TaskOutcome = pickle.loads(outcome)
    return found


def _require_as_sent(task: Task, changed_file: ChangedFile) -> None:
    """Raise `WorkerLost` if a worker sees another file than this process, unless the file has changed here, too."""
    if next(task.changed_files(), None) is not None:
        return
    here = size_of(changed_file.path)
    what = f"has no such file; here it has {here} bytes"
    if changed_file.size is not None:
        what = f"has another file there, of {changed_file.size} bytes; here it has {here}"
    raise WorkerLost(
        f"a worker {what}",
        file=str(changed_file.path),
        advice="all machines must see the same files under the same paths",
    )


def _misfit(parts: Sequence[TaskOutcome]) -> str:
    """Why the parts do not have the layout of one file on each side; empty if they do."""
    for side in range(2):
        layouts = {part.layouts[side] for part in parts} - {None}
        if len(layouts) > 1:
            return "its lines do not have the same columns everywhere"
    return ""
