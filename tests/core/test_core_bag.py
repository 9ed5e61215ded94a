from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clueval.core.bag import Bag, Bounds, pairs_in
from clueval.core.case import BOTH
from clueval.core.count import Plan, Unit, count, decided, sequences_of
from clueval.core.document import Document, Layers, Pair, Sentence
from clueval.core.exact import Exact
from clueval.core.levels import Levels
from clueval.core.span import Span
from clueval.files.errors import LimitError, OverlapError, UsageError

Row = tuple[int, int, str]
PLAN = Plan((Exact(), Levels()))


def pair(gold: Sequence[Row], predicted: Sequence[Row], name: str = "d", **fields: object) -> list[Pair]:
    sides = (
        Document(name, {"x": [Span(*row) for row in rows]}, tokens=["x"] * 20, **fields)  # type: ignore[arg-type]
        for rows in (gold, predicted)
    )
    return [Pair(*sides)]


def reports(bag: Bag, plan: Plan = PLAN) -> dict[object, object]:
    """The reports of all metrics, by place, sequence and name."""
    return {
        (place, sequence, metric.name): metric.scores(tally, [sequence])
        for place, sequence, metric, tally in bag.tallies_of(plan.metrics, sequences_of(bag, plan))
    }


def everything(bag: Bag, plan: Plan = PLAN) -> dict[object, object]:
    return reports(bag.whole(), plan)


FLAT = st.lists(st.sampled_from("OABab"), min_size=20, max_size=20).map(
    lambda letters: [(n, n + 1, letter) for n, letter in enumerate(letters) if letter != "O"]
)
TEXTS = st.lists(st.tuples(FLAT, FLAT), max_size=6)


def corpus(texts: Sequence[tuple[list[Row], list[Row]]]) -> list[list[Pair]]:
    return [
        pair(gold, predicted, str(n), metadata={"m": str(n % 2)}) for n, (gold, predicted) in enumerate(texts)
    ]


@given(TEXTS, st.integers(0, 6), st.booleans())
def test_bags_of_parts_add_up_folded_or_not(
    texts: list[tuple[list[Row], list[Row]]], cut: int, fold: bool
) -> None:
    bag = count(corpus(texts[:cut]), PLAN, ["x"])
    if fold:
        bag.fold()
    bag.include(count(corpus(texts[cut:]), PLAN, ["x"]))

    assert everything(bag) == everything(count(corpus(texts), PLAN, ["x"]))


@given(TEXTS, st.randoms(use_true_random=False))
def test_the_order_of_documents_changes_no_number(
    texts: list[tuple[list[Row], list[Row]]], random: object
) -> None:
    shuffled = corpus(texts)
    random.shuffle(shuffled)  # type: ignore[attr-defined]

    assert everything(count(shuffled, PLAN, ["x"])) == everything(count(corpus(texts), PLAN, ["x"]))


@given(TEXTS)
def test_a_bag_that_folds_again_and_again_has_the_same_numbers(
    texts: list[tuple[list[Row], list[Row]]],
) -> None:
    plan = Plan(PLAN.metrics, by=("m",))
    small = count(corpus(texts), plan, ["x"], Bounds(keys=2))

    assert everything(small) == everything(count(corpus(texts), plan, ["x"]))
    assert everything(small) == reports(small.grouped(lambda place: ()))
    assert reports(small.grouped(lambda place: place.values)) == reports(  # type: ignore[attr-defined]
        count(corpus(texts), plan, ["x"]).grouped(lambda place: place.values)  # type: ignore[attr-defined]
    )


def test_a_million_distinct_keys_leave_a_small_bag() -> None:
    texts = [pair([(0, 1 + n % 19, f"L{n}")], [], str(n)) for n in range(400)]
    bag = count(texts, Plan((Exact(),)), bounds=Bounds(keys=100))

    assert bag.folded
    assert len(bag.keys) <= 100


def test_a_folded_bag_is_not_scored_by_another_metric() -> None:
    bag = count([pair([(0, 1, "A")], [])], Plan((Exact(),)))
    bag.fold()

    with pytest.raises(UsageError, match="'levels' cannot count this corpus any more"):
        list(bag.tallies_of([Levels()], ["x"]))


