"""Decisions: their files, which lines hold, and what they change in errors, gold and curated documents."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import at_most

from clueval import CluevalError, CluevalWarning, Document, Span, agree, curate, errors, masking, score
from clueval.cli import main
from clueval.core.document import Pair
from clueval.core.span import Frozen
from clueval.reports.place import Place, fingerprint
from clueval.studies.agreement.curation import UndecidedPlaces
from clueval.studies.decisions import COLUMNS, ERROR_CHOICES, Decision, PlaceDecisions, read_decisions
from clueval.studies.errors.report import Errors
from clueval.studies.errors.search import Choice
from tests.cases import spans
from tests.reports.views import page

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
@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        *(
            ("1", "2"),
            ("2026-11-27T09:00", "2026-11-27 10:00"),
            ("2026-11-27T13:30:00+02:00", "2026-11-27T12:00:00Z"),
        ),
        *(("2026-11-27T09:30:00Z", "2026-11-27T09:45:12"), ("2026-11-27T09:30:00", "2026-11-27T09:45:12Z")),
    ],
)
def test_conflicts_are_settled_as_wanted(how: str, expected: str, earlier: str, later: str) -> None:
    decisions = PlaceDecisions([line("bob", "B", later), line("anna", "A", earlier)], conflicts=how)

    assert decisions.at(place(*AT)).holds == expected
    decisions.checked()


@pytest.mark.parametrize("how", ["first", "last"])
@pytest.mark.parametrize(
    ("amy", "zoe"),
    [
        *(("", ""), ("1", ""), (" ", "1"), ("1", "1"), ("9", "10"), ("27.11.2026", "09.12.2026")),
        *(("2026-11-27T09:30Z", "2026-11-27T09:30:59Z"), ("2026-11-27 9:05", "2026-11-27 10:05")),
    ],
)
def test_conflicts_that_no_time_orders_are_an_error(how: str, amy: str, zoe: str) -> None:
    decisions = PlaceDecisions([line("leak", "zoe", zoe), line("harmless", "amy", amy)], conflicts=how)

    assert decisions.at(place(*AT)).state == "conflict"
    with pytest.raises(
        CluevalError, match=rf"no time says which choice is the {how}: d 5-12: .*\(amy\)"
    ) as error:
        decisions.checked()
    assert "add the times, or confirm one choice" in str(error.value)


@pytest.mark.parametrize("time", ["", "05.12.2026 10:00", "2026-12-05"])
def test_choices_of_one_reviewer_that_no_time_orders_are_a_conflict(time: str) -> None:
    lines = [line("harmless", "amy", "2026-11-27T09:30:00Z"), line("leak", "amy", time)]

    assert PlaceDecisions(lines).at(place(*AT)).state == "conflict"


def test_of_more_than_two_choices_only_the_first_or_last_must_have_a_time_of_its_own() -> None:
    lines = [line("anna", "A", "1"), line("bob", "B", "2"), line("carl", "C", "2"), line("bob", "D", "2")]

    decisions = PlaceDecisions(lines, conflicts="first")
    assert decisions.at(place(*AT)).holds == "anna"
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
        (f"{HEADER}\nd\t*\t5\t-3\tf\tgold\n", "a.tsv:2: end_inclusive is '-3', not a position"),
        (f"{HEADER}\nd\t*\t5\t1\tf\tgold\n", "a.tsv:2: the span ends at 1, before it starts at 5"),
        (
            f"{HEADER}\n\nd\t*\t5\t7\tf\tgolden\n",
            "a.tsv:3: the choice 'golden' is unknown .one of gold, none",
        ),
        (f"{HEADER}\nd\n", "a.tsv:2: the line has no start"),
        (
            f"{HEADER}\n" + "d\t*\t5\t7\tf\tgold" + "\tx" * 9,
            "a.tsv:2: the line has 15 cells, and the header 9",
        ),
        ("[1]", "a.tsv:1: a decision must be an object"),
        ("[{}]", "a.tsv:1: the table has no column 'document'"),
        ("[[[[", "a.tsv:1: not JSON"),
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


@pytest.mark.parametrize("mark", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_table_of_decisions_may_be_csv(tmp_path: Path, mark: str, end: str) -> None:
    comment = "'-1" if mark == "\t" else f'"a{mark} ""b"""'
    rows = [COLUMNS, ("d", "*", "5", "12", "f", "anna", comment, "A", "1"), ("",) * len(COLUMNS)]
    (tmp_path / "a.csv").write_text(
        "\ufeff" + "".join(mark.join(row) + end for row in rows), encoding="utf-8"
    )

    for path in (tmp_path, tmp_path / "a.csv"):
        ((found,),) = read_decisions(path)._places.values()
        expected = "-1" if mark == "\t" else f'a{mark} "b"'
        assert found == Decision(("d", "*", 5, 13), "f", "anna", expected, "A", "1")


