"""FairEval's interface: the functions of its module; `config` has its configuration files and its report.

The functions have the arguments and results of FairEval's: spans are lists ``[label, begin, end, tokens]``
with the last token included, counts are dictionaries, rates are fractions. See
https://github.com/rubcompling/FairEval and Ortmann (2022). The input is never changed. The metric is
`clueval.first.metrics.fair`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, MutableMapping, Sequence
from typing import Any, Literal

from clueval.core.span import DEFAULT_LAYER
from clueval.files.errors import SpanError, UsageError
from clueval.first.metrics.counting import Tally, f_measure
from clueval.first.metrics.fair import DEFAULT_WEIGHTS, Fair
from clueval.first.metrics.fair.metric import add_items
from clueval.first.metrics.fair.pairing import Item, item, overlap_kind
from clueval.first.metrics.fair.weights import KINDS, PARTS, TRADITIONAL_WEIGHTS, Weights, weighted_rates

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
    tally: Tally = Counter()
    add_items(tally, [_item(span) for span in target_spans], [_item(span) for span in system_spans])
    report = metric.scores(tally, (DEFAULT_LAYER,))
    by_label = report["per_label"]
    conf = {
        target: {system: number for system, number in row.items() if number}
        for target, row in report["confusion"].items()
    }
    return {
        "overall": _counts(report["overall"]),
        "per_label": {
            version: {label: _counts(versions)[version] for label, versions in by_label.items()}
            for version in ("traditional", "fair")
        },
        "conf": {target: row for target, row in conf.items() if row},
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
    return item(label, begin, end + 1, whole)


def overlap_type(span1: tuple[int, int], span2: tuple[int, int]) -> str | Literal[False]:
    """Return the relation of two spans, given as begin and end (included): TP, BES, BEL, BEO, or False.

    >>> overlap_type((1, 4), (2, 3)), overlap_type((1, 4), (5, 6))
    ('BES', False)
    """
    (begin1, end1), (begin2, end2) = span1, span2
    return overlap_kind(begin1, end1 + 1, begin2, end2 + 1) or False


def precision(
    eval_dict: Mapping[str, float], version: str = "traditional", weights: Weights | None = None
) -> float:
    """Return TP / (TP + FP) of the counts, weighted by the version; 0/0 is 0, and a missing count is 0.

    `weights` are only used by the version ``"weighted"``, without defaults: an error type without weights
    does not count. Raises `UsageError` for another version.

    >>> precision({"TP": 1, "FP": 1, "LE": 2}), precision({"TP": 1, "FP": 1, "LE": 2}, "fair")
    (0.5, 0.3333333333333333)
    """
    return _rate("precision", eval_dict, version, weights)


def recall(
    eval_dict: Mapping[str, float], version: str = "traditional", weights: Weights | None = None
) -> float:
    """Return TP / (TP + FN) of the counts; see `precision` for the arguments.

    >>> recall({"TP": 1, "FN": 1, "LE": 2}, "fair")
    0.3333333333333333
    """
    return _rate("recall", eval_dict, version, weights)


def _rate(name: str, counts: Mapping[str, float], version: str, weights: Weights | None) -> float:
    if version not in VERSIONS:
        raise UsageError(f"unknown version {version!r}", advice=f"known are {', '.join(VERSIONS)}")
    by_version = {"traditional": TRADITIONAL_WEIGHTS, "weighted": weights or DEFAULT_WEIGHTS}
    value: float = weighted_rates(counts, by_version.get(version, DEFAULT_WEIGHTS))[name]
    return value


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
