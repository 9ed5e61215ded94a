"""A cluster of `distributed` (extra ``dask``): its executor, for `clueval.score`.

Its workers find the files under the same paths as this process does, and have clueval installed. Threads of one
worker count no faster than one of them, so workers are best started with one thread each. A worker that dies is
no loss: `distributed` gives its tasks to others. If none is left, or the scheduler ends, waiting for a task raises
`WorkerLost`; `distributed` alone would wait for ever for a worker to come.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Executor, Future, wait
from contextlib import contextmanager
from time import monotonic
from typing import Any

from clueval.exceptions import MissingExtra, UsageError, WorkerLost

PATIENCE = 10
"""Seconds to wait for the scheduler, and then for its first worker."""

WORKERLESS = 30
"""Seconds to wait for a worker when all have gone; one that is started again takes some."""

_LOOK = 1.0
"""After so many seconds without a result it is looked whether there are workers."""


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
            yield _Cluster(client, address), max(sum(client.nthreads().values()), 1)


class _Cluster(Executor):
    """The executor of a client, which says so when nobody is left to carry out its tasks."""

    def __init__(self, client: Any, address: str) -> None:
        self._client, self._address = client, address
        # not pure: a file may have changed since the same task was carried out before
        self._executor = client.get_executor(pure=False)
        self._workerless_since: float | None = None

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        return _ClusterFuture(self._executor.submit(fn, *args, **kwargs), self)

    def require_workers(self) -> None:
        """Raise `WorkerLost` if there has been no worker for `WORKERLESS` seconds, asked again and again."""
        if self._client.status != "running":
            raise self.cancelled()
        try:
            there = bool(self._client.nthreads())
        except (OSError, AttributeError):  # the scheduler goes in this moment; the tasks will be cancelled
            there = False
        if there:
            self.see_result()
            return
        self._workerless_since = self._workerless_since or monotonic()
        if monotonic() - self._workerless_since >= WORKERLESS:
            raise WorkerLost(
                f"all workers of the scheduler {self._address} have gone, and none has come for {WORKERLESS:g} s",
                advice="look at what they said last, and start some",
            )

    def see_result(self) -> None:
        """There is somebody who works."""
        self._workerless_since = None

    def cancelled(self) -> WorkerLost:
        """What to say of a task that was cancelled, though not from here."""
        if self._client.status == "running":
            return WorkerLost(
                f"somebody has cancelled a task at the scheduler {self._address}", advice="start again"
            )
        return WorkerLost(
            f"the scheduler {self._address} has ended in the middle, or cannot be reached any more",
            advice="start it and this again",
        )


class _ClusterFuture(Future[Any]):
    """A task of a cluster; of a future, it has what `clueval.evaluation.parallel.executors` asks for: a
    result, and to be cancelled."""

    def __init__(self, future: Future[Any], cluster: _Cluster) -> None:
        super().__init__()
        self._future, self._cluster = future, cluster

    def result(self, timeout: float | None = None) -> Any:
        while timeout is None and not wait([self._future], _LOOK).done:
            self._cluster.require_workers()
        try:
            found = self._future.result(timeout)
        except CancelledError:
            raise self._cluster.cancelled() from None
        self._cluster.see_result()
        return found

    def cancel(self) -> bool:
        return self._future.cancel()


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
