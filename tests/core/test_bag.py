"""Bags: what is counted once, added, folded, kept by place, and refused."""

from __future__ import annotations

import pickle
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clueval.core.bag import Bag, Bounds, pairs_in
from clueval.core.case import BOTH
from clueval.core.count import WITHOUT_VALUE, DocumentPlace, Plan, count, decided, sequences_of
from clueval.core.document import Document, Layers, Pair, Sentence
from clueval.core.exact import Exact
from clueval.core.levels import Levels
from clueval.core.located import count_in_place, located
from clueval.core.span import Span
from clueval.files.errors import LimitError, OverlapError, UsageError
from clueval.metrics.gate import Gate
from clueval.metrics.partial import Partial
from tests.cases import spans

EXACT = Plan((Exact(),))
BOTH_METRICS = Plan((Exact(), Levels()))

Texts = list[tuple[str, str]]


def pair(gold: str, predicted: str, name: str = "d", **fields: Any) -> list[Pair]:
    """A text of 20 tokens, with spans as in ``A[0,1)``."""
    sides = (Document(name, {"x": spans(side)}, tokens=["x"] * 20, **fields) for side in (gold, predicted))
    return [Pair(*sides)]


def corpus(texts: Texts) -> list[list[Pair]]:
    return [
        pair(gold, predicted, str(n), metadata={"m": str(n % 2)}) for n, (gold, predicted) in enumerate(texts)
    ]


def reports(bag: Bag, plan: Plan = BOTH_METRICS) -> dict[Any, Any]:
    """The reports of all metrics, by place, sequence and name."""
    return {
        (place, sequence, metric.name): metric.scores(tally, [sequence])
        for place, sequence, metric, tally in bag.tallies_of(plan.metrics, sequences_of(bag, plan))
    }


def everything(bag: Bag, plan: Plan = BOTH_METRICS) -> dict[Any, Any]:
    return reports(bag.in_one_place(), plan)


FLAT = st.lists(st.sampled_from("OABab"), min_size=20, max_size=20).map(
    lambda letters: " ".join(f"{letter}[{n},{n + 1})" for n, letter in enumerate(letters) if letter != "O")
)
TEXTS = st.lists(st.tuples(FLAT, FLAT), max_size=6)
FEW: Texts = [("A[0,1) B[3,4)", "A[0,1) B[4,5)")]


@given(TEXTS, st.integers(0, 6), st.booleans())
def test_bags_of_parts_add_up_folded_or_not(texts: Texts, cut: int, fold: bool) -> None:
    bag = count(corpus(texts[:cut]), BOTH_METRICS, ["x"])
    if fold:
        bag.fold()
    bag.include(count(corpus(texts[cut:]), BOTH_METRICS, ["x"]))

    assert everything(bag) == everything(count(corpus(texts), BOTH_METRICS, ["x"]))


@given(TEXTS)
def test_a_bag_that_folds_again_and_again_has_the_same_numbers(texts: Texts) -> None:
    plan = replace(BOTH_METRICS, by=("m",))
    small, large = (count(corpus(texts), plan, ["x"], bounds) for bounds in (Bounds(keys=2), Bounds()))
    by_value = [reports(bag.grouped(lambda place: place.values)) for bag in (small, large)]  # type: ignore[attr-defined]

    assert everything(small) == everything(large)
    assert by_value[0] == by_value[1]


def test_many_distinct_keys_leave_a_small_bag() -> None:
    texts = [pair(f"L{n}[0,{1 + n % 19})", "", str(n)) for n in range(400)]
    bag = count(texts, EXACT, bounds=Bounds(keys=100, spans=150))

    assert bag.folded
    assert len(bag.keys) == 400 - 3 * 101


def test_a_grouped_bag_is_as_bounded() -> None:
    texts = [pair(f"L{n}[{n},{n + 1})", "", str(n)) for n in range(4)]
    bag = count(texts, EXACT, ["x"], Bounds(spans=5)).grouped(lambda place: ())
    bag.include(count([pair("M[0,1) N[2,3)", "")], EXACT, ["x"], Bounds(spans=5)))

    assert bag.folded


def test_differing_positions_that_fill_the_table_are_all_counted() -> None:
    tags = ["B-A", "O", "B-B", "O"], ["B-A", "O", "O", "O"]
    sides = [Document("d", {"x": spans("A[0,1)")}, tokens=["w"] * 4, tags={"x": of}) for of in tags]
    small, large = (count([[Pair(*sides)]] * 3, EXACT, bounds=bounds) for bounds in (Bounds(1), Bounds()))

    assert small.folded
    assert everything(small, EXACT) == everything(large, EXACT)


