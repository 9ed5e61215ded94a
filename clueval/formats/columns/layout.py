"""The layout of a column file: the use of each column, which depends on the width of the lines, and its options."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from clueval.core.span import DEFAULT_LAYER
from clueval.files.errors import FormatError, UsageError
from clueval.limits import MAX_LINE, MAX_SENTENCE
from clueval.textfiles import Part


class Sizes(NamedTuple):
    """Sizes that affect speed and memory, but never the result; tests use small ones.

    Args:
        block: number of bytes that are read at a time; the lines made from them fit in the cache of a processor.
        sentences, tokens: a passage ends after this number of sentences, or after the sentence with which it
            reaches this number of tokens.
        rows, characters: approximate number of lines and of characters that are parsed at a time.
        runs: the number of different clusters that are collected before they are counted.
    """

    block: int = 1 << 17
    sentences: int = 2000
    tokens: int = 1 << 20
    rows: int = 1 << 14
    characters: int = 1 << 15
    runs: int = 1 << 15


SIZES = Sizes()


KINDS_OF_ROWS = {"-": "multiword tokens", ".": "empty nodes"}
"""What the rows ``3-4`` and ``5.1`` stand for where the first column numbers the tokens of a sentence."""

NO_TOKEN = re.compile(r"^ *[0-9]+([-.])[0-9]+[\t ]", re.MULTILINE)
"""The beginning of such a row."""


class NamedColumns(NamedTuple):
    """The columns of a file whose first lines show how they are used.

    Attributes:
        names: the name of each column; none if columns have no names.
        tags: the number of the column that is the layer ``label`` if no layer is named, from 1, or from -1 at the end.
        token: the number of the column of the tokens, from 1.
        misc: the number of the column of flags about a token, from 0; None if there is none.
        is_hipe: whether the file has the format of HIPE, in which tags are decoded over the whole document; otherwise,
            the first column has the numbers of the tokens in their sentence.
    """

    names: tuple[str, ...]
    tags: int
    token: int
    misc: int | None = None
    is_hipe: bool = False


class Sources(NamedTuple):
    """Where a format whose reader makes lines (`clueval.formats.columns.made_lines`) finds the values of each layer.

    Attributes:
        of: the column or the name of each layer's source.
        in_brackets: the layers whose values are brackets; those of the others are tags.
        has_flags: whether the last column of the lines that are made has flags about a token.
    """

    of: Mapping[str, int | str]
    in_brackets: tuple[str, ...] = ()
    has_flags: bool = False


class ColumnOptions(NamedTuple):
    """The options for a column file; columns count from 1, or from -1 at the end.

    `layers` maps the name of each layer to the column of its tags; None means the last column, as layer
    ``label``. `token` and `token_id` are the columns of the tokens and their ids; `token` None means the
    first column without other use. `document_column` is the column of the ids of documents; a document begins where
    its value changes. `meta` are the names and columns of metadata. `part` limits reading to a part
    of the file, which is read like a whole file. `max_line` limits the bytes of a line, `max_sentence` the tokens of
    a sentence. `named` has the columns of a file whose beginning shows how they are used.
    `sources` has the sources of layers if the lines of a file are made by its reader.
    """

    layers: Mapping[str, int] | None = None
    token: int | None = None
    token_id: int | None = None
    document_column: int | None = None
    meta: tuple[tuple[str, int], ...] = ()
    document_tag: str = "text"
    sentence_tag: str = "s"
    part: Part | None = None
    max_line: int = MAX_LINE
    max_sentence: int = MAX_SENTENCE
    sizes: Sizes = SIZES
    named: NamedColumns | None = None
    sources: Sources | None = None

    @property
    def describes_documents(self) -> bool:
        """Whether columns have the ids or the metadata of documents."""
        return self.document_column is not None or bool(self.meta)


class Layout(NamedTuple):
    """The columns of a file with lines of `width` fields; columns are numbered from 0.

    `misc` is the column of flags about tokens, of which ``NoSpaceAfter`` and ``EndOfSentence`` are used. `made`: the
    columns are not those of the file.
    """

    width: int
    separator: str
    token: int
    token_id: int | None
    layers: tuple[tuple[str, int], ...]
    entities: bool
    document: int | None = None
    meta: tuple[tuple[str, int], ...] = ()
    misc: int | None = None
    made: bool = False

    @property
    def columns(self) -> dict[str, int]:
        """The number of each layer's column in the file, from 1."""
        return {} if self.made else {name: column + 1 for name, column in self.layers}

    @property
    def border(self) -> str:
        """The line that separates two sentences in a table: O in every field."""
        return self.separator.join(["O"] * self.width) + "\n"


