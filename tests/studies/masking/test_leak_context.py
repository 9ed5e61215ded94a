"""The text around leaks."""

from __future__ import annotations

from clueval import Document, MaskingReport, Span, masking
from clueval.studies.masking.leaks import LEAK, MASKED, MOST_SHOWN


def report(text: str, mentions: list[Span], masks: list[Span]) -> MaskingReport:
    gold, predicted = (
        Document("d", {"label": spans}, text=text, unit="character") for spans in (mentions, masks)
    )
    return masking([gold], [predicted])


def test_the_context_of_a_long_mention_has_its_beginning_and_its_end() -> None:
    text = "Herr " + "ab " * MOST_SHOWN + "und cd"
    [leak] = report(text, [Span(5, len(text) - 7, "A")], [Span(0, 4, "X")]).leaks
    [context] = leak.contexts

    half = MOST_SHOWN // 2
    assert context.text == f"Herr {leak.text[:half]} … {leak.text[-half:]}{text[-7:]}"
    assert (context.marks[0].kind, context.marks[0].start, context.marks[0].end) == (MASKED, 0, 4)


def test_the_context_of_a_leak_is_one_line() -> None:
    [leak] = report("Urteil\nHerr\tAda\r\ngeht.", [Span(12, 15, "A")], []).leaks

    assert leak.contexts[0].text == "Urteil Herr Ada  geht."


def test_what_can_be_read_and_what_is_masked_is_marked() -> None:
    [leak] = report("Frau Anna Weiß geht", [Span(5, 14, "A")], [Span(0, 4, "X"), Span(10, 14, "X")]).leaks
    text, marks, is_cut = leak.contexts[0]

    shown = [(mark.kind, text[mark.start : mark.end]) for mark in marks]
    assert shown == [(MASKED, "Frau"), (MASKED, "Weiß"), (LEAK, "Anna")]
    assert is_cut == (False, False)


def test_a_context_is_cut_at_blanks() -> None:
    words = "wort " * 40
    [leak] = report(f"{words}Anna {words}", [Span(200, 204, "A")], []).leaks
    text, marks, is_cut = leak.contexts[0]

    assert set(text.split()) == {"wort", "Anna"}
    assert is_cut == (True, True)
    assert [text[mark.start : mark.end] for mark in marks] == ["Anna"]


def test_a_leak_shows_the_first_other_mentions_of_its_entity() -> None:
    names = [Span(start, start + 4, "A") for start in (0, 5, 10, 15)]
    first, *_ = report("Anna Anna Anna Anna", names, [Span(5, 9, "X")]).leaks
    own, *others = first.contexts

    assert own.text == "Anna Anna Anna Anna"
    assert [[(mark.kind, mark.start) for mark in each.marks] for each in others] == [
        [(MASKED, 5)],
        [(MASKED, 5), (LEAK, 10)],
    ]
