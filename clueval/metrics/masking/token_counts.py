"""The counts of a document whose spans are runs of tokens, made from a few numbers for each token.

A token is masked as a whole or not at all, so sums over tokens take the place of flags of characters. The counts
are those of `clueval.metrics.masking.counts`, which is the plain way and counts all other documents: texts without
tokens, spans with gaps, predicted spans that overlap, long mentions, mentions without a letter or digit.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import compress
from typing import NamedTuple

from clueval.metrics.counting import Tally
from clueval.metrics.masking.counts import MENTION_FIELDS
from clueval.metrics.masking.flags import Flags
from clueval.metrics.masking.masked_words import Surface
from clueval.metrics.masking.mention import Risk
from clueval.metrics.masking.strings import is_searched
from clueval.metrics.masking.token_text import TokenText


class TokenMask(NamedTuple):
    """A predicted span as tokens of its document (half-open), its label, and whether it is counted."""

    start: int
    end: int
    label: str
    counted: bool


class TokenMention(NamedTuple):
    """A mention as tokens of its document (half-open), with its words; `has_id`: the annotation names its entity."""

    start: int
    end: int
    kind: str
    label: str
    entity: Surface
    has_id: bool
    words: tuple[str, ...]
    counted: bool


class JudgedTokens(NamedTuple):
    """A mention with its words and characters, and with those of them that are exposed."""

    mention: TokenMention
    words: int
    words_exposed: int
    characters: int
    exposed: int


class TokenCounts:
    """Counts one document: `masks` are by position and do not overlap, `views` are the mentions by annotator."""

    def __init__(
        self,
        text: TokenText,
        masks: Sequence[TokenMask],
        views: Mapping[str, Sequence[TokenMention]],
        risk: Risk,
    ) -> None:
        self._text, self._masks, self._risk = text, masks, risk
        self._views = views
        self._masked = self._flags(masks)
        self._mentioned = self._flags(mention for found in views.values() for mention in found)
        self._judged = {name: [*map(self._judge, found)] for name, found in views.items()}

    def tally(self) -> Tally:
        """Return the counts, as `clueval.metrics.masking.counts.count` does."""
        tally: Tally = Tally()
        for found in self._judged.values():
            counted = [one for one in found if one.mention.counted]
            self._add_mentions(tally, counted)
            self._add_entities(tally, counted)
        self._add_documents(tally)
        self._add_precision(tally)
        self._add_replacements(tally)
        tally["string_leaks", "all"] += len(self._string_leaks())
        return +tally

    def _flags(self, ranges: Iterable[TokenMask | TokenMention]) -> bytes:
        return Flags.at(((one.start, one.end) for one in ranges), len(self._text.tokens)).bytes

    def _judge(self, mention: TokenMention) -> JudgedTokens:
        start, end = mention.start, mention.end
        words = len(mention.words)
        characters = self._text.core[start] if end - start == 1 else sum(self._text.core[start:end])
        if self._masked.find(0, start, end) < 0:
            return JudgedTokens(mention, words, 0, characters, 0)
        core, masked = self._text.core[start:end], self._masked[start:end]
        left = [number for number, is_masked in zip(core, masked, strict=True) if number and not is_masked]
        return JudgedTokens(mention, words, len(left), characters, sum(left))

    def _add_mentions(self, tally: Tally, found: Iterable[JudgedTokens]) -> None:
        sums: dict[tuple[str, str], list[int]] = {}
        ids = 0
        for mention, words, words_exposed, characters, exposed in found:
            numbers = sums.get((mention.kind, mention.label))
            if numbers is None:
                numbers = sums[mention.kind, mention.label] = [0] * len(MENTION_FIELDS)
            numbers[0] += 1
            numbers[1 if not exposed else 3 if exposed == characters else 2] += 1
            numbers[4] += words
            numbers[5] += words_exposed
            numbers[6] += characters
            numbers[7] += exposed
            ids += mention.has_id
        every = 0
        for (kind, label), numbers in sums.items():
            every += numbers[0]
            for row in (("all", ""), ("class", kind), ("label", label)):
                for field, number in zip(MENTION_FIELDS, numbers, strict=True):
                    tally[*row, field] += number
        tally["entities", "by id"] += ids
        tally["entities", "by surface"] += every - ids

    def _add_entities(self, tally: Tally, found: Iterable[JudgedTokens]) -> None:
        entities: dict[Surface, list[JudgedTokens]] = {}
        for one in found:
            entities.setdefault(one.mention.entity, []).append(one)
        numbers: Counter[tuple[str, str]] = Counter()
        for members in entities.values():
            kind, exposed = members[0].mention.kind, sum(bool(one.exposed) for one in members)
            if len(members) > 1:
                kind = min((one.mention.kind for one in members), key=self._risk)
            status = (
                "" if exposed == len(members) else "entities_in_part" if exposed else "entities_protected"
            )
            numbers[kind, status] += 1
        for (kind, status), number in numbers.items():
            for row in (("all", ""), ("class", kind)):
                tally[*row, "entities"] += number
                if status:
                    tally[*row, status] += number

    def _add_documents(self, tally: Tally) -> None:
        found = [one for of in self._judged.values() for one in of if one.mention.counted]
        kinds = {one.mention.kind for one in found}
        exposed = {one.mention.kind for one in found if one.exposed}
        for row, is_in, is_exposed in (
            (("all", ""), bool(kinds), bool(exposed)),
            *((("class", kind), True, kind in exposed) for kind in kinds),
        ):
            tally[*row, "documents"] += is_in
            tally[*row, "documents_exposed"] += is_exposed

    def _add_precision(self, tally: Tally) -> None:
        text, mentioned = self._text, self._mentioned
        every = sum(text.letters)
        masked, inside, words, right = self._within_masks(mentioned)
        for field, number in (
            ("letters", every),
            ("letters_masked", masked),
            ("letters_outside", every - text.letters_in(mentioned)),
            ("characters_over_masked", masked - inside),
            ("masks", sum(mask.counted for mask in self._masks)),
            ("masks_needless", sum(mask.counted and not self._is_needed(mask) for mask in self._masks)),
        ):
            tally["precision", field] += number
        for found in self._views.values():
            if len(self._views) > 1:
                _, _, _, right = self._within_masks(self._flags(found))
            tally["precision", "words"] += words
            tally["precision", "words_right"] += right

    def _within_masks(self, mentioned: bytes) -> tuple[int, int, int, int]:
        """Return the masked letters and digits, those of them in mentions, the masked words, and those in mentions."""
        letters = inside = words = right = 0
        for start, end, _, _ in self._masks:
            masked = [number for number in self._text.letters[start:end] if number]
            letters += sum(masked)
            words += len(masked)
            if mentioned.find(0, start, end) >= 0:
                masked = [n for n in compress(self._text.letters[start:end], mentioned[start:end]) if n]
            inside += sum(masked)
            right += len(masked)
        return letters, inside, words, right

    def _is_needed(self, mask: TokenMask) -> bool:
        return self._mentioned.find(1, mask.start, mask.end) >= 0

    def _add_replacements(self, tally: Tally) -> None:
        """Add how consistent replacements are, as `clueval.metrics.masking.replacements.consistency_of` does."""
        for found in self._judged.values():
            by_entity: dict[Surface, list[str]] = {}
            owners: dict[str, set[Surface]] = {}
            for one in found:
                if not one.exposed and one.mention.counted:
                    replacement = self._replacement(one.mention)
                    by_entity.setdefault(one.mention.entity, []).append(replacement)
                    owners.setdefault(replacement, set()).add(one.mention.entity)
            repeated = [labels for labels in by_entity.values() if len(labels) > 1]
            tally["replacements", "entities"] += len(repeated)
            tally["replacements", "several"] += sum(len(set(labels)) > 1 for labels in repeated)
            tally["replacements", "shared"] += sum(len(entities) > 1 for entities in owners.values())

    def _replacement(self, mention: TokenMention) -> str:
        """Return the label of the mask with most characters of a protected mention, the earliest of equals."""
        first = bisect_right(self._mask_ends, mention.start)
        best = self._masks[first]
        if best.end < mention.end:
            past = first + 1
            while past < len(self._masks) and self._masks[past].start < mention.end:
                past += 1
            best = max(self._masks[first:past], key=lambda mask: self._shared(mask, mention))
        return best.label

    @cached_property
    def _mask_ends(self) -> list[int]:
        return [mask.end for mask in self._masks]

    def _shared(self, mask: TokenMask, mention: TokenMention) -> int:
        return self._text.length(max(mask.start, mention.start), min(mask.end, mention.end))

    def _string_leaks(self) -> list[int]:
        """Return where string leaks begin, see `clueval.metrics.masking.strings`."""
        every = {mention.words for found in self._views.values() for mention in found}
        strings: dict[str, dict[int, set[tuple[str, ...]]]] = {}
        for words in sorted(filter(is_searched, every), key=len, reverse=True):
            strings.setdefault(words[0], {}).setdefault(len(words), set()).add(words)
        if not strings:
            return []
        tokens = self._text.tokens
        places = list(compress(range(len(tokens)), self._text.core))
        spelled = list(compress(tokens, self._text.core))
        begins = [
            number
            for number, word in enumerate(spelled)
            if word in strings and not self._mentioned[places[number]]
        ]
        return list(self._found(strings, begins, places, spelled))

    def _found(
        self,
        strings: Mapping[str, Mapping[int, set[tuple[str, ...]]]],
        begins: Iterable[int],
        places: Sequence[int],
        spelled: Sequence[str],
    ) -> Iterator[int]:
        past = 0
        for number in begins:
            if number < past:
                continue
            for length, keys in strings[spelled[number]].items():
                if number + length > len(places):
                    continue
                start, end = places[number], places[number + length - 1] + 1
                if (
                    tuple(spelled[number : number + length]) in keys
                    and self._mentioned.find(1, start, end) < 0
                ):
                    past = number + length
                    if not all(compress(self._masked[start:end], self._text.core[start:end])):
                        yield start
                    break
