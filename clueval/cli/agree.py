"""``clueval agree``: annotators against each other."""

from __future__ import annotations

import argparse

from clueval.cli import options as common
from clueval.cli.annotators import add_annotators, paths_of, reading_of, sources_of
from clueval.cli.outputs import add_report, put_report, refuse_to_overwrite
from clueval.cli.parser import Command, CommandParser
from clueval.cli.printing import remark, say
from clueval.cli.progress import progress
from clueval.files.errors import UsageError
from clueval.files.overwriting import input_path, output_folder
from clueval.reports.forms import place_lines
from clueval.reports.language import in_language
from clueval.studies.agreement.conventions import CONVENTIONS, DEFAULTS
from clueval.studies.agreement.study import CHANGES, agree
from clueval.transforms.options import Preparing

USAGE = "A B [C ...]"
DESCRIPTION = """\
Compare annotators with each other: F1 of each pair by any convention, kappa, pi, Fleiss, Krippendorff's alpha over
positions, spans and units, and the places where they differ. Only documents that at least two annotators have
annotated count.

--system also compares a system with each annotator. -o FILE.html writes a page with the places where annotators differ.
There you can choose an annotation for each, and save your choices for clueval curate --decisions. -o FILE.tsv and
-o FILE.xlsx have these places as a table, with a column for choices."""
EPILOG = """\
examples:
  clueval agree anna=a.conll bob=b.conll
  clueval agree anna/ bob/ carl/ -o agreement.html
  clueval agree both.tsv --annotator anna=2 --annotator bob=3 --format json"""


def add_arguments(parser: CommandParser) -> None:
    add_annotators(parser)
    group = parser.group("counting")
    group.add_argument(
        "--convention",
        dest="conventions",
        metavar="KEY,...",
        help=f"conventions of F1: exact, or keys of clueval conventions (default: {','.join(DEFAULTS)})",
    )
    group.add_argument(
        "--merge", action="store_true", help="merge all layers into one sequence of spans first"
    )
    group.add_argument(
        "--where",
        action="append",
        metavar="KEY=VALUE",
        help="count only documents with this metadata; if repeated, one value of each KEY must match",
    )
    group.add_argument(
        "--system",
        type=input_path,
        metavar="PATH",
        help="the output of a system, compared with each annotator; or the name of an annotator of the only file",
    )
    group.add_argument(
        "--intervals", action="store_true", help="add intervals, with documents as units (jackknife)"
    )
    group.add_argument(
        "--confidence",
        type=float,
        metavar="X",
        help="the confidence of the intervals (default: 0.95)",
    )
    add_report(parser, has_texts=True)
    group = parser.group("output")
    group.add_argument(
        "--disagreements", action="store_true", help="print the places where annotators differ"
    )
    group.add_argument(
        "--pygamma",
        type=output_folder,
        metavar="FOLDER",
        help="write a CSV file for each document, in the form that the program pygamma reads",
    )
    common.add_preparing(
        parser, without=[name for name in Preparing.__dataclass_fields__ if name not in CHANGES]
    )
    common.add_reading(parser, sides=1)
    parser.epilog = f"{EPILOG}\n\nconventions: {', '.join(convention.key for convention in CONVENTIONS)}"


def run(options: argparse.Namespace) -> int:
    paths, preparing = [*paths_of(options), options.system], common.preparing_of(options)
    refuse_to_overwrite([options.pygamma])
    if options.disagreements and (options.format is not None or options.to_stdout):
        raise UsageError(
            "--disagreements prints places, and --format and -o - are for the figures",
            advice="leave out one of them, or write the places with -o FILE.tsv",
        )
    if options.confidence is not None and not options.intervals:
        raise UsageError("--confidence needs --intervals", advice="add --intervals")
    with progress(paths) as advance:
        study = agree(
            sources_of(options),
            conventions=DEFAULTS if options.conventions is None else options.conventions,
            system=options.system,
            merge=options.merge,
            where=options.where or (),
            intervals=options.intervals,
            confidence=0.95 if options.confidence is None else options.confidence,
            progress=advance,
            **preparing,
            **reading_of(options),
        )
    if options.pygamma is not None:
        n = study.write_pygamma(options.pygamma)
        remark(f"wrote {n} file{'s' * (n != 1)} to {options.pygamma}")
    if options.disagreements or (options.pygamma is not None and not options.to_stdout):
        options.prints = False
    code = put_report(study, options)
    if options.disagreements:
        with in_language(options.lang):
            for line in place_lines(study.places(), study.kinds):
                say(line)
    return code


AGREE_COMMAND = Command(USAGE, DESCRIPTION, EPILOG, add_arguments, run)
