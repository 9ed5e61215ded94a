"""Formats with one token per line: how they are described, and a file of them while its lines are read.

A format says which lines are no tokens (`LineRule`), which columns have the tokens and the labels, and how values
become tags or spans (`ColumnFormat`). Its rules begin and end the documents and sentences of a `ColumnInput`, and its
first token line tells the use of each column (`layout_of`).
"""

from __future__ import annotations

import re
import sys
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from operator import methodcaller
from typing import Any, ClassVar, NamedTuple, NoReturn

from clueval.core.document import Document, Sentence
from clueval.core.span import DEFAULT_LAYER, Span
from clueval.files.errors import CluevalError, FormatError, UsageError, with_noun
from clueval.files.opening import document_too_long, sentence_too_long
from clueval.formats.form import Form, Kind
from clueval.formats.input_file import InputFile
from clueval.formats.options import FormatOptions, columns_of_metadata

_LINES_IN_SENTENCE = 4
"""A sentence may have at most this many times the characters that a line may have."""

LINES: Callable[[str], int] = methodcaller("count", "\n")
"""Returns the number of lines of a text."""


class Columns(NamedTuple):
    """What is known of the columns of a file before its tokens are read.

    `names` are those of its columns, none if they have no names. `default` is the source of the layer that no option
    names: a column, from 1 or from -1 at the end, or a name. `token` is the column of the tokens, from 1; None: the
    first without other use.
    """

    names: tuple[str, ...] = ()
    default: int | str = -1
    token: int | None = None


class Layout(NamedTuple):
    """The columns of a file with lines of `width` fields, from 0; the source of a layer is a column or a key."""

    width: int
    separator: str
    token: int
    layers: Mapping[str, int | str]
    token_id: int | None = None
    document: int | None = None
    meta: tuple[tuple[str, int], ...] = ()


class TokenLines:
    """The lines of the tokens of one document, kept as text, and where its sentences end.

    Attributes:
        rows: the number of lines.
        of_sentence, characters: the number of lines and of characters of the sentence that is open.
        ends, heads: the row after each sentence, and its id, or the line that has it.
        unspaced: the number of a sentence, and the IDs of words of it that no blank follows.
    """

    def __init__(self) -> None:
        self.rows = self.of_sentence = self.characters = 0
        self.ends: list[int] = []
        self.heads: list[str | None] = []
        self.unspaced: list[tuple[int, frozenset[str]]] = []
        self._runs: list[str] = []
        self._first_rows: list[int] = []  # of each run
        self._first_lines: list[int] = []

    @property
    def text(self) -> str:
        """All lines, with their ends."""
        return "".join(self._runs)

    def add(self, number: int, run: str) -> None:
        """Add whole lines, given the number of the first."""
        self._first_rows.append(self.rows)
        self._first_lines.append(number)
        self._runs.append(run)
        rows = run.count("\n")
        self.rows += rows
        self.of_sentence += rows
        self.characters += len(run)

    def add_sentences(
        self, numbers: Sequence[int], heads: Sequence[str], runs: Sequence[str], sizes: Sequence[int]
    ) -> None:
        """Add the lines of whole sentences; see `ColumnInput.add_sentences`."""
        ends = list(accumulate(sizes, initial=self.rows))
        self._first_rows += ends[:-1]
        self._first_lines += numbers
        self._runs += runs
        self.heads += heads
        self.ends += ends[1:]
        self.rows = ends[-1]

    def of_sentences(self) -> list[str]:
        """Return the lines of each sentence, with their ends, if no sentence is open."""
        if self._first_rows[1:] == self.ends[:-1]:
            return self._runs
        sentences = []
        begin = 0
        for end in self.ends:
            past = bisect_left(self._first_rows, end)
            sentences.append("".join(self._runs[begin:past]))
            begin = past
        return sentences

    def line_of(self, row: int) -> int:
        """Return the number of the line of a row."""
        place = bisect_right(self._first_rows, row) - 1
        return self._first_lines[place] + row - self._first_rows[place]

    def numbers(self) -> Sequence[int]:
        """Return the number of each line."""
        return _LineNumbers(self._first_rows, self._first_lines, self.rows)

    def sentences(self, start: int, id_in: Callable[[str], str | None] | None) -> list[Sentence]:
        """Return the sentences, if the first token has the position `start`; `id_in` returns the id in a head."""
        ids = self.heads if id_in is None else [None if head is None else id_in(head) for head in self.heads]
        places = zip([0, *self.ends], self.ends, ids, strict=False)
        return [Sentence(first + start, end + start, identifier) for first, end, identifier in places]


