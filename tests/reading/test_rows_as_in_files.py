"""Rows in memory are read as a file of them is: with the same counts or the same error, and the same metadata."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from unittest.mock import ANY

import pandas
import pytest

from clueval import CluevalError, CluevalWarning, FormatError, TextMismatch, UsageError, agree, score

SAMPLES = Path(__file__).parents[2] / "clueval" / "samples" / "formats"

pytestmark = pytest.mark.filterwarnings("ignore::clueval.CluevalWarning")

TEXT = "Frida Kahlo in Bern"
DIALECTS: dict[str, Any] = {
    "doccano": {"id": 1, "text": TEXT, "label": [{"start_offset": 0, "end_offset": 11, "label": "PER"}]},
    "doccano's lists": {"id": 1, "data": TEXT, "labels": [[0, 11, "PER"], [15, 19, "LOC"]]},
    "pipeline": {
        "id": 1,
        "text": TEXT,
        "entities": [{"start": 0, "end": 11, "entity_group": "PER", "score": 0.5}],
    },
    "prodigy": {
        "text": TEXT,
        "_input_hash": 7,
        "spans": [{"start": 0, "end": 11, "token_start": 0, "token_end": 1, "label": "PER"}],
        "answer": "accept",
    },
    "fragments": {
        "text": TEXT,
        "_input_hash": 7,
        "spans": [{"fragments": [[0, 5], [12, 14]], "label": "PER"}],
        "answer": "accept",
    },
    "spacy": {"text": TEXT, "ents": [{"start": 0, "end": 11, "label": "PER"}]},
    "spacy's pairs": [TEXT, {"entities": [[0, 11, "PER"]]}],
    "label-studio": {
        "id": 1,
        "text": TEXT,
        "label": [{"start": 0, "end": 11, "text": "Frida Kahlo", "labels": ["PER"]}],
        "annotator": 1,
        "annotation_id": 4,
    },
    "tokens": {"id": 1, "tokens": TEXT.split(), "ner_tags": ["B-PER", "I-PER", "O", "B-LOC"]},
    "no tokens": {"id": 1, "tokens": [], "ner_tags": []},
}


def outcome(rows: Any) -> Any:
    """The counts of a perfect prediction; None if the rows are refused."""
    try:
        result = score(rows, rows, metrics="exact")
    except CluevalError:
        return None
    return result.documents, [report["micro"] for report in result.metrics["exact"].values()]


@pytest.mark.parametrize("key", ["_annotator_id", "_session_id", "username", "user", "annotator"])
def test_rows_of_two_annotators_are_refused_in_memory_as_in_a_file(key: str, tmp_path: Path) -> None:
    of_prodigy = key.startswith("_")
    row = DIALECTS["label-studio" if key == "annotator" else "prodigy" if of_prodigy else "doccano"]
    both = [{**row, key: "ada"}, {**row, "id": 2, key: "bob"}]
    path = tmp_path / "rows.jsonl"

    for given, is_right in ((both, False), (both[:1] * 2, True)):
        path.write_text("".join(json.dumps(each) + "\n" for each in given), encoding="utf-8")
        assert (outcome(given) is not None) == (outcome(path) is not None) == is_right
    with pytest.raises(UsageError, match="several annotation sets"):
        score(both, [[], []])


GLINER = {"tokenized_text": TEXT.split(), "ner": [[0, 1, "PER"]]}
W2NER = {"sentence": TEXT.split(), "ner": [{"index": [0, 3], "type": "PER"}]}


@pytest.mark.parametrize("row", [*DIALECTS.values(), GLINER, W2NER])
def test_a_row_alone_is_a_list_with_this_row(row: Any) -> None:
    assert outcome(row) == outcome([row]) is not None


@pytest.mark.parametrize("name", ["doccano", "doccano's lists", "pipeline", "prodigy", "label-studio"])
def test_list_of_spans_may_be_the_text_of_a_column(name: str) -> None:
    """As in the CSV of Label Studio, whose texts may look like lists of regions, too."""
    row: dict[str, Any] = DIALECTS[name]
    key = next(key for key in reversed(row) if isinstance(row[key], list))
    content = "data" if "data" in row else "text"
    others = [{**row, "id": text, content: text, key: None} for text in ("[{Bern}]", '[{"a": 1}]')]

    for written in (json.dumps, repr):
        frame = pandas.DataFrame([{**row, key: written(row[key])}, *others])
        assert outcome(frame) == outcome([row, *others]) == (3, [ANY])


@pytest.mark.parametrize("name", DIALECTS)
def test_rows_have_their_metadata_in_memory_as_in_a_file(name: str, tmp_path: Path) -> None:
    """Whatever a file of the format has as metadata."""
    row = DIALECTS[name]
    more: dict[str, Any] = {"meta": {"domain": "art", "year": 1907}}
    if name == "label-studio":
        more = {"domain": "art", "year": "1907"}
    elif name not in ("prodigy", "fragments", "spacy", "spacy's pairs"):
        more["court"] = "BGH"
    found = [row[0], {**row[1], **more}] if isinstance(row, list) else {**row, **more}
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps(found) + "\n", encoding="utf-8")

    for key in ("domain", "year", "court") if "court" in more else ("domain", "year"):
        groups = score([found], [found], metrics="exact", by=key).groups
        assert groups is not None
        assert list(groups[key]) == [str({**more, **more.get("meta", {})}[key])]
        assert groups == score(path, path, metrics="exact", by=key).groups


def test_words_of_a_pipeline_may_be_written_as_its_tokens() -> None:
    row = {
        "text": "St.Gallen",
        "entities": [{"start": 0, "end": 9, "entity_group": "LOC", "word": "st . gallen"}],
    }

    assert outcome([row]) is not None


def test_text_of_a_span_may_have_other_white_space_and_a_mark_between_fragments() -> None:
    text = "Ada \n King met"
    spans = [
        {"start": 0, "end": 10, "label": "PER", "text": "Ada King"},
        {"fragments": [[0, 3], [11, 14]], "label": "PER", "text": "Ada [...] met"},
    ]

    assert all(outcome([{"text": text, "spans": [span]}]) is not None for span in spans)


def test_error_for_another_text_does_not_show_it() -> None:
    (span,) = DIALECTS["prodigy"]["spans"]
    row = {**DIALECTS["prodigy"], "spans": [{**span, "text": "Diego"}]}

    with pytest.raises(
        FormatError, match=r"gold:1, document '7': the text of span \[0,11\) differs"
    ) as error:
        score([row], [row])
    assert "Diego" not in str(error.value)
    assert "Frida" not in str(error.value)


def test_alternatives_in_memory_have_their_own_texts() -> None:
    span = {"start": 0, "end": 11, "label": "PER", "text": "Frida Kahlo"}
    other = {"start": 0, "end": 5, "text": "Frida"}
    predicted = [{"text": TEXT, "spans": [{"start": 0, "end": 5, "label": "PER"}]}]

    def f1(main: dict[str, Any], alternative: dict[str, Any]) -> float | None:
        gold = [{"text": TEXT, "spans": [{**main, "alternatives": [alternative]}]}]
        return score(gold, predicted, metrics="exact").f1

    assert f1(span, other) == 1.0
    for wrong in ((span | {"text": "Diego"}, other), (span, other | {"text": "Diego"})):
        with pytest.raises(FormatError, match="differs from the text at its positions"):
            f1(*wrong)


def test_two_rows_of_a_format_that_is_named_are_two_documents() -> None:
    rows = [{"text": TEXT, "label": [[0, 11, "PER"]]}] * 2

    assert score(rows, rows, input="doccano", metrics="exact").documents == 2


def test_what_is_passed_over_in_rows_in_memory_is_that_of_the_file() -> None:
    path = SAMPLES / "doccano" / "gold.jsonl"

    rows = list(map(json.loads, path.read_text(encoding="utf-8").splitlines()))
    of_file, of_rows = score(path, path), score(rows, rows)

    assert (
        of_file.passed_over
        == of_rows.passed_over
        == {"gold": {"relations": 1}, "predicted": {"relations": 1}}
    )


def test_documents_that_are_all_passed_over_are_named_as_in_a_file(tmp_path: Path) -> None:
    task = {"id": 1, "data": {"text": TEXT}, "annotations": [{"id": 1, "was_cancelled": True, "result": []}]}
    row = {"id": 1, "text": TEXT, "label": []}
    (tmp_path / "c.json").write_text(json.dumps([task]), encoding="utf-8")
    (tmp_path / "g.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")

    for cancelled, other in (([task], [row]), (tmp_path / "c.json", tmp_path / "g.jsonl")):
        with pytest.warns(CluevalWarning, match=r"there are no documents \(not read: 1 cancelled\)$"):
            score(cancelled, cancelled)
        for sides in ((cancelled, other), (other, cancelled)):
            with pytest.raises(CluevalError, match=r" documents \(not read: 1 cancelled\), "):
                score(*sides)
    with pytest.raises(UsageError, match=r"shared by two annotators \(not read: 1 cancelled of .*c\.json\)"):
        agree(tmp_path / "g.jsonl", tmp_path / "c.json")


def test_a_text_that_is_shorter_ends_its_document_not_its_file(tmp_path: Path) -> None:
    gold, predicted = (
        [{"text": text, "label": []}, {"text": TEXT, "label": []}] for text in (TEXT, TEXT[:5])
    )
    paths = []
    for name, rows in (("g", gold), ("p", predicted)):
        paths.append(tmp_path / f"{name}.jsonl")
        paths[-1].write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")

    for sides, name in (((gold, predicted), "predicted"), (paths, str(paths[1]))):
        with pytest.raises(TextMismatch, match=rf"position 5 where the document ends in {re.escape(name)} "):
            score(*sides)
        with pytest.raises(TextMismatch, match=r"ends in gold at position 5 where .* continues with"):
            score(*reversed(sides))


@pytest.mark.parametrize(("gold", "predicted"), [("doccano", "tokens"), ("tokens", "doccano")])
def test_rows_of_two_formats_are_placed_on_one_text_as_files_are(
    gold: str, predicted: str, tmp_path: Path
) -> None:
    """The texts differ in white space, and one format has tokens: [0,11) PER and, with a blank at its edge, LOC."""
    text = "Frida  Kahlo in Bern"
    sides = {
        "doccano": [{"id": 1, "text": text, "label": [[0, 12, "PER"], [15, 20, "LOC"]]}],
        "tokens": [DIALECTS["tokens"]],
    }
    paths = {}
    for name, rows in sides.items():
        paths[name] = tmp_path / f"{name}.jsonl"
        paths[name].write_text(json.dumps(rows[0]) + "\n", encoding="utf-8")

    of_rows = score(sides[gold], sides[predicted], metrics="exact").to_dict()
    of_files = score(paths[gold], paths[predicted], metrics="exact").to_dict()

    assert of_rows["metrics"]["exact"]["label"]["micro"]["tp_gold"] == 2
    assert of_rows["prepared"] == {"placed": {"trimmed": 1}}
    for key in ("metrics", "prepared", "documents", "tokens"):
        assert of_rows[key] == of_files[key]


@pytest.mark.parametrize(
    ("treatment", "said"),
    [
        (None, "predicted has 1 repaired tag: invalid ones, read as conlleval does"),
        ("discard", "predicted has 1 ill-formed tag; such spans are discarded"),
    ],
)
def test_the_signature_says_how_tags_of_rows_were_read(
    treatment: str | None, said: str, tmp_path: Path
) -> None:
    gold, predicted = (
        [{"tokens": ["Anna", "lebt"], "ner_tags": tags}] for tags in (["B-PER", "O"], ["I-PER", "B-LOC"])
    )
    for name, rows in (("gold", gold), ("predicted", predicted)):
        (tmp_path / name).write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")

    signatures = set()
    for sides in ((gold, predicted), (tmp_path / "gold", tmp_path / "predicted")):
        with pytest.warns(CluevalWarning) as warnings:
            signatures.add(score(*sides, metrics="exact", invalid=treatment).signature)
        assert said in [str(warning.message) for warning in warnings]
    (signature,) = signatures
    assert signature.choices["scheme"] == "BIO"
    assert signature.choices["invalid"] == (treatment or "conlleval")
