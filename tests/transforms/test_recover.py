"""`recover`: placeholders, literals, wildcards, what is refused, and texts that we redacted ourselves or aligned."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from contextlib import suppress
from itertools import accumulate
from typing import Any
from unicodedata import normalize

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from ran_lines import LIMIT, Lines

from clueval import Document, Span, recover
from clueval.files.errors import TextMismatch, UsageError
from clueval.transforms.recovery import recovery_of
from clueval.transforms.redaction import Place, find_placeholders, patterns_of, wildcards_of


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
        ("O. Braun klagt", "[O]. Braun klagt", ["O"]),
        ("Frau Weiß klagt", "Frau [Weiß] klagt", []),
        ("Frau Weiß klagt", "Frau [PER: WEISS] klagt", []),
        ("Frau Müller klagt", "Frau {Mu\u0308ller} klagt", []),
        ("Frau Anna Weiß klagt", "Frau [Anna W.] klagt", ["Weiß"]),
        ("am 1. Mai 1990", "am [Tag 1]", ["1. Mai 1990"]),
        ("am 01.05.1990 in Ulm", "am [01.05.1990] in Ulm", []),
        ("am -- um", "am [...] um", ["--"]),
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


def masked_in_ways(original: str, redacted: str) -> list[list[str]]:
    """Return what is masked if the original is a text or has tokens only, and if an edit requires alignment."""
    tokens = Document("d", {}, tokens=original.split())
    return [
        masked(original, redacted),
        [original[span.start : span.end] for span in recover(tokens, redacted)],
        [original[span.start : span.end] for span in recover(original, f"{redacted} sehr", align=True)],
    ]


@pytest.mark.parametrize(
    ("mention", "placeholder", "expected"),
    [
        *(
            ("Anna Weiß", placeholder, ["Anna"])
            for placeholder in ("[PER_Weiß]", "<PER_WEISS>", "[Weiß_1]", "[Weiß1]", "[PER1Weiß]", "[PERWeiß]")
        ),
        *(("Anna Weiß", placeholder, ["Anna"]) for placeholder in ("[W_e_i_ß]", "[A_WEIß]", "[A.][P_Weiß]")),
        *(
            ("Anna Weiß", placeholder, [])
            for placeholder in ("[Anna_Weiß]", "[ANNA_WEISS]", "[AnnaWeiß]", "[annaweiss]", "{{Weiß_Anna}}")
        ),
        *(("Müller", placeholder, []) for placeholder in ("[MUELLER]", "[P_Mueller1]", "[P_Mu\u0308ller]")),
        *(("Mu\u0308ller", placeholder, []) for placeholder in ("[MUELLER]", "[P_Mueller1]", "[P_Müller]")),
        ("O\u0308z", "[P_Öz]", []),
        ("Öz", "[Ö]", ["Öz"]),
        *(("Anna Weiß", placeholder, ["Anna"]) for placeholder in ("[Weißs]", "[HERRWEISS]", "[ＷＥＩẞ]")),
        ("Peter Ott", "[Ottos Repeter]", ["Ott"]),
        *(("José Müller", placeholder, []) for placeholder in ("[JOSE_MULLER]", "[FamilieMüllers José]")),
        ("Anna Weiß", "[PER_A_W]", ["Anna Weiß"]),
        ("anna_weiss80", "[USER_anna_weiss80]", []),
        ("0171/2345678", "[0171_2345678]", []),
        ("0171/2345678", "[TEL_0171_2345678]", []),
        ("am 12.03.1975", "[DATUM_12.03.1975]", ["am"]),
        ("am 12.03.1975", "[MONAT_03.1976]", ["am 12.03.1975"]),
        ("Hauptstraße 12", "[ADR_12]", ["Hauptstraße 12"]),
        ("Hauptstraße 12", "[ADR12]", ["Hauptstraße 12"]),
        ("Ada Ort", "[PERSON]", ["Ada Ort"]),
        ("Bad Ulm", "[ORT_1]", ["Bad Ulm"]),
        ("Der Ort", "[ORT_1]", ["Der"]),
        *((name, "[Müller Kowalski Nowak]", []) for name in ("Müllers", "Kowalskiego", "Nowaka")),
        *((name, f"[{placeholder}]", [name]) for name, placeholder in [("Frauke", "Frau"), ("Perl", "PER")]),
        *(("Żółkiewski", f"[{written}]", []) for written in ("Zolkiewski", "ŻOŁKIEWSKI")),
        *(("Søren Đorđević", f"[{written}]", []) for written in ("Soren Dordevic", "SOEREN DJORDJEVIC")),
        *(("Lœb Işık", f"[{written}]", []) for written in ("Loeb Isik", "LOEB_ISIK")),
        *(("12 04 2020", f"[{written}]", []) for written in ("12.4.2020", "2020-04-12")),
        *(("12 04 2020", f"[{written}]", ["12"]) for written in ("XX.04.2020", "04.2020")),
        ("12 04 2020", "[12. April 2020]", ["04"]),
        ("3 März 2021", "[3.3.2021]", ["März"]),
        *(("12 04 2020", written, ["12 04 2020"]) for written in ("[DATUM_12], [ORT_4]", "[Person 12]")),
        ("1 Mai 2 Mai", "[Person 1] [Person 2]", ["1 Mai 2 Mai"]),
    ],
)
def test_a_word_in_a_placeholder_can_be_read_whatever_it_is_joined_to(
    mention: str, placeholder: str, expected: list[str]
) -> None:
    ways = masked_in_ways(f"Frau {mention} klagt", f"Frau {placeholder} klagt")

    assert ways == [expected] * len(ways)


NAMES = st.from_regex(r"[A-ZÄÖÜ][a-zäöüß]{2,9}(-[A-ZÄÖÜ][a-zäöüß]{2,9})?", fullmatch=True)
TEMPLATES = ("[{}]", "<{}>", "{{{}}}", "{{{{{}}}}}")
PARTS = ("{}", "PER_{}", "PER{}", "PER-{}", "{}_1", "{}1", "Name{}", "X_{}_Y", "PER:{}", "p2{}", "Frau {}")
WRITTEN = (
    str,
    str.upper,
    lambda name: normalize("NFD", name),
    lambda name: name.replace("ü", "ue").replace("ö", "oe").replace("ä", "ae").replace("ß", "ss"),
)


@given(
    name=NAMES,
    first=st.sampled_from(["", "ANNA ", "KARL ÖZ ", "O. "]),
    template=st.sampled_from(TEMPLATES),
    part=st.sampled_from(PARTS),
    written=st.sampled_from(WRITTEN),
    form=st.sampled_from(["NFC", "NFD"]),
    beside=st.sampled_from(["", "[X]", "[PER_1] "]),
)
def test_a_name_in_its_placeholder_is_never_masked(
    name: str, first: str, template: str, part: str, written: Callable[[str], str], form: Any, beside: str
) -> None:
    assume(not (written is str.upper and part in ("PER{}", "Name{}")))  # capitals have no border
    placeholder = beside + template.format(part.format(written(name)))
    name = normalize(form, name)

    ways = masked_in_ways(f"Herr {first}{name} klagt", f"Herr {placeholder} klagt")

    assert not any(word in text for word in name.split("-") for texts in ways for text in texts)


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


# Borders of words


def texts(original: str, places: Sequence[Any]) -> list[str]:
    pairs = [(one.start, one.end) if isinstance(one, Span) else one for one in places]
    return [original[start:end] for start, end in pairs]


@pytest.mark.parametrize(
    ("tokens", "redacted", "expected", "uncertain"),
    [
        ("Sie ist Tierärztin in Ulm .", "Sie ist [Beruf] in [Ort].", ["Tierärztin", "Ulm"], []),
        ("Sie ist Tierärztin in Ulm .", "Sie ist Tierärzt[...] in [Ort].", ["in", "Ulm"], []),
        ("Sie ist Tierärztin in Ulm .", "Sie ist [Beruf]in in [Ort].", ["Tierärzt", "Ulm"], []),
        ("in in Ulm", "[A] in [B]", ["in", "Ulm"], []),
        ("in in in Ulm Köln", "[A] in [B] Köln", ["in", "in Ulm"], []),
        ("z.B. Ulm . z.B. Köln .", "z.B. [A]. z.B. [B].", ["Ulm", "Köln"], []),
        ("O. Braun klagt", "[O]. Braun klagt", ["O"], []),
        ("Sie in", "Sie [A]in", [], []),
        # Without a placement between tokens: the leftmost one, and only what is concerned is uncertain.
        ("Ulm. und Köln .", "[A] . und [B] .", ["Ulm", "Köln"], ["Ulm."]),
        ("Anna Berg", "[X]n[Y] Berg", ["A", "na"], ["Anna"]),
        (
            "da Tierärztin Ulm und Amtmann mann Köln",
            "da [A] in [B] und [C] mann [D]",
            ["Tierärzt", "Ulm", "Amtmann", "Köln"],
            ["Tierärztin"],
        ),
    ],
)
def test_wildcards_begin_and_end_between_tokens(
    tokens: str, redacted: str, expected: list[str], uncertain: list[str]
) -> None:
    found = recovery_of(Document("d", {}, tokens=tokens.split()), redacted)

    assert texts(tokens, found.spans) == expected
    assert texts(tokens, found.uncertain) == uncertain


def test_tokens_of_a_document_with_its_text_are_its_words() -> None:
    text = "Ärzte-Haus Haus Ulm"
    document = Document("d", {}, tokens=text.split(), text=text)

    assert texts(text, recover(document, "[A]Haus [B]")) == ["Ärzte-Haus", "Ulm"]
    assert masked(text, "[A]Haus [B]") == ["Ärzte-", "Haus Ulm"]


VOCABULARY = ("in", "Tierärztin", "Ulm", "Ulmin", "mann", "Amtmann", "am", "und", ".", ",", "2", "12")
Placement = tuple[Place, ...]


def placements(text: str, literals: Sequence[str], borders: Set[int]) -> Iterator[Placement]:
    """Yield every way in which wildcards between the literals stand over something, from border to border."""

    def after(number: int, place: int) -> Iterator[Placement]:
        literal = literals[number]
        for start in range(place + 1, len(text) - len(literal) + 1):
            end = start + len(literal)
            if not text.startswith(literal, start) or not {place, start} <= borders:
                continue
            if number == len(literals) - 1:
                if end == len(text):
                    yield ((place, start),)
            else:
                yield from (((place, start), *rest) for rest in after(number + 1, end))

    if text.startswith(literals[0]):
        yield from after(1, len(literals[0]))


def letters(text: str, places: Iterable[Place]) -> set[int]:
    """The letters and digits in some places, each by how many characters that are not white space precede it."""
    return {
        len("".join(text[:place].split()))
        for start, end in places
        for place in range(start, end)
        if text[place].isalnum()
    }


@pytest.mark.parametrize("of_tokens", [True, False])
def test_whole_words_that_are_replaced_are_exactly_those_that_are_masked(of_tokens: bool) -> None:
    rng = random.Random(5)
    unique = 0
    for _ in range(1000):
        tokens = [rng.choice(VOCABULARY) for _ in range(rng.randint(2, 9))]
        hidden = [token.isalnum() and rng.random() < 0.4 for token in tokens]
        gaps = [" " if token.isalnum() or rng.random() < 0.5 else "" for token in tokens]
        places = {}
        original = redacted = ""
        for token, hide, gap in zip(tokens, hidden, gaps, strict=True):
            places[len(original + gap), len(original + gap + token)] = hide
            original, redacted = original + gap + token, redacted + gap + ("[X]" if hide else token)
        literals = re.split(r"\[X\](?:[^\w\[]*\[X\])*", redacted)
        if len(literals) == 1:
            continue
        text = original.strip()
        borders = {
            place for place in range(len(text) + 1) if not re.fullmatch(r"\w\w", text[place - 1 : place + 1])
        }
        if of_tokens:
            text, literals = "".join(tokens), ["".join(literal.split()) for literal in literals]
            borders = set(accumulate(map(len, tokens), initial=0))
        else:
            literals = [literals[0].lstrip(), *literals[1:]]
        possible = sorted(placements(text, literals, borders))

        found = recovery_of(Document("d", {}, tokens=tokens) if of_tokens else original, redacted)

        source = " ".join(tokens) if of_tokens else original
        for spans, expected in ((found.spans, possible[0]), (found.from_the_right, possible[-1])):
            masks = [(span.start, span.end) for span in spans]
            assert letters(source, masks) == letters(text, expected), (original, redacted)
        assert not found.uncertain
        if len(possible) == 1:
            unique += 1
            truth = [place for place, hide in places.items() if hide]
            assert letters(text, possible[0]) == letters(original, truth), (original, redacted)
    assert unique > 400


def test_readings_cost_no_more_than_the_texts_grow() -> None:
    def cost(size: int, tokens: Sequence[str], between: str) -> int:
        words = [*tokens] * size
        redacted = " ".join("[X]" if number % 3 == 1 else between for number in range(len(words)))
        with Lines() as lines, suppress(TextMismatch):
            recovery_of(Document("d", {}, tokens=words), redacted)
        return lines.number

    for tokens, between in (
        (["Ulm", "Ulmin", "in"], "in"),
        (["in", "in", "in"], "in"),
        (["inin", "inin", "inin"], "in"),
        (["abab", "abab", "ababa"], "ab"),
    ):
        first, second, third = (cost(size, tokens, between) for size in (100, 200, 400))
        assert third - second <= LIMIT * 2 * (second - first), (tokens, between)


def test_a_long_literal_that_fits_nowhere_is_compared_within_a_limit() -> None:
    size = 3000
    tokens = ["a", *["bababa"] * size]
    redacted = " ".join(["[X]", *"ababab" * (size // 2), "[Y]"])

    with Lines() as lines:
        found = recovery_of(Document("d", {}, tokens=tokens), redacted)

    assert found.uncertain
    assert lines.number < 45 * size


# Redacted texts that are aligned: surrogates, deletions, edits


ORIGINAL = "Frau Anna Weiß aus Ulm klagt gegen Karl Öz, der in Köln wohnt und dort ein Haus hat."


def masked_if_aligned(redacted: str) -> list[str]:
    return [ORIGINAL[span.start : span.end] for span in recover(ORIGINAL, redacted, align=True)]


def test_a_text_that_can_be_read_word_for_word_is_not_aligned() -> None:
    found = recovery_of(ORIGINAL, ORIGINAL.replace("Ulm", "[ORT]"), align=True)

    assert (found.aligned, found.replaced_words, len(found.spans)) == (False, 0, 1)


def test_a_surrogate_masks_and_counts_its_words() -> None:
    redacted = ORIGINAL.replace("Karl Öz", "Peter Braun").replace("Ulm", "[ORT]")

    found = recovery_of(ORIGINAL, redacted, align=True)

    assert masked_if_aligned(redacted) == ["Ulm", "Karl Öz"]
    assert (found.aligned, found.replaced_words) == (True, 2)


def test_a_deletion_without_placeholder_masks() -> None:
    assert masked_if_aligned(ORIGINAL.replace(" aus Ulm", "")) == ["aus Ulm"]


def test_an_edit_of_a_word_exposes_it() -> None:
    assert masked_if_aligned(ORIGINAL.replace("klagt", "klagte").replace("Köln", "Kölln")) == []


@pytest.mark.parametrize(
    ("word", "spelled"),
    [
        ("Weiß", "WEISS"),
        ("Weiß", "weiss"),
        ("Karl", "KARL"),
        ("Köln", "Kö-\nln"),
        ("Köln", "Kö\u00adln"),
        ("Öz", "O\u0308z"),
        ("Weiß", "[NAME] Weißs"),
        ("Weiß", "Weiß [NAME]"),
    ],
)
def test_a_name_that_is_spelled_in_another_way_is_exposed(word: str, spelled: str) -> None:
    assert word not in " ".join(masked_if_aligned(ORIGINAL.replace("Ulm", "[ORT]").replace(word, spelled)))


def test_words_of_a_decomposed_original_are_the_composed_ones() -> None:
    original = ORIGINAL.replace("Ö", "O\u0308")

    assert not recover(original, ORIGINAL, align=True)


def test_an_insertion_masks_nothing() -> None:
    assert masked_if_aligned(ORIGINAL.replace("klagt", "klagt nun")) == []
    assert masked_if_aligned(f"Weiß klagt: {ORIGINAL.replace('Anna Weiß', '[NAME]')}") == ["Anna"]


def test_another_text_is_refused() -> None:
    with pytest.raises(TextMismatch, match="check that both are the same text"):
        recover(ORIGINAL, "Ganz andere Worte stehen hier und nichts davon war je dort zu lesen.", align=True)
    with pytest.raises(TextMismatch, match="check that both are the same text"):
        recover("a " * 2000, "b " * 2000, align=True)
    with pytest.raises(TextMismatch, match="the redacted text is empty"):
        recover(ORIGINAL, " \n", align=True)


def test_texts_in_two_unicode_forms_are_refused_with_advice() -> None:
    with pytest.raises(TextMismatch, match="bring both to the same Unicode form, NFC"):
        recover("Frau Weiß fährt", normalize("NFD", "Frau [A] fährt"))
