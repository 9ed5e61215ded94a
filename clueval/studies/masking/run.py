"""From two sides to a masking report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from clueval.evaluation.observer import Observer
from clueval.evaluation.run import score
from clueval.metrics.masking import Masking
from clueval.metrics.masking.mention import risk_by
from clueval.options import field_names
from clueval.studies.masking.collector import LeakCollector, WatchedMasking
from clueval.studies.masking.found import by_frequency
from clueval.studies.masking.report import MaskingReport
from clueval.studies.masking.string_leak_list import StringLeakList


def masking_report(
    gold: Any, predicted: Any, metric: Masking, observers: Sequence[Observer] = (), **options: Any
) -> MaskingReport:
    """Return the report on two sides, files or documents; the arguments and errors are those of `clueval.score`."""
    watched = WatchedMasking(**{name: getattr(metric, name) for name in field_names(Masking)})
    collector = LeakCollector(watched)
    result = score(gold, predicted, metrics=[watched], observers=[collector, *observers], **options)
    risk = risk_by(metric.risk_order)
    return MaskingReport(
        result,
        sorted(collector.leaks, key=lambda leak: leak.order(risk)),
        StringLeakList(collector.string_leaks),
        by_frequency(collector.needless.items()),
        sorted(collector.inconsistent),
    )
