"""`errors`, `diff` and `profile` of what `score` takes: they read both sides, and score them where scores are shown.

The errors of metric ``noisy`` are listed here: every gold span with the predicted span that it takes, where the texts
differ. A place has the text of the gold span above the predicted text. Without a predicted span, this is the text
opposite to the gold span. What differs is marked in both; the number of these characters is the distance.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from os import PathLike, fsdecode
from pathlib import Path
from typing import Any

from clueval.core.alignment import align
from clueval.core.case import Where
from clueval.core.document import Document, Pair
from clueval.core.exact import Exact
from clueval.core.levels import Levels
from clueval.core.metric import AnyMetric
from clueval.core.span import NOTHING
from clueval.files.errors import CluevalWarning, UsageError
from clueval.files.opening import sha256_of
from clueval.files.options import checked_call, field_names, refuse_unknown, require_kind
from clueval.formats.options import Reading
from clueval.metrics import only_metric
from clueval.metrics.fair import Fair
from clueval.metrics.noisy import Explanation, Noisy
from clueval.reading.options import SETS, InputSide, LayerColumns, spooled
from clueval.reading.paths import as_path, files_of
from clueval.reading.read import read
from clueval.reports.language import numeral, phrase
from clueval.reports.place import Facet, Line, Mark, MarkedText, MarkKind, Place, fingerprint
from clueval.reports.table import Cell, Find, Part, Rate, Shares, Table
from clueval.results.pairs import Pairs, pairs_of
from clueval.results.result import Result
from clueval.results.score import scored, warn_of
from clueval.results.signature import Signature
from clueval.results.texts import kept
from clueval.studies.decisions import ERROR_CHOICES, Paths, decisions_of
from clueval.studies.errors import AllPairs, ErrorReport, Errors, ErrorTally, Text, one_by_one
from clueval.studies.errors_view import facts_of, title_of
from clueval.studies.profile import Profile
from clueval.studies.systems import Diff, TwoSystems
from clueval.studies.wrong import Choice
from clueval.transforms.changes import checked, names_of
from clueval.transforms.options import Preparing

_OF_SCORE = (
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
            `clueval.studies.wrong.Choice`); and as in `clueval.score`: any field of `Reading` and `Preparing`,
            ``gold_set``, ``predicted_set``, ``merge``, ``where``, ``unit``, ``align``, ``pair_by``, ``progress``.

    Reads nothing yet: iterating reads both sides and holds one text of each. Tables, forms and files read them again,
    and have the scores of `clueval.score`. Raises `CluevalError` for wrong options, and when it is reached, for wrong
    input.

    >>> found = errors([["B-PER", "O"]], [["O", "O"]])
    >>> [(error.side, error.kind) for place in found for error in place.findings]
    [('gold', 'missed')]
    """
    option_names = ("second", "metric", "decisions", "conflicts", "metadata", "limit", "title", "layers")
    refuse_unknown(options, [*option_names, *_OF_CHOICE, *_OF_SCORE], "errors")
    chosen, options = _metric_and_options(metric, options)
    pairs = _pairs("errors", gold, predicted, second, metric=chosen, layers=layers, options=options)
    names = None if metadata is None else list(names_of(metadata, "metadata"))
    about: dict[str, Any] = {
        "title": title,
        "files": _files(gold, predicted, second),
        "scored": partial(_result, pairs),
    }

    has_sentences = options.get("window") is None  # contexts are sentences

    def of_one_system() -> Iterator[Pair]:
        skips = decisions is None
        return (pair for (pair,) in pairs.texts(only_differing=skips, in_parts=skips and has_sentences))

    error_options = {"decisions": decisions is not None, "conflicts": conflicts, "limit": limit}
    if isinstance(chosen, Noisy):
        _refuse("metric noisy", {**options, **error_options})
        return NoisyErrors(of_one_system, chosen, where=pairs.plan.where, **about)
    choice = _choice(chosen, pairs, options)
    about |= {"layers": pairs.layers, "metadata": names}
    if second is not None:
        _refuse("two systems", error_options)
        texts = partial(pairs.texts, only_differing=True, in_parts=has_sentences)
        return TwoSystems(texts, choice, **about)
    if decisions is not None and choice.merge:
        raise UsageError("merge does not apply to decisions", advice="leave one out")
    all_decisions = decisions_of(decisions, ERROR_CHOICES, conflicts)
    return Errors(of_one_system, choice, decisions=all_decisions, limit=limit, **about)


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
    refuse_unknown(options, ["metric", "metadata", "title", "layers", *_OF_CHOICE, *_OF_SCORE], "diff")
    chosen, options = _metric_and_options(metric, options)
    pairs = _pairs("diff", gold, old, new, metric=chosen, layers=layers, options=options)
    names = None if metadata is None else list(names_of(metadata, "metadata"))
    choice = _choice(chosen, pairs, options)
    skips = pairs.skips and not (choice.by_levels or choice.merge)
    return Diff(
        partial(pairs.texts, only_differing=skips, in_parts=skips and choice.window is None),
        choice,
        layers=pairs.layers,
        scored=partial(_result, pairs),
        title=title,
        files=_files(gold, old, new),
        metadata=names,
        skips=skips,
    )


