"""Order changes no number: that of documents, of layers, of spans, and of labels in one place; nor do ids of spans.

Whatever the metric, its settings and the options, a corpus gives the same result in any order, and rows in memory give
that of the same rows in a file. Some orders are part of the annotation, and stay out of these properties:

* that of the members of a group of alternatives: the first is the main one;
* that of FairEval's own files, which breaks ties as FairEval does;
* the ids of GATE's own files (XML and bdoc), which break ties as GATE does.

So do two orders that are no ties: mentions of a language model are looked for in their order, and TAB's program takes
the type of the first mention in its own files.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, event, given
from hypothesis import strategies as st

import clueval
from clueval import Document, Span
from clueval.core.metric import AnyMetric as Metric
from clueval.files.errors import CluevalError, UsageError
from clueval.metrics import METRICS, metric_named
from clueval.results.result import Result
from tests.random_options import Corpus, Options, as_given, corpora, layer, options

pytest.importorskip("rapidfuzz")


# Metrics and their settings

SETTINGS: dict[str, dict[str, Sequence[Any]]] = {
    "levels": {},
    "exact": {"min_overlap": [None, 0.3, 0.5], "overlap_of": ["gold", "union"]},
    "fair": {
        "focus": ["target", "system"],
        "weights": [None, "LE = 0.5 FP + 0.5 FN, BES = 0.5 TP + 0.5 FN"],
        "labels": [(), ("A", "B")],
        "exclude": [("NONE", "EMPTY"), ("A",)],
    },
    "partial": {"factor": [0.75, 0.5], "glue": [False, True], "betas": [(), (2.0,)]},
    "noisy": {"threshold": [0.3, 0.6]},
    "gate": {
        "types": [(), ("A", "B"), ("A=B",)],
        "features": [(), ("kind",), ("kind", "note"), ("A[kind]",)],
        "feature_comparison": ["equality", "string", "subsumption"],
        "pairing": ["plugin", "by-response", "by-target"],
        "score_feature": [None, "score"],
        "thresholds": [None, (0.5,)],
        "nil": [None, "1"],
        "containing": [None, "y"],
        "containment": ["overlapping", "containing", "coextensive"],
        "by": [(), ("kind",), ("note", "kind")],
        "beta": [1.0, 2.0],
    },
    "muc": {},
    "confusion": {},
    "strings": {},
    "coverage": {},
    "masking": {
        "risk_layer": [None, "y", "kind"],
        "risk_order": [("B", "A"), ("2", "1")],
        "keep": [("NO_MASK",), ("A",)],
        "masks": [(), ("x",), ("all",)],
        "entity": ["entity_id", "kind", "y"],
        "annotators": [(), ("all",), ("x", "y")],
        "token_weights": [False],
    },
}
"""The values of the settings of each metric that are tried; settings that are files or numbers of a limit are not."""

OVERLAPPING = [name for name in METRICS if name not in ("levels", "confusion")]
"""The metrics that count spans that overlap others of their layer."""


@st.composite
def chosen_metrics(draw: st.DrawFn, names: Sequence[str]) -> list[Metric]:
    """One or two metrics, with some settings."""
    found = []
    for name in draw(st.lists(st.sampled_from(names), min_size=1, max_size=2, unique=True)):
        settings = {}
        for setting, values in SETTINGS[name].items():
            value = draw(st.sampled_from(values)) if draw(st.booleans()) else values[0]
            if value is not values[0]:
                settings[setting] = value
        if "score_feature" not in settings:
            settings.pop("thresholds", None)
        if "features" not in settings:
            settings.pop("nil", None)
        try:
            found.append(metric_named(name, **settings))
        except CluevalError:
            assume(False)
    return found


def reordered(corpus: Corpus, rng: random.Random) -> Corpus:
    """The corpus in another order, with other ids of spans."""
    order = list(range(len(corpus[0])))
    rng.shuffle(order)
    return [[_reordered(side[number], rng) for number in order] for side in corpus]


def _reordered(document: Document, rng: random.Random) -> Document:
    layers = list(document.layers.items())
    rng.shuffle(layers)
    found: dict[str, list[Span]] = {}
    for name, spans in layers:
        found[name] = [replace(span, id=rng.choice([None, rng.randrange(9), "T1"])) for span in spans]
        rng.shuffle(found[name])
    return replace(document, layers=found)


# Outcomes


def outcome(corpus: Corpus, metrics: Sequence[Metric], options: Options, folder: Path) -> Any:
    """All numbers of a result, or that it was refused: which of two reasons is found first may depend on the order."""
    gold, predicted, other = corpus
    given = as_given(options, other, folder)
    try:
        return sorted_names(clueval.score(gold, predicted, metrics=metrics, **given).to_dict())
    except CluevalError:
        return "refused"


def sorted_names(value: Any, key: str = "") -> Any:
    """A result in which joined labels of merged spans are in alphabetical order, as lists of spans are.

    The labels of a merged span are joined in the order of the layers.
    """
    if isinstance(value, Mapping):
        return {sorted_names(name): sorted_names(part, name) for name, part in value.items()}
    if isinstance(value, list):
        parts = [sorted_names(part) for part in value]
        return sorted(parts, key=repr) if key in ("unprojected", "remarks") else parts
    return "|".join(sorted(value.split("|"))) if isinstance(value, str) and key != "signature" else value


def differences(one: Any, other: Any, path: str = "") -> Iterator[str]:
    """Where two results differ."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        for name in {**one, **other}:
            yield from differences(one.get(name), other.get(name), f"{path}.{name}")
    elif one != other or type(one) is not type(other):
        yield f"{path[1:]}: {one!r} {other!r}"


