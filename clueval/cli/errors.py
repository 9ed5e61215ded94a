"""``clueval errors``: the errors in their sentences."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clueval.cli import options as common
from clueval.cli.chosen import add_set, chosen_metrics
from clueval.cli.fields import add_fields, given_fields, typed
from clueval.cli.forms import put_result
from clueval.cli.outputs import refuse_to_overwrite, require_page, require_writable
from clueval.cli.parser import Command
from clueval.cli.printing import put, put_painted, remark, wrote
from clueval.cli.progress import progress
from clueval.evaluation.options import Counting
from clueval.evaluation.result import Result
from clueval.evaluation.run import score
from clueval.exceptions import UsageError
from clueval.findings import page, text, tsv, xlsx
from clueval.findings.choice import SIDES, Choice, expected
from clueval.findings.stream import errors
from clueval.findings.table import FINDING_KINDS, Finding
from clueval.metrics.confusion import Confusion
from clueval.metrics.metric import Metric
from clueval.options import whole
from clueval.reports.text import render_tables
from clueval.spans.filters import parse_where
from clueval.spans.match_classes import LEVELS

if TYPE_CHECKING:
    from clueval.metrics.fair import Fair
    from clueval.metrics.noisy import Explanation, Noisy

USAGE = "GOLD PREDICTED"
DESCRIPTION = """\
Show the errors in context: gold spans that were not found and predicted spans that are not correct, each in its
sentence with everything that overlaps it on the other side.

A span is an error at level N if its class is above N (1 exact, 2 superset, 3 tiling, 4 overlap; all else is
partial if something overlaps it, else missed or, of the predicted side, spurious). With --labelled, it is also an
error if the label that was found is not its own. clueval score counts exactly as many for the same choices."""
EPILOG = """\
in the context, brackets (text) and squares (TSV) say who marked what:
  [=...=] 🟩 both sides   [-...-] 🟥 only the span in question   {+...+} 🟧 only the other side

