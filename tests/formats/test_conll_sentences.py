"""Sentences of CoNLL that are read many at a time are those that are read line by line."""

from itertools import accumulate
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from clueval.formats.columns import ColumnReader
from clueval.formats.conll import CONLL
from clueval.formats.options import FormatOptions
from tests.formats.outcomes import of_blocks, outcome

SENTENCES = ("a\tO\n\n", "a\tO\nb\tB-X\n\n", "b O\n\n", "#\tB-X\nb\tO\n\n")
LINES = (
    "a\tO\n",
    "#\tB-X\n",
    "\tO\n",
    "b O\n",
    "c  B-X\n",
    " d O\n",
    "\n",
    " \t\n",
    "-DOCSTART-\n",
    "-DOCSTART- O\n\n",
    "e-DOCSTART-\tO\n",
    "# sent_id = s1\n",
    "# newdoc id = n\n",
    "# meta::k = v\n",
    "# note\n",
)


def read(blocks: list[str]) -> Any:
    numbers = accumulate((block.count("\n") for block in blocks), initial=1)
    numbered = list(zip(numbers, blocks, strict=False))
    return outcome(lambda: ColumnReader(CONLL, of_blocks(numbered), FormatOptions()).documents())


@given(
    st.lists(st.sampled_from(SENTENCES) | st.sampled_from(SENTENCES + LINES), max_size=40),
    st.integers(1, 60),
)
@example(["a\tO\n\n"] * 9, 60)
@example(["a\tO\n\n"] * 9 + ["\n", "#\tB-X\n", "\n", "a\tO\n\n"], 60)
@example(["a\tO\n\n"] * 2 + ["a\tO\n", "# sent_id = s1\n", "a\tO\n\n", "-DOCSTART-\n"], 60)
@example(["a\tO\n\n", "a\tO\n\n", "# sent_id = s1\n", "a\tO\n\n", "a\tO\n\n"], 5)
@example(["b O\n\n"] * 4 + ["c  B-X\n"] + ["b O\n\n"] * 4, 60)
def test_sentences_that_are_read_together_are_those_that_are_read_line_by_line(
    parts: list[str], size: int
) -> None:
    lines = "".join(parts).splitlines(keepends=True)
    blocks = ["".join(lines[start : start + size]) for start in range(0, len(lines), size)]

    assert read(blocks) == read(lines)
