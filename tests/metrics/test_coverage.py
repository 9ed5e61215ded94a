"""Metric `coverage` counts positions in the union of spans; `strings` counts texts and labels without their places."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clueval.core.document import Document, Pair
from clueval.core.metric import DocumentMetric, Tally
from clueval.core.span import Span
from clueval.files.errors import UsageError
from clueval.metrics.coverage import Coverage
from clueval.metrics.strings import Strings
from tests.scoring import scored

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


def tally_of(metric: DocumentMetric, gold: list[Span], predicted: list[Span], **document: Any) -> Tally:
    sides = (Document("d", {"label": spans}, **document) for spans in (gold, predicted))
    return metric.count_documents([Pair(*sides)], "label", {})


def counted(metric: DocumentMetric, gold: list[Span], predicted: list[Span], **document: Any) -> Any:
    return metric.scores(tally_of(metric, gold, predicted, **document), ["label"])


def numbers(entry: dict[str, float]) -> tuple[float, ...]:
    return tuple(entry[name] for name in ("gold", "predicted", "tp_gold", "tp_predicted"))


def covered(spans: list[Span], label: str | None = None) -> set[int]:
    return {
        n for span in spans if label in (None, span.label) for part in span.fragments for n in range(*part)
    }


@given(SPANS, SPANS)
def test_coverage_counts_the_positions_in_sets(gold: list[Span], predicted: list[Span]) -> None:
    report = counted(Coverage(), gold, predicted, tokens=TOKENS)

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
    report = counted(
        Coverage(),
        [Span(0, 13, "A")],
        [Span(0, 6, "A"), Span(10, 12, "A")],
        text="Ann-Marie Lee",
        unit="character",
    )

    assert numbers(report["tokens"]["micro"]) == (4, 4, 4, 4)  # Ann, -, Marie, Lee
    assert numbers(report["characters"]["micro"]) == (12, 8, 8, 8)


def test_coverage_takes_positions_as_tokens_where_there_is_no_text() -> None:
    for tokens in (None, ["", "", ""]):
        report = counted(Coverage(), [Span(0, 2, "A")], [Span(0, 1, "A")], tokens=tokens)

        assert report.keys() == {"tokens"}
        assert report["tokens"]["micro"]["recall"] == 0.5


def test_coverage_counts_fragments_and_not_what_lies_between_them() -> None:
    gap = Span.of_fragments([(0, 1), (3, 4)], "A")
    report = counted(Coverage(), [gap], [Span(0, 4, "A")], tokens=TOKENS)

    assert numbers(report["tokens"]["micro"]) == (2, 4, 2, 2)


def test_coverage_leaves_out_filtered_spans_which_still_cover() -> None:
    spans = [Span(0, 1, {"x": "A"}), Span(2, 3, {"x": "A"})]
    kinds = [Span(0, 1, {"kind": "in"}), Span(2, 3, {"kind": "out"})]
    gold = Document("d", {"x": spans, "kind": kinds}, TOKENS)
    predicted = Document("d", {"x": [Span(0, 3, {"x": "A"})], "kind": [Span(0, 3, {"kind": "in"})]}, TOKENS)

    found = scored([gold], [predicted], Coverage(), where={"kind": ["in"]})["x"]

    assert numbers(found["tokens"]["micro"]) == (1, 3, 1, 2)


@given(
    st.lists(st.sampled_from(["a", "b"]), max_size=5), st.lists(st.sampled_from(["a", "b", "c"]), max_size=5)
)
def test_strings_are_matched_as_multisets(gold: list[str], predicted: list[str]) -> None:
    text = "a b c"
    sides = [
        [Span(text.index(each), text.index(each) + 1, "A") for each in side] for side in (gold, predicted)
    ]

    micro = counted(Strings(), sides[0], sides[1], text=text, unit="character")["micro"]

    true = sum(min(gold.count(each), predicted.count(each)) for each in "abc")
    assert numbers(micro) == (len(gold), len(predicted), true, true)


def test_strings_join_fragments_and_need_a_text() -> None:
    gap = Span.of_fragments([(0, 4), (15, 18)], "A")
    report = counted(Strings(), [gap], [gap], text="left and right arm", unit="character")
    assert report["micro"]["tp_gold"] == 1

    with pytest.raises(UsageError, match="needs the text"):
        tally_of(Strings(), [Span(0, 1, "A")], [], tokens=[""])


def test_strings_pair_mentions_without_a_place_with_the_gold_of_their_text() -> None:
    text = "Ann met Ann at Annex"
    gold = Document(
        "d", {"x": [Span(0, 3, {"x": "PER"}), Span(8, 11, {"x": "PER"})]}, text=text, unit="character"
    )
    placed = Document("d", {"x": [Span(0, 3, {"x": "PER"})]}, text=text, unit="character")
    lost = [Span(0, 0, {"x": "PER"}, {"mention": name}) for name in (" Ann ", "Bob")]
    nothing = Document("d", {}, unit="character")
    beside = Pair(nothing, Document("d", {"x": lost}, unit="character"), beside=True)

    micro = Strings().scores(Strings().count_documents([Pair(gold, placed), beside], "x", {}), ["x"])["micro"]

    assert numbers(micro) == (2, 3, 2, 2)
