"""What was read, by side, before steps and filters: for the report, for warnings, and for what a filter must name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from clueval.core.case import TOKENS
from clueval.core.document import Document, Sentence, Text, metadata_with_id
from clueval.core.span import NOTHING, Span
from clueval.core.tags import OUTSIDE, Neighbours, count_illegal, neighbours_of, scheme_of
from clueval.files.errors import TagError

FileLayer = tuple[str, str | None, str]
"""A side, a file (None: in memory) and a layer."""


class Read:
    """What was read of a corpus; two can be added in the order of their files.

    The scheme of a file, and which of its tags are repaired, is known when all of it was read: from `neighbours`, how
    often each pair of adjacent tags occurs, without those of two O, which say nothing. Of files whose tags are settled,
    `settled` has the scheme and the number of ill-formed tags instead.
    """

    def __init__(self) -> None:
        self.formats: dict[str, set[str]] = {}  # the names of the formats, by side
        self.files: Counter[str] = Counter()  # the number of files, by side
        self.sources: dict[tuple[str, str], set[int | str]] = {}  # columns from 1, or keys, by side and layer
        self.treatments: set[str] = set()  # how ill-formed tags were treated
        self.passed_over: Counter[tuple[str, str]] = Counter()  # what formats did not read, by side and kind
        self.spans: Counter[tuple[str, str]] = Counter()  # the number of spans by side and layer
        self.features: set[str] = set()  # the features of spans; `TOKENS` if some have tokens of their own
        self.tagged: set[tuple[str, str]] = set()  # sides and layers read from tags, or a file of tokens
        self.neighbours: dict[FileLayer, Neighbours] = {}
        self.settled: dict[FileLayer, tuple[str | None, int]] = {}
        self.keys: dict[str, None] = {}  # the keys of metadata that documents have
        self.values: dict[str, set[str]] = {}  # of filters by key: metadata, ids, labels of layers
        self.units: set[str] = set()  # what positions are where they are counted, that is, after all steps
        self.without_text = 0  # the number of texts that a side has no text of, where they are counted
        self.unplaced: list[tuple[str, Span]] = []  # spans without a place in the text, with ids of documents

    def add_file(
        self,
        side: str,
        form: str,
        sources: Mapping[str, int | str] = NOTHING,
        passed_over: Mapping[str, int] = NOTHING,
    ) -> None:
        """Add a file that was read: its format, the source of each layer, and what the format did not read, by kind."""
        self.formats.setdefault(side, set()).add(form)
        self.files[side] += 1
        for layer, source in sources.items():
            self.sources.setdefault((side, layer), set()).add(source)
        for kind, number in passed_over.items():
            self.passed_over[side, kind] += number

    def add(self, documents: Iterable[tuple[str, Document | None]], conditions: Iterable[str] = ()) -> None:
        """Add the documents of one text, with the names of their sides; `conditions` are the keys of a filter."""
        present = [(side, document) for side, document in documents if document is not None]
        first = present[0][1]
        self.keys.update(dict.fromkeys(first.metadata))
        for key in conditions:
            value = metadata_with_id(first).get(key)
            if value is not None:
                self.values.setdefault(key, set()).add(value)
        for side, document in present:
            of_tokens = document.unit == "token" and document.file is not None
            self.tagged.update((side, layer) for layer in (document.layers if of_tokens else document.tags))
            for layer in document.layers:
                self.spans[side, layer] += document.number_of_spans_in(layer)
                for span in document.layers[layer] if document.rows_in(layer) is None else ():
                    if span.features or span.tokens is not None:
                        self.features.update(span.features, (TOKENS,) * (span.tokens is not None))
            self.add_tags(side, document)

    def add_tags(self, side: str, document: Document) -> None:
        """Add the pairs of adjacent tags of a document of a side, in which an O follows each sentence."""
        for layer, tags in document.tags.items():
            bordered: list[str] = []
            whole = Sentence(document.start, document.start + len(tags))
            for start, end, _ in document.sentences or [whole]:
                bordered += tags[start - document.start : end - document.start]
                bordered.append(OUTSIDE)
            pairs = self.neighbours.setdefault((side, document.file, layer), Counter())
            pairs.update(neighbours_of(bordered))
            pairs.pop((OUTSIDE, OUTSIDE), None)

    def add_changed(self, text: Text) -> None:
        """Add a text as the steps have left it: its unit, and whether a side has no text."""
        self.units.add(text.first.unit)
        self.without_text += any(side is not None and side.end is None for side in text.sides)

    def add_counted(self, text: Text, conditions: Iterable[str]) -> None:
        """Add a text that meets the filter: the labels of layers that this names, and spans without a place."""
        for side in [side for side in text.sides if side is not None]:
            for layer in [key for key in conditions if key in side.layers]:
                labels = {span.by_layer.get(layer) for span in side.layers[layer]}
                self.values.setdefault(layer, set()).update(label for label in labels if label is not None)
            if text.beside:
                self.unplaced += [(text.first.id, span) for spans in side.layers.values() for span in spans]

    def settle(self, schemes: Mapping[str, str] = NOTHING, *, in_memory: bool = False) -> None:
        """Replace the pairs of adjacent tags of all files, which were read whole, by what follows from them.

        `schemes` has those that were named, by side; those of files with a settled scheme are these; others are
        detected. With `in_memory`, the tags of documents without a file are settled, too. Raises `TagError`.
        """
        for file_layer in [
            file_layer for file_layer in self.neighbours if in_memory or file_layer[1] is not None
        ]:
            pairs = self.neighbours.pop(file_layer)
            try:
                scheme = (
                    schemes.get(file_layer[0])
                    or self.settled.get(file_layer, (None, 0))[0]
                    or scheme_of(pairs)
                )
            except TagError as error:
                error.file = error.file or file_layer[1] or file_layer[0]
                raise
            self.settle_layer(file_layer, scheme, 0 if scheme is None else count_illegal(pairs, scheme))

    def settle_layer(self, file_layer: FileLayer, scheme: str | None, ill_formed: int) -> None:
        """Add a layer whose scheme is known, and the number of its ill-formed tags."""
        before = self.settled.get(file_layer, (None, 0))
        self.settled[file_layer] = scheme or before[0], ill_formed + before[1]

    def schemes(self) -> dict[FileLayer, str | None]:
        """Return the scheme of the tags of each file; None if all of them are O. Raises `TagError`."""
        settled = {file_layer: scheme for file_layer, (scheme, _) in self.settled.items()}
        return settled | {file_layer: scheme_of(pairs) for file_layer, pairs in self.neighbours.items()}

    def repaired(self, side: str) -> int:
        """Return the number of ill-formed tags of a side, by the scheme of the whole file."""
        repaired = sum(number for file_layer, (_, number) in self.settled.items() if file_layer[0] == side)
        for file_layer, scheme in self.schemes().items():
            if file_layer[0] == side and file_layer in self.neighbours and scheme is not None:
                repaired += count_illegal(self.neighbours[file_layer], scheme)
        return repaired

    def include(self, other: Read) -> None:
        """Add what was read elsewhere."""
        self.files.update(other.files)
        self.passed_over.update(other.passed_over)
        self.spans.update(other.spans)
        self.features |= other.features
        self.tagged |= other.tagged
        self.keys.update(other.keys)
        self.treatments |= other.treatments
        self.units |= other.units
        self.without_text += other.without_text
        self.unplaced += other.unplaced
        for file_layer, pairs in other.neighbours.items():
            self.neighbours.setdefault(file_layer, Counter()).update(pairs)
        for file_layer, settled in other.settled.items():
            self.settle_layer(file_layer, *settled)
        sets: tuple[tuple[dict[Any, set[Any]], Mapping[Any, set[Any]]], ...] = (
            (self.formats, other.formats),
            (self.sources, other.sources),
            (self.values, other.values),
        )
        for total, more in sets:
            for key, values in more.items():
                total.setdefault(key, set()).update(values)
