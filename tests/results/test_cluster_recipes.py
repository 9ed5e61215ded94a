"""The recipes of benchmarks/CLUSTER.md: each one runs, and has the result of one process."""

from __future__ import annotations

import asyncio
import functools
import pickle
import re
import shutil
import sys
import types
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from corpora import write
from scripts import BENCHMARKS

from clueval import score
from clueval.cli import main
from clueval.results.dask import scheduler

pytestmark = pytest.mark.long  # processes are started

PAGE = (BENCHMARKS / "CLUSTER.md").read_text(encoding="utf-8")
LAYERS = {"entity": 2}


def block(words: str) -> str:
    """The Python block of the page that contains these words."""
    blocks = re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    (found,) = [block for block in blocks if words in block]
    return str(found)


def files_in(folder: Path, number: int = 0) -> tuple[Path, Path]:
    """The files that the page names."""
    tokens = ["Ada\tB-PER", "in\tO", f"Ulm{number}\tB-LOC"]
    gold = "<text>\n" + "".join(
        "<s>\n" + "\n".join(tokens[: 1 + n % 3]) + "\n</s>\n" for n in range(50 + number)
    )
    folder.mkdir(exist_ok=True)
    return (
        write(folder / "gold.vrt", gold + "</text>\n"),
        write(folder / "predicted.vrt", gold.replace("B-LOC", "B-PER", 9) + "</text>\n"),
    )


@pytest.fixture
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """What one process prints of the files in the working directory."""
    monkeypatch.chdir(tmp_path)
    return f"{score(*files_in(tmp_path), layers=LAYERS, jobs=1)}\n"


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The address of a scheduler with two processes that count."""
    distributed = pytest.importorskip("distributed")
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, protocol="tcp://", dashboard_address=":0"
    )
    try:
        yield cluster.scheduler_address
    finally:
        cluster.close()


def test_recipe_for_dask_runs(address: str, alone: str, capsys: pytest.CaptureFixture[str]) -> None:
    exec(block("clueval.results.dask").replace("tcp://scheduler:8786", address), {})

    assert capsys.readouterr().out == alone


def test_command_on_a_cluster_prints_the_same_bytes_and_the_same_errors(
    address: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gold, predicted = files_in(tmp_path)
    command = ["score", str(gold), str(predicted), "--layer", "entity=2", "--quiet"]

    printed = []
    for wrong in (False, True):
        if wrong:
            write(predicted, predicted.read_text(encoding="utf-8").replace("B-PER", "X-PER", 1))
        for options in (["--jobs", "1"], ["--scheduler", address]):
            code = main([*command, *options])
            printed.append((code, *capsys.readouterr()))

    assert printed[0] == printed[1]
    assert printed[2] == printed[3]
    assert (printed[1][0], printed[3][0]) == (0, 2)
    assert "'X-PER' is not a tag" in printed[3][2]


def test_scheduler_is_found_where_a_loop_runs_as_in_a_notebook(address: str) -> None:
    async def cell() -> int:
        with scheduler(address) as (executor, _):
            found: int = executor.submit(abs, -3).result()
        return found

    assert asyncio.run(cell()) == 3


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
    pairs = [tuple(map(str, files_in(tmp_path / str(number), number))) for number in range(7)]
    gold, predicted = zip(*pairs, strict=True)

    result = recipe["count_on_spark"](Context(), pairs, 9)

    assert result.to_dict() == score(gold, predicted, layers=LAYERS, jobs=1).to_dict()


def test_recipe_for_spark_gives_the_same_report_on_spark(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pyspark = pytest.importorskip("pyspark")
    if shutil.which("java") is None:
        pytest.skip("pyspark needs Java")
    recipe: dict[str, Any] = {}
    exec(block("mapPartitions"), recipe)
    pairs = [tuple(map(str, files_in(tmp_path / str(number), number))) for number in range(3)]
    gold, predicted = zip(*pairs, strict=True)
    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    context = pyspark.SparkContext("local[1]", "clueval")
    try:
        result = recipe["count_on_spark"](context, pairs, 2)
    finally:
        context.stop()

    assert result.to_json() == score(gold, predicted, layers=LAYERS, jobs=1).to_json()
