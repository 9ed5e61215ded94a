"""What the fuzzers have found stays mended, and goes on being looked for in the long tests."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest
from fuzz.beside import BESIDE, files_beside
from fuzz.cases import KINDS, Case, made
from fuzz.mutations import MUTATIONS
from fuzz.running import Failure, failure_of, run
from fuzz.smaller import smallest
from fuzz.tools import FORMATS

from clueval.cli import documents, main
from clueval.cli.commands import COMMANDS, command_called
from clueval.files.options import input_path
from clueval.files.overwriting import OUTPUT_TYPES
from clueval.formats.form import NAMES

REGRESSIONS = sorted((Path(__file__).parent / "fuzz" / "regressions").glob("*.json"))


def test_the_fuzzers_make_files_of_every_format() -> None:
    made_of = {"spans": "spans-tsv", "inline": "inline-answers"}

    assert {made_of.get(name, name) for name in NAMES} <= FORMATS.keys()


@pytest.mark.parametrize("path", REGRESSIONS, ids=lambda path: path.stem)
def test_saved_cases_do_not_fail_again(path: Path) -> None:
    assert failure_of(Case.loaded(path.read_text(encoding="utf-8"))) is None


@pytest.mark.few(4)
@pytest.mark.parametrize("kind", KINDS)
def test_some_cases_of_each_format_do_not_fail(kind: str) -> None:
    for number in range(2):
        assert failure_of(made(kind, number)) is None, f"{kind} {number}"


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_many_cases_of_each_format_do_not_fail(kind: str) -> None:
    cases = 200 if kind in KINDS[:10] else 100  # the formats of annotation tools share most of their code
    found = [(each.number, *each.failure) for each in run(kind, range(cases))]

    assert not found


@pytest.mark.parametrize("kind", KINDS)
def test_a_case_is_made_again_from_its_number(kind: str) -> None:
    assert made(kind, 7) == made(kind, 7)
    assert made(kind, 7) != made(kind, 8)
    assert Case.loaded(made(kind, 7).saved()) == made(kind, 7)


@pytest.mark.few(4)
@pytest.mark.parametrize("numbers", [range(2), pytest.param(range(2, 5), marks=pytest.mark.long)], ids=str)
@pytest.mark.parametrize("kind", FORMATS)
def test_files_that_are_not_changed_are_valid(kind: str, numbers: range) -> None:
    """Else the fuzzers would stop at the first check."""
    for number in numbers:
        pair = FORMATS[kind](Random(number))
        own, other = f"gold.{pair.ending}", f"predicted.{pair.ending}"
        options = [own, other, *pair.options, "--jobs", "1", "--metric", "fair"]
        found = failure_of_valid({own: pair.gold, other: pair.predicted, **pair.more}, options)
        assert found == "", f"{kind} {number}"


def failure_of_valid(files: dict[str, bytes], options: list[str]) -> str:
    """What `score` says of files of which nothing should be said."""
    import contextlib
    import io
    import os
    import tempfile

    from clueval.cli import main

    before, error = Path.cwd(), io.StringIO()
    with tempfile.TemporaryDirectory() as name:
        Case(files, []).write(Path(name))
        os.chdir(name)
        try:
            with contextlib.redirect_stderr(error), contextlib.redirect_stdout(io.StringIO()):
                main(["score", *options, "--quiet"])
        finally:
            os.chdir(before)
    return error.getvalue()


@pytest.mark.parametrize("kind", BESIDE)
def test_files_beside_those_of_spans_are_valid_if_they_are_not_changed(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    files, commands = files_beside(kind)
    Case(files, []).write(tmp_path)
    monkeypatch.chdir(tmp_path)

    # masking and curate have other choices than errors
    codes = [main(words) for words in commands if words[0] != "masking" or "--decisions" not in words]

    assert 2 not in codes or kind.startswith("decisions"), capsys.readouterr().err
    assert {0, 1} & {*codes}, capsys.readouterr().err


SIDES = {"gold", "predicted", "second", "old", "new", "file", "files", "annotators", "systems"}
"""The arguments that name files of spans, or saved results; their formats are kinds of the fuzzers."""

NO_FILES = {"--score"}
"""Options with the path of a number in a report."""


@pytest.mark.parametrize("command", COMMANDS)
def test_every_file_that_a_command_reads_is_fuzzed(command: str) -> None:
    """An argument or option that names a file to read needs its kind in `fuzz.beside`."""
    for option in command_called(command).options:
        flag = option.flags[-1] if option.flags else option.place
        names_a_file = (
            option.metavar in ("PATH", "FILE", "FOLDER", "CSV", "BASELINE") or option.read is input_path
        )
        if names_a_file and option.read not in OUTPUT_TYPES and flag not in NO_FILES:
            known = {*BESIDE} if option.flags else SIDES | {"config"}
            assert flag.removeprefix("--") in known, (command, flag)


def test_every_mutation_changes_some_file() -> None:
    for mutation in MUTATIONS:
        pairs = (FORMATS[kind](Random(number)).gold for kind in FORMATS for number in range(20))
        assert any(mutation(data, Random(1)) != data for data in pairs)


# --- what the fuzzers see ------------------------------------------------------------------------------------------


def broken_check(monkeypatch: pytest.MonkeyPatch, line: str) -> None:
    def run(files: list[Path], _: object) -> list[Any]:
        if any("bad" in path.read_text(encoding="utf-8") for path in files):
            exec(line, {})  # the fault that the fuzzer is to see
        return []

    monkeypatch.setattr(documents, "checks", run)


GOOD, BAD = "good\tO\n" * 20, "bad\tO\n"
CASE = Case(
    {"gold.vrt": (GOOD + BAD + GOOD).encode(), "other": b"x"},
    [["check", "other"], ["check", "gold.vrt", "--max-errors", "3"]],
)


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("raise IndexError('x')", "IndexError in cli __init__.py"),
        ("import sys; sys.exit(7)", "exit code 7"),
        ("import sys; print('a', file=sys.stderr); print('b', file=sys.stderr); sys.exit(2)", "not one line"),
        ("raise MemoryError", "MemoryError"),
    ],
)
def test_a_fault_is_a_failure_and_is_made_small(
    monkeypatch: pytest.MonkeyPatch, line: str, name: str
) -> None:
    broken_check(monkeypatch, line)

    found = failure_of(CASE)

    assert found is not None
    assert found.name.split()[0] == name.split()[0]
    assert smallest(CASE, found.name) == Case({"gold.vrt": b"bad", "other": b""}, [["check", "gold.vrt"]])


@pytest.mark.parametrize(
    ("limit", "value", "statement", "name"),
    [
        ("SECONDS", 0.05, "while True: pass", "too long"),
        (
            "MEGABYTES",
            0,
            "import resource; b'x' * (resource.getrusage(0).ru_maxrss * 1024 + (64 << 20))",
            "too much memory",
        ),
    ],
)
def test_command_that_exceeds_a_limit_is_a_failure(
    limit: str, value: float, statement: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"fuzz.running.{limit}", value)
    broken_check(monkeypatch, statement)

    found = failure_of(CASE)

    assert isinstance(found, Failure)
    assert found.name == name
