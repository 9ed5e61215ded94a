"""Outputs: the options for the form of a result and its file, and the checks of files.

An output must be writable, must not replace an input, and holds one result. All outputs are checked before anything
is read, except files whose names come from documents.
"""

from __future__ import annotations

import argparse
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from clueval.cli.fields import typed
from clueval.cli.parser import CommandParser
from clueval.cli.printing import put, while_read, wrote
from clueval.exceptions import FileError, UsageError
from clueval.formats.format import Format
from clueval.overwriting import refuse_to_overwrite as refuse_to_overwrite
from clueval.reports.report import ENDINGS, Report


def require_writable(outputs: Iterable[Path | None]) -> None:
    """Raise `FileError` for a file whose folder does not exist, or that is a folder."""
    for path in outputs:
        if path is not None and str(path) == "-":
            raise FileError(
                "cannot be written: only -o writes to standard output", file="-", advice="name a file"
            )
        if path is not None and not path.parent.is_dir():
            raise FileError(
                "cannot be written: its folder does not exist", file=str(path), advice="make the folder first"
            )
        if path is not None and path.is_dir():
            raise FileError("cannot be written: it is a folder", file=str(path), advice="name a file")


def check_outputs(
    outputs: Sequence[Path | None],
    page: Path | None = None,
    lang: str | None = None,
    xlsx: Path | None = None,
) -> None:
    """Raise `CluevalError` for an output that would replace an input, or cannot be written.

    `page` and `xlsx`, a spreadsheet, are among the outputs.
    """
    refuse_to_overwrite(outputs)
    require_writable(outputs)
    require_page(page, lang)
    if xlsx is not None:
        from clueval.reports.workbook import require_name, require_package

        require_package()
        require_name(xlsx)


def refuse_two_forms(options: argparse.Namespace) -> None:
    """Raise `UsageError` for a page and another form that has no file."""
    if options.html is not None and options.format is not None and options.output_file is None:
        raise UsageError(
            "--html and --format cannot be used together without -o",
            advice="name the file of the other form: -o FILE",
        )


def put_forms(found: Report, options: argparse.Namespace) -> None:
    """Write the page, if there is one, and the other form unless the page is the only output."""
    page = getattr(options, "html", None)
    if page is None or options.output_file is not None:
        put_result([found.render(form_of(options))], options.output_file)
    if page is not None:
        found.write_page(page)
        wrote(page)


def add_quiet(group: argparse._ActionsContainer) -> None:
    """Add the option that leaves out notices."""
    group.add_argument(
        "-q",
        "--quiet",
        action="store_true",
        help="print no lines about what was read, and no warnings",
    )


def add_page(group: argparse._ArgumentGroup, what: str) -> None:
    """Add the options of a page that shows text of the corpus; `what` says what is written."""
    from clueval.reports.page import language

    group.add_argument("--html", type=Path, metavar="FILE", help=f"{what} (extra: report)")
    group.add_argument(
        "--lang",
        type=typed(language),
        metavar="LANGUAGE",
        help="the language of the texts, such as de, for screen readers",
    )


def require_page(path: Path | None, lang: str | None = None) -> None:
    """Raise `MissingExtra` if `path` is given, but the packages for a web page are not installed.

    Raises `UsageError` for a language without a page.
    """
    if lang and path is None:
        raise UsageError("--lang needs --html", advice="add --html FILE")
    if path is not None:
        from clueval.reports.page import environment

        environment()


STDOUT = "-"
"""The name of a file that stands for standard output."""

FORMS_BY_ENDING = {**ENDINGS, ".html": "html", ".htm": "html", ".xlsx": "xlsx", ".pdf": "pdf"}
"""The form of a result by the ending of its file; some forms are written by other options than ``-o``."""


