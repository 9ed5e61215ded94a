"""The plan of the packages: what each may import, and how large its parts may become."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest

import clueval
from clueval.cli.commands import COMMANDS
from clueval.formats.form import ENTRIES
from clueval.metrics import METRICS

SOURCE = Path(clueval.__file__).parent

FOUNDATION = {"files", "version"}
"""What every package may import; `files` imports nothing of clueval."""

_BELOW_RESULTS = {"core", "statistics", "metrics", "transforms", "reports", "formats", "reading"}

MAY_IMPORT: dict[str, set[str]] = {
    "core": set(),
    "statistics": set(),
    "metrics": {"core", "statistics"},
    "transforms": {"core"},
    "reports": {"core"},
    "formats": {"core"},
    "reading": {"core", "formats", "transforms"},
    "results": _BELOW_RESULTS,
    "studies": {*_BELOW_RESULTS, "results"},
    "compat": {*_BELOW_RESULTS, "results", "studies"},
    "guide": _BELOW_RESULTS,
    "cli": {*_BELOW_RESULTS, "results", "studies", "compat", "guide"},
    "browser": {*_BELOW_RESULTS, "results", "studies", "compat", "guide", "cli"},
}
"""What every package may import besides itself and the foundation."""

MOST_MODULES = {
    "clueval.score('gold.conll', 'predicted.conll').f1": 42,
    "clueval.score([['B-PER', 'O']], [['B-PER', 'O']]).f1": 30,
    "[*clueval.read('rows.jsonl')]": 24,
}
"""The number of modules that a first call imports. It may only shrink."""

HALF_HOUR_PATH = (
    "core.span",
    "core.case",
    "core.metric",
    "core.exact",
    "core.bag",
    "core.count",
)
"""How a number comes about, in the order in which to read it; the docstring of the package names the same modules."""

OF_READING = {"byte", "chunk", "decoder", "passage", "stretch"}
"""Words that do not occur there, in the singular. `file` does, as where a document or an error comes from."""

MOST_PARAMETERS = 12
MOST_LAYERS = 9  # the lowest is the foundation, the highest the offline page, which is not in the wheel
AT_THE_TOP = {"__init__", "__main__", "version"}
"""The modules that lie directly in the package."""


def name_of(path: Path) -> str:
    """The name of a module without the package's own: `core.span`; a package is called as its folder."""
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


FILES = {
    name_of(path): path
    for path in sorted(SOURCE.rglob("*.py"))
    if path not in (SOURCE / "__init__.py", SOURCE / "__main__.py")
}
"""Every module by its name; `clueval/__init__.py` and `__main__.py` are left out."""


Defined = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@cache
def nodes_of(module: str) -> tuple[ast.AST, ...]:
    """The imports, functions and classes of a module, wherever in it."""
    tree = ast.parse(FILES[module].read_text(encoding="utf-8"))
    return tuple(node for node in statements(tree) if isinstance(node, Defined | ast.Import | ast.ImportFrom))


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """The statements within a node; looking into expressions would take most of the time."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.expr):
            yield child
            yield from statements(child)


@cache
def imports(module: str) -> frozenset[str]:
    """The modules that a module imports, wherever in it: in functions and under `TYPE_CHECKING`, too."""
    found: set[str] = set()
    for node in nodes_of(module):
        if isinstance(node, ast.ImportFrom):
            assert not node.level, f"{module} has a relative import"
            if (node.module or "").split(".")[0] == "clueval":
                base = (node.module or "").removeprefix("clueval").lstrip(".")
                names = {f"{base}.{alias.name}".lstrip(".") for alias in node.names}
                found |= {name if name in FILES else base for name in names}
        elif isinstance(node, ast.Import):
            found |= {
                alias.name.removeprefix("clueval.")
                for alias in node.names
                if alias.name.startswith("clueval.")
            }
    return frozenset(found - {module})


def package_of(module: str) -> str:
    return module.split(".")[0]


def broken_imports() -> set[str]:
    """Every import that the table does not allow."""
    return {
        f"{module} -> {other}"
        for module in FILES
        for other in imports(module)
        if package_of(other) not in {package_of(module), *allowed(package_of(module))}
    }


def allowed(package: str) -> set[str]:
    """What a package may import besides itself."""
    return set() if package in FOUNDATION else FOUNDATION | MAY_IMPORT[package]


def circles(graph: Mapping[str, Iterable[str]]) -> Iterator[set[str]]:
    """The sets of nodes of which each can be reached from each other one (Tarjan 1972)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []

    def visit(node: str) -> Iterator[set[str]]:
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in graph.get(node, ()):
            if other not in index:
                yield from visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            place = stack.index(node)
            together, stack[place:] = set(stack[place:]), []
            if len(together) > 1:
                yield together

    for node in graph:
        if node not in index:
            yield from visit(node)


