"""Columns: the engine that reads all files with one token per line.

A format says which lines are no tokens (`LineRule`), which columns have the tokens and the labels, and how values
become tags or spans (`ColumnFormat`). Blocks of whole lines come in. Sentences are cut at blank lines and by line
rules, and kept as text; columns are split, and tags decoded, for a whole document at once.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, compress, groupby
from typing import Any, NamedTuple, NoReturn

from clueval.core.document import Document, Layers, MissingId, Row, Sentence
from clueval.core.read import Read
from clueval.core.span import DEFAULT_LAYER, Frozen, Span
from clueval.core.tags import (
    OUTSIDE,
    is_tag,
)
from clueval.files.errors import FormatError, TagError, UsageError
from clueval.second.formats.entities import unescape
from clueval.second.formats.options import FormatOptions
from clueval.second.formats.tag_lists import chunks_of, place_of_error

Blocks = Callable[[], Iterable[tuple[int, str]]]
"""Returns a file from its beginning in blocks of whole lines, each with the number of its first line."""

_BLANK_LINE = re.compile(r"^[ \t]+$", re.MULTILINE)
_WITHIN_FIELDS = {
    separator: bytes(byte for byte in range(256) if byte not in (ord(separator), ord("\n")))
    for separator in ("\t", " ")
}
"""All bytes except the separator and the line end, by separator."""

_PROSE = "a text without columns has no spans: they are in a file of another format, see clueval formats"
_MOST_KEYS = 1000
"""The number of keys of pairs that are remembered for the message about a source that does not occur."""
_NEVER = re.compile(r"(?!)")
KINDS_OF_ROWS = {"-": "multiword tokens", ".": "empty nodes"}
"""What the rows ``3-4`` and ``5.1`` stand for where a column numbers the tokens of a sentence."""


class LineRule(NamedTuple):
    """A line that is no token: its pattern, and what it does, given the number of the line."""

    pattern: re.Pattern[str]
    act: Callable[[ColumnReader, int, re.Match[str]], None]


class Columns(NamedTuple):
    """What is known of the columns of a file before its tokens are read.

    `names` are those of its columns, none if they have no names. `default` is the source of the layer that no option
    names: a column, from 1 or from -1 at the end, or a name. `token` is the column of the tokens, from 1; None: the
    first without other use.
    """

    names: tuple[str, ...] = ()
    default: int | str = -1
    token: int | None = None


class Brackets:
    """The open brackets of a layer in one document; a format says how they are written."""

    def __init__(self, layer: str, reader: ColumnReader) -> None:
        self.layer, self.reader = layer, reader

    def see(self, value: str, position: int, line: int) -> Iterator[Span]:
        """Yield the spans that end at a token with this value. Raises `FormatError` for one that cannot be read."""
        raise NotImplementedError

    def end_sentence(self) -> None:
        """Raise `FormatError` for a bracket that must be closed in its sentence."""

    def end_document(self) -> None:
        """Raise `FormatError` for a bracket that is open at the end of the document."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnFormat:
    """How the lines of a format are read.

    Attributes:
        name, holds: the name of the format, and what its files hold.
        sign, told: how its files are recognised in words, and whether a file that begins with a text is one.
        endings: the endings of names of its files.
        separator: what separates columns; none: a tab if the first token line has one, else a blank.
        special: the beginning of lines that may be no tokens; all others are.
        marks: lines that are no tokens, of which the first that fits acts.
        is_token: whether a special line that no mark fits is a token; otherwise it is a comment.
        passed_over: returns the kind of a special line that is not read, but counted.
        columns: returns what the file says of its columns.
        bracketed: the names of sources whose values are brackets, ``*``: all.
        brackets: the class of these brackets.
        none: values that stand for no tag, or no bracket.
        pairs: the name of a column with ``KEY=VALUE`` pairs, whose keys are sources.
        flags: the name of a column with flags about a token.
        no_space: the flag of a token that no blank follows.
        sentence_end: the flag of the last token of a sentence, after which spans may go on.
        blank_ends: whether a blank line ends a sentence.
        entities: whether fields have the entities of XML.
        ragged: whether lines have different numbers of columns, all of which are named or counted by the format.
        is_named: whether each line has all columns that have names.
        in_documents: what to do about a token outside documents; None: it begins one.
        state: makes what the marks of the format note about a file.
        at_end: refuses what is open at the end of the file.
    """

    name: str
    holds: str
    sign: str
    told: Callable[[str], bool]
    endings: tuple[str, ...] = ()
    separator: str = ""
    special: re.Pattern[str] = _NEVER
    marks: tuple[LineRule, ...] = ()
    is_token: Callable[[ColumnReader, str], bool] = lambda reader, line: False
    passed_over: Callable[[ColumnReader, int, str], str | None] = lambda reader, number, line: None
    columns: Callable[[Blocks, str, FormatOptions], Columns] = lambda blocks, file, options: Columns()
    bracketed: tuple[str, ...] = ()
    brackets: type[Brackets] = Brackets
    none: tuple[str, ...] = ()
    pairs: str = ""
    flags: str = ""
    no_space: str = ""
    sentence_end: str = ""
    blank_ends: bool = True
    entities: bool = False
    ragged: bool = False
    is_named: bool = False
    in_documents: str | None = None
    state: Callable[[], Any] = dict
    at_end: Callable[[ColumnReader], None] = lambda reader: None


