"""Intervals and tests from bags, by hand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from itertools import pairwise, product
from operator import getitem
from random import Random
from typing import Any

import pytest

from clueval import Result, compare, score
from clueval.core.count import SENTENCE, Plan, count
from clueval.core.document import Document, Pair, Sentence
from clueval.core.exact import Exact
from clueval.core.levels import Levels
from clueval.core.metric import AnyMetric
from clueval.core.span import Span
from clueval.files.errors import UsageError
from clueval.metrics.coverage import Coverage
from clueval.metrics.fair import Fair
from clueval.metrics.gate.metric import Gate
from clueval.metrics.masking import Masking
from clueval.metrics.muc import Muc
from clueval.metrics.noisy import Noisy
from clueval.metrics.partial import Partial
from clueval.metrics.strings import Strings
from clueval.results.intervals import interval_section
from clueval.results.options import Trust
from clueval.results.rates import entries_of
from clueval.results.units import Units, units_of
from clueval.statistics.jackknife import logit_jackknife
from clueval.studies.comparison.paired_tests import PairedTests, comparable
from tests.random_corpora import SIZE as TOKENS
from tests.random_corpora import corpus, pairs_of
from tests.random_texts import draw

# Each document of the case by hand in specs/statistics.md: found, gold and predicted spans.
A = [(4, 5, 5), (8, 10, 9), (3, 3, 4), (1, 2, 1)]
B = [(5, 5, 5), (9, 10, 9), (3, 3, 3), (1, 2, 1)]
SIZE = 20


def units(
    counts: Sequence[tuple[int, int, int]],
    metric: AnyMetric | None = None,
    by: str | None = "document",
    sizes: Sequence[int] = (),
    names: Sequence[str] = (),
    sentence: int = 0,
) -> Units:
    """Return units with these numbers of spans: right, gold and predicted. A sentence has `sentence` positions."""
    texts = []
    for number, (found, gold, predicted) in enumerate(counts):
        size = sizes[number] if sizes else SIZE
        name = names[number] if names else f"d{number + 1}"
        ends = range(0, size + 1, sentence) if sentence else ()
        sentences = [Sentence(*each) for each in pairwise(ends)]
        golds = [Span(at, at + 1, "A") for at in range(gold)]
        others = [*golds[:found], *(Span(at, at + 1, "A") for at in range(size - predicted + found, size))]
        sides = (
            Document(name, {"x": spans}, tokens=["w"] * size, sentences=sentences)
            for spans in (golds, others)
        )
        texts.append([Pair(*sides)])
    plan = Plan((metric or Exact(),), units=by)
    return units_of(count(texts, plan), plan.metrics, {"x": ["x"]}, by)


def micro(found: Units, trust: Trust) -> Any:
    """Return the intervals of all labels together."""
    return interval_section(found, trust)["scores"]["exact"]["x"]["micro"]


# By hand


def test_recall_of_four_documents_has_the_interval_of_the_specification() -> None:
    recall = micro(units(A), Trust())["recall"]

    assert [round(recall[name], 6) for name in ("se", "effective")] == [0.042034, round(400 / 138, 6)]
    assert [round(recall[name], 4) for name in ("low", "high")] == [0.5489, 0.9293]
    assert recall["units"] == 4


@pytest.mark.parametrize("seed", range(20))
def test_units_with_equal_counts_in_any_order_have_the_same_intervals(seed: int) -> None:
    random = Random(seed)
    names = [f"d{number}" for number in range(12)]
    counts = {name: random.choice([*A, (0, 0, 0), (0, 1, 1)]) for name in names}
    shuffled = random.sample(names, len(names))
    trust = Trust(method=random.choice(["jackknife", "percentile", "bca"]), resamples=99)
    first, second = (
        interval_section(units([counts[name] for name in order], names=order), trust)
        for order in (names, shuffled)
    )

    assert first == second


def test_a_label_of_one_unit_has_no_interval_but_a_reason() -> None:
    found = micro(units([(1, 2, 2), (0, 0, 0), (0, 0, 1)]), Trust())

    assert found["recall"]["reason"] == "only one unit has anything to count"
    assert found["precision"]["units"] == 2


@pytest.mark.parametrize("metric", ["exact", "gate"])
def test_a_rare_label_of_a_macro_average_is_remarked_on(metric: str) -> None:
    gold = [["B-A"]] * 10 + [["B-A", "B-B"]] * 2

    remarks = score(gold, gold, metrics=metric, intervals=True).to_dict()["intervals"]["remarks"]

    assert remarks == [
        f"{metric}, label: label B occurs in 2 units and counts in full in every macro average"
    ]


def test_fractions_are_swapped_as_counts() -> None:
    random = Random(1)
    counts = [(random.randint(1, 3), 4, 4) for _ in range(60)]
    others = [(random.randint(1, 3), 4, 4) for _ in range(60)]
    tests = []
    for metric, path in ((Exact(), "micro"), (Partial(factor=0.1), "micro")):
        first, second = (units(each, metric) for each in (counts, others))
        work = PairedTests(comparable({"A": [first], "B": [second]}), Trust(resamples=999))
        tests += work.score("f1", (metric.name, "x", path, "f1"))["against_baseline"]

    # no span overlaps one that is not equal, so both metrics count the same
    assert tests[0] == tests[1]
    assert not tests[0]["exact"]


# Units


def test_equal_sentences_share_their_counts() -> None:
    found = units([(3, 3, 3)] * 40, by=SENTENCE, sentence=1)

    assert len(found.keys) == 40 * SIZE
    assert len(found.counts["exact", "x"].rows) == 2


@pytest.mark.parametrize(
    ("counts", "by", "message"),
    [
        (A, None, "intervals need counts by unit, and only those of the whole corpus were kept"),
        (A[:1], "document", "intervals need several units, and there is one document"),
        ([], "document", "intervals need several units, and there are no documents"),
    ],
)
def test_intervals_need_several_units(
    counts: list[tuple[int, int, int]], by: str | None, message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        units(counts, by=by).require_several()


# Results that can be compared


def test_results_without_a_document_in_common_are_not_compared() -> None:
    with pytest.raises(
        UsageError, match="a test needs several units, and the systems have no document in common"
    ):
        comparable({"A": [units(A)], "B": [units(B, names=["e1", "e2", "e3", "e4"])]})


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (
            {"metric": Exact(min_overlap=0.5)},
            "were not both counted by metric 'exact' with the same settings",
        ),
        ({"by": "court"}, "a test needs several units, and B has 1 court"),
        ({"by": SENTENCE}, "units of A and B are document and sentence"),
        ({"by": None}, "B has no counts by unit"),
    ],
)
def test_results_that_count_other_things_are_not_compared(other: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        comparable({"A": [units(A)], "B": [units(B, **other)]})


def test_sentences_must_be_the_same_in_all_results() -> None:
    first, second, third = (
        units(B, by=SENTENCE, sentence=10, **more)
        for more in ({}, {"names": ["d1", "d2", "d3", "e"]}, {"sizes": [20, 20, 20, 15]})
    )
    with pytest.raises(
        UsageError, match=r"A and B have different units: 'd4#s1' is in only one of them, as are 3"
    ):
        comparable({"A": [first], "B": [second]})
    with pytest.raises(
        UsageError, match=r"A and B have different texts: unit 'd4#s2' has 10 and 5 positions"
    ):
        comparable({"A": [first], "B": [third]})


# Metrics with numbers of their own


SIGN, ANN, OTHER = Span(1, 2, "A"), Span(0, 1, "A", {"who": 1}), Span(0, 1, "B")
BO = Span(2, 3, "A", {"who": 1, "identifier_type": "high"})
SAME = [[SIGN], [ANN], [ANN, BO], []]


@pytest.mark.parametrize(
    ("metric", "rate", "units", "gold", "predicted"),
    [
        (Masking(), "classes.all.mention_recall", 3, SAME, SAME),
        (Masking(), "classes.all.word_recall", 2, SAME, SAME),  # `SIGN` has no word
        (Masking(word_weights={"ann": 2}), "classes.all.weighted_word_recall", 2, SAME, SAME),
        (
            Masking(entity="who"),
            "classes._.entity_recall",
            2,
            SAME,
            SAME,
        ),  # `ANN` and `BO` are one high entity
        (Exact(), "token_accuracy", 4, SAME, SAME),  # document 3 has positions, but no span
        # document 0 has one error, counted under A
        (Fair(), "per_label.B.fair.precision", 2, [[ANN], [OTHER], [OTHER]], [[OTHER]] * 3),
        (Gate(), "all.recall_in_responses_strict", 2, [[ANN]] * 3, [[ANN], [ANN], [SIGN]]),
        # F1 of document 2 is undefined
        (Noisy(), "file_mean.f1", 2, [[ANN]] * 3, [[ANN], [ANN], []]),
    ],
)
def test_a_bound_is_that_of_the_units_in_which_the_rate_has_a_denominator(
    metric: AnyMetric, rate: str, units: int, gold: list[list[Span]], predicted: list[list[Span]]
) -> None:
    sides = (
        [Document(str(number), {"x": spans}, ["Ann", "-", "Bo"]) for number, spans in enumerate(side)]
        for side in (gold, predicted)
    )
    found = result(metric, *sides)
    path = f"{metric.name}.x.{rate}"

    interval: Any = reduce(getitem, path.split("."), found.intervals()["scores"])

    assert (interval["units"], interval["low"], interval["high"]) == (
        units,
        round(0.05 ** (1 / units), 10),
        1,
    )
    (value, _) = compare(found, found, scores=[path]).to_dict()["scores"][0]["values"]
    assert (value["low"], value["high"]) == (interval["low"], interval["high"])


@pytest.mark.parametrize(
    ("metric", "rate"), [(Fair(), ("overall", "fair", "f1")), (Gate(), ("all", "f1_strict"))]
)
def test_a_system_compared_with_itself_has_p_1(metric: AnyMetric, rate: tuple[str, ...]) -> None:
    work = PairedTests(comparable({"A": [units(A, metric)], "B": [units(A, metric)]}), Trust())
    path = (metric.name, "x", *rate)
    (found,) = work.score("f1", path)["against_baseline"]

    assert (found["p"], found["difference"], found["units_that_differ"]) == (1.0, 0.0, 0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "bootstrap"}, "method='bootstrap' is unknown"),
        ({"confidence": 1}, "confidence must be between 0 and 1, not 1"),
        ({"confidence": True}, "confidence must be a number, not a bool"),
        ({"resamples": 0}, "resamples must be a whole number from 1 on, not 0"),
        ({"resamples": 10**8}, "resamples must be at most 10,000,000, not 100,000,000"),
        ({"seed": -1}, "seed must be a whole number from 0 on, not -1"),
    ],
)
def test_what_means_nothing_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Trust(**options)


@pytest.mark.parametrize("rate", ["precision", "recall", "f1"])
def test_labels_may_be_called_as_another_one_and_its_rate(rate: str) -> None:
    label = f"A.{rate}"
    gold, predicted = [[(0, 2, "A"), (3, 4, label)], [(0, 1, label)]], [[(0, 2, "A")], [(0, 1, label)]]

    intervals: Any = score(gold, predicted, metrics="exact", resample_by="document").intervals()

    assert intervals["scores"]["exact"]["label"]["per_label"].keys() == {"A", label}


# Every metric


def some_pairs(random: Random) -> list[Pair]:
    """The pairs of some documents with words, in layer x."""
    made = [pair for _ in range(4) for (pair,) in pairs_of(corpus(random, "flat", layers=1, spans=5))]
    words = [random.choice(["ann", "bob", "cat", f"w{number}"]) for number in range(TOKENS)]
    return [
        Pair(*(replace(side, id=str(number), tokens=words) for side in pair.sides))
        for number, pair in enumerate(made)
    ]


def result(metric: AnyMetric, gold: Iterable[Document], predicted: Iterable[Document]) -> Result:
    return score(list(gold), list(predicted), metrics=[metric], resample_by="document")


def test_words_with_weights_give_documents_no_other_weight() -> None:
    sides = (
        [Document(str(n), {"x": spans}, ["Ann", "-", "Bo"]) for n, spans in enumerate(SAME)] for _ in "ab"
    )
    found = result(Masking(word_weights={"ann": 2}), *sides).intervals()["scores"]["masking"]["x"]["classes"]

    rates = [found["all"][name] for name in ("word_recall", "weighted_word_recall")]
    assert rates[0]["effective"] == rates[1]["effective"]


def intervals_in(
    report: Mapping[str, Any], path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the intervals of a report, with their paths."""
    for key, value in report.items():
        if "units" in value:
            yield (*path, key), value
        else:
            yield from intervals_in(value, (*path, key))


