"""Rows and single numbers of a result: the same columns for every metric, and each number by its path."""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path
from typing import Any

import pytest

import clueval
from clueval import CluevalWarning, Document, Result, Span, score
from clueval.cli import main, printing
from clueval.core.exact import Exact
from clueval.files.errors import UsageError
from clueval.metrics import METRICS, metric_named
from clueval.metrics.gate import Gate, GateWithin
from clueval.results import first_screen, rows
from clueval.results.paths import score_names
from clueval.results.rows import LONG_ROW, ROW
from clueval.results.tables import tables_of

SAMPLES = Path(__file__).parents[2] / "clueval" / "samples" / "german"
PATHS = [str(SAMPLES / f"{side}.vrt") for side in ("gold", "predicted")]
LAYERS = {"entity": 2, "risk": 3}
ALL = [name for name in METRICS if name != "noisy"]


def of_samples(**options: Any) -> Result:
    return score(*PATHS, token_id=4, **{"layers": LAYERS, "metrics": ALL, **options})


def labelled(gold: str, predicted: str, layer: str = "label", **options: Any) -> Result:
    """The result of one document, in which each character is the label of a span of one position."""
    sides = [
        Document("d", {layer: [Span(n, n + 1, label) for n, label in enumerate(side)]})
        for side in (gold, predicted)
    ]
    return score([sides[0]], [sides[1]], **options)


def only(rows: list[dict[str, Any]], **cells: object) -> dict[str, Any]:
    (row,) = [row for row in rows if all(row[name] == cell for name, cell in cells.items())]
    return row


# Rows


def test_rows_have_the_same_keys_for_every_metric() -> None:
    rows = of_samples(by="domain").rows()

    assert {tuple(row) for row in rows} == {ROW}
    assert {row["metric"] for row in rows} == {*ALL} - {"confusion"}  # it has counts only
    assert len({tuple(row[name] for name in ROW[:8]) for row in rows}) == len(rows)


def test_rows_of_masking_have_what_was_masked_by_unit() -> None:
    result = of_samples(metrics="masking")
    rows, figures = result.rows(), result.metrics["masking"]["entity"]
    words = only(rows, sequence="entity", section="word", average="micro")
    every, precision = figures["classes"]["all"], figures["precision"]

    assert [
        words[name] for name in ("precision", "recall", "f1", "gold", "fn", "predicted", "tp_predicted")
    ] == [
        *(precision["word_precision"], every["word_recall"], figures["f"]["1"]),
        *(every["words"], every["words_exposed"], precision["words"], precision["words_right"]),
    ]
    entities = only(rows, sequence="entity", section="entity", average="micro")
    assert (entities["recall"], entities["tp_gold"]) == (every["entity_recall"], every["entities_protected"])
    mentions = only(rows, sequence="entity", section="mention", label="person")
    assert mentions["gold"] == figures["labels"]["person"]["mentions"]
    assert only(rows, sequence="entity", section="class.document", label="_")["gold"] == 4


@pytest.mark.few(3)
@pytest.mark.parametrize(
    ("cells", "path"),
    [
        ({"section": "labelled", "level": 1, "average": "micro"}, "levels.entity.labelled.entity.1.micro"),
        (
            {"section": "labelled", "level": 3, "label": "person"},
            "levels.entity.labelled.entity.3.per_label.person",
        ),
        ({"section": "unlabelled", "level": 4}, "levels.entity.unlabelled.4"),
        ({"metric": "exact", "average": "weighted"}, "exact.entity.weighted"),
        ({"metric": "partial", "label": "date"}, "partial.entity.per_label.date"),
        ({"metric": "fair", "section": "fair", "average": "micro"}, "fair.entity.overall.fair"),
        ({"metric": "muc", "section": "partial", "label": "date"}, "muc.entity.per_label.date.partial"),
    ],
)
def test_rows_have_the_rates_of_the_report(cells: dict[str, object], path: str) -> None:
    result = of_samples()
    row = only(result.rows(), **{"sequence": "entity", "metric": "levels", **cells})

    assert [row[rate] for rate in ("precision", "recall", "f1")] == [
        result.get(f"{path}.{rate}") for rate in ("precision", "recall", "f1")
    ]