@checked_call
def profile(
    gold: InputSide,
    predicted: InputSide | None = None,
    *,
    feature: str | Iterable[str] | None = None,
    train: str | Path | Iterable[Document] | None = None,
    metric: str | AnyMetric = "exact",
    buckets: int | None = None,
    layers: LayerColumns | None = None,
    **options: Any,
) -> Profile:
    """Score gold and predicted spans by buckets of their features.

    Args:
        gold, predicted, layers: as in `clueval.score`.
        feature: names of features, separated by commas or in a list; None: all that can be computed.
        train: the training data, for ``frequency``, ``seen`` and ``consistency``: a path, which is read like gold, or a
            list of documents.
        metric: the metric, which must have micro averages.
        buckets: sort numbers into this many buckets of about equal size, instead of fixed ones.
        options: as for `clueval.errors`, those of `clueval.score`.

    Returns a `Profile`. Raises `UsageError` for unknown features, and the errors of `clueval.score`.

    >>> rows = profile([["B-PER", "B-LOC"]], [["B-PER", "O"]], feature=["label"]).rows()
    >>> [(row["bucket"], row["recall"]) for row in rows]
    [('LOC', 0.0), ('PER', 1.0)]
    """
    refuse_unknown(options, ["feature", "train", "metric", "buckets", "layers", *_OF_SCORE], "profile")
    require_kind(buckets, "int | None", "buckets")
    chosen = only_metric(metric, "a profile")
    pairs = _pairs("profile", gold, predicted, metric=chosen, layers=layers, options=options)
    documents, train_choices = _training(train, layers, pairs.groups.readings[0])

    def scored() -> Result:
        result = _result(pairs)
        return replace(result, signature=Signature({**result.signature.choices, **train_choices}))

    return Profile(
        pairs,
        None if feature is None else names_of(feature, "feature"),
        train=documents,
        metric=chosen,
        buckets=buckets,
        scored=scored,
    )


def _training(
    train: Any, layers: LayerColumns | None, reading: Reading
) -> tuple[Callable[[], Iterable[Document]] | None, dict[str, str]]:
    """Return what reads the training data, and what the signature says of them."""
    if train is None:
        return None, {}
    if isinstance(train, str | PathLike):
        path = as_path(train)
        of_gold = {
            name: source[0] if isinstance(source, tuple) else source
            for name, source in (layers or {}).items()
        }
        how = partial(read, path, layers=of_gold or None, reading=reading)
        return how, {"train": sha256_of(file for _, file in files_of(path))[:8]}
    documents = list(train)
    if not all(isinstance(document, Document) for document in documents):
        raise UsageError("train must be a file or a list of documents", advice="clueval.read returns them")
    return lambda: documents, {"train": "documents"}


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
    of_score = {name: value for name, value in options.items() if name not in _OF_CHOICE}
    return pairs_of(gold, first, *others, metrics=metric, layers=layers, caller=caller, **of_score)


