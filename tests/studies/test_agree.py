"""Annotators against each other: worked by hand, case by case, filters, intervals, and what is refused."""

from __future__ import annotations

import json
import pickle
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from clueval import CluevalError, Document, Span, agree, curate, read, score
from clueval.core.case import Case, same_key
from clueval.core.count import Plan, count
from clueval.core.document import Group
from clueval.core.metric import Tally
from clueval.files.errors import CluevalWarning, TextMismatch, UsageError
from clueval.statistics.jackknife import standard_error
from clueval.studies.agreement.conventions import chosen_conventions, kind_of, readings_of
from clueval.studies.agreement.metric import AgreementMetric
from tests.cases import spans

Row = tuple[int, int, str]


def document(name: str, length: int | None, *rows: Row | Span, layer: str = "label") -> Document:
    marked = [row if isinstance(row, Span) else Span(*row) for row in rows]
    return Document(name, {layer: marked}, tokens=None if length is None else ["t"] * length)


A = [document("d1", 10, (0, 2, "PER"), (4, 6, "LOC")), document("d2", 4, (1, 2, "PER"))]
B = [document("d1", 10, (0, 2, "PER"), (4, 7, "LOC")), document("d2", 4)]
C = [document("d1", 10, (0, 2, "ORG"))]
ABC = {"A": A, "B": B, "C": C}


def of(sources: Any, **options: Any) -> dict[str, Any]:
    report: dict[str, Any] = agree(sources, **options).to_dict()["agreement"]["label"]
    return report


# Worked by hand


def test_f1_by_hand() -> None:
    f1 = of(ABC)["f1"]["exact"]

    assert f1["matrix"] == [[None, 0.4, 0.0], [0.4, None, 0.0], [0.0, 0.0, None]]
    assert (f1["mean"], f1["pooled"], f1["pairs"]) == (pytest.approx(0.4 / 3), 2 / 11, 3)
    assert f1["sd"] == pytest.approx((8 / 225) ** 0.5)
    assert f1["per_label"]["PER"]["pooled"] == 2 / (3 + 1 + 1)


def test_coefficients_by_hand() -> None:
    positions = of(ABC)["coefficients"]["positions"]["all"]

    assert positions["kappa"]["matrix"][0][1] == 75 / 103
    assert positions["observed"]["matrix"][0][1] == 12 / 14
    assert positions["alpha"] == pytest.approx(1 - 37 * 12 / 714)
    assert (positions["items"], positions["fleiss_items"]) == (14, 10)


def test_unitizing_by_hand() -> None:
    units = of(ABC)["unitizing"]

    assert units["u"] == pytest.approx(1 - 12 / (38 - 38 * 678 / 1392))
    assert (round(units["u"], 4), round(units["binary"], 4), units["cu"]) == (0.3843, 0.5304, 0.375)
    assert units["cu_coverage"] == 8 / 38


def test_coverage_of_units_is_called_a_share_of_pairs_and_is_one() -> None:
    half, nothing = [document("d", 10, (0, 5, "PER"))], [document("d", 10)]
    study = agree({"A": half, "B": half, "C": nothing})  # 5 of 10 positions, at each 1 of 3 pairs: 1/6

    assert "share of pairs behind cuα" in study.render(all=True)
    assert "share of positions" not in study.render(all=True)
    assert of({"A": half, "B": half, "C": half})["unitizing"]["cu_coverage"] == 0.5
    unitizing = study.to_dict()["agreement"]["label"]["unitizing"]
    assert unitizing["cu_coverage"] == 1 / 6
    assert unitizing["per_label"]["PER"]["coverage"] == 0.5  # A and B each have one of two others


