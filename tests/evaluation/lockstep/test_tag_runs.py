from __future__ import annotations

from collections import Counter

import pytest
from clueval.evaluation.lockstep.tag_runs import Rows, TagRuns, columns_of
from hypothesis import given
from hypothesis import strategies as st
from readings import row_clusters

from clueval.exceptions import CluevalError
from clueval.formats.columns.layout import ColumnOptions, Layout, layout_of
from clueval.formats.columns.sizes import Sizes
from clueval.spans.compared import SIDES
from clueval.tagging.decoder import BadTag, Decoder
from clueval.tagging.transitions import Seams

LAYOUT = layout_of("w\tO", "\t", ColumnOptions(), True, "f", 1)


def rows(*tags: str) -> Rows:
    return Rows.of("".join(f"w\t{tag}\n" for tag in tags).encode(), LAYOUT)


def tag_runs(given: Rows, **sizes: int) -> TagRuns:
    runs = TagRuns(("label",), LAYOUT, Sizes(**sizes))
    runs.add(given)
    runs._check(10_000)
    return runs


def occurrences(tags: list[str]) -> list[str]:
    """The tag runs of a column in which they are parted by an O."""
    return [run for run in " ".join(tags).split(" O ") if run]


def test_tag_runs_of_the_example_in_the_docstring() -> None:
    runs = tag_runs(rows("O", "B-X", "I-X\0O", "O", "B-Y", "O", "B-X", "I-X\0O"))

    a, b, c = map(chr, range(3))
    assert runs.counts == {a + b: 2, c: 1}
    assert runs.sides_of(a + b) == ({"label": ["B-X", "I-X"]}, {"label": ["B-X", "O"]})
    found = {columns.times: columns for columns in runs.take(8)}
    assert found[2].disputed == ({"label": ["B-X", "I-X"]}, {"label": ["B-X", "O"]})
    assert found[2].same == {"label": []}


def test_tag_runs_that_are_the_same_on_both_sides_are_kept_once() -> None:
    once, rest = tag_runs(rows("B-Y", "O", "B-X\0O")).take(9)

    assert once.same == {"label": ["B-Y"]}
    assert once.disputed == ({"label": ["B-X"]}, {"label": ["O"]})
    assert [once.tokens, rest.tokens] == [1, 8]


PATTERNS = st.lists(st.sampled_from([["B-X"], ["B-X", "I-X"], ["B-Y", "I-Y", "I-Y"], ["I-X"]]))  # no cut


@given(PATTERNS)
def test_tag_runs_are_compared_as_often_as_they_occur(given: list[list[str]]) -> None:
    runs = tag_runs(rows(*(tag for run in given for tag in [*run, "O"])))

    found: Counter[str] = Counter()
    for columns in runs.take(100):
        for run in occurrences(columns.same["label"]):
            found[run] += columns.times

    assert found == Counter(map(" ".join, given))


@given(PATTERNS)
def test_tokens_of_all_columns_are_all_tokens(given: list[list[str]]) -> None:
    tags = [tag for run in given for tag in [*(f"{each}\0B-Z" for each in run), "O"]]

    columns = list(tag_runs(rows(*tags)).take(500))

    assert sum(each.times * each.tokens for each in columns) == 500
    assert columns[-1].tokens == 500 - sum(map(len, given))


def test_tag_runs_are_cut_where_no_span_crosses() -> None:
    once, rest = tag_runs(rows("B-X", "I-X\0O", "B-X", "I-X\0I-Y", "I-X")).take(5)

    assert once.same == {"label": []}
    assert once.disputed[0] == {"label": ["B-X", "I-X", "O", "B-X", "I-X", "I-X"]}
    assert once.disputed[1] == {"label": ["B-X", "O", "O", "B-X", "I-Y", "I-X"]}
    found = {
        place: {pair: n for pair, n in pairs.items() if pair != ("O", "O")}
        for place, pairs in rest.seams.items()
    }
    assert found["gold", "label"] == {("I-X", "B-X"): 1, ("I-X", "O"): -1, ("O", "B-X"): -1}
    assert found["predicted", "label"] == {("O", "B-X"): 0}


TAGS = st.sampled_from(["O", "B-X", "I-X", "I-Y", "E-X", "B-X\0O", "O\0I-X", "I-X\0B-X", "I-Y\0S-Y"])


@given(st.lists(TAGS, max_size=30))
def test_adjacent_tags_are_counted_as_if_tag_runs_were_not_cut(tags: list[str]) -> None:
    decoders = {(side, "label"): Decoder(None, "conlleval") for side in SIDES}
    clusters = row_clusters(["label"], decoders)

    for columns in tag_runs(rows(*tags)).take(len(tags)):
        clusters.count_columns(columns)

    for side, decoder in zip((0, -1), decoders.values(), strict=True):
        of_side = [tag.split("\0")[side] for tag in tags]
        found, expected = (dict(pairs) for pairs in (decoder.neighbours, Seams(of_side).neighbours))
        found["O", "O"] = expected["O", "O"] = 0  # not counted
        assert found == expected


