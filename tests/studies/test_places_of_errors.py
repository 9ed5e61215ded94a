"""Errors, place by place: the spans of today's rows, their numbers, forms and files."""

from __future__ import annotations

import csv
import pickle
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

import clueval
from clueval.core.document import Document, Pair, Sentence
from clueval.core.span import Span
from clueval.files.errors import LimitError, OverlapError, SpanError, UsageError
from clueval.metrics.fair import Fair
from clueval.reports.place import KEY_COLUMNS
from clueval.studies.errors.noisy import NoisyErrors
from clueval.studies.errors.report import Errors
from clueval.studies.errors.rows import error_table
from clueval.studies.errors.search import FAIR_TYPES, Choice
from tests.cases import spans
from tests.readings import pairs_in_files
from tests.reports.views import GOLD, LAYERS, PREDICTED, page

TOKENS = ["der", "Frau", "Anna", "Weiß", "aus", "Ulm", "und", "Bonn"]


def pair(gold: str, predicted: str, tokens: list[str] | None = None) -> Pair:
    words = TOKENS if tokens is None else tokens
    return Pair(*(Document("d", {"label": spans(side)}, tokens=words) for side in (gold, predicted)))


ONE = pair("PER[2,4) LOC[5,6) LOC[7,8)", "PER[1,4) ORG[5,6) LOC[7,8)")


def row_of(report: Errors, number: int = 0) -> dict[str, Any]:
    return report.rows()[number]


# --- by hand


def test_a_row_has_the_span_and_all_that_overlaps_it() -> None:
    sentences = [Sentence(0, 4, "s1"), Sentence(4, 8, "s2")]
    sides = [
        Document(
            "d",
            {"label": side},
            tokens=TOKENS,
            sentences=sentences,
            token_ids=list("abcdefgh"),
            lines=range(10, 18),
            file="x.vrt",
            metadata={"year": "1999"},
        )
        for side in (spans("PER[1,5)"), spans("PER[2,4) LOC[4,6)"))
    ]
    row = row_of(Errors([[Pair(*sides)]], Choice(sides=("gold",))))

    assert row["document"] == "d"
    assert (row["start"], row["end_inclusive"], row["span_start"], row["span_end_inclusive"]) == (1, 5, 1, 4)
    assert (row["side"], row["class"], row["reason"], row["label"]) == ("gold", "partial", "boundary", "PER")
    assert (row["first_token_id"], row["last_token_id"]) == ("b", "e")
    assert (row["other_text"], row["other_label"]) == ("Anna Weiß | aus Ulm", "PER | LOC")
    assert (row["other_start"], row["other_end_inclusive"]) == (2, 5)
    assert (row["other_first_token_id"], row["other_last_token_id"]) == ("c", "f")
    assert (row["sentence"], row["file"], row["line"], row["year"]) == ("s1 | s2", "x.vrt", 11, "1999")
    assert row["context"] == "der 🟥Frau🟥 🟩Anna Weiß🟩 🟩aus🟩 🟧Ulm🟧 und Bonn"


def test_a_place_joins_what_overlaps_and_its_spans_are_marked_once() -> None:
    first, second = Errors([[ONE]])

    assert first.at == ("d", "label", 1, 4)
    assert [(line.label, line.words) for line in first.lines] == [
        ("PER", "too long"),
        ("PER", "predicted too long"),
    ]
    assert [(mark.kind, first.texts[0].text[mark.start : mark.end]) for mark in first.texts[0].marks] == [
        (0, "Anna Weiß"),
        (1, "Frau Anna Weiß"),
    ]
    assert second.at == ("d", "label", 5, 6)
    assert {line.words for line in second.lines} == {"other label"}


