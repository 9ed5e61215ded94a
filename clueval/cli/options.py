"""Options of several commands that no field of a dataclass declares."""

from __future__ import annotations

import argparse
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import Field, fields
from pathlib import Path
from typing import Any, Protocol, TypeVar

from clueval import metrics
from clueval.cli.fields import SideValues, add_fields, given_fields, help_of, pair_of
from clueval.cli.parser import CommandParser
from clueval.cli.printing import flush, remark
from clueval.core.metric import AnyMetric as Metric
from clueval.core.span import MERGED
from clueval.files.errors import UsageError
from clueval.files.options import column, options_of
from clueval.files.overwriting import input_path
from clueval.formats.form import NAMES
from clueval.formats.options import Reading
from clueval.metrics import METRICS, metric_class
from clueval.metrics.settings import values_of
from clueval.reading.options import LayerColumns, LayerSource
from clueval.results.options import Counting
from clueval.results.summary import layers_read, mended
from clueval.transforms.options import Preparing

Value = TypeVar("Value")


SEVERAL_LAYERS = (
    "to compare several layers of gold with one of predicted, give each as --layer NAME=GOLD:PREDICTED with the same "
    "PREDICTED"
)


SETTINGS = "each with its settings, as in partial(factor=0.5,betas=[2]); clueval metrics NAME lists them"


def add_metrics(parser: CommandParser, title: str, *, one: bool = False) -> None:
    """Add the option for metrics, or for the `one` metric of a command."""
    what, metavar, default = (
        (f"metric, {SETTINGS.removeprefix('each ')}", "METRIC", "exact")
        if one
        else (f"metrics, separated by commas, {SETTINGS}", "METRIC,...", "levels")
    )
    text = f"the {what}. Metrics: {', '.join(METRICS)} (default: {default})"
    parser.group(title).add_argument("--metric", action="append", metavar=metavar, help=text)
    parser.settings = _as_calls


def chosen_metrics(options: argparse.Namespace, default: str = "levels") -> list[Metric]:
    """Return the metrics that ``--metric`` names. Raises `UsageError` for one that cannot be read."""
    return list(metrics.chosen_metrics(options.metric or default))


def _as_calls() -> dict[str, str]:
    """Return how each setting is given, by the name that a user may try as an option."""
    return {
        setting.replace("_", "-"): f"--metric '{metric}({setting}=...)'"
        for metric in reversed(METRICS)  # of several with the same setting, the first is named
        for setting in settings_of(metric_class(metric))
    }


def settings_of(kind: Any) -> dict[str, Field[Any]]:
    """Return the settings of a metric that can be given as text."""
    return {field.name: field for field in fields(kind) if field.init and values_of(kind, field) is not None}


def add_decisions(group: argparse._ArgumentGroup) -> None:
    """Add the options that name files of decisions, and say what to do about conflicts."""
    from clueval.studies.decisions import CONFLICTS  # only for the commands that read decisions

    group.add_argument(
        "--decisions",
        action="append",
        type=input_path,
        metavar="FILE",
        help="a file of decisions that a page has exported, a workbook with choices (extra: report), or a folder; can "
        "be repeated",
    )
    group.add_argument(
        "--conflicts",
        choices=CONFLICTS,
        metavar="HOW",
        help=f"what counts where reviewers differ: {' or '.join(CONFLICTS[:2])} by time, or {CONFLICTS[2]} (default: "
        "an error)",
    )


def decisions_of(options: argparse.Namespace) -> dict[str, Any]:
    """Return the decisions, and what to do about conflicts. Raises `UsageError` for conflicts of none."""
    if options.conflicts is not None and options.decisions is None:
        raise UsageError("--conflicts needs --decisions", advice="add --decisions FILE")
    return {"decisions": options.decisions, "conflicts": options.conflicts}


def add_sides(parser: CommandParser) -> None:
    """Add the arguments GOLD and PREDICTED."""
    parser.add_argument("gold", type=input_path, metavar="GOLD", help="file or folder")
    parser.add_argument(
        "predicted",
        type=input_path,
        metavar="PREDICTED",
        nargs="?",
        help="file or folder; without it, GOLD has both sides",
    )


def named_path(text: str) -> tuple[str | None, str]:
    """Return the name, if there is one, and the path of an argument ``NAME=PATH`` or ``PATH``."""
    name, equals, path = text.partition("=")
    if not equals or Path(text).exists():
        return None, text
    if not name or not path:
        raise UsageError(f"{text!r} lacks a name or a path", advice="write it NAME=PATH")
    return name, path


