"""Random corpora whose words occur again and again: for metrics that read texts."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

import clueval
from tests.random_corpora import Corpus

WORDS = ("Anna", "anna", "Anna", "Öz", "d.", ",", "x-y", "_", "12345", "Ulm", "", "von")
LABELS = "ABK"


def draw(random: Random, units: Sequence[str] = ("token", "token", "character")) -> Corpus:
    """Return one to four documents with layers of names, perhaps of risks and entities, and of other annotators."""
    layers = ["name", *random.sample(["risk", "who", "second"], random.choice([0, 0, 1, 2, 3]))]
    if random.random() < 0.2:
        layers = layers[::-1]
    unit = random.choice(units)
    sides: tuple[list[clueval.Document], ...] = ([], [])
    with_gaps, with_tokens, flat = random.random() < 0.2, random.random() < 0.2, random.random() < 0.4
    for number in range(random.randint(1, 4)):
        some = WORDS if random.random() < 0.3 and not (with_gaps or with_tokens) else WORDS[:10]
        words = random.choices(some, k=random.randint(1, 16))
        text = " ".join(words) if random.random() < 0.8 else "".join(words)
        if unit == "character" and not text:
            text = "Ann"
        size = len(words) if unit == "token" else len(text)
        start = random.choice([0, 0, 7])
        weights = [str(random.choice([0, 0.5, 2])) for _ in words]
        given = {"tokens": words, "token_ids": weights} if unit == "token" else {"text": text}
        for side, names in enumerate((layers, layers if random.random() < 0.5 else layers[:1] or ["mask"])):
            content = {
                name: _spans(
                    random, start, size, _labels(name), with_gaps, with_tokens and unit == "token", flat
                )
                for name in names
                if random.random() < 0.95 or number == side == 0
            }
            metadata = {"m": str(number % 2)}
            if side == 1 and random.random() < 0.1:
                metadata |= {
                    "placeholders": "2",
                    "replaced_words": "1",
                    "from_the_right": "0-1",
                    "uncertain": "",
                }
            document = clueval.Document(
                str(number),
                content,
                unit=unit,
                start=start,
                metadata=metadata,
                **given,  # type: ignore[arg-type]
            )
            sides[side].append(document)
    return Corpus("masked", layers, *sides)


def _labels(layer: str) -> str:
    return {"risk": "lmh", "who": "efg"}.get(layer, LABELS)


def _spans(
    random: Random, first: int, size: int, labels: str, gaps: bool, tokens: bool, flat: bool
) -> list[clueval.Span]:
    found, past = [], 0
    for _ in range(random.randrange(7)):
        start = random.randint(past, size)
        end = min(size, start + random.choice([0, 1, 1, 1, 2, 3, 4]))
        if flat:
            if start >= end:
                continue
            past = end
        features: dict[str, Any] = {}
        for name, values in (
            ("entity_id", "ef"),
            ("identifier_type", ["DIRECT", "QUASI"]),
            ("replacement", "XA"),
        ):
            if random.random() < 0.2:
                features[name] = random.choice(values)
        if labels == LABELS and random.random() < 0.1 and end - start > 1:
            cut = first + start + 1
            features["parts"] = ((cut - 1, cut, "P"), (cut, first + end, "Q"))
        parts = None
        if gaps and end - start >= 3 and random.random() < 0.5:
            parts = ((first + start, first + start + 1), (first + end - 1, first + end))
        holes = None
        if tokens and random.random() < 0.5:
            holes = frozenset(each + first for each in range(start, end) if random.random() < 0.7) or None
        found.append(
            clueval.Span(first + start, first + end, random.choice(labels), features, holes, parts=parts)
        )
    return found
