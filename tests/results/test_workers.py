"""Several processes, or any executor, give the bag of one process, to the last byte, and its errors."""

from __future__ import annotations

import json
import os
import pickle
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import (
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
)
from functools import partial
from multiprocessing import active_children, get_context
from pathlib import Path
from random import Random
from threading import Thread
from typing import Any, NamedTuple

import pytest

from clueval.core.bag import Bag
from clueval.core.count import DOCUMENT, EITHER, SENTENCE, Plan, count
from clueval.core.document import Document, Pair, Sentence
from clueval.core.exact import Exact
from clueval.core.levels import Levels
from clueval.core.span import Span
from clueval.files.errors import CluevalError, FormatError, UsageError
from clueval.metrics.strings import Strings
from clueval.results import workers
from clueval.results.saved import save_bag
from clueval.results.workers import Task, carry_out, chosen_jobs, count_tasks, tasks_of
from clueval.version import __version__
from tests.processes import are_there, wait_until

ON_LINUX = pytest.mark.skipif(not Path("/proc/self").exists(), reason="processes are killed as on Linux")

PLAN = Plan((Exact(), Levels(), Strings()), by=("m",), units=DOCUMENT)


class Files(NamedTuple):
    gold: Path
    predicted: Path


def read(path: Path) -> list[Document]:
    try:
        rows = json.loads(path.read_text())
    except ValueError:
        raise FormatError("this is not JSON", file=str(path), line=1) from None
    return [
        Document(
            row["id"],
            {"x": [Span(*span) for span in row["spans"]]},
            tokens=row["tokens"],
            sentences=[Sentence(0, 3), Sentence(3, len(row["tokens"]))],
            metadata={"m": row["m"]},
        )
        for row in rows
    ]


def counted(plan: Plan, task: Task) -> Bag:
    """The bag of a task; the files are JSON of their own kind."""
    texts = (
        [Pair(gold, predicted)]
        for pair in task.pairs
        for gold, predicted in zip(read(pair.gold), read(pair.predicted), strict=True)
    )
    return count(texts, plan)


def corpus(folder: Path, seed: int, files: int = 6, documents: int = 3) -> list[Files]:
    random = Random(seed)
    pairs = []
    for number in range(files):
        pair = Files(folder / f"gold{number}.json", folder / f"predicted{number}.json")
        names = [random.choice(["a", "b", f"{number}.{n}"]) for n in range(random.randint(1, documents))]
        texts = [random.choices(["Anna", "Ulm", "ist"], k=8) for _ in names]
        for path in pair:
            rows = [
                {
                    "id": name,
                    "m": "AB"[number % 2],
                    "tokens": tokens,
                    "spans": [[n, n + 1, random.choice("PL")] for n in range(8) if random.random() < 0.3],
                }
                for name, tokens in zip(names, texts, strict=True)
            ]
            path.write_text(json.dumps(rows))
        pairs.append(pair)
    return pairs


def single(pairs: Sequence[Files]) -> list[Task]:
    """A task for each pair."""
    return [task for pair in pairs for task in tasks_of([(pair, pair)])]


def content(bag: Bag, folder: Path) -> bytes:
    save_bag(bag, {"metrics": []}, folder / "saved")
    return (folder / "saved").read_bytes()


@pytest.fixture(autouse=True)
def _no_process_is_left() -> Iterator[None]:
    yield
    assert not active_children()


# Tasks


