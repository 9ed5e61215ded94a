"""Annotators against each other: the case by hand, definitions by pairs of units, and what must change nothing."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, pairwise, permutations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import at_most

from clueval import CluevalError, Document, Span, agree, curate
from clueval.files.errors import TextMismatch, UsageError
from clueval.studies.agreement.conventions import CONVENTIONS

LENGTH = 9


def document(name: str, length: int, *spans: tuple[int, int, str], layer: str = "label") -> Document:
    return Document(name, {layer: [Span(*span) for span in spans]}, tokens=["t"] * length)


A = [document("d1", 10, (0, 2, "PER"), (4, 6, "LOC")), document("d2", 4, (1, 2, "PER"))]
B = [document("d1", 10, (0, 2, "PER"), (4, 7, "LOC")), document("d2", 4)]
C = [document("d1", 10, (0, 2, "ORG"))]


def of(sources: Any, **options: Any) -> dict[str, Any]:
    found: dict[str, Any] = agree(sources, **options).to_dict()["agreement"]["label"]
    return found


# Worked by hand


def test_agree_by_hand_f1():
    f1 = of({"A": A, "B": B, "C": C})["f1"]["exact"]

    assert f1["matrix"] == [[None, 0.4, 0.0], [0.4, None, 0.0], [0.0, 0.0, None]]
    assert (round(f1["mean"], 4), round(f1["sd"], 4), f1["pooled"], f1["pairs"]) == (
        0.1333,
        0.1886,
        2 / 11,
        3,
    )


def test_agree_by_hand_coefficients():
    found = of({"A": A, "B": B, "C": C})
    positions = found["coefficients"]["positions"]["all"]

    assert positions["kappa"]["matrix"][0][1] == 75 / 103
    assert positions["observed"]["matrix"][0][1] == 12 / 14
    assert round(positions["alpha"], 4) == 0.3782
    assert (positions["items"], positions["fleiss_items"]) == (14, 10)


def test_agree_by_hand_unitizing():
    found = of({"A": A, "B": B, "C": C})["unitizing"]

    assert (round(found["u"], 4), round(found["binary"], 4), found["cu"]) == (0.3843, 0.5304, 0.375)
    assert found["cu_coverage"] == 8 / 38


def test_agree_coverage_of_units_is_called_a_share_of_pairs_and_is_one():
    half, nothing = [document("d", 10, (0, 5, "PER"))], [document("d", 10)]
    study = agree({"A": half, "B": half, "C": nothing})  # 5 of 10 positions, at each 1 of 3 pairs: 1/6

    assert "share of pairs behind cuα" in study.render(all=True)
    assert "share of positions" not in study.render(all=True)
    assert of({"A": half, "B": half, "C": half})["unitizing"]["cu_coverage"] == 0.5
    unitizing = study.to_dict()["agreement"]["label"]["unitizing"]
    assert unitizing["cu_coverage"] == 1 / 6
    assert unitizing["per_label"]["PER"]["coverage"] == 0.5  # A and B each have one of two others


def test_agree_by_hand_disagreements():
    study = agree({"A": A, "B": B, "C": C})

    assert study.to_dict()["agreement"]["label"]["disagreements"] == {
        "components": 3,
        "unanimous": 0,
        "kinds": {"boundary+missing": 1, "label": 1, "missing": 1},
        "boundary": {"start": 0, "end": 1, "both": 0, "split": 0},
    }
    assert [
        (each.document, each.start, each.end, each.kind, each.boundary) for each in study.disagreements()
    ] == [
        ("d1", 0, 2, "label", None),
        ("d1", 4, 7, "boundary+missing", "end"),
        ("d2", 1, 2, "missing", None),
    ]


def test_agree_report_has_the_documents_that_pairs_share():
    report = agree({"A": [*A, document("d3", 5)], "B": B, "C": C}).to_dict()

    assert (report["documents"], report["left_out"], report["tokens"]) == (2, 1, 14)
    assert report["common"] == [[2, 2, 1], [2, 2, 1], [1, 1, 1]]
    assert report["repaired_tags"] == {"A": 0, "B": 0, "C": 0}


def test_agree_majority_is_what_more_than_half_of_the_others_have():
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


def test_agree_majority_by_hand_of_conventions_with_and_without_labels():
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


def test_agree_majority_of_copies_is_full_where_two_spans_have_the_same_range():
    twice = [document("d1", 9, (0, 2, "ORG"), (0, 2, "PER"))]
    found = of(dict.fromkeys("ABC", twice), conventions=["muc_type", "muc_exact", "exact_unlabelled"])["f1"]

    assert {key: each["annotators"]["A"]["majority"]["f1"] for key, each in found.items()} == {
        "muc_type": 1,
        "muc_exact": 1,
        "exact_unlabelled": 1,
    }


def test_agree_ceiling_has_the_system_beside_the_annotators():
    report = agree({"A": A, "B": B, "C": C}, system=A).to_dict()["ceiling"]["label"]["exact"]

    assert report["per_annotator"]["B"]["system"] == 0.4
    assert report["pairs"]["system"] == pytest.approx((1 + 0.4 + 0) / 3)
    assert report["pairs"]["human"] == pytest.approx(0.4 / 3)
    assert report["documents"] == 2


def test_agree_ceiling_does_not_depend_on_components_that_only_the_system_joins():
    bridge = [document("d1", 10, (1, 5, "PER")), document("d2", 4)]
    alone = of({"A": A, "B": B})
    report = agree({"A": A, "B": B}, system=bridge).to_dict()

    assert report["agreement"]["label"] == alone


# Definitions, item by item


@st.composite
def studies(draw: st.DrawFn, annotators: int = 3, flat: bool = True) -> dict[str, list[Document]]:
    """Documents of a few annotators, none of which has all; each document has an annotator at least."""
    found: dict[str, list[Document]] = {name: [] for name in "ABCDEF"[:annotators]}
    for number in range(draw(st.integers(1, 3))):
        for name in sorted(draw(st.sets(st.sampled_from(sorted(found)), min_size=2))):
            cuts = sorted(draw(st.sets(st.integers(0, LENGTH), max_size=6)))
            ranges = list(pairwise(cuts))
            if not flat:
                pairs = st.lists(st.integers(0, LENGTH), min_size=2, max_size=2, unique=True).map(sorted)
                ranges = [(pair[0], pair[1]) for pair in draw(st.lists(pairs, max_size=4))]
            spans = [(a, b, label) for a, b in ranges if (label := draw(st.sampled_from(["X", "Y", ""])))]
            found[name].append(document(f"d{number}", LENGTH, *sorted(set(spans))))
    return found


def shared(sources: dict[str, list[Document]]) -> list[dict[str, set[tuple[int, int, str]]]]:
    """The spans of each document by annotator."""
    ids = sorted({each.id for documents in sources.values() for each in documents})
    found = []
    for wanted in ids:
        found.append(
            {
                name: {(span.start, span.end, span.label) for span in each.layers["label"]}
                for name, documents in sources.items()
                for each in documents
                if each.id == wanted
            }
        )
    return [each for each in found if len(each) > 1]


def values_of(spans: set[tuple[int, int, str]]) -> list[str]:
    """The value of each position."""
    return [
        "+".join(sorted({label for start, end, label in spans if start <= at < end})) or "O"
        for at in range(LENGTH)
    ]


def items_of(documents: Any, items: str) -> list[dict[str, str]]:
    """The value of each item by annotator."""
    found = []
    for by_name in documents:
        if items == "positions":
            values = {name: values_of(spans) for name, spans in by_name.items()}
            found += [{name: each[at] for name, each in values.items()} for at in range(LENGTH)]
            continue
        for own in sorted({span[:2] for spans in by_name.values() for span in spans}):
            found.append(
                {
                    name: "+".join(sorted(label for *place, label in spans if tuple(place) == own)) or "O"
                    for name, spans in by_name.items()
                }
            )
    return found


def chosen(items: list[dict[str, str]], which: str) -> list[dict[str, str]]:
    test = {"all": lambda _: True, "any": lambda v: {*v} != {"O"}, "both": lambda v: "O" not in v}[which]
    return [item for item in items if test(list(item.values()))]


def slow_kappa(pairs: list[tuple[str, str]]) -> float | None:
    n = len(pairs)
    if not n:
        return None
    equal = Fraction(sum(c == k for c, k in pairs), n)
    rows, columns = Counter(c for c, _ in pairs), Counter(k for _, k in pairs)
    chance = sum((Fraction(rows[c] * columns[c], n * n) for c in rows), Fraction(0))
    return None if chance == 1 else float((equal - chance) / (1 - chance))


def slow_alpha(items: list[dict[str, str]]) -> float | None:
    o: Counter[tuple[str, str]] = Counter()
    for item in items:
        for c, k in permutations(item.values(), 2):
            o[c, k] += Fraction(1, len(item) - 1)  # type: ignore[assignment]
    sums: Counter[str] = Counter()
    for (c, _), n in o.items():
        sums[c] += n
    total = sum(sums.values())
    chance = total**2 - sum(n**2 for n in sums.values())
    differ = total - sum(n for (c, k), n in o.items() if c == k)
    return float(1 - Fraction((total - 1) * differ) / chance) if chance else None


DOMAINS = [
    ("positions", "all"),
    ("positions", "any"),
    ("positions", "both"),
    ("spans", "any"),
    ("spans", "both"),
]


@pytest.mark.parametrize(("items", "which"), DOMAINS)
@given(sources=studies(flat=False))
@at_most(13)
def test_agree_coefficients_are_their_definition(items: str, which: str, sources: dict[str, list[Document]]):
    found = of(sources)["coefficients"][items][which]
    listed = items_of(shared(sources), items)

    assert found["items"] == len(chosen(listed, which))
    assert found["alpha"] == pytest.approx(slow_alpha(chosen(listed, which)))
    for (i, one), (j, other) in combinations(enumerate(sources), 2):
        both = [{one: item[one], other: item[other]} for item in listed if {one, other} <= item.keys()]
        of_pair = [
            (item[one], item[other])
            for item in chosen(both, "any" if (items, which) == ("spans", "any") else which)
        ]
        assert found["kappa"]["matrix"][i][j] == pytest.approx(slow_kappa(of_pair))


@given(studies(flat=False))
@at_most(20)
def test_agree_exact_is_the_f1_of_sets(sources: dict[str, list[Document]]):
    found = of(sources, conventions=["exact"])["f1"]["exact"]["matrix"]

    for (i, one), (j, other) in combinations(enumerate(sources), 2):
        both = [each for each in shared(sources) if {one, other} <= each.keys()]
        sizes = sum(len(each[name]) for each in both for name in (one, other))
        right = sum(len(each[one] & each[other]) for each in both)
        assert found[i][j] == found[j][i] == (2 * right / sizes if sizes else None)


@pytest.mark.few(4)
@pytest.mark.parametrize("key", [each.key for each in CONVENTIONS if each.key != "seqeval_strict"])
@given(sources=studies(annotators=2))
@at_most(8)
def test_agree_f1_of_two_is_that_of_clueval_conventions(key: str, sources: dict[str, list[Document]]):
    from clueval import conventions

    found = of(sources, conventions=[key])["f1"][key]["matrix"][0][1]
    one, other = sources.values()
    name = "conlleval" if key == "exact" else key
    expected = conventions(one, other).to_dict()["conventions"]["label"][name]["f1"]

    if any(each.layers["label"] for each in (*one, *other)):
        assert found == pytest.approx(expected)
    else:
        assert found is None


# What changes nothing


@given(studies(), st.permutations("ABC"))
@at_most(13)
def test_agree_of_permuted_annotators_is_the_permuted_matrix_and_nothing_else(
    sources: dict[str, list[Document]], order: list[str]
):
    one, other = (of(each) for each in (sources, {name: sources[name] for name in order}))
    places = ["ABC".index(name) for name in order]

    assert json.dumps(permuted(one, places), sort_keys=True) == json.dumps(other, sort_keys=True)


def permuted(value: Any, places: list[int], key: str = "") -> Any:
    """The report with permuted matrices."""
    if key == "matrix":
        return [[value[i][j] for j in places] for i in places]
    if isinstance(value, dict):
        return {name: permuted(inner, places, name) for name, inner in value.items()}
    return value


@given(studies(annotators=2))
@at_most(10)
def test_agree_of_copies_is_full(sources: dict[str, list[Document]]):
    found = of(dict.fromkeys("ABC", sources["A"]))
    numbers = [found["f1"][key]["mean"] for key in found["f1"]]
    for domains in found["coefficients"].values():
        for each in domains.values():
            numbers += [each["kappa"]["mean"], each["pi"]["mean"], each["fleiss"], each["alpha"]]
    numbers += [found["unitizing"][name] for name in ("u", "binary", "cu")]

    assert {*numbers} <= {1.0, None}
    assert found["disagreements"]["kinds"] == {}


@given(studies())
@at_most(10)
def test_agree_does_not_depend_on_the_order_of_documents(sources: dict[str, list[Document]]):
    one, other = sources, {name: documents[::-1] for name, documents in sources.items()}

    assert of(one) == of(other)


# Undefined numbers and notes

A_DASH = "a dash is a number that is not defined"


def test_agree_without_spans_is_undefined():
    found = of({"A": [document("d", 5)], "B": [document("d", 5)]})

    assert found["f1"]["exact"]["mean"] is found["coefficients"]["positions"]["all"]["kappa"]["mean"] is None
    assert found["coefficients"]["positions"]["all"]["observed"]["mean"] == 1
    assert found["unitizing"]["u"] is None


def test_agree_says_what_a_dash_is_if_a_number_is_not_defined():
    assert A_DASH in str(agree({"A": [document("d", 5)], "B": [document("d", 5)]}))
    assert A_DASH not in str(agree({"A": B, "B": B}))


def test_agree_notes_an_annotator_who_shares_no_document():
    found = of({"A": A, "B": B, "C": [document("other", 3)]})

    assert found["notes"] == ["C shares no document with another annotator"]
    assert found["f1"]["exact"]["matrix"][0][2] is None


def test_agree_notes_overlapping_spans():
    nested = [document("d1", 10, (0, 5, "PER"), (1, 2, "LOC"))]
    found = of({"A": A, "B": nested}, conventions=["exact", "levels_1_labelled", "conlleval"])

    assert found["unitizing"] is None
    assert "B has 0-4 PER and 1-1 LOC in document d1" in found["notes"][0]
    assert found["f1"]["levels_1_labelled"]["mean"] is found["f1"]["conlleval"]["mean"] is None
    assert found["f1"]["exact"]["mean"] == 0
    assert [note.split()[0] for note in found["notes"]] == ["unitizing", "levels_1_labelled", "conlleval"]


def test_agree_merges_layers():
    two = [
        Document("d", {"e": [Span(0, 2, {"e": "PER"})], "r": [Span(1, 3, {"r": "high"})]}, tokens=["t"] * 5)
    ]
    report = agree({"A": two, "B": two}, merge=True).to_dict()["agreement"]

    assert list(report) == ["merged"]
    assert report["merged"]["spans"] == {"A": 1, "B": 1}


# Filters


def by_domain(documents: list[Document]) -> list[Document]:
    return [replace(each, metadata={"domain": "letter" if each.id == "d1" else "note"}) for each in documents]


def test_agree_where_counts_only_documents_with_this_metadata():
    sources = {"A": by_domain(A), "B": by_domain(B), "C": C}
    alone = agree({name: documents[:1] for name, documents in sources.items()}).to_dict()
    study = agree(sources, where=["domain=letter"])

    assert study.to_dict()["agreement"] == alone["agreement"]
    assert (study.to_dict()["documents"], study.to_dict()["left_out"]) == (1, 0)
    assert {place.document for place in study.disagreements()} == {"d1"}
    assert "where:domain=letter" in str(study.signature)


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("domain=book", "no document has domain=book"),
        ("genre=x", "no layer and no document's metadata is called 'genre'"),
        ("label=PER", "'label' is a layer"),
        ("domain", "cannot be read"),
    ],
)
def test_agree_where_refuses(where: str, message: str):
    with pytest.raises(UsageError, match=message):
        agree({"A": by_domain(A), "B": by_domain(B)}, where=where)


# Intervals


def test_agree_intervals_are_the_jackknife_over_documents():
    third = document("d3", 6, (0, 1, "PER"), (3, 5, "LOC"))
    sources = {"A": [*A, third], "B": [*B, third]}
    found = agree(sources, intervals=True).to_dict()["intervals"]["scores"]["label"]
    path = "coefficients.positions.all.kappa.mean"
    without = [
        of({name: documents[:n] + documents[n + 1 :] for name, documents in sources.items()})["coefficients"][
            "positions"
        ]["all"]["kappa"]["mean"]
        for n in range(3)
    ]
    mean = sum(without) / 3

    assert found[path]["se"] == pytest.approx((2 / 3 * sum((mean - each) ** 2 for each in without)) ** 0.5)
    assert (
        found[path]["low"]
        < of(sources)["coefficients"]["positions"]["all"]["kappa"]["mean"]
        < found[path]["high"]
    )


def test_agree_intervals_of_the_ceiling_are_in_its_words():
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
    mean = sum(without) / 6

    assert interval["se"] == pytest.approx((5 / 6 * sum((mean - each) ** 2 for each in without)) ** 0.5)
    assert interval["low"] < min(whole, 0) < interval["high"]
    assert "as well as they do with each other: the difference is from " in str(study)


def test_agree_intervals_need_two_documents():
    with pytest.raises(UsageError, match="only one shared document"):
        agree({"A": A[:1], "B": B[:1]}, intervals=True)


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
        ({"A": A, "B": B}, {"pair_by": "luck"}, "cannot be paired by 'luck'"),
        ({"A": A, "B": B}, {"annotators": {"A": 1}}, "need one source"),
        ({"A": A, "B": [*B, B[0]]}, {}, "B has two documents 'd1'"),
        ({"A": A, "B": ["d1"]}, {}, "no such file"),
        ({"A": A, "B": [1]}, {}, "'int'|B\\[0\\] is an int"),
        ({"A": A, " ": B}, {}, "cannot be the name of an annotator"),
        ({"A": A, "B": B}, {"scheme": "X"}, "X"),
        ({"A": A, "B": B}, {"intervals": True, "confidence": 2}, "confidence must be between 0 and 1"),
        ({"A": A, "B": B}, {"nothing": 1}, "agree has no option 'nothing'"),
        ({"A": A, "B": [document("d1", 10, layer="risk")]}, {}, "has no layer"),
    ],
)
def test_agree_refuses(sources: Any, options: dict[str, Any], message: str):
    with pytest.raises(CluevalError, match=message):
        agree(sources, **options)


def test_agree_refuses_texts_that_differ_and_names_the_annotators():
    other = [Document("d1", {"label": []}, tokens=["t"] * 9 + ["u"])]

    with pytest.raises(TextMismatch, match=r"A has the token 't' at position 9 where B has 'u'"):
        agree({"A": A, "B": other})


def test_agree_takes_lists_of_tags_and_of_spans_one_after_the_other() -> None:
    tags = [["B-PER", "I-PER", "O"]], [["B-PER", "O", "O"]], [["B-PER", "I-PER", "O"]]
    spans = [[(0, 2, "PER")]], [[(0, 1, "PER")]], [[(0, 2, "PER")]]
    by_name = agree(dict(zip("ABC", tags, strict=True))).to_dict()["agreement"]["label"]

    assert agree(*tags).to_dict()["agreement"]["label"] == by_name
    assert agree(list(tags)).to_dict()["agreement"]["label"] == by_name
    assert [len(list(curate(*sides))) for sides in (tags, spans)] == [1, 1]


def test_agree_names_the_layout_of_the_only_folder_if_it_has_one_annotator(tmp_path):
    (tmp_path / "letter").mkdir()
    for name in "ab":
        (tmp_path / "letter" / f"{name}.conll").write_text("x B-A\n", encoding="utf-8")

    with pytest.raises(UsageError, match=r"one subfolder, so one annotator.*layout='document/annotator'"):
        agree(tmp_path)
    assert agree(tmp_path, layout="document/annotator").to_dict()["annotators"] == ["a", "b"]


def test_agree_lends_the_texts_of_an_annotator_to_lists_of_spans():
    rows = [
        {"id": "x", "text": "Ada in Ulm", "spans": [(0, 3, "PER"), (7, 10, "LOC")]},
        {"id": "y", "text": "Bob", "spans": []},
    ]
    whole = [{**rows[0], "spans": [(0, 3, "PER")]}, rows[1]]
    expected = agree({"a": rows, "b": whole, "c": rows}).to_dict()

    for lists in ([[(0, 3, "PER")], []], {"y": [], "x": [(0, 3, "PER")]}):
        assert agree({"a": rows, "b": lists, "c": rows}).to_dict() == expected
        assert agree({"b": lists, "a": rows, "c": rows}).to_dict()["documents"] == expected["documents"]
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


def test_agree_takes_one_of_the_annotators_of_a_file_as_the_system(tmp_path: Path):
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
