"""F1 of one reading against another, by any convention.

A *contest* is a gold and a predicted reading: a pair of annotators, of whom the first is gold, or an annotator
against the majority of the others. Counts of components add up to the counts of documents, because no convention
counts a span by spans that it is not connected to.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from clueval.exceptions import OverlapError, UsageError
from clueval.metrics import metric_named
from clueval.metrics.counting import Tally
from clueval.metrics.metric import Metric, Side
from clueval.spans.span import DEFAULT_LAYER, Span
from clueval.studies.annotators.places import Reading, is_flat, unlabelled
from clueval.studies.convention_rows import CONVENTIONS

EXACT = "exact"
DEFAULTS = (EXACT, "exact_unlabelled", "muc_type")

KEYS = (EXACT, *(convention.key for convention in CONVENTIONS))
"""All conventions."""

_METRIC_OF = {convention.key: convention.metric for convention in CONVENTIONS}

_SETS = {EXACT, "exact_unlabelled", "conlleval", "seqeval", "seqeval_strict"}
"""The conventions that compare sets of spans."""

_FLAT = {"conlleval", "seqeval", "seqeval_strict"}
"""The conventions of tags, which cannot express overlaps."""

_ANY_LABEL = {"muc_exact", "muc_partial"}

Refused = frozenset[str]


def ignores_labels(key: str) -> bool:
    """Return whether a convention counts a span as correct whatever its label."""
    return key.endswith("_unlabelled") or key in _ANY_LABEL


def chosen_conventions(given: Sequence[str] | str) -> tuple[str, ...]:
    """Return the keys of the conventions. Raises `UsageError` for an unknown one."""
    keys = given.split(",") if isinstance(given, str) else list(given)
    for key in keys:
        if key not in KEYS:
            raise UsageError(f"unknown convention {key!r}", advice=f"one of {', '.join(KEYS)}")
    if not keys:
        raise UsageError("there is no convention", advice=f"name one of {', '.join(KEYS)}")
    return tuple(dict.fromkeys(keys))


@dataclass(frozen=True, slots=True)
class Contests:
    """Counts contests by the chosen conventions."""

    keys: tuple[str, ...]

    @property
    def unlabelled(self) -> list[bool]:
        """Whether some conventions ignore labels (True), and whether some do not (False)."""
        return sorted({*map(ignores_labels, self.keys)})

    def count(self, gold: Reading, predicted: Reading, only: bool | None = None) -> Tally:
        """Return the counts of a contest; keys begin with a convention, or with the name of a metric.

        `only`: true for the conventions that ignore labels, against ranges as gold; false for the others; None: all.
        """
        tally: Tally = Counter()
        keys = [key for key in self.keys if only is None or ignores_labels(key) is only]
        for key in keys:
            if key in _SETS:
                tally.update(_sets(key, gold, predicted))
        for name in sorted({_METRIC_OF[key] for key in keys if key not in _SETS}):
            other = unlabelled(predicted) if only and name == "muc" else predicted  # pairs ranges one to one
            tally.update(_by_metric(metric_named(name), gold, other))
        return tally

    def rates(self, tally: Mapping[tuple[Any, ...], int], key: str) -> dict[str, Any] | None:
        """Return the PRF entry of a convention; None if it is not defined, because spans overlap."""
        if key in _SETS:
            if tally.get((key, "refused")):
                return None
            gold, predicted, found = (tally.get((key, what), 0) for what in ("gold", "predicted", "tp"))
            return _entry(
                gold, predicted, (found / predicted if predicted else 0.0, found / gold if gold else 0.0, 0.0)
            )
        name = _METRIC_OF[key]
        if tally.get((name, "refused")):
            return None
        metric = metric_named(name)
        own = Tally({rest[1]: n for rest, n in tally.items() if rest[0] == name and rest[1] not in _SIZES})
        rates = metric.headlines(metric.scores(own, [DEFAULT_LAYER]))[key]
        return _entry(tally.get((name, "gold"), 0), tally.get((name, "predicted"), 0), rates)


_SIZES = ("gold", "predicted", "refused")


def _sets(key: str, gold: Reading, predicted: Reading) -> Tally:
    if key in _FLAT and not (is_flat(gold) and is_flat(predicted)):
        return Tally({(key, "refused"): 1})
    own, other = gold, predicted
    if ignores_labels(key):
        own, other = unlabelled(gold), unlabelled(predicted)
    found = len(own) if own == other else len(set(own).intersection(other))
    return Tally({(key, "gold"): len(own), (key, "predicted"): len(other), (key, "tp"): found})


def _by_metric(metric: Metric, gold: Reading, predicted: Reading) -> Tally:
    try:
        counted = metric.count(_side(gold), _side(predicted))
    except OverlapError:
        return Tally({(metric.name, "refused"): 1})
    tally = Tally({(metric.name, key): n for key, n in counted.items()})
    tally[metric.name, "gold"] += len(gold)
    tally[metric.name, "predicted"] += len(predicted)
    return tally


def _side(reading: Iterable[tuple[int, int, str]]) -> Side:
    return Side([Span(start, end, label) for start, end, label in reading])


def _entry(gold: int, predicted: int, rates: Sequence[float]) -> dict[str, Any]:
    """Return the PRF entry; a rate is None if it is not defined, that is, if there are no such spans."""
    precision, recall = rates[:2]
    tp_gold, tp_predicted = _whole(recall * gold), _whole(precision * predicted)
    f1: float | None = rates[2]
    if tp_gold == tp_predicted:  # counts give the same F1 whichever side is gold, to the last digit
        f1 = 2 * tp_gold / (gold + predicted) if gold or predicted else None
    return {
        "precision": precision if predicted else None,
        "recall": recall if gold else None,
        "f1": f1,
        "gold": gold,
        "predicted": predicted,
        "tp_gold": tp_gold,
        "fn": gold - tp_gold,
        "tp_predicted": tp_predicted,
        "fp": predicted - tp_predicted,
    }


def _whole(value: float) -> float:
    """Return a number of spans: a whole number, unless the convention gives credit in parts."""
    return round(value) if abs(value - round(value)) < 1e-9 * max(1, value) else value
