"""The client that type checkers read runs, too."""

from __future__ import annotations

import pytest
from client import main


def test_the_client_prints_its_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    main()

    assert capsys.readouterr().out.startswith("[1.0, 1.0, 1.0, 1.0")
