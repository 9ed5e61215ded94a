"""The options of counting, and the plan that follows from them: what counts, by what, and the steps before it.

The fields of `Counting`, `Trust` and `Workers` are the options; functions that score files take them by their names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from clueval.core.bag import Bag
from clueval.core.count import ALTERNATIVES, DOCUMENT, EITHER, SENTENCE, UNIT, Plan, Step
from clueval.core.document import ID
from clueval.core.metric import AnyMetric
from clueval.files.errors import UsageError
from clueval.files.options import (
    field_names,
    number,
    option_field,
    refuse_unknown,
    require_kind,
    require_share,
    require_types,
    whole,
    with_fields,
)
from clueval.formats.options import PAIR_BY, SETS, LayerColumns, Reading, Readings, layer_names, readings_of

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from clueval.files.opening import Progress
    from clueval.transforms.options import Preparing

CORPUS = "corpus"
"""What the whole corpus as one unit is called, where no units were asked for."""

UNITS = ("token", "character")


def _processes(text: str) -> int | None:
    """A number of processes; None for ``auto``."""
    try:
        return None if text == "auto" else whole(text)
    except ValueError:
        raise ValueError(f"{text!r} is neither auto nor a number from 1") from None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Counting:
    """Which spans are counted, in which unit, and how documents are paired.

    The help of each field says what it does. In Python, `align` may be the greatest product of the lengths of two
    texts that are aligned, `where` a dictionary of values by key, and `thresholds` numbers. The metric ``noisy``
    compares different texts without `align`.

    Raises `UsageError` for unknown values.
    """

    TOPIC: ClassVar[str] = "counting"

    merge: bool = option_field(
        False, None, "merge all layers into one sequence of spans and score that", topic=""
    )
    where: Iterable[str] | Mapping[str, Any] = option_field(
        (),
        "KEY=VALUE",
        "count only spans with this label in layer KEY, or documents with this metadata; if "
        "repeated, one value of each KEY must match",
        topic="",
        repeated=True,
    )
    by: str | Iterable[str] = option_field(
        (), "KEY", "also print scores by value of this metadata, or by document", topic="", repeated=True
    )
    unit: str | None = option_field(
        None,
        "UNIT",
        "what a position is: token or character; with character, tokens are joined by blanks, so that spans of "
        "adjacent tokens do not touch, and no span is matched by tiling",
        choices=UNITS,
        default="that of the files",
    )
    align: bool | int = option_field(
        False,
        None,
        "the texts of the two sides differ: project predicted spans onto the gold text (extra: align)",
    )
    pair_by: str | None = option_field(
        None,
        "WHAT",
        "pair documents, in any order, by their id, by name (the name of the file without its ending) or by "
        "content (their text)",
        choices=PAIR_BY,
        default="files by relative name, documents in order",
    )

    score_feature: str | None = option_field(
        None,
        "F",
        "the feature with the scores of predicted spans, for a precision-recall curve and average precision, and "
        "for --min-score",
    )
    thresholds: str | Sequence[float] | None = option_field(
        None,
        "T,...",
        "the thresholds of the curve (exact and gate: all scores; other metrics: 0,0.1,...,1)",
        parse=str,
    )

    def __post_init__(self) -> None:
        require_types(self)
        if self.thresholds is not None and self.score_feature is None:
            raise UsageError("thresholds=... need scores", advice="add score_feature")
        self.threshold_numbers()
        if isinstance(self.align, int) and self.align < 0:
            raise UsageError(f"align must not be {self.align}", advice="True, False or a limit of cells")

    def threshold_numbers(self) -> tuple[float, ...] | None:
        """Return the thresholds as numbers. Raises `UsageError` for other values."""
        if self.thresholds is None:
            return None
        from clueval.metrics.gate.pairing import GRIDS, parse_thresholds

        parsed = parse_thresholds(self.thresholds)
        if isinstance(parsed, str):
            if parsed not in GRIDS:
                raise UsageError(f"thresholds=... cannot be {parsed!r}", advice="numbers, as in 0.2,0.5")
            return GRIDS[parsed]
        return parsed


SEED = 12345
RESAMPLES = 9_999
MOST_RESAMPLES = 10_000_000
METHODS = ("jackknife", "percentile", "bca")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Trust:
    """What is said about the uncertainty of scores, and of what units; the help of each field says what it does.

    Raises `UsageError` for values that mean nothing.
    """

    TOPIC: ClassVar[str] = "intervals"

    intervals: bool = option_field(False, None, "print a confidence interval with every rate", topic="")
    resample_by: str | None = option_field(
        None,
        "UNIT",
        "the units that intervals and tests treat as independent: document, sentence, or the values of metadata, "
        "as in --resample-by court",
        takes="document, sentence or the name of metadata",
        default="document; sentence if there are fewer than 10 documents and sentences are marked",
    )
    confidence: float = option_field(
        0.95, "C", "how often intervals like these contain the true value, between 0 and 1", parse=number
    )
    method: str = option_field(METHODS[0], "METHOD", "how intervals are computed", choices=METHODS)
    resamples: int = option_field(
        RESAMPLES, "N", "the number of resamples of percentile and bca, and of swaps in tests", parse=whole
    )
    seed: int = option_field(SEED, "N", "the seed of resamples and swaps", parse=lambda text: whole(text, 0))

    save: str | Path | None = option_field(
        None,
        "FILE",
        "save the counts of all units to FILE (gzipped if its name ends in .gz), for clueval compare and for gates",
        parse=Path,
        writes=True,
    )

    def __post_init__(self) -> None:
        require_types(self)
        require_share("confidence", self.confidence)
        for name, least in (("resamples", 1), ("seed", 0)):
            value = getattr(self, name)
            if type(value) is not int or value < least:
                raise UsageError(f"{name} must be a whole number from {least} on, not {value!r}")
        if self.resamples > MOST_RESAMPLES:
            raise UsageError(f"resamples must be at most {MOST_RESAMPLES:,}, not {self.resamples:,}")
        if self.resample_by is not None and (not self.resample_by or self.resample_by == CORPUS):
            raise UsageError(
                f"{self.resample_by!r} cannot be a unit", advice="document, sentence or the name of metadata"
            )

    @property
    def units(self) -> str | None:
        """What counts are kept by while files are read; None if no units are needed."""
        return self.resample_by or (EITHER if self.intervals or self.save is not None else None)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Workers:
    """The processes that count files, and the functions that are called meanwhile.

    Attributes:
        jobs: the number of processes; None: one for each core if the files are large enough. With `executor`, the
            number of tasks that it carries out at a time; at most four times as many are submitted, or 64 if `jobs`
            is 1 or None.
        executor: counts files instead: an object with the `submit` of `concurrent.futures.Executor`, whose workers
            find the files under the same paths.
        progress: called with the number of bytes read since the last call.
        remark: called with a message about the number of processes.
    """

    jobs: int | None = option_field(
        1,
        "N",
        "count in N processes, or auto: one for each core if there is enough to count",
        parse=_processes,
        default="auto",
    )
    executor: Executor | None = None
    progress: Progress | None = None
    remark: Callable[[str], object] | None = None

    def __post_init__(self) -> None:
        jobs = self.jobs
        if jobs is not None and (not isinstance(jobs, int) or isinstance(jobs, bool) or jobs < 1):
            raise UsageError(
                f"jobs={jobs!r} is not a number of processes",
                advice="give a whole number from 1, or None for an automatic choice",
            )
        require_types(self)

    def say(self, line: str) -> None:
        """Call `remark`, if there is such a function."""
        if self.remark is not None:
            self.remark(line)


class Groups(NamedTuple):
    """The groups of options, with one `Reading` for each side; `preparing` is None if no spans are changed."""

    readings: tuple[Reading, ...]
    counting: Counting
    workers: Workers
    trust: Trust
    preparing: Preparing | None

    def golds(self) -> list[Any]:
        """Return the other golds."""
        return [] if self.preparing is None else self.preparing.golds()


_NAMED = ("metrics", "reference", "reference_set", "write_indicators", "layers", "reading", "signature")
"""The arguments of `clueval.score` that have a name and are no field of a group."""


def single_options() -> list[str]:
    """The names of the options that are fields of a group, or short for one."""
    from clueval.transforms.options import Preparing  # few calls change spans

    return [*_OF_EVERY_CALL, *field_names(Preparing), *SETS]


_COUNTING, _WORKERS, _TRUST = Counting(), Workers(), Trust()
_OF_EVERY_CALL = [name for group in (Reading, Counting, Workers, Trust) for name in field_names(group)]


def groups_of(reading: Readings, options: Mapping[str, Any], caller: str) -> Groups:
    """Return the groups of single options; `caller` is the name of the function, for messages.

    Raises `UsageError` for an option that does not exist.
    """
    are_changes = any(name not in _OF_EVERY_CALL and name not in SETS for name in options)
    if are_changes:
        refuse_unknown(options, [*_NAMED, *single_options()], caller)
    groups = Groups(
        readings_of(reading, options),
        with_fields(_COUNTING, options),
        with_fields(_WORKERS, options),
        with_fields(_TRUST, options),
        None,
    )
    if not are_changes:
        return groups
    from clueval.transforms.options import Preparing  # few calls change spans

    return groups._replace(preparing=with_fields(Preparing(), options))


# The plan


def plan_of(
    chosen: tuple[AnyMetric, ...], gold: Any, layers: LayerColumns | None, groups: Groups
) -> tuple[Plan, list[str]]:
    """Return the plan of these options, and the layers that they name, without those of ignored regions.

    Raises `UsageError` for options that do not go together.
    """
    counting, gold_set = groups.counting, groups.readings[0].annotation_set
    by = (counting.by,) if isinstance(counting.by, str) else tuple(counting.by)
    for key in by:
        require_kind(key, "str", "by")
    metrics = tuple(_as_in_gate(metric, gold_set) for metric in chosen)
    if counting.score_feature is not None:
        is_for_least_score = groups.preparing is not None and groups.preparing.min_score is not None
        metrics = tuple(_with_curves(metrics, counting, counting.score_feature, is_for_least_score))
    align = None
    if counting.align is not False:
        from clueval.core.alignment import MAX_CELLS
        from clueval.transforms.projection import Align  # loads the alignment of texts

        cells = MAX_CELLS if counting.align is True else counting.align
        align = Align(cells, counting.merge, tuple(sorted(Plan(metrics).frames)))
    steps: tuple[Step, ...] = ()
    if groups.preparing is not None:
        from clueval.transforms.options import steps_of  # few calls change spans

        steps = steps_of(groups.preparing, gold, counting.score_feature)
    if counting.unit == "character":
        from clueval.transforms.characters import InCharacters  # few options need it

        steps += (InCharacters(),)
    where = parse_where(counting.where)
    plan = Plan(metrics, counting.merge, where, by, groups.trust.units, steps, align)
    plan.counts_sentences  # noqa: B018  # it raises the error of sentences that cannot be units
    names = layer_names(layers) if layers else ()
    plan.require_filters(names)
    regions = () if groups.preparing is None else groups.preparing.ignored_layers()
    return plan, [name for name in names if name not in regions]


def _as_in_gate(metric: AnyMetric, gold_set: str | None) -> AnyMetric:
    """Return a metric with GATE's rule: if it counts within a type of gold's set, all targets of this type count."""
    if metric.within is None or gold_set is None:
        return metric
    from clueval.metrics.gate import Gate

    if not isinstance(metric, Gate) or metric.unfiltered is not None:
        return metric
    set_name, _, kind = (metric.containing or "").rpartition(":")
    return replace(metric, unfiltered=kind) if set_name == gold_set else metric


def _with_curves(
    metrics: Iterable[AnyMetric], counting: Counting, feature: str, is_for_least_score: bool
) -> Iterator[AnyMetric]:
    """Yield the metrics and their curves by this feature; the metric ``gate`` has curves of its own.

    Raises `UsageError` for a metric without micro averages, unless the feature is given for a least score.
    """
    from clueval.metrics.curve import Curve, has_curve  # few options need them
    from clueval.metrics.gate import Gate

    thresholds = counting.threshold_numbers()
    for metric in metrics:
        if not isinstance(metric, Gate):
            yield metric
            if has_curve(metric, merge=counting.merge) or not is_for_least_score:
                yield Curve(metric, feature, thresholds, counting.merge)
        elif metric.score_feature is not None or (counting.merge and is_for_least_score):
            yield metric
        elif counting.merge:
            raise UsageError(
                "merged spans have no scores, so metric 'gate' has no curve of them",
                advice="leave out merge, or score_feature",
            )
        else:
            yield replace(metric, score_feature=feature, thresholds=thresholds)


def with_steps_of_documents(plan: Plan) -> Plan:
    """Return a plan with the steps that all documents need, in the order in which they are applied."""
    from clueval.reading.same_text import SameText  # few files of columns need these
    from clueval.transforms.changes import Alternatives, SetApart

    first = [step for step in plan.steps if step.comes_first]
    last = [step for step in plan.steps if step.signature[0] == UNIT]
    between = [step for step in plan.steps if not step.comes_first and step.signature[0] != UNIT]
    if not any(step.signature[0] == ALTERNATIVES for step in between):
        between.append(Alternatives())
    same_text = [] if texts_may_differ(plan) else [SameText(any(metric.places for metric in plan.metrics))]
    return replace(plan, steps=(*first, SetApart(), *between, *same_text, *last))


def texts_may_differ(plan: Plan) -> bool:
    """Return whether gold and predicted may differ in text: texts are aligned, or no metric needs the same text."""
    return plan.align is not None or not any(metric.same_text for metric in plan.metrics)


def parse_where(conditions: Iterable[str] | Mapping[str, str | Iterable[str]]) -> dict[str, frozenset[str]]:
    """Return the values of each key, from ``["risk=high", "domain=civil"]`` or ``{"risk": ["high", "medium"]}``.

    Raises `UsageError` for a condition without an equals sign or a key.

    >>> [(key, sorted(values)) for key, values in parse_where(["risk=high", "risk=low", "domain=civil"]).items()]
    [('risk', ['high', 'low']), ('domain', ['civil'])]
    """
    require_kind(conditions, "Iterable", "where")
    values: dict[str, set[str]] = {}
    if isinstance(conditions, Mapping):
        for key, key_values in conditions.items():
            require_kind(key_values, "str | Iterable", "a value of where")
            several = [key_values] if isinstance(key_values, str) else list(key_values)
            for text in (key, *several):
                require_kind(text, "str", "each key and value of where")
            values.setdefault(key, set()).update(several)
    else:
        for condition in [conditions] if isinstance(conditions, str) else conditions:
            require_kind(condition, "str", "each condition of where")
            key, equals, value = condition.partition("=")
            if not key or not equals:
                raise UsageError(f"the filter {condition!r} cannot be read", advice="write it KEY=VALUE")
            values.setdefault(key, set()).add(value)
    return {key: frozenset(key_values) for key, key_values in values.items()}


def require_names(bag: Bag, plan: Plan) -> None:
    """Raise `UsageError` for a key or value of the filter, or a key of a break-down or unit, that never occurs."""
    layers, read = bag.layers, bag.read
    on_documents = [key for key in plan.where if key not in layers]
    units = [plan.units] if plan.units not in (None, DOCUMENT, SENTENCE, EITHER) else []
    for key in (*on_documents, *plan.by, *units):
        if key != ID and key not in read.keys:
            metadata = ", ".join(sorted({*read.keys, ID}))
            raise UsageError(
                f"no layer and no document's metadata is called {key!r}"
                if key in on_documents
                else f"no document's metadata is called {key!r}",
                advice=f"layers: {', '.join(layers) or 'none'}; metadata: {metadata}"
                + "; each report has its labels without it" * (key in ("label", "class", "type")),
            )
    for key, values in plan.where.items():
        values_read = read.values.get(key, set())
        for value in sorted(values - values_read):
            examples = sorted(values_read)[:10]
            raise UsageError(
                f"no {'document' if key in on_documents else 'span'} has {key}={value}",
                advice=f"values found: {', '.join(examples) or 'none'}"
                + "; write a filter for each value" * values_read.issuperset(value.split(",")),
            )
