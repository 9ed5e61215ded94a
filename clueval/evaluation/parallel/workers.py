"""Worker processes of this machine: an executor that repeats tasks whose process has ended.

Each process has one task at a time, so the task with which a process has ended is known. Another process repeats it;
if `ATTEMPTS` processes have ended with a task, an error names it. The executor of the standard library drops all its
tasks when one process ends, and does not name the one that it had.

Tasks return bytes, so nothing that a worker sends is unpickled. This process has no additional threads, so that it can
fork at any time; only the thread that has made an executor may use it.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager, suppress
from multiprocessing import get_all_start_methods, get_context, parent_process
from multiprocessing.connection import wait
from threading import Thread, active_count
from time import monotonic
from typing import TYPE_CHECKING, Any

from clueval.exceptions import WorkerLost

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

ATTEMPTS = 3
"""The number of processes that have ended with the same task after which an error is raised."""

GRACE = 0.5
"""Seconds that processes have to end by themselves before they are killed; a stopped process never does."""

SPARE = 2
"""The number of processes, besides those that run at a time, that may end in succession without a task."""

_READY, _RESULT, _ERROR = b"+", b"=", b"!"
"""The first byte of a message of a worker: it has started, the result of a task, or its error."""

_END = b""
"""The message to a worker that there are no more tasks."""

_GUARD = "a script that uses several processes needs the guard if __name__ == '__main__'"


class NoProcesses(Exception):
    """This process cannot start other processes; the message has the reason."""


def _say_nothing(_: str) -> None:
    """Discard a remark."""


@contextmanager
def pool(number: int, remark: Callable[[str], object] = _say_nothing) -> Iterator[Executor]:
    """An executor of `number` processes, which all have ended at the end of the context.

    `remark` is called with a line for each process that has ended with a task. After an exception, also Ctrl-C, all
    processes end at once. Raises `NoProcesses` before the first task, and `WorkerLost` in a worker that runs the script
    which has started it.
    """
    try:
        workers = WorkerPool(number, remark)
    except (OSError, ImportError, NotImplementedError) as error:
        raise NoProcesses(" ".join(str(error).split())) from error
    try:
        workers.start()
        yield workers
    except BaseException:
        workers.close(at_once=True)
        raise
    workers.close()


class WorkerPool(Executor):
    """The executor. It assigns tasks and receives answers while `result` of a task waits."""

    def __init__(self, number: int, remark: Callable[[str], object]) -> None:
        self._number, self._remark = number, remark
        self._waiting: deque[_PendingTask] = deque()
        self._workers: list[_Worker] = []
        self._ended_without_task = 0
        # workers end when the write end is closed, by this process or because it has ended; nothing is written
        self._read_end, self._write_end = get_context().Pipe(duplex=False)

    def start(self) -> None:
        """Start all processes before the first task. Raises `NoProcesses` and `WorkerLost`."""
        try:
            for _ in range(self._number):
                self._start_one()
        except RuntimeError as error:  # this process is a starting worker, which runs its parent's script
            raise WorkerLost("no processes can be started from here", advice=_GUARD) from error
        except (OSError, AssertionError) as error:  # too many processes; or a daemonic process
            raise NoProcesses(" ".join(str(error).split())) from error

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Submit a function that returns bytes. An error about the call names its first argument."""
        pending = _PendingTask(self, pickle.dumps((fn, args, kwargs)), str(args[0]) if args else fn.__name__)
        self._waiting.append(pending)
        self._assign_tasks()
        return pending

    def handle_next(self) -> None:
        """Wait until a worker sends a message or ends, and process that. Raises `WorkerLost`."""
        self._assign_tasks()
        by_signal = {worker.connection: worker for worker in self._workers}
        by_signal |= {worker.process.sentinel: worker for worker in self._workers}  # type: ignore[misc]
        signalled = {id(by_signal[each]) for each in wait(list(by_signal))}  # type: ignore[index]
        for worker in [worker for worker in self._workers if id(worker) in signalled]:
            self._receive(worker)
        self._assign_tasks()

    def close(self, *, at_once: bool = False) -> None:
        """End all processes: those without a task by a message, others by force."""
        with _interrupts_held_back():
            for worker in self._workers:
                if worker.task is None and not at_once:
                    with suppress(OSError):
                        worker.connection.send_bytes(_END)
                else:
                    at_once = True
            if at_once:
                self._write_end.close()
            self._await_ends()
            self._write_end.close()
            self._read_end.close()
            for worker in self._workers:
                worker.process.kill()
                worker.end()
            self._workers = []

    def _await_ends(self) -> None:
        """Wait until all processes have ended, at most `GRACE` seconds."""
        end = monotonic() + GRACE
        left = [worker.process.sentinel for worker in self._workers]
        while left and (seconds := end - monotonic()) > 0:
            ended = wait(left, seconds)
            left = [each for each in left if each not in ended]

    # Tasks

    def _assign_tasks(self) -> None:
        """Send a task to each process that has none, and replace ended processes if there are tasks for them."""
        while self._waiting and self._waiting[0].cancelled():
            self._waiting.popleft()
        free = [worker for worker in self._workers if worker.task is None]
        for worker in free:
            if worker.ready and self._waiting:
                self._send_task(worker)
        starting = sum(not worker.ready for worker in free)
        for _ in range(min(len(self._waiting) - starting, self._number - len(self._workers))):
            self._replace()

    def _send_task(self, worker: _Worker) -> None:
        pending = self._waiting.popleft()
        if pending.cancelled():
            return
        try:
            worker.connection.send_bytes(pending.message)
            worker.task = pending
        except OSError:  # it has ended, which `handle_next` detects
            self._waiting.appendleft(pending)
            worker.ready = False

    def _receive(self, worker: _Worker) -> None:
        try:
            if worker.connection.poll():
                self._store_answer(worker, worker.connection.recv_bytes())
                return
        except (EOFError, OSError):
            pass  # it has ended, perhaps in the middle of an answer
        else:
            if worker.process.is_alive():
                return
        self._handle_end(worker)

    def _store_answer(self, worker: _Worker, answer: bytes) -> None:
        pending, worker.task, worker.ready = worker.task, None, True
        if pending is None:
            return
        self._ended_without_task = 0
        if pending.cancelled():
            return
        if answer[:1] == _RESULT:
            pending.set_result(answer[1:])
        else:
            message = answer[1:].decode("utf-8", "replace")
            pending.set_exception(
                WorkerLost(
                    f"a process could not count {pending.name}: {message}", advice="count in one process"
                )
            )

    def _handle_end(self, worker: _Worker) -> None:
        """Remove a process that has ended, and let another one repeat its task. Raises `WorkerLost`."""
        self._workers.remove(worker)
        worker.process.join(GRACE)  # its connection may end before it does
        worker.process.kill()
        how, pending = worker.end(), worker.task
        if pending is None:
            self._ended_without_task += 1
            if self._ended_without_task > self._number + SPARE:
                raise WorkerLost(
                    f"processes end before they have counted anything, the last one {how}",
                    advice=_GUARD
                    if start_method() == "spawn"
                    else "find out what ends them, or count in one process",
                )
            return
        pending.attempts += 1
        if pending.attempts < ATTEMPTS:
            self._remark(f"a process has ended ({how}); another one repeats its part, {pending.name}")
            self._waiting.appendleft(pending)
        elif not pending.cancelled():
            pending.set_exception(
                WorkerLost(
                    f"{ATTEMPTS} processes have ended, one after the other, while they counted {pending.name}; "
                    f"the last one {how}",
                    advice="count with fewer processes if memory is short",
                )
            )

    # Processes

    def _start_one(self) -> None:
        method = start_method()
        context = get_context(method)
        connection, of_worker = context.Pipe()
        write_end = self._write_end if method == "fork" else None
        process = context.Process(target=_serve, args=(of_worker, self._read_end, write_end))  # type: ignore[attr-defined]
        try:
            with _interrupts_held_back():  # a starting worker would end with a traceback
                process.start()
                self._workers.append(_Worker(process, connection))
        except BaseException:
            connection.close()
            raise
        finally:
            of_worker.close()

    def _replace(self) -> None:
        """Start a process in place of one that has ended; if that fails, the other processes continue."""
        try:
            self._start_one()
        except OSError as error:
            self._number = len(self._workers)
            if not self._workers:
                raise WorkerLost(
                    f"all processes have ended, and no other can be started: {error.strerror or error}",
                    advice="count with fewer processes",
                ) from error
            self._remark(
                f"no process can be started in place of one that has ended ({error.strerror or error})"
            )