def by_name(given: Iterable[tuple[str | None, Value]], names: Iterable[str], what: str) -> dict[str, Value]:
    """Return values by the names given with them, or by the next of `names`. Raises `UsageError` for a name twice."""
    others, found = iter(names), dict[str, Value]()
    for name, value in given:
        key = next(others) if name is None else name
        if key in found:
            raise UsageError(f"two {what} have the name {key!r}", advice="give each a name of its own")
        found[key] = value
    return found


class HasRead(Protocol):
    """A result that says what was read, mended and changed; the results of all commands are such."""

    @property
    def repaired_tags(self) -> Mapping[str, int]: ...

    @property
    def inputs(self) -> Mapping[str, Mapping[str, Any]]: ...

    @property
    def prepared(self) -> Mapping[str, Any] | None: ...


def say_what_was_read(options: argparse.Namespace, result: HasRead) -> None:
    """Print a line on what was mended, on each layer, and on what was changed, to stderr."""
    flush()  # if the result cannot be printed, that is the only message
    changes = result.prepared or {}
    for line in mended(result.repaired_tags, changes):
        remark(line)
    for line in layers_read(result.inputs):
        remark(line)
    alone = {name: number for name, number in changes.items() if isinstance(number, int)}
    for name, changed in {**({"alternatives": alone} if alone else {}), **changes}.items():
        listed = "" if isinstance(changed, int) else ", ".join(f"{key} {n:,}" for key, n in changed.items())
        if listed:
            remark(f"changed before counting: {name}: {listed}")


def say_unless_shown(options: argparse.Namespace, result: HasRead) -> None:
    """Print what was read, unless the result is text on the terminal, which has these lines."""
    if not getattr(options, "prints", options.output_file is None) or options.format not in (None, "text"):
        say_what_was_read(options, result)


def add_preparing(parser: CommandParser, *, without: Collection[str] = ()) -> None:
    """Add the options that change spans before they are counted, except some."""
    only = [name for name in Preparing.__dataclass_fields__ if name not in without]
    add_fields(parser, Preparing, "counting", only=only)


def preparing_of(options: argparse.Namespace) -> dict[str, Any]:
    """Return the options that change spans before they are counted, as far as they were given."""
    return given_fields(Preparing, options)


def add_pairs(parser: CommandParser, topic: str) -> None:
    """Add the option for a table of pairs of files."""
    parser.topic(topic).add_argument(
        "--pairs",
        type=input_path,
        metavar="CSV",
        help="a CSV table of pairs of files, gold and predicted; GOLD is then the folder with all of them",
    )


def sides_of(options: argparse.Namespace) -> tuple[Any, Any]:
    """Return gold and predicted: the paths of the arguments, or the lists of files in a table of pairs."""
    if options.pairs is None:
        return options.gold, options.predicted
    from clueval.formats.nerval import read_mapping

    if options.predicted is not None:
        raise UsageError(
            "--pairs needs exactly one folder", advice=f"clueval {options.command} --pairs pairs.csv FOLDER"
        )
    gold, predicted = zip(*read_mapping(options.pairs, options.gold), strict=True)
    return list(gold), list(predicted)


def check_pairing(options: argparse.Namespace) -> None:
    """Raise `UsageError` for ``--pair-by`` with ``--pairs``, or if one file holds both sides."""
    if "pair_by" not in given_fields(Counting, options):
        return
    if getattr(options, "pairs", None) is not None:
        raise UsageError("--pairs and --pair-by cannot be used together", advice="remove one of them")
    if options.predicted is None:
        raise UsageError("without PREDICTED, there are no files to pair", advice="remove --pair-by")


