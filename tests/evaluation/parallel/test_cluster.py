"""On a cluster of `distributed`, a scheduler and two workers, counting is what it is in one process.

The quick tests have a cluster of threads in this process, which speak TCP to each other; the long tests carry out the
same, and more, on one of processes.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
import os
import pickle
import re
import shutil
import subprocess
import sys
import types
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from corpora import write
from processes import LONG, wait_until
from scripts import benchmark
from test_jobs import command, corpus_files, everything

from clueval import score as score_files
from clueval.cli import main
from clueval.evaluation.parallel import schedule
from clueval.second.results.dask import scheduler

distributed = pytest.importorskip("distributed")

pytestmark = pytest.mark.long  # processes are started and killed

SLOW_COUNTING = """\
import pathlib, time
from clueval.evaluation import count_files as evaluation

count_fast, here = evaluation._count_sources, pathlib.Path(__file__).parent

def count(*arguments):
    with open(here / "begun", "a") as begun:
        begun.write("x")
    while (here / "held").exists():
        time.sleep(0.02)
    return count_fast(*arguments)
"""
"""A module for workers: counting that notes when it begins, and waits while there is a file."""

SLOWLY = """\
import slow_counting, clueval.second.results.dask
clueval.evaluation.count_files._count_sources = slow_counting.count
clueval.evaluation.parallel.schedule.LARGEST = 4000
clueval.second.results.dask.WORKERLESS, clueval.evaluation.parallel.dask._CHECK = 1, 0.1
"""
"""For the process that hands out tasks: small ones, counted slowly; and it does not wait long for workers."""


class Cluster:
    """A scheduler and workers of one thread each, all processes of their own on the loopback interface."""

    def __init__(self, folder: Path, workers: int) -> None:
        self.folder = folder
        self.processes: list[subprocess.Popen[bytes]] = []
        self.commands: list[subprocess.Popen[str]] = []
        write(folder / "slow_counting.py", SLOW_COUNTING)
        write(folder / "begun", "")
        connection = folder / "scheduler.json"
        self.scheduler = self._start("scheduler", "--port", "0", "--scheduler-file", str(connection))
        assert wait_until(connection.exists), self._log(0)
        self.workers = [
            self._start(
                "worker", "--scheduler-file", str(connection), "--nthreads", "1", "--no-nanny",
                "--death-timeout", str(LONG), "--local-directory", str(folder / "spill"),
            )
            for _ in range(workers)
        ]  # fmt: skip
        self.client = distributed.Client(
            scheduler_file=str(connection), set_as_default=False, timeout=LONG, name="watcher"
        )
        if workers:
            self.client.wait_for_workers(workers, timeout=LONG)
        self.address: str = self.client.scheduler.address

    def _start(self, kind: str, *options: str) -> subprocess.Popen[bytes]:
        """A command of Dask, whose output goes to a file."""
        with (self.folder / f"{len(self.processes)}.log").open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", f"distributed.cli.dask_{kind}", "--host", "127.0.0.1",
                 "--no-dashboard", *options],
                stdout=log, stderr=subprocess.STDOUT, env=self.environment, cwd=self.folder,
            )  # fmt: skip
        self.processes.append(process)
        return process

    def _log(self, number: int) -> str:
        return (self.folder / f"{number}.log").read_text()

    @property
    def environment(self) -> dict[str, str]:
        """In which the slow counting is found."""
        paths = [str(self.folder), os.environ.get("PYTHONPATH", "")]
        return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}

    @contextmanager
    def held(self) -> Iterator[None]:
        """Each worker begins a task that is counted slowly, and waits."""
        write(self.folder / "held", "")
        try:
            yield
        finally:
            (self.folder / "held").unlink()

    def begun(self) -> int:
        """How many tasks have begun to count slowly."""
        return (self.folder / "begun").stat().st_size

    def tasks(self, name: str = "carry_out") -> list[str]:
        """The tasks of which the scheduler knows, by the name of their function."""
        found: list[str] = self.client.run_on_scheduler(
            lambda dask_scheduler: [key for key in dask_scheduler.tasks if key.startswith(name)]
        )
        return found

    def command(
        self, files: tuple[Path, Path], *options: str, before: str = "", **settings: Any
    ) -> subprocess.Popen[str]:
        """``clueval score`` on this cluster, started."""
        process = subprocess.Popen(
            command(files, "--scheduler", self.address, *options, before=before),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=self.environment, **settings,
        )  # fmt: skip
        self.commands.append(process)
        return process

    def close(self) -> None:
        self.client.close(timeout=1)
        for process in self.processes:
            process.kill()
            process.wait()
        for started in self.commands:
            if started.poll() is None:
                started.kill()
            started.communicate()


class Threads:
    """A scheduler and two workers in threads of this process."""

    def __init__(self) -> None:
        self._cluster = distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, protocol="tcp://", dashboard_address=":0"
        )
        self.client = distributed.Client(self._cluster, set_as_default=False)
        self.address: str = self._cluster.scheduler_address

    tasks = Cluster.tasks

    def close(self) -> None:
        self.client.close(timeout=1)
        self._cluster.close()


@contextmanager
def started(folder: Path, workers: int = 2) -> Iterator[Cluster]:
    made: list[Cluster] = []
    try:
        made.append(Cluster(folder, workers))
        yield made[0]
    finally:
        for cluster in made:
            cluster.close()


@pytest.fixture(scope="module")
def processes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """For tests that leave it as it was, and need processes."""
    with started(tmp_path_factory.mktemp("cluster")) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def threads() -> Iterator[Threads]:
    cluster = Threads()
    yield cluster
    cluster.close()


@pytest.fixture(params=["threads", pytest.param("processes", marks=pytest.mark.long)])
def cluster(request: pytest.FixtureRequest) -> Cluster | Threads:
    """For tests that leave it as it was."""
    found: Cluster | Threads = request.getfixturevalue(request.param)
    return found


@pytest.fixture
def doomed(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """For tests that kill some of it; with as many workers as the test says, or two."""
    (tmp_path / "cluster").mkdir()
    with started(tmp_path / "cluster", getattr(request, "param", 2)) as cluster:
        yield cluster


@pytest.fixture(autouse=True)
def _small_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schedule, "SMALLEST", 100)


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    return corpus_files(tmp_path, 4, documents=200)


# The same to the last byte


@pytest.mark.parametrize("output", ["text", "json"])
def test_command_prints_the_same_bytes_on_a_cluster(
    cluster: Cluster | Threads, files: tuple[Path, Path], output: str, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["score", *map(str, files), "--format", output]
    assert main([*arguments, "--jobs", "1"]) == 0
    alone = capsys.readouterr()
    assert main([*arguments, "--scheduler", cluster.address, "-v"]) == 0
    together = capsys.readouterr()

    assert together.out == alone.out
    assert "clueval score: less than 1 MB on the executor, at most 8 tasks at a time\n" in together.err


@pytest.mark.parametrize(
    "options",
    [
        {"by": ["domain"]},
        *(pytest.param(more, marks=pytest.mark.long) for more in ({}, {"metrics": ["fair", "gate"]})),
    ],
)
def test_executor_of_a_cluster_gives_the_same_bytes(
    cluster: Cluster | Threads, files: tuple[Path, Path], options: dict[str, Any]
) -> None:
    remarks: list[str] = []
    together = score_files(
        *files, executor=cluster.client.get_executor(pure=False), jobs=2, remark=remarks.append, **options
    )

    assert everything(together) == everything(score_files(*files, **options))
    assert remarks == ["less than 1 MB on the executor, at most 8 tasks at a time"]


def test_cluster_gives_the_same_bytes_for_many_files(cluster: Cluster | Threads, tmp_path: Path) -> None:
    for number in range(6):
        for side, file in zip(("gold", "predicted"), corpus_files(tmp_path, number), strict=True):
            (tmp_path / side).mkdir(exist_ok=True)
            file.rename(tmp_path / side / f"{number}.vrt")
    sides = tmp_path / "gold", tmp_path / "predicted"

    with scheduler(cluster.address) as (executor, at_a_time):
        together = score_files(*sides, executor=executor, jobs=at_a_time)

    assert (everything(together), at_a_time) == (everything(score_files(*sides)), 2)


# What is sent


class Spy(Executor):
    """Passes tasks on, and remembers what was sent."""

    def __init__(self, executor: Executor) -> None:
        self.executor = executor
        self.sent: list[bytes] = []
        self.futures: list[Future[Any]] = []

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.sent.append(pickle.dumps((fn, args, kwargs)))
        self.futures.append(self.executor.submit(fn, *args, **kwargs))
        return self.futures[-1]


TOKEN = re.compile(rb"w\d+\.\d+\.\d+")
"""What every token of the corpora here looks like."""


# What goes wrong


def ended(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    """Exit code, output and complaint of a command that has not long to go."""
    output, complaint = process.communicate(timeout=LONG)
    return process.returncode, output, complaint


def scored(
    cluster: Cluster | Threads, files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> tuple[int, str, str]:
    """``clueval score`` on the cluster, called in this process: exit code, output and complaint."""
    code = main(["score", *map(str, files), "--scheduler", cluster.address])
    return code, *capsys.readouterr()


def own_view(files: tuple[Path, Path]) -> tuple[Path, Path]:
    """Paths that mean these files to a process whose working directory is theirs, and others to others."""
    return Path("/proc/self/cwd", files[0].name), Path("/proc/self/cwd", files[1].name)


def test_wrong_input_on_a_cluster_is_the_error_of_a_single_process(
    cluster: Cluster | Threads, files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    text = files[1].read_text()
    write(files[1], text[:-200].replace("</text>", "", 1) + text[-200:])
    assert main(["score", *map(str, files)]) == 2
    alone = capsys.readouterr().err

    assert scored(cluster, files, capsys) == (2, "", alone)
    assert alone.count("\n") == 1


def test_scheduler_is_found_where_a_loop_runs_as_in_a_notebook(cluster: Cluster | Threads) -> None:
    async def cell() -> int:
        with scheduler(cluster.address) as (executor, _):
            found: int = executor.submit(abs, -3).result()
        return found

    assert asyncio.run(cell()) == 3


# How large tasks are


# The page that tells how to do it

PAGE = (Path(__file__).parents[3] / "benchmarks" / "CLUSTER.md").read_text(encoding="utf-8")


def block(words: str) -> str:
    """The Python block of the page that contains these words."""
    blocks = re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    (found,) = [block for block in blocks if words in block]
    return str(found)


@pytest.fixture
def alone(files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> str:
    """What one process prints of the files that the page names; they are in the working directory."""
    monkeypatch.chdir(files[0].parent)
    return f"{score_files(*files, layers={'entity': 2})}\n"


def test_recipe_for_dask_runs(
    cluster: Cluster | Threads, alone: str, capsys: pytest.CaptureFixture[str]
) -> None:
    exec(block("clueval.second.results.dask").replace("tcp://scheduler:8786", cluster.address), {})

    assert capsys.readouterr().out == alone


def test_recipe_for_mpi_runs_on_an_executor_of_that_name(
    alone: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class MPIPoolExecutor(ThreadPoolExecutor):
        num_workers = 3

    futures = types.ModuleType("mpi4py.futures")
    monkeypatch.setattr(futures, "MPIPoolExecutor", MPIPoolExecutor, raising=False)
    monkeypatch.setitem(sys.modules, "mpi4py", types.ModuleType("mpi4py"))
    monkeypatch.setitem(sys.modules, "mpi4py.futures", futures)
    exec(block("mpi4py"), {"__name__": "__main__"})

    assert capsys.readouterr().out == alone


class Context:
    """What the recipe asks of a Spark context, carried out here, from nothing but pickles."""

    def parallelize(self, items: list[Any], partitions: int) -> Context:
        self.partitions = [items[start::partitions] for start in range(partitions)]
        return self

    def mapPartitions(self, function: Callable[[Iterator[Any]], Iterator[Any]]) -> Context:  # noqa: N802
        self.found = [pickle.dumps(found) for items in self.partitions for found in function(iter(items))]
        return self

    def reduce(self, function: Callable[[Any, Any], Any]) -> Any:
        return functools.reduce(function, map(pickle.loads, self.found))


def test_recipe_for_spark_adds_the_counts_of_partitions(tmp_path: Path) -> None:
    recipe: dict[str, Any] = {}
    exec(block("mapPartitions"), recipe)
    pairs = []
    for number in range(7):
        (tmp_path / str(number)).mkdir()
        pairs.append(tuple(map(str, corpus_files(tmp_path / str(number), number))))
    gold, predicted = zip(*pairs, strict=True)

    result = recipe["count_on_spark"](Context(), pairs, 9)

    assert everything(result) == everything(score_files(gold, predicted, layers={"entity": 2}))


def test_recipe_for_spark_is_the_one_that_its_benchmark_runs() -> None:
    spark = benchmark("spark")
    for function in (spark.count, spark.count_on_spark):
        assert inspect.getsource(function) in PAGE


@pytest.mark.long
def test_recipe_for_spark_gives_the_same_bytes_on_spark() -> None:
    pytest.importorskip("pyspark")
    if shutil.which("java") is None:
        pytest.skip("pyspark needs Java")
    script = Path(__file__).parents[3] / "benchmarks" / "spark.py"
    sizes = ["--tokens", "2000", "--files", "3", "--cores", "1", "--runs", "1"]
    done = subprocess.run(
        [sys.executable, str(script), *sizes],
        env={**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"},
        capture_output=True,
        encoding="utf-8",
    )

    assert done.returncode == 0, done.stderr
    assert "the reports are the same bytes" in done.stdout


def test_benchmark_of_spark_prints_one_line_if_spark_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", None)

    assert benchmark("spark").main(["--tokens", "100", "--files", "1"]) == 2
    assert capsys.readouterr().err == "spark.py: pyspark is not installed (pip install pyspark)\n"


def test_benchmark_of_spark_prints_one_line_if_java_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", types.ModuleType("pyspark"))
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("JAVA_HOME", raising=False)

    assert benchmark("spark").main([]) == 2
    assert capsys.readouterr().err == (
        "spark.py: Spark needs Java, which is not installed (install Java 17)\n"
    )
