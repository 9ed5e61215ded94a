"""Columns: the engine that reads all files with one token per line, by the descriptions of their formats.

Blocks of whole lines come in. Sentences are cut at blank lines and by line rules, and kept as text until their document
ends. Then its columns are split, and its tags decoded, all at once: values become tokens, tags, spans and the text.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from itertools import compress, groupby
from typing import NamedTuple

from clueval.core.document import Document, Layers, MissingId, Row, Sentence
from clueval.core.span import DEFAULT_LAYER, Frozen, Span
from clueval.core.tags import OUTSIDE, decode_tags, first_illegal, is_legal, is_tag, split_tag, with_borders
from clueval.files.errors import FormatError, TagError, UsageError, with_noun
from clueval.formats.column_format import (
    ColumnFormat,
    ColumnInput,
    Layout,
    layout_of,
    place_of,
    ragged_columns,
    wanted_layers,
)
from clueval.formats.input_file import InputFile, SeenTags, schemes_of
from clueval.formats.options import FormatOptions
from clueval.formats.recognition import fields_of_line

_BLANK_LINE = re.compile(r"^[ \t]+$", re.MULTILINE)

_WITHIN_FIELDS = {
    separator: bytes(byte for byte in range(256) if byte not in (ord(separator), ord("\n")))
    for separator in ("\t", " ")
}
"""All bytes except the separator and the line end, by separator."""

_PROSE = "a text without columns has no spans: they are in a file of another format, see clueval formats"
_BLANKS = "separate all columns by tabs if tokens or labels have blanks"
_NAMED = (
    "columns are separated by tabs; a file of CoNLL-Plus names them in # global.columns; "
    "input='conll' reads other columns"
)
_LAST_TWO = tuple({DEFAULT_LAYER: number} for number in (-2, -1))
"""The layers of the sides of one file without named columns: its last two columns."""

MANY = 20_000
"""Among more rows than these, equal tokens are one object, which takes time and saves memory."""

_MOST_KEYS = 1000
"""The number of keys of pairs that are remembered for the message about a source that does not occur."""


@lru_cache
def _after_line_end(special: re.Pattern[str]) -> re.Pattern[str]:
    """Return the pattern of a line that may be no token, after a line end, by which it is found much faster."""
    return re.compile(rf"\n(?:{special.pattern})", special.flags)


def have_width(text: bytes, layout: Layout) -> bool:
    """Return whether every line has the layout's number of fields."""
    skeleton = text.translate(None, _WITHIN_FIELDS[layout.separator])
    line = layout.separator.encode() * (layout.width - 1) + b"\n"
    return skeleton == line * (len(skeleton) // layout.width)


class _LineOfDocument(NamedTuple):
    """What the columns of a line say of its document; `id` is None if no column has it."""

    id: str | None
    metadata: Mapping[str, str]


def documents_of_file(form: ColumnFormat, file: InputFile, options: FormatOptions) -> Iterator[Document]:
    """Yield the documents of a file."""
    return ColumnReader(form, file, options).documents()


class ColumnReader(ColumnInput):
    """Reads one file by the description of its format; `schemes` are those of the tags of the whole file, by layer."""

    def __init__(self, form: ColumnFormat, file: InputFile, options: FormatOptions) -> None:
        super().__init__(form, file, options)
        self.schemes: Mapping[str, str | None] = {}
        self._described = _LineOfDocument(None, {})
        self._missing = {source for source in wanted_layers(self).values() if isinstance(source, str)}
        self._seen_tags = SeenTags(self.file)
        self._keys: dict[str, bool] = {}  # the keys of pairs, and whether all their values are tags

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
        while position < length:
            if text[position] == "\n":
                self.end_sentence()
                position, number = position + 1, number + 1
                continue
            if next_special < position:
                match = special.search(text, position - 1)
                next_special = length if match is None else match.start() + 1
            past = text.find("\n\n", position) + 1 or length
            run = text[position:past]
            if next_special < past:
                self._line_by_line(number, run)
            else:
                self._tokens(number, run)
            number += run.count("\n")
            position = past

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

    # Values

    def document(self) -> Document | None:
        lines, layout = self.lines, self.layout
        spans: dict[str, list[Span]] = {}
        rows: dict[str, list[Row]] = {layer: [] for layer in wanted_layers(self)}
        tags: dict[str, list[str]] = {}
        tokens: list[str] = []
        token_ids = None
        text = None
        sentences = lines.sentences(self.start, self.form.id_in)
        if layout is not None and lines.rows:
            columns = self.all_columns(layout)
            tokens = columns[layout.token]
            by_layer = {layer: self.values(columns, source, layer) for layer, source in layout.layers.items()}
            if self._is_unannotated(by_layer):
                return None
            for layer, values in by_layer.items():
                if self.is_bracketed(layer):
                    spans[layer] = self._in_brackets(layer, values)
                else:
                    tags[layer] = values
                    rows[layer] = self._decoded(layer, values)
            if layout.token_id is not None:
                token_ids = columns[layout.token_id]
                self._require_different(token_ids)
            flags = self._flags(columns)
            text = self._text(columns, tokens, flags or ())
            if self.form.sentence_end and flags is not None:
                sentences = self._flagged_sentences(flags)
        unbracketed = {layer: layer_rows for layer, layer_rows in rows.items() if layer not in spans}
        layers = Layers({}, unbracketed)
        return Document(
            MissingId(self.begun) if self.id is None else self.id,
            {layer: spans.get(layer, layers.get(layer, ())) for layer in rows} if spans else layers,
            tokens=tokens,
            text=text,
            start=self.start,
            token_ids=token_ids,
            sentences=sentences,
            metadata=Frozen(self.metadata),
            tags=Frozen(tags),
            lines=lines.numbers(),
            file=self.file,
        )

    def _is_unannotated(self, by_layer: Mapping[str, Sequence[str]]) -> bool:
        """Return whether all tokens have the tag, which need be none of a scheme, of documents without annotation."""
        tag = self.options.unannotated
        if tag is not None and any(map(self.is_bracketed, by_layer)):
            raise UsageError(
                f"the format {self.form.name} has no tags, so no document can have the tag {tag!r}",
                file=self.file,
                advice="leave out documents that are not annotated",
            )
        return tag is not None and all({*values} == {tag} for values in by_layer.values())

    def all_columns(self, layout: Layout) -> list[list[str]]:
        """Return the columns of the document. Raises `FormatError` for the first line that does not fit."""
        columns = self.split(self.lines.text, layout)
        if columns is None:
            raise next(self.misfits(layout))
        return columns

    def split(self, text: str, layout: Layout) -> list[list[str]] | None:
        """Return the columns of lines; None if a line does not fit."""
        fields = text[:-1].replace("\n", layout.separator).split(layout.separator)
        columns = [fields[column :: layout.width] for column in range(layout.width)]
        if len(columns[0]) > MANY:
            tokens, kept_tokens = columns[layout.token], dict[str, str]()
            columns[layout.token] = list(map(kept_tokens.setdefault, tokens, tokens))
        if not have_width(text.encode(errors="surrogatepass"), layout) or "" in columns[layout.token]:
            return None
        if self.form.entities is not None and "&" in text:
            return [list(map(self.form.entities, column)) for column in columns]
        return columns

    def misfits(self, layout: Layout) -> Iterator[FormatError]:
        """Yield the error of each line that does not fit."""
        for row, line in enumerate(self.lines.text[:-1].split("\n")):
            fields, advice = line.split(layout.separator), None
            if len(fields) != layout.width:
                problem = f"the line has {with_noun(len(fields), 'columns')}"
                if self.form.is_named:
                    problem, advice = f"{problem}, not {layout.width}", _NAMED
                else:
                    problem += f", the first token line has {layout.width}"
                    if layout.separator == " ":
                        advice = _PROSE if self.file.endswith(".txt") else _BLANKS
            elif not fields[layout.token]:
                problem = "the token is empty"
            else:
                continue
            line_number = self.lines.line_of(row)
            yield FormatError(problem, file=self.file, line=line_number, advice=advice)

    def values(self, columns: list[list[str]], source: int | str, layer: str) -> list[str]:
        """Return the values of a layer: a column, or what its pairs have under a key."""
        nothing = "" if self.is_bracketed(layer) else OUTSIDE
        if isinstance(source, int):
            values = columns[source]
        else:
            place = place_of(self.form.pairs, self.columns.names)
            if place is None:
                return [nothing] * len(columns[0])
            by_cell = dict.fromkeys(columns[place], nothing)
            for value in by_cell:
                by_cell[value] = self._value_of(source, value) or nothing
                if f"|{value}".count(f"|{source}=") > 1:
                    row = columns[place].index(value)
                    # passages have no lines: they are read again as documents
                    line = self.lines.line_of(row) if self.lines.rows else None
                    problem = f"the key {source} occurs more than once in {self.form.pairs}"
                    self.complain(FormatError(problem, file=self.file, line=line, advice="leave in one"))
            values = [by_cell[value] for value in columns[place]]
        if self.form.none and not {*self.form.none}.isdisjoint(values):
            return [nothing if value in self.form.none else value for value in values]
        return values

    def _value_of(self, key: str, value: str) -> str | None:
        """Return the value of a key in pairs, and note whether it occurs."""
        pairs = pairs_of(value)
        if key in self._missing:
            self._missing -= pairs.keys()
            for name, pair_value in pairs.items():
                if self._keys.get(name, len(self._keys) < _MOST_KEYS):
                    self._keys[name] = is_tag(pair_value)
        return pairs.get(key)

    def is_bracketed(self, layer: str) -> bool:
        """Return whether the values of a layer are brackets."""
        return self.form.bracketed == ("*",) or wanted_layers(self)[layer] in self.form.bracketed

    def _decoded(self, layer: str, tags: list[str]) -> list[Row]:
        """Return the spans of the tags of a document. Raises `TagError` with its line."""
        ends = [] if self.form.sentence_end else self.lines.ends
        tags_with_borders = with_borders(tags, ends) if ends else tags
        borders = [end + number for number, end in enumerate(ends)]
        scheme = self.options.scheme or self.schemes.get(layer)
        invalid = self.options.invalid or "conlleval"
        try:
            chunks = decode_tags(tags_with_borders, scheme, invalid)
        except TagError as error:
            index, problem = _place_of_error(tags_with_borders, scheme, error)
            row = index - bisect_left(borders, index)
            if index in borders or row >= len(tags):
                row -= 1
            advice = f"{error.advice}; layers=... names the column of the tags" if error.advice else None
            if advice and self.options.layers in _LAST_TWO:
                advice = f"without PREDICTED, the last two columns are read as gold and predicted; {advice}"
            if self.file.endswith(".txt") and not any(map(is_tag, tags)):
                advice = _PROSE
            raise TagError(
                problem,
                file=self.file,
                line=self.lines.line_of(row),
                document=self.id,
                advice=advice or f"layer {layer!r}; invalid=... sets the treatment of ill-formed tags",
            ) from None
        if scheme is None:
            self._seen_tags.see(layer, tags)
        if not borders:
            return [(start + self.start, end + self.start, label) for start, end, label in chunks]
        shifts = [self.start - bisect_left(borders, start) for start, _, _ in chunks]
        return [
            (start + shift, end + shift, label)
            for (start, end, label), shift in zip(chunks, shifts, strict=True)
        ]

    def _in_brackets(self, layer: str, values: list[str]) -> list[Span]:
        brackets = self.form.brackets(layer, self)
        spans: list[Span] = []
        first, ends = 0, {*self.lines.ends}
        for end in (*self.lines.ends, self.lines.rows):
            for row in compress(range(first, end), values[first:end]):
                spans += brackets.see(values[row], self.start + row, self.lines.line_of(row))
            if end in ends:
                brackets.end_sentence()
            first = end
        brackets.end_document()
        return sorted(spans, key=lambda span: (span.start, -span.end))

    def _require_different(self, token_ids: list[str]) -> None:
        if len({*token_ids}) == len(token_ids):
            return
        first_lines: dict[str, int] = {}
        for row, token_id in enumerate(token_ids):
            line = self.lines.line_of(row)
            if first_lines.setdefault(token_id, line) != line:
                raise self.repeated_id(token_id, line, first_lines[token_id])

    def repeated_id(self, token_id: str, line: int, first: int) -> FormatError:
        """Return the error of a token id that stands in a line, and first in another one."""
        return FormatError(
            f"token id {token_id!r} is already used in line {first}",
            file=self.file,
            line=line,
            document=self.id,
            advice="token ids are unique within a document",
        )

    def _flags(self, columns: list[list[str]]) -> list[str] | None:
        place = place_of(self.form.flags, self.columns.names) if self.form.flags else None
        return None if place is None or len(columns) != len(self.columns.names) else columns[place]

    def _flagged_sentences(self, flags: list[str]) -> list[Sentence]:
        ends = [row + 1 for row in _rows_with(self.form.sentence_end, flags)]
        if ends and ends[-1] < self.lines.rows:
            ends.append(self.lines.rows)
        places = zip([0, *ends], ends, strict=False)
        return [Sentence(first + self.start, end + self.start) for first, end in places]

    def _text(self, columns: list[list[str]], tokens: list[str], flags: Sequence[str]) -> str | None:
        """Return the text of tokens with a blank where no flag denies it; None if a blank follows all."""
        unspaced = {*_rows_with(self.form.no_space, flags)} if self.form.no_space else set()
        for number, words in self.lines.unspaced:
            first, end = self.lines.ends[number - 1] if number else 0, self.lines.ends[number]
            ids = columns[self.columns.names.index("ID")][first:end]
            unspaced.update(first + row for row, token_id in enumerate(ids) if token_id in words)
        if not unspaced:
            return None
        parts = [token if row in unspaced else f"{token} " for row, token in enumerate(tokens)]
        return "".join(parts).removesuffix(" ")

    def require_sources(self) -> None:
        """Raise `UsageError` for a key of pairs that does not occur where other keys have tags."""
        others = [key for key, holds_tags in self._keys.items() if holds_tags]
        for layer, source in self.layout.layers.items() if others and self.layout is not None else ():
            if source in self._missing and source not in self.form.bracketed:
                raise UsageError(
                    f"the file has no {source!r} for layer {layer!r}",
                    file=self.file,
                    advice=f"sources with tags: {', '.join(others)}",
                )


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


def _rows_with(flag: str, values: Sequence[str]) -> list[int]:
    """Return the rows whose value has a flag."""
    having = {value for value in {*values} if flag in value and flag in value.split("|")}
    return [row for row, value in enumerate(values) if value in having] if having else []


def pairs_of(value: str) -> dict[str, str]:
    """Return the pairs of a value.

    >>> pairs_of("NER=B-PER|SpaceAfter=No|x")
    {'NER': 'B-PER', 'SpaceAfter': 'No'}
    """
    parts = (part.partition("=") for part in value.split("|")) if "=" in value else ()
    return {key: text for key, equals, text in parts if equals}


def _place_of_error(tags: Sequence[str], scheme: str | None, error: TagError) -> tuple[int, str]:
    """Return the index of the tag of an error, and its problem."""
    for index, tag in enumerate(tags):
        try:
            split_tag(tag)
            if scheme is not None:
                is_legal(scheme, OUTSIDE, tag)
        except TagError as wrong:
            return index, wrong.problem
    assert scheme is not None
    illegal = first_illegal(tags, scheme)
    assert illegal is not None
    return illegal, error.problem
