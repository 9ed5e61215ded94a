"""A redacted text whose literal parts stand in the original word for word.

Placeholders with no letter or digit between them are one *wildcard*. The first literal stands at the start of the
original, the last one at its end, each other one as far left as it can: this finds a reading if there is one.
A second reading puts them as far right as they can, and shows what is uncertain. What a wildcard stands over
is masked, but for words at its ends that both texts have there, and for words that the placeholder itself has:
``[Weiß]`` and ``[PER_WEISS1]`` do not mask ``Weiß``. Single letters in it are initials, which do.

Where literals can stand at several places, wildcards begin and end between words of the original (between its tokens,
if it has tokens); else they may begin or end inside a word of which the redacted text has the rest beside the
placeholder, without white space between. They stand over at least one character, unless that leaves no place. If there
is no such place, they begin and end anywhere; what stands between the literals on both sides whose place is certain is
uncertain then.

By hand: ``O. Braun klagt`` and ``O. [NAME] klagt``. The placeholders ``O.`` and ``[NAME]`` are one wildcard over
``O. Braun``; ``O`` and ``.`` are equal on both sides, so ``Braun`` is masked. Tokens ``Ärztin in Ulm``, for which white
space counts nowhere, and ``[A] in [B]``: ``in`` also ends ``Ärztin``, but the placeholder has a blank beside it.

A *placeholder* is what stands in a redacted text for what was masked. The first alternative that fits at a place
counts: patterns of the caller, brackets with up to 40 characters in one line (``[...]``, ``<NAME>``, ``{NAME}``,
``{{NAME}}``), two or more of ``_ * # █ ■ ▇`` with one word character before (``A____``), ``…`` or three points and
more with one capital before (``A...``), one capital and a point (``A.``), words of ``X`` or of two or more ``x``.

Patterns of a caller must not take time without end. So each may have one repetition without an upper limit,
none within another, no reference to a group, and is applied to pieces of `PIECE` characters of a line.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby, pairwise, product
from typing import Any, NamedTuple
from unicodedata import combining, is_normalized, normalize

from clueval.core.alignment import parts_of, words_in
from clueval.core.document import PARTS, REPLACEMENT
from clueval.core.span import Span, joined_ranges
from clueval.files.errors import TextMismatch, UsageError, described

PIECE = 200
"""How many characters of a line a pattern of the caller sees at a time; its match begins in the first half."""

MOST_STEPS = 50
"""The greatest product of the upper limits of the repetitions of a caller's pattern, the one without not counted."""

_BUILT_IN = re.compile(
    r"""
      (?!(?<=\w)[^\W_])  # none begins with a letter or digit inside a word, which is soon seen
    (?:
      \[[^\]\n]{0,40}\]
    | <[^<>\n]{1,40}>
    | \{\{[^{}\n]{1,40}\}\}
    | \{[^{}\n]{1,40}\}
    | (?:(?<!\w)\w)?[_*\#█■▇]{2,}+
    | (?>(?P<capital>(?<!\w)[^\W\d_])?)(?:…|\.{3,}+)
    | (?P<initial>(?<!\w)[^\W\d_])\.
    | \b(?:X++|x{2,}+)\b
    )
    """,
    re.VERBOSE,
)

Place = tuple[int, int]
"""Start and end (half-open) of a placeholder in the redacted text."""


def find_placeholders(text: str, patterns: Sequence[re.Pattern[str]] = ()) -> list[Place]:
    """Return the placeholders of a text, in order; of several that overlap, the one that begins first.

    >>> find_placeholders("Frau A. aus [ORT] und XX")
    [(5, 7), (12, 17), (22, 24)]
    """
    sources = [*(_matches_of(pattern, text) for pattern in patterns), _built_in(text)]
    places = [(start, number, end) for number, ranges in enumerate(sources) for start, end in ranges]
    placeholders: list[Place] = []
    past = 0
    for start, _, end in sorted(places):  # of equal starts, those of the first source first
        if start >= past:
            placeholders.append((start, end))
            past = end
    return placeholders


