"""Worker processes of this machine: a standard pool, all of whose processes end with it and with this process."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor
from concurrent.futures import wait as wait_for
from contextlib import contextmanager
from multiprocessing import get_all_start_methods, get_context, parent_process
from multiprocessing.connection import wait
from threading import Thread, active_count
from typing import Any

from clueval.files.errors import CluevalError

GUARD = "a script that uses several processes needs the guard if __name__ == '__main__'"

_MOST_ON_WINDOWS = 61
"""The processes of which a standard pool can wait on Windows."""


class NoProcesses(Exception):
    """This process cannot start other processes; the message has the reason."""


@contextmanager
def pool_of(number: int, patience: float) -> Iterator[Pool]:
    """Provide a pool of processes; only the thread that has made it may use it.

    After `patience` seconds without a result it is checked that the processes are alive. Raises `NoProcesses`.
    """
    if sys.platform == "win32":
        number = min(number, _MOST_ON_WINDOWS)
    pool = None
    try:
        # a fork costs least, and workers do not run the user's script again; it is not safe if other threads run,
        # because their locks stay locked in the worker, nor on macOS, where libraries start threads
        forks = "fork" in get_all_start_methods() and sys.platform != "darwin" and active_count() == 1
        pool = Pool(number, get_context("fork" if forks else "spawn"), _begin)
        pool.patience = patience
        pool.starts_script = not forks
        with _interrupts_held_back():
            pool.submit(int)  # forks all processes now, before there is a thread
    # this process is a starting worker, which runs its parent's script; the others: it is daemonic, or cannot start any
    except (RuntimeError, OSError, ImportError, NotImplementedError, AssertionError) as error:
        if pool is not None:
            pool.end()
        if isinstance(error, RuntimeError) and not isinstance(error, NotImplementedError):
            raise CluevalError("no processes can be started from here", advice=GUARD) from error
        raise NoProcesses(" ".join(str(error).split())) from error
    try:
        yield pool
    finally:
        pool.end()


class Pool(ProcessPoolExecutor):
    """A standard pool that sees when a process ends while it sends a result, which blocks the thread of the pool.

    Attributes:
        starts_script: whether its processes run the user's script first.
        patience: the seconds without a result before it is checked that the processes are alive.
    """

    starts_script = False
    patience = 1.0

    def submit_task(self, function: Callable[..., bytes], *arguments: Any) -> Future[bytes]:
        """Submit a call; a pool that is broken says so when its result is asked for."""
        with _interrupts_held_back():  # a starting worker would end with a traceback
            try:
                return self.submit(function, *arguments)
            except BrokenExecutor as error:
                future: Future[bytes] = Future()
                future.set_exception(error)
                return future

    def result_of(self, future: Future[bytes]) -> bytes:
        """Wait for the result of a call. Raises `BrokenExecutor` if a process has ended."""
        killed = False
        while not wait_for([future], self.patience).done:
            if killed:
                raise BrokenExecutor("the thread of the pool has ended with an error")
            if wait([process.sentinel for process in (self._processes or {}).values()], 0):
                self._kill()
                killed = True
        return future.result()

    def end(self) -> None:
        """End all processes at once; no task needs them any more."""
        with _interrupts_held_back():
            processes = list((self._processes or {}).values())
            self._kill()
            self.shutdown(cancel_futures=True)
            for process in processes:
                process.join()

    def _kill(self) -> None:
        for process in (self._processes or {}).values():
            process.kill()
        # the thread of the pool waits for the rest of a result that a process was sending, as long as any process can
        # write to it, and this one could
        results: Any = self._result_queue
        if results is not None:
            results._writer.close()


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
    os._exit(1)  # at once, because the bag of an unfinished task is not needed
