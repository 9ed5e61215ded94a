"""What every command shows first of the German sample fits 40 lines, also in narrow terminals."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

import clueval
from clueval.cli import main
from clueval.reports.report import Report

GERMAN = Path(clueval.__file__).parent / "samples" / "german"
GOLD, PREDICTED = GERMAN / "gold.vrt", GERMAN / "predicted.vrt"
LAYERS = {"entity": 2, "risk": 3}
COMMANDS: dict[str, Callable[[], Report]] = {
    "score": lambda: clueval.score(GOLD, PREDICTED, layers=LAYERS),
    "conventions": lambda: clueval.conventions(GOLD, PREDICTED, layers=LAYERS),
    "compare": lambda: clueval.compare(GOLD, a=PREDICTED, b=GOLD, layers=LAYERS, all_pairs=True),
    "errors": lambda: clueval.errors(GOLD, PREDICTED, layers=LAYERS),
    "diff": lambda: clueval.diff(GOLD, PREDICTED, GOLD, layers=LAYERS),
    "profile": lambda: clueval.profile(GOLD, PREDICTED, layers=LAYERS),
    "agree": lambda: clueval.agree({"anna": GOLD, "bob": PREDICTED}, layers=LAYERS),
    "masking": lambda: clueval.masking(GOLD, PREDICTED, layers=LAYERS),
}


@cache
def report_of(command: str) -> Report:
    return COMMANDS[command]()


@pytest.mark.parametrize("command", COMMANDS)
def test_a_first_screen_has_at_most_forty_lines(command: str) -> None:
    for width in (None, 80, 60):
        lines = report_of(command).render(width=width).split("\n")
        assert len(lines) <= 40, width


@pytest.mark.parametrize("width", [80, 60])
def test_tables_and_sentences_fit_the_terminal(width: int) -> None:
    for command in ("score", "conventions", "compare", "profile", "agree"):
        *lines, signature = report_of(command).render(width=width).split("\n")
        assert signature.startswith("signature: ")
        titles = [line for line, below in zip(lines, [*lines[2:], "", ""], strict=True) if "---" in below]
        assert max(len(line) for line in lines if line not in titles) <= width, command


def test_places_fit_the_terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "60")

    assert main(["agree", f"anna={GOLD}", f"bob={PREDICTED}", "--layer", "entity=2", "--disagreements"]) == 0
    assert max(map(len, capsys.readouterr().out.split("\n"))) <= 60


def test_the_number_comes_first() -> None:
    second = {command: report_of(command).render().split("\n")[:2] for command in COMMANDS}

    assert (
        second["score"][0]
        == "F1 81.60 % (layer entity), 81.61 % (layer risk): start, end and label are right"
    )
    assert "mean F1 of pairs 81.60, alpha 0.935" in second["agree"][1]
    assert second["masking"][1] == "17 leaks in 5 of 5 documents: do not publish yet"
    assert second["errors"][1].startswith("entity: F1 81.60: of 83 errors 54 are boundaries")
