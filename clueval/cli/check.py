"""``clueval check``: lists all problems of files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Annotated, Any

from clueval.cli.declared import FromOne, Given, Input, OneOf
from clueval.cli.options import READING_ONE
from clueval.cli.outputs import REPORT_WITHOUT_RATES, ReportOutput, writable_names
from clueval.cli.setting_names import with_options
from clueval.files.errors import CluevalError, in_words
from clueval.files.visible import visible
from clueval.formats.catalogue import writer_named
from clueval.formats.options import FormatOptions
from clueval.formats.writer import Writer
from clueval.reading.check import Check, checks
from clueval.reading.tag_columns import columns_of_tags, listed
from clueval.reports.language import phrase
from clueval.reports.report import Report
from clueval.reports.table import Table
from clueval.version import __version__


def check(
    files: list[Input],
    *,
    report: ReportOutput = REPORT_WITHOUT_RATES,
    max_errors: FromOne = 100,
    to: Annotated[str, OneOf(writable_names)] | None = None,
    reading: Given = READING_ONE,
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

    def __init__(self, found: Iterator[tuple[str, Check]], most: int, to: str | None) -> None:
        writer = None if to is None else writer_named(to)
        self._lines: list[str] = []
        self._problems: list[CluevalError] = []
        self._files = self._unwritable = 0
        for name, check in found:
            each = _CheckLines(check, name, most)
            self._lines += [line.replace(str(check.path), name) for line in each.lines()]
            for problem in each.problems:
                problem.file = name if problem.file in (None, str(check.path)) else problem.file
            self._problems += each.problems
            lines, unwritable = _not_kept(check, name, to or "", None if each.problems else writer)
            self._lines += lines
            self._unwritable += unwritable
            self._files += 1

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
        return [{name: getattr(each, name) for name in _COLUMNS} for each in self._problems]

    def columns(self) -> Sequence[str]:
        return _COLUMNS

    def tables(self) -> Iterator[Table]:
        """Yield one table of all problems."""
        if self._problems:
            rows = [
                [each.file, each.line, each.document, each.problem, each.advice] for each in self._problems
            ]
            yield Table(phrase("Problems"), [phrase(name) for name in _COLUMNS], rows)

    def to_dict(self) -> dict[str, Any]:
        """Return the number of files and the problems."""
        return {"clueval": __version__, "files": self._files, "problems": self.data()}

    def render(self, form: str = "text", **shown: Any) -> str:
        """Return the report in a form; text has a line for each problem, and one for each file."""
        return "\n".join(map(visible, self._lines)) if form == "text" else super().render(form, **shown)


_COLUMNS = ("file", "line", "document", "problem", "advice")


def _not_kept(check: Check, name: str, to: str, writer: Writer | None) -> tuple[list[str], bool]:
    """Return lines with what the format of a file does not read, and with what another format cannot hold.

    The second value is whether the file cannot be written in that format at all.
    """
    if check.source is None:
        return [], False
    lines = []
    if not_read := +check.source.file.passed_over:
        lines.append(f"{name}: not read: {in_words(dict(sorted(not_read.items())))}")
    if writer is None:
        return lines, False
    try:
        lost = in_words(check.lost(to, writer))
    except CluevalError as error:
        return [*lines, f"{name}: {to} cannot be written: {with_options(error, 'check')}"], True
    said = f"cannot hold {lost}" if lost else "holds all that is read"
    return [*lines, f"{name}: {to} {said}"], False


class _CheckLines:
    """The lines on one file: its problems, of which those that differ only in values are folded, and a summary."""

    def __init__(self, check: Check, file: str, most: int) -> None:
        self._check, self.file, self._most = check, file, most
        self._lines: dict[str, list[int | None]] = {}
        self.problems: list[CluevalError] = []

    def lines(self) -> Iterator[str]:
        """Yield the lines; then `problems` are those that were found."""
        shown = 0
        for problem in self._check.problems():
            alike = self._lines.setdefault(_without_values(problem.problem), [])
            if len(alike) < _SHOWN_EACH:
                if shown == self._most:
                    more = "there are more (--max-errors N shows N of them)"
                    yield f"{self.file}: stopped after {self._most} problems; {more}"
                    return
                shown += 1
                yield str(with_options(problem, "check"))
            alike.append(problem.line)
            self.problems.append(problem)
        yield from self._folded()
        yield self._summary()

    def _folded(self) -> Iterator[str]:
        for problem, lines in self._lines.items():
            rest = lines[_SHOWN_EACH:]
            if rest:
                known = ", ".join(str(line) for line in rest[:_LISTED] if line is not None)
                more = ", ..." if len(rest) > _LISTED else ""
                yield f"{self.file}: {len(rest):,} more: {problem} (line{'s' * (len(rest) != 1)} {known}{more})"

    def _summary(self) -> str:
        check, count = self._check, len(self.problems)
        if count:
            return f"{self.file}: {count:,} problem{'s' * (count != 1)}{self._hint()}"
        schemes = ", ".join(f"{layer} {scheme or 'without a tag'}" for layer, scheme in check.schemes.items())
        return (
            f"{self.file}: no problems; {check.documents:,} document{'s' * (check.documents != 1)}, "
            f"{check.tokens:,} position{'s' * (check.tokens != 1)}" + (f" ({schemes})" if schemes else "")
        )

    def _hint(self) -> str:
        """Return which columns look like tags if other columns were read as tags."""
        source = self._check.source
        if (
            source is None
            or not source.form.has_columns
            or not any("is not a tag" in key for key in self._lines)
        ):
            return ""
        found = columns_of_tags(source)
        if not found:
            return ""
        columns = f"columns {listed(found)} look" if len(found) > 1 else f"column {found[0]} looks"
        return f"; {columns} like tags: --layer label={found[0]}"


_SHOWN_EACH = 3
"""The number of problems of one kind that are printed; the others are folded."""

_LISTED = 5


def _without_values(problem: str) -> str:
    """Return a message with dots in place of its values."""
    return re.sub(r"(layer '[^']*')|'[^']*'", lambda match: match[1] or "'...'", problem)
