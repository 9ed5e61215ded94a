"""Worker processes of this machine: the pool of the standard library, made anew when a process has ended.

If a process ends in the middle, by a signal or for lack of memory, the standard pool drops all its tasks. A new pool
then carries out those that have no result. If `ATTEMPTS` pools in succession end without a result, an error names the
oldest task.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from concurrent.futures import wait as wait_for_futures
from contextlib import contextmanager
from functools import partial
from multiprocessing import get_all_start_methods, get_context, parent_process
from multiprocessing.connection import wait
from threading import Thread, active_count
from typing import TYPE_CHECKING, Any

from clueval.files.errors import WorkerLost

if TYPE_CHECKING:
    from multiprocessing.process import BaseProcess

ATTEMPTS = 3
"""The number of pools in succession that have ended without a result after which an error is raised."""

_CHECK = 1.0
"""Seconds without a result before checking that the processes are alive."""

_GUARD = "a script that uses several processes needs the guard if __name__ == '__main__'"


class NoProcesses(Exception):
    """This process cannot start other processes; the message has the reason."""


@contextmanager
def pool(number: int, remark: Callable[[str], object] = lambda _: None) -> Iterator[Executor]:
    """An executor of `number` processes, which all have ended at the end of the context.

    `remark` is called with a line for each pool that has ended too early. Only the thread that has made the executor
    may use it. Raises `NoProcesses` before the first task, and `WorkerLost` in a worker that runs the script which has
    started it.
    """
    workers = WorkerPool(number, remark)
    try:
        try:
            workers.start()
        except RuntimeError as error:  # this process is a starting worker, which runs its parent's script
            raise WorkerLost("no processes can be started from here", advice=_GUARD) from error
        except (OSError, ImportError, NotImplementedError, AssertionError) as error:  # or a daemonic process
            raise NoProcesses(" ".join(str(error).split())) from error
        yield workers
    finally:
        workers.end()


_MOST_ON_WINDOWS = 61
"""The processes of which a standard pool can wait on Windows."""


class WorkerPool(Executor):
    """The executor: a standard pool, and the tasks that it carries out again if a process ends."""

    def __init__(self, number: int, remark: Callable[[str], object]) -> None:
        self._number = min(number, _MOST_ON_WINDOWS) if sys.platform == "win32" else number
        self._remark = remark
        self._pool: ProcessPoolExecutor | None = None
        self._processes: list[BaseProcess] = []
        self._tasks: list[_RepeatedTask] = []  # those whose result has not been returned
        self._ended = 0  # pools in succession without a result
        self._returned = 0  # results
        self._results_before = 0  # results when the last pool ended

    def start(self) -> None:
        """Start processes. Raises the errors of starting them."""
        self._processes = []
        context: Any = _RecordingContext(start_method(), self._processes)
        self._pool = ProcessPoolExecutor(self._number, context, _begin)
        with _interrupts_held_back():
            self._pool.submit(int)  # forks all processes now, before there is a thread

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Submit a function; errors name it by its first argument."""
        task = _RepeatedTask(self, partial(fn, *args, **kwargs))
        self._tasks.append(task)
        self._begin_task(task)
        return task

    def _begin_task(self, task: _RepeatedTask) -> None:
        assert self._pool is not None
        with _interrupts_held_back():  # a starting worker would end with a traceback
            try:
                task.attempt = self._pool.submit(task.call)
            except BrokenExecutor as error:  # `result_of` makes another pool
                task.attempt = Future()
                task.attempt.set_exception(error)

    def result_of(self, task: _RepeatedTask) -> Any:
        """The result of a task; waits for it. Raises its error, and `WorkerLost` after `ATTEMPTS` pools."""
        while self._is_lost(task.attempt):
            self._renew(task)
        self._returned += 1
        return task.attempt.result()

    def _is_lost(self, attempt: Future[Any]) -> bool:
        """Wait for an attempt, and return whether it has no result because its pool has ended."""
        killed = False
        while not wait_for_futures([attempt], _CHECK).done:
            if killed:
                return True  # the pool has not noticed: its thread has ended with an error
            if wait([process.sentinel for process in self._started()], 0):
                self._kill()  # a process that ended while it sent a result may block the pool
                killed = True
        return isinstance(attempt.exception(), BrokenExecutor)

    def _renew(self, task: _RepeatedTask) -> None:
        """Make another pool, which carries out the tasks that have no result."""
        self.end()
        unfinished = [each for each in self._tasks if not _has_result(each.attempt)]
        results = self._returned + len(self._tasks) - len(unfinished)
        self._ended = 1 if results > self._results_before else self._ended + 1
        self._results_before = results
        if self._ended >= ATTEMPTS:
            spawned = start_method() == "spawn"
            raise WorkerLost(
                f"processes have ended {ATTEMPTS} times, one after the other, while they counted {task.name} "
                "or a later part",
                advice=_GUARD if spawned else "count with fewer processes if memory is short",
            )
        self._remark(f"a process has ended; another one repeats its part, {task.name} or a later one")
        try:
            self.start()
        except OSError as error:
            raise WorkerLost(
                f"all processes have ended, and no other can be started: {error.strerror or error}",
                advice="count with fewer processes",
            ) from error
        for each in unfinished:
            self._begin_task(each)

    def forget(self, task: _RepeatedTask) -> None:
        """Remove a task that is cancelled, or whose result is returned."""
        if task in self._tasks:
            self._tasks.remove(task)

    def end(self) -> None:
        """End all processes at once. No task may need them any more."""
        with _interrupts_held_back():
            self._kill()
            if self._pool is not None:
                self._pool.shutdown(cancel_futures=True)
            for process in self._started():
                process.join()

    def _kill(self) -> None:
        for process in self._started():
            process.kill()

    def _started(self) -> list[BaseProcess]:
        return [process for process in self._processes if process.pid is not None]


