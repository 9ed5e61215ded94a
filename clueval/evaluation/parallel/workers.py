"""Worker processes of this machine: an executor whose tasks outlive the processes that carry them out.

Each process has one task at a time, so a process that ends is known to have ended with that task. The task goes to
another process, and after `ATTEMPTS` processes have ended with it there is an error that names it. The executor of
the standard library gives up all its tasks when one process ends, without a word on which one it was.

What tasks return is bytes, which travel as they are: nothing that a worker sends is unpickled. There are no threads
here, so that a process can be forked at any time; an executor is for the thread that made it.
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
"""The number of processes that may end with a task before that is an error."""

GRACE = 0.5
"""Seconds that processes have to end by themselves before they are killed; one that is stopped never would."""

SPARE = 2
"""This many processes more than there are at a time may end in turn without a task, before that is an error."""

_READY, _RESULT, _ERROR = b"+", b"=", b"!"
"""The first byte of what a worker sends: it has begun, what a task returned, or what it raised."""

_END = b""
"""The message to a worker that there are no more tasks."""

_GUARD = "a script that counts in several processes does so under if __name__ == '__main__'"


class NoProcesses(Exception):
    """This machine, or the process that this is, starts no processes; the text says why."""


def _say_nothing(_: str) -> None:
    """Discard a remark."""


@contextmanager
def pool(number: int, remark: Callable[[str], object] = _say_nothing) -> Iterator[Executor]:
    """An executor of `number` processes, all of which have ended when the context is left.

    `remark` is called with a line on each process that ended and whose task another one repeats. If the context is
    left by an exception, Ctrl-C too, the processes end at once, whatever they were doing. Raises `NoProcesses`
    before anything else, and `WorkerLost` in a worker that runs the script which has started it.
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
    """The executor. Tasks are handed out and answers taken while the result of a task is waited for."""

    def __init__(self, number: int, remark: Callable[[str], object]) -> None:
        self._number, self._remark = number, remark
        self._waiting: deque[_Awaited] = deque()
        self._workers: list[_Worker] = []
        self._ended_without_task = 0
        # nothing is ever written to it: its end, when this process ends or closes it, is the message
        self._ear, self._mouth = get_context().Pipe(duplex=False)

    def start(self) -> None:
        """Start all processes now, not with the first task. Raises `NoProcesses` and `WorkerLost`."""
        try:
            for _ in range(self._number):
                self._start_one()
        except RuntimeError as error:  # this is a worker that is just starting, and runs its parent's script
            raise WorkerLost("no processes can be started from here", advice=_GUARD) from error
        except (OSError, AssertionError) as error:  # too many processes; or this one may have none
            raise NoProcesses(" ".join(str(error).split())) from error

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Have a function called that returns bytes. An error about the call names its first argument."""
        awaited = _Awaited(self, pickle.dumps((fn, args, kwargs)), str(args[0]) if args else fn.__name__)
        self._waiting.append(awaited)
        self._hand_out()
        return awaited

    def attend(self) -> None:
        """Wait until a worker sends something or ends, and see to it. Raises `WorkerLost`."""
        self._hand_out()
        by_signal = {worker.connection: worker for worker in self._workers}
        by_signal |= {worker.process.sentinel: worker for worker in self._workers}  # type: ignore[misc]
        signalled = {id(by_signal[each]) for each in wait(list(by_signal))}  # type: ignore[index]
        for worker in [worker for worker in self._workers if id(worker) in signalled]:
            self._listen(worker)
        self._hand_out()

    def close(self, *, at_once: bool = False) -> None:
        """End all processes: those that have nothing to do by themselves, the others by force."""
        with _interrupts_held_back():
            for worker in self._workers:
                if worker.task is None and not at_once:
                    with suppress(OSError):
                        worker.connection.send_bytes(_END)
                else:
                    at_once = True
            if at_once:
                self._mouth.close()
            self._await_ends()
            self._mouth.close()
            self._ear.close()
            for worker in self._workers:
                worker.process.kill()
                worker.end()
            self._workers = []

    def _await_ends(self) -> None:
        """Wait until all processes have ended, or `GRACE` is over."""
        end = monotonic() + GRACE
        left = [worker.process.sentinel for worker in self._workers]
        while left and (seconds := end - monotonic()) > 0:
            ended = wait(left, seconds)
            left = [each for each in left if each not in ended]

    # Tasks

    def _hand_out(self) -> None:
        """Give a task to each process that has none, and replace processes if there are tasks for them."""
        while self._waiting and self._waiting[0].cancelled():
            self._waiting.popleft()
        free = [worker for worker in self._workers if worker.task is None]
        for worker in free:
            if worker.ready and self._waiting:
                self._give(worker)
        starting = sum(not worker.ready for worker in free)
        for _ in range(min(len(self._waiting) - starting, self._number - len(self._workers))):
            self._replace()

    def _give(self, worker: _Worker) -> None:
        awaited = self._waiting.popleft()
        if awaited.cancelled():
            return
        try:
            worker.connection.send_bytes(awaited.message)
            worker.task = awaited
        except OSError:  # it has ended, which `attend` will see
            self._waiting.appendleft(awaited)
            worker.ready = False

    def _listen(self, worker: _Worker) -> None:
        try:
            if worker.connection.poll():
                self._take(worker, worker.connection.recv_bytes())
                return
        except (EOFError, OSError):
            pass  # it has ended, perhaps in the middle of an answer
        else:
            if worker.process.is_alive():
                return
        self._lose(worker)

    def _take(self, worker: _Worker, answer: bytes) -> None:
        awaited, worker.task, worker.ready = worker.task, None, True
        if awaited is None:
            return
        self._ended_without_task = 0
        if awaited.cancelled():
            return
        if answer[:1] == _RESULT:
            awaited.set_result(answer[1:])
        else:
            said = answer[1:].decode("utf-8", "replace")
            awaited.set_exception(
                WorkerLost(f"a process could not count {awaited.name}: {said}", advice="count in one process")
            )

    def _lose(self, worker: _Worker) -> None:
        """A process has ended; what it was counting is for another one."""
        self._workers.remove(worker)
        worker.process.join(GRACE)  # its connection may end before it does
        worker.process.kill()
        how, awaited = worker.end(), worker.task
        if awaited is None:
            self._ended_without_task += 1
            if self._ended_without_task > self._number + SPARE:
                raise WorkerLost(
                    f"processes end before they have counted anything, the last one {how}",
                    advice=_GUARD if start_method() == "spawn" else "look at what ends them",
                )
            return
        awaited.attempts += 1
        if awaited.attempts < ATTEMPTS:
            self._remark(f"a process has ended ({how}); another one repeats its part, {awaited.name}")
            self._waiting.appendleft(awaited)
        elif not awaited.cancelled():
            awaited.set_exception(
                WorkerLost(
                    f"{ATTEMPTS} processes have ended, one after the other, while they counted {awaited.name}; "
                    f"the last one {how}",
                    advice="count with fewer processes if memory is short",
                )
            )

    # Processes

    def _start_one(self) -> None:
        method = start_method()
        context = get_context(method)
        own, other = context.Pipe()
        mouth = self._mouth if method == "fork" else None
        process = context.Process(target=_serve, args=(other, self._ear, mouth))  # type: ignore[attr-defined]
        try:
            with _interrupts_held_back():  # a worker that has not begun would die of them, loudly
                process.start()
                self._workers.append(_Worker(process, own))
        except BaseException:
            own.close()
            raise
        finally:
            other.close()

    def _replace(self) -> None:
        """Start a process in place of one that has ended; without it the others go on."""
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
    """A process, and what it is doing."""

    def __init__(self, process: BaseProcess, connection: Connection) -> None:
        self.process, self.connection = process, connection
        self.ready = False
        self.task: _Awaited | None = None

    def end(self) -> str:
        """How a process that is ending has ended."""
        self.process.join()
        code = self.process.exitcode
        self.connection.close()
        self.process.close()
        if code is None or code >= 0:
            return f"with exit code {code}"
        with suppress(ValueError):
            return f"by {signal.Signals(-code).name}"
        return f"by signal {-code}"


class _Awaited(Future[bytes]):
    """A task, and the number of processes that have ended with it."""

    def __init__(self, workers: WorkerPool, message: bytes, name: str) -> None:
        super().__init__()
        self._workers, self.message, self.name = workers, message, name
        self.attempts = 0

    def result(self, timeout: float | None = None) -> bytes:
        """What the function returned; waits for as long as that takes, whatever the `timeout`."""
        while not self.done():
            self._workers.attend()
        return super().result(timeout)


def start_method() -> str:
    """Fork where it is safe, which costs least and does not run a user's script again in every worker.

    It is not where other threads run: what they have locked stays locked in the worker. Nor on macOS, whose
    libraries start threads of their own. There a worker is a fresh interpreter.
    """
    forks = "fork" in get_all_start_methods() and sys.platform != "darwin"
    return "fork" if forks and active_count() == 1 else "spawn"


_INTERRUPTS = {signal.SIGINT, signal.SIGTERM}


@contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """Ctrl-C and SIGTERM wait here, and in the processes started here until they have `_begin`."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _INTERRUPTS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