def test_csv_that_cannot_be_read_is_an_error_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(f'{",".join(COLUMNS)}\nd,*,5,12,f,"anna\n', encoding="utf-8")

    with pytest.raises(CluevalError, match=r"a.csv:2: a quotation mark is not closed"):
        read_decisions(tmp_path / "a.csv")


def test_choices_are_read_in_any_case_and_names_exactly_first() -> None:
    def read(choice: str, *choices: str) -> str:
        decisions = PlaceDecisions([line(choice)])
        decisions.require_choices(choices)
        return decisions.at(place(*AT)).choice

    assert [read(text, "leak", "harmless") for text in ("Harmless ", " LEAK", "leak", "  ")] == [
        "harmless",
        "leak",
        "leak",
        "",
    ]
    assert [read(text, "Anna", "anna", "none") for text in ("anna", "Anna", " Anna", "NONE")] == [
        "anna",
        "Anna",
        "Anna",
        "none",
    ]
    for text in ("harmles", "Harmless!"):
        with pytest.raises(CluevalError, match=f"the choice '{text}' is unknown"):
            read(text, "Anna", "anna", "harmless")
    with pytest.raises(CluevalError, match="the choice 'ANNA' could be Anna or anna"):
        read("ANNA", "Anna", "anna", "harmless")


def test_other_csv_files_in_a_folder_of_decisions_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "decisions.tsv").write_text(f"{HEADER}\nd\t*\t5\t12\tf\tgold\n", encoding="utf-8")
    (tmp_path / "empty.csv").write_text("")
    score([[(0, 1, "A")]], [[(0, 2, "A")]]).write(tmp_path / "scores.csv")

    assert read_decisions(tmp_path).at(place(*AT)).holds == "gold"
    with pytest.raises(CluevalError, match=r"scores.csv:1: the table has no column 'document'"):
        read_decisions(tmp_path / "scores.csv")


def test_a_csv_file_in_a_folder_that_has_choices_must_have_the_other_columns(tmp_path: Path) -> None:
    (tmp_path / "decisions.csv").write_text("document;start;choice\nd;5;gold\n", encoding="utf-8")

    with pytest.raises(CluevalError, match=r"decisions.csv:1: the table has no column 'end_inclusive'"):
        read_decisions(tmp_path)


def test_a_pipe_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")

    with pytest.raises(CluevalError, match=r"pipe: is not a regular file .write the output of a pipe"):
        read_decisions(tmp_path / "pipe")