class _RecordingContext:
    """A context of `multiprocessing` that puts each process into a list; the standard pool does not show its own."""

    def __init__(self, method: str, processes: list[BaseProcess]) -> None:
        self._context: Any = get_context(method)
        self._processes = processes

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)

    def Process(self, **arguments: Any) -> BaseProcess:  # noqa: N802  # the name of the context's class
        process: BaseProcess = self._context.Process(**arguments)
        self._processes.append(process)
        return process


class _RepeatedTask(Future[Any]):
    """A task that is carried out again if its pool ends. `attempt` is its future in the current pool."""

    attempt: Future[Any]

    def __init__(self, workers: WorkerPool, call: partial[Any]) -> None:
        super().__init__()
        self._workers, self.call = workers, call

    @property
    def name(self) -> str:
        return str(self.call.args[0]) if self.call.args else self.call.func.__name__

    def result(self, timeout: float | None = None) -> Any:
        """The result of the function; waits until it is there, without regard to `timeout`."""
        try:
            return self._workers.result_of(self)
        finally:
            self._workers.forget(self)

    def cancel(self) -> bool:
        """Do not repeat the task. Its attempt goes on, because a pool whose process ends fails at cancelled ones."""
        self._workers.forget(self)
        return True


def _has_result(attempt: Future[Any]) -> bool:
    return attempt.done() and not attempt.cancelled() and attempt.exception() is None


def start_method() -> str:
    """``fork`` where it is safe: it costs least, and workers do not run the user's script again. Else ``spawn``.

    It is not safe if other threads run, because their locks stay locked in the worker, nor on macOS, where libraries
    start threads.
    """
    forks = "fork" in get_all_start_methods() and sys.platform != "darwin"
    return "fork" if forks and active_count() == 1 else "spawn"


_INTERRUPTS = {signal.SIGINT, signal.SIGTERM}


@contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """Delay Ctrl-C and SIGTERM until the end of the block, and in processes started in it until `_begin`."""
    if sys.platform == "win32":  # which has no masks
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _INTERRUPTS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


# In the worker


def _begin() -> None:
    """Ignore Ctrl-C and SIGHUP, which the parent handles, and end with the parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if sys.platform != "win32":
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _INTERRUPTS)
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    assert parent is not None
    wait([parent.sentinel])
    os._exit(1)  # at once, because the counts of an unfinished task are not needed
