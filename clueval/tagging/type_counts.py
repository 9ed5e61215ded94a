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

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any

from clueval.exceptions import CluevalError, TagError
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
from clueval.tagging.stretches import (
    ONLY_OUTSIDE,
    Cuts,
    Ignored,
    OtherLetter,
    Sentences,
    Stretches,
    count_stretches,
)
from clueval.tagging.token_schemes import Entities, Token, Tokens, scheme_or_error


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
            stretches = count_stretches(y_true, y_pred, _LENIENT_CUTS, suffix)
        except OtherLetter:
            stretches = count_stretches(y_true, y_pred, ONLY_OUTSIDE, suffix)
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
        stretches = count_stretches(y_true, y_pred, _STRICT_CUTS.get(scheme.__name__, ONLY_OUTSIDE), suffix)
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
        except Ignored:
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


def _count(stretches: Stretches, decode: Callable[[Sequence[str]], list[Chunk]]) -> TypeCounts:
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


_LENIENT_CUTS = Cuts("BS", "ES", "OBIES")
_STRICT_CUTS = {
    "IOB2": Cuts("B", ""),
    "IOE2": Cuts("", "E"),
    "IOBES": Cuts("BS", "ES"),
    "BILOU": Cuts("BU", "LU"),
}
"""In the other schemes, a letter alone does not show where a span begins or ends."""


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
