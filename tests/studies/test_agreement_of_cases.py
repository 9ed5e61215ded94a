"""Agreement of annotators on cases: by hand, item by item, and against other programs."""

from __future__ import annotations

import math
import pickle
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import combinations, pairwise, permutations
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_agree import DOMAINS

from clueval.core.bag import Bounds
from clueval.core.case import Case, same_key
from clueval.core.count import Plan, count
from clueval.core.document import Document, Group
from clueval.core.span import Span
from clueval.core.tally import Tally, added
from clueval.files.errors import UsageError
from clueval.studies.agreement.conventions import chosen_conventions
from clueval.studies.agreement.corpus import Annotated
from clueval.studies.agreement.metric import AgreementMetric
from clueval.studies.agreement.readings import kind_of, readings_of, votes_of
from clueval.studies.agreement.study import Agreement
from tests.cases import spans
from tests.random_corpora import difference
from tests.studies.test_bratiaa import TEXT, write_project

Row = tuple[int, int, str]
Rows = Sequence[Row | Span]

LENGTH = 9

DEFAULTS = ("exact", "exact_unlabelled", "muc_type")


def document(name: str, length: int | None, *rows: Row | Span) -> Document:
    marked = [row if isinstance(row, Span) else Span(*row) for row in rows]
    return Document(name, {"label": marked}, tokens=None if length is None else ["t"] * length)


def found(
    sources: Mapping[str, Sequence[Document]],
    conventions: Sequence[str] = DEFAULTS,
    system: Sequence[Document] | None = None,
    bounds: Bounds = Bounds(),  # noqa: B008  # it cannot be changed
) -> dict[str, Any]:
    """The report on annotators by their names."""
    metric = AgreementMetric(tuple(sources), chosen_conventions(conventions), system is not None)
    sides = [
        {each.id: each for each in of} for of in [*sources.values(), *([] if system is None else [system])]
    ]
    ids = dict.fromkeys(each.id for of in sources.values() for each in of)
    texts = [[Group(tuple(side.get(name) for side in sides))] for name in ids]
    plan = Plan((metric,), sides=(*sources, *(["system"] if metric.system else [])))
    bag = count(texts, plan, ["label"], bounds)
    corpus = Annotated(metric, lambda read: [group for (group,) in texts], plan)
    return Agreement(corpus, bag, {}, 0).to_dict()


def of(sources: Mapping[str, Sequence[Document]], *conventions: str, **options: Any) -> dict[str, Any]:
    agreement: dict[str, Any] = found(sources, conventions or DEFAULTS, **options)["agreement"]["label"]
    return agreement


def tally_of(metric: AgreementMetric, *sides: str | None) -> Tally:
    """The counts of one case; None: an annotator lacks the document."""
    made = tuple(None if text is None else tuple(spans(text)) for text in sides)
    return metric.count(Case(made, (None,) * len(made)))


A = [document("d1", 10, (0, 2, "PER"), (4, 6, "LOC")), document("d2", 4, (1, 2, "PER"))]
B = [document("d1", 10, (0, 2, "PER"), (4, 7, "LOC")), document("d2", 4)]
C = [document("d1", 10, (0, 2, "ORG"))]
ABC = {"A": A, "B": B, "C": C}


# Worked by hand


def test_f1_by_hand() -> None:
    f1 = of(ABC)["f1"]["exact"]

    assert f1["matrix"] == [[None, 0.4, 0.0], [0.4, None, 0.0], [0.0, 0.0, None]]
    assert (f1["mean"], f1["pooled"], f1["pairs"]) == (pytest.approx(0.4 / 3), 2 / 11, 3)
    assert f1["sd"] == pytest.approx(math.sqrt(2 / 225 * 4))
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


def test_disagreements_and_confusion_by_hand() -> None:
    agreement = of(ABC)

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


def test_documents_that_one_annotator_has_alone_are_left_out() -> None:
    whole = found({"A": [*A, document("d3", 5, (0, 1, "X"))], "B": B, "C": C})

    assert (whole["documents"], whole["left_out"], whole["tokens"]) == (2, 1, 14)
    assert whole["common"] == [[2, 2, 1], [2, 2, 1], [1, 1, 1]]
    assert whole["agreement"]["label"] == of(ABC)


def test_no_shared_document_is_an_error() -> None:
    with pytest.raises(UsageError, match="no document is shared"):
        found({"A": A[:1], "B": B[1:]})
    with pytest.raises(UsageError, match="no document is shared"):
        found({"A": [], "B": []})