@pytest.mark.parametrize(
    ("gold", "predicted", "words"),
    [
        ([Span(0, 4, "A", parts=((0, 2), (3, 4)))], [Span(0, 4, "A")], ["predicted too long", "too long"]),
        ([Span(0, 4, "A")], [Span(0, 4, "A", parts=((0, 2), (3, 4)))], ["predicted too short", "too short"]),
        ([Span(0, 8, "A"), Span(1, 6, "A")], [Span(2, 5, "A")], [*["predicted too short"] * 2, "too short"]),
        (
            [Span(0, 2, "A"), Span(3, 5, "A")],
            [Span(0, 5, "A")],
            [*["predicted too long"] * 2, "joins several"],
        ),
    ],
    ids=["gap in gold", "gap in predicted", "within nested spans", "over two spans"],
)
def test_both_sides_of_a_boundary_say_the_same(
    gold: list[Span], predicted: list[Span], words: list[str]
) -> None:
    texts = [Document("d", {"x": side}, tokens=["w"] * 9) for side in (gold, predicted)]
    [place] = Errors([[Pair(*texts)]])

    assert sorted(line.words for line in place.lines) == sorted(words)


def test_a_row_that_shows_many_nested_spans_shows_the_first_fifty() -> None:
    words = ["w"] * 100
    predicted = " ".join(f"B[{n},100)" for n in range(60))
    (row, *_) = Errors([[pair("A[0,99)", predicted, words)]], Choice(sides=("gold",))).rows()

    assert len(row["other_label"].split(" | ")) == 50
    assert row["class"] == "superset"


def test_spans_of_zero_length_are_marked() -> None:
    row = row_of(Errors([[pair("A[2,2)", "")]]))

    assert (row["span_start"], row["span_end_inclusive"]) == (2, 1)
    assert "🟥🟥" in row["context"]


def test_errors_above_a_level_need_spans_that_do_not_overlap() -> None:
    with pytest.raises(OverlapError, match=r"document 'd'.*'levels' cannot count") as raised:
        list(Errors([[pair("A[0,4) A[2,6)", "A[0,4) A[2,6)")]], Choice(level=2)))
    assert raised.value.document == "d"