def test_rows_of_gate_are_strict_and_lenient() -> None:
    result = of_samples(metrics="gate", layers={"entity": 2})
    strict, lenient = (
        only(result.rows(), section=section, average="micro") for section in ("strict", "lenient")
    )

    assert (strict["gold"], strict["tp_gold"], strict["fn"]) == (222, 184, 38)
    assert (lenient["recall"], lenient["tp_gold"]) == (result.get("all.recall_lenient"), 207)


@pytest.mark.parametrize("metric", ["levels", "exact", "partial", "muc", "gate", "fair"])
def test_rows_have_counts_that_give_their_rates(metric: str) -> None:
    rows = [row for row in of_samples(metrics=metric).rows() if row["average"] in (None, "micro")]

    assert rows
    for row in rows:
        if (metric, row["section"]) == ("fair", "fair") or row["section"] == "weighted":
            continue  # FairEval's errors are no spans
        assert row["recall"] == pytest.approx(row["tp_gold"] / row["gold"] if row["gold"] else 0.0)
        assert row["fn"] == pytest.approx(row["gold"] - row["tp_gold"])
        assert row["fp"] == pytest.approx(row["predicted"] - row["tp_predicted"])


def test_rows_of_noisy_have_undefined_rates_as_none(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a B-X\n\nb O\n", encoding="utf-8")
    (tmp_path / "b").write_text("a O\n\nb O\n", encoding="utf-8")
    result = score(str(tmp_path / "a"), str(tmp_path / "b"), metrics="noisy")
    row = only(result.rows(), average="micro")

    assert (row["precision"], row["recall"], row["gold"], row["fn"]) == (None, 0.0, 1, 1)
    assert (result.precision, result.recall) == (None, 0.0)


def test_rows_of_a_merged_sequence_name_the_layer() -> None:
    sections = {row["section"] for row in of_samples(metrics="levels", merge=True).rows()}

    assert sections == {"unlabelled", "labelled.entity", "labelled.risk"}


def test_rows_of_a_break_down_come_after_those_of_the_whole() -> None:
    result = of_samples(metrics="exact", layers={"entity": 2}, by="document")
    rows = [row for row in result.rows() if row["average"] == "micro"]
    assert result.groups is not None

    assert [(row["by"], row["value"]) for row in rows] == [
        (None, None),
        *(("document", value) for value in result.groups["document"]),
    ]


@pytest.mark.parametrize(
    "label", ["micro", "1", "per_label", "strict", "fair", "precision", "confusion", "by"]
)
@pytest.mark.parametrize("metric", ["levels", "exact", "fair", "muc", "gate"])
def test_rows_take_labels_that_are_names_in_reports_for_labels(label: str, metric: str) -> None:
    document = Document("d", {label: [Span(0, 1, {label: label})]})
    rows = score([document], [document], metrics=metric).rows()

    assert {row["label"] for row in rows} == {None, label}
    assert all(row["f1"] == 1.0 for row in rows)


@pytest.mark.parametrize("metric", ["confusion", "masking"])
def test_rows_take_a_label_that_is_called_like_a_part_of_the_report_of_fair(metric: str) -> None:
    rows = []
    for label in ("traditional", "other"):
        document = Document("d", {"label": [Span(0, 1, label)]}, ["a", "b"])
        rows.append([{**row, "label": None} for row in score([document], [document], metrics=metric).rows()])

    assert rows[0] == rows[1]


def test_rows_of_candidate_lists_name_all_ranks_alike() -> None:
    found = [Span(n, n + 1, "C", {"is": "a"}, id=n) for n in range(3)]
    gold = Document("d", {"label": [Span(1, 2, "T", {"is": "a"})]})
    predicted = Document("d", {"label": [*found, Span(0, 5, "L", {"ids": [0, 1, 2]}, id=9)]})
    metric = Gate(types=("T",), features=("is",), list_type="L", edge_feature="ids")

    rows = [row for row in score([gold], [predicted], metrics=[metric]).rows() if "lists" in row["section"]]

    ways = [f"{rank}.{way}" for rank in (0, 1, 2, "all") for way in ("strict", "lenient")]
    assert [row["section"] for row in rows] == [f"lists.by_rank.{way}" for way in ways]
    assert {(row["level"], row["average"]) for row in rows} == {(None, "micro")}


def test_long_rows_have_every_number_by_its_path_below_the_sequence() -> None:
    result = of_samples(layers={"entity": 2}, by="domain")
    rows = result.rows(long=True)

    assert {tuple(row) for row in rows} == {LONG_ROW}
    for row in rows:
        if row["by"] is None:
            path = f"{row['metric']}.{row['sequence']}.{row['path']}"
            assert result.get(path) == row["number"]
    assert only(rows, metric="exact", by=None, path="token_accuracy")["number"] > 0.9


def test_rows_make_data_frames_of_pandas() -> None:
    pandas = pytest.importorskip("pandas")
    result = of_samples(by="domain")
    frame = pandas.DataFrame(result.rows())

    assert list(frame.columns) == list(ROW)
    assert len(frame) == len(result.rows())
    best = frame[
        (frame.metric == "levels") & (frame.level == 1) & (frame.average == "micro") & frame.by.isna()
    ]
    assert best.f1.tolist() == [result.get(f"levels.{name}.labelled.{name}.1.micro.f1") for name in LAYERS]


def test_rows_make_data_frames_of_polars() -> None:
    polars = pytest.importorskip("polars")
    result = of_samples(metrics="exact", by="domain")
    frame = polars.DataFrame(result.rows(), infer_schema_length=None)

    assert frame.columns == list(ROW)
    assert frame.filter(polars.col("average") == "micro")["f1"].to_list() == [
        row["f1"] for row in result.rows() if row["average"] == "micro"
    ]


# The headline


@pytest.mark.parametrize(
    ("metric", "path"),
    [
        ("levels", "labelled.label.1.micro.f1"),
        ("exact", "micro.f1"),
        ("partial", "micro.f1"),
        ("fair", "overall.fair.f1"),
        ("muc", "strict.f1"),
        ("gate", "all.f1_strict"),
    ],
)
def test_the_headline_of_a_metric_is_its_entry_for_all_spans(metric: str, path: str) -> None:
    result = labelled("AAB", "AAC", metrics=metric)

    assert result.f1 == result.get(path) == result.get(f"{metric}.label.{path}")
    assert 0 < result.f1 < 1


def test_the_headline_of_a_merged_sequence_ignores_labels() -> None:
    result = labelled("AAB", "AAC", merge=True)

    assert (result.precision, result.recall, result.f1) == (1.0, 1.0, 1.0)


@pytest.mark.parametrize("rate", ["precision", "recall", "f1"])
def test_the_headline_is_refused_where_there_are_several_or_none(rate: str) -> None:
    with pytest.raises(
        UsageError, match=rf"2 headlines, so {rate} .*levels\.label\.labelled.*, exact\.label\.micro"
    ):
        getattr(labelled("A", "A", metrics="levels,exact"), rate)
    with pytest.raises(UsageError, match="no headline of the result has"):
        getattr(labelled("A", "A", metrics="confusion"), rate)


def test_the_headline_is_that_of_the_one_metric_that_has_one() -> None:
    assert labelled("A", "A", metrics="exact,confusion").f1 == 1.0


# Paths


def test_a_path_may_have_names_with_dots() -> None:
    result = labelled("A", "A", layer="v1.0", metrics="exact")

    assert result.get("exact.v1.0.micro.f1") == 1.0


def test_a_path_with_two_readings_is_refused() -> None:
    spans = [Span(0, 1, "b.per_label.c")]
    others = [Span(0, 1, "c")]
    document = Document("d", {"a": spans, "a.per_label.b": others}, text="x", unit="character")
    result = score([document], [document], metrics="exact")

    with pytest.raises(UsageError, match="can mean 2 scores, because names have dots"):
        result.get("exact.a.per_label.b.per_label.c.f1")


def test_headline_of_masking_is_the_recall_of_entities() -> None:
    gold = [Document("a", {"label": [Span(0, 1, "PER"), Span(2, 3, "LOC")]}, tokens=["A", "b", "C"])]
    predicted = [Document("a", {"label": [Span(0, 1, "PER")]}, tokens=["A", "b", "C"])]
    result = score(gold, predicted, metrics="masking")

    assert result.recall == result.get("masking.label.classes.all.entity_recall") == 0.5
    with pytest.raises(UsageError, match="no headline of the result has f1"):
        _ = result.f1


@pytest.mark.parametrize("metric", METRICS)
def test_documents_without_layers_have_the_report_of_a_layer_without_spans(metric: str) -> None:
    def scored(layers: dict[str, list[Span]]) -> Result:
        side = [Document("1", layers, text="", unit="character")]
        with pytest.warns(CluevalWarning, match="no spans"):
            return score(side, side, metrics=metric)

    without, empty = scored({}), scored({"label": []})

    def report(result: Result) -> dict[str, object]:
        (found,) = result.metrics[metric].values()
        return {
            key: each for key, each in found.items() if key != "file_mean"
        }  # of documents that have a layer

    assert without.metrics[metric].keys() == empty.metrics[metric].keys()
    assert report(without) == report(without + without) == report(empty)
    assert without.rows() == empty.rows()
    for rate in ("precision", "recall", "f1"):
        assert rate_of(without, rate) == rate_of(empty, rate)


def rate_of(result: Result, rate: str) -> object:
    try:
        return getattr(result, rate)
    except UsageError as error:
        return str(error)


@pytest.mark.parametrize(
    ("metric", "expected"), [("levels", 0.0), ("exact", 0.0), ("noisy", None), ("gate", 1.0)]
)
def test_headline_of_documents_without_layers_is_zero_over_zero(metric: str, expected: float | None) -> None:
    with pytest.warns(CluevalWarning, match="no spans"):
        result = score([[]], [[]], metrics=metric)

    assert (result.precision, result.recall, result.f1) == (expected, expected, expected)


def test_documents_without_layers_add_no_layer_to_others() -> None:
    with pytest.warns(CluevalWarning, match="no spans"):
        nothing = score([[]], [[]], metrics="exact")
    other = [Document("a", {"entity": [Span(0, 1, {"entity": "PER"})]})]

    both = nothing + score(other, other, metrics="exact")

    assert both.metrics["exact"].keys() == {"entity"}


# Metrics and settings


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("levels", {"level": 2}),
        ("partial", {"factor": 2}),
        ("partial", {"betas": (0,)}),
        ("partial", {"glue": 1}),
        ("noisy", {"threshold": "0.1"}),
        ("noisy", {"max_alignment": 0}),
    ],
)
def test_a_metric_names_the_setting_that_it_refuses(name: str, settings: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="|".join(settings).rstrip("s")):
        metric_named(name, **settings)


