from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sizes import handed_in

from clueval.clusters import places as cluster_places
from clueval.evaluation.run import score
from clueval.files.errors import CluevalError, FormatError
from clueval.findings.stream import errors
from clueval.formats.columns.layout import Sizes
from clueval.second.formats.options import Reading

GOOD = "a 1 B-PER\nb 2 O\n\n"


@pytest.mark.few(5)
@pytest.mark.parametrize(
    "lines",
    [
        "c 3 foo\nd 4 O\n\n",
        "c 3 Q-X\n\n",
        "c 3 S-X\nd 4 U-X\n\n",
        "c 3 S-X\n\ne 5 O\n\nd 4 U-X\n\n",
        "c 3\nd 4 O\n\n",
        "c 3 x O\nd 4 O\n\n",
        " 3 O\nd 4 O\n\n",
        "c 3 O\nd 3 O\n\n",
        "c 1 O\nd 4 O\n\n",
    ],
)
@pytest.mark.parametrize("is_first", [True, False])
@pytest.mark.parametrize("has_errors", [True, False])
def test_errors_refuse_what_score_refuses_in_lines_that_are_equal_on_both_sides(
    tmp_path: Path, lines: str, is_first: bool, has_errors: bool
) -> None:
    gold, predicted = tmp_path / "g.conll", tmp_path / "p.conll"
    gold.write_text(lines + GOOD if is_first else GOOD + lines)
    predicted.write_text(gold.read_text().replace("B-PER", "O") if has_errors else gold.read_text())

    with pytest.raises(CluevalError) as expected:
        score(gold, predicted, layers={"label": 3}, token_id=2)
    with pytest.raises(CluevalError) as found:
        list(errors(gold, predicted, layers={"label": 3}, token_id=2))
    assert str(found.value) == str(expected.value)


def test_errors_refuse_a_tag_in_a_disputed_sentence_that_is_equal_in_another_layout(tmp_path: Path) -> None:
    gold, predicted = tmp_path / "g.conll", tmp_path / "p.conll"
    gold.write_text("a O\nb foo\n")
    predicted.write_text("a x O\nb x foo\n")

    with pytest.raises(CluevalError, match=r"g\.conll:2: 'foo' is not a tag"):
        list(errors(gold, predicted))


@pytest.mark.parametrize("lacking", [0, 1])
def test_errors_of_both_sides_are_in_the_document_of_gold_if_one_side_has_no_id(
    tmp_path: Path, lacking: int
) -> None:
    paths = [tmp_path / "g.conll", tmp_path / "p.conll"]
    for path, tag in zip(paths, ("B-X", "B-Y"), strict=True):
        path.write_text(f"# newdoc id = d\na {tag}\n")
    paths[lacking].write_text(paths[lacking].read_text().replace("newdoc", "no document"))

    found = [each.document for each in errors(*paths)]

    assert found == [each.document for each in errors(*paths, fragments="hull")]  # by documents
    assert found == ["1" if lacking == 0 else "d"] * 2


@pytest.mark.parametrize(
    ("gold", "predicted"), [("b B-X\nc E-X\n", "b U-X\nc L-X\n"), ("b U-X\n", "b S-X\n")]
)
def test_errors_refuse_tags_of_two_schemes_in_lines_that_are_equal_and_others(
    tmp_path: Path, gold: str, predicted: str
) -> None:
    paths = tmp_path / "g.conll", tmp_path / "p.conll"
    for path, lines in zip(paths, (gold, predicted), strict=True):
        path.write_text(f"a S-X\n\n{lines}")

    with pytest.raises(CluevalError) as expected:
        score(*paths)
    with pytest.raises(CluevalError) as found:
        list(errors(*paths))
    assert str(found.value) == str(expected.value)


def test_errors_are_found_in_equal_lines_that_the_sides_read_in_two_ways(tmp_path: Path) -> None:
    path = tmp_path / "both.conll"
    path.write_text("a I-X\n\nb B-X\nc I-X\n")
    readings = Reading(scheme="BIO"), Reading(scheme="BIO", invalid="discard")

    found = list(errors(path, path, reading=readings))

    assert score(path, path, reading=readings, metrics="exact").get("exact.label.micro.fn") == 1
    assert [(each.side, each.start, each.text) for each in found] == [("gold", 0, "a")]


def test_errors_refuse_a_tag_in_an_equal_line_that_is_outside_the_scheme_of_one_side(tmp_path: Path) -> None:
    path = tmp_path / "both.conll"
    path.write_text("a S-X\n")

    with pytest.raises(CluevalError, match="'S-X' is outside the scheme BIO"):
        list(errors(path, path, reading=(Reading(scheme="BIOES"), Reading(scheme="BIO"))))


@pytest.mark.parametrize("token_ids", [["1", "O", "2", "3"], ["O", "1", "O", "2"]])
def test_a_token_id_that_is_o_may_occur_once_in_a_document(tmp_path: Path, token_ids: list[str]) -> None:
    path, other = tmp_path / "g.conll", tmp_path / "p.conll"
    path.write_text("a {} B-X\n\nb {} B-X\nc {} O\n\nd {} O\n".format(*token_ids))
    other.write_text(path.read_text().replace("B-X", "O", 1))
    options: dict[str, Any] = {"layers": {"label": 3}, "token_id": 2}

    with handed_in(Sizes(sentences=1)):
        if token_ids.count("O") == 1:
            assert [each.first_token_id for each in errors(path, other, **options)] == ["1"]
            assert score(path, other, **options).get("levels.label.unlabelled.1.fn") == 1
            return
        for command in (errors, score):
            with pytest.raises(FormatError, match=r"g\.conll:4: token id 'O' is already used in line 1"):
                list(command(path, other, **options))


@pytest.mark.parametrize("most", [0, 1 << 15])
def test_errors_of_a_cluster_are_the_same_wherever_it_occurs(
    tmp_path: Path, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_places, "_MOST", most)
    gold, predicted = tmp_path / "g.conll", tmp_path / "p.conll"
    gold.write_text("a O\nb B-X\nc I-X\n\n" * 3 + "b B-X\nc I-X\nd O\ne B-X\nf I-X\n")
    predicted.write_text(gold.read_text().replace("c I-X", "c O").replace("f I-X", "f O"))

    with handed_in(Sizes(sentences=2)):
        found = [
            (each.side, each.start, each.end, each.line, each.context.text)
            for each in errors(gold, predicted)
        ]

    wide, last = [(1, 2), (4, 5), (7, 8), (9, 10), (12, 13)], "b c d e f"
    lines = [2, 6, 10, 13, 16]
    texts = ["a b c"] * 3 + [last] * 2
    assert found == [
        (side, start, end if side == "gold" else start, line, text)
        for (start, end), line, text in zip(wide, lines, texts, strict=True)
        for side in ("predicted", "gold")
    ]
