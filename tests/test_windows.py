"""Windows and macOS: what differs there, each with a test that imitates it here.

| on Windows | what clueval does |
|---|---|
| a pipe gets the code page and CR LF | standard output is UTF-8 with LF unless it is a terminal |
| a pipe without a reader is `EINVAL` | a command ends as with `EPIPE` |
| a terminal with a code page lacks characters | they are printed as escapes |
| files are opened with the code page by default | every file is opened with its encoding |
| a file that another program has open cannot be replaced | the error says so; the old content stays |
| `con`, `nul.txt`, `a:b` are devices and streams | documents with such ids get other file names |
| `A` and `a` are one file, also on macOS | a second document with such an id is an error |
| `os.kill` ends a process at once | a lost signal is raised again in the process |
| a process waits for at most 61 others | `--jobs` takes no more |
| workers are not forked, nor are they on macOS | they are fresh interpreters (`test_jobs.py`) |
| signals cannot be masked | not done; `mypy --platform win32` checks what the code uses |
"""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import time
from io import BufferedIOBase, BytesIO, TextIOWrapper
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import clueval.cli.running
from clueval import Document, FileError, UsageError, convert
from clueval.cli import main
from clueval.files.writing import whole_file
from clueval.results import processes

Patch = pytest.MonkeyPatch


@pytest.fixture
def windows(monkeypatch: Patch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")


@pytest.fixture
def corpus(tmp_path: Path) -> str:
    path = tmp_path / "gold.conll"
    path.write_text("Ada B-ŻŹ\n", encoding="utf-8")
    return str(path)


def code_page(monkeypatch: Patch, raw: BufferedIOBase) -> None:
    monkeypatch.setattr(sys, "stdout", TextIOWrapper(raw, encoding="cp1252", newline="\r\n"))


@pytest.mark.usefixtures("windows")
def test_standard_output_is_utf_8_with_line_feeds_unless_it_is_a_terminal(
    corpus: str, monkeypatch: Patch
) -> None:
    raw = BytesIO()
    code_page(monkeypatch, raw)

    assert main(["convert", corpus, "--to", "conll"]) == 0

    assert raw.getvalue().decode("utf-8") == "# newdoc id = 1\nAda\tB-ŻŹ\n\n"


@pytest.mark.usefixtures("windows")
def test_standard_output_has_the_encoding_that_the_user_asks_for(corpus: str, monkeypatch: Patch) -> None:
    raw = BytesIO()
    code_page(monkeypatch, raw)
    monkeypatch.setenv("PYTHONIOENCODING", "cp1252")

    assert main(["convert", corpus, "--to", "conll"]) == 0

    assert b"Ada\tB-\\u017b\\u0179\r\n" in raw.getvalue()


class NoReader(BytesIO):
    def write(self, _: object) -> int:
        raise OSError(errno.EINVAL, "Invalid argument")


@pytest.mark.usefixtures("windows")
@pytest.mark.parametrize(
    ("options", "code"), [([], 0), (["--metric", "exact", "--fail-under", "exact.label.micro.f1=1.5"], 2)]
)
def test_a_pipe_without_a_reader_changes_no_exit_code(
    corpus: str, options: list[str], code: int, monkeypatch: Patch, capsys: pytest.CaptureFixture[str]
) -> None:
    code_page(monkeypatch, NoReader())

    assert main(["score", corpus, corpus, *options]) == code
    assert "Invalid argument" not in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        ["score", "GOLD", "GOLD", "--save", "a.clueval"],
        ["errors", "GOLD", "GOLD", "-o", "a.html"],
        ["convert", "GOLD", "--to", "conll", "-o", "a.conll"],
        ["check", "GOLD"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_no_file_is_opened_with_the_encoding_of_the_system(
    corpus: str, tmp_path: Path, arguments: list[str]
) -> None:
    strict = ["-X", "warn_default_encoding", "-W", "error::EncodingWarning"]
    command = [
        sys.executable,
        *strict,
        "-m",
        "clueval",
        *(corpus if each == "GOLD" else each for each in arguments),
    ]

    done = subprocess.run(command, capture_output=True, cwd=tmp_path, check=False)

    assert (done.returncode, b"EncodingWarning" in done.stderr) == (0, False)


@pytest.mark.usefixtures("windows")
def test_a_file_that_another_program_has_open_keeps_its_content(tmp_path: Path, monkeypatch: Patch) -> None:
    path = tmp_path / "errors.xlsx"
    path.write_text("old", encoding="utf-8")

    def refuse(*_: object) -> None:
        raise PermissionError(errno.EACCES, "Access is denied")

    monkeypatch.setattr(Path, "replace", refuse)

    denied = r"Access is denied \(close the program that has the file open"
    with pytest.raises(FileError, match=denied), whole_file(path) as file:
        file.write("new")

    assert [each.name for each in tmp_path.iterdir()] == ["errors.xlsx"]
    assert path.read_text(encoding="utf-8") == "old"


def documents(*ids: str) -> list[Document]:
    return [Document(id, {"label": []}, text="Ada", unit="character") for id in ids]


def test_files_of_documents_have_names_that_are_files_on_each_system(tmp_path: Path) -> None:
    convert(
        documents("con", "NUL.txt", "a:b", "com1", "console"),
        to="brat",
        output_file=f"{tmp_path}/",
        lossy=True,
    )

    assert sorted(path.name for path in tmp_path.glob("*.ann")) == [
        "_NUL.ann",
        "_com1.ann",
        "_con.ann",
        "a_b.ann",
        "console.ann",
    ]


def test_documents_whose_file_names_differ_only_in_case_are_refused_on_each_system(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot hold 1 document ids as names of files"):
        convert(documents("A", "a"), to="brat", output_file=f"{tmp_path}/")

    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("windows")
def test_a_signal_that_a_destructor_loses_is_raised_again_in_the_process(monkeypatch: Patch) -> None:
    monkeypatch.setattr(os, "kill", None)
    lost: Any = SimpleNamespace(exc_value=KeyboardInterrupt())

    with pytest.raises(KeyboardInterrupt):  # noqa: PT012  # the signal arrives a moment later
        clueval.cli.running._send_again(lost)
        for _ in range(4_000):
            time.sleep(0.05)


@pytest.mark.usefixtures("windows")
def test_a_pool_has_no_more_processes_than_windows_can_wait_for(monkeypatch: Patch) -> None:
    number: list[int] = []

    class Refusing:
        def __init__(self, most: int, *_: object) -> None:
            number.append(most)
            raise OSError("no processes here")

    monkeypatch.setattr(processes, "Pool", Refusing)
    with (
        pytest.raises(processes.NoProcesses, match="no processes here"),
        processes.pool_of(100, patience=1),
    ):
        pass

    assert number == [61]
