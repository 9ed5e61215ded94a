from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.formats import outcomes

Check = Callable[[Any], None]


@pytest.fixture(scope="session")
def record() -> Iterator[dict[str, list[Any]]]:
    """The recorded outcomes; CLUEVAL_RECORD=1 records those of the tests that run, without xdist."""
    found = outcomes.recorded()
    yield found
    if os.environ.get("CLUEVAL_RECORD"):
        outcomes.record(found)


@pytest.fixture
def is_recorded(request: pytest.FixtureRequest, record: dict[str, list[Any]], tmp_path: Path) -> Check:
    """Compare an outcome with the one that is recorded for the test, or with the next one of several."""
    name = f"{request.path.stem}::{request.node.name}"
    if os.environ.get("CLUEVAL_RECORD"):
        record[name] = []
    number = 0

    def check(found: Any) -> None:
        nonlocal number
        found = outcomes.as_json(found, str(tmp_path))
        if os.environ.get("CLUEVAL_RECORD"):
            record[name].append(found)
        assert found == record[name][number]
        number += 1

    return check
