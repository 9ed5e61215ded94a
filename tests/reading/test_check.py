"""`check` finds the same problems whether it looks at all tags of a passage together or at one after the other."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

from hypothesis import example, given, settings
from hypothesis import strategies as st
from sizes import handed_in

from clueval.formats.columns.layout import Sizes
from clueval.reading import check
from clueval.reading.options import Reading
from clueval.reading.read_options import ReadOptions

TAGS = st.sampled_from(
    ["O", "O", "B-X", "I-X", "I-Y", "B-X&amp;", "I-X&#38;", "E-X", "S-X", "L-X", "M-X", "XX"]
)
ROWS = st.one_of(
    st.builds("{}\t{}\tt{}".format, st.sampled_from("ab"), TAGS, st.integers(0, 50)),
    st.builds("a\t{}\tt{}".format, TAGS, st.integers(0, 10**6)),
)
LINES = st.one_of(
    ROWS, ROWS, ROWS, st.just(""), st.sampled_from(["-DOCSTART-", "a\tO", "\tO\tt1", "a\tO\tt1\tx"])
)


def _found(path: Path, form: str, scheme: str | None) -> tuple[Any, ...]:
    layers = {"label": 2}
    options = ReadOptions.of(Reading(input=form, token_id=3, scheme=scheme), layers)
    (each,) = (each for _, each in check.checks([path], options))
    problems = list(map(str, each.problems()))
    return problems, each.documents, each.tokens, each.schemes


@given(
    st.lists(LINES, min_size=1), st.sampled_from(["conll", "vrt"]), st.sampled_from([None, "BIO", "BIOES"])
)
@example(["a\tI-X\tt1", "", "a\tI-X\tt2", "", "a\tB-X\tt3", "a\tI-X\tt4"], "conll", None)
@settings(deadline=None, max_examples=60)
def test_check_of_all_tags_together_finds_what_a_check_of_single_tags_finds(
    lines: list[str], form: str, scheme: str | None
) -> None:
    with TemporaryDirectory() as folder, handed_in(Sizes(sentences=2, tokens=8)):
        path = Path(folder) / "a"
        marks = {"-DOCSTART-": "</s></text><text><s>", "": "</s>\n<s>"}
        text = [line if form == "conll" else marks.get(line, line) for line in lines]
        path.write_text("a\tO\tt0\n" + "\n".join(text) + "\n", encoding="utf-8")
        together = _found(path, form, scheme)
        with patch.object(check, "_columns", lambda passage: None):
            alone = _found(path, form, scheme)

    assert together == alone
