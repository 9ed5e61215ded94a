"""Profiles: spans by buckets of their features, whose supports add up, as the first edition counts them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from random import Random
from typing import Any

import pytest

import clueval
from clueval.core.document import Document, Pair, Sentence
from clueval.core.exact import Exact
from clueval.core.levels import Levels
from clueval.core.span import Span
from clueval.files.errors import UsageError
from clueval.first.metrics.exact import Exact as FirstExact
from clueval.first.metrics.partial import Partial as FirstPartial
from clueval.metrics.coverage import Coverage
from clueval.metrics.fair import Fair
from clueval.metrics.partial import Partial
from clueval.second.reports.page import page
from clueval.second.studies.profile import Profile
from tests.second.cases import spans
from tests.second.compare import KINDS, canonical, corpus
from tests.second.compare_errors import furnished, pairs_in_files, second_with_lines
from tests.second.reports.views import GOLD, LAYERS, PREDICTED

TOKENS = ["In", "new", "York", "USA", "iPhone", "Mr.", "a-b", "x"]
METRICS: list[tuple[Any, Any]] = [
    ("exact", Exact()),
    (FirstExact(min_overlap=0.5), Exact(0.5)),
    ("levels", Levels()),
    (FirstPartial(), Partial()),
]


def outcomes(random: Random) -> tuple[Any, Any]:
    """The entries of a random corpus in both editions, or the kinds of their errors."""
    made = corpus(random, random.choice(KINDS), spans=6)
    given = furnished(random, [([gold], each) for gold, each in zip(made.gold, made.predicted, strict=True)])
    golds, predicted = [golds[0] for golds, _ in given], [each for _, each in given]
    first_metric, metric = random.choice([METRICS[0], *METRICS])
    options: dict[str, Any] = {}
    if random.random() < 0.3:
        options["buckets"] = random.randint(1, 4)
    if random.random() < 0.2:
        options["merge"] = True
    where: Mapping[str, Any] = random.choice([{}, {}, {"x": ["A"]}, {"m": ["0"]}])
    trained = list(map(canonical, predicted)) if random.random() < 0.4 else None
    pairs = [Pair(second_with_lines(a), second_with_lines(b)) for a, b in zip(golds, predicted, strict=True)]
    train = None if trained is None else list(map(second_with_lines, trained))
    chosen = {name: frozenset(values) for name, values in where.items()}
    other: Any
    try:
        other = Profile(pairs, train=train, metric=metric, where=chosen, **options).to_dict()["profile"]
    except clueval.CluevalError:
        other = "refused"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            how: Any = {"metric": first_metric, "where": where, "train": trained, **options}
            return clueval.profile(golds, predicted, **how).to_dict()["profile"], other
        except clueval.CluevalError as error:
            if "has x=" in str(error) or "has m=" in str(error):
                return None, None  # that a filter names what never occurs is checked where options are read
            return "refused", other


@pytest.mark.parametrize("seed", range(3))
def test_buckets_equal_the_first_edition_on_random_corpora(seed: int) -> None:
    random = Random(seed)
    equal = 0
    for _ in range(40):
        one, other = outcomes(random)
        assert one == other
        equal += isinstance(one, dict)
    assert equal > 15


def test_buckets_of_the_sample_equal_the_first_edition() -> None:
    first = clueval.profile(GOLD, PREDICTED, layers=LAYERS)
    report = Profile(list(pairs_in_files(GOLD, PREDICTED, LAYERS)))

    assert report.rows() == first.rows()
    assert report.to_dict()["profile"] == first.to_dict()["profile"]


def bucket_counts(given: list[Span], feature: str, **options: Any) -> dict[str, tuple[int, int]]:
    document = Document("d", {"label": given}, tokens=TOKENS, sentences=[Sentence(0, 4), Sentence(4, 8)])
    found = Profile([Pair(document, document)], [feature], **options)
    return {row["bucket"]: (row["gold"], row["tp_gold"]) for row in found.rows()}


@pytest.mark.parametrize(
    ("feature", "span", "bucket"),
    [
        ("length", "A[0,7)", "5-9"),
        ("length", "A[0,1)[3,4)", "2"),
        ("casing", "A[1,2)", "lower"),
        ("casing", "A[3,4)", "upper"),
        ("casing", "A[4,5)", "other"),
        ("punctuation", "A[5,6)", "edge"),
        ("punctuation", "A[6,7)", "inside"),
        ("position", "A[3,4)", "75-100%"),
        ("position", "A[5,6)", "25-50%"),
        ("label", "A[0,1)", "A"),
        ("depth", "A[0,1)", "1"),
    ],
)
def test_a_span_is_in_the_bucket_of_its_value(feature: str, span: str, bucket: str) -> None:
    assert bucket_counts(spans(span), feature) == {bucket: (1, 1)}


def test_depth_counts_the_spans_around_also_of_zero_length() -> None:
    assert bucket_counts(spans("A[0,8) A[1,5) B[2,3) C[5,5)"), "depth") == {
        "1": (1, 1),
        "2": (1, 1),
        "3+": (2, 2),
    }


def test_training_data_say_what_was_seen() -> None:
    train = [Document("t", {"label": spans("A[0,1) B[1,2)")}, tokens=["york", "x", "york"])]
    york, x = Span(2, 3, "A"), Span(7, 8, "A")

    assert bucket_counts([york, x], "seen", train=train) == {
        "text and label": (1, 1),
        "other label": (1, 1),
    }
    assert bucket_counts([york], "consistency", train=train) == {"0.5-1": (1, 1)}
    assert bucket_counts([york], "frequency", train=train) == {"1": (1, 1)}


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"features": ["size"]}, "no feature 'size'"),
        ({"features": ["seen"]}, "'seen' needs training data"),
        ({"buckets": 0}, "buckets must be from 1"),
        ({"metric": Fair()}, "'fair' cannot count buckets alone"),
        ({"metric": Coverage()}, "'coverage' cannot count buckets alone"),
    ],
)
def test_options_that_cannot_be_met_are_refused(options: dict[str, Any], problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        Profile([], **options)


def test_report_has_the_lowest_bucket_tables_and_rates() -> None:
    report = Profile(list(pairs_in_files(GOLD, PREDICTED, LAYERS)), ["length"])

    assert report.verdict().startswith("entity: lowest F1: length ")
    assert [table.title for table in report.tables()] == ["entity: by length", "risk: by length"]
    row = report.rows()[0]
    assert report.scores()[f"exact.entity.length.{row['bucket']}.f1"] == row["f1"]
    assert "nach length" in page(report, lang="de")
    assert "* under 20" in report.render()
