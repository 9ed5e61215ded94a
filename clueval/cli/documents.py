"""The commands ``check``, ``convert``, ``merge`` and ``samples``: files of spans, read and written."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from importlib.resources import files as resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Annotated, Any

from clueval.cli.config import with_options
from clueval.cli.declared import FromOne, Input, Keywords, OutputFolder
from clueval.cli.options import READING_ONE
from clueval.cli.outputs import (
    DOCUMENTS,
    LINES,
    REPORT_WITHOUT_RATES,
    WRITABLE,
    DocumentOutput,
    ReportOutput,
    put_documents,
    put_result,
)
from clueval.cli.printing import remark, remarking, repaired_and_not_read, say
from clueval.files.errors import CluevalError, FileError, in_words, visible, with_noun
from clueval.files.writing import errors_of, made_folder, named_together, whole_bytes
from clueval.formats.catalogue import writer_named
from clueval.formats.options import MENTIONS, FormatOptions, layer_names
from clueval.reading.check import Check, checks
from clueval.reading.convert import (
    Conversion,
    merged_lines,
    of_one_file,
    require_one_file,
    require_written_ending,
    token_documents,
    with_label,
)
from clueval.reading.read import documents_of
from clueval.reading.tag_columns import columns_of_tags, listed
from clueval.reports.language import phrase
from clueval.reports.report import Report
from clueval.reports.table import Table
from clueval.version import __version__


def convert(
    file: Input,
    *,
    to: Annotated[str, WRITABLE],
    output: DocumentOutput = DOCUMENTS,
    label: str | None = None,
    tokens: Input | None = None,
    reading: Keywords = READING_ONE,
) -> int:
    """Convert the spans of a file or folder into another format.

    --to ltf writes loio's tagging format, <body>..<e>..</e>..</body>: one file for each document, with the spans of
    one layer and one label (--label); tokens are joined by blanks. --to spans writes one table of the spans of all
    layers, with the columns document, start, end_inclusive, the layers and, with --token-id, the ids of the first and
    the last token. --to brat writes two files for each document, X.ann and X.txt, into a folder; --to doccano,
    spacy-json, token-rows and w2ner write JSON. --to conll writes columns with BIO tags, --to inline a text with tags
    for each document, --to docbin a file of spaCy. --to webanno and --to label-studio write files for these tools,
    and print what a project needs for them. What a format cannot hold is an error, unless --lossy leaves it out. --to
    tab writes the positions of predictions only, as the Text Anonymization Benchmark reads them: no labels, no texts.

    usage: FILE --to FORMAT

    arguments:
        file FILE: file or folder
    output:
        to FORMAT: the format to write
        label LABEL: write only spans with this label (ltf holds one)
        tokens FILE: a VRT or CoNLL file with the tokens of texts, for formats with tokens (default: words and single
            marks)

    examples:
        clueval convert gold.vrt --layer entity=2 --label person --to ltf --lossy -o gold/   (one file per document)
        clueval convert gold.xml --input ltf --to spans
    """
    writer = output.writer(to)
    passed_over = Counter[str]()
    documents = documents_of(file, FormatOptions(**reading, unit=writer.unit_read), passed_over)
    conversion = Conversion(
        to,
        writer,
        layer_names(reading["layers"]),
        "token_id" in reading,
        output.lossy,
        passed_over,
        remark,
        token_documents(tokens, to, writer),
        output.path,
    )
    with remarking(passed_over):
        put_documents(conversion, with_label(of_one_file(documents, file, writer), label))
    return 0


def merge(file: Input, *, output: Path | None = LINES, reading: Keywords = READING_ONE) -> int:
    """Merge the layers of a file into one sequence of spans with a label for each layer.

    Overlapping spans of any layers become one span from the smallest start to the greatest end. In each layer, its
    label is the one that covers most of its positions; without a span in the layer, it has none. The result is a
    table of spans, which clueval can read, with the columns document, start, end_inclusive (corpus positions), the
    layers and, with --token-id, the token ids.

    usage: FILE

    arguments:
        file FILE: the file with the layers

    example:
        clueval merge gold.vrt --layer entity=2 --layer risk=3 --token-id 4 -o merged.tsv
        clueval score merged.tsv other.tsv --text gold.vrt --merge
    """
    require_one_file(file)
    if output is not None:
        require_written_ending(output, "spans")
    passed_over = Counter[str]()
    documents = documents_of(file, FormatOptions(**reading), passed_over)
    with remarking(passed_over):
        put_result(merged_lines(documents, list(reading["layers"] or ()), "token_id" in reading), output)
    return 0


def samples(folder: OutputFolder) -> int:
    """Write the sample corpora that the examples of the guide use: German court decisions and English texts with gold
    and predicted spans, all invented, and a small file of each of many formats.

    usage: FOLDER

    arguments:
        folder FOLDER: the folder to write: a new one, or an empty one

    example:
        clueval samples samples
    """
    if str(folder) == "-":
        raise FileError("cannot be written: it is no folder", file="-", advice="name a folder")
    content = dict(_sample_files(resources("clueval") / "samples", folder))
    with errors_of(folder):
        is_empty = not any(path.is_file() for path in folder.rglob("*"))
        is_complete = not is_empty and all(
            path.is_file() and path.read_bytes() == data for path, data in content.items()
        )
    if not is_empty and not is_complete:
        raise FileError(
            "cannot be written: the folder is not empty", file=str(folder), advice="name a new folder"
        )
    if is_empty:
        below = {parent for path in content for parent in path.parents if folder in parent.parents}
        with ExitStack() as folders:
            for new in (folder, *sorted(below)):
                folders.enter_context(made_folder(new))
            folders.enter_context(named_together())
            for path, text in content.items():
                with whole_bytes(path) as file:
                    file.write(text)
    german = shlex.quote(str(folder / "german"))
    say(
        f"The samples {'were written to' if is_empty else 'are already in'} {folder}; README.md describes them"
    )
    say(f"Example: clueval score {german}/gold.vrt {german}/predicted.vrt --layer entity=2")
    return 0


def _sample_files(folder: Traversable, target: Path) -> Iterator[tuple[Path, bytes]]:
    """Yield the path and the content of every file below a folder of the package."""
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir():
            yield from _sample_files(entry, target / entry.name)
        else:
            yield target / entry.name, entry.read_bytes()


def check(
    files: list[Input],
    *,
    report: ReportOutput = REPORT_WITHOUT_RATES,
    max_errors: FromOne = 100,
    to: Annotated[str, WRITABLE] | None = None,
    reading: Keywords = READING_ONE,
) -> int:
    """Read files and list all their problems, with line numbers: lines that lack a column, invalid tags, invalid
    sequences of tags, token ids that occur twice in a document, malformed XML, wrong encoding. The exit code is 0
    if there are no problems, otherwise 1. Annotations that clueval does not read are listed, too, and with --to what
    clueval convert would leave out.

    usage: FILE...

    arguments:
        files FILE: files or folders
    output:
        max_errors N: stop reading a file after N problems
        to FORMAT: list what this format cannot hold

    examples:
        clueval check gold.vrt predicted.vrt --layer entity=2 --layer risk=3 --token-id 4
        clueval check gold/ -o problems.csv
    """
    return report.put(Problems(checks(files, FormatOptions(**reading)), max_errors, to))


class Problems(Report):
    """The problems of files: as lines, in which those that differ only in values are folded, and as data."""

    title, signature = "Problems of files", ""

    def __init__(self, named_checks: Iterator[tuple[str, Check]], most: int, to: str | None) -> None:
        writer = None if to is None else writer_named(to)
        self._lines: list[str] = []
        self._problems: list[CluevalError] = []
        self._files = self._unwritable = 0
        for name, check in named_checks:
            lines, problems = _lines_of(check, name, most)
            self._lines += [line.replace(str(check.path), name) for line in lines]
            for problem in problems:
                problem.file = name if problem.file in (None, str(check.path)) else problem.file
            self._problems += problems
            self._files += 1
            if check.source is None:
                continue
            repaired, not_read = repaired_and_not_read(check.source.file.passed_over)
            self._lines += [f"{name}: {repaired}"] if repaired else []
            self._lines += [f"{name}: not read: {not_read}"] if not_read else []
            if unusual := +check.unusual:
                flat = f"; {_FLAT}" if {"repeated spans", "overlapping spans"} & unusual.keys() else ""
                self._lines.append(f"{name}: {in_words(unusual)}{flat}")
            if to is not None and writer is not None and not problems:
                try:
                    lost = in_words(check.lost(to, writer))
                    kept = f"cannot hold {lost}" if lost else "holds all that is read"
                except CluevalError as error:
                    kept = f"cannot be written: {with_options(error, 'check')}"
                    self._unwritable += 1
                self._lines.append(f"{name}: {to} {kept}")

    def verdict(self) -> str:
        """Return how many problems there are."""
        return phrase("{n} problem|{n} problems", n=len(self._problems) + self._unwritable)

    def facts(self) -> Iterator[str]:
        """Yield the number of files."""
        yield phrase("{n} file|{n} files", n=self._files)

    def failures(self) -> list[str]:
        """Return the verdict if there are problems."""
        return [self.verdict()] if self._problems or self._unwritable else []

    def data(self) -> list[dict[str, Any]]:
        """Return a row for each problem: file, line, document, what is wrong, and what to do."""
        return [{name: getattr(problem, name) for name in _COLUMNS} for problem in self._problems]

    def columns(self) -> Sequence[str]:
        return _COLUMNS

    def tables(self) -> Iterator[Table]:
        """Yield one table of all problems."""
        if self._problems:
            rows = [list(row.values()) for row in self.data()]
            yield Table(phrase("Problems"), [phrase(name) for name in _COLUMNS], rows)

    def content(self) -> dict[str, Any]:
        """Return the number of files and the problems."""
        return {"clueval": __version__, "files": self._files, "problems": self.data()}

    def render(self, form: str = "text", **shown: Any) -> str:
        """Return the report in a form; text has a line for each problem, and one for each file."""
        return "\n".join(map(visible, self._lines)) if form == "text" else super().render(form, **shown)


_FLAT = (
    "some metrics, such as levels, refuse spans that overlap; exact, fair, gate and muc count them, exact and fair "
    "repeated ones once"
)
_COLUMNS = ("file", "line", "document", "problem", "advice")


_SHOWN_EACH, _LISTED = 3, 5
"""How many problems of one kind have a line of their own, and how many of the others are listed by their lines."""


def _lines_of(check: Check, name: str, most: int) -> tuple[list[str], list[CluevalError]]:
    """Return the lines on a file, in which problems that differ only in values are folded, and its problems."""
    lines: list[str] = []
    problems: list[CluevalError] = []
    alike: dict[str, list[int | None]] = {}
    for problem in check.problems():
        kind = re.sub(r"(layer '[^']*')|'[^']*'", lambda match: match[1] or "'...'", problem.problem)
        places = alike.setdefault(kind, [])
        if len(places) < _SHOWN_EACH:
            if len(lines) == most:
                more = "there are more (--max-errors N shows N of them)"
                return [*lines, f"{name}: stopped after {most} problems; {more}"], problems
            lines.append(str(with_options(problem, "check")))
        places.append(problem.line)
        problems.append(problem)
    for kind, places in alike.items():
        if rest := places[_SHOWN_EACH:]:
            numbers = ", ".join(str(line) for line in rest[:_LISTED] if line is not None)
            more = ", ..." if len(rest) > _LISTED else ""
            lines.append(f"{name}: {len(rest):,} more: {kind} (line{'s' * (len(rest) != 1)} {numbers}{more})")
    if count := len(problems):
        hint = _hint(check, are_tags=not any("is not a tag" in kind for kind in alike))
        return [*lines, f"{name}: {with_noun(count, 'problems')}{hint}"], problems
    schemes = ", ".join(f"{layer} {scheme or 'without a tag'}" for layer, scheme in check.schemes.items())
    summary = (
        f"{name}: no problems; {with_noun(check.documents, 'documents')}, "
        f"{with_noun(check.tokens, 'positions')}{f' ({schemes})' if schemes else ''}"
    )
    return [*lines, summary], problems


def _hint(check: Check, *, are_tags: bool) -> str:
    """Return how else a file may be read: which columns look like tags, or that its rows may be no answers."""
    source = check.source
    if source is not None and source.form.name == MENTIONS and source.options.input is None:
        return "; read as answers of a language model: --row text=KEY,spans=KEY reads rows with other keys"
    if source is None or are_tags or not source.form.has_columns or not (numbers := columns_of_tags(source)):
        return ""
    columns = f"columns {listed(numbers)} look" if len(numbers) > 1 else f"column {numbers[0]} looks"
    return f"; {columns} like tags: --layer label={numbers[0]}"
