"""Random corpora, changed by the transforms of the first edition and by the steps of the second.

`compare` applies random options to random corpora and compares what both editions make of them: the documents, the
report of the metric exact by group, the numbers of changes, the choices in the signature, warnings and errors. For more
corpora than in the tests::

    python -m tests.second.compare_steps 5000 17
"""

from __future__ import annotations

import re
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import clueval
from clueval.core.bag import Bag
from clueval.core.count import Plan, Step, count, decided, sequences_of
from clueval.core.document import Document, Pair
from clueval.core.exact import Exact
from clueval.evaluation.run import score as first_score
from clueval.transforms.changes import in_counting_order
from clueval.transforms.options import Preparing
from clueval.transforms.saying import changes_of, checked, choices_of
from clueval.transforms.steps import steps_of
from clueval.transforms.applied import Preparation
from clueval.transforms.group import Group
from clueval.transforms.of_options import transforms_of
from tests.second.compare import KINDS, SIZE, corpus, difference, second, some_spans

COUNTING = ("by", "merge", "where")
"""The options that change no documents."""

LABELS = ["A", "B", "C", "A.x"]

HIERARCHY = "A\n  B\n    A.x\nC\n"

Texts = Sequence[tuple[Sequence[clueval.Document], clueval.Document]]
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
        found.append((list(map(_in_order, several)), _in_order(_scored(random, predicted, missing))))
    return found


def _in_order(document: clueval.Document) -> clueval.Document:
    """Return a document in the order in which the steps of the second edition take its spans."""
    given: Any = SimpleNamespace(layers=document.layers, ordered=False)
    return replace(document, layers={layer: in_counting_order(given, layer) for layer in document.layers})


def _grouped(random: Random, document: clueval.Document) -> clueval.Document:
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


def _scored(random: Random, document: clueval.Document, missing: bool) -> clueval.Document:
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
        options["min_score"] = random.choice([0.25, 0.6, 2])
        options["score_feature"] = "score"
        if is_chosen(0.5):
            value = random.choice(["0.5", '{"A": 0.5, "B": 0.3, "C": 0.2, "A.x": 0.9, "_": 0}', '{"A": 1}'])
            content = (
                f'{{"threshold": {value}, "score_feature": "score", "metric": "exact", "measure": "f1"}}'
            )
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
        options["by"] = "m"
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


# Both editions


def by_first(given: Texts, options: Mapping[str, Any]) -> dict[str, Any] | str:
    """Return what the first edition says of a corpus, or its error."""
    golds, predicted = [golds[0] for golds, _ in given], [each for _, each in given]
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            result = first_score(golds, predicted, metrics=["exact"], **options)
        except clueval.CluevalError as error:
            return without_preparing(str(error))
    own = {name: value for name, value in options.items() if name not in ("score_feature", *COUNTING)}
    preparation = Preparation(transforms_of(Preparing(**own), golds, options.get("score_feature")))
    groups = [preparation(Group(several[0], each, golds=tuple(several[1:]))) for several, each in given]
    return {
        "documents": [_spans(group.gold, group.predicted) for group in groups],
        "report": compared(result.metrics["exact"]),
        "groups": {
            value: compared(of["metrics"]["exact"])
            for value, of in (result.groups or {}).get("m", {}).items()
        },
        "changes": result.to_dict().get("prepared"),
        "choices": _choices(result.signature.choices),
        "warnings": [
            without_preparing(str(each.message)) for each in warned if "names count" in str(each.message)
        ],
    }


def by_second(given: Texts, options: Mapping[str, Any]) -> dict[str, Any] | str:
    """Return what the second edition says of a corpus, or its error."""
    pairs = [[Pair(second(gold), second(predicted)) for gold in golds] for golds, predicted in given]
    try:
        own = {name: value for name, value in options.items() if name not in ("score_feature", *COUNTING)}
        steps = steps_of(Preparing(**own), [], options.get("score_feature"))
        where = {name: frozenset(values) for name, values in options.get("where", {}).items()}
        by = (options["by"],) if "by" in options else ()
        plan = Plan((Exact(),), merge=options.get("merge", False), where=where, by=by, steps=steps)
        bag = decided(count(pairs, plan))
        groups = sorted({place.values[0] for place in bag.documents}) if by else []
        found = {value: _report(bag.grouped(lambda place: place.values), plan, (value,)) for value in groups}
        whole = _report(bag.grouped(lambda _: ()), plan, ())
        warned = checked(steps, bag.notes)
        documents = []
        for text in pairs:
            changed: Sequence[Pair] = text
            for step in steps:
                changed = step(changed)
            documents.append(_spans(*changed[0].sides))
    except clueval.CluevalError as error:
        return without_preparing(str(error))
    return {
        "documents": documents,
        "report": compared(whole),
        "groups": compared(found),
        "changes": changes_of(steps, bag.notes),
        "choices": choices_of(steps, bag.notes),
        "warnings": list(map(without_preparing, warned)),
    }


