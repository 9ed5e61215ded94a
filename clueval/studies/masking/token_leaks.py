"""What a report lists of documents that were counted by sums over their tokens.

The lists are those of `clueval.studies.masking.examined`, which is the plain way. Only the characters of leaks are
looked at.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import compress, islice, pairwise
from sys import intern

from clueval.metrics.masking.token_counts import TokenCounts
from clueval.metrics.masking.token_spans import TokenMentions
from clueval.studies.masking.excerpt import NO_EXCERPT, in_one_line
from clueval.studies.masking.first_places import ShownLeaks
from clueval.studies.masking.leak import MOST_SIBLINGS, Inconsistent, Leak, Sibling, order_of
from clueval.studies.masking.string_leak_list import DocumentStrings
from clueval.studies.masking.token_places import MaskedPlaces, TokenPlaces


class TokenLeaks:
    """Lists what is found in the documents of `counts`, whose ids are `ids`; `places` are those of their tokens."""

    def __init__(
        self, counts: TokenCounts, places: TokenPlaces, ids: Sequence[str], shown: ShownLeaks
    ) -> None:
        self._counts, self._places, self._ids, self._shown = counts, places, ids, shown

    @cached_property
    def _masked(self) -> MaskedPlaces:
        return MaskedPlaces(self._counts, self._places)

    def leaks(self) -> Iterator[Leak]:
        """Yield the leaks by annotator, document and position."""
        for annotator, found in self._counts.views.items():
            left = [characters for _, characters in self._counts.exposed[annotator]]
            for number, (first, past) in enumerate(pairwise(self._counts.cuts(found))):
                if any(left[first:past]):
                    mentions = self._counted(found, first, past)
                    of_document = _DocumentLeaks(self._counts, self._masked, number, found, left, mentions)
                    yield from of_document.leaks(self._ids[number], annotator, self._shown)

    def _counted(self, found: TokenMentions, first: int, past: int) -> list[int]:
        """Return the numbers of the mentions of a document that are counted, by position."""
        mentions = compress(range(first, past), found.counted[first:past])
        return sorted(mentions, key=lambda one: (found.starts[one], found.ends[one]))

    def string_leaks(self) -> Iterator[tuple[int, DocumentStrings]]:
        """Yield the string leaks of each document that has some, with its number."""
        starts, ends = self._counts.string_leaks
        cuts = [0, *(bisect_left(starts, end) for end in self._counts.text.ends)]
        for number, (first, past) in enumerate(pairwise(cuts)):
            if first < past:
                yield number, self._strings_of(number, starts[first:past], ends[first:past])

    def _strings_of(self, number: int, starts: array[int], ends: array[int]) -> DocumentStrings:
        document, begin, text = self._ids[number], self._masked.begins[number], self._places.text
        firsts, lasts = self._places.ranges(starts, ends)
        texts = [intern(text[first:last]) for first, last in zip(firsts, lasts, strict=True)]
        found = DocumentStrings(
            document,
            array("q", (place - begin for place in firsts)),
            array("q", (place - begin for place in lasts)),
            texts,
        )
        for leak, (start, end) in enumerate(zip(found.starts, found.ends, strict=True)):
            if not self._shown.has_string(document, start, end):
                break  # nor are those after it
            exposed = self._masked.exposed(number, starts[leak], ends[leak])
            found.excerpts[leak] = self._masked.excerpt(number, (firsts[leak], lasts[leak]), exposed)
        return found

    def needless(self) -> Iterator[str]:
        """Yield the texts of the masks that have no character of a mention."""
        masks, find = self._counts.masks, self._counts.mentioned.find
        for start, end, counted in zip(masks.starts, masks.ends, masks.counted, strict=True):
            if counted and find(1, start, end) < 0:
                first, last = self._places.range(start, end)
                yield in_one_line(self._places.text[first:last])

    def inconsistent(self) -> Iterator[Inconsistent]:
        """Yield the entities that have several replacements in one document."""
        for annotator, number in self._counts.several:
            found, exposed = self._counts.views[annotator], self._counts.exposed[annotator]
            first, past = self._counts.cuts(found)[number : number + 2]
            kept = [one for one in self._counted(found, first, past) if not exposed[one][1]]
            yield from self._of_several(number, found, kept)

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
                mention, begin = first[entity], self._masked.begins[number]
                start, end = self._places.range(found.starts[mention], found.ends[mention])
                text = self._places.text[start:end]
                yield Inconsistent(self._ids[number], start - begin, text, tuple(sorted(replacements)))


class _DocumentLeaks:
    """Lists the leaks of one annotator in the document with this number, whose mentions are given by number.

    `left` are the exposed characters of each mention.
    """

    def __init__(
        self,
        counts: TokenCounts,
        masked: MaskedPlaces,
        number: int,
        found: TokenMentions,
        left: Sequence[int],
        mentions: Sequence[int],
    ) -> None:
        self._text, self._masked, self._number = counts.text, masked, number
        self._found, self._left, self._mentions = found, left, mentions
        self._siblings: dict[int, Sibling] = {}

    def leaks(self, document: str, annotator: str, shown: ShownLeaks) -> Iterator[Leak]:
        """Yield the leaks by position."""
        found, left, begin = self._found, self._left, self._masked.begins[self._number]
        leaking = [mention for mention in self._mentions if left[mention]]
        kept = [mention for mention in self._mentions if not left[mention]]
        members = self._members({found.entities[mention] for mention in leaking})
        protected = Counter(map(found.entities.__getitem__, kept))
        same = Counter(map(found.words.__getitem__, self._mentions))
        same_protected = Counter(map(found.words.__getitem__, kept))
        for mention in leaking:
            own = start, end = self._masked.places.range(found.starts[mention], found.ends[mention])
            exposed = self._masked.exposed(self._number, found.starts[mention], found.ends[mention])
            entity, words, kind = found.entities[mention], found.words[mention], found.groups[mention][0]
            place = document, start - begin, end - begin, annotator
            is_shown = shown.has_leak(order_of(shown.risk(kind), protected[entity], left[mention], place))
            yield Leak(
                document,
                annotator,
                start - begin,
                end - begin,
                kind,
                self._status(mention),
                tuple(exposed),
                len(members[entity]),
                protected[entity],
                same[words],
                same_protected[words],
                left[mention],
                found.groups[mention][1],
                self._masked.places.text[start:end],
                self._masked.excerpt(self._number, own, exposed) if is_shown else NO_EXCERPT,
                self._others(members[entity], mention) if is_shown else (),
            )

    def _members(self, entities: set[int]) -> dict[int, list[int]]:
        """Return the mentions of each of these entities."""
        members: dict[int, list[int]] = {entity: [] for entity in entities}
        for mention in self._mentions:
            if self._found.entities[mention] in members:
                members[self._found.entities[mention]].append(mention)
        return members

    def _others(self, members: Sequence[int], mention: int) -> tuple[Sibling, ...]:
        """Return the first of the other mentions of an entity."""
        others = islice((other for other in members if other != mention), MOST_SIBLINGS)
        return tuple([self._siblings.get(other) or self._sibling(other) for other in others])

    def _sibling(self, mention: int) -> Sibling:
        masked, number, begin = self._masked, self._number, self._masked.begins[self._number]
        tokens = self._found.starts[mention], self._found.ends[mention]
        own = masked.places.range(*tokens)
        exposed = masked.exposed(number, *tokens) if self._left[mention] else masked.readable(number, own)
        excerpt = masked.excerpt(number, own, exposed)
        sibling = Sibling(own[0] - begin, own[1] - begin, self._status(mention), excerpt)
        self._siblings[mention] = sibling
        return sibling

    def _status(self, mention: int) -> str:
        if not self._left[mention]:
            return "protected"
        _, whole = self._text.size_of(self._found.starts[mention], self._found.ends[mention])
        return "missed" if self._left[mention] == whole else "partial"
