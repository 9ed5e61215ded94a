"""Gold and predicted in different formats: all documents of a text get positions in the characters of one text.

1. The same tokens on both sides: nothing changes.
2. One side has a text: the tokens of the other are *placed* on it. White space is skipped; then the characters of
   the token must follow, white space between them aside. The token gets the range of these characters.
3. Two texts must be equal except for white space. Positions carry over by the rank of the characters that are
   not white space: the fifth of one text is the fifth of the other.
4. Different tokens on both sides: tokens are joined by blanks, and 3 applies.

Positions are those of the gold text, or of the predicted text if gold has none. White space at the edges of
spans is cut off on both sides and counted (``trimmed``).
With the unit ``token``, positions are then those of the tokens of gold, of predicted if gold has none, or of the words
and single marks of the text if neither has tokens. A span gets the tokens of which it covers more than half the
characters; a span that gets none, as one of white space alone, has no place: it stands beside the text, and matches
nothing.

For example, gold has the text ``"Dr.  No,"`` and predicted the tokens ``Dr``, ``.``, ``No``, ``,``. The tokens
get the ranges [0,2), [2,3), [5,7), [7,8), and a predicted span of the first three tokens becomes [0,7).
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import ge, is_not
from typing import NamedTuple

from clueval.core.characters import Characters
from clueval.core.document import Document, Pair, Sentence
from clueval.core.ranges import joined_ranges
from clueval.core.span import Span, name_of
from clueval.files.errors import TextMismatch, UsageError
from clueval.transforms.changes import EachPair, empty, with_notes
from clueval.transforms.characters import TextPositions, on_ranges, to_characters, without_blanks

WORD_OR_MARK = re.compile(r"\w+|[^\w\s]")
"""The tokens of a text that comes without tokens."""

_SHOWN = 20

_ADVICE = "the texts must be equal except for white space; score can align"


@dataclass(frozen=True)
class Placing(EachPair):
    """The step. Notes count the spans that were trimmed.

    A span without a place becomes a pair beside the text, alone: it counts as missed or as spurious.

    Attributes:
        in_tokens: positions become those of tokens.
        what: what was placed, for the signature.
        named: both formats give ids of documents, which then must be equal.
    """

    in_tokens: bool = False
    what: str = "tokens"
    named: bool = True

    @property
    def signature(self) -> tuple[str, str]:
        return "placed", self.what

    def of_pair(self, pair: Pair) -> Iterator[Pair]:
        if pair.beside:
            yield pair
            return
        placed = placed_documents(pair.sides, in_tokens=self.in_tokens, named=self.named)
        gold, predicted = placed.documents
        yield with_notes(
            replace(pair, gold=gold, predicted=predicted), "placed", {("trimmed",): placed.trimmed}
        )
        nothing = replace(
            empty(gold, "character"), layers=dict.fromkeys([*gold.layers, *predicted.layers], ())
        )
        for side, lost in enumerate(placed.lost):
            for layer, span in ((layer, span) for layer, spans in lost.items() for span in spans):
                alone = replace(nothing, layers={**nothing.layers, layer: [span]})
                yield Pair(*((alone, nothing) if side == 0 else (nothing, alone)), beside=True)


class Placed(NamedTuple):
    """The documents of one text on its positions, of each the spans by layer without a place, and how many trimmed."""

    documents: Sequence[Document]
    lost: Sequence[Mapping[str, Sequence[Span]]]
    trimmed: int = 0


def placed_documents(documents: Sequence[Document], *, in_tokens: bool = False, named: bool = True) -> Placed:
    """Place documents of one text, of which the first is gold, as the module says.

    `named`: the ids of all documents are given, so they must be equal; otherwise all get that of the first.
    Raises `TextMismatch` for texts that differ, `UsageError` if no document has a text.

    >>> gold = Document("d", {"x": [Span(0, 7, "PER")]}, text="Dr.  No,", unit="character")
    >>> tokens = Document("d", {"x": [Span(0, 3, "PER")]}, tokens=["Dr", ".", "No", ","])
    >>> [document.layers["x"][0].end for document in placed_documents([gold, tokens]).documents]
    [7, 7]
    """
    gold, *others = documents
    if all(_has_same_tokens(gold, other) for other in others):
        moved = [_called(other.from_position(gold.start), gold, named) for other in others]
        return Placed([gold, *moved], [{} for _ in documents])
    text = next((document.text for document in documents if document.text is not None), None)
    own = _in_characters(gold, text)
    placed = [own, *(_onto(_in_characters(other, own.text), own) for other in others)]
    trimmed, numbers = zip(*map(_trimmed, placed), strict=True)
    named_alike = [trimmed[0], *(_called(other, gold, named) for other in trimmed[1:])]
    if not in_tokens:
        return Placed(named_alike, [{} for _ in documents], sum(numbers))
    frame = _frame(documents, next((each.text for each in named_alike if each.text), ""))
    converted = [frame.converted(*both) for both in zip(named_alike, documents, strict=True)]
    return Placed([document for document, _ in converted], [lost for _, lost in converted], sum(numbers))


def _frame(documents: Sequence[Document], text: str) -> _TokenFrame:
    """Return the tokens of the first document that has some, or the words and single marks of the text."""
    with_tokens = [each for each in documents if each.unit == "token" and each.tokens is not None]
    if with_tokens:
        first = with_tokens[0]
        return _TokenFrame(first, TextPositions(text, first.start, *token_places(first, text)))
    found = [match.span() for match in WORD_OR_MARK.finditer(text)]
    words = Document("", {}, tokens=[text[start:end] for start, end in found])
    starts, ends = [start for start, _ in found], [end for _, end in found]
    return _TokenFrame(words, TextPositions(text, 0, starts, ends))


def _in_characters(document: Document, text: str | None) -> Document:
    """Return the document with positions in its own text, in `text`, or in its tokens joined by blanks."""
    if document.unit == "character":
        return document
    onto = document.text if document.text is not None else text
    if onto is None or document.tokens is None:
        return to_characters(document)
    return TextPositions(onto, document.start, *token_places(document, onto)).placed(document)


def _onto(document: Document, gold: Document) -> Document:
    """Return the document with the positions and the text of gold."""
    own, other = gold.text, document.text
    if own is not None and other is not None and own != other:
        return _carried_over(document, gold)
    return document if own is None else replace(document, text=own)


def _called(document: Document, gold: Document, named: bool) -> Document:
    """Return the document with the id of gold, unless both formats give ids and these differ.

    An id that is a number may be that of a row, which a format without ids has.
    """
    given = named and document.id.isdecimal() == gold.id.isdecimal()
    return document if given or document.id == gold.id else replace(document, id=gold.id)


def _trimmed(document: Document) -> tuple[Document, int]:
    """Return the document without white space at the edges of its spans, and the number of spans that changed."""
    if document.text is None:
        return document, 0
    layers = {
        layer: [without_blanks(span, document.text, document.start) for span in spans]
        for layer, spans in document.layers.items()
    }
    number = sum(sum(map(is_not, spans, layers[layer])) for layer, spans in document.layers.items())
    return (replace(document, layers=layers) if number else document), number


@dataclass(frozen=True, slots=True)
class _TokenFrame:
    """The tokens in whose positions a group is counted, and where they are in its text."""

    tokens: Document
    characters: TextPositions

    def converted(
        self, document: Document, before: Document
    ) -> tuple[Document, Mapping[str, Sequence[Span]]]:
        """Return a document in tokens, given it in characters and as it was read, and its spans without place."""
        if before is self.tokens:
            return replace(before, id=document.id), {}
        layers: dict[str, list[Span]] = {}
        lost: dict[str, list[Span]] = {}
        for layer, spans in document.from_position(0).layers.items():
            layers[layer], lost[layer] = [], []
            for span, own, first in zip(spans, document.layers[layer], before.layers[layer], strict=True):
                is_blank = span.start == span.end and first.start < first.end
                place = None if is_blank else self.characters.span(span)
                if place is None:
                    lost[layer].append(own)
                else:
                    layers[layer].append(place)
        converted = Document(
            document.id,
            layers,
            tokens=self.tokens.tokens,
            start=self.tokens.start,
            sentences=self.tokens.sentences,
            metadata=document.metadata,
            file=document.file,
            ordered=document.ordered,
        )
        return converted, lost


def _has_same_tokens(gold: Document, other: Document) -> bool:
    return gold.unit == other.unit == "token" and (
        gold.tokens is None or other.tokens is None or list(gold.tokens) == list(other.tokens)
    )


def token_places(document: Document, text: str) -> tuple[list[int], list[int]]:
    """Return where each token of a document starts and ends in `text`.

    Raises `TextMismatch` for a token that does not follow.
    """
    starts: list[int] = []
    ends: list[int] = []
    at = 0
    for number, token in enumerate(document.tokens or ()):
        at = _skipped(text, at)
        end = _end(text, at, token)
        if end is None:
            raise _mismatch(document, number, token, text, at)
        starts.append(at)
        ends.append(end)
        at = end
    at = _skipped(text, at)
    if at < len(text):
        raise _mismatch(document, len(starts), None, text, at)
    return starts, ends


def _skipped(text: str, at: int) -> int:
    """Return the position of the next character that is not white space."""
    while at < len(text) and text[at].isspace():
        at += 1
    return at


def _end(text: str, at: int, token: str) -> int | None:
    """Return the position after a token at this position, where white space may be between its characters."""
    if text.startswith(token, at):
        return at + len(token)
    end = at
    for character in token:
        if character.isspace():
            continue
        at = _skipped(text, at)
        if not text.startswith(character, at):
            return None
        at += 1
        end = at
    return end


def _mismatch(document: Document, number: int, token: str | None, text: str, at: int) -> TextMismatch:
    lines = document.lines
    shown = repr(text[at : at + _SHOWN]) if at < len(text) else "its end"
    what = "the tokens end" if token is None else f"token {number + 1} is {token!r}"
    advice = _ADVICE
    if at >= len(text):
        advice = "if the file has several documents, -DOCSTART-, # newdoc or document_column tells where they begin"
    return TextMismatch(
        f"{what} where the other text has {shown} at position {at}",
        **document.in_errors,
        line=lines[number] if lines is not None and number < len(lines) else None,
        advice=advice,
    )


def _carried_over(document: Document, gold: Document) -> Document:
    """Return the document with the positions of gold, by the rank of characters that are not white space."""
    own, other = gold.text or "", document.text or ""
    own_places, other_places = _places(own), _places(other)
    _require_equal(document, gold, own_places, other_places)

    def placed(start: int, end: int) -> tuple[int, int]:
        first, last = (bisect_left(other_places, place - document.start) for place in (start, end))
        if first == last:
            here = own_places[first] if first < len(own_places) else len(own)
            return here + gold.start, here + gold.start
        return own_places[first] + gold.start, own_places[last - 1] + 1 + gold.start

    def moved(span: Span) -> Span:
        ranges = [placed(*part) for part in span.fragments]
        return on_ranges(span, [part for part in ranges if part[0] < part[1]] or ranges[:1])

    layers = {layer: list(map(moved, spans)) for layer, spans in document.layers.items()}
    return replace(document, text=own, start=gold.start, layers=layers, sentences=(), lines=None)


def _require_equal(
    document: Document, gold: Document, own_places: Sequence[int], other_places: Sequence[int]
) -> None:
    own, other = gold.text or "", document.text or ""
    for one, two in zip(own_places, other_places, strict=False):
        if own[one] != other[two]:
            raise _texts_differ(document, gold, one, two)
    if len(own_places) != len(other_places):
        common = min(len(own_places), len(other_places))
        one = own_places[common] if common < len(own_places) else len(own)
        two = other_places[common] if common < len(other_places) else len(other)
        raise _texts_differ(document, gold, one, two)


def _texts_differ(document: Document, gold: Document, one: int, two: int) -> TextMismatch:
    own, other = (gold.text or "")[one : one + _SHOWN], (document.text or "")[two : two + _SHOWN]
    return TextMismatch(
        f"gold has {own!r} at position {one} where {document.file or 'predicted'} has {other!r} at position {two}",
        **gold.in_errors,
        advice=_ADVICE,
    )


def _places(text: str) -> list[int]:
    """Return the positions of the characters that are not white space."""
    return [place for place, character in enumerate(text) if not character.isspace()]


# Tokens for texts


WITHIN = "spans within tokens"
"""What is counted if spans that do not begin and end with a token are left out."""


def to_tokens(
    document: Document, tokens: Document | None = None, dropped: Counter[str] | None = None
) -> Document:
    """Return the document with positions in tokens: those of `tokens`, or the words and single marks of its text.

    A document with tokens is returned unchanged, unless `tokens` are others. A span that does not begin and end with
    a token is left out and counted in `dropped`. Raises `UsageError` for a document with neither and, without
    `dropped`, for such a span, and `TextMismatch` for tokens that are not those of the text.

    >>> text = Document("d", {"x": [Span(4, 8, {"x": "PER"})]}, text="Hi, Anna!", unit="character")
    >>> document = to_tokens(text)
    >>> document.tokens, document.layers["x"][0].start, document.layers["x"][0].end
    (['Hi', ',', 'Anna', '!'], 2, 3)
    """
    if document.unit == "token" and document.tokens is not None:
        if tokens is None or list(tokens.tokens or ()) == list(document.tokens):
            return document
        document = to_characters(document)
    if document.unit == "token" or document.text is None:
        raise UsageError(
            "a document without text has no tokens",
            **document.in_errors,
            advice="use a format that has the text",
        )
    if tokens is None:
        found = [match.span() for match in WORD_OR_MARK.finditer(document.text)]
        starts, ends = [start for start, _ in found], [end for _, end in found]
    else:
        starts, ends = token_places(tokens, document.text)
    places = _TokenPlaces(document, starts, ends, 0 if tokens is None else tokens.start)
    if tokens is None:
        sentences = [Sentence(*places.of(each.start, each.end), each.id) for each in document.sentences]
        words: Sequence[str] = [document.text[start:end] for start, end in zip(starts, ends, strict=True)]
    else:
        sentences, words = list(tokens.sentences), tokens.tokens or ()
    return Document(
        document.id,
        {layer: places.spans(spans, dropped) for layer, spans in document.layers.items()},
        tokens=words,
        start=places.first,
        token_ids=None if tokens is None else tokens.token_ids,
        sentences=sentences,
        metadata=document.metadata,
        file=document.file,
    )


def with_tokens_of(tokens: Document, document: Document) -> Document:
    """Return a document of characters with other tokens, and with their sentences if it has none."""
    text = document.text or ""
    starts, ends = token_places(tokens, text)
    sentences = document.sentences
    if not sentences:
        place = Characters(text, tokens.start, starts, ends).range_between
        sentences = [Sentence(*place(each.start, each.end)) for each in tokens.sentences]
    words = [text[start:end] for start, end in zip(starts, ends, strict=True)]
    return replace(document, tokens=words, sentences=sentences)


class _TokenPlaces:
    """Converts positions of characters to positions of tokens, of which the first is `first`."""

    def __init__(self, document: Document, starts: Sequence[int], ends: Sequence[int], first: int) -> None:
        self.first = first
        self._document, self._starts, self._ends = document, starts, ends
        self._known_starts, self._known_ends = set(starts), set(ends)

    def of(self, start: int, end: int) -> tuple[int, int]:
        """Return the tokens that begin and end in a range of characters."""
        shift = self._document.start
        begin = bisect_left(self._starts, start - shift)
        return begin + self.first, max(begin, bisect_right(self._ends, end - shift)) + self.first

    def spans(self, spans: Sequence[Span], dropped: Counter[str] | None) -> list[Span]:
        """Return the spans with positions of tokens; one that is within tokens is counted, or refused."""
        kept = []
        for span in spans:
            if self._fits(span):
                place = self.of(span.start, span.start)[0]
                empty = span.start == span.end
                kept.append(replace(span, start=place, end=place) if empty else self._placed(span))
            elif dropped is not None:
                dropped[WITHIN] += 1
            else:
                raise UsageError(
                    f"span {name_of(span)} does not begin and end with a token",
                    **self._document.in_errors,
                    advice="tokens are words and single marks without tokens=...; lossy=True leaves out such spans",
                )
        return kept

    def _placed(self, span: Span) -> Span:
        """Return the span at its tokens, without gaps that have no token."""
        placed = span.placed(self.of)
        if placed.parts is None:
            return placed
        parts = joined_ranges(placed.parts, ge)
        return replace(placed, parts=parts if len(parts) > 1 else None)

    def _fits(self, span: Span) -> bool:
        shift = self._document.start
        return all(
            start == end or (start - shift in self._known_starts and end - shift in self._known_ends)
            for start, end in span.fragments
        )
