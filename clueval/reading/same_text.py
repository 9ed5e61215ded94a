"""Checks that the documents of two sides have the same text, and reports the first difference."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from typing import ClassVar

from clueval.core.document import Document, Pair, with_positions
from clueval.core.span import SIDES, name_of
from clueval.files.errors import QUOTED, SpanError, TextMismatch, differ_in_form, not_read, with_noun
from clueval.formats.input_file import InputFile
from clueval.transforms.changes import EachPair

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


@dataclass(frozen=True)
class SameText(EachPair):
    """A step that changes nothing. Raises `TextMismatch` for two documents with different texts.

    Attributes:
        places: whether positions count, so that it raises `UsageError` for mentions, which have none.
    """

    places: bool = True

    signature: ClassVar[tuple[str, str]] = ("", "")

    def of_pair(self, pair: Pair) -> Iterator[Pair]:
        if not pair.beside:
            require_same_text(*map(with_positions, pair.sides) if self.places else pair.sides)
        yield pair


def require_same_text(gold: Document, predicted: Document, names: tuple[str, str] = SIDES) -> None:
    """Raise `TextMismatch` for the first difference of two documents in id, unit, text, token ids or sentences.

    A property that one of them lacks is not compared. `names` are those of the two sides, for the message. Raises
    `SpanError` for a predicted span beyond the text, which the predicted document need not have.
    """
    if gold.id != predicted.id:
        counterpart = f"{_place(predicted, names[1])} has document {predicted.id!r}"
        problem = f"{names[0]} has document {gold.id!r} where {counterpart}"
        raise TextMismatch(problem, file=gold.file, line=_line(gold, None), advice=_OTHER_ORDER)
    if gold.unit != predicted.unit:
        raise _other_value(names, gold, predicted, None, "unit", gold.unit, predicted.unit)
    in_tokens = gold.unit == "token"
    for name in ("tokens", "token_ids", "text") if in_tokens else ("text",):
        gold_values, predicted_values = getattr(gold, name), getattr(predicted, name)
        if gold_values is None or predicted_values is None or gold_values == predicted_values:
            continue
        if in_tokens and name == "text" and gold.tokens is not None and predicted.tokens is not None:
            continue  # the tokens are equal; only the spaces between them differ
        for index, (gold_value, predicted_value) in enumerate(zip_longest(gold_values, predicted_values)):
            if gold_value != predicted_value:
                what = {"tokens": "token", "token_ids": "token id", "text": "character"}[name]
                raise _other_value(names, gold, predicted, index, what, gold_value, predicted_value)
    if in_tokens and gold.tokens is not None and gold.sentences and predicted.sentences:
        for first, second in zip_longest(gold.sentences, predicted.sentences):
            if first is None or second is None or first[:2] != second[:2]:
                # the shorter sentence ends where the other continues
                end = min(sentence[1] for sentence in (first, second) if sentence is not None)
                what = "begins" if first is not None and first[1] == end else "continues"
                index = end - gold.start
                counterpart = f"{_place(predicted, names[1], index)} does not"
                problem = f"{names[0]} {what} a sentence{_position(gold, index)} where {counterpart}"
                raise _mismatch(gold, problem, index, f"{names[0]} and {names[1]} must have the same text")
    if predicted.text is None and gold.text is not None and gold.unit == "character":
        end = gold.start + len(gold.text)
        for span in (each for spans in predicted.layers.values() for each in spans if each.end > end):
            raise SpanError(
                f"span {name_of(span)} lies outside the text of {names[0]}, which has "
                + with_noun(len(gold.text), "characters"),
                **predicted.in_errors,
                line=span.line,
            )


def _mismatch(gold: Document, problem: str, index: int | None, advice: str) -> TextMismatch:
    """Return the error at an index of gold; it has the id of the document unless a line says where something is."""
    line = _line(gold, index)
    document = gold.id if index is None or line is None else None
    return TextMismatch(problem, file=gold.file, line=line, document=document, advice=advice)


def _line(document: Document, index: int | None) -> int | None:
    lines = document.lines or ()
    index = index or 0
    return lines[index] if index < len(lines) else None


def _place(document: Document, name: str, index: int | None = None) -> str:
    line = _line(document, index)
    return (document.file or name) + ("" if line is None else f":{line}")


def _position(document: Document, index: int | None) -> str:
    """Return where something is in a document, unless its line says it."""
    if index is None or _line(document, index) is not None:
        return ""
    return f" at position {document.start + index}"


def _other_value(
    names: tuple[str, str],
    gold: Document,
    predicted: Document,
    index: int | None,
    what: str,
    gold_value: str | None,
    predicted_value: str | None,
) -> TextMismatch:
    """Return the error for two different values; None is the end of a document."""
    where, position = _place(predicted, names[1], index), _position(gold, index)
    advice = f"{names[0]} and {names[1]} must have the same text"
    if what == "unit":
        advice += "; files of different formats are placed on one text, documents in memory are not"
    if gold_value is None:
        continues = f"{where} continues with the {what} {predicted_value!r}"
        problem = f"the document ends in {names[0]}{position} where {continues}"
        return _mismatch(gold, problem, index, advice)
    if predicted_value is None:
        problem = f"{names[0]} has the {what} {gold_value!r}{position} where the document ends in {where}"
    else:
        gold_shown, predicted_shown = _shown_values(gold_value, predicted_value)
        problem = f"{names[0]} has the {what} {gold_shown}{position} where {where} has {predicted_shown}"
        if what == "token" and (
            gold_value.startswith(predicted_value) or predicted_value.startswith(gold_value)
        ):
            advice += f"; {_OTHER_TOKENS}"
        if differ_in_form(gold_value, predicted_value):
            advice += "; the two look the same but have different Unicode forms (NFC, NFD)"
    if what == "character" and index == 0:
        advice += "; documents in another order are paired with pair_by='content'"
    return _mismatch(gold, problem, index, advice)


def _shown_values(gold: str, predicted: str) -> tuple[str, str]:
    """Return two different values as an error shows them: long values only around their first difference."""
    if max(len(gold), len(predicted)) <= SHOWN and max(len(repr(gold)), len(repr(predicted))) <= QUOTED:
        return repr(gold), repr(predicted)
    pairs = enumerate(zip_longest(gold, predicted))
    place = next(place for place, (first, second) in pairs if first != second)
    around = SHOWN // 2
    while True:
        start = max(0, place - around)
        parts = [value[start : place + around] for value in (gold, predicted)]
        if around == 1 or max(len(repr(part)) for part in parts) <= QUOTED:
            break
        around //= 2  # escapes take several characters each
    gold_shown, predicted_shown = (f"{part!r} from character {start} on" for part in parts)
    return gold_shown, predicted_shown


def ends_early(file: InputFile, other_file: str, document: Document, *, is_empty: bool) -> TextMismatch:
    """Return the error for a file that ends where another one has a document; `is_empty`: it has none."""
    has_none = f"has no documents{not_read(file.passed_over)}"
    ends, goes_on = (has_none, "begins") if is_empty else ("ends", "continues")
    return TextMismatch(
        f"the file {ends}, but {_place(document, other_file)} {goes_on} with document {document.id!r}",
        file=file.name,
        advice="gold and predicted must have the same documents; pair_by='id' names those that only one has",
    )
