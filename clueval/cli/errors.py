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
from clueval.cli.outputs import refuse_to_overwrite
from clueval.cli.progress import progress
from clueval.evaluation import evaluate
from clueval.exceptions import UsageError
from clueval.filters import parse_where
from clueval.findings import FINDING_KINDS, Finding
from clueval.matching import LEVELS
from clueval.metrics.confusion import Confusion
from clueval.problem_files import find_errors
from clueval.problems import SIDES, Choice, expected
from clueval.reports import findings_html, findings_text, findings_tsv, findings_xlsx
from clueval.results import Result

DESCRIPTION = """\
Show the spans that were got wrong, each in its sentence with everything that overlaps it on the other side: gold
spans that were not found, and predicted spans that gold does not support.

A span is a problem at level N if its class is above N (1 exact, 2 superset, 3 tiling, 4 overlap; all else is
missed, or partial if something overlaps it). With --labelled, it is one too if the label that was found is
not its own. There are exactly as many as clueval score counts for the same choices."""
EPILOG = """\
in the context, brackets (text) and squares (TSV) say who marked what:
  [=...=]  🟩 both sides    [-...-]  🟥 only the span in question    {+...+}  🟧 only the other side

examples:
  clueval errors gold.vrt predicted.vrt --layer entity=2 --token-id 4
  clueval errors gold.vrt predicted.vrt --layer entity=2 --labelled entity --level 1 --html errors.html
  clueval errors gold/ predicted/ --side gold --class missed --where domain=civil --xlsx missed.xlsx"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("gold", type=Path, metavar="GOLD", help="file or folder")
    parser.add_argument("predicted", type=Path, metavar="PREDICTED", nargs="?", help="file or folder")
    _add_choice(parser.add_argument_group("which errors"))
    _add_outputs(parser.add_argument_group("output (default: text on standard output)"))
    sets = parser.add_argument_group("annotation sets (gate-xml, bdoc)")
    sets.add_argument("--gold-set", metavar="SET", help="that of gold")
    sets.add_argument(
        "--predicted-set", metavar="SET", help="that of predicted; without PREDICTED, in the same files"
    )
    common.add_reading(parser, pairs=True)


def _add_choice(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--metric",
        choices=("levels", "fair"),
        default="levels",
        help="whose errors: CLUEval's, or FairEval's with their types LE, BES, BEL, BEO, LBE, FN, FP (default: levels)",
    )
    group.add_argument("--side", choices=(*SIDES, "both"), default="both", help="(default: both)")
    group.add_argument("--level", type=int, choices=LEVELS, help="matches up to here are good (default: 2)")
    group.add_argument("--labelled", metavar="LAYER", help="the labels of this layer must be right, too")
    group.add_argument(
        "--class",
        dest="kinds",
        action="append",
        default=[],
        metavar="CLASS,...",
        help=f"only these: {', '.join(FINDING_KINDS)}",
    )
    group.add_argument(
        "--merge", action="store_true", help="merge all layers into one sequence of spans and look at that"
    )
    group.add_argument(
        "--where", action="append", default=[], metavar="KEY=VALUE", help="a filter, as in clueval score"
    )
    group.add_argument("--limit", type=int, metavar="N", help="the first N errors only")


def _add_outputs(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--window", type=int, metavar="N", help="N positions on either side instead of the sentence"
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
    outputs = [options.tsv, options.xlsx, options.html]
    refuse_to_overwrite([options.gold, options.predicted], outputs)
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
    if options.limit is not None and options.limit < 0:
        raise UsageError(f"--limit {options.limit}", advice="a number from 0 on")
    if options.raw and options.tsv is None:
        raise UsageError("--raw says how --tsv is written", advice="add --tsv FILE")
    paths = [options.gold, options.predicted]
    sets = {"gold_set": options.gold_set, "predicted_set": options.predicted_set}
    reading = {"layers": common.layers(options), **sets, **common.reading(options)}
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


def _labels_of(result: Result) -> list[str]:
    """The layers that can be labelled."""
    return [layer for report in result.metrics["levels"].values() for layer in report["labelled"]]


def _put_out(findings: Iterator[Finding], result: Result, choice: Choice, options: argparse.Namespace) -> int:
    """Write the findings to wherever they are wanted, and return how many there are."""
    wanted = [name for name in ("tsv", "xlsx", "html") if getattr(options, name) is not None]
    # one file takes the findings as they come, several need them kept
    rows: Iterable[Finding] = findings if len(wanted) < 2 else list(findings)
    counts = [_write(name, rows, result, choice, options) for name in wanted]
    return counts[0] if counts else _print(findings)


def _write(
    name: str, rows: Iterable[Finding], result: Result, choice: Choice, options: argparse.Namespace
) -> int:
    path: Path = getattr(options, name)
    if name == "tsv":
        count = findings_tsv.write(path, rows, raw=options.raw)
    elif name == "xlsx":
        count = sum(findings_xlsx.write(path, rows, result.to_dict()).values())
    else:
        title = " and ".join(each.name for each in (options.gold, options.predicted) if each is not None)
        count = findings_html.write(path, rows, result.to_dict(), choice, title=f"Errors: {title}")
    print(f"wrote {path}", file=sys.stderr)
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
    for line in findings_text.lines(counted(), width=width, colour=colour):
        print(line)
    return count


def _remark(shown: int, result: Result, choice: Choice) -> None:
    counts = [expected(report, choice) for report in result.metrics["levels"].values()]
    total: dict[str, int] = {side: sum(count[side] for count in counts) for side in SIDES}
    print(f"{shown:,} error{'s' * (shown != 1)} shown; the scores count {_both(total)}", file=sys.stderr)


def _both(total: dict[str, int]) -> str:
    names: Sequence[tuple[str, str]] = (("gold", "gold spans"), ("predicted", "predicted spans"))
    return " and ".join(f"{total[side]:,} {name}" for side, name in names)


def _run_fair(options: argparse.Namespace) -> int:
    """The errors of metric `fair`, to the terminal, a table or a spreadsheet."""
    from clueval.fair_findings import FAIR_KINDS, find_fair_errors
    from clueval.metrics.fair import Fair

    kinds = {kind for given in options.kinds for kind in given.split(",")}
    for kind in sorted(kinds - set(FAIR_KINDS)):
        raise UsageError(f"there is no error type {kind!r}", advice=f"one of {', '.join(FAIR_KINDS)}")
    if options.html is not None or options.merge or options.where or options.labelled or options.level:
        raise UsageError(
            "--html, --merge, --where, --level and --labelled go with --metric levels",
            advice="--tsv and --xlsx go with fair",
        )
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
    rows = islice(found, options.limit)
    if options.tsv is not None:
        shown = findings_tsv.write(options.tsv, rows, raw=options.raw)
        print(f"wrote {options.tsv}", file=sys.stderr)
    elif options.xlsx is not None:
        shown = sum(findings_xlsx.write(options.xlsx, rows, result.to_dict()).values())
        print(f"wrote {options.xlsx}", file=sys.stderr)
    else:
        shown = _print(rows)
    print(f"{shown:,} error{'s' * (shown != 1)} shown", file=sys.stderr)
    return 0
