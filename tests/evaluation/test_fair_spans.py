from __future__ import annotations

from collections import Counter

import pytest

from clueval.evaluation.fair_spans import Run, run_blocks
from clueval.exceptions import FormatError, TextMismatch
from clueval.metrics.fair import Fair


def run(target: str, system: str, **options: int | bool) -> Run:
    return run_blocks(
        [(1, target)], [(1, system)], Fair(), target_file="gold.tsv", system_file="tagger.tsv", **options
    )


def test_spans_of_equal_and_of_different_sentences_are_counted_on_their_side() -> None:
    target = "A\t1\t1\t\n\nA\t1\t1\t\nB\t2\t2\t\n\nA\t1\t1\t\n\nC\t1\t1\t\n"
    system = "A\t1\t1\t\n\nA\t1\t1\t\n\nD\t1\t1\t\nB\t2\t2\t\nA\t4\t4\t\n\nC\t1\t1\t\n"

    found = run(target, system)

    assert (found.sentences, found.spans, found.labels) == (4, (5, 6), ("A", "B", "C"))
    assert found.repaired == (0, 0)


def test_sentence_of_spans_is_compared_with_one_of_tokens() -> None:
    spans, tokens = "NP\t1\t2\t1, 2\n", "Das ART B-NP\nHaus NN I-NP\n"

    for target, system in ((spans, tokens), (tokens, spans), (tokens, tokens)):
        found = run(target, system)
        assert (found.tally["fair", "TP", "NP", "NP"], found.spans) == (1, (1, 1))


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


@pytest.mark.parametrize("long", [0, 1])
def test_sentence_may_have_a_number_of_lines_and_no_more(long: int) -> None:
    texts = ["A\t1\t1\t\n\nA\t1\t1\t\n"] * 2
    texts[long] = "A\t1\t1\t\n\n" + "A\t1\t1\t\n" * 3

    assert run(texts[0], texts[1], max_sentence=3).sentences == 2
    with pytest.raises(
        FormatError, match=rf"{('gold', 'tagger')[long]}\.tsv:3: the sentence .* more tokens than 2"
    ):
        run(texts[0], texts[1], max_sentence=2)


def test_runs_are_added_side_by_side() -> None:
    one = Run(Counter(a=1), ("A", "B"), 1, (2, 3), (4, 5))
    other = Run(Counter(a=10, b=1), ("C", "A"), 10, (20, 30), (40, 50))

    assert one + other == Run(Counter(a=11, b=1), ("A", "B", "C"), 11, (22, 33), (44, 55))
    assert one.tally == {"a": 1}