def test_a_labelled_layer_that_never_occurs_is_an_error() -> None:
    with pytest.raises(UsageError, match=r"there is no layer 'risk'.*one of label"):
        list(Errors([[ONE]], Choice(labelled="risk")))


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"level": 5}, "no level 5"),
        ({"labelled": "a", "unlabelled": True}, "labelled or unlabelled"),
        ({"sides": ("silver",)}, "no side 'silver'"),
        ({"kinds": frozenset(["wrong"])}, "no class 'wrong'"),
        ({"sides": ("gold",), "reasons": frozenset(["spurious"])}, "no gold span is spurious"),
        ({"level": 2, "kinds": frozenset(["superset"])}, "no error at level 2 has the class 'superset'"),
        ({"window": -1}, "window cannot be -1"),
    ],
)
def test_choices_that_no_error_can_meet_are_refused(options: dict[str, Any], problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        Choice(**options)


# --- the report


def test_text_has_counts_then_twenty_places_then_how_many_more() -> None:
    text = Errors([[each] for each in pairs_in_files(GOLD, PREDICTED, LAYERS)]).render(all=True)

    verdict, blocks = text.splitlines()[1], text.split("\n\n")[5:]
    # organisation has 19 gold and 18 predicted spans, and 11 of them are right: 22/37
    assert verdict == "entity: F1 81.60: of 83 errors 54 are boundaries; weakest label: organisation"
    assert text.splitlines()[2].startswith("(59.46); risk: ")
    assert len(blocks) == 21
    assert blocks[0].splitlines() == [
        "a001 entity 21–23",
        "    der {Frau [Hannelore Tiedgen]} , Lindenhof 7 , 00417 Wiesenbrück ,",
        "  predicted person “Frau Hannelore Tiedgen” too long token 21–23 · line 36 · class partial (no level)",
        "  gold person “Hannelore Tiedgen” predicted too long token 22–23 · line 37 · class superset (level 2)",
    ]
    assert blocks[-1].startswith("52 more places: -o x.html")


def test_a_function_is_called_for_each_reading() -> None:
    report = Errors(lambda: iter([[ONE]]))

    assert len(list(report)) == 2
    assert len(report.rows()) == 4


def test_the_result_that_is_given_is_shown_and_pairs_may_lack_what_is_right() -> None:
    sides = [
        [Document("d", {"x": spans(text)}, tokens=["w"] * 9)] for text in ("A[0,1) A[2,3)", "A[0,1) A[2,4)")
    ]
    wrong = [Document("d", {"x": each[0].layers["x"][1:]}, tokens=["w"] * 9) for each in sides]
    given = Errors([[Pair(*wrong)]], scored=lambda system: clueval.score(*sides, metrics="exact"))

    assert given.verdict() == "F1 50.00: of 2 errors 2 are boundaries"
    assert "9 positions" in list(given.facts())
    assert given.signature.startswith("metrics:exact|")


def test_files_have_the_key_of_the_place_and_the_range_of_the_span(tmp_path: Path) -> None:
    report = Errors([[ONE]])
    report.write(tmp_path / "errors.tsv")
    rows = list(csv.DictReader(StringIO((tmp_path / "errors.tsv").read_text("utf-8")), delimiter="\t"))

    assert [row["fingerprint"] for row in rows] == [
        place.fingerprint for place in report for _ in place.findings
    ]
    assert list(rows[0])[: len(KEY_COLUMNS)] == list(KEY_COLUMNS)
    assert (rows[1]["start"], rows[1]["span_start"]) == ("1", "2")


def test_no_errors_are_a_header_and_a_sentence(tmp_path: Path) -> None:
    report = clueval.errors(GOLD, GOLD, layers={"entity": 2})
    report.write(tmp_path / "errors.tsv")

    assert (tmp_path / "errors.tsv").read_text("utf-8").count("\n") == 1
    assert report.verdict() == "F1 100.00"  # and no label is the weakest
    agreement = clueval.agree({"a": GOLD, "b": GOLD}, layers={"entity": 2})
    assert agreement.verdict() == "Mean F1 of pairs 100.00, alpha 1.000"
    assert report.rows() == []


def test_a_page_in_german_has_german_tables_and_places_also_after_english() -> None:
    report = Errors([[ONE]])
    assert "too long" in report.render()
    assert "zu lang" in report.render(lang="de")
    written = page(report, lang="de")

    assert "F1 33,33: von 4 Fehlern 2 Grenzen" in written
    assert "zu lang" in written
    assert "anderes Label" in written
    assert "Gefunden als" in written


def test_merged_layers_have_a_table_for_each_and_a_column_for_each() -> None:
    sides = [
        Document("d", {"e": [Span(1, 2, {"e": label})], "r": [Span(1, 2, {"r": "high"})]}, tokens=TOKENS)
        for label in ("PER", "LOC")
    ]
    report = Errors([[Pair(*sides)]], Choice(merge=True))
    row = row_of(report)

    assert (row["label"], row["label e"], row["label r"]) == ("PER|high", "PER", "high")
    assert (row["other_label e"], row["layer"]) == ("LOC", "merged")


def test_errors_of_fair_have_its_rates_and_types() -> None:
    report = Errors([[ONE]], Choice(fair=Fair()))
    metrics = clueval.score(GOLD, PREDICTED, layers=LAYERS, metrics="fair").metrics["fair"]
    sample = Errors([[each] for each in pairs_in_files(GOLD, PREDICTED, LAYERS)], Choice(fair=Fair()))

    assert [row["class"] for row in report.rows()] == ["BEL", "LE"]
    assert sum(sample.scores().values()) == sum(
        sum(each["overall"]["fair"][kind] for kind in FAIR_TYPES) for each in metrics.values()
    )
    assert f"F1 {100 * metrics['entity']['overall']['fair']['f1']:.2f}" in sample.verdict()
    assert [row["class"] for row in Errors([[ONE]], Choice(fair=Fair(), kinds=frozenset(["LE"]))).rows()] == [
        "LE"
    ]


def test_places_can_be_pickled_and_compared() -> None:
    place, other = list(Errors([[ONE]]))

    assert pickle.loads(pickle.dumps(place)) == place != other


def test_too_many_pairs_that_overlap_are_an_error_that_names_the_document() -> None:
    nested = [Span(n, 1200 - n, "A") for n in range(560)]
    sides = [
        Document("long", {"x": spans}, tokens=["w"] * 1200) for spans in (nested, [*nested, Span(0, 9, "B")])
    ]

    with pytest.raises(LimitError, match="document 'long'"):
        list(Errors([[Pair(*sides)]]))


def test_predicted_spans_beside_the_text_are_places_without_a_text() -> None:
    lost = [Document("d", {"label": side}) for side in ([], spans("PER[0,4)"))]
    report = Errors([[ONE], [Pair(*lost, beside=True)]])
    *_, place = report

    assert (place.at, place.texts[0].text) == (("d", "label", 0, 4), "")
    assert report.counts()["predicted"]["spurious"] == 1
    assert next(iter(report.facts())) == "1 document"


# --- error_table


def test_a_row_is_a_dictionary_with_attributes() -> None:
    own = Document("d", {"label": [Span(1, 3, "PER")]}, tokens=TOKENS)
    other = Document("d", {"label": [Span(0, 2, "LOC")]}, tokens=TOKENS)
    (row,) = error_table(own.layers["label"], own, other)

    assert (row.side, row.kind, row["class"], row.reason) == ("", "partial", "partial", "boundary+label")
    assert (row.labels, row.found, row.other_labels) == ({"label": "PER"}, {}, ({"label": "LOC"},))
    again = pickle.loads(pickle.dumps(row))
    assert (again, again.labels) == (row, row.labels)


def test_wrong_arguments_of_error_table_are_refused() -> None:
    own = Document("d", {"label": []}, tokens=TOKENS)
    with pytest.raises(UsageError, match="no layer 'risk'"):
        error_table([], own, own, layer="risk")
    with pytest.raises(UsageError, match="window cannot be -1"):
        error_table([], own, own, window=-1)
    with pytest.raises(SpanError, match="lies outside the text"):
        list(error_table([Span(2, 9, "A")], own, own))


# --- metric noisy

OWN = Document(
    "1", {"x": [Span(0, 7, "PER"), Span(14, 20, "OCC")]}, text="Tolkien was a writer .", unit="character"
)
OTHER = Document("1", {"x": [Span(0, 9, "PER")]}, text="Tolkieene xas writear ,.", unit="character")


def test_what_differs_is_marked_in_both_texts() -> None:
    report = NoisyErrors([[Pair(OWN, OTHER)]])
    first, second_place = report

    assert [text.text for text in first.texts] == ["Tolkien", "Tolkieene"]
    assert sum(mark.end - mark.start for mark in first.texts[1].marks) == 2
    assert first.lines[0].note == "matched distance 2 / 7 = 28.57 %"
    assert second_place.lines[0].words == "no counterpart"
    assert report.verdict() == "1 of 2 gold spans matched"


def test_page_and_text_have_the_numbers_by_label() -> None:
    report = NoisyErrors([[Pair(OWN, OTHER)]])

    assert "x: gold spans by label" in report.render()
    assert "kein Gegenstück" in page(report, lang="de")


@pytest.mark.parametrize(("where", "starts"), [([], [0, 14]), (["x=PER"], [0])])
def test_filters_choose_documents_and_labels_of_noisy_texts(where: list[str], starts: list[int]) -> None:
    sides = [[replace(side, id=name, metadata={"domain": name}) for name in "ab"] for side in (OWN, OTHER)]

    found = clueval.errors(*sides, metric="noisy", where=["domain=a", *where])

    assert [place.at[::2] for place in found] == [("a", start) for start in starts]
