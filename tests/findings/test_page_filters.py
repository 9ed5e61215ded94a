"""Any filters of the page of errors count the places and errors that Python counts, and the page says both numbers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from browser import Browser, in_browser
from hypothesis import example, given
from hypothesis import strategies as st

pytest.importorskip("jinja2")

from clueval.cli import main
from clueval.findings.choice import Choice
from clueval.findings.places import ErrorPlace, places
from clueval.findings.stream import errors
from clueval.findings.table import Finding

pytestmark = in_browser

SAMPLE = Path(__file__).parents[2] / "clueval" / "samples" / "german"
SIDES = [str(SAMPLE / f"{side}.vrt") for side in ("gold", "predicted")]
LAYERS = {"entity": 2, "risk": 3}
LABELLED = (None, "entity")
PLACES = {by: list(places(errors(*SIDES, Choice(1, by), layers=LAYERS))) for by in LABELLED}
FINDINGS = [finding for found in PLACES.values() for place in found for finding in place.findings]
METADATA = sorted({key for finding in FINDINGS for key in finding.metadata} - {"id"})


def values(key: str, finding: Finding) -> list[str]:
    """The values of a filter that fit an error."""
    if key in METADATA:
        return [finding.metadata[key]] if key in finding.metadata else []
    labelled = {layer: label for layer, label in finding.labels.items() if label is not None}
    if key == "label":
        return [json.dumps([layer, label], separators=(",", ":")) for layer, label in labelled.items()]
    if key == "found":
        if finding.kind == "exact":  # level 1; the matrix has all others in the column "no match"
            found = {layer: finding.found.get(layer) or "\0none" for layer in labelled}
        else:
            found = dict.fromkeys(labelled, "\0above")
        return [json.dumps([layer, label], separators=(",", ":")) for layer, label in found.items()]
    of = {"document": finding.document, "side": finding.side, "class": finding.kind}
    of |= {"reason": finding.reason, "layer": finding.sequence}
    return [str(of[key])]


def text_of(place: ErrorPlace) -> str:
    """What the filter for text searches, if the words are those of a single span, label or id."""
    shown = [text for each in place.findings for text in (each.context.text, each.text, *each.other_texts)]
    ids = [
        each
        for f in place.findings
        for each in (f.document, *f.sentences, f.first_token_id, f.last_token_id, *f.metadata.values())
        if each is not None
    ]
    labels = [
        label
        for f in place.findings
        for by_layer in (f.labels, *f.other_labels)
        for label in by_layer.values()
        if label is not None
    ]
    return "\n".join([*shown, *ids, *labels]).lower()


KEYS = ("document", "side", "class", "reason", "layer", "label", "found", *METADATA)
WORDS = sorted({word for finding in FINDINGS for word in finding.text.lower().split()})
filters = st.fixed_dictionaries(
    {},
    optional={
        key: st.sampled_from(sorted({value for finding in FINDINGS for value in values(key, finding)}))
        for key in KEYS
    },
)
words = st.lists(st.sampled_from([*WORDS, "person", "a001", "xyz"]), max_size=2)


@pytest.fixture(scope="module", params=LABELLED, ids=str)
def opened(
    request: pytest.FixtureRequest, browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Browser, str | None]:
    path = tmp_path_factory.mktemp("page") / "page.html"
    options = [f"--layer={name}={column}" for name, column in LAYERS.items()]
    options += [f"--labelled={request.param}"] if request.param else []
    assert main(["errors", *SIDES, *options, "--level", "1", "--html", str(path), "-q"]) == 0
    browser.open(path)
    return browser, request.param


SET = """((filters, text) => {
  document.getElementById("reset").click();
  for (const label of document.querySelectorAll("#select-row label")) {
    const select = label.querySelector("select");
    const key = select.id.startsWith("f-meta-") ? label.firstChild.data : select.id.slice(2);
    if (!(key in filters)) continue;
    select.value = filters[key];
    if (select.value !== filters[key]) {  // no error of this page has the value
      select.append(new Option("none", filters[key]));
      select.value = filters[key];
    }
  }
  document.getElementById("f-text").value = text;
  document.querySelector("#select-row select").dispatchEvent(new Event("change"));
  return document.getElementById("count").textContent;
})"""


def many(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


@example({"found": json.dumps(["entity", "\0above"], separators=(",", ":"))}, [])
@given(filters, words)
def test_page_counts_what_python_counts_for_any_filters(
    opened: tuple[Browser, str | None], chosen: Mapping[str, str], text: list[str]
) -> None:
    browser, by = opened
    fitting = [
        sum(all(value in values(key, each) for key, value in chosen.items()) for each in place.findings)
        for place in PLACES[by]
        if all(word in text_of(place) for word in text)
    ]
    number, found = sum(fitting), sum(map(bool, fitting))

    said = browser.run(f"{SET}({json.dumps(chosen)}, {json.dumps(' '.join(text))})")

    assert said.startswith(f"{many(found, 'place')}, {many(number, 'error')}")