def _built_in(text: str) -> Iterator[Place]:
    for match in _BUILT_IN.finditer(text):
        start, end = match.span()
        letter = match["capital"] or match["initial"]
        if letter is None or letter.isupper():
            yield start, end
        elif match["capital"]:
            yield start + 1, end


def _matches_of(pattern: re.Pattern[str], text: str) -> Iterator[Place]:
    """Yield the matches of a pattern of the caller, piece by piece."""
    begin = 0
    for line in text.split("\n"):
        end = begin + len(line)
        place = begin
        while place < end:
            last = min(end, place + PIECE)
            match = pattern.search(text, place, last)
            middle = place + PIECE // 2
            if match is None or (match.start() >= middle and last < end):
                place = last if last == end else middle
            else:
                if match.end() > match.start():
                    yield match.span()
                place = max(match.end(), place + 1)
        begin = end + 1


def patterns_of(texts: Iterable[str] | str) -> list[re.Pattern[str]]:
    """Compile the patterns of a caller. Raises `UsageError` for one that cannot be used."""
    patterns = []
    for text in [texts] if isinstance(texts, str) else texts:
        if not isinstance(text, str):
            raise UsageError(f"a placeholder must be text, not {described(text)}")
        try:
            pattern = re.compile(text)
            parsed = _PARSER.parse(text)
        except (re.error, RecursionError, OverflowError) as error:
            raise UsageError(
                f"the placeholder {text!r} is not a regular expression: {error}",
                advice="as in 'Person [A-Z]'",
            ) from None
        if pattern.match(""):
            raise UsageError(
                f"the placeholder {text!r} also matches an empty text",
                advice="it must match at least one character",
            )
        steps, without_limit = _repetitions(parsed, text, within=False)
        if without_limit > 1 or steps > MOST_STEPS:
            raise UsageError(
                f"the placeholder {text!r} could take very long: it repeats several parts",
                advice="repeat one part with * or +, and others so that their limits multiply to "
                f"{MOST_STEPS} at most, as in {{1,5}}",
            )
        patterns.append(pattern)
    return patterns


_PARSER: Any = re._parser  # type: ignore[attr-defined]  # what `re` parses patterns with
_REPEATS = ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT")


def _repetitions(parsed: Any, text: str, *, within: bool) -> tuple[int, int]:
    """Return the product of the upper limits of repetitions, and how many have none; `UsageError` if they nest."""
    steps, without_limit = 1, 0
    for code, value in parsed:
        name = str(code)
        if name.startswith("GROUPREF") or (within and name in (*_REPEATS, "BRANCH")):
            raise UsageError(
                f"the placeholder {text!r} could take very long: it has a repetition within a repetition, a choice "
                "within one, or a reference to a group",
                advice="write it without these",
            )
        repeats = name in _REPEATS and value[1] > 1
        if repeats and value[1] == _PARSER.MAXREPEAT:
            without_limit += 1
        elif repeats:
            steps *= value[1]
        for part in _parts(value):
            inner = _repetitions(part, text, within=within or repeats)
            steps, without_limit = steps * inner[0], without_limit + inner[1]
    return steps, without_limit


def _parts(value: Any) -> Iterator[Any]:
    """Yield the patterns within a part of a pattern."""
    if isinstance(value, _PARSER.SubPattern):
        yield value
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _parts(part)


_WHITE_SPACE = re.compile(r"\s+")
_MORE_THAN_A_BLANK = re.compile(r"\A\s+|(?<=\s)\s+|\s+\Z")
_WORD = re.compile(r"\w+")

COMPARED_PER_CHARACTER = 100
"""How many characters are compared, for each of the text, at places where literals stand but do not fit."""

LONGEST_SHORT_NUMBER = 3
"""Numbers of up to this length are too frequent for a single one to be the same number in a placeholder."""

