"""Conventions by clusters: the same rows as from documents, and the reason where a number differs."""

from __future__ import annotations

import io
from typing import Any

import pytest
from corpora import write
from hypothesis import given
from hypothesis import strategies as st

from clueval import Signature, conventions, read

LABELS = ("A", "B")
SCHEMES = {"BIO": "BI", "BIOES": "BIES"}

Sentences = list[list[str]]


def spans(prefixes: str) -> st.SearchStrategy[list[str]]:
    """Well-formed tags of one span, or an O."""

    def tags(label: str, length: int) -> list[str]:
        inside = [f"I-{label}"] * (length - 1)
        if "E" not in prefixes:
            return [f"B-{label}", *inside]
        return [f"S-{label}"] if length == 1 else [f"B-{label}", *inside[1:], f"E-{label}"]

    return st.just(["O"]) | st.builds(tags, st.sampled_from(LABELS), st.integers(1, 3))


@st.composite
def well_formed(draw: st.DrawFn, prefixes: str) -> tuple[str, str]:
    """Two files with the same tokens."""
    sides: list[Sentences] = [[], []]
    for length in draw(st.lists(st.integers(1, 8), min_size=1, max_size=5)):
        for side in sides:
            tags: list[str] = []
            while len(tags) < length:
                span = draw(spans(prefixes))
                tags += span if len(tags) + len(span) <= length else ["O"]
            side.append(tags)
    return of_file(sides[0]), of_file(sides[1])


@st.composite
def any_sides(draw: st.DrawFn, prefixes: str = "BI") -> tuple[Sentences, Sentences]:
    tag = st.sampled_from(["O", *(f"{prefix}-{label}" for prefix in prefixes for label in LABELS)])
    lengths = draw(st.lists(st.integers(1, 6), min_size=1, max_size=4))
    gold, predicted = ([draw(st.lists(tag, min_size=n, max_size=n)) for n in lengths] for _ in range(2))
    return gold, predicted


def any_tags(prefixes: str = "BI") -> st.SearchStrategy[tuple[str, str]]:
    return any_sides(prefixes).map(lambda sides: (of_file(sides[0]), of_file(sides[1])))


def of_file(sentences: Sentences) -> str:
    return "\n".join("".join(f"w {tag}\n" for tag in tags) for tags in sentences)


def rows_of(gold: object, predicted: object) -> dict[str, Any]:
    rows: dict[str, Any] = conventions(str(gold), str(predicted)).to_dict()["conventions"]["label"]
    return rows


def assert_rows_of_documents(folder: Any, gold: str, predicted: str) -> None:
    paths = [str(write(folder / name, text)) for name, text in (("g", gold), ("p", predicted))]
    expected = conventions(*(list(read(path)) for path in paths)).to_dict()["conventions"]["label"]

    assert without_reasons(rows_of(*paths)) == without_reasons(expected)


def without_reasons(rows: dict[str, Any]) -> dict[str, Any]:
    return {key: {**row, "differs": None} for key, row in rows.items()}


@given(any_tags() | any_tags("BIES") | well_formed("BI") | well_formed("BIES"))
def test_rows_of_compared_files_are_those_of_documents(
    tmp_path_factory: pytest.TempPathFactory, files: tuple[str, str]
) -> None:
    assert_rows_of_documents(tmp_path_factory.mktemp("corpus"), *files)


@given(any_tags() | any_tags("BIES"))
def test_rows_that_read_tags_are_those_of_tokens_if_positions_are_characters(
    tmp_path_factory: pytest.TempPathFactory, files: tuple[str, str]
) -> None:
    folder = tmp_path_factory.mktemp("corpus")
    paths = [str(write(folder / name, text)) for name, text in zip("gp", files, strict=True)]
    found = conventions(*paths, unit="character").to_dict()["conventions"]["label"]
    expected = rows_of(*paths)

    for key in ("conlleval", "seqeval", "seqeval_strict"):
        assert {**found[key], "differs": None} == {**expected[key], "differs": None}


@given(any_sides() | any_sides("BIES"))
def test_rows_of_lists_of_tags_are_those_of_files(
    tmp_path_factory: pytest.TempPathFactory, sides: tuple[Sentences, Sentences]
) -> None:
    folder = tmp_path_factory.mktemp("corpus")
    files = [str(write(folder / name, of_file(side))) for name, side in zip("gp", sides, strict=True)]
    expected = rows_of(*files)

    for given_sides in (sides, map(iter, sides), [map(iter, side) for side in sides]):
        found = conventions(*given_sides).to_dict()["conventions"]["label"]
        assert {key: row["f1"] for key, row in found.items()} == {
            key: row["f1"] for key, row in expected.items()
        }


def test_standard_input_may_have_invalid_tags(tmp_path: Any) -> None:
    gold, predicted = of_file([["B-A", "O", "B-B"]]), of_file([["I-A", "O", "B-B"]])
    path = write(tmp_path / "g", gold)
    found = conventions(str(path), io.StringIO(predicted)).to_dict()["conventions"]["label"]

    assert found["conlleval"]["f1"] == 1
    assert found["seqeval_strict"]["f1"] == pytest.approx(2 / 3)


def test_signature_does_not_depend_on_the_way_of_counting(tmp_path: Any) -> None:
    path = str(write(tmp_path / "g", of_file([["B-A", "O"]])))

    found, other = (
        Signature.parse(conventions(path, path, **options).signature)
        for options in ({}, {"invalid": "discard"})
    )

    assert found.differences(other) == {"invalid": ("conlleval", "discard")}


def test_a_row_that_differs_from_the_first_says_by_how_much_and_why(tmp_path: Any) -> None:
    gold = write(tmp_path / "g", of_file([["B-A", "I-A", "O", "B-B", "O", "B-B"]]))
    predicted = write(tmp_path / "p", of_file([["B-A", "O", "O", "I-B", "O", "B-A"]]))
    rows = rows_of(gold, predicted)

    assert rows["conlleval"]["differs"] is None
    assert rows["seqeval"]["differs"] is None
    assert rows["seqeval_strict"]["differs"] == "-33.33 points of F1: invalid tags in predicted are dropped"
    assert rows["exact_unlabelled"]["differs"] == "+33.34 points of F1: labels are ignored"
    assert rows["muc_type"]["differs"] == "+33.34 points of F1: an overlap with the same label counts"
    assert rows["gate_strict"]["differs"] is None


@given(any_tags())
def test_rows_say_why_they_differ_whenever_they_do(
    tmp_path_factory: pytest.TempPathFactory, files: tuple[str, str]
) -> None:
    folder = tmp_path_factory.mktemp("corpus")
    rows = rows_of(*(write(folder / name, text) for name, text in zip("gp", files, strict=True)))
    first, rates = rows["conlleval"], ("precision", "recall", "f1")

    for row in rows.values():
        differs = row["f1"] is not None and any(row[rate] != first[rate] for rate in rates)
        assert (row["differs"] is not None) == differs
