"""Where a number differs on purpose from a published program's, as the CHANGELOG says under Scores.

The other program's number is worked out by hand in a comment of each test.
"""

from __future__ import annotations

from pathlib import Path

from clueval import Document, Span, score
from clueval.core.case import Case
from clueval.core.levels import Levels


def labelled(gold: list[Span], predicted: list[Span], layer: str) -> dict[str, float]:
    """What `levels` says of a layer at level 3, where tiling counts."""
    metric = Levels()
    case = Case((tuple(gold), tuple(predicted)), (None, None))
    report = metric.scores(metric.count(case), (layer,))
    micro: dict[str, float] = report["labelled"][layer]["3"]["micro"]
    return micro


# CLUEval's program, of which the seed says: "based on total number of tokens for each label"


def test_the_joined_label_has_most_positions_and_need_not_be_that_of_the_longest_span() -> None:
    gold = [Span(0, 7, {"entity": "A"})]
    predicted = [
        Span(start, end, {"entity": label}) for start, end, label in [(0, 2, "A"), (2, 5, "B"), (5, 7, "A")]
    ]

    # A covers 4 positions, B 3. The longest single span is the one of B: there recall would be 0.
    assert labelled(gold, predicted, "entity")["recall"] == 1.0


def test_a_partner_without_a_label_in_the_layer_does_not_vote_on_it() -> None:
    gold = [Span(0, 6, {"entity": "PER", "risk": "high"})]
    predicted = [Span(0, 4, {"entity": "PER", "risk": None}), Span(4, 6, {"entity": "LOC", "risk": "high"})]

    # "high" covers 2 positions, no label 4. There "no label" would win, and recall would be 0.
    assert labelled(gold, predicted, "risk")["recall"] == 1.0


def test_a_position_tagged_o_does_not_vote_on_the_label_of_a_merged_span(tmp_path: Path) -> None:
    # Entity and risk overlap, so they become one span [0,4). Its risk is "high", which covers 1 of its
    # positions; with "O" as a label, which covers 3, it would have no risk.
    rows = ["a B-PER O", "b I-PER O", "c I-PER O", "d I-PER B-high"]
    path = tmp_path / "gold.conll"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")

    result = score(path, path, metrics=["levels"], layers={"entity": 2, "risk": 3}, merge=True)

    assert result.metrics["levels"]["merged"]["labelled"]["risk"]["1"]["micro"]["gold"] == 1


def test_a_filter_selects_predicted_spans_by_their_own_label() -> None:
    gold, predicted = [Span(0, 2, {"risk": "low"})], [Span(0, 2, {"risk": "high"})]
    documents = [[Document("1", {"risk": spans}, tokens=["a", "b"])] for spans in (gold, predicted)]

    result = score(*documents, metrics=["levels"], where=["risk=high"])
    found = result.metrics["levels"]["risk"]["unlabelled"]["1"]

    # By the label of the gold span that it matches ("low") the predicted span would not be selected.
    assert (found["predicted"], found["tp_predicted"], found["gold"]) == (1, 1, 0)


# GATE's program


def test_the_macro_accuracy_of_gate_is_the_mean_over_types() -> None:
    gold = [Span(0, 1, "A"), *(Span(n, n + 1, "B") for n in range(2, 5))]

    macro = score([gold], [[Span(0, 1, "A")]], metrics="gate").metrics["gate"]["label"]["macro"]

    # A: 1 of 1, B: 0 of 3. All together it is 1 of 4, which is what GATE gives as its macro accuracy.
    for name in ("single_correct_accuracy_strict", "target_accuracy_strict", "target_accuracy_lenient"):
        assert macro[name] == 0.5
