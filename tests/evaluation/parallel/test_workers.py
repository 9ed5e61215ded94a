"""Processes that end in the middle: their tasks are repeated, and nothing is left behind."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, ProcessPoolExecutor
from contextlib import suppress
from multiprocessing import active_children, get_context
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
from test_jobs import ON_LINUX, corpus_files, everything, wait_until

from clueval.evaluation import count_files
from clueval.evaluation.engine import Evaluation
from clueval.evaluation.inputs import FileEnd
from clueval.evaluation.parallel import schedule, workers
from clueval.evaluation.parallel.tasks import in_order
from clueval.evaluation.parallel.workers import ATTEMPTS, NoProcesses, WorkerPool, pool
from clueval.evaluation.run import score
from clueval.files.errors import WorkerLost
from clueval.reading.source import Source

pytestmark = [ON_LINUX, pytest.mark.long]  # processes are started and killed


@pytest.fixture(autouse=True)
def _no_process_is_left() -> Iterator[None]:
    yield
    assert not active_children()


def carried_out(executor: Executor, function: Callable[..., bytes], tasks: list[Any]) -> list[bytes]:
    return [found for _, found in in_order(executor, function, tasks, window=4)]


def pids(executor: Executor) -> list[int]:
    assert isinstance(executor, WorkerPool)
    return [process.pid for process in executor._started() if process.pid is not None]


def attempts(path: Path) -> int:
    return len(path.read_text()) if path.exists() else 0


def note(path: Path) -> int:
    """Write down one more attempt; how many there have been, also if another process writes at the same time."""
    with path.open("a") as file:
        file.write("x")
        file.flush()
        return file.tell()


def said(task: str) -> bytes:
    return task.encode()


def own_pid(_: object) -> bytes:
    return str(os.getpid()).encode()


def killed(task: tuple[Path, int]) -> bytes:
    """Dies the first times, as many as the task says."""
    path, times = task
    if note(path) <= times:
        os.kill(os.getpid(), signal.SIGKILL)
    return path.name.encode()


def ended(task: tuple[Path, int]) -> bytes:
    path, code = task
    if note(path) == 1:
        os._exit(code)
    return b"found"


def failing(kind: type[BaseException]) -> bytes:
    raise kind


def large(size: int) -> bytes:
    return b"x" * size


# A process ends


@pytest.mark.parametrize("times", range(1, ATTEMPTS))
def test_task_whose_process_is_killed_is_repeated_by_another(tmp_path: Path, times: int) -> None:
    paths = [tmp_path / str(number) for number in range(6)]
    # the last one is submitted after a result, so that no more than `times` pools end in succession
    tasks = [(path, times if path.name in ("0", "5") else 0) for path in paths]
    remarks: list[str] = []

    with pool(2, remarks.append) as executor:
        found = carried_out(executor, killed, tasks)

    assert found == [b"0", b"1", b"2", b"3", b"4", b"5"]
    assert attempts(paths[0]) == attempts(paths[5]) == times + 1
    assert times <= len(remarks) <= 2 * times
    assert remarks[0] == f"a process has ended; another one repeats its part, {tasks[0]} or a later one"


def test_task_that_ends_every_process_is_an_error_that_names_it(tmp_path: Path) -> None:
    tasks = [(tmp_path / str(number), 99 if number == 2 else 0) for number in range(4)]

    with pytest.raises(WorkerLost) as lost, pool(2) as executor:
        carried_out(executor, killed, tasks)

    assert str(lost.value).startswith(
        f"processes have ended {ATTEMPTS} times, one after the other, while they counted {tasks[2]}"
    )
    assert ATTEMPTS <= attempts(tasks[2][0]) <= len(tasks) * ATTEMPTS


@pytest.mark.parametrize("code", [0, pytest.param(7, marks=pytest.mark.long)])
def test_process_that_ends_by_itself_is_replaced(tmp_path: Path, code: int) -> None:
    with pool(1) as executor:
        assert carried_out(executor, ended, [(tmp_path / "a", code)]) == [b"found"]


def test_processes_that_are_killed_without_a_task_are_replaced() -> None:
    with pool(2) as executor:
        assert carried_out(executor, said, ["a", "b"]) == [b"a", b"b"]
        before = pids(executor)
        for pid in before:
            os.kill(pid, signal.SIGKILL)
        assert wait_until(lambda: not active_children())
        assert carried_out(executor, said, ["c", "d", "e"]) == [b"c", b"d", b"e"]
        assert not set(before) & set(pids(executor))


def test_processes_that_are_killed_while_they_start_are_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin = workers._begin

    def dying() -> None:
        if note(tmp_path / "begun") <= 3:
            os.kill(os.getpid(), signal.SIGKILL)
        begin()

    monkeypatch.setattr(workers, "_begin", dying)

    with pool(2) as executor:
        assert carried_out(executor, said, ["a", "b", "c"]) == [b"a", b"b", b"c"]


def test_processes_that_never_start_are_one_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def dying() -> None:
        note(tmp_path / "begun")
        os._exit(3)

    monkeypatch.setattr(workers, "_begin", dying)

    with (
        pytest.raises(WorkerLost, match=f"processes have ended {ATTEMPTS} times, .* while they counted a"),
        pool(2) as executor,
    ):
        carried_out(executor, said, ["a", "b", "c"])
    assert attempts(tmp_path / "begun") <= 2 * ATTEMPTS


def test_processes_that_cannot_be_replaced_are_the_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any) -> None:
        raise OSError(11, "Resource temporarily unavailable")

    with pool(1) as executor:
        carried_out(executor, said, ["a"])
        monkeypatch.setattr("multiprocessing.process.BaseProcess.start", refuse)
        with pytest.raises(WorkerLost, match="all processes have ended, and no other can be started: Res"):
            carried_out(executor, killed, [(tmp_path / "a", 1)])
    with pytest.raises(NoProcesses, match="Resource temporarily unavailable"), pool(2):
        raise AssertionError("there are no processes")


def test_process_that_is_killed_while_it_sends_a_result_blocks_nothing(tmp_path: Path) -> None:
    """The result is larger than a pipe holds, and its process is killed before all of it has been read."""
    with pool(2) as executor:
        assert carried_out(executor, killed_while_sending, [tmp_path / "a"]) == [b"x" * (1 << 24)]

    assert attempts(tmp_path / "a") >= 2


def killed_while_sending(path: Path) -> bytes:
    if note(path) == 1:
        signal.setitimer(signal.ITIMER_REAL, 0.005)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
    return b"x" * (1 << 24)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_pool_whose_thread_ends_with_an_error_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The thread ends without an answer for its tasks, as when it meets a task that is submitted meanwhile."""

    def failing(*_: Any) -> None:
        raise RuntimeError("dictionary changed size during iteration")

    monkeypatch.setattr("concurrent.futures.process._ExecutorManagerThread.terminate_broken", failing)
    monkeypatch.setattr(workers, "_CHECK", 0.1)

    with pool(2) as executor:
        assert carried_out(executor, killed, [(tmp_path / "a", 1), (tmp_path / "b", 0)]) == [b"a", b"b"]


