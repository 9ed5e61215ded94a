"""One gold out of the spans of many annotators."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from strategies import at_most
from test_agree import A, B, C, document
from test_agree_properties import studies

from clueval import CluevalError, CluevalWarning, Document, Span, agree, curate, errors
from clueval.core.document import Pair
from clueval.reports.place import fingerprint
from clueval.studies.agreement.curation import Curated
from clueval.studies.errors.report import Errors


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


@pytest.mark.parametrize("options", [{}, {"votes": 2}, {"union": True}])
def test_curate_keeps_a_document_of_only_one_annotator_as_it_is(options: dict[str, Any]):
    spans = [Span(0, 2, "A", {"f": 1}), Span(0, 2, "A", {"f": 2}), Span(1, 3, "A", {"f": 1})]
    alone = Document("alone", {"x": spans, "y": []}, tokens=["w"] * 4)

    *_, curated = curate({"A": [*A, alone], "B": B, "C": C}, **options)

    assert curated == Curated(alone)


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


def test_curate_warns_if_no_document_is_shared():
    with pytest.warns(CluevalWarning, match="no document is shared by two annotators, so that each is kept"):
        assert len(list(curate({"A": [document("x", 3)], "B": [document("y", 4)]}))) == 2


def test_texts_of_an_annotator_who_has_other_ids_are_refused():
    sources = {"A": [document("d", 3)], "B": [document("e", 3)], "C": [document("d", 3)]}

    for study in (agree, lambda sources: list(curate(sources))):
        with pytest.raises(CluevalError, match=r"shares no document .* pair_by='content' pairs equal texts"):
            study(sources)


def test_curated_spans_have_the_features_that_all_agree_on():
    sides = {
        name: [
            Document(
                "d", {"label": [Span(0, 3, "PER", {"id": "Q1", "sure": name})]}, text="Ada", unit="character"
            )
        ]
        for name in "AB"
    }
    curation = curate(sides)

    (curated,) = curation

    assert curated.document.layers["label"][0].features == {"id": "Q1"}
    assert curation.read.passed_over == {("", "features that differ"): 1}


def test_curate_keeps_the_order_of_the_first_annotators_documents():
    a, b, c = (f"d{n}" for n in range(3)), ("d3", "d1"), ("d3", "d2", "d4")
    sources = {name: [document(id_, 3) for id_ in ids] for name, ids in (("A", a), ("B", b), ("C", c))}

    assert [each.document.id for each in curate(sources)] == ["d0", "d1", "d2", "d3", "d4"]


def test_the_table_of_undecided_places_is_read_as_decisions(tmp_path: Path):
    sources = {
        "A": [document("d", 20, (0, 16, "ORG"), (11, 16, "LOC"))],
        "B": [document("d", 20, (0, 16, "ORG"), (11, 16, "LOC"))],
        "C": [document("d", 20, (0, 16, "ORG"))],
    }
    (undecided,) = (place for each in curate(sources) for place in each.undecided)
    key = dict(zip(("document", "layer", "start", "end"), undecided.at, strict=True))
    line = {**key, "end_inclusive": undecided.end - 1, "fingerprint": undecided.fingerprint, "choice": "A"}
    (tmp_path / "d.json").write_text(json.dumps([line]))

    (curated,) = curate(sources, decisions=tmp_path / "d.json")

    assert kept([curated])["d"] == [(0, 16, "ORG"), (11, 16, "LOC")]
    assert curated.undecided == ()


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


def chosen(tmp_path: Path, *rows: tuple[Any, ...], **options: Any) -> list[Curated]:
    """What is curated with lines of document, start, last position, spans of the annotators, choice, reviewer, time."""
    path = tmp_path / "decisions.json"
    lines = [
        {
            "document": name,
            "start": start,
            "end_inclusive": last,
            "fingerprint": fingerprint(
                (by, ((begin, past),), label)
                for by, reading in readings.items()
                for begin, past, label in reading
            ),
            "choice": choice,
            "reviewer": reviewer,
            "time": "".join(time),
        }
        for name, start, last, readings, choice, reviewer, *time in rows
    ]
    path.write_text(json.dumps(lines))
    return list(curate({"A": A, "B": B, "C": C}, decisions=path, **options))


AT_D1 = {"A": ((4, 6, "LOC"),), "B": ((4, 7, "LOC"),), "C": ()}


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ("A", [(0, 2, "PER"), (4, 6, "LOC")]),
        ("none", [(0, 2, "PER")]),
        ("unclear", [(0, 2, "PER")]),
        ("", [(0, 2, "PER")]),
    ],
)
def test_curate_keeps_the_spans_of_the_annotator_that_is_chosen(
    tmp_path: Path, choice: str, expected: list[tuple[int, int, str]]
):
    curated = chosen(tmp_path, ("d1", 4, 6, AT_D1, choice, ""))

    assert kept(curated)["d1"] == expected
    assert len(listed(curated, "undecided")) == 1 + (choice in ("", "unclear"))


@pytest.mark.parametrize("union", [False, True])
def test_curate_keeps_at_an_unclear_place_only_what_all_have(tmp_path: Path, union: bool):
    nested = [(0, 9, "ORG"), (0, 2, "PER")]
    sources = {
        "A": [document("d", 9, *nested)],
        "B": [document("d", 9, *nested)],
        "C": [document("d", 9, (0, 9, "ORG"))],
    }
    [place] = agree(sources).disagreements()
    line = {"document": "d", "start": place.start, "end_inclusive": place.end - 1, "choice": "unclear"}
    (tmp_path / "d.json").write_text(json.dumps([line | {"fingerprint": place.fingerprint}]))

    curated = list(curate(sources, decisions=tmp_path / "d.json", union=union))

    assert kept(curated) == {"d": [(0, 9, "ORG")]}
    [left] = curated[0].undecided
    assert (left.at, left.fingerprint) == (place.at, place.fingerprint)


def test_curate_warns_of_decisions_that_are_stale_or_lost(tmp_path: Path):
    changed = AT_D1 | {"C": ((5, 6, "LOC"),)}

    with pytest.warns(CluevalWarning, match="decisions: 0 used, 1 stale, 1 lost, 0 in conflict"):
        curated = chosen(tmp_path, ("d1", 4, 6, changed, "A", ""), ("d9", 4, 6, AT_D1, "A", ""))

    assert kept(curated) == kept(list(curate({"A": A, "B": B, "C": C})))


def test_a_decision_is_lost_where_nothing_differs_any_longer_as_in_errors(tmp_path: Path):
    same = [document("d", 9, (0, 9, "ORG"), (4, 6, "LOC"))]
    path = tmp_path / "d.json"
    line = {"document": "d", "start": 0, "end_inclusive": 8, "fingerprint": "0" * 12, "choice": "gold"}
    path.write_text(json.dumps([line]))

    with pytest.warns(CluevalWarning, match="0 stale, 1 lost"):
        list(curate({"gold": same, "predicted": same}, decisions=path))
    with pytest.warns(CluevalWarning, match="0 stale, 1 lost"):
        errors(same, same, decisions=path).rows()


def test_curate_raises_an_error_for_conflicts_unless_one_choice_is_wanted(tmp_path: Path):
    rows = [("d1", 4, 6, AT_D1, name, reviewer) for name, reviewer in (("A", "Ada"), ("B", "Eve"))]

    with pytest.raises(CluevalError, match=r"chosen differently at 1 place: d1 4-6: A .Ada., B .Eve."):
        chosen(tmp_path, *rows)
    with pytest.raises(
        CluevalError, match=r"no time says which choice is the last: d1 4-6: A .Ada., B .Eve."
    ):
        chosen(tmp_path, *rows, conflicts="last")
    timed = [(*row, time) for row, time in zip(rows, ("1", "2"), strict=True)]
    assert kept(chosen(tmp_path, *timed, conflicts="last"))["d1"] == [(0, 2, "PER"), (4, 7, "LOC")]


def test_curate_reads_what_the_page_of_errors_exports_if_the_annotators_are_its_sides(tmp_path: Path):
    rows = [(4, 6, "gold", "predicted"), (8, 8, "gold", "both")]
    gold = [document("d", 9, (4, 6, "LOC"), (8, 9, "PER"))]
    predicted = [document("d", 9, (4, 7, "LOC"), (8, 9, "ORG"))]
    places = [
        (place.document, place.start, place.end - 1, place.fingerprint)
        for place in Errors([[Pair(*pair)] for pair in zip(gold, predicted, strict=True)])
    ]
    path = tmp_path / "decisions.tsv"
    lines = ["\t".join(map(str, (*place, choice))) for place, (*_, choice) in zip(places, rows, strict=True)]
    path.write_text("\n".join(["document\tstart\tend_inclusive\tfingerprint\tchoice", *lines]))

    curated = list(curate({"gold": gold, "predicted": predicted}, decisions=path))

    assert kept(curated) == {"d": [(4, 7, "LOC"), (8, 9, "ORG"), (8, 9, "PER")]}


def test_curate_keeps_gold_where_the_page_of_errors_decided_nothing(tmp_path: Path):
    gold = [document("d", 9, (4, 6, "LOC"), (8, 9, "PER"))]
    predicted = [document("d", 9, (4, 7, "LOC"), (8, 9, "ORG"))]
    (tmp_path / "none.json").write_text("[]")

    curated = list(curate({"gold": gold, "predicted": predicted}, decisions=tmp_path / "none.json"))

    assert kept(curated) == {"d": [(4, 6, "LOC"), (8, 9, "PER")]}
    assert len(listed(curated, "undecided")) == 2


@pytest.mark.parametrize(
    ("votes", "expected"),
    [(None, [(0, 9, "ORG"), (4, 6, "LOC")]), ("majority", [(0, 9, "ORG"), (10, 12, "PER")])],
)
def test_gold_stays_where_the_page_of_two_systems_decided_nothing_unless_votes_are_asked_for(
    tmp_path: Path, votes: str | None, expected: list[tuple[int, int, str]]
):
    gold = document("d", 12, (0, 9, "ORG"), (4, 6, "LOC"))
    system = document("d", 12, (0, 9, "ORG"), (10, 12, "PER"))
    (tmp_path / "none.json").write_text("[]")
    sources = {"gold": [gold], "one": [system], "two": [system]}

    curated = list(curate(sources, votes=votes, decisions=tmp_path / "none.json"))

    assert kept(curated) == {"d": expected}
    assert len(listed(curated, "undecided")) == (2 if votes is None else 0)


def test_a_place_that_votes_decide_in_part_is_listed_once_if_gold_stays(tmp_path: Path):
    gold = document("d", 9, (0, 3, "LOC"), (3, 6, "LOC"))
    one, two = document("d", 9, (0, 4, "PER"), (5, 8, "PER")), document("d", 9, (0, 4, "PER"))
    (tmp_path / "none.json").write_text("[]")

    curated = list(curate({"gold": [gold], "one": [one], "two": [two]}, decisions=tmp_path / "none.json"))

    assert kept(curated) == {"d": [(0, 3, "LOC"), (3, 6, "LOC")]}
    assert [(place.start, place.end) for each in curated for place in each.listed] == [(0, 6), (5, 8)]


@pytest.mark.parametrize("name", ["none", "both", "unclear", "annotation", "None", "UNCLEAR"])
def test_curate_refuses_annotators_with_the_name_of_a_choice(tmp_path: Path, name: str):
    (tmp_path / "d.json").write_text("[]")

    with pytest.raises(CluevalError, match=f"an annotator is called '{name}'"):
        curate({"A": A, name: B}, decisions=tmp_path / "d.json")
    with pytest.raises(CluevalError, match=f"an annotator is called '{name}'"):
        agree({"A": A, name: B}).write(tmp_path / "page.html")
    assert not (tmp_path / "page.html").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"votes": 0}, "votes cannot be 0"),
        ({"votes": "most"}, "votes cannot be 'most'"),
        ({"votes": 2, "union": True}, "union=True and votes=... cannot be used together"),
        ({"decisions": "no-such-file"}, "no-such-file: there is no such file"),
        ({"decisions": 3}, "decisions must be"),
        ({"decisions": [], "conflicts": "none"}, "conflicts cannot be 'none'"),
        ({"nothing": 1}, "curate has no option 'nothing'"),
    ],
)
def test_curate_refuses(options: dict[str, Any], message: str):
    with pytest.raises(CluevalError, match=message):
        curate({"A": A, "B": B}, **options)
