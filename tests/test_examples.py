"""The examples of properties: the same ones in every run, and others in a search, `python -m tests.search`."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

ROOT = Path(__file__).parents[1]

SEEN: list[tuple[list[str], int]] = []


@settings(max_examples=60)
@given(st.lists(st.text()), st.integers())
def look(words: list[str], number: int) -> None:
    SEEN.append((words, number))


def examples() -> list[tuple[list[str], int]]:
    SEEN.clear()
    look()
    return list(SEEN)


def test_examples_do_not_depend_on_the_modules_that_other_tests_have_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = examples()
    constants = [f"word {number}" for number in range(500)]
    (tmp_path / "with_constants.py").write_text(f"NAMES = {constants}", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    importlib.import_module("with_constants")
    assert examples() == before


FALSE = """
import os

from hypothesis import given, strategies as st


@given(st.lists(st.integers(0, 9)))
def test_sums_are_small(numbers):
    assert sum(numbers) < 20


@given(st.integers())
def test_small_numbers_end_the_process(number):
    if number < 1000:
        os._exit(3)


def test_that_is_no_property():
    assert False
"""


def search(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tests.search", "600", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=False)


@pytest.mark.long
def test_search_prints_every_property_that_fails_with_its_smallest_case(tmp_path: Path) -> None:
    (tmp_path / "test_false.py").write_text(FALSE, encoding="utf-8")
    found = search("--seed=7", "--examples=100", str(tmp_path))  # it ends when no property is left
    assert found.returncode == 1
    summary = found.stdout[found.stdout.index(" properties failed\n") :]
    for name in ("test_sums_are_small", "test_small_numbers_end_the_process"):
        assert found.stdout.count(f"FAILED test_false.py::{name} with seed 7, 100 examples") == 1
        assert f"  test_false.py::{name}: seed 7, 100 examples" in summary
    assert "sum([2, 9, 9])" in found.stdout  # Hypothesis prefers few numbers, then small ones
    assert "@reproduce_failure(" in found.stdout
    assert "crashed" in found.stdout
    assert "test_that_is_no_property" not in found.stdout


@pytest.mark.long
def test_search_without_tests_is_an_error_and_not_a_success(tmp_path: Path) -> None:
    found = search(str(tmp_path / "none"))
    assert found.returncode == 2
    assert "the tests could not be run: " in found.stdout


@pytest.mark.long
def test_search_ends_at_a_module_that_cannot_be_imported(tmp_path: Path) -> None:
    (tmp_path / "test_broken.py").write_text("import no_such_module", encoding="utf-8")
    found = search(str(tmp_path))
    assert found.returncode == 2
    assert found.stdout.count("ModuleNotFoundError: No module named 'no_such_module'") == 1
