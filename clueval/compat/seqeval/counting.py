"""Counts the spans of each type on two sides, and computes rates and averages, with seqeval's warnings.

Both readings of seqeval depend on adjacent tags only, and no span crosses a position with an O on both sides. So the
sentences are split there, and each distinct part is decoded once. A position whose true label is None or -100 is left
out on both sides; a predicted None or -100 is an O.

Worked example: true ``B-A I-A O B-B``, predicted ``B-A O O I-B``. The third position is O on both sides, so the parts
are ``B-A I-A`` with ``B-A O`` (not equal) and ``B-B`` with ``I-B`` (a span of type B on both sides, equal):

>>> lenient_counts([["B-A", "I-A", "O", "B-B"]], [["B-A", "O", "O", "I-B"]])
TypeCounts(names=['A', 'B'], predicted=[1, 1], right=[0, 1], true=[1, 1])

A rate of 0/0 is `zero_division` ("warn" is 0.0 with a warning). The F-score of precision p and recall r is
``(1 + beta²) p r / (beta² p + r)``, and 0 if both are 0. *micro* adds the counts first, *macro* is the mean over types,
*weighted* the mean weighted by true spans. Sums are made in numpy's order, so scores equal seqeval's to the last bit.
Over no types at all seqeval's macro average is nan; here it is undefined like any other 0/0.
"""

from __future__ import annotations

import math
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cache, partial, reduce
from itertools import chain, pairwise, repeat, starmap
from operator import add
from typing import Any, NamedTuple

from clueval.compat.seqeval.scheme import (
    EmptyTagError,
    Entities,
    Relations,
    Token,
    WrongTypeError,
    complete_spans,
    scheme_or_error,
)
from clueval.core.tags import OUTSIDE
from clueval.files.errors import CluevalError, TagError, UsageError
from clueval.metrics.seqeval_tags import Chunk, Decisions, ReachesBeyond, chunks, chunks_between, is_ignored
from clueval.reading.clusters import BATCH, BLANK, LayerClusters, Unusual

Sentences = Sequence[list[Any]]
ZeroDivision = str | float
PerType = tuple[list[float], list[float], list[float], list[int]]
Averaged = tuple[float, float, float, int]


class TypeCounts(NamedTuple):
    """The types on both sides, sorted, and for each type the number of predicted, correct and true spans."""

    names: list[str]
    predicted: list[int]
    right: list[int]
    true: list[int]

    @classmethod
    def of(cls, true: Counter[str], right: Counter[str], predicted: Counter[str]) -> TypeCounts:
        names = sorted(predicted.keys() | true.keys())
        return cls(names, *([counts[name] for name in names] for counts in (predicted, right, true)))

    @classmethod
    def of_entities(cls, true: Entities, predicted: Entities) -> TypeCounts:
        """Return the counts of spans that have been decoded already."""
        true_spans, predicted_spans = set(chain(*true.entities)), set(chain(*predicted.entities))
        return cls.of(
            *(
                Counter(str(span.tag) for span in spans)
                for spans in (true_spans, true_spans & predicted_spans, predicted_spans)
            )
        )


def lenient_counts(y_true: Sentences, y_pred: Sentences, *, suffix: bool = False) -> TypeCounts:
    """Return the counts in seqeval's default reading, which is conlleval's. Warns of tags in another form."""
    columns, sentences = _columns(y_true, y_pred, require_tag)
    warn_of_strange_tags({*columns.true, *columns.predicted}, suffix=suffix)
    try:
        return columns.counts(partial(chunks_between, decisions=Decisions(suffix=suffix)))
    except ReachesBeyond:
        return _Columns.of_sentences(*sentences).counts(partial(chunks, suffix=suffix))


def strict_counts(
    y_true: Sentences, y_pred: Sentences, scheme: type[Token] | str, *, suffix: bool = False
) -> TypeCounts:
    """Return the counts in seqeval's strict reading. Raises `TagError` for a tag outside the scheme."""
    scheme = scheme_or_error(scheme)

    @cache
    def token(tag: str) -> Token:
        made = scheme(tag, suffix=suffix)
        made.is_valid()
        return made

    def check(tag: object) -> None:
        token(require_tag(tag))

    @cache
    def relations(before: str, tag: str) -> Relations:
        return token(tag).relations(token(before))

    def decode(tags: Sequence[str]) -> Iterator[Chunk]:
        for start, end in complete_spans(list(starmap(relations, pairwise((OUTSIDE, *tags, OUTSIDE))))):
            yield token(tags[start]).tag, start, end

    columns, sentences = _columns(y_true, y_pred, check)
    try:
        if scheme.__module__ == Token.__module__:
            return columns.counts(decode)
        # where the user has defined it, an O may have any meaning
        return TypeCounts.of_entities(*(Entities(side, scheme, suffix) for side in sentences))
    except TagError:
        _check(y_true, y_pred, check)  # names the position
        raise


