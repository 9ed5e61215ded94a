"""Decisions about leaks: what is set apart, and the figures as reviewed."""

from __future__ import annotations

import json
import pickle
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import clueval
from clueval import CluevalWarning, Document, MaskingReport, Span, UsageError
from clueval.reports.place import Place, fingerprint
from clueval.studies.decisions import COLUMNS, Decision, PlaceDecisions, read_decisions
from clueval.studies.masking.report import ReviewedMasking
from tests.masking_cases import MASKED, gold_document, masked_document

OZ = fingerprint(
    [("gold", ((22, 29),), "PER"), ("predicted", ((22, 26),), "MASK"), ("predicted", ((28, 30),), "MASK")]
)
WEISS = fingerprint([("gold", ((31, 35),), "PER")])
PLACES = {"Öz": (22, 28, OZ), "Weiß": (31, 34, WEISS)}


def line(name: str, choice: str, reviewer: str = "anna", **more: Any) -> dict[str, Any]:
    start, last, spans = PLACES[name]
    values = ("d", "label", start, last, spans, choice, "", reviewer, "2025-01-01T10:00:00Z")
    return {**dict(zip(COLUMNS, values, strict=True)), **more}


def written(folder: Path, *rows: dict[str, Any], name: str = "decisions.json") -> Path:
    path = folder / name
    path.write_text(json.dumps(rows), encoding="utf-8")
    return path


def report(
    decisions: Path | Sequence[Path] | None, masked: Sequence[tuple[int, int]] = MASKED, **settings: Any
) -> MaskingReport:
    return clueval.masking([gold_document()], [masked_document(masked)], decisions=decisions, **settings)


def row(found: MaskingReport, metric: str = "reviewed", kind: str = "all") -> dict[str, Any]:
    classes: dict[str, Any] = found.to_dict()["metrics"][metric]["label"]["classes"][kind]
    return classes


@pytest.mark.parametrize(
    ("choices", "expected"),
    [
        (  # Ö may be read: 3 of 4 mentions, 2 of 3 entities (e1 is masked in part), the second Weiß of 5 words
            {"Öz": "harmless"},
            {"mentions": 4, "protected": 3, "partial": 0, "missed": 1, "entities": 3, "entities_protected": 2}
            | {"entities_in_part": 1, "words": 5, "words_exposed": 1, "characters": 18}
            | {"characters_exposed": 4, "documents": 1, "documents_exposed": 1},
        ),
        (  # the second Weiß is no mention: the first is all of e1
            {"Weiß": "annotation"},
            {"mentions": 3, "protected": 2, "partial": 1, "missed": 0, "entities": 3, "entities_protected": 2}
            | {"entities_in_part": 0, "words": 4, "words_exposed": 1, "characters": 14}
            | {"characters_exposed": 1, "documents": 1, "documents_exposed": 1},
        ),
        (
            {"Öz": "harmless", "Weiß": "annotation"},
            {"mentions": 3, "protected": 3, "partial": 0, "missed": 0, "entities": 3, "entities_protected": 3}
            | {"entities_in_part": 0, "words": 4, "words_exposed": 0, "characters": 14}
            | {"characters_exposed": 0, "documents": 1, "documents_exposed": 0},
        ),
        (  # these are leaks as before
            {"Öz": "leak", "Weiß": "unclear"},
            {"mentions": 4, "protected": 2, "partial": 1, "missed": 1, "entities": 3, "entities_protected": 1}
            | {"entities_in_part": 1, "words": 5, "words_exposed": 2, "characters": 18}
            | {"characters_exposed": 5, "documents": 1, "documents_exposed": 1},
        ),
    ],
)
def test_figures_as_reviewed_are_those_worked_by_hand(
    tmp_path: Path, choices: dict[str, str], expected: dict[str, int]
) -> None:
    found = report(written(tmp_path, *(line(*one) for one in choices.items())))

    assert {name: row(found)[name] for name in expected} == expected
    assert row(found, "masking") == row(report(None), "masking")