def _result(pairs: Pairs, system: int = 0) -> Result:
    """Return the result of `score` with the same options, for gold and a system."""
    pairs.require_again()
    several = len(pairs.systems) > 1
    pairs.gold = kept(pairs.gold) if several else pairs.gold
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always", CluevalWarning)
        with spooled(pairs.gold, pairs.systems[system]) as (gold, predicted):
            result = scored(gold, predicted, pairs.plan.metrics, pairs.columns, pairs.groups)
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
        if name in fields:
            require_kind(fields[name], Choice.__annotations__[name], name)
    level_options = [name for name in ("level", "labelled", "unlabelled") if fields.get(name)]
    default = "levels" if level_options else "exact"
    chosen = only_metric(default if metric is None else metric, "a table of errors")
    if chosen not in (Exact(), Levels()) and not isinstance(chosen, Fair | Noisy):
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


RESULTS = ("matched", "not matched", "no counterpart")


class NoisyErrors(ErrorReport):
    """Every gold span with its counterpart, in the order of the texts.

    The metric says when texts match; `where` has the labels that count, by layer. The arguments `about` are those of
    `ErrorReport`.
    """

    def __init__(
        self,
        pairs: AllPairs,
        metric: Noisy = Noisy(),  # noqa: B008  # it cannot be changed
        *,
        where: Where = NOTHING,
        **about: Any,
    ) -> None:
        super().__init__(one_by_one(pairs), metadata=(), **about)
        self._metric, self._where, self.store = metric, where, ""

    # in the language of the context
    @property
    def title(self) -> str:  # type: ignore[override]  # it is only read
        return title_of(self._title, self._files, phrase("Noisy texts"))

    @property
    def kinds(self) -> Sequence[MarkKind]:  # type: ignore[override]  # it is only read
        return [MarkKind("leak", "", phrase("differs"))]

    @property
    def facets(self) -> Sequence[Facet]:  # type: ignore[override]  # as above
        return [
            Facet("result", phrase("Result"), True, RESULTS),
            Facet("label", phrase("Label"), True),
            Facet("layer", phrase("Layer"), True),
            Facet("document", phrase("Document")),
        ]

    def _read(
        self, tally: ErrorTally | None
    ) -> Iterator[tuple[Text, Sequence[Sequence[tuple[str, Explanation]]]]]:
        for text in self._texts():
            layers = dict.fromkeys(layer for side in text[0].sides for layer in side.layers)
            explained = [
                (layer, explanation)
                for layer in layers
                for explanation in self._metric.explain(text[0], layer, self._where)
            ]
            if tally is not None:
                tally.places[None] += len(explained)
                tally.listed.update(
                    (layer, explanation.gold.label, _outcome(explanation)) for layer, explanation in explained
                )
            yield text, [[each] for each in explained]

    def _places_of(self, text: Text, groups: Iterable[Sequence[tuple[str, Explanation]]]) -> Iterator[Place]:
        document = text[0].first.id
        for ((layer, explanation),) in groups:
            spans = [("gold", explanation.gold), ("predicted", explanation.predicted)]
            yield Place(
                (document, layer, explanation.gold.start, explanation.gold.end),
                fingerprint((side, span.fragments, span.label) for side, span in spans if span is not None),
                _marked(
                    explanation.gold_text,
                    explanation.opposite if explanation.predicted is None else explanation.predicted_text,
                ),
                [_line(document, layer, explanation)],
                [_row(document, layer, explanation)],
            )

    def facts(self) -> Iterable[str]:
        return [] if self.result is None else facts_of(self.result.documents, self.result.tokens)

    def counts(self) -> dict[str, dict[str, int]]:
        """Return the number of gold spans by result."""
        numbers = dict.fromkeys(RESULTS, 0)
        for (_, _, result), number in self._tally.listed.items():
            numbers[result] += number
        return {"gold": numbers}

    def verdict(self) -> str:
        numbers = self.counts()["gold"]
        return phrase(
            "{number} of {n} gold span matched|{number} of {n} gold spans matched",
            number=numbers[RESULTS[0]],
            n=sum(numbers.values()),
        )

    def tables(self) -> Iterator[Table]:
        """Yield for each layer how many gold spans match, by label, the least share first."""
        counts: dict[str, dict[str, Counter[str]]] = {}
        for (layer, label, result), number in self._tally.listed.items():
            counts.setdefault(layer, {}).setdefault(label, Counter())[result] = number
        for layer, labels in counts.items():
            shares = sorted(
                (results[RESULTS[0]] / results.total(), label) for label, results in labels.items()
            )
            rows: list[list[Cell]] = []
            for share, label in shares:
                find, results = {"layer": layer, "label": label}, labels[label]
                bar = Shares(
                    [Part(results[result], phrase(result), {"result": result, **find}) for result in RESULTS]
                )
                rows.append([Find(label, find), bar, Rate(share), Find(results.total(), find)])
            title = phrase("{layer}: gold spans by label", layer=layer)
            yield Table(title, ["", phrase("spans"), "R", phrase("number")], rows)

    def to_dict(self) -> dict[str, Any]:
        """Return all gold spans as plain data, with texts of the corpus."""
        return {"spans": self.rows()}


