"""Sentences as places: a text is cut at the ends of sentences that no span of any side and layer crosses.

What metrics count in the parts adds up to what they count in the whole, because no case reaches over a cut. A part of a
document is a document.
"""

from __future__ import annotations

import sys
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Any, NamedTuple

from clueval.core.case import Keys
from clueval.core.document import Document, Pair, Text
from clueval.core.span import NOTHING, Span


class TextPart(NamedTuple):
    """A part of a text: the number, from 1, of its first sentence, its number of positions, and what starts in it.

    Spans belong to it that start at `start` or later and before `stop`: all of them, if there is one part.
    """

    number: int
    positions: int
    start: int = 0
    stop: int = sys.maxsize


class TextParts(list[TextPart]):
    """The parts of a text, given its pairs; one part if there are no sentences, or no text.

    Finding them costs O(n log n) for n spans and sentences.
    """

    def __init__(self, texts: Sequence[Text]) -> None:
        super().__init__(_parts_of(texts))

    def at(self, position: int) -> TextPart:
        """Return the part to which what starts at a position belongs."""
        return self[bisect_right(self, position, key=_start) - 1]

    def cut_keys(self, by_sequence: Sequence[Keys]) -> Iterator[list[Keys]]:
        """Yield the keys of each part, by sequence."""
        for _, _, start, stop in self:
            cut = []
            for sequence, keys, ranges, others in by_sequence:
                first, past = bisect_left(ranges, (start,)), bisect_left(ranges, (stop,))
                low, high = bisect_left(others, start), bisect_left(others, stop)
                cut.append(Keys(sequence, keys[first:past], ranges[first:past], others[low:high]))
            yield cut

    def cut_pair(self, pair: Pair) -> Iterator[Pair]:
        """Yield the part of a pair in each part."""
        for gold, predicted in zip(*map(self._cut, pair.sides), strict=True):
            yield replace(pair, gold=gold, predicted=predicted)

    def _cut(self, document: Document) -> Iterator[Document]:
        """Yield the part of a document in each part, without sentences."""
        layers: list[dict[str, list[Span]]] = [{name: [] for name in document.layers} for _ in self]
        for name, spans in document.layers.items():
            for span in spans:
                layers[bisect_right(self, span.start, key=_start) - 1][name].append(span)
        for part, of_part in zip(self, layers, strict=True):
            first, past = max(0, part.start - document.start), part.stop - document.start
            changes: dict[str, Any] = dict.fromkeys(("text", "tokens", "token_ids", "lines"))
            changes["tags"] = NOTHING
            if document.unit == "character":
                changes["text"] = None if document.text is None else document.text[first:past]
            else:
                changes["tags"] = {name: tags[first:past] for name, tags in document.tags.items()}
                for name in ("tokens", "token_ids", "lines"):
                    values = getattr(document, name)
                    changes[name] = None if values is None else values[first:past]
            yield replace(document, layers=of_part, start=document.start + first, sentences=(), **changes)


_start = attrgetter("start")


def _parts_of(texts: Sequence[Text]) -> list[TextPart]:
    sides = [side for text in texts if not text.beside for side in text.sides if side is not None]
    first = next((side for side in sides if side.end is not None), None)
    if first is None or first.end is None:
        return [TextPart(1, 0)]
    ends = [sentence.end for sentence in first.sentences]
    ranges = sorted(_ranges(sides))
    cuts, reach, number = [first.start], 0, 0
    for end in sorted({end for end in ends if first.start < end < first.end}):
        while number < len(ranges) and ranges[number][0] < end:
            reach = max(reach, ranges[number][1])
            number += 1
        if reach <= end:  # no range crosses this end
            cuts.append(end)
    parts = [
        TextPart(bisect_left(ends, cut + 1) + 1, stop - cut, cut, stop)
        for cut, stop in zip(cuts, [*cuts[1:], first.end], strict=True)
    ]
    parts[0] = parts[0]._replace(start=0)
    parts[-1] = parts[-1]._replace(stop=sys.maxsize)
    return parts


def _ranges(documents: Sequence[Document]) -> Iterator[tuple[int, int]]:
    for document in documents:
        for layer in document.layers:
            rows = document.ranges_in(layer)
            if rows is None:
                yield from ((span.start, span.end) for span in document.layers[layer])
            else:
                yield from ((start, end) for start, end, _ in rows)
