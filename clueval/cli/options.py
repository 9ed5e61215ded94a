"""Options that several commands share."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from clueval.cli.declared import Input, Keywords, OneOf, SideValues, fields, shared, without_none
from clueval.cli.printing import flush, remark
from clueval.core.metric import AnyMetric
from clueval.core.span import MERGED
from clueval.files.errors import UsageError
from clueval.files.options import column, input_path
from clueval.formats.form import NAMES, all_forms
from clueval.formats.options import LayerColumns, LayerSource, Reading
from clueval.metrics import METRICS, chosen_metrics, only_metric
from clueval.results.summary import layers_read, mended
from clueval.transforms.options import Preparing

if TYPE_CHECKING:
    from clueval.results.result import Result

Value = TypeVar("Value")

SEVERAL_LAYERS = (
    "to compare several layers of gold with one of predicted, give each as --layer NAME=GOLD:PREDICTED with the same "
    "PREDICTED"
)

# --- metrics

_SETTINGS = (
    "with its settings, as in partial(factor=0.5,betas=[2]); clueval metrics NAME lists them. "
    f"Metrics: {', '.join(METRICS)}"
)


def _metrics_of(*, metric: list[str] | None = None) -> list[AnyMetric] | None:
    """Return the metrics that ``--metric`` names; None without it. Raises `UsageError` for one that cannot be read.

    counting:
        metric METRIC,...: the metrics, separated by commas, each {_SETTINGS} (default: levels)
    """
    return None if metric is None else list(chosen_metrics(metric))


METRICS_OPTION = shared(_metrics_of)


def one_metric(noun: str) -> Any:
    """Return the option for one metric; `noun` is what needs it, as ``a profile``."""

    def chosen(*, metric: list[str] | None = None) -> AnyMetric:
        """Return the metric.

        counting:
            metric METRIC: the metric, {_SETTINGS} (default: exact)
        """
        return only_metric("exact" if metric is None else metric, noun)

    return shared(chosen)


# --- changes to spans, decisions

PREPARING = fields(Preparing, "counting")


def _conflicts() -> Collection[str]:
    from clueval.studies.decisions import CONFLICTS  # only for the commands that read decisions

    return CONFLICTS


def _decisions_of(
    *, decisions: list[Input] | None = None, conflicts: Annotated[str, OneOf(_conflicts)] | None = None
) -> Keywords:
    """Return the files of decisions, and what to do about conflicts.

    decisions:
        decisions FILE: a file of decisions that a page has exported, a table or workbook of places with choices
            (extra: report), or a folder; can be repeated
        conflicts HOW: what counts where reviewers differ: first or last by time, or drop (default: an error)
    """
    return {"decisions": decisions, "conflicts": conflicts}


DECISIONS = shared(_decisions_of)

# --- files of both sides, and named files


def sides_of(
    gold: Path, predicted: Path | None, pairs: Path | None, pair_by: str | None, command: str
) -> tuple[Any, Any]:
    """Return gold and predicted: the paths of the arguments, or the lists of files in a table of pairs."""
    if pairs is None:
        return gold, predicted
    if pair_by is not None:
        raise UsageError("--pairs and --pair-by cannot be used together", advice="remove one of them")
    from clueval.formats.nerval import read_mapping

    if predicted is not None:
        raise UsageError(
            "--pairs needs exactly one folder", advice=f"clueval {command} --pairs pairs.csv FOLDER"
        )
    of_gold, of_predicted = zip(*read_mapping(pairs, gold), strict=True)
    return list(of_gold), list(of_predicted)


def named_path(text: str) -> tuple[str | None, str]:
    """Return the name, if there is one, and the path of an argument ``NAME=PATH`` or ``PATH``."""
    name, equals, path = text.partition("=")
    if not equals or Path(text).exists():
        return None, text
    if not name or not path:
        raise UsageError(f"{text!r} lacks a name or a path", advice="write it NAME=PATH")
    return name, path


def runs_in(text: str) -> list[str]:
    """Return the path, or the paths that commas separate."""
    return [text] if Path(text).exists() else [run for run in text.split(",") if run]


def _noted(text: str) -> str:
    """Note the paths that an argument names, which are inputs."""
    with suppress(UsageError):  # the command raises it
        for run in runs_in(named_path(text)[1]):
            input_path(run)
    return text


NamedInput = Annotated[str, _noted]


def by_name(
    named_values: Iterable[tuple[str | None, Value]], names: Iterable[str], what: str
) -> dict[str, Value]:
    """Return values by the names given with them, or by the next of `names`. Raises `UsageError` for a name twice."""
    others, values = iter(names), dict[str, Value]()
    for name, value in named_values:
        key = next(others) if name is None else name
        if key in values:
            raise UsageError(f"two {what} have the name {key!r}", advice="give each a name of its own")
        values[key] = value
    return values


# --- reading


def _note(name: str) -> str:
    """Return the formats to which a field of `Reading` applies, in words; empty if it applies to all."""
    from clueval.reading.source import formats_that_read  # only for help

    names = formats_that_read(name)
    formats = "" if len(names) in (0, len(NAMES)) else f"format{'s' * (len(names) != 1)} {', '.join(names)}"
    return f"{formats}; default: {_treatments()}" if name == "invalid" else formats


def _note_of_sides(name: str) -> str:
    return "vrt:inline if the sides differ" if name == "input" else _note(name)


def _reading_of_one_side(
    *,
    layer: list[str] | None = None,
    of_files: Keywords = fields(Reading, "reading", without="missing", note=_note),
) -> Keywords:
    """Return how files are read: `layers`, and fields of `Reading`.

    reading:
        layer NAME=SOURCE: {_LAYER}
    """
    return {"layers": _layers(layer, _source), **of_files}


_LAYER = (
    "a layer and its source: a column, from 1 (-1 is the last), or a name that the format has; can be repeated "
    "(default: the last column, or those of tags if it has none)"
)


def _reading_of_both_sides(
    *,
    layer: list[str] | None = None,
    of_files: Keywords = fields(Reading, "reading", without="annotation_set", sides=2, note=_note_of_sides),
    gold_set: str | None = None,
    predicted_set: str | None = None,
) -> Keywords:
    """Return how files are read, as functions take it: `layers`, `gold_set`, `predicted_set`, and fields of `Reading`,
    or `reading` if the sides differ.

    reading:
        layer NAME=SOURCE: {_LAYER}; NAME=GOLD:PREDICTED if they differ
    reading (topic):
        gold_set SET: the annotation set that is gold, in formats that have several
        predicted_set SET: the annotation set that is predicted; without PREDICTED, it is in the files of GOLD
    """
    arguments = without_none(layers=_layers(layer, _sources), gold_set=gold_set, predicted_set=predicted_set)
    reading = dict(of_files)
    if any(":" in value.partition("=")[2] for value in reading.get("meta", ())):  # NAME=GOLD:PREDICTED
        parts = [value.partition("=") for value in reading["meta"]]
        of_sides = ([f"{name}={(columns.split(':') * 2)[n]}" for name, _, columns in parts] for n in (0, 1))
        reading["meta"] = SideValues(*of_sides)
    if any(isinstance(value, SideValues) for value in reading.values()):
        return {**arguments, "reading": (_of_side(reading, 0), _of_side(reading, 1))}
    return {**arguments, **reading}


def _of_side(reading: Keywords, side: int) -> Reading:
    """Return how one side is read; for a value that only the other side has, the default counts."""
    values = {name: v[side] if isinstance(v, SideValues) else v for name, v in reading.items()}
    return Reading(**without_none(**values))


READING = shared(_reading_of_both_sides)
READING_ONE = shared(_reading_of_one_side)


def _treatments() -> str:
    """Return the default treatments of invalid tag sequences, in words."""
    from clueval.reading.source import treatment_of  # only for help

    first: dict[str, list[str]] = {}
    for form in all_forms():
        treatment = treatment_of(form, None)
        if treatment is not None and form.name not in first.setdefault(treatment, []):
            first[treatment].append(form.name)
    return "; ".join(f"{how} in {', '.join(names)}" for how, names in first.items())


Sources = LayerSource | tuple[LayerSource, LayerSource | None]


def _layers(texts: Iterable[str] | None, sources_in: Callable[[str], Sources]) -> LayerColumns | None:
    """Return the layers that ``--layer`` names, each with its sources. Raises `UsageError` for an invalid value."""
    layers: dict[str, Sources] = {}
    for value in (part for text in texts or () for part in text.split(",")):
        name, equals, sources = value.partition("=")
        try:
            if not name or not equals:
                raise ValueError("a layer has a name and one or two sources")
            layer_sources = sources_in(sources)
        except ValueError:
            raise UsageError(
                f"--layer {value!r} cannot be read",
                advice="write it NAME=COLUMN, as in entity=2; columns count from 1, or from -1 at the end; or "
                "NAME=SOURCE, the name of a source of the format",
            ) from None
        if name in layers or name == MERGED:
            raise UsageError(
                f"--layer names {name!r} twice"
                if name in layers
                else f"{MERGED!r} cannot be the name of a layer",
                advice="give each layer a name of its own",
            )
        layers[name] = layer_sources
    return layers or None


def _sources(text: str) -> Sources:
    """Return the source of a layer, or those of both sides, of which the second is None if gold alone has it."""
    gold, colon, predicted = text.partition(":")
    if ":" in predicted:
        raise ValueError("a layer has one or two sources")
    source = _source(gold)
    return (source, _source(predicted) if predicted else None) if colon else source


def _source(text: str) -> LayerSource:
    """Return the source of a layer: a column if it looks like a number, else the name of a source."""
    if not text.strip():
        raise ValueError("a source has a name or a number")
    return column(text) if re.fullmatch(r"\s*[-+]?[\d.]+\s*", text) else text


def say_what_was_read(result: Result) -> None:
    """Print a line on what was mended, on each layer, and on what was changed, to stderr."""
    flush()  # if the result cannot be printed, that is the only message
    changes = result.prepared or {}
    for line in (*mended(result.repaired_tags, changes), *layers_read(result.inputs)):
        remark(line)
    alone = {name: number for name, number in changes.items() if isinstance(number, int)}
    for name, changed in {**({"alternatives": alone} if alone else {}), **changes}.items():
        listed = "" if isinstance(changed, int) else ", ".join(f"{key} {n:,}" for key, n in changed.items())
        if listed:
            remark(f"changed before counting: {name}: {listed}")