def test_gate_counts_documents_if_it_counts_within_a_layer() -> None:
    assert type(Gate()) is Gate
    assert type(Gate(containing="zone")) is GateWithin
    assert type(Gate((), (), "equality", "plugin", None, None, None, "zone")) is GateWithin
    assert Gate(containing="zone") == GateWithin(containing="zone")


def test_the_curve_of_coverage_is_none_of_its_tables() -> None:
    spans = [clueval.Span(0, 1, "A", {"p": 0.9})]
    result = clueval.score([spans], [spans], metrics="coverage", score_feature="p")
    report = result.metrics["coverage"]["label"]

    assert "curve" in report
    assert [table.title for table in tables_of(metric_named("coverage"), "coverage", report)] == [
        "coverage, tokens",
        "coverage: average precision",
    ]


def test_a_group_that_lacks_the_report_of_a_sequence_has_no_row_of_it() -> None:
    def side(group: str, *layers: str) -> clueval.Document:
        spans = [clueval.Span(0, 1, "A")]
        return clueval.Document("d", dict.fromkeys(layers, spans), tokens=["w"], metadata={"m": group})

    documents = [side("a", "x"), side("b", "risk", "y")]
    report = clueval.score(documents, documents, metrics="masking", by="m").to_dict()
    reported = {value: list(group["metrics"]["masking"]) for value, group in report["by"]["m"].items()}

    assert reported == {"a": ["x"], "b": ["y"]}
    found = {(row["sequence"], row["value"]) for row in rows.wide_rows(report)}
    assert found == {("x", None), ("x", "a"), ("y", None), ("y", "b")}


