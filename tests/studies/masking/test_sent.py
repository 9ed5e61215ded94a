"""What a report lists, sent from one process to another."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import pytest

from clueval import Document, Span, score
from clueval.compat.masking.i2b2 import I2b2Figures
from clueval.metrics.masking import Masking
from clueval.studies.masking.collector import LeakCollector, WatchedMasking

TOKENS = ["Anna", "Öz", "und", "Anna", "Öz", "und", "Karl", "und", "Karl", "und", "Ulm"]
GOLD = Document("d", {"name": [Span(0, 2, "A"), Span(3, 5, "A"), Span(6, 7, "B")]}, tokens=TOKENS)
PREDICTED = Document("d", {"name": [Span(0, 1, "X"), Span(3, 5, "X"), Span(10, 11, "Y")]}, tokens=TOKENS)


def collected() -> LeakCollector:
    metric = WatchedMasking()
    collector = LeakCollector(metric)
    score([GOLD], [PREDICTED], metrics=[metric], observers=[collector])
    return collector


def test_what_was_sent_is_what_was_collected() -> None:
    own, other = collected(), LeakCollector(WatchedMasking())

    other.join(json.loads(json.dumps(own.sent())))

    assert len(other.leaks) == 2
    assert other.leaks == own.leaks
    assert len(other.string_leaks) == 1
    assert (other.string_leaks, other.needless) == (own.string_leaks, own.needless)


def test_counts_of_other_programs_are_sent() -> None:
    own, other = I2b2Figures(Masking()), I2b2Figures(Masking())
    score([GOLD], [PREDICTED], metrics="masking", observers=[own])

    other.join(json.loads(json.dumps(own.sent())))

    assert own.counted
    assert other.counted == own.counted


@pytest.mark.parametrize(
    ("place", "value"),
    [((), None), ((0, 0, 2), -1), ((0, 0, 6, 0), [1]), ((0, 0, 14, 3), 1), ((1, 0), []), ((2, 0, 1), "1")],
)
def test_a_wrong_value_is_refused_and_changes_nothing(place: tuple[int, ...], value: object) -> None:
    sent: Any = [json.loads(json.dumps(collected().sent()))]
    inner = sent
    for number in (0, *place)[:-1]:
        inner = inner[number]
    inner[(0, *place)[-1]] = value
    collector = collected()
    before = deepcopy(collector.sent())

    with pytest.raises(ValueError, match=r"is not|has"):
        collector.join(sent[0])

    assert collector.sent() == before
