"""Random corpora, whose errors the first edition (`clueval.errors`, `clueval.diff`) and the studies of the second find.

`compare` counts on how many corpora both give the same places with the same rows. For more corpora than in the tests::

    python -m tests.second.compare_errors 2000 17
    python -m tests.second.compare_errors 2000 17 two
"""

from __future__ import annotations

import itertools
import re
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import clueval
from clueval.core.document import Document, Pair, Sentence
from clueval.findings.choice import choice_with
from clueval.findings.places import places
from clueval.findings.systems import shared_places, shared_states
from clueval.findings.table import joined
from clueval.second.reports.forms import as_text
from clueval.second.reports.place import Place
from clueval.second.studies.errors import Errors
from clueval.second.studies.systems import Diff, TwoSystems
from clueval.second.studies.wrong import CLASSES, REASONS, Choice
from clueval.second.transforms.options import Preparing
from clueval.second.transforms.saying import checked
from clueval.second.transforms.steps import steps_of
from clueval.transforms.of_options import transforms_of
from tests.second.compare import SIZE, difference, second
from tests.second.compare_steps import Texts, some_options, texts

WORDS = ["Frau", "Anna", "Weiß", "lebt", "in", "Ulm", ",", "=1", "e\u0301", "."]

CHOICE = ("level", "labelled", "unlabelled", "sides", "kinds", "reasons", "merge", "where", "window")


def furnished(random: Random, given: Texts) -> Texts:
    """Return the texts with words, sentences, ids, lines, files and metadata, or of characters."""
    found = []
    shape = random.choice(["tokens", "tokens", "bare", "characters"])
    sentences, names, ids, lines = (random.random() < 0.6 for _ in range(4))
    for number, (golds, predicted) in enumerate(given):
        words = [random.choice(WORDS) for _ in range(SIZE)]
        cuts = sorted({0, SIZE, *(random.randint(1, SIZE - 1) for _ in range(random.randint(0, 4)))})
        changes: dict[str, Any] = {"tokens": None}
        if shape == "tokens":
            changes = {"tokens": words, "token_ids": [f"t{n}" for n in range(SIZE)] if ids else None}
        elif shape == "characters":
            text = "".join(random.choice("ab\n") for _ in range(SIZE))
            changes = {"tokens": None, "text": text, "unit": "character"}
        if sentences and shape != "bare":
            changes["sentences"] = [
                clueval.Sentence(start, end, f"s{start}" if names and random.random() < 0.8 else None)
                for start, end in itertools.pairwise(cuts)
                if random.random() < 0.95
            ]
        if lines and shape == "tokens":
            changes["lines"] = [2 * n + 1 for n in range(SIZE)]
        metadata = {
            "m": str(number % 2),
            **({"id": golds[0].id, "x y": "1"} if random.random() < 0.3 else {}),
        }
        sides = [replace(each, metadata=metadata, file="a.tsv", **changes) for each in (*golds, predicted)]
        found.append((sides[:-1], sides[-1]))
    return found


def second_with_lines(document: clueval.Document) -> Document:
    """Return a document of the second edition with its file, its lines and the ids of its sentences."""
    found = second(document)
    layers = {
        name: [replace(own, line=span.line) for own, span in zip(found.layers[name], spans, strict=True)]
        for name, spans in document.layers.items()
    }
    sentences = [Sentence(each.start, each.end, each.id) for each in document.sentences]
    return replace(found, layers=layers, sentences=sentences, lines=document.lines, file=document.file)


def pairs_in_files(gold: Path, predicted: Path, layers: Mapping[str, int]) -> Iterator[Pair]:
    """Yield the pairs of two files."""
    for sides in zip(*(clueval.read(path, layers=layers) for path in (gold, predicted)), strict=True):
        yield Pair(*map(second_with_lines, sides))


def some_choice(random: Random) -> dict[str, Any]:
    """Return random options that choose errors."""
    options: dict[str, Any] = {}
    what = random.random()
    if what < 0.3:
        options["level"] = random.choice([1, 2, 3, 4])
    if what < 0.1:
        options["labelled"] = random.choice(["x", "x", "y"])
    elif what < 0.4 and random.random() < 0.5:
        options["unlabelled"] = True
    if random.random() < 0.2:
        options["sides"] = (random.choice(["gold", "predicted"]),)
    if random.random() < 0.2:
        options["kinds"] = frozenset(random.sample(CLASSES, 3))
    if random.random() < 0.2:
        options["reasons"] = frozenset(random.sample(REASONS, 2))
    if random.random() < 0.2:
        options["window"] = random.choice([0, 1, 5, 100])
    return options


# Both editions

Outcome = Sequence[tuple[Any, ...]] | str
"""The key and the fingerprint of each place, and its rows; or that the corpus was refused."""


