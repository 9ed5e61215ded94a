"""``clueval score``: gold against predicted."""

from __future__ import annotations

import argparse
from pathlib import Path

from clueval.cli import options as common
from clueval.cli.progress import progress
from clueval.evaluation import evaluate
from clueval.metrics import METRICS
from clueval.reports import markdown, text, tsv

HELP = "score predicted against gold"
DESCRIPTION = """\
Score predicted spans against gold.

GOLD and PREDICTED are two files (VRT, CoNLL-like columns, tables of spans; packed or not) or two folders whose
files are paired by name. With GOLD alone, the file has both sides: the last two columns, or those that --layer
names. Both sides must be the same text; the first difference is an error."""
EPILOG = """\
filters: --where risk=high counts, for recall, the gold spans labelled high in layer risk and, for precision, the
predicted spans labelled so; what is left out still serves the other side as a partner. --where domain=civil
counts the documents with that metadata. One key given again is an alternative, several keys must all hold.

examples:
  clueval score gold.vrt predicted.vrt --layer entity=2 --layer risk=3 --token-id 4
  clueval score gold.conll predicted.conll --metric levels,exact --output markdown
  clueval score both.conll                                   (gold and predicted in the last two columns)
  clueval score gold/ predicted/ --layer entity=2 --by domain --where risk=high"""

OUTPUTS = {"text": text.render, "tsv": tsv.render, "markdown": markdown.render}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("gold", type=Path, metavar="GOLD", help="file or folder")
    parser.add_argument("predicted", type=Path, metavar="PREDICTED", nargs="?", help="file or folder")
    group = parser.add_argument_group("scoring")
    group.add_argument(
        "--metric", action="append", metavar="NAME,...", help=f"{', '.join(METRICS)} (default: levels)"
    )
    group.add_argument(
        "--merge", action="store_true", help="merge all layers into one sequence of spans and score that"
    )
    group.add_argument(
        "--where", action="append", default=[], metavar="KEY=VALUE", help="a filter on a layer or on metadata"
    )
    group.add_argument(
        "--by", action="append", default=[], metavar="KEY", help="scores for each value of this metadata, too"
    )
    group.add_argument(
        "--output", choices=("text", "json", "tsv", "markdown"), default="text", help="(default: text)"
    )
    common.add_reading(parser, pairs=True)


def run(options: argparse.Namespace) -> int:
    paths = [options.gold, options.predicted]
    with progress(paths) as advance:
        result = evaluate(
            options.gold,
            options.predicted,
            metrics=[name for names in options.metric or ["levels"] for name in names.split(",")],
            layers=common.layers(options),
            merge=options.merge,
            where=options.where,
            by=options.by,
            progress=advance,
            **common.reading(options),
        )
    print(result.to_json() if options.output == "json" else OUTPUTS[options.output](result.to_dict()))
    return 0