def test_layers_are_counted_separately_unless_they_are_merged() -> None:
    layout: Layout = layout_of("w\tO\tO", "\t", ColumnOptions({"x": 2, "y": 3}), True, "f", 1)
    given = Rows.of(b"w\tB-X\tO\nw\tB-&lt;\tB-Y\nw\tO\tO\n", layout)

    of_x, of_y, of_both = (TagRuns(layers, layout) for layers in (("x",), ("y",), ("x", "y")))
    for runs in (of_x, of_y, of_both):
        runs.add(given)

    assert [columns.same for columns in of_x.take(3)] == [{"x": ["B-X", "O", "B-<"]}, {"x": []}]
    assert [columns.same for columns in of_y.take(3)] == [{"y": ["B-Y"]}, {"y": []}]
    assert next(of_both.take(3)).same == {"x": ["B-X", "O", "B-<"], "y": ["O", "O", "B-Y"]}


@pytest.mark.parametrize("layers", [("x",), ("x", "y")])
def test_labels_may_have_blanks(layers: tuple[str, ...]) -> None:
    layout = layout_of("w\tO\tO", "\t", ColumnOptions({"x": 2, "y": 3}), True, "f", 1)
    runs = TagRuns(layers, layout)
    runs.add(Rows.of(b"w\tB-a b\x0c\tI-c d\n", layout))

    assert next(runs.take(1)).same == {layer: [{"x": "B-a b\x0c", "y": "I-c d"}[layer]] for layer in layers}


def test_tags_may_have_any_number_of_labels() -> None:
    tags = [f"B-{number}" for number in range(10_000)]

    (once, rest) = tag_runs(rows(*tags)).take(len(tags))

    assert once.same["label"][::2] == tags  # no character is a blank
    assert rest.tokens == len(tags)


def test_tag_runs_are_taken_before_there_are_too_many() -> None:
    for limit in ({"run_tags": 2}, {"runs": 1}):
        runs = tag_runs(rows(), **limit)
        assert not runs.are_many

        runs.add(rows("B-X", "I-X", "O", "B-Y"))
        assert runs.are_many
        list(runs.take(4))
        assert not runs.are_many


def test_tag_runs_are_taken_once() -> None:
    runs = tag_runs(rows("B-X"))

    list(runs.take(1))

    assert [columns.same for columns in runs.take(0)] == [{"label": []}]


def test_tag_runs_with_the_same_characters_can_be_added() -> None:
    one = tag_runs(rows("B-X"))
    other = one.empty()
    other.add(rows("B-Y", "O", "B-X"))

    one.include(other)
    one._check(3)

    twice = {columns.times: columns.same for columns in one.take(4)}[2]
    assert twice == {"label": ["B-X"]}
    assert other.counts.total() == 2


BEGINS, OUTSIDE = (("B-X",), ("B-X",)), (("O",), ("O",))


def test_tag_runs_that_are_added_again_do_not_become_more() -> None:
    runs = tag_runs(rows("B-X", "I-X", "O"), run_tags=5)
    for _ in range(20):
        again = runs.empty()
        again.add(rows("B-X", "I-X", "O"))
        runs.include(again)

    assert (list(runs.counts.values()), runs.are_many) == ([21], False)


def test_columns_have_an_o_between_tag_runs() -> None:
    once, _ = columns_of({"a": 1, "b": 1}, {"a": BEGINS, "b": BEGINS, " ": OUTSIDE}, ("l",), 2)

    assert once.same == {"l": ["B-X", "O", "B-X"]}


@pytest.mark.parametrize(
    ("counts", "tokens"),
    [({"a": 0}, 9), ({"a": -1}, 9), ({"": 1}, 9), ({"a a": 1}, 9), ({"b": 1}, 9), ({"a": 3}, 2), ({"aa": 2}, 3),
     ({"aa": 2, "a": 1}, 4), ({"aaaaaaa": 1}, 99)],
)  # fmt: skip
def test_counts_that_cannot_be_are_found_by_the_check(counts: dict[str, int], tokens: int) -> None:
    runs = tag_runs(rows(*["B-X"] * 6))
    character = next(iter(runs.counts))[0]
    runs._check(6)

    runs.counts = Counter({key.replace("a", character): times for key, times in counts.items()})

    with pytest.raises(AssertionError):
        runs._check(tokens)


def test_tag_outside_the_scheme_at_a_seam_is_an_error_of_the_input() -> None:
    runs = tag_runs(rows())
    runs.add_seam(rows("B-X", "S-Y"))
    decoders = {(side, "label"): Decoder("BIO", "conlleval") for side in SIDES}

    (columns,) = runs.take(2)

    with pytest.raises((BadTag, CluevalError), match="'S-Y' is outside the scheme BIO"):
        row_clusters(["label"], decoders).count_columns(columns)
