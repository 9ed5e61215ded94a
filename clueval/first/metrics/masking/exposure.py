"""What is exposed of each mention of a document, and what stands in the place of the others.

`Examination` compares one gold document with the masked positions of the predicted one. Nothing is counted
here; `clueval.first.metrics.masking.counts` adds up, and reports and pages show single mentions.

String leaks are the words of a mention that stand elsewhere in the text, not masked and in no mention. The words must
be the same in upper and lower case. Strings of fewer than 4 characters, or of fewer than 5 digits, are too frequent to
mean the same thing and are not searched. Of several strings that begin at a word the longest one counts. Neither recall
nor precision knows string leaks.

The replacement of a mention is the placeholder of the predicted span that covers most of its characters (the
earliest of equals), or the label of that span where the predicted side has spans and no placeholders.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import compress
from operator import itemgetter
from typing import Any, NamedTuple

from clueval.core.ranges import intersect
from clueval.first.metrics.masking.mention import Mention
from clueval.first.metrics.masking.text import MaskedText
from clueval.first.metrics.masking.weights import PositionWeights, Range, Ranges, union_of
from clueval.spans.document import Document
from clueval.spans.limits import require_short_mentions
from clueval.spans.overlaps import sharing

REPLACEMENT, PARTS = "replacement", "parts"
"""The features of a predicted span that have the placeholder which stands in the redacted text, and those of its
parts."""


class Mask(NamedTuple):
    """A predicted span: its positions, its label or placeholder, and whether it is counted.

    `parts` has start, end and placeholder of each part, if it stands for several placeholders in a row.
    """

    ranges: Ranges
    label: str
    counted: bool
    parts: tuple[tuple[int, int, str], ...] = ()


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

    @property
    def is_protected(self) -> bool:
        return not self.exposed


@dataclass(frozen=True)
class Examination:
    """The mentions of one document by annotator, and its masks.

    `mentions` has the mentions of each annotator, also of one without any; the annotator of a sequence that is
    no view among several has the name of the sequence.
    """

    document: Document
    text: MaskedText
    mentions: Mapping[str, Sequence[Mention]]
    masks: Sequence[Mask]
    details: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def masked(self) -> PositionWeights:
        """Flags of the positions that are masked."""
        return PositionWeights.at(self.masked_ranges, self.text.size)

    @cached_property
    def masked_ranges(self) -> list[Range]:
        return union_of(one for mask in self.masks for one in mask.ranges)

    @cached_property
    def masked_characters(self) -> list[Range]:
        """The characters that are masked: between two tokens a blank is, if one mask has both."""
        if not self.text.in_tokens:
            return self.masked_ranges
        return union_of(self.text.place(*one) for mask in self.masks for one in mask.ranges)

    @cached_property
    def mentioned(self) -> PositionWeights:
        """Flags of the positions that are in a mention of any annotator."""
        every = (one for found in self.mentions.values() for mention in found for one in mention.ranges)
        return PositionWeights.at(every, self.text.size)

    @cached_property
    def exposed(self) -> PositionWeights:
        """What is neither ignorable nor masked, in the whole text."""
        return self.text.core - self.masked

    @cached_property
    def judged(self) -> Mapping[str, list[Judged]]:
        """The mentions of each annotator, compared with the masks."""
        return {name: [self._judge(mention) for mention in found] for name, found in self.mentions.items()}

    @cached_property
    def string_leaks(self) -> list[Range]:
        """The string leaks of the document, see `clueval.first.metrics.masking.exposure`."""
        strings = (mention.words for found in self.mentions.values() for mention in found)
        return find_strings(self.text, {*strings}, self.mentioned, self.exposed, self.document)

    def exposed_in(self, mention: Mention) -> list[Range]:
        """Return the exposed characters of a mention as ranges."""
        if self.text.core.within(mention.ranges):
            return self.exposed_characters(mention.ranges)
        return self.readable_characters(self.text.place(*one) for one in mention.ranges)

    def exposed_characters(self, ranges: Iterable[Range]) -> list[Range]:
        """Return the exposed characters of ranges of positions."""
        return [run for one in ranges for run in self.text.core_in(*one, self.exposed)]

    def readable_characters(self, places: Iterable[Range]) -> list[Range]:
        """Return those of ranges of characters that are not masked."""
        found: list[Range] = []
        for start, end in places:
            masked = intersect([(start, end)], self.masked_characters)
            cuts = [start, *(place for one in masked for place in one), end]
            found += [(one, other) for one, other in zip(cuts[::2], cuts[1::2], strict=True) if one < other]
        return found

    @cached_property
    def _readable(self) -> tuple[PositionWeights, PositionWeights]:
        """The number of characters that can be read of each position and the blank after it, and flags of blanks."""
        text, masked = self.text, self.masked
        if not text.in_tokens:
            return PositionWeights(b"\x01" * text.size) - masked, PositionWeights(bytes(text.size))
        sizes = PositionWeights(bytes(len(token) + 1 for token in text.spelled))
        inside = ((start, end - 1) for mask in self.masks for start, end in mask.ranges)
        blanks = PositionWeights(b"\x01" * text.size) - PositionWeights.at(inside, text.size)
        return (sizes - masked) | (blanks & masked), blanks

    def _readable_in(self, start: int, end: int) -> int:
        """Return the number of characters of a range that can be read."""
        sizes, blanks = self._readable
        return sizes.between(start, end) - blanks.between(end - 1, end) if start < end else 0

    def words_of(self, mention: Mention) -> Iterator[tuple[int, bool]]:
        """Yield the words of a mention that count, by number, and whether they are exposed in it."""
        found: dict[int, bool] = {}
        for start, end in mention.ranges:
            for word in self.text.words_in(start, end):
                part = self.text.clipped(word, start, end)
                if self._counts(word, part):
                    is_exposed = not mention.harmless and bool(self.exposed.between(*part))
                    found[word] = found.get(word, False) or is_exposed
        yield from found.items()

    def _counts(self, word: int, part: Range) -> bool:
        """Return whether a part of a word has a letter or digit that is not ignorable."""
        text = self.text
        return bool(text.counting.bytes[word]) and bool(
            text.letters.between(*part) and text.core.between(*part)
        )

    def _judge(self, mention: Mention) -> Judged:
        ranges = mention.ranges
        if self.text.in_tokens and len(ranges) == 1:  # words are positions, of which none is clipped
            characters, words = self.text.core.numbers(*ranges[0])
            exposed, words_exposed = self.exposed.numbers(*ranges[0])
        else:
            characters, exposed = self.text.core.within(ranges), self.exposed.within(ranges)
            found = [is_exposed for _, is_exposed in self.words_of(mention)]
            words, words_exposed = len(found), sum(found)
        if not characters:
            characters = sum([self.text.length(*one) for one in ranges])
            exposed = sum([self._readable_in(*one) for one in ranges])
        if mention.harmless:
            exposed = words_exposed = 0
        return Judged(mention, characters, exposed, words, words_exposed)


LEAST_CHARACTERS = 4
LEAST_DIGITS = 5


def find_strings(
    text: MaskedText,
    strings: Collection[tuple[str, ...]],
    mentioned: PositionWeights,
    exposed: PositionWeights,
    document: Document,
) -> list[Range]:
    """Return where the words of mentions stand outside mentions and are not wholly masked, by position.

    `mentioned` are the positions in mentions, `exposed` what is neither ignorable nor masked. Of several strings at a
    place, the longest counts. Costs O(n) for n words, times the number of words that a string and a place have in
    common. Raises `LimitError` if these are too many.
    """
    tree: _Words = {}
    for words in filter(is_searched, strings):
        node = tree
        for word in words:
            node = node.setdefault(word, {})
        node[_END] = {}
    return [*_found(text, tree, mentioned, exposed, document)] if tree else []


_Words = dict[str | None, "_Words"]
"""The strings that begin with the same words, by the next word; `_END` if there is one that ends here."""

_END = None


def is_searched(words: Sequence[str]) -> bool:
    """Return whether words are long enough to be searched elsewhere."""
    joined = words[0] if len(words) == 1 else "".join(words)
    return len(joined) >= (LEAST_DIGITS if joined.isdigit() else LEAST_CHARACTERS)


def _found(
    text: MaskedText,
    tree: _Words,
    mentioned: PositionWeights,
    exposed: PositionWeights,
    document: Document,
) -> Iterator[Range]:
    (words, numbers), starts, ends = text.counted, text.starts, text.ends
    mentions = mentioned.bytes
    past = reach = compared = 0
    for first in compress(range(len(words)), map(tree.__contains__, words)):
        start = starts[numbers[first]]
        if first < past or mentions[start]:
            continue
        if start >= reach:
            reach = mentions.find(1, start)
            reach = len(mentions) if reach < 0 else reach
        node, end = tree, start
        for place in range(first, len(words)):
            if words[place] not in node or ends[numbers[place]] > reach:
                break
            node = node[words[place]]
            compared += 1
            if _END in node:
                past, end = place + 1, ends[numbers[place]]
        require_short_mentions(compared, len(text.spelled), document)
        if exposed.between(start, end):
            yield start, end


# Replacements


def masks_on(
    mentions: Sequence[Mention], masks: Sequence[Mask], length: Callable[[int, int], int]
) -> Iterator[Mask | None]:
    """Yield for each mention the mask with most of its characters, the earliest of equals.

    `length` is the number of characters of a range of positions. Raises `LimitError` if too many masks lie on mentions,
    gaps of discontinuous ones included.
    """
    for mention, near in zip(mentions, masks_near([one.ranges for one in mentions], masks), strict=True):
        best, most = None, 0
        for mask in near:
            shared = sum([length(*one) for one in intersect(mask.ranges, mention.ranges)])
            if shared > most:
                best, most = mask, shared
        yield best


def masks_near(places: Sequence[Ranges], masks: Sequence[Mask]) -> Iterator[list[Mask]]:
    """Yield for each of some ranges the masks on them or in their gaps, by position and label.

    Raises `LimitError` if these are too many.
    """
    ordered = sorted(masks, key=itemgetter(0, 1))
    hulls = [_Hull.of(mask.ranges) for mask in ordered]
    for numbers in sharing(list(map(_Hull.of, places)), hulls):
        yield [ordered[number] for number in numbers]


def _label(mask: Mask, mention: Mention) -> str:
    """Return what stands for a mention in a mask: the parts of it that share a character, if there are several."""
    parts = [label for start, end, label in mask.parts if intersect(((start, end),), mention.ranges)]
    return " ".join(parts) or mask.label


def replacements_of(examination: Examination) -> Iterator[tuple[str, Judged, str]]:
    """Yield every protected mention that is counted, with its annotator and its replacement."""
    for name, found in examination.judged.items():
        protected = [one for one in found if not one.exposed and one.mention.counted]
        masks = masks_on([one.mention for one in protected], examination.masks, examination.text.length)
        for one, mask in zip(protected, masks, strict=True):
            if mask is not None:
                yield name, one, _label(mask, one.mention) if mask.parts else mask.label


def consistency_of(examination: Examination) -> Mapping[str, int]:
    """Return the numbers of entities with several protected mentions, of those with several replacements among
    them, and of replacements that several entities share."""
    rows: dict[str, list[tuple[int, str]]] = {name: [] for name in examination.judged}
    for name, one, replacement in replacements_of(examination):
        rows[name].append((one.mention.entity, replacement))
    found: Counter[str] = Counter()
    for pairs in rows.values():
        different = {*pairs}
        for what, values in (
            ("entities", [entity for entity, _ in pairs]),
            ("several", [entity for entity, _ in different]),
            ("shared", [replacement for _, replacement in different]),
        ):
            found[what] += sum([number > 1 for number in Counter(values).values()])
    return found


class _Hull(NamedTuple):
    """Ranges without their gaps, as `sharing` takes them."""

    fragments: Ranges

    @classmethod
    def of(cls, ranges: Ranges) -> _Hull:
        return cls(((ranges[0][0], ranges[-1][1]),))