@pytest.mark.parametrize("name", ["a.txt", "scores.csv"])
def test_a_folder_without_decisions_is_an_error(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("metric,layer\n")

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


# Errors

WORDS = ["der", "Frau", "Anna", "Weiß", "aus", "Ulm", "und", "Bonn"]
ONE = Pair(
    *(
        Document("d", {"label": spans(side)}, tokens=WORDS)
        for side in ("PER[2,4) LOC[5,6) LOC[7,8)", "PER[1,4) ORG[5,6) LOC[7,8)")
    )
)


def lines_for(report: Errors, choices: Sequence[Mapping[str, str]]) -> list[dict[str, Any]]:
    """Lines about the first places of a report; each has a choice, and whatever else a line may have."""
    found = []
    for place, said in zip(report, choices, strict=False):
        found.append({**dict.fromkeys(COLUMNS, ""), **place.key, **said})
    return found


def written(folder: Path, lines: Sequence[Mapping[str, Any]], name: str = "decisions.tsv") -> Path:
    path = folder / name
    if name.endswith(".json"):
        path.write_text(json.dumps(lines), encoding="utf-8")
        return path
    header = list(dict.fromkeys(key for line in lines for key in line))
    rows = [header, *([str(line.get(key, "")) for key in header] for line in lines)]
    path.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.mark.parametrize("name", ["decisions.tsv", "decisions.json"])
def test_places_and_rows_have_what_was_decided(tmp_path: Path, name: str) -> None:
    given = lines_for(Errors([[ONE]]), [{"choice": "gold", "comment": "'=clear", "reviewer": "anna"}])
    report = Errors([[ONE]], decisions=read_decisions(written(tmp_path, given, name), ERROR_CHOICES))
    comment = "=clear" if name.endswith("tsv") else "'=clear"

    assert [place.decision["choice"] for place in report] == ["gold", ""]
    assert report.rows()[0]["comment"] == comment
    assert report.rows()[0]["reviewer"] == "anna"
    assert "decisions: 1 used, 0 stale, 0 lost, 0 in conflict" in list(report.facts())
    assert '"choice":"gold"' in page(report)


def test_predicted_both_and_none_change_gold_and_gold_and_unclear_do_not() -> None:
    def gold_after(choice: str) -> list[Any]:
        lines = lines_for(Errors([[ONE]]), [{"choice": choice}])
        report = Errors([[ONE]], decisions=read_decisions_of(lines))
        table = next(table for table in report.tables() if table.title == "label: exact, with gold corrected")
        return [row[-1] for row in table.rows]

    # of the place with gold PER[2,4) and predicted PER[1,4)
    assert gold_after("predicted") == [3, 3]
    assert gold_after("both") == [3, 4]
    assert gold_after("none") == [3, 2]
    assert gold_after("gold") == gold_after("unclear") == [3, 3]


def read_decisions_of(lines: Sequence[Mapping[str, Any]], conflicts: str | None = None) -> PlaceDecisions:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        return read_decisions(written(Path(folder), lines), ERROR_CHOICES, conflicts)


def test_a_place_that_a_filter_leaves_out_is_not_lost() -> None:
    decisions = read_decisions_of(lines_for(Errors([[ONE]]), [{"choice": "gold"}, {"choice": "gold"}]))
    list(Errors([[ONE]], Choice(reasons=frozenset(["label"])), decisions=decisions))

    assert decisions.words() == "decisions: 1 used, 0 stale, 0 lost, 0 in conflict, 1 not listed"


# Gold corrected

Spans = list[tuple[int, int, str]]

TOKENS = [f"w{n}" for n in range(20)]


def document(*spans: tuple[int, int, str]) -> Document:
    return Document("d", {"label": [Span(*span) for span in spans]}, tokens=TOKENS)


GOLD = document((0, 2, "PER"), (5, 6, "LOC"), (8, 9, "ORG"), (12, 13, "PER"))
PREDICTED = document((0, 3, "PER"), (5, 6, "ORG"), (10, 11, "LOC"), (12, 13, "PER"))


def decided(gold: Document, predicted: Document, *choices: str) -> list[dict[str, Any]]:
    """The lines of a file with these choices for the places of two documents."""
    said = {"reviewer": "Ada", "comment": "=1"}
    places = zip(errors([gold], [predicted]), choices, strict=False)
    return [{**place.key, "choice": choice, **said} for place, choice in places]


def in_layers(**layers: Spans) -> Document:
    spans = {name: [Span(*span) for span in given] for name, given in layers.items()}
    return Document("d", spans, tokens=TOKENS)


NESTED = (
    in_layers(label=[(0, 5, "ORG"), (3, 5, "LOC"), (8, 9, "PER")]),
    in_layers(label=[(0, 5, "ORG"), (4, 5, "LOC"), (8, 10, "PER")]),
)
"""At the first place, only the inner spans differ, so ORG of gold is not part of it."""

IN_LAYERS = (
    in_layers(label=[(0, 2, "PER")], risk=[(1, 3, "high")]),
    in_layers(label=[(0, 3, "PER")], risk=[(1, 3, "low")]),
)
"""One place of two layers."""


@pytest.mark.parametrize(
    ("sides", "choices", "expected"),
    [
        (NESTED, ["predicted"], {"label": [(0, 5, "ORG"), (4, 5, "LOC"), (8, 9, "PER")]}),
        (NESTED, ["gold", "predicted"], {"label": [(0, 5, "ORG"), (3, 5, "LOC"), (8, 10, "PER")]}),
        (NESTED, ["both"], {"label": [(0, 5, "ORG"), (3, 5, "LOC"), (4, 5, "LOC"), (8, 9, "PER")]}),
        (NESTED, ["none", "unclear"], {"label": [(0, 5, "ORG"), (8, 9, "PER")]}),
        (IN_LAYERS, ["predicted"], {"label": [(0, 3, "PER")], "risk": [(1, 3, "low")]}),
        (IN_LAYERS, ["gold"], {"label": [(0, 2, "PER")], "risk": [(1, 3, "high")]}),
        (IN_LAYERS, ["none"], {"label": [], "risk": []}),
        (IN_LAYERS, [""], {"label": [(0, 2, "PER")], "risk": [(1, 3, "high")]}),
    ],
)
def test_curate_keeps_what_was_decided_about_errors_and_gold_elsewhere(
    tmp_path: Path, sides: tuple[Document, Document], choices: list[str], expected: dict[str, Spans]
) -> None:
    (tmp_path / "d.json").write_text(json.dumps(decided(*sides, *choices)))
    for names in (("gold", "predicted"), ("predicted", "gold")):
        given = {name: [sides[name == "predicted"]] for name in names}
        (curated,) = curate(given, decisions=tmp_path / "d.json")

        layers = curated.document.layers
        assert {
            name: [(span.start, span.end, span.label) for span in layers[name]] for name in expected
        } == expected


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "4 used, 0 stale, 1 lost, 0 in conflict"),
        ({"sides": "gold"}, "3 used, 0 stale, 1 lost, 0 in conflict, 1 not listed"),
        ({"reasons": "spurious"}, "1 used, 0 stale, 1 lost, 0 in conflict, 3 not listed"),
        ({"kinds": "partial", "sides": "gold"}, "0 used, 0 stale, 1 lost, 0 in conflict, 4 not listed"),
        ({"where": "label=LOC"}, "2 used, 0 stale, 0 lost, 0 in conflict, 3 not listed"),
    ],
)
def test_decisions_about_places_that_filters_leave_out_are_not_lost(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: dict[str, Any], words: str
) -> None:
    for name, side in (("gold", GOLD), ("predicted", PREDICTED)):
        tags = ["O"] * len(TOKENS)
        for span in side.layers["label"]:
            for n in range(span.start, span.end):
                tags[n] = f"{'I' if n > span.start else 'B'}-{span.label}"
        lines_of = map("\t".join, zip(TOKENS, tags, strict=True))
        (tmp_path / f"{name}.conll").write_text("\n".join(lines_of) + "\n")
    paths = [str(tmp_path / f"{name}.conll") for name in ("gold", "predicted")]
    lines = [{**line, "document": "1"} for line in decided(GOLD, PREDICTED, *["gold"] * 4)]
    table = tmp_path / "d.json"
    table.write_text(json.dumps([*lines, lines[0] | {"document": "other"}]))
    flags = {"sides": "--side", "reasons": "--reason", "kinds": "--class", "where": "--where"}
    arguments = [part for name, value in options.items() for part in (flags[name], value)]

    assert main(["errors", *paths, "--decisions", str(table), *arguments]) == 0
    assert f"decisions: {words}\n" in capsys.readouterr().out
    found = errors(*paths, decisions=table, **options)
    if "0 stale, 0 lost" in words:
        listed = list(found)
    else:
        with pytest.warns(CluevalWarning, match=f"decisions: {words}"):
            listed = list(found)
    plain = list(errors(*paths, **options))
    assert [place._replace(decision={}) for place in listed] == plain


