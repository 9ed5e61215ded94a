"""``clueval errors``: the errors in their sentences, of one system or of two."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from clueval.cli import options as common
from clueval.cli.fields import add_fields, given_fields, typed
from clueval.cli.outputs import add_report, prints_text, put_report
from clueval.cli.parser import Command, CommandParser
from clueval.cli.printing import remark
from clueval.cli.progress import progress
from clueval.core.matching import LEVELS
from clueval.core.span import SIDES
from clueval.files.errors import UsageError
from clueval.files.options import whole
from clueval.files.overwriting import input_path
from clueval.files.writing import named_together
from clueval.reading.paths import spooled
from clueval.results.options import Counting
from clueval.results.result import Result
from clueval.results.summary import layers_not_predicted
from clueval.studies.compared import errors
from clueval.studies.errors import Errors
from clueval.studies.noisy import NoisyErrors
from clueval.studies.systems import TwoSystems
from clueval.studies.wrong import CLASSES, REASONS

USAGE = "GOLD PREDICTED [SECOND]"
DESCRIPTION = """\
Show the errors in context: gold spans that were not found and predicted spans that are not correct, each in its
sentence with everything that overlaps it on the other side. Errors that overlap are one place. With SECOND, a second
system, errors are those of both systems or of only one.

By default, these are the errors that clueval score --metric exact counts: spans whose start, end or label is wrong.
Each has a reason, the first that fits: label (a span of the other side has the same range and another label), boundary
(it overlaps a span with its label), boundary+label (it overlaps only spans with other labels), missed (gold) or
spurious (predicted): it overlaps nothing.

--level, --unlabelled and --labelled choose the errors of clueval score --metric levels instead. A match has a class: 1
exact, 2 superset, 3 tiling, 4 overlap. A span without a match has the class partial if a span of the other side
overlaps it, otherwise missed or spurious. At level N, the classes 1 to N are correct; with --labelled, only if the
label is, too."""
EPILOG = """\
in the context, [ ] stand around gold spans and { } around predicted ones; in tables, squares show which side has
marked each piece: 🟩 both sides   🟥 only the span in question   🟧 only the other side

