"""Finds all problems of one file, not only the first: the content of `clueval check`."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Unpack

from clueval.files.arguments import checked_call, require_kind
from clueval.files.errors import CluevalError, FormatError, UsageError
from clueval.formats.catalogue import writer_named
from clueval.formats.column_format import ColumnFormat
from clueval.formats.options import FormatOptions, Reading, ReadingOptions
from clueval.formats.writer import Writer, refuse_lost
from clueval.reading.check_columns import ColumnCheck
from clueval.reading.convert import Conversion
from clueval.reading.options import LayerSource, layer_names
from clueval.reading.paths import as_path, name_of_input, spooled
from clueval.reading.read import files_of_paths, options_for_one_side
from clueval.reading.source import Source, source_of

_READING = Reading()


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem of a file; its text (`str`) is a line for people.

    Attributes:
        file, line, document: where it is; None if it has no such place.
        problem: what is wrong.
        advice: what to do, or None.

    >>> print(Problem("a.conll", 3, None, "the line has 1 column"))
    a.conll:3: the line has 1 column
    """

    file: str | None
    line: int | None
    document: str | None
    problem: str
    advice: str | None = None

    def __str__(self) -> str:
        place = {"file": self.file, "line": self.line, "document": self.document, "advice": self.advice}
        return str(CluevalError(self.problem, **place))  # type: ignore[arg-type]  # each has its type


@checked_call
def check(
    *files: Any,
    layers: Mapping[str, LayerSource] | None = None,
    max_errors: int = 100,
    to: str | None = None,
    reading: Reading = _READING,
    **options: Unpack[ReadingOptions],
) -> list[Problem]:
    """Return the problems of files and folders, with line numbers; an empty list if there are none.

    These are lines that lack a column, invalid tags and sequences of tags, token ids that occur twice in a document,
    malformed XML, wrong encoding. A check of a file stops after `max_errors` problems. With `to`, the name of a format,
    also what `clueval.convert` to it would lose, of files that have no other problems. `layers`, `reading` and
    `options` are those of `clueval.read`. Raises `FileError` for a file that cannot be read and `UsageError`
    for options that do not apply.

    >>> from io import StringIO
    >>> for problem in check(StringIO("a B-PER\\nb I-LOC\\n")):
    ...     print(problem.line, problem.problem)
    2 layer 'label': ill-formed tags: 'I-LOC' may not follow 'B-PER' in the scheme BIO
    """
    if not files:
        raise UsageError("there is no file to check", advice="check('gold.conll')")
    if max_errors < 0:
        raise UsageError(f"max_errors must be from 0, not {max_errors}")
    require_kind(to, "str | None", "to")
    how = options_for_one_side("check", layers, reading, options)
    writer = None if to is None else writer_named(to)
    found: list[Problem] = []
    for name, each in checks(files, how):
        errors = list(islice(each.problems(), min(max_errors, sys.maxsize)))
        for error in errors or ([] if writer is None else each.losses(str(to), writer)):
            file = name if error.file in (None, str(each.path)) else error.file
            found.append(Problem(file, error.line, error.document, error.problem, error.advice))
    return found


def checks(files: Sequence[Any], options: FormatOptions) -> Iterator[tuple[str, Check]]:
    """Yield the check of each file, also of each file in a folder, with the name of the file for people."""
    with spooled(*files) as paths:
        shown = {as_path(path): name_of_input(given) for path, given in zip(paths, files, strict=True)}
        for name, path, own in files_of_paths(paths, options):
            try:
                found = Check(path, source_of(path, own, name=name))
            except FormatError as error:
                found = Check(path, None, error)
            yield shown.get(path, str(path)), found


@dataclass(slots=True)
class Check:
    """The check of one file, or the error of one whose format is not known.

    Iterate over `problems`, then read the other fields.
    """

    path: Path
    source: Source | None
    error: FormatError | None = None
    documents: int = 0
    tokens: int = 0
    schemes: Mapping[str, str | None] = field(default_factory=dict)

    def problems(self) -> Iterator[CluevalError]:
        """Yield all problems; raise none of them. For formats without columns, the check stops at the first."""
        if self.source is None:
            yield from filter(None, [self.error])
            return
        form = self.source.form
        try:
            if isinstance(form, ColumnFormat):
                columns = ColumnCheck(form, self.source.file, self.source.options)
                if not columns.has_brackets:
                    yield from columns.problems()
                    self.documents, self.tokens, self.schemes = columns.begun, columns.tokens, columns.schemes
                    return
            for document in self.source.documents():
                self.documents += 1
                self.tokens += (document.end or document.start) - document.start
        except CluevalError as error:
            yield error

    def lost(self, name: str, writer: Writer) -> Counter[str]:
        """Return what a format cannot hold of the file, which must have no problems, by kind.

        Raises `CluevalError` for what cannot be left out, such as a second layer or a document without text.
        """
        assert self.source is not None
        layers = layer_names(self.source.options.layers)
        conversion = Conversion(
            name, writer, layers, lossy=True, output="a folder/" if writer.single else None
        )
        for document in conversion.fitted(self.source.again().documents()):
            for _ in writer.pieces([document], layers, False):
                pass
        return conversion.lost

    def losses(self, name: str, writer: Writer) -> Iterator[CluevalError]:
        """Yield the error that `clueval.convert` raises for what is lost in a format, if anything is."""
        assert self.source is not None
        try:
            refuse_lost(name, self.lost(name, writer), +self.source.file.passed_over)
        except CluevalError as error:
            yield error
