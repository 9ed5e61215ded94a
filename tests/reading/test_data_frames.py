"""Data frames of pandas as gold and predicted: what is read as lists or rows, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from clueval import UsageError, diff, score

pandas = pytest.importorskip("pandas")

SPANS = {"doc_id": ["a", "a", "b"], "start": [0, 7, 3], "end": [4, 9, 5], "label": ["PER", "LOC", "PER"]}


def renamed(**names: str) -> Any:
    return pandas.DataFrame(SPANS).rename(columns=names)


def f1(gold: Any, predicted: Any) -> float:
    found = score(gold, predicted, metrics="exact").f1
    assert found is not None
    return found


def test_scores_stay_with_the_spans() -> None:
    gold = pandas.DataFrame(SPANS)
    curve = score(gold, gold.assign(score=[0.5, 1.0, 0.25]), metrics="exact", score_feature="score")

    assert curve.get("average_precision") == 1.0


def test_a_frame_of_rows_of_a_dataset_is_read_as_these_rows() -> None:
    rows = [{"tokens": ["Ada", "met"], "ner_tags": ["B-PER", "O"]}]

    assert f1(pandas.DataFrame(rows), rows) == 1.0


def test_one_document_needs_no_column() -> None:
    for text in ("Ada", 7):
        frame = pandas.DataFrame({"start": [0], "end": [3], "label": ["PER"], "text": [text]})

        assert f1(frame, frame) == 1.0


def test_frames_by_document_are_lists_of_spans() -> None:
    """As `dict(list(frame.groupby("doc_id")))`; named tuples of all rows name their document, too."""
    frame = pandas.DataFrame(SPANS)
    by_document = dict(list(frame.groupby("doc_id")))

    assert f1(by_document, frame) == 1.0
    assert f1(list(by_document.values()), [own[::-1] for own in by_document.values()]) == 1.0
    assert score(by_document, frame, metrics="exact").documents == 2
    with pytest.raises(
        UsageError, match=r"gold\[0\] has the key 'doc_id', but one list of spans is one document"
    ):
        score(list(frame.itertuples()), frame)
    with pytest.raises(UsageError, match=r"gold\[0\] is a pair with a data frame \(give the data frame, or"):
        score(frame.groupby("doc_id"), frame)


def test_an_array_of_rows_is_a_list_of_spans() -> None:
    spans = pandas.DataFrame(SPANS)[["start", "end", "label"]][:2].to_numpy()

    assert f1(spans, [(0, 4, "PER"), (7, 9, "LOC")]) == 1.0


REFUSED = {
    "tokens": (
        pandas.DataFrame({"sentence": [0], "word": ["a"], "tag": ["O"]}),
        r"without columns start and end \(its columns: 'sentence', 'word', 'tag'\) \(tags become lists by",
    ),
    "label": (renamed(label="name"), r"has no column label .*rename one"),
    "another name of documents": (renamed(doc_id="court"), r"no column document, and other columns: 'court'"),
    "texts of documents": (
        pandas.DataFrame({"start": [0], "end": [3], "label": ["PER"], "text": ["Ada met Bob"]}),
        r"texts that are longer or shorter than their spans",
    ),
    "a missing id": (pandas.DataFrame(SPANS | {"doc_id": ["a", None, "b"]}), r"row 1 of gold has no doc_id"),
    "a missing position": (
        pandas.DataFrame(SPANS | {"start": [0, None, 3]}),
        r"gold\['a'\]\[1\]: positions must be",
    ),
    "tokens of a pipeline": (
        pandas.DataFrame({"doc": ["a"], "entity": ["B-PER"], "start": [0], "end": [3]}),
        r"gold\['a'\]\[0\] is one of the tokens of a Hugging Face pipeline",
    ),
    "equal columns": (
        pandas.DataFrame([[0, 1, "A", "B"]], columns=["start", "end", "label", "label"]),
        r"two columns with one name",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_frame_that_could_give_a_wrong_number_is_refused(what: str) -> None:
    frame, message = REFUSED[what]

    with pytest.raises(UsageError, match=message):
        score(frame, pandas.DataFrame(SPANS), metrics="exact")


def test_a_frame_of_several_documents_without_their_column_is_refused_with_what_it_needs() -> None:
    frame = pandas.DataFrame({"start": [0, 8], "end": [3, 11], "label": ["PER", "PER"]})
    rows = [{"id": name, "text": "Ada met Bob", "label": [[0, 3, "PER"]]} for name in "ab"]

    for gold in (rows, {"a": [(0, 3, "PER")], "b": []}):
        with pytest.raises(UsageError, match="each span of a data frame needs a column 'document'"):
            score(gold, frame)


def test_systems_need_the_same_documents() -> None:
    gold = pandas.DataFrame(SPANS)
    more, other = (gold.assign(doc_id=["a", "b", name]) for name in "xy")

    for first, second in ((gold, more), (more, gold), (more, other)):
        with pytest.raises(UsageError, match=r"not all systems have document '[xy]'"):
            diff(gold, first, second).counts()


def test_a_frame_of_answers_is_read_row_by_row() -> None:
    gold = [{"id": "x", "text": "Ada met", "spans": [(0, 3, "PER")]}, {"id": "y", "text": "Ulm", "spans": []}]
    frame = pandas.DataFrame({"id": ["x", "y"], "response": ['{"PER": ["Ada"]}', "No."]})

    result = score(gold, frame, input="mentions", unparsable="empty", metrics="exact")

    assert (result.f1, result.to_dict()["prepared"]["located"]["unparsable"]) == (1, 1)
