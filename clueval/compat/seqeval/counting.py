"""Counts the spans of each type in two lists of sentences of tags, and the spans that are equal in both.

Both readings of seqeval depend on adjacent tags only, and no span crosses a position with an O on both sides. So the
sentences are split there, and each distinct part is decoded once.

A position whose true label is None or -100 is left out on both sides; a predicted None or -100 is an O.

Worked example: true ``B-A I-A O B-B``, predicted ``B-A O O I-B``. The third position is O on both sides, so
the parts are ``B-A I-A`` with ``B-A O`` (a span [0,2) and a span [0,1), not equal) and ``B-B`` with
``I-B`` (a span [0,1) of type B on both sides, equal):

>>> lenient_counts([["B-A", "I-A", "O", "B-B"]], [["B-A", "O", "O", "I-B"]])
TypeCounts(names=['A', 'B'], predicted=[1, 1], right=[0, 1], true=[1, 1])
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

from clueval.compat.seqeval.scheme import (
    EmptyTagError,
    Entities,
    Token,
    Tokens,
    WrongTypeError,
    scheme_or_error,
)
from clueval.core.tags import OUTSIDE
from clueval.files.errors import CluevalError, TagError
from clueval.metrics.seqeval_tags import Chunk, Decisions, ReachesBeyond, chunks, chunks_between, is_ignored
from clueval.reading.clusters import LayerClusters, Unusual

Sentences = Sequence[list[Any]]

Parts = Counter[tuple[tuple[str, ...], tuple[str, ...]]]
"""The true and the predicted tags of parts of sentences, and how often each occurs."""

_BATCH = 500
"""The number of sentences that are read together; more would no longer fit in the processor's cache."""


class TypeCounts(NamedTuple):
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


def flat(sentences: Iterable[Sequence[Any]]) -> list[Any]:
    """Return the tags of all sentences in one list, with an O after each sentence."""
    return list(chain.from_iterable((*sentence, OUTSIDE) for sentence in sentences))


def lenient_counts(y_true: Sentences, y_pred: Sentences, *, suffix: bool = False) -> TypeCounts:
    """Return the counts in seqeval's default reading, which is conlleval's. Warns of tags in another form."""
    true, predicted, parts = _parts(y_true, y_pred, require_tag)
    warn_of_strange_tags(chain.from_iterable(chain(*parts)), suffix=suffix)
    try:
        return _counted(parts, partial(chunks_between, decisions=Decisions(suffix=suffix)))
    except ReachesBeyond:
        sides = [set(chunks(flat(side), suffix=suffix)) for side in (true, predicted)]
        return TypeCounts.of_spans(sides[0], sides[1], lambda chunk: str(chunk[0]))


def strict_counts(
    y_true: Sentences, y_pred: Sentences, scheme: type[Token] | str, *, suffix: bool = False
) -> TypeCounts:
    """Return the counts in seqeval's strict reading. Raises `TagError` for a tag outside the scheme."""
    scheme = scheme_or_error(scheme)

    def check(tag: object) -> None:
        scheme(require_tag(tag), suffix=suffix).is_valid()

    def decode(tags: Sequence[str]) -> list[Chunk]:
        return [(each.tag, each.start, each.end) for each in Tokens(tags, scheme, suffix).entities]

    true, predicted, parts = _parts(y_true, y_pred, check)
    try:
        if scheme.__module__ == Token.__module__:
            return _counted(parts, decode)
        # in a scheme that the user has defined, an O may have any meaning
        return counts_of_entities(*(Entities(side, scheme, suffix) for side in (true, predicted)))
    except TagError:
        _check(y_true, y_pred, check)  # names the position
        raise


def counts_of_entities(true: Entities, predicted: Entities) -> TypeCounts:
    """Return the counts of spans that have been decoded already."""
    sides = set(chain(*true.entities)), set(chain(*predicted.entities))
    return TypeCounts.of_spans(*sides, lambda entity: str(entity.tag))