examples:
  clueval errors gold.vrt predicted.vrt --layer entity=2 --token-id 4
  clueval errors gold.vrt predicted.vrt --layer entity=2 --labelled entity --html errors.html
  clueval errors gold/ predicted/ --side gold --class missed --where domain=civil --xlsx missed.xlsx"""


def add_arguments(parser: Command) -> None:
    common.add_sides(parser)
    _add_choice(parser)
    _add_outputs(parser)
    common.add_reading(parser, sides=2)
    common.add_pairs(parser, "reading")


def _add_choice(parser: Command) -> None:
    group = parser.group("which errors")
    group.add_argument(
        "--metric",
        choices=("levels", "fair", "noisy"),
        metavar="METRIC",
        default="levels",
        help="whose errors: levels, CLUEval's; fair, FairEval's with their types LE, BES, BEL, BEO, LBE, FN, FP; "
        "noisy, where the texts differ: every gold span and its counterpart (default: levels)",
    )
    add_set(parser, "which errors")
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
        help="1 to 4: matches up to this level are correct (default: 2)",
    )
    group.add_argument(
        "--labelled",
        metavar="LAYER",
        help="a match is correct only if the label in this layer is correct, too",
    )
    group.add_argument(
        "--class",
        dest="kinds",
        action="append",
        metavar="CLASS,...",
        help=f"only errors of these classes: {', '.join(FINDING_KINDS)}; of metric fair, of these types",
    )
    add_fields(parser, Counting, "which errors", only=("merge", "where"))
    group.add_argument("--limit", type=_from_0, metavar="N", help="show the first N errors only")


def _add_outputs(parser: Command) -> None:
    group = parser.group("output (default: text on standard output)")
    group.add_argument(
        "--window",
        type=_from_0,
        metavar="N",
        help="show N positions on either side of an error instead of its sentence",
    )
    group.add_argument("--tsv", type=Path, metavar="FILE", help="write a table, one error per row")
    group.add_argument("--xlsx", type=Path, metavar="FILE", help="write a spreadsheet (extra: report)")
    group.add_argument("--html", type=Path, metavar="FILE", help="write a web page (extra: report)")
    group.add_argument(
        "--raw",
        action="store_true",
        help="leave the cells of --tsv as they are; otherwise an apostrophe stands before a cell that a "
        "spreadsheet would run as a formula (it begins with =, +, - or @)",
    )


_Sides = tuple[Any, Any]
"""What is gold and what is predicted: two paths, or two lists of files."""

_from_0 = typed(lambda text: whole(text, 0))


def run(options: argparse.Namespace) -> int:
    sides = common.sides_of(options)
    _check_outputs(options, sides)
    _refuse_options(options)
    (metric,) = chosen_metrics([options.metric], options.set)
    reading = {
        "layers": common.layers(options),
        "gold_set": options.gold_set,
        "predicted_set": options.predicted_set,
        **common.reading(options),
    }
    return _RUNS[options.metric](options, sides, metric, reading)


def _refuse_options(options: argparse.Namespace) -> None:
    """Raise `UsageError` for options that do not apply to the metric."""
    given = {**vars(options), **given_fields(Counting, options)}
    for name in _NOT_OF[options.metric]:
        if given.get(name):
            flag = "class" if name == "kinds" else name.replace("_", "-")
            raise UsageError(f"--{flag} does not apply to --metric {options.metric}", advice="leave one out")


_NOT_OF = {
    "levels": ("pairs",),
    "fair": ("html", "merge", "where", "level", "labelled"),
    "noisy": (
        *("side", "level", "labelled", "kinds", "merge", "where", "limit", "window", "xlsx", "raw"),
        *("gold_set", "predicted_set"),
    ),
}
"""The options that do not apply to the errors of a metric."""


def _run_levels(options: argparse.Namespace, sides: _Sides, _: Metric, reading: dict[str, Any]) -> int:
    """The errors of metric `levels`, in every form."""
    counting = given_fields(Counting, options)
    merge, where = counting.get("merge", False), counting.get("where", [])
    choice = Choice(
        options.level or 2,
        options.labelled,
        _wanted(options),
        frozenset(_kinds(options)),
        merge,
        parse_where(where),
        options.window,
    )
    paths = [options.gold, options.predicted]
    if reading["layers"] is not None:
        choice.require_layer(reading["layers"])
    with progress(paths) as advance:  # this pass also checks everything that there is to check
        result = score(
            *sides,
            metrics=["levels", Confusion()],
            merge=merge,
            where=where,
            progress=advance,
            **reading,
        )
    choice.require_layer(_labels_of(result))
    with progress(paths) as advance:
        found = errors(*sides, choice, progress=advance, **reading)
        shown = _put_out(islice(found, options.limit), result, choice, options)
    _remark(shown, result, choice)
    return 0


def _wanted(options: argparse.Namespace) -> tuple[str, ...]:
    """The sides whose errors are shown."""
    return SIDES if options.side in (None, "both") else (options.side,)


def _kinds(options: argparse.Namespace) -> set[str]:
    return {kind for given in options.kinds or () for kind in given.split(",")}


def _check_outputs(options: argparse.Namespace, sides: _Sides) -> None:
    """Raise `CluevalError` for what cannot be written, or not like this."""
    outputs = [options.tsv, options.xlsx, options.html]
    refuse_to_overwrite(common.inputs_of(options, sides), outputs)
    require_writable(outputs)
    if options.raw and options.tsv is None:
        raise UsageError("--raw says how --tsv is written", advice="add --tsv FILE")
    require_page(options.html)
    if options.xlsx is not None:
        xlsx.require_package()


def _labels_of(result: Result) -> list[str]:
    """The layers that can be labelled."""
    return [layer for report in result.metrics["levels"].values() for layer in report["labelled"]]


def _put_out(
    findings: Iterator[Finding], result: Result, choice: Choice | None, options: argparse.Namespace
) -> int:
    """Write the findings to wherever they are wanted, and return how many there are."""
    wanted = [name for name in ("tsv", "xlsx", "html") if getattr(options, name) is not None]
    # one file takes the findings as they come, several need them kept
    rows: Iterable[Finding] = findings if len(wanted) < 2 else list(findings)
    counts = [_write(name, rows, result, choice, options) for name in wanted]
    return counts[0] if counts else _print(findings)


def _write(
    name: str, rows: Iterable[Finding], result: Result, choice: Choice | None, options: argparse.Namespace
) -> int:
    """Write the findings to one file; a page needs the choice that they come from."""
    path: Path = getattr(options, name)
    if name == "tsv":
        count = tsv.write(path, rows, raw=options.raw)
    elif name == "xlsx":
        count = sum(xlsx.write(path, rows, result.to_dict()).values())
    else:
        assert choice is not None  # a page about other errors is refused
        title = " and ".join(each.name for each in (options.gold, options.predicted) if each is not None)
        count = page.write(path, rows, result.to_dict(), choice, title=f"Errors: {title}")
    wrote(path)
    return count


def _print(findings: Iterator[Finding]) -> int:
    count = 0

    def counted() -> Iterator[Finding]:
        nonlocal count
        for finding in findings:
            count += 1
            yield finding

    width = shutil.get_terminal_size((100, 24)).columns
    colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    for line in text.lines(counted(), width=width, colour=colour):
        put_painted(line)
    return count


def _remark(shown: int, result: Result, choice: Choice) -> None:
    counts = [expected(report, choice) for report in result.metrics["levels"].values()]
    total: dict[str, int] = {side: sum(count[side] for count in counts) for side in SIDES}
    remark(f"{shown:,} error{'s' * (shown != 1)} shown; the scores count {_both(total)}")


def _both(total: dict[str, int]) -> str:
    names: Sequence[tuple[str, str]] = (("gold", "gold spans"), ("predicted", "predicted spans"))
    return " and ".join(f"{total[side]:,} {name}" for side, name in names)


def _run_fair(options: argparse.Namespace, sides: _Sides, metric: Fair, reading: dict[str, Any]) -> int:
    """The errors of metric `fair`, to the terminal, a table or a spreadsheet."""
    from clueval.findings.fair import FAIR_KINDS, find_fair_errors

    kinds, wanted = _kinds(options), _wanted(options)
    for kind in sorted(kinds - set(FAIR_KINDS)):
        raise UsageError(f"there is no error type {kind!r}", advice=f"one of {', '.join(FAIR_KINDS)}")
    with progress([options.gold, options.predicted]) as advance:
        result = score(*sides, metrics=[metric], progress=advance, **reading)
    found = (
        finding
        for finding in find_fair_errors(*sides, metric, window=options.window, **reading)
        if finding.side in wanted and (not kinds or finding.kind in kinds)
    )
    shown = _put_out(islice(found, options.limit), result, None, options)
    remark(f"{shown:,} error{'s' * (shown != 1)} shown")
    return 0


def _run_noisy(options: argparse.Namespace, sides: _Sides, metric: Noisy, reading: dict[str, Any]) -> int:
    """Every gold span with its counterpart in a text that differs: as text, a table or a web page."""
    from clueval.findings.noisy import explain_files
    from clueval.findings.noisy_rows import explanation_rows, explanation_table

    result = score(*sides, metrics=[metric], **reading)
    reading = {name: value for name, value in reading.items() if name not in ("gold_set", "predicted_set")}

    def explained() -> Iterator[tuple[str, Explanation]]:
        return explain_files(*sides, metric, **reading)

    if options.html is not None:
        from clueval.findings.noisy_page import write_page

        write_page(options.html, result.to_dict(), explained())
        wrote(options.html)
    if options.tsv is not None:
        put_result(explanation_rows(explained()), options.tsv)
    if options.html is None and options.tsv is None:
        put(render_tables([explanation_table("noisy: every gold span and its counterpart", explained())]))
    return 0


_RUNS: dict[str, Callable[[argparse.Namespace, _Sides, Any, dict[str, Any]], int]] = {
    "levels": _run_levels,
    "fair": _run_fair,
    "noisy": _run_noisy,
}
"""What shows the errors of each metric."""
