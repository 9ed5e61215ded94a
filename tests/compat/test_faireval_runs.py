from __future__ import annotations

from collections import Counter

import pytest

from clueval.compat.faireval.config import Run, run_blocks
from clueval.exceptions import FormatError, TextMismatch
from clueval.limits import sentences_of
from clueval.metrics.fair import Fair


def run(target: str, system: str) -> Run:
    return run_blocks([(1, target)], [(1, system)], Fair(), target_file="gold.tsv", system_file="tagger.tsv")


def test_spans_of_equal_and_of_different_sentences_are_counted_on_their_side() -> None:
    target = "A\t1\t1\t\n\nA\t1\t1\t\nB\t2\t2\t\n\nA\t1\t1\t\n\nC\t1\t1\t\n"
    system = "A\t1\t1\t\n\nA\t1\t1\t\n\nD\t1\t1\t\nB\t2\t2\t\nA\t4\t4\t\n\nC\t1\t1\t\n"

    found = run(target, system)

    assert found.labels == ("A", "B", "C")
    assert found.tally["fair", "TP", "A", "A"] == 2


def test_sentence_of_spans_is_compared_with_one_of_tokens() -> None:
    spans, tokens = "NP\t1\t2\t1, 2\n", "Das ART B-NP\nHaus NN I-NP\n"

    for target, system in ((spans, tokens), (tokens, spans), (tokens, tokens)):
        found = run(target, system)
        assert found.tally["fair", "TP", "NP", "NP"] == 1


def test_bad_line_in_a_sentence_of_spans_has_its_place() -> None:
    for target, system, place in (
        ("A\t1\t1\t\n\nA\t0\t1\t\n", "A\t1\t1\t\n\na NN O\n", r"gold\.tsv:3"),
        ("A\t1\t1\t\n\na NN O\n", "A\t1\t1\t\n\nA\t0\t1\t\n", r"tagger\.tsv:3"),
        ("A\t1\t1\t\n\nA\t1\t1\t\n", "A\t1\t1\t\n\nA\t0\t1\t\n", r"tagger\.tsv:3"),
        ("A\t1\t1\t\n\na NN\n", "A\t1\t1\t\n\na NN O\n", r"gold\.tsv:3"),
    ):
        with pytest.raises(FormatError, match=place):
            run(target, system)


def test_files_of_other_numbers_of_sentences_are_refused_with_advice() -> None:
    with pytest.raises(
        TextMismatch, match=r"gold\.tsv has 1 sentence and tagger\.tsv has 2 .*EMPTY 999 999 999"
    ):
        run("A\t1\t1\t\n", "A\t1\t1\t\n\nA\t1\t1\t\n")


def test_sentence_may_have_a_number_of_lines_and_no_more() -> None:
    blocks = [(1, "a\n\n \nb\n"), (5, "c\n\nd\n")]

    assert list(sentences_of(blocks, "a.tsv", 2)) == [(1, ["a"]), (4, ["b", "c"]), (7, ["d"])]
    with pytest.raises(FormatError, match=r"a\.tsv:4: the sentence .* more tokens than 1"):
        list(sentences_of(blocks, "a.tsv", 1))


def test_runs_are_added() -> None:
    one, other = Run(Counter(a=1), ("A", "B")), Run(Counter(a=10, b=1), ("C", "A"))

    assert one + other == Run(Counter(a=11, b=1), ("A", "B", "C"))
    assert one.tally == {"a": 1}