def test_disagreements_and_confusion_by_hand() -> None:
    study = agree(ABC)
    agreement = study.to_dict()["agreement"]["label"]

    assert agreement["disagreements"] == {
        "components": 3,
        "unanimous": 0,
        "kinds": {"boundary+missing": 1, "label": 1, "missing": 1},
        "boundary": {"start": 0, "end": 1, "both": 0, "split": 0},
    }
    assert agreement["confusion"] == {  # d1 [4,6): A-B, A-C; [4,7): A-B, B-C; d2 [1,2): A-B
        "LOC": {"_": 4},
        "ORG": {"PER": 2},
        "PER": {"ORG": 2, "PER": 2, "_": 1},
        "_": {"LOC": 4, "PER": 1},
    }
    assert [(each.document, each.start, each.end, each.kind, each.boundary) for each in study.places()] == [
        ("d1", 0, 2, "label", None),
        ("d1", 4, 7, "boundary+missing", "end"),
        ("d2", 1, 2, "missing", None),
    ]


def test_documents_that_one_annotator_has_alone_are_left_out() -> None:
    report = agree({"A": [*A, document("d3", 5, (0, 1, "X"))], "B": B, "C": C}).to_dict()

    assert (report["documents"], report["left_out"], report["tokens"]) == (2, 1, 14)
    assert report["common"] == [[2, 2, 1], [2, 2, 1], [1, 1, 1]]
    assert report["repaired_tags"] == {"A": 0, "B": 0, "C": 0}
    assert report["agreement"]["label"] == of(ABC)


def test_an_annotator_who_shares_no_document_is_noted_and_has_no_numbers() -> None:
    agreement = of({"A": A, "B": B, "C": [document("other", 3)]})

    assert agreement["notes"] == [
        "C shares no document with another annotator, so all its numbers are dashes"
    ]
    assert agreement["f1"]["exact"]["matrix"][0][2] is None
    shared = of({"A": [document("d", None)], "B": [document("d", None)]})["notes"]
    assert shared == [
        "1 document has no text, so positions outside of all spans are not counted",
    ]


def test_positions_outside_all_spans_count_where_the_text_is_known() -> None:
    rows = (0, 2, "X"), (1, 2, "X")
    texts = {
        name: [document("d", 10, row), document("e", None, (0, 20, "X"))]
        for name, row in zip("AB", rows, strict=True)
    }
    positions = of(texts)["coefficients"]["positions"]["all"]

    assert positions["items"] == 10 + 20
    assert positions["observed"]["mean"] == 29 / 30


def test_the_majority_is_what_more_than_half_of_the_others_have() -> None:
    everyone = of({"A": A[:1], "B": B[:1], "C": C, "D": A[:1]})["f1"]["exact"]["annotators"]

    assert everyone["C"]["majority"]["gold"] == 2  # PER of all others, LOC of A and D
    assert everyone["A"]["majority"] == {
        "precision": 0.5,
        "recall": 1.0,
        "f1": 2 / 3,
        "gold": 1,
        "predicted": 2,
        "tp_gold": 1,
        "fn": 0,
        "tp_predicted": 1,
        "fp": 1,
    }


LABELLED = ("exact", "muc_strict", "levels_1_labelled")
UNLABELLED = ("exact_unlabelled", "muc_exact", "levels_1_unlabelled")


def test_the_majority_by_hand_of_conventions_with_and_without_labels() -> None:
    sources = {
        "A": [document("d1", 9, (0, 2, "PER")), document("d2", 4, (1, 2, "PER"))],
        "B": [document("d1", 9, (0, 2, "ORG")), document("d2", 4, (1, 2, "PER"))],
        "C": [document("d1", 9, (0, 2, "ORG"), (4, 5, "LOC"))],
        "D": [document("d1", 9), document("d2", 4)],
    }
    system = [document("d1", 9, (0, 2, "ORG")), document("d2", 4, (1, 2, "PER"))]
    report = agree(sources, conventions=[*LABELLED, *UNLABELLED], system=system).to_dict()
    # Spans of gold, of the annotator, and equal ones. A: two of B, C and D have ORG, one of B and D has PER. B, C:
    # one of three has PER, one ORG, so two have the range. D: two of three have ORG, both others have PER.
    expected = {
        LABELLED: {"A": (1, 2, 0), "B": (0, 2, 0), "C": (0, 2, 0), "D": (2, 0, 0)},
        UNLABELLED: {"A": (1, 2, 1), "B": (1, 2, 1), "C": (1, 2, 1), "D": (2, 0, 0)},
    }
    of_system = {
        LABELLED: {"A": 2 / 3, "B": 0, "C": 0, "D": 1},
        UNLABELLED: {"A": 2 / 3, "B": 2 / 3, "C": 1, "D": 1},
    }

    for keys, by_name in expected.items():
        for key in keys:
            entries = report["agreement"]["label"]["f1"][key]["annotators"]
            found = {name: each["majority"] for name, each in entries.items()}
            assert {n: (e["gold"], e["predicted"], e["tp_gold"]) for n, e in found.items()} == by_name, key
            ceiling = report["ceiling"]["label"][key]["per_annotator"]
            assert {name: each["system_majority"] for name, each in ceiling.items()} == of_system[keys], key


