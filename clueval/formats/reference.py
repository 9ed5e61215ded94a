"""Positions in units of a file, and the text of spans that a file gives as a reference.

Positions are Unicode code points unless ``--offsets`` names another unit: UTF-16 code units (Java, JavaScript)
or bytes of UTF-8. Many formats repeat the text of each span. This text is compared with the text at the
positions, so that positions in another unit are noticed; the error names the unit that fits all spans.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from typing import NamedTuple

from clueval.core.span import Ranges
from clueval.files.errors import FormatError, SpanError, with_noun
from clueval.formats.options import OFFSETS

_GAP = " [...] "


class FileMention(NamedTuple):
    """The positions of a span in units of the file, its text in the file (None: not given), and its line or row.

    A number is the text of which a table has made it. `name` is the name of the span in errors.
    """

    ranges: Ranges
    text: str | float | None
    line: int | None
    name: str


def in_points(
    text: str, mentions: Sequence[FileMention], unit: str | None, *, file: str | None, document: str
) -> list[Ranges]:
    """Return the positions of the mentions in code points of `text`.

    Raises `SpanError` for positions outside the text or within a character, and `FormatError` if the text of a
    mention differs from the text at its positions.
    """
    if unit in (None, "points") and all(
        len(ranges) == 1 and ranges[0][1] <= len(text) and reference == text[ranges[0][0] : ranges[0][1]]
        for ranges, reference, _, _ in mentions
    ):
        return [mention.ranges for mention in mentions]  # nearly always
    place = places(text, unit or "points")
    positions: list[Ranges] = []
    for mention in mentions:
        ranges = _ranges_in_points(mention.ranges, place, len(text))
        if ranges is None:
            reach = f"its positions are {mention.ranges[0][0]} to {mention.ranges[-1][1]}"
            raise SpanError(
                f"{mention.name} lies outside the text, or within a character",
                file=file,
                line=mention.line,
                document=document,
                advice=_advice(text, mentions, unit)
                or f"{reach}, and the text has {with_noun(len(text), 'characters')}",
            )
        positions.append(ranges)
    for mention, ranges in zip(mentions, positions, strict=True):
        if not _fits(text, ranges, mention.text):
            raise FormatError(
                f"the text of {mention.name} differs from the text at its positions",
                file=file,
                line=mention.line,
                document=document,
                advice=_advice(text, mentions, unit) or "check that text and annotation belong together",
            )
    return positions


def places(text: str, unit: str) -> Callable[[int], int | None]:
    """Return the function from positions in `unit` to code points; it returns None within a character."""
    if unit == "points" or text.isascii():
        return lambda position: position
    if unit == "bytes":
        widths = [len(character.encode("utf-8", "surrogatepass")) for character in text]
    else:
        widths = [2 if character > "\uffff" else 1 for character in text]
    return {at: number for number, at in enumerate(accumulate(widths, initial=0))}.get


def _ranges_in_points(ranges: Ranges, place: Callable[[int], int | None], length: int) -> Ranges | None:
    points = [(place(start), place(end)) for start, end in ranges]
    inside = tuple(
        (start, end) for start, end in points if start is not None and end is not None and end <= length
    )
    return inside if len(inside) == len(points) else None


_WHOLE = re.compile(r"\s*[-+]?\d{1,300}\s*")


def _fits(text: str, ranges: Ranges, reference: str | float | None) -> bool:
    """Return whether a reference is the text of these ranges; runs of white space are equal.

    A number fits the same whole number, as 2134 and 2134.0 do 02134.
    """
    if reference is None:
        return True
    content = " ".join(text[start:end] for start, end in ranges)
    if not isinstance(reference, str):
        return str(reference) == content or (
            _WHOLE.fullmatch(content) is not None and int(content) == reference
        )
    if content == reference:
        return True
    expected, *given = (
        # Label Studio writes \n for a line end in the text of a span, and not in the text itself
        shown.replace(r"\n", " ").split()
        for shown in (content, reference, reference.replace(_GAP, " "))
    )
    if expected in given:
        return True
    ordered = tuple(sorted(ranges))  # a file may have the ranges of a span in another order than its text
    return ordered != ranges and _fits(text, ordered, reference)


def fits(text: str, mentions: Iterable[FileMention], unit: str) -> bool:
    """Return whether all mentions have the text at their positions in `unit`."""
    place = places(text, unit)
    for mention in mentions:
        ranges = _ranges_in_points(mention.ranges, place, len(text))
        if ranges is None or not _fits(text, ranges, mention.text):
            return False
    return True


def _advice(text: str, mentions: Sequence[FileMention], unit: str | None) -> str | None:
    """Return what to do if another unit, or another form of the text, fits all mentions."""
    if not any(mention.text for mention in mentions):
        return None
    for offsets in OFFSETS:
        if offsets != (unit or "points") and fits(text, mentions, offsets):
            return f"all spans of the document fit with offsets={offsets!r}"
    mention_unit = unit or "points"
    if text.startswith("\ufeff") and fits(text[1:], mentions, mention_unit):
        return "all spans fit without the byte-order mark of the text; remove it"
    if "\r\n" in text and fits(text.replace("\r\n", "\n"), mentions, mention_unit):
        return "all spans fit if lines end with LF; replace CRLF by LF in the text"
    return None


def wide_characters(text: str) -> list[int]:
    """Return the positions of the characters that are two units in UTF-16."""
    return [place for place, character in enumerate(text) if ord(character) > 0xFFFF]
