"""Worker processes of this machine: pools of the standard library, all of whose processes end with their context."""

from __future__ import annotations

import os
import signal
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor
from concurrent.futures import wait as wait_for
from contextlib import contextmanager
from itertools import chain
from multiprocessing import get_all_start_methods, get_context, parent_process
from multiprocessing.connection import wait
from threading import Thread, active_count
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from clueval.files.errors import CluevalError
from clueval.second.results.workers import (
    CHECK,
    SUBMITTED_EACH,
    Answer,
    Bags,
    FilePair,
    Task,
    Waiting,
    bag_of,
    carry_out,
    in_order,
)

if TYPE_CHECKING:
    from multiprocessing.process import BaseProcess

_GUARD = "a script that uses several processes needs the guard if __name__ == '__main__'"


class NoProcesses(Exception):
    """This process cannot start other processes; the message has the reason."""


def on_processes(
    call: bytes, tasks: Sequence[Task[FilePair]], number: int, remark: Callable[[str], object]
) -> Bags[FilePair]:
    """Yield each task with its bag, in order; what is missing when a process has ended is counted by one process.

    Raises `NoProcesses` before the first task, and `CluevalError` for a task whose process ends again.
    """
    waiting: Waiting[FilePair] = deque()
    rest = iter(tasks)
    try:
        with Pool(number, call) as pool:
            yield from in_order(pool, rest, waiting, SUBMITTED_EACH * number)
            return
    except BrokenExecutor:
        pass
    remark(f"a process has ended; one process counts what is missing, from {waiting[0][0]} on")
    missing: Iterator[tuple[Task[FilePair], Future[Answer] | None]] = chain(
        waiting, ((task, None) for task in rest)
    )
    with Pool(1, call) as pool:
        for task, future in missing:
            if future is None or not _has_result(future):
                future = pool.submit(task)
            try:
                answer = pool.result(task, future)
            except BrokenExecutor as error:
                raise CluevalError(
                    f"a process has ended again, killed or out of memory, while it counted {task}",
                    advice=_GUARD if pool.method == "spawn" else "divide the files if memory is short",
                ) from error
            yield task, bag_of(task, answer)


def _has_result(future: Future[Answer]) -> bool:
    return future.done() and not future.cancelled() and future.exception() is None


def start_method() -> str:
    """Return ``fork`` where it is safe: it costs least, and workers do not run the user's script again. Else ``spawn``.

    It is not safe if other threads run, because their locks stay locked in the worker, nor on macOS, where libraries
    start threads.
    """
    forks = "fork" in get_all_start_methods() and sys.platform != "darwin"
    return "fork" if forks and active_count() == 1 else "spawn"


_MOST_ON_WINDOWS = 61
"""The processes of which a standard pool can wait on Windows."""


class Pool:
    """A pool of processes that count tasks. Only the thread that has made it may use it.

    Attributes:
        method: how its processes are started.
    """

    def __init__(self, number: int, call: bytes) -> None:
        self._number = min(number, _MOST_ON_WINDOWS) if sys.platform == "win32" else number
        self._call = call
        self.method = start_method()
        self._pool: ProcessPoolExecutor | None = None
        self._context: _RecordingContext | None = None

    def __enter__(self) -> Self:
        try:
            self._context = _RecordingContext(self.method)
            context: Any = self._context
            self._pool = ProcessPoolExecutor(self._number, context, _begin, (self._call,))
            with _interrupts_held_back():
                self._pool.submit(int)  # forks all processes now, before there is a thread
        except BaseException as error:
            self._end()
            if isinstance(
                error, RuntimeError
            ):  # this process is a starting worker, which runs its parent's script
                raise CluevalError("no processes can be started from here", advice=_GUARD) from error
            if isinstance(
                error, OSError | ImportError | NotImplementedError | AssertionError
            ):  # or it is daemonic
                raise NoProcesses(" ".join(str(error).split())) from error
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def submit(self, task: Task[Any]) -> Future[Answer]:
        """Submit a task; a pool that is broken says so when its result is asked for."""
        assert self._pool is not None
        with _interrupts_held_back():  # a starting worker would end with a traceback
            try:
                return self._pool.submit(_carried_out, task)
            except BrokenExecutor as error:
                future: Future[Answer] = Future()
                future.set_exception(error)
                return future

    def result(self, task: Task[Any], future: Future[Answer]) -> Answer:
        """Wait for the result of a task. Raises `BrokenExecutor` if a process has ended."""
        killed = False
        while not wait_for([future], CHECK).done:
            if killed:
                raise BrokenExecutor("the thread of the pool has ended with an error")
            if wait([process.sentinel for process in self._started()], 0):
                self._kill()  # a process that ended while it sent a result blocks the pool
                killed = True
        return future.result()

    def _end(self) -> None:
        """End all processes at once; no task needs them any more."""
        with _interrupts_held_back():
            self._kill()
            if self._pool is not None:
                self._pool.shutdown(cancel_futures=True)
            for process in self._started():
                process.join()

    def _kill(self) -> None:
        for process in self._started():
            process.kill()
        # the thread of the pool waits for the rest of a result that a process was sending, as long as any process can
        # write to it, and this one could
        for queue in () if self._context is None else self._context.queues:
            queue._writer.close()

    def _started(self) -> list[BaseProcess]:
        processes = [] if self._context is None else self._context.processes
        return [process for process in processes if process.pid is not None]


class _RecordingContext:
    """A context of `multiprocessing` that lists what it makes; the standard pool does not show its own.

    Attributes:
        processes: all processes.
        queues: the queues of results.
    """

    def __init__(self, method: str) -> None:
        self._context: Any = get_context(method)
        self.processes: list[BaseProcess] = []
        self.queues: list[Any] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)

    def Process(self, **arguments: Any) -> BaseProcess:  # noqa: N802  # the name of the context's class
        process: BaseProcess = self._context.Process(**arguments)
        self.processes.append(process)
        return process

    def SimpleQueue(self) -> Any:  # noqa: N802  # the name of the context's class
        self.queues.append(self._context.SimpleQueue())
        return self.queues[-1]


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


_calls: list[bytes] = []
"""The pickled function that counts."""


def _begin(call: bytes) -> None:
    """Ignore Ctrl-C and SIGHUP, which the parent handles, and end with the parent."""
    _calls.append(call)
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
    os._exit(1)  # at once, because the bag of an unfinished task is not needed


def _carried_out(task: Task[Any]) -> Answer:
    return carry_out(_calls[0], task)
