"""``clueval errors``: the spans that were got wrong, in their sentences."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from clueval.cli import options as common
from clueval.cli.outputs import refuse_to_overwrite, require_page, require_writable
from clueval.cli.printing import put_painted, remark, wrote
from clueval.cli.progress import progress
from clueval.evaluation.result import Result
from clueval.evaluation.run import evaluate
from clueval.exceptions import UsageError
from clueval.findings import page, text, tsv, xlsx
from clueval.findings.choice import SIDES, Choice, expected
from clueval.findings.stream import find_errors
from clueval.findings.table import FINDING_KINDS, Finding
from clueval.metrics.confusion import Confusion
from clueval.spans.filters import parse_where
from clueval.spans.match_classes import LEVELS

USAGE = "GOLD PREDICTED"
DESCRIPTION = """\
Show the spans that were got wrong, each in its sentence with everything that overlaps it on the other side: gold
spans that were not found, and predicted spans that gold does not support.

A span is a problem at level N if its class is above N (1 exact, 2 superset, 3 tiling, 4 overlap; all else is
partial if something overlaps it, else missed or, of the predicted side, spurious). With --labelled, it is one too
if the label that was found is not its own. There are exactly as many as clueval score counts for the same choices."""
EPILOG = """\
in the context, brackets (text) and squares (TSV) say who marked what:
  [=...=]  🟩 both sides    [-...-]  🟥 only the span in question    {+...+}  🟧 only the other side

examples:
  clueval errors gold.vrt predicted.vrt --layer entity=2 --token-id 4
  clueval errors gold.vrt predicted.vrt --layer entity=2 --labelled entity --level 1 --html errors.html
  clueval errors gold/ predicted/ --side gold --class missed --where domain=civil --xlsx missed.xlsx"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    common.add_sides(parser)
    _add_choice(parser.add_argument_group("which errors"))
    _add_outputs(parser.add_argument_group("output (default: text on standard output)"))
    common.add_sets(parser.add_argument_group("annotation sets"))
    common.add_reading(parser, pairs=True)


def _add_choice(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--metric",
        choices=("levels", "fair"),
        metavar="METRIC",
        default="levels",
        help="whose errors: levels, CLUEval's, or fair, FairEval's with their types LE, BES, BEL, BEO, LBE, FN, FP "
        "(default: levels)",
    )
    group.add_argument(
        "--side",
        choices=(*SIDES, "both"),
        metavar="SIDE",
        default="both",
        help="gold: spans that were not found; predicted: spans without support in gold; both (default: both)",
    )
    group.add_argument(
        "--level",
        type=common.whole(1),
        choices=LEVELS,
        metavar="N",
        help="1 to 4: matches up to this level are good (default: 2)",
    )
    group.add_argument(
        "--labelled", metavar="LAYER", help="a match is good only if the label in this layer is right, too"
    )
    group.add_argument(
        "--class",
        dest="kinds",
        action="append",
        default=[],
        metavar="CLASS,...",
        help=f"only errors of these classes: {', '.join(FINDING_KINDS)}; of metric fair, of these types",
    )
    group.add_argument(
        "--merge", action="store_true", help="merge all layers into one sequence of spans and look at that"
    )
    group.add_argument(
        "--where",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="only spans with this label in layer KEY, or documents with this metadata, as in clueval score",
    )
    group.add_argument("--limit", type=common.whole(0), metavar="N", help="show the first N errors only")


def _add_outputs(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--window",
        type=common.whole(0),
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


def run(options: argparse.Namespace) -> int:
    _check_outputs(options)
    if options.metric == "fair":
        return _run_fair(options)
    options.level = options.level or 2
    choice = Choice(
        options.level,
        options.labelled,
        SIDES if options.side == "both" else (options.side,),
        frozenset(kind for given in options.kinds for kind in given.split(",")),
        options.merge,
        parse_where(options.where),
        options.window,
    )
    paths = [options.gold, options.predicted]
    sets = {"gold_set": options.gold_set, "predicted_set": options.predicted_set}
    reading = {"layers": common.layers(options), **sets, **common.reading(options)}
    if reading["layers"] is not None:
        choice.require_layer(reading["layers"])
    with progress(paths) as advance:  # this pass also checks everything that there is to check
        result = evaluate(
            options.gold,
            options.predicted,
            metrics=["levels", Confusion()],
            merge=options.merge,
            where=options.where,
            progress=advance,
            **reading,
        )
    choice.require_layer(_labels_of(result))
    with progress(paths) as advance:
        found = find_errors(options.gold, options.predicted, choice, progress=advance, **reading)
        shown = _put_out(islice(found, options.limit), result, choice, options)
    _remark(shown, result, choice)
    return 0


def _check_outputs(options: argparse.Namespace) -> None:
    """Raise `CluevalError` for what cannot be written, or not like this."""
    outputs = [options.tsv, options.xlsx, options.html]
    refuse_to_overwrite([options.gold, options.predicted, options.text], outputs)
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


def _run_fair(options: argparse.Namespace) -> int:
    """The errors of metric `fair`, to the terminal, a table or a spreadsheet."""
    from clueval.findings.fair import FAIR_KINDS, find_fair_errors
    from clueval.metrics.fair import Fair

    kinds = {kind for given in options.kinds for kind in given.split(",")}
    for kind in sorted(kinds - set(FAIR_KINDS)):
        raise UsageError(f"there is no error type {kind!r}", advice=f"one of {', '.join(FAIR_KINDS)}")
    for name in ("html", "merge", "where", "level", "labelled"):
        if getattr(options, name):
            raise UsageError(f"--{name} goes with --metric levels, not with fair", advice="leave one out")
    metric = Fair()
    sets = {"gold_set": options.gold_set, "predicted_set": options.predicted_set}
    reading = {"layers": common.layers(options), **sets, **common.reading(options)}
    sides = SIDES if options.side == "both" else (options.side,)
    with progress([options.gold, options.predicted]) as advance:
        result = evaluate(options.gold, options.predicted, metrics=[metric], progress=advance, **reading)
    found = (
        finding
        for finding in find_fair_errors(
            options.gold, options.predicted, metric, window=options.window, **reading
        )
        if finding.side in sides and (not kinds or finding.kind in kinds)
    )
    shown = _put_out(islice(found, options.limit), result, None, options)
    remark(f"{shown:,} error{'s' * (shown != 1)} shown")
    return 0
