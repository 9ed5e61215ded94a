"""The names of `seqeval.metrics.v1`: scores in strict mode, with a scheme."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, cast

from clueval.compat.seqeval.counting import (
    Averaged,
    PerType,
    Sentences,
    TypeCounts,
    ZeroDivision,
    averaged,
    check_arguments,
    strict_counts,
)
from clueval.compat.seqeval.reporters import DictReporter, Reporter, StringReporter
from clueval.compat.seqeval.scheme import IOB2, Entities, Token, WrongTypeError, auto_detect, scheme_or_error
from clueval.core.tags import OUTSIDE
from clueval.files.errors import UsageError
from clueval.metrics.seqeval_tags import is_ignored

SCORES = PerType | Averaged
ALL_SCORES = ("precision", "recall", "f-score")


def unique_labels(
    y_true: Sentences, y_pred: Sentences, scheme: type[Token] | str, suffix: bool = False
) -> list[str]:
    """Return the types of the complete spans of both sides, in order."""
    return sorted(Entities(y_true, scheme, suffix).unique_tags | Entities(y_pred, scheme, suffix).unique_tags)


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
    differs = f"y_true has {len(true)} sentences, y_pred has {len(predicted)}"
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
    entities_true: Entities | None = None,
    entities_pred: Entities | None = None,
) -> SCORES:
    """Return precision, recall, F-score and support in strict mode; see the function of the default mode.

    `entities_true` and `entities_pred` are the spans, if they are known; then the tags are not read.
    Raises `WrongTypeError` (a TypeError) if `scheme` is not a scheme.
    """
    check_arguments(average, beta, zero_division)
    check_consistent_length(y_true, y_pred)
    if entities_true is None and entities_pred is None:
        counts = strict_counts(y_true, y_pred, scheme_or_error(scheme), suffix=suffix)
    else:
        counts = TypeCounts.of_entities(
            entities_true or Entities(y_true, scheme_or_error(scheme), suffix),
            entities_pred or Entities(y_pred, scheme_or_error(scheme), suffix),
        )
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
    for side in (y_true, y_pred) if scheme is None else ():
        tags = {tag for sentence in side for tag in sentence if not is_ignored(tag)}
        if scheme is None and tags - {OUTSIDE}:
            scheme = auto_detect([tags], suffix)
    counts = strict_counts(y_true, y_pred, scheme or IOB2, suffix=suffix)
    return written(counts, digits, output_dict, zero_division)


def written(counts: TypeCounts, digits: int, output_dict: bool, zero_division: ZeroDivision) -> Any:
    """Return the report of these counts: text, or a dictionary."""
    width = max(len("weighted avg"), digits, *map(len, counts.names))
    reporter: Reporter = DictReporter() if output_dict else StringReporter(width=width, digits=digits)

    def scores(average: str | None) -> SCORES:
        return averaged(counts, average, warn_for=ALL_SCORES, beta=1.0, zero_division=zero_division)

    for row in zip(counts.names, *cast(PerType, scores(None)), strict=True):
        reporter.write(*row)
    reporter.write_blank()
    for average in ("micro", "macro", "weighted"):
        reporter.write(f"{average} avg", *cast(Averaged, scores(average)))
    reporter.write_blank()
    return reporter.report()
