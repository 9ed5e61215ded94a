"""Column files that are hard for clusters of rows, of any number of rows.

Each function of `HOSTILE` returns the tags of gold, of predicted, and how many rows a sentence has.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain, islice, product
from pathlib import Path

Sides = tuple[list[str], list[str], int]

SENTENCE = 20


def no_outside(rows: int) -> Sides:
    """One sentence without any O, in which overlaps connect all spans."""
    return ["B-A", "I-A", "I-A"] * (rows // 3), ["I-A", "B-B", "I-B"] * (rows // 3), rows


def one_span(rows: int) -> Sides:
    """One sentence in which gold is one span, over many blocks of the file, and predicted is two."""
    half = rows // 2
    return ["B-A", *["I-A"] * (2 * half - 1)], [*["I-A"] * half, "B-A", *["I-A"] * (half - 1)], rows


def different_tags(rows: int) -> Sides:
    """Every fifth row has a tag that occurs once, half of them on both sides."""
    gold = [f"B-L{n}" if n % 5 == 0 else "O" for n in range(rows)]
    return gold, [tag.replace("L", "M") if n % 2 else tag for n, tag in enumerate(gold)], SENTENCE


def different_clusters(rows: int) -> Sides:
    """No cluster occurs twice, though there are few tags; each is a sentence."""
    choices = product(("B-A", "I-A", "B-B", "I-B"), repeat=SENTENCE - 1)
    spans = islice(chain.from_iterable((*cluster, "O") for cluster in choices), rows)
    gold = list(spans)
    return gold, ["B-C" if n % SENTENCE == 1 else tag for n, tag in enumerate(gold)], SENTENCE


HOSTILE: dict[str, Callable[[int], Sides]] = {
    each.__name__: each for each in (no_outside, one_span, different_tags, different_clusters)
}


def write_hostile(shape: str, rows: int, folder: Path) -> tuple[Path, Path]:
    """Write both sides, and return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    *sides, size = HOSTILE[shape](rows)
    paths = folder / "gold.conll", folder / "predicted.conll"
    for path, tags in zip(paths, sides, strict=True):
        with path.open("w") as file:
            for start in range(0, len(tags), size):
                file.writelines(f"w{n % 9} {tag}\n" for n, tag in enumerate(tags[start : start + size]))
                file.write("\n")
    return paths
