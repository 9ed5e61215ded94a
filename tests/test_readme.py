"""What the README shows is run."""

from __future__ import annotations

import doctest
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from clueval.cli import COMMANDS, main
from clueval.cli.chosen import settings_of
from clueval.cli.commands import command_parser
from clueval.metrics import METRICS, metric_class

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_python_of_the_readme_prints_what_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    blocks = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    example = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, "README", "README.md", 0)

    assert example.examples
    assert doctest.DocTestRunner().run(example).failed == 0


def test_the_script_of_the_readme_counts_in_several_processes(tmp_path: Path) -> None:
    (script,) = (block for block in re.findall(r"```python\n(.*?)```", README, re.DOTALL) if "jobs=" in block)
    for side in ("gold", "predicted"):
        shutil.copy(ROOT / "tests" / "samples" / "german" / f"{side}.vrt", tmp_path)
    (tmp_path / "script.py").write_text(script, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, check=True
    )

    assert done.stdout.startswith("5 documents, 2,797 positions")


def test_the_first_command_ends_in_one_that_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    (line,) = (line for line in README.split("\n") if "clueval score" in line and line.startswith("python3"))

    assert main(["score", *shlex.split(line.split("clueval score")[1])]) == 0


def test_every_option_that_is_named_is_one_of_a_command() -> None:
    options = {
        flag
        for name in COMMANDS
        for action in command_parser(name)._actions
        for flag in action.option_strings
    }
    named = set(
        re.findall(r"(?<![\w-])--[a-z][a-z-]+", re.sub(r"```sh\n.*?```", "", README, flags=re.DOTALL))
    )

    assert len(named) > 20
    assert named <= options


def test_every_setting_and_command_that_is_named_is_there() -> None:
    for metric, setting in re.findall(r"\b(\w+)\.(\w+)=", README):
        assert setting in settings_of(metric_class(metric)), f"{metric}.{setting}"
    assert set(re.findall(r"`clueval (\w+)", README)) - {"COMMAND"} <= COMMANDS.keys()


def test_every_metric_and_file_that_is_named_is_there() -> None:
    assert all(f"`{name}`" in README for name in METRICS)
    for target in re.findall(r"\]\(([^)#:]+)\)", README):
        assert (ROOT / target).is_file(), target


def test_the_doctests_of_the_library_hold() -> None:
    import importlib
    import pkgutil

    import clueval

    tried = 0
    for module in pkgutil.walk_packages(clueval.__path__, "clueval."):
        if module.name == "clueval.__main__":
            continue
        results = doctest.testmod(importlib.import_module(module.name))
        assert results.failed == 0, module.name
        tried += results.attempted
    assert tried > 20
