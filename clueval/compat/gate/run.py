"""GATE's evaluation: the metric, with a reference set or candidate lists, and the files that GATE's users expect."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from clueval.arguments import checked_call, refuse_unknown, require_instance, require_kind
from clueval.compat.gate.files import AgainstReference, GateListTable, GateTable, IndicatorWriter
from clueval.core.span import DEFAULT_LAYER
from clueval.evaluation.observer import Observer
from clueval.evaluation.plan import counting_documents
from clueval.evaluation.result import Result
from clueval.evaluation.run import score
from clueval.files.errors import UsageError
from clueval.files.overwriting import keeps_inputs
from clueval.files.writing import whole_file
from clueval.first.metrics import plain
from clueval.first.metrics.counting import Tally
from clueval.first.metrics.gate import Gate
from clueval.first.metrics.gate.counts import macro_report
from clueval.first.metrics.gate.list_evaluation import ListEvaluation, Lists
from clueval.second.formats.options import Reading
from clueval.second.reading.options import Readings
from clueval.second.results.options import single_options
from clueval.transforms.group import Group

if TYPE_CHECKING:
    from clueval.second.reading.options import InputSide


@keeps_inputs
@checked_call
def gate(
    gold: InputSide,
    predicted: InputSide | None = None,
    *,
    metric: Gate | None = None,
    lists: Lists | None = None,
    gold_set: str | None = None,
    predicted_set: str | None = None,
    reference_set: str | None = None,
    table: str | Path | None = None,
    page: str | Path | None = None,
    lang: str = "",
    indicators: str | Path | None = None,
    indicator_prefix: str = "clueval",
    pairs: Sequence[str | tuple[str, str]] = (),
    evaluation: str = "",
    wrote: Callable[[str], object] | None = None,
    **options: Any,
) -> Result:
    """Score predicted against gold as GATE's plugin Evaluation does.

    Args:
        gold, predicted: as in `clueval.score`.
        metric: the metric with its settings; None: `Gate()`. If its `containing` names a type of `gold_set`,
            all targets of that type are evaluated, as in GATE.
        lists: the location of candidate lists in the predicted set. The report is then on the best candidate of
            each, and its ``lists`` on the lists themselves (see `clueval.first.metrics.gate.list_evaluation`).
        gold_set, predicted_set: the annotation sets of the two sides.
        reference_set: an annotation set of the predicted files, usually of an older run; the report's
            ``reference`` compares the two (see `clueval.compat.gate.files`).
        table: a file for GATE's table of 31 columns.
        page: a file for a web page with the scores and their curve, in the language `lang` (extra ``report``).
        indicators: a folder for copies of the predicted files that show the outcome of each annotation, in
            annotation sets that begin with `indicator_prefix` (see `clueval.compat.gate.files`).
        pairs: several pairs of annotation sets, ``GOLDSET:PREDICTEDSET``, instead of `gold_set` and
            `predicted_set`. The counts of the report are sums over the pairs; its ``pairs`` has the report of each,
            ``pairs_macro`` the means of their rates.
        evaluation: the id of the evaluation in the table.
        wrote: called with a line on each output.
        options: other options of `clueval.score`, except `metrics` and `merge`.

    Returns the `Result`, with the metric ``gate`` only. Raises the same errors as `clueval.score`, and
    `CluevalError` for an output that cannot be written.
    """
    refuse_unknown(
        options,
        ["metric", "lists", "layers", "reading", "counting", "preparing", "workers", *single_options()],
        "gate",
    )
    metric = counting_documents(metric)
    _require(metric, lists, gold_set=gold_set, predicted_set=predicted_set, reference_set=reference_set)
    for name, path in (("table", table), ("page", page), ("indicators", indicators)):
        require_kind(path, "str | Path | None", name)
    require_kind(options.get("merge"), "bool | None", "merge")
    if options.get("merge"):
        raise UsageError("GATE's types are not merged into one sequence", advice="leave out merge")
    if lists is not None and reference_set is not None:
        raise UsageError("candidate lists are not compared with a reference", advice="leave one out")
    outputs = Path(table) if table is not None else None, Path(indicators) if indicators is not None else None
    if pairs:
        by = options.get("by") or getattr(options.get("counting"), "by", None)
        alone = {"gold_set": gold_set, "predicted_set": predicted_set, "lists": lists, "by": by}
        for name, value in {**alone, "reference_set": reference_set, "indicators": indicators}.items():
            if value:
                raise UsageError(
                    f"pairs of annotation sets cannot be used with {name}", advice="leave one out"
                )
        result, files = _of_pairs(
            gold, predicted, metric or Gate(), map(_pair, pairs), table is not None, evaluation, options
        )
    else:
        metric = with_unfiltered(metric or Gate(), gold_set)
        best = None if lists is None else BestCandidates(metric, lists)
        counted = metric if best is None else best.metric
        sections: list[Observer] = [] if lists is None else [CandidateLists(metric, lists)]
        if reference_set is not None:
            sections.append(AgainstReference(metric, reference_set))
        sets = predicted_set or "", reference_set or ""
        files = list(_files(outputs, metric, lists, sets, evaluation, indicator_prefix))
        result = score(
            gold,
            predicted,
            metrics=[counted],
            gold_set=gold_set,
            predicted_set=predicted_set,
            reading=_readings(options.pop("reading", Reading()), reference_set),
            transforms=() if best is None else (best,),
            observers=[*sections, *files],
            **options,
        )
        result = _in_one_report(result, counted, None if best is None else best.signature[0])
    for output in (*_written(outputs, files), *_page(page, result, lang)):
        if wrote is not None:
            wrote(output)
    return result


def _of_pairs(
    gold: InputSide,
    predicted: InputSide | None,
    metric: Gate,
    pairs: Iterable[tuple[str, str, str]],
    with_tables: bool,
    evaluation: str,
    options: Mapping[str, Any],
) -> tuple[Result, list[_File]]:
    """Return the sum of the results of several pairs of annotation sets, with the report and the table of each."""
    results: dict[str, Result] = {}
    tables: list[_File] = []
    for name, gold_set, predicted_set in pairs:
        if name in results:
            raise UsageError(f"the pair {name!r} is named twice", advice="name each pair once")
        counted = with_unfiltered(metric, gold_set)
        own = [GateTable(counted, predicted_set, "", evaluation)] if with_tables else []
        results[name] = score(
            gold,
            predicted,
            metrics=[counted],
            gold_set=gold_set,
            predicted_set=predicted_set,
            observers=own,
            **options,
        )
        tables += own
    return _summed(metric, results), tables


def _pair(given: str | tuple[str, str]) -> tuple[str, str, str]:
    """Return the name of a pair and its annotation sets. Raises `UsageError` for another value."""
    parts = given.split(":") if isinstance(given, str) else given
    if (
        not isinstance(parts, list | tuple)
        or len(parts) != 2
        or not all(isinstance(each, str) for each in parts)
    ):
        raise UsageError(f"the pair {given!r} cannot be read", advice="write it GOLDSET:PREDICTEDSET")
    return ":".join(parts), parts[0], parts[1]


def _summed(metric: Gate, results: Mapping[str, Result]) -> Result:
    """Return the sum of the results, and in its report those of the pairs and the means of their rates."""
    first, *more = results.values()
    total = first
    for result in more:
        total = total.add(replace(result, observers=total.observers, sections={}), force=True)
    reports = {
        name: result.metrics["gate"].get(DEFAULT_LAYER) or metric.scores(Tally(), [DEFAULT_LAYER])
        for name, result in results.items()
    }
    counts = [
        metric.counts(result.counted.tally_of(metric))
        if result.counted is not None
        else metric.counts(Tally())
        for result in results.values()
    ]
    own = total.metrics["gate"].get(DEFAULT_LAYER) or metric.scores(Tally(), [DEFAULT_LAYER])
    report = {**own, "pairs": reports, "pairs_macro": macro_report(counts, metric.beta)}
    return replace(total, metrics={"gate": {DEFAULT_LAYER: report}}, counted=None, observers=(), sections={})


def _require(metric: object, lists: object, **sets: object) -> None:
    """Raise `UsageError` for arguments of a wrong type."""
    for name, given in sets.items():
        require_kind(given, "str | None", name)
    if metric is not None:
        require_instance(metric, Gate, "metric")
    if lists is not None:
        require_instance(lists, Lists, "lists")


def _readings(reading: Readings, reference_set: str | None) -> tuple[Reading, ...]:
    """Return the reading options of gold, of predicted and, if there is one, of the reference set."""
    both = reading if isinstance(reading, tuple) else (reading, reading)
    return both if reference_set is None else (*both, replace(both[1], annotation_set=reference_set))


def with_unfiltered(metric: Gate, gold_set: str | None) -> Gate:
    """Return the metric with GATE's rule: targets of the containing set and type are all evaluated.

    >>> with_unfiltered(Gate(containing="Key:Person"), "Key").unfiltered
    'Person'
    """
    if metric.containing is None or gold_set is None or metric.unfiltered is not None:
        return metric
    set_name, _, kind = metric.containing.rpartition(":")
    return replace(metric, unfiltered=kind) if set_name == gold_set else metric


def _in_one_report(result: Result, metric: Gate, candidates: str | None) -> Result:
    """Return the result with the sections of the observers in the report of the metric.

    The changes by the transform called `candidates` are not shown.
    """
    if not result.sections:
        return result
    own = result.metrics["gate"].get(DEFAULT_LAYER) or metric.scores(Tally(), [DEFAULT_LAYER])
    report = {"gate": {DEFAULT_LAYER: {**own, **result.sections}}}
    prepared = {name: tally for name, tally in (result.prepared or {}).items() if name != candidates}
    return replace(result, metrics=report, counted=None, prepared=prepared or None, sections={}, observers=())


_File = GateTable | GateListTable | IndicatorWriter

_Outputs = tuple[Path | None, Path | None]
"""The file for the table, and the folder for documents with indicators."""


def _files(
    outputs: _Outputs, metric: Gate, lists: Lists | None, sets: tuple[str, str], evaluation: str, prefix: str
) -> Iterator[_File]:
    """Yield the observers for the outputs; `sets` are the names of the predicted set and the reference set."""
    table, folder = outputs
    if table is not None and lists is None:
        yield GateTable(metric, *sets, evaluation)
    elif table is not None and lists is not None:
        yield GateListTable(metric, lists, sets[0], evaluation)
    if folder is not None:
        if lists is not None:
            raise UsageError("indicators are not written for candidate lists", advice="leave one out")
        yield IndicatorWriter(metric, folder, prefix)


def _written(outputs: _Outputs, files: Iterable[_File]) -> Iterator[str]:
    """Write the tables, one after the other, and yield a line on each output."""
    table, folder = outputs
    writers = [each for each in files if isinstance(each, IndicatorWriter)]
    if table is not None:
        tables = [each.lines() for each in files if not isinstance(each, IndicatorWriter)]
        for lines in tables[1:]:
            next(lines)  # the header
        with whole_file(table) as output:
            output.writelines(f"{line}\n" for lines in tables for line in lines)
        yield f"wrote {table}"
    for number in (len(each.written) for each in writers):
        yield f"wrote {number} file{'s' * (number != 1)} to {folder}"


def _page(path: str | Path | None, result: Result, lang: str) -> Iterator[str]:
    """Write the page, if `path` is given, and yield a line on it."""
    if path is not None:
        from clueval.compat.gate.files import render
        from clueval.reports.language import speaking
        from clueval.reports.page import write_page

        with speaking(lang):
            write_page(Path(path), render(result.to_dict()))
        yield f"wrote {path}"


class BestCandidates:
    """A transform that replaces predicted by the best candidate of each list, and appends it to
    `Group.further`.

    `metric` counts the best candidates. Raises `UsageError` as `ListEvaluation` does.
    """

    def __init__(self, metric: Gate, lists: Lists) -> None:
        evaluation = ListEvaluation(metric, lists)
        score, thresholds = plain(metric.score_feature), plain(metric.thresholds)
        self.signature = ("lists", f"{lists},score={score},thresholds={thresholds}")
        self.prepared: Counter[tuple[Any, ...]] = Counter()
        self.metric, self._best = evaluation.best_metric, evaluation.best

    def __call__(self, group: Group) -> Group:
        lists = group.predicted
        return replace(group, predicted=self._best(lists), further=(*group.further, lists))


class CandidateLists:
    """An observer that reports on candidate lists; see `clueval.first.metrics.gate.list_evaluation`."""

    name: ClassVar[str] = "lists"

    def __init__(self, metric: Gate, lists: Lists) -> None:
        self._evaluation = ListEvaluation(metric, lists)

    def see(self, group: Group) -> None:
        """Count one document, after `BestCandidates`."""
        self._evaluation.add(group.gold, group.further[-1])

    def section(self) -> dict[str, Any]:
        """Return the report. Raises `UsageError` if no document has such lists."""
        self._evaluation.require_known()
        return self._evaluation.report()