def test_what_is_masked_and_string_leaks_stay_as_counted(tmp_path: Path) -> None:
    found = report(written(tmp_path, line("Öz", "harmless"), line("Weiß", "annotation"))).to_dict()["metrics"]

    for name in ("precision", "string_leaks"):
        assert found["reviewed"]["label"][name] == found["masking"]["label"][name]


def test_leaks_that_are_none_are_listed_apart(tmp_path: Path) -> None:
    found = report(written(tmp_path, line("Öz", "harmless", comment="an abbreviation")))

    assert [leak.start for leak in found.leaks] == [31]
    assert [leak.start for leak in found.set_apart] == [22]
    first, apart = found.places()
    assert (first.at[2], apart.at[2]) == (31, 22)
    assert apart.decision == {"choice": "harmless", "comment": "an abbreviation", "reviewer": "anna"}
    assert "as reviewed, 1 of 1 document leaks; " in str(found)
    (row,) = found.to_dict()["set_apart"]
    assert row["fingerprint"] == OZ
    assert (row["choice"], row["state"], row["reviewer"]) == ("harmless", "decided", "anna")


def test_facts_have_the_numbers_decided_and_the_reviewers(tmp_path: Path) -> None:
    rows = [line("Öz", "harmless"), line("Weiß", "leak", "bob"), line("Weiß", "leak", "eve")]

    one, several = ([*report(written(tmp_path, *own)).remarks()][2] for own in (rows[:1], rows))

    assert one == "decisions: 1 of 2 places decided (1 harmless), 1 not decided; reviewers: anna"
    assert several == (
        "decisions: 2 of 2 places decided (1 leak, 1 harmless), 0 not decided; reviewers: anna, bob, eve"
    )


def test_a_decision_is_stale_if_more_of_the_mention_can_be_read(tmp_path: Path) -> None:
    path = written(tmp_path, line("Öz", "harmless"))

    with pytest.warns(CluevalWarning, match="0 used, 1 stale, 0 lost"):
        found = report(path, [(0, 9), (22, 26), (45, 49)])

    assert row(found) == row(found, "masking")
    assert [(place.at[2], place.decision["choice"]) for place in found.places()] == [
        (31, ""),
        (22, "stale: harmless"),
    ]


def test_decisions_of_another_corpus_are_lost_and_nothing_is_applied(tmp_path: Path) -> None:
    rows = [line(name, "harmless", document="other") for name in PLACES]

    with pytest.warns(CluevalWarning, match="0 used, 0 stale, 2 lost"):
        found = report(written(tmp_path, *rows))

    assert row(found) == row(found, "masking")
    assert not found.set_apart
    assert found.to_dict()["decisions"] == {
        "places": 2,
        "decided": 0,
        "undecided": 2,
        "stale": 0,
        "conflict": 0,
        "lost": 2,
        "choices": {"leak": 0, "harmless": 0, "annotation": 0, "unclear": 0},
        "reviewers": [],
    }


def test_decisions_about_a_document_whose_id_another_one_has_are_an_error(tmp_path: Path) -> None:
    gold, masked = ([document] * 2 for document in (gold_document(), masked_document()))
    others = [gold_document("e")] * 2, [masked_document(id="e")] * 2
    path = written(tmp_path, line("Weiß", "harmless"))

    with pytest.raises(UsageError, match="2 documents have the id 'd', by which decisions name a document"):
        clueval.masking(gold, masked, decisions=path)
    with pytest.raises(UsageError, match="2 documents have the id 'd'"):
        list(
            clueval.errors(
                gold, masked, decisions=written(tmp_path, line("Weiß", "gold"), name="errors.json")
            )
        )
    with pytest.warns(CluevalWarning, match="1 lost"):
        assert len(clueval.masking(*others, decisions=path).leaks) == 4


def test_conflicts_are_an_error_or_settled_in_any_order_of_files(tmp_path: Path) -> None:
    one = written(tmp_path, line("Öz", "harmless"), name="a.json")
    other = written(tmp_path, line("Öz", "leak", "bob", time="2025-01-02T10:00:00Z"), name="b.json")

    for files in ([one, other], [other, one]):
        with pytest.raises(UsageError, match=r"differently at 1 place: d 22-28: harmless \(anna\), leak"):
            report(files)
        for conflicts, protected in (("first", 3), ("last", 2), ("drop", 2)):
            found = report(files, conflicts=conflicts)
            assert row(found)["protected"] == protected
            assert found.to_dict()["decisions"]["conflict"] == (conflicts == "drop")


