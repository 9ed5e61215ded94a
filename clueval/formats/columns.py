"""Columns: the engine that reads all files with one token per line, by the descriptions of their formats.

Blocks of whole lines come in. Sentences are cut at blank lines and by line rules, and kept as text until their document
ends.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache, partial
from itertools import groupby
from typing import NamedTuple

from clueval.core.document import Document
from clueval.core.span import DEFAULT_LAYER
from clueval.files.errors import FormatError, UsageError, with_noun
from clueval.formats.column_format import ColumnFormat, ColumnInput, Layout, place_of, wanted_layers
from clueval.formats.column_values import ColumnValues
from clueval.formats.input_file import InputFile, schemes_of
from clueval.formats.options import FormatOptions, columns_of_metadata
from clueval.formats.recognition import fields_of_line

_BLANK_LINE = re.compile(r"^[ \t]+$", re.MULTILINE)


@lru_cache
def _after_line_end(special: re.Pattern[str]) -> re.Pattern[str]:
    """Return the pattern of a line that may be no token, after a line end, by which it is found much faster."""
    return re.compile(rf"\n(?:{special.pattern})", special.flags)


def layout_of(form: ColumnFormat, reader: ColumnInput, number: int, line: str) -> Layout:
    """Return the use of the columns, given the first token line."""
    options, names, default = reader.options, reader.columns.names, reader.columns.default
    if form.ragged:
        cut = {layer: place for place, layer in enumerate(ragged_columns(reader), 1)}
        return Layout(len(cut) + 1, "\t", 0, cut)
    separator = form.separator or ("\t" if "\t" in line else " ")
    is_last = options.layers is None and default == -1
    if is_last:
        line = line.rstrip("\t")  # the last column that has a value holds the tags
    fields = line.split("\t") if separator == "\t" else list(filter(None, line.split(" ")))
    width = len(names) if form.is_named else len(fields)

    def place(column: int, use: str) -> int:
        """Return the number of a column from 0."""
        if column == 0:
            advice = "columns count from 1, or from -1 at the end"
            raise UsageError(f"column 0 named for {use}", advice=advice)
        if abs(column) > width:
            reader.refuse(
                number,
                f"there is no column {column} for {use}: {has_width}",
                "name columns with layers={'NAME': COLUMN}, layers={'NAME': (GOLD, PREDICTED)}, or "
                "layers={'NAME': (GOLD, None)} if only gold has it"
                + (", separated by tabs" if separator == "\t" and width == 1 else ""),
            )
        return column - 1 if column > 0 else width + column

    has_width = f"the line has {with_noun(width, 'columns')}"
    token_id = None if options.token_id is None else place(options.token_id, "the token ids")
    document = None if options.document_column is None else place(options.document_column, "the documents")
    meta = tuple(
        (name, place(column, f"the metadata {name!r}")) for name, column in columns_of_metadata(options.meta)
    )
    metadata_columns = {document, *(column for _, column in meta)} - {None}
    sources = wanted_layers(reader)
    if is_last:
        sources = {DEFAULT_LAYER: max({*range(width)} - metadata_columns or {width - 1}) + 1}
    layers: dict[str, int | str] = {}
    for layer, source in sources.items():
        column = source if isinstance(source, int) else _column_named(form, reader, layer, source)
        layers[layer] = place(column, f"layer {layer!r}") if isinstance(column, int) else column
    token = options.token or reader.columns.token
    used = {token_id, *metadata_columns, *layers.values()}
    free = [column for column in range(width) if column not in used]
    if token is not None and place(token, "the tokens") in used:
        reader.refuse(
            number,
            f"column {token} cannot hold both tokens and tags: the line has {with_noun(width, 'columns')}",
            "give PREDICTED, or one file with tokens, gold and predicted tags; token=... names the column",
        )
    if token is None and not free:
        problem = f"no column is left for the tokens: {has_width}"
        reader.refuse(number, problem, "name the columns with layers={'NAME': COLUMN}")
    token_column = free[0] if token is None else place(token, "the tokens")
    return Layout(width, separator, token_column, layers, token_id, document, meta)


def ragged_columns(reader: ColumnInput) -> dict[str, int]:
    """Return the column of each layer of a ragged file."""
    names = reader.columns.names
    numbers = {}
    for layer, source in wanted_layers(reader).items():
        if isinstance(source, str) and source not in names:
            raise UsageError(
                f"there is no source {source!r} for layer {layer!r}",
                file=reader.file,
                advice=f"{', '.join(filter(None, names))}, or the number of a column",
            )
        numbers[layer] = names.index(source) + 1 if isinstance(source, str) else source
    return numbers


def _column_named(form: ColumnFormat, reader: ColumnInput, layer: str, source: str) -> int | str:
    """Return the column with a name, from 1, or the name of a key of pairs."""
    names = reader.columns.names
    if form.pairs and names:
        place = place_of(source, names)
        if place is not None:
            return place + 1
        if form.pairs in names or source in form.bracketed:
            return source
    elif source in names:
        return names.index(source) + 1
    problem = f"there is no column {source!r} for layer {layer!r}"
    advice = f"the columns are {', '.join(filter(None, names))}"
    if not names:
        problem = f"layer {layer!r} has the source {source!r}, but the columns of this format have no names"
        advice = "give the number of the column, as in layers={'entity': 2}"
    raise UsageError(problem, file=reader.file, advice=advice)


class _LineOfDocument(NamedTuple):
    """What the columns of a line say of its document; `id` is None if no column has it."""

    id: str | None
    metadata: Mapping[str, str]


def documents_of_file(form: ColumnFormat, file: InputFile, options: FormatOptions) -> Iterator[Document]:
    """Yield the documents of a file."""
    return ColumnReader(form, file, options).documents()


class ColumnReader(ColumnValues):
    """Reads one file by the description of its format."""

    def __init__(self, form: ColumnFormat, file: InputFile, options: FormatOptions) -> None:
        super().__init__(form, file, options)
        self._described = _LineOfDocument(None, {})

    def documents(self) -> Iterator[Document]:
        """Yield the documents of the file; memory holds one, and a block.

        Raises `FormatError` and `TagError` with the line for what cannot be read. If ill-formed tags are discarded or
        refused and no scheme is named, the file is read once more before, for its scheme.
        """
        if self.options.needs_scheme:
            lenient = replace(self.options, invalid=None)
            file = replace(self._input, passed_over=Counter(), sources={})
            self.schemes = schemes_of(ColumnReader(self.form, file, lenient).documents(), self.file)
        for _ in self._blocks_read():
            yield from self._ready
            self._ready = []
        self.require_sources()

    def _blocks_read(self) -> Iterator[None]:
        """Read the file, and yield wherever documents may have ended: after each block, and at the end."""
        for number, text in self._input.blocks():
            self.feed(number, text)
            yield
        self.finish()
        yield

    def finish(self) -> None:
        """End the file, after all lines."""
        self._use_notes()
        self.form.at_end(self)
        self.end_document()

    def _use_notes(self) -> None:
        if self.form.sentence_end:
            self.use_comments()

    # Lines

    def feed(self, number: int, text: str) -> None:
        """Read a block of whole lines, given the number of the first."""
        if not self.form.blank_ends:
            self._sentence_by_sentence(number, text)
            return
        text = f"\n{text}"
        if "\n " in text or "\n\t" in text:
            text = _BLANK_LINE.sub("", text)
        special = _after_line_end(self.form.special)
        position, next_special, length = 1, 0, len(text)
        is_regular: bool | None = None
        while position < length:
            if next_special < position:
                match = special.search(text, position - 1)
                next_special = length if match is None else match.start() + 1
            if text[position] == "\n":
                self.end_sentence()
                position, number = position + 1, number + 1
                if is_regular is None and self.layout is not None:
                    is_regular = self._is_regular(text, self.layout)
                if is_regular and (past := text.rfind("\n\n", position, next_special) + 1):
                    runs = [f"{run}\n" for run in text[position : past - 1].split("\n\n")]
                    number = self.add_sentences(number, [None] * len(runs), runs, 1) - 1
                    position = past
                continue
            past = text.find("\n\n", position) + 1 or length
            run = text[position:past]
            if next_special < past:
                self._line_by_line(number, run)
            else:
                self._tokens(number, run)
            number += run.count("\n")
            position = past

    def _is_regular(self, text: str, layout: Layout) -> bool:
        """Return whether whole sentences of a block can be added together: no line of tokens needs a change."""
        is_changed = layout.document is not None or layout.meta or self.form.ragged
        return not (is_changed or "\n\n\n" in text or _has_gaps(text, layout.separator))

    def _sentence_by_sentence(self, number: int, text: str) -> None:
        """Read lines, as many whole sentences at a time as follow each other."""
        if self.form.sentence(self) is None and (special := self.form.special.search(text)):
            # lines up to the end of the sentence that is open
            position = text.index("\n", special.start()) + 1
            self._line_by_line(number, text[:position])
            number, text = number + text.count("\n", 0, position), text[position:]
        pattern, layout = self.form.sentence(self), self.layout
        if (
            pattern is None
            or layout is None
            or (layout.document is not None or layout.meta)
            or ("\t\n" in text or "\n\n" in text or "\n " in text)
        ):
            self._line_by_line(number, text)
            return
        first, parts = 1, pattern.split(text)
        for place in range(0, len(parts), 4):
            between = parts[place]
            if not between and place < len(parts) - 1:
                continue
            if heads := [head[:-1] for head in parts[first:place:4]]:
                # a sentence has a line before its tokens, and one after them
                number = self.add_sentences(number + 1, heads, parts[first + 1 : place : 4], 2) - 1
            first = place + 1
            self._line_by_line(number, between)
            number += between.count("\n")
            if self.form.sentence(self) is None:
                self._line_by_line(number, "".join(parts[first:]))
                return

    def _line_by_line(self, number: int, run: str) -> None:
        """Read lines of which some may be no tokens; the lines between these are read together."""
        form, position = self.form, 0
        for match in form.special.finditer(run):
            start = match.start()
            if start > position:
                self._tokens(number, run[position:start])
                number += run.count("\n", position, start)
            position = run.index("\n", start) + 1
            line = run[start : position - 1]
            kind = None if form.passed_over is None else form.passed_over(self, number, line)
            if kind is not None:
                self.passed_over[kind] += 1
            elif form.is_token(self, line):
                self._tokens(number, f"{line}\n")
            else:
                for pattern, act in form.marks:
                    if mark := re.match(pattern, line):
                        act(self, number, mark)
                        break
            number += 1
        if position < len(run):
            self._tokens(number, run[position:])

    def _tokens(self, number: int, run: str) -> None:
        self._use_notes()
        if self.form.in_documents and not self.is_open:
            self.refuse(number, "a token outside documents", self.form.in_documents)
        layout = self.layout
        if layout is None:
            layout = self.layout = layout_of(self.form, self, number, run[: run.index("\n")])
            if not self.form.pairs and not self.form.bracketed:
                layers = layout.layers.items()
                self.sources |= {layer: column + 1 for layer, column in layers if isinstance(column, int)}
        if self.form.ragged:
            run = self._cut(number, run)
        elif _has_gaps(run, layout.separator):
            if layout.separator == " ":
                lines = run[:-1].split("\n")
                run = "".join(" ".join(filter(None, line.split(" "))) + "\n" for line in lines)
            else:
                texts = run.split("\n")
                for place, text in enumerate(texts):
                    more = text.count("\t") + 1 - layout.width
                    if more > 0 and text.endswith("\t" * more):
                        texts[place] = text[:-more]
                        self.passed_over["empty fields"] += more
                run = "\n".join(texts)
        if layout.document is None and not layout.meta:
            self.add(number, run)
            return
        numbered_lines = enumerate(run[:-1].split("\n"), number)
        line_of_document = partial(_line_of_document, layout=layout, decode=self.form.entities)
        for description, group in groupby(numbered_lines, line_of_document):
            group_lines = list(group)
            if description is not None:
                self._describe(group_lines[0][0], description)
            self.add(group_lines[0][0], "".join(f"{line}\n" for _, line in group_lines))

    def _describe(self, number: int, line: _LineOfDocument) -> None:
        """Begin a document if its id differs from that of the line before; add the metadata of its first line."""
        before, self._described = self._described, line
        is_new = not self.is_open or self.lines.rows == 0
        if line.id is not None and not is_new and line.id != before.id:
            self.begin_document(line.id, line.metadata, head=self._head)
        elif is_new:
            self.require_document()
            self.id = self.id if line.id is None else line.id
            self.metadata |= line.metadata
        elif line.metadata != before.metadata:
            name = next(name for name, value in line.metadata.items() if before.metadata.get(name) != value)
            change = f"from {before.metadata.get(name)!r} to {line.metadata[name]!r}"
            problem = f"the metadata {name!r} changes {change} within a document"
            advice = "name the column with the ids of documents with document_column"
            raise FormatError(problem, file=self.file, line=number, advice=advice)

    def _cut(self, number: int, run: str) -> str:
        """Return the columns that are used of lines with different numbers of columns, separated by tabs."""
        assert self.columns.token is not None
        used_columns = [self.columns.token, *ragged_columns(self).values()]
        places = [column - (column > 0) for column in used_columns]
        least = max(map(abs, used_columns))
        lines: list[str] = []
        for offset, line in enumerate(run[:-1].split("\n")):
            fields = fields_of_line(line)
            if len(fields) < least:
                if lines:
                    self.add(number, "\n".join([*lines, ""]))
                self.document()  # the first error is in a line before, if one is wrong
                column = next(column for column in used_columns if abs(column) > len(fields))
                self.refuse(
                    number + offset, f"the line has {with_noun(len(fields), 'columns')}, no column {column}"
                )
            lines.append("\t".join([fields[place] for place in places]))
        return "\n".join([*lines, ""])


def _has_gaps(run: str, separator: str) -> bool:
    """Return whether lines may have empty fields: more blanks than one, at their edges, too, or a last tab."""
    if separator == "\t":
        return "\t\n" in run
    return run[0] == " " or "  " in run or "\n " in run or " \n" in run


def _line_of_document(
    numbered_line: tuple[int, str], layout: Layout, decode: Callable[[str], str] | None
) -> _LineOfDocument | None:
    """Return what a line says of its document; None for one that does not fit, which is an error later."""
    fields = numbered_line[1].split(layout.separator)
    if len(fields) != layout.width:
        return None
    fields = fields if decode is None else list(map(decode, fields))
    identifier = None if layout.document is None else fields[layout.document]
    return _LineOfDocument(identifier, {name: fields[column] for name, column in layout.meta})
