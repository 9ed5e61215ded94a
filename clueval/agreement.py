"""Are gold and predicted the same text, and where do they agree?

`require_same_text` compares two documents. `compare` does the same for two passages, raw, and takes apart only
what it must: sentences whose lines are identical agree in everything, so their spans are only counted; of the
others, spans that stand on both sides alike are counted too, and what is left over is built as spans. Spans
come from tags or from merging, so those of one side never overlap, and a span that stands on both sides is
isolated: no metric sees anything else at it. Positions of left-over spans are numbers of table lines, the same
on both sides; they are good for comparing, not for reporting.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from operator import ne
from sys import intern

from clueval.decoding import BadTag, Decoder, Neighbours, located, neighbours, repeated_ids
from clueval.exceptions import TextMismatch
from clueval.merging import MERGED, merge_layers
from clueval.passages import ROWS, Layout, Passage, Table, batches, misfits, unescape
from clueval.spans import Document, Frozen, Span
from clueval.tagging import Chunk, count_starts

Decoders = Mapping[tuple[str, str], Decoder]
"""The decoder of each (side, layer)."""

Tags = dict[str, list[str]]
"""The tags of each layer, an O after every sentence."""

SIDES = ("gold", "predicted")

ADVICE = "gold and predicted must be the same text"


@dataclass(slots=True)
class Comparison:
    """What the two sides of one sequence have in common, and what is left over.

    `agreed` counts, by their labels, the spans that stand on both sides, `equal` the positions that are tagged
    alike; `tags` are the tags of the other positions on either side, None where merged spans have no tags.
    """

    agreed: Counter[Frozen]
    gold: list[Span]
    predicted: list[Span]
    equal: int
    tags: tuple[list[str], list[str]] | None


def tokens_of(passage: Passage) -> int:
    """How many tokens a passage has."""
    return sum(sentence.count("\n") for sentence in passage.sentences)


def compare(gold: Passage, predicted: Passage, decoders: Decoders, merge: bool) -> dict[str, Comparison]:
    """Each sequence of two passages compared; nothing if they have no tokens.

    Raises `TextMismatch` for the first difference of the texts, `FormatError` and `TagError` with the line.
    """
    _require_same_frame(gold, predicted)
    if gold.layout is None or predicted.layout is None or not gold.sentences:
        return {}
    differs = [True] * len(gold.sentences)
    if gold.layout == predicted.layout and all(decoder.reads_neighbours for decoder in decoders.values()):
        differs = list(map(ne, gold.sentences, predicted.sentences))
    pair = _Pair(gold, predicted, gold.layout, predicted.layout, differs)
    same = _tags_of_same(pair)
    disputed = _tags_of_disputed(pair)
    if merge:
        return {MERGED: _compare_merged(pair, same, disputed, decoders)}
    return {layer: _compare_layer(layer, pair, same[layer], disputed, decoders) for layer in same}


class _Pair:
    """Two passages of the same frame, and the numbers of their identical and their disputed sentences."""

    def __init__(
        self, gold: Passage, predicted: Passage, own: Layout, other: Layout, differs: Sequence[bool]
    ) -> None:
        self.passages = (gold, predicted)
        self.layouts = (own, other)
        self.same = [number for number, different in enumerate(differs) if not different]
        self.disputed = [number for number, different in enumerate(differs) if different]


def _tags_of_same(pair: _Pair) -> Tags:
    """The tags of the identical sentences."""
    gold, layout = pair.passages[0], pair.layouts[0]
    tags: Tags = {layer: [] for layer, _ in layout.layers}
    token_ids: list[str] = []
    try:
        for (text,) in batches([[gold.sentences[number] for number in pair.same]], [layout]):
            _collect(Table(text, layout), tags, token_ids)
    except ValueError:
        raise next(misfits(gold)) from None
    _require_unique(token_ids, gold, pair.same)
    return tags


def _tags_of_disputed(pair: _Pair) -> tuple[Tags, Tags]:
    """The tags of the other sentences on both sides, whose tokens are compared on the way."""
    tags: tuple[Tags, Tags] = tuple({layer: [] for layer, _ in layout.layers} for layout in pair.layouts)  # type: ignore[assignment]
    token_ids: tuple[list[str], list[str]] = ([], [])
    sides = [[passage.sentences[number] for number in pair.disputed] for passage in pair.passages]
    if any(one.count("\n") != other.count("\n") for one, other in zip(*sides, strict=True)):
        raise _first_difference(*pair.passages)
    try:
        for texts in batches(sides, pair.layouts):
            own, other = (Table(text, layout) for text, layout in zip(texts, pair.layouts, strict=True))
            ids = own.token_ids(), other.token_ids()
            if own.tokens() != other.tokens() or (None not in ids and ids[0] != ids[1]):
                raise _first_difference(*pair.passages)
            _collect(own, tags[0], token_ids[0])
            _collect(other, tags[1], token_ids[1])
    except ValueError as error:
        if isinstance(error, TextMismatch):
            raise
        raise next(misfit for passage in pair.passages for misfit in misfits(passage)) from None
    for ids_of_side, passage in zip(token_ids, pair.passages, strict=True):
        _require_unique(ids_of_side, passage, pair.disputed)
    return tags


def _collect(table: Table, tags: Tags, token_ids: list[str]) -> None:
    """Add a table's tags and token ids to those that are there."""
    for layer, column in table.tags().items():
        # the tags of one long sentence stay until it ends: then one object per tag, not one per token
        tags[layer].extend(map(intern, column) if len(tags[layer]) > ROWS else column)
    token_ids.extend(table.token_ids() or ())


