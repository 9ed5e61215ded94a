"""What a report lists, sent from one process to another."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clueval import Document, Span
from clueval.compat.masking.i2b2 import I2b2Figures
from clueval.evaluation.run import score
from clueval.studies.masking.collector import LeakCollector, WatchedMasking
from clueval.tagging.decoder import decode

TAGS = st.lists(st.sampled_from(["O", "O", "B-A", "I-A", "B-B"]), min_size=6, max_size=6)
PAIRS = st.lists(st.tuples(TAGS, TAGS), min_size=1, max_size=4)
WORDS = ["Anna", "und", "Öz"] * 2


def seen_by(observer: Callable[[WatchedMasking], Any], pairs: Sequence[Any], first: int = 0) -> Any:
    """What an observer has seen of documents with these tags, numbered from `first`."""
    metric = WatchedMasking()
    found = observer(metric)
    for number, tags in enumerate(pairs, first):
        own, other = (
            Document(
                f"d{number}", {"name": [Span(*place, label) for *place, label in decode(side)]}, tokens=WORDS
            )
            for side in tags
        )
        score([own], [other], metrics=[metric], observers=[found])
    return found


@pytest.mark.parametrize("observer", [LeakCollector, I2b2Figures])
@given(PAIRS, PAIRS)
def test_what_was_sent_and_joined_is_what_was_collected(
    observer: Callable[[WatchedMasking], Any], before: list[Any], after: list[Any]
) -> None:
    joined = observer(WatchedMasking())

    for pairs, first in ((before, 0), (after, len(before))):
        joined.join(pickle.loads(pickle.dumps(seen_by(observer, pairs, first).sent())))

    assert joined.sent() == seen_by(observer, before + after).sent()
