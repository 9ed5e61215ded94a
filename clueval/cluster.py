"""A cluster of `distributed` (extra ``dask``): its executor, for `clueval.evaluate`.

Its workers find the files under the same paths as this process does, and have clueval installed. Threads of one
worker count no faster than one of them, so workers are best started with one thread each. A worker that dies is
no loss: `distributed` gives its tasks to others.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from clueval.exceptions import MissingExtra, UsageError, WorkerLost

if TYPE_CHECKING:
    from concurrent.futures import Executor

PATIENCE = 10
"""Seconds to wait for the scheduler, and then for its first worker."""


@contextmanager
def scheduler(address: str, patience: float = PATIENCE) -> Iterator[tuple[Executor, int]]:
    """The executor of the cluster whose scheduler has that address, and how many tasks it carries out at a time.

    The address is ``tcp://host:port`` or what else `distributed.Client` takes; `patience` is seconds. Raises
    `MissingExtra`, `UsageError` for what is no address, and `WorkerLost` if nobody answers or nobody works.
    """
    try:
        from distributed import Client
    except ImportError:
        raise MissingExtra(
            "a scheduler is spoken to with distributed, which is not installed",
            advice="pip install 'clueval[dask]'",
        ) from None
    connected: Any = Client
    with _silence():
        _require_answer(address, patience)
        with connected(address, timeout=patience, set_as_default=False) as client:
            try:
                client.wait_for_workers(1, timeout=patience)
            except TimeoutError:
                raise WorkerLost(
                    f"the scheduler {address} has had no worker for {patience:g} s", advice="start some"
                ) from None
            # not pure: a file may have changed since the same task was carried out before
            yield client.get_executor(pure=False), max(sum(client.nthreads().values()), 1)


@contextmanager
def _silence() -> Iterator[None]:
    """Inside, `distributed` logs nothing: what goes wrong is one error, raised here."""
    loggers = [
        logging.getLogger(name) for name in ("distributed", "distributed.client", "tornado.application")
    ]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


def _require_answer(address: str, patience: float) -> None:
    """Raise `UsageError` for what is no address, `WorkerLost` if nobody answers there.

    Asked before there is a client, since one that found nobody complains once more when it goes.
    """
    from distributed import comm, security

    untyped: Any = comm, security

    async def ask() -> None:
        comms, securities = untyped
        arguments = securities.Security().get_connection_args("client")
        await (await comms.connect(address, timeout=patience, **arguments)).close()

    try:
        asyncio.run(ask())
    except ValueError as error:
        raise UsageError(f"{address!r} is no address: {error}", advice="write it tcp://host:port") from None
    except OSError as error:  # a timeout is one
        said = str(error).partition("\n")[0]
        raise WorkerLost(
            f"no scheduler answers at {address}: {said or type(error).__name__}", advice="is it running?"
        ) from None