def test_a_bag_is_scored_by_other_metrics_as_if_it_was_counted_for_them() -> None:
    texts = corpus([([(0, 1, "A"), (3, 4, "B")], [(0, 1, "A"), (4, 5, "B")])])
    bag = count(texts, Plan((Exact(),)))

    assert everything(bag, PLAN) == everything(count(texts, PLAN))


def test_bags_of_other_metrics_do_not_add_up() -> None:
    with pytest.raises(UsageError, match="different metrics"):
        Bag([Exact()]).include(Bag([Levels()]))


def test_a_layer_that_comes_late_counts_in_all_documents() -> None:
    early = Pair(Document("1", {}, tokens=["x"] * 8), Document("1", {}, tokens=["x"] * 8))
    late = pair([(0, 1, "A")], [(0, 1, "B")])
    bag = count([[early], late], Plan((Exact(),)))
    (report,) = everything(bag, Plan((Exact(),))).values()

    assert report["token_accuracy"] == 27 / 28  # type: ignore[index]


def test_a_filter_on_a_layer_that_comes_late_leaves_no_document_out() -> None:
    early, late = pair([(0, 1, "A")], [(0, 1, "A")], "1"), pair([(0, 1, "A")], [(0, 1, "A")], "2")
    with_layer = [
        Document("3", {"x": [Span(0, 1, "A")], "risk": [Span(0, 1, "high")]}, tokens=["x"] * 20)
        for _ in range(2)
    ]
    plan = Plan((Exact(),), where={"risk": frozenset({"high"})})
    texts = [early, late, [Pair(*with_layer)]]
    found, reversed_ = (everything(decided(count(order, plan)), plan) for order in (texts, texts[::-1]))

    assert found == reversed_
    assert found[(), "x", "exact"]["micro"]["gold"] == 1  # type: ignore[index]
    assert found[(), "x", "exact"]["token_accuracy"] == 1  # type: ignore[index]


def test_a_filter_on_metadata_leaves_out_the_documents_that_lack_it() -> None:
    texts = [pair([(0, 1, "A")], [], "1"), pair([(0, 1, "A")], [], "2", metadata={"court": "b"})]
    bag = decided(count(texts, Plan((Exact(),), where={"court": frozenset({"b"})})))

    assert sum(bag.documents.values()) == 1


def test_places_with_the_same_cases_share_a_row() -> None:
    texts = [pair([(0, 1, "A")], [(0, 1, "A")], str(n)) for n in range(50)]
    bag = count(texts, Plan((Exact(),), units="document"))

    assert len(bag.places) == 50
    assert len({id(row) for row in bag.places.values()}) == 1


def sentences(*ends: int) -> list[Sentence]:
    return [Sentence(*range_) for range_ in pairwise((0, *ends))]


def test_a_case_over_the_end_of_a_sentence_joins_the_sentences() -> None:
    spans = [(0, 1, "A"), (4, 6, "A"), (12, 13, "B")]
    bag = count(
        [pair(spans, spans, sentences=sentences(5, 10, 15, 20))], Plan((Exact(),), units="sentence"), ["x"]
    )

    assert {place.sentence: number for place, number in bag.positions[BOTH].items()} == {1: 10, 3: 5, 4: 5}  # type: ignore[attr-defined]
    assert bag.documents[Unit((), "d", 1)] == 1
    assert bag.documents[Unit((), "d", 3)] == 0


@pytest.mark.parametrize(("documents", "units"), [(9, 36), (10, 10)])
def test_sentences_are_units_until_the_tenth_document_begins(documents: int, units: int) -> None:
    texts = [pair([], [], str(n), sentences=sentences(5, 10, 15, 20)) for n in range(documents)]
    bag = count(texts, Plan((Exact(),), units="document or sentence"), ["x"])

    assert len(bag.documents) == units
    assert sum(bag.positions[BOTH].values()) == 20 * documents


def test_documents_that_a_filter_leaves_out_are_not_among_the_ten() -> None:
    texts = [pair([], [], str(n), sentences=sentences(5, 20), metadata={"m": str(n % 2)}) for n in range(18)]
    plan = Plan((Exact(),), units="document or sentence", where={"m": frozenset("1")})

    assert len(count(texts, plan, ["x"]).documents) == 2 * 9


