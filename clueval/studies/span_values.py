"""Values of spans, by which profiles sort them into buckets: length, casing, place, what training data have of them.

Each value is a number or a name. `BUCKETS` has the least numbers of the buckets of the features that have numbers.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache, partial
from itertools import chain, compress, count, pairwise
from operator import attrgetter
from typing import Any

from clueval.core.alignment import are_unknown, words_in
from clueval.core.document import MENTION, Document
from clueval.core.span import MERGED, Ranges, Span

Value = int | float | str
Text = tuple[str, ...]

_text: Callable[[Document], Any] = attrgetter("tokens", "text", "unit", "start", "sentences")
"""Returns what values of spans depend on of their document."""

NO_TEXT, NO_SENTENCE = "no text", "no sentence"

BUCKETS: Mapping[str, Sequence[tuple[float, str]]] = {
    "length": [(0, "0"), (1, "1"), (2, "2"), (3, "3"), (4, "4"), (5, "5-9"), (10, "10+")],
    "position": [(0, "0-25%"), (0.25, "25-50%"), (0.5, "50-75%"), (0.75, "75-100%")],
    "depth": [(1, "1"), (2, "2"), (3, "3+")],
    "frequency": [(0, "0"), (1, "1"), (2, "2-4"), (5, "5-9"), (10, "10+")],
    "consistency": [(0, "0"), (1e-9, "below 0.5"), (0.5, "0.5-1"), (1, "1")],
}
"""The least value and the name of each bucket."""

_LEAST = {feature: [least for least, _ in buckets] for feature, buckets in BUCKETS.items()}

_NAMED: Mapping[str, Sequence[str]] = {
    "casing": ("lower", "upper", "first", "other"),
    "punctuation": ("none", "edge", "inside"),
    "seen": ("text and label", "other label", "tokens", "none"),
}
"""The names of the values of a feature, in the order in which they are shown."""


class TextWords:
    """The words of a document: its tokens, or the words and single marks of its text; none without a text."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.is_known = document.end is not None and not are_unknown(document.tokens or ())
        self.of_characters = document.unit == "character"
        self.words: Sequence[str] = () if self.of_characters else document.tokens or ()
        if self.is_known and self.of_characters:
            text = document.text or ""
            ranges = words_in(text)
            self._starts = [start + document.start for start, _ in ranges]
            self._ends = [end + document.start for _, end in ranges]
            self.words = [text[start:end] for start, end in ranges]

    def of(self, fragments: Ranges) -> Sequence[str]:
        """Return the words that share a position with the ranges of a span."""
        if not self.is_known:
            return ()
        words: list[str] = []
        for start, end in fragments:
            if self.of_characters:
                words += self.words[bisect_right(self._ends, start) : bisect_right(self._starts, end - 1)]
            else:
                words += self.words[start - self.document.start : end - self.document.start]
        return words


class SpansInText:
    """Spans of one document, with its words; `depths` are those of nesting among the spans of their side."""

    def __init__(self, spans: Sequence[Span], words: TextWords, depths: Sequence[int]) -> None:
        self.spans, self.words, self.depths = spans, words, depths

    def have_values_of(self, other: SpansInText) -> bool:
        """Return whether these spans have the same values in the other document."""
        return self.depths == other.depths and _text(self.words.document) == _text(other.words.document)

    @cached_property
    def labels(self) -> list[str]:
        """The label of each span."""
        return [span.label for span in self.spans]

    @cached_property
    def texts(self) -> list[str]:
        """The text of each span, fragments joined by blanks."""
        text_between = self.words.document.text_between
        return [
            str(span.features[MENTION])
            if MENTION in span.features
            else text_between(span.start, span.end)
            if span.parts is None
            else " ".join(text_between(*part) for part in span.parts)
            for span in self.spans
        ]

    @cached_property
    def lower(self) -> list[Text]:
        """The words of each span in lower case."""
        return [lower(self.words.of(span.fragments)) for span in self.spans]


def lower(words: Iterable[str]) -> Text:
    """Return the words and single marks in lower case; other tokens of a text, as in ``U.N.``, make no difference."""
    return tuple(chain.from_iterable(map(_lower_words, words)))


@lru_cache(maxsize=1 << 14)
def _lower_words(token: str) -> Text:
    text = token.lower()
    return tuple(text[start:end] for start, end in words_in(text))


# Features of single spans

Feature = Callable[[SpansInText], Iterable[Value]]
"""Returns the value of each span."""


