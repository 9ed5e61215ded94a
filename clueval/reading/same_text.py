"""Checks that gold and predicted have the same text, and reports the first difference, or the first error of a file.

Documents, sentence boundaries, tokens and token ids of the two sides must be equal; the error for the first
difference has both places and both values.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest

from clueval.core.span import SIDES, name_of
from clueval.files.errors import QUOTED, CluevalError, SpanError, TextMismatch
from clueval.formats.columns.documents import located, parsed, repeated_ids, tables
from clueval.formats.columns.layout import unescape
from clueval.formats.columns.passages import Passage, misfits
from clueval.formats.format import Format
from clueval.reading.source import Source
from clueval.spans.document import Document
from clueval.tagging.decoder import BadTag
from clueval.tagging.schemes import OUTSIDE, neighbours_of

ADVICE = "gold and predicted must have the same text"

_OTHER_TOKENS = (
    "if only the tokens differ, clueval convert FILE --to doccano -o TEXTS.jsonl makes texts of one side"
)
"""Advice where a token begins with the other one: characters are compared if one side has no tokens."""

OTHER_ORDER = (
    "give both sides the same documents in the same order, or pair them: pair_by='id' or pair_by='content'"
)
"""Advice where two documents have different ids."""

SHOWN = 80
"""The maximum number of characters of a text that an error quotes."""


def require_same_frame(gold: Passage, predicted: Passage) -> None:
    """Raise `TextMismatch` unless both passages have the same document and the same number of sentences."""
    if gold.begins != predicted.begins or (
        gold.named and predicted.named and gold.document != predicted.document
    ):
        place = predicted.file if (line := first_line(predicted)) is None else f"{predicted.file}:{line}"
        raise TextMismatch(
            f"gold {_begun(gold)} where {place} {_begun(predicted)}",
            file=gold.file,
            line=first_line(gold),
            advice=OTHER_ORDER if gold.begins and predicted.begins else ADVICE,
        )
    if len(gold.sentences) != len(predicted.sentences):
        raise first_difference(gold, predicted)


def _begun(passage: Passage) -> str:
    return f"{'has' if passage.begins else 'continues'} document {passage.document!r}"


def first_line(side: Passage | Document) -> int | None:
    """Return the line of the first token of a passage or document, or None if it is not known."""
    if isinstance(side, Passage):
        return side.line_of(0, 0) if side.sentences else None
    return side.lines[0] if side.lines else None


def first_difference(gold: Passage, predicted: Passage) -> CluevalError:
    """Return the error for the first difference of two passages in a token, a token id or the end of a sentence.

    If a line there does not fit the layout of its file, return the error for that line.
    """
    for own_place, other_place in zip(gold.rows(), predicted.rows(), strict=False):
        (sentence, row, fields), (other_sentence, other_row, other_fields) = own_place, other_place
        for passage, found in ((gold, fields), (predicted, other_fields)):
            if passage.layout is not None and len(found) != passage.layout.width:
                return next(misfits(passage))
        differing = next(
            (each for each in _values(gold, fields, predicted, other_fields) if each[1] != each[2]), None
        )
        if (sentence, row) == (other_sentence, other_row) and differing is None:
            continue
        line, other_line = gold.line_of(sentence, row), predicted.line_of(other_sentence, other_row)
        place = f"{predicted.file}:{other_line}"
        if (sentence, row) != (other_sentence, other_row) or differing is None:
            what = "begins" if row < other_row else "continues"
            problem = f"gold {what} a sentence where {place} does not"
        else:
            what, own, other = differing
            shown, other_shown = _shown(own, other)
            problem = f"gold has the {what} {shown} where {place} has {other_shown}"
            return TextMismatch(
                problem, file=gold.file, line=line, advice=ADVICE + _on_tokens(what, own, other)
            )
        return TextMismatch(problem, file=gold.file, line=line, advice=ADVICE)
    return _one_goes_on(gold, predicted)


def _on_tokens(what: str, own: object, other: object) -> str:
    """Return more advice for two values that may be tokens of the same text, else an empty string."""
    are_parts = (
        isinstance(own, str) and isinstance(other, str) and (own.startswith(other) or other.startswith(own))
    )
    return f"; {_OTHER_TOKENS}" if what == "token" and are_parts else ""


def _shown(own: str, other: str) -> tuple[str, str]:
    """Return two different values as an error shows them: long values only around their first difference."""
    if max(len(own), len(other)) <= SHOWN and max(len(repr(own)), len(repr(other))) <= QUOTED:
        return repr(own), repr(other)
    place, past = 0, min(len(own), len(other)) + 1  # the values are equal up to `place`, and not up to `past`
    while past - place > 1:
        middle = (place + past) // 2
        place, past = (middle, past) if own[place:middle] == other[place:middle] else (place, middle)
    around = SHOWN // 2
    while True:
        start = max(0, place - around)
        parts = [value[start : place + around] for value in (own, other)]
        if around == 1 or max(len(repr(part)) for part in parts) <= QUOTED:
            break
        around //= 2  # escapes take several characters each
    shown, other_shown = (f"{part!r} from character {start} on" for part in parts)
    return shown, other_shown


def _values(
    gold: Passage, own: Sequence[str], predicted: Passage, other: Sequence[str]
) -> Iterable[tuple[str, str, str]]:
    """Yield the values that must be equal in two lines: their name, the gold and the predicted value."""
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
    """Return the error for two passages of which one is the beginning of the other."""
    ends = []
    for passage in (gold, predicted):
        rows = passage.tokens
        last = (
            passage.line_of(len(passage.sentences) - 1, passage.sentences[-1].count("\n") - 1)
            if rows
            else None
        )
        ends.append((rows, last))
    shorter, longer = ("gold", "predicted") if ends[0][0] < ends[1][0] else ("predicted", "gold")
    number = min(ends[0][0], ends[1][0])
    return TextMismatch(
        f"{shorter} ends after {number} token{'s' * (number != 1)} of the document where {longer} "
        f"({(predicted if longer == 'predicted' else gold).file}) continues",
        file=(gold if shorter == "gold" else predicted).file,
        line=ends[0 if shorter == "gold" else 1][1],
        document=gold.document if gold.named else None,
        advice=ADVICE,
    )


def ends_early(own: Source, other: Source, gold_ends: bool, document: str, line: int | None) -> TextMismatch:
    """Return the error for a side that ends where the other has `document`, whose first token is in `line`."""
    shorter, longer = (own, other) if gold_ends else (other, own)
    place = longer.path if line is None else f"{longer.path}:{line}"
    return TextMismatch(
        f"the file ends, but {place} continues with document {document!r}",
        file=str(shorter.path),
        advice=ADVICE,
    )


def need_placing(own: Format, other: Format) -> bool:
    """Return whether two formats may write the same text differently, so that documents are placed on one text.

    Texts in one format, the tokens of two column formats, and those that are taken from gold, must be equal.
    """
    alike = own.name == other.name or own.lacks_tokens or other.lacks_tokens
    return not (alike or (own.has_columns and other.has_columns))


def require_same_text(gold: Document, predicted: Document, names: tuple[str, str] = SIDES) -> None:
    """Raise `TextMismatch` for the first difference of two documents in id, unit, text, token ids or sentences.

    A property that one of them lacks is not compared. `names` are those of the two sides, for the message. Raises
    `SpanError` for a predicted span beyond the text, which the predicted document need not have.
    """
    found = _first_mismatch(gold, predicted, names)
    if found is not None:
        raise found
    if predicted.text is None and gold.text is not None and gold.unit == "character":
        end = gold.start + len(gold.text)
        for span in (each for spans in predicted.layers.values() for each in spans if each.end > end):
            raise SpanError(
                f"span {name_of(span)} lies outside the text of {names[0]}, which has {len(gold.text)} characters",
                **predicted.in_errors,
                line=span.line,
            )


def _first_mismatch(gold: Document, predicted: Document, names: tuple[str, str]) -> TextMismatch | None:
    if gold.id != predicted.id:
        return _mismatch(names, gold, predicted, None, "document", gold.id, predicted.id)
    if gold.unit != predicted.unit:
        return _mismatch(names, gold, predicted, None, "unit", gold.unit, predicted.unit)
    in_tokens = gold.unit == "token"
    for name in ("tokens", "token_ids", "text") if in_tokens else ("text",):
        own, other = getattr(gold, name), getattr(predicted, name)
        if own is None or other is None or own == other:
            continue
        if in_tokens and name == "text" and gold.tokens is not None and predicted.tokens is not None:
            continue  # the tokens are equal; only the spaces between them differ
        pairs = enumerate(zip_longest(own, other))
        if (found := next(((n, a, b) for n, (a, b) in pairs if a != b), None)) is not None:
            what = {"tokens": "token", "token_ids": "token id", "text": "character"}[name]
            return _mismatch(names, gold, predicted, found[0], what, found[1], found[2])
    differ = gold.sentences != predicted.sentences
    if differ and gold.sentences and predicted.sentences and in_tokens and gold.tokens is not None:
        borders = [[sentence[:2] for sentence in document.sentences] for document in (gold, predicted)]
        for one, other in zip_longest(*borders):
            if one != other:
                position = min((one or other)[1], (other or one)[1]) - gold.start
                return _mismatch(names, gold, predicted, position, "sentence", one, other)
    return None


def _mismatch(
    names: tuple[str, str],
    gold: Document,
    predicted: Document,
    index: int | None,
    what: str,
    own: object,
    other: object,
) -> TextMismatch:
    def place(document: Document) -> int | None:
        if index is None:
            return first_line(document)
        return document.lines[index] if document.lines is not None and index < len(document.lines) else None

    where = predicted.file or names[1]
    if place(predicted) is not None:
        where += f":{place(predicted)}"
    position = "" if index is None else f" at position {gold.start + index}"
    if isinstance(own, str) and isinstance(other, str):
        shown, other_shown = _shown(own, other)
    else:
        shown, other_shown = repr(own), repr(other)
    there = "ends" if other is None else f"has {other_shown}"
    advice = OTHER_ORDER if what == "document" else f"{names[0]} and {names[1]} must have the same text"
    advice += _on_tokens(what, own, other)
    if what == "character" and index == 0:
        advice += "; documents in another order are paired with pair_by='content'"
    return TextMismatch(
        f"{names[0]} has the {what} {shown}{position} where {where} {there}"
        if own is not None
        else f"{names[0]} ends{position} where {where} continues with the {what} {other!r}",
        **gold.in_errors,
        line=place(gold),
        advice=advice,
    )


def raise_first_error(gold: Source, predicted: Source) -> None:
    """Raise the first error of two column files with its place; return if their passages have none."""
    own, other = (replace(source, progress=None) for source in (gold, predicted))
    decoders = own.decoders(), other.decoders()
    for pair in zip_longest(with_unique_ids(own), with_unique_ids(other)):
        for number, passage in enumerate(pair):
            if passage is None:
                extra = pair[1 - number]
                raise ends_early(gold, predicted, number == 0, extra.document, first_line(extra))
        require_same_frame(*pair)
        sides = [parsed(passage) for passage in pair]
        texts = [[token for table in found for token in table.tokens()] for found in sides]
        ids = [[id_ for table in found for id_ in table.token_ids() or ()] for found in sides]
        if texts[0] != texts[1] or (all(ids) and ids[0] != ids[1]):
            raise first_difference(*pair)
        for passage, found, of_side in zip(pair, sides, decoders, strict=True):
            for layer, decoder in of_side.items():
                tags = [tag for table in found for tag in table.tags()[layer]]
                try:
                    decoder.accept(tags, (pairs := neighbours_of(tags)))
                    decoder.columns(layer, tags, pairs)
                except BadTag as error:
                    raise located(error, passage, layer) from None


class DocumentIds:
    """The token ids of the current document of a file. Holds those of one document, without its lines."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._documents = 0
        self._seen: set[str] = set()
        self._has_outside = False

    def see(self, passage: Passage, ids: Sequence[str]) -> None:
        """Add the ids of a passage, in which the id of a border is O.

        Raises `FormatError` for an id that has occurred in the document; to name the lines, it reads the file again.
        """
        if passage.begins:
            self._documents += 1
            self._seen.clear()
            self._has_outside = False
        if not ids:
            return
        known = len(self._seen)
        self._seen.update(ids)
        self._seen.discard(OUTSIDE)
        if ids.count(OUTSIDE) > len(passage.sentences):  # the id of a token is O, too
            known -= not self._has_outside
            self._has_outside = True
        if len(self._seen) - known != passage.tokens:
            for error in repeated_ids(self._document()):
                raise error

    def _document(self) -> Iterator[Passage]:
        number = 0
        for passage in replace(self._source, progress=None).passages():
            number += passage.begins
            if number > self._documents:
                return
            if number == self._documents:
                yield passage


def with_unique_ids(source: Source) -> Iterator[Passage]:
    """Yield the passages of a column file. Raises `FormatError` for a token id that occurs again in its document."""
    known = DocumentIds(source)
    for passage in source.passages():
        if passage.layout is None or passage.layout.token_id is None:
            known.see(passage, ())
        else:
            known.see(passage, _ids(passage))
        yield passage


def _ids(passage: Passage) -> Sequence[str]:
    assert passage.layout is not None
    try:
        parsed = tables(passage.sentences, passage.layout)
        return [token_id for table in parsed for token_id in table.token_ids() or ()]
    except ValueError:  # a line is malformed, which the caller reports
        return ()
