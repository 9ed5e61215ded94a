"""Values of spans, by which profiles sort them into buckets: length, casing, place, what was seen in training data.

Each value is a number or a name. `BUCKETS` has the least numbers of the buckets of the features that have numbers.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, lru_cache

from clueval.core.characters import are_unknown
from clueval.core.document import MENTION, Document
from clueval.core.span import Span

Value = int | float | str
TOKEN = re.compile(r"\w+|[^\w\s]")

_TEXTS = 1 << 12
"""The number of texts of spans whose values are held."""

NO_TEXT = "no text"
NO_SENTENCE = "no sentence"

BUCKETS: Mapping[str, Sequence[tuple[float, str]]] = {
    "length": [(0, "0"), (1, "1"), (2, "2"), (3, "3"), (4, "4"), (5, "5-9"), (10, "10+")],
    "position": [(0, "0-25%"), (0.25, "25-50%"), (0.5, "50-75%"), (0.75, "75-100%")],
    "depth": [(1, "1"), (2, "2"), (3, "3+")],
    "frequency": [(0, "0"), (1, "1"), (2, "2-4"), (5, "5-9"), (10, "10+")],
    "consistency": [(0, "0"), (1e-9, "below 0.5"), (0.5, "0.5-1"), (1, "1")],
}
"""The least value and the name of each bucket."""

_LEAST = {feature: [least for least, _ in buckets] for feature, buckets in BUCKETS.items()}

NAMED: Mapping[str, Sequence[str]] = {
    "casing": ("lower", "upper", "first", "other"),
    "punctuation": ("none", "edge", "inside"),
    "seen": ("text and label", "other label", "tokens", "none"),
}
"""The names of the values of a feature, in the order in which they are shown."""


class TextWords:
    """The words of a document: its tokens, or the words and single marks of its text; None without a text."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.known = document.end is not None and not are_unknown(document.tokens or ())
        self._starts: list[int] = []
        self._words: list[str] = []
        if self.known and document.unit == "character":
            found = list(TOKEN.finditer(document.text or ""))
            self._starts = [match.start() + document.start for match in found]
            self._ends = [match.end() + document.start for match in found]
            self._words = [match[0] for match in found]

    @cached_property
    def sentence_starts(self) -> Sequence[int]:
        return [sentence.start for sentence in self.document.sentences]

    def all(self) -> Sequence[str]:
        """Return all words."""
        return self._words if self.document.unit == "character" else self.document.tokens or ()

    def of(self, span: Span) -> tuple[str, ...]:
        """Return the words that share a position with a span."""
        if not self.known:
            return ()
        words: list[str] = []
        for start, end in span.fragments:
            if self.document.unit == "character":
                words += self._words[bisect_right(self._ends, start) : bisect_right(self._starts, end - 1)]
            else:
                first = self.document.start
                words += (self.document.tokens or ())[start - first : end - first]
        return tuple(words)

    def text(self, span: Span) -> str:
        """Return the text of a span, fragments joined by blanks."""
        if MENTION in span.features:
            return str(span.features[MENTION])
        return " ".join(self.document.text_between(*part) for part in span.fragments)


class SpanInText:
    """A span of one side of a sequence: the words of its document, and the depths of all spans of the side.

    `own` are the words of the span, if its document does not have them.
    """

    def __init__(
        self, span: Span, words: TextWords, depths: Mapping[int, int], own: Sequence[str] | None = None
    ) -> None:
        self.span, self.words, self.depths, self._own = span, words, depths, own
        self._text: str | None = None
        self._lower: tuple[str, ...] | None = None

    @property
    def text(self) -> str:
        """The text of the span."""
        if self._text is None:
            self._text = self.words.text(self.span) if self._own is None else " ".join(self._own)
        return self._text

    @property
    def lower(self) -> tuple[str, ...]:
        """The words of the span in lower case."""
        if self._lower is None:
            self._lower = lower(self.words.of(self.span) if self._own is None else self._own)
        return self._lower


def lower(words: Iterable[str]) -> tuple[str, ...]:
    return tuple([word.lower() for word in words])


def length(each: SpanInText) -> Value:
    if each.words.known and each.words.document.unit == "character":
        return len(each.words.of(each.span))
    return sum([end - start for start, end in each.span.fragments])


def casing(each: SpanInText) -> Value:
    return _casing(each.text) if each.words.known else NO_TEXT