def test_the_majority_of_copies_is_full_where_two_spans_have_the_same_range() -> None:
    twice = [document("d1", 9, (0, 2, "ORG"), (0, 2, "PER"))]
    found = of(dict.fromkeys("ABC", twice), conventions=["muc_type", "muc_exact", "exact_unlabelled"])["f1"]

    assert {key: each["annotators"]["A"]["majority"]["f1"] for key, each in found.items()} == {
        "muc_type": 1,
        "muc_exact": 1,
        "exact_unlabelled": 1,
    }


def test_the_system_stands_beside_the_annotators() -> None:
    ceiling = agree(ABC, system=A).to_dict()["ceiling"]["label"]["exact"]

    assert ceiling["per_annotator"]["B"]["system"] == 0.4
    assert ceiling["pairs"]["system"] == pytest.approx((1 + 0.4 + 0) / 3)
    assert ceiling["pairs"]["human"] == pytest.approx(0.4 / 3)
    assert ceiling["documents"] == 2


def test_a_system_that_joins_what_is_apart_changes_nothing_among_annotators() -> None:
    bridge = [document("d1", 10, (1, 5, "PER"), (8, 9, "PER")), document("d2", 4)]
    report = agree({"A": A, "B": B}, system=bridge).to_dict()

    assert report["agreement"]["label"] == of({"A": A, "B": B})


# Cases


def tally_of(metric: AgreementMetric, *sides: str | None) -> Tally:
    """The counts of one case; None: an annotator lacks the document."""
    made = tuple(None if text is None else tuple(spans(text)) for text in sides)
    return metric.count(Case(made, (None,) * len(made)))


@pytest.mark.parametrize(
    ("sides", "kind", "boundary"),
    [
        (("A[0,2)", "A[0,2)", None), "", None),
        (("A[0,2)", "B[0,2)"), "label", None),
        (("A[0,2)", "A[0,2)", ""), "missing", None),
        (("A[0,2)", "A[0,3)", ""), "boundary+missing", "end"),
        (("A[0,3)", "B[1,3)"), "boundary+label", "start"),
        (("A[0,3)", "A[1,4)"), "boundary", "both"),
        (("A[0,3)", "A[0,1) A[1,3)"), "boundary", "split"),
        (("A[0,3)", "A[0,1)[2,3)"), "boundary", "split"),
        (("A[0,3) B[0,3)", "A[0,3)"), "label", None),
        (("A[2,2)", "A[2,2)"), "", None),
    ],
)
def test_the_kind_of_a_case_joins_in_what_annotators_differ(
    sides: Sequence[str | None], kind: str, boundary: str | None
) -> None:
    made = tuple(None if text is None else tuple(spans(text)) for text in sides)
    readings = readings_of(made, 3)

    assert kind_of(readings) == (kind, boundary)
    assert kind_of(readings[::-1]) == (kind, boundary)


def test_votes_are_those_of_the_commonest_reading() -> None:
    marked, unmarked = [document("d", 9, (0, 2, "A"))], [document("d", 9)]
    (place,) = agree({"A": marked, "B": unmarked, "C": unmarked, "D": []}).disagreements()

    assert place.votes == 2