def test_documents_without_the_metadata_of_a_filter_are_not_among_the_ten() -> None:
    texts = [
        pair([], [], str(n), sentences=sentences(5, 20), metadata={"m": "1"} if n % 2 else {})
        for n in range(18)
    ]
    plan = Plan((Exact(),), units="document or sentence", where={"m": frozenset("1")})

    assert len(decided(count(texts, plan, ["x"])).documents) == 2 * 9


def test_a_grouped_bag_is_as_bounded() -> None:
    plan, bounds = Plan((Exact(),)), Bounds(spans=5)
    texts = [pair([(n, n + 1, f"L{n}")], [], str(n)) for n in range(4)]
    bag = count(texts, plan, ["x"], bounds).grouped(lambda place: ())
    bag.include(count([pair([(0, 1, "M"), (2, 3, "N")], [])], plan, ["x"], bounds))

    assert bag.folded


def test_overlaps_that_levels_forbids_are_refused_with_document_and_positions() -> None:
    with pytest.raises(OverlapError) as caught:
        count([pair([], []), pair([(10, 13, "A"), (12, 14, "B")], [], "bad", file="g.tsv")], PLAN)

    assert (caught.value.document, caught.value.file) == ("bad", "g.tsv")
    assert "[10,13)" in str(caught.value)


def test_too_many_overlapping_pairs_are_refused_with_the_document() -> None:
    spans = [Span(0, 1000, "A", features={"n": n}) for n in range(1500)]
    documents = [Document("big", {"x": spans}) for _ in range(2)]

    with pytest.raises(LimitError) as caught:
        count([[Pair(*documents)]], Plan((Exact(min_overlap=0.5),)))

    assert caught.value.document == "big"


def test_differing_positions_that_fill_the_table_are_all_counted() -> None:
    tags = [{"x": ["B-A", "O", "B-B", "O"]}, {"x": ["B-A", "O", "O", "O"]}]
    sides = [Document("d", {"x": [Span(0, 1, "A")]}, tokens=["w"] * 4, tags={"x": of["x"]}) for of in tags]
    plan = Plan((Exact(),))
    small = count([[Pair(*sides)]] * 3, plan, bounds=Bounds(keys=1))

    assert small.folded
    assert everything(small, plan) == everything(count([[Pair(*sides)]] * 3, plan), plan)


def test_a_large_case_is_counted_in_a_table_that_it_fills() -> None:
    rows = [(0, 2000, "A")], [(n, n + 1, "A") for n in range(1001)]
    texts = [Pair(*[Document("d", {"x": [Span(*row) for row in side]}) for side in rows])]
    plan = Plan((Exact(),))

    assert everything(count([texts], plan, bounds=Bounds(spans=500)), plan) == everything(
        count([texts], plan), plan
    )


@pytest.mark.parametrize("units", ["document", "sentence"])
def test_units_have_all_cases_and_positions_of_odd_documents(units: str) -> None:
    empty = Document("1", {"x": [Span(0, 0, "A")]}, tokens=[])
    bare, text = (
        Document("2", {"x": [Span(0, 1, "A")]}),
        Document("2", {"x": [Span(0, 2, "A")]}, tokens=["w"] * 4),
    )
    plan = Plan((Exact(),), units=units)
    (report,) = everything(count([[Pair(empty, empty)], [Pair(bare, text)]], plan), plan).values()

    assert (report["micro"]["gold"], report["micro"]["tp_gold"]) == (2, 1)  # type: ignore[index]
    assert report["token_accuracy"] == 3 / 4  # type: ignore[index]


def test_levels_do_not_depend_on_the_order_of_an_ordered_document() -> None:
    gold = Document("d", {"x": [Span(0, 4, "A")]})
    sides = [
        Document("d", {"x": [Span(1, 4, "A"), Span(0, 1, "A")][::step]}, ordered=True) for step in (1, -1)
    ]
    plan = Plan((Levels(),))

    assert len({str(everything(count([[Pair(gold, side)]], plan), plan)) for side in sides}) == 1