def test_an_annotator_who_shares_no_document_is_noted_and_has_no_numbers() -> None:
    agreement = of({"A": A, "B": B, "C": [document("other", 3)]})

    assert agreement["notes"] == ["C shares no document with another annotator"]
    assert agreement["f1"]["exact"]["matrix"][0][2] is None


def test_an_annotator_who_shares_a_document_without_text_and_spans_shares_one() -> None:
    assert of({"A": [document("d", None)], "B": [document("d", None)]})["notes"] == []


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
    entry = everyone["A"]["majority"]
    assert (entry["gold"], entry["predicted"], entry["tp_gold"], entry["f1"]) == (1, 2, 1, 2 / 3)


def test_conventions_that_ignore_labels_have_a_majority_of_ranges() -> None:
    sources = {name: [document("d", 9, (0, 2, label))] for name, label in zip("ABC", "XYZ", strict=True)}
    f1 = of(sources, "exact", "exact_unlabelled", "muc_strict", "muc_exact")["f1"]

    golds = {key: each["annotators"]["A"]["majority"]["gold"] for key, each in f1.items()}
    assert golds == {"exact": 0, "exact_unlabelled": 1, "muc_strict": 0, "muc_exact": 1}
    assert f1["muc_exact"]["annotators"]["A"]["majority"]["f1"] == 1


def test_the_system_stands_beside_the_annotators() -> None:
    ceiling = found(ABC, system=A)["ceiling"]["label"]["exact"]

    assert ceiling["per_annotator"]["B"]["system"] == 0.4
    assert ceiling["pairs"]["system"] == pytest.approx((1 + 0.4 + 0) / 3)
    assert ceiling["pairs"]["human"] == pytest.approx(0.4 / 3)
    assert ceiling["documents"] == 2


def test_a_system_that_joins_what_is_apart_changes_nothing_among_annotators() -> None:
    bridge = [document("d1", 10, (1, 5, "PER"), (8, 9, "PER")), document("d2", 4)]
    two = {"A": A, "B": B}

    assert found(two, system=bridge)["agreement"] == found(two)["agreement"]


# Kinds, as a case has them


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
    assert votes_of(readings_of((tuple(spans("A[0,2)")), (), (), None), 4)) == 2
    assert votes_of([None, None]) == 0


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
        ("pair", "positions", 0, 2, None, None): 1,
        ("o", "positions", "unmarked", 2, None, None): 2,
    }


# Gaps and overlaps


def test_the_positions_of_a_span_with_gaps_are_those_of_its_fragments() -> None:
    gapped = Span.of_fragments([(0, 2), (4, 6)], "A")
    agreement = of(
        {"A": [document("d", 8, gapped)], "B": [document("d", 8, (0, 6, "A"))]}, "exact", "muc_type"
    )

    assert agreement["coefficients"]["positions"]["all"]["observed"]["mean"] == 6 / 8
    assert agreement["f1"]["exact"]["mean"] == 0
    assert agreement["f1"]["muc_type"]["mean"] == 1
    assert agreement["disagreements"]["kinds"] == {"boundary": 1}


def test_unitizing_and_levels_are_not_defined_for_spans_with_gaps() -> None:
    gapped = [document("d", 8, Span.of_fragments([(0, 2), (4, 6)], "A"))]
    agreement = of({"A": gapped, "B": gapped}, "exact", "levels_1_labelled")

    assert agreement["unitizing"] is None
    assert agreement["f1"]["exact"]["mean"] == 1
    assert agreement["f1"]["levels_1_labelled"]["mean"] is None
    assert agreement["notes"] == [
        "unitizing is not defined: spans have gaps",
        "levels_1_labelled is not defined: spans of one annotator have gaps, which this convention forbids",
    ]


def test_unitizing_and_conventions_of_tags_are_not_defined_for_spans_that_overlap() -> None:
    nested = [document("d1", 10, (0, 5, "PER"), (1, 2, "LOC"))]
    agreement = of({"A": A[:1], "B": nested}, "exact", "conlleval", "levels_1_labelled")

    assert agreement["unitizing"] is None
    assert [agreement["f1"][key]["mean"] for key in ("exact", "conlleval", "levels_1_labelled")] == [
        0,
        None,
        None,
    ]
    assert agreement["notes"][1:] == [
        f"{key} is not defined: spans of one annotator overlap, which this convention forbids"
        for key in ("conlleval", "levels_1_labelled")
    ]