def test_small_pairs_are_put_together_in_order_and_large_ones_are_not(tmp_path: Path) -> None:
    sizes = [3_000_000, 100_000, 100_000, 1_800_000, 9_000_000, 2_000_000, 100_000]
    pairs = []
    for number, size in enumerate(sizes):
        files = tmp_path / f"g{number}", tmp_path / f"p{number}"
        for path in files:
            with path.open("wb") as file:
                file.truncate(size // 2)
        pairs.append((number, files))
    tasks = tasks_of(pairs)

    assert [task.pairs for task in tasks] == [(0, 1, 2, 3), (4,), (5, 6)]
    assert [task.size for task in tasks] == [5_000_000, 9_000_000, 2_100_000]
    assert str(tasks[1]) == f"{tmp_path}/g4 with {tmp_path}/p4"
    assert str(tasks[0]) == f"{tmp_path}/g0 and 7 more files, up to {tmp_path}/p3"


def test_a_file_with_both_sides_is_read_once(tmp_path: Path) -> None:
    (tmp_path / "both").write_text("12345")
    (task,) = tasks_of([("", [tmp_path / "both", tmp_path / "both"])])

    assert (task.size, task.files) == (5, (tmp_path / "both",))


def test_the_number_of_processes_is_the_requested_one_or_depends_on_the_size(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: range(6), raising=False)

    assert chosen_jobs(2, 10) == (2, "as requested")
    assert chosen_jobs(None, 99_999_999)[0] == 1
    assert chosen_jobs(None, 100_000_000) == (6, "100 MB, and 6 cores")
    assert chosen_jobs(None, 34_000_000, by_documents=True)[0] == 6


# The sum


@pytest.mark.parametrize("units", [None, DOCUMENT, SENTENCE, EITHER, "m"])
def test_the_parts_of_a_corpus_have_the_bag_of_the_whole(units: str | None, tmp_path: Path) -> None:
    """Also of documents with one id, and where documents are the units from the tenth one on."""
    for seed in range(12):
        random = Random(seed)
        # the documents wait until the layer, or documents with the metadata, have come
        where = random.choice([{}, {"x": frozenset("P")}, {"m": frozenset("A")}, {"late": frozenset("A")}])
        plan = Plan((Exact(), Levels()), by=("m",), units=units, where=where)
        pairs = corpus(tmp_path, seed, files=random.randint(1, 8))
        tasks = single(pairs)
        whole = counted(plan, tasks_of([(pair, pair) for pair in pairs])[0])

        assert content(count_tasks(tasks, partial(counted, plan), units=units), tmp_path) == content(
            whole, tmp_path
        )


# Executors


class Elsewhere(Executor):
    """Carries out each task at once, from nothing but its pickle, and notes how many were in flight."""

    def __init__(self) -> None:
        self.submitted = self.in_flight = self.most_in_flight = 0
        self.sent = b""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.sent = pickle.dumps((fn, args, kwargs))
        self.submitted += 1
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        future = Noted(self)
        function, arguments, _ = pickle.loads(self.sent)
        try:
            future.set_result(pickle.loads(pickle.dumps(function(*arguments))))
        except CluevalError as error:
            future.set_exception(pickle.loads(pickle.dumps(error)))
        return future


class Noted(Future[Any]):
    def __init__(self, executor: Elsewhere) -> None:
        super().__init__()
        self._executor = executor

    def result(self, timeout: float | None = None) -> Any:
        self._executor.in_flight -= 1
        return super().result(timeout)


def test_an_executor_gives_the_same_bytes_and_has_few_tasks_at_a_time(tmp_path: Path) -> None:
    tasks, executor, remarks = single(corpus(tmp_path, 1, files=30)), Elsewhere(), list[str]()
    steps: list[int] = []
    bag = count_tasks(
        tasks, partial(counted, PLAN), units=DOCUMENT, jobs=2, executor=executor, remark=remarks.append,
        progress=steps.append,
    )  # fmt: skip

    assert content(bag, tmp_path) == content(
        count_tasks(tasks, partial(counted, PLAN), units=DOCUMENT), tmp_path
    )
    assert (executor.submitted, executor.most_in_flight) == (30, 8)
    assert remarks == ["less than 1 MB on the executor, at most 8 tasks at a time"]
    assert steps == [task.size for task in tasks]
    assert b"Anna" not in executor.sent


def later(plan: Plan, task: Task) -> Bag:
    time.sleep(0.02 if task.pairs[0].gold.name == "gold0.json" else 0)
    return counted(plan, task)


def test_bags_are_added_in_the_order_of_tasks(tmp_path: Path) -> None:
    tasks = single(corpus(tmp_path, 2))
    with ThreadPoolExecutor(4) as executor:
        bag = count_tasks(tasks, partial(later, PLAN), units=DOCUMENT, executor=executor)

    assert content(bag, tmp_path) == content(
        count_tasks(tasks, partial(counted, PLAN), units=DOCUMENT), tmp_path
    )


@pytest.mark.parametrize("executor", [None, Elsewhere()], ids=["here", "elsewhere"])
def test_an_error_is_that_of_the_first_task_that_has_one(executor: Executor | None, tmp_path: Path) -> None:
    pairs = corpus(tmp_path, 3)
    pairs[4].gold.write_text("{")
    pairs[2].predicted.write_text("{")

    with pytest.raises(FormatError) as error:
        count_tasks(single(pairs), partial(counted, PLAN), executor=executor)
    assert str(error.value) == f"{pairs[2].predicted}:1: this is not JSON"


class Odd(Exception):
    """An error that cannot be pickled."""

    def __init__(self, what: str, more: str) -> None:
        super().__init__(f"{what}: {more}")


def odd(here: int, always: bool, task: Task) -> Bag:
    if always or os.getpid() != here:
        raise Odd("odd", str(task))
    return counted(PLAN, task)


def test_an_error_of_a_users_metric_is_raised_here(tmp_path: Path) -> None:
    tasks = single(corpus(tmp_path, 4))

    with pytest.raises(Odd, match=r"odd: .*gold0"):
        count_tasks(tasks, partial(odd, 0, True), executor=Elsewhere())
    assert count_tasks(tasks, partial(odd, os.getpid(), False), executor=Elsewhere()).documents


def test_what_cannot_be_sent_is_counted_here(tmp_path: Path) -> None:
    tasks, executor, remarks = single(corpus(tmp_path, 5)), Elsewhere(), list[str]()
    for given in ({"executor": executor}, {"jobs": 2}):
        bag = count_tasks(tasks, lambda task: counted(PLAN, task), remark=remarks.append, **given)  # type: ignore[arg-type]
        assert sum(bag.documents.values())

    assert remarks == ["1 process: the metrics cannot be sent to other processes"] * 2
    assert executor.submitted == 0


class Other(Elsewhere):
    """A worker with another version, or that sees other files."""

    def __init__(self, change: Callable[[], object] | None = None) -> None:
        super().__init__()
        self.change = change

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        if self.change is None:
            return super().submit(fn, "0.0", *args[1:], **kwargs)
        self.change()
        return super().submit(fn, *args, **kwargs)


def test_a_worker_of_another_version_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(
        CluevalError, match=rf"a worker has clueval {__version__}, and the process that uses it clueval 0\.0"
    ):
        count_tasks(single(corpus(tmp_path, 1)), partial(counted, PLAN), executor=Other())


@pytest.mark.parametrize(("exists", "what"), [(True, "a file of 3 bytes"), (False, "no such file")])
def test_a_worker_that_sees_another_file_is_an_error(exists: bool, what: str, tmp_path: Path) -> None:
    """What the worker sees is there only while the task is carried out."""
    (task,) = single(corpus(tmp_path, 1, files=1))
    before = task.pairs[0].gold.read_bytes()

    class Copies(Elsewhere):
        def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
            task.pairs[0].gold.write_bytes(b"old") if exists else task.pairs[0].gold.unlink()
            try:
                return super().submit(fn, *args, **kwargs)
            finally:
                task.pairs[0].gold.write_bytes(before)

    with pytest.raises(
        CluevalError, match=f"a worker has {what}; where the task comes from, it has {len(before)} bytes"
    ) as error:
        count_tasks([task], partial(counted, PLAN), executor=Copies())
    assert error.value.file == str(task.pairs[0].gold)


def test_a_file_that_changes_meanwhile_is_an_error(tmp_path: Path) -> None:
    (task,) = single(corpus(tmp_path, 1, files=1))
    executor = Other(lambda: [path.write_text("[]") for path in task.files])

    with pytest.raises(CluevalError, match=r"a worker has a file of 2 bytes.*must not change meanwhile"):
        count_tasks([task], partial(counted, PLAN), executor=executor)


class Failing(Executor):
    def __init__(self, error: BaseException, *, at_once: bool) -> None:
        self.error, self.at_once = error, at_once
        self.futures: list[Future[Any]] = []

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        if self.at_once:
            raise self.error
        self.futures.append(Future())
        if len(self.futures) == 1:
            self.futures[0].set_exception(self.error)
        return self.futures[-1]


class StrangeCancelledError(BaseException):
    pass


@pytest.mark.parametrize("at_once", [False, True])
@pytest.mark.parametrize(
    ("error", "message"),
    [
        (
            BrokenExecutor("gone"),
            "a worker process has ended.*gold0.json with .*predicted0.json and all later tasks",
        ),
        (CancelledError(), "the executor was stopped.*gold0.json"),
        (OSError("no\nroute"), "could not carry out a task: OSError: no route; not counted: .*gold0.json"),
    ],
    ids=["broken", "cancelled", "other"],
)
def test_a_task_that_an_executor_loses_is_one_error(
    error: Exception, message: str, at_once: bool, tmp_path: Path
) -> None:
    executor = Failing(error, at_once=at_once)

    with pytest.raises(CluevalError, match=message) as lost:
        count_tasks(single(corpus(tmp_path, 1)), partial(counted, PLAN), executor=executor)
    assert len(str(lost.value).splitlines()) == 1
    cancelled = [future.cancelled() for future in executor.futures[1:]]
    assert cancelled == [not isinstance(error, BrokenExecutor)] * len(cancelled)


def test_a_cancellation_that_is_no_exception_is_one_error(tmp_path: Path) -> None:
    executor = Failing(StrangeCancelledError(), at_once=False)

    with pytest.raises(CluevalError, match="the executor was stopped"):
        count_tasks(single(corpus(tmp_path, 1)), partial(counted, PLAN), executor=executor)


# Processes of this machine


def killed(times: int, name: str, task: Task) -> Bag:
    """Dies the first times that it counts the task with a file of this name."""
    if any(path.name == name for path in task.files):
        with (task.files[0].parent / "attempts").open("a") as file:
            file.write("x")
            file.flush()
            if file.tell() <= times:
                os.kill(os.getpid(), signal.SIGKILL)
    return counted(PLAN, task)


@ON_LINUX
def test_several_processes_give_the_same_bytes_though_one_is_killed_once(tmp_path: Path) -> None:
    tasks = single(corpus(tmp_path, 6, files=20))
    alone = content(count_tasks(tasks, partial(counted, PLAN), units=DOCUMENT, jobs=1), tmp_path)
    for call, number in ((partial(counted, PLAN), 1), (partial(killed, 1, "gold7.json"), 2)):
        remarks: list[str] = []
        steps: list[int] = []
        bag = count_tasks(tasks, call, units=DOCUMENT, jobs=2, remark=remarks.append, progress=steps.append)

        assert content(bag, tmp_path) == alone
        assert remarks[0] == "2 processes: as requested"
        assert len(remarks) == number
        assert sum(steps) == sum(task.size for task in tasks)
    assert (tmp_path / "attempts").read_text() == "xx"


@ON_LINUX
def test_a_task_that_kills_two_processes_is_an_error_that_names_its_files(tmp_path: Path) -> None:
    tasks = single(corpus(tmp_path, 7, files=8))

    with pytest.raises(CluevalError) as lost:
        count_tasks(tasks, partial(killed, 99, "gold3.json"), jobs=2)
    assert str(lost.value) == (
        f"a process has ended again, killed or out of memory, while it counted {tmp_path}/gold3.json with "
        f"{tmp_path}/predicted3.json (divide the files if memory is short)"
    )
    assert (tmp_path / "attempts").read_text() == "xx"


@ON_LINUX
@pytest.mark.long
def test_an_error_in_a_process_is_that_of_this_process_and_ends_all(tmp_path: Path) -> None:
    pairs = corpus(tmp_path, 8)
    pairs[5].gold.write_text("{")
    pairs[3].gold.write_text("{")

    with pytest.raises(FormatError) as error:
        count_tasks(single(pairs), partial(counted, PLAN), jobs=2)
    assert str(error.value) == f"{pairs[3].gold}:1: this is not JSON"


@ON_LINUX
@pytest.mark.long
def test_workers_are_fresh_interpreters_if_threads_run(tmp_path: Path) -> None:
    tasks = single(corpus(tmp_path, 9))
    thread = Thread(target=time.sleep, args=(5,), daemon=True)
    thread.start()
    bag = count_tasks(tasks, partial(killed, 1, "gold2.json"), units=DOCUMENT, jobs=2)

    assert content(bag, tmp_path) == content(
        count_tasks(tasks, partial(counted, PLAN), units=DOCUMENT), tmp_path
    )


@ON_LINUX
@pytest.mark.long
def test_a_pool_of_the_caller_that_breaks_is_an_error_at_once(tmp_path: Path) -> None:
    tasks = single(corpus(tmp_path, 10))

    with (
        ProcessPoolExecutor(2, get_context("spawn")) as executor,
        pytest.raises(CluevalError, match=r"a worker process has ended.*not counted: .*and all later tasks"),
    ):
        count_tasks(tasks, partial(killed, 1, "gold2.json"), executor=executor)


def killed_while_sending(task: Task) -> Bag:
    """The first time, only the beginning of a result is sent."""
    marker = task.files[0].parent / "once"
    if task.pairs[0].gold.name == "gold1.json" and not marker.exists():
        marker.touch()
        frame = sys._getframe()
        while "result_queue" not in frame.f_locals:
            assert frame.f_back is not None
            frame = frame.f_back
        os.write(frame.f_locals["result_queue"]._writer.fileno(), struct.pack("!i", 1 << 24))
        os.kill(os.getpid(), signal.SIGKILL)
    return counted(PLAN, task)


@ON_LINUX
@pytest.mark.parametrize("jobs", [2, pytest.param(3, marks=pytest.mark.long)])
def test_a_process_that_is_killed_while_it_sends_a_bag_blocks_nothing(
    jobs: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "CHECK", 0.1)
    tasks = single(corpus(tmp_path, 11))
    bag = count_tasks(tasks, killed_while_sending, units=DOCUMENT, jobs=jobs)

    assert content(bag, tmp_path) == content(
        count_tasks(tasks, partial(counted, PLAN), units=DOCUMENT), tmp_path
    )


SCRIPT = """
import os, signal, sys, time
from functools import partial
from pathlib import Path
sys.path.insert(0, {here!r})
from test_workers import corpus, single
from clueval.results.workers import count_tasks

def end(number, _):
    raise KeyboardInterrupt

def sleeping(task):
    with (task.files[0].parent / "begun").open("a") as file:
        print(os.getpid(), file=file, flush=True)
    time.sleep(600)

if __name__ == "__main__":
    signal.signal(signal.SIGTERM, end)
    try:
        count_tasks(single(corpus(Path({folder!r}), 1)), sleeping, jobs=2)
    except KeyboardInterrupt:
        print("ended in order", flush=True)
"""


@ON_LINUX
@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize("stopped", [False, True])
def test_workers_end_with_their_parent(number: int, stopped: bool, tmp_path: Path) -> None:
    """A worker that was stopped does not see that its parent is gone, but ends if this kills it."""
    script = SCRIPT.format(here=str(Path(__file__).parent), folder=str(tmp_path))
    root = str(Path(__file__).parents[2])
    process = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": root}, start_new_session=True,
    )  # fmt: skip
    begun = tmp_path / "begun"
    assert wait_until(lambda: begun.exists() and len(begun.read_text().split()) == 2)
    pids = [int(pid) for pid in begun.read_text().split()]
    if stopped:
        os.kill(pids[0], signal.SIGSTOP)
    os.kill(process.pid, number)
    if stopped and number == signal.SIGKILL:
        os.kill(pids[0], signal.SIGCONT)
    out, error = process.communicate(timeout=60)

    assert (out, error) == ("" if number == signal.SIGKILL else "ended in order\n", "")
    assert wait_until(lambda: not are_there(pids))