def test_lines_without_choice_and_comment_are_no_decisions(tmp_path: Path) -> None:
    lines = [{**line, "document": "other"} for line in decided(GOLD, PREDICTED, "gold", "", "")]
    lines[1]["comment"] = ""
    table = tmp_path / "d.json"
    table.write_text(json.dumps(lines))

    with pytest.warns(
        CluevalWarning,
        match="decisions: 0 used, 0 stale, 2 lost, 0 in conflict; lost: other [-0-9]+, other [-0-9]+$",
    ):
        list(errors([GOLD], [PREDICTED], decisions=table))


def test_a_place_without_a_text_has_no_line_of_context() -> None:
    lines = str(errors([[(0, 4, "A"), (7, 9, "B")]], [[(0, 4, "B")]])).splitlines()

    assert lines[lines.index("0 label 7–8") + 1] == "  gold B missed token 7–8"
    assert not any(line.isspace() for line in lines)


# --- what is written over


def curate_of_two(folder: Path, *sides: str) -> tuple[list[str], Path]:
    """A command that was run on two annotators who differ at a place, and the table with this place."""
    annotators = []
    for side, tag in zip(sides, ("B-A", "B-B"), strict=True):
        name, _, file = side.partition("=")
        (folder / file).write_text(f"w {tag}\n\n", encoding="utf-8")
        annotators.append(f"{name}={folder / file}")
    places = folder / "open.tsv"
    command = ["curate", *annotators, "-o", str(folder / "gold.conll"), "--undecided", str(places)]
    assert main(command) == 0
    return command, places


