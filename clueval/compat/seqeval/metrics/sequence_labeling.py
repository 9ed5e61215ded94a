"""The names of `seqeval.metrics.sequence_labeling`.

Arguments that all functions share:
    y_true, y_pred: a list of sentences, each a list of tags; with the same lengths on both sides.
    average: None (lists over the types in their order), "micro", "macro" or "weighted".
    suffix: the prefix of a tag is at its end (``PER-B``).
    mode, scheme: "strict" with a scheme of `clueval.compat.seqeval.scheme`, or its name, counts complete spans only;
        anything else reads tags as conlleval does, and so does "strict" without a scheme (except in
        `classification_report`, which then detects the scheme from the tags).
    zero_division: the value of 0/0, 0 or 1; "warn" is 0 with an `UndefinedMetricWarning`.
    sample_weight: has no effect, as in seqeval.

They raise `WrongTypeError` (a TypeError) for a value that is not a list of lists of strings, `UsageError` (a
ValueError) for different lengths, and `TagError` (a ValueError) for tags that are not in the scheme.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from itertools import chain
from typing import Any

from clueval.compat.seqeval.metrics import v1
from clueval.compat.seqeval.metrics.v1 import (
    ALL_SCORES,
    SCORES,
    Sentences,
    TypeCounts,
    ZeroDivision,
    averaged,
    check_arguments,
    check_consistent_length,
    counted_tags,
    different_parts,
    require_tag,
)
from clueval.compat.seqeval.scheme import Token, WrongTypeError, scheme_or_error
from clueval.core.tags import OUTSIDE
from clueval.files.errors import UsageError, with_noun
from clueval.metrics.seqeval_tags import Chunk, Decisions, ReachesBeyond, chunks, chunks_between, is_ignored
from clueval.reading.clusters import Unusual

Tags = Sequence[Any]
"""Tags, or lists of tags."""


def get_entities(seq: Tags, suffix: bool = False) -> list[Chunk]:
    """Return the spans of a sentence as (type, first, last), in order; several sentences are joined by an O.

    Positions count from 0, `last` is inclusive. A label None or -100 neither begins nor ends a span. Raises
    `WrongTypeError` (a TypeError) for a value that is not a tag.

    >>> get_entities(["B-PER", "I-PER", "O", "I-LOC"])
    [('PER', 0, 1), ('LOC', 3, 3)]
    >>> get_entities([["B-PER"], ["B-PER"]])
    [('PER', 0, 0), ('PER', 2, 2)]
    """
    tags = _flat(seq) if any(isinstance(item, list) for item in seq) else seq
    kept = [require_tag(tag) for tag in tags if not is_ignored(tag)]
    _warn_of_strange_tags(kept, suffix)
    return list(chunks(tags, suffix=suffix))


def _flat(sentences: Iterable[Sequence[Any]]) -> list[Any]:
    """Return the tags of all sentences in one list, with an O after each sentence."""
    return list(chain.from_iterable((*sentence, OUTSIDE) for sentence in sentences))


def _warn_of_strange_tags(tags: Iterable[str], suffix: bool) -> None:
    """Warn once of every tag that is not of the form B-X, I-X, E-X or S-X (X-B and so on with `suffix`)."""
    affixes = ("-B", "-I", "-E", "-S") if suffix else ("B-", "I-", "E-", "S-")
    for tag in sorted(set(tags)):
        fits = tag.endswith(affixes) if suffix else tag.startswith(affixes)
        if not fits and tag not in (OUTSIDE, "B", "I", "E", "S"):
            warnings.warn(f"{tag} seems not to be NE tag.", stacklevel=2)


def _counts(y_true: Sentences, y_pred: Sentences, suffix: bool) -> TypeCounts:
    spans: list[Iterable[Chunk]]
    times: Sequence[int] | None
    try:
        true, predicted, times = different_parts(y_true, y_pred)
        decisions = Decisions(suffix=suffix)
        spans = [chunks_between(side, decisions) for side in (true, predicted)]
    except (Unusual, TypeError, ReachesBeyond):  # tags in another form, or that depend on those before an O
        true, predicted = map(_flat, counted_tags(y_true, y_pred, require_tag))
        times = None
        spans = [chunks(side, suffix=suffix) for side in (true, predicted)]
    _warn_of_strange_tags({*true, *predicted}, suffix)
    return TypeCounts.of_spans(spans, times)


def precision_recall_fscore_support(
    y_true: Sentences,
    y_pred: Sentences,
    *,
    average: str | None = None,
    warn_for: Collection[str] = ALL_SCORES,
    beta: float = 1.0,
    sample_weight: Sequence[float] | None = None,
    zero_division: ZeroDivision = "warn",
    suffix: bool = False,
) -> SCORES:
    """Return precision, recall, F-score and support, in the default mode.

    They are lists over the types in their order if `average` is None, otherwise numbers. `warn_for` says for
    which of "precision", "recall" and "f-score" there are warnings.

    >>> true = [["O", "B-MISC", "I-MISC"], ["B-PER", "O"]]
    >>> predicted = [["B-MISC", "I-MISC", "I-MISC"], ["B-PER", "O"]]
    >>> precision_recall_fscore_support(true, predicted)
    ([0.0, 1.0], [0.0, 1.0], [0.0, 1.0], [1, 1])
    >>> precision_recall_fscore_support(true, predicted, average="micro")
    (0.5, 0.5, 0.5, 2)
    """
    check_arguments(average, beta, zero_division)
    check_consistent_length(y_true, y_pred)
    counts = _counts(y_true, y_pred, suffix)
    return averaged(counts, average, warn_for=warn_for, beta=beta, zero_division=zero_division)


def precision_score(
    y_true: Sentences,
    y_pred: Sentences,
    *,
    average: str | None = "micro",
    suffix: bool = False,
    mode: str | None = None,
    sample_weight: Sequence[float] | None = None,
    zero_division: ZeroDivision = "warn",
    scheme: type[Token] | str | None = None,
) -> Any:
    """Return the share of predicted spans that are correct: a number, or a list by type if `average` is None.

    >>> precision_score([["B-PER", "O", "B-LOC"]], [["B-PER", "B-LOC", "B-LOC"]])
    0.6666666666666666
    """
    options = {"average": average, "suffix": suffix, "zero_division": zero_division}
    return _scores(y_true, y_pred, mode, scheme, warn_for=("precision",), **options)[0]


def recall_score(
    y_true: Sentences,
    y_pred: Sentences,
    *,
    average: str | None = "micro",
    suffix: bool = False,
    mode: str | None = None,
    sample_weight: Sequence[float] | None = None,
    zero_division: ZeroDivision = "warn",
    scheme: type[Token] | str | None = None,
) -> Any:
    """Return the share of true spans that are found: a number, or a list by type if `average` is None.

    >>> recall_score([["B-PER", "O", "B-LOC"]], [["B-PER", "B-LOC", "O"]])
    0.5
    """
    options = {"average": average, "suffix": suffix, "zero_division": zero_division}
    return _scores(y_true, y_pred, mode, scheme, warn_for=("recall",), **options)[1]


def f1_score(
    y_true: Sentences,
    y_pred: Sentences,
    *,
    average: str | None = "micro",
    suffix: bool = False,
    mode: str | None = None,
    sample_weight: Sequence[float] | None = None,
    zero_division: ZeroDivision = "warn",
    scheme: type[Token] | str | None = None,
) -> Any:
    """Return the harmonic mean of precision and recall: a number, or a list by type if `average` is None.

    >>> f1_score([["B-PER", "O", "B-LOC"]], [["B-PER", "O", "I-PER"]], average=None, zero_division=0)
    [0.0, 0.6666666666666666]
    """
    options = {"average": average, "suffix": suffix, "zero_division": zero_division}
    return _scores(y_true, y_pred, mode, scheme, warn_for=("f-score",), **options)[2]


def _scores(
    y_true: Sentences, y_pred: Sentences, mode: str | None, scheme: type[Token] | str | None, **options: Any
) -> SCORES:
    _require_scheme(scheme)
    if mode == "strict" and scheme is not None:
        return v1.precision_recall_fscore_support(y_true, y_pred, scheme=scheme, **options)
    return precision_recall_fscore_support(y_true, y_pred, **options)


def _require_scheme(scheme: object) -> None:
    """Raise `UsageError` for an unknown name of a scheme, also where the mode does not use it."""
    if isinstance(scheme, str):
        scheme_or_error(scheme)


def classification_report(
    y_true: Sentences,
    y_pred: Sentences,
    digits: int = 2,
    suffix: bool = False,
    output_dict: bool = False,
    mode: str | None = None,
    sample_weight: Sequence[float] | None = None,
    zero_division: ZeroDivision = "warn",
    scheme: type[Token] | str | None = None,
) -> Any:
    """Return the scores of every type and their averages as text, or as a dictionary with `output_dict`.

    >>> true = [["O", "B-MISC", "I-MISC"], ["B-PER", "O"]]
    >>> predicted = [["B-MISC", "I-MISC", "I-MISC"], ["B-PER", "O"]]
    >>> print(classification_report(true, predicted))
                  precision    recall  f1-score   support
    <BLANKLINE>
            MISC       0.00      0.00      0.00         1
             PER       1.00      1.00      1.00         1
    <BLANKLINE>
       micro avg       0.50      0.50      0.50         2
       macro avg       0.50      0.50      0.50         2
    weighted avg       0.50      0.50      0.50         2
    <BLANKLINE>
    """
    _require_scheme(scheme)
    if mode == "strict":
        return v1.classification_report(
            y_true,
            y_pred,
            digits=digits,
            output_dict=output_dict,
            zero_division=zero_division,
            suffix=suffix,
            scheme=scheme,
        )
    check_arguments(None, 1.0, zero_division)
    check_consistent_length(y_true, y_pred)
    return v1.written(_counts(y_true, y_pred, suffix), digits, output_dict, zero_division)


def accuracy_score(y_true: Tags, y_pred: Tags) -> float:
    """Return the share of positions with equal tags, 0.0 without positions. Takes sentences, or the tags of
    one.

    >>> accuracy_score([["B-PER", "O"], ["O"]], [["B-LOC", "O"], ["O"]])
    0.6666666666666666
    """
    pairs = _pairs(y_true, y_pred)
    positions = sum(pairs.values())
    return sum(n for (true, predicted), n in pairs.items() if true == predicted) / (positions or 1)


def performance_measure(y_true: Tags, y_pred: Tags) -> dict[str, int]:
    """Count positions: TP equal tags except O, FP wrong predicted tags, FN O predicted for a tag, TN O on
    both sides.

    A wrong tag for another tag is an FP and not an FN. Takes sentences, or the tags of one.

    >>> performance_measure([["B-PER", "O", "B-LOC"]], [["B-PER", "B-LOC", "O"]])
    {'TP': 1, 'FP': 1, 'FN': 1, 'TN': 0}
    """
    measure = {"TP": 0, "FP": 0, "FN": 0, "TN": 0}
    for (true, predicted), n in _pairs(y_true, y_pred).items():
        if true == predicted:
            measure["TN" if true == OUTSIDE else "TP"] += n
        else:
            measure["FN" if predicted == OUTSIDE else "FP"] += n
    return measure


def _pairs(y_true: Tags, y_pred: Tags) -> Counter[tuple[Any, Any]]:
    """Count the pairs of tags at the same position, without ignored positions."""
    if any(isinstance(item, list) for item in chain(y_true, y_pred)):
        if y_true and y_pred:
            check_consistent_length(y_true, y_pred)
        y_true, y_pred = list(chain(*y_true)), list(chain(*y_pred))
    if len(y_true) != len(y_pred):
        raise UsageError(
            "Found input variables with inconsistent numbers of samples: "
            f"y_true has {with_noun(len(y_true), 'tags')}, y_pred has {len(y_pred)}"
        )
    try:
        pairs = Counter(zip(y_true, y_pred, strict=True))
    except TypeError as error:
        raise WrongTypeError(f"there is something that is not a tag ({error})") from None
    kept: Counter[tuple[Any, Any]] = Counter()
    for (true, predicted), n in pairs.items():
        if not is_ignored(true):
            kept[true, OUTSIDE if is_ignored(predicted) else predicted] += n
    return kept
