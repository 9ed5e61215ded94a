"""Decisions about errors: which places they are about, and what curating keeps of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from clueval import CluevalWarning, Document, Span, curate, errors
from clueval.cli import main

Spans = list[tuple[int, int, str]]

TOKENS = [f"w{n}" for n in range(20)]


def document(*spans: tuple[int, int, str]) -> Document:
    return Document("d", {"label": [Span(*span) for span in spans]}, tokens=TOKENS)


GOLD = document((0, 2, "PER"), (5, 6, "LOC"), (8, 9, "ORG"), (12, 13, "PER"))
PREDICTED = document((0, 3, "PER"), (5, 6, "ORG"), (10, 11, "LOC"), (12, 13, "PER"))


def decided(gold: Document, predicted: Document, *choices: str) -> list[dict[str, Any]]:
    """The lines of a file with these choices for the places of two documents."""
    said = {"reviewer": "Ada", "comment": "=1"}
    places = zip(errors([gold], [predicted]), choices, strict=False)
    return [{**place.key, "choice": choice, **said} for place, choice in places]


def in_layers(**layers: Spans) -> Document:
    spans = {name: [Span(*span) for span in given] for name, given in layers.items()}
    return Document("d", spans, tokens=TOKENS)


NESTED = (
    in_layers(label=[(0, 5, "ORG"), (3, 5, "LOC"), (8, 9, "PER")]),
    in_layers(label=[(0, 5, "ORG"), (4, 5, "LOC"), (8, 10, "PER")]),
)
"""At the first place, only the inner spans differ, so ORG of gold is not part of it."""

IN_LAYERS = (
    in_layers(label=[(0, 2, "PER")], risk=[(1, 3, "high")]),
    in_layers(label=[(0, 3, "PER")], risk=[(1, 3, "low")]),
)
"""One place of two layers."""


@pytest.mark.parametrize(
    ("sides", "choices", "expected"),
    [
        (NESTED, ["predicted"], {"label": [(0, 5, "ORG"), (4, 5, "LOC"), (8, 9, "PER")]}),
        (NESTED, ["gold", "predicted"], {"label": [(0, 5, "ORG"), (3, 5, "LOC"), (8, 10, "PER")]}),
        (NESTED, ["both"], {"label": [(0, 5, "ORG"), (3, 5, "LOC"), (4, 5, "LOC"), (8, 9, "PER")]}),
        (NESTED, ["none", "unclear"], {"label": [(0, 5, "ORG"), (8, 9, "PER")]}),
        (IN_LAYERS, ["predicted"], {"label": [(0, 3, "PER")], "risk": [(1, 3, "low")]}),
        (IN_LAYERS, ["gold"], {"label": [(0, 2, "PER")], "risk": [(1, 3, "high")]}),
        (IN_LAYERS, ["none"], {"label": [], "risk": []}),
        (IN_LAYERS, [""], {"label": [(0, 2, "PER")], "risk": [(1, 3, "high")]}),
    ],
)
def test_curate_keeps_what_was_decided_about_errors_and_gold_elsewhere(
    tmp_path: Path, sides: tuple[Document, Document], choices: list[str], expected: dict[str, Spans]
) -> None:
    (tmp_path / "d.json").write_text(json.dumps(decided(*sides, *choices)))
    for names in (("gold", "predicted"), ("predicted", "gold")):
        given = {name: [sides[name == "predicted"]] for name in names}
        (curated,) = curate(given, decisions=tmp_path / "d.json")

        layers = curated.document.layers
        assert {
            name: [(span.start, span.end, span.label) for span in layers[name]] for name in expected
        } == expected


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "4 used, 0 stale, 1 lost, 0 in conflict"),
        ({"sides": "gold"}, "3 used, 0 stale, 1 lost, 0 in conflict, 1 not listed"),
        ({"reasons": "spurious"}, "1 used, 0 stale, 1 lost, 0 in conflict, 3 not listed"),
        ({"kinds": "partial", "sides": "gold"}, "0 used, 0 stale, 1 lost, 0 in conflict, 4 not listed"),
        ({"where": "label=LOC"}, "2 used, 0 stale, 0 lost, 0 in conflict, 3 not listed"),
    ],
)
def test_decisions_about_places_that_filters_leave_out_are_not_lost(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: dict[str, Any], words: str
) -> None:
    for name, side in (("gold", GOLD), ("predicted", PREDICTED)):
        tags = ["O"] * len(TOKENS)
        for span in side.layers["label"]:
            for n in range(span.start, span.end):
                tags[n] = f"{'I' if n > span.start else 'B'}-{span.label}"
        lines_of = map("\t".join, zip(TOKENS, tags, strict=True))
        (tmp_path / f"{name}.conll").write_text("\n".join(lines_of) + "\n")
    paths = [str(tmp_path / f"{name}.conll") for name in ("gold", "predicted")]
    lines = [{**line, "document": "1"} for line in decided(GOLD, PREDICTED, *["gold"] * 4)]
    table = tmp_path / "d.json"
    table.write_text(json.dumps([*lines, lines[0] | {"document": "other"}]))
    flags = {"sides": "--side", "reasons": "--reason", "kinds": "--class", "where": "--where"}
    arguments = [part for name, value in options.items() for part in (flags[name], value)]

    assert main(["errors", *paths, "--decisions", str(table), *arguments]) == 0
    assert f"decisions: {words}\n" in capsys.readouterr().out
    found = errors(*paths, decisions=table, **options)
    if "0 stale, 0 lost" in words:
        listed = list(found)
    else:
        with pytest.warns(CluevalWarning, match=f"decisions: {words}"):
            listed = list(found)
    plain = list(errors(*paths, **options))
    assert [place._replace(decision={}) for place in listed] == plain