class _Layout(NamedTuple):
    """The columns of a file with lines of `width` fields, from 0; the source of a layer is a column or a key."""

    width: int
    separator: str
    token: int
    layers: Mapping[str, int | str]
    token_id: int | None = None
    document: int | None = None
    meta: tuple[tuple[str, int], ...] = ()


class _LineOfDocument(NamedTuple):
    """What the columns of a line say of its document; `id` is None if no column has it."""

    id: str | None
    metadata: Mapping[str, str]


class ColumnReader:
    """Reads one file.

    Attributes:
        columns: what is known of its columns.
        metadata: the metadata of the document that is read, or will begin next.
        passed_over: how often the file has what is not read, by kind in the plural.
        state: what the marks of the format have noted; what comments say, by their keys.
        begun: the number of documents that have begun.
        unspaced_words: the IDs of words of the sentence that no blank follows, although no flag says so.
    """

    def __init__(self, form: ColumnFormat, blocks: Blocks, options: FormatOptions, file: str) -> None:
        self.form, self.options, self.file = form, options, file
        self._blocks = blocks
        self.columns = form.columns(blocks, file, options)
        self.metadata: dict[str, str] = {}
        self.passed_over: Counter[str] = Counter()
        self.state = form.state()
        self.unspaced_words: set[str] = set()
        self.layout: _Layout | None = None
        self.id: str | None = None
        self.is_open = False
        self._schemes: Mapping[str, str | None] = {}
        self._ready: list[Document] = []
        self.begun = 0
        self._start = 0
        self._head: str | None = None
        self._described = _LineOfDocument(None, {})
        self._missing = {source for source in self._wanted().values() if isinstance(source, str)}
        self._keys: dict[str, bool] = {}  # the keys of pairs, and whether all their values are tags
        self._clear()

    def _clear(self) -> None:
        """Forget the lines of a document."""
        self.rows = 0
        self._runs: list[str] = []
        self._first_rows: list[int] = []  # of each run
        self._first_lines: list[int] = []
        self._ends: list[int] = []  # the row after each sentence
        self._heads: list[str | None] = []
        self._unspaced: list[
            tuple[int, frozenset[str]]
        ] = []  # the number of a sentence, and such words of it

    def refuse(self, line: int, problem: str, advice: str | None = None) -> NoReturn:
        """Raise `FormatError` with the number of a line."""
        raise FormatError(problem, file=self.file, line=line, advice=advice, document=self.id)

    def documents(self) -> Iterator[Document]:
        """Yield the documents of the file; memory holds one, and a block.

        Raises `FormatError` and `TagError` with the line for what cannot be read. If ill-formed tags are discarded or
        refused and no scheme is named, the file is read once more before, for its scheme.
        """
        if self.options.scheme is None and self.options.invalid not in (None, "conlleval"):
            self._schemes = self._recognised()
        for number, text in self._blocks():
            self._feed(number, text)
            yield from self._ready
            self._ready = []
        self.use_comments()
        self.form.at_end(self)
        self.end_document()
        yield from self._ready
        self._require_sources()

    def _require_sources(self) -> None:
        """Raise `UsageError` for a key of pairs that does not occur where other keys have tags."""
        others = [key for key, holds_tags in self._keys.items() if holds_tags]
        for layer, source in self._wanted().items():
            if others and source in self._missing and source not in self.form.bracketed:
                raise UsageError(
                    f"the file has no {source!r} for layer {layer!r}",
                    file=self.file,
                    advice=f"sources with tags: {', '.join(others)}",
                )

    def _recognised(self) -> Mapping[str, str | None]:
        lenient = replace(self.options, invalid=None)
        read = Read()
        for document in ColumnReader(self.form, self._blocks, lenient, self.file).documents():
            read.add([("gold", document)])
        return {layer: scheme for (_, _, layer), scheme in read.schemes().items()}

    # Lines

    def _feed(self, number: int, text: str) -> None:
        special = self.form.special
        if not self.form.blank_ends:
            self._line_by_line(number, text)
            return
        if text[0] in " \t" or "\n " in text or "\n\t" in text:
            text = _BLANK_LINE.sub("", text)
        position, length = 0, len(text)
        while position < length:
            if text[position] == "\n":
                self.end_sentence()
                position, number = position + 1, number + 1
                continue
            end = text.find("\n\n", position) + 1 or length
            run = text[position:end]
            if special.search(run):
                self._line_by_line(number, run)
            else:
                self._tokens(number, run)
            number += run.count("\n")
            position = end

    def _line_by_line(self, number: int, run: str) -> None:
        """Read lines of which some may be no tokens; the lines between these are read together."""
        position = 0
        for match in self.form.special.finditer(run):
            start = match.start()
            if start > position:
                self._tokens(number, run[position:start])
                number += run.count("\n", position, start)
            position = run.index("\n", start) + 1
            line = run[start : position - 1]
            if not self._acts(number, line):
                self._tokens(number, f"{line}\n")
            number += 1
        if position < len(run):
            self._tokens(number, run[position:])

    def _acts(self, number: int, line: str) -> bool:
        """Read a special line; return false if it is a token line, too."""
        kind = self.form.passed_over(self, number, line)
        if kind is not None:
            self.passed_over[kind] += 1
            return True
        if self.form.is_token(self, line):
            return False
        for mark in self.form.marks:
            if match := mark.pattern.match(line):
                mark.act(self, number, match)
                break
        return True

    def _tokens(self, number: int, run: str) -> None:
        self.use_comments()
        if self.form.in_documents and not self.is_open:
            self.refuse(number, "a token outside documents", self.form.in_documents)
        layout = self.layout
        if layout is None:
            layout = self.layout = self._layout(number, run[: run.index("\n")])
        if self.form.ragged:
            run = self._cut(number, run)
        elif layout.separator == " ":
            if run[0] == " " or "  " in run or "\n " in run or " \n" in run:
                lines = run[:-1].split("\n")
                run = "".join(" ".join(filter(None, line.split(" "))) + "\n" for line in lines)
        elif "\t\n" in run:
            run = self._without_empty_fields(run, layout.width)
        if layout.document is None and not layout.meta:
            self._add(number, run)
            return
        numbered_lines = enumerate(run[:-1].split("\n"), number)
        of_document = partial(_line_of_document, layout=layout, has_entities=self.form.entities)
        for described, group in groupby(numbered_lines, of_document):
            numbered = list(group)
            if described is not None:
                self._describe(numbered[0][0], described)
            self._add(numbered[0][0], "".join(f"{line}\n" for _, line in numbered))

    def _describe(self, number: int, line: _LineOfDocument) -> None:
        """Begin a document if its id differs from that of the line before; add the metadata of its first line."""
        before, self._described = self._described, line
        is_new = not self.is_open or self.rows == 0
        head = self._head
        if line.id is not None and not is_new and line.id != before.id:
            self.begin_document(line.id, line.metadata)
            self._head = head
        elif is_new:
            self.require_document()
            self.id = self.id if line.id is None else line.id
            self.metadata |= line.metadata
        elif line.metadata != before.metadata:
            name = next(name for name, value in line.metadata.items() if before.metadata.get(name) != value)
            raise FormatError(
                f"the metadata {name!r} changes from {before.metadata.get(name)!r} to {line.metadata[name]!r} "
                "within a document",
                file=self.file,
                line=number,
                advice="name the column with the ids of documents with document_column",
            )

    def _add(self, number: int, run: str) -> None:
        self.require_document()
        self._first_rows.append(self.rows)
        self._first_lines.append(number)
        self._runs.append(run)
        self.rows += run.count("\n")

    def _without_empty_fields(self, run: str, width: int) -> str:
        """Return lines without the empty fields at their ends that make them wider."""
        lines = run.split("\n")
        for place, line in enumerate(lines):
            more = line.count("\t") + 1 - width
            if more > 0 and line.endswith("\t" * more):
                lines[place] = line[:-more]
                self.passed_over["empty fields"] += more
        return "\n".join(lines)

    def _cut(self, number: int, run: str) -> str:
        """Return the columns that are used of lines with different numbers of columns, separated by tabs."""
        assert self.columns.token is not None
        used = [self.columns.token, *self._numbers().values()]
        places = [column - (column > 0) for column in used]
        least = max(map(abs, used))
        fields = _fields_of(run)
        width = fields.index("\n")
        if width >= least and fields[width :: width + 1].count("\n") == run.count("\n"):
            columns = [fields[place % width :: width + 1] for place in places]
            return "\n".join([*map("\t".join, zip(*columns, strict=True)), ""])
        lines: list[str] = []
        for offset, line in enumerate(run[:-1].split("\n")):
            fields = _fields_of(f"{line}\n")[:-1]
            if len(fields) < least:
                if lines:
                    self._add(number, "\n".join([*lines, ""]))
                self._document()  # the first error is in a line before, if one is wrong
                column = next(column for column in used if abs(column) > len(fields))
                self.refuse(number + offset, f"the line has {len(fields)} columns, no column {column}")
            lines.append("\t".join([fields[place] for place in places]))
        return "\n".join([*lines, ""])

    def _numbers(self) -> dict[str, int]:
        """Return the column of each layer of a ragged file."""
        names = self.columns.names
        numbers = {}
        for layer, source in self._wanted().items():
            if isinstance(source, str) and source not in names:
                raise UsageError(
                    f"there is no source {source!r} for layer {layer!r}",
                    file=self.file,
                    advice=f"{', '.join(filter(None, names))}, or the number of a column",
                )
            numbers[layer] = names.index(source) + 1 if isinstance(source, str) else source
        return numbers

    def _wanted(self) -> Mapping[str, int | str]:
        return {DEFAULT_LAYER: self.columns.default} if self.options.layers is None else self.options.layers

    def _layout(self, number: int, line: str) -> _Layout:
        """Return the use of the columns, given the first token line."""
        form, options, names = self.form, self.options, self.columns.names
        if form.ragged:
            cut = {layer: place for place, layer in enumerate(self._numbers(), 1)}
            return _Layout(len(cut) + 1, "\t", 0, cut)
        separator = form.separator or ("\t" if "\t" in line else " ")
        if options.layers is None and self.columns.default == -1:
            line = line.rstrip("\t")  # the last column that has a value holds the tags
        fields = line.split("\t") if separator == "\t" else list(filter(None, line.split(" ")))
        width = len(names) if form.is_named else len(fields)

        place = partial(self._place, number, width, separator)
        token_id = None if options.token_id is None else place(options.token_id, "the token ids")
        document = (
            None if options.document_column is None else place(options.document_column, "the documents")
        )
        meta = tuple((name, place(column, f"the metadata {name!r}")) for name, column in options.meta)
        described = {document, *(column for _, column in meta)} - {None}
        wanted = self._wanted()
        if options.layers is None and self.columns.default == -1:
            wanted = {DEFAULT_LAYER: max({*range(width)} - described or {width - 1}) + 1}
        layers: dict[str, int | str] = {}
        for layer, source in wanted.items():
            found = source if isinstance(source, int) else self._named(layer, source)
            layers[layer] = place(found, f"layer {layer!r}") if isinstance(found, int) else found
        token = options.token or self.columns.token
        taken = {token_id, *described, *layers.values()}
        free = [column for column in range(width) if column not in taken]
        if token is not None and place(token, "the tokens") in taken:
            self.refuse(
                number,
                f"column {token} cannot hold both tokens and tags: the line has {width} columns",
                "give PREDICTED, or one file with tokens, gold and predicted tags; token=... names the column",
            )
        if token is None and not free:
            self.refuse(
                number,
                f"no column is left for the tokens: the line has {width} column{'s' * (width != 1)}",
                "name the columns with layers={'NAME': COLUMN}",
            )
        return _Layout(
            width,
            separator,
            free[0] if token is None else place(token, "the tokens"),
            layers,
            token_id,
            document,
            meta,
        )

    def _place(self, number: int, width: int, separator: str, column: int, use: str) -> int:
        """Return the number of a column from 0. Raises `UsageError` for 0, `FormatError` for one that is missing."""
        if column == 0:
            raise UsageError(
                f"column 0 named for {use}", advice="columns count from 1, or from -1 at the end"
            )
        if abs(column) > width:
            self.refuse(
                number,
                f"there is no column {column} for {use}: the line has {width} column{'s' * (width != 1)}",
                "name columns with layers={'NAME': COLUMN}, layers={'NAME': (GOLD, PREDICTED)}, or "
                "layers={'NAME': (GOLD, None)} if only gold has it"
                + (", separated by tabs" if separator == "\t" and width == 1 else ""),
            )
        return column - 1 if column > 0 else width + column

    def _named(self, layer: str, source: str) -> int | str:
        """Return the column with a name, from 1, or the name of a key of pairs."""
        names = self.columns.names
        if not names:
            raise UsageError(
                f"layer {layer!r} has the source {source!r}, but the columns of this format have no names",
                file=self.file,
                advice="give the number of the column, as in layers={'entity': 2}",
            )
        place = (
            place_of(source, names) if self.form.pairs else names.index(source) if source in names else None
        )
        if place is not None:
            return place + 1
        if self.form.pairs:
            return source
        raise UsageError(
            f"there is no column {source!r} for layer {layer!r}",
            file=self.file,
            advice=f"the columns are {', '.join(filter(None, names))}",
        )

    # Documents and sentences

    def use_comments(self) -> None:
        """Use the notes of comments before a token, where these begin documents."""
        if self.form.sentence_end and self.state:
            notes, self.state = self.state, {}
            identifier = notes.pop("document_id", None)
            if identifier is not None or (notes and not self.is_open):
                self.begin_document(identifier, notes)

    def begin_document(self, identifier: str | None, metadata: Mapping[str, str] | None = None) -> None:
        """End the current document, and begin the next; without an identifier, its id is its number."""
        self.end_document()
        self.begun += 1
        self.is_open, self.id, self.metadata = True, identifier, dict(metadata or {})

    def require_document(self) -> None:
        """Begin a document unless one is open; the metadata and the sentence id before it belong to it."""
        if not self.is_open:
            head = self._head
            self.begin_document(None, self.metadata)
            self._head = head

    def begin_sentence(self, identifier: str | None) -> None:
        """End the current sentence; the next one has this id."""
        self.end_sentence()
        self._head = identifier

    def end_sentence(self) -> None:
        """End the current sentence if it has tokens."""
        if self.rows > (self._ends[-1] if self._ends else 0):
            self._ends.append(self.rows)
            self._heads.append(self._head)
            if self.unspaced_words:
                self._unspaced.append((len(self._ends) - 1, frozenset(self.unspaced_words)))
        self.unspaced_words.clear()
        self._head = None

    def end_document(self) -> None:
        """End the current document, if there is one."""
        self.end_sentence()
        if not self.is_open:
            return
        self._ready.append(self._document())
        self._start += self.rows
        self.is_open, self.id, self.metadata = False, None, {}
        self._clear()

    def line_of(self, row: int) -> int:
        """Return the line of a row of the current document."""
        place = bisect_right(self._first_rows, row) - 1
        return self._first_lines[place] + row - self._first_rows[place]

    def _lines(self) -> Sequence[int]:
        ends = [*self._first_rows[1:], self.rows]
        places = zip(self._first_rows, ends, self._first_lines, strict=False)
        ranges = (range(line, line + end - first) for first, end, line in places)
        return array("q", chain.from_iterable(ranges))

    def _document(self) -> Document:
        """Return the current document."""
        layout = self.layout
        spans: dict[str, list[Span]] = {}
        rows: dict[str, list[Row]] = {layer: [] for layer in self._wanted()}
        tags: dict[str, list[str]] = {}
        tokens: list[str] = []
        token_ids = None
        text = None
        sentences = [
            Sentence(first + self._start, end + self._start, head)
            for first, end, head in zip([0, *self._ends], self._ends, self._heads, strict=False)
        ]
        if layout is not None and self._runs:
            columns = self._split(layout)
            tokens = columns[layout.token]
            for layer, source in layout.layers.items():
                values = self._values(columns, source, layer)
                if self._is_bracketed(layer):
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
        kept = {layer: own for layer, own in rows.items() if layer not in spans}
        made = Layers({}, kept)
        return Document(
            MissingId(self.begun) if self.id is None else self.id,
            {layer: spans.get(layer, made.get(layer, ())) for layer in rows} if spans else made,
            tokens=tokens,
            text=text,
            start=self._start,
            token_ids=token_ids,
            sentences=sentences,
            metadata=Frozen(self.metadata),
            tags=Frozen(tags),
            lines=self._lines(),
            file=self.file,
        )

    # Columns of a document

    def _split(self, layout: _Layout) -> list[list[str]]:
        """Return the columns of the document. Raises `FormatError` for the first line that does not fit."""
        text = "".join(self._runs)[:-1]
        width, separator = layout.width, layout.separator
        fields = text.replace("\n", separator).split(separator)
        columns = [fields[column::width] for column in range(width)]
        ends = f"{text}\n".encode(errors="surrogatepass").translate(None, _WITHIN_FIELDS[separator])
        if ends != (separator * (width - 1) + "\n").encode() * self.rows or "" in columns[layout.token]:
            self._refuse_misfit(layout, text)
        if self.form.entities and "&" in text:
            return [list(map(unescape, column)) for column in columns]
        return columns

    def _refuse_misfit(self, layout: _Layout, text: str) -> NoReturn:
        for row, line in enumerate(text.split("\n")):
            fields = line.split(layout.separator)
            if len(fields) != layout.width:
                found = f"the line has {len(fields)} column{'s' * (len(fields) != 1)}"
                if self.form.is_named:
                    self._refuse_width(row, f"{found}, not {layout.width}")
                prose = layout.separator == " " and self.file.endswith(".txt")
                raise FormatError(
                    f"{found}, the first token line has {layout.width}",
                    file=self.file,
                    line=self.line_of(row),
                    advice=_PROSE if prose else None,
                )
            if not fields[layout.token]:
                raise FormatError("the token is empty", file=self.file, line=self.line_of(row))
        raise AssertionError("all lines fit")

    def _refuse_width(self, row: int, problem: str) -> NoReturn:
        raise FormatError(
            problem,
            file=self.file,
            line=self.line_of(row),
            advice="columns are separated by tabs; a file of CoNLL-Plus names them in # global.columns; "
            "input='conll' reads other columns",
        )

    def _values(self, columns: list[list[str]], source: int | str, layer: str) -> list[str]:
        """Return the values of a layer: a column, or what its pairs have under a key."""
        nothing = "" if self._is_bracketed(layer) else OUTSIDE
        if isinstance(source, int):
            values = columns[source]
        else:
            place = place_of(self.form.pairs, self.columns.names)
            if place is None:
                return [nothing] * len(columns[0])
            known = {
                value: self._value_of(source, value) or nothing for value in dict.fromkeys(columns[place])
            }
            values = [known[value] for value in columns[place]]
        if self.form.none and not {*self.form.none}.isdisjoint(values):
            return [nothing if value in self.form.none else value for value in values]
        return values

    def _value_of(self, key: str, value: str) -> str | None:
        """Return the value of a key in pairs, and note whether it occurs."""
        pairs = pairs_of(value)
        if key in self._missing:
            self._missing -= pairs.keys()
            for name, own in pairs.items():
                if self._keys.get(name, len(self._keys) < _MOST_KEYS):
                    self._keys[name] = is_tag(own)
        return pairs.get(key)

    def _is_bracketed(self, layer: str) -> bool:
        return self.form.bracketed == ("*",) or self._wanted()[layer] in self.form.bracketed

    def _decoded(self, layer: str, tags: list[str]) -> list[Row]:
        """Return the spans of the tags of a document. Raises `TagError` with its line."""
        ends = [] if self.form.sentence_end else self._ends
        if ends:
            bordered: list[str] = []
            first = 0
            for end in ends:
                bordered += tags[first:end]
                bordered.append(OUTSIDE)
                first = end
        else:
            bordered = tags
        borders = [end + number for number, end in enumerate(ends)]
        scheme = self.options.scheme or self._schemes.get(layer)
        invalid = self.options.invalid or "conlleval"
        try:
            chunks = chunks_of(bordered, scheme, invalid)
        except TagError as error:
            index, problem = place_of_error(bordered, scheme, error)
            row = index - bisect_left(borders, index)
            if index in borders or row >= len(tags):
                row -= 1
            advice = f"{error.advice}; layers=... names the column of the tags" if error.advice else None
            raise TagError(
                problem,
                file=self.file,
                line=self.line_of(row),
                document=self.id,
                advice=advice or f"layer {layer!r}; invalid=... sets the treatment of ill-formed tags",
            ) from None
        if not borders:
            return [(start + self._start, end + self._start, label) for start, end, label in chunks]
        shifts = [self._start - bisect_left(borders, start) for start, _, _ in chunks]
        return [
            (start + shift, end + shift, label)
            for (start, end, label), shift in zip(chunks, shifts, strict=True)
        ]

    def _in_brackets(self, layer: str, values: list[str]) -> list[Span]:
        brackets = self.form.brackets(layer, self)
        spans: list[Span] = []
        first, ends = 0, {*self._ends}
        for end in (*self._ends, self.rows):
            for row in compress(range(first, end), values[first:end]):
                spans += brackets.see(values[row], self._start + row, self.line_of(row))
            if end in ends:
                brackets.end_sentence()
            first = end
        brackets.end_document()
        return sorted(spans, key=lambda span: (span.start, -span.end))

    def _require_different(self, token_ids: list[str]) -> None:
        if len({*token_ids}) == len(token_ids):
            return
        seen: dict[str, int] = {}
        for row, token_id in enumerate(token_ids):
            line = self.line_of(row)
            if seen.setdefault(token_id, line) != line:
                self.refuse(
                    line,
                    f"token id {token_id!r} is already used in line {seen[token_id]}",
                    "token ids are unique within a document",
                )

    def _flags(self, columns: list[list[str]]) -> list[str] | None:
        """Return the column of flags, if there is one."""
        place = place_of(self.form.flags, self.columns.names) if self.form.flags else None
        return None if place is None or len(columns) != len(self.columns.names) else columns[place]

    def _flagged_sentences(self, flags: list[str]) -> list[Sentence]:
        ends = [row + 1 for row in _rows_with(self.form.sentence_end, flags)]
        if ends and ends[-1] < self.rows:
            ends.append(self.rows)
        places = zip([0, *ends], ends, strict=False)
        return [Sentence(first + self._start, end + self._start) for first, end in places]

    def _text(self, columns: list[list[str]], tokens: list[str], flags: Sequence[str]) -> str | None:
        """Return the text of tokens with a blank where no flag denies it; None if a blank follows all."""
        unspaced = {*_rows_with(self.form.no_space, flags)} if self.form.no_space else set()
        for number, words in self._unspaced:
            first, end = self._ends[number - 1] if number else 0, self._ends[number]
            ids = columns[self.columns.names.index("ID")][first:end]
            unspaced.update(first + row for row, own in enumerate(ids) if own in words)
        if not unspaced:
            return None
        parts = [token if row in unspaced else f"{token} " for row, token in enumerate(tokens)]
        return "".join(parts).removesuffix(" ")


