"""Steps change what counts: labels, which spans, which gold; what they note, say in the signature, and refuse."""

from __future__ import annotations

import json
import pickle
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clueval.core.bag import Bag
from clueval.core.count import Plan, Step, count
from clueval.core.document import Document, Pair
from clueval.core.exact import Exact
from clueval.core.metric import DocumentMetric, Tally
from clueval.core.span import PAIRS_OF_SPAN, Span
from clueval.files.errors import CluevalError, FormatError, LimitError, UsageError
from clueval.transforms.alternatives import AlternativesTable, AnyOf
from clueval.transforms.changes import Alternatives, changes_of, checked, choices_of
from clueval.transforms.counted_spans import MinScore
from clueval.transforms.labels import Generic
from clueval.transforms.options import Preparing, steps_of
from tests.cases import any_spans, spans


def of(*, gold: Any = None, score_feature: str | None = None, **options: Any) -> tuple[Step, ...]:
    """Return the steps of options that are given by name."""
    return steps_of(Preparing(**options), gold, score_feature)


class Documents(DocumentMetric):
    """Counts the documents."""

    name = "documents"

    def count_documents(self, pairs: Sequence[Pair], sequence: str, where: Any) -> Tally:
        return Tally({("documents",): len(pairs)})

    def scores(self, total: Tally, layers: Sequence[str]) -> dict[str, Any]:
        return {"documents": total["documents",]}


TREE = "PLACE\n  CITY\n  STREET\n"


def pair_of(gold: str | Sequence[Span], predicted: str | Sequence[Span], name: str = "d") -> Pair:
    """Return the pair of a text of 20 tokens; sides are written as in `cases.spans`."""
    sides = (spans(side) if isinstance(side, str) else list(side) for side in (gold, predicted))
    return Pair(*(Document(name, {"label": side}, tokens=["w"] * 20) for side in sides))


def counted(texts: Sequence[Sequence[Pair]], *steps: Step) -> tuple[tuple[float, ...], Bag]:
    """Return gold, predicted, and the true positives of each, by exact; and the bag."""
    plan = Plan((Exact(),), steps=steps)
    bag = count(texts, plan)
    ((*_, tally),) = bag.grouped(lambda _: ()).tallies_of(plan.metrics, ["label"])
    micro = Exact().scores(tally, ["label"])["micro"]
    return tuple(micro[name] for name in ("gold", "predicted", "tp_gold", "tp_predicted")), bag


def alone(step: Step, gold: Any, predicted: Any) -> tuple[float, ...]:
    return counted([[pair_of(gold, predicted)]], step)[0]


def grouped(text: str, **more: Any) -> list[Span]:
    """Return spans that are one group, the main one first."""
    return [replace(span, features={"group": 1, **more}) for span in spans(text)]


# Cases of the definitions


def test_the_metadata_of_the_nearest_gold_are_those_of_the_text() -> None:
    golds = [replace(pair_of(gold, "A[0,2)").gold, metadata={"m": gold[0]}) for gold in ("B[0,2)", "A[0,2)")]
    predicted = pair_of("", "A[0,2)").predicted
    plan = Plan((Exact(), Documents()), by=("m",), steps=(AnyOf(("one", "two")),))

    bag = count([[Pair(gold, predicted) for gold in golds]], plan)

    assert [unit.values for unit in bag.documents] == [("A",)]
    assert [place.values for place, *_ in bag.tallies_of(plan.metrics, ["label"])] == [("A",)] * 2
    assert [tally["documents",] for _, _, metric, tally in bag.tallies_of([plan.metrics[1]], ["label"])] == [
        1
    ]


def test_a_label_that_only_another_gold_has_is_known() -> None:
    steps = of(ignore_label="U", any_of=[[]])
    texts = [[pair_of("A[0,2)", "A[0,2)"), pair_of("A[0,1) U[4,6)", "A[0,2)")]]

    _, bag = counted(texts, *steps)

    assert checked(steps, bag.notes) == []