def _lengths(spans: SpansInText) -> Iterable[Value]:
    if spans.words.is_known and spans.words.of_characters:
        return [len(spans.words.of(span.fragments)) for span in spans.spans]
    return [
        span.end - span.start if span.parts is None else sum([end - start for start, end in span.parts])
        for span in spans.spans
    ]


def _casing(text: str) -> str:
    if text == text.lower():
        return "lower"
    if text == text.upper():
        return "upper"
    return "first" if next(letter for letter in text if letter.isalpha()).isupper() else "other"


def _punctuation(text: str) -> str:
    if text.replace(" ", "").isalnum():
        return "none"
    marks = {letter for letter in set(text) if unicodedata.category(letter)[0] == "P"}
    if not marks:
        return "none"
    return "edge" if text[0] in marks or text[-1] in marks else "inside"


def _of_texts(value_of: Callable[[str], str], spans: SpansInText) -> Iterable[str]:
    return map(value_of, spans.texts) if spans.words.is_known else [NO_TEXT] * len(spans.spans)


def _positions(spans: SpansInText) -> Iterator[Value]:
    sentences = spans.words.document.sentences
    starts = [sentence.start for sentence in sentences]
    for span in spans.spans:
        number = bisect_right(starts, span.start) - 1
        if number < 0 or span.start >= sentences[number].end:
            yield NO_SENTENCE
        else:
            begin, end, _ = sentences[number]
            yield (span.start - begin) / (end - begin)


FEATURES: Mapping[str, Feature] = {
    "length": _lengths,
    "casing": partial(_of_texts, _casing),
    "punctuation": partial(_of_texts, _punctuation),
    "position": _positions,
    "label": attrgetter("labels"),
    "depth": attrgetter("depths"),
}
"""The features of single spans."""

TRAINED = ("frequency", "seen", "consistency")
"""The features that need training data."""

ALL_FEATURES = (*FEATURES, *TRAINED)


class TrainingSpans:
    """The spans of training data: how often a text was a span, with which labels, and how often it was none.

    Texts are compared as sequences of words and single marks in lower case. `documents` are read once more for
    consistencies, because occurrences of all texts are counted. Memory holds one document, and the texts of the spans.
    `is_merged` says whether their layers are merged, as those of the spans that are compared with them.
    """

    def __init__(self, documents: Callable[[], Iterable[Document]], *, is_merged: bool = False) -> None:
        self._documents, self._is_merged = documents, is_merged
        self._numbers: Counter[Text] = Counter()
        self._labelled: Counter[tuple[Text, Hashable]] = Counter()
        self._tokens = set[str]()
        for document in documents():
            words = TextWords(document)
            # spans of several layers may have one range
            marks = {*self._marks(document)}
            texts = {fragments: lower(words.of(fragments)) for fragments, _ in marks}
            self._numbers.update(texts.values())
            self._labelled.update([(texts[fragments], label) for fragments, label in marks])
            if not words.of_characters:
                self._tokens.update(token.lower() for fragments in texts for token in words.of(fragments))
        self._words = {*chain.from_iterable(self._numbers)}

    def _marks(self, document: Document) -> Iterable[tuple[Ranges, Hashable]]:
        """Return the ranges of each span, and what its label is compared by."""
        if self._is_merged:
            return [(span.fragments, _by_layer(span)) for span in document.layers[MERGED]]
        return chain.from_iterable(map(document.marks_in, document.layers))

    def _labels(self, spans: SpansInText) -> Iterable[Hashable]:
        return map(_by_layer, spans.spans) if self._is_merged else spans.labels

    @cached_property
    def _occurrences(self) -> Counter[Text]:
        """How often each text occurs, as a span or not."""
        sizes: dict[tuple[str, str], set[int]] = {}  # of texts of three words and more, by the first two
        for first, second, *others in (text for text in self._numbers if len(text) > 2):
            sizes.setdefault((first, second), set()).add(len(others) + 2)
        single = {text[0] for text in self._numbers if len(text) == 1}
        single_words: Counter[str] = Counter()
        occurrences: Counter[Text] = Counter()
        for document in self._documents():
            text = lower(TextWords(document).words)
            single_words.update(filter(single.__contains__, text))
            occurrences.update(filter(self._numbers.__contains__, pairwise(text)))
            occurrences.update(self._texts_in(text, sizes))
        occurrences.update({(word,): times for word, times in single_words.items()})
        return occurrences

    def _texts_in(self, words: Text, sizes: Mapping[tuple[str, str], Iterable[int]]) -> Iterator[Text]:
        """Yield the texts of three words and more."""
        for at in compress(count(), map(sizes.__contains__, pairwise(words))):
            for size in sizes[words[at], words[at + 1]]:
                text = words[at : at + size]
                if text in self._numbers and len(text) == size:
                    yield text

    def _frequencies(self, spans: SpansInText) -> Iterable[Value]:
        """How often the text was a span."""
        return [self._numbers[text] for text in spans.lower]

    def _seen(self, spans: SpansInText) -> Iterator[Value]:
        """Whether the text was a span with this label, with another one, or all its tokens were in spans.

        If one side has a text and no tokens, the words and single marks of both are compared.
        """
        have_tokens = self._tokens and not spans.words.of_characters
        for span, text, label in zip(spans.spans, spans.lower, self._labels(spans), strict=True):
            if text in self._numbers:
                yield "text and label" if (text, label) in self._labelled else "other label"
            else:
                known, words = self._words, iter(text)
                if have_tokens:
                    known, words = self._tokens, map(str.lower, spans.words.of(span.fragments))
                yield "tokens" if text and known.issuperset(words) else "none"

    def _consistencies(self, spans: SpansInText) -> Iterator[Value]:
        """The share of all occurrences of the text, spans or not, that were spans with this label."""
        for text, label in zip(spans.lower, self._labels(spans), strict=True):
            number = self._labelled.get((text, label), 0)
            yield min(1.0, number / max(1, self._occurrences[text])) if number else 0

    @property
    def features(self) -> Mapping[str, Feature]:
        return dict(zip(TRAINED, (self._frequencies, self._seen, self._consistencies), strict=True))


