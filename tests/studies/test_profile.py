"""Profiles: spans by buckets of their features, whose supports add up."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from corpora import write
from hypothesis import given
from hypothesis import strategies as st
from routes import SCHEMES, corpora, vrt

from clueval import Document, FileError, Sentence, Span, TextMismatch, UsageError, profile, read, score
from clueval.cli import main
from clueval.studies.span_values import FEATURES, equal_buckets, range_name
from tests.reports.views import page

SAMPLES = Path(__file__).parents[2] / "clueval" / "samples" / "german"
PATHS = [str(SAMPLES / f"{side}.vrt") for side in ("gold", "predicted")]
LAYERS: dict[str, Any] = {"layers": {"entity": 2}, "token_id": 4}
TOKENS = ["In", "new", "York", "USA", "iPhone", "Mr.", "a-b", "x"]


def buckets(spans: list[Span], feature: str, **options: Any) -> dict[str, tuple[int, int]]:
    document = Document("d", {"label": spans}, tokens=TOKENS, sentences=[Sentence(0, 4), Sentence(4, 8)])
    found = profile([document], [document], feature=feature, **options)
    return {row["bucket"]: (row["gold"], row["tp_gold"]) for row in found}


@pytest.mark.parametrize(
    ("feature", "span", "bucket"),
    [
        ("length", Span(0, 7, "A"), "5-9"),
        ("length", Span.of_fragments([(0, 1), (3, 4)], "A"), "2"),
        ("casing", Span(1, 2, "A"), "lower"),
        ("casing", Span(3, 4, "A"), "upper"),
        ("casing", Span(0, 1, "A"), "first"),
        ("casing", Span(4, 5, "A"), "other"),
        ("punctuation", Span(0, 1, "A"), "none"),
        ("punctuation", Span(5, 6, "A"), "edge"),
        ("punctuation", Span(6, 7, "A"), "inside"),
        ("position", Span(3, 4, "A"), "75-100%"),
        ("position", Span(5, 6, "A"), "25-50%"),
        ("label", Span(0, 1, "A"), "A"),
        ("depth", Span(0, 1, "A"), "1"),
    ],
)
def test_a_span_is_in_the_bucket_of_its_value(feature: str, span: Span, bucket: str) -> None:
    assert buckets([span], feature) == {bucket: (1, 1)}


def test_depth_counts_the_spans_around_also_of_zero_length() -> None:
    nested = [Span(0, 8, "A"), Span(1, 5, "A"), Span(2, 3, "B"), Span(2, 3, "C"), Span(5, 5, "C")]

    assert buckets(nested, "depth") == {"1": (1, 1), "2": (1, 1), "3+": (3, 3)}
    assert buckets([Span(2, 5, "A"), Span(5, 5, "B")], "depth") == {"1": (1, 1), "2": (1, 1)}


def test_a_span_on_both_sides_has_the_values_of_each_side() -> None:
    gold, predicted = (
        Document("d", {"label": [Span(3, 4, "A")]}, tokens=TOKENS, sentences=sentences)
        for sentences in ([Sentence(0, 8)], ())
    )

    rows = profile([gold], [predicted], feature="position").rows()

    found = [(row["bucket"], row["gold"], row["predicted"]) for row in rows]
    assert found == [("25-50%", 1, 0), ("no sentence", 0, 1)]


def test_verdict_and_tables_have_the_buckets() -> None:
    report = profile(*PATHS, layers={"entity": 2, "risk": 3}, feature="length")

    assert report.verdict().startswith("entity: lowest F1 with at least 20 spans: length ")
    assert [table.title for table in report.tables()] == ["entity: by length", "risk: by length"]
    row = report.rows()[0]
    assert report.scores()[f"exact.entity.length.{row['bucket']}.f1"] == row["f1"]
    assert "nach Länge" in page(report, lang="de")
    assert "* under 20" in report.render()


def test_training_data_says_what_was_seen() -> None:
    train = Document(
        "t", {"label": [Span(0, 1, "A"), Span(2, 4, "A")]}, tokens=["USA", "usa", "New", "York", "usa"]
    )
    spans = [Span(3, 4, "A"), Span(3, 4, "B"), Span(1, 2, "A"), Span(1, 3, "A"), Span(7, 8, "A")]

    assert buckets(spans, "seen", train=[train]) == {
        "text and label": (2, 2),
        "other label": (1, 1),
        "tokens": (1, 1),
        "none": (1, 1),
    }
    assert buckets(spans, "frequency", train=[train]) == {"0": (2, 2), "1": (3, 3)}
    assert buckets(spans, "consistency", train=[train]) == {"0": (3, 3), "below 0.5": (1, 1), "1": (1, 1)}


@pytest.mark.parametrize(
    ("tokens", "bucket"), [(["-", "Ulm", "Nord"], "none"), (["ULM-NORD", "x"], "tokens")]
)
def test_tokens_are_seen_whole_where_both_have_tokens(tokens: list[str], bucket: str) -> None:
    train = Document("t", {"label": [Span(0, len(tokens), "A")]}, tokens=tokens)
    new = Document("d", {"label": [Span(0, 1, "A")]}, tokens=["Ulm-Nord"])

    rows = profile([new], [new], feature="seen", train=[train]).rows()

    assert [row["bucket"] for row in rows] == [bucket]


@pytest.mark.parametrize("feature", ["frequency", "seen", "consistency"])
def test_training_data_may_have_other_tokens(feature: str) -> None:
    tokens = Document(
        "d", {"label": [Span(0, 2, "A"), Span(3, 6, "A")]}, tokens=["Dr.", "Lee", "met", "O", "'", "Brien"]
    )
    text = Document("d", {"label": [Span(0, 7, "A"), Span(12, 19, "A")]}, text="Dr. Lee met O'Brien")

    rows = [profile([tokens], [tokens], feature=feature, train=[tokens]).rows()]
    rows += [
        profile([gold], [gold], feature=feature, train=[train]).rows()
        for gold, train in ((text, tokens), (tokens, text))
    ]

    assert rows[1:] == rows[:1] * 2


@pytest.mark.parametrize(
    ("options", "bucket"),
    [({"label_map": "A=B"}, "text and label"), ({"untyped": True}, "text and label"), ({}, "other label")],
)
def test_training_data_are_changed_as_gold(options: dict[str, Any], bucket: str) -> None:
    train = Document("t", {"label": [Span(0, 1, "A")]}, tokens=TOKENS)

    assert buckets([Span(0, 1, "B")], "seen", train=[train], **options) == {bucket: (1, 1)}


def test_training_data_with_several_layers_in_any_order_have_each_range_once() -> None:
    layers = {"entity": [Span(0, 1, "A")], "risk": [Span(0, 1, "high")]}
    document = Document("d", layers, tokens=TOKENS)
    train = Document("t", {"none": [], **dict(reversed(layers.items()))}, tokens=TOKENS)
    exchanged = Document("t", dict(zip(layers, reversed(layers.values()), strict=True)), tokens=TOKENS)

    def found(train: Document, **options: Any) -> list[tuple[str, str]]:
        report = profile([document], [document], feature=["frequency", "seen"], train=[train], **options)
        return [(row["sequence"], row["bucket"]) for row in report]

    assert found(train) == [(layer, bucket) for layer in layers for bucket in ("1", "text and label")]
    assert found(train, merge=True) == [("merged", "1"), ("merged", "text and label")]
    assert found(exchanged, merge=True) == [("merged", "1"), ("merged", "other label")]


@pytest.mark.few(5)
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(
    "options",
    [{}, {"buckets": 3}, {"merge": True}, {"where": ["domain=a"]}, {"where": ["entity=PER"]}],
    ids=str,
)
def test_files_have_the_profile_of_their_documents(
    tmp_path: Path, scheme: str, options: dict[str, Any]
) -> None:
    reading: dict[str, Any] = {"layers": {"entity": 2, "risk": 3}, "token_id": 4}
    paths = [write(tmp_path / f"{n}.vrt", vrt(texts)) for n, texts in enumerate(corpora(6, scheme))]
    gold, predicted = (list(read(path, **reading)) for path in paths)

    try:
        expected = profile(gold, predicted, train=predicted, **options).rows()
    except UsageError as error:
        with pytest.raises(UsageError, match=re.escape(str(error))):
            profile(*paths, train=paths[1], **options, **reading).rows()
        return
    found = profile(*paths, train=paths[1], **options, **reading).rows()

    assert found == expected


def test_training_data_are_opened_as_other_paths_are(tmp_path: Path) -> None:
    (tmp_path / "train").mkdir()
    path = write(tmp_path / "train" / "a.vrt", Path(PATHS[0]).read_text(encoding="utf-8"))

    of_file, of_folder, of_pattern = (
        profile(*PATHS, train=train, **LAYERS) for train in (path, path.parent, str(path.parent / "*.vrt"))
    )

    assert of_file.rows() == of_folder.rows() == of_pattern.rows()
    assert of_file.signature == of_folder.signature == of_pattern.signature
    for wrong in ("nope", "\0", "\ud800", tmp_path / "nope"):
        with pytest.raises(FileError):
            profile(*PATHS, train=wrong, **LAYERS)


def test_texts_that_differ_are_an_error_with_its_place_as_in_score(tmp_path: Path) -> None:
    gold, predicted = tmp_path / "gold.conll", tmp_path / "predicted.conll"
    gold.write_text("Anna B-PER\nlacht O\n\n")
    predicted.write_text("Anna B-PER\nweint O\n\n")
    messages = []

    for command in (score, profile):
        with pytest.raises(TextMismatch) as error:
            command(gold, predicted).to_dict()
        messages.append(str(error.value))

    assert messages[0] == messages[1]
    assert f"{gold}:2: gold has the token 'lacht' where {predicted}:2 has 'weint'" in messages[0]


def test_buckets_of_equal_size_are_those_of_the_case() -> None:
    assert [range_name(*each) for each in equal_buckets([8, 2, 3, 2, 1], 4)] == ["1-2", "3", "8"]
    lengths = [Span(start, start + size, "A") for start, size in ((0, 8), (0, 2), (2, 3), (2, 2), (5, 1))]
    assert buckets(lengths, "length", buckets=4) == {"1-2": (3, 3), "3": (1, 1), "8": (1, 1)}


@given(st.lists(st.integers(0, 9), max_size=30), st.integers(1, 6))
def test_buckets_of_equal_size_hold_each_value_once(values: list[int], number: int) -> None:
    found = equal_buckets(values, number)

    assert len(found) <= number
    assert all(sum(least <= value <= greatest for least, greatest in found) == 1 for value in values)


@pytest.mark.parametrize("metric", ["exact", "levels"])
def test_supports_of_each_feature_add_up_to_the_whole(metric: str) -> None:
    found = profile(*PATHS, metric=metric, train=PATHS[0], **LAYERS)
    report = score(*PATHS, metrics=metric, **LAYERS).metrics[metric]["entity"]
    micro = report["labelled"]["entity"]["1"]["micro"] if metric == "levels" else report["micro"]

    by_feature: dict[str, list[dict[str, Any]]] = {}
    for row in found:
        by_feature.setdefault(row["feature"], []).append(row)
    assert by_feature.keys() == {*FEATURES, "frequency", "seen", "consistency"}
    for rows in by_feature.values():
        for name in ("gold", "predicted", "tp_gold", "tp_predicted"):
            assert sum(row[name] for row in rows) == pytest.approx(micro[name])
    assert "train:" in str(found.result.signature)
    assert all(row["few"] == (min(row["gold"], row["predicted"]) < 20) for row in found)


def test_exact_buckets_are_those_of_the_metric_with_a_filter() -> None:
    """`min_overlap` of 1, with the sizes of both, is exact matching by the general way."""
    from clueval.core.exact import Exact

    general = profile(*PATHS, metric=Exact(min_overlap=1, overlap_of="union"), **LAYERS)

    assert general.rows() == profile(*PATHS, **LAYERS).rows()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"feature": "weight"}, "no feature 'weight'"),
        ({"feature": "seen"}, "needs training data"),
        ({"buckets": 0}, "buckets must be from 1"),
        ({"metric": "exact,levels"}, "a profile needs exactly one metric, not 2"),
        *(
            ({"metric": name}, rf"'{name}' cannot count buckets alone \(use exact or levels\)")
            for name in ("muc", "coverage", "partial")
        ),
        ({"metric": "fair"}, "metric 'fair'"),
        ({"train": [1]}, "must be a file or a list of documents"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        profile(*PATHS, **LAYERS, **options)


def test_the_command_prints_text_markdown_and_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(write(tmp_path / "a.conll", "Anna B-PER\nsah O\nUlm B-LOC\n"))

    for form, part in (("text", "label: by length"), ("markdown", "| 1 |"), ("json", '"profile"')):
        assert main(["profile", path, path, "--feature", "length", "--format", form, "--train", path]) == 0
        output = capsys.readouterr().out
        assert part in output
    entry = json.loads(output)["profile"]["exact"]["label"]["length"][0]
    assert (entry["bucket"], entry["gold"], entry["few"]) == ("1", 2, True)


def test_mentions_without_a_position_count_in_files_as_in_memory(tmp_path: Path) -> None:
    gold = {"id": "x", "text": "Ada met Bob.", "label": [[0, 3, "PER"], [8, 11, "PER"]]}
    answer = {"id": "x", "response": '{"PER": ["Ada", "Eve", "Zoe", "Kim"]}'}
    files = [write(tmp_path / f"{len(row)}.jsonl", json.dumps(row)) for row in (gold, answer)]

    for sides in (files, [[gold], [answer]]):
        (row,) = profile(*sides, feature="label", input="mentions").rows()
        assert (row["precision"], row["predicted"]) == (0.25, 4)
