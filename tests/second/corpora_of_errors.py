"""Random corpora with words, sentences, ids, lines, files and metadata, and random options that choose errors."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import clueval
from clueval.core.document import Document, Pair, Sentence
from clueval.studies.wrong import CLASSES, REASONS
from tests.second.compare import SIZE, second
from tests.second.compare_steps import Texts, some_options, texts

WORDS = ["Frau", "Anna", "Weiß", "lebt", "in", "Ulm", ",", "=1", "e\u0301", "."]


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


def some_corpus(random: Random, folder: Path) -> tuple[Texts, dict[str, Any]]:
    """Return a random corpus, and options that change it, filter it, and choose errors."""
    given = furnished(random, texts(random))
    options = some_options(random, folder, given)
    for name in ("by", "score_feature"):
        options.pop(name, None)
    if isinstance(options.get("min_score"), float | int):
        del options["min_score"]
    return given, {**options, **some_choice(random)}


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
