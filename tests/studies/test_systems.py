"""Two systems on the same gold, and two runs of one: states, numbers, places, forms."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from clueval.core.document import Document, Pair
from clueval.reports.page import page
from clueval.studies.systems import Diff, TwoSystems
from tests.cases import spans
from tests.corpora_of_errors import pairs_in_files
from tests.reports.views import GOLD, LAYERS, PREDICTED, third_system

TOKENS = ["der", "Frau", "Anna", "Weiß", "aus", "Ulm", "und", "Bonn"]


def text(gold: str, *systems: str) -> list[Pair]:
    own, *others = (Document("d", {"label": spans(side)}, tokens=TOKENS) for side in (gold, *systems))
    return [Pair(own, other) for other in others]


GOLD_SPANS = "PER[2,4) LOC[5,6) LOC[7,8)"
OLD, NEW = "PER[1,4) ORG[5,6) X[0,1)", "PER[2,4) PER[5,6) Y[0,1)"
ONE = text(GOLD_SPANS, OLD, NEW)


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Sequence[Sequence[Pair]]]]:
    third = third_system(tmp_path_factory.mktemp("third"))
    sides = (pairs_in_files(GOLD, path, LAYERS) for path in (PREDICTED, third))
    return third, list(zip(*sides, strict=True))


def test_a_span_is_one_error_in_both_systems_or_in_one() -> None:
    report = TwoSystems([ONE])

    assert report.counts() == {
        "gold": {"both": 2, "only A": 1, "only B": 0},  # both: LOC[5,6), LOC[7,8)
        "predicted": {"both": 0, "only A": 3, "only B": 2},
    }
    assert [(row["state"], row["side"], row["label"]) for row in report.rows()][:3] == [
        ("only A", "predicted", "X"),
        ("only B", "predicted", "Y"),
        ("only A", "predicted", "PER"),
    ]


def test_errors_of_two_runs_are_new_fixed_changed_or_still_there() -> None:
    report = Diff([ONE])

    assert report.counts() == {
        "gold": {"new": 0, "fixed": 1, "changed": 1, "still": 1},  # LOC[5,6) was found as ORG, now as PER
        "predicted": {"new": 2, "fixed": 3, "still": 0},
    }
    assert report.new == 2
    row = next(row for row in report.rows() if row["state"] == "fixed" and row["side"] == "gold")
    assert (row["old"], row["new"], row["old_class"], row["new_class"]) == (
        "boundary",
        "right",
        "superset",
        "exact",
    )


def test_verdict_has_the_difference_of_the_rates_that_are_shown() -> None:
    # old: no span of 3 and 3 is right; new: one is
    assert Diff([ONE]).verdict() == "F1 0.00 → 33.33 (+33.33); errors: 2 new, 4 fixed, 1 changed, 1 still"


def test_a_place_shows_the_right_spans_of_the_other_system_too() -> None:
    report = TwoSystems([ONE])
    place = next(place for place in report if place.at[2:] == (1, 4))

    assert [(report.kinds[mark.kind].legend, mark.is_wrong) for mark in place.texts[0].marks] == [
        ("gold", True),
        ("A", True),
        ("B", False),
    ]


def test_what_is_wrong_by_system_stands_in_one_line() -> None:
    report = TwoSystems([text("PER[2,4)", "PER[1,4)", "PER[2,3)")])
    (place,) = report

    words = next(line.words for line in place.lines if line.values[0] == "both")
    assert words == "both: A: predicted too long, B: predicted too short"


def test_choices_name_the_systems() -> None:
    assert [choice for choice, _ in TwoSystems([ONE], names=("base", "large")).choices] == [
        "gold",
        "base",
        "large",
        "none",
        "unclear",
    ]


def test_page_has_a_filter_by_state_and_numbers_that_list_places() -> None:
    written = page(Diff([ONE]), lang="de")
    settings, *listed = map(
        json.loads, written.split('id="data">')[-1].split("</script>")[0].strip().splitlines()
    )

    assert settings["facets"][0]["name"] == "state"
    assert settings["texts"]["fixed"] == "behoben"
    assert [kind["legend"] for kind in settings["kinds"]] == ["Gold", "alt", "neu"]
    assert ["old", "alt ist richtig"] in settings["choices"]
    assert len(listed) == 4
    assert "&quot;state&quot;:&quot;fixed&quot;" in written
