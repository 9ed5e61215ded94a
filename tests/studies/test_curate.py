"""One gold out of the spans of many annotators."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from strategies import at_most
from test_agree import A, B, C, document, studies

from clueval import CluevalError, CluevalWarning, Document, agree, curate, errors
from clueval.studies.annotators.curation import Curated
from clueval.studies.annotators.places import spans_of


def kept(curated: list[Curated]) -> dict[str, list[tuple[int, int, str]]]:
    return {
        each.document.id: [
            (span.start, span.end, span.label) for spans in each.document.layers.values() for span in spans
        ]
        for each in curated
    }


def listed(curated: list[Curated], name: str) -> list[tuple[str, int, int, str]]:
    return [
        (place.document, place.start, place.end, place.kind)
        for each in curated
        for place in getattr(each, name)
    ]


def test_curate_by_hand():
    curated = list(curate({"A": A, "B": B, "C": C}))

    assert kept(curated) == {"d1": [(0, 2, "PER")], "d2": []}
    assert listed(curated, "undecided") == [("d1", 4, 7, "boundary+missing"), ("d2", 1, 2, "missing")]
    assert listed(curated, "outvoted") == listed(curated, "ties") == []


def test_curate_with_one_vote_keeps_what_nobody_contradicts():
    curated = list(curate({"A": A, "B": B, "C": C}, votes=1))

    assert kept(curated) == {"d1": [], "d2": [(1, 2, "PER")]}
    assert listed(curated, "undecided") == [("d1", 0, 2, "label"), ("d1", 4, 7, "boundary+missing")]


def test_curate_by_all_votes_needs_everybody_who_annotated_the_document():
    curated = list(curate({"A": A, "B": A, "C": C}, votes="all"))

    assert kept(curated) == {"d1": [], "d2": [(1, 2, "PER")]}


def test_curate_lists_what_most_annotators_left_out_as_outvoted():
    curated = list(curate({"A": A[1:], "B": B[1:], "C": B[1:]}))

    assert listed(curated, "outvoted") == [("d2", 1, 2, "missing")]


def test_curate_leaves_undecided_what_a_winner_does_not_overlap():
    one = [document("d", 9, (0, 5, "X"))]
    two = [document("d", 9, (0, 2, "X"), (3, 5, "Y"))]
    curated = list(curate({"A": one, "B": two, "C": [document("d", 9, (0, 2, "X"))]}))

    assert kept(curated) == {"d": [(0, 2, "X")]}
    assert listed(curated, "outvoted") == [("d", 3, 5, "missing")]


def test_curate_of_winners_that_overlap_keeps_none_of_them():
    sources = {
        "A": [document("d", 9, (0, 5, "X"), (1, 2, "Y"))],
        "B": [document("d", 9, (0, 5, "X"))],
        "C": [document("d", 9, (1, 2, "Y"))],
    }
    curated = list(curate(sources))

    assert kept(curated) == {"d": []}
    assert listed(curated, "undecided") == [("d", 0, 5, "boundary+label")]


def test_curate_keeps_nested_spans_that_all_annotators_have():
    nested = [document("d", 15, (0, 15, "ORG"), (12, 15, "LOC"))]
    curated = list(curate({"A": nested, "B": nested}))

    assert kept(curated) == {"d": [(0, 15, "ORG"), (12, 15, "LOC")]}
    assert listed(curated, "undecided") == []


def test_curate_lists_a_winner_within_a_span_that_all_have():
    sources = {
        "A": [document("d", 9, (0, 5, "X"), (1, 2, "Y"))],
        "B": [document("d", 9, (0, 5, "X"), (1, 2, "Y"))],
        "C": [document("d", 9, (0, 5, "X"))],
    }
    curated = list(curate(sources))

    assert kept(curated) == {"d": [(0, 5, "X")]}
    assert listed(curated, "undecided") == [("d", 1, 2, "missing")]


def test_curate_takes_over_a_document_of_one_annotator():
    assert kept(list(curate({"A": A, "B": B[:1]})))["d2"] == [(1, 2, "PER")]


def test_curate_as_union_joins_each_component():
    curated = list(curate({"A": A, "B": B, "C": C}, union=True))

    assert kept(curated) == {"d1": [(0, 2, "PER"), (4, 7, "LOC")], "d2": [(1, 2, "PER")]}
    assert listed(curated, "ties") == []


def test_curate_as_union_lists_ties_and_takes_the_label_that_begins_first():
    one, other = [document("d", 9, (1, 3, "X"))], [document("d", 9, (0, 2, "Y"))]
    curated = list(curate({"A": one, "B": other}, union=True))

    assert kept(curated) == {"d": [(0, 3, "Y")]}
    assert listed(curated, "ties") == [("d", 0, 3, "boundary+label")]


@given(studies(flat=False))
@at_most(20)
def test_curate_of_copies_is_the_document(sources: dict[str, list[Document]]):
    flat = list(curate({"A": sources["A"], "B": sources["A"]}))

    for each, own in zip(flat, sources["A"], strict=True):
        found = {(span.start, span.end, span.label) for span in each.document.layers["label"]}
        assert found <= {(span.start, span.end, span.label) for span in own.layers["label"]}
        if not each.undecided:
            assert len(found) == len({*own.layers["label"]})


@given(studies())
@at_most(20)
def test_curate_keeps_or_lists_every_place(sources: dict[str, list[Document]]):
    places = [(each.document, each.start, each.end) for each in agree(sources).disagreements()]
    curated = list(curate(sources))
    spans = [(name, *span[:2]) for name, found in kept(curated).items() for span in found]
    spans += [place[:3] for name in ("undecided", "outvoted") for place in listed(curated, name)]

    for name, start, end in places:
        assert any(own == name and begin < end and start < past for own, begin, past in spans)


# Decisions


def decided(tmp_path: Path, *lines: str, **options: Any) -> list[Curated]:
    path = tmp_path / "decisions.tsv"
    path.write_text("\n".join(["document\tstart\tend_inclusive\tlabel", *lines]) + "\n")
    return list(curate({"A": A, "B": B, "C": C}, decisions=path, **options))


def test_curate_decisions_replace_the_outcome_of_a_component(tmp_path: Path):
    curated = decided(tmp_path, "d1\t4\t5\tLOC", "d1\t6\t6\tORG", "d2\t1\t1\t")

    assert kept(curated) == {"d1": [(0, 2, "PER"), (4, 6, "LOC"), (6, 7, "ORG")], "d2": []}
    assert listed(curated, "undecided") == []


@pytest.mark.parametrize("name", ["=1", "'=1"])
def test_curate_decisions_name_documents_as_they_are_or_as_the_table_of_undecided_places_does(
    tmp_path: Path, name: str
):
    sources = {by: [replace(A[0], id="=1")] for by in "ab"}
    path = tmp_path / "decisions.tsv"
    path.write_text(f"document\tstart\tend_inclusive\tlabel\n{name}\t0\t1\tORG\n")
    (curated,) = curate(sources, decisions=path)

    assert curated.document.layers["label"][0].label == "ORG"


def test_curate_decisions_replace_winners_too(tmp_path: Path):
    assert kept(decided(tmp_path, "d1\t0\t1\tORG"))["d1"] == [(0, 2, "ORG")]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["d1\t8\t9\tLOC"], "decisions.tsv:2.*is at a place that no annotator"),
        (["d9\t0\t1\tLOC"], "is at a place that no annotator"),
        (["d1\t0\t6\tLOC"], "overlaps two places"),
        (["d1\t4\t6\tLOC", "d1\t5\t6\tLOC"], "decisions.tsv:3.*overlaps the span of line 2"),
        (["d1\tx\t6\tLOC"], "start is 'x', not a position"),
        (["d1\t6\t4\tLOC"], "before it starts"),
        (["d1"], "the line has no start"),
    ],
)
def test_curate_refuses_decisions(tmp_path: Path, lines: list[str], message: str):
    with pytest.raises(CluevalError, match=message):
        decided(tmp_path, *lines)


def test_curate_refuses_a_table_of_decisions_without_its_columns(tmp_path: Path):
    path = tmp_path / "decisions.tsv"
    path.write_text("document\tstart\n")

    with pytest.raises(CluevalError, match="no column 'end_inclusive'"):
        curate({"A": A, "B": B}, decisions=path)


def chosen(tmp_path: Path, *rows: tuple[Any, ...], **options: Any) -> list[Curated]:
    """What is curated with these lines: document, start, last position, spans of the annotators, choice, reviewer."""
    path = tmp_path / "decisions.json"
    lines = [
        {
            "document": name,
            "start": start,
            "end_inclusive": last,
            "fingerprint": spans_of(readings),
            "choice": choice,
            "reviewer": reviewer,
        }
        for name, start, last, readings, choice, reviewer in rows
    ]
    path.write_text(json.dumps(lines))
    return list(curate({"A": A, "B": B, "C": C}, decisions=path, **options))


AT_D1 = {"A": ((4, 6, "LOC"),), "B": ((4, 7, "LOC"),), "C": ()}


@pytest.mark.parametrize(
    ("choice", "expected"),
    [("A", [(0, 2, "PER"), (4, 6, "LOC")]), ("none", [(0, 2, "PER")]), ("", [(0, 2, "PER")])],
)
def test_curate_keeps_the_spans_of_the_annotator_that_is_chosen(
    tmp_path: Path, choice: str, expected: list[tuple[int, int, str]]
):
    curated = chosen(tmp_path, ("d1", 4, 6, AT_D1, choice, ""))

    assert kept(curated)["d1"] == expected
    assert len(listed(curated, "undecided")) == 1 + (choice == "")


def test_curate_warns_of_decisions_that_are_stale_or_lost(tmp_path: Path):
    changed = AT_D1 | {"C": ((5, 6, "LOC"),)}

    with pytest.warns(CluevalWarning, match="decisions: 0 used, 1 stale, 1 lost, 0 in conflict"):
        curated = chosen(tmp_path, ("d1", 4, 6, changed, "A", ""), ("d9", 4, 6, AT_D1, "A", ""))

    assert kept(curated) == kept(list(curate({"A": A, "B": B, "C": C})))


def test_curate_raises_an_error_for_conflicts_unless_one_choice_is_wanted(tmp_path: Path):
    rows = [("d1", 4, 6, AT_D1, name, reviewer) for name, reviewer in (("A", "Ada"), ("B", "Eve"))]

    with pytest.raises(CluevalError, match=r"chosen differently at 1 place: d1 4-6: A .Ada., B .Eve."):
        chosen(tmp_path, *rows)
    assert kept(chosen(tmp_path, *rows, conflicts="last"))["d1"] == [(0, 2, "PER"), (4, 7, "LOC")]


def test_curate_reads_what_the_page_of_errors_exports_if_the_annotators_are_its_sides(tmp_path: Path):
    rows = [(4, 6, "gold", "predicted"), (8, 8, "gold", "both")]
    gold = [document("d", 9, (4, 6, "LOC"), (8, 9, "PER"))]
    predicted = [document("d", 9, (4, 7, "LOC"), (8, 9, "ORG"))]
    names = ("document", "start", "end_inclusive", "fingerprint")
    places = [[place.key[name] for name in names] for place in errors(gold, predicted)]
    path = tmp_path / "decisions.tsv"
    lines = ["\t".join(map(str, (*place, choice))) for place, (*_, choice) in zip(places, rows, strict=True)]
    path.write_text("\n".join(["document\tstart\tend_inclusive\tfingerprint\tchoice", *lines]))

    curated = list(curate({"gold": gold, "predicted": predicted}, decisions=path))

    assert kept(curated) == {"d": [(4, 7, "LOC"), (8, 9, "ORG"), (8, 9, "PER")]}


@pytest.mark.parametrize("name", ["none", "both", "unclear", "annotation"])
def test_curate_refuses_annotators_with_the_name_of_a_choice(tmp_path: Path, name: str):
    (tmp_path / "d.json").write_text("[]")

    with pytest.raises(CluevalError, match=f"an annotator is called '{name}'"):
        curate({"A": A, name: B}, decisions=tmp_path / "d.json")
    with pytest.raises(CluevalError, match=f"an annotator is called '{name}'"):
        agree({"A": A, name: B}).write_page(tmp_path / "page.html")
    assert not (tmp_path / "page.html").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"votes": 0}, "votes cannot be 0"),
        ({"votes": "most"}, "votes cannot be 'most'"),
        ({"votes": 2, "union": True}, "votes and union cannot be used together"),
        ({"decisions": "no-such-file"}, "No such file|no such file"),
        ({"decisions": 3}, "decisions must be"),
        ({"decisions": [], "conflicts": "none"}, "conflicts cannot be 'none'"),
        ({"nothing": 1}, "curate has no option 'nothing'"),
    ],
)
def test_curate_refuses(options: dict[str, Any], message: str):
    with pytest.raises(CluevalError, match=message):
        curate({"A": A, "B": B}, **options)
