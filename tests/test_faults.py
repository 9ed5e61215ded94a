"""Ends of all kinds: a full disk, a folder that takes no files, SIGTERM, SIGINT and SIGKILL at any moment.

No file is half written, nothing is left behind, one line says what happened, and the exit code says it, too.
"""

from __future__ import annotations

import ctypes
import io
import json
import resource
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import pytest

from clueval.cli import main

ENDED = Path(__file__).parent / "ended.py"

BOTH = ["gold.conll", "predicted.conll"]

OUTPUTS: dict[str, list[str]] = {
    "errors tsv": ["errors", *BOTH, "-o", "out.tsv"],
    "errors packed": ["errors", *BOTH, "-o", "out.tsv.gz"],
    "errors xlsx": ["errors", *BOTH, "-o", "out.xlsx"],
    "errors html": ["errors", *BOTH, "-o", "out.html"],
    "errors fair xlsx": ["errors", *BOTH, "--metric", "fair", "-o", "out.xlsx"],
    "merge": ["merge", "gold.conll", "-o", "out.tsv"],
    "convert spans": ["convert", "gold.conll", "--to", "spans", "-o", "out.tsv"],
    "convert ltf": ["convert", "a.ltf", "--input", "ltf", "--to", "ltf", "-o", "out.xml"],
    "convert folder": ["convert", "ltf", "--input", "ltf", "--to", "ltf", "-o", "out/"],
    "conventions html": ["conventions", *BOTH, "-o", "out.html"],
    "masking html": ["masking", *BOTH, "-o", "out.html"],
    "masking tsv": ["masking", *BOTH, "-o", "out.tsv"],
    "gate tsv": ["score", *BOTH, "--metric", "gate", "-o", "out.gate.tsv"],
    "noisy html": ["errors", *BOTH, "--metric", "noisy", "-o", "out.html"],
    "config": ["faireval", "run.config"],
}
"""Each kind of output; the file is there before."""

WORKERS: dict[str, list[str]] = {
    "score in two processes": ["score", *BOTH, "--jobs", "2", "--metric", "levels,exact,fair"],
    "gate in two processes": ["score", *BOTH, "--metric", "gate", "--jobs", "2", "-o", "out.html"],
}

CODES = {"SIGTERM": (143, "terminated"), "SIGINT": (130, "interrupted")}


def make_files(place: Path) -> None:
    sentences = "".join(f"-DOCSTART- O\n\na{n} B-X\nb O\n\nc B-Y\nd I-Y\n\n" for n in range(20))
    files = {
        "gold.conll": sentences,
        "predicted.conll": sentences.replace("c B-Y\nd I", "c O\nd B"),
        "a.ltf": "<body>a <e>b</e></body>",
        "ltf/a": "<body>a <e>b</e></body>",
        "ltf/b": "<body>a <e>b</e></body>",
        "tags": "w NN B-X\n\n" * 20,
        "run.config": "target_in = tags\nsystem_in = tags\neval_out = out.csv\n",
        **{f"out.{ending}": "old" for ending in ("tsv", "gate.tsv", "tsv.gz", "xlsx", "html", "xml", "csv")},
        "out/a.xml": "old",
    }
    for name, text in files.items():
        (place / name).parent.mkdir(exist_ok=True, parents=True)
        (place / name).write_text(text)


@pytest.fixture
def template(tmp_path: Path) -> Path:
    make_files(tmp_path / "template")
    return tmp_path / "template"


def content(data: str) -> object:
    """What is in a file; of a spreadsheet without the time at which it was made."""
    raw = bytes.fromhex(data)
    if not raw.startswith(b"PK"):
        return raw
    with zipfile.ZipFile(io.BytesIO(raw)) as book:
        assert book.testzip() is None
        return {name: book.read(name) for name in book.namelist() if name != "docProps/core.xml"}


def require_whole_files(files: dict[str, str], before: dict[str, str], after: dict[str, str]) -> None:
    """Every file is as it was before or as it is after, and there is no other."""
    for name, data in files.items():
        known = [content(each[name]) for each in (before, after) if name in each]
        assert content(data) in known, name


