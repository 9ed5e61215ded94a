"""The forms in which Python takes gold and predicted: the same counts, or an error that says what to give."""

from __future__ import annotations

import io
import json
from collections import namedtuple
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy
import pytest

from clueval import (
    Accumulator,
    CluevalError,
    CluevalWarning,
    Document,
    Span,
    agree,
    compare,
    conventions,
    diff,
    errors,
    masking,
    match_spans,
    read,
    score,
)

GOLD = [(0, 2, "PER"), (4, 5, "LOC")]
PREDICTED = [(0, 2, "PER"), (3, 5, "LOC")]
CONLL = "Anna\tB-PER\nWeiß\tI-PER\nin\tO\nder\tO\nUlm\tB-LOC\n"
OTHER = "Anna\tB-PER\nWeiß\tI-PER\nin\tO\nder\tB-LOC\nUlm\tI-LOC\n"

Entity = namedtuple("Entity", "start end label")  # as users write it


@dataclass
class Found:
    start: int
    end: int
    label: str


def as_keys(start: str, end: str, label: str) -> Any:
    return lambda spans: [{start: a, end: b, label: c} for a, b, c in spans]


SPAN_FORMS = {
    "Span": lambda spans: [Span(*span) for span in spans],
    "tuples": list,
    "lists": lambda spans: [list(span) for span in spans],
    "named tuples": lambda spans: [Entity(*span) for span in spans],
    "dataclasses": lambda spans: [Found(*span) for span in spans],
    "numpy positions": lambda spans: [(numpy.int64(a), numpy.int64(b), c) for a, b, c in spans],
    "Prodigy, nervaluate": as_keys("start", "end", "label"),
    "doccano": as_keys("start_offset", "end_offset", "label"),
    "spaCy": lambda spans: [SimpleNamespace(start_char=a, end_char=b, label_=c) for a, b, c in spans],
    "pipeline": as_keys("start", "end", "entity_group"),
}


@pytest.mark.parametrize("form", SPAN_FORMS)
@pytest.mark.parametrize(
    "side",
    [
        lambda spans: [spans],
        lambda spans: (spans,),
        lambda spans: iter([spans]),
        lambda spans: {"d1": spans},
        lambda spans: spans,
        lambda spans: [iter(spans)],
    ],
)
def test_spans_of_every_form_give_the_same_score(form: str, side: Any) -> None:
    gold, predicted = (side(SPAN_FORMS[form](spans)) for spans in (GOLD, PREDICTED))

    prf = score(gold, predicted, metrics="exact").metrics["exact"]["label"]["micro"]

    assert (prf["gold"], prf["predicted"], prf["tp_gold"]) == (2, 2, 1)


@pytest.mark.parametrize(
    "form",
    [
        lambda spans: spans,
        lambda spans: [iter(spans)],
        lambda spans: iter([iter(spans)]),
        lambda s: {"d": iter(s)},
    ],
)
def test_errors_of_spans_in_memory_are_those_of_documents_though_items_are_iterators(form: Any) -> None:
    places = errors(form(GOLD), form(PREDICTED))
    found = [(finding.side, finding.start) for place in places for finding in place.findings]

    assert found == [("predicted", 3), ("gold", 4)]
    assert diff(*map(form, (GOLD, PREDICTED, PREDICTED)), level=1).counts()["gold"]["still"] == 1


@pytest.mark.parametrize("form", SPAN_FORMS)
def test_match_spans_takes_every_form(form: str) -> None:
    matches = match_spans(SPAN_FORMS[form](GOLD), SPAN_FORMS[form](PREDICTED))

    assert [(match.span.start, match.kind) for match in matches] == [(0, "exact"), (4, "superset")]


def test_arrays_of_tags_are_lists_of_tags() -> None:
    tags = numpy.array([["B-PER", "O"], ["O", "B-PER"]])

    assert score(tags, tags, metrics="exact").metrics["exact"]["label"]["micro"]["gold"] == 2
    assert compare(list(tags), a=list(tags), b=list(tags)).documents == 2