def require_tag(tag: object) -> str:
    """Return `tag`. Raises `WrongTypeError` (a TypeError) if it is not a string, `EmptyTagError` if empty."""
    if not isinstance(tag, str):
        raise WrongTypeError(f"{tag!r} is not a tag", advice="a tag is a string, as in [['B-PER', 'O']]")
    if not tag:
        raise EmptyTagError("a tag is empty", advice="write O for a token outside all spans")
    return tag


def warn_of_strange_tags(tags: Iterable[str], *, suffix: bool) -> None:
    """Warn once of every tag that is not of the form B-X, I-X, E-X or S-X (X-B and so on with `suffix`)."""
    known = ("-B", "-I", "-E", "-S") if suffix else ("B-", "I-", "E-", "S-")
    for tag in sorted(set(tags)):
        fits = tag.endswith(known) if suffix else tag.startswith(known)
        if not fits and tag not in (OUTSIDE, "B", "I", "E", "S"):
            warnings.warn(f"{tag} seems not to be NE tag.", stacklevel=2)


def _parts(
    y_true: Sentences, y_pred: Sentences, check: Callable[[Any], object]
) -> tuple[Sentences, Sentences, Parts]:
    """Return the tags of both sides that count, and their parts.

    Raises the error of `check` for the first tag that does not pass it, if some tag is of no scheme.
    """
    parts: Parts = Counter()
    try:
        clusters = LayerClusters([""], 2)
        for start in range(0, len(y_true), _BATCH):
            batch = (flat(side[start : start + _BATCH]) for side in (y_true, y_pred))
            clusters.add(None, clusters.text(batch))
        rows = clusters.characters.rows
        for text, times in clusters.clusters().items():
            _, true, predicted = zip(*map(rows.__getitem__, text), strict=True)
            parts[true, predicted] = times
        return y_true, y_pred, parts
    except (Unusual, TypeError):  # a tag in another form, or that cannot be hashed
        _check(y_true, y_pred, check)
        y_true, y_pred = _without_ignored(y_true, y_pred)
        return y_true, y_pred, Counter(zip(map(tuple, y_true), map(tuple, y_pred), strict=True))


def _check(y_true: Sentences, y_pred: Sentences, check: Callable[[Any], object]) -> None:
    """Raise the error of the first tag that does not pass `check`, with the position of the tag."""
    for name, sentences in (("y_true", y_true), ("y_pred", y_pred)):
        for number, sentence in enumerate(sentences):
            for position, tag in enumerate(sentence):
                try:
                    if not is_ignored(tag):
                        check(tag)
                except CluevalError as error:
                    error.problem = f"{name}[{number}][{position}]: {error.problem}"
                    raise


def _without_ignored(y_true: Sentences, y_pred: Sentences) -> tuple[Sentences, Sentences]:
    """Return both sides without positions whose true tag is ignored; an ignored predicted tag becomes O."""
    true, predicted = [], []
    for own, other in zip(y_true, y_pred, strict=True):
        kept = [
            (a, OUTSIDE if is_ignored(b) else b) for a, b in zip(own, other, strict=True) if not is_ignored(a)
        ]
        true.append([a for a, _ in kept])
        predicted.append([b for _, b in kept])
    return true, predicted


def _counted(parts: Parts, decode: Callable[[Sequence[str]], list[Chunk]]) -> TypeCounts:
    """Decode each distinct list of tags once, and count its spans multiplied by its number of occurrences."""
    counters: tuple[Counter[str], ...] = (Counter(), Counter(), Counter())
    known: dict[tuple[str, ...], list[Chunk]] = {}
    for sides, times in parts.items():
        for tags in sides:
            if tags not in known:
                known[tags] = decode(tags)
        true, predicted = map(known.__getitem__, sides)
        right = true if true is predicted else set(true).intersection(predicted)
        for counter, spans in zip(counters, (predicted, right, true), strict=True):
            for type_, _, _ in spans:
                counter[type_] += times
    return TypeCounts.of(*counters)
