"""A metric is one file: one that is written here goes through everything that the metrics of the package do."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest
from corpora import vrt, write

from clueval import read, score
from clueval.cli import main
from clueval.files.errors import UsageError
from clueval.metrics import METRICS
from clueval.metrics.counting import Tally
from clueval.metrics.metric import Metric, Needs, Rates, Side
from clueval.reports import markdown
from clueval.reports.table import Rate, Table


@dataclass(frozen=True, slots=True)
class Lengths:
    """Counts how many spans of at least `least` positions each side has; recall is their smaller share."""

    name: ClassVar[str] = "lengths"
    zero: ClassVar[str] = "one"

    least: int = 1
    label: str | None = None

    @property
    def needs(self) -> Needs:
        return Needs(documents=True)

    def count(self, gold: Side, predicted: Side) -> Tally:
        tally: Tally = Tally()
        for name, side in (("gold", gold), ("predicted", predicted)):
            for span in side.spans:
                tally["label", span.label] += 1
                tally["side", name] += len(span) >= self.least
        return tally

    def scores(self, total: Tally, layers: Sequence[str]) -> dict[str, Any]:
        gold, predicted = total["side", "gold"], total["side", "predicted"]
        return {"gold": gold, "predicted": predicted, "share": min(1.0, predicted / gold) if gold else 1.0}

    def headlines(self, report: Mapping[str, Any]) -> dict[str, Rates]:
        return {self.name: (1.0, report["share"], report["share"])}

    def tables(self, title: str, report: Mapping[str, Any]) -> Iterator[Table]:
        rows = [["long spans", report["gold"], report["predicted"], Rate(report["share"])]]
        yield Table(title, ["", "gold", "predicted", "share"], rows)

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


def test_toy_metric_is_a_metric_without_inheriting_anything() -> None:
    metric: Metric = Lengths()

    assert metric.needs.same_text


def test_toy_metric_has_its_report_signature_and_break_down(paths: tuple[Path, Path]) -> None:
    report = score(*paths, metrics=[Lengths(least=2)], by="document").to_dict()

    assert report["metrics"]["lengths"]["label"] == {"gold": 2, "predicted": 1, "share": 0.5}
    assert {
        value: of["metrics"]["lengths"]["label"]["share"] for value, of in report["by"]["document"].items()
    } == {
        "d0": 1.0,
        "d1": 0.0,
    }
    assert "metrics:lengths(least=2,label=none)" in report["signature"]
    assert "lengths=one" in report["signature"]
    json.dumps(report)


def test_toy_metric_is_shown_as_text_markdown_and_notebook(paths: tuple[Path, Path]) -> None:
    result = score(*paths, metrics=[Lengths(least=2), "exact"], by="document")

    for shown in (
        str(result),
        markdown.render(result.to_dict(), result.tables(all=True)),
        result._repr_html_(),
    ):
        assert "lengths, label" in shown
        assert "document d1: lengths, label" in shown
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


def test_toy_metric_refuses_what_never_occurred(paths: tuple[Path, Path]) -> None:
    with pytest.raises(UsageError, match="no span is labelled 'ORG'"):
        score(*paths, metrics=[Lengths(label="ORG")])


def test_toy_metric_is_on_the_command_line_with_one_line(
    monkeypatch: pytest.MonkeyPatch, paths: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(METRICS, "lengths", (__name__, "Lengths"))

    assert main(["score", *map(str, paths), "--metric", "lengths,levels"]) == 0

    assert "lengths, label" in capsys.readouterr().out
