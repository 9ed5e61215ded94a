"""Options that several commands share."""

from __future__ import annotations

import argparse
import re
from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import Field
from dataclasses import fields as fields_of
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from clueval.cli.declared import (
    CommandParser,
    Given,
    Input,
    OneOf,
    Options,
    SideValues,
    add_fields,
    fields,
    given_fields,
    help_of,
    pair_of,
    shared,
)
from clueval.cli.printing import flush, remark
from clueval.core.metric import AnyMetric
from clueval.core.span import MERGED
from clueval.files.errors import UsageError
from clueval.files.options import column, options_of
from clueval.files.overwriting import input_path
from clueval.formats.form import NAMES
from clueval.formats.options import Reading
from clueval.metrics import METRICS, chosen_metrics, metric_class, only_metric
from clueval.metrics.settings import values_of
from clueval.reading.options import LayerColumns, LayerSource
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

_SETTINGS = "with its settings, as in partial(factor=0.5,betas=[2]); clueval metrics NAME lists them"


def _add_metrics(parser: CommandParser, what: str, metavar: str, default: str) -> None:
    text = f"the {what} {_SETTINGS}. Metrics: {', '.join(METRICS)} (default: {default})"
    parser.group("counting").add_argument("--metric", action="append", metavar=metavar, help=text)
    parser.settings = _as_calls


def _as_calls() -> dict[str, str]:
    """Return how each setting is given, by the name that a user may try as an option."""
    return {
        setting.replace("_", "-"): f"--metric '{metric}({setting}=...)'"
        for metric in reversed(METRICS)  # of several with the same setting, the first is named
        for setting in settings_of(metric_class(metric))
    }


def settings_of(kind: Any) -> dict[str, Field[Any]]:
    """Return the settings of a metric that can be given as text."""
    return {
        field.name: field for field in fields_of(kind) if field.init and values_of(kind, field) is not None
    }


def metrics_of(options: argparse.Namespace) -> list[AnyMetric] | None:
    """Return the metrics that ``--metric`` names; None without it. Raises `UsageError` for one that cannot be read."""
    return None if options.metric is None else list(chosen_metrics(options.metric))


METRICS_OPTION: Any = Options(
    lambda parser: _add_metrics(parser, "metrics, separated by commas, each", "METRIC,...", "levels"),
    metrics_of,
)


def one_metric(noun: str) -> Any:
    """Return the option for one metric; `noun` is what needs it, as ``a profile``."""

    def value(options: argparse.Namespace) -> AnyMetric:
        return only_metric("exact" if options.metric is None else options.metric, noun)

    return Options(lambda parser: _add_metrics(parser, "metric,", "METRIC", "exact"), value)


# --- changes to spans, decisions

PREPARING = fields(Preparing, "counting")


def _conflicts() -> Collection[str]:
    from clueval.studies.decisions import CONFLICTS  # only for the commands that read decisions

    return CONFLICTS


def _decisions_of(
    *, decisions: list[Input] | None = None, conflicts: Annotated[str, OneOf(_conflicts)] | None = None
) -> Given:
    """Return the files of decisions, and what to do about conflicts.

    decisions:
        decisions FILE: a file of decisions that a page has exported, a workbook with choices (extra: report), or a
            folder; can be repeated
        conflicts HOW: what counts where reviewers differ: first or last by time, or drop (default: an error)
    """
    if conflicts is not None and decisions is None:
        raise UsageError("--conflicts needs --decisions", advice="add --decisions FILE")
    return {"decisions": decisions, "conflicts": conflicts}


DECISIONS = shared(_decisions_of)

# --- files of both sides, and named files


def sides_of(gold: Path, predicted: Path | None, pairs: Path | None, command: str) -> tuple[Any, Any]:
    """Return gold and predicted: the paths of the arguments, or the lists of files in a table of pairs."""
    if pairs is None:
        return gold, predicted
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


