"""Mutation testing: change the code in one place, and see whether a test fails.

``python -m tests.mutants`` copies the project to a temporary folder, runs mutmut there, and prints every change
that no test notices. The modules and the tests are chosen under ``[tool.mutmut]`` in pyproject.toml. Changes that
cannot make a difference are listed, each with its reason, in equivalent_mutants.toml, by function and by the
changed line as `ast.unparse` writes it, so that moving or formatting code does not make the list wrong.

A change that only makes a ``zip(strict=True)`` less strict counts as one of them without being listed: the check
finds mistakes in the code, and no input sets it off. Where input can, a test does, and the change is noticed.

mutmut leaves out functions with a decorator, as `property`, and what stands outside functions. A cache only saves
time, so the copy has none, and the functions that are cached are changed like others.

The status is 1 if too many changes go unnoticed, or if the list has an entry that matches no such change.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import shutil
import subprocess
import sys
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from difflib import ndiff
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
COPIED = ("clueval", "tests", "pyproject.toml")
EQUIVALENT = Path(__file__).with_name("equivalent_mutants.toml")

CACHE = re.compile(r"^ *@(?:lru_)?cache\b.*\n", re.MULTILINE)

AT_MOST = 0.05
"""The share of changes that may go unnoticed."""

NOTICED = {1, 3, -24, 24, 36, 37, 152, 255}
"""What mutmut notes for a change that a test, a time limit or the type checker notices."""


class Change(NamedTuple):
    """A change of a function: its lines that differ, before and after."""

    function: str
    before: str
    after: str


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.mutants", description="Find changes no test notices."
    )
    parser.add_argument("--jobs", type=int, default=2, help="how many processes run tests (default: 2)")
    parser.add_argument("--folder", type=Path, help="work in this folder and keep it, for `mutmut show`")
    parser.add_argument(
        "--report", action="store_true", help="report on the last run in --folder, run nothing"
    )
    parser.add_argument("name", nargs="*", help="only these mutants, with wildcards: clueval.core.merging.*")
    options = parser.parse_args(arguments)
    with TemporaryDirectory(prefix="mutants-") as temporary:
        folder = options.folder or Path(temporary)
        if not options.report:
            run(folder, options.jobs, options.name)
        return report(folder / "mutants")


def run(folder: Path, jobs: int, names: list[str]) -> None:
    for name in COPIED:
        source, copy = ROOT / name, folder / name
        if source.is_dir():
            shutil.copytree(source, copy, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(source, copy)
    for path in (folder / "clueval").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if CACHE.search(text):
            path.write_text(CACHE.sub("", text), encoding="utf-8")
    if find_spec("mutmut") is None:
        sys.exit("mutmut is not installed: pip install '.[dev]'")
    command = [sys.executable, "-m", "mutmut", "run", "--max-children", str(jobs), *names]
    subprocess.run(command, cwd=folder, check=True)


def report(mutants: Path) -> int:
    """Print what went unnoticed in each module; the status to end with."""
    reasons = {change: entry["why"] for entry in listed() for change in changes_of(entry)}
    total: Counter[str] = Counter()
    unnoticed: list[tuple[str, Change]] = []
    equal: set[Change] = set()
    functions: set[str] = set()  # those of which every change was tried
    print(f"{'module':44}{'changes':>8}{'noticed':>8}{'equal':>8}{'alive':>8}")
    for path in sorted(mutants.rglob("*.py.meta")):
        codes = json.loads(path.read_text(encoding="utf-8"))["exit_code_by_key"]
        alive = {key for key, code in codes.items() if code not in NOTICED and code is not None}
        tried = [key for key, code in codes.items() if code is not None]
        if not tried:
            continue
        functions |= set(map(function_of, tried)) - set(map(function_of, codes.keys() - tried))
        changes = dict(changed(path.with_suffix(""), alive))
        found = {key for key, change in changes.items() if change in reasons or is_less_strict(change)}
        equal.update(changes[key] for key in found)
        unnoticed += [(key, changes[key]) for key in sorted(alive - found)]
        numbers = Counter(changes=len(tried), noticed=len(tried) - len(alive), equal=len(found))
        numbers["alive"] = len(alive) - len(found)
        total += numbers
        print_row(str(path.relative_to(mutants)).removesuffix(".meta"), numbers)
    print_row("all", total)
    for key, change in unnoticed:
        print(f"\n{key}\n  {change.function}\n- {change.before}\n+ {change.after}")
    stale = [change for change in reasons if change not in equal and change.function in functions]
    for change in stale:
        print(f"\n{EQUIVALENT.name}: not alive: {change}")
    return int(bool(stale) or total["alive"] >= AT_MOST * total["changes"])


def print_row(name: str, numbers: Mapping[str, int]) -> None:
    columns = "".join(f"{numbers[column]:8}" for column in ("changes", "noticed", "equal", "alive"))
    print(f"{name:44}{columns}  {numbers['alive'] / numbers['changes']:.1%}")


def is_less_strict(change: Change) -> bool:
    """Whether nothing changes but that a `zip` no longer checks the lengths."""
    before, after = (re.sub(r", strict=\w+", "", line) for line in (change.before, change.after))
    return before == after


def listed() -> list[dict[str, str]]:
    with EQUIVALENT.open("rb") as file:
        return list(tomllib.load(file).get("mutant", []))


def changes_of(entry: Mapping[str, str | list[str]]) -> Iterator[Change]:
    """The changes of an entry of the list, which may have several lines in place of one."""
    after = entry["after"]
    for each in [after] if isinstance(after, str) else after:
        yield Change(str(entry["function"]), str(entry["before"]), each)


def function_of(key: str) -> str:
    """The function that mutmut changes under this name, with its class."""
    mangled = key.rpartition(".")[2].partition("__mutmut_")[0]
    return mangled.removeprefix("x_").removeprefix("xǁ").replace("ǁ", ".")


def changed(path: Path, keys: set[str]) -> Iterator[tuple[str, Change]]:
    """The changes of these mutants, from the file in which mutmut writes all of them."""
    functions: defaultdict[str, str] = defaultdict(str)
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef) and "__mutmut_" in node.name:
            name, node.name = node.name, node.name.partition("__mutmut_")[0]
            functions[name] = ast.unparse(node)
    for key in keys:
        mutant = key.rpartition(".")[2]
        before, after = functions[f"{mutant.partition('__mutmut_')[0]}__mutmut_orig"], functions[mutant]
        lines = list(ndiff(before.splitlines(), after.splitlines()))
        yield (
            key,
            Change(
                function_of(key),
                " ".join(line[2:].strip() for line in lines if line.startswith("- ")),
                " ".join(line[2:].strip() for line in lines if line.startswith("+ ")),
            ),
        )


if __name__ == "__main__":
    sys.exit(main())
