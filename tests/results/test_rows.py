"""Rows and single numbers of a result: the same columns for every metric, and each number by its path."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from clueval import CluevalWarning, Document, Result, Span, score
from clueval.files.errors import UsageError
from clueval.metrics import METRICS
from clueval.results.rows import LONG_ROW, ROW

SAMPLES = Path(__file__).parents[2] / "clueval" / "samples" / "german"
LAYERS = {"entity": 2, "risk": 3}
ALL = [name for name in METRICS if name != "noisy"]


def of_samples(**options: Any) -> Result:
    paths = (str(SAMPLES / f"{side}.vrt") for side in ("gold", "predicted"))
    return score(*paths, token_id=4, **{"layers": LAYERS, "metrics": ALL, **options})


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
    with pytest.raises(UsageError, match="no headlines"):
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


def test_a_short_path_that_several_reports_have_is_refused_with_the_whole_paths() -> None:
    result = labelled("A", "A", metrics="exact,partial")

    with pytest.raises(UsageError, match=r"one of exact\.label\.micro\.f1, partial\.label\.micro\.f1"):
        result.get("micro.f1")


@pytest.mark.parametrize(
    ("path", "nearest"),
    [
        ("exact.label.mikro.f1", "exact.label.micro.f1"),
        ("exact.label.micro.F1", "exact.label.micro.f1"),
        ("exact.label.micro", "exact.label.micro"),
        ("exact.entity.micro.f1", "exact.label.micro.f1"),
    ],
)
def test_an_unknown_path_is_refused_with_the_nearest(path: str, nearest: str) -> None:
    with pytest.raises(UsageError, match=f"there is no score '{path}' .did you mean {nearest}"):
        labelled("A", "A", metrics="exact").get(path)


# Sums


def test_results_add_with_plus_and_sum() -> None:
    parts = [labelled("AB", "AB"), labelled("AA", "BB")]

    assert (parts[0] + parts[1]).f1 == sum(parts).f1 == 0.5  # type: ignore[union-attr]
    with pytest.raises(TypeError):
        parts[0] + 1  # type: ignore[operator]


# Headlines: the rates that are cited for a metric


def test_headline_of_masking_is_the_recall_of_entities() -> None:
    gold = [Document("a", {"label": [Span(0, 1, "PER"), Span(2, 3, "LOC")]}, tokens=["A", "b", "C"])]
    predicted = [Document("a", {"label": [Span(0, 1, "PER")]}, tokens=["A", "b", "C"])]
    result = score(gold, predicted, metrics="masking")

    assert result.recall == result.get("masking.label.classes.all.entity_recall") == 0.5
    with pytest.raises(UsageError, match="no headlines, so f1 is not one number"):
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
