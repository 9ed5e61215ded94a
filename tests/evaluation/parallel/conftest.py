from __future__ import annotations

import pytest

from clueval.evaluation.parallel import workers


@pytest.fixture(autouse=True)
def _forks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes are forked, so that they have what a test replaces, even if another test has left a thread."""
    monkeypatch.setattr(workers, "start_method", lambda: "fork")
