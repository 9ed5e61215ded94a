"""Files of any size in shapes that are hard for some step: one long document, nested spans, very many labels.

Each function of `SHAPES` writes a gold and a predicted file with about `size` spans a side into a folder and returns
their paths.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

Shape = Callable[[int, Path], tuple[Path, Path]]
Sides = tuple[list[str], list[str]]
Located = tuple[int, int, str]
SIDES = ("gold", "predicted")
SENTENCE = 12
"""The number of tokens of a sentence."""


# --- column files ------------------------------------------------------------------------------------------


def _usual(size: int) -> Sides:
    """Spans of one or two tokens; one of five differs."""
    gold = [tag for n in range(size) for tag in ("O", f"B-{'ABC'[n % 3]}", *["I-" + "ABC"[n % 3]] * (n % 2))]
    return gold, ["O" if n % 7 == 5 else tag for n, tag in enumerate(gold)]


def _sentences(tags: Sequence[str]) -> list[Sequence[str]]:
    return [tags[first : first + SENTENCE] for first in range(0, len(tags), SENTENCE)]


def _vrt(sentences: Iterable[Sequence[str]], *, start: str = '<text id="d">', end: str = "</text>") -> str:
    lines = [start]
    for tags in sentences:
        lines += ["<s>", *(f"w{n % 9}\t{tag}" for n, tag in enumerate(tags)), "</s>"]
    return "\n".join([*lines, end, ""])


def _written(folder: Path, ending: str, texts: Iterable[str]) -> tuple[Path, Path]:
    paths = [folder / f"{side}.{ending}" for side in SIDES]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text)
    return paths[0], paths[1]


def one_document(size: int, folder: Path) -> tuple[Path, Path]:
    return _written(folder, "vrt", (_vrt(_sentences(tags)) for tags in _usual(size)))


def one_sentence(size: int, folder: Path) -> tuple[Path, Path]:
    return _written(folder, "vrt", (_vrt([tags]) for tags in _usual(size)))


def many_documents(size: int, folder: Path) -> tuple[Path, Path]:
    texts = (
        "".join(_vrt([tags], start=f'<text id="d{n}">') for n, tags in enumerate(_sentences(side)))
        for side in _usual(size)
    )
    return _written(folder, "vrt", texts)


def no_borders(size: int, folder: Path) -> tuple[Path, Path]:
    """CoNLL without documents."""
    texts = (
        "\n".join("".join(f"w{n % 9} {tag}\n" for n, tag in enumerate(tags)) for tags in _sentences(side))
        for side in _usual(size)
    )
    return _written(folder, "conll", texts)


def one_run(size: int, folder: Path) -> tuple[Path, Path]:
    """A gold span over everything; predicted, two spans."""
    sides = ["B-A", *["I-A"] * (2 * size)], [*["I-A"] * size, "B-A", *["I-A"] * size]
    return _written(folder, "vrt", (_vrt([tags]) for tags in sides))


def giant(size: int, folder: Path) -> tuple[Path, Path]:
    """A gold span over everything, which many predicted spans fill."""
    sides = ["B-A", *["I-A"] * (2 * size - 1)], ["B-A", "I-A"] * size
    return _written(folder, "vrt", (_vrt([tags]) for tags in sides))


def touching(size: int, folder: Path) -> tuple[Path, Path]:
    """Spans without gaps, the predicted ones one position later, so that overlaps connect all of them."""
    sides = ["B-A", "I-A", "I-A"] * size, ["O", *["B-A", "I-A", "I-B"] * size][:-1]
    return _written(folder, "vrt", (_vrt([tags]) for tags in sides))


def all_wrong(size: int, folder: Path) -> tuple[Path, Path]:
    sides = ["B-A", "I-A", "O"] * size, ["O", "B-B", "O"] * size
    return _written(folder, "vrt", (_vrt(_sentences(tags)) for tags in sides))


def ill_formed(size: int, folder: Path) -> tuple[Path, Path]:
    sides = ["I-A", "B-B", "I-C", "I-A"] * size, ["I-B", "I-A", "O", "I-C"] * size
    return _written(folder, "vrt", (_vrt(_sentences(tags)) for tags in sides))


def labels(size: int, folder: Path) -> tuple[Path, Path]:
    """Each span has a label of its own, half of them the same on both sides."""
    sides = (
        [tag for n in range(size) for tag in (f"B-L{n}", "O")],
        [tag for n in range(size) for tag in (f"B-{'LM'[n % 2]}{n}", "O")],
    )
    return _written(folder, "vrt", (_vrt(_sentences(tags)) for tags in sides))


def long_label(size: int, folder: Path) -> tuple[Path, Path]:
    names = "x" * 100 * size, "y" * 100 * size
    return _written(folder, "vrt", (_vrt([[f"B-{name}", "O", "B-A", "O"] * 9]) for name in names))


def long_word(size: int, folder: Path) -> tuple[Path, Path]:
    text = _vrt([["O", "B-A", "O"] * 9]).replace("w3", "w" * 50 * size)
    return _written(folder, "vrt", (text, text.replace("B-A", "B-B", 1)))


def long_attribute(size: int, folder: Path) -> tuple[Path, Path]:
    start = f'<text id="d" title="{"x" * 50 * size}">'
    return _written(folder, "vrt", (_vrt([tags], start=start) for tags in _usual(9)))


def attributes(size: int, folder: Path) -> tuple[Path, Path]:
    start = '<text id="d" ' + " ".join(f'a{n}="v{n}"' for n in range(size)) + ">"
    return _written(folder, "vrt", (_vrt([tags], start=start) for tags in _usual(9)))


def nested_xml(size: int, folder: Path) -> tuple[Path, Path]:
    start = '<text id="d">\n' + "\n".join(f"<x{n}>" for n in range(size))
    end = "\n".join(f"</x{n}>" for n in reversed(range(size))) + "\n</text>"
    return _written(folder, "vrt", (_vrt([tags], start=start, end=end) for tags in _usual(9)))


def columns(size: int, folder: Path) -> tuple[Path, Path]:
    fields = "\t".join(["x"] * size) + "\t"
    return _written(folder, "vrt", (_vrt([[fields + tag for tag in tags]]) for tags in _usual(9)))


def blank_lines(size: int, folder: Path) -> tuple[Path, Path]:
    return _written(
        folder, "conll", ("".join(f"w {tag}\n" + "\n" * size for tag in tags) for tags in _usual(9))
    )


# --- JSON of texts with spans ------------------------------------------------------------------------------

Texts = Iterable[tuple[int, Iterable[Located]]]
"""For each document the length of its text, and its spans."""


def _doccano(folder: Path, *sides: Texts) -> tuple[Path, Path]:
    return _written(
        folder,
        "jsonl",
        (
            "".join(
                json.dumps({"id": n, "text": ("ab cd, " * length)[:length], "label": list(spans)}) + "\n"
                for n, (length, spans) in enumerate(side)
            )
            for side in sides
        ),
    )


def rows(size: int, folder: Path) -> tuple[Path, Path]:
    one = [[(10 * n, 10 * n + 3 + (n % 3 == side), "A") for n in range(9)] for side in (0, 1)]
    return _doccano(folder, *([(100, spans)] * (size // 9) for spans in one))


def empty_rows(size: int, folder: Path) -> tuple[Path, Path]:
    return _doccano(folder, [(9, [])] * size, [(9, [])] * size)


def long_row(size: int, folder: Path) -> tuple[Path, Path]:
    sides = (
        [(10 * n, 10 * n + 3 + side * (n % 3), "AB"[side * n % 2]) for n in range(size)] for side in (0, 1)
    )
    return _doccano(folder, *([(10 * size, spans)] for spans in sides))


def reversed_row(size: int, folder: Path) -> tuple[Path, Path]:
    sides = ([(10 * n, 10 * n + 3, "AB"[side]) for n in reversed(range(size))] for side in (0, 1))
    return _doccano(folder, *([(10 * size, spans)] for spans in sides))


def long_text(size: int, folder: Path) -> tuple[Path, Path]:
    length = 50 * size
    return _doccano(
        folder, [(length, [(0, 2, "A"), (length - 9, length - 7, "A")])], [(length, [(0, 2, "A")])]
    )


def long_span(size: int, folder: Path) -> tuple[Path, Path]:
    few = [(3 * n, 3 * n + 2, "A") for n in range(size)]
    return _doccano(folder, [(3 * size, [(0, 3 * size, "A")])], [(3 * size, few)])


def nested(size: int, folder: Path) -> tuple[Path, Path]:
    sides = ([(n, 2 * size + side - n, "AB"[side * n % 2]) for n in range(size)] for side in (0, 1))
    return _doccano(folder, *([(2 * size + 2, spans)] for spans in sides))


def same(size: int, folder: Path) -> tuple[Path, Path]:
    sides = ([(5, 9, "AB"[side * n % 2]) for n in range(size)] for side in (0, 1))
    return _doccano(folder, *([(20, spans)] for spans in sides))


def same_place(size: int, folder: Path) -> tuple[Path, Path]:
    sides = ([(5, 9, f"L{n}") for n in range(0, size, side)] for side in (1, 2))
    return _doccano(folder, *([(20, spans)] for spans in sides))


def points(size: int, folder: Path) -> tuple[Path, Path]:
    sides = ([(5, 5, "AB"[side * n % 2]) for n in range(size)] for side in (0, 1))
    return _doccano(folder, *([(20, spans)] for spans in sides))


def crossing(size: int, folder: Path) -> tuple[Path, Path]:
    """Each span overlaps the five before and after it."""
    sides = ([(n + side, n + side + 6, "AB"[side * n % 2]) for n in range(size)] for side in (0, 1))
    return _doccano(folder, *([(size + 30, spans)] for spans in sides))


def _fragments(folder: Path, length: int, *sides: Iterable[Sequence[tuple[int, int]]]) -> tuple[Path, Path]:
    """Write discontinuous spans, given by their fragments."""
    text = ("ab cd, " * length)[:length]
    return _written(
        folder,
        "jsonl",
        (
            json.dumps(
                {
                    "id": "d",
                    "text": text,
                    "spans": [{"label": "AB"[n % 2], "fragments": span} for n, span in enumerate(side)],
                }
            )
            + "\n"
            for side in sides
        ),
    )


def crossing_hulls(size: int, folder: Path) -> tuple[Path, Path]:
    """Spans of two fragments that lie over one another, but share positions with at most one of the other side."""
    sides = (
        [((2 * n, 2 * n + 1), (2 * (size + n) + side, 2 * (size + n) + 1 + side)) for n in range(size)]
        for side in (0, 1)
    )
    return _fragments(folder, 4 * size + 4, *sides)


def many_fragments(size: int, folder: Path) -> tuple[Path, Path]:
    """A span of many fragments, which another of the other side fills in part."""
    sides = (
        [[(3 * n + side, 3 * n + 2) for n in range(size)], [(3 * n + 2, 3 * n + 3) for n in range(size)]]
        for side in (0, 1)
    )
    return _fragments(folder, 3 * size + 3, *sides)


def comb(size: int, folder: Path) -> tuple[Path, Path]:
    """A span of many fragments, over which short ones lie."""
    teeth = [(2 * n, 2 * n + 1) for n in range(size)]
    return _fragments(folder, 2 * size + 3, [teeth], ([(2 * n, 2 * n + 2)] for n in range(size)))


FLAT: dict[str, Shape] = {
    shape.__name__: shape
    for shape in (
        *(one_document, one_sentence, many_documents, no_borders, one_run, giant, touching, all_wrong),
        *(ill_formed, labels, long_label, long_word, long_attribute, attributes, nested_xml, columns),
        *(blank_lines, rows, empty_rows, long_row, reversed_row, long_text, long_span),
    )
}
"""Shapes in which the spans of a side do not overlap."""

OVERLAPPING: dict[str, Shape] = {
    shape.__name__: shape
    for shape in (
        *(nested, same, same_place, points, crossing),
        *(crossing_hulls, many_fragments, comb),
    )
}

SHAPES = {**FLAT, **OVERLAPPING}
