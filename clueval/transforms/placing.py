"""Gold and predicted in different formats: all documents of a text get positions in the characters of one text.

1. The same tokens on both sides: nothing changes.
2. One side has a text: the tokens of the other are *placed* on it. White space is skipped; then the characters of
   the token must follow, white space between them aside. The token gets the range of these characters.
3. Two texts must be equal except for white space. Positions carry over by the rank of the characters that are
   not white space: the fifth of one text is the fifth of the other.
4. Different tokens on both sides: tokens are joined by blanks, and 3 applies.

Positions are those of the gold text, or of the predicted text if gold has none. White space at the edges of
spans is cut off on both sides and counted (``trimmed``).
With the unit ``token``, positions are then those of the tokens of gold, of predicted if gold has none, or of the
words and single marks of the text if neither has tokens. A span gets the tokens of which it covers more than half the
characters, and is counted (``moved``) if it does not begin and end with them; a span that gets none, as one of white
space alone, has no place: it stands beside the text, and matches nothing.

For example, gold has the text ``"Dr.  No,"`` and predicted the tokens ``Dr``, ``.``, ``No``, ``,``. The tokens
get the ranges [0,2), [2,3), [5,7), [7,8), and a predicted span of the first three tokens becomes [0,7).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import ge, is_not
from typing import ClassVar, NamedTuple

from clueval.core.alignment import Characters, words_in
from clueval.core.document import Document, Pair, Sentence, are_of_different_documents
from clueval.core.span import Span, joined_ranges, name_of
from clueval.files.errors import TextMismatch, UsageError
from clueval.transforms.changes import EachPair, Note, empty, with_notes
from clueval.transforms.characters import TextPositions, on_ranges, to_characters, without_blanks

_SHOWN = 20

_ADVICE = "the texts must be equal except for white space; score aligns other texts with align=True"
_SEVERAL = "if a file has several documents, -DOCSTART-, # newdoc or document_column tells where they begin"


@dataclass(frozen=True)
class Placing(EachPair):
    """The step. Notes count the spans that were trimmed, and those that tokens have moved.

    A span without a place becomes a pair beside the text, alone: it counts as missed or as spurious.

    Attributes:
        in_tokens: positions become those of tokens.
        what: what was placed, for the signature.
        named: both formats give ids of documents, which then must be equal.
    """

    comes_first: ClassVar[bool] = True

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
        notes: dict[Note, int] = {("trimmed",): placed.trimmed, ("moved",): placed.moved}
        yield with_notes(replace(pair, gold=gold, predicted=predicted), "placed", notes)
        nothing = replace(
            empty(gold, "character"), layers=dict.fromkeys([*gold.layers, *predicted.layers], ())
        )
        for side, lost in enumerate(placed.lost):
            for layer, span in ((layer, span) for layer, spans in lost.items() for span in spans):
                alone = replace(nothing, layers={**nothing.layers, layer: [span]})
                yield Pair(*((alone, nothing) if side == 0 else (nothing, alone)), beside=True)


class Placed(NamedTuple):
    """The documents of one text on its positions, and of each the spans by layer without a place.

    `trimmed` and `moved` are how many spans lost white space at their edges, and got other edges from tokens.
    """

    documents: Sequence[Document]
    lost: Sequence[Mapping[str, Sequence[Span]]]
    trimmed: int = 0
    moved: int = 0


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
    if all(
        gold.unit == other.unit == "token"
        and (gold.tokens is None or other.tokens is None or list(gold.tokens) == list(other.tokens))
        for other in others
    ):
        moved = [_with_gold_id(other.from_position(gold.start), gold, named) for other in others]
        return Placed([gold, *moved], [{} for _ in documents])
    text = next((document.text for document in documents if document.text is not None), None)
    gold_in_characters = _in_characters(gold, text)
    placed = [
        gold_in_characters,
        *(
            _with_gold_positions(_in_characters(other, gold_in_characters.text), gold_in_characters)
            for other in others
        ),
    ]
    trimmed, numbers = zip(*map(_trimmed, placed), strict=True)
    named_alike = [trimmed[0], *(_with_gold_id(other, gold, named) for other in trimmed[1:])]
    if not in_tokens:
        return Placed(named_alike, [{} for _ in documents], sum(numbers))
    tokens, characters = _tokens_of(
        documents, next((document.text for document in named_alike if document.text), "")
    )
    converted = [
        _in_tokens(document, before, tokens, characters)
        for document, before in zip(named_alike, documents, strict=True)
    ]
    return Placed(
        [document for document, _, _ in converted],
        [lost for _, lost, _ in converted],
        sum(numbers),
        sum(moved for _, _, moved in converted),
    )


def _in_characters(document: Document, text: str | None) -> Document:
    """Return the document with positions in its own text, in `text`, or in its tokens joined by blanks."""
    if document.unit == "character":
        return document
    onto = document.text if document.text is not None else text
    if onto is None or document.tokens is None:
        return to_characters(document)
    return TextPositions(onto, document.start, *token_places(document, onto)).placed(document)


def _with_gold_id(document: Document, gold: Document, named: bool) -> Document:
    """Return the document with the id of gold, unless both formats give ids, no numbers of rows, that differ."""
    keeps_id = named and are_of_different_documents(gold.id, document.id)
    return document if keeps_id or document.id == gold.id else replace(document, id=gold.id)


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


# Tokens on a text


def token_places(document: Document, text: str) -> tuple[list[int], list[int]]:
    """Return where each token of a document starts and ends in `text`.

    Raises `TextMismatch` for a token that does not follow.
    """
    starts: list[int] = []
    ends: list[int] = []
    at = 0
    for token in document.tokens or ():
        at = _next_visible(text, at)
        end = _end(text, at, token)
        if end is None:
            raise _mismatch(document, f"token {len(starts) + 1} is {token!r}", len(starts), text, at)
        starts.append(at)
        ends.append(end)
        at = end
    at = _next_visible(text, at)
    if at < len(text):
        raise _mismatch(document, "the tokens end", len(starts), text, at)
    return starts, ends


def _next_visible(text: str, at: int) -> int:
    """Return the position of the next character that is not white space."""
    while at < len(text) and text[at].isspace():
        at += 1
    return at


def _end(text: str, at: int, token: str) -> int | None:
    """Return the position after a token at this position, where white space may be between its characters."""
    if text.startswith(token, at):
        return at + len(token)
    for character in token:
        if not character.isspace():
            place = _next_visible(text, at)
            if not text.startswith(character, place):
                return None
            at = place + 1
    return at


def _mismatch(document: Document, what: str, number: int, text: str, at: int) -> TextMismatch:
    """Return the error for the token with this number, which does not follow at a place of the text."""
    lines = document.lines
    shown, advice = repr(text[at : at + _SHOWN]), _ADVICE
    if at >= len(text):
        shown, advice = "its end", _SEVERAL
    elif number == len(document.tokens or ()):
        advice = f"{_ADVICE}; {_SEVERAL}"
    return TextMismatch(
        f"{what} where the other text has {shown} at position {at}",
        **document.in_errors,
        line=lines[number] if lines is not None and number < len(lines) else None,
        advice=advice,
    )


def _with_gold_positions(document: Document, gold: Document) -> Document:
    """Return the document with the text and the positions of gold, by the rank of visible characters."""
    gold_text, other_text = gold.text, document.text
    if gold_text is None:
        return document
    if other_text is None or other_text == gold_text:
        return replace(document, text=gold_text)
    gold_places, other_places = (
        [place for place, character in enumerate(text) if not character.isspace()]
        for text in (gold_text, other_text)
    )
    common = min(len(gold_places), len(other_places))
    ranks = range(common)
    same = next((n for n in ranks if gold_text[gold_places[n]] != other_text[other_places[n]]), common)
    if same < max(len(gold_places), len(other_places)):
        at, other_at = (
            places[same] if same < len(places) else len(text)
            for places, text in ((gold_places, gold_text), (other_places, other_text))
        )
        raise TextMismatch(
            f"gold has {gold_text[at : at + _SHOWN]!r} at position {at} where {document.file or 'predicted'} has "
            f"{other_text[other_at : other_at + _SHOWN]!r} at position {other_at}",
            **gold.in_errors,
            advice=_ADVICE,
        )

    def placed(start: int, end: int) -> tuple[int, int]:
        first, last = (bisect_left(other_places, place - document.start) for place in (start, end))
        if first == last:
            here = gold_places[first] if first < len(gold_places) else len(gold_text)
            return here + gold.start, here + gold.start
        return gold_places[first] + gold.start, gold_places[last - 1] + 1 + gold.start

    def moved(span: Span) -> Span:
        ranges = [placed(*part) for part in span.fragments]
        return on_ranges(span, [part for part in ranges if part[0] < part[1]] or ranges[:1])

    layers = {layer: list(map(moved, spans)) for layer, spans in document.layers.items()}
    return replace(document, text=gold_text, start=gold.start, layers=layers, sentences=(), lines=None)


# Positions of tokens


def _words_of(text: str) -> tuple[list[int], list[int]]:
    """Return where the words and single marks of a text start and end."""
    ranges = words_in(text)
    return [start for start, _ in ranges], [end for _, end in ranges]


def _tokens_of(documents: Sequence[Document], text: str) -> tuple[Document, TextPositions]:
    """Return the first document that has tokens, or one of the words and marks of the text; and their places in it."""
    for document in documents:
        if document.unit == "token" and document.tokens is not None:
            return document, TextPositions(text, document.start, *token_places(document, text))
    starts, ends = _words_of(text)
    words = [text[start:end] for start, end in zip(starts, ends, strict=True)]
    return Document("", {}, tokens=words), TextPositions(text, 0, starts, ends)


def _in_tokens(
    document: Document, before: Document, tokens: Document, characters: TextPositions
) -> tuple[Document, Mapping[str, Sequence[Span]], int]:
    """Return a document in positions of tokens, given it in characters and as it was read.

    Return also its lost spans, of white space alone as they were read, and how many spans got other edges.
    """
    if before is tokens:
        return replace(before, id=document.id), {}, 0
    layers: dict[str, list[Span]] = {}
    lost: dict[str, list[Span]] = {}
    moved = 0
    for layer, spans in document.from_position(0).layers.items():
        layers[layer], lost[layer] = [], []
        for span, in_characters, first in zip(
            spans, document.layers[layer], before.layers[layer], strict=True
        ):
            is_blank = span.start == span.end and first.start < first.end
            place = None if is_blank else characters.span(span)
            if place is None:
                lost[layer].append(first if is_blank else in_characters)
            else:
                layers[layer].append(place)
                moved += place.placed(characters.range_between).fragments != span.fragments
    converted = Document(
        document.id,
        layers,
        tokens=tokens.tokens,
        start=tokens.start,
        sentences=tokens.sentences,
        metadata=document.metadata,
        file=document.file,
        ordered=document.ordered,
    )
    return converted, lost, moved


WITHIN = "spans within tokens"
"""What is counted if spans that do not begin and end with a token are left out."""


def to_tokens(
    document: Document, tokens: Document | None = None, dropped: Counter[str] | None = None
) -> Document:
    """Return the document with positions in tokens: those of `tokens`, its own, or the words and marks of its text.

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
    with_tokens = document if tokens is None else tokens
    are_words = with_tokens.tokens is None
    starts, ends = _words_of(document.text) if are_words else token_places(with_tokens, document.text)
    first, shift = 0 if tokens is None else tokens.start, document.start
    token_starts, token_ends = set(starts), set(ends)

    def place(start: int, end: int) -> tuple[int, int]:
        """Return the tokens that begin and end in a range of characters; one of zero length stays so."""
        begin = bisect_left(starts, start - shift)
        past = begin if start == end else max(begin, bisect_right(ends, end - shift))
        return begin + first, past + first

    layers: dict[str, list[Span]] = {}
    for layer, spans in document.layers.items():
        layers[layer] = []
        for span in spans:
            not_whole = [
                (start, end)
                for start, end in span.fragments
                if start < end and not (start - shift in token_starts and end - shift in token_ends)
            ]
            if not not_whole:
                placed = span.placed(place)
                if placed.parts is not None:  # gaps that have no token are none
                    parts = joined_ranges(placed.parts, ge)
                    placed = replace(placed, parts=parts if len(parts) > 1 else None)
                layers[layer].append(placed)
            elif dropped is not None:
                dropped[WITHIN] += 1
            else:
                start, end = not_whole[0]
                part = "" if span.parts is None else f"the part [{start},{end}) of "
                raise UsageError(
                    f"{part}span {name_of(span)} does not begin and end with a token",
                    **document.in_errors,
                    advice="lossy=True leaves out such spans"
                    + ("; tokens are words and single marks without tokens=..." if are_words else ""),
                )
    words: Sequence[str]
    if tokens is None:
        words = [document.text[start:end] for start, end in zip(starts, ends, strict=True)]
        sentences = [
            Sentence(*place(sentence.start, sentence.end), sentence.id) for sentence in document.sentences
        ]
    else:
        words, sentences = tokens.tokens or (), list(tokens.sentences)
    return Document(
        document.id,
        layers,
        tokens=words,
        start=first,
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
        sentences = [Sentence(*place(sentence.start, sentence.end)) for sentence in tokens.sentences]
    words = [text[start:end] for start, end in zip(starts, ends, strict=True)]
    return replace(document, tokens=words, sentences=sentences)
