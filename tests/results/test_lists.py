"""Lists of tags and of spans: batches, iterators, and the errors that name a place."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, repeat
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clueval import CluevalError, UsageError, score
from clueval.reading.clusters import BATCH
from clueval.reading.triples import BATCH as SPANS_AT_ONCE

PART = 10_000
"""The number of documents of iterators that are in memory together."""

METRICS = ["levels", "exact", "confusion", "muc", "partial"]
TAGS = st.sampled_from(["O", "O", "B-A", "I-A", "B-B", "I-B", "I-C", "B"])


Sides = tuple[list[list[Any]], list[list[Any]]]


@st.composite
def sides(draw: st.DrawFn) -> Sides:
    lengths = draw(st.lists(st.integers(0, 6), max_size=6))
    gold, predicted = ([draw(st.lists(TAGS, min_size=n, max_size=n)) for n in lengths] for _ in range(2))
    equal = draw(st.sets(st.integers(0, 5)))
    return gold, [gold[n] if n in equal else tags for n, tags in enumerate(predicted)]


def counted(
    gold: Any, predicted: Any, metrics: Sequence[str] = tuple(METRICS), **options: Any
) -> dict[str, Any]:
    report = score(gold, predicted, metrics=metrics, **options).to_dict()
    report.pop("by", None)
    return report


@given(sides())
def test_iterators_count_as_lists_do(pair: Sides) -> None:
    streamed = counted(iter(pair[0]), (iter(tags) for tags in pair[1]))

    assert streamed == counted(*pair)


def test_more_sentences_than_a_batch_are_all_counted() -> None:
    gold = [["B-A", "O", f"B-{number % 700}"] for number in range(3 * BATCH)]
    predicted = [tags if number % 3 else ["O", *tags[1:]] for number, tags in enumerate(gold)]

    prf = score(gold, predicted, metrics="exact").metrics["exact"]["label"]["micro"]

    assert (prf["gold"], prf["predicted"], prf["tp_gold"]) == (6 * BATCH, 5 * BATCH, 5 * BATCH)


def test_more_documents_of_iterators_than_memory_holds_count_as_lists_do() -> None:
    number = 2 * PART + 3
    tags = [["B-A", "O", f"B-{n % 7}"] for n in range(number)]
    spans = [[(0, 1, "A"), (2, 3, str(n % 7))] for n in range(number)]

    for gold in (tags, spans):
        predicted = [items if n % 3 else items[:1] + gold[0][1:] for n, items in enumerate(gold)]
        streamed = score(iter(gold), iter(predicted), metrics="exact", resample_by="document")
        listed = score(gold, predicted, metrics="exact", resample_by="document")

        assert streamed.to_dict() == listed.to_dict()
        assert [*streamed.bag.documents.items()] == [*listed.bag.documents.items()]
        with pytest.raises(UsageError, match=f"predicted has only {number - 1:,} "):
            score(iter(gold), iter(predicted[:-1]), metrics="exact")


@pytest.mark.parametrize(
    ("gold", "predicted", "options", "message"),
    [
        (
            repeat(["O"], PART + 1),
            chain(repeat(["O"], PART), [["X"]]),
            {},
            f"predicted[{PART}][0]: 'X' is not a tag",
        ),
        ([["B-A", "PER"]], [["O", "O"]], {}, "gold[0][1]: 'PER' is not a tag"),
        ([["O", -100]], [["O", "O"]], {}, "gold[0][1]: an int is not a tag (tags are text, such as 'B-PER')"),
        (
            [["O"]] * (2 * BATCH + 1),
            [["O"]] * 2 * BATCH + [["O"] * 2],
            {},
            f"sentence {2 * BATCH} has 1 gold",
        ),
        ([["O"]], [["O"]] * 2, {}, "gold has 1 sentence and predicted has 2 sentences ("),
        ([["O"]], [["E-A"]], {"scheme": "BIO"}, "predicted[0][0]: tag 'E-A' is outside the scheme BIO"),
        ({"d": ["O"]}, {"d": ["x"]}, {}, "predicted['d'][0]: 'x' is not a tag"),
        ({"d": ["O"]}, {"d": ["O", "O"]}, {}, "document 'd' has 1 gold and 2 predicted tags"),
        ([["O"]] * (BATCH + 2), [["O"]] * BATCH + [["O"], ["x"]], {}, f"predicted[{BATCH + 1}][0]: 'x' is"),
        ([["O"], None], [["O"], ["O"]], {}, "gold[1] is None, not a list of tags"),
        ([["O", ["O"]]], [["O", "O"]], {}, "gold[0][1]: a list is not a tag"),
        ([["B-A"], ["I-A"]], [["O"]] * 2, {"invalid": "error"}, "gold[1]: ill-formed tags: 'I-A'"),
        ([["I-A"]], [["O"]], {"invalid": "error", "scheme": "BIO"}, "gold[0]: ill-formed tags: 'I-A'"),
    ],
)
def test_a_bad_tag_is_named_with_its_place(
    gold: Any, predicted: Any, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(CluevalError) as error:
        score(gold, predicted, **options)

    assert str(error.value).startswith(message)


# Lists of spans


def test_more_lists_than_a_batch_are_all_counted() -> None:
    gold = [[(n % 7, n % 7 + 2, f"L{n % 50}"), (20, 21, "A")] for n in range(3 * SPANS_AT_ONCE)]
    predicted = [spans[:1] if n % 3 else spans for n, spans in enumerate(gold)]
    gold[SPANS_AT_ONCE + 2].append((20, 22, "A"))  # overlaps, in the second batch

    report = score(gold, predicted, metrics="exact").to_dict()

    assert report["documents"] == 3 * SPANS_AT_ONCE
    prf = report["metrics"]["exact"]["label"]["micro"]
    assert (prf["gold"], prf["predicted"], prf["tp_gold"]) == (
        6 * SPANS_AT_ONCE + 1,
        4 * SPANS_AT_ONCE,
        4 * SPANS_AT_ONCE,
    )


@pytest.mark.parametrize(
    ("gold", "predicted", "message"),
    [
        ([[(0, 1, "A")], [(0, 1.0, "A")]], [[], []], "gold[1][0]: positions must be integers"),
        ([[(0, 1, "A")], []], [[]], "gold has 2 documents and predicted has 1 document"),
        (
            [[(0, 2, "A"), (1, 3, "A")]],
            [[]],
            "document '0': spans [0,2) 'A' and [1,3) 'A' of one sequence overlap",
        ),
        (
            [[(0, 1, "A")], [(0, 1, "A")], [(6, 8, "A"), (5, 7, "A")], [(0, 2, "B"), (1, 3, "B")]],
            [[(0, 1, "A")], [], [], []],
            "document '2': spans [5,7) 'A' and [6,8) 'A' of one sequence overlap",
        ),
    ],
)
def test_errors_of_lists_of_spans_name_the_place(gold: Any, predicted: Any, message: str) -> None:
    with pytest.raises(CluevalError) as caught:
        score(gold, predicted)

    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("gold", "predicted"),
    [
        ([["B-A", "O"], ["B-A", "O"], ["B-A", "O"]], [["B-A", "O"], ["O", "O"], ["O", "B-A"]]),
        ([[(0, 1, "A")], [(0, 1, "A")], [(0, 1, "A")]], [[(0, 1, "A")], [], [(1, 2, "A")]]),
    ],
    ids=["tags", "spans"],
)
def test_a_value_for_each_list_gives_the_scores_of_the_lists_with_this_value(
    gold: Any, predicted: Any
) -> None:
    found = score(gold, predicted, metrics="exact", by=["news", "web", "news"]).to_dict()
    of_news = score(gold[::2], predicted[::2], metrics="exact").to_dict()

    assert list(found["by"]["group"]) == ["news", "web"]
    assert found["by"]["group"]["news"]["metrics"] == of_news["metrics"]
    assert found["by"]["group"]["web"]["metrics"]["exact"]["label"]["micro"]["recall"] == 0
    array = np.array(["news", "web", "news"])
    assert score(gold, predicted, metrics="exact", by=array).to_dict() == found
    with pytest.raises(UsageError, match="by has 2 values, and gold has 3 lists"):
        score(gold, predicted, by=["news", "web"])
    with pytest.raises(UsageError, match="by has 1 and '1', which are both written 1"):
        score(gold, predicted, by=[1, 2, "1"])


def test_values_for_lists_are_in_their_order_whatever_ids_their_texts_have() -> None:
    gold, rows = [[(0, 1, "A")], [], []], [{"text": "a b", "spans": [], "id": id_} for id_ in "201"]

    groups = score(gold, rows, metrics="exact", by=["x", "y", "y"]).to_dict()["by"]["group"]

    assert groups["x"]["metrics"]["exact"]["label"]["micro"]["fn"] == 1
    for other, where in (([*rows[:2], rows[0]], ()), (rows, "document=2")):
        with pytest.raises(UsageError, match="where leaves out documents, or two have one id"):
            score(gold, other, by=["x", "y", "y"], where=where)
    groups = score([["B-A"], ["O"]], [["B-A"], ["O"]], by=["x", "y"], where="document=1").to_dict()["by"][
        "group"
    ]
    assert list(groups) == ["y"]
