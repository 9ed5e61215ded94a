"""Random corpora with words, sentences, ids, lines, files and metadata, and random options that choose errors."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import clueval
from clueval.core.document import Pair
from clueval.studies.errors.search import CLASSES, REASONS
from tests.random_corpora import SIZE
from tests.random_options import Texts, some_options, texts

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


def pairs_in_files(gold: Path, predicted: Path, layers: Mapping[str, int]) -> Iterator[Pair]:
    """Yield the pairs of two files."""
    for sides in zip(*(clueval.read(path, layers=layers) for path in (gold, predicted)), strict=True):
        yield Pair(*sides)


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
