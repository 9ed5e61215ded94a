"""What the README shows is run."""

from __future__ import annotations

import doctest
import re
import shlex
from pathlib import Path

import pytest
from guide_blocks import Runner, blocks_of

from clueval.cli import COMMANDS, main
from clueval.cli.chosen import settings_of
from clueval.cli.commands import command_parser
from clueval.metrics import METRICS, metric_class

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_readme_shows_what_its_code_prints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["samples", "samples"]) == 0
    runner = Runner("README")
    blocks = [block for block in blocks_of(README) if block.language != "sh"]
    for block in blocks:
        runner.run(block)

    assert len(blocks) > 2
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
    options = {
        flag
        for name in COMMANDS
        for action in command_parser(name)._actions
        for flag in action.option_strings
    }
    named = set(
        re.findall(r"(?<![\w-])--[a-z][a-z-]+", re.sub(r"```sh\n.*?```", "", README, flags=re.DOTALL))
    )

    assert named
    assert named <= options


def test_every_setting_and_command_that_is_named_is_there() -> None:
    for metric, setting in re.findall(r"\b(\w+)\.(\w+)=", README):
        assert setting in settings_of(metric_class(metric)), f"{metric}.{setting}"
    assert set(re.findall(r"`clueval (\w+)", README)) - {"COMMAND"} <= COMMANDS.keys()


def test_every_metric_and_file_that_is_named_is_there() -> None:
    assert all(f"`{name}`" in README for name in METRICS)
    for target in re.findall(r"\]\(([^)#:]+)\)", README):
        assert (ROOT / target).exists(), target


def test_the_doctests_of_the_library_hold() -> None:
    import importlib
    import pkgutil

    import clueval

    finder, runner = doctest.DocTestFinder(), doctest.DocTestRunner()
    for module in pkgutil.walk_packages(clueval.__path__, "clueval."):
        if module.name == "clueval.__main__":
            continue
        for found in finder.find(importlib.import_module(module.name), module.name):
            if found.examples:  # a run looks at the file of every module, even if there is nothing to run
                assert runner.run(found).failed == 0, found.name
    assert runner.tries > 20
