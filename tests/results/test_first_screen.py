"""The first screen of a result: headlines, what was read, one table of labels, break-downs with the worst first."""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path

import pytest

from clueval import Document, Result, Span, score
from clueval.cli import main, printing

SAMPLES = Path(__file__).parents[2] / "clueval" / "samples" / "german"
PATHS = [str(SAMPLES / f"{side}.vrt") for side in ("gold", "predicted")]
LAYERS = {"entity": 2, "risk": 3}
OPTIONS = ["--layer", "entity=2", "--layer", "risk=3", "--token-id", "4"]


def of_samples(**options: object) -> Result:
    return score(*PATHS, token_id=4, **{"layers": LAYERS, **options})  # type: ignore[arg-type]


def of_labels(count: int, **options: object) -> Result:
    """The result of a document with `count` labels; label n has n spans."""
    names = [f"label{number}" for number in range(1, count + 1) for _ in range(number)]
    document = Document("d", {"label": [Span(n, n + 1, name) for n, name in enumerate(names)]})
    return score([document], [document], **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("metrics", ["levels", "exact", "levels,exact,fair,partial,muc,gate"])
@pytest.mark.parametrize("merge", [False, True])
def test_first_screen_has_at_most_40_lines_of_80_columns(metrics: str, merge: bool) -> None:
    lines = str(of_samples(metrics=metrics, merge=merge)).split("\n")

    assert len(lines) <= 40
    assert max(map(len, lines[:-1])) <= 80
    assert lines[-1].startswith("signature: ")


def test_first_screen_tells_what_was_read_and_the_headline_of_each_layer() -> None:
    lines = str(of_samples()).split("\n")

    assert lines[:5] == [
        "F1 entity 81.60 %, risk 81.61 %: start, end and label are right",
        "5 documents, 2,797 positions",
        "1 repaired tag in predicted",
        "entity: column 2, BIO, 222 gold and 229 predicted spans",
        "risk: column 3, BIO, 219 gold and 227 predicted spans",
    ]
    assert "exact, labelled                 80.35   82.88   81.60   222        229" in lines
    assert "exact, labelled                 80.18   83.11  81.61   219        227" in lines
    assert "person                          68.85   75.00   71.79    56         61" in lines


def test_labels_come_with_the_worst_first_in_the_table_of_their_layer() -> None:
    of_entity, of_risk = of_samples().tables()

    assert [row[0] for row in of_risk.rows] == [
        *("exact, labelled", "exact, unlabelled"),
        *("+ covered by one span", "+ tiled", "+ covered by several spans"),
        *("high", "medium", "low"),
    ]
    assert [row[0] for row in of_entity.rows][5:8] == ["organisation", "person", "location"]


def test_first_screen_says_not_predicted_for_a_layer_of_gold_only() -> None:
    result = of_samples(layers={"entity": 2, "risk": (3, None)})
    text = str(result)

    assert text.startswith("F1 entity 81.60 %, risk not predicted: start")
    assert "risk: column 3, BIO, 219 gold spans, not predicted" in text
    assert "levels, risk" not in text
    assert "risk: high" not in text
    assert result.get("levels.risk.labelled.risk.1.micro.f1") == 0
    assert "risk" in str(of_samples(layers={"entity": 2, "risk": (3, None)}, merge=True))


def test_first_screen_of_a_layer_that_predicted_has_without_spans_has_its_zero() -> None:
    gold = Document("d", {"a": [Span(0, 1, "A")], "b": [Span(0, 1, "B")]})
    predicted = Document("d", {"a": [Span(0, 1, "A")], "b": []})

    assert "F1 a 100.00 %, b 0.00 %" in str(score([gold], [predicted]))


def test_first_screen_of_masking_has_layers_of_gold_only_which_others_mask() -> None:
    assert "masking, other" in str(of_samples(layers={"entity": 2, "other": (3, None)}, metrics="masking"))


def test_first_screen_of_a_merged_sequence_has_the_labels_of_its_layers() -> None:
    text = str(of_samples(merge=True))

    assert "levels, merged" in text
    assert "exact, labelled" not in text
    assert "\nentity: person " in text
    assert "\nrisk: high " in text


def test_first_screen_has_one_table_of_labels_of_the_first_metric() -> None:
    text = str(of_samples(metrics="fair,exact", layers={"entity": 2}))

    assert text.count(": labels") == 1
    assert "fair: labels (fair)" in text


def test_first_screen_shows_the_labels_with_the_most_spans_if_there_are_many() -> None:
    text = str(of_labels(60))
    title = next(line for line in text.split("\n") if line.startswith("levels, label"))
    shown = [line.split()[0] for line in text.split("\n") if re.match(r"label\d", line)]

    assert "most frequent of 60 labels" in title
    assert shown == [f"label{number}" for number in range(60, 60 - len(shown), -1)]
    assert len(text.split("\n")) <= 40


def test_all_tables_come_with_all() -> None:
    result = of_samples()

    assert "how the spans of each side are matched" not in result.render("text")
    assert "how the spans of each side are matched" in result.render("text", all=True)
    assert "--all" in result.render("text")
    assert "--all" not in result.render("text", all=True)


def test_score_prints_the_first_screen_and_with_all_every_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", *PATHS, *OPTIONS]) == 0
    assert capsys.readouterr().out == f"{of_samples().render('text')}\n"
    assert main(["score", *PATHS, *OPTIONS, "--all"]) == 0
    assert capsys.readouterr().out == f"{of_samples().render('text', all=True)}\n"


@pytest.mark.parametrize("metric", ["levels", "exact", "fair", "muc", "gate", "partial"])
def test_break_down_has_a_row_for_each_value_with_the_worst_first(metric: str) -> None:
    result = of_samples(metrics=metric, layers={"entity": 2}, by="domain")
    table = next(table for table in result.tables() if table.title.startswith("By domain"))
    rates = [row[3].value for row in table.rows]  # type: ignore[union-attr]
    rows = {row["value"]: row for row in result.rows() if row["by"] and row["average"] == "micro"}

    assert list(table.header) == ["domain", "precision", "recall", "f1", "gold", "predicted"]
    assert rates == sorted(rates)
    assert {str(row[0]) for row in table.rows} == set(rows)
    assert len(rates) == 5


def test_metrics_without_a_headline_show_their_first_table() -> None:
    text = str(of_samples(metrics="confusion,exact", layers={"entity": 2}, by="domain"))

    assert "confusion, entity: gold spans of entity, level 1" in text
    assert "domain Kaufrecht: confusion, entity: gold spans of entity, level 1" in text
    assert "exact: labels" in text
    assert "level 2" not in text
    assert "predicted spans of entity" not in text


def test_first_screen_of_nothing_counted_has_the_headline_of_an_empty_layer() -> None:
    text = str(score([], []))

    assert text.startswith("0 documents, 0 positions\n")
    assert "exact, labelled                  0.00    0.00  0.00" in text


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_titles_and_headlines_are_bold_on_a_terminal_with_rich(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("rich")
    text = of_samples(metrics="exact").render("text")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setattr(sys, "stdout", terminal := _Terminal())
    printing.put_text(text)
    lines = terminal.getvalue().split("\n")

    assert "\x1b[1mHeadlines, in %\x1b[0m" in lines
    assert "\x1b[1mexact, entity: micro      80.35   82.88  81.60\x1b[0m" in lines
    assert "1 repaired tag in predicted" in lines
    assert "".join(lines).count("\x1b[1m") == 4
    assert terminal.getvalue().replace("\x1b[1m", "").replace("\x1b[0m", "") == f"{text}\n"


def test_titles_are_plain_on_a_terminal_without_rich(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(printing, "find_spec", lambda name: None)
    monkeypatch.setattr(sys, "stdout", terminal := _Terminal())
    printing.put_text("a\n\nTitle\nrow")

    assert terminal.getvalue() == "a\n\nTitle\nrow\n"
