"""Checks that the documents of two sides have the same text, and reports the first difference."""

from __future__ import annotations

from itertools import zip_longest

from clueval.core.document import Document
from clueval.core.span import SIDES, name_of
from clueval.files.errors import QUOTED, SpanError, TextMismatch

_OTHER_TOKENS = (
    "if only the tokens differ, clueval convert FILE --to doccano -o TEXTS.jsonl makes texts of one side"
)
"""Advice where a token begins with the other one: characters are compared if one side has no tokens."""

_OTHER_ORDER = (
    "give both sides the same documents in the same order, or pair them: pair_by='id' or pair_by='content'"
)
"""Advice where two documents have different ids."""

SHOWN = 80
"""The maximum number of characters of a text that an error quotes."""


def require_same_text(gold: Document, predicted: Document, names: tuple[str, str] = SIDES) -> None:
    """Raise `TextMismatch` for the first difference of two documents in id, unit, text, token ids or sentences.

    A property that one of them lacks is not compared. `names` are those of the two sides, for the message. Raises
    `SpanError` for a predicted span beyond the text, which the predicted document need not have.
    """
    _require_equal(gold, predicted, names)
    if predicted.text is None and gold.text is not None and gold.unit == "character":
        end = gold.start + len(gold.text)
        for span in (each for spans in predicted.layers.values() for each in spans if each.end > end):
            raise SpanError(
                f"span {name_of(span)} lies outside the text of {names[0]}, which has {len(gold.text)} characters",
                **predicted.in_errors,
                line=span.line,
            )


def _require_equal(gold: Document, predicted: Document, names: tuple[str, str]) -> None:
    if gold.id != predicted.id:
        place = _place(predicted, names[1], None)
        raise TextMismatch(
            f"{names[0]} has document {gold.id!r} where {place} has document {predicted.id!r}",
            file=gold.file,
            line=_line(gold, None),
            advice=_OTHER_ORDER,
        )
    if gold.unit != predicted.unit:
        raise _mismatch(names, gold, predicted, None, "unit", gold.unit, predicted.unit)
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
            raise _mismatch(names, gold, predicted, *found[:1], what, *found[1:])
    differ = gold.sentences != predicted.sentences
    if differ and gold.sentences and predicted.sentences and in_tokens and gold.tokens is not None:
        borders = [[sentence[:2] for sentence in document.sentences] for document in (gold, predicted)]
        for one, other in zip_longest(*borders):
            if one != other:
                raise _other_sentence(names, gold, predicted, one, other)


def _other_sentence(
    names: tuple[str, str],
    gold: Document,
    predicted: Document,
    own: tuple[int, int] | None,
    other: tuple[int, int] | None,
) -> TextMismatch:
    """Return the error for two different sentences, of which the shorter one ends where the other continues."""
    end = min(each[1] for each in (own, other) if each is not None)
    what = "begins" if own is not None and own[1] == end else "continues"
    index = end - gold.start
    place = _place(predicted, names[1], index)
    return TextMismatch(
        f"{names[0]} {what} a sentence{_position(gold, index)} where {place} does not",
        file=gold.file,
        line=_line(gold, index),
        document=_document(gold, index),
        advice=f"{names[0]} and {names[1]} must have the same text",
    )


def _line(document: Document, index: int | None) -> int | None:
    if document.lines is None:
        return None
    if index is None:
        return document.lines[0] if document.lines else None
    return document.lines[index] if index < len(document.lines) else None


def _document(document: Document, index: int | None) -> str | None:
    """Return the id of a document, unless a line says where something is."""
    return document.id if index is None or _line(document, index) is None else None


def _place(document: Document, name: str, index: int | None) -> str:
    line = _line(document, index)
    return (document.file or name) + ("" if line is None else f":{line}")


def _position(document: Document, index: int | None) -> str:
    """Return where something is in a document, unless its line says it."""
    return (
        ""
        if index is None or _line(document, index) is not None
        else f" at position {document.start + index}"
    )


def _mismatch(
    names: tuple[str, str],
    gold: Document,
    predicted: Document,
    index: int | None,
    what: str,
    own: object,
    other: object,
) -> TextMismatch:
    """Return the error for two different values; None is the end of a document."""
    where = _place(predicted, names[1], index)
    position = _position(gold, index)
    if isinstance(own, str) and isinstance(other, str):
        shown, other_shown = _shown(own, other)
    else:
        shown, other_shown = repr(own), repr(other)
    there = "ends" if other is None else f"has {other_shown}"
    advice = f"{names[0]} and {names[1]} must have the same text"
    if what == "token" and isinstance(own, str) and isinstance(other, str):
        advice += f"; {_OTHER_TOKENS}" * (own.startswith(other) or other.startswith(own))
    if what == "character" and index == 0:
        advice += "; documents in another order are paired with pair_by='content'"
    return TextMismatch(
        f"{names[0]} has the {what} {shown}{position} where {where} {there}"
        if own is not None
        else f"{names[0]} ends{position} where {where} continues with the {what} {other!r}",
        file=gold.file,
        line=_line(gold, index),
        document=_document(gold, index),
        advice=advice,
    )


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


def ends_early(file: str, other: str, document: Document) -> TextMismatch:
    """Return the error for a file that ends where another one has a document."""
    return TextMismatch(
        f"the file ends, but {_place(document, other, None)} continues with document {document.id!r}",
        file=file,
        advice="gold and predicted must have the same text",
    )
