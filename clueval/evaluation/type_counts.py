"""Counts the spans of each type in two lists of sentences of tags, and the spans that are equal in both.

Both readings of seqeval depend on adjacent tags only, and no span crosses a position with an O on both sides. So the
sentences are split there into clusters, as in `clueval.clusters.bag`, and each distinct one is decoded once.

A position whose true label is None or -100 is left out on both sides; a predicted None or -100 is an O.

Worked example: true ``B-A I-A O B-B``, predicted ``B-A O O I-B``. The third position is O on both sides, so
the clusters are ``B-A I-A`` with ``B-A O`` (a span [0,2) and a span [0,1), not equal) and ``B-B`` with
``I-B`` (a span [0,1) of type B on both sides, equal):

>>> lenient_counts([["B-A", "I-A", "O", "B-B"]], [["B-A", "O", "O", "I-B"]], suffix=False)
TypeCounts(names=['A', 'B'], predicted=[1, 1], right=[0, 1], true=[1, 1])
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, compress, repeat
from operator import ne, not_
from typing import Any

from clueval.clusters.bag import Bag
from clueval.files.errors import CluevalError, TagError
from clueval.tagging.lenient_chunks import (
    Chunk,
    Decisions,
    ReachesBeyond,
    chunks,
    chunks_between,
    is_ignored,
    read_tag,
    require_tag,
    warn_of_strange_tags,
)
from clueval.tagging.schemes import OUTSIDE, flat
from clueval.tagging.token_schemes import Entities, Token, Tokens, scheme_or_error

Sentences = Sequence[list[Any]]

Cluster = tuple[tuple[str, ...], tuple[str, ...]]
"""The true and the predicted tags."""

_BATCH = 500
"""The number of sentences that are read together; more would no longer fit in the processor's cache."""


class _Ignored(Exception):  # always caught in `_checked`
    """There are positions that are not counted."""


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
        clusters = _clusters(y_true, y_pred)
        warn_of_strange_tags(chain.from_iterable(chain(*clusters)), suffix)
        try:
            return _count(clusters, partial(chunks_between, decisions=Decisions(suffix)))
        except ReachesBeyond:
            true, predicted = (set(chunks(flat(side), suffix)) for side in (y_true, y_pred))
            return TypeCounts.of_spans(true, predicted, lambda chunk: str(chunk[0]))

    return _checked(count, y_true, y_pred, partial(read_tag, suffix=suffix))


# The strict reading


def strict_counts(
    y_true: Sentences, y_pred: Sentences, scheme: type[Token] | str, suffix: bool
) -> TypeCounts:
    """Return the counts in seqeval's strict reading. Raises `TagError` for a tag outside the scheme."""
    scheme = scheme_or_error(scheme)

    def count(y_true: Sentences, y_pred: Sentences) -> TypeCounts:
        clusters = _clusters(y_true, y_pred)
        if scheme.__module__ == Token.__module__:
            return _count(clusters, partial(_strict_chunks, scheme=scheme, suffix=suffix))
        # in a scheme that the user has defined, an O may have any meaning
        return counts_of_entities(*(Entities(side, scheme, suffix) for side in (y_true, y_pred)))

    return _checked(count, y_true, y_pred, lambda tag: scheme(require_tag(tag), suffix=suffix).is_valid())


def counts_of_entities(true: Entities, predicted: Entities) -> TypeCounts:
    """Return the counts of spans that have been decoded already."""
    sides = set(chain(*true.entities)), set(chain(*predicted.entities))
    return TypeCounts.of_spans(*sides, lambda entity: str(entity.tag))


def _strict_chunks(tags: Sequence[str], scheme: type[Token], suffix: bool) -> list[Chunk]:
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


def _clusters(y_true: Sentences, y_pred: Sentences) -> Counter[Cluster]:
    """Return how often each cluster occurs. Raises `_Ignored` if there is a position that is not counted."""
    bag = Bag(sides=2, layers=1, check=_require_counted)
    for start in range(0, len(y_true), _BATCH):
        sides = y_true[start : start + _BATCH], y_pred[start : start + _BATCH]
        differ = list(map(ne, *sides))
        bag.add(bag.text(zip(repeat(1), *(flat(compress(side, differ)) for side in sides), strict=False)))
        bag.add(bag.text_of_same([flat(compress(sides[0], map(not_, differ)))]))
    found: Counter[Cluster] = Counter()
    for text, number in bag.take().items():
        _, *tags = zip(*map(bag.characters.rows.__getitem__, text), strict=True)
        found[tags[0], tags[1]] = number
    return found


def _require_counted(tag: Any) -> None:
    if is_ignored(tag):
        raise _Ignored
    require_tag(tag)


def _count(clusters: Counter[Cluster], decode: Callable[[Sequence[str]], list[Chunk]]) -> TypeCounts:
    """Decode each distinct list of tags once, and count its spans multiplied by its number of occurrences."""
    counters: tuple[Counter[str], ...] = (Counter(), Counter(), Counter())
    known: dict[tuple[str, ...], list[Chunk]] = {}
    for cluster, n in clusters.items():
        for tags in cluster:
            if tags not in known:
                known[tags] = decode(tags)
        true, predicted = map(known.__getitem__, cluster)
        right = true if true is predicted else set(true).intersection(predicted)
        for counter, spans in zip(counters, (predicted, right, true), strict=True):
            for type_, _, _ in spans:
                counter[type_] += n
    return TypeCounts.of(*counters)


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