def test_a_large_case_is_counted_in_a_table_that_it_fills() -> None:
    sides = [Span(0, 2000, "A")], [Span(n, n + 1, "A") for n in range(1001)]
    text = [Pair(*[Document("d", {"x": side}) for side in sides])]
    small, large = (count([text], EXACT, bounds=bounds) for bounds in (Bounds(spans=500), Bounds()))

    assert everything(small, EXACT) == everything(large, EXACT)


def test_a_bag_is_scored_by_other_metrics_as_if_it_was_counted_for_them_unless_it_is_folded() -> None:
    bag = count(corpus(FEW), EXACT)
    assert everything(bag) == everything(count(corpus(FEW), BOTH_METRICS))

    bag.fold()
    with pytest.raises(UsageError) as caught:
        everything(bag)
    assert str(caught.value) == (
        "metric 'levels' cannot count this corpus any more: its cases were not kept, as they have features, or were "
        "too many (more than 65,536 different ones, or 262,144 spans in them) "
        "(score the files with all metrics at once)"
    )


def test_a_bag_is_not_scored_by_a_metric_that_reads_what_was_not_kept_or_that_a_filter_forbids() -> None:
    sides = [Document("d", {"x": [Span(0, 1, "A", {"n": 1})], "y": spans("B[0,1)")}) for _ in range(2)]
    with pytest.raises(
        UsageError, match=r"^metric 'gate' .*: it reads more than the cases that were kept \(score the"
    ):
        everything(count([[Pair(sides[0], sides[1])]], EXACT), Plan((Gate(features=("A[n]",)),)))

    filtered = count([[Pair(sides[0], sides[1])]], replace(EXACT, where={"y": frozenset("C")}))
    with pytest.raises(UsageError) as caught:
        everything(filtered, Plan((Partial(),)))
    assert str(caught.value) == (
        "metric 'partial' cannot leave spans out of the count, as the filter of this result does "
        "(score without the filter, or use label_map='LABEL=LABEL,*=')"
    )
    assert everything(count([[Pair(sides[0], sides[1])]], EXACT), Plan((Partial(),)))


@pytest.mark.parametrize("folded", [0, 1])
def test_a_bag_with_a_part_that_was_folded_is_folded_and_has_the_notes_of_both(folded: int) -> None:
    bags = [count(corpus(FEW), EXACT) for _ in range(2)]
    bags[folded].fold()
    for bag in bags:
        bag.notes.update({("spans", "moved"): 2})
    bags[0].include(bags[1])

    assert (bags[0].folded, bags[0].keys, bags[0].notes) == (True, {}, {("spans", "moved"): 4})


def test_bags_of_other_metrics_do_not_add_up() -> None:
    with pytest.raises(UsageError, match=r"^counts of different metrics cannot be added$"):
        Bag([Exact()]).include(Bag([Levels()]))


_OTHER_PROCESS = """
import pickle, sys
sys.path.insert(0, sys.argv[1])
from tests.core.test_bag import BOTH_METRICS, FEW, corpus, count
sys.stdout.buffer.write(pickle.dumps(count(corpus(FEW * 3), BOTH_METRICS)))
"""


def test_a_bag_of_a_process_with_another_hash_seed_adds_no_key(pytestconfig: pytest.Config) -> None:
    bag = count(corpus(FEW * 3), BOTH_METRICS)
    keys = len(bag.keys)
    sent = subprocess.run(
        [sys.executable, "-c", _OTHER_PROCESS, str(pytestconfig.rootpath)],
        env={"PYTHONHASHSEED": "77"},
        stdout=subprocess.PIPE,
        check=True,
    ).stdout
    bag.include(pickle.loads(sent))

    assert len(bag.keys) == keys
    assert everything(bag) == everything(count(corpus(FEW * 6), BOTH_METRICS))


def test_layers_given_as_rows_are_counted_without_making_spans(monkeypatch: pytest.MonkeyPatch) -> None:
    layers = [Layers({}, {"x": [(0, 2, label)]}) for label in "AB"]
    sides = [Document("d", each, tokens=["w"] * 4) for each in layers]
    expected = count([pair("A[0,2)", "B[0,2)")], BOTH_METRICS)
    monkeypatch.setattr(Layers, "__getitem__", None)

    assert count([[Pair(*sides)]], BOTH_METRICS).keys == expected.keys


# Layers and filters


