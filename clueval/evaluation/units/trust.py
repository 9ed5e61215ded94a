"""The options for intervals and for counts by unit."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from clueval.evaluation.units.unit import BY_DEFAULT, CORPUS
from clueval.exceptions import UsageError
from clueval.options import number, option_field, require_share, require_types, whole

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
