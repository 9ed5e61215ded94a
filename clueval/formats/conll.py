"""CoNLL-like columns, numbered tokens, HIPE, and CoNLL-2012 (OntoNotes), whose entities are in brackets.

The rules of the formats stand in ``formats.md``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from clueval.core.span import Frozen, Span
from clueval.core.tags import is_tag
from clueval.formats.column_format import (
    KINDS_OF_ROWS,
    META,
    NEW_DOCUMENT,
    SENTENCE,
    Brackets,
    ColumnFormat,
    ColumnInput,
    Columns,
    LineRule,
    OpenSpan,
    new_document,
)
from clueval.formats.input_file import InputFile
from clueval.formats.options import FormatOptions
from clueval.formats.recognition import HIPE_HEADER, NO_TOKEN, numbered_rows

_NONE = ("_", "-")
# Comments


def _meta(reader: ColumnInput, number: int, match: re.Match[str]) -> None:
    reader.metadata[match[1]] = match[2].strip()


_DOCSTART = re.compile(r"-DOCSTART-(?:[\t ].*)?$")

_MARKS = (
    LineRule(_DOCSTART.pattern, lambda reader, number, match: reader.begin_document(None)),
    LineRule(
        r"#\s*id\s+([^\s=]+)((?:\s+[^\s=]+=\S*)*)\s*$",
        lambda reader, number, match: reader.begin_document(
            match[1], dict(pair.split("=", 1) for pair in match[2].split())
        ),
    ),
    LineRule(NEW_DOCUMENT, new_document),
    LineRule(SENTENCE, lambda reader, number, match: reader.begin_sentence(match[1].strip())),
    LineRule(META, _meta),
)


def _is_token(reader: ColumnInput, line: str) -> bool:
    if line[0] != "#":
        return _DOCSTART.match(line) is None
    layout = reader.layout
    separator = layout.separator if layout else "\t" if "\t" in line else " "
    if separator == "\t" and not line.startswith("# "):
        return "\t" in line
    fields = [value for value in line.split(separator) if value]
    if layout is None:  # the first lines of the file
        return len(fields) > 1 and (separator == "\t" or line[1] != " ") and is_tag(fields[-1])
    columns = [column for column in layout.layers.values() if isinstance(column, int)]
    return len(fields) == layout.width and all(is_tag(fields[column]) for column in columns)


CONLL = ColumnFormat(
    name="conll",
    holds="one token per line, columns separated by tabs or blanks, a blank line after each sentence, `-DOCSTART-`; "
    "a line that begins with `#` is a comment unless it has the columns of a token line",
    special=re.compile("^(?:#|-DOCSTART-)", re.MULTILINE),
    marks=_MARKS,
    is_token=_is_token,
)

# Numbered tokens


def _numbered(file: InputFile, options: FormatOptions) -> Columns:
    rows = numbered_rows(next(iter(file.blocks()), (1, ""))[1])
    if not rows:
        return Columns()
    columns = list(zip(*rows, strict=False))
    further = enumerate(columns[2:], 3)
    tags = [number for number, values in further if all(v not in _NONE and is_tag(v) for v in {*values})]
    is_germeval = tags == [3, 4] and len(columns) == 4
    return Columns(("", "token", "outer", "inner") if is_germeval else (), next(iter(tags), -1), 2)


def _kind_of_row(reader: ColumnInput, number: int, line: str) -> str | None:
    row = NO_TOKEN.match(line)
    return None if row is None else KINDS_OF_ROWS[row[1]]


NUMBERED = ColumnFormat(
    name="conll",
    holds="Universal NER and GermEval 2014: the number of each token in its sentence, the token, tags",
    special=re.compile(rf"^(?:#|-DOCSTART-|{NO_TOKEN.pattern})", re.MULTILINE),
    marks=_MARKS,
    is_token=lambda reader, line: line[0] != "#" and _DOCSTART.match(line) is None,
    passed_over=_kind_of_row,
    columns=_numbered,
)

# HIPE


def _hipe_columns(file: InputFile, options: FormatOptions) -> Columns:
    header = HIPE_HEADER.match(next(iter(file.blocks()), (1, ""))[1])
    names = tuple(header[1].split("\t")) if header is not None else ("TOKEN",)
    tags = next(name for name in ("NE-COARSE-LIT", *names[1:], *names) if name in names)
    return Columns(names, tags, 1)


def _note(reader: ColumnInput, number: int, match: re.Match[str]) -> None:
    """Note a comment; the second one with its key belongs to another document, which has no tokens before it."""
    if match[1] in reader.state and "document_id" in reader.state:
        reader.use_comments()
    reader.state[match[1]] = match[2].strip()


HIPE = ColumnFormat(
    name="conll",
    holds="HIPE 2020 and 2022: a first line with the names of columns, tags over whole documents",
    separator="\t",
    special=re.compile(r"^(?:# |TOKEN\t|[^\S\n]*\n)", re.MULTILINE),
    marks=(LineRule(r"#\s+(?:hipe2022:)?([^\s=]+)\s*=(.*)", _note),),
    is_token=lambda reader, line: (
        line.startswith("TOKEN\t") and tuple(line.split("\t")) != reader.columns.names
    ),
    columns=_hipe_columns,
    none=_NONE,
    flags="MISC",
    no_space="NoSpaceAfter",
    sentence_end="EndOfSentence",
    blank_ends=False,
)

# CoNLL-2012

_BRACKETS = re.compile(r"\(([^()*|\s]+)|\*|(\))")


class NestedBrackets(Brackets):
    """Brackets of which each closes the one that was opened last."""

    def __init__(self, layer: str, reader: ColumnInput) -> None:
        super().__init__(layer, reader)
        self._stack: list[OpenSpan] = []

    def see(self, value: str, position: int, line: int) -> Iterator[Span]:
        done = 0
        for match in _BRACKETS.finditer(value):
            if match.start() != done:
                break
            done = match.end()
            if match[1]:
                self._stack.append(OpenSpan(position, match[1], line))
            elif match[2]:
                if not self._stack:
                    self.reader.refuse(line, f"{value[:60]!r} closes a bracket that is not open")
                start, label, begun = self._stack.pop()
                yield Span(start, position + 1, Frozen({self.layer: label}), line=begun)
        if done < len(value):
            self.reader.refuse(line, f"{value[:60]!r} is not a bracket", "as in (ORG*, * or *)")

    def end_sentence(self) -> None:
        if self._stack:
            _, label, line = self._stack[-1]
            self.reader.refuse(line, f"the bracket ({label} is not closed in its sentence")


def _begin(reader: ColumnInput, number: int, match: re.Match[str]) -> None:
    reader.end_document()
    pattern = r"#begin document\s*(?:\((.*)\)|([^\s;]+))?\s*;?\s*(?:part\s+(\d+))?\s*$"
    header = re.match(pattern, match.string)
    if header is None:
        reader.refuse(number, "this line begins no document", "write it #begin document (ID); part 000")
    name = header[1] or header[2] or str(reader.begun + 1)
    reader.begin_document(name if header[3] is None else f"{name}#{int(header[3])}")


CONLL2012 = ColumnFormat(
    name="conll2012",
    options=frozenset({"layers"}),
    holds="OntoNotes: one token per line, columns separated by blanks, entities in brackets, as in `(ORG*`",
    special=re.compile("^#", re.MULTILINE),
    marks=(
        LineRule("#begin document", _begin),
        LineRule("#end document", lambda reader, number, match: reader.end_document()),
    ),
    columns=lambda file, options: Columns(
        ("", "", "", "word", "", "parse", "", "", "", "", "entity"), "entity", 4
    ),
    bracketed=("*",),
    has_columns=False,
    brackets=NestedBrackets,
    none=("*", "-", "_"),
    ragged=True,
    in_documents="begin one: #begin document (ID); part 000",
)