def test_open_files_give_what_their_paths_give(tmp_path: Path) -> None:
    for name, text in (("gold.conll", CONLL), ("predicted.conll", OTHER)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    paths = tmp_path / "gold.conll", tmp_path / "predicted.conll"
    expected = score(*paths).to_json()

    with paths[0].open(encoding="utf-8") as gold, paths[1].open("rb") as predicted:
        assert score(gold, predicted).to_json() == expected
    assert score(io.StringIO(CONLL), io.StringIO(OTHER)).to_json() == expected
    assert score(str(paths[0]), SimplePath(paths[1])).to_json() == expected
    assert len(list(errors(io.StringIO(CONLL), io.StringIO(OTHER)))) == len(list(errors(*paths)))
    assert str(conventions(io.StringIO(CONLL), io.StringIO(OTHER))) == str(conventions(*paths))
    assert [document.tokens for document in read(io.StringIO(CONLL))] == [
        ["Anna", "Weiß", "in", "der", "Ulm"]
    ]


class SimplePath:
    """A path of another library: it has only `__fspath__`."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __fspath__(self) -> str:
        return str(self._path)


def test_one_list_of_tags_is_a_document_and_no_list_of_files_where_files_are_looked_at() -> None:
    gold, predicted = ["B-PER", "O", "I-PER"], ["B-PER", "O", "O"]

    of_one_list = conventions(gold, predicted, scheme="IOB1").scores()

    assert of_one_list == conventions([gold], [predicted], scheme="IOB1").scores()
    with pytest.raises(CluevalError, match="metric 'masking' needs the text of the documents"):
        masking(gold, predicted)


def test_an_open_file_is_no_annotator() -> None:
    with pytest.raises(CluevalError, match="a path must be text or a Path, not a StringIO"):
        agree({"anna": io.StringIO(CONLL), "bob": io.StringIO(CONLL)})


def test_an_error_names_the_open_file_and_no_temporary_one() -> None:
    with pytest.raises(CluevalError) as error:
        score(io.StringIO(CONLL), io.StringIO("Anna\tB-PER\n"))

    assert "clueval-" not in str(error.value)
    assert "<open file>" in str(error.value)


@pytest.mark.parametrize(
    ("gold", "predicted", "message"),
    [
        ([[("PER", 0, 1)]], [[]], "gold[0][0] begins with a label, not with a position"),
        ([[(0, "2", "PER")]], [[]], "gold[0][0]: positions must be integers, not a str"),
        ([[(2, 1, "PER")]], [[]], "gold[0][0]: span [2,1) 'PER' ends before it starts"),
        ([[{"start": 0, "label": "PER"}]], [[]], "gold[0][0] has no end (its keys: 'start', 'label')"),
        ([[(0, 1, 7)]], [[]], "gold[0][0]: the label must be text, not an int"),
        ([[(0, 1, "A")], "x"], [[], []], "gold[1] must be a list of spans, not a str"),
        ({"a": [(0, 1, "A")]}, {"b": []}, "only gold has document 'a'"),
        ({"a": [(0, 1, "A")]}, [[]], "gold is a dictionary by document id and predicted is not"),
        ([[(0, 1, "A")]], [["O"]], "gold is spans and predicted is tags"),
        ([[(0, 1, "A")]], None, "predicted is missing"),
        (7, 7, "gold must not be an int"),
        (None, None, "predicted is missing"),
        ((0, 1, "A"), (0, 1, "A"), "gold must not be one span"),
        ({((0, 1, "A"),), ((1, 2, "A"),)}, [[], []], "gold is a set, which has no order"),
        ({("B-A", "O"), ("O", "O")}, [["O", "O"]] * 2, "gold is a set, which has no order"),
        ([["O", "O"]] * 2, [["O", "O"], {"B-A", "O"}], "predicted[1] is a set, not a list of tags"),
        ({1: [(0, 1, "A")], "1": []}, {"1": []}, "gold has two documents with the id '1': 1 and '1'"),
        ("a.conll", [["O"]], "gold is paths and predicted is in memory"),
        (io.StringIO("Ada B-PER\n"), [["-"]], "gold is paths and predicted is in memory"),
        ([[1, 2, 3, 4, 5]], [[1, 2, 3, 4, 5]], "gold[0] has numbers for tags"),
        ([Document("a", {}), 3], [Document("a", {}), 3], "gold[1] is an int, not a document"),
        ([Document("a", {}), []], [Document("a", {}), []], "gold[1] is a list, not a document"),
        (["gold.conll"], ["predicted.conll"], "gold.conll: there is no such file"),
        (
            [Document("d", {}, text="a", unit="character")],
            [Document("d", {}, tokens=["a"])],
            "document 'd': gold has the unit 'character' where predicted has 'token'",
        ),
    ],
)
def test_what_is_no_input_is_refused_by_its_place(gold: Any, predicted: Any, message: str) -> None:
    with pytest.raises(CluevalError) as error:
        score(gold, predicted)

    assert str(error.value).startswith(message)
    if predicted is not None and not str(message).startswith(("gold is paths", "gold.conll")):
        with pytest.raises(CluevalError):
            Accumulator().update(gold, predicted)


def test_patterns_are_paired_by_relative_name_as_folders_are(tmp_path: Path) -> None:
    for side, text in (("gold", CONLL), ("predicted", OTHER)):
        (tmp_path / side).mkdir()
        for name in ("a.conll", "b.conll", "c.txt"):
            (tmp_path / side / name).write_text(text, encoding="utf-8")

    result = score(tmp_path / "gold" / "*.conll", tmp_path / "predicted" / "*.conll", metrics="exact")

    assert result.metrics["exact"]["label"]["micro"]["gold"] == 4
    assert len(list(read(tmp_path / "gold" / "*.conll"))) == 2
    (tmp_path / "predicted" / "b.conll").unlink()
    with pytest.raises(CluevalError, match=r"has no file 'b\.conll'"):
        score(tmp_path / "gold" / "*.conll", tmp_path / "predicted" / "*.conll")
    with pytest.raises(CluevalError, match="no file matches this pattern"):
        score(tmp_path / "*.x", tmp_path / "*.y")


def test_pairs_of_a_text_and_entities_are_rows_as_in_the_training_data_of_spacy() -> None:
    pair = ("Anna in Ulm", {"entities": [(0, 4, "PER"), (8, 11, "LOC")]})

    assert score([pair], [("Anna in Ulm", {"entities": [(0, 4, "PER")]})], metrics="exact").recall == 0.5
    assert score(pair, pair, metrics="exact").f1 == 1.0


def test_documents_in_dictionaries_have_the_keys_as_ids_in_any_order() -> None:
    rows = {name: {"text": name, "spans": [(0, 1, "A")]} for name in "ab"}
    documents = {
        name: Document("x", {"label": [Span(0, 1, "A")]}, text=name, unit="character") for name in "ba"
    }

    assert score(rows, documents, metrics="exact").f1 == 1.0
    assert [
        finding.document
        for place in errors({"a": rows["a"]}, {"a": {"text": "a", "spans": []}})
        for finding in place.findings
    ] == ["a"]


def test_a_dictionary_whose_span_covers_nothing_is_warned_of() -> None:
    gold = [[{"start": 3, "end": 3, "label": "A"}]]

    with pytest.warns(CluevalWarning, match="covers nothing: the end is exclusive"):
        score(gold, gold)


TOKEN_OF_PIPELINE = {"entity": "B-PER", "score": 0.9, "index": 1, "word": "Ada", "start": 0, "end": 3}


@pytest.mark.parametrize(
    "token",
    [
        TOKEN_OF_PIPELINE,
        {"entity": "I-PER", "start": 0, "end": 3},
        {"entity": "PER", "index": 1, "start": 0, "end": 3},
        {"entity": "PER", "word": "##a", "start": 2, "end": 3},
    ],
)
@pytest.mark.parametrize("first", [[], [{"entity_group": "PER", "word": "Ada", "start": 0, "end": 3}]])
def test_tokens_of_a_pipeline_are_refused_wherever_spans_are_given(
    tmp_path: Path, token: dict[str, Any], first: list[Any]
) -> None:
    spans = [*first, token]
    row = {"text": "Ada", "entities": spans}
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps(row))
    alone = tmp_path / "b.json"
    alone.write_text(json.dumps([spans]))
    gold = [(0, 3, "PER")]

    given = [(path, path), ([gold], [spans]), (gold, spans), ([row], [row])]
    for sides in [*given, *([(alone, alone)] if not first else [])]:
        with pytest.raises(CluevalError, match="aggregation_strategy"):
            score(*sides)
    for key, form in {
        "label": "doccano",
        "spans": "prodigy",
        "ents": "spacy-json",
        "entities": "spacy-json",
    }.items():
        path.write_text(json.dumps({"text": "Ada", key: spans}))
        for given_form in None, form:
            with pytest.raises(CluevalError, match="aggregation_strategy"):
                score(path, path, input=given_form)


def test_other_spans_with_an_entity_are_read() -> None:
    span = {"entity": "PER", "start": 0, "end": 3, "word": "Ada"}

    assert score([[(0, 3, "PER")]], [[span]]).f1 == 1
    assert score([[(0, 3, "PER")]], [[{"label": "PER", "entity": "B-PER", "start": 0, "end": 3}]]).f1 == 1


@pytest.mark.parametrize("value", [None, {}, True, 3, "B PER"])
def test_value_that_is_no_tag_is_named_with_its_place_by_agree_as_by_score(value: Any) -> None:
    wrong = [["O", "B-PER"], ["O", value]]

    with pytest.raises(CluevalError, match=r"^gold\[1\]\[1\]: .* is not a tag"):
        score(wrong, wrong)
    with pytest.raises(CluevalError, match=r"^A\[1\]\[1\]: .* is not a tag"):
        agree(wrong, wrong)


# Answers of language models in memory are scored as the same answers in files


GOLD_WITH_TEXTS: list[dict[str, Any]] = [
    {"id": "a", "text": "Ada wrote to Bob.", "label": [[0, 3, "PER"], [13, 16, "PER"]]},
    {"id": "b", "text": "Bob in Ulm", "label": [[7, 10, "LOC"]]},
]
MENTIONS: list[Any] = [
    'Sure! {"id": "a", "entities": [{"text": "Ada", "label": "PER"}, {"text": "Eva", "label": "PER"}]}',
    {"id": "b", "entities": {"LOC": ["Ulm"], "PER": []}},
]
INLINE: list[Any] = ["<PER>Ada</PER> wrote to Bob.", {"id": "b", "text": "<PER>Bob</PER> in <LOC>Ulm</LOC>"}]


def numbers(*sides: Any, **options: Any) -> dict[str, Any]:
    found = score(*sides, metrics="exact", **options).to_dict()
    return {name: found[name] for name in ("metrics", "prepared", "unprojected", "documents")}


@pytest.mark.parametrize("form", [list, iter, lambda rows: dict(zip("ab", rows, strict=True))])
def test_answers_are_in_the_order_of_gold_or_by_id(form: Any) -> None:
    without_ids = [{"entities": {"PER": ["Ada"]}}, []]

    found = numbers(iter(GOLD_WITH_TEXTS), form(without_ids), input="mentions")

    assert found["metrics"]["exact"]["label"]["micro"]["tp_gold"] == 1


def test_texts_with_tags_are_answers() -> None:
    micro = numbers(GOLD_WITH_TEXTS, INLINE, input="inline")["metrics"]["exact"]["label"]["micro"]

    assert (micro["tp_gold"], micro["fn"], micro["fp"]) == (2, 1, 1)


@pytest.mark.parametrize(
    ("gold", "predicted", "message"),
    [
        (GOLD_WITH_TEXTS, MENTIONS[:1], "predicted has only 1 document, the other side has more"),
        (GOLD_WITH_TEXTS, {"a": [], "x": []}, "only gold has document 'b'"),
        (GOLD_WITH_TEXTS, {"a": []}, "only gold has document 'b' .*missing='empty'"),
        (GOLD_WITH_TEXTS, [MENTIONS[0], "none"], r"^predicted:2: the answer cannot be read: it is not JSON"),
        (GOLD_WITH_TEXTS, [[], 5], r"^predicted:2: the answer cannot be read: it is not an object"),
        (GOLD_WITH_TEXTS, [{"id": "z", "entities": []}, []], "predicted has document 'z'"),
        (GOLD_WITH_TEXTS, "answers.jsonl", "predicted is paths .*give a list with an answer for"),
        ([[(0, 3, "PER")]], [[]], "has spans, and the document on the other side has no text"),
    ],
)
def test_other_answers_are_refused(gold: Any, predicted: Any, message: str) -> None:
    with pytest.raises(CluevalError, match=message):
        score(gold, predicted, input="mentions")


def test_rows_with_entities_and_no_text_are_told_how_answers_are_read() -> None:
    with pytest.raises(CluevalError, match=r"predicted\[0\]: has entities without texts .*input='mentions'"):
        score(GOLD_WITH_TEXTS, MENTIONS[1:])


DOCUMENTS = [Document("0", {"label": [Span(0, 1, "PER")]}, tokens=["Ada", "met"])]


@pytest.mark.parametrize(
    "predicted", [[["I-PER", "I-LOC"]], [{"tokens": ["Ada", "met"], "tags": ["I-PER", "I-LOC"]}]]
)
def test_documents_beside_tags_take_the_options_of_tags(predicted: Any) -> None:
    found = {
        name: score(DOCUMENTS, predicted, metrics="exact", invalid=name, scheme="IOB2")
        for name in ("conlleval", "discard")
    }

    assert [(result.recall, result.precision) for result in found.values()] == [(1, 0.5), (0, 0)]
    assert all(f"|invalid:{name}|" in str(result.signature) for name, result in found.items())
    with pytest.raises(
        CluevalError, match="invalid='discard' applies to files, but both sides are in memory"
    ):
        score(DOCUMENTS, DOCUMENTS, invalid="discard")