LEAST_WITHIN = 4
"""Words from this length on can be read wherever they stand in a word of a placeholder."""

LONGEST_SEARCHED = 5000
"""In longer replacements, words are not searched within words, so that the cost stays linear."""

_TRANSCRIPTION = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "å": "aa", "đ": "dj"})
_BASE_LETTERS = str.maketrans(
    {"ø": "o", "đ": "d", "ł": "l", "ı": "i", "œ": "oe", "æ": "ae", "ð": "d", "þ": "th", "ħ": "h", "ŧ": "t"}
)
"""Letters that Unicode does not decompose."""

LABEL = "MASK"
"""The label of what is masked."""

_Fits = Callable[[int, int], bool]
"""Whether a literal, by its number, may begin at a place."""


class Recovery(NamedTuple):
    """The spans that are masked, and those of a second reading; numbers of placeholders and of replaced words.

    In `spans` literals stand as far left as they can, in `from_the_right` as far right. In the ranges `uncertain`, no
    reading has its wildcards between words. `shown` is what stands in the redacted text in place of the original, as
    start and end in the original, and text; for placeholders that stand for nothing, the place is beside them.
    `initials` are letters of the original that stand at the same end of what stands for it, as the ``O`` of ``O. [X]``
    for ``O. Braun`` does. `aligned` says whether the texts had to be aligned.
    """

    spans: Sequence[Span]
    from_the_right: Sequence[Span]
    placeholders: int
    uncertain: Sequence[Place] = ()
    replaced_words: int = 0
    shown: Sequence[tuple[int, int, str]] = ()
    initials: Sequence[Place] = ()
    aligned: bool = False


class Replaced(NamedTuple):
    """What is masked of some words of the original by those in their place, of which `written` are not at both ends.

    `initials` are as in `Recovery`.
    """

    written: str
    spans: Sequence[Span]
    initials: Sequence[Place]


def replaced(
    original: str,
    places: Sequence[Place],
    redacted: str,
    others: Sequence[Place],
    placeholders: Sequence[Place],
    replacement: str,
    parts: Sequence[tuple[int, int, str]] = (),
    is_readable: Callable[[str], bool] = lambda word: False,
) -> Replaced:
    """Compare words of the original with those in their place; `placeholders` are those among these.

    Words that both have at their ends are not masked, nor those that can be read (see `_hidden_runs`). The spans have
    the `replacement` and, of several placeholders in a row, their `parts`: what each stands for.
    """
    words = [original[start:end] for start, end in places]
    other_words = [redacted[start:end] for start, end in others]
    first = _common(words, other_words)
    last = min(_common(words[::-1], other_words[::-1]), min(len(words), len(other_words)) - first)
    differing, others = places[first : len(places) - last], others[first : len(others) - last]
    written = text_of(redacted, others)
    dates = _dates(_numbers(text_of(original, differing)), redacted, others, placeholders)
    features: dict[str, Any] = {REPLACEMENT: replacement} | ({PARTS: parts} if parts else {})
    runs = _hidden_runs(original, differing, written, dates, is_readable)
    spans = [Span(*run, LABEL, features) for run in runs]
    ends = [*places[:first], *places[len(places) - last :]] if spans else []
    initials = [(start, end) for start, end in ends if end - start == 1 and original[start].isalpha()]
    return Replaced(written, spans, initials)


def text_of(text: str, places: Sequence[Place]) -> str:
    """Return a text from the first of these words to the last."""
    return text[places[0][0] : places[-1][1]] if places else ""