def test_equal_spans_of_an_annotator_count_once() -> None:
    metric = AgreementMetric(("A", "B"))

    assert tally_of(metric, "A[0,2) A[0,2)", "A[0,2)") == tally_of(metric, "A[0,2)", "A[0,2)")


def test_a_case_that_one_annotator_has_alone_counts_nothing() -> None:
    metric = AgreementMetric(("A", "B", "C"), system=True)

    assert tally_of(metric, None, "A[0,2)", None, "A[0,2)") == {}
    assert metric.count(Case((None, (), None), (None,) * 3, 1)) == {}


def test_a_position_outside_all_spans_is_an_item_of_those_who_are_present() -> None:
    metric = AgreementMetric(("A", "B", "C"))

    assert metric.count(Case(((), None, ()), (None,) * 3, 1)) == {
        ("pair", "positions", 0, 2, None, None, "all", 2): 1
    }


def test_a_position_outside_all_spans_is_counted_once_for_all() -> None:
    assert same_key(0b101) == (1, 1, 0b101)  # an annotator lacks the document
    sources = {"A": [document("d", 100_000, (5, 6, "X"))], "B": [document("d", 100_000, (5, 6, "X"))]}

    assert of(sources, conventions=["exact"])["coefficients"]["positions"]["all"]["items"] == 100_000


def test_the_positions_of_a_span_with_gaps_are_those_of_its_fragments() -> None:
    gapped = Span.of_fragments([(0, 2), (4, 6)], "A")
    sources = {"A": [document("d", 8, gapped)], "B": [document("d", 8, (0, 6, "A"))]}
    agreement = of(sources, conventions=["exact", "muc_type"])

    assert agreement["coefficients"]["positions"]["all"]["observed"]["mean"] == 6 / 8
    assert agreement["f1"]["exact"]["mean"] == 0
    assert agreement["f1"]["muc_type"]["mean"] == 1
    assert agreement["disagreements"]["kinds"] == {"boundary": 1}


def test_unitizing_and_levels_are_not_defined_for_spans_with_gaps() -> None:
    gapped = [document("d", 8, Span.of_fragments([(0, 2), (4, 6)], "A"))]
    agreement = of({"A": gapped, "B": gapped}, conventions=["exact", "levels_1_labelled"])

    assert agreement["unitizing"] is None
    assert agreement["f1"]["exact"]["mean"] == 1
    assert agreement["f1"]["levels_1_labelled"]["mean"] is None
    assert agreement["notes"] == [
        "unitizing is not defined: spans have gaps",
        "levels_1_labelled is not defined: spans of one annotator have gaps, which this convention forbids",
    ]


def test_unitizing_and_conventions_of_tags_are_not_defined_for_spans_that_overlap() -> None:
    nested = [document("d1", 10, (0, 5, "PER"), (1, 2, "LOC"))]
    agreement = of({"A": A[:1], "B": nested}, conventions=["exact", "conlleval", "levels_1_labelled"])

    assert agreement["unitizing"] is None
    assert [agreement["f1"][key]["mean"] for key in ("exact", "conlleval", "levels_1_labelled")] == [
        0,
        None,
        None,
    ]
    assert "B has 0-4 PER and 1-1 LOC in document d1" in agreement["notes"][0]
    assert agreement["notes"][1:] == [
        f"{key} is not defined: spans of one annotator overlap, which this convention forbids"
        for key in ("conlleval", "levels_1_labelled")
    ]


# Undefined numbers


A_DASH = "a dash is a number that is not defined"


def test_numbers_without_spans_are_undefined() -> None:
    study = agree({"A": [document("d", 5)], "B": [document("d", 5)]})
    agreement = study.to_dict()["agreement"]["label"]

    assert agreement["f1"]["exact"]["mean"] is None
    assert agreement["coefficients"]["positions"]["all"]["kappa"]["mean"] is None
    assert agreement["coefficients"]["positions"]["all"]["observed"]["mean"] == 1
    assert agreement["unitizing"]["u"] is None
    assert A_DASH in str(study)
    assert A_DASH not in str(agree({"A": B, "B": B}))