def test_spans_below_a_threshold_leave_the_count() -> None:
    predicted = [Span(0, 2, "A", {"s": 0.5}), Span(3, 4, "A", {"s": "0.49"}), Span(5, 6, "B", {"s": 1})]

    assert alone(MinScore("s", 0.5, "0.5"), "A[0,2)", predicted) == (1, 2, 1, 1)
    assert alone(MinScore("s", {"A": 0.1, "B": 2}, "per-label"), "A[0,2)", predicted) == (1, 2, 1, 1)


# A table of alternatives


def table(folder: Path, *lines: str) -> str:
    path = folder / "table.tsv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


def test_a_group_whose_name_is_the_number_of_a_span_is_not_that_span(tmp_path: Path) -> None:
    step = AlternativesTable.of(table(tmp_path, "start\tend_exclusive\tlabel", "4\t8\t"))
    gold = Document("d", {"label": [Span(0, 2, "A", {"group": 1}), Span(4, 9, "B")]})

    (changed,) = step([Pair(gold, gold)])

    assert [span.label for span in changed.gold.layers["label"]] == ["A", "B", "B"]


def test_an_answer_without_a_place_needs_no_alternative(tmp_path: Path) -> None:
    step = AlternativesTable.of(table(tmp_path, "document\tstart\tend_exclusive\tlabel", "d\t0\t3\t"))
    beside = Pair(Document("d", {}), Document("d", {"label": spans("A[0,2)")}), beside=True)

    found, _ = counted([[pair_of("A[0,4)", "A[0,3)"), beside]], step, Alternatives())

    assert found == (1, 2, 1, 1)


# Options


def test_steps_stand_in_the_order_of_their_definition(tmp_path: Path) -> None:
    tree = tmp_path / "tree.txt"
    tree.write_text(TREE, encoding="utf-8")

    steps = of(
        gold="a.vrt",
        fragments="split",
        any_of=["b.vrt"],
        untyped=True,
        ignore_layer="regions",
        ignore_label=["B", "C"],
        generic="PLACE",
        min_score=0.5,
        score_feature="s",
        hierarchy=tree,
        depth=1,
        gold_map={"A": "B"},
        alternatives=table(tmp_path, "start\tend_exclusive\tlabel"),
    )

    assert [step.signature[0] for step in steps] == [
        "alternatives-table",
        "labels",
        "depth",
        "min-score",
        "generic",
        "ignored",
        "untyped",
        "alternatives",
        "any_of",
        "fragments",
    ]
    choices = choices_of(steps, {("alternatives", "groups"): 1})
    assert choices["gold"] == "best-of-2+alternatives"
    assert choices["ignored"] == "inside(layer=regions,B,C)"
    assert choices["labels"].startswith("gold-map(")


def test_without_options_only_alternatives_are_chosen() -> None:
    steps = of()

    assert steps == (Alternatives(),)
    assert (choices_of(steps, {}), changes_of(steps, {})) == ({}, None)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"depth": 1}, "depth=... needs a hierarchy"),
        ({"hierarchy": "."}, "hierarchy=... alone changes nothing"),
        ({"hierarchy": ".", "depth": 0}, "depth must be from 1, not 0"),
        ({"label_map": {}, "gold_map": {}}, "label_map is for both sides"),
        ({"label_map": {"*": "A"}}, r"the entry '\*' has the name 'A'"),
        ({"label_map": {"*": "", "A": "B"}}, r"the entry '\*' is not the last"),
        ({"label_map": {"A": object()}}, "the entry 'A' is not a label and its name"),
        ({"min_score": 0.5}, "min_score needs scores"),
        ({"same_data": True}, "same_data is for a file of thresholds"),
        ({"ignored": "touching"}, "ignored=... needs regions"),
        ({"ignored": "near", "ignore_label": "A"}, "ignored='near' is unknown"),
        ({"ignore_same_label": True}, "ignore_same_label needs labels"),
        ({"ignore_label": "A,,B"}, "ignore_label has an empty name"),
        ({"generic": ["A", 1]}, "each name of generic"),
        ({"fragments": "cut"}, "fragments='cut' is unknown"),
        ({"gold": "a.vrt", "any_of": "a.vrt"}, "two golds are called 'a.vrt'"),
        ({"gold_map": "no\0file"}, "gold_map is not the path of a file"),
        ({"label_map": 3}, "label_map must be"),
        ({"hierarchy": ".", "depth": True}, "depth must be a whole number"),
        ({"hierarchy": "no/such/file", "depth": 1}, "no/such/file"),
        ({"untyped": "yes"}, "untyped must be True or False"),
    ],
)
def test_options_that_are_wrong_are_refused(options: dict[str, Any], problem: str) -> None:
    with pytest.raises(CluevalError, match=problem):
        of(**options)


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("label_map", "[" * 10_000, r"map:1: the line has 0 tabs"),
        ("label_map", '{"A": ' * 10_000, r"is not valid JSON"),
        ("hierarchy", "# nothing\n", r"the hierarchy has no names"),
        ("min_score", "{}", r"is not a file of clueval threshold"),
        ("min_score", "[" * 100_000, r"is not a file of clueval threshold"),
    ],
)
def test_files_of_options_are_refused_with_their_line(
    tmp_path: Path, name: str, content: str, problem: str
) -> None:
    path = tmp_path / "map"
    path.write_text(content, encoding="utf-8")

    with pytest.raises(FormatError, match=problem):
        of(**{name: str(path)}, **({"depth": 1} if name == "hierarchy" else {}))


