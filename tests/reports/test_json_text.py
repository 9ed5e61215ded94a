from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clueval.reports.json_text import dumps

PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
VALUES = st.recursive(
    PLAIN,
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner) | st.tuples(inner, inner),
    max_leaves=30,
)


@given(VALUES)
def test_json_text_is_read_as_what_was_written(value: Any) -> None:
    assert repr(json.loads(dumps(value))) == repr(json.loads(json.dumps(value)))


def test_labels_that_look_like_json_stay_labels() -> None:
    labels = {'a": {"b', "x,\n  y", "ü\u2028", "\\", "[1, 2]"}
    value = {"per_label": {label: {"gold": 1, "other": {label: 0.5}} for label in labels}}

    assert json.loads(dumps(value)) == value


def test_values_that_json_cannot_hold_are_refused() -> None:
    with pytest.raises(TypeError, match="set"):
        dumps({"labels": {"PER"}})
