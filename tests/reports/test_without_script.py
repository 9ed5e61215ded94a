"""Pages with a list show its first cards in a browser that runs no script."""

from __future__ import annotations

from pathlib import Path

import pytest
from browser import Browser, in_browser

pytest.importorskip("jinja2")

from clueval.cli import main

pytestmark = in_browser

GERMAN = Path(__file__).parents[2] / "clueval" / "samples" / "german"
GOLD, PREDICTED = (str(GERMAN / f"{side}.vrt") for side in ("gold", "predicted"))
LOADED = "document.readyState === 'complete' && location.href.endsWith('page.html')"
SHOWN = "[...document.querySelectorAll('.card')].map((card) => card.textContent.replace(/\\s+/g, ' ').trim())"


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (["agree"], "boundary (start) a001 21–23"),
    ],
    ids=["agreement"],
)
def test_first_cards_are_there_without_a_script(
    browser: Browser, command: list[str], words: str, tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    assert main([command[0], GOLD, PREDICTED, *command[1:], "--layer", "entity=2", "--html", str(page)]) == 0
    browser("Emulation.setScriptExecutionDisabled", value=True)

    try:
        browser.open(
            page,
            width=390,
            is_ready=LOADED,
        )
        cards = browser.run(SHOWN)
        noted = browser.run("document.querySelector('noscript').innerText")
        filters = browser.run("document.getElementById('filters').offsetHeight")
        width = browser.run("document.documentElement.scrollWidth")
    finally:
        browser("Emulation.setScriptExecutionDisabled", value=False)

    assert any(words in card for card in cards)
    assert "need JavaScript" in noted
    assert filters == 0
    assert width <= 390
