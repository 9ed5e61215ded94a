"""``clueval errors``: the errors in their sentences."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from clueval.cli import options as common
from clueval.cli.chosen import add_choice, choice_of, chosen_metrics, chosen_sides, named
from clueval.cli.decided import DecidedErrors, add_decisions
from clueval.cli.error_outputs import (
    CountedErrors,
    KeptErrors,
    many,
    prints,
    put_errors,
    remark_numbers,
    remark_one_sided,
    remark_wrong_labels,
)
from clueval.cli.fields import add_fields, given_fields, typed
from clueval.cli.outputs import add_output, add_page, put_result
from clueval.cli.parser import Command, CommandParser
from clueval.cli.printing import put, remark, wrote
from clueval.cli.progress import progress
from clueval.evaluation.observer import Observer
from clueval.evaluation.plan import counting_documents
from clueval.evaluation.result import Result
from clueval.evaluation.run import score
from clueval.files.errors import UsageError
from clueval.files.overwriting import input_path, output_name, output_path
from clueval.findings.choice import Choice, ReasonKey, expected, metrics_of, reports_of
from clueval.findings.kept import KeptRows
from clueval.findings.page_profile import PageProfile
from clueval.findings.stream import DocumentsObserver, FindingsObserver
from clueval.findings.table import FINDING_KINDS, REASONS, Finding
from clueval.first.metrics.exact import Exact
from clueval.first.metrics.metric import Metric
from clueval.options import whole
from clueval.reports.language import speaking
from clueval.reports.report import FORMS
from clueval.reports.text import render as as_text
from clueval.second.results.options import Counting
from clueval.spans.document import Document
from clueval.studies.profile_counts import ProfileCounts

if TYPE_CHECKING:
    from clueval.first.metrics.fair import Fair
    from clueval.first.metrics.noisy import Explanation, Noisy

USAGE = "GOLD PREDICTED [SECOND]"
DESCRIPTION = """\
Show the errors in context: gold spans that were not found and predicted spans that are not correct, each in its
sentence with everything that overlaps it on the other side.

By default, these are the errors that clueval score --metric exact counts: spans whose start, end or label is wrong.
Each has a reason, the first that fits: label (a span of the other side has the same range and another label), boundary
(it overlaps a span with its label), boundary+label (it overlaps only spans with other labels), missed (gold) or
spurious (predicted): it overlaps nothing.

--level, --unlabelled and --labelled choose the errors of clueval score --metric levels instead. A match has a class: 1
exact, 2 superset, 3 tiling, 4 overlap. A span without a match has the class partial if a span of the other side
overlaps it, otherwise missed or spurious. At level N, the classes 1 to N are correct; with --labelled, only if the
label is, too."""
EPILOG = """\
in the context, brackets (text) and squares (TSV) show which side has marked each piece:
  [=...=] 🟩 both sides   [-...-] 🟥 only the span in question   {+...+} 🟧 only the other side

