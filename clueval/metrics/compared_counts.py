"""The counts of one metric in two texts that have been compared."""

from __future__ import annotations

from clueval.metrics.counting import Tally
from clueval.metrics.metric import Metric, Side
from clueval.spans.compared import ComparedSequence
from clueval.spans.making import making_many


def count_comparison(metric: Metric, comparison: ComparedSequence) -> Tally:
    """The counts of a metric in two compared texts, as often as these occur."""
    tally = metric.count_agreed(comparison.agreed, comparison.equal)
    gold_tags, predicted_tags = comparison.tags or (None, None)
    if comparison.gold or comparison.predicted or gold_tags:
        gold, predicted = (
            Side(comparison.gold, tags=gold_tags),
            Side(comparison.predicted, tags=predicted_tags),
        )
        with making_many(len(comparison.gold) + len(comparison.predicted)):
            tally.update(metric.count(gold, predicted))
    if comparison.times > 1:
        return Tally({key: number * comparison.times for key, number in tally.items()})
    return tally