def test_a_layer_that_comes_late_counts_in_all_documents() -> None:
    early = Pair(*[Document("1", {}, tokens=["x"] * 8)] * 2)
    (report,) = everything(count([[early], pair("A[0,1)", "B[0,1)")], EXACT), EXACT).values()

    assert report["token_accuracy"] == 27 / 28


def test_a_filter_on_a_layer_that_comes_late_leaves_no_document_out() -> None:
    layers = {"x": spans("A[0,1)"), "risk": spans("high[0,1)")}
    with_layer = Pair(*[Document("3", layers, tokens=["x"] * 20)] * 2)
    plan = replace(EXACT, where={"risk": frozenset({"high"})})
    texts = [pair("A[0,1)", "A[0,1)", "1"), pair("A[0,1)", "A[0,1)", "2"), [with_layer]]
    forwards, backwards = (everything(decided(count(order, plan)), plan) for order in (texts, texts[::-1]))

    assert forwards == backwards
    assert forwards[(), "x", "exact"]["micro"]["gold"] == 1
    assert forwards[(), "x", "exact"]["token_accuracy"] == 1


def test_a_filter_on_metadata_leaves_out_the_documents_that_lack_it() -> None:
    texts = [pair("A[0,1)", "", "1"), pair("A[0,1)", "", "2", metadata={"court": "b"})]
    bag = decided(count(texts, replace(EXACT, where={"court": frozenset({"b"})})))

    assert sum(bag.documents.values()) == 1


# Places


def sentences(*ends: int) -> list[Sentence]:
    return [Sentence(*range_) for range_ in pairwise((0, *ends))]


def test_places_with_the_same_cases_share_a_row() -> None:
    texts = [pair("A[0,1)", "A[0,1)", str(n)) for n in range(50)]
    bag = count(texts, replace(EXACT, units="document"))

    assert len(bag.places) == 50
    assert len({id(row) for row in bag.places.values()}) == 1


def test_a_place_gets_occurrences_of_cases_once_or_several_times() -> None:
    plan = replace(BOTH_METRICS, units="document")
    once = reports(count([pair("A[0,2)", "A[0,1)"), pair("A[0,2)", "A[0,1)", "other")], plan))
    bag = count([pair("A[0,2)", "A[0,1)")], plan)
    (place,) = bag.documents
    for _ in range(2):
        bag.add_text(DocumentPlace((), "other"), 20)
        bag.add_occurrences([DocumentPlace((), "other")], dict(pairs_in(bag.places[place])))
    twice = reports(bag)

    assert twice[place, "x", "exact"] == once[place, "x", "exact"]
    assert twice[DocumentPlace((), "other"), "x", "exact"]["micro"]["gold"] == 2
    assert once[DocumentPlace((), "other"), "x", "exact"]["micro"]["gold"] == 1


def test_a_place_of_several_documents_has_the_sum_of_them() -> None:
    plan = replace(EXACT, units="document")
    bag = count(corpus([("A[0,1)", "")] * 5), plan).grouped(lambda place: int(place.name) % 2)  # type: ignore[attr-defined]

    assert bag.documents == {0: 3, 1: 2}
    assert bag.positions == {BOTH: {0: 60, 1: 40}}
    assert {place: row["micro"]["gold"] for (place, *_), row in reports(bag, plan).items()} == {0: 3, 1: 2}


def test_a_document_without_the_metadata_of_a_break_down_has_a_place_of_its_own() -> None:
    bag = count([*corpus([("", "")]), pair("", "")], replace(EXACT, by=("m",)))

    assert [place.values for place in bag.documents] == [("0",), (WITHOUT_VALUE,)]  # type: ignore[attr-defined]


def test_parts_of_a_text_are_places_in_which_no_document_begins() -> None:
    bag = Bag()
    bag.add_text("first", 5)
    bag.add_parts({"second": 7, "third": 2})
    bag.add_parts({"alone": 4}, present=1)

    assert bag.documents == {"first": 1, "second": 0, "third": 0, "alone": 0}
    assert bag.positions == {BOTH: {"first": 5, "second": 7, "third": 2}, 1: {"alone": 4}}


def test_a_case_over_the_end_of_a_sentence_joins_the_sentences() -> None:
    text = pair("A[0,1) A[4,6) B[12,13)", "A[0,1)", sentences=sentences(5, 10, 15, 20))
    bag = count([text], replace(EXACT, units="sentence"), ["x"])

    assert {place.sentence: number for place, number in bag.positions[BOTH].items()} == {1: 10, 3: 5, 4: 5}  # type: ignore[attr-defined]
    assert (bag.documents[DocumentPlace((), "d", 1)], bag.documents[DocumentPlace((), "d", 3)]) == (1, 0)


