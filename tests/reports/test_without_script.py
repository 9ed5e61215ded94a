"""Pages show their numbers in a browser that runs no script, and say what needs one."""

from __future__ import annotations

from pathlib import Path

from browser import Browser, in_browser

from clueval.cli import main

pytestmark = in_browser

GERMAN = Path(__file__).parents[2] / "clueval" / "samples" / "german"
GOLD, PREDICTED = (str(GERMAN / f"{side}.vrt") for side in ("gold", "predicted"))
LOADED = "document.readyState === 'complete' && location.href.endsWith('page.html')"


def test_page_has_its_numbers_without_a_script(browser: Browser, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert main(["agree", GOLD, PREDICTED, "--layer", "entity=2", "-o", str(page)]) == 0
    browser("Emulation.setScriptExecutionDisabled", value=True)

    try:
        browser.open(page, width=390, is_ready=LOADED)
        cells = browser.run("document.querySelectorAll('#tables td').length")
        noted = browser.run("document.querySelector('noscript').innerText")
        filters = browser.run("document.getElementById('filters').offsetHeight")
        width = browser.run("document.documentElement.scrollWidth")
    finally:
        browser("Emulation.setScriptExecutionDisabled", value=False)

    assert cells > 10
    assert "The list of places needs JavaScript" in noted
    assert filters == 0
    assert width <= 390