def fill_in(table: Path, choice: str, comment: str = "") -> None:
    """Decide about the first place of a table or workbook."""
    if table.suffix == ".xlsx":
        openpyxl = pytest.importorskip("openpyxl")
        book = openpyxl.load_workbook(table)
        sheet = book["places"]
        head = [cell.value for cell in sheet[1]]
        sheet.cell(2, head.index("choice") + 1).value = choice
        sheet.cell(2, head.index("comment") + 1).value = comment
        book.save(table)
        return
    mark = "," if table.suffix == ".csv" else "\t"
    head, first, *rest = table.read_text(encoding="utf-8").split("\n")
    cells = first.split(mark)
    for name, text in (("choice", choice), ("comment", comment)):
        cells[head.split(mark).index(name)] = text
    table.write_text("\n".join([head, mark.join(cells), *rest]), encoding="utf-8")


@pytest.mark.parametrize("ending", ["tsv", "csv", "xlsx"])
@pytest.mark.parametrize(("choice", "comment"), [("gold", ""), ("", "see page 3")])
def test_decisions_in_a_table_are_not_overwritten(
    ending: str, choice: str, comment: str, tmp_path: Path
) -> None:
    report = errors([[(0, 1, "A")]], [[(0, 2, "A")]])
    table = tmp_path / f"errors.{ending}"
    report.write(table)
    report.write(table)
    fill_in(table, choice, comment)
    before = table.read_bytes()

    with pytest.raises(CluevalError, match=r"has 1 decision, which would be overwritten \(name another file"):
        report.write(table)
    assert table.read_bytes() == before


def test_a_table_of_decisions_that_were_read_is_written_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, tag in (("gold", "B-A"), ("predicted", "B-B")):
        (tmp_path / f"{name}.conll").write_text(f"w {tag}\n\n", encoding="utf-8")
    command = ["errors", str(tmp_path / "gold.conll"), str(tmp_path / "predicted.conll"), "-o"]
    decisions, table = tmp_path / "decisions.tsv", tmp_path / "errors.tsv"
    assert main([*command, str(decisions)]) == 0
    fill_in(decisions, "gold", "'=a comment")

    for _ in range(2):
        assert main([*command, str(table), "--decisions", str(decisions)]) == 0
    assert "'=a comment" in table.read_text(encoding="utf-8")
    fill_in(table, "predicted")
    assert main([*command, str(table), "--decisions", str(decisions)]) == 2
    assert "errors.tsv: has 1 decision, which would be overwritten" in capsys.readouterr().err


