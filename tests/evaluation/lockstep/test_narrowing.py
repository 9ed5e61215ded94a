from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from corpora import Corpus, tagged_corpora, vrt, write
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sizes import handed_in

from clueval import read, score
from clueval.evaluation.lockstep.narrowing import is_narrowable, narrowed, require_fit, without_outside
from clueval.formats.columns.layout import ColumnOptions, Layout, layout_of
from clueval.formats.columns.sizes import Sizes

LAYOUT = layout_of("w\tO", "\t", ColumnOptions(), True, "f", 1)


def lines(*rows: str) -> str:
    return "".join(row.replace("/", "\t") + "\n" for row in rows)


def test_narrowing_of_the_example_in_the_docstring() -> None:
    gold = lines("a/O", "b/B-X", "c/O", "d/B-Y", "e/I-Y", "f/O", "g/O")
    predicted = lines("a/O", "b/B-X", "c/O", "d/B-Y", "e/O", "f/O", "g/O")

    hunks = narrowed(gold, predicted, LAYOUT)

    assert hunks.gold == lines("d/B-Y", "e/I-Y", "O/O")
    assert hunks.predicted == lines("d/B-Y", "e/O", "O/O")
    assert hunks.agreed == lines("a/O", "b/B-X", "c/O", "f/O", "g/O")
    assert without_outside(hunks.agreed, LAYOUT) == lines("O/B-X", "O/O")


@pytest.mark.parametrize("text", ["a\n", "a\tO\tO\n", "a\tO\nb\n", "a\nb\tO\tO\n", "\tO\n", "a\tO\n\tO\n"])
def test_lines_with_another_number_of_fields_do_not_fit(text: str) -> None:
    with pytest.raises(ValueError, match=r"^$"):
        require_fit(text, LAYOUT)


def test_narrowing_needs_tags_in_the_last_columns() -> None:
    def layout(layers: dict[str, int], **options: Any) -> Layout:
        return layout_of("a\tb\tc", "\t", ColumnOptions(layers, **options), True, "f", 1)

    assert is_narrowable(layout({"x": 3}))
    assert is_narrowable(layout({"y": 3, "x": 2}))
    assert not is_narrowable(layout({"x": 2}))
    assert not is_narrowable(layout({"x": 3}, token=2))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(corpora=tagged_corpora(layers=2), size=st.integers(1, 40), merge=st.booleans())
def test_counts_do_not_depend_on_the_pieces_of_the_text(
    tmp_path: Path, corpora: tuple[Corpus, Corpus], size: int, merge: bool
) -> None:
    paths = [write(tmp_path / f"{n}.vrt", vrt(side)) for n, side in enumerate(corpora)]
    layers = {"x": 2, "y": 3}
    options: dict[str, Any] = {"metrics": ["levels", "exact"], "merge": merge}

    plain = score(*(read(path, layers) for path in paths), **options)
    few = max(1, size // 8)
    with handed_in(Sizes(block=size, characters=size, rows=few, sentences=few)):
        raw = score(*paths, layers=layers, **options)
        strict = score(*paths, layers=layers, invalid="discard", scheme="BIO", **options)

    if any(map(any, corpora[0])):
        assert raw.metrics == plain.metrics
        discarding = [read(path, layers, invalid="discard", scheme="BIO") for path in paths]
        assert strict.metrics == score(*discarding, **options).metrics
