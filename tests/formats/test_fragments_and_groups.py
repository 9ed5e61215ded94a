"""Discontinuous spans and spans with alternatives, from every form that has them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from corpora import write

from clueval import read, score
from clueval.cli import main
from clueval.files.errors import CluevalError

TEXT = "0123456789"
GAPS = [[0, 3], [7, 9]]
MAIN = {"start": 4, "end": 9, "label": "A"}
OTHERS = [{"start": 3, "end": 8, "label": "A"}, {"start": 6, "end": 8}]


def doccano(folder: Path, spans: list[dict[str, Any]]) -> Path:
    return write(folder / "a.jsonl", json.dumps({"id": "a", "text": TEXT, "label": spans}) + "\n")


def prodigy(folder: Path, spans: list[dict[str, Any]]) -> Path:
    return write(folder / "a.jsonl", json.dumps({"_input_hash": 1, "text": TEXT, "spans": spans}) + "\n")


def brat(folder: Path, lines: str) -> Path:
    write(folder / "a.txt", TEXT)
    return write(folder / "a.ann", lines)


def table(folder: Path, lines: str) -> Path:
    write(folder / "a.vrt", '<text id="a">\n' + "".join(f"{token}\tO\n" for token in TEXT) + "</text>\n")
    return write(folder / "a.tsv", lines)


def w2ner(folder: Path, index: list[int]) -> Path:
    rows = [{"id": "a", "sentence": list(TEXT), "ner": [{"index": index, "type": "A"}]}]
    return write(folder / "a.json", json.dumps(rows))


DISCONTINUOUS: dict[str, Callable[[Path], Path]] = {
    "brat": lambda folder: brat(folder, "T1\tA 0 3;7 9\t012 78\n"),
    "doccano": lambda folder: doccano(folder, [{"fragments": GAPS, "label": "A"}]),
    "prodigy": lambda folder: prodigy(folder, [{**MAIN, "start": 0, "fragments": GAPS}]),
    "table": lambda folder: table(
        folder, "document\tstart\tend_inclusive\tfragments\tx\na\t0\t8\t0-2;7-8\tA\n"
    ),
    "w2ner": lambda folder: w2ner(folder, [8, 0, 1, 2, 7]),
}

WITH_ALTERNATIVES: dict[str, Callable[[Path], Path]] = {
    "brat": lambda folder: brat(
        folder, "T1\tA 3 8\t34567\nT2\tA 4 9\t45678\nT3\tA 6 8\t67\n*\tEquiv T2 T1 T3\n"
    ),
    "doccano": lambda folder: doccano(folder, [{**MAIN, "alternatives": OTHERS}]),
    "prodigy": lambda folder: prodigy(folder, [{**MAIN, "alternatives": OTHERS}]),
}


def spans_of(path: Path) -> list[Any]:
    (document,) = read(path)
    return [span for spans in document.layers.values() for span in spans]


@pytest.mark.parametrize("form", DISCONTINUOUS)
def test_fragments_are_read_from_every_format_that_has_them(form: str, tmp_path: Path) -> None:
    (span,) = spans_of(DISCONTINUOUS[form](tmp_path))

    assert (span.start, span.end, span.parts, span.label) == (0, 9, ((0, 3), (7, 9)), "A")


@pytest.mark.parametrize("form", WITH_ALTERNATIVES)
def test_alternatives_are_read_as_a_group_whose_main_span_is_first(form: str, tmp_path: Path) -> None:
    spans = spans_of(WITH_ALTERNATIVES[form](tmp_path))

    assert (spans[0].start, spans[0].end) == (4, 9)
    assert {(span.start, span.end) for span in spans} == {(4, 9), (3, 8), (6, 8)}
    assert len({span.features["group"] for span in spans}) == 1
    assert {span.label for span in spans} == {"A"}


def test_alternatives_are_kept_by_conversions_to_brat(tmp_path: Path) -> None:
    gold = WITH_ALTERNATIVES["brat"](tmp_path)

    assert main(["convert", str(gold), "--to", "brat", "-o", f"{tmp_path}/out/"]) == 0
    (written,) = (tmp_path / "out").glob("*.ann")

    assert [(span.start, span.features["group"]) for span in spans_of(written)] == [
        (4, "1"),
        (3, "1"),
        (6, "1"),
    ]


def test_dictionaries_in_memory_have_fragments_and_alternatives() -> None:
    gold = [[{"fragments": GAPS, "label": "B"}, {**MAIN, "alternatives": OTHERS}]]
    predicted = [[{"start": 0, "end": 9, "fragments": GAPS, "label": "B"}, (3, 8, "A"), (6, 8, "A")]]

    micro = score(gold, predicted, metrics="exact").metrics["exact"]["label"]["micro"]

    assert (micro["tp_gold"], micro["fp"], micro["fn"]) == (2, 1, 0)


def test_alternatives_that_are_optional_may_be_left_out() -> None:
    gold = [[{**MAIN, "optional": True, "alternatives": OTHERS}]]

    assert score(gold, [[]], metrics="exact").metrics["exact"]["label"]["micro"]["gold"] == 0


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (
            lambda f: doccano(f, [{"fragments": [[0, 3], [2, 5]], "label": "A"}]),
            r"a\.jsonl:1.*overlaps the part",
        ),
        (lambda f: doccano(f, [{"fragments": [[0, 3], [4, 4]], "label": "A"}]), r"a\.jsonl:1.*is empty"),
        (
            lambda f: doccano(f, [{"fragments": [[0, 3], [9, 12]], "label": "A"}]),
            r"a\.jsonl:1.*outside the text",
        ),
        (lambda f: doccano(f, [{"fragments": [0, 3], "label": "A"}]), r"not a list of \[start, end\]"),
        (lambda f: doccano(f, [{**MAIN, "alternatives": [[3, 8]]}]), "not a list of objects"),
        (
            lambda f: table(f, "document\tstart\tend\tfragments\tx\na\t0\t8\t0-2;9-9\tA\n"),
            r"a\.tsv:2.*do not reach",
        ),
        (
            lambda f: table(f, "document\tstart\tend\tfragments\tx\na\t0\t8\t0..8\tA\n"),
            r"a\.tsv:2.*not fragments",
        ),
        (lambda f: w2ner(f, [3, 10]), r"index \[3, 10\] .*from 0 to 9"),
        (lambda f: w2ner(f, []), "not one of different tokens"),
        (lambda f: brat(f, "T1\tA 0 3\t012\n*\tEquiv T1 T2\n"), "no line has the id 'T2'"),
    ],
)
def test_fragments_and_alternatives_that_are_invalid_are_an_error_with_their_place(
    make: Callable[[Path], Path], problem: str, tmp_path: Path
) -> None:
    with pytest.raises(CluevalError, match=problem):
        list(read(make(tmp_path)))


@pytest.mark.parametrize("form", ["doccano", "prodigy"])
def test_fragments_and_alternatives_of_rows_count_although_flat_rows_are_no_documents(
    form: str, tmp_path: Path
) -> None:
    make = {"doccano": doccano, "prodigy": prodigy}[form]
    places = [{"start": 3, "end": 8, "label": "A"}, {"start": 6, "end": 8, "label": "A"}]
    gaps = {**MAIN, "start": 0, "fragments": GAPS, "label": "B"}
    folders = [tmp_path / name for name in ("gold", "predicted")]
    for folder in folders:
        folder.mkdir()
    gold = make(folders[0], [{**MAIN, "alternatives": OTHERS}, gaps])
    predicted = make(folders[1], [*places, {**MAIN, "start": 0, "label": "B"}])

    result = score(gold, predicted, metrics="exact")

    micro = result.metrics["exact"]["label"]["micro"]
    assert (micro["tp_gold"], micro["fp"], micro["fn"]) == (1, 2, 1)
    assert result.to_dict()["prepared"] == {"by_alternative": 1, "groups": 1}
