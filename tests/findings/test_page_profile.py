"""The profile on the page of errors: its bars are those of `clueval profile`, and a click filters the places."""

from __future__ import annotations

from pathlib import Path

import pytest
from browser import Browser, in_browser

from clueval import profile
from clueval.cli import main

SAMPLES = Path(__file__).parents[2] / "clueval" / "samples" / "german"
PATHS = [str(SAMPLES / f"{side}.vrt") for side in ("gold", "predicted")]
ARGUMENTS = [
    "errors",
    *PATHS,
    *["--layer", "entity=2", "--token-id", "4", "--level", "1", "--labelled", "entity"],
]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "e.html"
    assert main([*ARGUMENTS, "--html", str(path), "--profile", "length,label"]) == 0
    return path


def test_page_has_bars_only_if_they_are_asked_for(page: Path, tmp_path: Path) -> None:
    assert main([*ARGUMENTS, "--html", str(tmp_path / "plain.html")]) == 0

    assert "data-bucket" in page.read_text(encoding="utf-8")
    assert "data-bucket" not in (tmp_path / "plain.html").read_text(encoding="utf-8")
    assert main([*ARGUMENTS, "--profile", "length"]) == 2


@in_browser
def test_a_click_on_a_bucket_shows_its_errors(browser: Browser, page: Path) -> None:
    browser.open(page)
    assert browser.complaints == []
    rows = profile(*PATHS, layers={"entity": 2}, token_id=4, feature="length,label").rows()
    for number in (0, len(rows) - 1):
        row = rows[number]
        browser.run(f"document.querySelectorAll('button[data-bucket]')[{number}].click()")

        wrong = row["fn"] + row["fp"]
        assert f"{wrong} error" in browser.run("document.getElementById('count').textContent")
    browser.run(f"document.querySelectorAll('button[data-bucket]')[{len(rows) - 1}].click()")
    assert f"{sum(row['fn'] + row['fp'] for row in rows) // 2} error" in browser.run(
        "document.getElementById('count').textContent"
    )
