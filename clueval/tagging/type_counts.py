"""Counts the spans of each type in two lists of sentences of tags, and the spans that are equal in both.

Both readings of seqeval depend on adjacent tags only, and no span crosses an O or (in most schemes) continues
at a B. So the sentences are cut into *stretches*: at positions where no span can go on, on either side, and
where both sides are O. Each pair of a true and a predicted tag becomes one character, with a blank at each
cut; a sentence becomes a string, which is split at its blanks. Python counts equal stretches at the speed of
C, and each distinct stretch is decoded once. Sentences that are equal on both sides are encoded once.

A position whose true label is None or -100 is left out on both sides; a predicted None or -100 is an O.

Worked example: true ``B-A I-A O B-B``, predicted ``B-A O O I-B``. The third position is O on both sides, so
the stretches are ``B-A I-A`` with ``B-A O`` (a span [0,2) and a span [0,1), not equal) and ``B-B`` with
``I-B`` (a span [0,1) of type B on both sides, equal):

>>> lenient_counts([["B-A", "I-A", "O", "B-B"]], [["B-A", "O", "O", "I-B"]], suffix=False)
TypeCounts(names=['A', 'B'], predicted=[1, 1], right=[0, 1], true=[1, 1])
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, compress
from operator import getitem, ne, not_
from typing import Any, NamedTuple

from clueval.exceptions import CluevalError, TagError, UsageError
from clueval.tagging.lenient_chunks import (
    Chunk,
    Decisions,
    ReachesBeyond,
    chunks,
    chunks_of_stretch,
    flat,
    is_ignored,
    read_tag,
    require_tag,
    warn_of_strange_tags,
)
from clueval.tagging.schemes import OUTSIDE
from clueval.tagging.token_schemes import Entities, Token, Tokens, scheme_or_error

Sentences = Sequence[list[Any]]


@dataclass(frozen=True, slots=True)
class TypeCounts:
    """The types on both sides, sorted, and for each type the number of predicted, correct and true spans."""

    names: list[str]
    predicted: list[int]
    right: list[int]
    true: list[int]

    @classmethod
    def of(cls, predicted: Counter[str], right: Counter[str], true: Counter[str]) -> TypeCounts:
        names = sorted(predicted.keys() | true.keys())
        return cls(names, *([counts[name] for name in names] for counts in (predicted, right, true)))

    @classmethod
    def of_spans(cls, true: set[Any], predicted: set[Any], type_of: Callable[[Any], str]) -> TypeCounts:
        """Return the counts for two sets of spans; `type_of` returns the type of a span."""
        return cls.of(*(Counter(map(type_of, spans)) for spans in (predicted, true & predicted, true)))


# The lenient reading


def lenient_counts(y_true: Sentences, y_pred: Sentences, suffix: bool) -> TypeCounts:
    """Return the counts in seqeval's default reading, which is conlleval's. Warns of tags in another form."""

    def count(y_true: Sentences, y_pred: Sentences) -> TypeCounts:
        decode = partial(chunks_of_stretch, decisions=Decisions(suffix))
        try:
            stretches = _stretches(y_true, y_pred, _LENIENT_CUTS, suffix)
        except _OtherLetter:
            stretches = _stretches(y_true, y_pred, _ONLY_OUTSIDE, suffix)
        warn_of_strange_tags(chain(*stretches.pairs), suffix)
        try:
            return _count(stretches, decode)
        except ReachesBeyond:
            true, predicted = (set(chunks(flat(side), suffix)) for side in (y_true, y_pred))
            return TypeCounts.of_spans(true, predicted, lambda chunk: str(chunk[0]))

    return _checked(count, y_true, y_pred, partial(read_tag, suffix=suffix))


# The strict reading


def strict_counts(y_true: Sentences, y_pred: Sentences, scheme: type[Token], suffix: bool) -> TypeCounts:
    """Return the counts in seqeval's strict reading. Raises `TagError` for a tag outside the scheme."""
    scheme_or_error(scheme)

    def count(y_true: Sentences, y_pred: Sentences) -> TypeCounts:
        stretches = _stretches(y_true, y_pred, _STRICT_CUTS.get(scheme.__name__, _ONLY_OUTSIDE), suffix)
        if scheme.__module__ == Token.__module__:
            return _count(stretches, partial(_strict_stretch, scheme=scheme, suffix=suffix))
        # in a scheme that the user has defined, an O may have any meaning
        return counts_of_entities(*(Entities(side, scheme, suffix) for side in (y_true, y_pred)))

    return _checked(count, y_true, y_pred, lambda tag: scheme(require_tag(tag), suffix=suffix).is_valid())


