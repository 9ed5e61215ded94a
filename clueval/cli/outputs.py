"""Outputs: the options for the form of a result and its files, and the checks of files.

An output must be writable, must not replace an input, and holds one result. An option that names an output file has the
type `output_path`; all of them are checked before anything is read, and may be ``-``, standard output.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from clueval.cli.declared import Options, reads
from clueval.cli.parser import CommandParser
from clueval.cli.printing import (
    columns_of_terminal,
    put,
    put_file,
    put_text,
    remark,
    while_read,
    writing_for_stdout,
    wrote,
)
from clueval.files.errors import FileError, UsageError, in_words
from clueval.files.options import whole
from clueval.files.overwriting import output_name, output_path, refuse_to_overwrite
from clueval.files.writing import is_written_through, named_together, whole_file
from clueval.reports.files import ENDINGS as FORMS_OF_FILES
from clueval.reports.files import FORMS, READABLE
from clueval.reports.files import form_of as form_of_file
from clueval.reports.language import CATALOGUES, ENGLISH, in_language

if TYPE_CHECKING:
    from clueval.core.document import Document
    from clueval.formats.writer import Writer
    from clueval.reading.convert import Conversion
    from clueval.reports.report import Report

STDOUT = "-"
"""The name of a file that stands for standard output."""

# --- reports


def report_options(forms: Collection[str] = FORMS, *, has_rates: bool = True, has_texts: bool = False) -> Any:
    """Return the options of a command that returns a report; the function gets a `ReportOutput`.

    A report that `has_texts` of the corpus has an option for their language.
    """

    def add(parser: CommandParser) -> None:
        group = parser.group("output")
        group.add_argument(
            "--format",
            choices=tuple(forms),
            metavar="FORM",
            help=f"the form on standard output: {', '.join(forms)} (default: text)",
        )
        group.add_argument(
            "--all", action="store_true", help="text has all tables, not only the first screen"
        )
        if has_rates:
            group.add_argument(
                "--digits",
                type=reads(lambda text: whole(text, 0)),
                metavar="N",
                help="decimals of rates in text, markdown and latex (default: 2)",
            )
        group.add_argument(
            "-o",
            dest="written",
            action="append",
            default=[],
            type=output_path,
            metavar="FILE",
            help=f"write FILE; its ending says the form: {', '.join(FORMS_OF_FILES)} (-: standard output)",
        )
        languages = {"--lang": f"the language of what is written: {', '.join((ENGLISH, *CATALOGUES))}"}
        if has_texts:
            languages["--text-lang"] = "the language of the texts of the corpus, if it is another one"
        for flag, meaning in languages.items():
            group.add_argument(flag, type=reads(_language), default="", metavar="LANGUAGE", help=meaning)

    return Options(add, output_of)


def _language(text: str) -> str:
    with in_language(text):
        return text


class ReportOutput(NamedTuple):
    """Where a report goes: to files whose endings say their forms, and to standard output if it `prints`."""

    files: Sequence[Path]
    prints: bool
    to_stdout: bool
    form_named: str | None
    all: bool
    digits: int | None
    lang: str
    text_lang: str

    @property
    def form(self) -> str:
        """The form of what is printed."""
        return self.form_named or "text"

    @property
    def prints_text(self) -> bool:
        """Whether the report is printed as text."""
        return self.prints and self.form == "text"

    def form_in(self, path: Path) -> str:
        """Return the form of a file; standard output, pipes and devices have that of what is printed."""
        return self.form if is_written_through(path) else form_of_file(path)

    @property
    def forms(self) -> set[str]:
        """The forms that are written. Raises `UsageError` for a file whose ending is no form."""
        return {*map(self.form_in, self.files), *([self.form] if self.prints else [])}

    def put(self, report: Report, render: Callable[..., str] | None = None) -> int:
        """Write a report to its files, print it, and return the exit code.

        `render` returns the report in a form; it takes the arguments of `report.render`, which is used without it.
        """
        rendered = partial(render or report.render, all=self.all, digits=self.digits, lang=self.lang)
        with named_together():
            for path in self.files:
                form = self.form_in(path)
                if is_written_through(path) or form in READABLE:
                    with whole_file(path) as file:
                        file.write(rendered(form) + "\n")
                else:
                    report.write(path, lang=self.lang, text_lang=self.text_lang)
            printed = rendered(self.form, width=columns_of_terminal()) if self.prints else ""
        for path in self.files:
            wrote(path)
        if self.prints:
            with while_read():
                (put_text if self.form == "text" else put)(printed)
        return 1 if report.failures() else 0

    def remark_verdict(self, report: Report) -> None:
        """Print the verdict to stderr unless the report is printed as text, which has it."""
        if not self.prints_text:
            remark(report.verdict())


def output_of(options: argparse.Namespace) -> ReportOutput:
    """Return where the report goes; ``-o -`` is standard output."""
    files = [path for path in options.written if str(path) != STDOUT]
    to_stdout = len(files) < len(options.written)
    return ReportOutput(
        files,
        to_stdout or not files,
        to_stdout,
        options.format,
        options.all,
        getattr(options, "digits", None),
        options.lang,
        getattr(options, "text_lang", ""),
    )


REPORT = report_options()
"""The options of a report: its form on standard output, its files and its language."""

REPORT_WITH_TEXTS = report_options(has_texts=True)
"""The same for a report that shows texts of the corpus."""


def _require_effect(options: argparse.Namespace) -> None:
    """Raise `UsageError` for options of forms without effect."""
    output = output_of(options)
    if output.form_named is not None and output.form not in output.forms:
        raise UsageError(
            f"--format {output.form} is for standard output; the ending of {output.files[0]} says its form",
            advice="remove --format, or add -o - to print the result, too",
        )
    if output.digits is not None and output.forms.isdisjoint(READABLE):
        names = ", ".join(sorted(output.forms))
        raise UsageError(f"--digits has no effect on {names}, which has all decimals", advice="leave it out")


def drop_idle(options: argparse.Namespace, flags: Collection[str]) -> None:
    """Unset those of these options for the form that have no effect."""
    if not hasattr(options, "written"):
        return
    if "--format" in flags and (
        getattr(options, "disagreements", False)
        or (options.written and options.format not in output_of(options).forms)
    ):
        options.format = None
    if "--digits" in flags and options.digits is not None and output_of(options).forms.isdisjoint(READABLE):
        options.digits = None


# --- other outputs


def _add_output(parser: CommandParser) -> None:
    parser.group("output").add_argument(
        "-o",
        dest="output_file",
        type=output_path,
        metavar="FILE",
        help="write the result to FILE (default: standard output)",
    )


def _file_of(options: argparse.Namespace) -> Path | None:
    return None if str(options.output_file) == STDOUT else options.output_file


LINES: Any = Options(_add_output, _file_of)
"""The option for the file of a result that is no report; the function gets the path, None for standard output."""


def put_result(lines: Iterable[str], path: Path | None) -> None:
    """Write lines to standard output, or to a file, which is then complete or not written at all."""
    if path is None:
        for line in lines:
            with while_read():
                put(line)
        return
    with whole_file(path) as output:
        output.writelines(f"{line}\n" for line in lines)
    wrote(path)


def writable_names() -> list[str]:
    """Return the names of the formats that can be written."""
    from clueval.formats.catalogue import written_names  # only where documents are written

    return sorted(written_names())


class DocumentOutput(NamedTuple):
    """In which format documents are written, and where; None: the command chooses a format, or standard output."""

    to: str | None
    path: str | None
    lossy: bool
    as_: str | None
    types: dict[str, str] | None

    def writer(self, name: str) -> Writer:
        """Return how documents are written in a format, with the options for it."""
        from clueval.formats.catalogue import writer_named  # only where documents are written

        return writer_named(name, as_=self.as_, types=self.types)


def documents_output(to: str = "", *, required: bool = False) -> Any:
    """Return the options for documents; `to` says which format they have without the option for it."""

    def add(parser: CommandParser) -> None:
        group, names = (parser.group("output") if not required else parser), writable_names()
        group.add_argument(
            "--to",
            choices=names,
            metavar="FORMAT",
            required=required,
            help=f"the format to write: {', '.join(names)}{to}",
        )
        group.add_argument(
            "-o",
            dest="output_file",
            type=output_name,
            metavar="PATH",
            help="where to write: a file, or a folder if it ends in / (default: standard output)",
        )
        group.add_argument(
            "--lossy",
            action="store_true",
            help="leave out what the format cannot hold, and annotations that are not read, such as relations; "
            "count them",
        )
        group.add_argument(
            "--as",
            dest="as_",
            metavar="WHAT",
            help="for label-studio: annotations, or predictions (default: annotations)",
        )
        group.add_argument(
            "--type",
            action="append",
            dest="types",
            type=reads(_named_type),
            metavar="NAME=TYPE|FEATURE",
            help="for webanno, xmi and uima-json: the type of the layer NAME, and its feature with the label",
        )

    def value(options: argparse.Namespace) -> DocumentOutput:
        path = None if options.output_file == STDOUT else options.output_file
        types = None if options.types is None else dict(options.types)
        return DocumentOutput(options.to, path, options.lossy, options.as_, types)

    return Options(add, value)


def _named_type(text: str) -> tuple[str, str]:
    name, equals, written = text.partition("=")
    if not equals:
        raise UsageError(f"{text!r} is not NAME=TYPE|FEATURE", advice="as in risk=webanno.custom.Risk|value")
    return name, written


def put_documents(conversion: Conversion, documents: Iterable[Document]) -> None:
    """Write documents in a format: to standard output, to a file, or to files of a folder; all or nothing."""
    from tempfile import TemporaryFile  # only where documents are written

    fitting = conversion.fitted(documents)
    if conversion.output is None:
        with TemporaryFile("w+", encoding="utf-8", errors="surrogatepass", newline="") as whole:
            whole.writelines(conversion.text(fitting))
            whole.seek(0)
            for line in whole:
                put(line, end="")
    else:
        conversion.write(fitting)
    if conversion.lost:
        remark(f"left out: {in_words(conversion.lost)}")
    for line in conversion.hints():
        remark(line)


# --- checks


def _others_of(options: argparse.Namespace) -> dict[str, Path]:
    """Return the files that the command will write, except reports, by the places of their options."""
    given = {place: getattr(options, place, None) for place in options.outputs if place != "written"}
    if str(given.get("output_file")) == STDOUT:
        del given["output_file"]
    return {place: Path(path) for place, path in given.items() if path is not None}


def check_outputs(options: argparse.Namespace) -> None:
    """Raise `CluevalError` for an output that would replace an input or another output, or cannot be written.

    Raises `UsageError` for a file of ``-o`` whose ending is no form, and for options without effect.
    """
    others, reports = _others_of(options), []
    if hasattr(options, "written"):
        reports = list(output_of(options).files)
    refuse_to_overwrite([*reports, *others.values()])
    for path in reports:
        _require_writable(path)
    if hasattr(options, "written"):
        _require_effect(options)
    for place, path in others.items():
        name = getattr(options, place)
        if not (isinstance(name, str) and (path.is_dir() or name.endswith("/"))):  # a folder of documents
            _require_writable(path)


def _require_writable(path: Path) -> None:
    """Raise `FileError` for a file whose folder does not exist, or that is a folder."""
    if not path.parent.is_dir():
        if path.parent.exists():
            raise FileError("cannot be written: its folder is a file", file=str(path), advice="name another")
        raise FileError(
            "cannot be written: its folder does not exist", file=str(path), advice="make the folder first"
        )
    if path.is_dir():
        raise FileError("cannot be written: it is a folder", file=str(path), advice="name a file")


@contextmanager
def standard_output(options: argparse.Namespace) -> Iterator[None]:
    """Let an option that names ``-`` write to standard output, in place of the result, when the command has ended.

    Raises `UsageError` for two such options.
    """
    named = [place for place, path in _others_of(options).items() if str(path) == STDOUT]
    if not named:
        yield
        return
    to_stdout = STDOUT in map(str, (*getattr(options, "written", ()), getattr(options, "output_file", None)))
    if len(named) > 1 or to_stdout:
        raise UsageError(
            "two results would be written to standard output", advice="name a file for one of them"
        )
    (place,) = named
    from tempfile import TemporaryDirectory  # few commands write there

    with TemporaryDirectory(prefix="clueval-") as folder, Path(os.devnull).open("w") as nowhere:
        path = Path(folder) / f"{STDOUT}.{place}"
        setattr(options, place, path)
        with redirect_stdout(nowhere), writing_for_stdout(path):
            yield
        put_file(path)
