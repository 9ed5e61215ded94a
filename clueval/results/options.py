"""The options of counting: `Counting`, `Workers` and `Trust`.

Every function that scores files takes their fields as single options.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from clueval.core.count import EITHER as BY_DEFAULT
from clueval.files.arguments import refuse_unknown, require_kind
from clueval.files.errors import UsageError
from clueval.files.opening import Progress
from clueval.files.options import (
    field_names,
    number,
    option_field,
    require_share,
    require_types,
    whole,
    with_fields,
)
from clueval.formats.options import Reading
from clueval.reading.options import PAIR_BY, SETS, Readings, readings_of, require_pair_by
from clueval.transforms.options import Preparing

if TYPE_CHECKING:
    from concurrent.futures import Executor

CORPUS = "corpus"
"""What the whole corpus as one unit is called, where no units were asked for."""

UNITS = ("token", "character")


def _processes(text: str) -> int | None:
    """A number of processes; None for ``auto``."""
    try:
        return None if text == "auto" else whole(text)
    except ValueError:
        raise ValueError(f"{text!r} is neither auto nor a number from 1") from None


@dataclass(frozen=True, slots=True, kw_only=True)
class Counting:
    """Which spans are counted, in which unit, and how documents are paired.

    Attributes:
        merge: merge all layers into one sequence, `merged`, and score that.
        where: conditions ``KEY=VALUE`` on layers or metadata; see `clueval.results.plan`.
        by: keys of metadata, or ``document``: scores are computed for each value, too.
        unit: ``character`` to count positions in characters, with token texts joined by blanks.
        align: True to project predicted spans onto the gold text if the texts of the two sides differ (needs
            rapidfuzz, extra ``align``); a number limits the product of the lengths of two texts. The metric
            ``noisy`` compares different texts without it.
        pair_by: pair documents, in any order, by ``id``, by ``name`` (the name of the file without its ending)
            or by ``content`` (their text). None: files by relative name, documents in order.
        score_feature: the feature with the scores of predicted spans: reports get a curve and average precision
            (`clueval.metrics.curve`).
        thresholds: those of the curve, as numbers or as text with commas; None: all scores for ``exact`` and
            ``gate``, 0 to 1 in steps of 0.1 for other metrics.

    Raises `UsageError` for unknown values.
    """

    merge: bool = option_field(
        False, "--merge", None, "merge all layers into one sequence of spans and score that"
    )
    where: Iterable[str] | Mapping[str, Any] = option_field(
        (),
        "--where",
        "KEY=VALUE",
        "count only spans with this label in layer KEY, or documents with this metadata; if "
        "repeated, one value of each KEY must match",
        repeated=True,
    )
    by: str | Iterable[str] = option_field(
        (),
        "--by",
        "KEY",
        "also print scores by value of this metadata, or by document",
        repeated=True,
    )
    unit: str | None = option_field(
        None,
        "--unit",
        "UNIT",
        "what a position is: token or character; with character, tokens are joined by blanks, so that spans of "
        "adjacent tokens do not touch, and no span is matched by tiling",
        topic="counting",
        choices=UNITS,
        default="that of the files",
    )
    align: bool | int = option_field(
        False,
        "--align",
        None,
        "the texts of the two sides differ: project predicted spans onto the gold text (extra: align)",
        topic="counting",
    )
    pair_by: str | None = option_field(
        None,
        "--pair-by",
        "WHAT",
        "pair documents, in any order, by their id, by name (the name of the file without its ending) or by "
        "content (their text)",
        topic="counting",
        choices=PAIR_BY,
        default="files by relative name, documents in order",
    )

    score_feature: str | None = option_field(
        None,
        "--score-feature",
        "F",
        "the feature with the scores of predicted spans, for a precision-recall curve and average precision, and "
        "for --min-score",
        topic="counting",
    )
    thresholds: str | Sequence[float] | None = option_field(
        None,
        "--thresholds",
        "T,...",
        "the thresholds of the curve (exact and gate: all scores; other metrics: 0,0.1,...,1)",
        topic="counting",
        parse=str,
    )

    def threshold_numbers(self) -> tuple[float, ...] | None:
        """Return the thresholds as numbers. Raises `UsageError` for other values."""
        if self.thresholds is None:
            return None
        from clueval.metrics.gate.thresholds import GRIDS, parse_thresholds

        parsed = parse_thresholds(self.thresholds)
        if isinstance(parsed, str):
            if parsed not in GRIDS:
                raise UsageError(f"thresholds=... cannot be {parsed!r}", advice="numbers, as in 0.2,0.5")
            return GRIDS[parsed]
        return parsed

    def __post_init__(self) -> None:
        require_types(self)
        if self.thresholds is not None and self.score_feature is None:
            raise UsageError("thresholds=... need scores", advice="add score_feature")
        self.threshold_numbers()
        if isinstance(self.align, int) and self.align < 0:
            raise UsageError(f"align must not be {self.align}", advice="True, False or a limit of cells")
        if self.unit not in (None, *UNITS):
            raise UsageError(f"unknown unit {self.unit!r}", advice=" or ".join(UNITS))
        require_pair_by(self.pair_by)


SEED = 12345
RESAMPLES = 9_999
MOST_RESAMPLES = 10_000_000
METHODS = ("jackknife", "percentile", "bca")


@dataclass(frozen=True, slots=True, kw_only=True)
class Trust:
    """What is said about the uncertainty of scores, and of what units.

    Attributes:
        intervals: compute an interval for every rate.
        resample_by: what a unit is: ``document``, ``sentence`` (a document is cut at each sentence end that no span
            of either side crosses), or metadata, whose values are the units. None: documents if there are
            at least ten; if there are fewer, sentences where the format marks them and all metrics can count them.
        confidence: of the intervals, between 0 and 1.
        method: ``jackknife``, ``percentile`` or ``bca``.
        resamples: how many resamples a bootstrap has.
        seed: of the random weights of a bootstrap.
        save: a file to save the counts of all units to.

    Raises `UsageError` for values that mean nothing.
    """

    intervals: bool = option_field(False, "--intervals", None, "print a confidence interval with every rate")
    resample_by: str | None = option_field(
        None,
        "--resample-by",
        "UNIT",
        "the units that intervals and tests treat as independent: document, sentence, or the values of metadata, "
        "as in --resample-by court",
        topic="intervals",
        takes="document, sentence or the name of metadata",
        default="document; sentence if there are fewer than 10 documents and sentences are marked",
    )
    confidence: float = option_field(
        0.95,
        "--confidence",
        "C",
        "how often intervals like these contain the true value, between 0 and 1",
        topic="intervals",
        parse=number,
    )
    method: str = option_field(
        METHODS[0], "--method", "METHOD", "how intervals are computed", topic="intervals", choices=METHODS
    )
    resamples: int = option_field(
        RESAMPLES,
        "--resamples",
        "N",
        "the number of resamples of percentile and bca",
        topic="intervals",
        parse=whole,
    )
    seed: int = option_field(
        SEED, "--seed", "N", "the seed of the resamples", topic="intervals", parse=lambda text: whole(text, 0)
    )

    save: str | Path | None = option_field(
        None,
        "--save",
        "FILE",
        "save the counts of all units to FILE (gzipped if its name ends in .gz), for clueval compare and for gates",
        topic="intervals",
        parse=Path,
        writes=True,
    )

    def __post_init__(self) -> None:
        require_types(self)
        require_share("confidence", self.confidence)
        if self.method not in METHODS:
            raise UsageError(f"unknown method {self.method!r}", advice=f"one of {', '.join(METHODS)}")
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
        return self.resample_by or (BY_DEFAULT if self.intervals or self.save is not None else None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Workers:
    """The processes that count files, and the functions that are called meanwhile.

    Attributes:
        jobs: the number of processes; None: one for each core if the files are large enough.
        executor: counts files instead: an object with the `submit` of `concurrent.futures.Executor`, whose
            workers find the files under the same paths. Workers receive paths and ranges of bytes and return
            counts. `jobs` is then the number of tasks that it carries out at a time; at most four times as many
            are submitted, or 64 if `jobs` is 1 or None.
        progress: called with the number of bytes read since the last call.
        remark: called with a message about the number of processes.
    """

    jobs: int | None = option_field(
        1,
        "--jobs",
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
        require_kind(self.executor, "Executor | None", "executor")
        require_kind(self.progress, "Progress | None", "progress")
        require_kind(self.remark, "Callable | None", "remark")


class Groups(NamedTuple):
    """The groups of options, with one `Reading` for each side."""

    readings: tuple[Reading, ...]
    counting: Counting
    workers: Workers
    trust: Trust
    preparing: Preparing


_NAMED = ("metrics", "reference", "reference_set", "write_indicators", "layers", "reading", "signature")
"""The arguments of `clueval.score` that have a name and are no field of a group."""


def single_options() -> list[str]:
    """The names of the options that are fields of a group, or short for one."""
    return [
        *(name for group in (Reading, Counting, Workers, Trust, Preparing) for name in field_names(group)),
        *SETS,
    ]


_COUNTING, _WORKERS, _TRUST, _PREPARING = Counting(), Workers(), Trust(), Preparing()


def groups_of(reading: Readings, options: Mapping[str, Any], caller: str) -> Groups:
    """Return the groups of single options; `caller` is the name of the function, for messages.

    Raises `UsageError` for an option that does not exist.
    """
    if options:
        refuse_unknown(options, [*_NAMED, *single_options()], caller)
    return Groups(
        readings_of(reading, options),
        with_fields(_COUNTING, options),
        with_fields(_WORKERS, options),
        with_fields(_TRUST, options),
        with_fields(_PREPARING, options),
    )
