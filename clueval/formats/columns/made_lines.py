"""Formats with one token per line whose lines are not passed on: their reader makes lines of its own.

A line that is made has the token, the tag of each layer and, if the format has flags, the flags of the token, separated
by tabs. A format derives its reader from `MadeLines`. From tags to spans, all is as in files of such columns. Layers in
brackets become spans of the passages.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import compress
from typing import NamedTuple

from clueval.core.span import Span
from clueval.files.errors import FormatError
from clueval.formats.columns.layout import ColumnOptions
from clueval.formats.columns.passages import PassageBuilder

_BLANK_LINE = re.compile(r"^[ \t]+$", re.MULTILINE)


class TokenRows:
    """Lines of tokens as columns. Several blanks separate two columns as one does.

    >>> rows = TokenRows("a  b\\nc d\\n", " ")
    >>> rows.width, rows.are_regular, rows.column(1)
    (2, True, ['b', 'd'])
    """

    __slots__ = ("_fields", "are_regular", "width")

    def __init__(self, run: str, separator: str) -> None:
        fields = run.replace("\n", f"{separator}\n{separator}").split(separator)
        self._fields = fields = list(filter(None, fields)) if separator == " " else fields[:-1]
        self.width = fields.index("\n")
        self.are_regular = fields[self.width :: self.width + 1].count("\n") == run.count("\n")

    def column(self, number: int) -> list[str]:
        """Return a column, if all lines have the same number of fields."""
        return self._fields[number :: self.width + 1]


class SentenceLines:
    """Finds the comments, the tokens and the ends of sentences of one file, block by block."""

    def feed(self, number: int, text: str) -> None:
        if text[0] in " \t" or "\n " in text or "\n\t" in text:
            text = _BLANK_LINE.sub("", text)
        position, length = 0, len(text)
        while position < length:
            if text[position] == "\n":
                self.end_sentence()
                position, number = position + 1, number + 1
                continue
            if text[position] == "#":
                end = text.index("\n", position)
                if self.comment(number, text[position:end]):
                    position, number = end + 1, number + 1
                    continue
            end = text.find("\n\n", position) + 1 or length
            end = text.find("\n#", position, end) + 1 or end
            run = text[position:end]
            self.tokens(number, run)
            number += run.count("\n")
            position = end

    def comment(self, number: int, line: str) -> bool:
        """Read a line that begins with ``#``; return false if it is the line of a token."""
        raise NotImplementedError

    def tokens(self, number: int, run: str) -> None:
        """Read lines of tokens, all of one sentence."""
        raise NotImplementedError

    def by_line(self, number: int, run: str) -> None:
        """Read lines of tokens one by one, for the first error."""
        for offset, line in enumerate(run[:-1].split("\n")):
            self.tokens(number + offset, f"{line}\n")

    def end_sentence(self) -> None:
        """End the current sentence, if there is one."""


class OpenSpan(NamedTuple):
    """A span that has begun: its first token, its label and its line."""

    start: int
    label: str
    line: int


class Brackets:
    """The open brackets of one layer. A format defines `see`, which adds to `ended`."""

    def __init__(self, layer: str, file: str) -> None:
        self.layer, self.file = layer, file
        self.document: str | None = None
        self.ended: list[Span] = []

    def see(self, value: str, position: int, line: int) -> None:
        """Read the value of a token. Raises `FormatError` for one that cannot be read."""
        raise NotImplementedError

    def end_sentence(self) -> None:
        """End the sentence. Raises `FormatError` for a bracket that must be closed in it."""

    def finish(self) -> None:
        """End the document. Raises `FormatError` for a bracket that is open."""

    def spans(self, values: Sequence[str], position: int, line: int) -> list[Span]:
        """Return the spans that end at tokens with these values, the first with this position and line."""
        for offset in compress(range(len(values)), values):
            self.see(values[offset], position + offset, line + offset)
        found, self.ended = self.ended, []
        return found

    def wrong(self, line: int, problem: str, advice: str | None = None) -> FormatError:
        return FormatError(problem, file=self.file, line=line, document=self.document, advice=advice)


class MadeLines(SentenceLines):
    """Makes the lines of one file."""

    def __init__(
        self, file: str, options: ColumnOptions, name: str | None, brackets: Mapping[str, Brackets]
    ) -> None:
        assert options.sources is not None
        self.file, self.sources, self.brackets = file, options.sources.of, brackets
        self.builder = PassageBuilder(file, "\t", False, options, name)
        self._position = 0

    def add(
        self, number: int, tokens: Sequence[str], values: Mapping[str, Sequence[str]], *flags: Sequence[str]
    ) -> None:
        """Add tokens of the current sentence, the first from the line `number`, with the values of each layer.

        Values are tags, or brackets; an empty value is none.
        """
        columns = [tokens]
        found = {}
        for layer, of_layer in values.items():
            brackets = self.brackets.get(layer)
            if brackets is None:
                columns.append(of_layer)
            else:
                found[layer] = brackets.spans(of_layer, self._position, number)
        lines = map("\t".join, zip(*columns, *flags, strict=True))
        self.builder.add(number, "\n".join([*lines, ""]))
        if found:
            self.builder.add_spans(found)
        self._position += len(tokens)

    def end_sentence(self) -> None:
        for brackets in self.brackets.values():
            brackets.end_sentence()
        self.builder.end_sentence()

    def end_document(self) -> None:
        self.end_sentence()
        for brackets in self.brackets.values():
            brackets.finish()
        self.builder.end_document()

    def finish(self) -> None:
        self.end_document()
