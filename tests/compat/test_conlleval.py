"""The format of conlleval, against what the package `conlleval` 0.2 from PyPI prints for the same tags."""

from __future__ import annotations

from itertools import chain, repeat
from pathlib import Path

import pytest

from clueval import score
from clueval.compat.conlleval import render
from clueval.files.errors import UsageError

PRINTED = """\
processed 961 tokens with 459 phrases; found: 539 phrases; correct: 371.
accuracy:  84.08%; precision:  68.83%; recall:  80.83%; FB1:  74.35
             ADJP: precision:   0.00%; recall:   0.00%; FB1:   0.00  1
             ADVP: precision:  45.45%; recall:  62.50%; FB1:  52.63  11
               NP: precision:  64.98%; recall:  78.63%; FB1:  71.16  317
               PP: precision:  83.18%; recall:  98.89%; FB1:  90.36  107
             SBAR: precision:  66.67%; recall:  33.33%; FB1:  44.44  3
               VP: precision:  69.00%; recall:  79.31%; FB1:  73.80  100"""
"""What conlleval 0.2 prints for `sample`, to the byte. The figures are modelled on CoNLL-2000's well-known sample."""

CORRECT = {"ADVP": 5, "NP": 206, "PP": 89, "SBAR": 2, "VP": 69}
LOST = {"NP": 41, "VP": 18, "ADJP": 6, "SBAR": 4, "ADVP": 3, "PP": 1}
WRONG = {"VP": 31, "PP": 18, "ADVP": 6, "ADJP": 1, "SBAR": 1, "NP": 81}
CUT_IN_TWO = 15  # noun phrases of two tokens, predicted as two phrases
OUTSIDE = 422


def tags_of(counts: dict[str, int]) -> list[str]:
    return list(chain.from_iterable(repeat(f"B-{label}", n) for label, n in counts.items()))


def sample() -> list[tuple[str, str]]:
    """Gold and predicted tags with the phrases that these figures count; what differs, differs in 153 tokens."""
    same = [(tag, tag) for tag in tags_of(CORRECT)]
    cut = [("B-NP", "B-NP"), ("I-NP", "B-NP")] * CUT_IN_TWO
    lost, wrong = tags_of(LOST), tags_of(WRONG)
    differ = list(zip([*lost, *repeat("O", len(wrong) - len(lost))], wrong, strict=True))
    return [*same, *cut, *differ, *[("O", "O")] * OUTSIDE]


def scored(path: Path, pairs: list[tuple[str, str]]) -> str:
    path.write_text("".join(f"w {own} {other}\n" for own, other in pairs), encoding="utf-8")
    return render(score(path, metrics="exact").to_dict())


def test_a_sample_is_printed_as_conlleval_prints_it_byte_for_byte(tmp_path: Path) -> None:
    assert scored(tmp_path / "sample.conll", sample()) == PRINTED


def test_nothing_found_is_zero_percent(tmp_path: Path) -> None:
    assert scored(tmp_path / "none.conll", [("B-PER", "O"), ("O", "O")]) == (
        "processed 2 tokens with 1 phrases; found: 0 phrases; correct: 0.\n"
        "accuracy:  50.00%; precision:   0.00%; recall:   0.00%; FB1:   0.00\n"
        "              PER: precision:   0.00%; recall:   0.00%; FB1:   0.00  0"
    )


def test_a_hundred_percent_fills_its_columns(tmp_path: Path) -> None:
    assert scored(tmp_path / "all.conll", [("B-PER", "B-PER")]).endswith(
        "accuracy: 100.00%; precision: 100.00%; recall: 100.00%; FB1: 100.00\n"
        "              PER: precision: 100.00%; recall: 100.00%; FB1: 100.00  1"
    )


def test_without_tokens_there_is_the_first_line_only(tmp_path: Path) -> None:
    assert scored(tmp_path / "empty.conll", []) == (
        "processed 0 tokens with 0 phrases; found: 0 phrases; correct: 0."
    )


def test_several_layers_have_their_names_above(tmp_path: Path) -> None:
    path = tmp_path / "two.conll"
    path.write_text("w B-PER B-high\n", encoding="utf-8")
    report = score(path, path, metrics="exact", layers={"entity": 2, "risk": 3}).to_dict()

    blocks = render(report).split("\n\n")

    assert [block.split("\n")[0] for block in blocks] == ["entity", "risk"]
    assert [block.split("\n")[1] for block in blocks] == [
        "processed 1 tokens with 1 phrases; found: 1 phrases; correct: 1."
    ] * 2


def test_a_break_down_has_a_block_for_each_value(tmp_path: Path) -> None:
    path = tmp_path / "two.vrt"
    path.write_text(
        '<text id="a">\n<s>\nw\tB-PER\n</s>\n</text>\n<text id="b">\n<s>\nw\tO\n</s>\n</text>\n',
        encoding="utf-8",
    )

    lines = render(score(path, path, metrics="exact", by="document").to_dict()).split("\n")

    assert [line for line in lines if ":" not in line or line.startswith("document")] == [
        "label",
        "",
        "document a: label",
        "",
        "document b: label",
    ]
    assert "processed 1 tokens with 0 phrases; found: 0 phrases; correct: 0." in lines


def test_the_metric_exact_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "one.conll"
    path.write_text("w B-PER\n", encoding="utf-8")

    with pytest.raises(UsageError, match="needs the metric 'exact' \\(score with metrics='exact'\\)"):
        render(score(path, path, metrics="levels").to_dict())
