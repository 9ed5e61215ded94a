"""FairEval's interface: the functions of its module; `config` has its configuration files and its report.

The functions have the arguments and results of FairEval's: spans are lists ``[label, begin, end, tokens]``
with the last token included, counts are dictionaries, rates are fractions. See
https://github.com/rubcompling/FairEval and Ortmann (2022). The input is never changed. The metric is
`clueval.metrics.fair`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, MutableMapping, Sequence
from typing import Any, Literal

from clueval.core.metric import Counts, f_measure
from clueval.core.span import DEFAULT_LAYER, Span
from clueval.files.errors import SpanError, UsageError
from clueval.metrics.fair import (
    DEFAULT_WEIGHTS,
    KINDS,
    PARTS,
    TRADITIONAL_WEIGHTS,
    Fair,
    Weights,
    count_items,
    weighted,
)
from clueval.metrics.fair.pairing import Identity, Item, boundary_kind

__all__ = [
    "VERSIONS",
    "annotation_stats",
    "compare_spans",
    "fscore",
    "overlap_type",
    "precision",
    "recall",
]

VERSIONS = ("traditional", "fair", "weighted")


def compare_spans(
    target_spans: Iterable[Sequence[Any]], system_spans: Iterable[Sequence[Any]], focus: str = "target"
) -> dict[str, Any]:
    """Return the counts of one sentence, overall and by label, and the confusion matrix (cells that are not
    0).

    A span is label, first token, last token, set of tokens. `focus` is the side whose label an LE or LBE is
    counted under. Raises `SpanError` for a span that is not of this shape, `UsageError` for another focus.

    >>> counts = compare_spans([["NP", 1, 3, {1, 2, 3}]], [["NP", 1, 2, {1, 2}]])
    >>> counts["overall"]["fair"]["BES"], counts["conf"]
    (1, {'NP': {'NP': 1}})
    """
    metric = Fair(focus=focus, exclude=())
    tally = count_items(list(map(_item, target_spans)), list(map(_item, system_spans)))
    report = metric.scores(tally, (DEFAULT_LAYER,))
    return {
        "overall": _counts(report["overall"]),
        "per_label": {
            version: {label: _counts(versions)[version] for label, versions in report["per_label"].items()}
            for version in ("traditional", "fair")
        },
        "conf": {target: row for target, row in report["confusion"].items() if row},
    }


def _counts(versions: Mapping[str, Mapping[str, int]]) -> dict[str, dict[str, int]]:
    return {
        version: {kind: versions[version][kind] for kind in kinds}
        for version, kinds in (("traditional", PARTS), ("fair", KINDS))
    }


def _item(span: Sequence[Any]) -> Item:
    try:
        label, begin, end, tokens = span
        whole = frozenset(tokens)
    except (TypeError, ValueError):
        raise SpanError(
            f"{span!r} is not a span", advice="expected [label, begin, end, set of tokens]"
        ) from None
    if type(begin) is not int or type(end) is not int or begin > end or not isinstance(label, str):
        raise SpanError(f"{span!r} is not a span", advice="expected a label, and whole numbers begin <= end")
    if not all(type(token) is int for token in whole):
        raise SpanError(f"{span!r} has tokens that are not whole numbers")
    is_range = len(whole) == end + 1 - begin and all(begin <= token <= end for token in whole)
    key = Identity(label, (begin, end + 1, None), None if is_range else whole)
    return Item(key, Span(begin, end + 1, label))


def overlap_type(span1: tuple[int, int], span2: tuple[int, int]) -> str | Literal[False]:
    """Return the relation of two spans, given as begin and end (included): TP, BES, BEL, BEO, or False.

    >>> overlap_type((1, 4), (2, 3)), overlap_type((1, 4), (5, 6))
    ('BES', False)
    """
    first, second = (Span(begin, end + 1) for begin, end in (span1, span2))
    if first == second:
        return "TP"
    return boundary_kind(first, second) if first.overlaps(second) else False


def precision(
    eval_dict: Mapping[str, float], version: str = "traditional", weights: Weights | None = None
) -> float:
    """Return TP / (TP + FP) of the counts, weighted by the version; 0/0 is 0, and a missing count is 0.

    `weights` are only used by the version ``"weighted"``, without defaults: an error type without weights
    does not count. Raises `UsageError` for another version.

    >>> precision({"TP": 1, "FP": 1, "LE": 2}), precision({"TP": 1, "FP": 1, "LE": 2}, "fair")
    (0.5, 0.3333333333333333)
    """
    return _weighted(eval_dict, version, weights).precision


def recall(
    eval_dict: Mapping[str, float], version: str = "traditional", weights: Weights | None = None
) -> float:
    """Return TP / (TP + FN) of the counts; see `precision` for the arguments.

    >>> recall({"TP": 1, "FN": 1, "LE": 2}, "fair")
    0.3333333333333333
    """
    return _weighted(eval_dict, version, weights).recall


def _weighted(counts: Mapping[str, float], version: str, weights: Weights | None) -> Counts:
    if version not in VERSIONS:
        raise UsageError(f"unknown version {version!r}", advice=f"known are {', '.join(VERSIONS)}")
    by_version = {"traditional": TRADITIONAL_WEIGHTS, "weighted": weights or DEFAULT_WEIGHTS}
    return weighted(counts, by_version.get(version, DEFAULT_WEIGHTS))


def fscore(eval_dict: Mapping[str, float]) -> float:
    """Return the harmonic mean of ``Prec`` and ``Rec``; 0 if both are 0.

    >>> fscore({"Prec": 0.5, "Rec": 1.0})
    0.6666666666666666
    """
    return f_measure(eval_dict["Prec"], eval_dict["Rec"])


def annotation_stats(span_list: Iterable[Sequence[Any]], result_dict: MutableMapping[str, Any]) -> None:
    """Add the number of spans of each label to ``result_dict["data_stats"]``.

    >>> result = {}
    >>> annotation_stats([["NP", 1, 3, {1, 2, 3}], ["NP", 5, 5, {5}]], result)
    >>> result
    {'data_stats': {'NP': 2}}
    """
    stats = result_dict.setdefault("data_stats", {})
    for label, *_ in span_list:
        stats[label] = stats.get(label, 0) + 1
