"""Agreement of annotators against other programs and definitions, and what must change nothing."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import combinations, pairwise, permutations
from pathlib import Path
from random import Random
from typing import Any

import pytest
from corpora import write
from hypothesis import given
from hypothesis import strategies as st
from strategies import at_most
from test_agree import A, B, C, Row, document, of

from clueval import agree
from clueval.core.bag import Bounds
from clueval.core.case import Case
from clueval.core.count import Plan, count
from clueval.core.document import Document, Group
from clueval.core.metric import Tally, added
from clueval.core.span import Span
from clueval.studies.agreement.conventions import CONVENTIONS, chosen_conventions
from clueval.studies.agreement.metric import AgreementMetric
from tests.random_corpora import difference

LENGTH = 9

DOMAINS = [
    ("positions", "all"),
    ("positions", "any"),
    ("positions", "both"),
    ("spans", "any"),
    ("spans", "both"),
]


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


# Other programs


@pytest.mark.parametrize(("items", "which"), DOMAINS)
@given(sources=studies(flat=False))
def test_kappa_of_items_is_that_of_scikit_learn(
    items: str, which: str, sources: dict[str, list[Document]]
) -> None:
    from sklearn.metrics import cohen_kappa_score  # large packages are imported where they are used

    agreement = of(sources, conventions="exact")["coefficients"][items][which]
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

    own = of(sources, conventions="exact")["coefficients"][items][which]
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

    own = of(sources, conventions="exact")["coefficients"]["positions"]["all"]
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


TEXT = "word " * 20
LABELS = ("LOC", "ORG", "PER")


def write_project(folder: Path, chance: Random) -> None:
    """Write a brat folder for each of three annotators, who often agree."""
    write(folder / "annotation.conf", "[entities]\nLOC\nORG\nPER\n[relations]\n[events]\n[attributes]\n")
    for number in range(4):
        usual = [(place, chance.choice(LABELS)) for place in chance.sample(range(15), 6)]
        for name in ("anna", "bob", "carl"):
            (folder / name).mkdir(exist_ok=True)
            own = {(place, place + chance.choice([1, 1, 2]), label) for place, label in usual}
            own |= {(16 + at, 17 + at, chance.choice(LABELS[: at + 1])) for at in range(3)}
            lines = [
                f"T{n}\t{label} {5 * start} {5 * end - 1}\t{TEXT[5 * start : 5 * end - 1]}\n"
                for n, (start, end, label) in enumerate(sorted(own), 1)
            ]
            write(folder / name / f"d{number}.txt", TEXT)
            write(folder / name / f"d{number}.ann", "".join(lines))


@pytest.mark.long
@pytest.mark.parametrize("seed", range(10))
def test_exact_is_the_f1_of_bratiaa(tmp_path: Path, seed: int) -> None:
    bratiaa = pytest.importorskip("bratiaa")
    write_project(tmp_path, Random(seed))

    expected = bratiaa.compute_f1_agreement(str(tmp_path))
    f1 = agree(tmp_path, conventions="exact").to_dict()["agreement"]["label"]["f1"]["exact"]
    matrix = [[1.0 if i == j else value for j, value in enumerate(row)] for i, row in enumerate(f1["matrix"])]

    assert expected.annotators == ["anna", "bob", "carl"]
    assert matrix == pytest.approx(expected.compute_total_f1_matrix())
    assert (f1["mean"], f1["sd"]) == pytest.approx(expected.mean_sd_total())
    by_label = zip(expected.labels, *expected.mean_sd_per_label(), strict=True)
    for label, mean, sd in by_label:
        assert (f1["per_label"][label]["mean"], f1["per_label"][label]["sd"]) == pytest.approx((mean, sd))


# Definitions


@given(studies(flat=False))
def test_exact_is_the_f1_of_sets_as_bratiaa_counts(sources: dict[str, list[Document]]) -> None:
    f1 = of(sources, conventions="exact")["f1"]["exact"]
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


@pytest.mark.few(4)
@pytest.mark.parametrize("key", [each.key for each in CONVENTIONS if each.key != "seqeval_strict"])
@given(sources=studies(annotators=2))
@at_most(8)
def test_f1_of_two_is_that_of_clueval_conventions(key: str, sources: dict[str, list[Document]]) -> None:
    from clueval import conventions

    found = of(sources, conventions=[key])["f1"][key]["matrix"][0][1]
    one, other = sources.values()
    name = "conlleval" if key == "exact" else key
    expected = conventions(one, other).to_dict()["conventions"]["label"][name]["f1"]

    if any(each.layers["label"] for each in (*one, *other)):
        assert found == pytest.approx(expected)
    else:
        assert found is None


@given(studies())
def test_unitizing_is_the_definition_position_by_position(sources: dict[str, list[Document]]) -> None:
    """Expected coincidences as in Krippendorff et al. 2016; see specs: u, binary, cu and those of labels."""
    own = of(sources, conventions="exact")["unitizing"]
    pairs: dict[tuple[str, str], Fraction] = defaultdict(Fraction)
    squares: dict[str, Fraction] = defaultdict(Fraction)
    overlaps: dict[str, Fraction] = defaultdict(Fraction)
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
                pairs[c, k] += Fraction(1, m - 1)
        for name, own_spans in by_name.items():
            for start, end, label in own_spans:
                squares[label] += (end - start) ** 2
                both = sum(bool(values[j][at]) for j in values if j != name for at in range(start, end))
                overlaps[label] += Fraction(both, m - 1) ** 2
    squares[""] = sum((n for (c, _), n in pairs.items() if not c), start=Fraction(0))
    inside = {pair: n for pair, n in pairs.items() if all(pair)}

    assert own["u"] == pytest.approx(alpha(pairs, squares))
    assert own["binary"] == pytest.approx(alpha(pairs, squares, only=""))
    assert own["cu"] == pytest.approx(alpha(inside, overlaps))
    found = {label: each["alpha"] for label, each in own["per_label"].items() if each["coverage"]}
    assert found == pytest.approx({label: alpha(inside, overlaps, only=label) for label, _ in inside})


def alpha(
    pairs: Mapping[tuple[str, str], Fraction], alone: Mapping[str, Fraction], only: str | None = None
) -> float | None:
    """1 - observed / expected pairs of two values, where e_ck = T (l_c l_k - [c = k] alone_c) / (T^2 - sum alone).

    With `only`, pairs of this value with others; those of a label as often as all of its pairs are expected.
    """
    sums = {c: sum(n for (a, _), n in pairs.items() if a == c) for c, _ in pairs}
    total = sum(sums.values())
    whole = total**2 - sum(alone.values())
    if not whole:
        return None
    e = {
        (c, k): total * (sums[c] * sums[k] - (c == k) * alone.get(c, 0)) / Fraction(whole)
        for c in sums
        for k in sums
    }
    of_two = [(c, k) for c, k in e if c != k and only in (None, c)]
    observed, expected = (sum(table.get(pair, Fraction(0)) for pair in of_two) for table in (pairs, e))
    if only:
        observed *= sum(e[only, k] for k in sums) / sums[only]
    return float(1 - observed / expected) if expected else None


# What changes nothing


@given(studies(flat=False), st.permutations("ABC"))
def test_another_order_of_annotators_permutes_the_matrices_and_changes_nothing_else(
    sources: dict[str, list[Document]], order: list[str]
) -> None:
    one, other = numbers_of(sources), numbers_of({name: sources[name] for name in order})
    places = ["ABC".index(name) for name in order]

    for report_ in (one, other):
        for key in report_["f1"].values():
            key["annotators"] = dict(sorted(key["annotators"].items()))
        report_["spans"] = dict(sorted(report_["spans"].items()))
    assert difference(permuted(one, places), other) is None


def numbers_of(sources: Mapping[str, Sequence[Document]]) -> dict[str, Any]:
    """The agreement without its notes, which name the first spans that overlap in the order of what was given."""
    return {**of(sources), "notes": []}


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

    one, two = numbers_of(sources), numbers_of(other)
    assert difference(renamed(one), two) is None


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

    assert numbers_of(sources) == numbers_of(other)


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


def tallies_of(
    metric: AgreementMetric,
    sources: Mapping[str, Sequence[Document]],
    units: Any = None,
    bounds: Bounds = Bounds(),  # noqa: B008  # it cannot be changed
) -> list[Tally]:
    """What is counted of each document, or of all."""
    sides = [{each.id: each for each in documents} for documents in sources.values()]
    ids = dict.fromkeys(each.id for documents in sources.values() for each in documents)
    texts = [[Group(tuple(side.get(name) for side in sides))] for name in ids]
    bag = count(texts, Plan((metric,), units=units, sides=metric.annotators), ["label"], bounds)
    if units is None:
        bag = bag.grouped(lambda place: ())
    return [tally for *_, tally in bag.tallies_of([metric], ["label"])]


@given(studies(flat=False), st.integers(0, 3))
def test_sums_are_the_same_if_few_cases_are_kept(sources: dict[str, list[Document]], keys: int) -> None:
    metric = AgreementMetric(tuple(sources))

    assert tallies_of(metric, sources) == tallies_of(metric, sources, bounds=Bounds(keys, 1000))


@given(studies(flat=False))
def test_the_sums_of_a_corpus_less_one_document_are_those_of_the_others(
    sources: dict[str, list[Document]],
) -> None:
    metric = AgreementMetric(tuple(sources))
    tallies = tallies_of(metric, sources, "document")
    whole = added((tally, 1) for tally in tallies)
    for number, tally in enumerate(tallies):
        rest = Tally(whole)
        rest.subtract(tally)
        others = added((each, 1) for n, each in enumerate(tallies) if n != number)
        assert metric.numbers(rest).with_intervals() == metric.numbers(others).with_intervals()


def test_numbers_with_intervals_are_those_of_the_report() -> None:
    metric = AgreementMetric(("A", "B", "C"))
    (tally,) = tallies_of(metric, {"A": A, "B": B, "C": C})
    report = metric.scores(tally, [])

    for path, value in metric.numbers(tally).with_intervals().items():
        entry: Any = report
        for key in path.split("."):
            entry = entry[key]
        assert entry == value
