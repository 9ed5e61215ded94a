"""Random texts with groups of alternatives and scores, and random options that change documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

from clueval.core.document import Document
from tests.random_corpora import KINDS, SIZE, corpus, some_spans

LABELS = ["A", "B", "C", "A.x"]

HIERARCHY = "A\n  B\n    A.x\nC\n"

Texts = Sequence[tuple[Sequence[Document], Document]]
"""Of each text, the golds and the predicted document."""


# Random corpora and options


def texts(random: Random) -> Texts:
    """Return the texts of a random corpus with groups of alternatives and scores."""
    kind = random.choice(KINDS)
    made = corpus(random, kind, LABELS, spans=6)  # type: ignore[arg-type]  # any sequence of labels
    golds = random.choice([1, 1, 1, 2, 3])
    with_groups, missing = random.random() < 0.4, random.random() < 0.05
    found = []
    for gold, predicted in zip(made.gold, made.predicted, strict=True):
        several = [gold]
        for _ in range(golds - 1):
            layers = {
                name: list(spans)
                if random.random() < 0.3
                else some_spans(random, kind, LABELS, random.randint(0, 6))  # type: ignore[arg-type]
                for name, spans in gold.layers.items()
            }
            several.append(replace(gold, layers=layers))
        if with_groups:
            several = [_grouped(random, each) for each in several]
            if random.random() < 0.05:
                predicted = _grouped(random, predicted)
        found.append((several, _scored(random, predicted, missing)))
    return found


def _grouped(random: Random, document: Document) -> Document:
    """Return a document in which some spans are alternatives of others."""
    layers = {}
    for name, spans in document.layers.items():
        layers[name] = []
        for span in spans:
            features: dict[str, Any] = dict(span.features)
            if random.random() < 0.6:
                features["group"] = random.choice([1, 2, "1", (1,)])
            if random.random() < 0.1:
                features["optional"] = True
            layers[name].append(replace(span, features=features))
    return replace(document, layers=layers)


def _scored(random: Random, document: Document, missing: bool) -> Document:
    layers = {
        name: [
            replace(span, features={**span.features, "score": random.choice([0, 0.25, "0.5", 0.75, 1])})
            if not missing or random.random() < 0.9
            else span
            for span in spans
        ]
        for name, spans in document.layers.items()
    }
    return replace(document, layers=layers)


def some_options(random: Random, folder: Path, given: Texts) -> dict[str, Any]:
    """Return random options that change documents."""
    options: dict[str, Any] = {}

    def is_chosen(share: float = 0.2) -> bool:
        return random.random() < share

    if is_chosen():
        options["alternatives"] = _table(random, folder, given)
    if is_chosen():
        options["label_map"] = _map(random, folder)
    elif is_chosen():
        for side in ("gold_map", "predicted_map"):
            if is_chosen(0.7):
                options[side] = _map(random, folder)
    if is_chosen(0.3):
        options["hierarchy"] = "." if is_chosen(0.4) else _file(folder, "tree.txt", HIERARCHY)
        if is_chosen(0.6):
            options["depth"] = random.choice([1, 2, 2, 3])
    if is_chosen():
        options["generic"] = random.choice(["A", "A,C", ["C", "B"], "A,Z"])
    elif "depth" not in options:
        options.pop("hierarchy", None)
    if is_chosen():
        value = random.choice(["0.5", '{"A": 0.5, "B": 0.3, "C": 0.2, "A.x": 0.9, "_": 0}', '{"A": 1}'])
        content = f'{{"threshold": {value}, "score_feature": "score", "metric": "exact", "measure": "f1"}}'
        options["min_score"] = _file(folder, "threshold.json", content)
        options["same_data"] = is_chosen(0.5)
    if is_chosen():
        options["ignore_label"] = random.choice(["B", "A,C", "Z"])
        options["ignore_same_label"] = is_chosen(0.4)
    if is_chosen(0.15):
        options["ignore_layer"] = random.choice(["y", "y", "z"])
    if ("ignore_label" in options or "ignore_layer" in options) and is_chosen(0.4):
        options["ignored"] = "touching"
    if is_chosen():
        options["untyped"] = True
    if is_chosen(0.3):
        options["fragments"] = random.choice(["split", "hull", "keep"])
    if is_chosen():
        options["merge"] = True
    if is_chosen(0.15):
        options["where"] = random.choice([{"x": ["A"]}, {"m": ["0"]}, {"x": ["A", "B"], "m": ["1"]}])
    if len(given[0][0]) > 1:
        options["any_of"] = [[golds[number] for golds, _ in given] for number in range(1, len(given[0][0]))]
    return options


def _file(folder: Path, name: str, content: str) -> str:
    path = folder / name
    path.write_text(content, encoding="utf-8")
    return str(path)


def _map(random: Random, folder: Path) -> Any:
    names = {
        label: random.choice(["A", "B", "C", "", label]) for label in LABELS[: random.choice([2, 3, 4, 4, 4])]
    }
    if random.random() < 0.6:
        names["*"] = random.choice(["*", ""])
    if random.random() < 0.5:
        return names
    return _file(folder, f"map{random.randint(0, 9)}.tsv", "".join(f"{a}\t{b}\n" for a, b in names.items()))


def _table(random: Random, folder: Path, given: Texts) -> str:
    """Return the path of a table of alternatives, mostly of spans that there are."""
    name = random.choice(["end", "end_inclusive", "end_exclusive", "end_exclusive"])
    past = 0 if name == "end_exclusive" else 1
    rows = [f"document\tstart\t{name}\tx\tof_start\tof_{name}"]
    for golds, _ in given:
        for span in golds[0].layers.get("x", ()):
            if random.random() < 0.3 and span.end > span.start:
                start = max(0, span.start - random.randint(0, 1))
                end = min(SIZE, max(start + 1, span.end + random.randint(-1, 1)))
                of = f"{span.start}\t{span.end - past}" if random.random() < 0.5 else "\t"
                label = random.choice(["", "A", span.label])
                rows.append(f"{golds[0].id}\t{start}\t{end - past}\t{label}\t{of}")
    if random.random() < 0.05:
        rows.append("9\t0\t1\tA\t\t")
    return _file(folder, "alternatives.tsv", "\n".join(rows) + "\n")
