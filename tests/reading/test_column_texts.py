"""Column files that are read together give the documents of each file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from random import Random

import pytest
from corpora import write

from clueval.core.document import Document
from clueval.formats.options import FormatOptions, Reading
from clueval.reading.clusters import Unusual
from clueval.reading.column_texts import column_texts
from clueval.reading.source import Source, source_of

GOLD = """\
-DOCSTART- O

Anna B-PER
Weiß I-PER
in O

# a comment
Ulm B-LOC
. O


Ulm B-LOC
"""
PREDICTED = GOLD.replace("Weiß I-PER", "Weiß O").replace("# a comment\n", "")


def sources(folder: Path, *texts: str, ending: str = "conll", reading: Reading = Reading()) -> list[Source]:  # noqa: B008
    layers = {"x": 2} if ending == "conll" else {"x": 3}
    options = FormatOptions.of(reading, layers)
    paths = [write(folder / f"{number}.{ending}", text) for number, text in enumerate(texts)]
    return [source_of(path, options, name="n") for path in paths]


def values(document: Document) -> list[object]:
    """Return all that is in a document but its tags and spans."""
    names = (field.name for field in fields(document) if field.name not in ("layers", "tags"))
    found = {name: getattr(document, name) for name in names} | {"layers": list(document.layers)}
    found["lines"] = list(document.lines or ())
    return [found]


def random_files(random: Random, ending: str) -> list[str]:
    """Return three files of the same tokens, of which some sentences have other tags."""
    files: list[list[str]] = [[], [], []]
    number = 0
    for document in range(random.randint(1, 4)):
        for lines in files:
            lines += [f'<text id="d{document}">'] if ending == "vrt" else ["-DOCSTART- O", ""]
        for sentence in range(random.randint(0, 5)):
            rows = [
                (random.choice(("w", "&amp;", "v.")), random.choice(TAGS))
                for _ in range(random.randint(1, 5))
            ]
            for side, lines in enumerate(files):
                changes = side and random.random() < 0.3
                lines += [f'<s id="{sentence}">'] * (ending == "vrt")
                for row, (token, tag) in enumerate(rows, number):
                    own = random.choice(TAGS) if changes else tag
                    lines.append(f"{token}\tt{row}\t{own}" if ending == "vrt" else f"{token} {own}")
                lines += ["</s>"] if ending == "vrt" else [""] * random.choice((1, 1, 1, 2))
            number += len(rows)
        for lines in files:
            lines += ["</text>"] * (ending == "vrt")
    return ["\n".join([*lines, ""]) for lines in files]


TAGS = ("O", "O", "B-A", "I-A", "B-B", "I-B")


@pytest.mark.parametrize("ending", ["conll", "vrt"])
@pytest.mark.parametrize("only_differing", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_documents_are_those_of_each_file_without_tags_and_maybe_without_spans_of_equal_sentences(
    seed: int, only_differing: bool, ending: str, tmp_path: Path
) -> None:
    files = random_files(Random(seed), ending)
    reading = Reading(token_id=2) if ending == "vrt" else Reading()
    given = sources(tmp_path, *files, ending=ending, reading=reading)

    found = list(column_texts(given, only_differing=only_differing))

    expected = list(zip(*(source.documents() for source in given), strict=True))
    assert [list(map(values, text)) for text in found] == [list(map(values, text)) for text in expected]
    for text, whole in zip(found, expected, strict=True):
        for first, last, _ in whole[0].sentences:
            spans = [_spans(document, first, last) for document in whole]
            tags = {
                tuple(document.tags["x"][first - document.start : last - document.start])
                for document in whole
            }
            in_text = [_spans(document, first, last) for document in text]
            assert in_text == ([[] for _ in spans] if only_differing and len(tags) == 1 else spans)


def _spans(document: Document, first: int, last: int) -> Sequence[tuple[int, int, str]]:
    return [(span.start, span.end, span.label) for span in document.layers["x"] if first <= span.start < last]


WRONG_TAG = [text.replace(". O", ". Q-X") for text in (GOLD, PREDICTED)]


@pytest.mark.parametrize(
    ("gold", "predicted", "reading"),
    [
        (GOLD, PREDICTED.replace("Ulm B-LOC\n. O\n", "Ulm B-LOC\n"), Reading()),
        (GOLD, PREDICTED.replace("Ulm B-LOC\n. O\n", "Ulm B-LOC\n\n. O\n"), Reading()),
        (GOLD, PREDICTED.replace("in O", "an O"), Reading()),
        (GOLD, WRONG_TAG[1], Reading()),
        (*WRONG_TAG, Reading()),
        (GOLD, PREDICTED.replace(". O", ". O O"), Reading()),
        (GOLD, PREDICTED.replace(". O", ". L-X"), Reading(invalid="discard")),
        (GOLD, PREDICTED, Reading(scheme="BIO")),
        (*(f"# newdoc id = {name}\nAnna B-PER\n" for name in "ab"), Reading()),
    ],
)
def test_what_needs_documents_is_left_to_them(
    gold: str, predicted: str, reading: Reading, tmp_path: Path
) -> None:
    given = sources(tmp_path, gold, predicted, reading=reading)

    with pytest.raises(Unusual):
        list(column_texts(given, only_differing=True))