def test_layers_are_merged() -> None:
    two = [
        Document("d", {"e": [Span(0, 2, {"e": "PER"})], "r": [Span(1, 3, {"r": "high"})]}, tokens=["t"] * 5)
    ]
    report = agree({"A": two, "B": two}, merge=True).to_dict()["agreement"]

    assert list(report) == ["merged"]
    assert report["merged"]["spans"] == {"A": 1, "B": 1}


# The metric


def test_a_filter_on_a_layer_is_refused() -> None:
    metric = AgreementMetric(("A", "B"))
    plan = Plan((metric,), sides=metric.annotators, where={"label": frozenset({"PER"})})

    with pytest.raises(UsageError, match="cannot leave spans out"):
        count([[Group((A[0], B[0]))]], plan)


def test_gate_counts_one_to_one_with_the_same_place_or_with_an_overlap() -> None:
    sources = {
        "A": [document("d", 9, (0, 4, "A"), (6, 8, "B"))],
        "B": [document("d", 9, (1, 3, "A"), (6, 8, "B"))],
    }

    f1 = of(sources, conventions=["gate_strict", "gate_lenient"])["f1"]

    assert (f1["gate_strict"]["pooled"], f1["gate_lenient"]["pooled"]) == (0.5, 1.0)


def test_the_metric_can_be_sent_to_other_processes() -> None:
    metric = AgreementMetric(("A", "B"), chosen_conventions(["exact", "fair_fair"]))

    assert pickle.loads(pickle.dumps(metric)) == metric  # our own bytes


# Filters


def by_domain(documents: list[Document]) -> list[Document]:
    return [replace(each, metadata={"domain": "letter" if each.id == "d1" else "note"}) for each in documents]


def test_where_counts_only_documents_with_this_metadata() -> None:
    sources = {"A": by_domain(A), "B": by_domain(B), "C": C}
    alone = agree({name: documents[:1] for name, documents in sources.items()}).to_dict()
    study = agree(sources, where=["domain=letter"])

    assert study.to_dict()["agreement"] == alone["agreement"]
    assert (study.to_dict()["documents"], study.to_dict()["left_out"]) == (1, 0)
    assert {place.document for place in study.disagreements()} == {"d1"}
    assert "where:domain=letter" in str(study.signature)