@pytest.mark.parametrize(
    ("share", "length", "of"), [(0.55, 55, 100), (0.07, 7, 100), (0.28, 7, 25), (0.14, 7, 50)]
)
def test_a_share_that_is_exactly_enough_is_enough(share: float, length: int, of: int) -> None:
    sides = (Document("d", {"x": [Span(0, end, "A")]}) for end in (of, length))
    plan = Plan((Exact(min_overlap=share),))
    (report,) = everything(count([[Pair(*sides)]], plan), plan).values()

    assert report["micro"]["tp_gold"] == 1  # type: ignore[index]


def test_a_search_that_takes_too_long_names_the_document() -> None:
    spans = [Span(n, 400 + n, "A") for n in range(180)]
    documents = [Document("long", {"x": spans}) for _ in range(2)]

    with pytest.raises(LimitError) as caught:
        count([[Pair(*documents)]], Plan((Exact(min_overlap=0.01),)))

    assert caught.value.document == "long"


_OTHER_PROCESS = """
import pickle, sys
sys.path.insert(0, sys.argv[1])
from tests.core.test_core_bag import PLAN, corpus, count
texts = [([(0, 1, "A"), (3, 4, "B")], [(0, 1, "A"), (4, 5, "B")])] * 3
sys.stdout.buffer.write(pickle.dumps(count(corpus(texts), PLAN)))
"""


def test_a_bag_of_a_process_with_another_hash_seed_adds_no_key(pytestconfig: pytest.Config) -> None:
    texts = [([(0, 1, "A"), (3, 4, "B")], [(0, 1, "A"), (4, 5, "B")])] * 3
    bag = count(corpus(texts), PLAN)
    keys = len(bag.keys)
    sent = subprocess.run(
        [sys.executable, "-c", _OTHER_PROCESS, str(pytestconfig.rootpath)],
        env={"PYTHONHASHSEED": "77"},
        stdout=subprocess.PIPE,
        check=True,
    ).stdout
    bag.include(pickle.loads(sent))

    assert len(bag.keys) == keys
    assert everything(bag) == everything(count(corpus(texts * 2), PLAN))


def test_a_place_gets_a_row_of_cases_once_or_several_times() -> None:
    case = pair([(0, 2, "A")], [(0, 1, "A")])
    counted = count([case, pair([(0, 2, "A")], [(0, 1, "A")], "other")], replace(PLAN, units="document"))
    bag = count([case], replace(PLAN, units="document"))
    (place,) = bag.documents

    for _ in range(2):
        bag.add_text(Unit((), "other"), 20)
        bag.add_row([Unit((), "other")], dict(pairs_in(bag.places[place])))

    once, twice = reports(counted), reports(bag)
    assert twice[place, "x", "exact"] == once[place, "x", "exact"]
    assert twice[Unit((), "other"), "x", "exact"]["micro"]["gold"] == 2  # type: ignore[index]
    assert once[Unit((), "other"), "x", "exact"]["micro"]["gold"] == 1  # type: ignore[index]


def test_what_was_read_has_no_neighbours_that_are_outside_spans() -> None:
    tags = {"x": ["O", "O", "B-A", "I-A", "O", "O"]}
    document = Document("d", {"x": [Span(2, 4, "A")]}, tokens=["w"] * 6, tags=tags)

    read = count([[Pair(document, document)]], PLAN).read

    assert read.neighbours["gold", None, "x"] == {("O", "B-A"): 1, ("B-A", "I-A"): 1, ("I-A", "O"): 1}
    assert set(read.schemes().values()) == {"BIO"}


def test_layers_given_as_rows_are_counted_without_making_spans(monkeypatch: pytest.MonkeyPatch) -> None:
    layers = [Layers({}, {"x": [(0, 2, label)]}) for label in "AB"]
    sides = [Document("d", each, tokens=["w"] * 4) for each in layers]
    expected = count([pair([(0, 2, "A")], [(0, 2, "B")])], PLAN)
    monkeypatch.setattr(Layers, "__getitem__", None)

    bag = count([[Pair(*sides)]], PLAN)

    assert bag.keys == expected.keys
