"""``clueval curate``: one gold out of the spans of many annotators."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from clueval.cli import options as common
from clueval.cli.annotators import add_annotators, paths_of, reading_of, sources_of
from clueval.cli.convert import put_documents
from clueval.cli.outputs import STDOUT, add_documents_output, put_result, writer_of
from clueval.cli.parser import Command, CommandParser
from clueval.cli.printing import remark, remarking, wrote
from clueval.cli.progress import progress
from clueval.core.document import Document
from clueval.core.read import Read
from clueval.files.errors import UsageError
from clueval.files.overwriting import output_path
from clueval.files.writing import is_written_through
from clueval.formats.options import Reading
from clueval.reading.convert import Conversion, format_for
from clueval.reading.options import layer_names
from clueval.reports.files import form_of
from clueval.reports.place import Place
from clueval.studies.agreement.curation import Curated, UndecidedPlaces, curated
from clueval.studies.decisions import PlaceDecisions, read_decisions

USAGE = "A B [C ...] -o FILE"
DESCRIPTION = """\
Make one gold out of the spans of several annotators. A span is kept if enough annotators have marked it with the same
label (--votes). --union keeps each place that an annotator has marked, as one span.

The result has the format of A if that can be written, else CoNLL, or doccano where positions are characters; a FILE.tsv
is a table of spans, and --to names another format. The command prints how many places are undecided, outvoted or
tied (clueval guide howto-curate explains these words); --undecided lists them. --decisions reads what to keep there,
from the files that reviewers save from the page of clueval agree, or from its table or workbook with choices filled
in, and prints how many decisions were used."""
EPILOG = """\
examples:
  clueval curate anna.conll bob.conll carl.conll -o gold.tsv --undecided open.tsv
  clueval curate anna.conll bob.conll carl.conll -o gold.tsv --decisions decisions.tsv"""


def add_arguments(parser: CommandParser) -> None:
    add_annotators(parser)
    group = parser.group("votes")
    group.add_argument(
        "--votes",
        metavar="N",
        help="the votes that a span needs: majority, all, or a number (default: majority)",
    )
    group.add_argument("--union", action="store_true", help="keep each place as one span")
    common.add_decisions(group)
    group = parser.group("output")
    add_documents_output(group, " (default: that of A; spans for a file.tsv)")
    group.add_argument(
        "--undecided",
        type=output_path,
        metavar="FILE",
        help="write the places that are undecided, outvoted or tied; its ending says the form, as for clueval agree -o",
    )
    common.add_reading(parser, sides=1)


def run(options: argparse.Namespace) -> int:
    paths = paths_of(options)
    if options.union and options.votes is not None:
        raise UsageError("--union and --votes cannot be used together", advice="remove one of them")
    if options.undecided is not None and not _is_plain(options.undecided):
        form_of(options.undecided)  # refuses another ending
    listed = _Listed(keeps=options.undecided is not None)
    arguments = reading_of(options)
    decisions = _decisions_of(options)
    passed_over = Counter[str]()
    with progress(paths) as advance, remarking(passed_over):
        documents = curated(
            sources_of(options),
            read := Read(),
            votes=options.votes or "majority",
            union=options.union,
            decisions=decisions,
            conflicts=None,
            progress=advance,
            **arguments,
        )
        reading = Reading(**common.reading(options))
        name = options.to or format_for(options.output_file, paths[0], reading)
        conversion = Conversion(
            name,
            writer_of(options, name),
            layer_names(arguments["layers"]),
            "token_id" in common.reading(options),
            lossy=options.lossy,
            remark=remark,
            output=options.output_file,
        )
        put_documents(conversion, listed.documents(documents, read, passed_over))
    if options.undecided is not None:
        _write_places(UndecidedPlaces(listed.names, listed.places), options.undecided)
    remark(listed.words())
    if decisions is not None:
        remark(decisions.words())
    return 0


def _decisions_of(options: argparse.Namespace) -> PlaceDecisions | None:
    """Return the decisions that the options name; None without files."""
    paths, conflicts = common.decisions_of(options).values()
    return None if paths is None else read_decisions(paths, conflicts=conflicts)


def _is_plain(path: Path) -> bool:
    """Return whether a file gets a table, since its name says no form: standard output, a pipe, a device."""
    return path.stem == STDOUT or is_written_through(path)


def _write_places(found: UndecidedPlaces, path: Path) -> None:
    if _is_plain(path):
        put_result([found.render("tsv")], path)
    else:
        found.write(path)
        wrote(path)


class _Listed:
    """What was kept, and the places that were not decided, while documents are written; without `keeps`, how many."""

    def __init__(self, *, keeps: bool) -> None:
        self.places: list[Place] = []
        self.names: Sequence[str] = ()
        self._keeps = keeps
        self._numbers = dict.fromkeys(("kept", "undecided", "outvoted", "ties"), 0)

    def documents(
        self, curated_documents: Iterator[Curated], read: Read, passed_over: Counter[str]
    ) -> Iterator[Document]:
        for each in curated_documents:
            for name in ("undecided", "outvoted", "ties"):
                self._numbers[name] += len(getattr(each, name))
            self._numbers["kept"] += sum(map(len, each.document.layers.values()))
            self.names = each.annotators
            if self._keeps:
                self.places += map(Place.made, each.listed)
            yield each.document
        for (_, kind), number in read.passed_over.items():
            if number:
                passed_over[kind] += number

    def words(self) -> str:
        """Return what was kept and what was not, in words."""
        n = self._numbers
        return (
            f"{n['kept']:,} span{'s' * (n['kept'] != 1)} kept; {n['undecided']:,} undecided, "
            f"{n['outvoted']:,} outvoted, {n['ties']:,} tied"
        )


CURATE_COMMAND = Command(USAGE, DESCRIPTION, EPILOG, add_arguments, run)
