"""The files that ``clueval score`` writes with metric gate: GATE's table, a web page, indicator annotations."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from clueval.cli.printing import remark, wrote
from clueval.evaluation.result import Result
from clueval.exceptions import UsageError
from clueval.metrics.metric import Metric
from clueval.spans.document import Document
from clueval.writing import whole_file

if TYPE_CHECKING:
    from clueval.compat.gate.files import GateListTable, GateTable, IndicatorWriter
    from clueval.metrics.gate.list_evaluation import Lists

_PREFIX = "clueval"


class GateOutputs:
    """What the options ask for beside the scores. Raises `UsageError` for options that do not go together."""

    def __init__(self, options: argparse.Namespace, metrics: Sequence[Metric], lists: Lists | None) -> None:
        self._options = options
        self.has_gate = any(metric.name == "gate" for metric in metrics)
        self._table: GateTable | GateListTable | None = None
        self._indicators: IndicatorWriter | None = None
        for name in ("gate_tsv", "write_indicators", "reference_set"):
            if getattr(options, name) is not None and not self.has_gate:
                raise UsageError(f"--{name.replace('_', '-')} is for metric gate", advice="add --metric gate")
        if options.html is not None and self.has_gate and any(m.name == "noisy" for m in metrics):
            raise UsageError("--html writes a page about metric gate or noisy", advice="name one of them")
        if lists is not None and not self.has_gate:
            raise UsageError("candidate lists are for metric gate", advice="add --metric gate")
        if options.indicator_prefix is not None and options.write_indicators is None:
            raise UsageError("--indicator-prefix is for --write-indicators", advice="add it")
        if options.gate_tsv is None and options.write_indicators is None:
            return
        self._prepare(options, metrics, lists)

    def _prepare(self, options: argparse.Namespace, metrics: Sequence[Metric], lists: Lists | None) -> None:
        from clueval.compat.gate.files import GateListTable, GateTable, IndicatorWriter
        from clueval.metrics.gate import Gate

        (metric,) = (metric for metric in metrics if isinstance(metric, Gate))
        response, reference = options.predicted_set or "", options.reference_set or ""
        if options.gate_tsv is not None and lists is not None:
            self._table = GateListTable(metric, lists, response)
        elif options.gate_tsv is not None:
            self._table = GateTable(metric, response, reference)
        if options.write_indicators is not None:
            if lists is not None:
                raise UsageError("indicators are not written for candidate lists", advice="leave one out")
            prefix = _PREFIX if options.indicator_prefix is None else options.indicator_prefix
            self._indicators = IndicatorWriter(metric, options.write_indicators, prefix)

    def __bool__(self) -> bool:
        """Whether anything is to be done with the documents."""
        return self._table is not None or self._indicators is not None

    def add(self, group: tuple[Document, ...]) -> None:
        """Take in the documents of a group."""
        if self._table is not None:
            self._table.add(group)
        if self._indicators is not None:
            self._indicators.add(group)

    def write(self, result: Result) -> None:
        """Write what is written at the end."""
        options = self._options
        if self._table is not None:
            with whole_file(options.gate_tsv) as output:
                output.writelines(f"{line}\n" for line in self._table.lines())
            wrote(options.gate_tsv)
        if self._indicators is not None:
            number = len(self._indicators.written)
            remark(f"wrote {number} file{'s' * (number != 1)} to {options.write_indicators}")
        if options.html is not None and self.has_gate:
            from clueval.compat.gate.page import write_page

            write_page(options.html, result.to_dict())
            wrote(options.html)