def _by_layer(span: Span) -> Hashable:
    """Return the labels of a merged span by layer: training data may have other layers, in another order."""
    return frozenset([(layer, label) for layer, label in span.by_layer.items() if label is not None])


def depths_of(spans: Sequence[Span]) -> list[int]:
    """Return the depth of nesting of each span: 1 and the number of other ranges that contain it.

    Costs O(n log n) for n spans.

    >>> depths_of([Span(2, 4), Span(0, 9)])
    [2, 1]
    """
    order = sorted(range(len(spans)), key=lambda number: (spans[number].start, -spans[number].end))
    ordered = [spans[number] for number in order]
    depths = [1] * len(spans)
    if all(first.end <= second.start < second.end for first, second in pairwise(ordered)):
        return depths
    ends = sorted({-span.end for span in ordered})
    counts = [0] * (len(ends) + 1)  # of the spans so far, by end, as sums over ranges (a Fenwick tree)
    equal: Counter[tuple[int, int]] = Counter()
    for number, span in zip(order, ordered, strict=True):
        place = rank = bisect_right(ends, -span.end)
        around = 0  # the spans so far that end no sooner than this one
        while place:
            around += counts[place]
            place &= place - 1
        depths[number] = 1 + around - equal[span.start, span.end]
        equal[span.start, span.end] += 1
        while rank < len(counts):
            counts[rank] += 1
            rank += rank & -rank
    return depths


# Buckets


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
    listed = [name for _, name in BUCKETS.get(feature, ())] or list(_NAMED.get(feature, ()))
    return sorted(
        buckets, key=lambda name: (listed.index(name), "") if name in listed else (len(listed), name)
    )


def equal_buckets(values: Sequence[float], number: int) -> list[tuple[float, float]]:
    """Return the least and the greatest value of `number` buckets that have about the same number of values.

    >>> equal_buckets([8, 2, 3, 2, 1], 4)
    [(1, 2), (3, 3), (8, 8)]
    """
    ordered = sorted(values)
    ranges: list[tuple[float, float]] = []
    first, cutoff = 0, len(ordered) / number
    for at in range(1, len(ordered)):
        if ordered[at] != ordered[at - 1] and at >= cutoff and len(ranges) < number - 1:
            ranges.append((ordered[first], ordered[at - 1]))
            first, cutoff = at, at + (len(ordered) - at) / (number - len(ranges))
    return [*ranges, (ordered[first], ordered[-1])] if ordered else []


def range_name(least: float, greatest: float) -> str:
    """Return the name of a bucket.

    >>> range_name(1, 2), range_name(3, 3)
    ('1-2', '3')
    """
    ends = f"{least:.4g}", f"{greatest:.4g}"
    return ends[0] if least == greatest else "-".join(ends)