def _outcome(explanation: Explanation) -> str:
    return RESULTS[2] if explanation.predicted is None else RESULTS[not explanation.matched]


def _marked(gold_text: str, opposite: str) -> list[MarkedText]:
    """Return two texts, in which that which differs is marked; no span is too long to be shown."""
    marks: tuple[list[Mark], list[Mark]] = [], []
    ends = [0, 0]
    for pieces in align(gold_text, opposite, max_cells=len(gold_text) * len(opposite)).pieces():
        for side, piece in enumerate(pieces):
            if piece and pieces[0] != pieces[1]:
                marks[side].append(Mark(0, ends[side], ends[side] + len(piece)))
            ends[side] += len(piece)
    return [MarkedText(gold_text, marks[0]), MarkedText(opposite, marks[1])]


def _line(document: str, layer: str, explanation: Explanation) -> Line:
    rate = "" if explanation.error_rate is None else f" = {numeral(100 * explanation.error_rate, '.2f')} %"
    distance = (
        f"{phrase('distance')} {numeral(explanation.distance)} / {numeral(len(explanation.gold_text))}{rate}"
    )
    result = _outcome(explanation)
    note = distance if explanation.predicted is not None else ""
    values = [result, explanation.gold.label, layer, document]
    if explanation.matched:  # no error
        return Line("", values, None, explanation.gold.label, "", f"{phrase(result)} {note}")
    return Line(phrase(result), values, None, explanation.gold.label, "", note)


def _row(document: str, layer: str, explanation: Explanation) -> dict[str, Any]:
    """Return the row of a gold span; ends are exclusive, and the error rate is a fraction."""
    predicted = explanation.predicted
    return {
        "document": document,
        "layer": layer,
        "label": explanation.gold.label,
        "gold_start": explanation.gold.start,
        "gold_end_exclusive": explanation.gold.end,
        "gold_text": explanation.gold_text,
        "predicted_start": None if predicted is None else predicted.start,
        "predicted_end_exclusive": None if predicted is None else predicted.end,
        "predicted_text": explanation.predicted_text,
        "opposite": explanation.opposite,
        "distance": explanation.distance,
        "error_rate": explanation.error_rate,
        "matched": "yes" if explanation.matched else "no",
    }
