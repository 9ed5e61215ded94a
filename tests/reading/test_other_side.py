"""What one side in memory has and the other lacks: names of tags that are numbers, texts, tokens."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy
import pytest

from clueval import Accumulator, CluevalError, Document, Span, UsageError, agree, diff, errors, score

NAMES = ["O", "B-PER", "I-PER", "B-LOC"]
GOLD = [[-100, 1, 2, 0, 3, -100], [-100, 3, 0, -100, -100, -100]]
PREDICTED = [[0, 1, 2, 0, 0, 3], [1, 3, 0, 0, 0, 1]]
TEXT = "Ada Lovelace in Rome"
ROWS = [{"text": TEXT, "spans": [(0, 12, "PER"), (16, 20, "LOC")]}]
TOKENS = [{"tokens": ["Ada", "Lovelace", "in", "Rome"], "ner_tags": [1, 2, 0, 3]}]

pytestmark = pytest.mark.filterwarnings("ignore::clueval.CluevalWarning")


class Tensor:
    """What this package uses of a tensor."""

    def __init__(self, values: Any) -> None:
        self._values, self.shape = values, numpy.array(values).shape

    def __iter__(self) -> Any:
        return map(Tensor, self._values)

    def __index__(self) -> int:
        return int(self._values)

    def tolist(self) -> Any:
        return self._values


class Dataset(list[Any]):
    """What this package uses of a data set of Hugging Face."""

    def __init__(self, rows: Any, names: list[str]) -> None:
        super().__init__(rows)
        self.features = {"ner_tags": SimpleNamespace(feature=SimpleNamespace(names=names))}


def f1(gold: Any, predicted: Any, **options: Any) -> float:
    found = score(gold, predicted, metrics="exact", **options).f1
    assert found is not None
    return round(found, 4)


# Numbers


@pytest.mark.parametrize("form", [list, numpy.array, Tensor, lambda side: [Tensor(each) for each in side]])
def test_numbers_have_names_and_positions_that_gold_ignores_count_on_neither_side(form: Any) -> None:
    assert f1(form(GOLD), form(PREDICTED), names=NAMES) == 0.8  # 3 in gold, 2 predicted, both correct
    assert score(form(GOLD), form(PREDICTED), names=NAMES).tokens == 6


def test_names_are_a_list_or_a_mapping_as_in_the_configuration_of_a_model() -> None:
    by_id = {str(number): name for number, name in enumerate(NAMES)}

    for names in (NAMES, by_id, {name: number for number, name in enumerate(NAMES)}, {"id2label": by_id}):
        assert f1(GOLD, PREDICTED, names=names) == 0.8


@pytest.mark.parametrize("invalid", ["discard", "error"])
def test_ignored_positions_have_no_scheme(invalid: str) -> None:
    assert f1(GOLD, [[1, *tags[1:]] for tags in PREDICTED], names=NAMES, invalid=invalid) == 0.8


def test_an_accumulator_takes_names_for_its_batches() -> None:
    counts = Accumulator("exact", names=NAMES)
    for gold, predicted in zip(GOLD, PREDICTED, strict=True):
        counts.update([gold], [predicted])

    assert counts.compute().f1 == 0.8


def test_rows_with_numbers_take_names_or_those_of_the_data_set() -> None:
    predicted = [TOKENS[0] | {"ner_tags": [1, 2, 0, 0]}]

    assert f1(TOKENS, predicted, names=NAMES) == 0.6667
    assert f1(Dataset(TOKENS, NAMES), predicted) == 0.6667
    assert len(list(errors(TOKENS, predicted, names=NAMES))) == 1


def test_numbers_of_a_model_are_not_taken_for_those_of_the_data_set() -> None:
    """Models and data sets often number the same tags differently."""
    of_model = ["O", "B-LOC", "B-PER", "I-PER"]

    with pytest.raises(UsageError, match=r"predicted\[0\] has numbers for tags \(give names"):
        score(Dataset(TOKENS, NAMES), [[2, 3, 0, 1]])
    assert f1(Dataset(TOKENS, NAMES), [[2, 3, 0, 1]], names=of_model) == 1.0
    assert f1(Dataset(TOKENS, NAMES), [TOKENS[0] | {"ner_tags": [2, 3, 0, 1]}], names=of_model) == 1.0


@pytest.mark.parametrize(
    ("gold", "predicted", "message"),
    [
        ([[0, 9]], [[0, 1]], r"gold\[0\]\[1\]: no tag has the number 9"),
        ([[0, 1]], [[0, -100]], r"predicted\[0\]\[1\]: no tag has the number -100 .*with -100 in gold"),
        ([[0, -1]], [[0, 1]], r"gold\[0\]\[1\]: no tag has the number -1 "),
        ([[-100, 0, 1]], [[0, 1]], r"sentence 0 has 3 gold and 2 predicted tags"),
        ([[0, 1]], [[0, 1], [0]], r"gold has 1 sentence and predicted has 2 sentences"),
        ([[0, 1]], [[[0.1, 0.9], [0.2, 0.8]]], r"several numbers for each token, as a model has scores"),
        ([[1], "O"], [[1], [0]], r"gold\[1\] is a str, not a list of tags"),
        ([[1], [0, 1]], [[1], {0, 1}], r"predicted\[1\] is a set, not a list of tags"),
    ],
)
def test_a_number_without_a_name_is_refused_by_its_place(gold: Any, predicted: Any, message: str) -> None:
    with pytest.raises(CluevalError, match=message):
        score(gold, predicted, names=NAMES)


# Texts and tokens


@pytest.mark.parametrize(
    "predicted",
    [
        [[(0, 12, "PER")]],
        [(0, 12, "PER")],
        [[{"start": 0, "end": 12, "label": "PER", "text": "Ada Lovelace", "score": numpy.float32(0.9)}]],
        [[{"start": 0, "end": 12, "entity_group": "PER", "word": "Ada Lovelace"}]],
        iter([iter([Span(0, 12, "PER")])]),
    ],
)
def test_predicted_spans_get_the_text_of_gold(predicted: Any) -> None:
    assert f1(ROWS, predicted) == 0.6667


def test_gold_spans_get_the_text_of_predicted() -> None:
    assert f1([[(0, 12, "PER")]], ROWS) == 0.6667


def test_predicted_spans_by_id_are_those_of_the_rows_with_this_id() -> None:
    rows = [row | {"id": "a"} for row in ROWS]

    assert f1(rows, {"a": [(0, 12, "PER")]}) == 0.6667
    with pytest.raises(
        UsageError, match="predicted is a dictionary by document id, and the documents of gold have"
    ):
        score(ROWS, {"a": []})


def test_two_systems_get_the_text_of_gold_or_names_for_their_numbers() -> None:
    assert diff(ROWS, [[(0, 12, "PER")]], ROWS, level=1).counts()["gold"]["fixed"] == 1
    assert diff([[1, 2, 0]], [[1, 0, 0]], [[1, 2, 0]], names=NAMES, level=1).counts()["gold"]["fixed"] == 1


def test_no_predicted_spans_at_all_are_lists_without_spans() -> None:
    assert score(ROWS, [[]], metrics="exact").recall == 0.0


def test_texts_serve_the_metrics_that_need_one() -> None:
    assert score(ROWS, [[(0, 12, "PER")]], metrics="masking").get("classes.all.entity_recall") == 0.5


def test_predicted_tags_get_the_tokens_of_gold() -> None:
    assert f1(TOKENS, [["B-PER", "I-PER", "O", "O"]], names=NAMES) == 0.6667


@pytest.mark.parametrize(
    ("gold", "predicted", "message"),
    [
        (ROWS, [[{"start": 0, "end": 11, "label": "PER", "text": "Ada Lovelace"}]], "the end is exclusive"),
        (ROWS, [[(0, 30, "PER")]], "lies outside the text"),
        (ROWS, [[], []], "gold has only 1 document, the other side has more"),
        (ROWS, [["B-PER", "O", "O", "O"]], r"predicted\[0\] has tags, and the other side has a text"),
        (ROWS * 2, [[(0, 12, "PER")], None], r"predicted\[1\] is None"),
        ([Document("a", {})], [[(0, 2, "PER")]], "the document on the other side has no text"),
        (TOKENS, [[(0, 2, "PER")]], r"predicted\[0\] has spans, and the other side has tokens"),
        (TOKENS, [["B-PER", "O"]], r"has 4 tokens and 2 tags"),
        (TOKENS, [["B-PER", "X", "O", "O"]], r"^predicted\[0\]\[1\]: 'X' is not a tag"),
    ],
)
def test_lists_that_do_not_fit_the_text_or_the_tokens_are_refused(
    gold: Any, predicted: Any, message: str
) -> None:
    with pytest.raises(CluevalError, match=message):
        score(gold, predicted, **({"names": NAMES} if gold is TOKENS else {}))


@pytest.mark.parametrize("side", [ROWS, [[(0, 2, "PER")]], [Document("d", {}, tokens=["Ada"])]])
def test_names_of_tags_are_refused_where_no_side_has_tags(side: Any) -> None:
    with pytest.raises(UsageError, match=r"names=\.\.\. is for tags, and no side has tags"):
        score(side, side, names=NAMES)
    with pytest.raises(UsageError, match="no side has tags"):
        agree(side, side, names=NAMES)