def test_the_signature_says_if_spans_have_no_text() -> None:
    spans = [[(0, 2, "PER")], [(1, 3, "PER")]]

    assert "|text:absent|" in agree(spans, spans).signature
    assert "|text:equal|" in agree([["B-PER"]], [["B-PER"]]).signature


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("domain=book", "no document has domain=book"),
        ("genre=x", "no layer and no document's metadata is called 'genre'"),
        ("label=PER", "'label' is a layer"),
        ("domain", "cannot be read"),
    ],
)
def test_where_refuses(where: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        agree({"A": by_domain(A), "B": by_domain(B)}, where=where)


# Intervals


def test_intervals_are_the_jackknife_over_documents() -> None:
    third = document("d3", 6, (0, 1, "PER"), (3, 5, "LOC"))
    sources = {"A": [*A, third], "B": [*B, third]}
    scores = agree(sources, intervals=True).to_dict()["intervals"]["scores"]["label"]
    found = scores["coefficients.positions.all.kappa.mean"]

    def kappa(of_annotators: dict[str, list[Document]]) -> float:
        return float(of(of_annotators)["coefficients"]["positions"]["all"]["kappa"]["mean"])

    without = [
        kappa({name: documents[:n] + documents[n + 1 :] for name, documents in sources.items()})
        for n in range(3)
    ]

    assert found["se"] == pytest.approx(standard_error(without))
    assert found["low"] < kappa(sources) < found["high"]


def test_the_bound_of_a_share_is_that_of_the_documents_that_have_what_it_is_a_share_of() -> None:
    """Both annotators marked the same range or position in documents 8 and 9 only; document 10 has no span."""
    first, second = (0, 1, "PER"), (1, 2, "PER")
    a, b = (
        [document(f"d{n}", 3, *spans) for n, spans in enumerate(side)]
        for side in ([[first]] * 10 + [[]], [[second]] * 8 + [[first]] * 2 + [[]])
    )

    for other, items, units in ((b, "spans.both", 2), (b, "positions.both", 2), (a, "positions.all", 11)):
        scores = agree(a, other, intervals=True).to_dict()["intervals"]["scores"]["label"]
        found = scores[f"coefficients.{items}.observed.mean"]
        assert (found["units"], found["low"]) == (units, round(0.05 ** (1 / units), 10))


def test_intervals_of_the_ceiling_are_in_its_words() -> None:
    def documents(*ends: int) -> list[Document]:
        return [document(f"d{n}", 9, (0, end, "PER"), (4, 5, "PER")) for n, end in enumerate(ends)]

    sources = {"A": documents(1, 2, 1, 2, 1, 1), "B": documents(1, 1, 1, 2, 2, 1)}
    system = documents(1, 2, 1, 1, 1, 2)
    study = agree(sources, conventions="exact", system=system, intervals=True)
    report = study.to_dict()
    whole = report["ceiling"]["label"]["exact"]["pairs"]["difference"]
    interval = report["intervals"]["scores"]["label"]["ceiling.exact.pairs.difference"]
    without = []
    for n in range(6):
        rest = {name: each[:n] + each[n + 1 :] for name, each in sources.items()}
        found = agree(rest, conventions="exact", system=system[:n] + system[n + 1 :]).to_dict()["ceiling"]
        without.append(found["label"]["exact"]["pairs"]["difference"])

    assert interval["se"] == pytest.approx(standard_error(without))
    assert interval["low"] < min(whole, 0) < interval["high"]
    assert "no difference was found" in str(study)
    assert "the difference is from " in str(study)


def test_numbers_of_one_document_have_no_intervals_and_a_warning() -> None:
    sources = {"A": A[:1], "B": B[:1]}

    with pytest.warns(CluevalWarning, match="not known from a single shared document"):
        with_intervals = agree(sources, intervals=True)

    assert with_intervals.to_dict() == agree(sources).to_dict()


# Column files, whose equal sentences are read once


def column_files(folder: Path, ids: str = "ab") -> list[Path]:
    """Write two files of two documents; they agree in a sentence of each."""
    paths = [folder / "anna.vrt", folder / "bob.vrt"]
    for path, label in zip(paths, ("LOC", "ORG"), strict=True):
        sentence = f"<s>\nAnna\tB-PER\nin\tO\n</s>\n<s>\nUlm\tB-{label}\n</s>\n"
        path.write_text("".join(f'<text id="{name}">\n{sentence}</text>\n' for name in ids), encoding="utf-8")
    return paths


def test_places_and_gold_of_column_files_are_those_of_their_documents(tmp_path: Path) -> None:
    paths = column_files(tmp_path)
    documents = {path.name: list(read(path)) for path in paths}

    assert agree(*paths).rows() == agree(documents).rows()
    assert [each.document.layers for each in curate(*paths)] == [
        each.document.layers for each in curate(documents)
    ]


@pytest.mark.parametrize(
    "function", [lambda *paths: agree(*paths).rows(), lambda *paths: list(curate(*paths))]
)
def test_column_files_with_two_documents_of_one_id_are_refused(function: Any, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="has two documents 'a'"):
        function(*column_files(tmp_path, "aa"))


def test_equal_texts_of_one_annotator_are_refused_with_advice_that_helps() -> None:
    same = [A[0], Document("other", {}, tokens=A[0].tokens)]

    with pytest.raises(
        UsageError, match=r"has the same content as document 'd1' of A \(pair by id or name\)"
    ):
        agree({"A": same, "B": A}, pair_by="content")
    with pytest.raises(UsageError, match=r"another document of A .* leave one of them out"):
        agree({"A": [A[0], A[0]], "B": A}, pair_by="content")
    with pytest.raises(UsageError, match=r"A has two documents 'd1' .*pair_by='content' pairs equal texts"):
        agree({"A": [A[0], A[0]], "B": A})


# Bad input


@pytest.mark.parametrize(
    ("sources", "options", "message"),
    [
        ({"A": A}, {}, "there is one annotator"),
        ({}, {}, "there are no annotators"),
        ({"A": A, "B": [document("other", 3)]}, {}, "no document is shared"),
        ({"A": A, "B": B}, {"conventions": ["best"]}, "unknown convention 'best'"),
        ({"A": A, "B": B}, {"conventions": [[]]}, "each of conventions must be text, not a list"),
        ({"A": A, "B": B}, {"conventions": []}, "there is no convention"),
        ({"A": A, "B": B}, {"system": A[:1]}, "the system lacks this document"),
        ({"A": A, "B": B}, {"pair_by": "luck"}, "pair_by='luck' is unknown"),
        ({"A": A, "B": B}, {"annotators": {"A": 1}}, "need one source"),
        ({"A": A, "B": [*B, B[0]]}, {}, "B has two documents 'd1'"),
        ({"A": A, "B": ["d1"]}, {}, "d1: there is no such file or folder"),
        ({"A": A, "B": [1]}, {}, r"B\[0\] is an int"),
        ({"A": A, " ": B}, {}, "cannot be the name of an annotator"),
        ({"A": A, "B": B}, {"scheme": "X"}, "unknown tag scheme 'X'"),
        ({"A": A, "B": B}, {"intervals": True, "confidence": 2}, "confidence must be between 0 and 1"),
        ({"A": A, "B": B}, {"nothing": 1}, "agree has no option 'nothing'"),
        ({"A": A, "B": [document("d1", 10, layer="risk")]}, {}, "has no layer"),
    ],
)
def test_refuses(sources: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(CluevalError, match=message):
        agree(sources, **options)


def test_refuses_texts_that_differ_and_names_the_annotators() -> None:
    other = [Document("d1", {"label": []}, tokens=["t"] * 9 + ["u"])]

    with pytest.raises(TextMismatch, match=r"A has the token 't' at position 9 where B has 'u'"):
        agree({"A": A, "B": other})


def test_takes_lists_of_tags_and_of_spans_one_after_the_other() -> None:
    tags = [["B-PER", "I-PER", "O"]], [["B-PER", "O", "O"]], [["B-PER", "I-PER", "O"]]
    spans = [[(0, 2, "PER")]], [[(0, 1, "PER")]], [[(0, 2, "PER")]]
    by_name = agree(dict(zip("ABC", tags, strict=True))).to_dict()["agreement"]["label"]

    assert agree(*tags).to_dict()["agreement"]["label"] == by_name
    assert agree(list(tags)).to_dict()["agreement"]["label"] == by_name
    assert [len(list(curate(*sides))) for sides in (tags, spans)] == [1, 1]


def test_names_the_layout_of_the_only_folder_if_it_has_one_annotator(tmp_path: Path) -> None:
    (tmp_path / "letter").mkdir()
    for name in "ab":
        (tmp_path / "letter" / f"{name}.conll").write_text("x B-A\n", encoding="utf-8")

    with pytest.raises(UsageError, match=r"one subfolder, so one annotator.*layout='document/annotator'"):
        agree(tmp_path)
    assert agree(tmp_path, layout="document/annotator").to_dict()["annotators"] == ["a", "b"]


def test_lends_the_texts_of_an_annotator_to_lists_of_spans() -> None:
    rows = [
        {"id": "x", "text": "Ada in Ulm", "spans": [(0, 3, "PER"), (7, 10, "LOC")]},
        {"id": "y", "text": "Bob", "spans": []},
    ]
    whole = [{**rows[0], "spans": [(0, 3, "PER")]}, rows[1]]
    expected = agree({"a": rows, "b": whole, "c": rows}).to_dict()

    for lists in ([[(0, 3, "PER")], []], {"y": [], "x": [(0, 3, "PER")]}):
        assert agree({"a": rows, "b": lists, "c": rows}).to_dict() == expected
        assert agree({"b": lists, "a": rows, "c": rows}).to_dict()["documents"] == expected["documents"]
        assert agree({"a": iter(rows), "b": lists, "c": rows}).to_dict() == expected
    assert agree({"a": rows, "b": iter([[(0, 3, "PER")], []]), "c": rows}).to_dict() == expected
    assert len(list(agree({"a": rows, "b": [[], []]}).disagreements())) == 2
    partial = agree({"a": rows, "b": {"x": [(0, 3, "PER")]}, "c": rows})
    assert [(place.document, place.start, place.kind) for place in partial.disagreements()] == [
        ("x", 7, "missing")
    ]
    with pytest.raises(CluevalError, match="b has spans of document 'z', of which no annotator has the text"):
        agree({"a": rows, "b": {"z": [(0, 1, "X")]}})
    with pytest.raises(
        CluevalError, match=r"document 'x': span \[0,30\) 'PER' of layer 'label' lies outside"
    ):
        agree({"a": rows, "b": [[(0, 30, "PER")], []]})


def test_takes_one_of_the_annotators_of_a_file_as_the_system(tmp_path: Path) -> None:
    path = tmp_path / "three.conll"
    path.write_text("Ada\tB-PER\tB-PER\tO\nin\tO\tO\tO\nUlm\tB-LOC\tO\tB-LOC\n", encoding="utf-8")
    columns = {"anna": 2, "bob": 3, "model": 4}
    two = agree(path, annotators={"anna": 2, "bob": 3}, system=_column(path, tmp_path / "model.conll"))

    found = agree(path, annotators=columns, system="model")

    assert found.to_dict() == two.to_dict()
    assert found.to_dict()["annotators"] == ["anna", "bob"]
    with pytest.raises(CluevalError, match="carl: there is no such file"):
        agree(path, annotators=columns, system="carl")


def _column(path: Path, other: Path) -> Path:
    lines = path.read_text(encoding="utf-8").splitlines()
    other.write_text("".join(f"{line.split()[0]}\t{line.split()[3]}\n" for line in lines), encoding="utf-8")
    return other


ROW = {"text": "Ada", "spans": [{"start": 0, "end": 3, "label": "X"}]}


@pytest.mark.parametrize(
    ("ending", "content", "rows", "options", "of_files", "of_rows"),
    [
        ("conll", "Ada\tB-X\n", [["B-X"]], {}, ("BIO", "conlleval"), ("BIO", "conlleval")),
        *(
            ("conll", "Ada\tB-X\n", [["B-X"]], {"invalid": name}, ("BIO", name), ("BIO", name))
            for name in ("discard", "error")
        ),
        ("jsonl", json.dumps(ROW), [ROW], {}, ("none", "none"), ("documents", "documents")),
    ],
)
def test_the_signature_says_how_tags_were_treated_as_that_of_score_does(
    ending: str,
    content: str,
    rows: Any,
    options: dict[str, Any],
    of_files: tuple[str, str],
    of_rows: tuple[str, str],
    tmp_path: Path,
) -> None:
    files = [tmp_path / f"{name}.{ending}" for name in "ab"]
    for path in files:
        path.write_text(content, encoding="utf-8")

    for sides, expected in ((files, of_files), ([rows, rows], of_rows)):
        for study in (agree, score):
            choices = dict(part.split(":", 1) for part in str(study(*sides, **options).signature).split("|"))
            assert (choices["scheme"], choices["invalid"]) == expected


def test_the_signature_of_documents_has_no_treatment_of_tags() -> None:
    assert "|scheme:documents|invalid:documents|" in str(agree(A, B).signature)


def test_the_empty_label_is_a_label_as_any_other() -> None:
    empty, named = (
        agree({"a": [[(0, 2, label), (3, 4, "B")]], "b": [[(3, 4, "B"), (5, 6, "A")]]}).to_dict()["agreement"]
        for label in ("", "Z")
    )

    assert named == _with_name(empty, "Z")


def _with_name(report: Any, name: str) -> Any:
    """Return a report with a name in place of the empty label."""
    if not isinstance(report, dict):
        return report
    return {key or name: _with_name(value, name) for key, value in report.items()}
