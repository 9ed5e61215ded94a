"""JSON of data sets, of libraries and of services: what is read, what is passed over, and what is refused."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from contents import spans
from corpora import write

from clueval import Document, documents_from, read, score
from clueval.files.errors import FormatError, SpanError, UsageError

SAMPLES = Path(__file__).parents[2] / "clueval" / "samples" / "formats"


@pytest.fixture
def read_rows(tmp_path: Path) -> Any:
    """Return the documents of rows, given as objects or as the content of a file."""

    def found(*rows: Any, **options: Any) -> list[Document]:
        content = "\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows)
        return list(read(write(tmp_path / "a.json", content), **options))

    return found


def interval(start: int, end: int) -> dict[str, int]:
    return {"start_pos": start, "end_pos": end}


def extraction(label: str, text: str, place: object = None, **more: Any) -> dict[str, Any]:
    return {"extraction_class": label, "extraction_text": text, "char_interval": place, **more}


GOLDS = {
    "doccano": '{"id": "d", "text": "In Ulm lives Ada", "label": [[3, 6, "LOC"], [13, 16, "PER"]]}',
    "conll": "# newdoc id = d\nIn O\nUlm B-LOC\nlives O\nAda B-PER\n",
}


class TestLangExtract:
    def test_sample_has_fuzzy_texts_and_features(self) -> None:
        one, two = read(SAMPLES / "langextract" / "gold.jsonl")

        assert (one.id, spans(one)) == ("doc_1a2b3c4d", [(0, 12, "PER"), (22, 30, "LOC")])
        first, second = (dict(span.features) for span in one.layers["label"])
        assert first == {"role": "painter", "alignment_status": "match_fuzzy"}
        assert second == {"alignment_status": "match_exact"}
        assert spans(two) == []

    def test_extractions_may_share_place_and_class(self, read_rows: Any) -> None:
        both = [extraction("X", "a", interval(0, 1)), extraction("X", "b", interval(0, 1))]

        (document,) = read_rows({"extractions": both, "text": "a", "document_id": "d"})
        assert spans(document) == [(0, 1, "X"), (0, 1, "X")]

    @pytest.mark.parametrize("nowhere", [None, {}, {"start_pos": None, "end_pos": None}])
    def test_extraction_without_interval_is_passed_over_in_gold_and_wrong_in_predicted(
        self, tmp_path: Path, nowhere: object
    ) -> None:
        row = {"extractions": [extraction("LOC", "Munich", nowhere)], "text": "In Ulm", "document_id": "d"}
        path = write(tmp_path / "a.jsonl", json.dumps(row))
        ulm = {
            "extractions": [extraction("LOC", "Ulm", interval(3, 6))],
            "text": "In Ulm",
            "document_id": "d",
        }
        gold = write(tmp_path / "g.jsonl", json.dumps(ulm))

        assert [spans(document) for document in read(path)] == [[]]
        assert score(path, gold, metrics="exact").passed_over["gold"] == {"unaligned extractions": 1}
        result = score(gold, path, metrics="exact")
        counts = result.metrics["exact"]["label"]["micro"]
        assert (counts["fn"], counts["fp"]) == (1, 1)
        assert result.passed_over == {"gold": {}, "predicted": {}}
        assert result.unprojected is not None
        assert [(each.document, each.span.features["mention"]) for each in result.unprojected] == [
            ("d", "Munich")
        ]

    @pytest.mark.parametrize("metric", ["exact", "strings", "muc"])
    @pytest.mark.parametrize(
        "options",
        [{}, {"unit": "token"}, {"align": True}, {"pair_by": "id"}, {"jobs": 2}, {"merge": True}],
        ids=str,
    )
    @pytest.mark.parametrize("form", GOLDS)
    def test_unplaced_extraction_is_wrong_beside_gold_of_any_format(
        self, tmp_path: Path, form: str, options: dict[str, Any], metric: str
    ) -> None:
        if metric == "strings" and options.keys() & {"align", "merge"}:
            return
        own = [extraction("LOC", "Ulm", interval(3, 6)), extraction("PER", "Bob")]
        row = {"extractions": own, "text": "In Ulm lives Ada", "document_id": "d"}
        gold = write(tmp_path / "gold.txt", GOLDS[form])
        result = score(gold, write(tmp_path / "p.jsonl", json.dumps(row)), metrics=metric, **options)

        assert (result.precision, result.recall) == (0.5, 0.5)

    def test_results_with_unplaced_extractions_can_be_added(self, tmp_path: Path) -> None:
        row = {"extractions": [extraction("PER", "Bob")], "text": "In Ulm lives Ada", "document_id": "d"}
        gold = write(tmp_path / "gold.txt", GOLDS["doccano"])
        one = score(gold, write(tmp_path / "p.jsonl", json.dumps(row)), metrics="exact")
        both = one + one

        assert both.metrics["exact"]["label"]["micro"]["fp"] == 2
        assert [each.span.label for each in both.unprojected or ()] == ["PER", "PER"]
        assert one.inputs["predicted"]["layers"]["label"]["spans"] == 1

    def test_mentions_of_the_same_file_ignore_intervals(self, tmp_path: Path) -> None:
        own = [extraction("LOC", "Ulm", interval(0, 3)), extraction("PER", "Bob")]
        row = {"extractions": own, "text": "In Ulm lives Ada", "document_id": "d"}
        gold = write(tmp_path / "gold.txt", GOLDS["doccano"])
        result = score(gold, write(tmp_path / "p.jsonl", json.dumps(row)), input="mentions", metrics="exact")

        assert (result.precision, result.recall) == (0.5, 0.5)

    def test_extraction_has_a_place_or_none(self, read_rows: Any) -> None:
        row = {"extractions": [extraction("X", "a", {"start_pos": 3})], "text": "a", "document_id": "d"}

        with pytest.raises(FormatError, match=r"a.json:1: the end_pos of a span is missing"):
            read_rows(row)


class TestAi4Privacy:
    def test_samples_have_masks_as_lists_or_labels_as_texts(self) -> None:
        one, two = read(SAMPLES / "ai4privacy" / "mask.jsonl")
        (labelled,) = read(SAMPLES / "ai4privacy" / "labels.jsonl")

        assert (one.id, spans(one)) == ("40767", [(5, 9, "FIRSTNAME"), (16, 21, "ZIP")])
        assert (one.metadata, spans(two)) == ({"language": "en"}, [])
        assert (labelled.id, spans(labelled), labelled.metadata) == ("1", [(4, 8, "GIVENNAME1")], {})

    def test_source_may_be_named(self) -> None:
        one, _ = read(SAMPLES / "ai4privacy" / "mask.jsonl", {"label": "span_labels"})

        assert spans(one) == [(5, 9, "FIRSTNAME")]

    @pytest.mark.parametrize(
        "mask", [{"[N_1]": "Omer"}, "{'[N_1]': 'Omer'}", [{"value": "Omer", "label": "N"}]]
    )
    def test_values_without_positions_are_refused(self, read_rows: Any, mask: object) -> None:
        with pytest.raises(
            FormatError, match=r"a.json:1: 'privacy_mask' has no positions .*input='mentions'"
        ):
            read_rows({"unmasked_text": "Omer", "privacy_mask": mask})

    @pytest.mark.parametrize("mask", [None, {}, "{}", {"[N_1]": "Omer"}])
    def test_labels_are_read_where_a_mask_has_no_positions(self, read_rows: Any, mask: object) -> None:
        row = {"unmasked_text": "Omer", "privacy_mask": mask, "span_labels": [[0, 4, "N_1"]]}

        assert spans(*read_rows(row)) == [(0, 4, "N")]
        assert spans(*read_rows({"unmasked_text": "Omer", "privacy_mask": {}})) == []

    def test_text_of_a_mask_must_be_at_its_positions(self, read_rows: Any) -> None:
        with pytest.raises(FormatError, match=r"a.json:1.*text of span \[0,4\) differs"):
            read_rows(
                {"text": "Omar", "privacy_mask": [{"value": "Omer", "start": 0, "end": 4, "label": "N"}]}
            )


class TestNemotron:
    def test_sample_has_ids_by_locale(self) -> None:
        one, two = read(SAMPLES / "nemotron" / "gold.jsonl")

        assert (one.id, two.id) == ("7f/us", "7f/intl")
        assert spans(one) == [(0, 4, "first_name"), (14, 19, "postcode")]
        assert one.metadata == {"locale": "us", "domain": "Finance"}

    @pytest.mark.parametrize(
        ("given", "fits"), [(2134, True), (2134.0, True), ("2134", False), (2135, False)]
    )
    def test_text_of_a_span_may_be_a_whole_number(self, read_rows: Any, given: object, fits: bool) -> None:
        span = {"start": 0, "end": 5, "text": given, "label": "zip"}
        row = {"text": "02134", "spans": [span], "text_tagged": ""}

        if fits:
            assert spans(*read_rows(row)) == [(0, 5, "zip")]
        else:
            with pytest.raises(FormatError, match="differs from the text at its positions"):
                read_rows(row)

    @pytest.mark.parametrize("given", [True, [1], {}])
    def test_text_of_a_span_is_a_text_or_a_number(self, read_rows: Any, given: object) -> None:
        span = {"start": 0, "end": 1, "text": given, "label": "zip"}

        with pytest.raises(FormatError, match="the text of a span is not a text"):
            read_rows({"text": "1", "spans": [span], "text_tagged": ""})


PERSON = {"entity_type": "PERSON", "start": 0, "end": 3, "score": 0.85}


class TestPresidio:
    def test_samples_are_unordered_and_have_metadata(self) -> None:
        (one,) = read(SAMPLES / "presidio" / "samples.json")

        assert spans(one) == [(5, 8, "PERSON"), (14, 17, "GPE")]
        assert (one.id, one.metadata) == ("1", {"template_id": "7", "Gender": "female"})

    @pytest.mark.parametrize("key", ["results", "recognizer_results", "analyzer_results"])
    def test_results_have_features_and_explanations_are_passed_over(self, tmp_path: Path, key: str) -> None:
        row = json.loads((SAMPLES / "presidio" / "results.jsonl").read_text())
        row |= {key: row.pop("results"), "domain": "x", "id": "d1"}
        path = write(tmp_path / "a.jsonl", json.dumps(row))
        (document,) = read(path)
        (span,) = document.layers["label"]

        assert (document.id, document.metadata) == ("d1", {"domain": "x"})
        assert (span.start, span.end, span.label) == (5, 8, "PERSON")
        assert span.features == {"score": 0.85, "recognizer": "SpacyRecognizer"}
        assert score(path, path).passed_over["gold"] == {"explanations": 1}

    ONE, NONE = f"[{json.dumps(PERSON)}]", "[]"

    @pytest.mark.parametrize(
        ("content", "numbers"),
        [
            (ONE, [1]),
            (f"{ONE}\n{NONE}\n{ONE}\n", [1, 0, 1]),
            (f"{NONE}\n{ONE}\n", [0, 1]),
            (f"[{ONE}, {NONE}]", [1, 0]),
            (f"[{NONE}, {NONE}, {ONE}]", [0, 0, 1]),
            (json.dumps([[PERSON], []], indent=2), [1, 0]),
            (json.dumps([PERSON], indent=2), [1]),
            (f"\ufeff{ONE}\r\n{NONE}\r\n", [1, 0]),
        ],
    )
    def test_answers_of_the_server_are_documents_in_order(
        self, read_rows: Any, content: str, numbers: list[int]
    ) -> None:
        documents = read_rows(content)

        assert [len(document.layers["label"]) for document in documents] == numbers
        assert [document.id for document in documents] == [str(n) for n in range(1, len(numbers) + 1)]

    def test_empty_answer_alone_needs_the_name_of_the_format(self, read_rows: Any) -> None:
        assert read_rows("[]") == []
        assert [spans(document) for document in read_rows("[]", input="presidio")] == [[]]

    def test_answers_belong_to_the_documents_of_gold_in_order(self, tmp_path: Path) -> None:
        rows = [{"id": name, "text": "Ada!", "label": [[0, 3, "PERSON"]]} for name in ("a", "b")]
        gold = write(tmp_path / "gold.jsonl", "\n".join(map(json.dumps, rows)))
        answers = write(tmp_path / "answers.jsonl", f"{self.ONE}\n{self.NONE}\n")
        result = score(gold, answers, metrics="exact")

        assert (result.precision, result.recall) == (1.0, 0.5)

    @pytest.mark.parametrize("key", ["label", "results"])
    def test_answer_beyond_the_text_of_gold_is_refused(self, tmp_path: Path, key: str) -> None:
        gold = write(tmp_path / "gold.jsonl", json.dumps({"id": "a", "text": "Ad", key: []}))
        answers = write(tmp_path / "answers.jsonl", self.ONE)

        with pytest.raises(SpanError, match=r"answers.jsonl:1, document 'a': span \[0,3\)"):
            score(gold, answers)

    def test_competition_rows_with_tokens_stay_rows_of_tokens(self, read_rows: Any) -> None:
        row = {"document": 7, "full_text": "Ada!", "tokens": ["Ada", "!"], "labels": ["B-NAME", "O"]}

        assert spans(*read_rows(row)) == [(0, 1, "NAME")]


class TestGliner:
    def test_sample_has_inclusive_ends_and_nested_spans(self) -> None:
        one, two = read(path := SAMPLES / "gliner" / "gold.json")

        assert spans(one) == [(1, 3, "city"), (2, 3, "county"), (4, 5, "city")]
        assert (one.tokens, spans(two)) == (["In", "New", "York", "and", "Ulm"], [])
        assert score(path, path, metrics="exact").passed_over["gold"] == {"relations": 1}

    @pytest.mark.parametrize("place", [[1, 2], [2, 1], [-1, 0]])
    def test_span_beyond_the_tokens_is_refused(self, read_rows: Any, place: list[int]) -> None:
        with pytest.raises(SpanError, match=r"a.json:1, document '1': .*GLiNER's ends are inclusive"):
            read_rows({"tokenized_text": ["In", "Ulm"], "ner": [[*place, "city"]]})


class TestSpert:
    def test_sample_has_exclusive_ends(self) -> None:
        one, two = read(path := SAMPLES / "spert" / "gold.json")

        assert (one.id, spans(one)) == ("5284", [(1, 3, "Loc"), (4, 5, "Loc")])
        assert (two.id, spans(two)) == ("5285", [])
        assert score(path, path).passed_over["gold"] == {"relations": 1}


class TestComprehend:
    def test_lines_of_the_sample_are_put_in_order(self, tmp_path: Path) -> None:
        rows = [
            {"id": name, "text": text, "label": [[5, 8, "PERSON"]]}
            for name, text in (("x", "No one's"), ("y", "I am Ada"))
        ]
        gold = write(tmp_path / "gold.jsonl", "\n".join(map(json.dumps, rows)))
        answers = SAMPLES / "comprehend" / "output.jsonl"

        assert [spans(document) for document in read(answers)] == [[], [(5, 8, "PERSON")]]
        assert next(iter(list(read(answers))[1].layers["label"])).features == {"score": 0.99}
        assert score(gold, answers, metrics="exact").recall == 0.5

    @pytest.mark.parametrize(
        ("more", "says"),
        [
            ({"ErrorCode": "DOCUMENT_SIZE_EXCEEDED", "Line": 1}, "a.json:2: Comprehend has no results"),
            ({"Line": 0, "Entities": []}, "a.json:2: 'Line' is 0 where line 1 is expected"),
            ({"Line": 2, "Entities": []}, "a.json:2: 'Line' is 2 where line 1 is expected"),
            ({"Entities": []}, "a.json:2: 'Line' is no number"),
            ({"Line": 1}, "a.json:2: the row has no key 'Entities'"),
            (
                {"Line": 1, "Entities": [{"BeginOffset": 1, "Type": "X"}]},
                "the EndOffset of a span is missing",
            ),
        ],
    )
    def test_lines_without_results_are_refused(self, read_rows: Any, more: dict[str, Any], says: str) -> None:
        with pytest.raises(FormatError) as caught:
            read_rows(
                {"Entities": [{"BeginOffset": 0, "EndOffset": 1, "Type": "X"}], "File": "t", "Line": 0},
                {"File": "t", **more},
            )

        assert says in str(caught.value)


TEXT = "Åda 😀 Ulm"
ROWS: dict[str, dict[str, Any]] = {
    "langextract": {
        "document_id": "d",
        "text": TEXT,
        "extractions": [extraction("LOC", "Ulm", interval(6, 9))],
    },
    "ai4privacy": {
        "source_text": TEXT,
        "privacy_mask": [{"value": "Ulm", "start": 6, "end": 9, "label": "LOC"}],
    },
    "nemotron": {
        "text": TEXT,
        "spans": [{"text": "Ulm", "start": 6, "end": 9, "label": "LOC"}],
        "text_tagged": "",
    },
    "presidio": {
        "full_text": TEXT,
        "spans": [{"entity_value": "Ulm", "start_position": 6, "end_position": 9, "entity_type": "LOC"}],
    },
    "presidio, results": {"text": TEXT, "results": [{"start": 6, "end": 9, "entity_type": "LOC"}]},
    "presidio, answer": [{"start": 6, "end": 9, "entity_type": "LOC"}],  # type: ignore[dict-item]
    "gliner": {"tokenized_text": ["Åda", "😀", "Ulm"], "ner": [[2, 2, "LOC"]]},
    "spert": {"tokens": ["Åda", "😀", "Ulm"], "entities": [{"start": 2, "end": 3, "type": "LOC"}]},
    "comprehend": {"File": "t", "Line": 0, "Entities": [{"BeginOffset": 6, "EndOffset": 9, "Type": "LOC"}]},
}
LIST_OF = {
    "langextract": "extractions",
    "ai4privacy": "privacy_mask",
    "nemotron": "spans",
    "presidio": "spans",
    "presidio, results": "results",
    "gliner": "ner",
    "spert": "entities",
    "comprehend": "Entities",
}
"""The key of the list of spans."""


WITHOUT_TEXT = ("presidio, answer", "comprehend")


def name_of(form: str) -> str:
    return form.partition(",")[0]


def place_of(form: str) -> list[tuple[int, int, str]]:
    return [(2, 3, "LOC")] if form in ("gliner", "spert") else [(6, 9, "LOC")]


def changed(value: Any, change: Any) -> Any:
    """A value with all its numbers changed."""
    if isinstance(value, dict):
        return {key: each if key == "Line" else changed(each, change) for key, each in value.items()}
    if isinstance(value, list):
        return [changed(each, change) for each in value]
    return change(value) if isinstance(value, int) else value


@pytest.mark.parametrize("form", ROWS)
class TestEachShape:
    def test_file_may_be_lines_an_array_or_packed_with_any_line_ends(self, form: str, tmp_path: Path) -> None:
        row = ROWS[form]
        contents = [
            json.dumps(row),
            f"\ufeff{json.dumps(row, ensure_ascii=False)}\r\n",
            json.dumps([row]),
            json.dumps([row], indent=1),
            json.dumps(row, indent=1),
        ]
        for content in contents:
            for path in (tmp_path / "a.json", tmp_path / "a.json.gz"):
                data = content.encode()
                path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
                assert [spans(document) for document in read(path)] == [place_of(form)]

    def test_format_may_be_named_and_rows_may_be_in_memory(self, form: str, read_rows: Any) -> None:
        named = read_rows(ROWS[form], input=name_of(form))

        assert named == read_rows(ROWS[form])
        assert list(documents_from([ROWS[form]], name_of(form))) == named

    def test_positions_may_be_written_with_a_point(self, form: str, read_rows: Any) -> None:
        assert spans(*read_rows(changed(ROWS[form], float))) == place_of(form)

    @pytest.mark.parametrize("bad", [True, "6", None, float("nan"), 6.5, [6], 10**30, -1])
    def test_other_positions_are_refused_with_the_row(self, form: str, read_rows: Any, bad: object) -> None:
        if (form == "langextract" and bad is None) or (form in WITHOUT_TEXT and bad == 10**30):
            return
        with pytest.raises((FormatError, SpanError)) as caught:
            read_rows(changed(ROWS[form], lambda _: bad))
        assert caught.value.line == 1
        assert len(str(caught.value)) < 400

    def test_row_of_another_shape_is_refused_with_its_number(self, form: str, read_rows: Any) -> None:
        others = [{"text": "a", "label": []}, {"tokens": [], "ner_tags": []}, {}, 5, "x", None]
        for other in others if form != "comprehend" else others[:3]:
            with pytest.raises(FormatError) as caught:
                read_rows(ROWS[form], json.dumps(other), ROWS[form], input=name_of(form))
            assert caught.value.line == 2 or form == "comprehend"

    def test_missing_list_of_spans_is_refused(self, form: str, read_rows: Any) -> None:
        if form not in LIST_OF:
            return
        row = {key: value for key, value in ROWS[form].items() if key != LIST_OF[form]}

        with pytest.raises(FormatError, match=r"a.json:1: the row has no (text|spans|key)"):
            read_rows(row, input=name_of(form))

    def test_list_may_be_empty_null_or_a_text(self, form: str, read_rows: Any) -> None:
        if form not in LIST_OF:
            return
        items = ROWS[form][LIST_OF[form]]
        for none in ([], None, "[]", " [ ]\n"):
            assert spans(*read_rows({**ROWS[form], LIST_OF[form]: none}, input=name_of(form))) == []
        for text in (json.dumps(items), repr(items), repr(items).replace(", {", "\n {")):
            row = {**ROWS[form], LIST_OF[form]: text}
            assert spans(*read_rows(row, input=name_of(form))) == place_of(form)

    @pytest.mark.parametrize("text", ["[" * 50_000, "[...]", "[a]", "{}", "5", "'x'", ""])
    def test_text_that_is_no_list_is_refused(self, form: str, read_rows: Any, text: str) -> None:
        if form not in LIST_OF or (form, text) == ("ai4privacy", "{}"):  # an object without values
            return
        with pytest.raises(FormatError) as caught:
            read_rows({**ROWS[form], LIST_OF[form]: text}, input=name_of(form))
        assert caught.value.line == 1

    def test_other_keys_change_nothing_and_labels_may_be_missing(self, form: str, read_rows: Any) -> None:
        if form == "presidio, answer":
            return
        row = {**ROWS[form], "other": [1], "more": {"a": 1}}
        assert spans(*read_rows(row)) == place_of(form)
        unlabelled = json.loads(json.dumps(ROWS[form]).replace('"LOC"', "null"))
        ((_, _, label),) = spans(*read_rows(unlabelled))
        assert label == "_"


def test_positions_may_count_utf16(read_rows: Any) -> None:
    for form in ("langextract", "ai4privacy", "nemotron", "presidio", "presidio, results"):
        row = changed(ROWS[form], lambda place: place + 1)
        assert spans(*read_rows(row, offsets="utf16")) == [(6, 9, "LOC")]
    with pytest.raises((FormatError, SpanError), match="offsets='utf16'"):
        read_rows(changed(ROWS["nemotron"], lambda place: place + 1))
    with pytest.raises(FormatError, match="need the text"):
        read_rows(json.dumps(ROWS["presidio, answer"]), offsets="utf16")


def test_sources_of_layers_are_checked(read_rows: Any) -> None:
    with pytest.raises(UsageError, match="its sources: privacy_mask, span_labels"):
        read_rows(ROWS["ai4privacy"], layers={"label": "mask"})


def test_doccano_and_prodigy_read_lists_in_texts(read_rows: Any) -> None:
    assert spans(*read_rows({"text": "Ada", "label": "[[0, 3, 'PER']]"})) == [(0, 3, "PER")]
    assert spans(*read_rows({"text": "Ada", "entities": "[(0, 3, 'PER')]"})) == [(0, 3, "PER")]
    item = "[{'start': 0, 'end': 3, 'label': 'PER'}]"
    assert spans(*read_rows({"text": "Ada", "spans": item})) == [(0, 3, "PER")]
