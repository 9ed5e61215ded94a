"""Files of shared tasks whose columns have names: HIPE (2020, 2022) and GermEval 2014. The format is ``conll``.

HIPE: the first line names the columns (``TOKEN``, ``NE-COARSE-LIT``, ...). ``# key = value`` is metadata; the
prefix ``hipe2022:`` and tabs at the end are cut off. ``document_id`` begins a document; other keys of the same
block of comments belong to it. A sentence ends after a token with ``EndOfSentence`` in the column ``MISC``, and
at a blank line. ``_`` and ``-`` in a column of tags mean that a token has none, as in HIPE's scorer.

GermEval: ``1<TAB>Token<TAB>outer tag<TAB>inner tag``; a line that begins with ``#`` gives the source of a sentence.

Sources: the HIPE 2022 participation guidelines; the GermEval 2014 data description.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from clueval.formats.columns.builder import PassageBuilder
from clueval.formats.columns.layout import ColumnOptions
from clueval.formats.columns.named import NamedColumns
from clueval.tagging.schemes import OUTSIDE, is_tag

HIPE, GERMEVAL = "HIPE", "GermEval"

_HEADER = re.compile(r"\ufeff?(TOKEN\t[^\r\n]*NE-[^\r\n]*)")
_NUMBERED = re.compile(r"1\t[^\t]+\t([^\t]+)\t([^\t]+)")
_COMMENT = re.compile(r"#\s+(?:hipe2022:)?([^\s=]+)\s*=(.*)")
_NONE = ("_", "-")


def named_columns(text: str) -> NamedColumns | None:
    """Return the columns of a file that begins with `text`; None if its columns have no names.

    >>> named_columns("TOKEN\\tNE-COARSE-LIT\\tMISC\\n").names
    ('TOKEN', 'NE-COARSE-LIT', 'MISC')
    """
    header = _HEADER.match(text)
    if header:
        names = tuple(header[1].split("\t"))
        tags = next(name for name in ("NE-COARSE-LIT", *names[1:]) if name in names)
        return NamedColumns(HIPE, names, tags, 1, names.index("MISC") if "MISC" in names else None)
    first = next((line for line in _lines(text) if not line.startswith("#")), "")
    tags_of = _NUMBERED.fullmatch(first)
    if tags_of and is_tag(tags_of[1]) and is_tag(tags_of[2]):
        return NamedColumns(GERMEVAL, ("", "token", "outer", "inner"), "outer", 2)
    return None


def _lines(text: str) -> Iterator[str]:
    """Yield the lines of the beginning of a file that are not blank."""
    return (line.rstrip("\r") for line in text[:100_000].removeprefix("\ufeff").split("\n") if line.strip())


class NamedColumnsReader:
    """Finds the documents and sentences of one file, block by block; `_run` has the lines of a sentence."""

    def __init__(self, file: str, options: ColumnOptions, name: str | None) -> None:
        assert options.named is not None
        self.builder = PassageBuilder(file, "\t", False, options, name)
        self._named = options.named
        self._header = "\t".join(options.named.names)
        self._tags = [column - 1 for column in (options.layers or {}).values() if column > 0]
        self._metadata: dict[str, str] = {}
        self._block: dict[str, str] | None = None  # the keys of the current block of comments
        self._run: list[str] = []
        self._first = 0

    def feed(self, number: int, text: str) -> None:
        for offset, line in enumerate(text[:-1].split("\n")):
            if not line.strip():
                self._end_sentence()
            elif self._is_comment(line):
                self._comment(line)
            elif line != self._header or self._named.kind != HIPE:
                self._token(number + offset, line)
        self._pass_on()

    def finish(self) -> None:
        self._end_comments()
        self._pass_on()
        self.builder.end_document()

    def _is_comment(self, line: str) -> bool:
        if self._named.kind == GERMEVAL:
            return line[0] == "#"
        return line.startswith("# ") and _COMMENT.match(line) is not None

    def _comment(self, line: str) -> None:
        comment = _COMMENT.match(line)
        if self._named.kind == GERMEVAL or comment is None:
            return
        self._end_sentence()
        self._block = {} if self._block is None else self._block
        self._block[comment[1]] = comment[2].strip()

    def _end_comments(self) -> None:
        """Use the current block of comments: it begins a document, or adds metadata that is not known yet."""
        block, self._block = self._block, None
        if not block:
            return
        identifier = block.pop("document_id", None)
        if identifier is None and self.builder.in_document:
            for key, value in block.items():
                self._metadata.setdefault(key, value)
            return
        self._metadata = block
        self.builder.begin_document(identifier, self._metadata)

    def _token(self, number: int, line: str) -> None:
        self._end_comments()
        self._first = self._first or number
        fields = line.split("\t")
        if self._named.kind == HIPE:
            for column in self._tags:
                if column < len(fields) and fields[column] in _NONE:
                    fields[column] = OUTSIDE
            line = "\t".join(fields)
        self._run.append(line)
        misc = self._named.misc
        if misc is not None and misc < len(fields) and "EndOfSentence" in fields[misc].split("|"):
            self._end_sentence()

    def _end_sentence(self) -> None:
        self._pass_on()
        self.builder.end_sentence()

    def _pass_on(self) -> None:
        """Give the collected lines to the builder."""
        if self._run:
            self.builder.add(self._first, "\n".join([*self._run, ""]))
            self._run, self._first = [], 0
