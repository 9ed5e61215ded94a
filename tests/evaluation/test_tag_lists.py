"""Lists of tags: the fast way counts what documents give."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from one_by_one import BY_DOCUMENT, outcome
from sizes import documents_alone

from clueval import CluevalError, score
from clueval.evaluation.tag_lists import BATCH

METRICS = ["levels", "exact", "confusion", "muc", "partial"]
TAGS = st.sampled_from(["O", "O", "B-A", "I-A", "B-B", "I-B", "I-C", "B"])

Sides = tuple[list[list[str]], list[list[str]]]


@st.composite
def sides(draw: st.DrawFn) -> Sides:
    lengths = draw(st.lists(st.integers(0, 6), max_size=6))
    gold, predicted = ([draw(st.lists(TAGS, min_size=n, max_size=n)) for n in lengths] for _ in range(2))
    equal = draw(st.sets(st.integers(0, 5)))
    return gold, [gold[n] if n in equal else tags for n, tags in enumerate(predicted)]


def counted(gold: Any, predicted: Any, **options: Any) -> dict[str, Any]:
    report = score(gold, predicted, metrics=METRICS, **options).to_dict()
    report.pop("by", None)
    return report


@given(sides(), st.booleans(), st.sampled_from(["conlleval", "discard"]))
@example(([["B-A", "O", "B-A"], []], [["B-A", "O", "B-A"], []]), False, "conlleval")
@example(([["I-A"], ["I-A"], ["O"]], [["I-A"], ["B-A"], ["O"]]), True, "conlleval")
@example(([["I-A"], ["I-A"], ["O"]], [["I-A"], ["B-A"], ["O"]]), False, "discard")
def test_lists_of_tags_count_as_their_documents_do(pair: Sides, merge: bool, invalid: str) -> None:
    assume(invalid == "conlleval" or any(pair[0]))  # without tags, there is nothing to discard
    options = {} if invalid == "conlleval" else {"scheme": "BIO", "invalid": invalid}
    fast = counted(*pair, merge=merge, **options)
    with documents_alone():
        plain = counted(*pair, merge=merge, **options)

    assert fast == plain


@given(sides(), st.sampled_from([{}, {"scheme": "BIO", "invalid": "discard"}]))
@example(([["I-A"], ["I-A", "O"]], [["I-A"], ["B-A", "O"]]), {})
def test_sentences_one_by_one_count_as_their_documents_do(pair: Sides, reading: dict[str, Any]) -> None:
    for choices in BY_DOCUMENT:
        fast = outcome(*pair, metrics=METRICS, **choices, **reading)
        with documents_alone():
            plain = outcome(*pair, metrics=METRICS, **choices, **reading)

        assert fast == plain


@given(sides())
def test_iterators_count_as_lists_do(pair: Sides) -> None:
    streamed = counted(iter(pair[0]), (iter(tags) for tags in pair[1]))

    assert streamed == counted(*pair)


def test_more_sentences_than_a_batch_are_all_counted() -> None:
    gold = [["B-A", "O", f"B-{number % 700}"] for number in range(3 * BATCH)]
    predicted = [tags if number % 3 else ["O", *tags[1:]] for number, tags in enumerate(gold)]

    prf = score(gold, predicted, metrics="exact").metrics["exact"]["label"]["micro"]

    assert (prf["gold"], prf["predicted"], prf["tp_gold"]) == (6 * BATCH, 5 * BATCH, 5 * BATCH)


@pytest.mark.parametrize(
    ("gold", "predicted", "options", "message"),
    [
        ([["B-A", "PER"]], [["O", "O"]], {}, "gold[0][1]: 'PER' is not a tag"),
        ([["O"], ["O", "O"]], [["O"], ["O", None]], {}, "predicted[1][1]: None is not a tag"),
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
        ([["I-A"]], [["O"]], {"invalid": "error"}, "invalid='error' needs the scheme of the tags"),
        ([["I-A"]], [["O"]], {"invalid": "error", "scheme": "BIO"}, "gold[0]: ill-formed tags: 'I-A'"),
    ],
)
def test_a_bad_tag_is_named_with_its_place(
    gold: Any, predicted: Any, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(CluevalError) as error:
        score(gold, predicted, **options)

    assert str(error.value).startswith(message)
