"""Ignored regions, by cases worked by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from corpora import vrt, write
from hypothesis import given
from hypothesis import strategies as st

from clueval import Document, Result, Span, score
from clueval.cli import main
from clueval.core.span import Regions
from clueval.files.errors import CluevalError, UsageError

Triple = tuple[int, int, str]


def exact(gold: list[Triple], predicted: list[Triple], **options: Any) -> Result:
    return score([gold], [predicted], metrics="exact", **options)


def micro(result: Result, sequence: str = "label") -> tuple[float, float, float]:
    found = result.metrics["exact"][sequence]["micro"]
    return found["gold"], found["predicted"], found["tp_gold"]


def per_label(result: Result) -> dict[str, Any]:
    return dict(result.metrics["exact"]["label"]["per_label"])


# gold A [0,2), region [5,9), predicted A [0,2), [6,8), [8,11)
GOLD = [(0, 2, "A"), (5, 9, "UNSURE")]
PREDICTED = [(0, 2, "A"), (6, 8, "A"), (8, 11, "A")]


def test_ignored_inside_judges_what_sticks_out() -> None:
    result = exact(GOLD, PREDICTED, ignore_label="UNSURE")

    assert micro(result) == (1, 2, 1)
    assert result.to_dict()["prepared"] == {"ignored": {"gold": 1, "positions": 4, "predicted": 1}}
    assert "|ignored:inside(UNSURE)|" in str(result.signature)


def test_ignored_touching_leaves_out_what_has_any_ignored_position() -> None:
    result = exact(GOLD, PREDICTED, ignore_label="UNSURE", ignored="touching")

    assert micro(result) == (1, 1, 1)
    assert result.to_dict()["prepared"] == {"ignored": {"gold": 1, "positions": 4, "predicted": 2}}


def test_ignored_layer_is_regions_and_is_not_scored() -> None:
    gold = Document("d", {"label": [Span(0, 2, "A")], "skip": [Span(5, 9, "x")]})
    predicted = Document("d", {"label": [Span(*each) for each in PREDICTED]})

    for mode, judged in (("inside", 2), ("touching", 1)):
        result = score([gold], [predicted], metrics="exact", ignore_layer="skip", ignored=mode)
        assert list(result.metrics["exact"]) == ["label"]
        assert micro(result) == (1, judged, 1)
        assert f"|ignored:{mode}(layer=skip)|" in str(result.signature)


def test_ignored_gold_spans_lie_wholly_in_the_union_of_regions() -> None:
    gold = [(0, 3, "X"), (3, 6, "X"), (1, 5, "A"), (5, 7, "A")]

    assert micro(exact(gold, [(1, 5, "A"), (5, 7, "A")], ignore_label="X")) == (1, 1, 1)


def test_ignored_touching_keeps_a_prediction_with_the_range_of_a_counted_gold_span() -> None:
    gold = [(0, 3, "X"), (2, 5, "A")]

    assert micro(exact(gold, [(2, 5, "B")], ignore_label="X", ignored="touching")) == (1, 1, 0)
    assert micro(exact(gold, [(2, 6, "A")], ignore_label="X", ignored="touching")) == (1, 0, 0)


@pytest.mark.parametrize(("position", "left"), [(4, 1), (5, 0), (7, 0), (9, 0), (10, 1)])
def test_ignored_spans_of_zero_length_lie_in_a_region_and_at_its_borders(position: int, left: int) -> None:
    for mode in ("inside", "touching"):
        result = exact([(5, 9, "X")], [(position, position, "A")], ignore_label="X", ignored=mode)
        assert micro(result)[1] == left


def test_ignored_same_label_compares_with_the_label_of_the_region() -> None:
    gold = [(0, 4, "X"), (6, 8, "A")]
    predicted = [(1, 2, "A"), (1, 3, "X"), (6, 8, "A")]

    assert micro(exact(gold, predicted, ignore_label="X")) == (1, 1, 1)
    assert micro(exact(gold, predicted, ignore_label="X", ignore_same_label=True)) == (1, 2, 1)


def test_ignored_discontinuous_spans_count_by_their_fragments() -> None:
    gold = [Span(3, 6, "X")]
    predicted = [Span.of_fragments([(0, 3), (6, 8)], "A"), Span.of_fragments([(3, 4), (5, 6)], "A")]

    result = score([gold], [predicted], metrics="exact", ignore_label="X", ignored="touching")
    assert micro(result) == (0, 1, 0)


def test_ignored_touching_keeps_a_prediction_with_the_fragments_of_a_counted_gold_span() -> None:
    gold = [Span.of_fragments([(0, 3), (7, 9)], "A"), Span(4, 6, "X")]
    options = {"metrics": "exact", "ignore_label": "X", "ignored": "touching"}

    assert micro(score([gold], [[Span(0, 9, "A")]], **options)) == (1, 0, 0)
    assert micro(score([gold], [gold[:1]], **options)) == (1, 1, 1)


PIECES = st.lists(st.integers(0, 9), min_size=2, max_size=6, unique=True).map(
    lambda borders: tuple(zip(sorted(borders)[::2], sorted(borders)[1::2], strict=False))
)
"""The fragments of a span."""


@given(
    st.lists(PIECES, max_size=4), st.lists(PIECES, max_size=4), st.lists(PIECES, max_size=2), st.booleans()
)
def test_ignored_regions_are_their_definition_for_spans_of_fragments(
    gold: list[Any], predicted: list[Any], regions: list[Any], touching: bool
) -> None:
    def positions(pieces: Any) -> set[int]:
        return {place for start, end in pieces for place in range(start, end)}

    predicted = [*predicted, *gold, *(((one[0][0], one[-1][1]),) for one in gold)]
    ignored = set().union(*map(positions, regions), {20})
    counted = [one for one in gold if not positions(one) <= ignored]
    judged = [
        one
        for one in predicted
        if (one in counted or not positions(one) & ignored if touching else not positions(one) <= ignored)
    ]
    spans = {
        name: [Span.of_fragments(one, label) for one in several]
        for name, several, label in (
            ("gold", gold, "A"),
            ("predicted", predicted, "B"),
            ("ignored", regions, "X"),
        )
    }

    found = score(
        [[*spans["gold"], *spans["ignored"], Span(20, 21, "X")]],
        [spans["predicted"]],
        metrics="exact",
        ignore_label="X",
        ignored="touching" if touching else "inside",
    )

    left_out = found.to_dict()["prepared"]["ignored"]
    assert left_out["gold"] == len(gold) + len(regions) + 1 - len(counted)
    assert left_out["predicted"] == len(predicted) - len(judged)


def test_ignored_region_of_a_label_is_one_of_its_layer_alone() -> None:
    gold = Document("d", {"a": [Span(0, 4, "X")], "b": [Span(0, 2, "B")]})
    result = score([gold], [gold], metrics="exact", ignore_label="X")

    assert micro(result, "a") == (0, 0, 0)
    assert micro(result, "b") == (1, 1, 1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ignore_label": "Y"}, "gold has no span with the label 'Y' to ignore"),
        ({"ignore_layer": "other"}, "gold has no layer 'other' to ignore"),
    ],
)
def test_ignored_with_wrong_options_is_an_error(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        exact(GOLD, PREDICTED, **options)


def test_ignored_regions_work_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    gold = [[[("Anna", "B-PER"), ("in", "O"), ("Ulm", "B-UNSURE")]]]
    predicted = [[[("Anna", "B-PER"), ("in", "O"), ("Ulm", "B-LOC")]]]
    sides = [str(write(tmp_path / f"{n}.vrt", vrt(each))) for n, each in enumerate((gold, predicted))]

    assert main(["score", *sides, "--metric", "exact", "--ignore-label", "UNSURE", "--format", "json"]) == 0
    shown = capsys.readouterr()
    report = json.loads(shown.out)
    assert report["metrics"]["exact"]["label"]["micro"]["f1"] == 1
    assert report["prepared"] == {"ignored": {"gold": 1, "positions": 1, "predicted": 1}}
    assert "changed before counting: ignored: gold 1, positions 1, predicted 1" in shown.err
    assert main(["score", *sides, "--ignored", "touching"]) == 2
    assert "--ignored needs regions (add --ignore-label or --ignore-layer)" in capsys.readouterr().err


RANGES = st.lists(
    st.tuples(st.integers(0, 12), st.integers(0, 4)).map(lambda x: (x[0], x[0] + x[1])), max_size=6
)


@given(RANGES, RANGES)
def test_regions_agree_with_sets_of_positions(
    ranges: list[tuple[int, int]], spans: list[tuple[int, int]]
) -> None:
    regions = Regions(ranges)
    union = {position for start, end in ranges for position in range(start, end)}

    assert regions.positions == len(union)
    for start, end in spans:
        positions = set(range(start, end))
        if positions:
            assert regions.hold(Span(start, end)) == (positions <= union)
            assert regions.touch(Span(start, end)) == bool(positions & union)
        else:
            in_one = any(first <= start <= last for first, last in ranges)
            assert regions.hold(Span(start, end)) == regions.touch(Span(start, end)) == in_one


SPANS = st.lists(st.tuples(st.integers(0, 9), st.integers(1, 4), st.sampled_from("AB")), max_size=6)


@given(SPANS, SPANS)
def test_ignored_regions_beyond_all_spans_change_nothing(gold: list[Any], predicted: list[Any]) -> None:
    one, other = (
        [(start, start + length, label) for start, length, label in side] for side in (gold, predicted)
    )
    plain = exact([*one, (50, 60, "X")], [*other, (50, 60, "X")])
    expected = {label: entry for label, entry in per_label(plain).items() if label != "X"}

    for mode in ("inside", "touching"):
        changed = exact([*one, (50, 60, "X")], other, ignore_label="X", ignored=mode)
        assert per_label(changed) == expected


def test_ignored_is_wrong_use_not_a_traceback() -> None:
    for value in (3, [None], [""], {"a": 1}):
        with pytest.raises(CluevalError):
            exact(GOLD, PREDICTED, ignore_label=value)