def test_a_break_down_is_shown_whether_or_not_its_reports_are_made_when_asked_for() -> None:
    sides = [
        [clueval.Document(str(n), {"label": [clueval.Span(0, 1, label)]}) for n, label in enumerate(labels)]
        for labels in ("AB", "BB")
    ]
    result = clueval.score(*sides, metrics="exact", by="document")
    made = [*first_screen.first_tables(result.to_dict(), [Exact()])]

    assert made == list(result.tables())
    assert [table.title for table in made] == [
        "Headlines",
        "exact: labels",
        "By document: exact, label: micro",
    ]


# The first screen


OPTIONS = ["--layer", "entity=2", "--layer", "risk=3", "--token-id", "4"]


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
    lines = str(of_samples(metrics="levels")).split("\n")

    assert lines[:5] == [
        "F1 81.60 % (layer entity), 81.61 % (layer risk): start, end and label are right",
        "5 documents, 2,797 positions",
        "1 repaired tag in predicted",
        "entity: column 2, BIO, 222 gold and 229 predicted spans",
        "risk: column 3, BIO, 219 gold and 227 predicted spans",
    ]
    assert "exact, labelled                 80.35   82.88   81.60   222        229" in lines
    assert "exact, labelled                 80.18   83.11  81.61   219        227" in lines
    assert "exact, person                   68.85   75.00   71.79    56         61" in lines


