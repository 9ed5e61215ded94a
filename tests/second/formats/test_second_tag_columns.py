"""Columns of tags that are layers where none is named, held against today's choice."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

import clueval
from clueval.second.formats.documents import read_file
from clueval.second.formats.input_file import InputFile
from clueval.second.formats.options import FormatOptions
from clueval.second.formats.tag_columns import TagColumns, layers_of_sides, tag_columns_of
from tests.second.formats.test_second_rows import outcome

FILES = [
    "Ada\tB-PER\tt1\nin\tO\tt2\n",
    "Ada\tB-PER\tB-high\tt1\nin\tO\tO\tt2\n",
    "Ada\tB-PER\tO\nin\tO\tO\n",
    "Ada\tB-PER\tB-X\nin\tO\tO\n",
    "Ada NNP B-PER\nin IN O\n",
    "Ada\tO\tt1\nin\tO\tt2\n",
    "Ada\tx\ty\nin\tx\ty\n",
    "<text>\nAda\tB-PER\tt1\nin\tO\tt2\n",
    "1\tAda\tB-PER\n2\tin\tO\n",
    "",
    "Ada\n",
    "# newdoc id = a\nAda\tB-PER\tB-X\tO\tx\n",
]


@pytest.mark.parametrize("text", FILES)
def test_layers_and_remarks_are_those_of_today(text: str, tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text(text, encoding="utf-8")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        today = outcome(lambda: clueval.read(path))

    ((layers, remark),) = layers_of_sides([tag_columns_of([InputFile(path)], FormatOptions())])

    assert [str(each.message) for each in caught] == ([f"{path.name}: {remark}"] if remark else [])
    found = outcome(lambda: read_file(InputFile(path), FormatOptions(layers=layers)))
    assert found == today


def test_columns_that_are_named_are_not_looked_for(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text(FILES[0], encoding="utf-8")

    assert tag_columns_of([InputFile(path)], FormatOptions(layers={"a": 2})) is None


def test_sides_have_the_same_columns_where_these_hold_tags() -> None:
    both, first = frozenset({2, 3}), frozenset({2})
    gold, predicted = TagColumns(both, both, 4, False), TagColumns(both, first, 4, False)

    assert [layers for layers, _ in layers_of_sides([gold, predicted])] == [{"2": 2, "3": 3}] * 2


def test_only_first_lines_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("Ada\tB-PER\tt1\n" * 30_000 + "\xff\n", encoding="latin-1")

    found = tag_columns_of([InputFile(path)] * 2, FormatOptions())

    assert found is not None
    assert found.own == {2}
