"""Gold and predicted in different formats: both sides get positions in the characters of one text.

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
characters; a span that gets none has no place, and matches nothing.

For example, gold has the text ``"Dr.  No,"`` and predicted the tokens ``Dr``, ``.``, ``No``, ``,``. The tokens
get the ranges [0,2), [2,3), [5,7), [7,8), and a predicted span of the first three tokens becomes [0,7).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import is_not
from typing import Any

from clueval.core.span import Span
from clueval.files.errors import TextMismatch
from clueval.spans.document import Document
from clueval.transforms.characters import Characters, on_ranges, to_characters, without_blanks
from clueval.transforms.group import Group

WORD_OR_MARK = re.compile(r"\w+|[^\w\s]")
"""The tokens of a text that comes without tokens."""

_SHOWN = 20


@dataclass(slots=True)
class Placing:
    """The transform.

    `what` says in the signature what was placed; `named` says whether both formats give ids of documents, which then
    must be equal; `in_tokens` whether positions become tokens.
    """

    in_tokens: bool = False
    what: str = "tokens"
    named: bool = True
    prepared: Counter[tuple[Any, ...]] = field(default_factory=Counter)

    @property
    def signature(self) -> tuple[str, str]:
        return "placed", self.what

    def __call__(self, group: Group) -> Group:
        gold, others = group.gold, [group.predicted, *group.further]
        if all(_has_same_tokens(gold, other) for other in others):
            moved = [self._called(other.from_position(gold.start), gold) for other in others]
            return replace(group, predicted=moved[0], further=tuple(moved[1:]))
        text = next((each.text for each in (gold, *others) if each.text is not None), None)
        own = self._in_characters(gold, text)
        placed = [self._onto(self._in_characters(other, own.text), own) for other in others]
        if not self.in_tokens:
            return Group(self._trimmed(own), placed[0], tuple(placed[1:]))
        frame = self._frame([gold, *others], next(filter(None, (each.text for each in (own, *placed))), ""))
        sides = [
            frame.converted(each, before)
            for each, before in zip([own, *placed], [gold, *others], strict=True)
        ]
        (first, lost), (second, other_lost), *more = sides
        further = tuple(each for each, _ in more)
        return Group(first, second, further, lost=(lost, other_lost))

    def _frame(self, documents: Sequence[Document], text: str) -> _TokenFrame:
        """Return the tokens of the first document that has some, or the words and single marks of the text."""
        with_tokens = [each for each in documents if each.unit == "token" and each.tokens is not None]
        if with_tokens:
            places = token_places(with_tokens[0], text)
            return _TokenFrame(with_tokens[0], Characters(text, with_tokens[0].start, *places))
        found = [match.span() for match in WORD_OR_MARK.finditer(text)]
        words = Document("", {}, tokens=[text[start:end] for start, end in found])
        return _TokenFrame(words, Characters(text, 0, *([each[side] for each in found] for side in (0, 1))))

    def _in_characters(self, document: Document, text: str | None) -> Document:
        """Return the document with positions in its own text, in `text`, or in its tokens joined by blanks."""
        if document.unit == "character":
            return document
        onto = document.text if document.text is not None else text
        if onto is None or document.tokens is None:
            return to_characters(document)
        return placed_on(document, onto)

    def _onto(self, document: Document, gold: Document) -> Document:
        """Return the document with the positions and the text of gold."""
        own, other = gold.text, document.text
        if own is not None and other is not None and own != other:
            document = _carried_over(document, gold)
        elif own is not None:
            document = replace(document, text=own)
        return self._called(self._trimmed(document), gold)

    def _called(self, document: Document, gold: Document) -> Document:
        """Return the document with the id of gold, unless both formats give ids and these differ.

        An id that is a number may be that of a row, which a format without ids has.
        """
        given = self.named and document.id.isdecimal() == gold.id.isdecimal()
        return document if given or document.id == gold.id else replace(document, id=gold.id)

    def _trimmed(self, document: Document) -> Document:
        """Return the document without white space at the edges of its spans."""
        if document.text is None:
            return document
        layers = {}
        for layer, spans in document.layers.items():
            layers[layer] = [without_blanks(span, document.text, document.start) for span in spans]
            self.prepared["trimmed",] += sum(map(is_not, spans, layers[layer]))
        return replace(document, layers=layers)


@dataclass(frozen=True, slots=True)
class _TokenFrame:
    """The tokens in whose positions a group is counted, and where they are in its text."""

    tokens: Document
    characters: Characters

    def converted(
        self, document: Document, before: Document
    ) -> tuple[Document, Mapping[str, Sequence[Span]]]:
        """Return a document in tokens, given it in characters and as it was read, and its spans without place."""
        if before is self.tokens:
            return replace(before, id=document.id), {}
        layers: dict[str, list[Span]] = {}
        lost: dict[str, list[Span]] = {}
        for layer, spans in document.from_position(0).layers.items():
            moved = [
                (self.characters.span(span), own)
                for span, own in zip(spans, document.layers[layer], strict=True)
            ]
            layers[layer] = [place for place, _ in moved if place is not None]
            lost[layer] = [span for place, span in moved if place is None]
        converted = Document(
            document.id,
            layers,
            tokens=self.tokens.tokens,
            start=self.tokens.start,
            sentences=self.tokens.sentences,
            metadata=document.metadata,
            repaired=document.repaired,
            file=document.file,
        )
        return converted, lost


def _has_same_tokens(gold: Document, other: Document) -> bool:
    return gold.unit == other.unit == "token" and (
        gold.tokens is None or other.tokens is None or list(gold.tokens) == list(other.tokens)
    )


def placed_on(document: Document, text: str) -> Document:
    """Return a document of tokens with positions in `text`. Raises `TextMismatch` for a token that does not follow.

    >>> tokens = Document("d", {"x": [Span(0, 2, {"x": "PER"})]}, tokens=["Dr", ".", "No"])
    >>> placed_on(tokens, "Dr. No").layers["x"][0].end
    3
    """
    return Characters(text, document.start, *token_places(document, text)).placed(document)


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
    if _skipped(text, at) < len(text):
        raise _mismatch(document, len(starts), None, text, _skipped(text, at))
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
    advice = "the texts must be equal except for white space; score can align"
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
        advice="the texts must be equal except for white space; score can align",
    )


def _places(text: str) -> list[int]:
    """Return the positions of the characters that are not white space."""
    return [place for place, character in enumerate(text) if not character.isspace()]
