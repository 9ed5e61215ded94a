"""The file of decisions, and which of its lines hold."""

from __future__ import annotations

import json
from hashlib import sha256
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import at_most

from clueval import CluevalError
from clueval.cli import main
from clueval.core.span import Frozen
from clueval.reports.place import Place, fingerprint
from clueval.studies.decisions import COLUMNS, Decision, PlaceDecisions, read_decisions

HEADER = "\t".join(COLUMNS)
AT = ("d", "label", 5, 13)


def line(choice: str, reviewer: str = "", time: str = "", spans: str = "f", **more: str) -> Decision:
    return Decision(AT, spans, choice, "", reviewer, time, Frozen(more))


def place(*at: Any, spans: str = "f") -> Place:
    """A place with this key and this fingerprint."""
    return Place(at, spans, [], [])


def test_fingerprint_is_the_same_in_any_order() -> None:
    spans = [("anna", ((5, 13),), "PER"), ("bob", ((0, 13),), "PER")]

    assert {fingerprint(each) for each in permutations(spans)} == {"5cb2e86028d9"}


@pytest.mark.parametrize(
    "other",
    [
        [("anna", ((5, 13),), "PER")],
        [("anna", ((5, 13),), "PER"), ("carl", ((0, 13),), "PER")],
        [("anna", ((5, 13),), "PER"), ("bob", ((0, 13),), "LOC")],
        [("anna", ((5, 13),), "PER"), ("bob", ((0, 3), (7, 13)), "PER")],
    ],
)
def test_fingerprint_of_other_spans_is_another(
    other: list[tuple[str, tuple[tuple[int, int], ...], str]],
) -> None:
    assert fingerprint(other) != "5cb2e86028d9"


def test_fingerprint_of_a_discontinuous_span_has_its_parts() -> None:
    assert fingerprint([("gold", ((0, 3), (7, 9)), "_")]) == sha256(b"gold\t0-3,7-9\t_").hexdigest()[:12]


def test_decisions_hold_are_stale_or_lost() -> None:
    decisions = PlaceDecisions([line("anna"), Decision(("e", "*", 0, 1), "f", "bob")])

    assert decisions.at(place(*AT)).holds == "anna"
    assert decisions.at(place("d", "label", 5, 13, spans="g"))[:2] == ("anna", "stale")
    assert decisions.at(place("d", "label", 5, 12)).state == "undecided"
    assert decisions.at(place("d", "other", 5, 13)).state == "undecided"
    assert decisions.lost == [("e", "*", 0, 1)]
    assert decisions.at(place("e", "any", 0, 1)).holds == "bob"
    assert decisions.words() == "decisions: 2 used, 0 stale, 0 lost, 0 in conflict"


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        pytest.param([line("anna", "A", "1"), line("bob", "A", "2")], "bob", id="the same reviewer"),
        pytest.param([line("anna", "A", "1"), line("anna", "B", "2")], "anna", id="equal choices"),
        pytest.param([line("anna", "A", "1"), line("bob", "B", "2")], "", id="a conflict"),
        pytest.param(
            [line("anna", "A", "1"), line("bob", "B", "2"), line("anna", "B", "3")], "anna", id="convinced"
        ),
        pytest.param(
            [line("anna", "A", "1"), line("bob", "B", "2"), line("bob", "C", "3", confirmed="yes")],
            "bob",
            id="confirmed",
        ),
        pytest.param([line("anna", "A", "1"), line("bob", "B", "2", spans="old")], "anna", id="one is stale"),
        pytest.param([line("anna", "A", "1"), line("", "B", "2")], "anna", id="a comment"),
    ],
)
def test_decisions_of_several_reviewers(lines: list[Decision], expected: str) -> None:
    for order in permutations(lines):
        assert PlaceDecisions(order).at(place(*AT)).holds == expected


@given(
    st.lists(
        st.builds(
            line,
            *(st.sampled_from(values) for values in (["a", "b", ""], ["A", "B"], ["1", "2"], ["f", "g"])),
        )
    ),
    st.randoms(),
)
@at_most(50)
def test_decisions_do_not_depend_on_the_order_of_lines(lines: list[Decision], random: object) -> None:
    shuffled = [*lines, *lines]
    random.shuffle(shuffled)  # type: ignore[attr-defined]

    assert PlaceDecisions(lines).at(place(*AT)) == PlaceDecisions(shuffled).at(place(*AT))


@pytest.mark.parametrize(("how", "expected"), [("first", "anna"), ("last", "bob"), ("drop", "")])
def test_conflicts_are_settled_as_wanted(how: str, expected: str) -> None:
    decisions = PlaceDecisions([line("bob", "B", "2"), line("anna", "A", "1")], conflicts=how)

    assert decisions.at(place(*AT)).holds == expected
    decisions.checked()


