"""Counting in several places at once: what tasks have found elsewhere is put together.

What comes back are counts, which are integers, so that sums are the same in any order; they are added in the
order of the tasks. Whatever cannot be counted like that is counted here, in this process, the whole pair of
files in one piece: where a task has failed, where its parts do not fit one another, where layers turn up in the
middle. So an error is the one that a single process finds, with its file and line, and a wrong cut costs time
but never changes a number. Only a worker that has other files than this process, or sends something that is not the
counts of its task, ends it all: a large corpus is not counted here unasked, nor an old copy of it there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from typing import TYPE_CHECKING

from clueval.evaluation.engine import Evaluation
from clueval.evaluation.lockstep import FileEnd
from clueval.evaluation.parallel import outcomes
from clueval.evaluation.parallel.executors import in_order
from clueval.evaluation.parallel.outcomes import Strange, TaskOutcome
from clueval.evaluation.parallel.plain_counts import NotPlain
from clueval.evaluation.parallel.tasks import Task, Tasks, carry_out
from clueval.evaluation.parallel.work import size_of
from clueval.exceptions import WorkerLost
from clueval.reading.layers import layer_names
from clueval.spans.compared import SIDES
from clueval.textfiles import Progress
from clueval.version import __version__

if TYPE_CHECKING:
    from concurrent.futures import Executor


class Gathering:
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
        self._parts: list[TaskOutcome] = []
        self._told = 0

    def gather(self, executor: Executor, tasks: Iterable[Task], window: int, *, cancel: bool) -> None:
        """Have all tasks carried out; if that ends early, `cancel` those that have not begun."""
        with closing(in_order(executor, carry_out, tasks, window, cancel=cancel)) as answers:  # type: ignore[type-var]
            for task, answer in answers:
                outcome = _read(task, answer)
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

    def _take_whole(self, task: Task, outcome: TaskOutcome) -> None:
        if outcome.found is not None and self._evaluation.fits(outcome.found):
            self._evaluation.include(outcome.found)
        else:
            self._count_here(task, outcome.problem or "other layers than before")

    def _take_part(self, task: Task, outcome: TaskOutcome) -> None:
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
        self._evaluation.add_tags(FileEnd((None, None), decoders))

    def _count_here(self, task: Task, problem: str) -> None:
        pairs = self._tasks.pairs[task.first : task.first + len(task.pairs)]
        what = str(pairs[0][1]) if len(pairs) == 1 else f"{pairs[0][1]} and {len(pairs) - 1} more"
        shown = "".join(character if character.isprintable() else " " for character in problem)
        self._remark(f"{what}: counted again, in this process and in one piece ({shown})")
        self._tasks.work.count_here(self._evaluation, pairs)


def _read(task: Task, answer: object) -> TaskOutcome:
    """What a worker has sent, checked. Raises `WorkerLost` for what is not the outcome of that task."""
    try:
        value = outcomes.opened(answer)
        if value["clueval"] != __version__:
            raise WorkerLost(
                f"a worker has clueval {value['clueval'][:40]}, and this is clueval {__version__}",
                advice="install the same version everywhere",
            )
        return outcomes.read(value, task.expected(), task.paths())
    except NotPlain as error:
        raise WorkerLost(
            f"what a worker sent back is not the counts of {task}: {error}",
            advice="look at the worker, or count without it",
        ) from None


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


def _misfit(parts: Sequence[TaskOutcome]) -> str:
    """Why parts of a pair do not belong to one file; empty if they do."""
    for side in range(2):
        layouts = {part.layouts[side] for part in parts} - {None}
        if len(layouts) > 1:
            return "its lines do not have the same columns everywhere"
    return ""