def counts_of_entities(true: Entities, predicted: Entities) -> TypeCounts:
    """Return the counts of spans that have been decoded already."""
    sides = set(chain(*true.entities)), set(chain(*predicted.entities))
    return TypeCounts.of_spans(*sides, lambda entity: str(entity.tag))


def _strict_stretch(tags: Sequence[str], scheme: type[Token], suffix: bool) -> list[Chunk]:
    return [(entity.tag, entity.start, entity.end) for entity in Tokens(tags, scheme, suffix).entities]


# Both


class _Ignored(Exception):  # always caught in this module
    """There are positions that are not counted."""


def _checked(
    count: Callable[[Sentences, Sentences], TypeCounts],
    y_true: Sentences,
    y_pred: Sentences,
    check: Callable[[Any], object],
) -> TypeCounts:
    """Call `count`, without ignored positions; an error names the first tag for which `check` raises."""
    sides: tuple[Sentences, Sentences] = list(y_true), list(y_pred)
    try:
        try:
            return count(*sides)
        except _Ignored:
            sides = without_ignored(*sides)
            return count(*sides)
    except (TagError, TypeError):
        _check_tags("y_true", y_true, check)
        _check_tags("y_pred", y_pred, check)
        raise


def _check_tags(name: str, sentences: Sentences, check: Callable[[Any], object]) -> None:
    """Raise the error of the first tag that does not pass `check`, with the position of the tag."""
    for number, sentence in enumerate(sentences):
        for position, tag in enumerate(sentence):
            try:
                if not is_ignored(tag):
                    check(tag)
            except CluevalError as error:
                error.problem = f"{name}[{number}][{position}]: {error.problem}"
                raise


class _Stretches(NamedTuple):
    """How often each stretch occurs, as a string with one character per position; `pairs` are their meanings.

    Character number n means the pair ``pairs[n]`` of a true and a predicted tag.
    """

    counts: Counter[str]
    pairs: Sequence[tuple[str, str]]


def _count(stretches: _Stretches, decode: Callable[[Sequence[str]], list[Chunk]]) -> TypeCounts:
    """Decode each distinct stretch once, and count its spans multiplied by its number of occurrences."""
    counters: tuple[Counter[str], ...] = (Counter(), Counter(), Counter())
    known: dict[tuple[str, ...], list[Chunk]] = {}
    tags_of = [{chr(n): pair[side] for n, pair in enumerate(stretches.pairs)} for side in range(2)]

    def spans_of(stretch: str, side: int) -> list[Chunk]:
        tags = tuple(map(tags_of[side].__getitem__, stretch))
        if tags not in known:
            known[tags] = decode(tags)
        return known[tags]

    for stretch, n in stretches.counts.items():
        true, predicted = spans_of(stretch, 0), spans_of(stretch, 1)
        right = true if true is predicted else set(true).intersection(predicted)
        for counter, spans in zip(counters, (predicted, right, true), strict=True):
            for type_, _, _ in spans:
                counter[type_] += n
    return TypeCounts.of(*counters)


class _Cuts(NamedTuple):
    """Where to cut besides at O: before tags with a letter of `before`, after tags with a letter of `after`.

    No span crosses such a cut if all letters are in `known` (None: any letters).
    """

    before: str
    after: str
    known: str | None = None


_ONLY_OUTSIDE = _Cuts("", "")
_LENIENT_CUTS = _Cuts("BS", "ES", "OBIES")
_STRICT_CUTS = {
    "IOB2": _Cuts("B", ""),
    "IOE2": _Cuts("", "E"),
    "IOBES": _Cuts("BS", "ES"),
    "BILOU": _Cuts("BU", "LU"),
}
"""In the other schemes, a letter alone does not show where a span begins or ends."""


