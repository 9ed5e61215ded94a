"""The result of counting a corpus: every number of it is computed from its bag."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, cast

from clueval.core.bag import Bag, Place
from clueval.core.count import DOCUMENT, SENTENCE, DocumentPlace, Plan
from clueval.core.metric import AnyMetric, Tally, added
from clueval.core.span import DEFAULT_LAYER, MERGED, SIDES
from clueval.files.errors import UsageError, with_noun
from clueval.files.options import input_path, refuse_unknown, require_kind
from clueval.metrics import chosen_metrics, headline_paths, number_at, with_settings
from clueval.reports import copied
from clueval.reports.report import Report
from clueval.results.inputs import Unplaced, inputs_of, passed_over_of, schemes_of, unannotated_in
from clueval.results.signature import Signature, joined_signature, require_same
from clueval.version import SCHEMA, __version__

if TYPE_CHECKING:
    from clueval.metrics.curve import Curve
    from clueval.reports.table import Table
    from clueval.results.options import Trust
    from clueval.results.reference import Reference
    from clueval.results.units import Units

Reports = Mapping[str, Mapping[str, Any]]
"""Reports by metric and sequence."""

# The reports on a bag


class BagReports:
    """The reports of metrics on the places of a bag; documents without layers have the default layer, without spans.

    Attributes:
        metrics: the metrics that have reports; curves are parts of those of their metrics.
        sequences: the layers, or the merged one.
    """

    def __init__(self, bag: Bag, plan: Plan) -> None:
        self.metrics = [metric for metric in plan.metrics if not hasattr(metric, "with_curves")]
        curves = [cast("Curve", metric) for metric in plan.metrics if hasattr(metric, "with_curves")]
        self._curves = {curve.metric.name: curve for curve in curves}
        self._layers = list(bag.layers) or [DEFAULT_LAYER]
        self._merges = plan.merge and bool(bag.layers)
        self.sequences = [MERGED] if self._merges else self._layers
        wholes = [metric.whole for metric in plan.metrics if metric.whole is not None]
        self._counted = list(dict.fromkeys([*self.sequences, *wholes]))
        self._counts = bag.counts(plan.metrics)
        self.total = self.tallies(())  # everything is one place without a value

    def layers_of(self, sequence: str) -> list[str]:
        """Return the layers in which the spans of a sequence have labels."""
        return [sequence] if sequence in self.sequences and not self._merges else self._layers

    def tallies(self, place: Place) -> dict[tuple[str, str], Tally]:
        """Return the counts in a place, by metric and sequence."""
        tallies = {}
        for sequence, metric, tally in self._counts.at(place, self._counted):
            tallies[metric.name, sequence] = tally
        return tallies

    def at(self, place: Place, *, for_headlines: bool = False) -> dict[str, dict[str, Any]]:
        """Return the reports on a place, by metric and sequence; of some only the part that has the headline."""
        tallies = self.total if place == () else self.tallies(place)
        reports: dict[str, dict[str, Any]] = {}
        for metric in self.metrics:
            name, curve = metric.name, None if for_headlines else self._curves.get(metric.name)
            scores = metric.headline_report if for_headlines else metric.scores
            reports[name] = {}
            sequences = self.sequences if metric.whole is None else [metric.whole]
            for sequence in metric.reported({sequence: tallies[name, sequence] for sequence in sequences}):
                layers = self.layers_of(sequence)
                report = scores(tallies[name, sequence], layers)
                if curve is not None:
                    points = curve.scores(tallies[curve.name, sequence], layers)
                    report = curve.with_curves(report, points, layers)
                reports[name][sequence] = report
        return reports

    def choices(self) -> dict[str, str]:
        """Return what the metrics add to the signature, given everything that was counted.

        Raises `UsageError` for a setting of a metric that names what never occurred.
        """
        choices: dict[str, str] = {}
        for metric in (*self.metrics, *self._curves.values()):
            total = added((tally, 1) for (name, _), tally in self.total.items() if name == metric.name)
            metric.check(total)
            choices |= metric.choices(total)
        return choices


class GroupReports(Mapping[str, Mapping[str, Any]]):
    """The reports of a break-down by the values of its groups, in order of the values.

    Each report is made when it is asked for, because those of many documents take much memory. With `trust`, it has
    intervals, too.
    """

    def __init__(self, bag: Bag, plan: Plan, key: str, trust: Trust | None) -> None:
        number = plan.by.index(key)
        self._bag, self._plan, self._trust = bag, plan, trust
        self._grouped = bag.grouped(lambda place: place.values[number])
        self._reports = BagReports(self._grouped, plan)
        self._values = sorted(self._grouped.documents)
        self._places: dict[str, list[Place]] = {}
        for place in bag.documents if trust is not None else ():
            self._places.setdefault(place.values[number], []).append(place)

    def __getitem__(self, value: str) -> Mapping[str, Any]:
        if value not in self._grouped.documents:
            raise KeyError(value)
        report = {
            "documents": self._grouped.documents[value],
            "tokens": sum(positions[value] for positions in self._grouped.positions.values()),
            "metrics": self._reports.at(value),
        }
        if self._trust is None:
            return report
        from clueval.results.intervals import interval_section  # few results need them

        part = self._bag.grouped(lambda place: place, self._places[value])
        return report | {"intervals": interval_section(_units_in(part, self._plan), self._trust)}

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return repr(dict(self))

    def headlines(self) -> Iterator[tuple[str, Reports]]:
        """Yield each value with reports that have the headlines, some of which cost less than all scores."""
        for value in self._values:
            yield value, self._reports.at(value, for_headlines=True)


def _units_in(bag: Bag, plan: Plan) -> Units:
    from clueval.results.units import units_of  # few results need them

    reports = BagReports(bag, plan)
    layers = {sequence: reports.layers_of(sequence) for sequence in reports.sequences}
    return units_of(bag, reports.metrics, layers, plan.units)


# The result


@dataclass(frozen=True, repr=False)
class Result(Report):
    """The result of counting a corpus.

    Attributes:
        bag: what was counted, in the places of the documents that count.
        plan: what counts, and by what.
        signature: every choice that the numbers depend on.
        prepared: how often each step changed what; None without steps.
        unprojected: the predicted spans without a place in the text of gold; None if none can be.
        gold_sha256: the hash of the gold files, where counts are kept by unit; None for what is in memory.
        trust: how the intervals of all rates are computed, if they were asked for; see `intervals`.
        made: the reports on everything, if they were made.
        has_all_tables: whether the forms for readers have all tables instead of the first screen.
        reference: another system with which the result is compared; None without one.
        gates: of each limit the ``score``, its ``value``, the ``limit`` and whether it ``passed``; None if no limits
            were set.

    >>> from clueval import score
    >>> result = score([["B-PER", "B-LOC"]], [["B-PER", "O"]], metrics="exact")
    >>> result.recall, result["exact.label.per_label.PER.f1"], result.scores()["exact.precision"]
    (0.5, 1.0, 1.0)
    """

    title = ""
    text_width: ClassVar[int] = 1000
    screen: ClassVar[None] = None  # type: ignore[misc]  # never another

    bag: Bag = field(repr=False, compare=False)
    plan: Plan = field(repr=False, compare=False)
    signature: Signature
    prepared: Mapping[str, Any] | None = None
    unprojected: Sequence[Unplaced] | None = None
    gold_sha256: str | None = None
    trust: Trust | None = None
    gates: Sequence[Mapping[str, Any]] | None = None
    reference: Reference | None = field(default=None, repr=False, compare=False)
    made: BagReports | None = field(default=None, repr=False, compare=False)
    has_all_tables: bool = field(default=False, repr=False, compare=False)

    # What was counted

    @cached_property
    def _all_reports(self) -> BagReports:
        return BagReports(self.bag.in_one_place(), self.plan) if self.made is None else self.made

    @property
    def scored_by(self) -> Sequence[AnyMetric]:
        """The metrics."""
        return self._all_reports.metrics

    @property
    def documents(self) -> int:
        """The number of documents that were counted."""
        return sum(self.bag.documents.values())

    @property
    def tokens(self) -> int:
        """The number of positions that were counted."""
        return sum(sum(of_places.values()) for of_places in self.bag.positions.values())

    @cached_property
    def metrics(self) -> Mapping[str, Mapping[str, Any]]:
        """The reports, by metric and sequence, apart from those that the result reads itself.

        Each metric documents the shape of its report.
        """
        reports: dict[str, dict[str, Any]] = copied(self._reports)
        return reports

    @cached_property
    def _reports(self) -> Reports:
        return self._all_reports.at(())

    @cached_property
    def groups(self) -> Mapping[str, Mapping[str, Mapping[str, Any]]] | None:
        """The reports of each value of each key of a break-down; None without a break-down."""
        if not self.plan.by:
            return None
        return {key: GroupReports(self.bag, self.plan, key, self.trust) for key in self.plan.by}

    @cached_property
    def units(self) -> Units | None:
        """What was counted in each unit; None if only the counts of the whole corpus were kept."""
        return None if self.plan.units is None else _units_in(self.bag, self.plan)

    @cached_property
    def interval_section(self) -> Mapping[str, Any] | None:
        """The intervals of all rates, if they were asked for; see `intervals`."""
        return None if self.trust is None else self._intervals(self.trust)

    def intervals(self, **options: Any) -> dict[str, Any]:
        """Return intervals of all rates, as the JSON of ``clueval score --intervals`` has them.

        `options` are `confidence`, `method`, `resamples` and `seed` (see `Trust`). Raises `UsageError` if counts
        were not kept by unit, or there is only one.
        """
        from clueval.results.options import Trust

        refuse_unknown(options, ("confidence", "method", "resamples", "seed"), "intervals")
        return self._intervals(Trust(**options))

    def _intervals(self, trust: Trust) -> dict[str, Any]:
        from clueval.results.intervals import interval_section  # few results need them

        units = _units_in(self.bag, self.plan)
        units.require_several()
        return interval_section(units, trust)

    @property
    def repaired_tags(self) -> Mapping[str, int]:
        """The number of repaired tags of each side."""
        return {side: self.bag.read.repaired(side) for side in SIDES}

    @property
    def tagged(self) -> AbstractSet[tuple[str, str]]:
        """The sides and layers whose spans were read from tags, or from a file of tokens."""
        return self.bag.read.tagged

    @property
    def inputs(self) -> Mapping[str, Mapping[str, Any]]:
        """What was read of each side: ``format``, ``files`` and ``layers`` (`clueval.results.inputs`)."""
        return inputs_of(self.bag.read, self.bag.layers, self.plan.frames)

    @property
    def passed_over(self) -> Mapping[str, Mapping[str, int]]:
        """What the formats of each side did not read, such as relations: numbers by kind."""
        return passed_over_of(self.bag.read)

    # Numbers

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

    def _headline(self, rate: str) -> float | None:
        if not self.documents and not self.inputs["gold"]["layers"]:
            raise UsageError(
                f"there are no documents, so there is no {rate}",
                advice=unannotated_in(self.passed_over) or "check the input",
            )
        paths = [path for path in headline_paths(self._reports) if rate in path[-1].split("_")]
        if len(paths) == 1:
            return number_at(self._reports, paths[0])
        listed = ", ".join(".".join(path) for path in paths or headline_paths(self._reports))
        problem = f"no headline of the result has {rate}"
        if paths:
            problem = f"the result has {len(paths)} headlines, so {rate} is not one number"
        raise UsageError(
            problem, advice=f"use get with one of {listed}" if listed else "use get with the path of a number"
        )

    def get(self, path: str) -> float | None:
        """Return a number by its path below ``metrics``, as ``levels.entity.unlabelled.4.recall``.

        Names that are clear from the others may be left out, as in ``exact.PER.f1``, ``PER.f1`` and ``f1``, and every
        key of `scores` is such a path. Returns None for a number that is undefined. Raises `UsageError` for a path
        without a number, and names the nearest; and for one that can mean several.
        """
        from clueval.results.paths import whole_path

        try:
            return number_at(self._reports, whole_path(self._reports, path))
        except UsageError:
            if (number := self._by_short_path.get(path)) is not None:
                return number
            raise

    def __getitem__(self, path: str) -> float | None:
        """Return a number by its path, as `get` does."""
        return self.get(path)

    __iter__ = None  # otherwise Python would iterate by `__getitem__`

    def scores(self) -> dict[str, float]:
        """Return all rates by short paths, as ``exact.PER.f1``; those of a headline also as ``exact.f1``.

        Undefined rates are left out. Loggers take such a dictionary. A sequence is in the paths if there are several.
        """
        return dict(self._by_short_path)

    @cached_property
    def _by_short_path(self) -> Mapping[str, float]:
        from clueval.results.rows import scores_of

        return scores_of(self.content())

    def gold_of(self, path: Sequence[str]) -> float | None:
        """Return how much gold a rate is about, by its whole path; None if the metric does not say."""
        from clueval.results.rates import measures_of, sizes_at  # few results need them

        name, sequence, *place = path
        (metric,) = (metric for metric in self.scored_by if metric.name == name)
        tally = self._all_reports.total[name, sequence]
        _, sizes = measures_of(metric, self._all_reports.layers_of(sequence), tally)
        sizes_of_rate = sizes_at(tuple(place[:-1]), sizes)
        return None if sizes_of_rate is None else sizes_of_rate[0]

    # Forms

    def content(self) -> dict[str, Any]:
        """The result as `to_dict` returns it; the reports of break-downs are made one by one."""
        report: dict[str, Any] = {
            "clueval": __version__,
            "schema": SCHEMA,
            "signature": str(self.signature),
            "documents": self.documents,
            "tokens": self.tokens,
            "repaired_tags": dict(self.repaired_tags),
            "inputs": self.inputs,
            "passed_over": self.passed_over,
            "metrics": {name: dict(sequences) for name, sequences in self._reports.items()},
        }
        unplaced = None if self.unprojected is None else [span.to_dict() for span in self.unprojected]
        for name, section in (
            ("intervals", self.interval_section),
            ("by", self.groups),
            ("unprojected", unplaced),
            ("prepared", self.prepared),
            ("reference", None if self.reference is None else self.reference.to_dict(self._reports)),
            ("gates", self.gates),
        ):
            if section is not None:
                report[name] = section
        return report

    def rows(self, *, long: bool = False) -> list[dict[str, Any]]:
        """Return one dictionary for each entry of the reports, with the same keys for every metric (`rows.ROW`).

        With `long`, one for each number (`rows.LONG_ROW`). pandas and polars make tables of them.
        """
        from clueval.results.rows import long_rows

        return list(long_rows(self.content()) if long else self.data())

    def with_all_tables(self) -> Result:
        """Return the result with all tables in the forms for readers."""
        return replace(self, made=self._all_reports, has_all_tables=True)

    def first_tables(self, tables: Iterable[Table]) -> Iterable[Table]:
        """The tables: they are those of the first screen, unless the result was made to show all."""
        return tables

    def verdict(self) -> str:
        """The F1 of the headline, in words."""
        from clueval.results.first_screen import headline_f1

        return headline_f1(self.content(), self.scored_by)

    def facts(self) -> Iterator[str]:
        """The numbers of documents and positions."""
        from clueval.results.summary import counted

        return counted(self.documents, self.tokens)

    def remarks(self) -> Iterator[str]:
        """What could not be read as it stands, the spans of each layer, and how intervals were computed."""
        from clueval.results.summary import summary

        return summary(self.content())

    def tables(self) -> Iterator[Table]:
        """The reports as tables: headlines, labels and break-downs; or all, of all documents, then of each group."""
        from clueval.results.first_screen import first_tables
        from clueval.results.rows import with_estimates
        from clueval.results.tables import of_report

        tables = of_report if self.has_all_tables else first_tables
        yield from tables(with_estimates(self.content()), self.scored_by)
        if self.reference is not None:
            from clueval.results.reference import tables_of

            yield from tables_of(self.reference, self._reports)

    def columns(self) -> Sequence[str]:
        """The names of the columns of `rows`."""
        from clueval.results.rows import columns_of

        return columns_of(self.content())

    def data(self) -> Iterator[dict[str, Any]]:
        """The rows, as `rows` returns them."""
        from clueval.results.rows import wide_rows

        return wide_rows(self.content())

    def __repr__(self) -> str:
        number = with_noun(self.documents, "documents")
        return f"<Result of {number}: {', '.join(self._reports)}; print(result) shows the tables>"

    # Other metrics, saving, adding

    def scored(self, metrics: Sequence[str | AnyMetric] | str | AnyMetric) -> Result:
        """Return the result of other metrics on the cases that were counted, also of a saved result.

        Curves need documents, so the result has none, and its signature no `score_feature`. Raises `UsageError` for a
        metric that needs documents, or features of spans that were not kept; and if only counts were kept because the
        corpus has too many different cases.
        """
        plan = replace(self.plan, metrics=chosen_metrics(metrics))
        choices = dict(self.signature.choices)
        reports = BagReports(self.bag.in_one_place(), plan)
        for name in ("metrics", "zero", "version", "scores", *self._all_reports.choices()):
            choices.pop(name, None)
        signature = Signature.of(
            plan.metrics, choices | reports.choices(), choices.get("unit", "").split("+")
        )
        return replace(
            self, plan=plan, signature=signature, trust=None, gates=None, reference=None, made=reports
        )

    def save(self, path: str | Path) -> None:
        """Save the counts of all units as JSON Lines, gzipped if the name ends in ``.gz``; see `load_result`.

        Without units (neither `resample_by` nor `intervals`), the whole corpus is one unit. Raises `UsageError` for
        settings and counts of metrics that a file cannot hold; `FileError`.
        """
        from clueval.results.saved import save_bag, saved_metric

        facts = {
            "signature": str(self.signature),
            "metrics": [saved_metric(metric) for metric in self.plan.metrics],
            "units": self.plan.units,
            "by": list(self.plan.by),
            "merge": self.plan.merge,
            "prepared": self.prepared,
            "gold_sha256": self.gold_sha256,
        }
        save_bag(self.bag, facts, path)

    def add(self, other: Result, *, force: bool = False) -> Result:
        """Return the result of both corpora together: counts are added, and scores are computed again.

        Raises `UsageError` if the signatures differ, unless `force` is given; then the new signature has both
        values of choices that differ. Raises `UsageError` in any case for different metrics, for results with
        different break-downs, for layers that were merged in different orders, and if only one has a reference.
        """
        first_signature, second_signature = _signature_beside(self, other), _signature_beside(other, self)
        if not force:
            require_same(first_signature, second_signature, "added")
        _require_same_counting(self, other)
        plan = self.plan if self.plan.units == other.plan.units else replace(self.plan, units=None)
        bag = Bag(plan.metrics, (), self.bag.bounds)
        bag.include(_in_units(self, plan, ()))
        bag.include(_in_units(other, plan, _document_names(bag)))
        lists = [result.unprojected for result in (self, other) if result.unprojected is not None]
        reference = self.reference
        if reference is not None:  # both have one
            reference = reference.add(cast("Reference", other.reference), force=force)
        return Result(
            bag,
            plan,
            joined_signature(first_signature, second_signature, schemes_of(bag.read)),
            _added_changes(self.prepared, other.prepared),
            [span for of_result in lists for span in of_result] if lists else None,
            trust=self.trust if plan.units is not None and self.trust == other.trust else None,
            reference=reference,
            has_all_tables=self.has_all_tables,
        )

    def __add__(self, other: Result) -> Result:
        return self.add(other) if isinstance(other, Result) else NotImplemented

    def __radd__(self, other: int) -> Result:
        """Let `sum` begin with 0."""
        return self if other == 0 else NotImplemented


def load_result(path: str | Path) -> Result:
    """Return the result that `Result.save` or ``clueval score --save`` has written.

    Raises `FileError`, `FormatError` for a file that is no saved result, or was changed.

    >>> from tempfile import TemporaryDirectory
    >>> from clueval import score
    >>> with TemporaryDirectory() as folder:
    ...     score([["B-PER"]], [["B-PER"]], metrics="exact").save(f"{folder}/a.clueval")
    ...     result = load_result(f"{folder}/a.clueval")
    >>> result.f1
    1.0
    """
    from clueval.results.saved import load_bag

    require_kind(path, "str | Path", "path")
    bag, facts = load_bag(input_path(str(path)))
    plan = Plan(bag.metrics, facts["merge"], by=tuple(facts["by"]), units=facts["units"])
    signature = Signature.parse(facts["signature"])
    return Result(bag, plan, signature, facts["prepared"], gold_sha256=facts["gold_sha256"])


# Adding

_OF_DOCUMENTS = ("unit", "scheme", "invalid", "text")
"""The choices that say what was read; without documents, they have their default values."""


def _signature_beside(result: Result, other: Result) -> Signature:
    """Return the signature of a result; without documents, it says of these what the other one says."""
    if result.documents:
        return result.signature
    of_documents = {key: value for key, value in other.signature.choices.items() if key in _OF_DOCUMENTS}
    return Signature({**result.signature.choices, **of_documents})


def _require_same_counting(first: Result, second: Result) -> None:
    """Raise `UsageError` for results of different metrics, break-downs or orders of layers, or for one reference.

    Labels of merged spans would have different names.
    """
    plans = first.plan, second.plan
    if plans[0].metrics != plans[1].metrics:
        names = ["+".join(sorted(map(with_settings, plan.metrics))) for plan in plans]
        raise UsageError(f"counts of {names[0]} and of {names[1]} do not add up")
    if {*plans[0].by} != {*plans[1].by}:
        keys = [" and ".join(sorted(plan.by)) or "nothing" for plan in plans]
        raise UsageError(
            f"results broken down by {keys[0]} and by {keys[1]} cannot be added",
            advice="score both with the same break-downs (by)",
        )
    if (first.reference is None) != (second.reference is None):
        raise UsageError(
            "a result with a reference and one without cannot be added",
            advice="score both with a reference, or both without",
        )
    first_layers, second_layers = first.bag.layers, second.bag.layers
    if plans[0].merge and [layer for layer in first_layers if layer in second_layers] != [
        layer for layer in second_layers if layer in first_layers
    ]:
        raise UsageError(
            "results of layers that were merged in different orders cannot be added",
            advice="score both corpora together",
        )


def _document_names(bag: Bag) -> list[str]:
    """Return the names of the documents of a bag, each once."""
    return list(dict.fromkeys(place.name for place in bag.documents if place.name is not None))


def _in_units(result: Result, plan: Plan, taken: Collection[str]) -> Bag:
    """Return the bag of a result in the units of a plan, with other names for documents that are `taken`."""
    from clueval.results.units import different_keys  # few results need it

    order = [result.plan.by.index(key) for key in plan.by]
    own_names = _document_names(result.bag)
    names = dict(zip(own_names, different_keys([*taken, *own_names])[len(taken) :], strict=True))

    def unit_of(place: Place) -> Place:
        values = tuple(place.values[number] for number in order)
        if plan.units is None:
            return DocumentPlace(values)
        name = names.get(place.name) if plan.units in (DOCUMENT, SENTENCE) else place.name
        return place._replace(values=values, name=name)

    return result.bag.grouped(unit_of)


def _added_changes(one: Mapping[str, Any] | None, two: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """Return the numbers of changes by steps in both corpora together."""
    if one is None or two is None:
        return two if one is None else one
    return {name: _added_numbers(one.get(name), two.get(name)) for name in dict.fromkeys([*one, *two])}


def _added_numbers(one: Any, two: Any) -> Any:
    if one is None or two is None:
        return two if one is None else one
    if isinstance(one, Mapping):
        return {name: _added_numbers(one.get(name), two.get(name)) for name in sorted({*one, *two})}
    return one + two