@lru_cache(_TEXTS)
def _casing(text: str) -> str:
    if text == text.lower():
        return "lower"
    if text == text.upper():
        return "upper"
    return "first" if next(letter for letter in text if letter.isalpha()).isupper() else "other"


def punctuation(each: SpanInText) -> Value:
    return _punctuation(each.text) if each.words.known else NO_TEXT


@lru_cache(_TEXTS)
def _punctuation(text: str) -> str:
    if text.replace(" ", "").isalnum():
        return "none"
    marks = {letter for letter in set(text) if unicodedata.category(letter)[0] == "P"}
    if not marks:
        return "none"
    return "edge" if text[0] in marks or text[-1] in marks else "inside"


def position(each: SpanInText) -> Value:
    start, sentences = each.span.start, each.words.document.sentences
    number = bisect_right(each.words.sentence_starts, start) - 1
    if number < 0 or start >= sentences[number].end:
        return NO_SENTENCE
    sentence = sentences[number]
    return (start - sentence.start) / (sentence.end - sentence.start)


def label(each: SpanInText) -> Value:
    return each.span.label


def depth(each: SpanInText) -> Value:
    return each.depths[id(each.span)]


FEATURES: Mapping[str, Callable[[SpanInText], Value]] = {
    "length": length,
    "casing": casing,
    "punctuation": punctuation,
    "position": position,
    "label": label,
    "depth": depth,
}
"""The features of single spans."""


def depths_of(spans: Iterable[Span]) -> dict[int, int]:
    """Return for each span, by its `id`, its depth of nesting: 1 and the number of other ranges that contain it.

    Costs O(n log n) for n spans.

    >>> outer, inner = Span(0, 9), Span(2, 4)
    >>> list(depths_of([inner, outer]).values())
    [1, 2]
    """
    ordered = sorted(spans, key=lambda span: (span.start, -span.end))
    ends = sorted({-span.end for span in ordered})
    counts = [0] * (len(ends) + 1)  # of the spans so far, by end, as sums over ranges (a Fenwick tree)
    equal: Counter[tuple[int, int]] = Counter()
    found: dict[int, int] = {}
    for span in ordered:
        place = rank = bisect_right(ends, -span.end)
        around = 0  # the spans so far that end no sooner than this one
        while place:
            around += counts[place]
            place &= place - 1
        found[id(span)] = 1 + around - equal[span.start, span.end]
        equal[span.start, span.end] += 1
        while rank < len(counts):
            counts[rank] += 1
            rank += rank & -rank
    return found


def bucket_of(feature: str, value: Value) -> str:
    """Return the name of the bucket of a value.

    >>> bucket_of("length", 7), bucket_of("position", 0.25), bucket_of("casing", "lower")
    ('5-9', '25-50%', 'lower')
    """
    if isinstance(value, str):
        return value
    return BUCKETS[feature][bisect_right(_LEAST[feature], value) - 1][1]


def in_order(feature: str, buckets: Iterable[str]) -> list[str]:
    """Return buckets in the order in which they are shown: by their numbers, as listed, or by name."""
    listed = [name for _, name in BUCKETS.get(feature, ())] or list(NAMED.get(feature, ()))
    return sorted(
        buckets, key=lambda name: (listed.index(name), "") if name in listed else (len(listed), name)
    )


def equal_buckets(values: Sequence[float], number: int) -> list[tuple[float, float]]:
    """Return the least and the greatest value of `number` buckets that have about the same number of values.

    >>> equal_buckets([8, 2, 3, 2, 1], 4)
    [(1, 2), (3, 3), (8, 8)]
    """
    ordered = sorted(values)
    found: list[tuple[float, float]] = []
    first, cutoff = 0, len(ordered) / number
    for at in range(1, len(ordered)):
        if ordered[at] != ordered[at - 1] and at >= cutoff and len(found) < number - 1:
            found.append((ordered[first], ordered[at - 1]))
            first, cutoff = at, at + (len(ordered) - at) / (number - len(found))
    return [*found, (ordered[first], ordered[-1])] if ordered else []


def range_name(least: float, greatest: float) -> str:
    """Return the name of a bucket.

    >>> range_name(1, 2), range_name(3, 3)
    ('1-2', '3')
    """
    ends = f"{least:.4g}", f"{greatest:.4g}"
    return ends[0] if least == greatest else "-".join(ends)
