"""Profiles: spans by buckets of their features, whose supports add up."""

from __future__ import annotations

from typing import Any

import pytest

from clueval.core.document import Document, Pair, Sentence
from clueval.core.span import Span
from clueval.files.errors import UsageError
from clueval.metrics.coverage import Coverage
from clueval.metrics.fair import Fair
from clueval.reports.page import page
from clueval.studies.profile import Profile
from tests.cases import spans
from tests.corpora_of_errors import pairs_in_files
from tests.reports.views import GOLD, LAYERS, PREDICTED

TOKENS = ["In", "new", "York", "USA", "iPhone", "Mr.", "a-b", "x"]


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