def _compare_layer(
    layer: str, pair: _Pair, same: list[str], disputed: tuple[Tags, Tags], decoders: Decoders
) -> Comparison:
    found = neighbours(same)
    for side, name in enumerate(SIDES):
        _accept(pair, side, pair.same, layer, decoders[name, layer], same, found)
    labels = count_starts(found)
    gold, predicted = disputed[0][layer], disputed[1][layer]
    own = set(_decoded(pair, 0, pair.disputed, layer, decoders["gold", layer], gold))
    other = set(_decoded(pair, 1, pair.disputed, layer, decoders["predicted", layer], predicted))
    labels.update(label for _, _, label in own & other)
    known = {label: Frozen({layer: label}) for label in labels.keys() | {c[2] for c in own ^ other}}
    unequal = [tags for tags in zip(gold, predicted, strict=True) if tags[0] != tags[1]]
    return Comparison(
        Counter({known[label]: n for label, n in labels.items()}),
        [Span(start, end, known[label]) for start, end, label in sorted(own - other)],
        [Span(start, end, known[label]) for start, end, label in sorted(other - own)],
        len(same) - len(pair.same) + len(gold) - len(pair.disputed) - len(unequal),
        ([tag for tag, _ in unequal], [tag for _, tag in unequal]),
    )


def _compare_merged(pair: _Pair, same: Tags, disputed: tuple[Tags, Tags], decoders: Decoders) -> Comparison:
    document = pair.passages[0].document

    def merged(side: int, sentences: Sequence[int], tags: Tags) -> list[Span]:
        name = SIDES[side]
        layers = {
            layer: [
                Span(start, end, Frozen({layer: label}))
                for start, end, label in _decoded(pair, side, sentences, layer, decoders[name, layer], column)
            ]
            for layer, column in tags.items()
        }
        return merge_layers(layers, document=document)

    agreed = Counter(span.by_layer for span in merged(0, pair.same, same))
    for layer, column in same.items():
        _accept(pair, 1, pair.same, layer, decoders["predicted", layer], column, neighbours(column))
    own, other = (set(merged(side, pair.disputed, disputed[side])) for side in (0, 1))
    agreed.update(span.by_layer for span in own & other)
    gold, predicted = (sorted(left, key=lambda span: span.start) for left in (own - other, other - own))
    covered = {position for span in (*gold, *predicted) for position in range(span.start, span.end)}
    tokens = tokens_of(pair.passages[0])
    return Comparison(agreed, gold, predicted, tokens - len(covered), None)  # type: ignore[arg-type]


def _accept(
    pair: _Pair,
    side: int,
    sentences: Sequence[int],
    layer: str,
    decoder: Decoder,
    tags: list[str],
    found: Neighbours,
) -> None:
    try:
        decoder.accept(tags, found)
    except BadTag as error:
        raise located(error, pair.passages[side], layer, sentences) from None


def _decoded(
    pair: _Pair, side: int, sentences: Sequence[int], layer: str, decoder: Decoder, tags: list[str]
) -> list[Chunk]:
    try:
        found = neighbours(tags)
        decoder.accept(tags, found)
        return list(decoder.chunks(tags, found))
    except BadTag as error:
        raise located(error, pair.passages[side], layer, sentences) from None


def _require_same_frame(gold: Passage, predicted: Passage) -> None:
    """The same document, and as many sentences in it."""
    if gold.begins != predicted.begins or (
        gold.named and predicted.named and gold.document != predicted.document
    ):
        raise TextMismatch(
            f"gold has document {gold.document!r} where {predicted.file} has document {predicted.document!r}",
            file=gold.file,
            advice=ADVICE,
        )
    if len(gold.sentences) != len(predicted.sentences):
        raise _first_difference(gold, predicted)


