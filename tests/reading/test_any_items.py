"""Anything at all as gold and predicted in memory: scores, or an error that says so; and equal forms are equal."""

from __future__ import annotations

from contextlib import suppress
from types import SimpleNamespace
from typing import Any

import numpy
import pandas
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from clueval import CluevalError, score

pytestmark = pytest.mark.filterwarnings("ignore::clueval.CluevalWarning")

NAMES = ["O", "B-PER", "I-PER", "B-LOC"]
ARRAYS = (numpy.array([0, 1]), numpy.array([[0.1, 0.9]]))
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-101, 5),
    st.floats(width=16),
    st.sampled_from(["O", "B-PER", "PER", "", "0", "Ann Lee", numpy.int64(1), numpy.float32(0.5)]),
)
VALUES = LEAVES | st.sampled_from(ARRAYS)
TEXT_KEYS = (
    *("text", "tokens", "ner_tags", "labels", "spans", "entities", "start", "end", "label", "id", "score"),
    *("word", "entity", "entity_group", "doc_id", "fragments", "alternatives", "features", "answer", "x"),
)
KEYS = st.sampled_from([*TEXT_KEYS, 1, None])
SPANS = st.one_of(
    st.tuples(st.integers(0, 4), st.integers(0, 6), st.sampled_from("AB")),
    st.fixed_dictionaries(
        {"start": st.integers(0, 4) | VALUES, "end": st.integers(0, 6) | VALUES},
        optional={"label": VALUES, "text": VALUES, "score": VALUES, "tag": VALUES},
    ),
    st.builds(SimpleNamespace, start=VALUES, end=VALUES, label=VALUES, score=VALUES),
)
ROWS = st.one_of(
    st.fixed_dictionaries(
        {"text": st.just("Ann Lee") | VALUES, "spans": st.lists(SPANS, max_size=3) | VALUES},
        optional={"id": VALUES, "answer": VALUES},
    ),
    st.fixed_dictionaries(
        {
            "tokens": st.lists(st.sampled_from("ab"), max_size=3) | VALUES,
            "ner_tags": st.lists(st.integers(-1, 2) | VALUES, max_size=3) | VALUES,
        }
    ),
)
FRAMES = st.builds(
    lambda columns, rows: pandas.DataFrame({name: [value] * rows for name, value in columns.items()}),
    st.dictionaries(KEYS, LEAVES, max_size=5),
    st.integers(0, 3),
)
ITEMS = st.recursive(
    VALUES | SPANS | ROWS | FRAMES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.lists(inner, max_size=3).map(iter),
        st.dictionaries(KEYS, inner, max_size=4),
    ),
    max_leaves=8,
)
SIDES = st.one_of(
    st.lists(ITEMS, max_size=3),
    ITEMS,
    st.lists(ROWS, max_size=2),
    st.lists(st.lists(SPANS, max_size=2), max_size=2),
)


@example([[({}, pandas.DataFrame()), {}]], [[]], None)
@example([[ARRAYS[0]], ["O"]], [["O"], ["O"]], None)
@example([("O",), None], [("O",), None], [])
@example([{"text": "", "spans": ARRAYS[0]}], [{"text": "", "spans": [], "answer": ARRAYS[0]}], None)
@example([{"text": "", "spans": []}], [{"text": "", "spans": [], "answer": ARRAYS[0]}], None)
@example([[{"start": 0, "end": 1, "score": ARRAYS[0]}]], [[]], None)
@given(gold=SIDES, predicted=SIDES, names=st.sampled_from([None, NAMES, {"0": "O"}, []]))
def test_anything_is_scored_or_refused(gold: Any, predicted: Any, names: Any) -> None:
    with suppress(CluevalError):
        assert score(gold, predicted, names=names, metrics="exact").documents >= 0


NUMBERS = st.lists(
    st.lists(st.tuples(st.sampled_from([-100, 0, 1, 2, 3]), st.integers(0, 3)), min_size=1), min_size=1
)


@given(NUMBERS)
def test_numbers_score_as_their_names_without_the_ignored_positions(
    sentences: list[list[tuple[int, int]]],
) -> None:
    sides = [[[pair[side] for pair in sentence] for sentence in sentences] for side in (0, 1)]
    kept = [[pair for pair in sentence if pair[0] != -100] for sentence in sentences]
    tags = [[[NAMES[pair[side]] for pair in sentence] for sentence in kept] for side in (0, 1)]

    assert score(*sides, names=NAMES, metrics="exact").metrics == score(*tags, metrics="exact").metrics


DOCUMENTS = st.dictionaries(
    st.sampled_from("abcd"),
    st.lists(st.tuples(st.integers(0, 4), st.integers(5, 9), st.sampled_from("AB")), min_size=1, max_size=3),
    min_size=1,
)


def frame_of(documents: dict[str, list[tuple[int, int, str]]]) -> pandas.DataFrame:
    rows = [(name, *span) for name, spans in documents.items() for span in spans]
    return pandas.DataFrame(rows, columns=["document", "start", "end", "label"])


@given(DOCUMENTS, DOCUMENTS)
def test_frames_score_as_dictionaries_with_empty_lists(gold: Any, predicted: Any) -> None:
    names = sorted(gold.keys() | predicted.keys())
    whole = [{name: side.get(name, []) for name in names} for side in (gold, predicted)]

    if not gold.keys() & predicted.keys():
        with pytest.raises(CluevalError, match="no document is on both sides"):
            score(frame_of(gold), frame_of(predicted))
        return
    of_frames = score(frame_of(gold), frame_of(predicted), metrics="exact")

    assert of_frames.metrics == score(*whole, metrics="exact").metrics
    assert of_frames.documents == len(names)