def ended(template: Path, tmp_path: Path, arguments: list[str]) -> dict[str, Any]:
    (tmp_path / "work").mkdir()
    done = subprocess.run(
        [sys.executable, str(ENDED), str(template), str(tmp_path / "work"), *arguments],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def files_of(place: Path) -> dict[str, str]:
    return {
        path.relative_to(place).as_posix(): path.read_bytes().hex()
        for path in place.rglob("*")
        if path.is_file()
    }


@pytest.mark.long
@pytest.mark.parametrize("kind", OUTPUTS | WORKERS)
def test_a_signal_at_any_moment_leaves_no_half_of_a_file(kind: str, template: Path, tmp_path: Path) -> None:
    arguments = (OUTPUTS | WORKERS)[kind]

    found = ended(template, tmp_path, arguments)

    whole, before = found["whole"], files_of(template)
    assert whole["code"] == 0
    assert whole["files"].keys() - before.keys() <= {"out/b.xml"}
    assert kind == "score in two processes" or whole["files"] != before
    in_time = 0
    for run in found["ended"]:
        where = f"{run['signal']} at moment {run['moment']}: {run['error']}"
        assert run["alone"], where
        assert run["temporary"] == [], where
        if run["signal"] == "SIGKILL":
            named = {name: data for name, data in run["files"].items() if ".clueval-" not in name}
            require_whole_files(named, before, whole["files"])
            in_time += run["code"] == -9
            continue
        require_whole_files(run["files"], before, whole["files"])
        if run["code"] == 0:  # processes do not take the same number of calls each time
            continue
        code, message = CODES[run["signal"]]
        *remarks, last = run["error"].splitlines()
        assert (run["code"], last) == (code, f"clueval {arguments[0]}: {message}"), where
        assert set(remarks) <= set(whole["error"].splitlines()), where
        in_time += 1
    assert in_time >= 24  # of 30


@pytest.mark.parametrize(
    ("name", "code", "message"),
    [("SIGHUP", 129, "hung up"), ("SIGINT", 130, "interrupted"), ("SIGTERM", 143, "terminated")],
)
def test_a_signal_ends_a_command_in_one_line(name: str, code: int, message: str, template: Path) -> None:
    script = (
        "import os, signal, sys; from clueval.cli import documents, main; number = getattr(signal, sys.argv[1])\n"
        "signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)\n"
        "documents.merged_lines = lambda *_, **__: os.kill(os.getpid(), number)\n"
        "sys.exit(main(['merge', 'gold.conll']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, name], cwd=template, capture_output=True, text=True, check=False
    )

    assert (done.returncode, done.stdout, done.stderr) == (code, "", f"clueval merge: {message}\n")


@contextmanager
def permissions_bind() -> Iterator[None]:
    """Inside, permissions bind root, too: the right to pass them over (CAP_DAC_OVERRIDE) is laid down."""
    libc = ctypes.CDLL(None, use_errno=True)
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)  # version 3 of the interface, this process
    before = (ctypes.c_uint32 * 6)()  # effective, permitted, inheritable; then their other halves
    assert libc.capget(header, before) == 0
    data = (ctypes.c_uint32 * 6)(*before)
    data[0] &= ~0b110
    assert libc.capset(header, data) == 0
    try:
        yield
    finally:
        assert libc.capset(header, before) == 0


@contextmanager
def no_room() -> Iterator[None]:
    """Inside, every file ends after 20 bytes, as on a full disk."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


Fails = Callable[..., str]


@pytest.fixture
def fails(
    template: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Fails:
    """Carries out a command that must fail in one line, lay nothing elsewhere, and lose nothing."""
    monkeypatch.chdir(template)
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))

    def fail(arguments: list[str], fault: AbstractContextManager[object]) -> str:
        before = files_of(template)
        with fault:
            code = main(arguments)
        out, error = capsys.readouterr()
        assert (code, out, error.count("\n")) == (2, "", 1), error
        assert files_of(template) == before
        assert list((tmp_path / "tmp").iterdir()) == []
        return error

    return fail


def combined(kinds: Iterable[str], values: Iterable[str]) -> list[Any]:
    """All kinds of output with all values; in the quick tests every kind with the first, and some with each."""
    first, some = next(iter(values)), ("errors tsv", "errors xlsx", "convert spans", "conventions html")
    return [
        pytest.param(kind, value, marks=() if value == first or kind in some else pytest.mark.long)
        for kind in kinds
        for value in values
    ]


@pytest.mark.parametrize(("kind", "names"), combined(OUTPUTS, ["a name", "two names", "a link"]))
def test_a_full_disk_is_one_line_and_loses_nothing(
    kind: str, names: str, template: Path, fails: Fails
) -> None:
    for path in (*template.glob("out.*"), template / "out" / "a.xml"):
        if names == "two names":
            path.with_name(f"{path.name}-other").hardlink_to(path)
        elif names == "a link":
            path.replace(path.with_name(f"{path.name}-target"))
            path.symlink_to(f"{path.name}-target")

    assert "cannot be written: File too large" in fails(OUTPUTS[kind], no_room())


@pytest.mark.parametrize(
    "command",
    [
        "samples new",
        "agree gold.conll predicted.conll --pygamma new",
        "convert ltf/a --input inline --to brat -o new/",
    ],
)
def test_a_full_disk_leaves_no_new_folder(command: str, template: Path, fails: Fails) -> None:
    assert "cannot be written: File too large" in fails(command.split(), no_room())
    assert not (template / "new").exists()


@pytest.mark.parametrize("kind", OUTPUTS)
def test_a_folder_that_takes_no_files_is_one_line_and_loses_nothing(
    kind: str, template: Path, fails: Fails
) -> None:
    for folder in (template, template / "out"):
        folder.chmod(0o555)
    try:
        assert "Permission denied" in fails(OUTPUTS[kind], permissions_bind())
    finally:
        for folder in (template, template / "out"):
            folder.chmod(0o755)


@pytest.mark.parametrize("kind", OUTPUTS)
def test_a_file_that_must_not_be_written_is_one_line_and_stays(
    kind: str, template: Path, fails: Fails
) -> None:
    for path in (*template.glob("out.*"), *template.glob("out/*")):
        path.chmod(0o444)

    assert "cannot be written: Permission denied" in fails(OUTPUTS[kind], permissions_bind())


PLACES: dict[str, Callable[[Path], object]] = {
    "below a file": lambda place: (place / "there").write_text(""),
    "in no folder": lambda place: None,
    "a loop": lambda place: ((place / "there").mkdir(), (place / "there" / "out").symlink_to("out")),
}


@pytest.mark.parametrize(
    ("kind", "place"),
    combined([kind for kind in OUTPUTS if kind != "convert folder"], PLACES),
)
def test_a_place_for_no_file_is_one_line(kind: str, place: str, template: Path, fails: Fails) -> None:
    config = template / "run.config"
    config.write_text(config.read_text().replace("out.csv", "there/out"))
    PLACES[place](template)

    arguments = ["there/out" if word.startswith("out.") else word for word in OUTPUTS[kind]]
    assert "cannot be written" in fails(arguments, nullcontext())
