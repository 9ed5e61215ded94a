"""CoNLL-2012 (OntoNotes): one token per line, columns separated by blanks, named entities in brackets.

``#begin document (ID); part 003`` begins the document ``ID#3``, ``#end document`` ends it. The word is the 4th
column, the entity the 11th: ``(TYPE*`` opens an entity, ``*)`` closes the one that was opened last, ``(TYPE)`` is
one token. Entities may nest and end with their sentence. The number of columns differs from sentence to sentence,
because each predicate has its own column.

Sources: ``entity`` (the default), ``parse`` (the syntax tree, 6th), or the number of a column with brackets.

Source: the description of the data of the CoNLL-2012 shared task.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from clueval.core.span import DEFAULT_LAYER, Frozen, Span
from clueval.files.errors import FormatError, UsageError
from clueval.formats.columns.layout import ColumnOptions, Sources
from clueval.formats.columns.made_lines import Brackets, MadeLines, OpenSpan, TokenRows
from clueval.formats.columns.passages import TokenLines
from clueval.formats.format import Format
from clueval.formats.opened import Opened
from clueval.formats.recognition import first_lines
from clueval.textfiles import Complain

_SOURCES = {"entity": 11, "parse": 6}
_WORD = 4
_NONE = ("*", "-", "_")
_SHORT = 120
"""Longer values are not cached, so that the cache stays small."""
_BEGIN = re.compile(r"#begin document\s*(?:\((.*)\)|([^\s;]+))?\s*;?\s*(?:part\s+(\d+))?\s*$")
_BRACKETS = re.compile(r"\(([^()*|\s]+)|\*|(\))")


def _brackets(value: str) -> tuple[list[str], bool]:
    """Return the labels that a value opens, an empty one for each that it closes, and whether it has nothing else."""
    found, done = [], 0
    for match in _BRACKETS.finditer(value):
        if match.start() != done:
            break
        done = match.end()
        found += [match[1] or ""] if match[1] or match[2] else []
    return found, done == len(value)


_cached_brackets = lru_cache(maxsize=1 << 12)(_brackets)


class _Nested(Brackets):
    """Brackets of which each closes the one that was opened last."""

    def __init__(self, layer: str, file: str) -> None:
        super().__init__(layer, file)
        self._stack: list[OpenSpan] = []

    def see(self, value: str, position: int, line: int) -> None:
        labels, is_whole = (_cached_brackets if len(value) < _SHORT else _brackets)(value)
        for opened in labels:
            if opened:
                self._stack.append(OpenSpan(position, opened, line))
                continue
            if not self._stack:
                raise self.wrong(line, f"{value[:60]!r} closes a bracket that is not open")
            start, label, begun = self._stack.pop()
            self.ended.append(Span(start, position + 1, Frozen({self.layer: label}), line=begun))
        if not is_whole:
            raise self.wrong(line, f"{value[:60]!r} is not a bracket", "as in (ORG*, * or *)")

    def end_sentence(self) -> None:
        if self._stack:
            _, label, line = self._stack[-1]
            raise self.wrong(line, f"the bracket ({label} is not closed in its sentence")


class _Conll2012Reader(MadeLines):
    def __init__(self, file: str, options: ColumnOptions, name: str | None, _: Complain) -> None:
        assert options.sources is not None
        super().__init__(
            file, options, name, {layer: _Nested(layer, file) for layer in options.sources.in_brackets}
        )
        self._columns = {layer: int(source) for layer, source in self.sources.items()}
        self._documents = 0
        self._document: str | None = None

    def comment(self, number: int, line: str) -> bool:
        if line.startswith(("#begin document", "#end document")):
            if self._document is not None:
                self.end_document()
            self._document = self._begun(number, line) if line.startswith("#begin") else None
        return True

    def _begun(self, number: int, line: str) -> str:
        """Begin a document, and return its id."""
        found = _BEGIN.match(line)
        if found is None:
            raise self._wrong(
                number, "this line begins no document", "write it #begin document (ID); part 000"
            )
        self._documents += 1
        name = found[1] or found[2] or str(self._documents)
        identifier = name if found[3] is None else f"{name}#{int(found[3])}"
        for brackets in self.brackets.values():
            brackets.document = identifier
        self.builder.begin_document(identifier, {})
        return identifier

    def tokens(self, number: int, run: str) -> None:
        if self._document is None:
            raise self._wrong(
                number, "a token outside documents", "begin one: #begin document (ID); part 000"
            )
        rows = TokenRows(run, "\t" if "\t" in run else " ")
        if not rows.are_regular:
            self.by_line(number, run)
            return
        for column in (_WORD, *self._columns.values()):
            if abs(column) > rows.width:
                raise self._wrong(number, f"the line has {rows.width} columns, no column {column}")
        values = {
            layer: [
                "" if value in _NONE else value for value in rows.column((column - (column > 0)) % rows.width)
            ]
            for layer, column in self._columns.items()
        }
        self.add(number, rows.column(_WORD - 1), values)

    def _wrong(self, line: int, problem: str, advice: str | None = None) -> FormatError:
        return FormatError(problem, file=self.file, line=line, document=self._document, advice=advice)


def _sources(opened: Opened, layers: Mapping[str, int | str] | None) -> Sources:
    """Return the column of each layer. Raises `UsageError` for an unknown source."""
    columns = {}
    for layer, source in ({DEFAULT_LAYER: "entity"} if layers is None else layers).items():
        if isinstance(source, str) and source not in _SOURCES:
            raise UsageError(
                f"there is no source {source!r} for layer {layer!r}",
                file=opened.file,
                advice=f"{', '.join(_SOURCES)}, or the number of a column",
            )
        columns[layer] = source if isinstance(source, int) else _SOURCES[source]
    return Sources(columns, tuple(columns))


FORMAT = Format(
    name="conll2012",
    holds="OntoNotes: one token per line, columns separated by blanks, entities in brackets, as in `(ORG*`",
    endings=(".gold_conll", ".auto_conll"),
    signs=(first_lines("#begin document"),),
    token_lines=TokenLines(_Conll2012Reader, lambda _: None, sources=_sources),
    options=frozenset({"layers"}),
)
