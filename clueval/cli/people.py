"""``clueval agree`` and ``clueval curate``: annotators against each other, and one gold out of their spans."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import clueval
from clueval.cli.declared import Input, Keywords, Output, OutputFolder, fields, shared, without_none
from clueval.cli.options import DECISIONS, READING_ONE, NamedInput, by_name, named_path
from clueval.cli.outputs import (
    DOCUMENTS,
    REPORT_WITH_TEXTS,
    WRITABLE,
    DocumentOutput,
    ReportOutput,
    put_documents,
    put_result,
)
from clueval.cli.printing import columns_of_terminal, remark, remarking, say, wrote
from clueval.cli.progress import progress
from clueval.core.document import Document
from clueval.files.errors import UsageError, with_noun
from clueval.files.options import input_path, number
from clueval.files.overwriting import refuse_to_overwrite
from clueval.files.writing import is_written_through
from clueval.formats.options import Reading, layer_names
from clueval.reading import STDIN, spooled
from clueval.reports.language import in_language
from clueval.reports.place import Place, place_lines
from clueval.studies.agreement.annotators import Naming
from clueval.studies.agreement.annotators import names_of as short_names
from clueval.studies.agreement.conventions import CONVENTIONS, DEFAULTS
from clueval.studies.agreement.study import CHANGES
from clueval.studies.decisions import keep_decisions
from clueval.transforms.options import Preparing

_DEFAULTS = ",".join(DEFAULTS)
_CONVENTIONS = ", ".join(convention.key for convention in CONVENTIONS)
_CHANGES = " ".join(CHANGES)


class NamedAnnotators(NamedTuple):
    """The annotators as `clueval.agree` takes them, their paths, and how they are read as keyword arguments."""

    sources: Any
    paths: Sequence[Path]
    reading: Keywords


def _annotators_of(
    annotators: list[NamedInput],
    *,
    annotator: list[str] | None = None,
    naming: Keywords = fields(Naming, "annotators"),
) -> NamedAnnotators:
    """Return the annotators.

    arguments:
        annotators [NAME=]PATH: a file or folder of each annotator, or one file or folder that has all annotators;
            without NAME, the name is the shortest end of the path that no other path has
    annotators:
        annotator NAME=COLUMN: an annotator in a column of the only file, or NAME=SET, in an annotation set; can be
            repeated
    """
    named_paths = [(name, input_path(path)) for name, path in map(named_path, annotators)]
    paths = [path for _, path in named_paths]
    sources: Any = paths[0]
    if len(named_paths) > 1:
        sources = by_name(
            named_paths, short_names([path for name, path in named_paths if name is None]), "annotators"
        )
    columns: dict[str, int | str] = {}
    for text in annotator or ():
        name, equals, place = text.partition("=")
        if not name or not equals:
            raise UsageError(
                f"--annotator {text!r} cannot be read", advice="write it NAME=COLUMN or NAME=SET"
            )
        if name in columns:
            raise UsageError(f"--annotator names {name!r} twice", advice="give each a name of its own")
        columns[name] = int(place) if place.lstrip("-").isdecimal() else place
    return NamedAnnotators(sources, paths, {"annotators": columns or None, **naming})


ANNOTATORS = shared(_annotators_of)


@contextmanager
def _spooled(
    annotators: NamedAnnotators, system: Path | None = None
) -> Iterator[tuple[NamedAnnotators, Path | None]]:
    """Provide annotators and a system with a path in place of standard input, of which an annotator is called stdin."""
    with spooled(*annotators.paths, system) as (*paths, system_path):
        sources: Any = paths[0]
        if len(paths) > 1:
            names = ("stdin" if name == STDIN else name for name in annotators.sources)
            sources = dict(zip(names, paths, strict=True))
        yield annotators._replace(sources=sources, paths=paths), system_path


def agree(
    *,
    annotators: NamedAnnotators = ANNOTATORS,
    conventions: str | None = None,
    merge: bool = False,
    where: list[str] | None = None,
    system: Input | None = None,
    intervals: bool = False,
    confidence: Annotated[float, number] | None = None,
    report: ReportOutput = REPORT_WITH_TEXTS,
    disagreements: bool = False,
    pygamma: OutputFolder | None = None,
    preparing: Keywords = fields(Preparing, "counting", _CHANGES),
    reading: Keywords = READING_ONE,
) -> int:
    """Compare annotators with each other: F1 of each pair by any convention, kappa, pi, Fleiss, Krippendorff's alpha
    over positions, spans and units, and the places where they differ. Only documents that at least two
    annotators have annotated count.

    --system also compares a system with each annotator. -o FILE.html writes a page with the places where annotators
    differ. There you can choose an annotation for each, and save your choices for clueval curate --decisions. -o
    FILE.tsv and -o FILE.xlsx have these places as a table, with a column for choices.

    usage: A B [C ...]

    counting:
        conventions --convention KEY,...: conventions of F1: exact, or keys of clueval conventions (default:
            {_DEFAULTS})
        merge: merge all layers into one sequence of spans first
        where KEY=VALUE: count only documents with this metadata; if repeated, one value of each KEY must match
        system PATH: the output of a system, compared with each annotator; or the name of an annotator of the only
            file
        intervals: add intervals, with documents as units (jackknife)
        confidence X: the confidence of the intervals (default: 0.95)
    output:
        disagreements: print the places where annotators differ
        pygamma FOLDER: write a CSV file for each document, in the form that the program pygamma reads

    examples:
        clueval agree anna=a.conll bob=b.conll
        clueval agree anna/ bob/ carl/ -o agreement.html
        clueval agree both.tsv --annotator anna=2 --annotator bob=3 --format json
    notes:
        conventions: {_CONVENTIONS}
    """
    refuse_to_overwrite([pygamma])
    if disagreements and (report.to_stdout or report.format):
        raise UsageError(
            "--disagreements prints places, and --format and -o - are for the figures",
            advice="leave out one of them, or write the places with -o FILE.tsv",
        )
    if confidence is not None and not intervals:
        raise UsageError("--confidence needs --intervals", advice="add --intervals")
    with _spooled(annotators, system) as (annotators, system), progress(*annotators.paths, system) as advance:
        study = clueval.agree(
            annotators.sources,
            conventions=DEFAULTS if conventions is None else conventions,
            system=system,
            merge=merge,
            where=where or (),
            intervals=intervals,
            progress=advance,
            **without_none(confidence=confidence),
            **preparing,
            **annotators.reading,
            **reading,
        )
        if pygamma is not None:
            remark(f"wrote {with_noun(study.write_pygamma(pygamma), 'files')} to {pygamma}")
        if disagreements:
            report = report._replace(hidden=True)
        code = report.put(study)
        if disagreements:
            with in_language(report.lang):
                for line in place_lines(study.places(), study.kinds, columns_of_terminal()):
                    say(line)
    return code


def curate(
    *,
    annotators: NamedAnnotators = ANNOTATORS,
    votes: str | None = None,
    union: bool = False,
    decisions: Keywords = DECISIONS,
    to: Annotated[str, WRITABLE] | None = None,
    output: DocumentOutput = DOCUMENTS,
    undecided: Output | None = None,
    reading: Keywords = READING_ONE,
) -> int:
    """Make one gold out of the spans of several annotators. A span is kept if enough annotators have marked it with
    the same label (--votes). --union keeps each place that an annotator has marked, as one span.

    The result has the format of A if that can be written, else CoNLL, or doccano where positions are characters; a
    FILE.tsv is a table of spans, and --to names another format. The command prints how many places are undecided,
    outvoted or tied (clueval guide howto-curate explains these words); --undecided lists them. --decisions reads what
    to keep there, from the files that reviewers save from the page of clueval agree, or from its table or workbook
    with choices filled in, and prints how many decisions were used.

    usage: A B [C ...] -o FILE

    votes:
        votes N: the votes that a span needs: majority, all, or a number (default: majority)
        union: keep each place as one span
    output:
        to FORMAT: the format to write (default: that of A; spans for a file.tsv)
        undecided FILE: write the places that are undecided, outvoted or tied; its ending says the form, as for
            clueval agree -o

    examples:
        clueval curate anna.conll bob.conll carl.conll -o gold.tsv --undecided open.tsv
        clueval curate anna.conll bob.conll carl.conll -o gold.tsv --decisions decisions.tsv
    """
    from clueval.reading.convert import Conversion, format_for, has_other_columns  # agree needs none of these
    from clueval.studies.agreement.curation import Curation, UndecidedPlaces

    counts: Counter[str] = Counter()
    places: list[Place] = []
    passed_over: Counter[str] = Counter()

    def documents(results: Curation) -> Iterator[Document]:
        """Yield the documents, and note what was kept and what was not."""
        for result in results:
            for name in ("undecided", "outvoted", "ties"):
                counts[name] += len(getattr(result, name))
            counts["kept"] += sum(map(len, result.document.layers.values()))
            if undecided is not None:
                places.extend(map(Place.made, result.listed))
            yield result.document
        for (_, kind), times in results.read.passed_over.items():
            if times:
                passed_over[kind] += times

    with (
        _spooled(annotators) as (annotators, _),
        progress(*annotators.paths) as advance,
        remarking(passed_over),
    ):
        results = clueval.curate(
            annotators.sources,
            votes=votes,
            union=union,
            progress=advance,
            **decisions,
            **annotators.reading,
            **reading,
        )
        lines = [] if results.decisions is None else [*results.decisions.rows()]
        listed = UndecidedPlaces(results.names, places, lines)
        if undecided is not None and not is_written_through(undecided):
            keep_decisions(undecided, listed)  # before the documents are written
        options = {name: value for name, value in reading.items() if name != "layers"}
        name = to or format_for(output.path, annotators.paths[0], Reading(**options))
        conversion = Conversion(
            name,
            output.writer(name),
            layer_names(reading["layers"]),
            "token_id" in reading,
            lossy=output.lossy,
            passed_over=passed_over,
            remark=remark,
            output=output.path,
        )
        put_documents(conversion, documents(results))
        if name == "conll" and has_other_columns(annotators.paths[0], Reading(**options), results.read):
            remark("written as conll: tokens and layers; other columns of the annotators' files are left out")
    if undecided is not None:
        if is_written_through(undecided):  # its name says no form
            put_result([listed.render("tsv")], undecided)
        else:
            listed.write(undecided)
            wrote(undecided)
    remark(
        f"{with_noun(counts['kept'], 'spans')} kept; {counts['undecided']:,} undecided, "
        f"{counts['outvoted']:,} outvoted, {counts['ties']:,} tied"
        + " (--undecided FILE lists them)"
        * (undecided is None and counts.total() > counts["kept"])
    )
    if results.decisions is not None and results.decisions.are_used:  # else a warning says it
        remark(results.decisions.words())
    return 0