# --- tags


def flat(sentences: Iterable[Sequence[Any]]) -> list[Any]:
    """Return the tags of all sentences in one list, with an O after each sentence."""
    return list(chain.from_iterable((*sentence, OUTSIDE) for sentence in sentences))


def require_tag(tag: object) -> str:
    """Return `tag`. Raises `WrongTypeError` (a TypeError) if it is not a string, `EmptyTagError` if empty."""
    if not isinstance(tag, str):
        raise WrongTypeError(f"{tag!r} is not a tag", advice="a tag is a string, as in [['B-PER', 'O']]")
    if not tag:
        raise EmptyTagError("a tag is empty", advice="write O for a token outside all spans")
    return tag


def warn_of_strange_tags(tags: Iterable[str], *, suffix: bool) -> None:
    """Warn once of every tag that is not of the form B-X, I-X, E-X or S-X (X-B and so on with `suffix`)."""
    affixes = ("-B", "-I", "-E", "-S") if suffix else ("B-", "I-", "E-", "S-")
    for tag in sorted(set(tags)):
        fits = tag.endswith(affixes) if suffix else tag.startswith(affixes)
        if not fits and tag not in (OUTSIDE, "B", "I", "E", "S"):
            warnings.warn(f"{tag} seems not to be NE tag.", stacklevel=2)


class _Columns(NamedTuple):
    """The tags of both sides with an O after each part, and how often the part of each tag occurs."""

    true: Sequence[str]
    predicted: Sequence[str]
    times: Sequence[int]

    @classmethod
    def of_sentences(cls, y_true: Sentences, y_pred: Sentences) -> _Columns:
        true, predicted = flat(y_true), flat(y_pred)
        return cls(true, predicted, [1] * len(true))

    @classmethod
    def of_clusters(cls, y_true: Sentences, y_pred: Sentences) -> _Columns:
        """Return each different part between two O once. Raises `Unusual` for a tag in another form."""
        group = LayerClusters([""], 2)
        for start in range(0, len(y_true), BATCH):
            group.add_lists(None, [side[start : start + BATCH] for side in (y_true, y_pred)])
        clusters = group.clusters()
        rows = map(group.characters.rows.__getitem__, BLANK.join(["", *clusters, ""]))
        _, true, predicted = zip(*rows, strict=True)
        return cls(true, predicted, [0, *chain(*(repeat(n, len(text) + 1) for text, n in clusters.items()))])

    def counts(self, decode: Callable[[Sequence[str]], Iterable[Chunk]]) -> TypeCounts:
        """Return how many spans of each type `decode` returns for each side and for both."""
        true, predicted = set(decode(self.true)), set(decode(self.predicted))
        counters: list[Counter[str]] = []
        for spans in (true, true & predicted, predicted):
            counter: Counter[str] = Counter()
            for type_, first, _ in spans:
                counter[type_] += self.times[first]
            counters.append(counter)
        return TypeCounts.of(*counters)


def _columns(
    y_true: Sentences, y_pred: Sentences, check: Callable[[Any], object]
) -> tuple[_Columns, tuple[Sentences, Sentences]]:
    """Return the tags of both sides that count, and the sentences of these tags.

    Raises the error of `check` for the first tag that does not pass it, if some tag is of no scheme.
    """
    try:
        return _Columns.of_clusters(y_true, y_pred), (y_true, y_pred)
    except (Unusual, TypeError):  # a tag in another form, or that cannot be hashed
        _check(y_true, y_pred, check)
    if not any(is_ignored(tag) for tag in chain(*y_true, *y_pred)):
        return _Columns.of_sentences(y_true, y_pred), (y_true, y_pred)
    kept = [
        [(a, OUTSIDE if is_ignored(b) else b) for a, b in zip(*pair, strict=True) if not is_ignored(a)]
        for pair in zip(y_true, y_pred, strict=True)
    ]
    y_true, y_pred = ([[pair[side] for pair in sentence] for sentence in kept] for side in (0, 1))
    return _columns(y_true, y_pred, check)


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


# --- rates


