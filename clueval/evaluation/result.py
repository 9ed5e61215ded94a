"""Results, which can be compared and added if their signatures allow it (`clueval.evaluation.signature`).

`result_of` makes the result of an evaluation of everything that it has counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from clueval.arguments import refuse_unknown
from clueval.core.span import MERGED
from clueval.evaluation.inputs import (
    add_passed_over,
    include,
    no_inputs,
    passed_over,
    reported,
    schemes_of,
)
from clueval.evaluation.signature import Signature, joined_signature, require_same
from clueval.evaluation.totals import Counted, GroupReports
from clueval.evaluation.units.unit import CORPUS, CountedUnits, Unit, Units
from clueval.files.errors import UsageError
from clueval.first.metrics.counting import Tally
from clueval.first.metrics.metric import Metric
from clueval.reports.report import READABLE, Data, Report, renderer
from clueval.second.results.options import Trust
from clueval.transforms.group import HIDDEN, LOCATED
from clueval.version import SCHEMA, __version__

if TYPE_CHECKING:
    from clueval.evaluation.engine import Evaluation
    from clueval.evaluation.observer import AddingObserver, Observer
    from clueval.evaluation.totals import Unprojected
    from clueval.reports.table import Table


@dataclass(frozen=True, slots=True)
class Result(Report):
    """The result of an evaluation.

    Attributes:
        repaired_tags: the number of repaired tags of each side.
        metrics: the reports, by metric and sequence; each metric documents the shape of its report.
        groups: the same for each value of each key of a break-down; None without a break-down.
        unprojected: predicted spans without a place on the gold text, counted as spurious; None if texts were not
            aligned.
        counted: the counts, to add results.
        scored_by: the metrics, which make the tables.
        prepared: the numbers of changes by each transform; None without transforms.
        sections: the reports of observers, by name.
        observers: the observers that can be added.
        inputs: by side ``format``, ``files`` and ``layers``; of each layer the ``source`` (the column, from 1) and
            the ``scheme``, both None if spans do not come from tags, and the number of ``spans`` without filters.
        passed_over: by side, what the formats did not read, such as relations: numbers by kind.
        interval_section: the intervals of all rates, if they were asked for; see `intervals`.
        tagged: the sides and layers of documents whose spans were read from tags, or from a file of tokens; saved
            results do not have them.
        gates: of each limit the ``score``, its ``value``, the ``limit`` and whether it ``passed``; None if no limits
            were set.
    """

    _named_by: ClassVar[Sequence[str]] = (
        *("metric", "sequence", "by", "value", "section", "level", "average", "label"),
    )

    documents: int
    tokens: int
    repaired_tags: Mapping[str, int]
    metrics: Mapping[str, Mapping[str, Any]]
    signature: Signature
    groups: Mapping[str, Mapping[str, Mapping[str, Any]]] | None = None
    unprojected: Sequence[Unprojected] | None = None
    counted: Counted | None = field(default=None, compare=False, repr=False)
    scored_by: Sequence[Metric] = field(default=(), compare=False, repr=False)
    prepared: Mapping[str, Tally] | None = None
    sections: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    observers: Sequence[AddingObserver] = field(default=(), compare=False, repr=False)
    inputs: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    passed_over: Mapping[str, Mapping[str, int]] = field(default_factory=lambda: passed_over(no_inputs()))
    interval_section: Mapping[str, Any] | None = None
    gates: Sequence[Mapping[str, Any]] | None = None
    tagged: AbstractSet[tuple[str, str]] = field(default=frozenset(), compare=False, repr=False)

    def intervals(self, **options: Any) -> dict[str, Any]:
        """Return intervals of all rates, as the JSON of ``clueval score --intervals`` has them.

        `options` are `confidence`, `method`, `resamples` and `seed` (see `Trust`). Raises `UsageError` if counts
        were not kept by unit, or there is only one.
        """
        from clueval.evaluation.units.intervals import interval_section

        refuse_unknown(options, ("confidence", "method", "resamples", "seed"), "intervals")
        counted = self._with_units()
        return interval_section(counted.metrics, counted.sequences, counted.units, Trust(**options))

    def trusted(self, trust: Trust) -> Result:
        """Return the result with the intervals that are asked for."""
        return self._with_intervals(trust) if trust.intervals else self

    @property
    def units(self) -> Units | None:
        """The counts by unit; None if only those of the whole corpus were kept."""
        units = None if self.counted is None else self.counted.units
        return None if units is None or units.by == CORPUS else units

    def _with_units(self) -> CountedUnits:
        if self.counted is None:
            raise UsageError("a result without its counts has no units", advice="score again")
        units = self.counted.units
        if units is None:
            whole = Unit(CORPUS, self.documents, self.tokens, self.counted.tallies)
            units = Units(CORPUS, [whole], {})
        return CountedUnits(self.counted.metrics, self.counted.sequences, units)

    def _with_intervals(self, trust: Trust) -> Result:
        from clueval.evaluation.units.intervals import interval_section

        metrics, sequences, units = self._with_units()
        section = interval_section(metrics, sequences, units, trust)
        groups = self._groups_with(
            lambda _, own: {"intervals": interval_section(metrics, sequences, units, trust, own)}
        )
        return replace(self, interval_section=section, groups=groups)

    def _groups_with(
        self, more: Callable[[Mapping[str, Any], Any], Mapping[str, Any]]
    ) -> Mapping[str, Mapping[str, Mapping[str, Any]]] | None:
        """The reports of the break-downs with what `more` adds to each, given the report and its units."""
        if self.groups is None:
            return None
        units = self._with_units().units
        return {
            key: {
                value: {**report, **more(report, units.groups[key][value])}
                for value, report in values.items()
            }
            for key, values in self.groups.items()
        }

    def add(self, other: Result, *, force: bool = False) -> Result:
        """The result of both corpora together: counts are added, and scores are computed again.

        Raises `UsageError` if the signatures differ, unless `force` is given; then the new signature has both
        values of choices that differ. Raises `UsageError` in any case for different metrics, for results with
        different break-downs, and for those without counts, of aligned texts, or with observers that cannot be added.
        """
        from clueval.evaluation.observer import added, sections_of

        if not force:
            require_same(self.signature, other.signature, "added")
        for result in (self, other):
            cannot = result.sections.keys() - {observer.name for observer in result.observers}
            aligned = result.signature.choices.get("text") == "aligned" and result.unprojected is not None
            aligned = aligned and LOCATED not in (result.prepared or {})
            if aligned or cannot:
                raise UsageError(
                    "results of aligned texts or with observers that do not add cannot be added",
                    advice="score both corpora together",
                )
        keys = [set(result.groups or ()) for result in (self, other)]
        if keys[0] != keys[1]:
            shown = [" and ".join(sorted(of_result)) or "nothing" for of_result in keys]
            raise UsageError(
                f"results broken down by {shown[0]} and by {shown[1]} cannot be added",
                advice="score both with the same break-downs (by)",
            )
        if self.counted is None or other.counted is None:
            raise UsageError(
                "a result without its counts cannot be added", advice="score both corpora together"
            )
        _require_same_order(self.counted.sequences, other.counted.sequences)
        inputs = no_inputs()
        for result in (self, other):
            include(inputs, result.inputs)
            for side, numbers in result.passed_over.items():
                add_passed_over(inputs, side, numbers)
        counted = self.counted.with_sequences(other.counted) + other.counted.with_sequences(self.counted)
        observers = added(self.observers, other.observers)
        total = replace(
            self,
            documents=self.documents + other.documents,
            tokens=self.tokens + other.tokens,
            repaired_tags={
                side: self.repaired_tags.get(side, 0) + other.repaired_tags.get(side, 0)
                for side in dict.fromkeys([*self.repaired_tags, *other.repaired_tags])
            },
            metrics=counted.scores(),
            signature=joined_signature(self.signature, other.signature, schemes_of(inputs)),
            counted=counted,
            prepared=_added_changes(self.prepared, other.prepared),
            unprojected=None
            if self.unprojected is None and other.unprojected is None
            else [*(self.unprojected or ()), *(other.unprojected or ())],
            sections=sections_of(observers),
            observers=observers,
            inputs=reported(inputs, (), ()),
            passed_over=passed_over(inputs),
            groups=counted.groups(),
            interval_section=None,
            gates=None,
        )

        return with_reports(total)

    def to_dict(self) -> dict[str, Any]:
        """The result as plain dictionaries, strings, integers and floats. Rates are fractions."""
        by = {key: dict(values) for key, values in (self.groups or {}).items()}
        return self._report() | ({"by": by} if by else {})

    def _report(self) -> dict[str, Any]:
        """The result as `to_dict` returns it, apart from break-downs, whose reports may be made one by one."""
        report: dict[str, Any] = {
            "clueval": __version__,
            "schema": SCHEMA,
            "signature": str(self.signature),
            "documents": self.documents,
            "tokens": self.tokens,
            "repaired_tags": dict(self.repaired_tags),
            "inputs": {side: dict(found) for side, found in self.inputs.items()},
            "passed_over": {side: dict(numbers) for side, numbers in self.passed_over.items()},
            "metrics": {name: dict(sequences) for name, sequences in self.metrics.items()},
        }
        if self.interval_section is not None:
            report["intervals"] = dict(self.interval_section)
        if self.groups is not None:
            report["by"] = self.groups
        if self.unprojected is not None:
            report["unprojected"] = [each.to_dict() for each in self.unprojected]
        if self.prepared is not None:
            report["prepared"] = plain_changes(self.prepared)
        if self.gates is not None:
            report["gates"] = [dict(gate) for gate in self.gates]
        report.update(self.sections)
        return report

    @property
    def precision(self) -> float | None:
        """The precision of the headline, as a fraction; see `f1`."""
        return self._headline("precision")

    @property
    def recall(self) -> float | None:
        """The recall of the headline, as a fraction; see `f1`."""
        return self._headline("recall")

    @property
    def f1(self) -> float | None:
        """The F1 of the headline, as a fraction; None if it is undefined.

        Raises `UsageError`, which names the paths for `get`, unless one metric has a headline, in one sequence.
        """
        return self._headline("f1")

    def get(self, path: str) -> float | None:
        """Return a number by its path below ``metrics``, as ``levels.entity.unlabelled.4.recall``.

        Names that are clear from the others may be left out, as in ``exact.PER.f1``, ``PER.f1`` and ``f1``, and every
        key of `scores` is such a path. Returns None for a number that is undefined. Raises `UsageError` for a path
        without a number, and names the nearest; and for one that can mean several.
        """
        from clueval.evaluation.score_path import number_at, whole_path

        try:
            return number_at(self.metrics, whole_path(self.metrics, path))
        except UsageError:
            if (number := self.scores().get(path)) is not None:
                return number
            raise

    def __getitem__(self, path: str) -> float | None:
        """Return a number by its path, as `get` does."""
        return self.get(path)

    __iter__ = None  # otherwise Python would iterate by `__getitem__`

    def rows(self, *, long: bool = False) -> list[dict[str, Any]]:
        """Return one dictionary for each entry of the reports, with the same keys for every metric (`rows.ROW`).

        With `long`, one for each number (`rows.LONG_ROW`). pandas and polars make tables of them.
        """
        from clueval.evaluation.rows import long_rows

        return list(long_rows(self.to_dict())) if long else Report.rows(self)

    def scores(self) -> dict[str, float]:
        """Return all rates by short paths, as ``exact.PER.f1``; those of a headline also as ``exact.f1``.

        Undefined rates are left out. Loggers take such a dictionary. A sequence is in the paths if there are several.
        """
        from clueval.evaluation.score_path import headline_paths, number_at

        found: dict[str, float] = {}
        for path in headline_paths(self.metrics):
            place = path[: 2 if len(self.metrics[path[0]]) > 1 else 1]
            (rate,) = {"precision", "recall", "f1"}.intersection(path[-1].split("_"))
            number = number_at(self.metrics, path)
            if number is not None:
                found[".".join([*place, rate])] = number
        return found | Report.scores(self)

    def render(
        self, form: str = "text", *, all: bool = False, digits: int | None = None, lang: str = ""
    ) -> str:
        """The result in a form of `FORMS`, as ``clueval score --format`` prints it.

        With `all`, text, Markdown and LaTeX have all tables instead of the first screen; `digits` is their number of
        decimals, `lang` the language of the tables. Raises `UsageError` for other forms.
        """
        if not (all and form in READABLE):
            return Report.render(self, form, digits=digits, lang=lang)
        from clueval.reports.language import speaking
        from clueval.reports.table import decimals

        with decimals(digits), speaking(lang):
            return self._readable(form, all=all)

    def tables(self, *, all: bool = False) -> Iterator[Table]:
        """The reports as tables: headlines, labels and break-downs (`evaluation.first_screen`), or `all`.

        All tables are first those of all documents, then those of each group of a break-down.
        """
        from clueval.evaluation.first_screen import first_tables
        from clueval.first.metrics.tables import of_report, of_section
        from clueval.reports.table import with_estimates

        yield from (of_report if all else first_tables)(with_estimates(self._report()), self.scored_by)
        for name, section in self.sections.items():
            yield from of_section(name, section)

    def _content(self) -> Mapping[str, Any]:
        return self._report()

    def _data(self) -> Data:
        from clueval.evaluation.rows import columns_of, wide_rows

        return Data(columns_of(report := self._report()), wide_rows(report))

    def _readable(self, form: str, *, all: bool = False) -> str:
        report, more = self._report(), {}
        if form == "text" and not all:
            from clueval.evaluation.first_screen import exact_f1, notes

            more = {"before": exact_f1(report), "after": notes(report)}
        return renderer(form)(report, self.tables(all=all), **more)

    def _headline(self, rate: str) -> float | None:
        from clueval.evaluation.score_path import headline_paths, number_at

        if not self.documents and not self.inputs["gold"]["layers"]:
            raise UsageError(f"there are no documents, so there is no {rate}", advice="check the input")
        paths = [path for path in headline_paths(self.metrics) if rate in path[-1].split("_")]
        if len(paths) == 1:
            return number_at(self.metrics, paths[0])
        listed = ", ".join(".".join(path) for path in paths)
        raise UsageError(
            f"the result has {len(paths) or 'no'} headline{'s' * (len(paths) != 1)}, so {rate} is not one number",
            advice=f"use get with one of {listed}" if paths else "use get with the path of a number",
        )

    def __add__(self, other: Result) -> Result:
        return self.add(other) if isinstance(other, Result) else NotImplemented

    def __radd__(self, other: Literal[0]) -> Result:
        """Let `sum` begin with 0."""
        return self if other == 0 else NotImplemented

    def __repr__(self) -> str:
        number = f"{self.documents:,} document{'s' * (self.documents != 1)}"
        return f"<Result of {number}: {', '.join(self.metrics)}; print(result) shows the tables>"


def result_of(evaluation: Evaluation, signature: Signature, gold_sha256: str | None = None) -> Result:
    """The result of everything counted. Raises `UsageError` for names in options that never occurred."""
    plan = evaluation.plan
    keys = (*plan.by, *evaluation.pieces.metadata())
    if keys or plan.where:
        evaluation.seen_names.require_all(keys, evaluation.layers)
    for frame, number in evaluation.frames.items():
        if evaluation.total.documents and not number:
            raise UsageError(
                f"no annotation is in {frame!r}, within which the metric counts",
                advice="check its spelling",
            )
    units = evaluation.pieces.units(evaluation.total, evaluation.groups, gold_sha256)
    counted = _counted(evaluation, units)
    scores = counted.scores()
    for metric in plan.metrics:
        metric.check(counted.tally_of(metric))
    prepared = None
    if evaluation.prepares:
        from clueval.transforms.applied import warn_without_effect

        warn_without_effect([evaluation.preparation])
        prepared = evaluation.preparation.checked()
    result = Result(
        evaluation.total.documents,
        evaluation.total.tokens,
        evaluation.repaired_tags(),
        scores,
        signature,
        groups={key: GroupReports(values, counted) for key, values in evaluation.groups.items()} or None,
        unprojected=evaluation.unprojected if evaluation.unprojected or plan.lists_unplaced else None,
        counted=counted,
        scored_by=plan.metrics,
        prepared=prepared,
        inputs=evaluation.read(),
        passed_over=passed_over(evaluation.inputs),
        tagged={(side, layer) for side, of_side in evaluation.repairs.items() for layer in of_side.tagged},
    )
    return _with_observers(result, plan.observers) if plan.observers else result


def _with_observers(result: Result, observers: Sequence[Observer]) -> Result:
    """Return the result with the sections of observers, and what they add to the reports of metrics."""
    from clueval.evaluation.observer import AddingObserver, sections_of

    adding = [deepcopy(each) for each in observers if isinstance(each, AddingObserver)]
    return with_reports(replace(result, sections=sections_of(observers), observers=adding))


def with_reports(result: Result) -> Result:
    """Return the result with what its observers add to the reports of metrics."""
    from clueval.evaluation.observer import ReportingObserver

    for observer in result.observers:
        if isinstance(observer, ReportingObserver):
            result = replace(result, metrics=observer.reports(result.metrics))
    return result


def choices_of_counts(evaluation: Evaluation) -> dict[str, str]:
    """What metrics say of the sums of their counts, for the signature."""
    found = evaluation.preparation.choices() if evaluation.prepares else {}
    for metric in evaluation.plan.metrics:
        if (choices := metric.needs.choices) is not None:
            found |= choices(_counted(evaluation).tally_of(metric))
    return found


def _counted(evaluation: Evaluation, units: Units | None = None) -> Counted:
    """A copy of the tallies, with the layers of each sequence."""
    layers = list(evaluation.layers)
    sequences = {MERGED: layers} if evaluation.plan.merge else {layer: [layer] for layer in layers}
    tallies = {key: Tally(tally) for key, tally in evaluation.total.tallies.items()}
    return Counted(evaluation.plan.metrics, tallies, sequences, units)


def plain_tally(tally: Tally) -> dict[str, int]:
    """A tally for JSON; the parts of a key are joined by slashes. Names that were counted for a check are left out.

    >>> plain_tally(Tally({("spans", "PER"): 2}))
    {'spans/PER': 2}
    """
    return {
        "/".join(map(str, key)): number
        for key, number in sorted(tally.items(), key=str)
        if key[:1] != (HIDDEN,)
    }


def plain_changes(prepared: Mapping[str, Tally]) -> dict[str, Any]:
    """The numbers of changes for JSON, by transform; those of alternatives stand by themselves."""
    from clueval.transforms.group import ALTERNATIVES

    plain: dict[str, Any] = {}
    for name, tally in prepared.items():
        if name == ALTERNATIVES:
            plain |= plain_tally(tally)
        else:
            plain[name] = plain_tally(tally)
    return plain


def _added_changes(
    first: Mapping[str, Tally] | None, second: Mapping[str, Tally] | None
) -> Mapping[str, Tally] | None:
    """The numbers of changes by transforms in both corpora together."""
    if first is None and second is None:
        return None
    from clueval.transforms.applied import added

    both = first or {}, second or {}
    return {
        name: added(both[0].get(name, {}), both[1].get(name, {}))
        for name in dict.fromkeys([*both[0], *both[1]])
    }


def _require_same_order(one: Mapping[str, Sequence[str]], two: Mapping[str, Sequence[str]]) -> None:
    """Raise `UsageError` for layers merged in different orders, whose labels have different names."""
    orders = [
        [layer for layer in own.get(MERGED, ()) if layer in others.get(MERGED, ())]
        for own, others in ((one, two), (two, one))
    ]
    if orders[0] != orders[1]:
        raise UsageError(
            "results of layers that were merged in different orders cannot be added",
            advice="score both corpora together",
        )