def add_output(parser: CommandParser, forms: Collection[str] = (), title: str = "output") -> None:
    """Add the options for the form of a result, if there are several, and for the file."""
    group = parser.group(title)
    if forms:
        parser.set_defaults(forms=tuple(forms))
        group.add_argument(
            "--format",
            choices=forms,
            metavar="FORM",
            help=f"the form of the result: {', '.join(forms)} (default: text)",
        )
    group.add_argument(
        "-o",
        "--output-file",
        type=Path,
        metavar="FILE",
        help="write to FILE; its ending chooses the form (default: standard output)"
        if forms
        else "write the result to FILE (default: standard output)",
    )


def add_documents_output(group: argparse._ActionsContainer, to: str = "", *, required: bool = False) -> None:
    """Add the options for documents: their format, `to` says which one without the option, and the file or folder."""
    from clueval.formats import all_formats

    names = [form.name for form in all_formats() if form.write is not None]
    group.add_argument(
        "--to",
        choices=names,
        metavar="FORMAT",
        required=required,
        help=f"the format to write: {', '.join(names)}{to}",
    )
    group.add_argument(
        "-o",
        "--output-file",
        metavar="PATH",
        help="where to write: a file, or a folder if it ends in / (default: standard output)",
    )
    group.add_argument(
        "--lossy",
        action="store_true",
        help="leave out what the format cannot hold, and annotations that are not read, such as relations; count them",
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
        type=typed(named_type),
        metavar="NAME=TYPE|FEATURE",
        help="for webanno, xmi and uima-json: the type of the layer NAME, and its feature with the label",
    )


def named_type(text: str) -> tuple[str, str]:
    """Return the name of a layer and its type."""
    name, equals, written = text.partition("=")
    if not equals:
        raise UsageError(f"{text!r} is not NAME=TYPE|FEATURE", advice="as in risk=webanno.custom.Risk|value")
    return name, written


def format_to_write(options: argparse.Namespace, name: str) -> Format:
    """Return the format to write, with the options of its writer."""
    from clueval.compat.convert import writable_format

    return writable_format(
        name, as_=options.as_, types=None if options.types is None else dict(options.types)
    )


def put_result(lines: Iterable[str], path: Path | None) -> None:
    """Write lines to standard output, or to a file, which is then complete or not written at all."""
    if path is None:
        for line in lines:
            with while_read():
                put(line)
        return
    from clueval.writing import whole_file

    with whole_file(path) as output:
        output.writelines(f"{line}\n" for line in lines)
    wrote(path)


def settle_output(options: argparse.Namespace) -> None:
    """Make ``-o -`` the standard output, and set the form of the result by the ending of the file of ``-o``.

    Raises `UsageError` for the ending of a form that the command does not have.
    """
    given = getattr(options, "output_file", None)
    if given is None or str(given) == STDOUT:
        options.output_file = None
        return
    if getattr(options, "format", "") is None:
        options.format = FORMS_BY_ENDING.get(Path(given).suffix.lower())
        forms = getattr(options, "forms", ())
        if options.format is not None and options.format not in forms:
            raise UsageError(
                f"-o {given}: the result cannot be written as {options.format}",
                advice=_advice(options, forms),
            )


def _advice(options: argparse.Namespace, forms: Collection[str]) -> str:
    pages = [f"--{name} FILE" for name in ("html", "xlsx", "tsv") if hasattr(options, name)]
    others = f"; {', '.join(pages)} writes others" if pages else ""
    if options.format == "html" and not pages:
        others = "; clueval errors --html FILE writes the errors as a web page"
    return f"-o writes {', '.join(forms)}{others}"


def fixes_form(options: argparse.Namespace) -> bool:
    """Return whether the other options fix the form of the result, so that a default for it does not apply."""
    given = vars(options).get
    files = {name for name in ("html", "tsv", "xlsx") if given(name) is not None}
    if options.command == "errors" and (files or options.metric in ("fair", "noisy")):
        return True
    if options.command in ("compare", "conventions", "diff") and "html" in files:  # a page, no text
        return True
    if given("cite") is not None and options.format not in ("text", "json"):
        return True
    ending = Path(given("output_file") or "").suffix.lower()
    return bool(given("disagreements")) or ending in FORMS_BY_ENDING


def form_of(options: argparse.Namespace) -> str:
    """Return the form that ``--format`` names."""
    return options.format or "text"