def test_numbers_without_spans_are_undefined() -> None:
    agreement = of({"A": [document("d", 5)], "B": [document("d", 5)]})

    assert agreement["f1"]["exact"]["mean"] is None
    assert agreement["coefficients"]["positions"]["all"]["kappa"]["mean"] is None
    assert agreement["coefficients"]["positions"]["all"]["observed"]["mean"] == 1
    assert agreement["unitizing"]["u"] is None


# The metric


@pytest.mark.parametrize("names", [("A",), ("A", "B", "A")])
def test_annotators_are_two_with_different_names(names: tuple[str, ...]) -> None:
    with pytest.raises(UsageError):
        AgreementMetric(names)


def test_a_filter_on_a_layer_is_refused() -> None:
    metric = AgreementMetric(("A", "B"))
    plan = Plan((metric,), sides=metric.annotators, where={"label": frozenset({"PER"})})

    with pytest.raises(UsageError, match="cannot leave spans out"):
        count([[Group((A[0], B[0]))]], plan)


@pytest.mark.parametrize("keys", [["exact", "exakt"], []])
def test_conventions_are_known(keys: list[str]) -> None:
    with pytest.raises(UsageError):
        chosen_conventions(keys)


def test_gate_counts_one_to_one_with_the_same_place_or_with_an_overlap() -> None:
    sources = {
        "A": [document("d", 9, (0, 4, "A"), (6, 8, "B"))],
        "B": [document("d", 9, (1, 3, "A"), (6, 8, "B"))],
    }

    f1 = of(sources, "gate_strict", "gate_lenient")["f1"]

    assert (f1["gate_strict"]["pooled"], f1["gate_lenient"]["pooled"]) == (0.5, 1.0)


def test_the_metric_can_be_sent_to_other_processes() -> None:
    metric = AgreementMetric(("A", "B"), chosen_conventions(["exact", "fair_fair"]))

    assert pickle.loads(pickle.dumps(metric)) == metric  # our own bytes


# Definitions, item by item, and other programs


@st.composite
def studies(draw: st.DrawFn, annotators: int = 3, flat: bool = True) -> dict[str, list[Document]]:
    """Documents of a few annotators, of which each text has two at least."""
    made: dict[str, list[Document]] = {name: [] for name in "ABCDE"[:annotators]}
    for number in range(draw(st.integers(1, 3))):
        for name in sorted(draw(st.sets(st.sampled_from(sorted(made)), min_size=2))):
            ranges = list(pairwise(sorted(draw(st.sets(st.integers(0, LENGTH), max_size=6)))))
            if not flat:
                pairs = st.lists(st.integers(0, LENGTH), min_size=2, max_size=2).map(sorted)
                ranges = [(pair[0], pair[1]) for pair in draw(st.lists(pairs, max_size=4))]
            rows = [(start, end, draw(st.sampled_from(["X", "Y", ""]))) for start, end in ranges]
            made[name].append(document(f"d{number}", LENGTH, *[row for row in rows if row[2]]))
    return made


def shared(sources: Mapping[str, Sequence[Document]]) -> list[dict[str, set[Row]]]:
    """The spans of each document by annotator."""
    by_text: dict[str, dict[str, set[Row]]] = {}
    for name, documents in sources.items():
        for each in documents:
            by_text.setdefault(each.id, {})[name] = {
                (span.start, span.end, span.label) for span in each.layers["label"]
            }
    return [each for each in by_text.values() if len(each) > 1]


def items_of(sources: Mapping[str, Sequence[Document]], items: str) -> list[dict[str, str]]:
    """The value of each item by annotator."""
    listed = []
    for by_name in shared(sources):
        if items == "positions":
            places = [lambda span, at=at: span[0] <= at < span[1] for at in range(LENGTH)]
        else:
            ranges = sorted({span[:2] for own in by_name.values() for span in own})
            places = [lambda span, own=own: span[:2] == own for own in ranges]
        for has in places:
            listed.append(
                {
                    name: "+".join(sorted({span[2] for span in own if has(span)})) or "O"
                    for name, own in by_name.items()
                }
            )
    return listed


def chosen(items: list[dict[str, str]], which: str) -> list[dict[str, str]]:
    if which == "all":
        return items
    return [
        item for item in items if ("O" not in item.values() if which == "both" else {*item.values()} != {"O"})
    ]