def _report(bag: Bag, plan: Plan, group: tuple[str, ...]) -> dict[str, Any]:
    """Return the report of a group."""
    return {
        sequence: metric.scores(tally, list(bag.layers) if plan.merge else [sequence])
        for place, sequence, metric, tally in bag.tallies_of(plan.metrics, sequences_of(bag, plan))
        if place == group
    }


def spans_of(document: clueval.Document | Document) -> dict[str, Any]:
    """Return the spans of a document of either edition, by layer, in an order of their own."""
    return {
        layer: sorted(
            (
                (span.start, span.end, dict(span.by_layer), dict(span.features), span.tokens, span.parts)
                for span in spans
            ),
            key=repr,
        )
        for layer, spans in document.layers.items()
        if spans
    }


def _spans(*documents: clueval.Document | Document) -> list[Any]:
    return list(map(spans_of, documents))


Outcome = dict[str, Any]
"""What a transform or a step makes of one pair."""


def outcome_of_pairs(step: Step, pair: Pair) -> Outcome | str:
    """Return what a step makes of a pair, or its error."""
    try:
        first, *beside = step([pair])
    except clueval.CluevalError as error:
        return str(error)
    assert not first.beside
    assert all(each.beside and each.positions == 0 for each in beside)
    return {
        "ids": [side.id for side in first.sides],
        "texts": [(side.text, side.tokens, side.unit, side.start) for side in first.sides],
        "documents": _spans(*first.sides),
        "beside": [spans_of(side) for each in beside for side in each.sides if any(side.layers.values())],
        "changes": {"/".join(key[1:]): number for key, number in sorted(first.notes.items()) if number},
    }


_STEPS = [
    "gold",
    "labels",
    "depth",
    "min-score",
    "generic",
    "ignored",
    "untyped",
    "fragments",
    "alternatives-table",
]


def compared(report: Any) -> Any:
    """Return a report without curves, and without what depends in the first edition on the order of the spans."""
    if not isinstance(report, Mapping):
        return report
    left_out = ("curve", "average_precision", "token_accuracy")
    return {key: compared(value) for key, value in report.items() if key not in left_out}


def _choices(choices: Mapping[str, str]) -> dict[str, str]:
    return {name: choices[name] for name in [*_STEPS[1:], "gold"] if name in choices}


def without_preparing(message: str) -> str:
    """Return a message with options as keywords."""
    return re.sub(r"\b(Preparing|Counting)\.", "", message)


def compare(number: int, seed: int) -> Counter[str]:
    """Count random corpora by how the editions agree: equal, refused by both, or where they differ."""
    random = Random(seed)
    found: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(number):
            given = texts(random)
            options = some_options(random, Path(folder), given)
            one, other = by_first(given, options), by_second(given, options)
            if isinstance(other, dict):
                other["choices"] = _choices(other["choices"])
            shown = {name: value for name, value in options.items() if name != "any_of"}
            if "where" in options and isinstance(one, str) and re.search("no (span|document) has", one):
                found["filtered"] += 1  # that is checked where the options of counting are
                continue
            if isinstance(one, str) or isinstance(other, str):
                # Of several golds, the first edition changes one after the other, so another error may come first; of
                # two spans that cannot be merged, another one.
                is_same = one == other or (
                    isinstance(one, str)
                    and isinstance(other, str)
                    and not {"any_of", "merge"}.isdisjoint(options)
                )
                found["refused" if is_same else f"DIFFERENT {shown}: {one}, {other}"] += 1
                continue
            differs = difference(one, other)
            found["equal" if differs is None else f"DIFFERENT {shown}: {differs}"] += 1
    return found


def disagreements(found: Counter[str]) -> list[str]:
    """Return what `compare` counted apart from corpora on which the editions agree."""
    return [text for text in found if text.startswith("DIFFERENT")]


if __name__ == "__main__":
    began = time.process_time()
    counted = compare(int(sys.argv[1]), int(sys.argv[2]))
    for what in [*disagreements(counted)[:10], "equal", "refused"]:
        print(counted[what], what[:1000])
    print(f"{len(disagreements(counted))} disagreements, {time.process_time() - began:.0f} s")