@pytest.mark.parametrize(
    ("documents", "where", "counted", "places"),
    [
        (9, {}, 9, 36),
        (10, {}, 10, 10),
        (18, {"odd": "1"}, 9, 36),  # documents that a filter leaves out are not among the ten
        (18, {"is_odd": "1"}, 9, 36),  # nor are those without its metadata
    ],
)
def test_sentences_are_units_until_the_tenth_document_begins(
    documents: int, where: dict[str, str], counted: int, places: int
) -> None:
    texts = []
    for n in range(documents):
        metadata = {"odd": str(n % 2)} | ({"is_odd": "1"} if n % 2 else {})
        texts.append(pair("", "", str(n), sentences=sentences(5, 10, 15, 20), metadata=metadata))
    chosen = {key: frozenset(value) for key, value in where.items()}
    bag = decided(count(texts, replace(EXACT, units="document or sentence", where=chosen), ["x"]))

    assert len(bag.documents) == places
    assert sum(bag.positions[BOTH].values()) == 20 * counted


@pytest.mark.parametrize("units", ["document", "sentence"])
def test_units_have_all_cases_and_positions_of_odd_documents(units: str) -> None:
    empty = Document("1", {"x": spans("A[0,0)")}, tokens=[])
    bare = Document("2", {"x": spans("A[0,1)")})
    text = Document("2", {"x": spans("A[0,2)")}, tokens=["w"] * 4)
    plan = replace(EXACT, units=units)
    (report,) = everything(count([[Pair(empty, empty)], [Pair(bare, text)]], plan), plan).values()

    assert (report["micro"]["gold"], report["micro"]["tp_gold"]) == (2, 1)
    assert report["token_accuracy"] == 3 / 4


# What metrics are given


def test_levels_do_not_depend_on_the_order_of_an_ordered_document() -> None:
    gold = Document("d", {"x": spans("A[0,4)")})
    sides = [Document("d", {"x": spans("A[1,4) A[0,1)")[::step]}, ordered=True) for step in (1, -1)]
    plan = Plan((Levels(),))

    assert len({str(everything(count([[Pair(gold, side)]], plan), plan)) for side in sides}) == 1


@pytest.mark.parametrize("side", ["gold", "predicted"])
def test_a_case_that_is_refused_where_it_stands_names_the_document_of_its_side(side: str) -> None:
    wrong, right = spans("A[0,3) B[1,2)"), spans("A[0,1)")
    sides = [
        Document(name, {"x": wrong if name == side else right}, file=f"{name}.tsv")
        for name in ("gold", "predicted")
    ]
    (case,) = located(sides, ["x"])

    with pytest.raises(OverlapError, match=rf"^{side}\.tsv, document '{side}': spans \[0,3\)"):
        count_in_place([Levels()], case, Pair(sides[0], sides[1]))


def test_overlaps_that_levels_forbids_are_refused_with_document_and_positions() -> None:
    with pytest.raises(OverlapError, match=r"^g\.tsv, document 'bad': spans \[10,13\)"):
        count([pair("", ""), pair("A[10,13) B[12,14)", "", "bad", file="g.tsv")], BOTH_METRICS)


@pytest.mark.parametrize(
    ("side", "share"),
    [
        ([Span(0, 1000, "A", features={"n": n}) for n in range(1500)], 0.5),  # too many pairs overlap
        ([Span(n, 400 + n, "A") for n in range(180)], 0.01),  # the search takes too long
    ],
)
def test_too_large_a_case_is_refused_with_the_document(side: list[Span], share: float) -> None:
    with pytest.raises(LimitError, match="document 'big'"):
        count([[Pair(*[Document("big", {"x": side})] * 2)]], Plan((Exact(min_overlap=share),)))


def test_what_was_read_has_no_neighbours_that_are_outside_spans() -> None:
    tags = {"x": ["O", "O", "B-A", "I-A", "O", "O"]}
    document = Document("d", {"x": spans("A[2,4)")}, tokens=["w"] * 6, tags=tags)

    read = count([[Pair(document, document)]], BOTH_METRICS).read

    assert read.neighbours["gold", None, "x"] == {("O", "B-A"): 1, ("B-A", "I-A"): 1, ("I-A", "O"): 1}
    assert set(read.schemes().values()) == {"BIO"}
