"""The names of `seqeval.metrics.v1`, scores in strict mode, and the rates and warnings of both modes.

A position whose true label is None or -100 is left out on both sides; a predicted None or -100 is an O.

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
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from functools import cache, reduce
from itertools import chain, repeat, starmap
from operator import add
from typing import Any, NamedTuple, cast

from clueval.compat.seqeval.scheme import (
    IOB2,
    SCHEMES,
    EmptyTagError,
    Entities,
    Token,
    WrongTypeError,
    auto_detect,
    scheme_or_error,
)
from clueval.core.tags import OUTSIDE
from clueval.files.errors import CluevalError, TagError, UsageError, with_noun
from clueval.metrics.seqeval_tags import is_ignored
from clueval.reading.clusters import BATCH, BLANK, LayerClusters, Unusual

Sentences = Sequence[list[Any]]
ZeroDivision = str | float
PerType = tuple[list[float], list[float], list[float], list[int]]
Averaged = tuple[float, float, float, int]
SCORES = PerType | Averaged
_Span = tuple[str, int, *tuple[Any, ...]]
"""The type of a span, its first position, and what else tells it from others."""

ALL_SCORES = ("precision", "recall", "f-score")


def check_consistent_length(y_true: Sentences, y_pred: Sentences) -> None:
    """Raise an error unless both are lists of the same number of lists, of the same lengths.

    The error is `WrongTypeError` (a TypeError) for a value that is not a list of lists, and for no sentences
    at all; `UsageError` (a ValueError) for different lengths.
    """
    kinds = set(map(type, y_true)) | set(map(type, y_pred))
    if kinds != {list}:
        type_names = ", ".join(sorted(kind.__name__ for kind in kinds - {list})) or "nothing"
        raise WrongTypeError(
            f"Found input variables without list of list: there is {type_names} where sentences should be",
            advice="give a list of sentences, each a list of tags: [['B-PER', 'O'], ['O']]",
        )
    true, predicted = list(map(len, y_true)), list(map(len, y_pred))
    if true == predicted:
        return
    differs = f"y_true has {with_noun(len(true), 'sentences')}, y_pred has {len(predicted)}"
    if len(true) == len(predicted):
        n = next(n for n, (a, b) in enumerate(zip(true, predicted, strict=True)) if a != b)
        differs = f"y_true[{n}] has {true[n]} tags, y_pred[{n}] has {predicted[n]}"
    raise UsageError(f"Found input variables with inconsistent numbers of samples: {differs}")


def precision_recall_fscore_support(
    y_true: Sentences,
    y_pred: Sentences,
    *,
    average: str | None = None,
    warn_for: Collection[str] = ALL_SCORES,
    beta: float = 1.0,
    sample_weight: Sequence[float] | None = None,
    zero_division: ZeroDivision = "warn",
    scheme: type[Token] | str | None = None,
    suffix: bool = False,
) -> SCORES:
    """Return precision, recall, F-score and support in strict mode; see the function of the default mode.

    Raises `WrongTypeError` (a TypeError) if `scheme` is not a scheme.
    """
    check_arguments(average, beta, zero_division)
    check_consistent_length(y_true, y_pred)
    counts = _strict_counts(y_true, y_pred, scheme, suffix)
    return averaged(counts, average, warn_for=warn_for, beta=beta, zero_division=zero_division)


def classification_report(
    y_true: Sentences,
    y_pred: Sentences,
    *,
    sample_weight: Sequence[float] | None = None,
    digits: int = 2,
    output_dict: bool = False,
    zero_division: ZeroDivision = "warn",
    suffix: bool = False,
    scheme: type[Token] | str | None = None,
) -> Any:
    """Return the report in strict mode; without a scheme it is detected from `y_true` (see `auto_detect`).

    If all true tags are O, it is detected from the predicted ones; if these are all O too, it is IOB2. Raises
    `WrongTypeError` (a TypeError) if `scheme` is not a scheme.
    """
    check_arguments(None, 1.0, zero_division)
    check_consistent_length(y_true, y_pred)
    if scheme is None:
        y_true, y_pred = counted_tags(y_true, y_pred, require_tag)
        for tags in (dict.fromkeys(chain(*side)) for side in (y_true, y_pred)):
            if scheme is None and tags.keys() - {OUTSIDE}:
                scheme = auto_detect([tags], suffix)
    counts = _strict_counts(y_true, y_pred, scheme or IOB2, suffix)
    return written(counts, digits, output_dict, zero_division)


def written(counts: TypeCounts, digits: int, output_dict: bool, zero_division: ZeroDivision) -> Any:
    """Return the report of these counts: text, or a dictionary of rows by name."""

    def scores(average: str | None) -> SCORES:
        return averaged(counts, average, warn_for=ALL_SCORES, beta=1.0, zero_division=zero_division)

    types = list(zip(counts.names, *cast(PerType, scores(None)), strict=True))
    averages = [(f"{name} avg", *cast(Averaged, scores(name))) for name in ("micro", "macro", "weighted")]
    columns = ("precision", "recall", "f1-score", "support")
    if output_dict:
        return {name: dict(zip(columns, row, strict=True)) for name, *row in (*types, *averages)}
    width = max(len("weighted avg"), digits, *map(len, counts.names))

    def line(name: str, precision: float, recall: float, f1: float, support: int) -> str:
        rates = "".join(f" {rate:>9.{digits}f}" for rate in (precision, recall, f1))
        return f"{name:>{width}} {rates} {support:>9}"

    header = "".join(f" {column:>9}" for column in columns)
    lines = [*starmap(line, types), "", *starmap(line, averages), ""]
    return "\n".join([f"{'':>{width}} {header}", "", *lines])


# --- tags and counts


class TypeCounts(NamedTuple):
    """The types on both sides, sorted, and for each type the number of predicted, correct and true spans."""

    names: list[str]
    predicted: list[int]
    right: list[int]
    true: list[int]

    @classmethod
    def of_spans(cls, sides: Iterable[Iterable[_Span]], times: Sequence[int] | None = None) -> TypeCounts:
        """Return the counts of true and predicted spans; one counts `times` at its first position, by default once."""
        of_true, of_predicted = map(set, sides)
        counters: tuple[Counter[str], ...] = (Counter(), Counter(), Counter())
        for counter, spans in zip(counters, (of_predicted, of_true & of_predicted, of_true), strict=True):
            for span in spans:
                counter[span[0]] += 1 if times is None else times[span[1]]
        names = sorted(counters[0].keys() | counters[2].keys())
        return cls(names, *([counter[name] for name in names] for counter in counters))


def _typed_spans(entities: Entities) -> Iterable[_Span]:
    return ((str(each.tag), each.start, each.end, each.sent_id) for each in chain(*entities.entities))


def different_parts(
    y_true: Sentences, y_pred: Sentences
) -> tuple[Sequence[str], Sequence[str], Sequence[int]]:
    """Return each different part between two O once: its tags on both sides, with an O after it, and its number.

    Spans of usual tags do not cross an O on both sides, and most parts occur often. Raises `Unusual` for tags in
    another form, `TypeError` for something that cannot be hashed.
    """
    group = LayerClusters([""], 2)
    for start in range(0, len(y_true), BATCH):
        group.add_lists(None, [side[start : start + BATCH] for side in (y_true, y_pred)])
    clusters = group.clusters()
    rows = map(group.characters.rows.__getitem__, BLANK.join(["", *clusters, ""]))
    _, true, predicted = zip(*rows, strict=True)
    return true, predicted, [0, *chain(*(repeat(n, len(text) + 1) for text, n in clusters.items()))]


def _strict_counts(
    y_true: Sentences, y_pred: Sentences, scheme: type[Token] | str | None, suffix: bool
) -> TypeCounts:
    scheme_class = scheme_or_error(scheme)
    if scheme_class in SCHEMES.values():  # in a scheme of the user's own, an O may have any meaning
        with suppress(Unusual, TypeError, TagError):
            *parts, times = different_parts(y_true, y_pred)
            spans = [_typed_spans(Entities([part], scheme_class, suffix)) for part in parts]
            return TypeCounts.of_spans(spans, times)
    sides = counted_tags(y_true, y_pred, lambda tag: scheme_class(require_tag(tag), suffix=suffix).is_valid())
    return TypeCounts.of_spans(_typed_spans(Entities(side, scheme_class, suffix)) for side in sides)


def require_tag(tag: object) -> str:
    """Return `tag`. Raises `WrongTypeError` (a TypeError) if it is not a string, `EmptyTagError` if empty."""
    if not isinstance(tag, str):
        raise WrongTypeError(f"{tag!r} is not a tag", advice="a tag is a string, as in [['B-PER', 'O']]")
    if not tag:
        raise EmptyTagError("a tag is empty", advice="write O for a token outside all spans")
    return tag


def counted_tags(
    y_true: Sentences, y_pred: Sentences, check: Callable[[Any], object]
) -> tuple[Sentences, Sentences]:
    """Return both sides without ignored positions.

    Raises the error of `check` for the first tag that does not pass it, with the position of the tag.
    """
    try:
        tags = {*chain(*y_true, *y_pred)}
        for tag in tags:
            if not is_ignored(tag):
                check(tag)
    except (CluevalError, TypeError):  # TypeError: of something that cannot be hashed
        for name, sentences in (("y_true", y_true), ("y_pred", y_pred)):
            for number, sentence in enumerate(sentences):
                for position, tag in enumerate(sentence):
                    try:
                        if not is_ignored(tag):
                            check(tag)
                    except CluevalError as error:
                        error.problem = f"{name}[{number}][{position}]: {error.problem}"
                        raise
        raise
    if not any(map(is_ignored, tags)):
        return y_true, y_pred
    kept = [
        [(a, OUTSIDE if is_ignored(b) else b) for a, b in zip(*pair, strict=True) if not is_ignored(a)]
        for pair in zip(y_true, y_pred, strict=True)
    ]
    return [[a for a, _ in sentence] for sentence in kept], [[b for _, b in sentence] for sentence in kept]


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
