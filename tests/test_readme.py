"""What the README shows is run."""

from __future__ import annotations

import doctest
import importlib
import inspect
import json
import pkgutil
import re
import shlex
import shutil
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from guide_blocks import Runner, blocks_of

import clueval
from clueval import convert
from clueval.cli import main
from clueval.cli.commands import COMMANDS, command_called, settings_of
from clueval.metrics import METRICS, metric_class

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
GERMAN = ROOT / "clueval" / "samples" / "german"
TARGETS = (("conll", "{}.conll"), ("doccano", "{}.jsonl"), ("docbin", "{}.spacy"), ("brat", "{}/"))


def test_readme_shows_what_its_code_prints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["samples", "samples"]) == 0
    runner = Runner("README")
    blocks = [block for block in blocks_of(README) if block.language != "sh"]
    for block in blocks:
        runner.run(block)

    assert len(blocks) > 1
    assert not runner.differences, "\n\n".join(runner.differences)


def test_readme_fits_one_screen() -> None:
    assert len(README.splitlines()) < 90


def test_the_first_command_ends_in_two_that_run_also_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (line,) = (line for line in README.split("\n") if "clueval score" in line and line.startswith("python3"))
    commands = [shlex.split(part)[1:] for part in line.split("&&")[-2:]]

    assert [command[0] for command in commands] == ["samples", "score"]
    assert [main(command) for command in commands * 2] == [0, 0, 0, 0]


def test_every_option_that_is_named_is_one_of_a_command() -> None:
    options = {flag for name in COMMANDS for flag in command_called(name).by_flag}
    named = set(
        re.findall(r"(?<![\w-])--[a-z][a-z-]+", re.sub(r"```sh\n.*?```", "", README, flags=re.DOTALL))
    )

    assert named
    assert named <= options


def test_every_setting_and_command_that_is_named_is_there() -> None:
    for metric, setting in re.findall(r"\b(\w+)\.(\w+)=", README):
        assert setting in settings_of(metric_class(metric)), f"{metric}.{setting}"
    assert set(re.findall(r"`clueval (\w+)", README)) - {"COMMAND"} <= COMMANDS.keys()


def test_every_metric_is_named() -> None:
    assert all(f"`{name}`" in README for name in METRICS)


def test_every_link_is_a_file_below_the_address_of_the_repository() -> None:
    """PyPI shows the README without the repository, so links are absolute."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    links = re.findall(r"(!?)\[[^\]]+\]\(([^)]+)\)", README)

    assert len(links) > 5
    for image, link in links:
        below = f"{project['urls']['Repository']}/{'raw' if image else 'blob'}/main/"
        assert link.startswith(below), link
        assert (ROOT / link.removeprefix(below)).is_file(), link


@pytest.fixture
def usual_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with the files that the table of inputs names, as the working folder."""
    monkeypatch.chdir(tmp_path)
    for name in ("gold", "predicted"):
        sample = GERMAN / f"{name}.vrt"
        shutil.copy(sample, f"{name}.vrt")
        for form, target in TARGETS:
            convert(sample, form, target.format(name), layers={"entity": 2}, lossy=True)
    rows = [(gold.split(), "O") for gold in Path("gold.conll").read_text(encoding="utf-8").splitlines()]
    lines = [" ".join([*row, tag]) if row and row[0] != "#" else "" for row, tag in rows]
    Path("both.conll").write_text("\n".join(lines), encoding="utf-8")
    shutil.copytree(GERMAN / "redacted", "redacted")
    spans = [{"id": "1", "text": "Ada met Bob", "username": user, "label": [[0, 3, "PER"]]} for user in "ab"]
    Path("project.jsonl").write_text("\n".join(map(json.dumps, spans)), encoding="utf-8")
    for name in ("anna", "bob", "carl"):
        Path(f"{name}.jsonl").write_text(json.dumps(spans[0]), encoding="utf-8")
    answers = [
        {"id": json.loads(line)["id"], "entities": [{"text": "Jörg Ahlsdorf", "label": "person"}]}
        for line in Path("gold.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    Path("answers.jsonl").write_text("\n".join(map(json.dumps, answers)), encoding="utf-8")


@pytest.mark.parametrize("command", re.findall(r"^\|[^|]*\| `clueval ([^`|]+)` \|$", README, re.MULTILINE))
def test_command_of_the_table_of_inputs_runs(command: str, usual_files: None) -> None:
    assert main(shlex.split(command)) == 0


def test_the_doctests_of_the_library_hold() -> None:
    finder, runner = doctest.DocTestFinder(), doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    for module in pkgutil.walk_packages(clueval.__path__, "clueval."):
        if module.name == "clueval.__main__":
            continue
        for found in finder.find(importlib.import_module(module.name), module.name):
            if found.examples:  # a run looks at the file of every module, even if there is nothing to run
                assert runner.run(found).failed == 0, found.name
    assert runner.tries > 20


PUBLIC = (
    "",
    ".metrics",
    ".statistics",
    *(f".compat.{name}" for name in ("conlleval", "gate", "huggingface", "spacy")),
)
"""The modules whose names are public, with those of seqeval and FairEval, which are tested with the originals."""

NOT_SHOWN = {"LimitError", "MissingExtra"}
"""Errors that no short example raises."""


def public_things() -> Iterator[tuple[str, object]]:
    for name in PUBLIC:
        module = importlib.import_module(f"clueval{name}")
        yield from (
            (each, getattr(module, each)) for each in getattr(module, "__all__", ()) if each not in NOT_SHOWN
        )
        if "compat" in name:
            own = (
                thing
                for thing in vars(module).items()
                if getattr(thing[1], "__module__", "") == module.__name__
            )
            yield from (thing for thing in own if not thing[0].startswith("_"))


def test_every_public_function_and_class_has_an_example() -> None:
    called = ((name, public) for name, public in public_things() if callable(public))
    without = [name for name, public in called if ">>> " not in (inspect.getdoc(public) or "")]

    assert not without