def texts_with_mentions(seed: int) -> list[Pair]:
    corpus = draw(Random(seed))
    return list(map(Pair, corpus.gold, corpus.predicted))


@pytest.mark.parametrize(
    ("metric", "pairs"),
    [
        *product(
            [Exact(), Levels(), Fair(), Partial(), Muc(), Gate(), Coverage(), Strings(), Noisy()],
            [some_pairs(Random(5))],
        ),
        *product([Masking()], map(texts_with_mentions, (1, 5, 10, 236))),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_intervals_are_those_of_the_reports_without_each_document(
    metric: AnyMetric, pairs: list[Pair]
) -> None:
    """Some rates of masking are undefined in a part of the documents."""
    parts = [pairs, *([*pairs[:n], *pairs[n + 1 :]] for n in range(len(pairs)))]
    whole, *without = (result(metric, *zip(*(pair.sides for pair in part), strict=True)) for part in parts)
    compared = 0

    for path, interval in intervals_in(whole.intervals()["scores"]):
        value, *others = (
            reduce(lambda entry, key: entry.get(key, {}), path, of.metrics) for of in (whole, *without)
        )
        if all(isinstance(other, int | float) for other in others) and "reason" not in interval:
            own = logit_jackknife(value, others, interval["units"], interval["effective"], 0.95).to_dict()
            assert interval == pytest.approx(own, rel=1e-6), path
            compared += 1

    assert compared >= 3


def test_recall_at_a_threshold_that_is_a_score_has_the_units_with_gold() -> None:
    """Also those in which no span has this score."""
    spans = [Span(2, 2 + number % 3, "A", {"score": number / 8}) for number in range(8)]
    predicted = [Document(f"d{number}", {"x": [span]}, ["w"] * SIZE) for number, span in enumerate(spans)]
    gold = [replace(each, layers={"x": [Span(2, 4, "A")]}) for each in predicted]

    found = result(Gate(thresholds="all", score_feature="score"), gold, predicted).intervals()

    thresholds = found["scores"]["gate"]["x"]["thresholds"]
    assert {entry["recall_strict"]["units"] for entry in thresholds.values()} == {8}


@pytest.mark.parametrize(
    ("metric", "seed"),
    [(Exact(), 1), (Levels(), 1), (Fair(), 1), (Gate(), 52), (Gate(), 81)],
    ids=lambda value: getattr(value, "name", str(value)),
)
def test_p_is_the_share_of_swaps_whose_reports_differ_as_much(metric: AnyMetric, seed: int) -> None:
    """Also of rates of which a part depends on further counts only where it is 0/0, as GATE's recall in responses."""
    random = Random(seed)
    pairs, others = some_pairs(random)[:5], some_pairs(random)[:5]
    gold = [pair.gold for pair in pairs]
    systems = [[replace(pair.predicted, tokens=gold[0].tokens) for pair in each] for each in (pairs, others)]
    swapped = [
        [result(metric, gold, [systems[side ^ swap][n] for n, swap in enumerate(swaps)]) for side in (0, 1)]
        for swaps in product((0, 1), repeat=len(gold))
    ]
    compared = 0

    for entry, names in entries_of(swapped[0][0].metrics):
        for path in [(*entry, name) for name in names]:
            values = [
                [reduce(lambda at, key: at.get(key, {}), path, of.metrics) for of in both] for both in swapped
            ]
            if all(isinstance(value, float) for both in values for value in both):
                differences = [abs(new - old) for old, new in values]
                expected = sum(value >= differences[0] - 1e-12 for value in differences) / len(differences)
                (found,) = compare(*swapped[0], scores=[".".join(path)]).to_dict()["scores"]
                assert found["against_baseline"][0]["p"] == pytest.approx(expected), path
                compared += 1

    assert compared >= 3


def test_units_that_differ_in_the_only_label_are_those_that_differ_in_all() -> None:
    first, second = units(A, Fair()), units(B, Fair())
    comparing = PairedTests(comparable({"A": [first], "B": [second]}), Trust())

    numbers = [
        comparing.score("", ("fair", "x", *place, "fair", "f1"))["against_baseline"][0]["units_that_differ"]
        for place in (("overall",), ("per_label", "A"))
    ]

    assert numbers == [3, 3]


# Costs


def test_intervals_make_no_report_for_each_unit(monkeypatch: pytest.MonkeyPatch) -> None:
    scores, reports = Fair.scores, []

    def counted_scores(self: Fair, *arguments: Any) -> dict[str, Any]:
        reports.append(arguments)
        return scores(self, *arguments)

    monkeypatch.setattr(Fair, "scores", counted_scores)
    numbers = []
    for most in (3, 8):
        different = [(found, gold, 9) for gold in range(2, most + 2) for found in range(1, gold)]
        of_units = units(different, Fair())
        reports.clear()
        interval_section(of_units, Trust())
        numbers.append(len(reports))

    assert numbers[0] == numbers[1]