examples:
  clueval errors gold.vrt predicted.vrt --layer entity=2 --token-id 4
  clueval errors gold.vrt predicted.vrt --layer entity=2 --html errors.html
  clueval errors gold.vrt one.vrt two.vrt --layer entity=2 --html errors.html
  clueval errors gold/ predicted/ --side gold --reason missed --where domain=civil --xlsx missed.xlsx"""


def add_arguments(parser: CommandParser) -> None:
    common.add_sides(parser)
    parser.add_argument(
        "second",
        type=input_path,
        metavar="SECOND",
        nargs="?",
        help="a second system, whose errors --html shows with those of the first",
    )
    _add_metric(parser)
    add_choice(parser)
    _add_class(parser)
    add_decisions(parser.group("decisions"))
    parser.group("decisions").add_argument(
        "--corrected",
        type=output_name,
        metavar="OUT",
        help="write gold with the decisions applied, in its own format if that can be written, else conll for a "
        "file.conll or a table of spans",
    )
    parser.group("which errors").add_argument(
        "--limit", type=_from_0, metavar="N", help="show the first N errors only"
    )
    _add_outputs(parser)
    common.add_reading(parser, sides=2)
    common.add_pairs(parser, "reading")
    add_fields(parser, Counting, "reading", only=("pair_by",))
    common.add_preparing(parser)


def _add_metric(parser: CommandParser) -> None:
    group = parser.group("which errors")
    group.add_argument(
        "--metric",
        metavar="METRIC",
        help="whose errors: exact, levels (CLUEval), fair (FairEval, with the types LE, BES, BEL, BEO, LBE, FN, FP) or "
        "noisy (texts that differ: every gold span with its predicted span), with its settings, as in "
        "noisy(threshold=0.2) (default: exact)",
    )


def _add_class(parser: CommandParser) -> None:
    parser.group("which errors").add_argument(
        "--class",
        dest="kinds",
        action="append",
        metavar="CLASS,...",
        help=f"only errors of these classes of CLUEval: {', '.join(FINDING_KINDS)}; with --metric fair, its types",
    )
    parser.group("which errors").add_argument(
        "--reason",
        dest="reasons",
        action="append",
        metavar="REASON,...",
        help=f"only errors with these reasons: {', '.join(REASONS)}",
    )


def _add_outputs(parser: CommandParser) -> None:
    title = "output (default: text on standard output)"
    group = parser.group(title)
    group.add_argument(
        "--window",
        type=_from_0,
        metavar="N",
        help="show N positions on either side of an error instead of its sentence",
    )
    add_output(parser, FORMS, title, rates=False)
    group.add_argument("--tsv", type=output_path, metavar="FILE", help="write a table, one error per row")
    group.add_argument("--xlsx", type=output_path, metavar="FILE", help="write a spreadsheet (extra: report)")
    add_page(group, "write a web page")
    group.add_argument(
        "--profile",
        metavar="FEATURE,...",
        help="with --html: bars by these features (clueval profile), or by all of them: --profile all",
    )
    group.add_argument(
        "--raw",
        action="store_true",
        help="leave the cells of --tsv as they are; otherwise an apostrophe stands before a cell that a "
        "spreadsheet would run as a formula (it begins with =, +, - or @)",
    )


_from_0 = typed(lambda text: whole(text, 0))


def run(options: argparse.Namespace) -> int:
    if options.second is not None:
        from clueval.cli import errors_of_two

        return errors_of_two.run(options, choice_of(options))
    common.check_pairing(options)
    sides = common.sides_of(options)
    if options.raw and options.tsv is None:
        raise UsageError("--raw needs --tsv", advice="add --tsv FILE")
    _refuse_options(options)
    chosen = chosen_metrics(options, "exact")
    name = chosen[0].name
    if len(chosen) > 1 or name not in FINDERS:
        raise UsageError(
            f"--metric {options.metric}: errors are those of one metric",
            advice=f"one of {', '.join(FINDERS)}",
        )
    options.metric = None if options.metric is None else name
    metric = counting_documents(*chosen)
    if isinstance(metric, Exact) and metric != Exact():
        raise UsageError("the errors of exact are those without settings", advice="leave them out")
    finder = FINDERS[name](options, metric)
    bars = _bars(options)
    with finder.rows as rows:
        with progress([options.gold, options.predicted]) as advance:
            result = score(
                *sides,
                metrics=finder.metrics,
                layers=common.layers(options),
                observers=[finder.observer(rows.take), *finder.others, *([] if bars is None else [bars])],
                progress=advance,
                gold_set=options.gold_set,
                predicted_set=options.predicted_set,
                counting=Counting(**given_fields(Counting, options)),
                preparing=common.preparing_of(options),
                **common.reading(options),
            )
        finder.show(rows, result, *([] if bars is None else [bars.for_page()]))
        if result.unprojected:
            number = many(len(result.unprojected), "predicted span")
            remark(f"not shown: {number} without a place in the text of gold; clueval score lists them")
        common.say_what_was_read(options, result)
    return 0


def _bars(options: argparse.Namespace) -> ProfileCounts | None:
    """The observer for the bars of the page, if they are asked for."""
    if options.profile is None:
        return None
    from clueval.studies.profile import page_counts

    if options.html is None:
        raise UsageError("--profile needs --html", advice="add --html FILE, or use clueval profile")
    counting = given_fields(Counting, options)
    names = None if options.profile == "all" else options.profile
    return page_counts(names, counting.get("merge", False), counting.get("where", ()))


def _refuse_options(options: argparse.Namespace) -> None:
    """Raise `UsageError` for options that do not apply to the metric."""
    given = {**vars(options), **given_fields(Counting, options)}
    for name in _NOT_OF.get(options.metric, ("pairs",)):
        if given.get(name):
            flag = {"kinds": "class", "reasons": "reason"}.get(name, name.replace("_", "-"))
            raise UsageError(f"--{flag} does not apply to --metric {options.metric}", advice="leave one out")


_DECISIONS = ("decisions", "conflicts", "corrected")
_OF_LEVELS = ("level", "labelled", "unlabelled")
_NOT_OF = {
    "exact": ("pairs", *_OF_LEVELS),
    "fair": ("html", "profile", *_DECISIONS, "merge", "where", "format", "output_file", *_OF_LEVELS),
    "noisy": (
        *(
            "side",
            "kinds",
            "reasons",
            *_DECISIONS,
            "merge",
            "where",
            "limit",
            "window",
            "xlsx",
            "raw",
            *_OF_LEVELS,
        ),
        *("gold_set", "predicted_set", "profile", "format", "output_file"),
    ),
}
"""The options that do not apply to the errors of a metric."""


class Finder(NamedTuple):
    """What `run` needs to know of a metric: how its errors are found and shown.

    `metrics` are counted, in one pass with the observer; `observer` finds the errors and gives them to the function
    that it is made with, that of `rows`; `show` writes these and the result, when the pass has ended. It also takes the
    profile for a page, if there is one. `others` are further observers.
    """

    metrics: Sequence[str | Metric]
    observer: Callable[[Callable[[Iterable[Any]], None]], Observer]
    rows: KeptRows[Any]
    show: Callable[..., None]
    others: Sequence[Observer] = ()


def _spans(options: argparse.Namespace, _: Metric) -> Finder:
    """The errors of metric `exact` or `levels`, in every form."""
    choice, counts = choice_of(options), Counter[ReasonKey]()
    decided = (
        None if options.decisions is None and options.corrected is None else DecidedErrors.of(options, choice)
    )

    def show(rows: CountedErrors, result: Result, profile: PageProfile | None = None) -> None:
        reports = reports_of(result.metrics, choice).values()
        choice.require_layer([layer for report in reports for layer in report.get("labelled", ())])
        tables = [] if decided is None else decided.tables(result)
        with speaking(options.lang):
            on_page = [] if decided is None or options.html is None else decided.tables(result)
        put_errors(options, KeptErrors(rows, choice), result, counts, profile, tables, on_page)
        counted = Counter[str]()
        for report in reports:
            counted.update(expected(report, choice))
        remark_numbers(rows, counted, choice)
        if choice.by_levels and choice.labelled is None and not (choice.kinds or choice.reasons):
            remark_wrong_labels(reports, choice)
        remark_one_sided(result, [key for key, _ in choice.where.conditions], prints(options))
        if decided is not None:
            decided.put(tables)

    observer = partial(FindingsObserver, choice, counts=None if options.html is None else counts)
    if decided is None:
        return Finder(metrics_of(choice), observer, CountedErrors(options.limit), show)
    rows = CountedErrors(options.limit, decided.decisions)
    return Finder(metrics_of(choice), observer, rows, show, (decided.corrections,))


def _fair(options: argparse.Namespace, metric: Fair) -> Finder:
    """The errors of metric `fair`, to the terminal, a table or a spreadsheet."""
    from clueval.findings.fair import FAIR_KINDS, ONE_SIDED, fair_findings

    kinds, chosen = named(options, "kinds"), chosen_sides(options)
    reasons = Choice(sides=chosen, reasons=frozenset(named(options, "reasons"))).reasons
    for kind in sorted(kinds - set(FAIR_KINDS)):
        raise UsageError(f"there is no error type {kind!r}", advice=f"one of {', '.join(FAIR_KINDS)}")
    for kind, side in ONE_SIDED.items():
        if kind in kinds and side not in chosen:
            raise UsageError(f"errors of the type {kind} have a {side} span", advice=f"also the {side} side")

    def find(gold: Document, predicted: Document) -> Iterator[Finding]:
        for finding in fair_findings(gold, predicted, metric, window=options.window):
            is_chosen = finding.side in chosen and (not kinds or finding.kind in kinds)
            if is_chosen and (not reasons or finding.reason in reasons):
                yield finding

    def show(rows: CountedErrors, result: Result) -> None:
        put_errors(options, KeptErrors(rows, Choice()), result, {})
        remark_numbers(rows)
        remark_one_sided(result, (), prints(options))

    return Finder([metric], partial(DocumentsObserver, find), CountedErrors(options.limit), show)


def _noisy(options: argparse.Namespace, metric: Noisy) -> Finder:
    """Every gold span with its counterpart in a text that differs: as text, a table or a web page."""
    from clueval.findings.noisy import explained, explanation_rows, explanation_table

    def show(rows: KeptRows[tuple[str, Explanation]], result: Result) -> None:
        if options.html is not None:
            from clueval.findings.noisy import write_page

            with speaking(options.lang, options.text_lang):
                write_page(options.html, result.to_dict(), rows)
            wrote(options.html)
        if options.tsv is not None:
            put_result(explanation_rows(rows), options.tsv)
        if options.html is None and options.tsv is None:
            put(as_text({}, [explanation_table("noisy: every gold span and its counterpart", rows)]))

    observer = partial(DocumentsObserver, partial(explained, metric=metric))
    return Finder([metric], observer, KeptRows(), show)


FINDERS: dict[str, Callable[[argparse.Namespace, Any], Finder]] = {
    "exact": _spans,
    "levels": _spans,
    "fair": _fair,
    "noisy": _noisy,
}
"""What finds and shows the errors of each metric."""


ERRORS_COMMAND = Command(USAGE, DESCRIPTION, EPILOG, add_arguments, run)