def _fields_of(run: str) -> list[str]:
    """Return the fields of lines, a line end after those of each; several blanks separate two fields as one does."""
    separator = "\t" if "\t" in run else " "
    fields = run.replace("\n", f"{separator}\n{separator}").split(separator)
    return list(filter(None, fields)) if separator == " " else fields[:-1]


def _line_of_document(
    numbered: tuple[int, str], layout: _Layout, has_entities: bool
) -> _LineOfDocument | None:
    """Return what a line says of its document; None for one that does not fit, which is an error later."""
    fields = numbered[1].split(layout.separator)
    if len(fields) != layout.width:
        return None
    fields = list(map(unescape, fields)) if has_entities else fields
    identifier = None if layout.document is None else fields[layout.document]
    return _LineOfDocument(identifier, {name: fields[column] for name, column in layout.meta})


def _rows_with(flag: str, values: Sequence[str]) -> list[int]:
    """Return the rows whose value has a flag."""
    having = {value for value in {*values} if flag in value and flag in value.split("|")}
    return [row for row, value in enumerate(values) if value in having] if having else []


def place_of(name: str, names: Sequence[str]) -> int | None:
    """Return the number of the column with a name, from 0, in any case; None if there is none."""
    if name in names:
        return names.index(name)
    folded = [each.casefold() for each in names]
    return folded.index(name.casefold()) if name.casefold() in folded else None


def pairs_of(value: str) -> dict[str, str]:
    """Return the pairs of a value.

    >>> pairs_of("NER=B-PER|SpaceAfter=No|x")
    {'NER': 'B-PER', 'SpaceAfter': 'No'}
    """
    parts = (part.partition("=") for part in value.split("|")) if "=" in value else ()
    return {key: own for key, equals, own in parts if equals}


def read_columns(blocks: Blocks, form: ColumnFormat, options: FormatOptions, file: str) -> Iterator[Document]:
    """Yield the documents of a file. Raises the errors of `ColumnReader.documents`."""
    return ColumnReader(form, blocks, options, file).documents()
