"""Token rows counted without documents have the outcome of their documents."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sizes import documents_alone

from clueval import score
from clueval.evaluation import tag_lists
from clueval.evaluation.row_clusters import RowClusters
from clueval.exceptions import CluevalError
from clueval.metrics import METRICS

TAGS = ["O", "O", "B-PER", "I-PER", "B-LOC", "I-LOC"]
NAMES = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]
ALL = [name for name in METRICS if name != "noisy"]


def outcome(paths: list[Path], **options: Any) -> Any:
    try:
        result = score(*paths, input="token-rows", **options)
    except CluevalError as error:
        return type(error), str(error)
    return result.to_dict(), result.inputs, result.passed_over


def both_ways(sides: tuple[list[Any], list[Any]], **options: Any) -> tuple[Any, Any]:
    with TemporaryDirectory() as folder:
        paths = [Path(folder, f"{name}.jsonl") for name in ("gold", "predicted")]
        for path, rows in zip(paths, sides, strict=True):
            path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
        found = outcome(paths, **options)
        with documents_alone():
            return found, outcome(paths, **options)


@st.composite
def sides(draw: st.DrawFn) -> tuple[list[Any], list[Any]]:
    found: tuple[list[Any], list[Any]] = ([], [])
    tags = draw(st.sampled_from([TAGS, [tag.replace("B-", "S-") for tag in TAGS], ["O", "I-PER", "I-LOC"]]))
    for number in range(draw(st.integers(0, 5))):
        size = draw(st.integers(1, 6))
        of_row = st.lists(st.sampled_from(tags), min_size=size, max_size=size)
        own = draw(of_row)
        for side, values in zip(found, (own, draw(st.just(own) | of_row)), strict=True):
            side.append({"id": number + 7, "tokens": [f"t{n}" for n in range(size)], "ner_tags": values})
    return found


OPTIONS: list[dict[str, Any]] = [
    *({}, {"merge": True}, {"scheme": "BIO"}, {"invalid": "discard"}),
    *({"by": "document"}, {"where": ["document=8"]}, {"where": ["label=PER"]}),
]


@given(sides(), st.sampled_from(OPTIONS))
def test_token_rows_have_the_outcome_of_their_documents(
    rows: tuple[list[Any], list[Any]], options: dict[str, Any]
) -> None:
    for metrics in (["levels", "exact", "confusion"], ALL):
        found, expected = both_ways(rows, metrics=metrics, **options)
        assert found == expected


USUAL = {"id": "1", "tokens": ["Ada", "met", "Bob"], "ner_tags": ["B-PER", "O", "B-PER"]}


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"id": 1},
        {"id": None},
        {"id": True},
        {"id": "2"},
        {"tokens": ["Ada", "met", "Eve"]},
        {"tokens": ["Ada", "met"]},
        {"tokens": ["Ada", "met", 3]},
        {"tokens": "Ada"},
        {"tokens": [], "ner_tags": []},
        {"ner_tags": [1, 0, 3]},
        {"ner_tags": [1, 0, 7]},
        {"ner_tags": [1, 0, True]},
        {"ner_tags": [1, -100, 3]},
        {"ner_tags": ["B-PER", None, "O"]},
        {"ner_tags": ["B-PER", "", "O"]},
        {"ner_tags": ["B-PER", "X-PER", "O"]},
        {"ner_tags": ["B-PER", 0, "O"]},
        {"pos_tags": ["N", "V", "N"]},
    ],
    ids=str,
)
def test_an_odd_token_row_has_the_outcome_of_its_document(change: dict[str, Any]) -> None:
    for gold in (USUAL, USUAL | change):
        found, expected = both_ways(([USUAL, gold], [USUAL, USUAL | change]), names=NAMES)
        assert found == expected


def test_a_file_with_more_rows_has_the_error_of_its_documents() -> None:
    found, expected = both_ways(([USUAL], [USUAL, USUAL]))

    assert found == expected
    assert "the file ends" in found[1]


def test_tags_of_two_schemes_have_the_error_of_their_documents() -> None:
    found, expected = both_ways(([USUAL | {"ner_tags": ["E-PER", "O", "L-PER"]}], [USUAL]))

    assert found == expected
    assert "gold.jsonl" in found[1]


def test_rows_of_a_long_file_are_counted_some_at_a_time() -> None:
    with patch.object(tag_lists, "BATCH", 2), patch.object(RowClusters, "add_sentences") as added:
        both_ways(([USUAL] * 5, [USUAL] * 5))

    assert [len(call.args[0]) for call in added.call_args_list] == [2, 2, 1]


def test_usual_token_rows_become_no_documents() -> None:
    with patch("clueval.evaluation.engine.Evaluation.count_documents") as count:
        both_ways(([USUAL] * 3, [USUAL | {"ner_tags": [1, 2, 3]}] * 3), names=NAMES)

    assert count.call_count == 3  # the documents with which they are compared
