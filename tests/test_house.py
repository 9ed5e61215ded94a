"""The plan of the house: every room imports only from the floors below it."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import clueval

HOUSE = Path(clueval.__file__).parent

FLOORS: list[set[str]] = [
    {"version", "exceptions", "counting"},
    {"spans", "limits"},
    {"chunks"},
    {"sources", "index", "tagging", "metric", "jobs", "cluster"},
    {"classes"},
    {"matching"},
    {"components", "match_counts", "passages", "contexts", "alignment", "neighbours"},
    {"merging", "narrowing", "token_ids", "decoding", "units", "projection", "building", "parts"},
    {"same_text", "filters", "metrics", "formats", "findings"},
    {"agreement", "fair_files", "problems", "known", "plan"},
    {"patterns"},
    {"zones"},
    {"lockstep"},
    {"reports"},
    {"read_options", "files"},
    {"reading", "results"},
    {"parallel", "totals", "beside"},
    {"running", "checking"},
    {"column_files", "work"},
    {"tasks"},
    {"gathering"},
    {"distribution"},
    {"evaluation", "accumulator", "problem_files", "explaining", "fair_findings"},
    {"compat"},
    {"conventions"},
    {"cli"},
]
"""From the ground up. A folder is one room here; what is inside may import what is below and each other."""

INDEPENDENT = ["formats", "metrics"]
"""Folders whose rooms never import each other."""

ROOMS = sorted(
    path for path in HOUSE.rglob("*.py") if path.name != "__main__.py" and path != HOUSE / "__init__.py"
)


def floor_of(room: str) -> int:
    return next(number for number, rooms in enumerate(FLOORS) if room in rooms)


def imports(path: Path) -> set[str]:
    """The modules of this package that a file imports, wherever in it, without the package's name."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "clueval":
            base = (node.module or "").removeprefix("clueval").lstrip(".")
            names = {f"{base}.{alias.name}".lstrip(".") for alias in node.names}
            found |= {name if is_room(name) else base for name in names}
        elif isinstance(node, ast.Import):
            found |= {
                alias.name.removeprefix("clueval.")
                for alias in node.names
                if alias.name.startswith("clueval.")
            }
    return found


def is_room(name: str) -> bool:
    path = HOUSE.joinpath(*name.split("."))
    return path.is_dir() or path.with_suffix(".py").is_file()


def name_of(path: Path) -> str:
    parts = path.relative_to(HOUSE).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


@pytest.mark.parametrize("path", ROOMS, ids=name_of)
def test_imports_point_down(path: Path) -> None:
    own = name_of(path).split(".")[0]

    for module in imports(path):
        room = module.split(".")[0]
        assert room == own or floor_of(room) < floor_of(own), f"{name_of(path)} imports {module}"


@pytest.mark.parametrize("folder", INDEPENDENT)
def test_rooms_of_one_kind_do_not_import_each_other(folder: str) -> None:
    for path in (HOUSE / folder).rglob("*.py"):
        own = name_of(path).split(".")
        if len(own) > 1:
            for module in imports(path):
                parts = module.split(".")
                assert parts[0] != folder or parts[:2] == own[:2], f"{name_of(path)} imports {module}"


def test_every_room_has_its_floor_and_every_floor_its_rooms() -> None:
    there = {name_of(path).split(".")[0] for path in ROOMS}

    assert there == set().union(*FLOORS)


def test_only_the_index_imports_intervaltree() -> None:
    users = {
        name_of(path)
        for path in ROOMS
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module == "intervaltree"
    }

    assert "index" in users
    assert users <= {"index", "metrics.fair.candidates"}


def test_importing_clueval_loads_nothing_that_it_does_not_need() -> None:
    code = "import sys, clueval; from clueval import evaluate, read, match_spans; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    heavy = {
        "numpy",
        "pandas",
        "rich",
        "jinja2",
        "xlsxwriter",
        "rapidfuzz",
        "distributed",
        "intervaltree",
        "gzip",
    }

    assert not heavy & set(loaded)
