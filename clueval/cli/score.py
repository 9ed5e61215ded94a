"""``clueval score``: gold against predicted."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clueval.cli import options as common
from clueval.cli import printing
from clueval.cli.forms import FORMS, rendered
from clueval.cli.jobs import add_jobs, places, remark
from clueval.cli.outputs import refuse_to_overwrite, require_page, require_writable
from clueval.cli.progress import progress
from clueval.cli.settings import add_settings, metrics
from clueval.evaluation.result import Result
from clueval.evaluation.run import evaluate
from clueval.exceptions import UsageError
from clueval.metrics import METRICS
from clueval.metrics.metric import Metric

if TYPE_CHECKING:
    from clueval.metrics.noisy import Noisy

USAGE = "GOLD PREDICTED"
DESCRIPTION = """\
Score predicted spans against gold.

GOLD and PREDICTED are two files (VRT, CoNLL-like columns, tables of spans; packed or not) or two folders whose
files are paired by name. With GOLD alone, the file has both sides: the last two columns, or those that --layer
names; with --gold-set and --predicted-set, the annotation sets of GATE's documents. Both sides must be the same
text; the first difference is an error."""
EPILOG = """\
filters: --where risk=high counts, for recall, the gold spans labelled high in layer risk and, for precision, the
predicted spans labelled so; what is left out still serves the other side as a partner. --where domain=civil
counts the documents with that metadata. One key given again is an alternative, several keys must all hold.

examples:
  clueval score gold.vrt predicted.vrt --layer entity=2 --layer risk=3 --token-id 4
  clueval score gold.conll predicted.conll --metric levels,exact --output markdown
  clueval score both.conll                                   (gold and predicted in the last two columns)
  clueval score gold/ predicted/ --layer entity=2 --by domain --where risk=high
  clueval score gold/ predicted/ --pair-by content                 (the same documents, other names)
  clueval score corpus/ --metric gate --gold-set Key --predicted-set Response"""


OUTPUTS = (*FORMS, "conlleval")
"""The forms of a result here."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    common.add_sides(parser)
    group = parser.add_argument_group("scoring")
    group.add_argument(
        "--metric",
        action="append",
        metavar="NAME,...",
        help=f"what is counted: {', '.join(METRICS)} (default: levels)",
    )
    group.add_argument(
        "--merge", action="store_true", help="merge all layers into one sequence of spans and score that"
    )
    common.add_selection(group)
    common.add_output(group, OUTPUTS)
    group.add_argument(
        "--unit",
        choices=("token", "character"),
        metavar="UNIT",
        help="what a position is, token or character (default: that of the files); with character, tokens are "
        "joined by blanks and counted in characters (so that adjacent tokens are parted, and spans do not tile)",
    )
    group.add_argument(
        "--align",
        action="store_true",
        help="the texts of the two sides differ: project predicted spans onto the gold text (extra: align)",
    )
    group.add_argument(
        "--pairs",
        type=Path,
        metavar="CSV",
        help="a table of the files that belong together, gold and predicted, all in folder GOLD, by their names",
    )
    group.add_argument(
        "--explain",
        action="store_true",
        help="with metric noisy: show every gold span and its counterpart, too",
    )
    group.add_argument(
        "--html",
        type=Path,
        metavar="FILE",
        help="with metric noisy: write a web page with every gold span and its counterpart (extra: report)",
    )
    common.add_pair_by(group)
    common.add_sets(group)
    add_jobs(parser)
    common.add_reading(parser, pairs=True)
    add_settings(parser)


def run(options: argparse.Namespace) -> int:
    _check(options)
    require_writable([options.html])
    chosen = metrics(options)
    explains = _explains(options, chosen)
    gold, predicted = _sides(options)
    _refuse_to_overwrite(gold, predicted, options)
    reading = common.reading(options)
    require_page(options.html)
    with (
        places(options) as (jobs, executor),
        progress([options.gold, options.predicted]) as advance,
    ):
        result = evaluate(
            gold,
            predicted,
            metrics=chosen,
            layers=common.layers(options),
            merge=options.merge,
            where=options.where,
            by=options.by,
            unit=options.unit,
            align=(options.max_alignment or True) if options.align else False,
            gold_set=options.gold_set,
            predicted_set=options.predicted_set,
            pair_by=options.pair_by,
            progress=advance,
            jobs=jobs,
            executor=executor,
            remark=remark(options),
            **reading,
        )
    if explains is not None:
        _explain(result, explains, (gold, predicted), reading, options)
    else:
        if options.output == "conlleval":  # whose format has no place for it
            printing.remark(f"signature: {result.signature}")
        printing.put(rendered(result, options.output))
    return 0


