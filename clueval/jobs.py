"""Jobs: tasks carried out elsewhere, by anything with the `submit` of `concurrent.futures.Executor`.

Tasks are submitted one by one, so many at a time and no more, and their results come back in the order of the
tasks. `pool` is the executor of this machine: processes that do not mind Ctrl-C, which is for the one who
started them, and end when that one ends, however it ends.
"""

from __future__ import annotations

import os
import signal
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from clueval.exceptions import UsageError, WorkerLost

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future
    from multiprocessing.connection import Connection

Task = TypeVar("Task")
Outcome = TypeVar("Outcome")

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
    function: Callable[[Task], Outcome],
    tasks: Iterable[Task],
    window: int,
    *,
    cancel: bool = True,
) -> Iterator[tuple[Task, Outcome]]:
    """Every task with what the function makes of it, in the order of the tasks.

    At most `window` tasks are submitted and not yet returned; a task is asked for when it can be submitted, not
    sooner. What has not begun when the iterator is closed is cancelled, if `cancel` is set. Whatever the executor
    raises, a task does not: `function` is to return its errors. Raises `WorkerLost`.
    """
    waiting: deque[tuple[Task, Future[Outcome]]] = deque()
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


def _submitted(executor: Executor, function: Callable[[Task], Outcome], task: Task) -> Future[Outcome]:
    try:
        return executor.submit(function, task)
    except Exception as error:
        raise _lost(error) from error


def _returned(task: Task, future: Future[Outcome]) -> tuple[Task, Outcome]:
    try:
        return task, future.result()
    except (KeyboardInterrupt, SystemExit, GeneratorExit, WorkerLost):
        raise
    except BaseException as error:  # asyncio's CancelledError, which some executors use, is no Exception
        raise _lost(error) from error


def _lost(error: BaseException) -> WorkerLost:
    if _is_broken(error):
        return WorkerLost(
            "a process that was counting has ended in the middle, killed or out of memory",
            advice="count with fewer processes",
        )
    if type(error).__name__.endswith("CancelledError"):  # there are several of them
        return WorkerLost(
            "the executor has cancelled a task: its scheduler has ended, or somebody has stopped it",
            advice="start again what has ended",
        )
    said = " ".join(str(error).split())[:300]
    return WorkerLost(
        f"the executor has lost a task: {type(error).__name__}{': ' if said else ''}{said}",
        advice="look at its workers",
    )


class NoProcesses(Exception):
    """This machine, or the process that this is, starts no processes; the text says why."""


@contextmanager
def pool(workers: int) -> Iterator[Executor]:
    """An executor of so many processes on this machine, which have ended when the context is left.

    If it is left by an exception, Ctrl-C too, they end at once, whatever they were doing; its futures are not to
    be cancelled before. Raises `NoProcesses`
    before anything else, and `WorkerLost` in a worker that runs the script which has started it.
    """
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    method = _start_method()
    context = multiprocessing.get_context(method)
    try:
        ear, mouth = context.Pipe(duplex=False)
        executor = ProcessPoolExecutor(workers, context, initializer=_begin, initargs=(ear,))
    except (OSError, ImportError, NotImplementedError) as error:  # no semaphores: a system without /dev/shm
        raise NoProcesses(" ".join(str(error).split())) from error
    try:
        _start(executor, workers)
        yield executor
    except BaseException as error:
        mouth.send_bytes(b"end")  # nobody reads it: it is there for all of them
        if isinstance(error, WorkerLost) and method == "spawn" and error.advice != _GUARD:
            error.advice = f"{error.advice}; {_GUARD}"
        raise
    finally:
        executor.shutdown(wait=True, cancel_futures=True)
        ear.close()
        mouth.close()


def _start(executor: Executor, workers: int) -> None:
    """Have the workers started now, not with the first task."""
    from concurrent.futures import BrokenExecutor

    try:
        with _interrupts_held_back():  # a worker that has not begun would die of them, loudly
            for _ in range(workers):
                executor.submit(int)
    except BrokenExecutor as error:
        raise _lost(error) from error
    except RuntimeError as error:  # this is a worker that is just starting, and runs its parent's script
        raise WorkerLost("no processes can be started from here", advice=_GUARD) from error
    except (OSError, AssertionError) as error:  # too many there are; or this is a worker that may have none
        raise NoProcesses(" ".join(str(error).split())) from error


_GUARD = "a script that counts in several processes does so under if __name__ == '__main__'"


def _start_method() -> str:
    """Fork where it is safe, which costs least and does not run a user's script again in every worker.

    It is not where other threads run: what they have locked stays locked in the worker. Nor on macOS, whose
    libraries start threads of their own. There a worker is a fresh interpreter.
    """
    import multiprocessing
    import threading

    forks = "fork" in multiprocessing.get_all_start_methods() and sys.platform != "darwin"
    return "fork" if forks and threading.active_count() == 1 else "spawn"


@contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """Ctrl-C waits here, and in the processes started here until they have `_begin`."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin(ear: Connection) -> None:
    """What a worker does first: leave Ctrl-C and SIGHUP to its parent, and wait for the parent's word or end."""
    import threading

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if hasattr(signal, "SIGHUP"):
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    threading.Thread(target=_end_with_parent, args=(ear,), daemon=True).start()


def _end_with_parent(ear: Connection) -> None:
    from multiprocessing import parent_process
    from multiprocessing.connection import wait

    parent = parent_process()
    assert parent is not None
    wait([parent.sentinel, ear])
    os._exit(1)  # at once: nobody waits for what is being counted, and it holds nothing that must be saved
