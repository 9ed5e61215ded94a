"""CoNLL-2012 (OntoNotes): one token per line, columns separated by blanks, named entities in brackets.

The rules of the format stand in ``formats.md``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from clueval.core.span import Frozen, Span
from clueval.formats.column_format import Brackets, ColumnFormat, ColumnInput, Columns, LineRule, OpenSpan

_BRACKETS = re.compile(r"\(([^()*|\s]+)|\*|(\))")
_SHORT = 120
"""Longer values are not cached, so that the cache stays small."""


def _brackets(value: str) -> tuple[list[str], bool]:
    """Return the labels that a value opens, an empty one for each that it closes, and whether it has nothing else."""
    labels, done = [], 0
    for match in _BRACKETS.finditer(value):
        if match.start() != done:
            break
        done = match.end()
        labels += [match[1] or ""] if match[1] or match[2] else []
    return labels, done == len(value)


_cached_brackets = lru_cache(maxsize=1 << 12)(_brackets)


class NestedBrackets(Brackets):
    """Brackets of which each closes the one that was opened last."""

    def __init__(self, layer: str, reader: ColumnInput) -> None:
        super().__init__(layer, reader)
        self._stack: list[OpenSpan] = []

    def see(self, value: str, position: int, line: int) -> Iterator[Span]:
        labels, is_whole = (_cached_brackets if len(value) < _SHORT else _brackets)(value)
        for opened in labels:
            if opened:
                self._stack.append(OpenSpan(position, opened, line))
                continue
            if not self._stack:
                self.reader.refuse(line, f"{value[:60]!r} closes a bracket that is not open")
            start, label, begun = self._stack.pop()
            yield Span(start, position + 1, Frozen({self.layer: label}), line=begun)
        if not is_whole:
            self.reader.refuse(line, f"{value[:60]!r} is not a bracket", "as in (ORG*, * or *)")

    def end_sentence(self) -> None:
        if self._stack:
            _, label, line = self._stack[-1]
            self.reader.refuse(line, f"the bracket ({label} is not closed in its sentence")


_BEGIN = re.compile(r"#begin document\s*(?:\((.*)\)|([^\s;]+))?\s*;?\s*(?:part\s+(\d+))?\s*$")


def _begin(reader: ColumnInput, number: int, match: re.Match[str]) -> None:
    reader.end_document()
    found = _BEGIN.match(match.string)
    if found is None:
        reader.refuse(number, "this line begins no document", "write it #begin document (ID); part 000")
    name = found[1] or found[2] or str(reader.begun + 1)
    reader.begin_document(name if found[3] is None else f"{name}#{int(found[3])}")


CONLL2012 = ColumnFormat(
    name="conll2012",
    options=frozenset({"layers"}),
    holds="OntoNotes: one token per line, columns separated by blanks, entities in brackets, as in `(ORG*`",
    special=re.compile("^#", re.MULTILINE),
    marks=(
        LineRule(re.compile("#begin document"), _begin),
        LineRule(re.compile("#end document"), lambda reader, number, match: reader.end_document()),
    ),
    columns=lambda blocks, file, options: Columns(
        ("", "", "", "word", "", "parse", "", "", "", "", "entity"), "entity", 4
    ),
    bracketed=("*",),
    has_columns=False,
    brackets=NestedBrackets,
    none=("*", "-", "_"),
    ragged=True,
    in_documents="begin one: #begin document (ID); part 000",
)
