"""What was read, by side, before steps and filters: for the report, for warnings, and for what a filter must name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from clueval.core.document import Document, Sentence
from clueval.core.tags import OUTSIDE, Neighbours, count_illegal, neighbours_of, scheme_of

Of = tuple[str, str | None, str]
"""A side, a file (None: in memory) and a layer."""


class Read:
    """What was read of a corpus; two can be added in the order of their files.

    Attributes:
        spans: the number of spans by side and layer.
        neighbours: how often each pair of adjacent tags occurs, by side, file and layer, without those of two O, which
            say nothing. The scheme of a file, and which of its tags are repaired, is known from these when all of it
            was read.
        passed_over: what a format did not read, by side and kind.
        keys: the keys of metadata that documents have.
        labels: the labels that occur, by layer.
        values: the values of the keys of metadata that a filter names.
        units: what positions are where they are counted, that is, after all steps.
        without_text: the number of texts that no side has.
    """

    def __init__(self) -> None:
        self.spans: Counter[tuple[str, str]] = Counter()
        self.neighbours: dict[Of, Neighbours] = {}
        self.passed_over: Counter[tuple[str, str]] = Counter()
        self.keys: dict[str, None] = {}
        self.labels: dict[str, set[str | None]] = {}
        self.values: dict[str, set[str]] = {}
        self.units: set[str] = set()
        self.without_text = 0

    def add(self, documents: Iterable[tuple[str, Document | None]], conditions: Sequence[str] = ()) -> None:
        """Add the documents of one text, with the names of their sides; `conditions` are the keys of a filter."""
        first = True
        for side, document in documents:
            if document is None:
                continue
            if first:
                self.keys.update(dict.fromkeys(document.metadata))
                for key in conditions:
                    if key in document.metadata:
                        self.values.setdefault(key, set()).add(document.metadata[key])
                first = False
            for layer in document.layers:
                rows = document.rows_in(layer)  # of which no spans are made unless they are needed
                self.spans[side, layer] += len(document.layers[layer] if rows is None else rows)
                if layer in conditions:
                    labels = self.labels.setdefault(layer, set())
                    labels.update(span.by_layer.get(layer) for span in document.layers[layer])
            for layer, tags in document.tags.items():
                found = self.neighbours.setdefault((side, document.file, layer), Counter())
                found.update(_in_sentences(document, tags))
                found.pop((OUTSIDE, OUTSIDE), None)

    def schemes(self) -> dict[Of, str | None]:
        """Return the scheme of the tags of each file; None if all of them are O. Raises `TagError`."""
        return {of: scheme_of(pairs) for of, pairs in self.neighbours.items()}

    def repaired(self, side: str) -> int:
        """Return the number of ill-formed tags of a side, by the scheme of the whole file."""
        schemes = self.schemes()
        return sum(
            count_illegal(pairs, scheme)
            for of, pairs in self.neighbours.items()
            if of[0] == side and (scheme := schemes[of]) is not None
        )

    def include(self, other: Read) -> None:
        """Add what was read elsewhere."""
        self.spans.update(other.spans)
        for of, pairs in other.neighbours.items():
            self.neighbours.setdefault(of, Counter()).update(pairs)
        self.passed_over.update(other.passed_over)
        self.keys.update(other.keys)
        for layer, labels in other.labels.items():
            self.labels.setdefault(layer, set()).update(labels)
        for key, values in other.values.items():
            self.values.setdefault(key, set()).update(values)
        self.units |= other.units
        self.without_text += other.without_text


def _in_sentences(document: Document, tags: Sequence[str]) -> Neighbours:
    """Return the pairs of adjacent tags of a document, sentence by sentence."""
    found: Neighbours = Counter()
    for start, end, _ in document.sentences or [Sentence(document.start, document.start + len(tags))]:
        found.update(neighbours_of(tags[start - document.start : end - document.start]))
    return found
