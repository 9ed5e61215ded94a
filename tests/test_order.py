"""Order changes no number: that of documents, of layers, of spans, and of labels in one place; nor do ids of spans.

Whatever the metric, its settings and the options, a corpus gives the same result in any order, and rows in memory give
that of the same rows in a file. Three orders are part of the annotation, and stay out of these properties:

* that of the members of a group of alternatives: the first is the main one;
* that of FairEval's own files, which breaks ties as FairEval does;
* the ids of GATE's own files (XML and bdoc), which break ties as GATE does.
"""

from __future__ import annotations

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
from clueval.exceptions import CluevalError
from clueval.metrics import METRICS, metric_named
from clueval.metrics.metric import Metric
from clueval.spans.document import Sentence

pytest.importorskip("rapidfuzz")

Options = dict[str, Any]
Corpus = Sequence[Sequence[Document]]
"""Gold, predicted, and another gold, which have the same texts."""


# Metrics and their settings

LABELS = ("A", "B", "A.b", "A.c", "B.b.c")

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


# Options


@st.composite
def options(draw: st.DrawFn, of_tokens: bool, flat: bool) -> Options:
    """A few options of `score` that change what is counted; ``any_of`` is True if there is another gold."""
    more: list[Options] = [
        {"by": "domain"},
        {"by": ["document", "domain"]},
        {"where": ["x=A"]},
        {"where": ["y=B", "y=A.b"]},
        {"where": ["domain=a"]},
        {"where": ["x=A", "domain=b"]},
        {"label_map": {"A": "B", "*": "*"}},
        {"gold_map": {"B": "", "*": "*"}},
        {"predicted_map": {"A": "B", "B": "A", "*": "*"}},
        {"untyped": True},
        {"generic": ["A"]},
        {"generic_gold": ["B"]},
        {"hierarchy": ".", "depth": 1},
        {"hierarchy": ".", "by_depth": True},
        {"ignore_layer": ["y"]},
        {"ignore_layer": ["y"], "ignored": "touching"},
        {"ignore_label": ["A"]},
        {"ignore_label": ["A", "B"], "ignored": "touching", "ignore_same_label": True},
        {"fragments": "split"},
        {"fragments": "hull"},
        {"min_score": 0.5, "score_feature": "score"},
        {"score_feature": "score"},
        {"score_feature": "score", "thresholds": [0.25, 0.5]},
        {"any_of": True},
        {"alternatives": True},
        {"average": "document"},
        {"resample_by": "document", "intervals": True},
        {"resample_by": "domain", "intervals": True},
        {"resample_by": "sentence", "intervals": True, "method": "percentile", "resamples": 100},
        {"align": True},
    ]
    if of_tokens:
        more.append({"unit": "character"})
    if flat:
        more.append({"merge": True})
    found: Options = {}
    for each in draw(st.lists(st.sampled_from(more), max_size=2)):
        found |= each
    return found


# Corpora


@st.composite
def layer(draw: st.DrawFn, length: int, flat: bool) -> list[Span]:
    """The spans of a layer; unless they are `flat`, they overlap, and some have several labels in one place."""
    number = draw(st.integers(0, 5))
    spans: list[Span] = []
    for _ in range(number):
        start, end = sorted(draw(st.tuples(st.integers(0, length), st.integers(0, length))))
        if spans and not flat and draw(st.integers(0, 2)) == 0:
            start, end = spans[-1].start, spans[-1].end
        features: dict[str, Any] = {"score": draw(st.sampled_from([0.25, 0.5, 0.75]))}
        for name in ("kind", "note"):
            if draw(st.integers(0, 2)) == 0:
                features[name] = draw(st.sampled_from(["1", 1, "2", True]))
        parts = None
        if end - start > 2 and not flat and draw(st.integers(0, 3)) == 0:
            parts = ((start, start + 1), (end - 1, end))
        span = Span(start, end, draw(st.sampled_from(LABELS)), features, parts=parts)
        if not flat or not any(span.overlaps(o) or (span.start, span.end) == (o.start, o.end) for o in spans):
            spans.append(span)
    return spans


@st.composite
def corpora(draw: st.DrawFn, of_tokens: bool, flat: bool) -> Corpus:
    """Three parallel lists of documents. Layers may lack in some documents, and on one side."""
    sides: tuple[list[Document], ...] = ([], [], [])
    for number in range(draw(st.integers(1, 3))):
        length = draw(st.integers(0, 9))
        domain = draw(st.sampled_from("ab"))
        text = "".join(draw(st.lists(st.sampled_from("ab "), min_size=length, max_size=length)))
        cut = draw(st.integers(0, length))
        for side in sides:
            layers = {name: draw(layer(length, flat)) for name in "xyz" if draw(st.integers(0, 3)) != 0}
            document = Document(
                f"d{number}",
                layers,
                text=None if of_tokens else text,
                tokens=[char * 2 for char in text] if of_tokens else None,
                unit="token" if of_tokens else "character",
                sentences=[Sentence(0, cut), Sentence(cut, length)] if 0 < cut < length else [],
                metadata={"domain": domain},
            )
            side.append(document)
    return sides


TABLE = "document\tstart\tend_exclusive\tx\nd0\t0\t2\tA\nd0\t1\t4\tB\n"


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
    given = dict(options)
    if given.pop("any_of", False):
        given["any_of"] = [other]
    if given.pop("alternatives", False):
        given["alternatives"] = folder / "alternatives.tsv"
        given["alternatives"].write_text(TABLE)
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


@pytest.mark.filterwarnings("ignore::clueval.exceptions.CluevalWarning")
@given(cases(), st.randoms(use_true_random=False))
def test_order_of_documents_layers_spans_and_labels_in_one_place_changes_no_number(
    tmp_path: Path, case: tuple[Corpus, list[Metric], Options], rng: random.Random
) -> None:
    corpus, metrics, chosen = case

    expected = outcome(corpus, metrics, chosen, tmp_path)

    event("refused" if expected == "refused" else "scored")
    found = outcome(reordered(corpus, rng), metrics, chosen, tmp_path)
    assert [*differences(expected, found)] == []