def classes() -> Iterator[tuple[str, str]]:
    """Every class with its module, those within functions and classes, too."""
    for module in FILES:
        for node in nodes_of(module):
            if isinstance(node, ast.ClassDef):
                yield node.name, module


def doubled_classes() -> set[str]:
    return {name for name, times in Counter(name for name, _ in classes()).items() if times > 1}


OF_FORMATS = {f"formats.{entry.place.partition('.')[0]}" for entry in ENTRIES}
"""The modules that have descriptions of formats."""


def parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    given = function.args
    named = [*given.posonlyargs, *given.args, *given.kwonlyargs]
    return len(named) + (given.vararg is not None) + (given.kwarg is not None)


def functions_with_many_parameters() -> set[str]:
    return {
        f"{module}.{node.name}"
        for module in FILES
        if package_of(module) != "compat"
        for node in nodes_of(module)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and parameters(node) > MOST_PARAMETERS
        and not (module.startswith("cli.") and node.name in COMMANDS)  # a parameter is an option
        and node.name != "__init__"  # of a dataclass, whose fields these are
    }


def imports_of_packages() -> dict[str, set[str]]:
    """What every package imports besides itself."""
    graph: dict[str, set[str]] = {}
    for module in FILES:
        own = package_of(module)
        graph.setdefault(own, set()).update({*map(package_of, imports(module))} - {own})
    return graph


def layers(graph: Mapping[str, set[str]]) -> int:
    """How many nodes the longest chain of imports has, of a graph without circles."""

    @cache
    def height(node: str) -> int:
        return 1 + max((height(other) for other in graph.get(node, ())), default=0)

    return max(map(height, graph))


@pytest.mark.parametrize("found", [broken_imports, doubled_classes, functions_with_many_parameters])
def test_a_rule_has_no_exceptions(found: Callable[[], set[str]]) -> None:
    assert found() == set()


def test_the_table_has_no_circle_and_names_every_package() -> None:
    assert not list(circles(MAY_IMPORT))
    assert {package_of(module) for module in FILES} == MAY_IMPORT.keys() | FOUNDATION
    assert set().union(*MAY_IMPORT.values()) <= MAY_IMPORT.keys()


def test_files_and_packages_have_no_circles() -> None:
    assert not list(circles({module: imports(module) for module in FILES}))
    assert not list(circles(imports_of_packages()))


def test_packages_lie_in_few_layers() -> None:
    assert layers(MAY_IMPORT) < MOST_LAYERS  # below them lies the foundation
    assert layers(imports_of_packages()) <= MOST_LAYERS


@pytest.mark.parametrize("module", HALF_HOUR_PATH)
def test_the_plain_way_of_counting_names_no_way_of_reading(module: str) -> None:
    words = re.findall(r"[a-z]+", FILES[module].read_text(encoding="utf-8").lower())
    of_reading = {other for other in imports(module) if package_of(other) in ("formats", "reading")}

    assert not {word for word in words if word.removesuffix("s") in OF_READING}
    assert not of_reading


def test_the_package_names_what_to_read_in_half_an_hour() -> None:
    lines = [
        line for module in HALF_HOUR_PATH for line in FILES[module].read_text(encoding="utf-8").splitlines()
    ]

    named = re.findall(r"`((?!clueval)[a-z]+\.[a-z_]+)`", clueval.__doc__ or "")
    assert tuple(named) == HALF_HOUR_PATH
    assert len(lines) <= 2_465


BYTES = {"reading.byte_reader"}


def test_descriptions_of_formats_are_imported_by_no_other_and_not_where_bytes_are_read() -> None:
    assert not {module for module in OF_FORMATS | BYTES if imports(module) & OF_FORMATS}


def test_bytes_are_read_only_where_column_files_are_counted() -> None:
    assert {module for module in FILES.keys() - BYTES if imports(module) & BYTES} == {"reading.column_files"}


def test_few_modules_lie_directly_in_the_package() -> None:
    assert {path.stem for path in SOURCE.glob("*.py")} == AT_THE_TOP