def test_labels_come_with_the_worst_first_in_the_table_of_their_layer() -> None:
    of_entity, of_risk = of_samples(metrics="levels").tables()

    assert [row[0] for row in of_risk.rows] == [
        *("exact, labelled", "exact, unlabelled"),
        *("+ covered by one span", "+ tiled", "+ covered by several spans"),
        *("exact, high", "exact, medium", "exact, low"),
    ]
    assert [row[0] for row in of_entity.rows][5:7] == ["exact, organisation", "exact, person"]


def test_first_screen_says_not_predicted_for_a_layer_of_gold_only() -> None:
    result = of_samples(metrics="levels", layers={"entity": 2, "risk": (3, None)})
    text = str(result)

    assert text.startswith("F1 81.60 % (layer entity), risk not predicted: start")
    assert "risk: column 3, BIO, 219 gold spans, not predicted" in text
    assert "levels, risk" not in text
    assert "exact, high" not in text
    assert result.get("levels.risk.labelled.risk.1.micro.f1") == 0
    assert "risk" in str(of_samples(metrics="levels", layers={"entity": 2, "risk": (3, None)}, merge=True))


def test_first_screen_of_a_layer_that_predicted_has_without_spans_has_its_zero() -> None:
    gold = Document("d", {"a": [Span(0, 1, "A")], "b": [Span(0, 1, "B")]})
    predicted = Document("d", {"a": [Span(0, 1, "A")], "b": []})

    assert "F1 100.00 % (layer a), 0.00 % (layer b)" in str(score([gold], [predicted]))


@pytest.mark.parametrize(
    ("metric", "sentence"),
    [
        ("exact", "F1 50.00 %: start, end and label are right"),
        ("exact(min_overlap=0.5)", "F1 100.00 %: micro of metric exact"),
        ("fair", "F1 66.67 %: fair of metric fair"),
        ("levels,exact", ""),
        ("confusion", ""),
    ],
)
def test_the_first_line_says_what_the_f1_of_the_metric_counts(metric: str, sentence: str) -> None:
    sides = [[(0, 2, "A"), (4, 6, "A")]], [[(0, 2, "A"), (4, 5, "A")]]

    assert score(*sides, metrics=metric).verdict() == sentence
    untyped = sentence.replace("start, end and label", "start and end")
    assert score(*sides, metrics=metric, untyped=True).verdict() == untyped


