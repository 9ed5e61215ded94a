"""What was seen in training data: how often a text was a span, with which labels, and how often it was none.

Texts are compared as sequences of words in lower case.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise
from typing import Any, Self

from clueval.findings.span_values import SpanOfSide, Value, Words, lower
from clueval.spans.document import Document

Text = tuple[str, ...]


class TrainingSpans:
    """The spans of training data. `documents` is called twice, because occurrences of all texts are counted.

    Memory holds the texts of the spans.
    """

    def __init__(self, documents: Callable[[], Iterable[Document]]) -> None:
        self._labels: dict[Text, Counter[str]] = {}
        self._words: set[str] = set()
        for document in documents():
            words = Words(document)
            for spans in document.layers.values():
                for span in spans:
                    text = lower(words.of(span))
                    self._labels.setdefault(text, Counter())[span.label] += 1
                    self._words.update(text)
        self._occurrences = self._counted(documents())

    def __deepcopy__(self, _: Any) -> Self:
        """Return this object, which nothing changes."""
        return self

    def _counted(self, documents: Iterable[Document]) -> Counter[Text]:
        lengths: dict[tuple[str, str], set[int]] = {}
        for text in self._labels:
            if len(text) > 1:
                lengths.setdefault((text[0], text[1]), set()).add(len(text))
        found: Counter[Text] = Counter()
        for document in documents:
            words = lower(Words(document).all())
            for word, times in Counter(words).items():
                if (word,) in self._labels:
                    found[(word,)] += times
            for at in [at for at, pair in enumerate(pairwise(words)) if pair in lengths]:
                for size in lengths[words[at], words[at + 1]]:
                    text = words[at : at + size]
                    if text in self._labels and len(text) == size:
                        found[text] += 1
        return found

    def frequency(self, each: SpanOfSide) -> Value:
        """How often the text was a span."""
        return sum(self._labels.get(each.lower, {}).values())

    def seen(self, each: SpanOfSide) -> Value:
        """Whether the text was a span with this label, with another one, or all its words were in spans."""
        text = each.lower
        if text in self._labels:
            return "text and label" if each.span.label in self._labels[text] else "other label"
        return "tokens" if text and self._words.issuperset(text) else "none"

    def consistency(self, each: SpanOfSide) -> Value:
        """The share of all occurrences of the text, spans or not, that were spans with this label."""
        text = each.lower
        spans = self._labels.get(text, Counter())[each.span.label]
        return min(1.0, spans / max(1, self._occurrences[text])) if spans else 0

    @property
    def features(self) -> Mapping[str, Callable[[SpanOfSide], Value]]:
        return {"frequency": self.frequency, "seen": self.seen, "consistency": self.consistency}


TRAINED = ("frequency", "seen", "consistency")
"""The features that need training data."""