def test_every_file_of_the_package_goes_into_the_wheel() -> None:
    """Modules do; other files are named in pyproject.toml, where no pattern matches a name that begins with a dot.

    The offline page does not: it is built from a checkout.
    """
    project = tomllib.loads((SOURCE.parent / "pyproject.toml").read_text(encoding="utf-8"))
    patterns = project["tool"]["setuptools"]["package-data"]["clueval"]
    packed = {path for pattern in patterns for path in SOURCE.glob(pattern) if path.name[0] != "."}
    there = {
        path
        for path in SOURCE.rglob("*")
        if path.is_file() and path.suffix not in (".py", ".pyc") and SOURCE / "browser" not in path.parents
    }

    assert there - packed == set()
    assert project["tool"]["setuptools"]["packages"]["find"]["exclude"] == ["clueval.browser*"]
    assert project["tool"]["setuptools"]["exclude-package-data"] == {"clueval": ["browser/**"]}
    assert SOURCE / "samples" / "formats" / "label-studio" / "tasks.json" in packed


@pytest.mark.parametrize("folder", sorted({path.parent for path in SOURCE.rglob("*.py")}), ids=str)
def test_every_package_says_what_it_is_about(folder: Path) -> None:
    source = (folder / "__init__.py").read_text(encoding="utf-8")

    assert ast.get_docstring(ast.parse(source))


def test_mutation_testing_changes_all_of_core_but_the_forms_of_its_values() -> None:
    settings = tomllib.loads((SOURCE.parent / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["mutmut"]
    changed = {SOURCE.parent / path for path in settings["only_mutate"]}
    core = set((SOURCE / "core").glob("*.py"))

    assert {path.stem for path in core - changed} == {"__init__", "dictionaries"}
    for path in (*changed, *settings["pytest_add_cli_args_test_selection"]):
        assert (SOURCE.parent / path).exists(), path


def test_equivalent_mutants_are_of_code_that_is_there() -> None:
    settings = tomllib.loads((SOURCE.parent / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["mutmut"]
    modules = [
        ast.parse((SOURCE.parent / path).read_text(encoding="utf-8")) for path in settings["only_mutate"]
    ]
    source = "\n".join(map(ast.unparse, modules))
    listed = tomllib.loads((SOURCE.parent / "tests" / "equivalent_mutants.toml").read_text(encoding="utf-8"))

    assert [mutant["before"] for mutant in listed["mutant"] if mutant["before"] not in source] == []


def test_ways_of_counting_do_not_import_each_other() -> None:
    ways = {module.removeprefix("clueval.") for module, _ in METRICS.values()} - {"core.exact", "core.levels"}

    def way_of(module: str) -> str | None:
        return next((way for way in ways if module == way or module.startswith(f"{way}.")), None)

    assert len(ways) > 5
    for module in FILES:
        if own := way_of(module):
            assert {way_of(other) for other in imports(module)} <= {own, None}, module


def test_only_the_index_imports_intervaltree() -> None:
    users = {
        module
        for module in FILES
        for node in nodes_of(module)
        if isinstance(node, ast.ImportFrom) and node.module == "intervaltree"
    }

    assert users == {"core.span"}


def test_importing_clueval_loads_nothing_that_it_does_not_need() -> None:
    code = (
        "import sys, clueval; from clueval import score, read, match_spans; import clueval.core.alignment;"
        "print(*sys.modules)"
    )
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


@pytest.mark.parametrize(("call", "most"), MOST_MODULES.items())
def test_a_fresh_call_imports_few_modules(call: str, most: int, tmp_path: Path) -> None:
    for name in ("gold", "predicted"):
        (tmp_path / f"{name}.conll").write_text("Ada\tB-PER\nmet\tO\n\n", encoding="utf-8")
    (tmp_path / "rows.jsonl").write_text('{"text": "Ada", "label": [[0, 3, "PER"]]}\n', encoding="utf-8")
    code = f"import sys, clueval; {call}; print(*sys.modules)"
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )

    loaded = ran.stdout.split()
    assert len([name for name in loaded if name.startswith("clueval")]) <= most
    assert not {"multiprocessing", "concurrent.futures", "distributed", "asyncio"} & set(loaded)


def test_no_group_of_a_pattern_is_possessive() -> None:
    """Python before 3.11.5 matches it wrongly (python/cpython#106052), but not one that is atomic: `(?>(...)*)`."""
    possessive = re.compile(r"\)(?:[*+?]|\{\d*,?\d*\})\+")
    found = {module for module, path in FILES.items() if possessive.search(path.read_text(encoding="utf-8"))}

    assert found == set()