def add_reading(parser: CommandParser, *, sides: int, sets: str | None = "reading") -> None:
    """Add the options of commands that read files; with two `sides`, options may have a value for each.

    `sets` is the help topic of the options for annotation sets; None: they are in the help of the command.
    """
    parser.group("reading").add_argument(
        "--layer",
        action="append",
        metavar="NAME=SOURCE",
        help="a layer and its source: a column, from 1 (-1 is the last), or a name that the format has; can be "
        "repeated (default: the last column, or those of tags if it has none)"
        + ("; NAME=GOLD:PREDICTED if they differ" if sides == 2 else ""),
    )
    of_others = "missing" if sides == 1 else "annotation_set"
    own = [name for name in Reading.__dataclass_fields__ if name != of_others]
    added = add_fields(parser, Reading, "reading", only=own, sides=sides)
    if sides == 2:
        _add_sets(parser.group("reading") if sets is None else parser.topic(sets))

    def name_formats() -> None:
        for field, declared in options_of(Reading):
            if field.name in added and field.name != "input":
                default = _treatments() if field.name == "invalid" else None
                added[field.name].help = help_of(field, declared, formats_of(field.name), default)

    parser.before_help = name_formats


def formats_of(name: str) -> str:
    """Return the formats to which a field of `Reading` applies, in words; empty if it applies to all."""
    from clueval.reading.source import formats_that_read  # only for help

    names = formats_that_read(name)
    return "" if len(names) == len(NAMES) else f"format{'s' * (len(names) != 1)} {', '.join(names)}"


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


def _add_sets(group: argparse._ArgumentGroup) -> None:
    """Add the options for the annotation sets of the two sides."""
    group.add_argument(
        "--gold-set", metavar="SET", help="the annotation set that is gold, in formats that have several"
    )
    group.add_argument(
        "--predicted-set",
        metavar="SET",
        help="the annotation set that is predicted; without PREDICTED, it is in the files of GOLD",
    )


def reading(options: argparse.Namespace) -> dict[str, Any]:
    """Return the fields of `Reading` for which options were given; if the sides differ, a `Reading` for each."""
    _split_meta(options)
    given = given_fields(Reading, options)
    if any(isinstance(value, SideValues) for value in given.values()):
        return {"reading": pair_of(Reading, options)}
    return given


def _split_meta(options: argparse.Namespace) -> None:
    """Replace the values of ``--meta`` by those of each side if one is ``NAME=GOLD:PREDICTED``."""
    given = getattr(options, "Reading.meta", None)
    if isinstance(given, list) and any(":" in value.partition("=")[2] for value in given):
        sides = []
        for side in (0, 1):
            parts = (value.partition("=") for value in given)
            sides.append([f"{name}={(columns.split(':') * 2)[side]}" for name, _, columns in parts])
        setattr(options, "Reading.meta", SideValues(*sides))


def layers(options: argparse.Namespace) -> LayerColumns | None:
    """Return the layers that ``--layer`` names. Raises `UsageError` for an invalid value."""
    if not options.layer:
        return None
    found: dict[str, LayerSource | tuple[LayerSource, LayerSource | None]] = {}
    for value in (part for given in options.layer for part in given.split(",")):
        name, columns = _layer(value)
        if name in found or name == MERGED:
            raise UsageError(
                f"--layer names {name!r} twice"
                if name in found
                else f"{MERGED!r} cannot be the name of a layer",
                advice="give each layer a name of its own",
            )
        found[name] = columns
    return found


def _layer(value: str) -> tuple[str, LayerSource | tuple[LayerSource, LayerSource | None]]:
    """Return the name of a layer and its source, or its sources of both sides; None if only gold has it."""
    name, equals, given = value.partition("=")
    own, colon, other = given.partition(":")
    try:
        if not name or not equals or ":" in other:
            raise ValueError("a layer has a name and one or two sources")
        source = _source(own)
        return name, (source, _source(other) if other else None) if colon else source
    except ValueError:
        raise UsageError(
            f"--layer {value!r} cannot be read",
            advice="write it NAME=COLUMN, as in entity=2; columns count from 1, or from -1 at the end; or NAME=SOURCE, "
            "the name of a source of the format",
        ) from None


def _source(text: str) -> LayerSource:
    """Return the source of a layer: a column if it looks like a number, else the name of a source."""
    if not text.strip():
        raise ValueError("a source has a name or a number")
    return column(text) if re.fullmatch(r"\s*[-+]?[\d.]+\s*", text) else text


def single_layers(options: argparse.Namespace) -> Mapping[str, LayerSource] | None:
    """Return the layers, each with one source. Raises `UsageError` for a pair of sources."""
    found = layers(options)
    if found is None:
        return None
    single = {name: source for name, source in found.items() if not isinstance(source, tuple)}
    if len(single) != len(found):
        raise UsageError(
            "this command reads one side only", advice="give one source for each layer, as in entity=2"
        )
    return single
