"""Decisions about the places of errors: files, which lines hold, whose the errors are, and gold corrected."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from clueval.core.document import Document, Pair
from clueval.files.errors import FormatError, UsageError
from clueval.reports.page import page
from clueval.studies.decisions import (
    COLUMNS,
    ERROR_CHOICES,
    PlaceDecisions,
    read_decisions,
    require_no_choices,
)
from clueval.studies.errors import Errors
from clueval.studies.wrong import Choice
from tests.cases import spans

TOKENS = ["der", "Frau", "Anna", "Weiß", "aus", "Ulm", "und", "Bonn"]
ONE = Pair(
    *(
        Document("d", {"label": spans(side)}, tokens=TOKENS)
        for side in ("PER[2,4) LOC[5,6) LOC[7,8)", "PER[1,4) ORG[5,6) LOC[7,8)")
    )
)


def lines_for(report: Errors, choices: Sequence[Mapping[str, str]]) -> list[dict[str, Any]]:
    """Lines about the first places of a report; each has a choice, and whatever else a line may have."""
    found = []
    for place, given in zip(report, choices, strict=False):
        found.append({**dict.fromkeys(COLUMNS, ""), **place.key, **given})
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
    given = lines_for(Errors([ONE]), [{"choice": "gold", "comment": "'=clear", "reviewer": "anna"}])
    report = Errors([ONE], decisions=read_decisions(written(tmp_path, given, name), ERROR_CHOICES))
    comment = "=clear" if name.endswith("tsv") else "'=clear"

    assert [place.decision["choice"] for place in report] == ["gold", ""]
    assert report.rows()[0]["comment"] == comment
    assert report.rows()[0]["reviewer"] == "anna"
    assert "decisions: 1 used, 0 stale, 0 lost, 0 in conflict" in list(report.facts())
    assert '"choice":"gold"' in page(report)


def test_predicted_both_and_none_change_gold_and_gold_and_unclear_do_not() -> None:
    def gold_after(choice: str) -> list[Any]:
        lines = lines_for(Errors([ONE]), [{"choice": choice}])
        report = Errors([ONE], decisions=read_decisions_of(lines))
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


def two_reviewers() -> list[dict[str, Any]]:
    (line,) = lines_for(
        Errors([ONE]), [{"choice": "gold", "reviewer": "anna", "time": "2024-01-01T00:00:00Z"}]
    )
    return [line, {**line, "choice": "none", "reviewer": "bob", "time": "2024-01-02T00:00:00Z"}]


def test_two_choices_for_a_place_are_a_conflict_that_is_an_error() -> None:
    for lines in (two_reviewers(), two_reviewers()[::-1]):
        with pytest.raises(UsageError, match=r"differently at 1 place: d 1-3: gold \(anna\), none \(bob\)"):
            list(Errors([ONE], decisions=read_decisions_of(lines)))


@pytest.mark.parametrize(("conflicts", "choice"), [("first", "gold"), ("last", "none"), ("drop", "conflict")])
def test_what_is_done_about_conflicts_can_be_chosen(conflicts: str, choice: str) -> None:
    report = Errors([ONE], decisions=read_decisions_of(two_reviewers(), conflicts))

    assert next(iter(report)).decision["choice"] == choice


def test_a_confirmed_line_ends_a_conflict() -> None:
    lines = two_reviewers()
    confirmed = {**lines[0], "reviewer": "carl", "time": "2024-01-03T00:00:00Z", "confirmed": "yes"}

    assert (
        next(iter(Errors([ONE], decisions=read_decisions_of([*lines, confirmed])))).decision["choice"]
        == "gold"
    )


def test_a_place_that_a_filter_leaves_out_is_not_lost() -> None:
    decisions = read_decisions_of(lines_for(Errors([ONE]), [{"choice": "gold"}, {"choice": "gold"}]))
    list(Errors([ONE], Choice(reasons=frozenset(["label"])), decisions=decisions))

    assert decisions.words() == "decisions: 1 used, 0 stale, 0 lost, 0 in conflict, 1 not listed"


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"choice": "maybe"}, "choice 'maybe' is unknown"),
        ({"start": "x"}, "start is 'x', not a position"),
        ({"end_inclusive": "-3"}, "end_inclusive is '-3', not a position"),
        ({"start": "9", "end_inclusive": "2"}, "ends at 2, before it starts at 9"),
    ],
)
def test_a_wrong_line_is_an_error_with_its_number(
    tmp_path: Path, change: Mapping[str, str], problem: str
) -> None:
    (line,) = lines_for(Errors([ONE]), [{"choice": "gold"}])
    with pytest.raises(FormatError, match=problem) as raised:
        read_decisions(written(tmp_path, [line, {**line, **change}]), ERROR_CHOICES)
    assert raised.value.line == 3


def test_a_file_without_the_columns_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("document\tstart\n", encoding="utf-8")

    with pytest.raises(FormatError, match="no column 'end_inclusive'"):
        read_decisions(path)


def test_annotators_are_not_called_like_choices() -> None:
    with pytest.raises(UsageError, match="'none'"):
        require_no_choices(["anna", "none"])
