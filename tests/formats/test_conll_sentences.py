"""Sentences of CoNLL that are read many at a time are those that are read line by line."""

from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from clueval.files.errors import CluevalError
from clueval.formats.columns.layout import ColumnOptions, Sizes
from clueval.formats.columns.passages import Passage
from clueval.formats.conll import ConllReader
from clueval.files.opening import refuse

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


def seen(passage: Passage) -> tuple[Any, ...]:
    """Everything that others read in a passage; a line number for each token instead of the anchors."""
    places = [(s, r) for s, text in enumerate(passage.sentences) for r in range(text.count("\n"))]
    lines = [passage.line_of(*place) for place in places]
    assert lines == list(passage.lines())
    names = passage.document, passage.named, dict(passage.metadata), passage.begins
    layout = (
        passage.layout if passage.sentences else None
    )  # each sentence sets it; before, it may be known or not
    return *names, layout, passage.start, passage.tokens, passage.sentences, passage.heads, lines


def read(blocks: list[str], options: ColumnOptions) -> list[tuple[Any, ...]] | str:
    reader, number = ConllReader("f", options, None, refuse), 1
    try:
        for block in blocks:
            reader.feed(number, block)
            number += block.count("\n")
        reader.finish()
    except CluevalError as error:
        return str(error)
    return [seen(passage) for passage in reader.builder.take()]


@given(
    st.lists(st.sampled_from(SENTENCES) | st.sampled_from(SENTENCES + LINES), max_size=40),
    st.integers(1, 60),
    st.tuples(st.integers(1, 9), st.integers(1, 6)),
    st.sampled_from(((90, 90), (90, 90), (3, 90), (90, 2))),
)
@example(["a\tO\n\n"] * 9, 60, (6, 6), (90, 90))
@example(["a\tO\n\n"] * 9 + ["\n", "#\tB-X\n", "\n", "a\tO\n\n"], 60, (9, 6), (90, 90))
@example(["a\tO\n\n"] * 2 + ["a\tO\n", "# sent_id = s1\n", "a\tO\n\n", "-DOCSTART-\n"], 60, (2, 6), (90, 90))
@example(["a\tO\n\n", "a\tO\n\n", "# sent_id = s1\n", "a\tO\n\n", "a\tO\n\n"], 5, (9, 9), (90, 90))
@example(["b O\n\n"] * 4 + ["c  B-X\n"] + ["b O\n\n"] * 4, 60, (9, 1), (90, 90))
def test_sentences_that_are_read_together_are_those_that_are_read_line_by_line(
    parts: list[str], size: int, passage: tuple[int, int], limits: tuple[int, int]
) -> None:
    sizes = Sizes(sentences=passage[0], tokens=passage[1])
    options = ColumnOptions(max_line=limits[0], max_sentence=limits[1], sizes=sizes)
    lines = "".join(parts).splitlines(keepends=True)
    blocks = ["".join(lines[start : start + size]) for start in range(0, len(lines), size)]

    assert read(blocks, options) == read(lines, options)