# A task raises


class Stopped(BaseException):
    """As a limit on the time of tests or a library of tasks raises it in the thread that waits."""


def stopping(waiting: int) -> bytes:
    os.kill(waiting, signal.SIGALRM)
    time.sleep(600)
    return b""


def test_error_that_is_raised_while_this_process_waits_is_not_changed() -> None:
    def stop(*_: Any) -> None:
        raise Stopped

    before = signal.signal(signal.SIGALRM, stop)
    try:
        with pytest.raises(Stopped), pool(1) as executor:
            carried_out(executor, stopping, [os.getpid()])
    finally:
        signal.signal(signal.SIGALRM, before)


def test_error_of_a_task_is_one_error_and_its_process_continues() -> None:
    with pool(1) as executor:
        before = carried_out(executor, own_pid, [0])
        with pytest.raises(
            WorkerLost, match=f"could not carry out a task: .*not counted: {ZeroDivisionError}"
        ):
            carried_out(executor, failing, [ZeroDivisionError])
        assert carried_out(executor, own_pid, [0]) == before


def test_large_tasks_and_results_do_not_wait_for_each_other() -> None:
    size = 1_000_000
    with pool(2) as executor:
        assert carried_out(executor, large, [size] * 6) == [b"x" * size] * 6
        assert carried_out(executor, said, ["y" * size] * 6) == [b"y" * size] * 6


# The end


def asleep(path: Path) -> bytes:
    note(path)
    time.sleep(600)
    return b""


def test_stopped_processes_have_ended_at_the_end_of_the_pool(tmp_path: Path) -> None:
    with pool(2) as executor:
        assert carried_out(executor, said, ["a", "b"]) == [b"a", b"b"]
        for pid in pids(executor):
            os.kill(pid, signal.SIGSTOP)
    assert not active_children()

    with suppress(ZeroDivisionError), pool(1) as executor:
        executor.submit(asleep, tmp_path / "begun")
        assert wait_until(lambda: attempts(tmp_path / "begun"))
        for pid in pids(executor):
            os.kill(pid, signal.SIGSTOP)
        raise ZeroDivisionError
    assert not active_children()


def test_workers_flush_their_output(capfd: pytest.CaptureFixture[str]) -> None:
    with pool(1) as executor:
        carried_out(executor, printing, ["told"])

    assert capfd.readouterr().out == "told\n"


def printing(task: str) -> bytes:
    print(task)
    return b""


# Counting