examples:
  clueval errors gold.vrt predicted.vrt --layer entity=2 --token-id 4
  clueval errors gold.vrt predicted.vrt --layer entity=2 -o errors.html
  clueval errors gold.vrt one.vrt two.vrt --layer entity=2 -o errors.html
  clueval errors gold/ predicted/ --side gold --reason missed --where domain=civil -o missed.xlsx -o missed.tsv"""


def add_choice(parser: CommandParser) -> None:
    """The options that select errors; see `chosen_errors`."""
    group = parser.group("errors")
    group.add_argument(
        "--side",
        choices=(*SIDES, "both"),
        metavar="SIDE",
        help="gold: spans that were not found; predicted: spans that are not correct; both (default: both)",
    )
    group.add_argument(
        "--level",
        type=typed(whole),
        choices=LEVELS,
        metavar="N",
        help="CLUEval's levels, 1 to 4: matches up to this level are correct (default: none, a span is correct if "
        "start, end and label are; with --labelled or --unlabelled: 2)",
    )
    group.add_argument(
        "--unlabelled", action="store_true", help="CLUEval's levels without labels: --level 2, if no other"
    )
    group.add_argument(
        "--labelled",
        metavar="LAYER",
        help="CLUEval's levels: a match is correct only if the label in this layer is correct, too",
    )
    add_fields(parser, Counting, "errors", only=("merge", "where"))


def chosen_errors(options: argparse.Namespace) -> dict[str, Any]:
    """Return the options that select errors, as `clueval.errors` takes them."""
    found = {
        "level": options.level,
        "labelled": options.labelled,
        "unlabelled": options.unlabelled or None,
        "sides": None if options.side in (None, "both") else (options.side,),
        **{name: _named(options, name) for name in ("kinds", "reasons")},
    }
    counting = given_fields(Counting, options)
    found |= {name: counting[name] for name in ("merge", "where") if name in counting}
    return {name: value for name, value in found.items() if value is not None}


def _named(options: argparse.Namespace, option: str) -> list[str] | None:
    """Return the names that an option lists, which can be repeated."""
    given = getattr(options, option, None)
    return None if given is None else [name for names in given for name in names.split(",")]


def add_arguments(parser: CommandParser) -> None:
    common.add_sides(parser)
    parser.add_argument("second", type=input_path, metavar="SECOND", nargs="?", help="a second system")
    group = parser.group("errors")
    group.add_argument(
        "--metric",
        metavar="METRIC",
        help="whose errors: exact, levels (CLUEval), fair (FairEval, with the types LE, BES, BEL, BEO, LBE, FN, FP) or "
        "noisy (texts that differ: every gold span with its predicted span), with its settings, as in "
        "noisy(threshold=0.2) (default: exact)",
    )
    add_choice(parser)
    group.add_argument(
        "--class",
        dest="kinds",
        action="append",
        metavar="CLASS,...",
        help=f"only errors of these classes of CLUEval: {', '.join(CLASSES)}; with --metric fair, its types",
    )
    group.add_argument(
        "--reason",
        dest="reasons",
        action="append",
        metavar="REASON,...",
        help=f"only errors with these reasons: {', '.join(REASONS)}",
    )
    group.add_argument("--limit", type=_from_0, metavar="N", help="list the first N places only")
    common.add_decisions(parser.group("decisions"))
    parser.group("output").add_argument(
        "--window",
        type=_from_0,
        metavar="N",
        help="show N positions on either side of an error instead of its sentence",
    )
    add_report(parser, has_texts=True)
    common.add_reading(parser, sides=2)
    common.add_pairs(parser, "reading")
    add_fields(parser, Counting, "reading", only=("pair_by",))
    common.add_preparing(parser)


_from_0 = typed(lambda text: whole(text, 0))


def run(options: argparse.Namespace) -> int:
    common.check_pairing(options)
    if options.pairs is not None and options.second is not None:
        raise UsageError("--pairs does not apply to two systems", advice="leave it out")
    sides = [*common.sides_of(options), options.second]
    with progress([options.gold, options.predicted, options.second]) as advance, spooled(*sides) as given:
        report = errors(*given, progress=advance, **_arguments(options))
        with named_together():  # a folder that is read may be that of the outputs
            code = put_report(report, options)
            verdict = report.verdict()
        if not prints_text(options):
            remark(verdict)
        _say_what_was_read(options, report)
    return code


def _arguments(options: argparse.Namespace) -> Mapping[str, Any]:
    metric = None
    if options.metric is not None:
        metric, *others = common.chosen_metrics(options)
        if others:
            raise UsageError(f"--metric {options.metric}: errors are those of one metric", advice="name one")
    given: dict[str, Any] = {"window": options.window, "limit": options.limit}
    given |= {**common.decisions_of(options), "metric": metric}
    return {
        **{name: value for name, value in given.items() if value is not None},
        **chosen_errors(options),
        **{name: getattr(options, name) for name in ("gold_set", "predicted_set")},
        **given_fields(Counting, options),
        "layers": common.layers(options),
        **common.preparing_of(options),
        **common.reading(options),
    }


def _say_what_was_read(options: argparse.Namespace, report: Errors | TwoSystems | NoisyErrors) -> None:
    """Print what is not among the errors, and what was read, to stderr."""
    result = report.results[0] if isinstance(report, TwoSystems) else report.result
    assert result is not None
    if isinstance(report, Errors) and report.decisions is not None and not prints_text(options):
        remark(report.decisions.words())
    for line in _not_listed(report, result):
        remark(f"not listed: {line}")
    for layer in layers_not_predicted(result.inputs):
        remark(
            f"layer {layer}: predicted has no spans, so every gold span is missed; {common.SEVERAL_LAYERS}"
        )
    common.say_what_was_read(options, result)


def _not_listed(report: Errors | TwoSystems | NoisyErrors, result: Result) -> list[str]:
    found = []
    if isinstance(report, Errors):
        for layer, number in report.only_wrong_labels().items():
            what = f"{number:,} span{'s have' if number > 1 else ' has'} only a wrong label in layer {layer}"
            found.append(f"{what} (--labelled {layer} lists them, too)")
    if number := len(result.unprojected or ()):
        spans = f"{number:,} predicted span{'s' * (number != 1)}"
        found.append(f"{spans} without a place in the text of gold; clueval score lists them")
    return found


ERRORS_COMMAND = Command(USAGE, DESCRIPTION, EPILOG, add_arguments, run)
