"""Measures the web page of errors in headless Chromium: how long it takes to open and to filter, and how large it is.

Writes the page of a generated corpus with about ten thousand places, opens it several times, and sets filters. Our
aims: 7,000 places open in two seconds, a filter takes less than 100 ms. Caveat: opening ends with the event `load`,
when the list is there; Chromium's own start is not counted.

    python benchmarks/pages.py
    python benchmarks/pages.py --tokens 100000 --runs 3
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from browser import CHROMIUM, Browser
from generate import Corpus, write
from measure import environment

from clueval.cli import main as clueval

ERRORS = 0.18
"""The share of sentences with an error, so that a million tokens have about ten thousand errors."""

OPENED = "performance.getEntriesByType('navigation')[0].loadEventEnd"
FILTER = """(([name, value]) => {
  setFilters([]);
  const began = performance.now();
  setFilters([[name, value]]);
  document.body.offsetHeight;
  return performance.now() - began;
})"""


def filters(browser: Browser) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Yield the names of filters, and each with its values."""
    script = (
        "[...selects].map(([name, element]) => [name, [...element.options].map((option) => option.value)])"
    )
    for name, values in browser.run(script):
        if any(values):
            yield name, [(name, value) for value in values if value]
    yield "text", [("text", word) for word in ("a", "haus", "per 1", "nothing like this")]


def report(tokens: int, seed: int, runs: int, folder: Path) -> str:
    """Write and open the page, and return the figures in Markdown."""
    gold, predicted = write(Corpus(tokens=tokens, seed=seed, errors=ERRORS, token_ids=True), folder)
    page = folder / "page.html"
    options = ["--layer", "entity=2", "--token-id", "3", "--level", "1", "--labelled", "entity", "-q"]
    if clueval(["errors", str(gold), str(predicted), *options, "-o", str(page)]):
        raise SystemExit(2)
    browser = Browser(folder / "profile")
    opened = []
    for _ in range(runs + 1):
        browser.open(page, width=1400)
        opened.append(browser.run(OPENED))
    places = browser.run("document.getElementById('count').textContent")
    rows = [("open", f"{_spread(opened[1:])} ms"), ("size", f"{page.stat().st_size / 1e6:.1f} MB")]
    for name, values in filters(browser):
        times = [browser.run(f"{FILTER}({json.dumps(value)})") for value in values for _ in range(runs)]
        rows.append((f"filter {name}", f"{_spread(times)} ms"))
    browser.close()
    settings = f"* seed {seed}, {runs} runs, {places}; median (least-greatest)"
    cells = [f"| {what} | {cost} |" for what, cost in rows]
    head = [environment(["clueval"]), settings, ""]
    return "\n".join([*head, "| what | cost |", "| --- | ---: |", *cells])


def _spread(values: Sequence[Any]) -> str:
    ordered = sorted(values)
    return f"{ordered[len(ordered) // 2]:.0f} ({ordered[0]:.0f}-{ordered[-1]:.0f})"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and print the report."""
    parser = argparse.ArgumentParser(description="Measure the page of errors in a browser.")
    parser.add_argument("--tokens", type=int, default=1_400_000, help="size of the corpus (%(default)s)")
    parser.add_argument("--runs", type=int, default=5, help="counted runs of each step (%(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    if CHROMIUM is None:
        print("no Chromium is installed", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="clueval-benchmark-", ignore_cleanup_errors=True) as folder:
        print(report(options.tokens, options.seed, options.runs, Path(folder)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