@pytest.mark.parametrize(("items", "which"), DOMAINS)
@given(sources=studies(flat=False))
def test_kappa_of_items_is_that_of_scikit_learn(
    items: str, which: str, sources: dict[str, list[Document]]
) -> None:
    from sklearn.metrics import cohen_kappa_score  # large packages are imported where they are used

    agreement = of(sources, "exact")["coefficients"][items][which]
    listed = items_of(sources, items)

    assert agreement["items"] == len(chosen(listed, which))
    for (i, one), (j, other) in combinations(enumerate(sources), 2):
        both = [{one: item[one], other: item[other]} for item in listed if {one, other} <= item.keys()]
        values = [[item[name] for item in chosen(both, which)] for name in (one, other)]
        if len({*values[0], *values[1]}) > 1:
            expected = cohen_kappa_score(*values)
            assert agreement["kappa"]["matrix"][i][j] == pytest.approx(expected)
        else:
            assert agreement["kappa"]["matrix"][i][j] is None


@pytest.mark.parametrize(("items", "which"), DOMAINS)
@given(sources=studies(annotators=4, flat=False))
def test_alpha_of_items_is_that_of_the_program_krippendorff(
    items: str, which: str, sources: dict[str, list[Document]]
) -> None:
    import krippendorff
    import numpy as np

    own = of(sources, "exact")["coefficients"][items][which]
    listed = chosen(items_of(sources, items), which)
    values = sorted({value for item in listed for value in item.values()})

    if len(values) < 2:
        assert own["alpha"] is None
    else:
        data = [
            [values.index(item[name]) if name in item else math.nan for item in listed] for name in sources
        ]
        assert own["alpha"] == pytest.approx(
            krippendorff.alpha(reliability_data=np.array(data), level_of_measurement="nominal")
        )


@given(studies(flat=False))
def test_fleiss_and_pi_are_those_of_statsmodels_and_nltk(sources: dict[str, list[Document]]) -> None:
    import numpy as np
    from nltk.metrics.agreement import AnnotationTask
    from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa

    own = of(sources, "exact")["coefficients"]["positions"]["all"]
    listed = items_of(sources, "positions")
    full = [list(item.values()) for item in listed if len(item) == 3]
    values = sorted({value for item in full for value in item})

    assert own["fleiss_items"] == len(full)
    if len(values) > 1:
        table, _ = aggregate_raters(np.array([[values.index(value) for value in item] for item in full]))
        assert own["fleiss"] == pytest.approx(fleiss_kappa(table))
    else:
        assert own["fleiss"] is None
    both = [(item["A"], item["B"]) for item in listed if {"A", "B"} <= item.keys()]
    if len({*sum(both, ())}) > 1:  # few items
        data = [
            (name, str(n), value)
            for n, item in enumerate(both)
            for name, value in zip("AB", item, strict=True)
        ]
        assert own["pi"]["matrix"][0][1] == pytest.approx(AnnotationTask(data=data).pi())


@given(studies(flat=False))
def test_exact_is_the_f1_of_sets_as_bratiaa_counts(sources: dict[str, list[Document]]) -> None:
    f1 = of(sources, "exact")["f1"]["exact"]
    labels = sorted({span[2] for each in shared(sources) for own in each.values() for span in own})

    assert list(f1["per_label"]) == labels
    for label in [None, *labels]:
        values = []
        for (i, one), (j, other) in combinations(enumerate(sources), 2):
            sizes = right = 0
            for each in shared(sources):
                if {one, other} <= each.keys():
                    sets = [
                        {span for span in each[name] if label in (None, span[2])} for name in (one, other)
                    ]
                    sizes += sum(map(len, sets))
                    right += len(sets[0] & sets[1])
            values.append(2 * right / sizes if sizes else None)
            if label is None:
                assert f1["matrix"][i][j] == f1["matrix"][j][i] == values[-1]
        defined = [value for value in values if value is not None]
        own = f1 if label is None else f1["per_label"][label]
        assert own["mean"] == pytest.approx(sum(defined) / len(defined) if defined else None)