def _first_difference(gold: Passage, predicted: Passage) -> TextMismatch:
    """The first place where two passages differ in a token, a token id or the end of a sentence."""
    for own_place, other_place in zip(gold.rows(), predicted.rows(), strict=False):
        (sentence, row, fields), (other_sentence, other_row, other_fields) = own_place, other_place
        line, other_line = gold.line_of(sentence, row), predicted.line_of(other_sentence, other_row)
        if (sentence, row) != (other_sentence, other_row):
            what = "begins a sentence" if row < other_row else "goes on with a sentence"
            problem = f"gold {what} where {predicted.file}:{other_line} does not"
            return TextMismatch(problem, file=gold.file, line=line, advice=ADVICE)
        for name, own, other in _values(gold, fields, predicted, other_fields):
            if own != other:
                return TextMismatch(
                    f"gold has the {name} {own!r} where {predicted.file}:{other_line} has {other!r}",
                    file=gold.file,
                    line=line,
                    advice=ADVICE,
                )
    return _one_goes_on(gold, predicted)


def _values(
    gold: Passage, own: Sequence[str], predicted: Passage, other: Sequence[str]
) -> Iterable[tuple[str, str, str]]:
    """What must be equal in two lines: name, gold value, predicted value."""
    if gold.layout is None or predicted.layout is None:
        return
    places = [("token", gold.layout.token, predicted.layout.token)]
    if gold.layout.token_id is not None and predicted.layout.token_id is not None:
        places.append(("token id", gold.layout.token_id, predicted.layout.token_id))
    for name, place, other_place in places:
        yield (
            name,
            unescape(own[place]) if gold.layout.entities else own[place],
            unescape(other[other_place]) if predicted.layout.entities else other[other_place],
        )


def _one_goes_on(gold: Passage, predicted: Passage) -> TextMismatch:
    """One passage is the beginning of the other."""
    ends = []
    for passage in (gold, predicted):
        rows = tokens_of(passage)
        last = (
            passage.line_of(len(passage.sentences) - 1, passage.sentences[-1].count("\n") - 1)
            if rows
            else None
        )
        ends.append((rows, last))
    shorter, longer = ("gold", "predicted") if ends[0][0] < ends[1][0] else ("predicted", "gold")
    return TextMismatch(
        f"{shorter} ends after {min(ends[0][0], ends[1][0])} tokens of the document where {longer} "
        f"({(predicted if longer == 'predicted' else gold).file}) goes on",
        file=(gold if shorter == "gold" else predicted).file,
        line=ends[0 if shorter == "gold" else 1][1],
        document=gold.document if gold.named else None,
        advice=ADVICE,
    )


def require_same_text(gold: Document, predicted: Document) -> None:
    """Raise `TextMismatch` at the first difference of two documents: id, unit, text, token ids, sentences.

    What one of them lacks is not compared.
    """
    if gold.id != predicted.id:
        raise _mismatch(gold, predicted, None, "document", gold.id, predicted.id)
    if gold.unit != predicted.unit:
        raise _mismatch(gold, predicted, None, "unit", gold.unit, predicted.unit)
    for name in ("tokens", "token_ids", "text"):
        own, other = getattr(gold, name), getattr(predicted, name)
        if own is None or other is None or own == other:
            continue
        pairs = enumerate(zip_longest(own, other))
        if (found := next(((n, a, b) for n, (a, b) in pairs if a != b), None)) is not None:
            what = {"tokens": "token", "token_ids": "token id", "text": "character"}[name]
            raise _mismatch(gold, predicted, found[0], what, found[1], found[2])
    if gold.sentences and predicted.sentences and gold.tokens is not None:
        borders = [[sentence[:2] for sentence in document.sentences] for document in (gold, predicted)]
        for one, other in zip_longest(*borders):
            if one != other:
                position = min((one or other)[1], (other or one)[1]) - gold.start
                raise _mismatch(gold, predicted, position, "sentence", one, other)


def _mismatch(
    gold: Document, predicted: Document, index: int | None, what: str, own: object, other: object
) -> TextMismatch:
    def place(document: Document) -> int | None:
        lines = document.lines
        return lines[index] if lines is not None and index is not None and index < len(lines) else None

    where = predicted.file or "predicted"
    if place(predicted) is not None:
        where += f":{place(predicted)}"
    position = "" if index is None else f" at position {gold.start + index}"
    return TextMismatch(
        f"gold has the {what} {own!r}{position} where {where} has {other!r}"
        if own is not None
        else f"gold ends{position} where {where} goes on with the {what} {other!r}",
        file=gold.file,
        line=place(gold),
        document=gold.id,
        advice=ADVICE,
    )


def _require_unique(token_ids: Sequence[str], passage: Passage, sentences: Sequence[int]) -> None:
    """No token id twice in a passage. The borders' O is not one of them."""
    if not token_ids or len(set(token_ids)) >= len(token_ids) - len(sentences) + 1:
        return
    for error in repeated_ids([passage]):
        raise error