# The properties


@st.composite
def cases(draw: st.DrawFn) -> tuple[Corpus, list[Metric], Options]:
    of_tokens, flat = draw(st.booleans()), draw(st.integers(0, 3)) == 0
    metrics = draw(chosen_metrics(list(METRICS) if flat else OVERLAPPING))
    return draw(corpora(of_tokens, flat)), metrics, draw(options(of_tokens, flat))


@pytest.mark.filterwarnings("ignore::clueval.files.errors.CluevalWarning")
@given(cases(), st.randoms(use_true_random=False))
def test_order_of_documents_layers_spans_and_labels_in_one_place_changes_no_number(
    tmp_path: Path, case: tuple[Corpus, list[Metric], Options], rng: random.Random
) -> None:
    corpus, metrics, chosen = case

    expected = outcome(corpus, metrics, chosen, tmp_path)

    event("refused" if expected == "refused" else "scored")
    found = outcome(reordered(corpus, rng), metrics, chosen, tmp_path)
    assert [*differences(expected, found)] == []


def test_gate_uses_the_ids_of_its_own_files_only(tmp_path: Path) -> None:
    """[2,5) A has the greater id in GATE's files, so it wins the tie that B wins in memory."""
    spans = [(0, 2, "A", 1), (1, 2, "A", 2), (2, 5, "A", 9), (2, 5, "B", 3)]
    annotations = [
        {**dict(zip(("start", "end", "type", "id"), span, strict=True)), "features": {}} for span in spans
    ]
    sets = {"": {"name": "", "annotations": annotations}}
    content = json.dumps({"text": "abcdef", "offset_type": "p", "annotation_sets": sets})
    (tmp_path / "a.bdocjs").write_text(content)
    text = "".join(f'<Node id="{place}"/>{letter}' for place, letter in enumerate("abcdef"))
    elements = "".join(
        '<Annotation StartNode="{}" EndNode="{}" Type="{}" Id="{}"/>'.format(*span) for span in spans
    )
    content = f"<TextWithNodes>{text}</TextWithNodes><AnnotationSet>{elements}</AnnotationSet>"
    (tmp_path / "a.xml").write_text(f"<GateDocument>{content}</GateDocument>")
    sides = [list(clueval.read(tmp_path / name, annotation_set="")) for name in ("a.bdocjs", "a.xml")]
    layers = {"label": [Span(start, end, "A") for start, end in ((0, 3), (1, 3), (2, 3))]}
    gold = [replace(sides[0][0], layers=layers, ordered=False)]
    sides.append([replace(sides[0][0], ordered=False)])

    lenient = [clueval.score(gold, side, metrics="gate").get("gate.label.all.f1_lenient") for side in sides]

    assert lenient == pytest.approx([6 / 7, 6 / 7, 4 / 7])