class _LineNumbers(Sequence[int]):
    """The number of the line of each row: numbers follow each other from some first rows on."""

    def __init__(self, first_rows: Sequence[int], first_lines: Sequence[int], rows: int) -> None:
        self._first_rows, self._first_lines, self._rows = first_rows, first_lines, rows

    def __len__(self) -> int:
        return self._rows

    def __getitem__(self, row: Any) -> Any:
        chosen = range(self._rows)[row]
        if isinstance(chosen, range):
            return [self[number] for number in chosen]
        place = bisect_right(self._first_rows, chosen) - 1
        return self._first_lines[place] + chosen - self._first_rows[place]


class ColumnInput:
    """The documents and sentences of one file.

    Attributes:
        form, options: the description of its format, and the options.
        file, limits: the name of the file in errors, and the most that it may have.
        columns: what is known of its columns.
        layout: the use of its columns; None before its first token.
        id, metadata: those of the document that is read, or will begin next.
        start: the position of its first token.
        is_open: whether a document is open.
        begun: the number of documents that have begun.
        passed_over: how often the file has what is not read, by kind in the plural.
        state: what the line rules of the format have noted; what comments say, by their keys.
        unspaced_words: the IDs of words of the sentence that no blank follows, although no flag says so.
        lines: the lines of the tokens of the document.
        sources: the column of each layer, from 1, once they are known, if columns are counted.
        part: the numbers of tokens and of sentences after which a document is cut; it is, at the end of a sentence.
    """

    part = sys.maxsize, sys.maxsize

    def __init__(self, form: ColumnFormat, file: InputFile, options: FormatOptions) -> None:
        self.form, self.options, self.file, self.limits = form, options, file.name, file.limits
        self.columns = form.columns(file, options)
        self.state = form.state()
        self.layout: Layout | None = None
        self.id: str | None = None
        self.metadata: dict[str, str] = {}
        self.start = 0
        self.is_open = False
        self.begun = 0
        self.passed_over, self.sources = file.passed_over, file.sources
        self.unspaced_words: set[str] = set()
        self.lines = TokenLines()
        self._input = file
        self._head: str | None = None
        self._ready: list[Document] = []

    def refuse(self, line: int, problem: str, advice: str | None = None) -> NoReturn:
        """Raise `FormatError` with the number of a line."""
        raise FormatError(problem, file=self.file, line=line, advice=advice, document=self.id)

    def complain(self, error: CluevalError) -> None:
        """Raise the error of a line after which the file can be read on; a check lists it instead."""
        raise error

    def use_comments(self) -> None:
        """Begin the document of the notes of comments before a token, if these begin one."""
        if self.state:
            notes, self.state = self.state, {}
            identifier = notes.pop("document_id", None)
            if identifier is not None or (notes and not self.is_open):
                self.begin_document(identifier, notes)

    def begin_document(
        self,
        identifier: str | None,
        metadata: Mapping[str, str] | None = None,
        *,
        head: str | None = None,
    ) -> None:
        """End the current document, and begin the next, whose first sentence has the `head`.

        Without an identifier, its id is its number.
        """
        self.end_document()
        self.begun += 1
        self.is_open, self.id, self.metadata, self._head = True, identifier, dict(metadata or {}), head

    def require_document(self) -> None:
        """Begin a document unless one is open; the metadata and the sentence id before it belong to it."""
        if not self.is_open:
            self.begin_document(None, self.metadata, head=self._head)

    def begin_sentence(self, head: str) -> None:
        """End the current sentence; the next one has this id, or the id in this line."""
        self.end_sentence()
        self._head = head

    def end_sentence(self) -> None:
        """End the current sentence if it has tokens."""
        lines = self.lines
        if lines.of_sentence:
            lines.ends.append(lines.rows)
            lines.heads.append(self._head)
            lines.of_sentence = lines.characters = 0
            if self.unspaced_words:
                lines.unspaced.append((len(lines.ends) - 1, frozenset(self.unspaced_words)))
        self.unspaced_words.clear()
        self._head = None
        if lines.rows >= self.part[0] or len(lines.ends) >= self.part[1]:
            self.end_part()

    def end_part(self) -> None:
        """Take the lines of a document that is cut here."""
        raise NotImplementedError

    def end_document(self) -> None:
        """End the current document, if there is one."""
        self.end_sentence()
        if not self.is_open:
            return
        if (document := self.document()) is not None:
            self._ready.append(document)
        self.start += self.lines.rows
        self.is_open, self.id, self.metadata = False, None, {}
        self.lines = TokenLines()

    def document(self) -> Document | None:
        """Return the current document; None if it is left out, as one that an annotator has not annotated."""
        raise NotImplementedError

    def add(self, number: int, run: str) -> None:
        """Add lines of tokens to the current document. Raises `FormatError` for too many."""
        self.require_document()
        lines, limits = self.lines, self.limits
        lines.add(number, run)
        if lines.of_sentence > limits.max_sentence:
            first = lines.line_of(lines.rows - lines.of_sentence)
            raise sentence_too_long(self.file, first, limits.max_sentence)
        most = _LINES_IN_SENTENCE * limits.max_line
        if lines.characters > most:
            raise FormatError(
                f"the sentence that begins here has more than {most:,} characters",
                file=self.file,
                line=lines.line_of(lines.rows - lines.of_sentence),
                advice="if this is intended, raise max_line; this limit is four times as high",
            )
        if lines.rows > limits.max_document:
            raise document_too_long(self.file, lines.line_of(0), limits.max_document)

    def add_sentences(self, number: int, heads: Sequence[str], runs: Sequence[str], between: int) -> int:
        """Add whole sentences of the current document, given their heads and the lines of their tokens.

        `number` is that of the first line, and `between` lines follow those of each sentence. Returns the number of the
        line after all of them. Raises `FormatError` for too many.
        """
        sizes = list(map(LINES, runs))
        *numbers, following = accumulate([size + between for size in sizes], initial=number)
        self.end_sentence()
        self.require_document()
        limits = self.limits
        if (
            max(sizes) <= limits.max_sentence
            and max(map(len, runs)) <= _LINES_IN_SENTENCE * limits.max_line
            and self.lines.rows + sum(sizes) <= limits.max_document
        ):
            first = 0
            while first < len(runs):  # as many as the part takes
                rows = list(accumulate(sizes[first:], initial=self.lines.rows))
                past = first + min(self.part[1] - len(self.lines.ends), bisect_left(rows, self.part[0]))
                chosen = slice(first, past)
                self.lines.add_sentences(numbers[chosen], heads[chosen], runs[chosen], sizes[chosen])
                self.end_sentence()
                first = past
            return following
        for line, head, run in zip(numbers, heads, runs, strict=True):
            self.begin_sentence(head)
            self.add(line, run)
            self.end_sentence()
        return following


