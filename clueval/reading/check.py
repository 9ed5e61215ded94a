"""Finds all problems of one file, not only the first: the content of `clueval check`."""

from __future__ import annotations

import sys
from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

from clueval.core.case import are_flat
from clueval.core.document import GROUP, MENTION, Document
from clueval.core.span import NO_LABEL, components
from clueval.core.tags import OUTSIDE, ill_formed, is_legal, is_tag, scheme_of, split_tag, with_borders
from clueval.files.errors import CluevalError, FormatError, TagError, UsageError
from clueval.files.opening import name_of_input
from clueval.files.options import checked_call, require_kind
from clueval.formats.catalogue import writer_named
from clueval.formats.column_format import ColumnFormat, TokenLines, wanted_layers
from clueval.formats.columns import ColumnReader
from clueval.formats.input_file import InputFile
from clueval.formats.options import MENTIONS, USUAL_READING, FormatOptions, LayerSource, Reading, layer_names
from clueval.formats.writer import Writer, refuse_lost
from clueval.reading import spooled
from clueval.reading.convert import Conversion
from clueval.reading.paths import as_path
from clueval.reading.read import files_of_paths, options_for_one_side
from clueval.reading.source import Source, is_dialect, require_options


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
    reading: Reading = USUAL_READING,
    **options: Any,
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
    format_options = options_for_one_side("check", layers, reading, options)
    writer = None if to is None else writer_named(to)
    problems: list[Problem] = []
    for name, file_check in checks(files, format_options):
        errors = list(islice(file_check.problems(), min(max_errors, sys.maxsize)))
        if writer is not None and file_check.source is not None and not errors:
            try:
                refuse_lost(str(to), file_check.lost(str(to), writer), +file_check.source.file.passed_over)
            except CluevalError as lost:
                errors = [lost]
        for error in errors:
            file = name if error.file in (None, str(file_check.path)) else error.file
            problems.append(Problem(file, error.line, error.document, error.problem, error.advice))
    return problems


def checks(files: Sequence[Any], options: FormatOptions) -> Iterator[tuple[str, Check]]:
    """Yield the check of each file, also of each file in a folder, with the name of the file for people."""
    with spooled(*files) as paths:
        input_names = {as_path(path): name_of_input(file) for path, file in zip(paths, files, strict=True)}
        for name, path, side in files_of_paths(paths, options):
            try:
                file_check = Check(path, side.source(path, name))
            except FormatError as error:
                file_check = Check(path, None, error)
            yield input_names.get(path, str(path)), file_check


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
    # how many ids of documents are repeated, and how many spans have no label or zero length, are repeated or overlap,
    # which is a problem for some metrics only
    unusual: Counter[str] = field(default_factory=Counter)

    def problems(self) -> Iterator[CluevalError]:
        """Yield all problems; raise none of them.

        For formats without columns, rows of JSON or answers, the check stops at the first.
        """
        if self.source is None:
            yield from filter(None, [self.error])
            return
        form = self.source.form
        # of ids, by their first byte; a set of ids would take 20 times the memory
        digests = [array("Q") for _ in range(256)]
        try:
            if isinstance(form, ColumnFormat):
                columns = ColumnCheck(form, self.source.file, self.source.options)
                if not any(map(columns.is_bracketed, wanted_layers(columns))):  # only documents show these
                    yield from columns.problems()
                    self.documents, self.tokens, self.schemes = columns.begun, columns.tokens, columns.schemes
                    return
            documents: Iterator[Document | CluevalError] = self.source.documents()
            if is_dialect(form):
                from clueval.formats.rows import documents_and_errors  # other formats do not need it

                require_options(form, self.source.options, self.source.file.name)
                documents = documents_and_errors(form, self.source.file, self.source.options)
            elif form.name == MENTIONS:
                from clueval.formats.mentions import answers_and_errors  # few files have answers

                require_options(form, self.source.options, self.source.file.name)
                documents = answers_and_errors(self.source.file, self.source.options)
            self.unusual["repeated document ids"] = 0  # the first that is listed
            for item in documents:
                if isinstance(item, CluevalError):
                    yield item
                else:
                    self.documents += 1
                    digest = blake2b(item.id.encode("utf-8", "surrogatepass"), digest_size=8).digest()
                    digests[digest[0]].frombytes(digest)
                    self.tokens += (item.end or item.start) - item.start
                    _count_unusual(item, self.unusual)
        except CluevalError as error:
            yield error
        finally:
            self.unusual["repeated document ids"] += sum(len(part) - len({*part}) for part in digests)

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


def _count_unusual(document: Document, numbers: Counter[str]) -> None:
    """Count spans without label, repeated ones, those of zero length, and those that overlap others of their layer."""
    layers = document.layers
    for layer in layers:
        rows = document.ranges_in(layer)
        if rows is None:
            spans = [span for span in layers[layer] if span.features.keys().isdisjoint((GROUP, MENTION))]
            keys = [(span.fragments, span.label) for span in spans]
            numbers["spans without label"] += [label for _, label in keys].count(NO_LABEL)
        else:
            numbers["spans without label"] += [label for _, _, label in rows].count(NO_LABEL)
            if are_flat(rows):
                continue
            keys = [(((start, end),), label) for start, end, label in rows]
        distinct = list(dict.fromkeys(keys))
        numbers["repeated spans"] += len(keys) - len(distinct)
        numbers["zero-length spans"] += sum(start == end for ((start, end), *_), _ in distinct)
        pieces = sorted(
            (*piece, place) for place, (fragments, _) in enumerate(distinct) for piece in fragments
        )
        runs = ([place for *_, place in run] for run in components(pieces))
        overlapping = {place for places in runs if len({*places}) > 1 for place in places}
        numbers["overlapping spans"] += len(overlapping)


