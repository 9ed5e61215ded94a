"""What a page shows of very long mentions."""

from __future__ import annotations

from clueval import Document, Span, masking
from clueval.studies.masking.leak import MOST_SHOWN


def test_the_context_of_a_long_mention_has_its_beginning_and_its_end() -> None:
    text = "Herr " + "ab " * MOST_SHOWN + "und cd"
    mention = Span(5, len(text) - 7, "A")
    gold = Document("d", {"label": [mention]}, text=text, unit="character")
    predicted = Document("d", {"label": [Span(0, 4, "X")]}, text=text, unit="character")

    [leak] = masking([gold], [predicted]).leaks

    own = "".join(piece.text for piece in leak.context if piece.is_own)
    half = MOST_SHOWN // 2
    assert own == f"{leak.text[:half]}…{leak.text[-half:]}"
    assert [piece.style for piece in leak.context[:2]] == ["masked", ""]


def test_the_context_of_a_leak_is_one_line() -> None:
    text = "Urteil\nHerr\tAda\r\ngeht."
    gold = Document("d", {"label": [Span(12, 15, "A")]}, text=text, unit="character")
    predicted = Document("d", {"label": []}, text=text, unit="character")

    [leak] = masking([gold], [predicted]).leaks

    assert "".join(piece.text for piece in leak.context) == "Urteil Herr Ada  geht."