SEEDED = """
import sys
from functools import partial
from pathlib import Path
sys.path.insert(0, {here!r})
from test_workers import PLAN, content, corpus, counted, single
from clueval.results.workers import count_tasks

if __name__ == "__main__":
    folder = Path(sys.argv[1])
    bag = count_tasks(single(corpus(folder, 5, 12)), partial(counted, PLAN), units="document", jobs=int(sys.argv[2]))
    content(bag, folder)
"""


@pytest.mark.long
def test_files_are_the_same_in_every_run_and_for_any_number_of_processes(tmp_path: Path) -> None:
    found = set()
    for seed, jobs in (("1", "1"), ("2", "2"), ("3", "3")):
        (tmp_path / seed).mkdir()
        script = SEEDED.format(here=str(Path(__file__).parent))
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(Path(__file__).parents[2])}
        command = [sys.executable, "-c", script, str(tmp_path / seed), jobs]
        subprocess.run(command, env=environment, check=True)
        found.add((tmp_path / seed / "saved").read_bytes())

    assert len(found) == 1


# A cluster


def slow(task: Task) -> Bag:
    time.sleep(2)
    return counted(PLAN, task)


@pytest.mark.long
def test_a_cluster_without_workers_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    distributed = pytest.importorskip("distributed")
    from clueval.results import dask

    monkeypatch.setattr(dask, "WORKERLESS", 0.5)
    monkeypatch.setattr(workers, "CHECK", 0.2)
    cluster = distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, protocol="tcp://", dashboard_address=":0"
    )
    try:
        with dask.scheduler(cluster.scheduler_address) as (executor, _):
            cluster.scale(0)
            with pytest.raises(CluevalError, match=r"all workers of the scheduler .* have ended"):
                count_tasks(single(corpus(tmp_path, 13)), slow, executor=executor)
    finally:
        cluster.close()
    with (
        pytest.raises(CluevalError, match=r"no scheduler answers at tcp://127\.0\.0\.1:1"),
        dask.scheduler("tcp://127.0.0.1:1", 0.5),
    ):
        pass
    with pytest.raises(UsageError, match="is not an address"), dask.scheduler("x://y", 0.5):
        pass


def test_a_worker_leaves_what_it_cannot_count_to_the_process_that_asks(tmp_path: Path) -> None:
    (task,) = single(corpus(tmp_path, 1, files=1))

    assert carry_out(__version__, b"no pickle", task) == pickle.dumps(None)
