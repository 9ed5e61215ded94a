"""Search for cases that break a property: every Hypothesis test with random seeds, and more and more examples.

``python -m tests.search 3600`` runs the properties again and again for an hour. Each round has a new seed, another
order of the tests, and twice as many examples as the round before. A property that fails is printed at once with
the seed, the smallest case, and the decorator that repeats it; later rounds leave it out. When the time is used, the
property that runs is finished.

The properties run in processes of pytest-xdist, so that a crash, or a test that never ends, is a failure like others.

The status is 1 if a property failed, and 2 if the tests could not be run.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import secrets
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).parents[1]
VARIABLE = "CLUEVAL_SEARCH"
"""The variable of the environment that has the round, for the processes of pytest."""


class Round(NamedTuple):
    """A run of all properties: its seed, how many examples each of them has, and when it ends."""

    seed: int
    examples: int
    end: float  # seconds since 1970


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.search", description="Search for cases that break a property."
    )
    parser.add_argument("seconds", nargs="?", type=float, default=600, help="how long (default: 600)")
    parser.add_argument("tests", nargs="*", help="only these tests, named as for pytest")
    parser.add_argument("-n", "--jobs", type=int, default=1, help="how many processes run tests (default: 1)")
    parser.add_argument("--seed", type=int, help="the seed of the first round (default: a random one)")
    parser.add_argument("--examples", type=int, default=10, help="examples of the first round (default: 10)")
    options = parser.parse_intermixed_args(arguments)
    start = time.time()
    end = start + options.seconds
    seed, examples = options.seed, options.examples
    failed: dict[str, Round] = {}
    status, rounds, tried = int(pytest.ExitCode.OK), 0, 0
    while status in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED) and time.time() < end:
        this = Round(secrets.randbelow(2**32) if seed is None else seed, examples, end)
        print(f"seed {this.seed}: {examples} examples of each property", flush=True)
        status, ran, broken = run(this, options.jobs, options.tests, list(failed))
        failed |= dict.fromkeys(broken, this)
        rounds, tried = rounds + 1, tried + ran * examples
        so_far = f"{time.time() - start:.0f} s since the start"
        print(f"seed {this.seed}: {ran} properties, {len(broken)} failed; {so_far}", flush=True)
        seed, examples = None, 2 * examples
    print(
        f"{time.time() - start:.0f} s, {rounds} seeds, at most {tried} examples: {len(failed)} properties failed"
    )
    for test, found in failed.items():
        print(f"  {test}: seed {found.seed}, {found.examples} examples")
    all_failed = failed and status == pytest.ExitCode.NO_TESTS_COLLECTED
    if not all_failed and status not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        print(f"the tests could not be run: pytest ended with status {status}")
        return 2
    return 1 if failed else 0


def run(this: Round, jobs: int, tests: list[str], but: list[str]) -> tuple[int, int, list[str]]:
    """Run the properties but those that failed before; the status of pytest, how many ran, and which failed."""
    ran, failed = set(), []
    with TemporaryDirectory(prefix="search-") as folder:
        command = [sys.executable, "-m", "pytest", "-c", str(ROOT / "pyproject.toml"), "--rootdir", str(ROOT)]
        command += ["-m", "hypothesis", f"--hypothesis-seed={this.seed}", f"--basetemp={folder}/tests"]
        command += ["-n", str(jobs), "--max-worker-restart=1000"]
        command += [f"--timeout={300 + 2 * this.examples}", "--timeout-method=thread"]  # it ends the process
        command += ["-p", "tests.search", "-p", "no:cacheprovider", "-qq", "--no-summary", "--tb=short"]
        command += [f"--deselect={test}" for test in but]
        with subprocess.Popen(
            command + tests,
            cwd=ROOT,
            env={**os.environ, VARIABLE: json.dumps(this)},
            stdout=subprocess.PIPE,
            encoding="utf-8",
        ) as process:
            assert process.stdout is not None
            for line in process.stdout:
                if not line.startswith("{"):  # it is not of `Search.report`
                    continue
                told = json.loads(line)
                ran.add(told["test"])
                if told["failure"] is not None and told["test"] not in failed:
                    failed.append(told["test"])
                    print(f"\nFAILED {told['test']} with seed {this.seed}, {this.examples} examples")
                    print(told["failure"], end="\n\n", flush=True)
    return process.returncode, len(ran), failed


# the plugin of pytest, in the process that distributes the tests and in those that run them


def pytest_configure(config: pytest.Config) -> None:
    this = Round(*json.loads(os.environ[VARIABLE]))
    settings.register_profile(
        "search",
        max_examples=this.examples,
        derandomize=False,
        database=None,
        deadline=None,
        print_blob=True,
        suppress_health_check=list(HealthCheck),
    )
    settings.load_profile("search")
    config.pluginmanager.register(Search(this, config))


class Search:
    """The order of the tests of a round, its end, and what is told to the process that began it."""

    def __init__(self, this: Round, config: pytest.Config) -> None:
        self.this = this
        self.config = config
        self.distributes = not hasattr(config, "workerinput")

    @pytest.hookimpl(trylast=True)  # time may not suffice for the last ones, so they are others each time
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        random.Random(self.this.seed).shuffle(items)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self) -> bool | None:
        return True if time.time() > self.this.end else None  # True: the test is passed over

    def pytest_report_teststatus(self) -> tuple[str, str, str]:
        return "", "", ""  # pytest prints nothing

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed or (report.when == "call" and report.passed):
            self.report(report)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.report(report)
            if self.distributes:
                pytest.exit("a module of tests cannot be imported", returncode=pytest.ExitCode.INTERNAL_ERROR)

    def report(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        if self.distributes:
            failure = report.longreprtext if report.failed else None
            self.config.get_terminal_writer().line(json.dumps({"test": report.nodeid, "failure": failure}))


if __name__ == "__main__":
    sys.exit(main())