def test_places_of_annotators_that_were_decided_are_not_overwritten(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, tag in (("anna", "B-A"), ("bob", "B-B")):
        (tmp_path / f"{name}.conll").write_text(f"w {tag}\n\n", encoding="utf-8")
    files = [str(tmp_path / f"{name}.conll") for name in ("anna", "bob")]
    places, gold = tmp_path / "open.tsv", tmp_path / "gold.conll"
    for command in (["agree", *files, "-o"], ["curate", *files, "-o", str(gold), "--undecided"]):
        places.unlink(missing_ok=True)
        gold.unlink(missing_ok=True)
        assert main([*command, str(places)]) == 0
        fill_in(places, "anna")
        gold.unlink(missing_ok=True)
        assert main([*command, str(places)]) == 2
        assert "open.tsv: has 1 decision, which would be overwritten" in capsys.readouterr().err
        assert not gold.exists()


def test_a_decision_for_an_annotator_whose_name_differs_in_case_is_another(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command, places = curate_of_two(tmp_path, "Anna=a.conll", "anna=b.conll")
    read = tmp_path / "read.tsv"
    fill_in(places, "anna")
    read.write_bytes(places.read_bytes())
    assert main([*command, "--decisions", str(read)]) == 0

    places.write_bytes(read.read_bytes())
    fill_in(places, "Anna")
    assert main([*command, "--decisions", str(read)]) == 2
    assert "open.tsv: has 1 decision, which would be overwritten" in capsys.readouterr().err


def test_a_choice_that_a_table_has_in_another_case_is_known(tmp_path: Path) -> None:
    sides, table = ([[(0, 1, "A")]], [[(0, 2, "A")]]), tmp_path / "errors.tsv"
    errors(*sides).write(table)
    fill_in(table, " Gold ")

    errors(*sides, decisions=table).write(table)

    assert "\tgold\t" in table.read_text(encoding="utf-8")


def test_decisions_whose_cells_are_guarded_are_known(tmp_path: Path) -> None:
    sides, table = [[replace(side, id="=d")] for side in (GOLD, PREDICTED)], tmp_path / "errors.tsv"
    errors(*sides).write(table)
    fill_in(table, "gold", "''=1")  # the comment begins with an apostrophe

    errors(*sides, decisions=table).write(table)

    assert "\t''=1\t" in table.read_text(encoding="utf-8")


def test_decisions_are_not_overwritten_if_names_of_columns_have_white_space_around_them(
    tmp_path: Path,
) -> None:
    report, table = errors([GOLD], [PREDICTED]), tmp_path / "errors.tsv"
    report.write(table)
    fill_in(table, "gold")
    table.write_text(f" {table.read_text(encoding='utf-8')}", encoding="utf-8")

    with pytest.raises(CluevalError, match="has 1 decision, which would be overwritten"):
        report.write(table)


def test_undecided_places_are_not_written_over_decisions(tmp_path: Path) -> None:
    table = tmp_path / "open.tsv"
    agree({"anna": [[(0, 1, "A")]], "bob": [[(0, 1, "B")]]}).write(table)
    fill_in(table, "anna")

    with pytest.raises(CluevalError, match="has 1 decision, which would be overwritten"):
        UndecidedPlaces(["anna", "bob"], []).write(table)


@pytest.mark.parametrize("study", [errors, masking, lambda *sides: agree({"a": sides[0], "b": sides[1]})])
def test_an_output_with_an_empty_name_is_one_error(study: Callable[..., Any]) -> None:
    with pytest.raises(CluevalError, match="the name of an output is empty"):
        study([GOLD], [PREDICTED]).write("")


def test_decisions_that_differ_in_a_word_or_the_reviewer_or_cannot_be_read_are_not_overwritten(
    tmp_path: Path,
) -> None:
    table, packed, comma = (tmp_path / name for name in ("errors.tsv", "errors.tsv.gz", "errors.csv"))
    sides = [[(0, 1, "A")]], [[(0, 2, "A")]]
    errors(*sides).write(table)
    fill_in(table, "gold", "ok")
    decided = table.read_text(encoding="utf-8")
    report = errors(*sides, decisions=table)
    report.write(table)
    head, first = decided.splitlines()[:2]
    reviewer = head.split("\t").index("reviewer")
    cells = first.split("\t")

    changed = [
        decided.replace("\tok\t", "\tNo: see page 4; not ok\t"),
        decided.replace("\tgold\t", "\tnone\t"),
    ]
    changed.append("\n".join((head, "\t".join((*cells[:reviewer], "bob", *cells[reviewer + 1 :])), "")))
    for text in changed:
        assert text != decided
        table.write_text(text, encoding="utf-8")
        packed.write_bytes(gzip.compress(text.encode()))
        comma.write_text("\ufeff" + text.replace("\t", ";"), encoding="utf-8")
        for path in (table, packed, comma):
            with pytest.raises(CluevalError, match="has 1 decision, which would be overwritten"):
                report.write(path)

    table.write_text(decided + "x\t" * 99 + "x\n", encoding="utf-8")
    with pytest.raises(CluevalError, match="cannot be read, and would be overwritten"):
        report.write(table)
    table.write_text("another\ttable\n", encoding="utf-8")
    report.write(table)


def test_rows_without_decisions_are_overwritten_whatever_else_they_hold(tmp_path: Path) -> None:
    sides, table = ([[(0, 1, "A")]], [[(0, 2, "A")]]), tmp_path / "errors.tsv"
    errors(*sides).write(table)
    written_before = table.read_text(encoding="utf-8")
    head, first, *_ = written_before.splitlines()
    cells = dict(zip(head.split("\t"), first.split("\t"), strict=True)) | {"start": "no position"}
    table.write_text("\n".join((head, "\t".join(cells.values()), "")), encoding="utf-8")

    errors(*sides).write(table)

    assert table.read_text(encoding="utf-8") == written_before


def test_curate_writes_undecided_places_again_with_the_decisions_that_it_was_given(tmp_path: Path) -> None:
    command, places = curate_of_two(tmp_path, "anna=a.conll", "bob=b.conll")
    made = tmp_path / "made.tsv"
    fill_in(places, "anna")
    made.write_bytes(places.read_bytes())

    assert main([*command, "--decisions", str(made)]) == 0
