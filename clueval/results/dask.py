"""The executor of a cluster of `distributed` (extra ``dask``).

The workers must have clueval installed and find the files under the same paths as this process. Several threads of
a worker count no faster than one, so start workers with one thread each. If a worker ends, `distributed` gives its
tasks to other workers; for a task that ends several workers, its executor raises an error. If no worker is left,
`distributed` would wait for a new one without limit, and this executor raises an error.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from time import monotonic
from typing import Any

from clueval.files.errors import CluevalError, UsageError, extra

PATIENCE = 10
"""Seconds to wait for the scheduler, and then for its first worker."""

WORKERLESS = 30
"""Seconds to wait for a new worker when all have ended."""


@contextmanager
def scheduler(address: str, patience: float = PATIENCE) -> Iterator[tuple[Executor, int]]:
    """The executor of the cluster with this scheduler, and the number of tasks that it carries out at a time.

    `address` is ``tcp://host:port`` or another address for `distributed.Client`; `patience` is in seconds. Raises
    `MissingExtra`, `UsageError` for a wrong address, and `CluevalError` if the scheduler does not answer or has no
    worker.
    """
    with extra("a scheduler needs distributed, which is not installed", "pip install 'clueval[dask]'"):
        from distributed import Client
    connected: Any = Client
    with _silence():
        _require_answer(address, patience)
        with connected(address, timeout=patience, set_as_default=False) as client:
            try:
                client.wait_for_workers(1, timeout=patience)
            except TimeoutError:
                raise CluevalError(
                    f"the scheduler {address} has had no worker for {patience:g} s", advice="start workers"
                ) from None
            # not pure: a file may have changed since an equal task was carried out
            executor = client.get_executor(pure=False)
            executor.require_workers = _watch(client, address)
            yield executor, max(sum(client.nthreads().values()), 1)


def _watch(client: Any, address: str) -> Callable[[], None]:
    """Return the function that raises `CluevalError` if calls of it have found no worker for `WORKERLESS` seconds."""
    workerless_since: float | None = None

    def require_workers() -> None:
        nonlocal workerless_since
        try:
            has_workers = bool(client.nthreads())
        except (OSError, AttributeError):  # the scheduler is ending, which cancels the tasks
            has_workers = False
        workerless_since = None if has_workers else workerless_since or monotonic()
        if workerless_since and monotonic() - workerless_since >= WORKERLESS:
            raise CluevalError(
                f"all workers of the scheduler {address} have ended, and none has started for {WORKERLESS:g} s",
                advice="look at their last messages, and start workers",
            )

    return require_workers


@contextmanager
def _silence() -> Iterator[None]:
    """Disable the logs of `distributed`, because an error is raised for each failure."""
    names = ("distributed", "distributed.client", "tornado.application")
    loggers = [logging.getLogger(name) for name in names]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


def _require_answer(address: str, patience: float) -> None:
    """Raise `UsageError` for a wrong address, `CluevalError` if no scheduler answers there.

    Called before there is a client, because a client without a scheduler prints another error when it is closed.
    """
    from distributed import comm, security

    untyped: Any = comm, security

    async def ask() -> None:
        comms, securities = untyped
        arguments = securities.Security().get_connection_args("client")
        await (await comms.connect(address, timeout=patience, **arguments)).close()

    try:
        with ThreadPoolExecutor(1) as thread:  # this thread may run a loop, as in a notebook
            thread.submit(asyncio.run, ask()).result()
    except ValueError as error:
        raise UsageError(
            f"{address!r} is not an address: {error}", advice="write it tcp://host:port"
        ) from None
    except OSError as error:  # or its subclass TimeoutError
        message = str(error).partition("\n")[0]
        raise CluevalError(
            f"no scheduler answers at {address}: {message or type(error).__name__}",
            advice="check that it is running",
        ) from None