class _Worker:
    """A process, its connection and its task."""

    def __init__(self, process: BaseProcess, connection: Connection) -> None:
        self.process, self.connection = process, connection
        self.ready = False
        self.task: _PendingTask | None = None

    def end(self) -> str:
        """Wait for the end of the process, and return how it has ended."""
        self.process.join()
        code = self.process.exitcode
        self.connection.close()
        self.process.close()
        if code is None or code >= 0:
            return f"with exit code {code}"
        with suppress(ValueError):
            return f"by {signal.Signals(-code).name}"
        return f"by signal {-code}"


class _PendingTask(Future[bytes]):
    """A task, and the number of processes that have ended with it."""

    def __init__(self, workers: WorkerPool, message: bytes, name: str) -> None:
        super().__init__()
        self._workers, self.message, self.name = workers, message, name
        self.attempts = 0

    def result(self, timeout: float | None = None) -> bytes:
        """The result of the function; waits until it is there, without regard to `timeout`."""
        while not self.done():
            self._workers.handle_next()
        return super().result(timeout)


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
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _INTERRUPTS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


# In the worker


def _serve(connection: Connection, read_end: Connection, write_end: Connection | None) -> None:
    """Carry out tasks until there are no more: the main function of a worker."""
    if write_end is not None:
        write_end.close()  # inherited by fork; only the parent may hold it open
    _begin(read_end)
    with suppress(EOFError, OSError):
        connection.send_bytes(_READY)
        while message := connection.recv_bytes():
            connection.send_bytes(_answer(message))


def _answer(message: bytes) -> bytes:
    """The result of a task, or its error in one line, because not every exception can be pickled."""
    try:
        function, arguments, named = pickle.loads(message)  # from the parent
        return _RESULT + bytes(function(*arguments, **named))
    except BaseException as error:
        try:
            text = " ".join(str(error).split())[:300]
        except Exception:  # `str` may fail for an error of a user's metric
            text = ""
        return _ERROR + f"{type(error).__name__}{': ' if text else ''}{text}".encode("utf-8", "replace")


def _begin(read_end: Connection) -> None:
    """Ignore Ctrl-C and SIGHUP, which the parent handles, and end with the parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if hasattr(signal, "SIGHUP"):
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _INTERRUPTS)
    Thread(target=_end_with_parent, args=(read_end,), daemon=True).start()


def _end_with_parent(read_end: Connection) -> None:
    parent = parent_process()
    assert parent is not None
    wait([parent.sentinel, read_end])
    os._exit(1)  # at once, because the counts of an unfinished task are not needed
