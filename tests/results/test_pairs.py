"""The pairs that studies read are those that `score` counts."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

import clueval
from clueval.reading import column_texts
from clueval.reading.clusters import Unusual
from clueval.results.pairs import pairs_of

GOLD = "Anna\tB-PER\nWeiß\tI-PER\nin\tO\n\nUlm\tB-LOC\n.\tO\n"
PREDICTED = "Anna\tB-PER\nWeiß\tO\nin\tO\n\nUlm\tB-ORG\n.\tB-PER\n"


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    found = tmp_path / "gold.conll", tmp_path / "predicted.conll"
    for path, content in zip(found, (GOLD, PREDICTED), strict=True):
        path.write_text(content, encoding="utf-8")
    return found


def test_pairs_of_other_texts_are_aligned() -> None:
    pytest.importorskip("rapidfuzz")
    sides = [
        clueval.Document("d", {"x": [clueval.Span(0, end, "PER")]}, text=text, unit="character")
        for text, end in (("Anna in Ulm", 4), ("Anna  in Ulm", 4))
    ]

    ((pair,)) = pairs_of([sides[0]], [sides[1]], align=True)

    assert pair.predicted.text == pair.gold.text == "Anna in Ulm"


def test_pairs_of_files_are_read_again(files: tuple[Path, Path]) -> None:
    pairs = pairs_of(*files)

    assert [pair.gold.layers for pair in pairs] == [pair.gold.layers for pair in pairs]


def test_pairs_of_an_iterator_are_read_once() -> None:
    pairs = pairs_of(iter([["B-PER"]]), [["O"]])

    assert len(list(pairs)) == 1
    with pytest.raises(clueval.UsageError, match="gold can be read only once, and was read before"):
        list(pairs)


def test_texts_have_a_pair_for_each_system(files: tuple[Path, Path]) -> None:
    gold, predicted = files

    ((one, two),) = pairs_of(gold, predicted, gold).texts()

    assert one.gold.layers == two.gold.layers == two.predicted.layers != one.predicted.layers


def test_texts_of_an_iterator_of_gold_are_read_once_for_all_systems() -> None:
    texts = list(pairs_of(iter([["B-PER"], ["O"]]), [["O"], ["O"]], [["B-PER"], ["O"]]).texts())

    assert [[pair.gold.layers["label"] for pair in text] for text in texts] == [
        [[clueval.Span(0, 1, "PER")]] * 2,
        [[]] * 2,
    ]


def test_pairs_of_files_with_different_texts_name_the_lines(files: tuple[Path, Path]) -> None:
    gold, predicted = files
    predicted.write_text(PREDICTED.replace("Ulm", "Bonn"), encoding="utf-8")

    with pytest.raises(clueval.TextMismatch, match=r"gold.conll:5: gold has"):
        list(pairs_of(gold, predicted))


def test_pairs_need_names_of_filters_that_occur(files: tuple[Path, Path]) -> None:
    with pytest.raises(clueval.UsageError, match="no span has label=X"):
        list(pairs_of(*files, where=["label=X"]))


def test_pairs_have_no_other_options_than_score() -> None:
    with pytest.raises(clueval.UsageError, match="errors has no option 'layer'"):
        pairs_of([], [], layer=1, caller="errors")


@pytest.mark.parametrize("unusual_from", [None, 0, 3])
def test_errors_of_long_documents_that_are_read_in_parts_are_those_of_the_whole(
    unusual_from: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gold = ["-DOCSTART- O\n", *["Anna B-PER\nin O\nUlm B-LOC\n", "Bob B-PER\nkam O\n", "sie O\n"] * 3] * 3
    sides = [tmp_path / "gold", tmp_path / "predicted"]
    for folder, old in zip(sides, ("", "Bob B-PER"), strict=True):
        folder.mkdir()
        for name in ("a.conll", "b.conll"):
            (folder / name).write_text(
                "\n".join(gold).replace(old or "-", "Bob O" if old else "-"), encoding="utf-8"
            )

    def read_in_parts(*arguments: Any, **options: Any) -> Iterator[Any]:
        yield from islice(texts_of(*arguments, **options), unusual_from)
        if unusual_from is not None:
            raise Unusual("documents from here on")

    texts_of = column_texts.column_texts
    whole = clueval.errors(*sides, window=50).rows()
    monkeypatch.setattr(column_texts, "ROWS", 4)
    monkeypatch.setattr(column_texts, "column_texts", read_in_parts)
    rows = clueval.errors(*sides).rows()

    assert len(list(pairs_of(*sides).texts(only_differing=True, in_parts=True))) > (unusual_from or 5)
    columns = ("document", "side", "reason", "start", "end_inclusive", "text", "line")
    assert len(rows) == 18
    assert [[row[name] for name in columns] for row in rows] == [
        [row[name] for name in columns] for row in whole
    ]


def test_errors_of_a_folder_go_on_in_files_that_are_not_read_sentence_by_sentence(tmp_path: Path) -> None:
    for side, label in (("gold", "B-LOC"), ("predicted", "O")):
        folder = tmp_path / side
        folder.mkdir()
        (folder / "a.conll").write_text(f"Ada B-PER\nran O\n\nUlm {label}\n\n", encoding="utf-8")
        word = f"1\tBonn\t_\tN\t_\t_\t0\t_\t_\tNER={label}\n\n"
        (folder / "b.conllu").write_text(f"# newdoc id = b\n{word}", encoding="utf-8")

    rows = clueval.errors(tmp_path / "gold", tmp_path / "predicted").rows()

    assert [row["text"] for row in rows] == ["Ulm", "Bonn"]


@pytest.mark.parametrize("discontinuous", [None, 3, 12])
def test_many_pairs_of_files_of_one_document_each_are_counted_as_documents_are(
    discontinuous: int | None, tmp_path: Path
) -> None:
    for side in ("gold", "predicted"):
        (tmp_path / side).mkdir()
        for number in range(13):
            path = tmp_path / side / f"{number}.txt"
            path.write_text("Ada went to Ulm", encoding="utf-8")
            span = "PER 0 3;4 8\tAda went" if number == discontinuous else "PER 0 3\tAda"
            label = "LOC" if side == "gold" or number % 7 else "ORG"
            path.with_suffix(".ann").write_text(f"T1\t{span}\nT2\t{label} 12 15\tUlm\n", encoding="utf-8")
    sides = tmp_path / "gold", tmp_path / "predicted"
    of_documents = clueval.score(*sides, metrics="exact", by="document")  # counted one by one

    result = clueval.score(*sides, metrics="exact")

    assert result.documents == 13
    assert result.metrics == of_documents.metrics
