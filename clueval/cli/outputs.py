"""Outputs: the options for the form of a result and its file, and the checks of files.

An output must be writable, must not replace an input, and holds one result. An option that names an output file has the
type `output_path`; all of them are checked before anything is read, and may be ``-``, standard output.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager, redirect_stdout
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from clueval.cli.fields import typed
from clueval.cli.parser import CommandParser
from clueval.cli.printing import (
    columns_of_terminal,
    put,
    put_file,
    put_text,
    while_read,
    writing_for_stdout,
    wrote,
)
from clueval.files.errors import FileError, UsageError
from clueval.files.options import whole
from clueval.files.overwriting import output_name, output_path
from clueval.files.overwriting import refuse_to_overwrite as refuse_to_overwrite
from clueval.files.writing import is_written_through, named_together, whole_file
from clueval.reports.files import ENDINGS as FORMS_OF_FILES
from clueval.reports.files import FORMS, READABLE
from clueval.reports.files import form_of as form_of_file
from clueval.reports.language import CATALOGUES, ENGLISH, in_language

if TYPE_CHECKING:
    from clueval.formats.writer import Writer
    from clueval.reports.report import Report

# --- the files of a report


def add_report(
    parser: CommandParser,
    forms: Collection[str] = FORMS,
    *,
    has_rates: bool = True,
    has_texts: bool = False,
    title: str = "output",
) -> None:
    """Add the options of a command that returns a report: its form on standard output, its files, the language.

    A report that `has_texts` of the corpus has an option for their language.
    """
    group = parser.group(title)
    parser.set_defaults(forms=tuple(forms), output_file=None)
    group.add_argument(
        "--format",
        choices=forms,
        metavar="FORM",
        help=f"the form on standard output: {', '.join(forms)} (default: text)",
    )
    group.add_argument("--all", action="store_true", help="text has all tables, not only the first screen")
    if has_rates:
        add_digits(group)
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
        group.add_argument(flag, type=typed(_language), default="", metavar="LANGUAGE", help=meaning)


def _language(text: str) -> str:
    with in_language(text):
        return text


def put_report(
    report: Report,
    options: argparse.Namespace,
    render: Callable[..., str] | None = None,
) -> int:
    """Write a report to the files of ``-o``, and print it if there are none, or for ``-o -``; return the exit code.

    `render` returns the report in a form; it takes the arguments of `report.render`, which is used without it.
    """
    shown = {"all": options.all, "digits": getattr(options, "digits", None), "lang": options.lang}
    own = partial(render or report.render, **shown)
    with named_together():
        for path in options.written:
            form = form_of(options) if is_written_through(path) else form_of_file(path)
            if is_written_through(path) or form in READABLE:
                with whole_file(path) as output:
                    output.write(own(form) + "\n")
            else:
                report.write(path, lang=options.lang, text_lang=getattr(options, "text_lang", ""))
        printed = own(form_of(options), width=columns_of_terminal()) if options.prints else ""
    for path in options.written:
        wrote(path)
    if options.prints:
        with while_read():
            (put_text if form_of(options) == "text" else put)(printed)
    return 1 if report.failures() else 0


def prints_text(options: argparse.Namespace) -> bool:
    """Return whether a report is printed as text."""
    return bool(options.prints) and form_of(options) == "text"


def _settle_files(options: argparse.Namespace) -> None:
    """Take ``-`` out of the files of a report, and note whether the report is printed."""
    given = options.written
    options.written = [path for path in given if str(path) != STDOUT]
    options.to_stdout = len(options.written) < len(given)
    options.prints = options.to_stdout or not given


def _check_files(options: argparse.Namespace) -> None:
    """Raise `CluevalError` for a file of a report that cannot be written, and for options of forms without effect."""
    for path in options.written:
        _require_writable(path)
    forms = forms_written(options)
    if options.format is not None and options.format not in forms:
        raise UsageError(
            f"--format {options.format} is for standard output; the ending of {options.written[0]} says its form",
            advice="remove --format, or add -o - to print the result, too",
        )
    if getattr(options, "digits", None) is not None and forms.isdisjoint(READABLE):
        names = ", ".join(sorted(forms))
        raise UsageError(f"--digits has no effect on {names}, which has all decimals", advice="leave it out")


def forms_written(options: argparse.Namespace) -> set[str]:
    """Return the forms of the files and of what is printed. Raises `UsageError` for an ending without a form."""
    named = [path for path in options.written if str(path) != STDOUT and not is_written_through(path)]
    has_others = len(named) < len(options.written) or not named or getattr(options, "prints", False)
    return {*map(form_of_file, named), *([form_of(options)] if has_others else [])}


# --- other outputs


def outputs_of(options: argparse.Namespace) -> dict[str, Path]:
    """Return the files that the command will write, by the places of their options; those of ``-o`` are not here."""
    places = ("output_file", *(place for place in getattr(options, "outputs", ()) if place != "written"))
    given = {place: getattr(options, place, None) for place in places}
    return {place: Path(path) for place, path in given.items() if path is not None}


def check_outputs(options: argparse.Namespace) -> None:
    """Raise `CluevalError` for an output that would replace an input or another output, or cannot be written.

    Raises `UsageError` for a file of ``-o`` whose ending is no form.
    """
    outputs = outputs_of(options)
    refuse_to_overwrite([*getattr(options, "written", ()), *outputs.values()])
    if hasattr(options, "written"):
        _check_files(options)
    for place, path in outputs.items():
        is_folder = isinstance(getattr(options, place), str) and (
            path.is_dir() or options.output_file[-1] == "/"
        )
        if not is_folder:  # documents may be written to a folder
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
    named = [place for place, path in outputs_of(options).items() if str(path) == STDOUT]
    if not named:
        yield
        return
    if len(named) > 1 or options.to_stdout:
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


STDOUT = "-"
"""The name of a file that stands for standard output."""


def add_output(parser: CommandParser) -> None:
    """Add the option for the file of a result that is no report."""
    parser.group("output").add_argument(
        "-o",
        dest="output_file",
        type=output_path,
        metavar="FILE",
        help="write the result to FILE (default: standard output)",
    )


def add_digits(group: argparse._ActionsContainer) -> None:
    """Add the option for the decimals of rates."""
    group.add_argument(
        "--digits",
        type=typed(lambda text: whole(text, 0)),
        metavar="N",
        help="decimals of rates in text, markdown and latex (default: 2)",
    )


def writable_names() -> list[str]:
    """Return the names of the formats that can be written."""
    from clueval.formats.catalogue import written_names  # only where documents are written

    return sorted(written_names())


def add_documents_output(group: argparse._ActionsContainer, to: str = "", *, required: bool = False) -> None:
    """Add the options for documents: their format, `to` says which one without the option, and the file or folder."""
    names = writable_names()
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


def writer_of(options: argparse.Namespace, name: str) -> Writer:
    """Return how documents are written in a format, with the options for it."""
    from clueval.formats.catalogue import writer_named  # only where documents are written

    return writer_named(name, as_=options.as_, types=None if options.types is None else dict(options.types))


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


def settle_output(options: argparse.Namespace) -> None:
    """Make ``-o -`` the standard output."""
    if hasattr(options, "written"):
        _settle_files(options)
        return
    given = getattr(options, "output_file", None)
    options.to_stdout = given is not None and str(given) == STDOUT
    if options.to_stdout:
        options.output_file = None


def shows_digits(options: argparse.Namespace) -> bool:
    """Return whether the number of decimals, if one is given, applies to a form of the result."""
    return getattr(options, "digits", None) is None or not forms_written(options).isdisjoint(READABLE)


def fixes_form(options: argparse.Namespace) -> bool:
    """Return whether files of ``-o``, or places that are printed, fix the form, so that no default for it applies."""
    if getattr(options, "disagreements", False):
        return True
    return bool(getattr(options, "written", None)) and options.format not in forms_written(options)


def form_of(options: argparse.Namespace) -> str:
    """Return the form that ``--format`` names."""
    return options.format or "text"