def wanted_layers(reader: ColumnInput) -> Mapping[str, int | str]:
    """Return the source of each layer: of those that the options name, or of the default layer."""
    layers = reader.options.layers
    return {DEFAULT_LAYER: reader.columns.default} if layers is None else layers


def place_of(name: str, names: Sequence[str]) -> int | None:
    """Return the number of the column with a name, from 0, in any case; None if there is none."""
    if name in names:
        return names.index(name)
    folded = [column.casefold() for column in names]
    return folded.index(name.casefold()) if name.casefold() in folded else None


# Descriptions

_OPTIONS = frozenset({"layers", "scheme", "invalid"})
KINDS_OF_ROWS = {"-": "multiword tokens", ".": "empty nodes"}
"""What the rows ``3-4`` and ``5.1`` stand for where a column numbers the tokens of a sentence."""


class LineRule(NamedTuple):
    """A line that is no token: its pattern, and what it does, given the number of the line."""

    pattern: str
    act: Callable[[ColumnInput, int, re.Match[str]], None]


NEW_DOCUMENT = r"#\s*newdoc(?:\s+id)?\s*(?:=(.*))?$"
SENTENCE = r"#\s*sent_id\s*=(.*)$"
META = r"#\s*meta::(\S+)\s*=(.*)$"
"""Comments of CoNLL-U, which other formats use, too."""