def test_conflicts_are_otherwise_an_error_that_lists_ten() -> None:
    lines = [
        Decision(("d", "label", n, n + 1), "f", choice, "", reviewer)
        for n in range(12)
        for choice, reviewer in (("anna", "A"), ("bob", "B"))
    ]
    decisions = PlaceDecisions(lines)
    for n in range(12):
        decisions.at(place("d", "label", n, n + 1))

    with pytest.raises(CluevalError, match=r"at 12 places: d 0-0: anna \(A\), bob \(B\); .* and 2 more"):
        decisions.checked()


def test_comments_of_several_reviewers_stand_below_each_other() -> None:
    lines = [
        Decision(("d", "label", 5, 13), "f", "anna", text, name) for text, name in (("x", "A"), ("y", "B"))
    ]

    assert PlaceDecisions(lines[:1]).at(place(*AT)).comment == "x"
    assert PlaceDecisions(lines).at(place(*AT)).comment == "A: x\nB: y"


def test_files_have_tabs_or_are_json_and_keep_unknown_columns(tmp_path: Path) -> None:
    table = tmp_path / "a.tsv"
    table.write_text(f"\ufeff{HEADER}\tmood\r\nd\t\t5\t12\tf\tanna\t'=1\tA\t1\tgood\r\n", encoding="utf-8")
    values = ["d", "*", 5, 12, "f", "anna", "=1", "A", "1", "good"]
    listed = tmp_path / "b.json"
    listed.write_text(json.dumps([dict(zip([*COLUMNS, "mood"], values, strict=True))]), encoding="utf-8")

    for paths in (table, [table, listed], tmp_path, str(listed)):
        ((found,),) = read_decisions(paths)._places.values()
        assert found == Decision(("d", "*", 5, 13), "f", "anna", "=1", "A", "1", Frozen({"mood": "good"}))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("document\tstart\tend_inclusive\tchoice\n", "a.tsv:1: the table has no column 'fingerprint'"),
        (f"{HEADER}\nd\t*\tx\t1\tf\tgold\n", "a.tsv:2: start is 'x', not a position"),
        (f"{HEADER}\nd\t*\t5\t1\tf\tgold\n", "a.tsv:2: the span ends at 1, before it starts at 5"),
        (f"{HEADER}\n\nd\t*\t5\t7\tf\tGold\n", "a.tsv:3: the choice 'Gold' is unknown .one of gold, none"),
        (f"{HEADER}\nd\n", "a.tsv:2: the line has no start"),
        (
            f"{HEADER}\n" + "d\t*\t5\t7\tf\tgold" + "\tx" * 9,
            "a.tsv:2: the line has 15 cells, and the header 9",
        ),
        ("[1]", "a.tsv:1: a decision must be an object"),
        ("[{}]", "a.tsv:1: the table has no column 'document'"),
        ("[[[[", "a.tsv:1"),
        (
            '[{"document": ["d"], "start": 1, "end_inclusive": 1, "fingerprint": "", "choice": ""}]',
            "must be text",
        ),
        (
            '[{"document": "d", "start": 1.5, "end_inclusive": 1, "fingerprint": "", "choice": ""}]',
            "must be text",
        ),
    ],
)
def test_files_that_cannot_be_read_are_one_error(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "a.tsv").write_text(text, encoding="utf-8")

    with pytest.raises(CluevalError, match=message):
        read_decisions(tmp_path / "a.tsv").require_choices(["gold", "none"])


def test_a_folder_without_decisions_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("")

    with pytest.raises(CluevalError, match=r"the folder has no files of decisions .their names end in"):
        read_decisions(tmp_path)


@pytest.mark.parametrize(
    "text",
    [
        f"{HEADER}\nd\t*\t\t1\tf\tgold\n",
        f"{HEADER}\nd\t*\t \t1\tf\tgold\n",
        json.dumps([{"document": "d", "start": "", "end_inclusive": 1, "fingerprint": "", "choice": "gold"}]),
        json.dumps(
            [{"document": "d", "start": None, "end_inclusive": 1, "fingerprint": "", "choice": "gold"}]
        ),
    ],
)
@pytest.mark.parametrize("command", ["curate", "errors"])
def test_an_empty_start_is_one_line(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    command: str,
    text: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("d.tsv").write_text(text, encoding="utf-8")
    for name in ("a.conll", "b.conll"):
        Path(name).write_text("a B-X\n", encoding="utf-8")

    assert main([command, "a.conll", "b.conll", "--decisions", "d.tsv"]) == 2

    error = capsys.readouterr().err
    assert "start is '', not a position" in error
    assert error.count("\n") == 1
