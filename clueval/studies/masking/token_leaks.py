"""What a report lists of documents that were counted by sums over their tokens.

The lists are those of `clueval.studies.masking.examined`, which is the plain way. Only the characters of leaks are
looked at.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import accumulate, compress, islice, pairwise

from clueval.metrics.masking.flags import Range
from clueval.metrics.masking.token_counts import TokenCounts
from clueval.metrics.masking.token_spans import TokenMentions
from clueval.metrics.masking.token_text import TokenText
from clueval.studies.masking.excerpt import Excerpt, clipped, in_one_line, windows_of
from clueval.studies.masking.leak import MOST_SIBLINGS, Inconsistent, Leak, Sibling, StringLeak

_LETTERS = re.compile(r"[^\W_]+")


class TokenPlaces:
    """Tokens as characters of one text, in which tokens are joined by blanks; a border is no token."""

    def __init__(self, text: TokenText) -> None:
        lengths = list(map(len, text.tokens))
        tokens: Sequence[str] | Iterator[str] = text.tokens
        if text.borders:
            are_tokens = bytearray(b"\x01") * len(lengths)
            for border in text.borders:
                lengths[border], are_tokens[border] = -1, 0
            tokens = compress(text.tokens, are_tokens)
        self._before = array("q", accumulate(lengths, initial=0))
        self.text = " ".join(tokens)

    def start(self, token: int) -> int:
        """Return where a token begins."""
        return self._before[token] + token

    def range(self, start: int, end: int) -> Range:
        """Return the characters of a run of tokens that ends with a token."""
        return self._before[start] + start, self._before[end] + end - 1


class TokenLeaks:
    """Lists what is found in the documents of `counts`, whose ids are `ids`; `places` are those of their tokens."""

    def __init__(self, counts: TokenCounts, places: TokenPlaces, ids: Sequence[str]) -> None:
        self._counts, self._places, self._ids = counts, places, ids
        ends = counts.text.ends
        self._firsts = [0, *ends[:-1]]
        self._begins = [places.start(first) for first in self._firsts]
        self._stops = [
            max(begin, places.start(end) - 1) for begin, end in zip(self._begins, ends, strict=True)
        ]

    @cached_property
    def _masks(self) -> tuple[list[int], list[int]]:
        """The starts and the ends of the masks in characters."""
        masks, places = self._counts.masks, self._places
        found = [places.range(start, end) for start, end in zip(masks.starts, masks.ends, strict=True)]
        return [start for start, _ in found], [end for _, end in found]

    def leaks(self) -> Iterator[Leak]:
        """Yield the leaks by annotator, document and position."""
        for annotator, found in self._counts.views.items():
            left = [characters for _, characters in self._counts.exposed[annotator]]
            for number, mentions in self._by_document(found):
                if any(map(left.__getitem__, mentions)):
                    yield from self._in_document(number, annotator, found, left, mentions)

    def _by_document(self, found: TokenMentions) -> Iterator[tuple[int, Sequence[int]]]:
        """Yield the mentions of each document that are counted, by number."""
        cuts = [
            0,
            *(bisect_left(found.starts, end) for end in self._counts.text.ends[:-1]),
            len(found.starts),
        ]
        for number, (first, past) in enumerate(pairwise(cuts)):
            mentions = list(compress(range(first, past), found.counted[first:past]))
            yield number, sorted(mentions, key=lambda one: (found.starts[one], found.ends[one]))

    def _in_document(
        self,
        number: int,
        annotator: str,
        found: TokenMentions,
        left: Sequence[int],
        mentions: Sequence[int],
    ) -> Iterator[Leak]:
        """Yield the leaks of a document; `left` are the exposed characters of each mention."""
        leaking = [mention for mention in mentions if left[mention]]
        kept = [mention for mention in mentions if not left[mention]]
        entities, words = found.entities, found.words
        members: dict[int, list[int]] = {entities[mention]: [] for mention in leaking}
        for mention in mentions:
            if entities[mention] in members:
                members[entities[mention]].append(mention)
        protected = Counter(map(entities.__getitem__, kept))
        same, same_protected = (
            Counter(map(words.__getitem__, mentions)),
            Counter(map(words.__getitem__, kept)),
        )
        siblings: dict[int, Sibling] = {}
        begin = self._begins[number]
        for mention in leaking:
            start, end = self._places.range(found.starts[mention], found.ends[mention])
            of_entity = members[entities[mention]]
            others = islice((other for other in of_entity if other != mention), MOST_SIBLINGS)
            exposed = self._exposed(found.starts[mention], found.ends[mention], begin)
            kind, label = found.groups[mention]
            yield Leak(
                self._ids[number],
                annotator,
                start - begin,
                end - begin,
                kind,
                self._status(found, left, mention),
                exposed,
                len(of_entity),
                protected[entities[mention]],
                same[words[mention]],
                same_protected[words[mention]],
                left[mention],
                label,
                self._places.text[start:end],
                self._excerpt(number, (start, end), exposed),
                tuple(self._sibling(siblings, number, found, left, other) for other in others),
            )

    def _status(self, found: TokenMentions, left: Sequence[int], mention: int) -> str:
        if not left[mention]:
            return "protected"
        whole = self._counts.text.characters_in(found.starts[mention], found.ends[mention])
        return "missed" if left[mention] == whole else "partial"

    def _sibling(
        self,
        known: dict[int, Sibling],
        number: int,
        found: TokenMentions,
        left: Sequence[int],
        mention: int,
    ) -> Sibling:
        if mention not in known:
            tokens, begin = (found.starts[mention], found.ends[mention]), self._begins[number]
            own = self._places.range(*tokens)
            exposed = self._exposed(*tokens, begin) if left[mention] else self._readable(own, begin)
            excerpt = self._excerpt(number, own, exposed)
            status = self._status(found, left, mention)
            known[mention] = Sibling(own[0] - begin, own[1] - begin, status, excerpt)
        return known[mention]

    def _exposed(self, start: int, end: int, begin: int) -> tuple[Range, ...]:
        """Return the exposed characters of a run of tokens, counted from `begin`."""
        text, masked, found = self._counts.text, self._counts.masked, []
        for number in range(start, end):
            if text.core[number] and not masked[number]:
                first, token = self._places.start(number) - begin, text.tokens[number]
                if len(token) == text.letters[number]:
                    found.append((first, first + len(token)))
                else:
                    found += [(first + one.start(), first + one.end()) for one in _LETTERS.finditer(token)]
        return tuple(found)

    def _readable(self, own: Range, begin: int) -> tuple[Range, ...]:
        """Return the characters of a range that are not masked, counted from `begin`."""
        cuts = [own[0], *(place for one in self._masked_in(own) for place in one), own[1]]
        pairs = zip(cuts[::2], cuts[1::2], strict=True)
        return tuple((start - begin, end - begin) for start, end in pairs if start < end)

    def _masked_in(self, window: Range) -> list[Range]:
        starts, ends = self._masks
        places = slice(bisect_right(ends, window[0]), bisect_left(starts, window[1]))
        return clipped(zip(starts[places], ends[places], strict=True), window)

    def _excerpt(self, number: int, own: Range, exposed: tuple[Range, ...]) -> Excerpt:
        """Return the text around a range; `exposed` counts from the begin of the document."""
        text, begin, stop = self._places.text, self._begins[number], self._stops[number]
        windows = windows_of(text, own, (begin, stop))
        masked = tuple((start - begin, end - begin) for one in windows for start, end in self._masked_in(one))
        if len(windows) > 1:
            shown = [(max(own[0], first) - begin, min(own[1], last) - begin) for first, last in windows]
            exposed = tuple(one for window in shown for one in clipped(exposed, window))
        return Excerpt(
            tuple((first - begin, text[first:last]) for first, last in windows),
            masked,
            exposed,
            (windows[0][0] > begin, windows[-1][1] < stop),
        )

    def string_leaks(self) -> Iterator[tuple[int, StringLeak]]:
        """Yield the string leaks by position, with the numbers of their documents."""
        number, ends = 0, self._counts.text.ends
        for start, end in self._counts.string_leaks:
            while ends[number] <= start:
                number += 1
            own, begin = self._places.range(start, end), self._begins[number]
            exposed = self._exposed(start, end, begin)
            yield (
                number,
                StringLeak(
                    self._ids[number],
                    own[0] - begin,
                    own[1] - begin,
                    self._places.text[own[0] : own[1]],
                    self._excerpt(number, own, exposed),
                ),
            )

    def needless(self) -> Iterator[str]:
        """Yield the texts of the masks that have no character of a mention."""
        masks, find = self._counts.masks, self._counts.mentioned.find
        for start, end, counted in zip(masks.starts, masks.ends, masks.counted, strict=True):
            if counted and find(1, start, end) < 0:
                first, last = self._places.range(start, end)
                yield in_one_line(self._places.text[first:last])

    def inconsistent(self) -> Iterator[Inconsistent]:
        """Yield the entities that have several replacements in one document."""
        for annotator, found in self._counts.views.items():
            left = [characters for _, characters in self._counts.exposed[annotator]]
            for number, mentions in self._by_document(found):
                yield from self._of_several(number, found, [one for one in mentions if not left[one]])

    def _of_several(self, number: int, found: TokenMentions, kept: Sequence[int]) -> Iterator[Inconsistent]:
        """Yield the entities of a document with several replacements, given its protected mentions."""
        first: dict[int, int] = {}
        different: dict[int, set[str]] = {}
        for mention in kept:
            entity = found.entities[mention]
            replacement = self._counts.replacement(found.starts[mention], found.ends[mention])
            first.setdefault(entity, mention)
            different.setdefault(entity, set()).add(replacement)
        for entity, replacements in different.items():
            if len(replacements) > 1:
                mention, begin = first[entity], self._begins[number]
                start, end = self._places.range(found.starts[mention], found.ends[mention])
                text = self._places.text[start:end]
                yield Inconsistent(self._ids[number], start - begin, text, tuple(sorted(replacements)))