class _OtherLetter(Exception):  # always caught in this module
    """There is a letter that is not in `_Cuts.known`."""


_BATCH = 500
"""Number of sentences that are encoded together; more would no longer fit in the processor's cache."""


class _Alphabet:
    """Assigns a character to every pair of a true and a predicted tag; O on both sides is a blank.

    `rows` holds the characters by true tag and then by predicted tag, `same` the characters of equal tags by
    tag. A blank is added before or after a character if there is a cut.
    """

    def __init__(self, cuts: _Cuts, suffix: bool) -> None:
        self._cuts = cuts
        self._letter = -1 if suffix else 0
        self.pairs: list[tuple[str, str]] = []
        self.rows: dict[Any, dict[Any, str]] = {OUTSIDE: {OUTSIDE: " "}}
        self.same: dict[Any, str] = {OUTSIDE: " "}

    def encode(self, true: list[Any], predicted: list[Any]) -> str:
        try:
            return "".join(map(getitem, map(self.rows.__getitem__, true), predicted))
        except KeyError:
            self._learn(set(zip(true, predicted, strict=True)))
            return self.encode(true, predicted)

    def encode_same(self, tags: list[Any]) -> str:
        try:
            return "".join(map(self.same.__getitem__, tags))
        except KeyError:
            self._learn({(tag, tag) for tag in set(tags)})
            return self.encode_same(tags)

    def _learn(self, pairs: Iterable[tuple[Any, Any]]) -> None:
        """Assign characters to new pairs. Raises `_Ignored` for a position that is not counted."""
        for true, predicted in pairs:
            if is_ignored(true) or is_ignored(predicted):
                raise _Ignored
            row = self.rows.setdefault(require_tag(true), {})
            if require_tag(predicted) not in row:
                row[predicted] = self._new_character(true, predicted)
            if true == predicted:
                self.same[true] = row[predicted]

    def _new_character(self, true: str, predicted: str) -> str:
        while chr(len(self.pairs)).isspace():
            self.pairs.append((OUTSIDE, OUTSIDE))
        if len(self.pairs) == sys.maxunicode:
            raise UsageError(f"more than {sys.maxunicode} distinct pairs of true and predicted tags")
        self.pairs.append((true, predicted))
        before, after, known = self._cuts
        letters = {tag[self._letter] for tag in (true, predicted) if tag != OUTSIDE}
        if known is not None and not letters <= set(known):
            raise _OtherLetter
        opening = " " if letters <= set(before) else ""
        closing = " " if letters <= set(after) else ""
        return opening + chr(len(self.pairs) - 1) + closing


def _stretches(y_true: Sentences, y_pred: Sentences, cuts: _Cuts, suffix: bool) -> _Stretches:
    """Cut both sides into stretches and count equal ones. Holds distinct stretches and `_BATCH` sentences."""
    alphabet = _Alphabet(cuts, suffix)
    counts: Counter[str] = Counter()
    for start in range(0, len(y_true), _BATCH):
        true, predicted = y_true[start : start + _BATCH], y_pred[start : start + _BATCH]
        differ = list(map(ne, true, predicted))
        text = alphabet.encode(flat(compress(true, differ)), flat(compress(predicted, differ)))
        counts.update(text.split())
        counts.update(alphabet.encode_same(flat(compress(true, map(not_, differ)))).split())
    return _Stretches(counts, alphabet.pairs)


def without_ignored(y_true: Sentences, y_pred: Sentences) -> tuple[Sentences, Sentences]:
    """Return both sides without positions whose true tag is ignored; an ignored predicted tag becomes O."""
    true, predicted = [], []
    for own, other in zip(y_true, y_pred, strict=True):
        kept = [
            (a, OUTSIDE if is_ignored(b) else b) for a, b in zip(own, other, strict=True) if not is_ignored(a)
        ]
        true.append([a for a, _ in kept])
        predicted.append([b for _, b in kept])
    return true, predicted
