"""The result of counting a corpus: every number of it is computed from its bag."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from clueval.core.bag import Bag
from clueval.core.count import Plan
from clueval.core.metric import AnyMetric
from clueval.core.span import SIDES
from clueval.files.arguments import refuse_unknown
from clueval.files.errors import UsageError
from clueval.files.overwriting import input_path, keeps_inputs
from clueval.metrics import chosen_metrics
from clueval.reports.report import Report
from clueval.results.inputs import Unplaced, inputs_of, passed_over_of
from clueval.results.reports import (
    BagReports,
    GroupReports,
    headline_paths,
    number_at,
    units_in,
)
from clueval.results.signature import Signature
from clueval.version import SCHEMA, __version__

if TYPE_CHECKING:
    from clueval.reports.table import Table
    from clueval.results.options import Trust
    from clueval.results.reference import Reference
    from clueval.results.units import Units


@dataclass(frozen=True)
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
    def _everything(self) -> BagReports:
        return BagReports(self.bag.whole(), self.plan) if self.made is None else self.made

    @property
    def scored_by(self) -> Sequence[AnyMetric]:
        """The metrics."""
        return self._everything.metrics

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
        """The reports, by metric and sequence; each metric documents the shape of its report."""
        return self._everything.at(())

    @cached_property
    def groups(self) -> Mapping[str, Mapping[str, Mapping[str, Any]]] | None:
        """The reports of each value of each key of a break-down; None without a break-down."""
        if not self.plan.by:
            return None
        return {key: GroupReports(self.bag, self.plan, key, self.trust) for key in self.plan.by}

    @cached_property
    def units(self) -> Units | None:
        """What was counted in each unit; None if only the counts of the whole corpus were kept."""
        return None if self.plan.units is None else units_in(self.bag, self.plan)

    @cached_property
    def interval_section(self) -> Mapping[str, Any] | None:
        """The intervals of all rates, if they were asked for; see `intervals`."""
        if self.trust is None:
            return None
        from clueval.results.intervals import interval_section  # few results need them

        units = units_in(self.bag, self.plan)
        units.require_several()
        return interval_section(units, self.trust)

    def intervals(self, **options: Any) -> dict[str, Any]:
        """Return intervals of all rates, as the JSON of ``clueval score --intervals`` has them.

        `options` are `confidence`, `method`, `resamples` and `seed` (see `Trust`). Raises `UsageError` if counts
        were not kept by unit, or there is only one.
        """
        from clueval.results.intervals import interval_section  # few results need them
        from clueval.results.options import Trust

        refuse_unknown(options, ("confidence", "method", "resamples", "seed"), "intervals")
        units = units_in(self.bag, self.plan)
        units.require_several()
        return interval_section(units, Trust(**options))

    @property
    def repaired_tags(self) -> Mapping[str, int]:
        """The number of repaired tags of each side."""
        return {side: self.bag.read.repaired(side) for side in SIDES}

    @property
    def tagged(self) -> AbstractSet[tuple[str, str]]:
        """The sides and layers whose spans were read from tags, or from a file of tokens."""
        return self.bag.read.tagged

    @cached_property
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
            raise UsageError(f"there are no documents, so there is no {rate}", advice="check the input")
        paths = [path for path in headline_paths(self.metrics) if rate in path[-1].split("_")]
        if len(paths) == 1:
            return number_at(self.metrics, paths[0])
        listed = ", ".join(".".join(path) for path in paths)
        raise UsageError(
            f"the result has {len(paths) or 'no'} headline{'s' * (len(paths) != 1)}, so {rate} is not one number",
            advice=f"use get with one of {listed}" if paths else "use get with the path of a number",
        )

    def get(self, path: str) -> float | None:
        """Return a number by its path below ``metrics``, as ``levels.entity.unlabelled.4.recall``.

        Names that are clear from the others may be left out, as in ``exact.PER.f1``, ``PER.f1`` and ``f1``, and every
        key of `scores` is such a path. Returns None for a number that is undefined. Raises `UsageError` for a path
        without a number, and names the nearest; and for one that can mean several.
        """
        from clueval.results.paths import whole_path  # not needed for the headline

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

    def scores(self) -> dict[str, float]:
        """Return all rates by short paths, as ``exact.PER.f1``; those of a headline also as ``exact.f1``.

        Undefined rates are left out. Loggers take such a dictionary. A sequence is in the paths if there are several.
        """
        from clueval.results.rows import scores_of

        return scores_of(self._report())

    # Forms

    def to_dict(self) -> dict[str, Any]:
        """The result as plain dictionaries, strings, integers and floats. Rates are fractions."""
        by = {key: dict(values) for key, values in (self.groups or {}).items()}
        return self._report() | ({"by": by} if by else {})

    def _report(self) -> dict[str, Any]:
        """The result as `to_dict` returns it, apart from break-downs, whose reports are made one by one."""
        report: dict[str, Any] = {
            "clueval": __version__,
            "schema": SCHEMA,
            "signature": str(self.signature),
            "documents": self.documents,
            "tokens": self.tokens,
            "repaired_tags": dict(self.repaired_tags),
            "inputs": self.inputs,
            "passed_over": self.passed_over,
            "metrics": {name: dict(sequences) for name, sequences in self.metrics.items()},
        }
        unplaced = None if self.unprojected is None else [each.to_dict() for each in self.unprojected]
        for name, section in (
            ("intervals", self.interval_section),
            ("by", self.groups),
            ("unprojected", unplaced),
            ("prepared", self.prepared),
            ("reference", None if self.reference is None else self.reference.to_dict(self.metrics)),
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

        return list(long_rows(self.to_dict()) if long else self.data())

    def with_all_tables(self) -> Result:
        """Return the result with all tables in the forms for readers."""
        return replace(self, made=self._everything, has_all_tables=True)

    def first_tables(self, tables: Iterable[Table]) -> Iterable[Table]:
        """The tables: they are those of the first screen, unless the result was made to show all."""
        return tables

    def verdict(self) -> str:
        """The number that is called F1 most often, in words."""
        from clueval.results.first_screen import exact_f1

        return exact_f1(self._report())

    def facts(self) -> Iterator[str]:
        """The numbers of documents and positions."""
        from clueval.results.summary import counted

        return counted(self._report())

    def remarks(self) -> Iterator[str]:
        """What could not be read as it stands, the spans of each layer, and how intervals were computed."""
        from clueval.results.summary import summary

        return summary(self._report())

    def tables(self) -> Iterator[Table]:
        """The reports as tables: headlines, labels and break-downs; or all, of all documents, then of each group."""
        from clueval.results.first_screen import first_tables
        from clueval.results.rows import with_estimates
        from clueval.results.tables import of_report

        tables = of_report if self.has_all_tables else first_tables
        yield from tables(with_estimates(self._report()), self.scored_by)
        if self.reference is not None:
            from clueval.results.reference import tables_of

            yield from tables_of(self.reference, self.metrics)

    def columns(self) -> Sequence[str]:
        """The names of the columns of `rows`."""
        from clueval.results.rows import columns_of

        return columns_of(self._report())

    def data(self) -> Iterator[dict[str, Any]]:
        """The rows, as `rows` returns them."""
        from clueval.results.rows import wide_rows

        columns = self.columns()
        return ({name: row[name] for name in columns} for row in wide_rows(self._report()))

    def __repr__(self) -> str:
        number = f"{self.documents:,} document{'s' * (self.documents != 1)}"
        return f"<Result of {number}: {', '.join(self.metrics)}; print(result) shows the tables>"

    # Other metrics, saving, adding

    def scored(self, metrics: Sequence[str | AnyMetric] | str | AnyMetric) -> Result:
        """Return the result of other metrics on the cases that were counted, also of a saved result.

        Raises `UsageError` for a metric that needs documents, or features of spans that were not kept; and if only
        counts were kept because the corpus has too many different cases.
        """
        chosen = chosen_metrics(metrics)
        plan = replace(self.plan, metrics=chosen)
        choices = dict(self.signature.choices)
        reports = BagReports(self.bag.whole(), plan)
        totals = reports.totals(())
        for metric in self.scored_by:
            for name in metric.choices(self._everything.totals(())[metric.name]):
                del choices[name]
        for metric in reports.metrics:
            metric.check(totals[metric.name])
            choices |= metric.choices(totals[metric.name])
        kept = {
            name: choices[name] for name in choices if name not in ("metrics", "zero", "version", "scores")
        }
        signature = Signature.of(chosen, kept, choices.get("unit", "").split("+"))
        return replace(
            self, plan=plan, signature=signature, trust=None, gates=None, reference=None, made=reports
        )

    def save(self, path: str | Path) -> None:
        """Save the counts of all units as JSON Lines, gzipped if the name ends in ``.gz``; see `load_result`.

        Without units (neither `resample_by` nor `intervals`), the whole corpus is one unit. Raises `UsageError` for
        settings and counts of metrics that a file cannot hold; `FileError`.
        """
        from clueval.results.adding import Counted
        from clueval.results.saved import save_counts

        counted = Counted(*(getattr(self, name) for name in Counted._fields))
        save_counts(counted, self.gold_sha256, Path(path))

    def add(self, other: Result, *, force: bool = False) -> Result:
        """Return the result of both corpora together: counts are added, and scores are computed again.

        Raises `UsageError` if the signatures differ, unless `force` is given; then the new signature has both
        values of choices that differ. Raises `UsageError` in any case for different metrics, for results with
        different break-downs, and for layers that were merged in different orders.
        """
        from clueval.results.adding import Counted, added_counts

        both = [Counted(*(getattr(each, name) for name in Counted._fields)) for each in (self, other)]
        found = added_counts(*both, force=force)
        return replace(self, **found._asdict(), gold_sha256=None, trust=None, gates=None, made=None)

    def __add__(self, other: Result) -> Result:
        return self.add(other) if isinstance(other, Result) else NotImplemented

    def __radd__(self, other: Literal[0]) -> Result:
        """Let `sum` begin with 0."""
        return self if other == 0 else NotImplemented


@keeps_inputs
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
    from clueval.results.saved import load_counts

    counted, gold_sha256 = load_counts(input_path(str(path)))
    return Result(*counted, gold_sha256)