# In the worker


def _serve(connection: Connection, ear: Connection, mouth: Connection | None) -> None:
    """What a worker does: carry out tasks until there are no more."""
    if mouth is not None:
        mouth.close()  # forked with it; its end is to be the parent's end
    _begin(ear)
    with suppress(EOFError, OSError):
        connection.send_bytes(_READY)
        while message := connection.recv_bytes():
            connection.send_bytes(_answer(message))


def _answer(message: bytes) -> bytes:
    """What a task returns, or what it raises in one line: an exception as such may not travel."""
    try:
        function, arguments, named = pickle.loads(message)  # of the parent
        return _RESULT + bytes(function(*arguments, **named))
    except BaseException as error:
        try:
            said = " ".join(str(error).split())[:300]
        except Exception:  # an error that cannot be shown
            said = ""
        return _ERROR + f"{type(error).__name__}{': ' if said else ''}{said}".encode("utf-8", "replace")


def _begin(ear: Connection) -> None:
    """What a worker does first: leave Ctrl-C and SIGHUP to its parent, and wait for the parent's word or end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if hasattr(signal, "SIGHUP"):
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _INTERRUPTS)
    Thread(target=_end_with_parent, args=(ear,), daemon=True).start()


def _end_with_parent(ear: Connection) -> None:
    parent = parent_process()
    assert parent is not None
    wait([parent.sentinel, ear])
    os._exit(1)  # at once: nothing waits for what is being counted, and it holds nothing that must be saved
