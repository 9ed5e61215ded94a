"""What holds of all changes before counting: those that change nothing, and files of changes with anything in them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from corpora import write
from hypothesis import given
from hypothesis import strategies as st

from clueval import Document, Result, Span, score
from clueval.files.errors import CluevalError

LABEL = st.sampled_from(["A", "A.b", "C", "C.d.e"])
SPANS = st.lists(
    st.tuples(st.integers(0, 6), st.integers(1, 3), LABEL).map(
        lambda each: Span(each[0], each[0] + each[1], {"x": each[2]})
    ),
    max_size=5,
    unique_by=lambda span: (span.start, span.end, span.label),
)
Texts = list[tuple[list[Span], list[Span]]]
TEXTS = st.lists(st.tuples(SPANS, SPANS), min_size=1, max_size=3)


def documents(texts: Texts, side: int, **more: Any) -> list[Document]:
    return [
        Document(str(number), {"x": pair[side], **more}, tokens=["t"] * 9)
        for number, pair in enumerate(texts)
    ]


def counted(gold: list[Document], predicted: list[Document], **options: Any) -> Result:
    return score(gold, predicted, metrics="exact,muc,gate", **options)


NOTHING: list[dict[str, Any]] = [
    {"label_map": {"*": "*"}},
    {"gold_map": {"*": "*"}, "predicted_map": {"*": "*"}},
    {"hierarchy": ".", "depth": 9},
    {"generic": "NONE"},
    {"ignore_layer": "regions"},
    {"ignore_layer": "regions", "ignored": "touching"},
    {"fragments": "split"},
    {"fragments": "hull"},
]


@given(TEXTS, st.sampled_from(NOTHING))
def test_changes_that_have_nothing_to_change_change_nothing(texts: Texts, options: dict[str, Any]) -> None:
    regions: dict[str, Any] = {"regions": []} if "ignore_layer" in options else {}

    changed = counted(documents(texts, 0, **regions), documents(texts, 1), **options)

    assert changed.metrics == counted(documents(texts, 0), documents(texts, 1)).metrics
    numbers = [
        n for found in (changed.prepared or {}).values() for key, n in found.items() if key[0] != "hidden"
    ]
    assert not any(numbers)


@given(TEXTS)
def test_a_table_without_alternatives_and_the_same_gold_twice_change_nothing(
    table: Path, texts: Texts
) -> None:
    gold, predicted = documents(texts, 0), documents(texts, 1)

    changed = counted(gold, predicted, alternatives=table, any_of=[gold])

    assert changed.metrics == counted(gold, predicted).metrics
    assert changed.to_dict()["prepared"]["any_of"] == {"gold": len(texts), "any_of[0]": 0}


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("a") / "table.tsv", "document\tstart\tend\tlabel\n")


def test_generic_span_in_a_place_with_several_labels_takes_one_whatever_the_order() -> None:
    spans = [Span(0, 1, {"x": "A"}), Span(0, 1, {"x": "A.b"})]
    found = []
    for gold in (spans, spans[::-1]):
        sides = [documents([(gold, spans)], side) for side in (0, 1)]
        report = counted(*sides, generic="A", hierarchy=".").metrics["exact"]["x"]
        found.append(report["per_label"])

    assert found[0] == found[1]


# Whatever is in a file that changes spans, the outcome is a result or an error of one line


PIECES = st.sampled_from(
    [
        *("A", "B", "*", "\t", "\n", " ", "  ", "{", "}", '"A"', ":", ",", "[entities]", "#", "\r\n"),
        *("\ufeff", "\0", "document", "start", "end", "end_inclusive", "label", "of_start", "of_end"),
        *("fragments", "x", "0", "1", "-1", "0-1;3-4", "99999999999999999999", "d", "ß", "\ud800", "."),
    ]
)
CONTENT = st.lists(PIECES, max_size=30).map("".join).map(lambda text: text.encode("utf-8", "surrogatepass"))


@pytest.mark.parametrize("option", ["label_map", "gold_map", "hierarchy", "alternatives"])
@given(content=CONTENT | st.binary(max_size=40))
def test_files_of_changes_give_a_result_or_an_error_of_one_line(
    option: str, content: bytes, tmp_path: Path
) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    options: dict[str, Any] = {option: path}
    if option == "hierarchy":
        options["depth"] = 1
    gold = [[(0, 2, "A"), (3, 5, "B")]]

    assert outcome(gold, options) == 1


def outcome(gold: Any, options: dict[str, Any]) -> int:
    """The number of documents of the result, or of lines of the error."""
    try:
        return score(gold, [[(0, 2, "A")]], metrics="exact", **options).documents
    except CluevalError as error:
        return len(str(error).splitlines())