def reading(*, sides: int) -> Any:
    """Return the options for reading files: layers, and the fields of `Reading`; with two `sides`, values may be pairs.

    The value has the arguments of a function: `layers`, `gold_set`, `predicted_set`, and fields of `Reading`, or
    `reading` if the sides differ.
    """

    def add(parser: CommandParser) -> None:
        parser.group("reading").add_argument(
            "--layer",
            action="append",
            metavar="NAME=SOURCE",
            help="a layer and its source: a column, from 1 (-1 is the last), or a name that the format has; can be "
            "repeated (default: the last column, or those of tags if it has none)"
            + ("; NAME=GOLD:PREDICTED if they differ" if sides == 2 else ""),
        )
        of_others = "missing" if sides == 1 else "annotation_set"
        field_names = [name for name in Reading.__dataclass_fields__ if name != of_others]
        added = add_fields(parser, Reading, "reading", only=field_names, sides=sides)
        if sides == 2:
            group = parser.topic("reading")
            group.add_argument(
                "--gold-set",
                metavar="SET",
                help="the annotation set that is gold, in formats that have several",
            )
            group.add_argument(
                "--predicted-set",
                metavar="SET",
                help="the annotation set that is predicted; without PREDICTED, it is in the files of GOLD",
            )

        def name_formats() -> None:
            for field, declared in options_of(Reading):
                if field.name in added and field.name != "input":
                    default = _treatments() if field.name == "invalid" else None
                    added[field.name].help = help_of(field, declared, formats_of(field.name), default)

        parser.before_help = name_formats

    def value(options: argparse.Namespace) -> Given:
        if sides == 1:
            layers = _layers(options)
            if any(isinstance(source, tuple) for source in (layers or {}).values()):
                raise UsageError(
                    "this command reads one side only",
                    advice="give one source for each layer, as in entity=2",
                )
            return {"layers": layers, **given_fields(Reading, options)}
        if getattr(options, "Counting.pair_by", None) is not None and hasattr(options, "predicted"):
            if getattr(options, "pairs", None) is not None:
                raise UsageError("--pairs and --pair-by cannot be used together", advice="remove one of them")
            if options.predicted is None:
                raise UsageError("without PREDICTED, there are no files to pair", advice="remove --pair-by")
        arguments = {
            "layers": _layers(options),
            "gold_set": options.gold_set,
            "predicted_set": options.predicted_set,
        }
        arguments = {name: value for name, value in arguments.items() if value is not None}
        reading_fields = given_fields(Reading, options)
        meta = reading_fields.get("meta", ())
        if any(":" in value.partition("=")[2] for value in meta):  # NAME=GOLD:PREDICTED
            parts = [value.partition("=") for value in meta]
            of_sides = (
                [f"{name}={(columns.split(':') * 2)[n]}" for name, _, columns in parts] for n in (0, 1)
            )
            reading_fields["meta"] = SideValues(*of_sides)
        if any(isinstance(value, SideValues) for value in reading_fields.values()):
            return {**arguments, "reading": pair_of(Reading, reading_fields)}
        return {**arguments, **reading_fields}

    return Options(add, value)


READING = reading(sides=2)
READING_ONE = reading(sides=1)


def formats_of(name: str) -> str:
    """Return the formats to which a field of `Reading` applies, in words; empty if it applies to all."""
    from clueval.reading.source import formats_that_read  # only for help

    names = formats_that_read(name)
    return "" if len(names) in (0, len(NAMES)) else f"format{'s' * (len(names) != 1)} {', '.join(names)}"


def _treatments() -> str:
    """Return the default treatments of invalid tag sequences, in words."""
    from clueval.formats.form import all_forms  # only for help
    from clueval.reading.source import treatment_of

    first: dict[str, list[str]] = {}
    for form in all_forms():
        treatment = treatment_of(form, None)
        if treatment is not None and form.name not in first.setdefault(treatment, []):
            first[treatment].append(form.name)
    return "; ".join(f"{how} in {', '.join(names)}" for how, names in first.items())


def _layers(options: argparse.Namespace) -> LayerColumns | None:
    """Return the layers that ``--layer`` names, each with its source, or those of both sides (None: gold alone has it).

    Raises `UsageError` for an invalid value.
    """
    layers: dict[str, LayerSource | tuple[LayerSource, LayerSource | None]] = {}
    for value in (part for text in options.layer or () for part in text.split(",")):
        name, equals, sources = value.partition("=")
        gold, colon, predicted = sources.partition(":")
        try:
            if not name or not equals or ":" in predicted:
                raise ValueError("a layer has a name and one or two sources")
            source = _source(gold)
            both = (source, _source(predicted) if predicted else None) if colon else source
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
        layers[name] = both
    return layers or None


def _source(text: str) -> LayerSource:
    """Return the source of a layer: a column if it looks like a number, else the name of a source."""
    if not text.strip():
        raise ValueError("a source has a name or a number")
    return column(text) if re.fullmatch(r"\s*[-+]?[\d.]+\s*", text) else text


def say_what_was_read(result: Result | None) -> None:
    """Print a line on what was mended, on each layer, and on what was changed, to stderr."""
    flush()  # if the result cannot be printed, that is the only message
    if result is None:
        return
    changes = result.prepared or {}
    for line in (*mended(result.repaired_tags, changes), *layers_read(result.inputs)):
        remark(line)
    alone = {name: number for name, number in changes.items() if isinstance(number, int)}
    for name, changed in {**({"alternatives": alone} if alone else {}), **changes}.items():
        listed = "" if isinstance(changed, int) else ", ".join(f"{key} {n:,}" for key, n in changed.items())
        if listed:
            remark(f"changed before counting: {name}: {listed}")
