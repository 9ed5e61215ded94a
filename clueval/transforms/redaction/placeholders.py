"""Placeholders: what stands in a redacted text for what was masked.

The first alternative that fits at a place counts: patterns of the caller, brackets with up to 40 characters in
one line (``[...]``, ``<NAME>``, ``{NAME}``, ``{{NAME}}``), two or more of ``_ * # █ ■ ▇`` with one word character
before (``A____``), ``…`` or three points and more with one capital before (``A...``), one capital and a point
(``A.``), words of ``X`` or of two or more ``x``.

Patterns of a caller must not take time without end. So each may have one repetition without an upper limit,
none within another, no reference to a group, and is applied to pieces of `PIECE` characters of a line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from clueval.files.errors import UsageError, described

PIECE = 200
"""How many characters of a line a pattern of the caller sees at a time; its match begins in the first half."""

MOST_STEPS = 50
"""The greatest product of the upper limits of the repetitions of a caller's pattern, the one without not counted."""

_BUILT_IN = re.compile(
    r"""
      \[[^\]\n]{0,40}\]
    | <[^<>\n]{1,40}>
    | \{\{[^{}\n]{1,40}\}\}
    | \{[^{}\n]{1,40}\}
    | (?:(?<!\w)\w)?[_*\#█■▇]{2,}+
    | (?>(?P<capital>(?<!\w)[^\W\d_])?)(?:…|\.{3,}+)
    | (?P<initial>(?<!\w)[^\W\d_])\.
    | \b(?:X++|x{2,}+)\b
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