def test_the_signature_has_the_fingerprint_of_the_file(tmp_path: Path) -> None:
    one = written(tmp_path, line("Öz", "harmless"))
    other = written(tmp_path, line("Weiß", "leak"), name="b.json")

    expected = sha256(one.read_bytes()).hexdigest()[:12]
    assert report(one).signature.choices["reviewed"] == expected
    assert f"|reviewed:{expected}|" in str(report(one))
    assert "reviewed" not in report(None).signature.choices
    assert report(one).signature.choices["metrics"] == report(None).signature.choices["metrics"]
    both = {report(files).signature.choices["reviewed"] for files in ([one, other], [other, one], tmp_path)}
    assert len(both) == 1
    assert both != {expected}
    assert report(one, conflicts="last").signature.choices["reviewed"] == f"{expected},last"


def test_limits_are_for_the_figures_as_counted_unless_as_reviewed(tmp_path: Path) -> None:
    found = report(written(tmp_path, line("Öz", "harmless"), line("Weiß", "annotation")))

    assert found.failures("entity_recall[high]=1") == ["entity_recall[high] is 0, under 1"]
    assert found.failures("entity_recall[high]=1", reviewed=True) == []
    with pytest.raises(UsageError, match="no decisions were given"):
        report(None).failures("entity_recall=1", reviewed=True)


def test_a_decision_on_words_of_a_mention_is_stale_where_other_words_stand(tmp_path: Path) -> None:
    one, other = (
        Document(
            "d",
            {"label": [Span(0, 6, "PER"), Span(7, 13, "PER")]},
            text=f"Merian Becker {name}",
            unit="character",
        )
        for name in ("Becker", "Merian")
    )
    masks = [[(0, 6, "MASK"), (7, 13, "MASK")]]
    (leak,) = clueval.masking([one], masks).string_leaks
    row = line("Öz", "harmless", start=14, end_inclusive=19, layer="*", fingerprint=leak.fingerprint)
    decisions = written(tmp_path, row)

    assert not clueval.masking([one], masks, decisions=decisions).string_leaks
    with pytest.warns(CluevalWarning, match="0 used, 1 stale"):
        assert clueval.masking([other], masks, decisions=decisions).string_leaks


def test_harmless_string_leaks_are_set_apart_and_others_stay(tmp_path: Path) -> None:
    document = Document("d", {"label": [Span(0, 4, "PER")]}, text="Weiß, Weiß, Weiß", unit="character")
    spans = fingerprint([("gold", [(0, 4)], "_")])
    rows = [
        line("Öz", choice, start=start, end_inclusive=start + 3, layer="*", fingerprint=spans)
        for start, choice in ((6, "harmless"), (12, "annotation"))
    ]

    found = clueval.masking([document], [document], decisions=written(tmp_path, *rows))

    metrics = found.to_dict()["metrics"]
    assert [metrics[name]["label"]["string_leaks"] for name in ("masking", "reviewed")] == [2, 1]
    assert [leak.start for leak in found.string_leaks] == [12]
    assert [leak.start for leak in found.set_apart] == [6]


def test_a_break_down_has_the_figures_as_reviewed(tmp_path: Path) -> None:
    path = written(tmp_path, line("Öz", "harmless"))
    found = report(path, by="document").to_dict()

    (group,) = found["by"]["document"].values()
    assert group["metrics"]["reviewed"] == found["metrics"]["reviewed"]


def test_the_metric_as_reviewed_can_be_sent_to_another_process(tmp_path: Path) -> None:
    sent = ReviewedMasking(decisions=read_decisions(written(tmp_path, line("Öz", "harmless"))))

    place = Place(("d", "label", 22, 29), OZ, (), ())
    assert pickle.loads(pickle.dumps(sent)).decisions.at(place).holds == "harmless"


