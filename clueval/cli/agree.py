"""``clueval agree``: annotators against each other."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator

from clueval.cli import options as common
from clueval.cli.annotators import add_annotators, paths_of, reading_of, sources_of
from clueval.cli.outputs import (
    add_output,
    add_page,
    put_form,
    refuse_to_overwrite,
)
from clueval.cli.parser import Command, CommandParser
from clueval.cli.printing import remark, say, wrote
from clueval.cli.progress import progress
from clueval.files.errors import UsageError
from clueval.files.overwriting import input_path, output_folder, output_path
from clueval.reports.language import speaking
from clueval.reports.report import FORMS
from clueval.studies.annotators.agreement import OTHERS, Agreement, agree
from clueval.studies.annotators.counting import DEFAULTS, KEYS
from clueval.studies.annotators.places import Disagreement

USAGE = "A B [C ...]"
DESCRIPTION = """\
Compare annotators with each other: F1 of each pair by any convention, kappa, pi, Fleiss, Krippendorff's alpha over
positions, spans and units, and the places where they differ. Only documents that at least two annotators have
annotated count.

--system also compares a system with each annotator. --html writes a page with the disagreements. There you can choose
an annotation for each, and export your choices for clueval curate --decisions."""
EPILOG = """\
examples:
  clueval agree anna=a.conll bob=b.conll
  clueval agree anna/ bob/ carl/ --html agreement.html
  clueval agree both.tsv --annotator anna=2 --annotator bob=3 --format json"""


def add_arguments(parser: CommandParser) -> None:
    add_annotators(parser)
    group = parser.group("what is counted")
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
    add_output(parser, FORMS)
    group = parser.group("output")
    group.add_argument(
        "--disagreements", action="store_true", help="print the places where annotators differ"
    )
    group.add_argument("--tsv", type=output_path, metavar="FILE", help="write these places as a table")
    group.add_argument(
        "--xlsx", type=output_path, metavar="FILE", help="write them as a spreadsheet (extra: report)"
    )
    add_page(group, "write a web page", speaks=True)
    group.add_argument(
        "--pygamma",
        type=output_folder,
        metavar="FOLDER",
        help="write a CSV file for each document, in the form that the program pygamma reads",
    )
    common.add_preparing(parser, without=OTHERS)
    common.add_reading(parser, sides=1)
    parser.epilog = f"{EPILOG}\n\nconventions: {', '.join(KEYS)}"


def run(options: argparse.Namespace) -> int:
    paths, preparing = [*paths_of(options), options.system], common.preparing_of(options)
    refuse_to_overwrite([options.pygamma])
    if options.disagreements and (options.output_file is not None or options.format is not None):
        raise UsageError(
            "--disagreements prints places, and --format and -o are for the figures",
            advice="leave out one of them, or write the places with --tsv FILE",
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
            preparing=preparing,
            **reading_of(options),
        )
    _write_places(study, options)
    if options.disagreements:
        with speaking(options.lang):
            for line in _lines(study.disagreements(), study.to_dict()["annotators"]):
                say(line)
    elif options.output_file is not None or not any(
        (options.tsv, options.xlsx, options.html, options.pygamma)
    ):
        put_form(study, options, lang=options.lang or "")
    return 0


def _write_places(study: Agreement, options: argparse.Namespace) -> None:
    """Write the files of places."""
    report = study.to_dict()
    names, sequences = report["annotators"], len(report["agreement"])
    if options.tsv is not None:
        from clueval.studies.annotators.render import write_tsv

        write_tsv(options.tsv, study.disagreements(), names, sequences)
        wrote(options.tsv)
    if options.xlsx is not None:
        from clueval.studies.annotators.render import write_xlsx

        write_xlsx(options.xlsx, study.disagreements(), names, sequences)
        wrote(options.xlsx)
    if options.html is not None:
        study.write_page(options.html, lang=options.lang or "", text_lang=options.text_lang or "")
        wrote(options.html)
    if options.pygamma is not None:
        from clueval.studies.annotators.render import write_folder

        n = write_folder(options.pygamma, study.study)
        remark(f"wrote {n} file{'s' * (n != 1)} to {options.pygamma}")


def _lines(rows: Iterable[Disagreement], names: list[str]) -> Iterator[str]:
    """Yield the places as text: where, in what, the readings of all annotators, and the sentence."""
    from clueval.studies.annotators.render import kind_in_words, reading_in_words

    width = max(map(len, names))
    for row in rows:
        yield f"{row.document} {row.start}-{row.end - 1} {kind_in_words(row)}"
        for name in names:
            yield f"  {name.ljust(width)}  {reading_in_words(row.readings[name])}"
        begin, end = row.place
        if row.context:
            yield f"  {row.context[:begin]}[{row.context[begin:end]}]{row.context[end:]}"
        yield ""


AGREE_COMMAND = Command(USAGE, DESCRIPTION, EPILOG, add_arguments, run)
