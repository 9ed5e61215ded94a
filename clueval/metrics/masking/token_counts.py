"""The counts of documents whose spans are runs of tokens, made from a few numbers for each token.

A token is masked as a whole or not at all, so sums over tokens take the place of flags of characters. The counts
are those of `clueval.metrics.masking.counts`, which is the plain way and counts all other documents: texts without
tokens, spans with gaps, predicted spans that overlap, long mentions, mentions without a letter or digit.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import compress, pairwise
from typing import NamedTuple

from clueval.metrics.counting import Tally
from clueval.metrics.masking.counts import MENTION_FIELDS
from clueval.metrics.masking.flags import Flags
from clueval.metrics.masking.mention import Risk
from clueval.metrics.masking.token_spans import TokenMasks, TokenMentions
from clueval.metrics.masking.token_strings import TokenStrings
from clueval.metrics.masking.token_text import TokenText


class DocumentMentions(NamedTuple):
    """The mentions of one document that are counted: places, classes, entities, and whether they are exposed."""

    starts: Sequence[int]
    ends: Sequence[int]
    kinds: Sequence[str]
    entities: Sequence[int]
    exposed: Sequence[bool]


class TokenRuns(NamedTuple):
    """Runs of tokens (half-open) in little memory."""

    starts: array[int]
    ends: array[int]


_NOTHING = 0, 0


class TokenCounts:
    """Counts documents; `views` are the mentions by annotator.

    `masked` and `mentioned` are flags of tokens, `exposed` has the exposed words and characters of each mention, and
    `several` the annotators and documents with an entity that has several replacements, once they are counted.
    """

    def __init__(
        self, text: TokenText, masks: TokenMasks, views: Mapping[str, TokenMentions], risk: Risk
    ) -> None:
        self.text, self.masks, self._risk = text, masks, risk
        self.views = views
        size = len(text.tokens)
        self.masked = _flags(size, masks)
        self.mentioned = _flags(size, *views.values())
        self.exposed = {name: self._exposed_of(found) for name, found in views.items()}
        self.several: list[tuple[str, int]] = []

    def tally(self) -> Tally:
        """Return the counts, as `clueval.metrics.masking.counts.count` does."""
        tally: Tally = Tally()
        for name, found in self.views.items():
            self._add_mentions(tally, found, self.exposed[name])
        self._add_by_document(tally)
        self._add_precision(tally)
        tally["string_leaks", "all"] += len(self.string_leaks.starts)
        return +tally

    def _add_by_document(self, tally: Tally) -> None:
        documents = zip(*(self._by_document(name) for name in self.views), strict=True)
        for number, views in enumerate(documents):
            _add_documents(tally, views)
            for name, found in zip(self.views, views, strict=True):
                self._add_entities(tally, found)
                if self._add_replacements(tally, found):
                    self.several.append((name, number))

    def _exposed_of(self, found: TokenMentions) -> list[tuple[int, int]]:
        """Return the exposed words and characters of each mention."""
        find = self.masked.find
        return [
            _NOTHING if find(0, start, end) < 0 else self._left(start, end)
            for start, end in zip(found.starts, found.ends, strict=True)
        ]

    def _left(self, start: int, end: int) -> tuple[int, int]:
        core, masked = self.text.core[start:end], self.masked[start:end]
        left = [number for number, is_masked in zip(core, masked, strict=True) if number and not is_masked]
        return len(left), sum(left)

    def _add_mentions(self, tally: Tally, found: TokenMentions, exposed: Sequence[tuple[int, int]]) -> None:
        sums = {group: [0] * len(MENTION_FIELDS) for group in set(found.groups)}
        sizes = map(self.text.characters_in, found.starts, found.ends)
        rows = zip(found.groups, found.words, sizes, exposed, strict=True)
        for group, words, characters, (words_left, left) in compress(rows, found.counted):
            numbers = sums[group]
            numbers[0] += 1
            numbers[4] += len(words)
            numbers[6] += characters
            if left:
                numbers[3 if left == characters else 2] += 1
                numbers[5] += words_left
                numbers[7] += left
        for (kind, label), numbers in sums.items():
            numbers[1] = numbers[0] - numbers[2] - numbers[3]
            for row in (("all", ""), ("class", kind), ("label", label)):
                for field, number in zip(MENTION_FIELDS, numbers, strict=True):
                    tally[*row, field] += number
        tally["entities", "by id"] += found.ids
        tally["entities", "by surface"] += sum(found.counted) - found.ids

    def _by_document(self, name: str) -> Iterator[DocumentMentions]:
        """Yield the counted mentions of an annotator in each document."""
        found, counted = self.views[name], self.views[name].counted
        kinds = [kind for kind, _ in found.groups]
        exposed = [left > 0 for _, left in self.exposed[name]]
        whole = (found.starts, found.ends, kinds, found.entities, exposed)
        columns = whole if all(counted) else [list(compress(column, counted)) for column in whole]
        every = DocumentMentions(*columns)
        if len(self.text.ends) == 1:
            yield every
            return
        cuts = [0, *(bisect_left(every.starts, end) for end in self.text.ends)]
        for first, past in pairwise(cuts):
            yield DocumentMentions(*(column[first:past] for column in every))  # type: ignore[arg-type]

    def _add_entities(self, tally: Tally, found: DocumentMentions) -> None:
        mentions = Counter(found.entities)
        exposed = Counter(compress(found.entities, found.exposed))
        kinds = dict(zip(found.entities, found.kinds, strict=True))
        several = set(zip(found.entities, found.kinds, strict=True))
        for entity, kind in several if len(several) > len(kinds) else ():
            kinds[entity] = min(kind, kinds[entity], key=self._risk)
        numbers = Counter(
            (
                kinds[entity],
                "entities_protected" if entity not in exposed else _partly(number, exposed[entity]),
            )
            for entity, number in mentions.items()
        )
        for (kind, status), number in numbers.items():
            for row in (("all", ""), ("class", kind)):
                tally[*row, "entities"] += number
                if status:
                    tally[*row, status] += number

    def _add_replacements(self, tally: Tally, found: DocumentMentions) -> int:
        """Add how consistent replacements are, as `clueval.metrics.masking.replacements.consistency_of` does.

        Returns the number of entities with several replacements.
        """
        rows = zip(found.starts, found.ends, found.entities, found.exposed, strict=True)
        pairs = [(entity, self.replacement(start, end)) for start, end, entity, left in rows if not left]
        mentions = Counter(entity for entity, _ in pairs)
        different = set(pairs)
        tally["replacements", "entities"] += _repeated(mentions)
        several = _repeated(Counter(entity for entity, _ in different))
        tally["replacements", "several"] += several
        tally["replacements", "shared"] += _repeated(Counter(label for _, label in different))
        return several

    def replacement(self, start: int, end: int) -> str:
        """Return the label of the mask with most characters of a protected mention, the earliest of equals."""
        masks = self.masks
        label = self._labels.get((start, end))
        if label is not None:
            return label
        first = bisect_right(masks.ends, start)
        past = bisect_left(masks.starts, end)
        return masks.labels[max(range(first, past), key=lambda number: self._shared(number, start, end))]

    @cached_property
    def _labels(self) -> dict[tuple[int, int], str]:
        """The labels of the masks by position."""
        masks = self.masks
        return dict(zip(zip(masks.starts, masks.ends, strict=True), masks.labels, strict=True))

    def _shared(self, number: int, start: int, end: int) -> int:
        """Return how many characters of a run of tokens a mask has."""
        return self.text.length(max(self.masks.starts[number], start), min(self.masks.ends[number], end))

    def _add_precision(self, tally: Tally) -> None:
        text, mentioned, masks = self.text, self.mentioned, self.masks
        every = sum(text.letters)
        masked, words = text.letters_in(self.masked)
        inside, right = text.letters_in(_both(self.masked, mentioned))
        find = mentioned.find
        needless = [find(1, start, end) < 0 for start, end in zip(masks.starts, masks.ends, strict=True)]
        for field, number in (
            ("letters", every),
            ("letters_masked", masked),
            ("letters_outside", every - text.letters_in(mentioned)[0]),
            ("characters_over_masked", masked - inside),
            ("masks", sum(masks.counted)),
            ("masks_needless", sum(compress(needless, masks.counted))),
        ):
            tally["precision", field] += number
        for found in self.views.values():
            if len(self.views) > 1:
                _, right = text.letters_in(_both(self.masked, _flags(len(text.tokens), found)))
            tally["precision", "words"] += words
            tally["precision", "words_right"] += right

    @cached_property
    def string_leaks(self) -> TokenRuns:
        """The tokens of each string leak, by position."""
        strings: list[set[tuple[str, ...]]] = [set() for _ in self.text.ends]
        for found in self.views.values():
            cuts = [0, *(bisect_left(found.starts, end) for end in self.text.ends[:-1]), len(found.words)]
            for of_document, (first, past) in zip(strings, pairwise(cuts), strict=True):
                of_document.update(found.words[first:past])
        runs = TokenRuns(array("q"), array("q"))
        for start, end in TokenStrings(self.text, self.mentioned, self.masked).leaks(strings):
            runs.starts.append(start)
            runs.ends.append(end)
        return runs


def _add_documents(tally: Tally, views: Iterable[DocumentMentions]) -> None:
    kinds: set[str] = set()
    exposed: set[str] = set()
    for found in views:
        kinds.update(found.kinds)
        exposed.update(compress(found.kinds, found.exposed))
    for row, is_in, is_exposed in (
        (("all", ""), bool(kinds), bool(exposed)),
        *((("class", kind), True, kind in exposed) for kind in kinds),
    ):
        tally[*row, "documents"] += is_in
        tally[*row, "documents_exposed"] += is_exposed


def _partly(mentions: int, exposed: int) -> str:
    return "entities_in_part" if exposed < mentions else ""


def _repeated(numbers: Counter[int] | Counter[str]) -> int:
    return sum(number > 1 for number in numbers.values())


def _both(one: bytes, other: bytes) -> bytes:
    return (Flags(one) & Flags(other)).bytes


def _flags(size: int, *found: TokenMasks | TokenMentions) -> bytes:
    """Return flags for tokens, set within spans of few tokens or without overlap."""
    flags = bytearray(size)
    for spans in found:
        for start, end in zip(spans.starts, spans.ends, strict=True):
            flags[start:end] = b"\x01" * (end - start)
    return bytes(flags)
