"""Pages of every kind open without complaints and do not scroll sideways, and axe-core, the checker of accessibility,
finds nothing where a place is chosen and all tables are open: light and dark, on a phone and on a desktop.

axe-core is npm's package. Where npm cannot fetch it the tests are skipped, and in CI a skipped test is a failure.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from browser import FOUND_BY_AXE, Browser, in_browser

from clueval.cli import main

pytestmark = [in_browser, pytest.mark.long]

GERMAN = Path(__file__).parents[2] / "clueval" / "samples" / "german"
GOLD, PREDICTED = (str(GERMAN / f"{side}.vrt") for side in ("gold", "predicted"))
LAYERS = ["--layer", "entity=2", "--layer", "risk=3", "--token-id", "4"]


def pages_of(*arguments: str) -> Callable[[Path], list[Path]]:
    """Return a function that runs a command with -o and returns the page in English and in German."""

    def write(folder: Path) -> list[Path]:
        paths = {"en": folder / "page.html", "de": folder / "page-de.html"}
        for language, path in paths.items():
            assert main([*arguments, "-o", str(path), "--lang", language]) == 0
        return [*paths.values()]

    return write


def other_annotator(folder: Path) -> str:
    """A third file: gold in the first half, else predicted."""
    halves = zip(
        *(Path(side).read_text(encoding="utf-8").split("</s>") for side in (GOLD, PREDICTED)), strict=True
    )
    path = folder / "third.vrt"
    path.write_text("</s>".join(pair[n % 2] for n, pair in enumerate(halves)), encoding="utf-8")
    return str(path)


def pages_of_three(command: str) -> Callable[[Path], list[Path]]:
    return lambda folder: pages_of(command, GOLD, PREDICTED, other_annotator(folder), *LAYERS)(folder)


def comparison(folder: Path) -> list[Path]:
    saved = []
    for name, path in (("a", PREDICTED), ("b", other_annotator(folder))):
        saved.append(str(folder / f"{name}.clueval"))
        assert main(["score", GOLD, path, *LAYERS, "--save", saved[-1]]) == 0
    return pages_of("compare", *saved)(folder)


PAGES: dict[str, Callable[[Path], list[Path]]] = {
    "errors": pages_of("errors", GOLD, PREDICTED, *LAYERS),
    "two systems": pages_of_three("errors"),
    "changes": pages_of_three("diff"),
    "noisy": pages_of("errors", GOLD, PREDICTED, "--layer", "entity=2", "--metric", "noisy"),
    "profile": pages_of("profile", GOLD, PREDICTED, *LAYERS),
    "conventions": pages_of("conventions", GOLD, PREDICTED, *LAYERS),
    "gate": pages_of("score", GOLD, PREDICTED, "--layer", "entity=2", "--metric", "gate"),
    "masking": pages_of("masking", GOLD, PREDICTED, *LAYERS),
    "agreement": pages_of_three("agree"),
    "comparison": comparison,
    "scores": pages_of("score", GOLD, PREDICTED, *LAYERS, "--by", "domain"),
}


@pytest.mark.parametrize("name", PAGES)
def test_page_of_every_kind_is_accessible_in_light_and_dark_on_a_phone_and_on_a_desktop(
    browser: Browser, axe: str, name: str, tmp_path: Path
) -> None:
    for page in PAGES[name](tmp_path):
        for width in (390, 1400):
            for dark in (width == 390,) if page.stem.endswith("-de") else (False, True):
                browser.open(page, width=width, dark=dark)
                browser.run("if (places.length) choose(places[0], choices[0]?.[0] ?? ''), bring(places[0])")
                browser.run("document.querySelectorAll('details').forEach((part) => { part.open = true; })")
                ground = browser.run("getComputedStyle(document.body).backgroundColor")
                assert ground == ("rgb(22, 24, 27)" if dark else "rgb(251, 250, 248)")
                assert (browser.complaints, browser.requests) == ([], [page.as_uri()])
                assert browser.run("document.documentElement.scrollWidth") <= width
                browser.run(f"{axe}; undefined")

                assert (page.name, width, dark, browser.run(FOUND_BY_AXE)) == (page.name, width, dark, [])