def test_a_file_of_a_threshold_says_what_it_was_chosen_for(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    content = {"threshold": {"A": 0.5}, "score_feature": "s", "metric": "exact", "measure": "f1"}
    path.write_text(json.dumps(content), encoding="utf-8")

    (step, _) = of(min_score=path, same_data=True)

    assert step.signature[1].startswith("per-label(dev,f1,exact,")
    assert step.signature[1].endswith(",same-data)")
    with pytest.raises(UsageError, match=r"the label of the predicted span \[0,1\) 'B' has no threshold"):
        alone(step, "", [Span(0, 1, "B", {"s": 1})])


# What checks say


def test_a_limit_of_a_step_names_the_document() -> None:
    many = [Span(0, 9, "A")] * 2000
    with pytest.raises(LimitError, match=r"document 'x': more than .* pairs of spans overlap") as refused:
        counted([[pair_of(many, [Span(0, 9, "X")] * 2000, "x")]], Generic(("X",)))

    assert refused.value.document == "x"
    assert len(many) > PAIRS_OF_SPAN


# What holds of all steps

OPTIONS: list[dict[str, Any]] = [
    {"label_map": {"A": "B", "*": "*"}},
    {"gold_map": {"A": "", "*": "*"}},
    {"generic": "B"},
    {"ignore_label": "B"},
    {"ignore_label": "B", "ignored": "touching"},
    {"ignore_label": "A,B", "ignore_same_label": True},
    {"untyped": True},
    {"hierarchy": ".", "depth": 1},
    {"fragments": "split"},
    {"fragments": "hull"},
    {},
]


@given(any_spans(), any_spans(), any_spans(), any_spans(), st.sampled_from(OPTIONS))
def test_counts_and_notes_of_two_corpora_add_up(
    one: list[Span], two: list[Span], three: list[Span], four: list[Span], options: dict[str, Any]
) -> None:
    steps = of(**options)
    texts = [[pair_of(one, two, "1")], [pair_of(three, four, "2")]]
    (together, bag), (first, left), (second, right) = (
        counted(given, *steps) for given in (texts, texts[:1], texts[1:])
    )

    assert together == tuple(map(sum, zip(first, second, strict=True)))
    left.include(pickle.loads(pickle.dumps(right)))
    assert left.notes == bag.notes


def test_a_step_can_be_sent_to_another_process(tmp_path: Path) -> None:
    steps = of(
        label_map={"A": "B", "*": "*"},
        generic="B",
        ignore_label="C",
        any_of=[[]],
        fragments="hull",
        alternatives=table(tmp_path, "start\tend_exclusive\tlabel", "1\t3\tB"),
    )

    assert pickle.loads(pickle.dumps(steps)) == steps


def test_documents_that_nothing_changes_stay_the_same() -> None:
    given = pair_of("A[0,2)", "A[0,2)")
    steps = of(label_map={"*": "*"}, generic="Z", ignore_label="Z", fragments="split")
    for step in steps:
        (pair,) = step([given])
        assert (pair.gold is given.gold, pair.predicted is given.predicted) == (True, True), step
