"""Token files whose first lines show how their columns are used. The format is ``conll``.

Numbers first (Universal NER, GermEval 2014): the first column numbers the tokens of each sentence from 1, so the words
are in the second. The layer ``label`` is the first column from the third on in which all values are tags. Rows such as
``3-4`` and ``5.1`` are not tokens, and a line that begins with ``#`` is a comment. GermEval's four columns have names.

HIPE (2020, 2022): the first line names the columns (``TOKEN``, ``NE-COARSE-LIT``, ...). ``document_id`` begins a
document; the comments ``# key = value`` before its first token are its metadata. The prefix ``hipe2022:`` and tabs at
the end are cut off. Other comments and blank lines end nothing: as in HIPE's scorer, tags are decoded over the whole
document. A sentence ends after a token with ``EndOfSentence`` in the column ``MISC``, and a span may continue after
it. ``_`` and ``-`` in a column of tags mean that a token has none.

Sources: the HIPE 2022 participation guidelines; the GermEval 2014 data description.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from clueval.formats.columns.layout import NO_TOKEN, ColumnOptions, NamedColumns
from clueval.formats.columns.passages import PassageBuilder
from clueval.tagging.schemes import OUTSIDE, is_tag

_HEADER = re.compile(r"\ufeff?(TOKEN\t[^\r\n]*NE-[^\r\n]*)")
_COMMENT = re.compile(r"#\s+(?:hipe2022:)?([^\s=]+)\s*=(.*)")
_GERMEVAL_HEAD = re.compile(r"\ufeff?#\t")  # the source of a sentence, which no other format writes so
_NONE = ("_", "-")


def named_columns(text: str) -> NamedColumns | None:
    """Return the columns of a file that begins with `text`; None if the text does not show how they are used.

    >>> named_columns("TOKEN\\tNE-COARSE-LIT\\tMISC\\n").names
    ('TOKEN', 'NE-COARSE-LIT', 'MISC')
    >>> numbered = named_columns("1\\tAnn\\tNNP\\tB-PER\\n2\\tsang\\tVBD\\tO\\n")
    >>> numbered.token, numbered.tags
    (2, 4)
    """
    header = _HEADER.match(text)
    if header is None:
        return _numbered(text)
    names = tuple(header[1].split("\t"))
    tags = next(name for name in ("NE-COARSE-LIT", *names[1:]) if name in names)
    misc = names.index("MISC") if "MISC" in names else None
    return NamedColumns(names, names.index(tags) + 1, 1, misc, is_hipe=True)


def _numbered(text: str) -> NamedColumns | None:
    """Return the columns of a file whose first column numbers the tokens of each sentence; None for other files."""
    rows: list[list[str]] = []
    last = 0
    for line in _whole_lines(text):
        if not line.strip():
            last = 0
        elif not line.startswith(("#", "-DOCSTART-")):
            fields = line.split("\t") if "\t" in line else line.split()
            if NO_TOKEN.match(line):
                continue
            last += 1
            if fields[0] != str(last) or len(fields) < 3:
                return None
            rows.append(fields)
    if not rows or (all(row[0] == "1" for row in rows) and _GERMEVAL_HEAD.match(text) is None):
        return None
    columns = list(zip(*rows, strict=False))
    tags = [number for number, values in enumerate(columns, 1) if number > 2 and _are_tags(values)]
    is_germeval = tags == [3, 4] and len(columns) == 4
    return NamedColumns(("", "token", "outer", "inner") if is_germeval else (), next(iter(tags), -1), 2)


def _are_tags(values: tuple[str, ...]) -> bool:
    return all(value not in _NONE and is_tag(value) for value in set(values))


def _whole_lines(text: str) -> Iterator[str]:
    """Yield the lines of the beginning of a file; the last one of a long text may be cut."""
    lines = text[:100_000].removeprefix("\ufeff").split("\n")
    return (line.rstrip("\r") for line in (lines[:-1] if len(text) > 2000 else lines))


class HipeReader:
    """Finds the documents of one file, block by block; a document is one sentence of the builder.

    `_run` has the lines of tokens since the last other line.
    """

    def __init__(self, file: str, options: ColumnOptions, name: str | None) -> None:
        assert options.named is not None
        self.builder = PassageBuilder(file, "\t", False, options, name)
        self._header = "\t".join(options.named.names)
        self._tags = [column - (column > 0) for column in (options.layers or {}).values()]
        self._block: dict[str, str] = {}  # the keys of the comments since the last token
        self._run: list[str] = []
        self._first = 0

    def feed(self, number: int, text: str) -> None:
        for offset, line in enumerate(text[:-1].split("\n")):
            if not line.strip() or line.startswith("# ") or line == self._header:
                self._pass_on()
                self._comment(line)
            else:
                self._token(number + offset, line)
        self._pass_on()

    def finish(self) -> None:
        self._end_comments()
        self.builder.end_document()

    def _comment(self, line: str) -> None:
        comment = _COMMENT.match(line)
        if comment is None:
            return
        if comment[1] in self._block and "document_id" in self._block:
            self._end_comments()  # a document without tokens
        self._block[comment[1]] = comment[2].strip()

    def _end_comments(self) -> None:
        """Use the comments before a token: they begin a document, or are metadata if the document has no token yet."""
        block, self._block = self._block, {}
        identifier = block.pop("document_id", None)
        if identifier is not None or (block and not self.builder.in_document):
            self.builder.begin_document(identifier, block)

    def _token(self, number: int, line: str) -> None:
        if self._block:
            self._end_comments()
        self._first = self._first or number
        fields = line.split("\t")
        for column in self._tags:
            if -len(fields) <= column < len(fields) and fields[column] in _NONE:
                fields[column] = OUTSIDE
        self._run.append("\t".join(fields))

    def _pass_on(self) -> None:
        """Give the collected lines to the builder."""
        if self._run:
            self.builder.add(self._first, "\n".join([*self._run, ""]))
            self._run, self._first = [], 0
