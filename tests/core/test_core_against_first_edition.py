"""Exact and levels on cases equal the first edition: reports, break-downs, and what units of intervals have counted.

The corpora are the files of `tests/routes.py`, in all its formats and settings, and random documents of spans.
"""

from __future__ import annotations

import random
import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import clueval
from clueval.core.bag import Bag, Bounds
from clueval.core.count import EITHER, Plan, Unit, count, decided, sequences_of
from clueval.core.document import Document, Layers, Pair
from clueval.core.exact import Exact
from clueval.core.levels import Levels
from clueval.core.metric import AnyMetric
from clueval.core.span import DEFAULT_LAYER
from clueval.core.tally import Tally
from clueval.evaluation.run import score as first_score
from clueval.transforms.characters import to_characters
from tests.routes import FORMATS, SCHEMES, TREATMENTS, Files, corpora, settings_of, written
from tests.second.compare import SIZE, canonical, difference, second, some_spans

Options = Mapping[str, Any]

METRICS: dict[str, AnyMetric] = {"exact": Exact(), "levels": Levels()}


# Both editions


def of_result(run: Any, names: Sequence[str], options: Options) -> dict[str, Any] | str:
    """What a result of the first edition has counted, or "refused"."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = run(metrics=list(names), **options)
            groups = {
                key: {value: _group(of) for value, of in values.items()}
                for key, values in (result.groups or {}).items()
            }
        except clueval.CluevalError:
            return "refused"
    units = result.counted.units.units
    return {
        "documents": result.documents,
        "tokens": result.tokens,
        "metrics": {name: dict(of) for name, of in result.metrics.items()},
        "groups": groups,
        "units": [
            (_sentence_of(each.key), each.documents, each.tokens, _tallies(each.tallies)) for each in units
        ],
    }


def _sentence_of(key: str) -> int | None:
    """The number of the sentence in the key of a unit."""
    found = re.search(r"[^#]#s(\d+)$", key)
    return int(found[1]) if found else None


def _group(of: Any) -> dict[str, Any]:
    return {"documents": of["documents"], "tokens": of["tokens"], "metrics": dict(of["metrics"])}


def _tallies(tallies: Mapping[tuple[str, str], Mapping[Any, int]]) -> list[Any]:
    """Tallies without what is 0."""
    listed = {key: {own: n for own, n in tally.items() if n} for key, tally in tallies.items()}
    return sorted((*key, tally) for key, tally in listed.items() if tally)


def of_bag(
    pairs: Sequence[Sequence[Pair]],
    names: Sequence[str],
    options: Options,
    layers: Sequence[str] = (),
    chance: random.Random | None = None,
) -> dict[str, Any] | str:
    """The same of the second edition. `chance` says whether the corpus is cut into bags, and whether they fold."""
    plan = plan_of(names, options)
    try:
        bag = decided(_counted(pairs, plan, layers, chance))
        found = {**_report(bag.grouped(lambda place: ()), plan), "groups": {}}
        for number, key in enumerate(plan.by):
            grouped = bag.grouped(lambda place, number=number: place.values[number])  # type: ignore[misc,attr-defined]
            values = sorted(str(place) for place in grouped.documents)
            found["groups"][key] = {value: _report(grouped, plan, value) for value in values}
        bag = bag.grouped(lambda place: place._replace(values=()))  # type: ignore[attr-defined]
        if plan.units is None:
            bag.add_text(Unit(), 0, 0)  # there is one, even if no document was counted
        elif plan.units == EITHER and len(bag.documents) == found["documents"]:  # each of one sentence
            bag = bag.grouped(lambda place: place._replace(sentence=None))  # type: ignore[attr-defined]
        found["units"] = _units(bag, plan)
    except clueval.CluevalError:
        return "refused"
    return found


def plan_of(names: Sequence[str], options: Options) -> Plan:
    """The plan of the options of `clueval.score`."""
    where: dict[str, frozenset[str]] = {}
    for condition in options.get("where", ()):
        key, _, value = condition.partition("=")
        where[key] = where.get(key, frozenset()) | {value}
    by = options.get("by", ())
    return Plan(
        tuple(METRICS[name] for name in names),
        merge=options.get("merge", False),
        where=where,
        by=(by,) if isinstance(by, str) else tuple(by),
        units=EITHER if "save" in options else options.get("resample_by"),
    )


def _counted(
    pairs: Sequence[Sequence[Pair]], plan: Plan, layers: Sequence[str], chance: random.Random | None
) -> Bag:
    if chance is None or chance.random() < 0.5 or plan.units == EITHER:
        return count(pairs, plan, layers)
    bounds = Bounds(keys=chance.choice([0, 3, 1 << 16]))
    cut = chance.randint(0, len(pairs))
    bag = count(pairs[:cut], plan, layers, bounds)
    bag.include(count(pairs[cut:], plan, bag.layers, bounds))
    return bag


def _report(bag: Bag, plan: Plan, wanted: Any = ()) -> dict[str, Any]:
    sequences = sequences_of(bag, plan) or [DEFAULT_LAYER]  # without layers, a report of zeros
    tallies = {(metric.name, sequence): Tally() for metric in plan.metrics for sequence in sequences}
    for place, sequence, metric, tally in bag.tallies_of(plan.metrics, sequences_of(bag, plan)):
        if place == wanted:
            tallies[metric.name, sequence] = tally
    metrics = {
        metric.name: {
            each: metric.scores(tallies[metric.name, each], list(bag.layers) if plan.merge else [each])
            for each in sequences
        }
        for metric in plan.metrics
    }
    tokens = sum(of[wanted] for of in bag.positions.values())
    return {"documents": bag.documents[wanted], "tokens": tokens, "metrics": metrics}


def _units(bag: Bag, plan: Plan) -> list[Any]:
    """What units have counted, in order, with the number of the sentence."""
    tallies: dict[Any, dict[tuple[str, str], Any]] = {place: {} for place in bag.documents}
    for place, sequence, metric, tally in bag.tallies_of(plan.metrics, sequences_of(bag, plan)):
        tallies[place][metric.name, sequence] = tally
    return [
        (
            place.sentence,  # type: ignore[attr-defined]  # it is a unit
            bag.documents[place],
            sum(positions[place] for positions in bag.positions.values()),
            _tallies(of),
        )
        for place, of in tallies.items()
    ]


# The files of all formats, with all settings


def of_files(files: Files, names: Sequence[str], options: Options) -> str | None:
    """Where the editions differ on two files. Conditions that nothing meets are left out, since they are refused."""
    try:
        sides = [list(each) for each in files.documents()]
        counted = sides
        if options.get("unit") == "character":
            counted = [[to_characters(each) for each in side] for side in sides]
    except clueval.CluevalError:
        assert (
            of_result(
                partial(first_score, files.gold, files.predicted, **files.reading),
                names,
                options,
            )
            == "refused"
        )
        return None
    options = {**options, "where": met(options.get("where", ()), sides)}
    one = of_result(partial(first_score, files.gold, files.predicted, **files.reading), names, options)
    pairs = [[Pair(second(gold), second(predicted))] for gold, predicted in zip(*counted, strict=True)]
    return difference(one, of_bag(pairs, names, options, list(files.reading.get("layers", ()))))


def met(where: Sequence[str], sides: Sequence[Sequence[clueval.Document]]) -> list[str]:
    """The conditions ``KEY=VALUE`` that a document meets, or a label in the documents that meet the others."""
    pairs = list(zip(*sides, strict=True))
    layers = {layer for pair in pairs for each in pair for layer in each.layers}
    found: list[str] = []
    for condition in sorted(where, key=lambda each: each.split("=")[0] in layers):
        key, _, value = condition.partition("=")
        if key in layers:
            chosen = selected([each for each in found if each.split("=")[0] not in layers], sides)
            values = {span.label for pair in chosen for each in pair for span in each.layers.get(key, ())}
        else:
            values = {gold.id if key == "document" else gold.metadata.get(key, "") for gold, _ in pairs}
        if value in values:
            found.append(condition)
    return found


def selected(
    where: Sequence[str], sides: Sequence[Sequence[clueval.Document]]
) -> list[tuple[clueval.Document, ...]]:
    """The pairs of documents that meet conditions on documents."""
    plan = plan_of([], {"where": where})
    return [
        pair
        for pair in zip(*sides, strict=True)
        if plan.takes(second(pair[0]), []) and not plan.place(second(pair[0]), []).waits
    ]


def units_of(chance: random.Random, folder: Path) -> Options:
    """What units are: none, documents, sentences, or, as for results that are saved, either."""
    by = chance.choice([None, "document", "sentence", EITHER])
    if by == EITHER:
        return {"save": str(folder / "saved.clueval")}
    return {} if by is None else {"resample_by": by}


@pytest.mark.parametrize("form", FORMATS)
def test_files_are_counted_as_by_the_first_edition(tmp_path: Path, form: str) -> None:
    chance = random.Random(f"{form} a")
    files = written(tmp_path, form, corpora(5, chance.choice([*SCHEMES]), documents=4))

    for setting in [{}, *chance.sample(settings_of(FORMATS[form]), 2)]:
        options = {**setting, **units_of(chance, tmp_path)}
        assert of_files(files, [*METRICS], options) is None, options


@pytest.mark.long
@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("seed", range(1))
def test_files_are_counted_as_by_the_first_edition_with_every_setting(
    tmp_path: Path, form: str, seed: int
) -> None:
    chance = random.Random(f"{form} {seed}")
    files = written(tmp_path, form, corpora(seed, chance.choice([*SCHEMES])))

    for setting in settings_of(FORMATS[form]):
        options = {**setting, **units_of(chance, tmp_path)}
        assert of_files(files, [*METRICS], options) is None, options


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("reading", TREATMENTS, ids=str)
def test_tags_are_counted_as_by_the_first_edition_however_they_are_read(
    tmp_path: Path, scheme: str, reading: Options
) -> None:
    files = written(tmp_path, "conll", corpora(6, scheme, documents=3))
    files = Files(files.gold, files.predicted, {**files.reading, **reading})

    assert of_files(files, [*METRICS], {"resample_by": "sentence"}) is None


# Random documents

KINDS = ("flat", "nested", "empty", "gaps", "tokens", "features")


def some_documents(chance: random.Random, kind: str, *, late: bool) -> list[tuple[clueval.Document, ...]]:
    """Up to twelve pairs of documents. `late`: sides lack layers, so that some layers come late."""
    layers = ["x", "y", "z"][: chance.randint(1, 3)]
    with_text, pairs = chance.random() < 0.7, []
    for number in range(chance.choice([1, 2, 3, 4, 12])):
        fields: dict[str, Any] = {"metadata": {"m": chance.choice("ab")} if chance.random() < 0.9 else {}}
        if with_text:
            ends = sorted({*chance.sample(range(1, SIZE), chance.randint(0, 4)), SIZE})
            fields["tokens"] = ["w"] * SIZE
            fields["sentences"] = [clueval.Sentence(*each) for each in pairwise([0, *ends])]
        gold = {layer: some_spans(chance, kind, "AB", chance.randint(0, 6)) for layer in layers}
        predicted = {
            layer: [span for span in spans if chance.random() < 0.7] for layer, spans in gold.items()
        }
        for layer in layers:
            if chance.random() < 0.4:
                predicted[layer] = some_spans(chance, kind, "AB", chance.randint(0, 6))
        if late:
            gold, predicted = (
                {layer: spans for layer, spans in side.items() if chance.random() < 0.6}
                for side in (gold, predicted)
            )
        sides = (gold, predicted)
        pairs.append(tuple(canonical(clueval.Document(str(number), side, **fields)) for side in sides))
    return pairs


def some_options(chance: random.Random, kind: str, folder: Path | None) -> dict[str, Any]:
    options: dict[str, Any] = {}
    if chance.random() < 0.4:
        options["by"] = chance.choice(["m", ["m", "document"]])
    if chance.random() < 0.5:
        options["where"] = chance.sample(["x=A", "y=A", "z=B", "m=a", "document=0", "document=1"], 2)
    if kind == "flat" and chance.random() < 0.4:
        options["merge"] = True
    units = chance.choice([None, "document", "sentence", "m", EITHER])
    if units == EITHER and folder is not None:
        options["save"] = str(folder / "saved.clueval")
    elif units not in (None, EITHER):
        options["resample_by"] = units
    return options


def of_documents(seed: int, folder: Path | None = None, *, late: bool = False) -> tuple[str, str | None]:
    """The kind of a random corpus, and where the editions differ on it."""
    chance = random.Random(seed)
    kind = chance.choice(KINDS)
    documents = some_documents(chance, kind, late=late)
    options = some_options(chance, kind, folder)
    sides = [[pair[side] for pair in documents] for side in (0, 1)]
    options["where"] = met(options.get("where", ()), sides)
    layers = {layer for pair in documents for each in pair for layer in each.layers}
    counted = selected([each for each in options["where"] if each.split("=")[0] not in layers], sides)
    if not any("m" in gold.metadata for gold, _ in counted):  # which is refused
        options = {key: of for key, of in options.items() if key != "by" and of != "m"}
    names = [*METRICS] if kind == "flat" or chance.random() < 0.1 else ["exact"]
    one = of_result(lambda **more: first_score(*sides, **more), names, options)
    pairs = [[Pair(*map(second, pair))] for pair in documents]
    if kind in ("flat", "nested", "empty") and chance.random() < 0.5:
        pairs = [[Pair(*map(in_rows, pair.sides))] for (pair,) in pairs]
    other = of_bag(pairs, names, options, chance=chance)
    refused = " refused" if one == "refused" else ""
    return f"{kind}{refused}", difference(one, other)


def in_rows(document: Document) -> Document:
    """The document with its spans as rows, of which no spans are made unless they are asked for."""
    rows = {
        layer: [(span.start, span.end, span.label) for span in spans]
        for layer, spans in document.layers.items()
    }
    return replace(document, layers=Layers({}, rows=rows))


@pytest.mark.parametrize("seed", range(40))
def test_documents_are_counted_as_by_the_first_edition(tmp_path: Path, seed: int) -> None:
    assert of_documents(seed, tmp_path)[1] is None


@pytest.mark.parametrize("seed", range(20))
def test_late_layers_are_counted_as_by_the_first_edition(tmp_path: Path, seed: int) -> None:
    assert of_documents(seed, tmp_path, late=True)[1] is None


@pytest.mark.long
@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("part", range(10))
def test_many_documents_are_counted_as_by_the_first_edition(tmp_path: Path, part: int, late: bool) -> None:
    for seed in range(1000 + 100 * part, 1100 + 100 * part):
        assert of_documents(seed, tmp_path, late=late)[1] is None, seed
