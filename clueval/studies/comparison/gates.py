"""Gates: a result fails if a score is below a limit, or below that of a saved baseline."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from clueval.core.metric import EPSILON
from clueval.files.errors import UsageError, warn, with_noun
from clueval.files.options import fraction
from clueval.metrics import number_at
from clueval.results.options import Trust
from clueval.results.paths import require_fraction, require_least, whole_path
from clueval.results.result import Result
from clueval.results.signature import require_same
from clueval.studies.comparison.paired_tests import DropTest, PairedTests, least_p
from clueval.studies.comparison.study import LAST_RATE, chosen_paths, has_several_golds, units_of

_ENDS = ("low", "high")


class Limit(NamedTuple):
    """A score by its path, with the end of its interval if that is what is limited, and the least value."""

    score: str
    end: str | None
    least: float


class ScoreGate(NamedTuple):
    """The outcome of a gate; `why` says in words what is wrong if it has failed.

    `tested` is the test of whether the score has fallen, if one was asked for.
    """

    score: str
    value: float | None
    limit: float | None
    passed: bool
    why: str = ""
    tested: DropTest | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the gate as the JSON has it."""
        entry = {"score": self.score, "value": self.value, "limit": self.limit, "passed": self.passed}
        return entry if self.tested is None else {**entry, **self.tested._asdict()}


def limit_of(text: str) -> Limit:
    """Return the limit that a text like ``exact.entity.micro.f1=0.8`` names. Raises `ValueError` for another.

    >>> limit_of("exact.entity.micro.f1.low=0.8")
    Limit(score='exact.entity.micro.f1.low', end='low', least=0.8)
    """
    score, equals, least = text.rpartition("=")
    if not score or not equals:
        raise ValueError(f"{text!r} is not a limit: write f1=0.8 or f1=80%, or PATH=X")
    ending = score.rpartition(".")[2]
    return Limit(score, ending if ending in _ENDS else None, fraction(least))


def drop_of(text: str) -> float:
    """Return how far a score may fall. Raises `ValueError` unless it is a fraction below 1.

    >>> drop_of("2%")
    0.02
    """
    drop = fraction(text)
    if not 0 <= drop < 1:
        raise ValueError(f"{text!r} is not a fraction from 0 to below 1: 0.01 is one point")
    return drop


def fail_under(result: Result, limits: Iterable[Limit], trust: Trust) -> Iterator[ScoreGate]:
    """Yield the gate of each limit. Raises `UsageError` for a score that does not exist."""
    reports, intervals = result.metrics, None
    for limit in limits:
        end, least = limit.end, limit.least
        text = limit.score if end is None else limit.score.removesuffix(f".{end}")
        path = whole_path(reports, text)
        value = number_at(reports, path)
        require_least(limit.score, least)
        require_fraction(limit.score, ".".join(path), least)
        if end is not None:
            if intervals is None:
                intervals = result.intervals(
                    confidence=trust.confidence,
                    method=trust.method,
                    resamples=trust.resamples,
                    seed=trust.seed,
                )["scores"]
            value = number_at(intervals, (*path, end))
        named = ".".join(path if end is None else (*path, end))
        yield _gate(named, value, least, f"below {least:g}")


def fail_if_worse(
    result: Result,
    baseline: Result,
    scores: Sequence[str] | None,
    allow_drop: float,
    trust: Trust,
    *,
    significant: bool,
) -> Iterator[ScoreGate]:
    """Yield a gate for each score (None: F1 of each headline): it fails if the score is worse than the baseline's.

    With `significant`, a worse score fails only if it has fallen significantly by more than `allow_drop`. Raises
    `UsageError` for results that cannot be compared.
    """
    try:
        require_same(result.signature, baseline.signature, "compared")
    except UsageError as error:
        error.advice = "score the baseline with the same options, and save it again"
        raise
    if result.tokens != baseline.tokens:
        raise UsageError(
            f"the baseline has {baseline.tokens} positions and this result {result.tokens}",
            advice="score the same documents",
        )
    reports, earlier = result.metrics, baseline.metrics
    paths = chosen_paths(reports, scores, LAST_RATE)
    for path in () if has_several_golds(baseline) else paths:
        if number_at(earlier, path) is None:
            continue
        golds = result.gold_of(path), baseline.gold_of(path)
        if golds[0] != golds[1]:
            raise UsageError(
                f"the baseline was scored against other gold ({'.'.join(path)}: {golds[1]} there, {golds[0]} here)",
                advice="score it against the same gold, and save it again",
            )
    work = None
    if significant:
        units = units_of({"the baseline": [baseline], "this result": [result]})
        if any(units.left_out.values()):
            problem = "the baseline and this result have different documents"
            raise UsageError(problem, advice="score the same documents")
        work = PairedTests(units, trust, several_golds=has_several_golds(baseline))
    for path in paths:
        text, tested = ".".join(path), None
        value, before = number_at(reports, path), number_at(earlier, path)
        if before is None:
            yield ScoreGate(text, value, None, False, "the baseline has no such score")
            continue
        if work is not None:
            work.require_rate(text, path)
            tested = work.drop_test(path, allow_drop)
        limit = before - allow_drop
        less = f" less {allow_drop:g}" if allow_drop else ""
        gate = _gate(text, value, limit, f"below the baseline's {before:.6g}{less}")
        if tested is not None:
            gate = gate._replace(tested=tested)
            if not gate.passed and gate.value is not None:
                known = "and there is no p-value" if tested.p is None else f"p = {tested.p:.3g}"
                passed = tested.p is not None and tested.p > 1 - trust.confidence
                gate = gate._replace(passed=passed, why=f"{gate.why}, {known}")
                differ = tested.units_that_differ
                if passed and not allow_drop and least_p(differ, trust.resamples) > 1 - trust.confidence:
                    few = f"{with_noun(differ, 'units')}, too few for a significant difference"
                    warn(f"{text}: {gate.why}, but only in {few}")
        yield gate


def _gate(score: str, value: float | None, limit: float, below: str) -> ScoreGate:
    if value is None:
        return ScoreGate(score, None, limit, False, "it is undefined")
    passed = value >= limit - EPSILON
    return ScoreGate(score, value, limit, passed, "" if passed else f"{value:.6g} is {below}")
