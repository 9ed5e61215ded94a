"""Coverage counts positions in the union of spans; strings count texts and labels without their places."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clueval import Document, Span, UsageError, score
from clueval.metrics.coverage import Coverage
from clueval.metrics.metric import Side
from clueval.metrics.strings import Strings

TOKENS = ["Dr", "Ada", "King", "of", "Lovelace"]
SPANS = st.lists(
    st.builds(
        lambda start, length, label: Span(start, min(start + length, 5), label),
        st.integers(0, 5),
        st.integers(0, 3),
        st.sampled_from("AB"),
    ),
    max_size=5,
)


def counted(metric: Any, gold: list[Span], predicted: list[Span], document: Document) -> Any:
    sides = (Side(spans, document=document) for spans in (gold, predicted))
    return metric.scores(metric.count(*sides), ["label"])


def numbers(entry: dict[str, float]) -> tuple[float, ...]:
    return tuple(entry[name] for name in ("gold", "predicted", "tp_gold", "tp_predicted"))


def covered(spans: list[Span], label: str | None = None) -> set[int]:
    return {
        n for span in spans if label in (None, span.label) for part in span.fragments for n in range(*part)
    }


@given(SPANS, SPANS)
def test_coverage_counts_the_positions_in_sets(gold: list[Span], predicted: list[Span]) -> None:
    report = counted(Coverage(), gold, predicted, Document("d", {}, tokens=TOKENS))

    for label in ("A", "B", None):
        own, other = covered(gold, label), covered(predicted, label)
        for kind, size in (("tokens", lambda _: 1), ("characters", lambda n: len(TOKENS[n]))):
            entry = report[kind]["unlabelled"] if label is None else report[kind]["per_label"].get(label)
            both = sum(map(size, own & other))
            expected = (sum(map(size, own)), sum(map(size, other)), both, both)
            assert (numbers(entry) if entry else (0, 0, 0, 0)) == expected
    micro = report["tokens"]["micro"]
    assert micro["gold"] == sum(len(covered(gold, label)) for label in "AB")


def test_coverage_takes_the_words_of_a_text_that_spans_touch() -> None:
    text = Document("d", {}, text="Ann-Marie Lee", unit="character")
    report = counted(Coverage(), [Span(0, 13, "A")], [Span(0, 6, "A"), Span(10, 12, "A")], text)

    assert numbers(report["tokens"]["micro"]) == (4, 4, 4, 4)  # Ann, -, Marie, Lee
    assert numbers(report["characters"]["micro"]) == (12, 8, 8, 8)


def test_coverage_takes_positions_as_tokens_where_there_is_no_text() -> None:
    report = score([["B-A", "I-A", "O"]], [["B-A", "O", "O"]], metrics="coverage").metrics["coverage"][
        "label"
    ]

    assert report.keys() == {"tokens"}
    assert score([["B-A", "I-A"]], [["B-A", "O"]], metrics="coverage").recall == 0.5


def test_coverage_counts_fragments_and_not_what_lies_between_them() -> None:
    gap = Span.of_fragments([(0, 1), (3, 4)], "A")
    report = counted(Coverage(), [gap], [Span(0, 4, "A")], Document("d", {}, tokens=TOKENS))

    assert numbers(report["tokens"]["micro"]) == (2, 4, 2, 2)


def test_coverage_leaves_out_filtered_spans_which_still_cover() -> None:
    document = Document("d", {}, tokens=TOKENS)
    metric = Coverage()
    gold = Side([Span(0, 1, "A"), Span(2, 3, "A")], [True, False], document)
    tally = metric.count(gold, Side([Span(0, 3, "A")], document=document))

    assert numbers(metric.scores(tally, ["label"])["tokens"]["micro"]) == (1, 3, 1, 2)


@given(
    st.lists(st.sampled_from(["a", "b"]), max_size=5), st.lists(st.sampled_from(["a", "b", "c"]), max_size=5)
)
def test_strings_are_matched_as_multisets(gold: list[str], predicted: list[str]) -> None:
    text = "a b c"
    sides = [
        [Span(text.index(each), text.index(each) + 1, "A") for each in side] for side in (gold, predicted)
    ]

    micro = counted(Strings(), *sides, Document("d", {}, text=text, unit="character"))["micro"]

    true = sum(min(gold.count(each), predicted.count(each)) for each in "abc")
    assert numbers(micro) == (len(gold), len(predicted), true, true)


def test_strings_join_fragments_and_need_a_text() -> None:
    document = Document("d", {}, text="left and right arm", unit="character")
    gap = Span.of_fragments([(0, 4), (15, 18)], "A")
    assert counted(Strings(), [gap], [gap], document)["micro"]["tp_gold"] == 1

    with pytest.raises(UsageError, match="needs the text"):
        score([["B-A"]], [["B-A"]], metrics="strings")
