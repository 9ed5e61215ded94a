"""Lists that a text holds: JSON, literals of Python, NumPy's print; and what is neither."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clueval.formats.json_values import literal_in

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)


@given(st.lists(VALUES, max_size=4))
def test_literal_that_python_or_json_writes_is_read_as_it_was(value: list[Any]) -> None:
    assert literal_in(repr(value)) == value
    assert literal_in(json.dumps(value)) == value


@given(st.lists(st.dictionaries(st.text(), VALUES, min_size=1, max_size=3), max_size=4))
def test_objects_without_commas_between_them_are_read_as_numpy_prints_them(value: list[Any]) -> None:
    assert literal_in("[" + "\n ".join(map(repr, value)) + "]") == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("[(0, 4, 'PER'),]", [[0, 4, "PER"]]),
        ("[{'a': '} {'} {'a': \"it's\"}]", [{"a": "} {"}, {"a": "it's"}]),
        (r"['\x41é\u00e9\U0001f600\'\n']", ["Aéé😀'\n"]),
        (r"['C:\dir', '\101\0', 'a\/b']", ["C:\\dir", "A\0", "a/b"]),
        ("[None, True, False, -1.5e3]", [None, True, False, -1500.0]),
        (" []\n", []),
    ],
)
def test_literal_is_read(text: str, value: object) -> None:
    assert literal_in(text) == value


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[{'a': 1}\n ...\n {'a': 2}]", "shortened"),
        ("[1 2]", "not a literal"),
        ("[nan]", "not a literal"),
        ("[np.float64(0.5)]", "not a literal"),
        ("array([1], dtype=object)", "not a literal"),
        ("[__import__('os').getcwd()]", "not a literal"),
        ("[1+1]", "not a literal"),
        ("['a", "not a literal"),
        ("", "not a literal"),
        (r"['\U99999999']", "not a literal"),
        (r"['\N{DASH}']", "not a literal"),
        (r"['\x4']", "not a literal"),
        ("[" * 100_000, "nested too deep"),
        ("(" * 100_000, "nested too deep"),
        ("-" * 100_000 + "1", "not a literal"),
        ("[" + "9" * 5_000 + "]", "not a literal"),
        ("['" + r"\'" * 100_000, "not a literal"),
    ],
)
def test_anything_but_a_literal_is_refused(text: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        literal_in(text)
