"""CoNLL-like columns, numbered tokens, and HIPE.

The rules of the format stand in ``formats.md``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from clueval.core.tags import is_tag
from clueval.formats.column_format import KINDS_OF_ROWS, Blocks, ColumnFormat, LineRule
from clueval.formats.column_input import ColumnInput, Columns
from clueval.formats.options import FormatOptions

NO_TOKEN = re.compile(r" *[0-9]+([-.])[0-9]+[\t ]")
"""The beginning of a row that is no token, where tokens are numbered."""

_NONE = ("_", "-")
_LONGEST = 100_000
"""The number of characters at the beginning of a file that are looked at."""


# Comments


def _new_document(reader: ColumnInput, number: int, match: re.Match[str]) -> None:
    reader.begin_document((match[1] or "").strip() or None)


def _docstart(reader: ColumnInput, number: int, match: re.Match[str]) -> None:
    reader.begin_document(None)


def _sentence(reader: ColumnInput, number: int, match: re.Match[str]) -> None:
    reader.begin_sentence(match[1].strip())


def _meta(reader: ColumnInput, number: int, match: re.Match[str]) -> None:
    reader.metadata[match[1]] = match[2].strip()


def _sample(reader: ColumnInput, number: int, match: re.Match[str]) -> None:
    reader.begin_document(match[1], dict(pair.split("=", 1) for pair in match[2].split()))


NEW_DOCUMENT = re.compile(r"#\s*newdoc(?:\s+id)?\s*(?:=(.*))?$")
SENTENCE = re.compile(r"#\s*sent_id\s*=(.*)$")
META = re.compile(r"#\s*meta::(\S+)\s*=(.*)$")

_DOCSTART = re.compile(r"-DOCSTART-(?:[\t ].*)?$")

_MARKS = (
    LineRule(_DOCSTART, _docstart),
    LineRule(re.compile(r"#\s*id\s+([^\s=]+)((?:\s+[^\s=]+=\S*)*)\s*$"), _sample),
    LineRule(NEW_DOCUMENT, _new_document),
    LineRule(SENTENCE, _sentence),
    LineRule(META, _meta),
)


def _is_token(reader: ColumnInput, line: str) -> bool:
    """Return whether a special line is a token."""
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


def is_csv(line: str) -> bool:
    """Return whether a first line has values that are separated by commas or semicolons, and no tag.

    >>> [is_csv(line) for line in ("Sentence #,Word,POS,Tag", '"id";"text"', "a,b B-X", ", ,")]
    [True, True, False, False]
    """
    fields = line.split()
    return bool(
        fields
        and line[0] != "#"
        and not {"\t", "\r"} & {*line}
        and re.search(r"\w\"?[,;]\"?\w", fields[-1])
        and not any(map(is_tag, fields))
    )


def _has_columns(text: str) -> bool:
    lines = [line for line in text.removeprefix("\ufeff").split("\n")[:50] if line.strip()]
    if lines and is_csv(lines[0]):
        return False
    return not lines or any(re.match(r"\s*\S+[\t ]+\S|-DOCSTART-|#", line) for line in lines[:3])


CONLL = ColumnFormat(
    name="conll",
    holds="one token per line, columns separated by tabs or blanks, a blank line after each sentence, `-DOCSTART-`; "
    "a line that begins with `#` is a comment unless it has the columns of a token line",
    sign="a line of two columns or more",
    told=_has_columns,
    special=re.compile("^(?:#|-DOCSTART-)", re.MULTILINE),
    marks=_MARKS,
    is_token=_is_token,
)

# Numbered tokens


def numbered_columns(text: str) -> Columns | None:
    """Return the columns of a file whose first column numbers the tokens of each sentence; None for other files.

    >>> numbered_columns("1\\tAnn\\tNNP\\tB-PER\\n2\\tsang\\tVBD\\tO\\n")
    Columns(names=(), default=4, token=2)
    """
    rows: list[list[str]] = []
    last = 0
    lines = text[:_LONGEST].removeprefix("\ufeff").split("\n")
    for line in lines[:-1] if len(text) > 2000 else lines:
        if not line.strip():
            last = 0
        elif not line.startswith(("#", "-DOCSTART-")) and not NO_TOKEN.match(line):
            fields = line.rstrip("\r").split("\t") if "\t" in line else line.split()
            last += 1
            if fields[0] != str(last) or len(fields) < 3:
                return None
            rows.append(fields)
    if not rows or (all(row[0] == "1" for row in rows) and not re.match("\ufeff?#\t", text)):
        return None
    columns = list(zip(*rows, strict=False))
    tags = [number for number, values in enumerate(columns, 1) if number > 2 and _are_tags(values)]
    is_germeval = tags == [3, 4] and len(columns) == 4
    return Columns(("", "token", "outer", "inner") if is_germeval else (), next(iter(tags), -1), 2)


def _are_tags(values: tuple[str, ...]) -> bool:
    return all(value not in _NONE and is_tag(value) for value in {*values})


def _numbered(blocks: Blocks, file: str, options: FormatOptions) -> Columns:
    return numbered_columns(next(iter(blocks()), (1, ""))[1]) or Columns()


def _kind_of_row(reader: ColumnInput, number: int, line: str) -> str | None:
    row = NO_TOKEN.match(line)
    return None if row is None else KINDS_OF_ROWS[row[1]]


NUMBERED = ColumnFormat(
    name="conll",
    holds="Universal NER and GermEval 2014: the number of each token in its sentence, the token, tags",
    sign="tokens that are numbered from 1 in each sentence",
    told=lambda text: numbered_columns(text) is not None,
    special=re.compile(rf"^(?:#|-DOCSTART-|{NO_TOKEN.pattern})", re.MULTILINE),
    marks=_MARKS,
    is_token=lambda reader, line: line[0] != "#" and _DOCSTART.match(line) is None,
    passed_over=_kind_of_row,
    columns=_numbered,
)

# Texts without columns


def is_running_text(lines: Sequence[str]) -> bool:
    """Return whether the first lines hold words of a text instead of columns.

    These are lines without tabs and tags: a single one, or lines with different numbers of words.

    >>> [is_running_text(lines) for lines in (["Anna lives here."], ["Anna NE", "lives VVFIN"], ["a", "b"])]
    [True, False, False]
    """
    lines = [line for line in lines if not line.startswith(("#", "-DOCSTART-"))]
    words = [line.split() for line in lines]
    if "\t" in "".join(lines) or all(is_tag(of_line[-1]) for of_line in words):
        return False
    numbers = {len(of_line) for of_line in words}
    return len(numbers) > 1 or (len(lines) == 1 and numbers != {1})


# HIPE

_HEADER = re.compile(r"\ufeff?(TOKEN\t[^\r\n]*NE-[^\r\n]*)")


def _hipe_columns(blocks: Blocks, file: str, options: FormatOptions) -> Columns:
    header = _HEADER.match(next(iter(blocks()), (1, ""))[1])
    names = tuple(header[1].split("\t")) if header is not None else ("TOKEN",)
    tags = next(name for name in ("NE-COARSE-LIT", *names[1:], *names) if name in names)
    return Columns(names, names.index(tags) + 1, 1)


def _note(reader: ColumnInput, number: int, match: re.Match[str]) -> None:
    """Note a comment; the second one with its key belongs to another document, which has no tokens before it."""
    if match[1] in reader.state and "document_id" in reader.state:
        reader.use_comments()
    reader.state[match[1]] = match[2].strip()


HIPE = ColumnFormat(
    name="conll",
    holds="HIPE 2020 and 2022: a first line with the names of columns, tags over whole documents",
    sign="first line `TOKEN`, `NE-...`",
    told=lambda text: _HEADER.match(text) is not None,
    separator="\t",
    special=re.compile(r"^(?:# |TOKEN\t|[^\S\n]*\n)", re.MULTILINE),
    marks=(LineRule(re.compile(r"#\s+(?:hipe2022:)?([^\s=]+)\s*=(.*)"), _note),),
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