@pytest.mark.parametrize("gold", [[(5, 8, "C"), (4, 7, "C")], [(4, 7, "C"), (5, 8, "C")]])
def test_fair_pairs_spans_of_a_list_by_position(tmp_path: Path, gold: list[tuple[int, int, str]]) -> None:
    """[4,7) chooses first: it shares one token with [6,9), an LBE; [5,8) shares another one, a second LBE."""
    sides = [
        [
            {
                "id": "d",
                "text": "x" * 9,
                "spans": [dict(zip(("start", "end", "label"), s, strict=True)) for s in side],
            }
        ]
        for side in (gold, [(6, 9, "A")])
    ]
    for name, side in zip(("gold", "predicted"), sides, strict=True):
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(side[0]) + "\n")

    results = [
        clueval.score([gold], [[(6, 9, "A")]], metrics="fair"),
        clueval.score(*sides, metrics="fair"),
        clueval.score(tmp_path / "gold.jsonl", tmp_path / "predicted.jsonl", metrics="fair"),
    ]

    found = [result.metrics["fair"]["label"]["overall"]["fair"] for result in results]
    assert [(counts["LBE"], counts["FN"]) for counts in found] == [(2, 0)] * 3


def test_fair_keeps_the_order_of_its_own_files(tmp_path: Path) -> None:
    """[5,8) chooses first, and both shared tokens with [6,9) are gone: [4,7) is missed."""
    (tmp_path / "gold.csv").write_text("C\t6\t8\t6, 7, 8\nC\t5\t7\t5, 6, 7\n")
    (tmp_path / "predicted.csv").write_text("A\t7\t9\t7, 8, 9\n")
    files = tmp_path / "gold.csv", tmp_path / "predicted.csv"

    results = [
        clueval.score(*files, metrics="fair"),
        clueval.score(*map(clueval.read, files), metrics="fair"),
    ]

    found = [result.metrics["fair"]["label"]["overall"]["fair"] for result in results]
    assert [(counts["LBE"], counts["FN"]) for counts in found] == [(1, 1)] * 2


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_layer_counts_in_documents_before_its_first(order: tuple[int, int]) -> None:
    """y is wrong at one of 4 + 6 positions; a filter on it keeps the document without it."""
    gold = [
        Document("d0", {"x": []}, text="abcd", unit="character"),
        Document("d1", {"x": [], "y": [Span(0, 1, "A")]}, text="abcdef", unit="character"),
    ]
    predicted = [gold[0], replace(gold[1], layers={"x": [], "y": []})]
    sides = [[side[number] for number in order] for side in (gold, predicted)]

    result = clueval.score(*sides, metrics="exact,noisy")

    assert result.get("exact.y.token_accuracy") == pytest.approx(0.9)
    assert result.get("noisy.y.file_mean.documents") == 2
    assert clueval.score(*sides, metrics="exact", where=["y=A"]).documents == 2


# Files and memory


@st.composite
def rows(draw: st.DrawFn, texts: Sequence[str]) -> list[Options]:
    """A row with spans, in any order, for each text."""
    found = []
    for number, text in enumerate(texts):
        spans = []
        for span in draw(layer(len(text), draw(st.integers(0, 2)) == 0)):
            spans.append({"start": span.start, "end": span.end, "label": span.label})
            if span.parts is not None:
                spans[-1]["fragments"] = [list(part) for part in span.parts]
            spans[-1]["score"] = span.features["score"]
        found.append({"id": f"d{number}", "text": text, "spans": draw(st.permutations(spans))})
    return found


@st.composite
def row_cases(draw: st.DrawFn) -> tuple[list[Options], list[Options], list[Metric], Options]:
    texts = draw(st.lists(st.text("ab ", max_size=9), min_size=1, max_size=3))
    chosen = draw(options(of_tokens=False, flat=False))
    assume(not chosen.keys() & {"any_of", "alternatives", "ignore_layer"} and chosen.get("by") != "domain")
    return draw(rows(texts)), draw(rows(texts)), draw(chosen_metrics(list(METRICS))), chosen


@pytest.mark.filterwarnings("ignore::clueval.files.errors.CluevalWarning")
@given(row_cases(), st.randoms(use_true_random=False))
def test_rows_in_memory_in_any_order_give_what_the_same_rows_in_a_file_give(
    tmp_path: Path, case: tuple[list[Options], list[Options], list[Metric], Options], rng: random.Random
) -> None:
    gold, predicted, metrics, chosen = case
    files = []
    for name, side in (("gold", gold), ("predicted", predicted)):
        files.append(tmp_path / f"{name}.jsonl")
        files[-1].write_text("".join(json.dumps(row) + "\n" for row in side))
    shuffled = [
        [{**row, "spans": rng.sample(row["spans"], len(row["spans"]))} for row in side]
        for side in (gold, predicted)
    ]

    of_files, *of_memory = (numbers(sides, metrics, chosen) for sides in (files, (gold, predicted), shuffled))

    event("refused" if of_files == "refused" else "scored")
    assert [[*differences(of_files, each)] for each in of_memory] == [[], []]