def layout_of(
    line: str, separator: str, options: ColumnOptions, entities: bool, file: str, number: int
) -> Layout:
    """Return the layout of a file whose first token line is `line`, with the line number `number`.

    `entities` is true if the format has character references. Raises `FormatError` for columns that the line
    does not have, `UsageError` for a column 0.
    """
    width = len(fields_of(line, separator))

    def place(column: int, use: str) -> int:
        if column == 0:
            raise UsageError(
                f"column 0 named for {use}", advice="columns count from 1, or from -1 at the end"
            )
        if abs(column) > width:
            raise FormatError(
                f"there is no column {column} for {use}: the line has {width} column{'s' * (width != 1)}",
                file=file,
                line=number,
                advice="name columns with layers={'NAME': COLUMN}, layers={'NAME': (GOLD, PREDICTED)}, or "
                "layers={'NAME': (GOLD, None)} if only gold has it"
                + (", separated by tabs" if separator == "\t" and width == 1 else ""),
            )
        return column - 1 if column > 0 else width + column

    token_id = None if options.token_id is None else place(options.token_id, "the token ids")
    document = None if options.document_column is None else place(options.document_column, "the documents")
    meta = tuple((name, place(column, f"the metadata {name!r}")) for name, column in options.meta)
    described = {document, *(column for _, column in meta)} - {None}
    last = max(({*range(width)} - described) or {width - 1})
    wanted = {DEFAULT_LAYER: last + 1} if options.layers is None else options.layers
    layers = tuple((name, place(column, f"layer {name!r}")) for name, column in wanted.items())
    taken = {token_id, *described, *(column for _, column in layers)}
    if options.token is not None and place(options.token, "the tokens") in taken:
        raise FormatError(
            f"column {options.token} cannot hold both tokens and tags: the line has {width} columns",
            file=file,
            line=number,
            advice="give PREDICTED, or one file with tokens, gold and predicted tags; token=... names the column",
        )
    free = [column for column in range(width) if column not in taken]
    if options.token is None and not free:
        raise FormatError(
            f"no column is left for the tokens: the line has {width} column{'s' * (width != 1)}",
            file=file,
            line=number,
            advice="name the columns with layers={'NAME': COLUMN}",
        )
    token = free[0] if options.token is None else place(options.token, "the tokens")
    misc = options.named.misc if options.named is not None and width == len(options.named.names) else None
    if options.sources is not None and options.sources.has_flags:
        misc = width - 1
    made = options.sources is not None
    return Layout(width, separator, token, token_id, layers, entities, document, meta, misc, made)


def fields_of(line: str, separator: str) -> list[str]:
    """Return the fields of a line, split at every tab or at every blank."""
    return line.split("\t") if separator == "\t" else line.split(" ")


def columns_of_layers(
    layers: Mapping[str, int | str] | None, named: NamedColumns | None, file: str
) -> Mapping[str, int] | None:
    """Return the column of each layer; a name stands for its column. Raises `UsageError` for an unknown name."""
    if layers is None:
        return None if named is None else {DEFAULT_LAYER: named.tags}
    return {layer: _column(layer, source, named, file) for layer, source in layers.items()}


def _column(layer: str, source: int | str, named: NamedColumns | None, file: str) -> int:
    if isinstance(source, int):
        return source
    if named is None or not named.names:
        raise UsageError(
            f"layer {layer!r} has the source {source!r}, but the columns of this format have no names",
            file=file,
            advice="give the number of the column, as in layers={'entity': 2}",
        )
    if source not in named.names:
        raise UsageError(
            f"there is no column {source!r} for layer {layer!r}",
            file=file,
            advice=f"the columns are {', '.join(filter(None, named.names))}",
        )
    return named.names.index(source) + 1


NAME = r"[^\W\d][\w:.\-]*+"  # possessive, without backtracking, so that each line costs linear time
_ENTITY = "&(?:(amp|lt|gt|quot|apos)|#([0-9]{1,7})|#[xX]([0-9a-fA-F]{1,6}));"
_NAMED = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}


def unescape(text: str) -> str:
    """Decode the five entities of XML and character references; other ampersands stay unchanged.

    >>> unescape("R&amp;D &#167; & &co;")
    'R&D § & &co;'
    """
    return re.sub(_ENTITY, _character, text)


def _character(match: re.Match[str]) -> str:
    name, decimal, hexadecimal = match.groups()
    if name:
        return _NAMED[name]
    code = int(decimal) if decimal else int(hexadecimal, 16)
    return chr(code) if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000 else match[0]