@given(studies())
def test_unitizing_is_the_definition_position_by_position(sources: dict[str, list[Document]]) -> None:
    """Expected coincidences as in Krippendorff et al. 2016; see specs: u, binary and cu."""
    own = of(sources, "exact")["unitizing"]
    pairs: Counter[tuple[str, str]] = Counter()
    squares: Counter[str] = Counter()
    overlaps: Counter[str] = Counter()
    for by_name in shared(sources):
        m = len(by_name)
        values = {
            name: [
                next((label for start, end, label in marked if start <= at < end), "") for at in range(LENGTH)
            ]
            for name, marked in by_name.items()
        }
        for one, other in permutations(values.values(), 2):
            for c, k in zip(one, other, strict=True):
                pairs[c, k] += Fraction(1, m - 1)  # type: ignore[assignment]
        for name, own_spans in by_name.items():
            for start, end, label in own_spans:
                squares[label] += (end - start) ** 2
                both = sum(bool(values[j][at]) for j in values if j != name for at in range(start, end))
                overlaps[label] += Fraction(both, m - 1) ** 2  # type: ignore[assignment]
    sums = {c: sum(n for (a, _), n in pairs.items() if a == c) for c, _ in pairs}
    squares[""] = sums.get("", 0)
    assert own["u"] == pytest.approx(alpha(pairs, sums, squares))
    inside = Counter({pair: n for pair, n in pairs.items() if "" not in pair})
    r = {c: sum(n for (a, _), n in inside.items() if a == c) for c, _ in inside}
    assert own["cu"] == pytest.approx(alpha(inside, r, overlaps))


def alpha(pairs: Counter[tuple[str, str]], sums: Mapping[str, Any], alone: Mapping[str, Any]) -> float | None:
    """1 - (T - sum l_cc) / (T - sum e_cc), where e_cc = T (l_c l_c - alone_c) / (T^2 - sum alone)."""
    total = sum(sums.values())
    whole = total**2 - sum(alone.values())
    if not whole:
        return None
    expected = total - sum(total * (n * n - alone.get(c, 0)) / Fraction(whole) for c, n in sums.items())
    differ = total - sum(n for (c, k), n in pairs.items() if c == k)
    return float(1 - differ / expected) if expected else None


# What changes nothing


@given(studies(flat=False), st.permutations("ABC"))
def test_another_order_of_annotators_permutes_the_matrices_and_changes_nothing_else(
    sources: dict[str, list[Document]], order: list[str]
) -> None:
    one, other = of(sources), of({name: sources[name] for name in order})
    places = ["ABC".index(name) for name in order]

    for report_ in (one, other):
        for key in report_["f1"].values():
            key["annotators"] = dict(sorted(key["annotators"].items()))
        report_["spans"] = dict(sorted(report_["spans"].items()))
    assert difference(permuted(one, places), other) is None


def permuted(value: Any, places: Sequence[int], key: str = "") -> Any:
    """The report with permuted matrices."""
    if key == "matrix":
        return [[value[i][j] for j in places] for i in places]
    if isinstance(value, dict):
        return {name: permuted(inner, places, name) for name, inner in value.items()}
    return value


@given(studies(flat=False))
def test_other_names_of_labels_name_the_numbers_otherwise(sources: dict[str, list[Document]]) -> None:
    names = {"X": "P", "Y": "Q"}
    other = {
        name: [
            document(each.id, LENGTH, *[(s.start, s.end, names[s.label]) for s in each.layers["label"]])
            for each in documents
        ]
        for name, documents in sources.items()
    }

    assert difference(renamed(of(sources)), of(other)) is None


def renamed(value: Any) -> Any:
    names = {"X": "P", "Y": "Q", "X+Y": "P+Q"}
    if isinstance(value, dict):
        return {names.get(key, key): renamed(inner) for key, inner in value.items()}
    return value


@given(studies(flat=False))
def test_the_order_of_documents_and_of_spans_changes_nothing(sources: dict[str, list[Document]]) -> None:
    other = {
        name: [document(each.id, LENGTH, *reversed(each.layers["label"])) for each in reversed(documents)]
        for name, documents in sources.items()
    }

    assert of(sources) == of(other)


@given(studies(annotators=2))
def test_copies_agree_fully(sources: dict[str, list[Document]]) -> None:
    agreement = of(dict.fromkeys("ABC", sources["A"]))
    values = [each["mean"] for each in agreement["f1"].values()]
    for domains in agreement["coefficients"].values():
        for each in domains.values():
            values += [each["kappa"]["mean"], each["pi"]["mean"], each["fleiss"], each["alpha"]]
    values += [agreement["unitizing"][name] for name in ("u", "binary", "cu")]

    assert {*values} <= {1.0, None}
    assert agreement["disagreements"]["kinds"] == {}


ROWS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3), st.sampled_from("AB")), max_size=4)


