"""``clueval curate``: one gold out of the spans of many annotators."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from clueval.cli import options as common
from clueval.cli.annotators import add_annotators, paths_of, reading_of, sources_of
from clueval.cli.convert import put_documents
from clueval.cli.decided import add_decisions, decisions_of
from clueval.cli.outputs import add_documents_output, writer_of
from clueval.cli.parser import Command, CommandParser
from clueval.cli.printing import remark, remarking_passed_over, wrote
from clueval.cli.progress import progress
from clueval.files.errors import UsageError
from clueval.files.overwriting import output_path
from clueval.second.reading.convert import Conversion, table_format
from clueval.second.reading.options import layer_names
from clueval.spans.document import Document
from clueval.studies.annotators.curation import Curated, curate
from clueval.studies.annotators.places import Disagreement
from clueval.studies.annotators.render import write_tsv

USAGE = "A B [C ...] -o FILE"
DESCRIPTION = """\
Make one gold out of the spans of several annotators. A span is kept if enough annotators have marked it with the same
label (--votes). --union keeps each place that an annotator has marked, as one span.

The result is a table of spans, or another format (--to). The command prints how many places are undecided, outvoted or
tied (clueval guide howto-curate explains these words); --undecided lists them. --decisions reads what to keep there,
from the files that reviewers export from the page of clueval agree, and prints how many decisions were used."""
EPILOG = """\
examples:
  clueval curate anna.conll bob.conll carl.conll -o gold.tsv --undecided open.tsv
  clueval curate anna.conll bob.conll carl.conll -o gold.tsv --decisions decisions.tsv"""


def add_arguments(parser: CommandParser) -> None:
    add_annotators(parser)
    group = parser.group("what is kept")
    group.add_argument(
        "--votes",
        metavar="N",
        help="the votes that a span needs: majority, all, or a number (default: majority)",
    )
    group.add_argument("--union", action="store_true", help="keep each place as one span")
    add_decisions(group)
    group = parser.group("output")
    add_documents_output(group, " (default: conll for a file.conll, else spans)")
    group.add_argument(
        "--undecided",
        type=output_path,
        metavar="FILE",
        help="write a table of the places that are undecided, outvoted or tied",
    )
    common.add_reading(parser, sides=1)


@remarking_passed_over()
def run(options: argparse.Namespace) -> int:
    paths = paths_of(options)
    if options.union and options.votes is not None:
        raise UsageError("--union and --votes cannot be used together", advice="remove one of them")
    listed = _Listed()
    arguments = reading_of(options)
    decisions = decisions_of(options)
    with progress(paths) as advance:
        curated = curate(
            sources_of(options),
            votes=options.votes or "majority",
            union=options.union,
            decisions=decisions,
            progress=advance,
            **arguments,
        )
        name = options.to or table_format(options.output_file, "name the format with --to")
        conversion = Conversion(
            name,
            writer_of(options, name),
            layer_names(arguments["layers"]),
            "token_id" in common.reading(options),
            lossy=options.lossy,
            remark=remark,
            output=options.output_file,
        )
        put_documents(conversion, listed.documents(curated))
    if options.undecided is not None:
        write_tsv(options.undecided, listed.rows, listed.names, listed.sequences)
        wrote(options.undecided)
    remark(listed.words())
    if decisions is not None:
        remark(decisions.words())
    return 0


class _Listed:
    """The places that were not decided, collected while documents are written."""

    def __init__(self) -> None:
        self.rows: list[Disagreement] = []
        self.names: list[str] = []
        self.sequences = 0
        self._numbers = dict.fromkeys(("kept", "undecided", "outvoted", "ties"), 0)

    def documents(self, curated: Iterator[Curated]) -> Iterator[Document]:
        for each in curated:
            for name in ("undecided", "outvoted", "ties"):
                self._numbers[name] += len(getattr(each, name))
            self._numbers["kept"] += sum(map(len, each.document.layers.values()))
            self.sequences = max(self.sequences, len(each.document.layers))
            self.rows += each.listed
            self.names = list(each.annotators)
            yield each.document

    def words(self) -> str:
        """Return what was kept and what was not, in words."""
        n = self._numbers
        return (
            f"{n['kept']:,} span{'s' * (n['kept'] != 1)} kept; {n['undecided']:,} undecided, "
            f"{n['outvoted']:,} outvoted, {n['ties']:,} tied"
        )


CURATE_COMMAND = Command(USAGE, DESCRIPTION, EPILOG, add_arguments, run)
