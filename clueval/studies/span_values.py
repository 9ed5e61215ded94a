"""Values of spans, by which profiles sort them into buckets: length, casing, place, what training data have of them.

Each value is a number or a name. `BUCKETS` has the least numbers of the buckets of the features that have numbers.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, compress, count, pairwise

from clueval.core.alignment import are_unknown
from clueval.core.document import MENTION, Document
from clueval.core.span import Span

Value = int | float | str
Text = tuple[str, ...]

TOKEN = re.compile(r"\w+|[^\w\s]")

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
            tokens = list(TOKEN.finditer(document.text or ""))
            self._starts = [match.start() + document.start for match in tokens]
            self._ends = [match.end() + document.start for match in tokens]
            self.words = [match[0] for match in tokens]

    def of(self, span: Span) -> Sequence[str]:
        """Return the words that share a position with a span."""
        if not self.is_known:
            return ()
        words: list[str] = []
        for start, end in span.fragments:
            if self.of_characters:
                words += self.words[bisect_right(self._ends, start) : bisect_right(self._starts, end - 1)]
            else:
                words += self.words[start - self.document.start : end - self.document.start]
        return words


class SpansInText:
    """Spans of one document, with its words; `depths` are those of nesting among the spans of their side."""

    def __init__(self, spans: Sequence[Span], words: TextWords, depths: Iterable[int]) -> None:
        self.spans, self.words, self.depths = spans, words, depths

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
        return [lower(self.words.of(span)) for span in self.spans]


def lower(words: Iterable[str]) -> Text:
    """Return the words and single marks in lower case; other tokens of a text, as in ``U.N.``, make no difference."""
    return tuple(TOKEN.findall(" ".join(words).lower()))


# Features of single spans

Feature = Callable[[SpansInText], Iterable[Value]]
"""Returns the value of each span."""


def _lengths(spans: SpansInText) -> Iterable[Value]:
    if spans.words.is_known and spans.words.of_characters:
        return [len(spans.words.of(span)) for span in spans.spans]
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


def _of_texts(value_of: Callable[[str], str]) -> Feature:
    return lambda spans: map(value_of, spans.texts) if spans.words.is_known else [NO_TEXT] * len(spans.spans)


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
    "casing": _of_texts(_casing),
    "punctuation": _of_texts(_punctuation),
    "position": _positions,
    "label": lambda spans: [span.label for span in spans.spans],
    "depth": lambda spans: spans.depths,
}
"""The features of single spans."""

TRAINED = ("frequency", "seen", "consistency")
"""The features that need training data."""

ALL_FEATURES = (*FEATURES, *TRAINED)


class TrainingSpans:
    """The spans of training data: how often a text was a span, with which labels, and how often it was none.

    Texts are compared as sequences of words and single marks in lower case. `documents` are read twice, because
    occurrences of all texts are counted. Memory holds one document, and the texts of the spans.
    """

    def __init__(self, documents: Callable[[], Iterable[Document]]) -> None:
        self._labels: defaultdict[Text, Counter[str]] = defaultdict(Counter)
        self._numbers: Counter[Text] = Counter()
        for document in documents():
            words = TextWords(document)
            texts = {  # spans of several layers may have one range
                (span.fragments, _label_of(span)): lower(words.of(span))
                for span in chain.from_iterable(document.layers.values())
            }
            self._numbers.update({fragments: text for (fragments, _), text in texts.items()}.values())
            for (_, label), text in texts.items():
                self._labels[text][label] += 1
        self._words = {word for text in self._labels for word in text}
        self._occurrences: Counter[Text] = Counter()
        sizes: dict[tuple[str, str], set[int]] = {}  # of texts of three words and more, by the first two
        for first, second, *others in (text_words for text_words in self._labels if len(text_words) > 2):
            sizes.setdefault((first, second), set()).add(len(others) + 2)
        is_text = self._labels.__contains__
        for document in documents():
            text = lower(TextWords(document).words)
            self._occurrences.update(filter(is_text, chain(zip(text), pairwise(text))))
            self._occurrences.update(self._texts_in(text, sizes))

    def _texts_in(self, words: Text, sizes: Mapping[tuple[str, str], Iterable[int]]) -> Iterator[Text]:
        """Yield the texts of three words and more."""
        for at in compress(count(), map(sizes.__contains__, pairwise(words))):
            for size in sizes[words[at], words[at + 1]]:
                text = words[at : at + size]
                if text in self._labels and len(text) == size:
                    yield text

    def _frequencies(self, spans: SpansInText) -> Iterable[Value]:
        """How often the text was a span."""
        return [self._numbers[text] for text in spans.lower]

    def _seen(self, spans: SpansInText) -> Iterator[Value]:
        """Whether the text was a span with this label, with another one, or all its words were in spans."""
        for span, text in zip(spans.spans, spans.lower, strict=True):
            if text in self._labels:
                yield "text and label" if _label_of(span) in self._labels[text] else "other label"
            else:
                yield "tokens" if text and self._words.issuperset(text) else "none"

    def _consistencies(self, spans: SpansInText) -> Iterator[Value]:
        """The share of all occurrences of the text, spans or not, that were spans with this label."""
        for span, text in zip(spans.spans, spans.lower, strict=True):
            number = self._labels[text][_label_of(span)] if text in self._labels else 0
            yield min(1.0, number / max(1, self._occurrences[text])) if number else 0

    @property
    def features(self) -> Mapping[str, Feature]:
        return dict(zip(TRAINED, (self._frequencies, self._seen, self._consistencies), strict=True))


def _label_of(span: Span) -> str:
    """Return the labels by name of layer: of merged spans, training data may have other layers, in another order."""
    return "|".join([label for _, label in sorted(span.by_layer.items()) if label is not None])


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
