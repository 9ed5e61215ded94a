from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from clueval.findings.kept import KeptText

_TEXTS = st.lists(st.text(max_size=3) | st.sampled_from(["ä" * 40_000, "\ud800" * 70_000, "a\r\x85\nb\n"]))


@given(_TEXTS)
def test_kept_text_is_all_that_was_added_as_often_as_it_is_read(texts: list[str]) -> None:
    with KeptText() as kept:
        for text in texts:
            kept.add(text)
        found = ["".join(kept), "".join(kept)]

    assert found == ["".join(texts)] * 2


@given(_TEXTS)
def test_kept_text_has_the_lines_that_were_added(texts: list[str]) -> None:
    lines = [text.replace("\n", " ") for text in texts]

    with KeptText() as kept:
        for line in lines:
            kept.add(f"{line}\n")
        found = list(kept.lines())

    assert found == lines
