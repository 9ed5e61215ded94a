from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings

SHARED = Path(__file__).parents[2] / "shared"
IN_CI = bool(os.environ.get("CI"))

settings.register_profile("local", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, max_examples=200, print_blob=True)
settings.register_profile(
    "mutants",
    deadline=None,
    derandomize=True,
    max_examples=50,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
settings.load_profile("ci" if IN_CI else "local")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, exitstatus: int) -> None:
    """In CI a skipped test is a failure, save where the published data is not on the machine."""
    skipped = terminalreporter.stats.get("skipped", [])
    missing = [report for report in skipped if SHARED.is_dir() or "published" not in str(report.longrepr)]
    if IN_CI and missing:
        terminalreporter.section("skipped tests are failures in CI")
        for report in missing:
            terminalreporter.line(f"{report.nodeid}: {report.longrepr}")
        terminalreporter._session.exitstatus = pytest.ExitCode.TESTS_FAILED  # type: ignore[attr-defined]  # no public way
