"""Groups: the documents that several sides have of one text are counted by the loop that counts pairs."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clueval.core.bag import Bag
from clueval.core.case import case_of, keys_of, located, presence
from clueval.core.count import Plan, Unit, count
from clueval.core.document import Document, Group, Pair, Sentence
from clueval.core.exact import Exact
from clueval.core.levels import Levels
from clueval.core.span import Span
from clueval.files.errors import OverlapError

Row = tuple[int, int, str]

NAMES = ("ann", "bob", "cat")


def document(name: str, *rows: Row, text: bool = True, **fields: object) -> Document:
    tokens = ["x"] * 12 if text else None
    return Document(name, {"x": [Span(*row) for row in rows]}, tokens=tokens, **fields)  # type: ignore[arg-type]


def group(*sides: Sequence[Row] | None, name: str = "d") -> list[Group]:
    return [Group(tuple(None if rows is None else document(name, *rows) for rows in sides))]


def test_a_case_of_a_group_has_the_spans_of_all_sides_and_none_of_one_that_lacks_the_document() -> None:
    sides = (document("d", (2, 4, "A")), None, document("d", (3, 6, "B"), (8, 9, "A")))
    ((_, keys, ranges, others),) = keys_of(sides, ["x"])

    assert keys == [
        (4, None, 0b101, (0, 2, 0, "A"), (1, 4, 2, "B")),
        (1, None, 0b101, (0, 1, 2, "A")),
    ]
    assert (ranges, others) == ([(2, 6), (8, 9)], [])
    case = case_of(keys[0], "x")
    assert [side and [(span.start, span.end, span.label) for span in side] for side in case.sides] == [
        [(0, 2, "A")],
        None,
        [(1, 4, "B")],
    ]
    assert case.equal == 0


def test_located_cases_of_a_group_stand_at_their_positions() -> None:
    sides = (document("d", (2, 4, "A")), None, document("d", (3, 6, "B"), (8, 9, "A")))
    found = list(located(sides, ["x"]))

    assert [at.first for at in found] == [2, 8]
    assert found[0].sides == ((Span(2, 4, {"x": "A"}),), None, (Span(3, 6, {"x": "B"}),))
    assert found[1].sides == ((), None, (Span(8, 9, {"x": "A"}),))


def test_equal_positions_of_a_case_are_those_that_all_sides_share() -> None:
    ((_, (key,), _, _),) = keys_of(
        [document("d", (0, 4, "A")), document("d", (0, 2, "A")), document("d", (0, 4, "A"))], ["x"]
    )

    assert case_of(key, "x").equal == 2


def test_a_bag_knows_the_documents_and_positions_of_the_sides_that_are_present() -> None:
    texts = [group([], [], []), group([], None, []), group([], None, None), group([(0, 1, "A")], [], [])]
    bag = count(texts, Plan((), sides=NAMES), ["x"])

    assert presence([1, None, 3]) == 0b101
    (place,) = bag.documents
    assert {present: of[place] for present, of in bag.shared.items()} == {0b111: 2, 0b101: 1, 0b001: 1}
    assert {present: of[place] for present, of in bag.positions.items()} == {0b111: 24, 0b101: 12, 0b001: 12}
    assert bag.read.spans == {("ann", "x"): 1, ("bob", "x"): 0, ("cat", "x"): 0}


def test_documents_by_the_sides_that_are_present_are_added_and_grouped() -> None:
    plan = Plan((), sides=NAMES, by=("document",))
    bag = count([group([], [], [], name="d"), group([], None, [], name="e")], plan, ["x"])
    bag.include(count([group([], [], [], name="f")], plan, ["x"]))

    assert bag.grouped(lambda place: ()).shared == {0b111: {(): 2}, 0b101: {(): 1}}


def test_the_first_document_that_is_there_says_the_id_the_metadata_and_the_sentences() -> None:
    sentences = [Sentence(0, 6), Sentence(6, 12)]
    theirs = document("d", (0, 1, "A"), metadata={"m": "1"}, sentences=sentences)
    text = Group((None, theirs, document("d", (7, 8, "A"), metadata={"m": "2"})))
    bag = count([[text]], Plan((), sides=NAMES, by=("m",), units="sentence"), ["x"])

    assert text.first is theirs
    assert list(bag.documents) == [Unit(("1",), "d", 1), Unit(("1",), "d", 2)]


def test_a_group_without_documents_is_refused() -> None:
    with pytest.raises(ValueError, match="no side has the text"):
        Group((None, None))


def test_the_positions_of_a_group_are_those_of_the_side_that_has_the_text() -> None:
    assert Group((None, document("d", text=False), document("d"))).positions == 12
    assert Group((None, document("d", text=False))).positions == 0


def test_a_case_of_a_group_that_a_metric_cannot_count_names_the_document() -> None:
    with pytest.raises(OverlapError, match="of one sequence overlap") as caught:
        count([group(None, [(0, 4, "A"), (2, 6, "B")], [])], Plan((Levels(),), sides=NAMES), ["x"])

    assert caught.value.document == "d"


FLAT = st.lists(st.sampled_from("OAB"), min_size=12, max_size=12).map(
    lambda letters: [(n, n + 1, letter) for n, letter in enumerate(letters) if letter != "O"]
)


@given(st.lists(st.tuples(FLAT, FLAT), max_size=4))
def test_a_group_of_two_is_counted_as_a_pair(texts: list[tuple[list[Row], list[Row]]]) -> None:
    plan = Plan((Exact(), Levels()))
    groups = [group(*sides, name=str(n)) for n, sides in enumerate(texts)]
    pairs = [[Pair(*each.sides)] for (each,) in groups]  # type: ignore[arg-type]  # both have it

    assert state(count(groups, plan, ["x"])) == state(count(pairs, plan, ["x"]))


def state(bag: Bag) -> object:
    return bag.keys, bag.places, bag.documents, bag.shared, bag.positions, bag.tallies, bag.read.spans
