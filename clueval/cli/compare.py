"""``clueval compare``: is one system better than another?"""

from __future__ import annotations

import argparse
from collections.abc import Collection, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any

from clueval.cli import options as common
from clueval.cli.fields import add_fields, given_fields, typed
from clueval.cli.outputs import add_report, put_report
from clueval.cli.parser import Command, CommandParser
from clueval.cli.progress import add_jobs, workers
from clueval.files.errors import UsageError
from clueval.files.options import number
from clueval.files.overwriting import input_path
from clueval.formats.options import Reading
from clueval.results.options import Counting, Trust
from clueval.studies.compare import compare, is_result

USAGE = "[GOLD] [NAME=]A [NAME=]B ..."
DESCRIPTION = """\
Compare systems on the same gold: with intervals, the difference to the first system, a paired test of each
difference, and the difference that this test set can show.

A, B, ... are files or folders of predicted spans if GOLD comes first, without a name; or files that clueval score
--save has written, without GOLD. Several runs of one system are separated by commas, or named by a pattern:
base=a1.clueval,a2.clueval or base='a*.clueval'."""
EPILOG = """\
examples:
  clueval compare gold.conll base=a.conll large=b.conll --metric exact
  clueval score gold.conll a.conll --metric exact --save a.clueval
  clueval score gold.conll b.conll --metric exact --save b.clueval
  clueval compare a.clueval b.clueval
  clueval compare base='a*.clueval' large=b1.clueval,b2.clueval --score f1 --format latex"""


def add_arguments(parser: CommandParser) -> None:
    parser.add_argument(
        "systems",
        nargs="+",
        type=_system,
        metavar="[NAME=]SYSTEM",
        help="a system: a saved result, or predicted spans if the first path is gold; several runs are separated by "
        "commas, or a pattern",
    )
    group = parser.group("tests")
    group.add_argument(
        "--baseline",
        metavar="NAME",
        help="the system with which the others are compared (default: the first)",
    )
    group.add_argument(
        "--score",
        action="append",
        metavar="PATH",
        help="a rate by its place below metrics in the JSON, as exact.entity.micro.f1; can be repeated (default: "
        "precision, recall and F1 of every headline)",
    )
    group.add_argument(
        "--detect",
        type=typed(number),
        metavar="X",
        help="print how many such units it takes to show a difference of X, a fraction such as 0.01",
    )
    group.add_argument(
        "--force", action="store_true", help="compare although signatures or gold files differ"
    )
    group.add_argument(
        "--all-pairs",
        action="store_true",
        help="test the differences of F1 of all pairs of systems, too",
    )
    add_fields(parser, Trust, "tests", only=("confidence", "resamples", "seed"))
    common.add_metrics(parser, "counting")
    add_fields(parser, Counting, "counting", only=("merge", "where", "unit", "pair_by"))
    add_fields(parser, Trust, "counting", only=("resample_by",))
    common.add_preparing(parser)
    common.add_reading(parser, sides=2)
    add_jobs(parser)
    add_report(parser)


def run(options: argparse.Namespace) -> int:
    gold, systems = _given(options.systems)
    trust = given_fields(Trust, options)
    scoring = _scoring(options)
    with workers(options, [gold, *chain.from_iterable(systems.values())]) as work:
        comparison = compare(
            systems,
            gold=gold,
            baseline=options.baseline,
            scores=options.score,
            detect=options.detect,
            force=options.force,
            all_pairs=options.all_pairs,
            **trust,
            **(scoring if gold is None else {**scoring, **work}),
        )
    return put_report(comparison, options)


def _given(texts: Sequence[str]) -> tuple[Path | None, dict[str, list[Path]]]:
    """Return gold, if it comes first, and the runs of each system. Raises `UsageError` for a name twice."""
    given = list(map(common.named_path, texts))
    gold = None
    if given[0][0] is None and not any(map(is_result, _runs(given[0][1]))):
        gold = Path(given.pop(0)[1])
    short = names_of([text for name, text in given if name is None])
    runs = [(name, list(map(Path, _runs(text)))) for name, text in given]
    return gold, common.by_name(runs, short, "systems")


def _system(text: str) -> str:
    """Note the files that an argument names, which are inputs."""
    with suppress(UsageError):  # `_given` raises it
        for run in _runs(common.named_path(text)[1]):
            input_path(run)
    return text


def _runs(text: str) -> list[str]:
    return [text] if Path(text).exists() else [run for run in text.split(",") if run]


def _scoring(options: argparse.Namespace) -> dict[str, Any]:
    """Return the options for scoring against gold that were given."""
    found: dict[str, Any] = {**given_fields(Counting, options), **common.reading(options)}
    if "names" in found:  # of tags, not of systems
        found["reading"] = Reading(names=found.pop("names"))
    if options.metric is not None:
        found["metrics"] = common.chosen_metrics(options)
    found |= common.preparing_of(options)
    others = {
        "layers": common.layers(options),
        "gold_set": options.gold_set,
        "predicted_set": options.predicted_set,
    }
    return found | {name: value for name, value in others.items() if value is not None}


def drop_scoring(options: argparse.Namespace, flags: Collection[str]) -> None:
    """Unset those of these options that are for scoring, unless gold is given."""
    if _given(options.systems)[0] is not None:
        return
    parser = CommandParser(prog="compare")
    add_arguments(parser)
    for action in map(parser.option_actions().__getitem__, flags):
        if action.dest not in _OF_COMPARING:
            setattr(options, action.dest, action.default)


_OF_COMPARING = (
    *("baseline", "score", "detect", "force", "all_pairs", "all", "format", "written", "lang", "quiet"),
    *("Trust.confidence", "Trust.resamples", "Trust.seed"),
)
"""The options that do not need gold."""


def names_of(systems: Sequence[str]) -> list[str]:
    """The names of systems: of their files without folder and ending, if these differ."""
    short = [",".join(_stem(run) for run in name.split(",") if run) for name in systems]
    if len({*short}) == len(short):
        return short
    return (
        list(systems)
        if len({*systems}) == len(systems)
        else [f"{n}: {name}" for n, name in enumerate(systems, 1)]
    )


def _stem(run: str) -> str:
    name = Path(run.removesuffix(".gz"))
    return name.name if name.suffix == ".*" else name.stem


COMPARE_COMMAND = Command(USAGE, DESCRIPTION, EPILOG, add_arguments, run)
