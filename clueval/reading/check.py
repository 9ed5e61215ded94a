"""Finds all problems of one file, not only the first: the content of `clueval check`."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice, pairwise
from typing import Any, Unpack

from clueval.arguments import checked_call, refuse_unknown, require_instance
from clueval.files.errors import CluevalError, TagError, UsageError
from clueval.formats.columns.documents import repeated_ids, tables
from clueval.formats.columns.layout import fields_of
from clueval.formats.columns.passages import Passage, misfits
from clueval.formats.format import Format, refuse_lost
from clueval.options import field_names, with_fields
from clueval.reading.convert import Conversion, writable_format
from clueval.reading.read_options import ReadOptions, with_columns_of_tags
from clueval.reading.source import Source, source_of
from clueval.second.formats.options import Reading, ReadingOptions
from clueval.second.reading.options import LayerSource, layer_names, require_layers
from clueval.second.reading.paths import as_path, named_files
from clueval.second.reading.spooled import name_of_input, spooled
from clueval.tagging.schemes import (
    OUTSIDE,
    count_illegal,
    ill_formed,
    is_tag,
    scheme_called,
    scheme_of,
    split_tag,
)

_READING = Reading()


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem of a file; its text (`str`) is a line for people.

    Attributes:
        file, line, document: where it is; None if it has no such place.
        problem: what is wrong.
        advice: what to do, or None.
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
    refuse_unknown(options, field_names(Reading), "check")
    if max_errors < 0:
        raise UsageError(f"max_errors must be from 0, not {max_errors}")
    require_instance(reading, Reading, "reading")
    require_layers(layers)
    form = None if to is None else writable_format(to)
    found: list[Problem] = []
    for name, each in checks(files, ReadOptions.of(with_fields(reading, options), layers)):
        errors = list(islice(each.problems(), min(max_errors, sys.maxsize)))
        for error in errors or ([] if form is None else each.losses(form)):
            file = name if error.file in (None, str(each.source.path)) else error.file
            found.append(Problem(file, error.line, error.document, error.problem, error.advice))
    return found


def checks(files: Sequence[Any], options: ReadOptions) -> Iterator[tuple[str, Check]]:
    """Yield the check of each file, also of each file in a folder, with the name of the file for people."""
    with spooled(*files) as paths:
        found = [named_files(as_path(given)) for given in paths]
        options.require_use(path for files in found for _, path in files)
        columns = with_columns_of_tags(
            [options] * len(found), [[path for _, path in files] for files in found]
        )
        shown = {as_path(path): name_of_input(given) for path, given in zip(paths, files, strict=True)}
        for files, of_files in zip(found, columns, strict=True):
            for name, path in files:
                yield shown.get(path, str(path)), Check(source_of(path, of_files, name=name))


@dataclass(slots=True)
class Check:
    """The check of one file: iterate over `problems`, then read the other fields."""

    source: Source
    documents: int = 0
    tokens: int = 0
    schemes: dict[str, str | None] = field(default_factory=dict)
    _neighbours: dict[str, set[tuple[str, str]]] = field(default_factory=dict)

    def problems(self) -> Iterator[CluevalError]:
        """Yield all problems, by passage and line; raise none of them.

        Memory holds one document. For formats without columns, the check stops at the first problem.
        """
        try:
            in_columns = self.source.form.token_lines is not None and not self.source.in_brackets
            yield from self._of_columns() if in_columns else self._of_documents()
        except CluevalError as error:
            yield error

    def lost(self, form: Format) -> Counter[str]:
        """Return what a format cannot hold of the file, which must have no problems, by kind.

        Raises `CluevalError` for what cannot be left out, such as a second layer or a document without text.
        """
        layers = list(layer_names(self.source.options.layers))
        conversion = Conversion(form, layers, lossy=True, output="a folder/" if form.single else None)
        for document in conversion.fitted(replace(self.source, passed_over=Counter()).documents()):
            if conversion.writer.data is None:
                for _ in conversion.writer.lines(iter([document]), layers, False):
                    pass
        return conversion.lost

    def losses(self, form: Format) -> Iterator[CluevalError]:
        """Yield the error that `clueval.convert` raises for what is lost in a format, if anything is."""
        try:
            refuse_lost(form.name, self.lost(form), self.source.passed_over)
        except CluevalError as error:
            yield error

    def _of_documents(self) -> Iterator[CluevalError]:
        for document in self.source.documents():
            self.documents += 1
            self.tokens += (document.end or document.start) - document.start
        yield from ()

    def _of_columns(self) -> Iterator[CluevalError]:
        complaints: list[CluevalError] = []
        document: list[Passage] = []
        for passage in self._passages(complaints):
            if passage.begins:
                yield from _repeated(document)
                document = []
                self.documents += 1
            if passage.layout is not None and passage.layout.token_id is not None:
                document.append(passage)
            complaints += self._of_passage(passage)
            yield from sorted(complaints, key=lambda error: error.line or 0)
            complaints.clear()
        yield from sorted(complaints, key=lambda error: error.line or 0)
        yield from _repeated(document)

    def _passages(self, complaints: list[CluevalError]) -> Iterator[Passage]:
        """Yield the passages up to the first error that ends the reading; that error is the last complaint."""
        try:
            yield from self.source.passages(complaints.append)
        except CluevalError as error:
            complaints.append(error)

    def _of_passage(self, passage: Passage) -> Iterator[CluevalError]:
        if passage.layout is None:
            return
        self.tokens += passage.tokens
        columns = _columns(passage)
        if columns is None:
            yield from misfits(passage)
        for layer, column in passage.layout.layers:
            if columns is None or not self._is_legal(layer, columns[layer]):
                yield from self._tags(layer, column, passage)

    def _is_legal(self, layer: str, tags: Sequence[str]) -> bool:
        """Whether all tags are legal, by their distinct pairs; if so, they are taken into account."""
        pairs = set(pairwise(chain((OUTSIDE,), tags, (OUTSIDE,))))
        known = self._neighbours.setdefault(layer, set())
        try:
            is_known = layer in self.schemes and pairs <= known
            scheme = self.schemes[layer] if is_known else self._scheme_of(known | pairs)
            if scheme is not None and count_illegal(dict.fromkeys(pairs, 1), scheme):
                return False
        except TagError:
            return False
        known.update(pairs)
        self.schemes[layer] = scheme
        return True

    def _tags(self, layer: str, column: int, passage: Passage) -> Iterator[CluevalError]:
        sentences = [_column(text, column, passage) for text in passage.sentences]
        known = self._neighbours.setdefault(layer, set())
        for tags in sentences:
            known.update(pairwise((OUTSIDE, *filter(is_tag, tags), OUTSIDE)))
        self.schemes[layer] = scheme = self._scheme_of(known)
        for number, tags in enumerate(sentences):
            for row in range(len(tags) + 1):
                if (problem := _problem(tags, row, scheme)) is not None:
                    line = passage.line_of(number, min(row, len(tags) - 1))
                    yield TagError(f"layer {layer!r}: {problem}", file=passage.file, line=line)

    def _scheme_of(self, neighbours: Iterable[tuple[str, str]]) -> str | None:
        named = self.source.options.scheme
        return scheme_called(named) if named else scheme_of(neighbours)


def _problem(tags: list[str], row: int, scheme: str | None) -> str | None:
    """Return the problem of the tag in `row` after the tag before it; the row after the last stands for the end."""
    previous = tags[row - 1] if row and is_tag(tags[row - 1]) else OUTSIDE
    tag = tags[row] if row < len(tags) else OUTSIDE
    try:
        split_tag(tag)
        if scheme is not None and count_illegal({(previous, tag): 1}, scheme):
            return ill_formed(tags, row, scheme)
    except TagError as error:
        return error.problem
    return None


def _columns(passage: Passage) -> dict[str, list[str]] | None:
    """Return the tags of each layer as in the file, with an O between sentences; None if a line does not fit."""
    assert passage.layout is not None
    found: dict[str, list[str]] = {layer: [] for layer, _ in passage.layout.layers}
    try:
        for table in tables(passage.sentences, passage.layout._replace(entities=False)):
            for layer, tags in table.tags().items():
                found[layer] += tags
    except ValueError:
        return None
    return found


def _column(text: str, column: int, passage: Passage) -> list[str]:
    """Return the values of a column in a sentence; O for a line that does not fit, which `misfits` reports."""
    assert passage.layout is not None
    rows = (fields_of(line, passage.layout.separator) for line in text[:-1].split("\n"))
    return [fields[column] if len(fields) == passage.layout.width else OUTSIDE for fields in rows]


def _repeated(document: list[Passage]) -> Iterator[CluevalError]:
    if not document or document[0].layout is None or document[0].layout.token_id is None:
        return
    if not any(True for passage in document for _ in misfits(passage)):
        yield from repeated_ids(document)
