"""Documents as files of WebAnno TSV 3.3.

Each document is written to a file. Sentences are those of the document, or else its lines, and begin at their first
token; tokens are those of the document, or words and single marks. Types must exist in the project.

Source: the description of WebAnno TSV 3.3 in the user guide of INCEpTION.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, chain, count, islice
from operator import attrgetter
from typing import NamedTuple

from clueval.core.document import Document, Sentence
from clueval.core.span import Span
from clueval.files.errors import UsageError
from clueval.files.limits import require_short_texts
from clueval.formats.reference import wide_characters
from clueval.formats.uima_types import UimaType, token_ranges, types_of, values_of, with_texts
from clueval.formats.writer import in_lines

VERSION = "#FORMAT=WebAnno TSV 3"
"""The beginning of a file, whatever the minor version."""

ESCAPED = {"t": "\t", "n": "\n", "r": "\r"}
"""The characters that have an escape with a letter."""

_IN_TEXTS = str.maketrans({"\\": r"\\", **{of: f"\\{name}" for name, of in ESCAPED.items()}})
_IN_VALUES = {**_IN_TEXTS, **str.maketrans({mark: f"\\{mark}" for mark in "[]|_;*"})}

Range = tuple[int, int]


class _Segment(NamedTuple):
    """A sentence as it is written: its range in the text and the ranges of its tokens."""

    start: int
    end: int
    tokens: Sequence[Range]


_WORD_OR_MARK = re.compile(r"\w+|[^\w\s]")


def _segments(document: Document) -> list[_Segment]:
    """Return the sentences of a document. Those that it has end where they end; others end before the last LF.

    Text outside of sentences gets sentences of its own. A sentence is longer if the reader could not restore the white
    space after it.
    """
    text = document.text or ""
    given = token_ranges(document.tokens or (), text)
    found: list[_Segment] = []
    for start, end in _regions(document, text):
        tokens = _tokens_between(given, start, end, text)
        if tokens:
            is_own = bool(document.sentences)
            found.append(_Segment(tokens[0][0], max(end, tokens[-1][1]) if is_own else tokens[-1][1], tokens))
    if not found and text:
        return [_Segment(0, len(text), ())]
    starts = [segment.start for segment in found[1:]]
    return [
        segment._replace(end=_end_of(segment.end, following, text, bool(document.sentences)))
        for segment, following in zip(found, [*starts, None], strict=False)
    ]


def _regions(document: Document, text: str) -> Iterator[Range]:
    """Yield the ranges of sentences, or of lines, and of what lies between them."""
    place = 0
    lines = (match.span() for match in re.finditer(r"[^\n]*\n?", text))
    for start, end in sorted((each.start, each.end) for each in document.sentences) or lines:
        if place < start:
            yield place, start
        if max(place, start) < end:
            yield max(place, start), end
        place = max(place, end)
    if place < len(text):
        yield place, len(text)


def _tokens_between(given: Sequence[Range], start: int, end: int, text: str) -> list[Range]:
    """Return the given tokens that begin in a range, and words and marks where there are none."""
    before = bisect_right(given, (start,))
    place = max(start, given[before - 1][1]) if before else start
    found: list[Range] = []
    for token in given[before : bisect_right(given, (end,))]:
        found += [match.span() for match in _WORD_OR_MARK.finditer(text, place, token[0])]
        found.append(token)
        place = token[1]
    return [*found, *(match.span() for match in _WORD_OR_MARK.finditer(text, place, end))]


def _end_of(end: int, following: int | None, text: str, is_own: bool) -> int:
    """Return the end of a sentence after which the next one begins at `following`; None: it is the last."""
    gap = text[end:following]
    if is_own and not gap.strip("\n "):
        return end
    if following is None:
        return len(text)
    line_end = gap.rfind("\n")
    return end + line_end if line_end >= 0 and not gap[line_end + 1 :].strip(" ") else following


def _between(length: int) -> str:
    """Return the text that the reader puts between sentences: it knows only its length."""
    return "\n" + " " * (length - 1) if length else ""


WHITE_SPACE = "white space at edges of spans"
BETWEEN = "text between sentences"


def fit_to_webanno(types: Mapping[str, str], document: Document, lost: Counter[str]) -> Document:
    """Return the document as it is read; white space that is cut off and text that is not restored are counted."""
    document = with_texts(types, document, lost)
    text = document.text or ""
    if "\0" in text:
        raise UsageError("WebAnno TSV cannot hold the character NUL", **document.in_errors)
    segments = _segments(document)
    parts: list[str] = []
    place = 0
    for segment in segments:
        gap = text[place : segment.start]
        lost[BETWEEN] += bool(gap.strip("\n "))
        parts += [_between(len(gap)), text[segment.start : segment.end]]
        place = segment.end
    layers = {
        layer: sorted(
            (each for span in spans for each in _cut(span, text, segments, lost)),
            key=lambda span: (span.start, -span.end),
        )
        for layer, spans in document.layers.items()
    }
    sentences = [Sentence(segment.start, segment.end) for segment in segments]
    return replace(document, layers=layers, text="".join(parts), sentences=sentences, tags={})


def _cut(span: Span, text: str, segments: Sequence[_Segment], lost: Counter[str]) -> list[Span]:
    """Return a span without white space at its edges; one without characters lies in a sentence that has tokens."""
    own = text[span.start : span.end]
    start = span.start + (len(own) - len(own.lstrip()) if own.strip() else 0)
    end = start + len(own.strip())
    if start == end:
        if not segments or not segments[0].tokens:
            lost["zero-length spans"] += 1
            return []
        here = max(bisect_right(segments, start, key=attrgetter("start")) - 1, 0)
        places = [min(max(start, each.start), each.end) for each in segments[here : here + 2]]
        start = end = min(places, key=lambda place: abs(place - start))
    if (start, end) == (span.start, span.end):
        return [span]
    lost[WHITE_SPACE] += 1
    return [replace(span, start=start, end=end)]


class _Cells:
    """The annotations of one layer, which are sorted, by the unit in which they stand: a token or a part of one."""

    def __init__(self, spans: Sequence[Span], of: UimaType, tokens: _Tokens, numbers: Iterator[int]) -> None:
        self.of = of
        self._values = [values_of(span, of) for span in spans]
        names = {name for values in self._values for name in values}
        self.names = sorted(names | {of.label}) if names or not spans else []
        self._numbers: dict[int, int] = {}
        self.of_units: dict[tuple[int, Range], list[int]] = {}
        for place, span in enumerate(spans):
            units = list(tokens.units(span))
            for unit in units:
                stack = self.of_units.setdefault(unit, [])
                stack.append(place)
                if len(stack) > 1:
                    self._number(stack[0], numbers)
                    self._number(place, numbers)
            if len(units) > 1:
                self._number(place, numbers)

    def _number(self, place: int, numbers: Iterator[int]) -> None:
        if place not in self._numbers:
            self._numbers[place] = next(numbers)

    def fields(self, unit: tuple[int, Range]) -> Iterator[str]:
        """Yield the fields of a row; a layer without features has one."""
        for name in self.names or ("",):
            stack = self.of_units.get(unit, ())
            yield "|".join(self._field(place, name) for place in stack) or "_"

    def _field(self, place: int, name: str) -> str:
        value = self._values[place].get(name)
        shown = "*" if value is None else value.translate(_IN_VALUES).replace("->", "\\->")
        return f"{shown}[{self._numbers[place]}]" if place in self._numbers else shown


class _Tokens:
    """The tokens of all sentences."""

    def __init__(self, segments: Sequence[_Segment]) -> None:
        self._ranges = [token for segment in segments for token in segment.tokens]
        self._starts, self._ends = [start for start, _ in self._ranges], [end for _, end in self._ranges]
        self._limits = [segment.end for segment in segments]
        self._last = list(accumulate(len(segment.tokens) for segment in segments))

    def units(self, span: Span) -> Iterator[tuple[int, Range]]:
        """Yield the units of a span: numbers of tokens, each with the range in it."""
        last = bisect_left(self._ends, span.end)
        if span.start == span.end:  # in the first token that ends at or after it, within its sentence
            last = min(last, self._last[bisect_left(self._limits, span.start)] - 1)
            yield last, (span.start, span.end)
            return
        for number in range(bisect_right(self._starts, span.start) - 1, last + 1):
            start, end = self._ranges[number]
            yield number, (max(start, span.start), min(end, span.end))


def webanno_of(types: Mapping[str, str], document: Document, layers: Sequence[str]) -> str:
    """Return the content of the file of a document, which `fit_to_webanno` has returned."""
    return "".join(in_lines(_lines(types, document, layers)))


def _lines(types: Mapping[str, str], document: Document, layers: Sequence[str]) -> Iterator[str]:
    segments, text = _segments(document), document.text or ""
    tokens, numbers = _Tokens(segments), count(1)
    require_short_texts(sum(map(len, chain.from_iterable(document.layers.values()))), **document.in_errors)
    known = types_of(types, [*layers, *document.layers])
    cells = [_Cells(spans, known[layer], tokens, numbers) for layer, spans in document.layers.items()]
    yield f"{VERSION}.3"
    for layer in cells:
        yield f"#T_SP={layer.of.name}|{'|'.join(layer.names)}"
    yield ""
    rows = _rows(segments, cells, text)
    for number, segment in enumerate(segments, 1):
        yield ""
        for line in text[segment.start : segment.end].split("\n"):
            yield f"#Text={line.translate(_IN_TEXTS)}"
        yield from (f"{number}-{row}" for of_token in islice(rows, len(segment.tokens)) for row in of_token)


def _rows(segments: Sequence[_Segment], cells: Sequence[_Cells], text: str) -> Iterator[list[str]]:
    """Yield the rows of each token without the number of its sentence: its own and those of its parts."""
    wide = wide_characters(text)
    parts: dict[int, set[Range]] = {}
    for layer in cells:
        for token, part in layer.of_units:
            parts.setdefault(token, set()).add(part)
    place = 0
    for segment in segments:
        for number, whole in enumerate(segment.tokens, 1):
            own = sorted(parts.get(place, set()) - {whole}, key=lambda part: (part[0], -part[1]))
            rows = []
            for nth, (start, end) in enumerate([whole, *own]):
                fields = [field for layer in cells for field in layer.fields((place, (start, end)))]
                units = f"{start + bisect_left(wide, start)}-{end + bisect_left(wide, end)}"
                name = f"{number}.{nth}" if nth else str(number)
                rows.append("\t".join([name, units, text[start:end].translate(_IN_TEXTS), *fields, ""]))
            yield rows
            place += 1
