from __future__ import annotations

import contextlib
import gc
import importlib
import os
import re
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, Phase, settings

if TYPE_CHECKING:
    from browser import Browser

collect_ignore = (
    [
        "test_faults.py",
        "test_fuzz.py",
        "test_hostile.py",
        "test_hostile_text.py",
        "test_writing.py",
        "cli/test_cli.py",
        "cli/test_completion.py",
        "cli/test_overwriting.py",
    ]
    if sys.platform == "win32"
    else []
)
"""Modules of tests that use signals, limits of processes, devices, shells or links as Windows does not have them."""

SHARED = Path(__file__).parents[2] / "shared"
IN_CI = bool(os.environ.get("CI"))

# the quick tests look at few examples; "full" is for the long run, which has --hypothesis-profile=full;
# both look at the same examples in every run, while `python -m tests.search` looks for others;
# no test fails because the machine is busy, and files in the folder of a test may be written again
untimed = settings(
    deadline=None,
    derandomize=True,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.register_profile("quick", untimed, max_examples=5)
settings.register_profile("full", untimed, max_examples=100)
settings.register_profile(
    "mutants",
    deadline=None,
    derandomize=True,
    max_examples=50,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
settings.load_profile("quick")


def pytest_sessionstart() -> None:
    """The same examples, whatever was imported before.

    Hypothesis draws some values from the constants of the modules that are imported at the time. These depend on the
    tests that ran before, in this worker of xdist, and on the folder of the checkout: one named "tests" has none.
    """
    if settings().derandomize:
        with contextlib.suppress(ImportError):  # an older Hypothesis, which takes no constants
            from hypothesis.internal.conjecture import providers

            providers._get_local_constants = lambda: providers._local_constants  # what is empty at the start


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    from browser import Browser

    opened = Browser(tmp_path_factory.mktemp("profile"))
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The script of axe-core."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed")
    folder = tmp_path_factory.mktemp("axe")
    command = [npm, "install", "--prefix", str(folder), "--no-audit", "--no-fund", "axe-core@4.14.1"]
    try:
        subprocess.run(command, check=True, capture_output=True, timeout=120)
    except (subprocess.SubprocessError, OSError) as error:
        pytest.skip(f"npm cannot fetch axe-core: {error}")
    return (folder / "node_modules" / "axe-core" / "axe.min.js").read_text(encoding="utf-8")


SMALL_LIMITS = {
    "MAX_PAIRS": 300,
    "PAIRS_OF_SPAN": 8,
    "MAX_MENTIONED": 4_000,
    "MAX_MATCHING": 2_000,
    "MAX_COVERED": 4_000,  # error tables of 400 spans a side that do not overlap show 3,600 positions
    "MAX_SEARCHED": 300_000,
    "MAX_COMPARED": 20_000,
}


@pytest.fixture
def small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the limits small on what spans of a document may cost, and the texts around them short."""
    from clueval.core import bag, document, one_to_one, span
    from clueval.metrics.masking import exposure
    from clueval.studies.errors.rows import REACH
    from clueval.transforms import occurrences

    for name, value in SMALL_LIMITS.items():
        modules = [
            module for module in (document, span, one_to_one, occurrences, exposure) if hasattr(module, name)
        ]
        assert modules, name
        for module in modules:
            monkeypatch.setattr(module, name, value)
    monkeypatch.setattr(bag, "LARGE", 10)
    for unit in REACH:
        monkeypatch.setitem(REACH, unit, 10)


def pytest_configure(config: pytest.Config) -> None:
    """Prepare for what surrounds the tests: a shell that ignores Ctrl-C for what it runs in the background, and xdist.

    A worker of xdist has a thread that waits for work; clueval forks nevertheless, and Python 3.12 warns of it.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if "PYTEST_XDIST_WORKER" in os.environ:
        config.addinivalue_line(
            "filterwarnings", "ignore:This process .* is multi-threaded:DeprecationWarning"
        )


def pytest_collection(session: pytest.Session) -> None:
    """Each worker of xdist imports another share of the tests first, and leaves it as bytecode to the others.

    All of them import all tests, and most of the time goes to the assertions, which pytest rewrites. Bytecode is
    written even where PYTHONDONTWRITEBYTECODE is set.
    """
    name = os.environ.get("PYTEST_XDIST_WORKER", "")
    if not name.removeprefix("gw").isdecimal() or session.config.args != session.config.getini("testpaths"):
        return
    sys.dont_write_bytecode = False
    files = sorted(Path(__file__).parent.rglob("test_*.py"))
    first = len(files) * int(name.removeprefix("gw")) // int(os.environ["PYTEST_XDIST_WORKER_COUNT"])
    for file in files[first:]:
        if str(file.parent) not in sys.path:
            sys.path.insert(0, str(file.parent))
        with contextlib.suppress(Exception, pytest.skip.Exception):  # it is raised again by the collection
            importlib.import_module(file.stem)


@pytest.hookimpl(tryfirst=True)  # before the marks are looked at that the command line asks for
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests in a browser are long ones, and so are the cases that `few` leaves out of the quick tests.

    Each parameter has all of its values among the others if their number has no factor in common with that of `few`.
    """
    cases: Counter[str] = Counter()
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.long)
        if few := item.get_closest_marker("few"):
            test = item.nodeid.partition("[")[0]
            if cases[test] % few.args[0]:
                item.add_marker(pytest.mark.long)
            cases[test] += 1


def pytest_collection_finish() -> None:
    """What was imported stays to the end: the collector of cycles need not look through it again and again."""
    gc.collect()
    gc.freeze()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, exitstatus: int) -> None:
    """In CI a skipped test is a failure, save where the published data, bconv, pyodide or pyspark is missing.

    bconv needs an lxml older than that of dkpro-cassis, so its tests run in an environment of their own. The status
    is not that of failed tests, which `.ci/run` runs once more.
    """
    skipped = terminalreporter.stats.get("skipped", [])
    missing = [
        report
        for report in skipped
        if sys.platform == "linux"  # tests of what other systems lack are skipped there
        and not re.search("bconv|CLUEVAL_PYODIDE|pyspark", str(report.longrepr))
        and (SHARED.is_dir() or "published" not in str(report.longrepr))
    ]
    if IN_CI and missing:
        terminalreporter.section("skipped tests are failures in CI")
        for report in missing:
            terminalreporter.line(f"{report.nodeid}: {report.longrepr}")
        terminalreporter._session.exitstatus = pytest.ExitCode.INTERRUPTED  # type: ignore[attr-defined]  # no public way
