"""An executor for `clueval.score` on a cluster of `distributed` (extra ``dask``).

The workers must have clueval installed and find the files under the same paths as this process. Several threads of
a worker count no faster than one, so start workers with one thread each. If a worker ends, `distributed` gives its
tasks to other workers. If no worker is left, or the scheduler ends, waiting for a task raises `WorkerLost`;
`distributed` alone would wait for a new worker without limit.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Executor, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from time import monotonic
from typing import Any

from clueval.files.errors import UsageError, WorkerLost, extra

PATIENCE = 10
"""Seconds to wait for the scheduler, and then for its first worker."""

WORKERLESS = 30
"""Seconds to wait for a new worker when all have ended."""

_CHECK = 1.0
"""Seconds without a result before checking that workers are alive."""


@contextmanager
def scheduler(address: str, patience: float = PATIENCE) -> Iterator[tuple[Executor, int]]:
    """The executor of the cluster with this scheduler, and the number of tasks that it carries out at a time.

    `address` is ``tcp://host:port`` or another address for `distributed.Client`; `patience` is in seconds. Raises
    `MissingExtra`, `UsageError` for a wrong address, and `WorkerLost` if the scheduler does not answer or has no
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
                raise WorkerLost(
                    f"the scheduler {address} has had no worker for {patience:g} s", advice="start workers"
                ) from None
            yield _Cluster(client, address), max(sum(client.nthreads().values()), 1)


class _Cluster(Executor):
    """The executor of a client that raises an error if no worker is left."""

    def __init__(self, client: Any, address: str) -> None:
        self._client, self._address = client, address
        # not pure: a file may have changed since an equal task was carried out
        self._executor = client.get_executor(pure=False)
        self.workerless_since: float | None = None

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        return _ClusterFuture(self._executor.submit(fn, *args, **kwargs), self)

    def require_workers(self) -> None:
        """Raise `WorkerLost` if calls have found no worker for `WORKERLESS` seconds."""
        if self._client.status != "running":
            raise self.cancelled()
        try:
            has_workers = bool(self._client.nthreads())
        except (OSError, AttributeError):  # the scheduler is ending, which cancels the tasks
            has_workers = False
        self.workerless_since = None if has_workers else self.workerless_since or monotonic()
        if self.workerless_since and monotonic() - self.workerless_since >= WORKERLESS:
            raise WorkerLost(
                f"all workers of the scheduler {self._address} have ended, and none has started for {WORKERLESS:g} s",
                advice="look at their last messages, and start workers",
            )

    def cancelled(self) -> WorkerLost:
        """The error for a task that another process has cancelled."""
        if self._client.status == "running":
            return WorkerLost(f"a task was cancelled at the scheduler {self._address}", advice="start again")
        return WorkerLost(
            f"the scheduler {self._address} has ended, or cannot be reached any more",
            advice="start the scheduler, then this again",
        )


class _ClusterFuture(Future[Any]):
    """A task of a cluster, with the methods that `clueval.evaluation.parallel.work` uses."""

    def __init__(self, future: Future[Any], cluster: _Cluster) -> None:
        super().__init__()
        self._future, self._cluster = future, cluster

    def result(self, timeout: float | None = None) -> Any:
        while timeout is None and not wait([self._future], _CHECK).done:
            self._cluster.require_workers()
        try:
            result = self._future.result(timeout)
        except CancelledError:
            raise self._cluster.cancelled() from None
        self._cluster.workerless_since = None
        return result

    def cancel(self) -> bool:
        return self._future.cancel()


@contextmanager
def _silence() -> Iterator[None]:
    """Disable the logs of `distributed`, because this module raises an error for each failure."""
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
    """Raise `UsageError` for a wrong address, `WorkerLost` if no scheduler answers there.

    Called before there is a client, because a client without a scheduler prints another error when it is closed.
    """
    from distributed import comm, security

    untyped: Any = comm, security

    async def ask() -> None:
        comms, securities = untyped
        arguments = securities.Security().get_connection_args("client")
        await (await comms.connect(address, timeout=patience, **arguments)).close()

    try:
        if not _loop_runs():
            asyncio.run(ask())
        else:
            with ThreadPoolExecutor(1) as thread:
                thread.submit(asyncio.run, ask()).result()
    except ValueError as error:
        raise UsageError(
            f"{address!r} is not an address: {error}", advice="write it tcp://host:port"
        ) from None
    except OSError as error:  # or its subclass TimeoutError
        message = str(error).partition("\n")[0]
        raise WorkerLost(
            f"no scheduler answers at {address}: {message or type(error).__name__}",
            advice="check that it is running",
        ) from None


def _loop_runs() -> bool:
    """Whether this thread is in a loop of `asyncio`, as in a notebook, so that it cannot run another one."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