def test_the_labels_of_two_layers_have_the_names_of_their_layers() -> None:
    gold = Document("d", {"2": [Span(0, 1, "A")], "3": [Span(0, 1, "B")]})
    labels = next(
        table for table in score([gold], [gold], metrics="fair").tables() if "labels" in table.title
    )

    assert [row[0] for row in labels.rows] == ["2: A", "2: micro", "3: B", "3: micro"]


@pytest.mark.parametrize("layer", ["1", "2", "4", "labelled", "micro"])
def test_a_score_is_not_called_after_a_layer_that_is_called_like_a_level(layer: str) -> None:
    paths = [
        ("levels", layer, "labelled", layer, "1", "micro", "f1"),
        ("levels", layer, "unlabelled", "3", "f1"),
    ]

    assert [*score_names(paths).values()] == ["exact F1 (level 1)", "tiling F1 (level 3, unlabelled)"]


def test_first_screen_of_masking_has_layers_of_gold_only_which_others_mask() -> None:
    assert "masking, other" in str(of_samples(layers={"entity": 2, "other": (3, None)}, metrics="masking"))


def test_first_screen_of_a_merged_sequence_has_the_labels_of_its_layers() -> None:
    text = str(of_samples(metrics="levels", merge=True))

    assert "levels, merged" in text
    assert "exact, labelled" not in text
    assert "\nexact, entity: person " in text
    assert "\nexact, risk: high " in text


def test_first_screen_has_one_table_of_labels_of_the_first_metric() -> None:
    text = str(of_samples(metrics="fair,exact", layers={"entity": 2}))

    assert text.count(": labels") == 1
    assert "fair: labels (fair)" in text


def test_first_screen_shows_the_labels_with_the_most_spans_if_there_are_many() -> None:
    text = str(of_labels(60))
    title = next(line for line in text.split("\n") if line.startswith("levels, label"))
    shown = re.findall(r"^exact, (label\d+)", text, re.MULTILINE)

    assert "most frequent of 60 labels" in title
    assert shown == [f"label{number}" for number in range(60, 60 - len(shown), -1)]
    assert len(text.split("\n")) <= 40


def test_all_tables_come_with_all() -> None:
    result = of_samples(metrics="levels")

    assert "how the spans of each side are matched" not in result.render("text")
    assert "how the spans of each side are matched" in result.render("text", all=True)
    assert "--all" in result.render("text")
    assert "--all" not in result.render("text", all=True)


def test_score_prints_the_first_screen_and_with_all_every_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", *PATHS, *OPTIONS]) == 0
    assert capsys.readouterr().out == f"{of_samples(metrics='levels').render('text')}\n"
    assert main(["score", *PATHS, *OPTIONS, "--all"]) == 0
    assert capsys.readouterr().out == f"{of_samples(metrics='levels').render('text', all=True)}\n"


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

    assert text.startswith("0 documents\n")
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


def test_labels_that_are_called_like_parts_of_a_report_are_labels() -> None:
    """A label found once of once, and another found never of once, called as averages and sections are."""
    names = ["micro", "macro", "per_label", "per_type"]
    gold = [[(2 * place, 2 * place + 1, name) for place, name in enumerate(names)]] * 2
    predicted = [[(0, 1, "micro"), (2, 3, "macro"), (4, 5, "per_label")]] * 2
    result = score(gold, predicted, metrics="exact,confusion", intervals=True, resample_by="document")
    scores = result.scores()

    assert [scores[f"exact.{path}.recall"] for path in ("micro", "per_label.micro")] == [0.75, 1.0]
    assert result.get("exact.per_label.per_type.recall") == 0.0
    assert {row["label"] for row in result.rows() if row["metric"] == "exact"} == {None, *names}
