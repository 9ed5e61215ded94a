"""Several processes, an executor and a cluster: the options of `score` and of the command."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from corpora import write
from processes import are_there, children_of, wait_until

from clueval import score
from clueval.cli import main
from clueval.files.errors import UsageError
from clueval.results import dask

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def folders(tmp_path: Path) -> list[Path]:
    """Two folders with four files each, of which some tags differ."""
    sides = [tmp_path / "gold", tmp_path / "predicted"]
    for side, tag in zip(sides, ("B-LOC", "O"), strict=True):
        side.mkdir()
        for number in range(4):
            rows = f"Ada\tB-PER\nin\tO\nUlm\t{tag}\n\n" * 50 * (number + 1)
            write(side / f"{number}.conll", rows)
    return sides


@pytest.mark.parametrize(
    "options", [{}, {"by": "document"}, {"intervals": True}, {"metrics": "masking"}], ids=str
)
def test_several_processes_and_an_executor_give_the_result_of_one(
    folders: list[Path], options: dict[str, Any]
) -> None:
    alone = score(*folders, jobs=1, **options).to_dict()

    assert score(*folders, jobs=3, **options).to_dict() == alone
    with ThreadPoolExecutor(2) as executor:
        assert score(*folders, executor=executor, jobs=2, **options).to_dict() == alone


def test_remarks_say_how_many_processes_count_and_why(folders: list[Path]) -> None:
    remarks: list[str] = []

    for jobs in (None, 2):
        score(*folders, jobs=jobs, remark=remarks.append)

    assert remarks[0] == "1 process: less than 1 MB is too little to share between processes"
    assert remarks[1].startswith(("2 processes: ", "1 process: "))


@pytest.mark.parametrize("wrong", [0, -1, True, 1.5, "2"])
def test_a_wrong_number_of_processes_is_refused(folders: list[Path], wrong: Any) -> None:
    for sides in (folders, [[["O"]], [["O"]]]):
        with pytest.raises(UsageError, match="is not a number of processes"):
            score(*sides, jobs=wrong)


@pytest.mark.parametrize("value", ["0", "-1", "x", "1.5"])
def test_a_wrong_number_of_processes_is_refused_by_the_command_in_one_line(
    value: str, capsys: Capture
) -> None:
    with pytest.raises(SystemExit) as end:
        main(["score", "gold.vrt", "predicted.vrt", f"--jobs={value}"])

    complaint = capsys.readouterr().err
    assert (end.value.code, complaint.count("\n")) == (2, 1)
    assert f"{value!r} is neither auto nor a number from 1" in complaint


def test_a_scheduler_without_distributed_is_an_error_that_names_the_extra(
    folders: list[Path], monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    code = main(["score", *map(str, folders), "--scheduler", "tcp://127.0.0.1:1"])

    output, complaint = capsys.readouterr()
    assert (code, output) == (2, "")
    assert complaint == (
        "clueval score: a scheduler needs distributed, which is not installed (pip install 'clueval[dask]')\n"
    )


def test_a_scheduler_and_a_number_of_processes_exclude_each_other(
    folders: list[Path], capsys: Capture
) -> None:
    code = main(["score", *map(str, folders), "--scheduler", "tcp://127.0.0.1:1", "--jobs", "2"])

    complaint = capsys.readouterr().err
    assert (code, complaint.count("\n")) == (2, 1)
    assert "--jobs is for processes of this machine" in complaint


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("nonsense", "'nonsense' is not an address"),
        ("tcp://127.0.0.1:9", "no scheduler answers at tcp://127.0.0.1:9"),
    ],
)
def test_a_scheduler_that_does_not_answer_is_an_error_in_one_line(
    folders: list[Path], address: str, message: str, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr(dask.scheduler.__wrapped__, "__defaults__", (0.5,))  # type: ignore[attr-defined]
    code = main(["score", *map(str, folders), "--scheduler", address])

    output, complaint = capsys.readouterr()
    assert (code, output, complaint.count("\n")) == (2, "", 1)
    assert message in complaint


ENDLESS = """
import sys, time
from clueval.cli import main
from clueval.results import texts, workers

def count(*_):
    with open({begun!r}, "a") as file:
        file.write("x")
    time.sleep(600)

workers.SMALL = 1
texts.FileReading.count = count
sys.exit(main({arguments!r}))
"""
"""A command that counts for ever in two processes, each of which writes a letter to a file when it begins."""


@pytest.mark.skipif(sys.platform != "linux", reason="it looks at processes as Linux shows them")
@pytest.mark.parametrize(
    ("number", "code", "message"),
    [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated")],
)
def test_an_interrupted_command_prints_that_and_leaves_no_process(
    folders: list[Path], tmp_path: Path, number: signal.Signals, code: int, message: str
) -> None:
    begun = write(tmp_path / "begun", "")
    arguments = ["score", *map(str, folders), "--jobs", "2"]
    process = subprocess.Popen(
        [sys.executable, "-c", ENDLESS.format(begun=str(begun), arguments=arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        assert wait_until(lambda: begun.stat().st_size == 2)
        workers = children_of(process.pid)
        send = os.killpg if number == signal.SIGINT else os.kill  # a terminal sends Ctrl-C to all of them
        send(process.pid, number)
        output, complaint = process.communicate(timeout=60)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)

    assert (process.returncode, output) == (code, "")
    assert complaint == f"clueval score: {message}\n"
    assert len(workers) == 2
    assert wait_until(lambda: not are_there(workers))


class Elsewhere(ThreadPoolExecutor):
    """An executor that carries out tasks in another working directory."""

    def submit(self, function: Any, /, *arguments: Any, **named: Any) -> Any:
        before = Path.cwd()
        os.chdir("/")
        try:
            future: Future[Any] = Future()
            future.set_result(function(*arguments, **named))
            return future
        finally:
            os.chdir(before)


def test_relative_paths_are_found_from_another_working_directory(
    folders: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    expected = score("gold", "predicted").to_dict()

    with Elsewhere(1) as executor:
        assert score("gold", "predicted", executor=executor).to_dict() == expected


# Scripts, whose workers are fresh interpreters


def scripted(folders: list[Path], *lines: str) -> subprocess.CompletedProcess[str]:
    """Run a script with a task for each pair of files, whose workers are fresh interpreters, as another thread runs."""
    gold, predicted = (str(side) for side in folders)
    head = [
        "import threading, time",
        "from clueval import score",
        "from clueval.results import workers",
        "workers.SMALL = 1",
        f"sides = {gold!r}, {predicted!r}",
        "threading.Thread(target=time.sleep, args=(60,), daemon=True).start()",
    ]
    script = write(folders[0].parent / "script.py", "\n".join([*head, *lines]))
    command = [sys.executable, "-W", "ignore", str(script)]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=script.parent)


@pytest.mark.long
def test_a_script_without_a_guard_is_an_error_that_names_the_guard(folders: list[Path]) -> None:
    done = scripted(folders, "score(*sides, jobs=2)")

    hint = "a script that uses several processes needs the guard if __name__ == '__main__')"
    assert done.returncode == 1
    assert hint in done.stderr


@pytest.mark.long
def test_a_metric_that_workers_cannot_import_is_counted_in_this_process(folders: list[Path]) -> None:
    """A class that is defined behind the guard, which a fresh interpreter does not have."""
    done = scripted(
        folders,
        "if __name__ == '__main__':",
        "    from clueval.core.exact import Exact",
        "    class Mine(Exact): pass",
        "    print(score(*sides, jobs=2, metrics=[Mine()]).to_json())",
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.strip() == score(*folders, metrics="exact").to_json()
