"""The mentions of a document, what is exposed of each, and what stands in the place of the others.

A mention is a gold span that needs masking, with class, label, entity and words. Its class is its own label in the
layer of the classes, or its feature of that name; elsewhere the riskiest label of the spans of that layer that it
overlaps, else ``_``. The entity is its feature, or the label of the layer of entities in its place; else mentions with
the same label and the same case-folded words are one entity.

`Masks` are the masked positions of a text, with which mentions are compared one by one; `Examination` has the mentions
and the masks of one document. Nothing is counted here; `clueval.metrics.masking.counts` adds up, and reports and
pages show single mentions.

The replacement of a mention is the placeholder of the predicted span that covers most of its characters (the
earliest of equals), or the label of that span where the predicted side has spans and no placeholders.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, compress, starmap
from operator import ge
from sys import intern
from typing import Any, NamedTuple

from clueval.core.document import PARTS, REPLACEMENT, Document
from clueval.core.span import (
    NO_LABEL,
    Ranges,
    Regions,
    Span,
    SpanIndex,
    by_position,
    first_clash,
    intersect,
    joined_ranges,
    require_few_pairs,
    shared_positions,
)
from clueval.files.errors import LimitError
from clueval.metrics.masking.text import MaskedText, PositionWeights, Range, parts_of_words, without

MAX_MENTIONED = 1_000_000
"""The most words that the mentions of a document have together, and that they are compared with elsewhere."""

MENTIONED_OF_WORD = 20
"""A document with many words may have this many for each of its words, even if that is more."""

CLASS_LAYER = "risk"
CLASS_FEATURE = "identifier_type"
"""Where the classes are if the settings do not say: this layer or, in documents without it, this feature."""

Risk = Callable[[str], tuple[int, str]]
"""The sort key of a class: riskiest first."""


class Mention(NamedTuple):
    """A gold span that needs masking, with positions of the text, and the ranges of its fragments.

    `entity` is a number, the same for mentions of one entity that were read together; `words` are those that count.
    `has_id`: the entity comes from the annotation, not from the words. `counted`: no
    filter excludes it. `harmless`: a reviewer has decided that what can be read of it may stay.
    """

    span: Span
    ranges: Ranges
    kind: str
    label: str
    entity: int
    words: tuple[str, ...]
    has_id: bool
    counted: bool
    harmless: bool = False


def risk_by(order: Sequence[str]) -> Risk:
    """Return the sort key of classes: those of `order` first, then by name, ``_`` last.

    >>> sorted(["_", "b", "low", "a", "high"], key=risk_by(["high", "low"]))
    ['high', 'low', 'a', 'b', '_']
    """
    places = {name: place for place, name in enumerate(order)}

    def risk(kind: str) -> tuple[int, str]:
        return (len(places) + 1, "") if kind == NO_LABEL else (places.get(kind, len(places)), kind)

    return risk


@dataclass(frozen=True, slots=True)
class MentionReader:
    """Reads the mentions of one document.

    `class_layer` is the layer or feature of the classes (None: see `CLASS_LAYER`), `entity` that of the
    entities; spans whose class or label is in `keep` need no mask.
    """

    document: Document
    text: MaskedText
    class_layer: str | None
    risk: Risk
    entity: str
    keep: Collection[str]

    def read(self, spans: Sequence[Span], counted: Sequence[bool] | None) -> Iterator[Mention]:
        """Yield the mentions among the spans of a layer, in the order of the spans.

        Raises `LimitError` if they have too many words together.
        """
        text, layers = self.text, self.document.layers
        names = class_names(layers, self.class_layer)
        regions = list(self._regions(names[0]))
        numbers: dict[tuple[str, ...], int] = {}
        mentioned, of_document = 0, len(text.spelled)
        of_entities = layers.get(self.entity, ())
        entity_in_place = _labels_in_place(of_entities) if of_entities else None
        special = {*names, self.entity}
        for number, span in enumerate(spans):
            label, kind, entity = span.label, None, None
            if span.features or not special.isdisjoint(span.labels):
                kind, entity = _own_class(span, names), span.features.get(self.entity)
                if entity is None or entity == "":
                    entity = span.by_layer.get(self.entity)
            placed = text.placed(span, self.document)
            if kind is None:
                kind = NO_LABEL
                if regions and placed.start < placed.end:
                    kind = next((name for name, where in regions if where.touch(placed)), NO_LABEL)
            if kind in self.keep or label in self.keep:
                continue
            if entity is not None:
                entity = str(entity)
            elif entity_in_place is not None:
                entity = entity_in_place(span)
            ranges = placed.fragments
            for place in ranges:
                mentioned += len(text.words_in(*place))
            if mentioned > MAX_MENTIONED:
                _require_short_mentions(mentioned, of_document, **self.document.in_errors)
            words = text.strings_of(ranges)
            # equal words are kept once
            key = (label, *[intern(word.casefold()) for word in words]) if entity is None else (entity,)
            is_counted = counted is None or counted[number]
            entity_number = numbers.setdefault(key, len(numbers))
            yield Mention(placed, ranges, kind, label, entity_number, words, entity is not None, is_counted)

    def _regions(self, layer: str) -> Iterator[tuple[str, Regions]]:
        """Yield the classes in a layer, riskiest first and those to keep last, with all positions of each class."""
        by_class: dict[str, list[Range]] = {}
        for span in self.document.layers.get(layer, ()):
            by_class.setdefault(span.label, []).extend(self.text.placed(span, self.document).fragments)
        for kind in sorted(by_class, key=lambda kind: (kind in self.keep, self.risk(kind))):
            yield kind, Regions(by_class[kind])


def class_names(layers: Container[str], class_layer: str | None) -> list[str]:
    """Return the names under which a span of a document may have a class of its own, that of the layer first."""
    if class_layer is not None:
        return [class_layer]
    return [CLASS_LAYER] if CLASS_LAYER in layers else [CLASS_LAYER, CLASS_FEATURE]


def _own_class(span: Span, names: Iterable[str]) -> str | None:
    """Return the class that a span itself has, as a label or a feature with one of the names."""
    for name in names:
        value = span.by_layer.get(name) or span.features.get(name)
        if value is not None and value != "":
            return str(value)
    return None


def _labels_in_place(spans: Sequence[Span]) -> Callable[[Span], str | None]:
    """Return the function that gives the label of these spans in the place of a span, None if there is none.

    It is that of the first span with the same range, else of the first that overlaps it, by range, parts and label. The
    function raises `LimitError` if too many discontinuous spans lie around the places that it gets.
    """
    ordered = sorted(spans, key=lambda span: (*by_position(span), span.parts or (), span.label))
    same = {by_position(span): span.label for span in reversed(ordered)}
    reach = list(accumulate((span.end for span in ordered), max))
    compared = 0

    def label(span: Span) -> str | None:
        nonlocal compared
        if by_position(span) in same:
            return same[by_position(span)]
        for number in range(bisect_right(reach, span.start), len(ordered)):  # those that end after the start
            if ordered[number].start >= span.end:
                return None
            if ordered[number].overlaps(span):
                return ordered[number].label
            compared += 1
            require_few_pairs(compared, len(ordered))
        return None

    return label


class Judged(NamedTuple):
    """A mention with the numbers of its characters and words, and of those that are exposed.

    `words` holds the numbers of its words that count, and of those that are exposed.
    """

    mention: Mention
    characters: int
    exposed: int
    words: int
    words_exposed: int

    @property
    def status(self) -> str:
        if not self.exposed:
            return "protected"
        return "missed" if self.exposed == self.characters else "partial"


class Masks:
    """The predicted spans that mask a text, with its positions; `counted` says which of them count (None: all).

    `initials` are letters that placeholders of a redacted text show. They are no masks, but in a mention of which
    something is masked they are not exposed.
    """

    def __init__(
        self,
        text: MaskedText,
        spans: Sequence[Span],
        counted: Sequence[bool] | None = None,
        initials: Sequence[Range] = (),
    ) -> None:
        self.text, self.spans, self.counted, self.initials = text, spans, counted, initials
        self._lookups = self._compared = 0

    @cached_property
    def masked(self) -> PositionWeights:
        """Flags of the positions that are masked."""
        return PositionWeights.at(
            (fragment for span in self.spans for fragment in span.fragments), self.text.size
        )

    @cached_property
    def exposed(self) -> PositionWeights:
        """What is neither ignorable nor masked, in the whole text."""
        return self.text.core - self.masked

    @cached_property
    def exposed_but_initials(self) -> PositionWeights:
        """What is exposed, less the initials."""
        if not self.initials:
            return self.exposed
        return self.exposed - PositionWeights.at(self.initials, self.text.size)

    def _exposed_of(self, mention: Mention) -> PositionWeights:
        """Return what is exposed of a mention: initials are if nothing of it is masked."""
        if self.initials and self.masked.are_in(mention.ranges):
            return self.exposed_but_initials
        return self.exposed

    def judge(self, mention: Mention) -> Judged:
        """Compare a mention with the masks."""
        ranges = mention.ranges
        if self.text.in_tokens and len(ranges) == 1:  # words are positions, of which none is clipped
            characters, words = self.text.core.numbers(*ranges[0])
            exposed, words_exposed = self.exposed.numbers(*ranges[0])
        else:
            characters, exposed = self.text.core.within(ranges), self._exposed_of(mention).within(ranges)
            flags = [is_exposed for _, is_exposed in self.words_of(mention)]
            words, words_exposed = len(flags), sum(flags)
        if not characters:
            characters = self._characters(ranges)
            exposed = sum([end - start for start, end in self.exposed_in(mention)])
        if mention.harmless:
            exposed = words_exposed = 0
        return Judged(mention, characters, exposed, words, words_exposed)

    def words_of(self, mention: Mention) -> Iterator[tuple[int, bool]]:
        """Yield the words of a mention that count, by number, and whether they are exposed in it."""
        words: dict[int, bool] = {}
        exposed = self._exposed_of(mention)
        for start, end in mention.ranges:
            for word in self.text.words_in(start, end):
                part = self.text.clipped(word, start, end)
                if self.text.counting.bytes[word] and self.text.letters.between(*part):
                    is_exposed = not mention.harmless and bool(exposed.between(*part))
                    words[word] = words.get(word, False) or is_exposed
        yield from words.items()

    def _characters(self, ranges: Iterable[Range]) -> int:
        """Return the number of characters of ranges."""
        return sum([end - start for start, end in starmap(self.text.place, ranges)])

    # Exposed characters

    @cached_property
    def characters(self) -> Ranges:
        """The characters that are masked: between two tokens a blank is, if one mask has both."""
        places = starmap(self.text.place, (fragment for span in self.spans for fragment in span.fragments))
        return joined_ranges((place for place in places if place[0] < place[1]), ge)

    def exposed_in(self, mention: Mention) -> list[Range]:
        """Return the exposed characters of a mention as ranges; of one without letters and digits, all characters."""
        if self.text.core.within(mention.ranges):
            exposed = self._exposed_of(mention)
            runs = [run for place in mention.ranges for run in exposed.runs(*place)]
            return list(self.text.letters_in(runs)) if self.text.in_tokens else runs
        return without([self.text.place(*place) for place in mention.ranges], self.characters)

    # Replacements

    @cached_property
    def _index(self) -> SpanIndex:
        return SpanIndex(self.spans)

    @cached_property
    def _labels(self) -> Mapping[Ranges, str]:
        """The label of each mask without features, by its ranges, if no two overlap: then a mention has no other."""
        if first_clash(self.spans):
            return {}
        return {span.fragments: span.label for span in self.spans if len(span) and not span.features}

    def on(self, span: Span) -> list[Span]:
        """Return the masks on a span, by position and replacement.

        Raises `LimitError` if, with those that were returned before, these are too many.
        """
        numbers = self._index.near(span)
        self._lookups, self._compared = self._lookups + 1, self._compared + len(numbers)
        require_few_pairs(self._compared, len(self.spans) + self._lookups)
        masks = [self.spans[number] for number in numbers]
        return sorted(masks, key=lambda span: (span.fragments, shown(span))) if len(masks) > 1 else masks

    def replacement(self, mention: Mention) -> str | None:
        """Return what stands in the place of a mention: of the mask with most of its characters; None without one."""
        if (label := self._labels.get(mention.ranges)) is not None:
            return label
        masks = [span for span in self.on(mention.span) if shared_positions(span, mention.span)]
        if not masks:
            return None
        best = masks[0]
        if len(masks) > 1:
            best = max(masks, key=lambda span: self._characters(intersect(span.fragments, mention.ranges)))
        if not best.features:
            return best.label
        parts = [
            label
            for start, end, label in best.features.get(PARTS, ())
            if intersect(((start, end),), mention.ranges)
        ]
        return " ".join(parts) or shown(best)


def shown(mask: Span) -> str:
    """Return the placeholder of a mask, or its label."""
    return str(mask.features[REPLACEMENT]) if REPLACEMENT in mask.features else mask.label


class FoundWords(NamedTuple):
    """Words of mentions at positions outside of mentions; or `strings`, in `replacement`, which stands for these."""

    start: int
    end: int
    strings: Collection[tuple[str, ...]] = ()
    replacement: str = ""


@dataclass(frozen=True)
class Examination:
    """The mentions of one document by annotator, compared with its masks; `text` is the text of both.

    `judged` has the mentions of each annotator in the order of its spans, also of one without any; the annotator of a
    sequence that is no view among several has the name of the sequence. `mentioned` are the positions of all mentions,
    `string_leaks` the words of mentions elsewhere. `again` are the masks of the second reading of a redacted
    text, `uncertain` the positions that have none of its placeholders between words.
    """

    document: Document
    text: MaskedText
    judged: Mapping[str, Sequence[Judged]]
    masks: Masks
    mentioned: PositionWeights
    string_leaks: Sequence[FoundWords]
    again: Masks | None = None
    uncertain: PositionWeights | None = None


# String leaks


LEAST_CHARACTERS = 4
LEAST_DIGITS = 5

_Words = dict[str | None, Any]
"""The strings that begin with the same words, by the next word; `_END` if there is one that ends here."""

_END = None
_LAST: _Words = {_END: True}
"""Most strings end where no other goes on."""


def find_strings(
    text: MaskedText,
    strings: Iterable[tuple[str, ...]],
    mentioned: PositionWeights,
    exposed: PositionWeights,
    **place: Any,
) -> Iterator[Range]:
    """Yield the string leaks: where the words of a mention stand outside mentions and are not wholly masked.

    The words must be the same in upper and lower case. Strings of fewer than 4 characters, or of fewer than 5 digits,
    are too frequent to mean the same thing and are not searched. Neither recall nor precision knows string leaks.
    `mentioned` are the positions in mentions, `exposed` what is neither ignorable nor masked. Of several strings at a
    place that are not wholly masked, the longest counts. Costs O(n) for n words, times the number of words that a
    string and a place have in common. Raises `LimitError`, with its place, if these are too many.
    """
    tree = _tree(strings)
    spelled, starts, ends = text.spelled, text.starts, text.ends
    counting, mentions = text.counting.bytes, mentioned.bytes
    past = reach = compared = 0
    for first in compress(range(len(spelled)), map(tree.__contains__, spelled) if tree else ()):
        start = starts[first]
        if first < past or mentions[start] or not counting[first]:
            continue
        if start >= reach:
            reach = mentions.find(1, start)
            reach = len(mentions) if reach < 0 else reach
        node, end, word, matched = tree, start, first, past
        while spelled[word] in node and ends[word] <= reach:
            node = node[spelled[word]]
            compared += 1
            if _END in node:
                matched, end = word + 1, ends[word]
                if node is _LAST:
                    break
            word = counting.find(1, word + 1)
            if word < 0:
                break
        if compared > MAX_MENTIONED:
            _require_short_mentions(compared, len(spelled), **place)
        if exposed.between(start, end):
            past = matched
            yield start, end


def find_in_replacements(
    masks: Masks,
    replacements: Iterable[tuple[int, int, str]],
    strings: Iterable[tuple[str, ...]],
    **place: Any,
) -> Iterator[FoundWords]:
    """Yield the replacements that show words of a mention, as `find_strings` finds them.

    Each of `replacements` has the positions that it stands for. Words that can be read at these are no string leak,
    since the mention there leaks.
    """
    spelled: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
    written = sorted(replacements)
    all_parts = {*parts_of_words(text for *_, text in written)}
    for string in strings:
        if all_parts.issuperset(parts := parts_of_words(string)):
            spelled.setdefault(parts, []).append(string)
    if not spelled:
        return
    separated = [" ".join(parts_of_words([text])) for *_, text in written]
    ends = [*accumulate(len(text) + 1 for text in separated)]
    text = masks.text.alike("\n".join(separated))
    borders = PositionWeights.at(((end - 1, end) for end in ends[:-1]), text.size)
    found: dict[int, list[tuple[str, ...]]] = {}
    for first, last in find_strings(text, spelled, borders, text.core, **place):
        found.setdefault(bisect_right(ends, first), []).append(text.strings_of(((first, last),)))
    for number, written_strings in found.items():
        start, end, replacement = written[number]
        readable = parts_of_words(
            masks.text.spelled[word]
            for word in masks.text.words_in(start, end)
            if masks.exposed.between(*masks.text.clipped(word, start, end))
        )
        others = [words for words in written_strings if not {*words} <= {*readable}]
        if leaked := [string for words in others for string in spelled[words]]:
            yield FoundWords(start, end, leaked, replacement)


def _tree(strings: Iterable[tuple[str, ...]]) -> _Words:
    """Return the tree of those strings that are long enough to be searched."""
    tree: _Words = {}
    for string in strings:
        joined = "".join(string)
        if len(joined) < (LEAST_DIGITS if joined.isdigit() else LEAST_CHARACTERS):
            continue
        node = tree
        for word in string[:-1]:
            if node.get(word, _LAST) is _LAST:
                node[word] = {_END: True} if word in node else {}
            node = node[word]
        if node.setdefault(string[-1], _LAST) is not _LAST:
            node[string[-1]][_END] = True
    return tree


def _require_short_mentions(words: int, of_document: int, **place: Any) -> None:
    """Raise `LimitError`, with its place, for mentions with too many words, given the words of their document."""
    most = max(MAX_MENTIONED, MENTIONED_OF_WORD * of_document)
    if words > most:
        raise LimitError(
            f"the mentions have together more than {most:,} words that must be compared",
            **place,
            advice="leave out spans that are nested or repeated",
        )