def _hidden_runs(
    text: str,
    places: Sequence[Place],
    replacement: str,
    dates: Container[str],
    is_readable: Callable[[str], bool],
) -> Iterator[Place]:
    """Yield the ranges of the words of the original, `places`, that cannot be read in what stands for them.

    A word can be read if its letters stand there (see `_letters`), alone or as a part of a word (see `parts_of`), or,
    from `LEAST_WITHIN` letters on, anywhere, or if its base form stands there: all but its end, which is shorter than
    half of the base form. Initials and short numbers cannot, but numbers with only signs between them are one, and
    those of `dates` can. It can also be read if `is_readable`. All can if these are the same letters and digits.
    """
    written = _letters(replacement)
    letters = _letters(text_of(text, places))
    if max(map(len, letters), default=0) > 1 and not letters.isdisjoint(written):
        return
    forms = {normalize("NFC", replacement), normalize("NFD", replacement)}
    words = [word for form in forms for word in _WORD.findall(form)]
    shown = {form for word in words for part in (word, *parts_of(word)) for form in _letters_of_word(part)}
    searched = " ".join(written) if len(replacement) <= LONGEST_SEARCHED else ""

    def stands_there(start: int, end: int) -> bool:
        for word in _letters_of_word(text[start:end]):
            if word.isdigit() and word.lstrip("0") in dates:
                return True
            if word in shown or (len(word) >= LEAST_WITHIN and word in searched):
                return len(word) > (LONGEST_SHORT_NUMBER if word.isdigit() else 1)
            sizes = range(max(LEAST_WITHIN, 2 * len(word) // 3 + 1), len(word))
            if word.isalpha() and any(word[:size] in shown for size in sizes):
                return True
        return False

    def is_hidden(place: Place) -> bool:
        return not (place in readable or stands_there(*place) or is_readable(text[slice(*place)]))

    def is_one_word(end: int, start: int) -> bool:
        before, after = text[end - 1], text[start]
        has_mark = combining(after) or (combining(before) and after.isalnum())
        return bool(end == start and has_mark) or not (before.isalpha() or after.isalpha())

    joined = {*joined_ranges(places, is_one_word)}.difference(places)
    readable = {place for whole in joined if stands_there(*whole) for place in words_in(text, *whole)}
    for hides, run in groupby(places, is_hidden):
        hidden = list(run)
        if hides:
            yield hidden[0][0], hidden[-1][1]


def _dates(
    numbers: set[str], redacted: str, places: Sequence[Place], placeholders: Sequence[Place]
) -> set[str]:
    """Return those of some numbers of which two stand in one placeholder, or between two, as in any form of a date."""
    dates: set[str] = set()
    if len(numbers) < 2:
        return dates
    edges = [edge for placeholder in placeholders for edge in placeholder]
    for _, group in groupby(places, lambda place: bisect_right(edges, place[0])):
        common = numbers & _numbers(text_of(redacted, [*group]))
        dates |= common if len(common) > 1 else set()
    return dates


def _numbers(text: str) -> set[str]:
    """Return the numbers among the words of a text, without leading zeros."""
    return {word.lstrip("0") for word in _WORD.findall(text) if word.isdigit()} - {""}


def folded(word: str) -> str:
    """Return a word in one case and one Unicode form."""
    return normalize("NFKC", word).casefold()


def _letters(text: str) -> set[str]:
    """Return the folded letters and digits of a text in German transcription, and those without accents.

    >>> sorted(_letters("Müller-Weiß"))
    ['muellerweiss', 'mullerweiss']
    """
    composed = folded(text)
    forms = {composed}
    if not composed.isascii():
        forms = {
            normalize("NFKD", composed.translate(letters)).translate(_BASE_LETTERS)
            for letters in (_TRANSCRIPTION, _BASE_LETTERS)
        }
    return {"".join(filter(str.isalnum, form)) for form in forms}


_letters_of_word = lru_cache(maxsize=4096)(_letters)
"""The same for single words: labels in placeholders, and names, come again and again."""


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """Return how many characters two texts, or words two lists, have in common at their start."""
    most = min(len(one), len(other))
    return next((place for place in range(most) if one[place] != other[place]), most)


def wildcards_of(text: str, placeholders: Iterable[Place]) -> list[Place]:
    """Join placeholders with no letter or digit between them.

    >>> wildcards_of("A. [B], c [D]", [(0, 2), (3, 6), (10, 13)])
    [(0, 6), (10, 13)]
    """
    return list(joined_ranges(placeholders, lambda end, start: not any(map(str.isalnum, text[end:start]))))


@dataclass(frozen=True, slots=True)
class SqueezedText:
    """A text whose runs of white space are one blank, or nothing, and whose ends are stripped.

    `places` has the place of each character in the text as it was.
    """

    text: str
    places: Sequence[int]

    @classmethod
    def of(cls, text: str, *, joined: bool) -> SqueezedText:
        """Return the squeezed text; with `joined`, white space is left out altogether.

        >>> SqueezedText.of(" a  b", joined=False)
        SqueezedText(text='a b', places=[1, 2, 4])
        """
        places: list[int] = []
        past = 0
        for left_out in (_WHITE_SPACE if joined else _MORE_THAN_A_BLANK).finditer(text):
            places.extend(range(past, left_out.start()))
            past = left_out.end()
        places.extend(range(past, len(text)))
        return cls(("" if joined else " ").join(text.split()), places)

    def range_of(self, start: int, end: int) -> Place:
        """Return the range of a non-empty range of characters in the text as it was."""
        return self.places[start], self.places[end - 1] + 1


class StrictReading:
    """The original and the redacted text, cut into literals and wildcards.

    With `joined`, white space counts nowhere, as for an original of which there are only tokens. `tokens` are the
    ranges of the tokens of the original; without them, its words are runs of letters and digits.
    """

    def __init__(
        self,
        original: str,
        redacted: str,
        placeholders: Sequence[Place],
        *,
        joined: bool,
        tokens: Sequence[Place],
    ) -> None:
        self._original, self._redacted, self._joined = original, redacted, joined
        self._squeezed = SqueezedText.of(original, joined=joined)
        self._text, self._mirrored = self._squeezed.text, self._squeezed.text[::-1]
        self._placeholders, self._wildcards = placeholders, wildcards_of(redacted, placeholders)
        self._literal_starts = [0, *(end for _, end in self._wildcards)]
        ends = [*(start for start, _ in self._wildcards), len(redacted)]
        raw = [redacted[start:end] for start, end in zip(self._literal_starts, ends, strict=True)]
        self._literals = list(map(self._squeeze, raw))
        self._literals[0] = self._literals[0].lstrip()
        self._literals[-1] = self._literals[-1].rstrip()
        self._beside = [(_visible(literal), _visible(literal[::-1])) for literal in raw]
        words = [match.span() for match in _WORD.finditer(self._text)] if not tokens else []
        places = self._squeezed.places
        for start, end in tokens:
            if start < end:
                words.append((bisect_left(places, start), bisect_left(places, end)))
        self._word_starts, self._word_ends = [start for start, _ in words], [end for _, end in words]

    def _squeeze(self, text: str) -> str:
        """Return a text with its runs of white space as one blank, or without them; the ends stay."""
        return _WHITE_SPACE.sub("" if self._joined else " ", text)

    def read(self) -> Recovery:
        """Return what is masked. Raises `TextMismatch` if literals do not stand in the original in this order."""
        left = self._starts()
        if len(left) == 1:
            return Recovery([], [], len(self._placeholders))
        inner = self._places((1, len(left) - 1), (len(self._literals[0]), left[-1]), right=True)
        right = [0, *(inner or ()), left[-1]]
        certain = [number for number, place in enumerate(left) if place == right[number]]
        uncertain: list[Place] = []
        for before, after in pairwise(certain):
            window = left[before] + len(self._literals[before]), left[after]
            if after - before > 1 and not self._put_at_borders(left, right, (before + 1, after), window):
                uncertain.append(window)
        stretches = self._stretches(left)
        for number, (start, end) in enumerate(stretches):
            if not (self._may_end(number, start) and self._may_begin(number + 1, end)):
                uncertain.append((start, end))
        wildcards = list(self._replaced(stretches))
        again = wildcards if left == right else self._replaced(self._stretches(right))
        whole_words = {
            self._squeezed.range_of(self._word_around(start)[0], self._word_around(end)[1])
            for start, end in uncertain
        }
        return Recovery(
            [span for _, each in wildcards for span in each.spans],
            [span for _, each in again for span in each.spans],
            len(self._placeholders),
            sorted(whole_words),
            shown=[(*around, each.written) for around, each in wildcards],
            initials=[place for _, each in wildcards for place in each.initials],
        )

    # Where literals stand

    def _starts(self) -> list[int]:
        """Return where each literal stands, as far left as it can. Raises `TextMismatch`."""
        text, (first, *middle) = self._text, self._literals
        if not text.startswith(first):
            raise self._mismatch(0, _common(first, text))
        place, starts = len(first), [0]
        if not middle:
            if len(text) > place:
                raise self._mismatch(0, len(first))
            return starts
        for number, literal in enumerate(middle[:-1], 1):
            start = text.find(literal, place)
            if start < 0:
                prefixes = range(1, len(literal))  # the last of them that is in the text is the longest
                common = bisect_left(prefixes, True, key=lambda n: text.find(literal[:n], place) < 0)
                raise self._mismatch(number, common)
            starts.append(start)
            place = start + len(literal)
        last = middle[-1]
        if not text.endswith(last) or len(text) - len(last) < place:
            common = _common(last[::-1], text[place:][::-1])
            raise self._mismatch(len(middle), max(0, len(last) - common - 1))
        return [*starts, len(text) - len(last)]

    def _mismatch(self, number: int, character: int) -> TextMismatch:
        """Return the error for a character of a literal that has no place in the original."""
        start = self._literal_starts[number]
        end = self._wildcards[number][0] if number < len(self._wildcards) else None
        literal = self._redacted[start:end]
        places = SqueezedText.of(literal, joined=self._joined).places
        at = character - (number > 0 and not self._joined and literal[:1].isspace())
        place = start + (places[at] if 0 <= at < len(places) else len(literal) if at > 0 else 0)
        advice = "name placeholders with placeholder=..., or take other texts with align=True"
        if is_normalized("NFC", self._original) != is_normalized("NFC", self._redacted):
            advice = "one of them has combining marks: bring both to the same Unicode form, NFC"
        return TextMismatch(
            f"the redacted text differs from the original at its character {place}, "
            f"{self._redacted[place : place + 20]!r}, which is in no placeholder",
            line=self._redacted.count("\n", 0, place) + 1,
            advice=advice,
        )

    def _put_at_borders(self, left: list[int], right: list[int], between: Place, window: Place) -> bool:
        """Move literals to where they fit, in both readings; return whether there is such a place for all of them."""
        for gap, fits in product((1, 0), (self._stands_between_words, self._may_stand)):
            leftmost = self._places(between, window, gap, fits)
            rightmost = None if leftmost is None else self._places(between, window, gap, fits, right=True)
            if leftmost is not None and rightmost is not None:
                left[slice(*between)], right[slice(*between)] = leftmost, rightmost
                return True
        return False

    def _places(
        self, between: Place, window: Place, gap: int = 0, fits: _Fits | None = None, *, right: bool = False
    ) -> list[int] | None:
        """Return the places of the literals between two numbers in a window, as far left as they can stand and fit.

        With `right`, as far right: those as far left in the text from its end. None if there are none. `gap` is the
        least number of characters of a wildcard.
        """
        text, size, numbers, (place, end) = self._text, len(self._text), range(*between), window
        if right:
            text, numbers, place, end = self._mirrored, numbers[::-1], size - end, size - place
        compared = COMPARED_PER_CHARACTER * (end - place)
        places = []
        for number in numbers:
            literal = self._literals[number][:: -1 if right else 1]
            start = text.find(literal, place + gap, end - gap)
            while start >= 0:
                at = size - start - len(literal) if right else start
                if not fits or fits(number, at):
                    break
                compared -= len(literal)
                start = text.find(literal, start + 1, end - gap) if compared > 0 else -1
            if start < 0:
                return None
            places.append(at)
            place = start + len(literal)
        return places[:: -1 if right else 1]

    def _word_around(self, place: int) -> Place:
        """Return the word that begins before a place and ends after it; the place itself, twice, if there is none."""
        number = bisect_left(self._word_starts, place) - 1
        if number >= 0 and place < self._word_ends[number]:
            return self._word_starts[number], self._word_ends[number]
        return place, place

    def _stands_between_words(self, number: int, place: int) -> bool:
        """Return whether a literal at a place begins and ends at borders of words."""
        edges = place, place + len(self._literals[number])
        return all(self._word_around(edge) == (edge, edge) for edge in edges)

    def _may_stand(self, number: int, place: int) -> bool:
        """Return whether a literal at a place has the rest of the words in which it begins and ends."""
        return self._may_begin(number, place) and self._may_end(number, place + len(self._literals[number]))

    def _may_begin(self, number: int, place: int) -> bool:
        """Return whether the literal has the rest of the word in which it begins, beside the placeholder."""
        return self._word_around(place)[1] - place <= self._beside[number][0]

    def _may_end(self, number: int, place: int) -> bool:
        """Return whether the literal has the first part of the word in which it ends, beside the placeholder."""
        return place - self._word_around(place)[0] <= self._beside[number][1]

    # What wildcards stand over

    def _stretches(self, starts: Sequence[int]) -> list[Place]:
        """Return what each wildcard stands over in the squeezed original: what is between the literals."""
        ends = [start + len(literal) for start, literal in zip(starts, self._literals, strict=True)]
        return list(zip(ends[:-1], starts[1:], strict=True))

    def _replaced(self, stretches: Sequence[Place]) -> Iterator[tuple[Place, Replaced]]:
        """Yield what each wildcard stands over, or what is beside one that stands over nothing, and what it masks."""
        placeholders = iter(self._placeholders)
        for (start, end), (first, last) in zip(stretches, self._wildcards, strict=True):
            several = [next(placeholders)]
            while several[-1][1] != last:
                several.append(next(placeholders))
            if not self._text:
                continue
            around = self._squeezed.range_of(
                *((start, end) if start < end else (max(start - 1, 0), start or 1))
            )
            original_words = words_in(self._original, *around) if start < end else []
            redacted_words = words_in(self._redacted, first, last)
            parts = self._parts(start, end, several) if len(several) > 1 else ()
            replacement = self._redacted[first:last]
            yield (
                around,
                replaced(
                    self._original,
                    original_words,
                    self._redacted,
                    redacted_words,
                    several,
                    replacement,
                    parts,
                ),
            )

    def _parts(self, start: int, end: int, placeholders: Sequence[Place]) -> tuple[tuple[int, int, str], ...]:
        """Return what each of several placeholders stands for, by the signs between them; nothing if unclear."""
        between = [
            self._squeeze(self._redacted[placeholder[1] : following[0]])
            for placeholder, following in pairwise(placeholders)
        ]
        cuts, back = [start], [end]
        for sign in between:
            cuts.append(self._text.find(sign, cuts[-1], end) + len(sign))
        for sign in reversed(between):
            back.append(self._text.rfind(sign, start, back[-1]))
        ends = [cut - len(sign) for cut, sign in zip(cuts[1:], between, strict=True)]
        if not all(between) or min(ends, default=-1) < start or ends != back[:0:-1]:
            return ()
        return tuple(
            (*self._squeezed.range_of(one, next_sign), self._redacted[slice(*place)])
            for one, next_sign, place in zip(cuts, [*ends, end], placeholders, strict=True)
            if one < next_sign
        )


def _visible(text: str) -> int:
    """Return how many characters a text has before its first white space."""
    return len(text.split(None, 1)[0]) if text and not text[0].isspace() else 0