# Files of columns

ROWS = 4000
"""The number of token lines after which those read so far are checked, at the end of a sentence."""


class ColumnCheck(ColumnReader):
    """Lists the problems of the lines and the tags of a file.

    Attributes:
        tokens: the number of tokens, once `problems` has ended; `begun` is that of documents.
        schemes: the scheme of the tags of each layer; None: all of them are O.
    """

    def __init__(self, form: ColumnFormat, file: InputFile, options: FormatOptions) -> None:
        super().__init__(form, file, options)
        self.part = sys.maxsize if form.sentence_end else ROWS, sys.maxsize
        self.tokens = 0
        self.schemes: dict[str, str | None] = {}
        self._errors: list[CluevalError] = []
        self._pairs: dict[str, set[tuple[str, str]]] = {}
        self._wrong: dict[str, set[tuple[str, str]]] = {}  # of these pairs
        self._ids: dict[str, int] = {}
        self._repeated: list[CluevalError] = []
        self._fits = True

    def problems(self) -> Iterator[CluevalError]:
        """Yield all problems by line, up to one after which the file cannot be read on."""
        try:
            for number, text in self._input.blocks(self.complain):
                self.feed(number, text)
                yield from self._sorted()
            self.form.at_end(self)
            self.end_document()
            self.require_sources()
        except CluevalError as error:
            self._errors.append(error)
        self.lines = TokenLines()
        yield from self._sorted()

    def _sorted(self) -> list[CluevalError]:
        first = self.lines.line_of(0) if self.lines.rows else sys.maxsize
        earlier_errors = [error for error in self._errors if (error.line or 0) < first]
        self._errors = [error for error in self._errors if (error.line or 0) >= first]
        return sorted(earlier_errors, key=lambda error: error.line or 0)

    def complain(self, error: CluevalError) -> None:
        self._errors.append(error)

    def document(self) -> Document:
        """Check the rest of the document; its repeated token ids are problems if all its lines fit."""
        self.end_part()
        self._errors += self._repeated if self._fits else ()
        self._ids, self._repeated, self._fits = {}, [], True
        return Document("", {})

    def end_document(self) -> None:
        super().end_document()
        self._ready = []

    def end_part(self) -> None:
        layout, lines = self.layout, self.lines
        if layout is None or not lines.rows:
            return
        self.tokens += lines.rows
        try:
            columns, fits = self.all_columns(layout), True
        except CluevalError:
            # lines that do not fit have O in each column
            rows = (line.split(layout.separator) for line in self.lines.text[:-1].split("\n"))
            whole = [fields if len(fields) == layout.width else [OUTSIDE] * layout.width for fields in rows]
            decode = self.form.entities or str
            columns, fits = [list(map(decode, column)) for column in zip(*whole, strict=True)], False
            self._errors += self.misfits(layout)
        self._fits = self._fits and fits
        for layer, source in layout.layers.items():
            self._check_tags(layer, self.values(columns, source, layer))
        if layout.token_id is not None and self._fits:
            for row, token_id in enumerate(columns[layout.token_id]):
                line = self.lines.line_of(row)
                if self._ids.setdefault(token_id, line) != line:
                    self._repeated.append(self.repeated_id(token_id, line, self._ids[token_id]))
        self.lines = TokenLines()

    # Tags

    def _check_tags(self, layer: str, tags: Sequence[str]) -> None:
        ends = self.lines.ends if self.lines.ends and not self.form.sentence_end else [len(tags)]
        others = {value for value in {*tags} if not is_tag(value)}
        bordered = with_borders(tags, ends)
        pairs = {*pairwise([OUTSIDE, *(filter(is_tag, bordered) if others else bordered)])}
        layer_pairs = self._pairs.setdefault(layer, set())
        if layer not in self.schemes or not pairs <= layer_pairs:
            layer_pairs |= pairs
            scheme = self.schemes[layer] = self.options.scheme or scheme_of(layer_pairs)
            self._wrong[layer] = {pair for pair in layer_pairs if _problem(pair, 1, scheme) is not None}
        if not others and pairs.isdisjoint(self._wrong[layer]):
            return
        for first, end in pairwise([0, *ends]):
            sentence = tags[first:end]
            for row in range(len(sentence) + 1):
                if (error := _problem(sentence, row, self.schemes[layer])) is not None:
                    error.problem = f"layer {layer!r}: {error.problem}"
                    error.file = self.file
                    error.line = self.lines.line_of(first + min(row, len(sentence) - 1))
                    self._errors.append(error)


def _problem(tags: Sequence[str], row: int, scheme: str | None) -> TagError | None:
    """Return the error of the tag in `row` after the tag before it; the row after the last stands for the end."""
    previous = tags[row - 1] if row and is_tag(tags[row - 1]) else OUTSIDE
    tag = tags[row] if row < len(tags) else OUTSIDE
    try:
        split_tag(tag)
        if scheme is not None and not is_legal(scheme, previous, tag):
            return TagError(ill_formed(tags, row, scheme))
    except TagError as error:
        return error
    return None
