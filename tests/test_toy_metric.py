"""A metric is one file: one that is written here goes through everything that the metrics of the package do."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest
from corpora import vrt, write

from clueval import read, score
from clueval.cli import main
from clueval.core.case import Case
from clueval.core.metric import Counts, Metric, Tally
from clueval.files.errors import UsageError
from clueval.metrics import METRICS


@dataclass(frozen=True, slots=True)
class Lengths(Metric):
    """Counts the spans of at least `least` positions; they are found if the other side has one in the case."""

    name: ClassVar[str] = "lengths"
    zero: ClassVar[str] = "one"

    least: int = 1
    label: str | None = None

    def count(self, case: Case) -> Tally:
        tally: Tally = Tally()
        long = [[span for span in side if len(span) >= self.least] for side in (case.gold, case.predicted)]
        for name, own, other in (("gold", *long), ("predicted", *long[::-1])):
            for span in own:
                tally["label", span.label] += 1
            tally[(name,)] += len(own)
            tally[(f"tp_{name}",)] += len(own) if other else 0
        return tally

    def headlines(self, total: Tally, layers: Sequence[str]) -> Mapping[str, Counts]:
        return {"micro": Counts(*(total[(name,)] for name in Counts._fields))}

    def scores(self, total: Tally, layers: Sequence[str]) -> dict[str, Any]:
        counts = self.headlines(total, layers)["micro"]
        recall = counts.recall if counts.gold else 1.0
        return {
            "micro": {**counts._asdict(), "precision": counts.precision, "recall": recall, "f1": counts.f()}
        }

    def check(self, total: Tally) -> None:
        if self.label is not None and not total["label", self.label]:
            raise UsageError(f"no span is labelled {self.label!r}")


GOLD = [
    [[("Anna", "B-PER"), ("Weiß", "I-PER"), ("in", "O"), ("Ulm", "B-LOC")]],
    [[("Jo", "B-PER"), ("Ehm", "I-PER")]],
]
PREDICTED = [
    [[("Anna", "B-PER"), ("Weiß", "I-PER"), ("in", "O"), ("Ulm", "O")]],
    [[("Jo", "B-PER"), ("Ehm", "B-PER")]],
]


@pytest.fixture
def paths(tmp_path: Path) -> tuple[Path, Path]:
    return write(tmp_path / "gold.vrt", vrt(GOLD)), write(tmp_path / "predicted.vrt", vrt(PREDICTED))


def test_toy_metric_has_its_report_signature_and_break_down(paths: tuple[Path, Path]) -> None:
    result = score(*paths, metrics=[Lengths(least=2)], by="document")
    report = result.to_dict()

    assert report["metrics"]["lengths"]["label"]["micro"] == {
        "gold": 2,
        "predicted": 1,
        "tp_gold": 1,
        "tp_predicted": 1,
        "precision": 1.0,
        "recall": 0.5,
        "f1": 2 / 3,
    }
    assert {
        value: of["metrics"]["lengths"]["label"]["micro"]["recall"]
        for value, of in report["by"]["document"].items()
    } == {"d0": 1.0, "d1": 0.0}
    assert "metrics:lengths(least=2,label=None)" in report["signature"]
    assert "lengths=one" in report["signature"]
    assert result.f1 == result["lengths.f1"] == 2 / 3
    json.dumps(report)


@pytest.mark.parametrize("form", ["text", "markdown", "html"])
def test_toy_metric_is_shown_in_every_form(paths: tuple[Path, Path], form: str) -> None:
    result = score(*paths, metrics=[Lengths(least=2), "exact"], by="document")

    shown = result._repr_html_() if form == "html" else result.render(form)

    assert "lengths" in shown
    assert "50.00" in shown


def test_toy_metric_counts_the_same_in_two_processes_and_from_documents(
    tmp_path: Path, paths: tuple[Path, Path]
) -> None:
    metric = Lengths(least=2)
    folders = []
    for name, path in zip(("g", "p"), paths, strict=True):
        for number in range(4):
            folder = tmp_path / name
            folder.mkdir(exist_ok=True)
            write(folder / f"{number}.vrt", path.read_text(encoding="utf-8"))
        folders.append(folder)

    alone = score(*folders, metrics=[metric]).to_dict()

    assert score(*folders, metrics=[metric], jobs=2).to_dict() == alone
    documents = score(list(read(folders[0])), list(read(folders[1])), metrics=[metric])
    assert documents.metrics == alone["metrics"]


def test_toy_metric_has_intervals(paths: tuple[Path, Path]) -> None:
    result = score(*paths, metrics=[Lengths(least=2)], intervals=True)

    found = result.intervals()["scores"]["lengths"]["label"]["micro"]["recall"]
    assert found["units"] == 2
    assert 0 <= found["low"] <= 0.5 <= found["high"] <= 1


def test_toy_metric_refuses_what_never_occurred(paths: tuple[Path, Path]) -> None:
    with pytest.raises(UsageError, match="no span is labelled 'ORG'"):
        score(*paths, metrics=[Lengths(label="ORG")])


def test_toy_metric_is_on_the_command_line_with_one_line(
    monkeypatch: pytest.MonkeyPatch, paths: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(METRICS, "lengths", (__name__, "Lengths"))

    assert main(["score", *map(str, paths), "--metric", "lengths,levels"]) == 0

    assert "lengths" in capsys.readouterr().out


@dataclass(frozen=True, slots=True)
class Smoothed(Lengths):
    """Has the names of the usual rates and other values."""

    name: ClassVar[str] = "smoothed"

    def scores(self, total: Tally, layers: Sequence[str]) -> dict[str, Any]:
        counts = self.headlines(total, layers)["micro"]
        return {"micro": {**counts._asdict(), "recall": (counts.tp_gold + 5) / (counts.gold + 10)}}


def test_a_rate_that_is_not_that_of_its_counts_has_the_interval_of_its_own_values() -> None:
    gold = [["B-A", "O", "B-A"][: 1 + 2 * (n % 2)] for n in range(8)]
    predicted = [
        ["B-A", "O", "O", "O"][: len(tags)] if n % 3 else ["O"] * len(tags) for n, tags in enumerate(gold)
    ]

    def recall(one_less: int | None = None) -> float:
        kept = [n for n in range(8) if n != one_less]
        result = score([gold[n] for n in kept], [predicted[n] for n in kept], metrics=[Smoothed()])
        return result.to_dict()["metrics"]["smoothed"]["label"]["micro"]["recall"]

    result = score(gold, predicted, metrics=[Smoothed()], intervals=True, resample_by="sentence")
    shown = result.to_dict()["intervals"]["scores"]["smoothed"]["label"]["micro"]["recall"]
    without = [recall(n) for n in range(8)]
    mean = sum(without) / 8

    assert shown["se"] == pytest.approx((7 / 8 * sum((value - mean) ** 2 for value in without)) ** 0.5)


@dataclass(frozen=True, slots=True)
class Geometric(Lengths):
    """Has averages of a strict and a lenient rate, as `gate` has, which are geometric means."""

    name: ClassVar[str] = "geometric"

    def headlines(self, total: Tally, layers: Sequence[str]) -> Mapping[str, Counts]:
        strict = Counts(*(total[(name,)] for name in Counts._fields))
        return {"all": strict, "all.lenient": Counts(2 * strict.gold, 0, strict.gold + strict.tp_gold)}

    def scores(self, total: Tally, layers: Sequence[str]) -> dict[str, Any]:
        strict, lenient = (counts.recall for counts in self.headlines(total, layers).values())
        averages = {"recall_average": (strict * lenient) ** 0.5, "f1_average": max(strict, lenient)}
        return {"all": {"recall_strict": strict, "recall_lenient": lenient, **averages}}


def test_an_average_that_is_no_arithmetic_mean_has_the_interval_of_its_own_values() -> None:
    gold = [["B-A", "O", "B-A"][: 1 + 2 * (n % 2)] for n in range(8)]
    predicted = [tags if n % 3 else ["O"] * len(tags) for n, tags in enumerate(gold)]

    def entry(one_less: int | None = None) -> dict[str, float]:
        kept = [n for n in range(8) if n != one_less]
        result = score([gold[n] for n in kept], [predicted[n] for n in kept], metrics=[Geometric()])
        return result.to_dict()["metrics"]["geometric"]["label"]["all"]

    result = score(gold, predicted, metrics=[Geometric()], intervals=True, resample_by="sentence")
    shown = result.to_dict()["intervals"]["scores"]["geometric"]["label"]["all"]

    for name in ("recall_average", "f1_average"):
        without = [entry(n)[name] for n in range(8)]
        mean = sum(without) / 8
        deviation = (7 / 8 * sum((value - mean) ** 2 for value in without)) ** 0.5
        assert shown[name]["se"] == pytest.approx(deviation), name
