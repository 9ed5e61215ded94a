"""Formats with one token per line: how they are described.

A format says which lines are no tokens (`LineRule`), which columns have the tokens and the labels, and how values
become tags or spans (`ColumnFormat`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from clueval.core.span import Span
from clueval.formats.column_input import ColumnInput, Columns
from clueval.formats.input_file import Head
from clueval.formats.options import FormatOptions

Blocks = Callable[[], Iterable[tuple[int, str]]]
"""Returns a file from its beginning in blocks of whole lines, each with the number of its first line."""

_OPTIONS = frozenset({"layers", "scheme", "invalid"})
_NEVER = re.compile(r"(?!)")
KINDS_OF_ROWS = {"-": "multiword tokens", ".": "empty nodes"}
"""What the rows ``3-4`` and ``5.1`` stand for where a column numbers the tokens of a sentence."""


class LineRule(NamedTuple):
    """A line that is no token: its pattern, and what it does, given the number of the line."""

    pattern: re.Pattern[str]
    act: Callable[[ColumnInput, int, re.Match[str]], None]


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
        options: the options that apply to it.
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
    is_token: Callable[[ColumnInput, str], bool] = lambda reader, line: False
    passed_over: Callable[[ColumnInput, int, str], str | None] = lambda reader, number, line: None
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
    at_end: Callable[[ColumnInput], None] = lambda reader: None
    options: frozenset[str] = _OPTIONS | {"token", "token_id", "document_column", "meta"}

    def is_told(self, head: Head) -> bool:
        """Return whether a file with this beginning has the format."""
        return self.told(head.text)

    @property
    def recognised_by(self) -> str:
        """How files are recognised, in words."""
        return ", ".join([*(f"`{ending}`" for ending in self.endings), self.sign])
