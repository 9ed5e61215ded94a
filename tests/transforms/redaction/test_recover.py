"""`recover`: placeholders, literals, wildcards, what is refused, and texts that we redacted ourselves."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clueval import Document, recover
from clueval.exceptions import TextMismatch, UsageError
from clueval.transforms.redaction.placeholders import find_placeholders, patterns_of
from clueval.transforms.redaction.recovery import recovery_of
from clueval.transforms.redaction.strict import wildcards_of


def masked(original: str, redacted: str, placeholder: str | tuple[str, ...] = ()) -> list[str]:
    return [original[span.start : span.end] for span in recover(original, redacted, placeholder)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[...] [] [NAME] [a\nb]", ["[...]", "[]", "[NAME]"]),
        ("[" + "a" * 40 + "] [" + "a" * 41 + "]", ["[" + "a" * 40 + "]"]),
        ("<ORT> <> {A} {{B}} {{}}", ["<ORT>", "{A}", "{{B}}"]),
        *(
            (f"{start}{'a' * 40}{end} {start}{'a' * 41}{end}", [f"{start}{'a' * 40}{end}"])
            for start, end in ("<>", "{}", ("{{", "}}"))
        ),
        ("A____ __ _ Anna__ ***", ["A____", "__", "__", "***"]),
        ("█ ██ ■■ ▇▇ ##", ["██", "■■", "▇▇", "##"]),
        ("A… … a… A... .. ... Ende...", ["A…", "…", "…", "A...", "...", "..."]),
        ("A. b. Öz. S. 2, z.B.", ["A.", "S.", "B."]),
        ("X XX xx x Xx XaX", ["X", "XX", "xx"]),
    ],
)
def test_the_first_alternative_that_fits_is_the_placeholder(text: str, expected: list[str]) -> None:
    assert [text[start:end] for start, end in find_placeholders(text)] == expected


def test_placeholders_with_no_letter_between_are_one_wildcard() -> None:
    text = "[A], [B] und [C]"

    assert wildcards_of(text, find_placeholders(text)) == [(0, 8), (13, 16)]


@pytest.mark.parametrize(
    ("original", "redacted", "expected"),
    [
        ("O. Braun klagt", "O. [NAME] klagt", ["Braun"]),
        ("nach S. 2 BGB Weiß", "nach S. 2 BGB [NAME]", ["Weiß"]),
        ("er sagt [...] nichts", "er sagt [...] nichts", []),
        ("Frau  Weiß\nklagt ", " Frau A.\n klagt", ["Weiß"]),
        ("Karl Öz, Köln.", "[A], [B].", ["Karl Öz, Köln"]),
        ("Weiß", "XXX", ["Weiß"]),
        ("a Weiß b Weiß c", "a [X] b Weiß c", ["Weiß"]),
        ("Karl und Karl und Karl", "Karl und [X] und Karl", ["Karl"]),
        ("", "", []),
        ("ab", "[X]ab", []),
    ],
)
def test_what_a_wildcard_stands_over_is_masked(original: str, redacted: str, expected: list[str]) -> None:
    assert masked(original, redacted) == expected


def test_spans_have_what_stands_for_them() -> None:
    (span,) = recover("Frau Karl Öz, Köln klagt", "Frau K. Ö., [ORT] klagt")

    assert span.features["replacement"] == "K. Ö., [ORT]"
    assert span.features["parts"] == ((5, 9, "K."), (10, 12, "Ö."), (14, 18, "[ORT]"))


def test_white_space_counts_nowhere_where_gold_has_tokens_only() -> None:
    document = Document("d", {}, tokens=["Frau", "Weiß", ",", "Köln", "!"])

    assert [(span.start, span.end) for span in recover(document, "Frau [A],Köln!")] == [(5, 9)]


def test_a_further_placeholder_is_a_regular_expression() -> None:
    assert masked("Karl traf Anna.", "P1 traf P22.", r"P\d+") == ["Karl", "Anna"]
    assert masked("Karl traf Anna.", "P1 traf Q.", (r"P\d", "Q")) == ["Karl", "Anna"]


@pytest.mark.parametrize(
    ("redacted", "character"),
    [
        ("Frau A. klagte.", 13),
        ("Fraü A. klagt.", 3),
        ("Frau A. klagt. Ende", 18),
        ("Frau A. klagt", 12),
        ("Hier: Frau A. klagt.", 0),
        ("A. Frau klagt.", 6),
        ("Frau Weiß klagt.".replace("ß", "s"), 8),
        ("Frau Anna Braun klagt.", 5),
        ("", 0),
    ],
)
def test_another_text_is_refused_with_its_character(redacted: str, character: int) -> None:
    with pytest.raises(TextMismatch) as caught:
        recover("Frau Weiß klagt.", redacted)
    assert f"at its character {character}," in str(caught.value)
    assert "Weiß" not in str(caught.value)


@pytest.mark.parametrize(
    "pattern",
    ["(a+)+b", "(a|a)*b", "[", "a*", "(.*)(.*)x", r"(x)\1", r"\d{1,1000}", "(?:a{1,9}){1,9}", "(a*)*"],
)
def test_a_pattern_that_cannot_be_used_is_refused_before_any_text_is_read(pattern: str) -> None:
    with pytest.raises(UsageError) as caught:
        patterns_of(pattern)
    assert str(caught.value).count("\n") == 0


def test_a_pattern_sees_placeholders_wherever_they_stand_in_a_long_line() -> None:
    text = "".join(f"wort P{number} " for number in range(500))

    found = find_placeholders(text, patterns_of(r"P\d+"))

    assert [text[start:end] for start, end in found] == re.findall(r"P\d+", text)


def test_the_second_reading_shows_what_is_uncertain() -> None:
    original, redacted = "Karl a a Anna", "[X] a [Y]"
    found = recovery_of(original, redacted)

    assert [original[span.start : span.end] for span in found.spans] == ["Karl", "a Anna"]
    assert [original[span.start : span.end] for span in found.from_the_right] == ["Karl a", "Anna"]


@pytest.mark.parametrize("unit", ["X", ".", "_", "A.", "X ", "[", "<", "a.", "x", "[]", "…", "{"])
def test_hostile_texts_are_read(unit: str) -> None:
    hostile = unit * 20_000

    found = find_placeholders(hostile)

    assert len(found) <= len(hostile)


STYLES = (
    "[NAME]",
    "<PER>",
    "{x}",
    "{{PER_1}}",
    "[...]",
    "XXX",
    "xx",
    "____",
    "***",
    "###",
    "██",
    "■■",
    "▇▇",
    "…",
    "....",
    "",
)
WORDS = st.sampled_from(["Anna", "Weiß", "klagt", "gegen", "die", "Öz", "in", "Köln", "12", "wohnt"])


def redact(words: list[str], hidden: list[bool], style: str, rng: random.Random) -> str:
    """Replace hidden words; an empty style is an initial in one of its forms."""
    forms = ("{}.", "{}…", "{}...", "{}___")
    return " ".join(
        (style or rng.choice(forms).format("Q")) if hide else word
        for word, hide in zip(words, hidden, strict=True)
    )


@pytest.mark.parametrize("style", STYLES)
@given(pairs=st.lists(st.tuples(WORDS, st.booleans()), max_size=12), rng=st.randoms())
def test_what_we_redacted_ourselves_is_recovered(
    style: str, pairs: list[tuple[str, bool]], rng: random.Random
) -> None:
    numbered = [(f"{word}{number}", hide) for number, (word, hide) in enumerate(pairs)]  # each word once
    words, hidden = [word for word, _ in numbered], [hide for _, hide in numbered]
    original = " ".join(words)

    spans = recover(original, redact(words, hidden, style, rng))

    found = {place for span in spans for place in range(span.start, span.end)}
    expected, start = set(), 0
    for word, hide in numbered:
        expected |= set(range(start, start + len(word))) if hide else set()
        start += len(word) + 1
    assert {place for place in found if original[place] != " "} == expected
