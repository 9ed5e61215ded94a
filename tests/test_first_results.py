"""What a newcomer would write on a result, each with what it gives, or the message that says how."""

from __future__ import annotations

import copy
import csv
import io
import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from clueval import CluevalError, Document, Result, Signature, Span, conventions, score

SAMPLES = Path(__file__).parent / "samples" / "german"
PATHS = [str(SAMPLES / f"{side}.vrt") for side in ("gold", "predicted")]

Snippet = Callable[[Result], Any]


def of(gold: str, predicted: str, **options: Any) -> Result:
    """The result of one document; each character is the label of a span of one position."""
    sides = [
        Document("d", {"label": [Span(n, n + 1, label) for n, label in enumerate(labels)]})
        for labels in (gold, predicted)
    ]
    return score([sides[0]], [sides[1]], **options)


ONE = of("AAB", "AAC", metrics="exact")
"""Two of three spans are right: precision, recall and F1 are two thirds."""

TWO_THIRDS = pytest.approx(2 / 3)

WORKS: dict[str, tuple[Snippet, Any]] = {
    "result.f1": (lambda result: result.f1, TWO_THIRDS),
    "result.precision": (lambda result: result.precision, TWO_THIRDS),
    "result.recall": (lambda result: result.recall, TWO_THIRDS),
    "f'{result.f1:.2%}'": (lambda result: f"{result.f1:.2%}", "66.67%"),
    "result.get('exact.label.micro.f1')": (lambda result: result.get("exact.label.micro.f1"), TWO_THIRDS),
    "result.get('micro.f1')": (lambda result: result.get("micro.f1"), TWO_THIRDS),
    "result.get('per_label.A.f1')": (lambda result: result.get("per_label.A.f1"), 1.0),
    "result.metrics['exact']['label']": (lambda result: result.metrics["exact"]["label"]["micro"]["gold"], 3),
    "result.rows()[0]['f1']": (lambda result: result.rows()[0]["f1"], TWO_THIRDS),
    "f1 by label": (
        lambda result: {row["label"]: row["f1"] for row in result.rows() if row["label"]},
        {"A": 1.0, "B": 0.0, "C": 0.0},
    ),
    "result.rows(long=True)": (
        lambda result: {row["path"]: row["number"] for row in result.rows(long=True)}["micro.tp_gold"],
        2,
    ),
    "json.dumps(result.to_dict())": (lambda result: json.loads(json.dumps(result.to_dict()))["schema"], 1),
    "json.loads(result.to_json())": (lambda result: json.loads(result.to_json()) == result.to_dict(), True),
    "csv.DictReader": (
        lambda result: next(csv.DictReader(io.StringIO(result.render("csv"))))["average"],
        "micro",
    ),
    "tsv": (lambda result: result.render("tsv").split("\n")[1].split("\t")[0], "exact"),
    "markdown": (lambda result: "| exact, label: micro | 66.67 |" in result.render("markdown"), True),
    "latex": (lambda result: result.render("latex").count(r"\toprule"), 2),
    "print(result)": (lambda result: "exact, label: micro      66.67   66.67  66.67" in str(result), True),
    "result": (repr, "<Result of 1 document: exact; print(result) shows the tables>"),
    "the notebook": (lambda result: result._repr_html_().count("<table>"), 2),
    "a + b": (lambda result: (result + result).get("micro.gold"), 6),
    "sum(results)": (lambda result: sum([result, result, result]).get("micro.gold"), 9),
    "str(result.signature)": (lambda result: str(result.signature).startswith("metrics:exact|"), True),
    "result.signature.short": (lambda result: result.signature.short.startswith("m:exact|"), True),
    "Signature.parse": (lambda result: Signature.parse(str(result.signature)) == result.signature, True),
    "result.cite('micro.f1')": (lambda result: result.cite("micro.f1").number, TWO_THIRDS),
    "result == result": (lambda result: result == copy.deepcopy(result), True),
    "pickle": (lambda result: pickle.loads(pickle.dumps(result)) == result, True),
    "result.documents": (
        lambda result: (result.documents, result.inputs["gold"]["layers"]["label"]["spans"]),
        (1, 3),
    ),
}

SAYS_HOW: dict[str, tuple[Snippet, str]] = {
    "result.get('micro')": (lambda result: result.get("micro"), "did you mean exact.label.micro"),
    "result.get('exact.label.micro.F1')": (
        lambda result: result.get("exact.label.micro.F1"),
        "did you mean exact.label.micro.f1",
    ),
    "result.get('exact.entity.micro.f1')": (
        lambda result: result.get("exact.entity.micro.f1"),
        "did you mean exact.label.micro.f1",
    ),
    "result.render('html')": (
        lambda result: result.render("html"),
        "one of text, json, csv, tsv, markdown, latex",
    ),
    "adding other metrics": (lambda result: result + of("A", "A", metrics="levels"), "metrics is"),
    "f1 of two metrics": (
        lambda result: of("A", "A", metrics="exact,fair").f1,
        "use get with one of exact.label.micro.f1, fair.label.overall.fair.f1",
    ),
    "f1 of two layers": (
        lambda result: score(*PATHS, layers={"entity": 2, "risk": 3}).f1,
        "use get with one of levels.entity.labelled.entity.1.micro.f1, levels.risk",
    ),
    "f1 of a confusion": (lambda result: of("A", "A", metrics="confusion").f1, "use get with the path"),
    "Signature.parse of a score": (
        lambda result: Signature.parse("F1 81.60"),
        "is not a part of a signature",
    ),
}


@pytest.mark.parametrize("snippet", WORKS)
def test_the_first_guess_gives(snippet: str) -> None:
    run, expected = WORKS[snippet]

    assert run(ONE) == expected


@pytest.mark.parametrize("snippet", SAYS_HOW)
def test_the_first_guess_fails_with_a_message_that_says_how(snippet: str) -> None:
    run, message = SAYS_HOW[snippet]

    with pytest.raises(CluevalError) as caught:
        run(ONE)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_same_number_on_the_command_line_and_in_python(capsys: pytest.CaptureFixture[str]) -> None:
    from clueval.cli import main

    command = ["score", *PATHS, "--layer", "entity=2"]
    result = score(*PATHS, layers={"entity": 2})

    assert main([*command, "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == result.to_dict()
    assert main([*command, "--format", "csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["f1"] for row in rows] == [str(row["f1"]) for row in result.rows()]


def test_conventions_tell_why_two_numbers_differ() -> None:
    rows = conventions(*PATHS, layers={"entity": 2}).to_dict()["conventions"]["entity"]

    assert rows["seqeval_strict"]["differs"] == "-0.26 points of F1: invalid tags in predicted are dropped"
    assert rows["levels_4_labelled"]["differs"].startswith("+7.54 points of F1: ")
