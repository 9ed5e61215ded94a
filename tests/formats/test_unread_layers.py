"""Layers that are not read without ``--layer`` are named, with the number of their spans."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from clueval import Document, Span, convert, score
from clueval.cli import main

TWO = [
    Document(
        "1",
        {"label": [Span(0, 3, "PER")], "risk": [Span(0, 3, "high"), Span(4, 11, "low")]},
        text="Ada met Bob",
        unit="character",
    )
]


def written(name: str, folder: Path) -> str:
    """A file with two layers, of which one is read by default."""
    ending = {"docbin": "spacy", "spacy-json": "jsonl", "webanno": "tsv", "uima-json": "json"}.get(name, name)
    if name == "xmi":  # its type system lies in the same folder
        convert(TWO, name, f"{folder}/out/")
        return f"{folder}/out/1.xmi"
    convert(TWO, name, f"{folder}/1.{ending}")
    return f"{folder}/1.{ending}"


UNREAD = {
    "spacy-json": "spans.risk",
    "docbin": "spans.risk",
    "webanno": "risk",
    "xmi": "risk",
    "uima-json": "risk",
}


@pytest.mark.parametrize("name", UNREAD)
def test_layers_that_are_not_read_by_default_are_named_and_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    path, kind = written(name, tmp_path), f"spans of {UNREAD[name]}"

    assert score(path, path).passed_over == {"gold": {kind: 2}, "predicted": {kind: 2}}
    for command in (["score", path, path], ["convert", path, "--to", "spans"]):
        assert main(command) == 0
        assert f"2 {kind}" in capsys.readouterr().err
    assert main(["check", path]) == 0
    assert f"2 {kind}" in capsys.readouterr().out

    layer = {"webanno": "risk.value", "xmi": "risk.value", "uima-json": "risk.value"}.get(name, UNREAD[name])
    assert main(["score", path, path, "--layer", f"risk={layer}"]) == 0
    assert "passed over" not in capsys.readouterr().err


@pytest.mark.parametrize("groups", [None, [], {"sc": None}, {"sc": 3}, {"sc": []}])
def test_groups_of_spacy_that_hold_nothing_are_not_named(tmp_path: Path, groups: Any) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"text": "Ada", "ents": [], "spans": groups}), encoding="utf-8")

    assert score(path, path).passed_over == {"gold": {}, "predicted": {}}