def new_document(reader: ColumnInput, number: int, match: re.Match[str]) -> None:
    """Begin the document of a comment `NEW_DOCUMENT`."""
    reader.begin_document((match[1] or "").strip() or None)


class OpenSpan(NamedTuple):
    """A span that has begun: its first token, its label and its line."""

    start: int
    label: str
    line: int


class Brackets:
    """The open brackets of a layer in one document; a format says how they are written."""

    def __init__(self, layer: str, reader: ColumnInput) -> None:
        self.layer, self.reader = layer, reader

    def see(self, value: str, position: int, line: int) -> Iterator[Span]:
        """Yield the spans that end at a token with this value. Raises `FormatError` for one that cannot be read."""
        raise NotImplementedError

    def end_sentence(self) -> None:
        """Raise `FormatError` for a bracket that must be closed in its sentence."""

    def end_document(self) -> None:
        """Raise `FormatError` for a bracket that is open at the end of the document."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ColumnFormat(Form):
    """How the lines of a format are read.

    Attributes:
        separator: what separates columns; none: a tab if the first token line has one, else a blank.
        special: the beginning of lines that may be no tokens; all others are.
        marks: lines that are no tokens, of which the first that fits acts.
        is_token: whether a special line that no mark fits is a token; otherwise it is a comment.
        sentence: returns the pattern of a whole sentence, if one may begin: the line before it, which is its head, the
            lines of its tokens, and the line after it; what it does not fit is read line by line.
        passed_over: returns the kind of a special line that is not read, but counted.
        id_in: returns the id of a sentence in the line before it, where this is not the id.
        columns: returns what the file says of its columns.
        bracketed: the names of sources whose values are brackets, ``*``: all.
        brackets: the class of these brackets.
        none: values that stand for no tag, or no bracket.
        pairs: the name of a column with ``KEY=VALUE`` pairs, whose keys are sources.
        flags: the name of a column with flags about a token.
        no_space: the flag of a token that no blank follows.
        sentence_end: the flag of the last token of a sentence, after which spans may go on.
        blank_ends: whether a blank line ends a sentence.
        entities: decodes the entities of XML in a field, if fields have these.
        ragged: whether lines have different numbers of columns, all of which are named or counted by the format.
        is_named: whether each line has all columns that have names.
        in_documents: what to do about a token outside documents; None: it begins one.
        state: makes what the marks of the format note about a file.
        at_end: refuses what is open at the end of the file.
    """

    separator: str = ""
    special: re.Pattern[str] = re.compile(r"(?!)")
    marks: tuple[LineRule, ...] = ()
    is_token: Callable[[ColumnInput, str], bool] = lambda reader, line: False
    sentence: Callable[[ColumnInput], re.Pattern[str] | None] = lambda reader: None
    passed_over: Callable[[ColumnInput, int, str], str | None] | None = None
    id_in: Callable[[str], str | None] | None = None
    columns: Callable[[InputFile, FormatOptions], Columns] = lambda file, options: Columns()
    bracketed: tuple[str, ...] = ()
    brackets: type[Brackets] = Brackets
    none: tuple[str, ...] = ()
    pairs: str = ""
    flags: str = ""
    no_space: str = ""
    sentence_end: str = ""
    blank_ends: bool = True
    entities: Callable[[str], str] | None = None
    ragged: bool = False
    is_named: bool = False
    in_documents: str | None = None
    state: Callable[[], Any] = dict
    at_end: Callable[[ColumnInput], None] = lambda reader: None
    options: frozenset[str] = _OPTIONS | {"token", "token_id", "document_column", "meta"}

    has_columns: bool = True
    counts_tokens: bool = True
    kind: ClassVar[Kind] = "columns"


# The use of the columns


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