def _refuse_to_overwrite(gold: Any, predicted: Any, options: argparse.Namespace) -> None:
    """Raise `CluevalError` for an output that is an input, or another output."""
    listed = [path for side in (gold, predicted) if isinstance(side, list) for path in side]
    refuse_to_overwrite(
        [options.gold, options.predicted, options.pairs, options.text, *listed],
        [options.html],
    )


def _check(options: argparse.Namespace) -> None:
    """Raise `UsageError` for options that do not go together; conlleval's format has its one metric."""
    if options.output == "conlleval":
        options.metric = options.metric or ["exact"]
        if options.metric != ["exact"] or options.where or options.by or options.unit == "character":
            raise UsageError(
                "conlleval's format is about all spans and tokens",
                advice="leave out --metric, --where, --by and --unit",
            )


def _explains(options: argparse.Namespace, chosen: Sequence[Metric]) -> Noisy | None:
    """The metric whose counterparts are to be shown, if they are. Raises `UsageError` where that cannot be."""
    names = {metric.name for metric in chosen}
    if options.html is not None and "noisy" not in names:
        raise UsageError(
            "--html writes a page about metric noisy",
            advice="add --metric noisy; clueval errors --html writes one about the errors, clueval gate --html one "
            "about GATE's scores",
        )
    if options.explain and "noisy" not in names:
        raise UsageError("--explain is about metric noisy", advice="add --metric noisy")
    if not options.explain and options.html is None:
        return None
    flag = "--explain" if options.explain else "--html"
    for other in ("where", "by", "merge", "pair_by", "gold_set", "predicted_set"):
        if getattr(options, other):
            raise UsageError(
                f"{flag} shows every gold span of two files as it is",
                advice=f"leave out --{other.replace('_', '-')}",
            )
    if options.output not in (("text", "tsv") if options.html is None else ("text",)):
        raise UsageError(
            f"{flag} comes as text or tsv, or as a web page",
            advice=f"leave out {'--output' if options.html else f'--output {options.output}'}",
        )
    return next(metric for metric in chosen if metric.name == "noisy")  # type: ignore[return-value]


def _sides(options: argparse.Namespace) -> tuple[Any, Any]:
    """Gold and predicted: what the arguments name, or the lists of files of a table of pairs."""
    if options.pairs is None:
        return options.gold, options.predicted
    from clueval.formats.nerval import read_mapping

    if options.pair_by is not None:
        raise UsageError("--pairs and --pair-by are two ways of pairing", advice="give one of them")
    if options.predicted is not None:
        raise UsageError("--pairs takes one folder", advice="clueval score --pairs pairs.csv FOLDER")
    gold, predicted = zip(*read_mapping(options.pairs, options.gold), strict=True)
    return list(gold), list(predicted)


def _explain(
    result: Result,
    noisy: Noisy,
    sides: tuple[Any, Any],
    reading: dict[str, Any],
    options: argparse.Namespace,
) -> None:
    """Print, after the scores, every gold span with its counterpart, or write them as a web page."""
    from clueval.findings.noisy import explain_files
    from clueval.findings.noisy_rows import explanation_rows, explanation_table
    from clueval.reports import text

    explained = explain_files(*sides, noisy, layers=common.layers(options), **reading)
    if options.html is not None:
        from clueval.findings.noisy_page import write_page

        write_page(options.html, result.to_dict(), explained)
        printing.wrote(options.html)
    elif options.output == "tsv":
        for row in explanation_rows(explained):
            printing.put(row)
    else:
        printing.put(f"{result}\n")
        printing.put(
            text.render_tables(
                iter([explanation_table("noisy: every gold span and its counterpart", explained)])
            )
        )