@pytest.fixture
def deadly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[int], Path]:
    """Kills the process of the first countings of parts that do not begin at 0; gives how many that are."""
    count = count_files.count_without_documents
    monkeypatch.setattr(schedule, "SMALLEST", 100)

    def arranged(times: int) -> Path:
        def counting(evaluation: Evaluation, own: Source, other: Source) -> Any:
            middle = own.options.part is not None and own.options.part[0]
            if middle and note(tmp_path / "attempts") <= times:
                os.kill(os.getpid(), signal.SIGKILL)
            return count(evaluation, own, other)

        monkeypatch.setattr(count_files, "count_without_documents", counting)
        return tmp_path / "attempts"

    return arranged


@pytest.mark.parametrize("times", [pytest.param(1, marks=pytest.mark.long), 2])
def test_evaluation_whose_workers_are_killed_has_the_same_counts(
    tmp_path: Path, deadly: Callable[[int], Path], times: int
) -> None:
    files = corpus_files(tmp_path, 9, documents=60)
    alone = score(*files, by=["domain"])
    remarks, steps = list[str](), list[int]()
    deadly(times)

    together = score(*files, by=["domain"], jobs=2, remark=remarks.append, progress=steps.append)

    assert everything(together) == everything(alone)
    assert remarks[0] == "2 processes: as requested"
    assert 2 <= len(remarks) <= 1 + times
    assert all("another one repeats its part, bytes " in remark for remark in remarks[1:])
    assert sum(steps) == sum(file.stat().st_size for file in files)


def test_error_of_a_part_that_kills_every_worker_names_its_files_and_bytes(
    tmp_path: Path, deadly: Callable[[int], Path]
) -> None:
    files = corpus_files(tmp_path, 9, documents=60)
    deadly(99)

    with pytest.raises(
        WorkerLost,
        match=rf"counted bytes [\d,]+ to [\d,]+ of {files[0]} and bytes [\d,]+ to [\d,]+ of {files[1]} or a later",
    ):
        score(*files, jobs=2)


def test_error_of_whole_files_that_kill_every_worker_names_the_pairs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schedule, "SMALLEST", 100)
    monkeypatch.setattr(
        count_files, "count_without_documents", lambda *_: os.kill(os.getpid(), signal.SIGKILL)
    )
    for number in range(6):
        for side, file in zip(
            ("gold", "predicted"), corpus_files(tmp_path, number, documents=2), strict=True
        ):
            (tmp_path / side).mkdir(exist_ok=True)
            file.rename(tmp_path / side / f"{number}.vrt")

    with pytest.raises(WorkerLost) as lost:
        score(tmp_path / "gold", tmp_path / "predicted", jobs=2)

    assert f"while they counted {tmp_path}/gold/0.vrt with {tmp_path}/predicted/0.vrt" in str(lost.value)


def test_broken_pool_of_the_caller_is_one_error_that_names_the_part(
    tmp_path: Path, deadly: Callable[[int], Path]
) -> None:
    files = corpus_files(tmp_path, 9, documents=60)
    deadly(1)

    with (
        ProcessPoolExecutor(2, get_context("fork")) as executor,
        pytest.raises(
            WorkerLost, match=rf"the executor has stopped; not counted: bytes .* of {files[0]} and"
        ) as lost,
    ):
        score(*files, executor=executor, jobs=2)
    assert isinstance(lost.value.__cause__, BrokenExecutor)


@pytest.mark.long
def test_workers_that_are_killed_at_any_moment_change_no_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counting is killed after some microseconds, at most twice a part."""
    monkeypatch.setattr(schedule, "SMALLEST", 100)
    monkeypatch.setattr(
        workers, "ATTEMPTS", 10
    )  # processes are killed often, so a pool may end without a result
    count = count_files.count_without_documents
    folder = tmp_path / "attempts"
    folder.mkdir()

    def number(*of: object) -> int:
        return crc32(repr((seed, *of)).encode())

    def counting(evaluation: Evaluation, own: Source, other: Source) -> Any:
        path = folder / str(own.options.part)
        attempt = note(path)
        if attempt <= number(path.name) % 3:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)  # a limit on the time of tests may have a handler
            signal.setitimer(signal.ITIMER_REAL, (number(path.name, attempt) % 100 + 1) / 1e5)
        return count(evaluation, own, other)

    def ending(self: Evaluation, count: Any) -> FileEnd:
        end = count_apart(self, count)
        signal.setitimer(signal.ITIMER_REAL, 0)
        return end

    count_apart = Evaluation.count_apart
    monkeypatch.setattr(Evaluation, "count_apart", ending)
    remarks: list[str] = []
    for seed in range(12):
        files = corpus_files(tmp_path, seed, documents=120)
        alone = everything(score(*files))
        monkeypatch.setattr(count_files, "count_without_documents", counting)
        assert everything(score(*files, jobs=3, remark=remarks.append)) == alone
        monkeypatch.setattr(count_files, "count_without_documents", count)
        for path in folder.iterdir():
            path.unlink()
    assert sum("a process has ended" in remark for remark in remarks) > 12
