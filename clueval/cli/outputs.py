"""Outputs: the options for the form of a result and its files, and the checks of files.

An output must be writable, must not replace an input, and holds one result. An option that names an output file has the
type `named_output`; all of them are checked before anything is read. That of ``-o`` may be ``-``, standard output.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

from clueval.cli.declared import FromZero, OneOf, OptionValues, Output, OutputName, shared
from clueval.cli.printing import columns_of_terminal, put, put_text, remark, while_read, wrote
from clueval.files.errors import FileError, UsageError, in_words
from clueval.files.overwriting import refuse_to_overwrite
from clueval.files.writing import is_written_through, named_together, whole_file
from clueval.reports import ENDINGS, FORMS, READABLE, form_of
from clueval.reports.language import CATALOGUES, ENGLISH, in_language

if TYPE_CHECKING:
    from clueval.core.document import Document
    from clueval.formats.writer import Writer
    from clueval.reading.convert import Conversion
    from clueval.reports.report import Report

STDOUT = "-"
"""The name of a file that stands for standard output."""

# --- reports


_OTHER_FORMS = "; -o FILE writes pages and workbooks, as in -o x.html, and --input names the format of files"
_ENDINGS, _LANGUAGES = ", ".join(ENDINGS), ", ".join((ENGLISH, *CATALOGUES))


def _language(text: str) -> str:
    with in_language(text):
        return text


Language = Annotated[str, _language]


class ReportOutput(NamedTuple):
    """Where a report goes: to files whose endings say their forms, to standard output, or both.

    output:
        format FORM: the form on standard output (default: text)
        all: text has all tables, not only the first screen
        digits N: decimals of rates in text, markdown and latex (default: 2)
        written -o FILE: write FILE; its ending says the form: {_ENDINGS} (-: standard output)
        lang LANGUAGE: the language of what is written: {_LANGUAGES}
        text_lang LANGUAGE: the language of the texts of the corpus, if it is another one
    """

    format: Annotated[str, OneOf(FORMS, _OTHER_FORMS)] | None = None
    all: bool = False
    digits: FromZero | None = None
    written: list[Output] | None = None
    lang: Language = ""
    text_lang: Language = ""
    hidden: bool = False

    @property
    def files(self) -> list[Path]:
        """The files; ``-o -`` is standard output."""
        return [path for path in self.written or () if str(path) != STDOUT]

    @property
    def to_stdout(self) -> bool:
        """Whether ``-o -`` is given."""
        return len(self.files) < len(self.written or ())

    @property
    def prints(self) -> bool:
        """Whether the report is printed: if there are no files, or also to standard output."""
        return not self.hidden and (self.to_stdout or not self.files)

    @property
    def form(self) -> str:
        """The form of what is printed."""
        return self.format or "text"

    @property
    def prints_text(self) -> bool:
        """Whether the report is printed as text."""
        return self.prints and self.form == "text"

    def form_in(self, path: Path) -> str:
        """Return the form of a file; standard output, pipes and devices have that of what is printed."""
        return self.form if is_written_through(path) else form_of(path)

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


REPORT = shared(ReportOutput, without="text_lang")
"""The options of a report: its form on standard output, its files and its language."""

REPORT_WITH_TEXTS = shared(ReportOutput)
"""The same for a report that shows texts of the corpus."""

REPORT_OF_SCORES = shared(ReportOutput, without="text_lang", format=(*FORMS, "conlleval"))

REPORT_WITHOUT_RATES = shared(ReportOutput, without="digits text_lang")


def output_of(values: OptionValues) -> ReportOutput | None:
    """Return where the report of a command goes; None: the command has no report."""
    return REPORT_WITH_TEXTS.value(values) if "written" in values else None


def drop_idle(values: OptionValues, flags: Collection[str]) -> None:
    """Unset those of these options for the form that have no effect."""
    output = output_of(values)
    if output is None:
        return
    if "--format" in flags and (
        values.get("disagreements") or (output.files and output.form not in output.forms)
    ):
        values["format"] = None
    if "--digits" in flags and output.forms.isdisjoint(READABLE):
        values["digits"] = None


# --- other outputs


def _file_of(*, output_file: Output | None = None) -> Path | None:
    """Return the file of a result that is no report; None: standard output.

    output:
        output_file -o FILE: write the result to FILE (default: standard output)
    """
    return None if str(output_file) == STDOUT else output_file


LINES = shared(_file_of)


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


def _writable_names() -> list[str]:
    """Return the names of the formats that can be written."""
    from clueval.formats.catalogue import written_names  # only where documents are written

    return sorted(written_names())


WRITABLE = OneOf(_writable_names, "; .spacy files are docbin, JSON Lines are doccano, token-rows and others")
"""The formats that can be written, as the values of an option."""


def _named_type(text: str) -> tuple[str, str]:
    name, equals, written = text.partition("=")
    if not equals:
        raise UsageError(f"{text!r} is not NAME=TYPE|FEATURE", advice="as in risk=webanno.custom.Risk|value")
    return name, written


class DocumentOutput(NamedTuple):
    """Where documents are written, and how.

    output:
        output_file -o PATH: where to write: a file, or a folder if it ends in / (default: standard output)
        lossy: leave out what the format cannot hold, and annotations that are not read, such as relations; count them
        as_ --as WHAT: for label-studio: annotations, or predictions (default: annotations)
        types --type NAME=TYPE|FEATURE: for webanno, xmi and uima-json: the type of the layer NAME, and its feature
            with the label
    """

    output_file: OutputName | None = None
    lossy: bool = False
    as_: str | None = None
    types: list[Annotated[tuple[str, str], _named_type]] | None = None

    @property
    def path(self) -> str | None:
        """The file or folder; None: standard output."""
        return None if self.output_file == STDOUT else self.output_file

    def writer(self, name: str) -> Writer:
        """Return how documents are written in a format, with the options for it."""
        from clueval.formats.catalogue import writer_named  # only where documents are written

        return writer_named(name, as_=self.as_, types=None if self.types is None else dict(self.types))


DOCUMENTS = shared(DocumentOutput)


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


def check_outputs(values: OptionValues, outputs: Iterable[str]) -> None:
    """Raise `CluevalError` for an output that would replace an input or another output, or cannot be written.

    Raises `UsageError` for a file of ``-o`` whose ending is no form, and for options without effect.
    """
    paths = ((place, values[place]) for place in outputs if place != "written" and values[place] is not None)
    others = {place: Path(path) for place, path in paths if (place, str(path)) != ("output_file", STDOUT)}
    report = output_of(values)
    files = [] if report is None else report.files
    refuse_to_overwrite([*files, *others.values()])
    for path in files:
        _require_writable(path)
    if report is not None:
        forms = report.forms
        if report.format is not None and report.format not in forms:
            raise UsageError(
                f"--format {report.format} is for standard output; the ending of {report.files[0]} says its form",
                advice="remove --format, or add -o - to print the result, too",
            )
        if report.digits is not None and forms.isdisjoint(READABLE):
            names = ", ".join(sorted(forms))
            raise UsageError(
                f"--digits has no effect on {names}, which has all decimals", advice="leave it out"
            )
    for place, path in others.items():
        name = values[place]
        if not (isinstance(name, str) and (path.is_dir() or name.endswith("/"))):  # a folder of documents
            _require_writable(path)


def _require_writable(path: Path) -> None:
    """Raise `FileError` for a file whose folder does not exist, or that is a folder, or standard output."""
    if str(path) == STDOUT:
        reason, advice = "only -o writes to standard output", "name a file"
    elif path.is_dir():
        reason, advice = "it is a folder", "name a file"
    elif path.parent.is_dir():
        return
    elif path.parent.exists():
        reason, advice = "its folder is a file", "name another"
    else:
        reason, advice = "its folder does not exist", "make the folder first"
    raise FileError(f"cannot be written: {reason}", file=str(path), advice=advice)