def by_first(given: Texts, options: Mapping[str, Any]) -> Outcome:
    """Return the places of the first edition."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            golds, predicted = [golds[0] for golds, _ in given], [each for _, each in given]
            rows = clueval.errors(golds, predicted, **options).rows()
            found = list(places(clueval.errors(golds, predicted, **options)))
        except clueval.CluevalError as error:
            return f"refused: {error}"
    of_places = iter(rows)
    return [(each.in_decisions, _in_order(_plain(next(of_places)) for _ in each.findings)) for each in found]


def by_second(given: Texts, options: Mapping[str, Any]) -> Outcome:
    """Return the places of the second edition."""
    preparing = {name: value for name, value in options.items() if name not in CHOICE}
    chosen: dict[str, Any] = {name: value for name, value in options.items() if name in CHOICE}
    if "where" in chosen:
        chosen["where"] = {name: frozenset(values) for name, values in chosen["where"].items()}
    try:
        steps = steps_of(Preparing(**preparing), [])
        pairs = list(changed(given, steps))
        notes: Counter[tuple[str, ...]] = Counter()
        for pair in pairs:
            notes.update(pair.notes)
        checked(steps, notes)
        found = Errors(pairs, Choice(**chosen))
        listed = list(found)
    except clueval.CluevalError as error:
        return f"refused: {error}"
    return [_of_place(place, found) for place in listed]


def changed(given: Texts, steps: Iterable[Any]) -> Iterable[Pair]:
    """Yield the pairs of texts as steps change them."""
    for golds, predicted in given:
        pairs: Sequence[Pair] = [
            Pair(second_with_lines(gold), second_with_lines(predicted)) for gold in golds
        ]
        for step in steps:
            pairs = step(pairs)
        yield from pairs


def _of_place(place: Place, report: Errors) -> tuple[Any, ...]:
    rows = [{name: as_text(cell, report.kinds) for name, cell in row.items()} for row in place.findings]
    return (*place.at, place.fingerprint), _in_order(map(_plain, rows))


def _plain(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row without what depends on the order of equal spans, and without comments."""
    left_out = ("comment", "choice", "reviewer", "file")  # some transforms of the first edition lose the file
    found = {name: value for name, value in row.items() if name not in left_out}
    names = [name for name in found if name == "other_text" or name.startswith("other_label")]
    others = sorted(zip(*(found[name].split(" | ") for name in names), strict=True))
    found["others"] = others
    for name in names:
        del found[name]
    found["context"] = found["context"].replace(" ", "")  # around spans of zero length
    return found