@given(st.lists(ROWS, min_size=3, max_size=3), st.lists(ROWS, min_size=3, max_size=3))
def test_the_counts_of_two_cases_that_are_apart_are_the_sum(one: list[Any], two: list[Any]) -> None:
    metric = AgreementMetric(
        ("A", "B", "C"), chosen_conventions(["exact", "exact_unlabelled", "muc_type", "fair_fair"])
    )
    cases = [
        [[Span(start + by, start + by + size, label) for start, size, label in side] for side in sides]
        for sides, by in ((one, 0), (two, 20))
    ]
    parts = [metric.count(Case(tuple(map(tuple, sides)), (None,) * 3)) for sides in cases]
    whole = metric.count(Case(tuple(tuple(a + b) for a, b in zip(*cases, strict=True)), (None,) * 3))
    reports = [metric.scores(total, []) for total in (whole, added((part, 1) for part in parts))]

    clash = ("overlap",)
    if not (parts[0][clash] or parts[1][clash]):
        assert difference(*reports) is None


@given(studies(flat=False), st.integers(0, 3))
def test_numbers_are_the_same_if_few_cases_are_kept(sources: dict[str, list[Document]], keys: int) -> None:
    assert of(sources) == of(sources, bounds=Bounds(keys, 1000))


@given(studies(flat=False))
def test_the_sums_of_a_corpus_less_one_document_are_those_of_the_others(
    sources: dict[str, list[Document]],
) -> None:
    metric = AgreementMetric(tuple(sources))
    ids = sorted({each.id for documents in sources.values() for each in documents})
    texts = [
        [Group(tuple({d.id: d for d in documents}.get(name) for documents in sources.values()))]
        for name in ids
    ]
    plan = Plan((metric,), units="document", sides=tuple(sources))
    tallies = [tally for *_, tally in count(texts, plan, ["label"]).tallies_of([metric], ["label"])]
    whole = added((tally, 1) for tally in tallies)
    for number, tally in enumerate(tallies):
        rest = Tally(whole)
        rest.subtract(tally)
        others = added((each, 1) for n, each in enumerate(tallies) if n != number)
        assert metric.numbers(rest).with_intervals() == metric.numbers(others).with_intervals()


def test_a_position_outside_all_spans_is_counted_once_for_all() -> None:
    assert same_key(0b101) == (1, 1, 0b101)  # an annotator lacks the document
    sources = {"A": [document("d", 100_000, (5, 6, "X"))], "B": [document("d", 100_000, (5, 6, "X"))]}

    assert of(sources, "exact")["coefficients"]["positions"]["all"]["items"] == 100_000


def test_numbers_are_those_of_the_report() -> None:
    metric = AgreementMetric(("A", "B", "C"))
    texts = [
        [Group(tuple({each.id: each for each in of}.get(name) for of in (A, B, C)))] for name in ("d1", "d2")
    ]
    bag = count(texts, Plan((metric,), sides=metric.annotators)).grouped(lambda place: ())
    ((*_, tally),) = bag.tallies_of([metric], ["label"])
    of_sequence = metric.scores(tally, [])

    for path, value in metric.numbers(tally).with_intervals().items():
        entry: Any = of_sequence
        for key in path.split("."):
            entry = entry[key]
        assert entry == value


# bratiaa


@pytest.mark.long
@pytest.mark.parametrize("seed", range(10))
def test_exact_is_the_f1_of_bratiaa(tmp_path: Path, seed: int) -> None:
    bratiaa = pytest.importorskip("bratiaa")
    write_project(tmp_path, Random(seed))
    sources = {
        name: [brat_document(path) for path in sorted((tmp_path / name).glob("*.ann"))]
        for name in ("anna", "bob", "carl")
    }

    expected = bratiaa.compute_f1_agreement(str(tmp_path))
    f1 = of(sources, "exact")["f1"]["exact"]
    matrix = [[1.0 if i == j else value for j, value in enumerate(row)] for i, row in enumerate(f1["matrix"])]

    assert matrix == pytest.approx(expected.compute_total_f1_matrix())
    assert (f1["mean"], f1["sd"]) == pytest.approx(expected.mean_sd_total())
    for label, mean, sd in zip(expected.labels, *expected.mean_sd_per_label(), strict=True):
        assert (f1["per_label"][label]["mean"], f1["per_label"][label]["sd"]) == pytest.approx((mean, sd))


def brat_document(path: Path) -> Document:
    rows = [line.split("\t")[1].split() for line in path.read_text(encoding="utf-8").splitlines()]
    return document(path.stem, len(TEXT), *[(int(start), int(end), label) for label, start, end in rows])
