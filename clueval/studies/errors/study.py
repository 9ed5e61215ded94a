"""`errors` and `diff` of what `score` takes: they read all sides, and score them where scores are shown."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from functools import partial
from os import PathLike, fsdecode
from pathlib import Path
from typing import Any

from clueval.core.exact import Exact
from clueval.core.levels import Levels
from clueval.core.metric import AnyMetric
from clueval.files.errors import CluevalWarning, UsageError
from clueval.files.options import checked_call, field_names, refuse_unknown, require_kind
from clueval.formats.options import SETS, LayerColumns, Reading
from clueval.metrics import only_metric
from clueval.metrics.fair import Fair
from clueval.metrics.noisy import Noisy
from clueval.reading import InputSide, spooled
from clueval.results.pairs import Pairs, pairs_of
from clueval.results.result import Result
from clueval.results.score import scored, warn_of
from clueval.results.texts import kept
from clueval.studies.decisions import ERROR_CHOICES, Paths, decisions_of
from clueval.studies.errors.noisy import NoisyErrors
from clueval.studies.errors.report import Errors
from clueval.studies.errors.search import Choice
from clueval.studies.errors.two_systems import Diff, TwoSystems
from clueval.transforms.changes import checked, names_of
from clueval.transforms.options import Preparing

OF_SCORE = (
    *("reading", "progress", *SETS),
    *(name for group in (Reading, Preparing) for name in field_names(group)),
    *("merge", "where", "unit", "align", "pair_by", "score_feature"),
)
"""The options of `score` that studies have, too."""

_OF_CHOICE = ("level", "labelled", "unlabelled", "sides", "kinds", "reasons", "window")


@checked_call
def errors(
    gold: InputSide,
    predicted: InputSide | None = None,
    second: InputSide | None = None,
    *,
    metric: str | AnyMetric | None = None,
    decisions: Paths | None = None,
    conflicts: str | None = None,
    metadata: Iterable[str] | None = None,
    limit: int | None = None,
    title: str = "",
    layers: LayerColumns | None = None,
    **options: Any,
) -> Errors | TwoSystems | NoisyErrors:
    """Return the errors of predicted compared with gold: a report, and an iterable of places with errors.

    By default, these are the spans that metric ``exact`` counts as errors, label included. `Place.findings` are the
    rows of a place, one for each error.

    Args:
        gold, predicted: as in `clueval.score`.
        second: a second system; the report then says which errors both have, and which only one of them has.
        metric: whose errors: ``exact``, ``levels``, ``fair`` or ``noisy``. None: ``exact``, or ``levels`` with
            `level`, `labelled` or `unlabelled`.
        decisions: files of decisions about places, or folders of them. Places then have a `decision`; tables say whose
            the errors are, and what the scores are with gold corrected.
        conflicts: what counts where reviewers differ: ``first`` or ``last`` by time, or ``drop``. None: an error.
        metadata: names of metadata by which the page filters; None: all.
        limit: list only this number of places.
        title: the title of the report.
        layers: as in `clueval.score`.
        options: `level`, `labelled`, `unlabelled`, `sides`, `kinds`, `reasons` and `window` (see
            `clueval.studies.errors.search.Choice`); and as in `clueval.score`: any field of `Reading` and `Preparing`,
            ``gold_set``, ``predicted_set``, ``merge``, ``where``, ``unit``, ``align``, ``pair_by``, ``progress``.

    Reads nothing yet: iterating reads both sides and holds one text of each. Tables, forms and files read them again,
    and have the scores of `clueval.score`. Raises `CluevalError` for wrong options, and when it is reached, for wrong
    input.

    >>> found = errors([["B-PER", "O"]], [["O", "O"]])
    >>> [(error.side, error.kind) for place in found for error in place.findings]
    [('gold', 'missed')]
    """
    option_names = ("second", "metric", "decisions", "conflicts", "metadata", "limit", "title", "layers")
    refuse_unknown(options, [*option_names, *_OF_CHOICE, *OF_SCORE], "errors")
    chosen, options = _metric_and_options(metric, options)
    pairs = _pairs("errors", gold, predicted, second, metric=chosen, layers=layers, options=options)
    names = None if metadata is None else list(names_of(metadata, "metadata"))
    about: dict[str, Any] = {
        "title": title,
        "files": _files(gold, predicted, second),
        "scored": partial(result_of, pairs),
    }
    skips, has_sentences = decisions is None, options.get("window") is None  # contexts are sentences
    texts = partial(pairs.texts, only_differing=skips, in_parts=skips and has_sentences)
    error_options = {"decisions": decisions is not None, "conflicts": conflicts, "limit": limit}
    if isinstance(chosen, Noisy):
        _refuse("metric noisy", {**options, **error_options})
        return NoisyErrors(texts, chosen, plan=pairs.plan, **about)
    choice = _choice(chosen, pairs, options)
    about |= {"layers": pairs.layers, "metadata": names}
    if second is not None:
        if decisions is not None:
            raise UsageError(
                "decisions does not apply to two systems",
                advice="curate reads them, with annotators called gold and as the page calls the systems",
            )
        _refuse("two systems", error_options)
        return TwoSystems(texts, choice, **about)
    if decisions is not None and choice.merge:
        raise UsageError("merge does not apply to decisions", advice="leave one out")
    all_decisions = decisions_of(decisions, ERROR_CHOICES, conflicts)
    return Errors(texts, choice, decisions=all_decisions, limit=limit, **about)


@checked_call
def diff(
    gold: InputSide,
    old: InputSide,
    new: InputSide,
    *,
    metric: str | AnyMetric | None = None,
    metadata: Iterable[str] | None = None,
    title: str = "",
    layers: LayerColumns | None = None,
    **options: Any,
) -> Diff:
    """Compare the errors of an old and a new run on the same gold: which are fixed, new, changed, or still there.

    Args:
        gold, old, new: as gold and predicted in `clueval.score`.
        metric, metadata, title, layers, options: as for `clueval.errors`; errors of all classes and reasons count.

    Reads nothing yet; see `clueval.errors`. Raises its errors.

    >>> diff([["B-PER", "B-LOC"]], [["B-PER", "O"]], [["O", "B-LOC"]]).counts()["gold"]
    {'new': 1, 'fixed': 1, 'changed': 0, 'still': 0}
    """
    refuse_unknown(options, ["metric", "metadata", "title", "layers", *_OF_CHOICE, *OF_SCORE], "diff")
    chosen, options = _metric_and_options(metric, options)
    pairs = _pairs("diff", gold, old, new, metric=chosen, layers=layers, options=options)
    names = None if metadata is None else list(names_of(metadata, "metadata"))
    choice = _choice(chosen, pairs, options)
    skips = pairs.skips and not (choice.by_levels or choice.merge)
    return Diff(
        partial(pairs.texts, only_differing=skips, in_parts=skips and choice.window is None),
        choice,
        layers=pairs.layers,
        scored=partial(result_of, pairs),
        title=title,
        files=_files(gold, old, new),
        metadata=names,
        skips=skips,
    )


def _pairs(
    caller: str,
    gold: InputSide,
    *systems: InputSide | None,
    metric: AnyMetric,
    layers: LayerColumns | None,
    options: Mapping[str, Any],
) -> Pairs:
    """Return the pairs of gold and of one or two systems; None is no second system."""
    first, *others = systems
    others = [system for system in others if system is not None]
    if others and first is None:
        raise UsageError("gold has both sides", advice="give gold and two systems, each by itself")
    if others and not has_errors(metric, of_two=True):
        problem = f"errors of metric {metric.name} cannot be compared span by span"
        raise UsageError(problem, advice="use exact or levels")
    of_score = {name: value for name, value in options.items() if name not in _OF_CHOICE}
    return pairs_of(gold, first, *others, metrics=metric, layers=layers, caller=caller, **of_score)


def result_of(pairs: Pairs, system: int = 0) -> Result:
    """Return the result of `score` with the same options, for gold and a system."""
    pairs.require_again()
    several = len(pairs.systems) > 1
    pairs.gold = kept(pairs.gold) if several else pairs.gold
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always", CluevalWarning)
        with spooled(pairs.gold, pairs.systems[system]) as (gold, predicted):
            result = scored(gold, predicted, pairs.plan.metrics, pairs.columns, pairs.groups[system])
        warn_of(result, gold, predicted)
    messages = checked(result.plan.steps, result.bag.notes) if several else ()
    for warning in warned:
        if str(warning.message) not in messages:  # what changes nothing in one system may change another
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
    return result


def _metric_and_options(
    metric: str | AnyMetric | None, options: Mapping[str, Any]
) -> tuple[AnyMetric, dict[str, Any]]:
    """Return the metric, and the options as `Choice` has them, with `unlabelled` where it is meant.

    Raises `UsageError` for a metric without errors, and for names that are no text.
    """
    fields = dict(options)
    for name in ("sides", "kinds", "reasons"):
        if name in fields:
            require_kind(fields[name], "str | Iterable", name)
            names = [fields[name]] if isinstance(fields[name], str) else list(fields[name])
            for value in names:
                require_kind(value, "str", f"each of {name}")
            fields[name] = tuple(names) if name == "sides" else frozenset(names)
    for name in ("level", "labelled", "unlabelled", "window"):
        if name in fields:  # an array is neither true nor false
            require_kind(fields[name], Choice.__annotations__[name], name)
    level_options = [name for name in ("level", "labelled", "unlabelled") if fields.get(name)]
    default = "levels" if level_options else "exact"
    chosen = only_metric(default if metric is None else metric, "a table of errors")
    if not has_errors(chosen):
        problem, advice = (
            f"there are no errors of metric {chosen.name!r}",
            "one of exact, levels, fair, noisy",
        )
        if isinstance(chosen, Exact):
            problem, advice = "the errors of exact are those without settings", "leave out its settings"
        raise UsageError(problem, advice=advice)
    if level_options and not isinstance(chosen, Levels):
        raise UsageError(f"{level_options[0]} does not apply to metric {chosen.name}", advice="leave one out")
    if isinstance(chosen, Levels) and fields.get("labelled") is None:
        fields["unlabelled"] = True
    return chosen, fields


def has_errors(metric: AnyMetric, *, of_two: bool = False) -> bool:
    """Return whether a table of errors, or of two systems with `of_two`, takes a metric; ``exact`` has no settings."""
    return metric in (Exact(), Levels()) or (not of_two and isinstance(metric, Fair | Noisy))


def _choice(metric: AnyMetric, pairs: Pairs, options: Mapping[str, Any]) -> Choice:
    """Return the errors that options choose. Raises `UsageError`."""
    chosen = {name: options[name] for name in _OF_CHOICE if name in options}
    fair = metric if isinstance(metric, Fair) else None
    choice = Choice(**chosen, merge=pairs.plan.merge, where=pairs.plan.where, fair=fair)
    if choice.labelled is not None and pairs.layers and choice.labelled not in pairs.layers:
        advice = f"one of {', '.join(pairs.layers)}"
        raise UsageError(f"there is no layer {choice.labelled!r}", advice=advice)
    return choice


def _refuse(what: str, options: Mapping[str, Any]) -> None:
    """Raise `UsageError` for options that do not apply."""
    for name in (*_OF_CHOICE, "decisions", "conflicts", "limit", "merge"):
        if options.get(name):
            raise UsageError(f"{name} does not apply to {what}", advice="leave one out")


def _files(*sides: Any) -> list[str]:
    """Return the names of the files or folders; none if a side is in memory."""
    inputs = [side for side in sides if side is not None]
    paths = [Path(fsdecode(side)) for side in inputs if isinstance(side, str | PathLike)]
    names = [path.name for path in paths]
    return [] if len(paths) < len(inputs) else names if len({*names}) == len(names) else list(map(str, paths))
