"""JSON formats of annotation tools and data sets: what is read, what is passed over, and what is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from contents import spans
from corpora import write

from clueval import Document, Span, documents_from, masking, read, score
from clueval.cli import main
from clueval.files.errors import FormatError, SpanError, TagError, UsageError

SAMPLES = Path(__file__).parents[2] / "clueval" / "samples" / "formats"


def only(path: Path, layers: Any = None, **options: Any) -> Document:
    (document,) = read(path, layers, **options)
    return document


class TestDoccano:
    def test_spans_are_lists_or_objects_with_metadata_and_ids_that_may_repeat(self) -> None:
        one, two, three = read(SAMPLES / "doccano" / "gold.jsonl")

        assert spans(one) == [(0, 11, "PER"), (15, 23, "LOC"), (26, 30, "LOC")]
        assert one.metadata == {"domain": "art", "year": "1907"}
        assert (two.text, spans(two)) == ("No one\r\nhere", [(0, 6, "1.0")])
        assert [one.id, two.id, three.id] == ["7", "8", "7"]

    def test_features_of_a_document_as_a_dictionary_are_read_in_files_and_in_memory(
        self, tmp_path: Path
    ) -> None:
        features = {"identifier_type": "DIRECT", "entity_id": "e1", "score": 0.5}
        document = Document("a", {"label": [Span(0, 3, "PER", features=features)]}, text="Ada")
        path = write(tmp_path / "a.jsonl", json.dumps(document.to_dict()))
        (in_memory,) = documents_from([document.to_dict()], "prodigy")

        assert only(path).layers["label"][0].features == features
        assert in_memory.layers["label"][0].features == features

    def test_a_missing_label_is_null_or_nan(self, tmp_path: Path) -> None:
        path = write(tmp_path / "a.jsonl", '{"text": "Ada", "label": [[0, 3, null], [0, 1, NaN]]}')

        assert [span.label for span in only(path).layers["label"]] == ["_", "_"]

    def test_other_values_of_an_object_are_features_of_its_span(self, tmp_path: Path) -> None:
        given = {"id": 4, "start_offset": 0, "end_offset": 3, "label": "PER", "manual": True, "user": "ada"}
        attributes = {"entity": "e1", "risk": "high", "score": 0.5, "sure": True}
        row = {"text": "Ada", "entities": [{**given, **attributes, "none": None, "several": [1]}]}
        (span,) = only(write(tmp_path / "a.jsonl", json.dumps(row))).layers["label"]

        assert (span.label, span.id, dict(span.features)) == ("PER", 4, attributes)

    def test_features_of_objects_are_the_classes_and_entities_of_masking(self, tmp_path: Path) -> None:
        places = {"start_offset": 0, "end_offset": 3, "label": "PER"}
        row = {"text": "Ada", "entities": [{**places, "entity": "e1", "risk": "high"}]}
        path = write(tmp_path / "a.jsonl", json.dumps(row))
        report = masking(path, path, risk_layer="risk", entity="entity").to_dict()["metrics"]["masking"][
            "label"
        ]

        assert report["classes"]["high"]["entities"] == 1

    def test_annotators_are_sets(self, tmp_path: Path) -> None:
        rows = [{"text": "Ada", "label": [[0, 3, "A"]], "username": name} for name in ("ada", "bob")]
        path = write(tmp_path / "a.jsonl", "\n".join(map(json.dumps, rows)))

        with pytest.raises(
            UsageError, match=r"several annotation sets, but none is named .its sets: 'ada', 'bob'"
        ):
            list(read(path))
        assert spans(only(path, annotation_set="bob")) == [(0, 3, "A")]
        with pytest.raises(UsageError, match="there is no annotation set 'eve'"):
            list(read(path, annotation_set="eve"))


class TestProdigy:
    def test_ignored_rows_are_passed_over_and_the_input_hash_is_the_id(self) -> None:
        one, two = read(SAMPLES / "prodigy" / "gold.jsonl")

        assert (one.id, two.id, one.metadata) == ("11", "13", {"source": "web"})
        assert list(one.layers["label"]) == [Span(0, 11, "PER", {"score": 0.5})]
        result = score(SAMPLES / "prodigy" / "gold.jsonl", SAMPLES / "prodigy" / "gold.jsonl")
        assert result.passed_over == {"gold": {"ignored": 1}, "predicted": {"ignored": 1}}

    def test_rows_without_an_input_hash_have_the_id_that_they_name(self, tmp_path: Path) -> None:
        row = '{"id": "%s", "text": "Ada", "spans": [{"start": 0, "end": 3, "label": "PER"}]}\n'
        path = write(tmp_path / "a.jsonl", row % "k1" + row % "k2")

        assert [document.id for document in read(path)] == ["k1", "k2"]
        assert [*score(path, path, by=["document"]).groups["document"]] == ["k1", "k2"]

    def test_values_that_prodigy_does_not_write_are_features(self, tmp_path: Path) -> None:
        features = {"risk": "high", "entity_id": 7, "score": "high"}
        noted = {"token_start": 0, "token_end": 0, "source": "x"}
        span = {"start": 0, "end": 3, "label": "PER", **noted, **features}
        path = write(tmp_path / "a.jsonl", json.dumps({"text": "Ada", "spans": [span]}))

        assert only(path).layers["label"][0].features == features

    @pytest.mark.parametrize("in_rows", [True, False])
    def test_a_score_that_is_a_word_is_kept_and_refused_where_a_number_is_needed(self, in_rows: bool) -> None:
        spans = [{"start": 0, "end": 3, "label": "PER", "score": "high"}]
        texts = [{"text": "Ada", "spans": spans}] if in_rows else [spans]

        assert score(texts, texts).f1 == 1
        with pytest.raises(FormatError, match="has the score 'high', which is not a number"):
            score(texts, texts, metrics="gate(score_feature='score')")

    def test_rejected_rows_are_refused_unless_only_accepted_ones_are_wanted(self) -> None:
        path = SAMPLES / "prodigy" / "rejected.jsonl"

        with pytest.raises(FormatError, match=r"rejected.jsonl:1: the row has the answer 'reject'"):
            list(read(path))
        assert only(path, answers="accepted").id == "12"
        assert score(path, path, answers="accepted").passed_over["gold"] == {"rejected": 1}

    @pytest.mark.parametrize(
        ("token", "says"),
        [
            ({"text": 3, "start": 0, "end": 1}, "the text of a token is not a text"),
            ({"text": "Ada", "start": 0, "end": 2}, "the token at 0 to 2 has 3 characters, or overlaps"),
            ({"text": "Ada", "start": 20_000, "end": 20_003}, "there are 20,000 characters before the token"),
        ],
    )
    def test_tokens_that_make_no_text_are_refused(
        self, token: dict[str, Any], says: str, tmp_path: Path
    ) -> None:
        path = write(tmp_path / "a.jsonl", json.dumps({"tokens": [token], "spans": [], "_input_hash": 1}))

        with pytest.raises(FormatError, match=says):
            only(path)


class TestLabelStudio:
    TASKS = SAMPLES / "label-studio" / "tasks.json"

    def test_annotators_ground_truth_and_models_are_sets(self) -> None:
        both = [(2, 13, "PER"), (2, 13, "ART"), (17, 25, "LOC")]

        assert spans(only(self.TASKS, annotation_set="ada@x.org")) == both
        assert spans(only(self.TASKS, annotation_set="1")) == both
        assert spans(only(self.TASKS, annotation_set="ground-truth")) == both
        assert spans(only(self.TASKS, annotation_set="bob@x.org")) == [(2, 7, "PER")]
        assert spans(only(self.TASKS, annotation_set="prediction:m1")) == [(17, 25, "LOC")]
        with pytest.raises(UsageError, match=r"its sets: 'ada@x.org', 'bob@x.org', 'prediction:m1'"):
            list(read(self.TASKS))

    def test_choices_and_scores_are_features_of_regions_or_metadata(self) -> None:
        document = only(self.TASKS, annotation_set="1")

        assert document.layers["label"][0].features == {"sure": "high", "score": 0.9}
        assert document.metadata == {"source": "web", "topic": "art,life"}

    def test_only_what_belongs_to_the_set_is_passed_over(self) -> None:
        sets = {"gold_set": "1", "predicted_set": "prediction:m1"}

        assert score(self.TASKS, self.TASKS, metrics="muc", **sets).passed_over == {
            "gold": {"cancelled": 1, "drafts": 1, "relations": 1},
            "predicted": {},
        }

    def test_utf16_positions_are_recognised_by_the_texts_of_the_regions(self) -> None:
        assert spans(only(SAMPLES / "label-studio" / "utf16.json")) == [(2, 13, "PER")]

    def test_json_min_has_a_row_for_each_annotation(self) -> None:
        one, two = read(SAMPLES / "label-studio" / "min.jsonl")

        assert (spans(one), spans(two), one.metadata) == ([(2, 13, "PER")], [], {"source": "web"})

    def task(self, **changes: Any) -> str:
        value = {"start": 0, "end": 1, "text": "a", "labels": ["X"]}
        result = [{"from_name": name, "type": "labels", "value": value} for name in ("one", "two")]
        task = {"id": 1, "data": {"text": "ab"}, "annotations": [{"completed_by": 1, "result": result}]}
        return json.dumps({**task, **changes})

    def test_controls_are_the_sources_of_layers(self, tmp_path: Path) -> None:
        path = write(tmp_path / "a.json", self.task())

        with pytest.raises(UsageError, match="labels of several controls: one, two"):
            list(read(path))
        assert list(only(path, {"x": "two"}).layers) == ["x"]

    def test_the_text_is_named_if_there_are_several(self, tmp_path: Path) -> None:
        path = write(tmp_path / "a.json", self.task(data={"q": "ab", "a": "a"}))

        with pytest.raises(FormatError, match=r"the data has 2 texts: q, a .*text_key"):
            list(read(path, {"x": "two"}))
        document = only(path, {"x": "two"}, text_key="a")
        assert (document.text, document.metadata) == ("a", {"q": "ab"})

    def test_positions_in_html_are_refused(self, tmp_path: Path) -> None:
        value = {"start": "/p[1]", "startOffset": 0, "endOffset": 1, "hypertextlabels": ["X"]}
        result = [{"from_name": "l", "type": "hypertextlabels", "value": value}]
        path = write(tmp_path / "a.json", self.task(annotations=[{"completed_by": 1, "result": result}]))

        with pytest.raises(FormatError, match="a region of HTML"):
            list(read(path))


class TestSpacyJson:
    @pytest.mark.parametrize("name", ["train.json", "pairs.jsonl"])
    def test_training_pairs_are_elements_or_lines(self, name: str) -> None:
        one, two = read(SAMPLES / "spacy-json" / name)

        assert (spans(one), two.text, two.id) == ([(0, 11, "PER")], "None", "2")

    def test_groups_of_spans_are_sources(self) -> None:
        document = only(SAMPLES / "spacy-json" / "docs.jsonl", {"entity": "entities", "group": "spans.sc"})

        assert spans(document, "entity") == [(0, 11, "PER")]
        assert spans(document, "group") == [(6, 18, "X")]

    def test_tokens_of_version_2_have_tags_and_unknown_ones_are_counted(self) -> None:
        path = SAMPLES / "spacy-json" / "v2.json"
        document = only(path)

        assert (document.tokens, spans(document)) == (["Frida", "paints", "."], [(0, 1, "PER")])
        assert score(path, path).passed_over["gold"] == {"unknown tokens": 1}


class TestTokenRows:
    def test_a_row_is_a_document_and_null_is_no_tag(self) -> None:
        path = SAMPLES / "token-rows" / "gold.jsonl"
        one, two, three = read(path)

        assert (spans(one), spans(two), spans(three)) == ([(0, 2, "PER")], [], [(1, 2, "LOC")])
        result = score(path, path)
        assert result.passed_over["gold"] == {"ignored positions": 1}
        assert result.signature.choices["scheme"] == "BIO"

    @pytest.mark.parametrize(
        "names",
        [
            SAMPLES / "token-rows" / "dataset_info.json",
            ["O", "B-PER", "I-PER"],
            {"id2label": {"0": "O", "1": "B-PER", "2": "I-PER"}},
        ],
        ids=["file", "list", "id2label"],
    )
    def test_numbers_of_tags_have_names_in_a_file_a_list_or_a_mapping(self, names: Any) -> None:
        path = SAMPLES / "token-rows" / "ids.jsonl"

        assert spans(only(path, names=names)) == [(0, 2, "PER")]
        with pytest.raises(FormatError, match=r"are numbers without names .*names='FILE'"):
            list(read(path))
        with pytest.raises(FormatError, match="the number 1 of 'ner_tags' has no name"):
            list(read(path, names=["O"]))

    def test_ill_formed_tag_is_refused_with_its_row(self, tmp_path: Path) -> None:
        path = write(tmp_path / "a.jsonl", '{"tokens": ["a"], "ner_tags": ["I-X"]}')

        with pytest.raises(TagError, match=r"a\.jsonl:1, document '1'"):
            list(read(path, scheme="BIO", invalid="error"))


class TestTab:
    GOLD = SAMPLES / "tab" / "gold.json"

    def test_annotators_are_sets_and_sources_are_three_keys(self) -> None:
        document = only(
            self.GOLD, {"type": "entity_type", "risk": "identifier_type"}, annotation_set="annotator1"
        )

        assert spans(document, "type") == [(18, 27, "PERSON"), (41, 45, "DATETIME")]
        assert spans(document, "risk") == [(18, 27, "DIRECT"), (41, 45, "QUASI")]
        assert document.layers["type"][0].features == {
            "entity_id": "001_e1",
            "identifier_type": "DIRECT",
            "confidential_status": "NOT_CONFIDENTIAL",
        }
        assert document.metadata == {"year": "2001", "countries": "NOR", "dataset_type": "dev"}

    def test_predictions_are_positions_without_text_and_label(self) -> None:
        document = only(SAMPLES / "tab" / "predicted.json")

        assert (document.id, document.text, spans(document)) == (
            "001-1",
            None,
            [(18, 27, "_"), (41, 45, "_")],
        )
        result = score(self.GOLD, SAMPLES / "tab" / "predicted.json", gold_set="annotator1", metrics="levels")
        assert result.metrics["levels"]["label"]["unlabelled"]["1"]["f1"] == 1.0


def test_options_of_formats_work_on_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    path = str(SAMPLES / "token-rows" / "ids.jsonl")
    names = str(SAMPLES / "token-rows" / "dataset_info.json")

    assert main(["score", path, path, "--names", names, "--metric", "exact", "--format", "json"]) == 0

    report = json.loads(capsys.readouterr().out)
    assert report["metrics"]["exact"]["label"]["micro"]["f1"] == 1.0
    assert report["passed_over"]["gold"] == {"ignored positions": 1}


def test_token_rows_with_sentences_of_their_own_have_one_sentence(tmp_path: Path) -> None:
    row = {"tokens": ["a", "b"], "ner_tags": ["B-X", "I-X"], "sentences": [[0, 1], [1, 2]]}
    (tmp_path / "rows.jsonl").write_text(json.dumps(row))

    [document] = read(tmp_path / "rows.jsonl")

    assert ([(span.start, span.end) for span in document.layers["label"]], document.sentences) == (
        [(0, 2)],
        (),
    )


@pytest.mark.parametrize(
    ("row", "shorter"),
    [
        ({"text": "abc", "spans": [{"start": 0, "end": 3, "label": "X"}]}, {"text": "ab"}),
        ({"tokens": ["a", "b"], "tags": ["O", "B-X"]}, {"tokens": ["a"], "tags": {}}),
    ],
)
def test_spans_of_a_row_are_checked_again_if_a_document_gets_a_shorter_text(
    row: dict[str, Any], shorter: dict[str, Any], tmp_path: Path
) -> None:
    (document,) = read(write(tmp_path / "gold.jsonl", json.dumps(row)))

    with pytest.raises(SpanError, match="lies outside the text"):
        replace(document, **shorter)