def _in_order(rows: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return rows in their order, equal spans by label."""
    found = list(rows)
    order = {
        (row["start"], row["end_inclusive"], row["side"], row["layer"]): n for n, row in enumerate(found)
    }
    return sorted(
        found,
        key=lambda row: (
            order[row["start"], row["end_inclusive"], row["side"], row["layer"]],
            row["label"],
            repr(row),
        ),
    )


def some_corpus(random: Random, folder: Path) -> tuple[Texts, dict[str, Any]]:
    """Return a random corpus, and options that change it, filter it, and choose errors."""
    given = furnished(random, texts(random))
    options = some_options(random, folder, given)
    for name in ("by", "score_feature"):
        options.pop(name, None)
    if isinstance(options.get("min_score"), float | int):
        del options["min_score"]
    return given, {**options, **some_choice(random)}


# Two systems


def second_system(random: Random, given: Texts) -> Texts:
    """Return the texts with another predicted side: spans of gold and of the first one, and some of neither."""
    found = []
    for golds, predicted in given:
        layers = {
            name: [
                span
                for spans, share in ((golds[0].layers.get(name, ()), 0.4), (predicted.layers[name], 0.6))
                for span in spans
                if random.random() < share
            ]
            for name in predicted.layers
        }
        if any(span.features.get("group") for spans in layers.values() for span in spans):
            layers = {
                name: [replace(span, features={"score": 1}) for span in spans]
                for name, spans in layers.items()
            }
        found.append((golds, replace(predicted, layers=layers)))
    return found


def first_systems(given: tuple[Texts, Texts], options: Mapping[str, Any]) -> Any:
    """Return the places of two systems and the numbers of `diff` in the first edition."""
    golds = [golds[0] for golds, _ in given[0]]
    old, new = ([predicted for _, predicted in texts] for texts in given)
    own = {name: value for name, value in options.items() if name not in CHOICE}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            chosen = choice_with(None, {name: value for name, value in options.items() if name in CHOICE})
            trios = zip(golds, old, new, strict=True)
            states = shared_states("A", "B")
            found = list(shared_places(trios, chosen, states, transforms_of(Preparing(**own), golds)))
            whole = {name: value for name, value in options.items() if name not in ("kinds", "reasons")}
            changes = clueval.diff(golds, old, new, **whole)
        except clueval.CluevalError as error:
            return f"refused: {error}"
    places_ = [
        (
            each.in_decisions,
            sorted(
                (e.state, str(e.finding.side), e.finding.start, joined(e.finding.labels)) for e in each.errors
            ),
        )
        for each in found
    ]
    content = changes.to_dict()
    numbers = {name: content[name] for name in ("counts", "reasons", "classes")}
    return {"places": dict(enumerate(places_)), "diff": numbers, "rows": _sorted(changes.rows())}


def second_systems(given: tuple[Texts, Texts], options: Mapping[str, Any]) -> Any:
    """Return the same of the second edition."""
    chosen: dict[str, Any] = {name: value for name, value in options.items() if name in CHOICE}
    if "where" in chosen:
        chosen["where"] = {name: frozenset(values) for name, values in chosen["where"].items()}
    try:
        both = []
        for texts in given:
            steps = steps_of(Preparing(**{n: value for n, value in options.items() if n not in CHOICE}), [])
            both.append(list(changed(texts, steps)))
        checked_steps(both, options)
        texts = list(zip(*both, strict=True))
        found = list(TwoSystems(texts, Choice(**chosen)))
        whole = {name: value for name, value in chosen.items() if name not in ("kinds", "reasons")}
        report = Diff(texts, Choice(**whole))
        content = report.to_dict()
    except clueval.CluevalError as error:
        return f"refused: {error}"
    places_ = [
        (
            (*each.at, each.fingerprint),
            sorted((row["state"], row["side"], row["start"], row["label"]) for row in each.findings),
        )
        for each in found
    ]
    numbers = {name: content[name] for name in ("counts", "reasons", "classes")}
    rows = [
        {name: value for name, value in row.items() if name != "context"}
        for place in report
        for row in place.findings
    ]
    return {"places": dict(enumerate(places_)), "diff": numbers, "rows": _sorted(rows)}


def checked_steps(both: Sequence[Sequence[Pair]], options: Mapping[str, Any]) -> None:
    """Raise the errors of names that never occurred, in one of two systems."""
    for pairs in both:
        steps = steps_of(Preparing(**{n: value for n, value in options.items() if n not in CHOICE}), [])
        notes: Counter[tuple[str, ...]] = Counter()
        for pair in pairs:
            notes.update(pair.notes)
        checked(steps, notes)


def _sorted(rows: Iterable[Mapping[str, Any]]) -> dict[int, Any]:
    """Return rows in an order of their own, without texts: the first edition fills the gaps of spans in `diff`."""
    found = [{name: value for name, value in row.items() if name != "text"} for row in rows]
    return dict(enumerate(sorted(found, key=lambda row: repr(sorted(row.items())))))


def compare_systems(number: int, seed: int) -> Counter[str]:
    """Do what `compare` does with two systems."""
    random = Random(seed)
    found: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(number):
            given, options = some_corpus(random, Path(folder))
            given = [(golds[:1], predicted) for golds, predicted in given]
            options.pop("any_of", None)
            options.pop("depth", None)
            options.pop("hierarchy", None)
            both = given, second_system(random, given)
            one, other = first_systems(both, options), second_systems(both, options)
            if isinstance(one, str) and re.search("no (span|document) has|no layer and no document", one):
                found["filtered"] += 1
            elif isinstance(one, str) and "overlap" in one and "merge" in options and "where" in options:
                found["filtered"] += 1  # the first edition merges documents that the filter leaves out
            elif isinstance(one, str) and isinstance(other, str):
                found["refused"] += 1
            elif isinstance(one, str) or isinstance(other, str):
                found[f"{options}: only one has {one if isinstance(one, str) else other}"] += 1
            else:
                found["equal" if one == other else f"{options}: {difference(one, other)}"] += 1
    return found


def compare(number: int, seed: int) -> Counter[str]:
    """Count random corpora by how the editions agree: equal, refused by both, or where they differ."""
    random = Random(seed)
    found: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(number):
            given, options = some_corpus(random, Path(folder))
            found[agreement(by_first, by_second, given, options)] += 1
    return found


def agreement(
    one: Callable[..., Outcome], other: Callable[..., Outcome], given: Texts, options: Mapping[str, Any]
) -> str:
    """Return "equal", "refused", or where the outcomes of the editions differ."""
    first, second = one(given, options), other(given, options)
    if isinstance(first, str) and re.search("no (span|document) has|no layer and no document", first):
        return "filtered"  # that a filter names what never occurs is checked where options are read
    if isinstance(first, str) and isinstance(second, str):
        return "refused"
    shown = {name: value for name, value in options.items() if name != "any_of"}
    if isinstance(first, str) or isinstance(second, str):
        refused = first if isinstance(first, str) else second
        return f"{shown}: only one has {refused}"
    return "equal" if first == second else f"{shown}: {difference(_by_number(first), _by_number(second))}"


def _by_number(given: Sequence[tuple[Any, ...]]) -> dict[str, Any]:
    """Return an outcome as dictionaries, for `difference`."""
    return {
        f"{n} {place}": {f"{m} {row['side']} {row['start']}": row for m, row in enumerate(rows)}
        for n, (place, rows) in enumerate(given)
    }


def disagreements(found: Mapping[str, int]) -> list[str]:
    return [what for what in found if what not in ("equal", "refused", "filtered")]


if __name__ == "__main__":
    began = time.process_time()
    counted = (compare_systems if "two" in sys.argv else compare)(int(sys.argv[1]), int(sys.argv[2]))
    for what in [*disagreements(counted)[:10], "equal", "refused", "filtered"]:
        print(counted[what], what[:1500])
    print(f"{len(disagreements(counted))} disagreements, {time.process_time() - began:.0f} s")