def numbers(sides: Sequence[Any], metrics: Sequence[Metric], options: Options) -> Any:
    """The numbers of a result, without the signature and what was read."""
    try:
        found = clueval.score(*sides, metrics=metrics, **options).to_dict()
    except CluevalError:
        return "refused"
    return {
        name: found.get(name) for name in ("metrics", "by", "documents", "tokens", "intervals", "prepared")
    }


# Sums


@st.composite
def sums(draw: st.DrawFn) -> tuple[Corpus, list[Metric], Options, int]:
    of_tokens, flat = draw(st.booleans()), draw(st.integers(0, 2)) == 0
    metrics = draw(chosen_metrics([name for name in (METRICS if flat else OVERLAPPING) if name != "masking"]))
    chosen: Options = {"by": draw(st.sampled_from(["domain", "document", ["domain", "document"]]))}
    more: list[Options] = [
        {},
        {"resample_by": "document"},
        {"resample_by": "domain"},
        {"resample_by": "sentence"},
        {"where": ["domain=a"]},
        {"label_map": {"A": "B", "*": "*"}},
        {"hierarchy": ".", "depth": 1},
        {"merge": flat},
    ]
    corpus = draw(corpora(of_tokens, flat))
    assume(len(corpus[0]) > 1)
    chosen |= draw(st.sampled_from(more))
    cut = draw(st.integers(1, len(corpus[0]) - 1))
    if chosen.get("merge"):  # names of merged labels have the order in which the layers of a corpus occur
        whole = order_of_layers(corpus, slice(None))
        for part in (slice(cut), slice(cut, None)):
            own = order_of_layers(corpus, part)
            assume(own == [layer for layer in whole if layer in own])
    return corpus, metrics, chosen, cut


def order_of_layers(corpus: Corpus, part: slice) -> list[str]:
    """The layers of some documents in the order in which they occur."""
    pairs = zip(corpus[0][part], corpus[1][part], strict=True)
    return list(dict.fromkeys(layer for pair in pairs for document in pair for layer in document.layers))


@pytest.mark.filterwarnings("ignore::clueval.files.errors.CluevalWarning")
@given(sums(), st.booleans())
def test_results_by_value_add_up_to_the_result_of_all_documents(
    tmp_path: Path, case: tuple[Corpus, list[Metric], Options, int], saved: bool
) -> None:
    (gold, predicted, _), metrics, chosen, cut = case
    try:
        whole = clueval.score(gold, predicted, metrics=metrics, **chosen)
        parts = [
            clueval.score(gold[of_part], predicted[of_part], metrics=metrics, **chosen)
            for of_part in (slice(cut), slice(cut, None))
        ]
    except CluevalError:  # a part may lack a name that an option or a setting has
        return
    if saved:
        for number, part in enumerate(parts):
            parts[number] = loaded(part, tmp_path)

    total = parts[0] + parts[1]

    assert [*differences(summed(whole), summed(total))] == []
    assert [*differences(summed(whole), summed(loaded(total, tmp_path)))] == []


def loaded(result: Result, folder: Path) -> Result:
    """The result, saved and loaded again."""
    result.save(folder / "saved.clueval")
    return clueval.load_result(folder / "saved.clueval")


def summed(result: Result) -> Any:
    """The numbers of a result that a sum has, too."""
    found = sorted_names(result.to_dict())
    return {name: found.get(name) for name in ("metrics", "by", "documents", "tokens")}


def test_results_of_layers_merged_in_different_orders_are_not_added() -> None:
    def result(*layers: str) -> Result:
        documents = [
            Document("d", {layer: [Span(0, 1, "A")] for layer in layers}, text="ab", unit="character")
        ]
        return clueval.score(documents, documents, metrics="exact", merge=True)

    with pytest.raises(UsageError, match="merged in different orders"):
        result("x", "y") + result("y", "x")


def test_results_with_different_break_downs_are_not_added() -> None:
    side = [Document("d", {"x": [Span(0, 1, "A")]}, text="ab", unit="character", metadata={"domain": "a"})]
    results = [clueval.score(side, side, metrics="exact", by=by) for by in ("domain", ())]

    with pytest.raises(UsageError, match="broken down by domain and by nothing cannot be added"):
        results[0] + results[1]