def test_of_a_redacted_text_the_placeholders_are_in_the_fingerprint(tmp_path: Path) -> None:
    gold = Document("d", {"label": [Span(5, 17, "PER")]}, text="Frau Dr. Ada Weiß", unit="character")
    spans = fingerprint([("gold", ((5, 17),), "PER"), ("predicted", ((9, 17),), "[NAME]")])
    place = line("Öz", "harmless", start=5, end_inclusive=16, fingerprint=spans)

    found = clueval.masking(
        [gold], ["Frau Dr. [NAME]"], redacted=True, decisions=written(tmp_path, place)
    ).to_dict()

    assert [row["choice"] for row in found["set_apart"]] == ["harmless"]
    assert (
        found["metrics"]["reviewed"]["label"]["redacted"] == found["metrics"]["masking"]["label"]["redacted"]
    )


def test_annotators_have_places_of_their_own(tmp_path: Path) -> None:
    layers = {name: [Span(0, 4, "PER")] for name in ("anna", "bob")}
    gold = Document("d", layers, text="Weiß", unit="character")
    spans = fingerprint([("gold", ((0, 4),), "PER")])
    place = line("Öz", "harmless", layer="bob", start=0, end_inclusive=3, fingerprint=spans)

    found = clueval.masking(
        [gold],
        [Document("d", {"m": []}, text="Weiß", unit="character")],
        annotators="all",
        decisions=written(tmp_path, place),
    )

    assert [leak.annotator for leak in found.leaks] == ["anna"]
    assert [
        found.result.metrics[name]["annotators"]["classes"]["all"]["protected"]
        for name in ("masking", "reviewed")
    ] == [0, 1]


def test_the_table_has_every_leak_with_its_decision(tmp_path: Path) -> None:
    report(written(tmp_path, line("Öz", "harmless", comment="=1"))).write(tmp_path / "l.tsv")

    header, *rows = (each.split("\t") for each in (tmp_path / "l.tsv").read_text("utf-8").splitlines())
    cells = [dict(zip(header, each, strict=True)) for each in rows]
    assert [(each["start"], each["choice"]) for each in cells] == [("31", ""), ("22", "harmless")]
    assert cells[1]["comment"] == "'=1"


@given(
    st.lists(st.sampled_from(["", "leak", "harmless", "annotation", "unclear"]), min_size=6, max_size=6),
    st.lists(st.sampled_from([0, 2, 4]), min_size=6, max_size=6),
)
def test_as_reviewed_is_as_counted_without_wrong_mentions_and_with_harmless_ones_masked(
    choices: list[str], masked: list[int]
) -> None:
    """Six mentions of four letters, of which the first 0, 2 or 4 are masked."""
    text = "Anna Bert Cora Dirk Anna Bert"
    places = [(start, start + 4) for start in range(0, 30, 5)]
    masks = [Span(start, start + n, "M") for (start, _), n in zip(places, masked, strict=True) if n]
    rows = []
    for number, (start, end) in enumerate(places):
        spans = [("gold", ((start, end),), "PER")]
        spans += [("predicted", ((start, start + masked[number]),), "M")] * bool(masked[number])
        rows.append(Decision(("d", "x", start, end), fingerprint(spans), choices[number]))
    chosen = dict(zip(places, choices, strict=True))
    leaks = {place for place, n in zip(places, masked, strict=True) if n < 4}

    def counted(gold: list[Span], predicted: list[Span], **more: Any) -> Any:
        sides = (Document("d", {"x": spans}, text=text, unit="character") for spans in (gold, predicted))
        return clueval.masking(*([side] for side in sides), **more).to_dict()["metrics"]

    with TemporaryDirectory() as folder:
        decisions = written(Path(folder), *PlaceDecisions(rows).rows())
        found = counted([Span(*place, "PER") for place in places], masks, decisions=decisions)
    kept = [place for place in places if place not in leaks or chosen[place] != "annotation"]
    harmless = [Span(*place, "M") for place in leaks if chosen[place] == "harmless"]
    expected = counted([Span(*place, "PER") for place in kept], masks + harmless)

    assert found["reviewed"]["x"]["classes"] == expected["masking"]["x"]["classes"]
    assert found["reviewed"]["x"]["labels"] == expected["masking"]["x"]["labels"]