class UndefinedMetricWarning(UserWarning, RuntimeWarning):
    """A rate is undefined (0/0) and set to 0.0; replaces scikit-learn's warning of this name.

    If scikit-learn is loaded, the warning is an instance of its class, too, so that filters for that class apply.
    """


@cache
def _subclass_of(base: type[Warning]) -> type[UndefinedMetricWarning]:
    return type(UndefinedMetricWarning.__name__, (UndefinedMetricWarning, base), {"__module__": __name__})


def check_arguments(average: str | None, beta: float, zero_division: ZeroDivision) -> None:
    """Raise `UsageError` (a ValueError) for an invalid argument."""
    if beta < 0:
        raise UsageError(f"beta should be >=0 in the F-beta score, not {beta!r}")
    for name, value, choices in (
        ("average", average, (None, "micro", "macro", "weighted")),
        ("zero_division", zero_division, ("warn", 0, 1)),
    ):
        if value not in choices:
            raise UsageError(f"{name} has to be one of {choices}, not {value!r}")


def averaged(
    counts: TypeCounts,
    average: str | None,
    *,
    warn_for: Collection[str],
    beta: float,
    zero_division: ZeroDivision,
) -> PerType | Averaged:
    """Return precision, recall, F-score and support: lists over the types in order, or averages."""
    predicted, right, true = counts.predicted, counts.right, counts.true
    if average == "micro" or (average == "macro" and not true):
        predicted, right, true = [sum(predicted)], [sum(right)], [sum(true)]
    undefined = 1.0 if zero_division == 1 else 0.0
    if zero_division == "warn":
        _warn(predicted, true, warn_for)
    precision = [part / whole if whole else undefined for part, whole in zip(right, predicted, strict=True)]
    recall = [part / whole if whole else undefined for part, whole in zip(right, true, strict=True)]
    square = beta**2  # the order of the operations is seqeval's
    f = recall
    if not math.isinf(beta):
        pairs = zip(precision, recall, strict=True)
        f = [(1 + square) * p * r / (square * p + r or 1.0) for p, r in pairs]
    if average is None:
        return precision, recall, f, true
    support = sum(true)
    if average == "weighted" and not support:
        without_any = 0.0 if sum(predicted) else undefined
        return without_any, undefined, without_any, support
    rates, whole = [precision, recall, f], float(len(true))
    if average == "weighted":
        rates = [[r * n for r, n in zip(rate, true, strict=True)] for rate in rates]
        whole = pairwise_sum(true)
    p, r, f_mean = (pairwise_sum(rate) / whole for rate in rates)
    return p, r, f_mean, support


def _warn(predicted: Sequence[int], true: Sequence[int], warn_for: Collection[str]) -> None:
    """Warn as seqeval does of rates that are 0/0."""
    undefined = []
    for rate, wholes, modifier in (("precision", predicted, "predicted"), ("recall", true, "true")):
        if rate in warn_for and 0 in wholes:
            start = f"{rate.title()} and F-score are" if "f-score" in warn_for else f"{rate.title()} is"
            undefined.append((start, modifier))
    if tuple(warn_for) == ("f-score",) and (0, 0) in zip(predicted, true, strict=True):
        undefined.append(("F-score is", "true nor predicted"))
    sklearn_warning = getattr(sys.modules.get("sklearn.exceptions"), "UndefinedMetricWarning", None)
    for start, modifier in undefined:
        warnings.warn(
            f"{start} ill-defined and being set to 0.0 {'due to' if len(true) == 1 else 'in labels with'} "
            f"no {modifier} samples. Use `zero_division` parameter to control this behavior.",
            UndefinedMetricWarning if sklearn_warning is None else _subclass_of(sklearn_warning),
            stacklevel=4,
        )


def pairwise_sum(values: Sequence[float]) -> float:
    """Return the sum in numpy's order: up to 128 values in eight rows that are added in pairs, more by halves.

    >>> pairwise_sum([0.1] * 3) == 0.1 + 0.1 + 0.1, pairwise_sum([0.1] * 10) == 8 * 0.1 + 0.1 + 0.1
    (True, True)
    """
    n = len(values)
    if n > 128:
        half = n // 2 - n // 2 % 8
        return pairwise_sum(values[:half]) + pairwise_sum(values[half:])
    whole = n - n % 8
    # not the built-in sum, which compensates for rounding from Python 3.12 on
    rows = [reduce(add, values[row:whole:8], 0.0) for row in range(8)] if whole else []
    while len(rows) > 1:
        rows = [a + b for a, b in zip(rows[0::2], rows[1::2], strict=True)]
    return reduce(add, [*rows, *values[whole:]], 0.0)
