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
from collections.abc import Iterator, Mapping

from clueval.exceptions import FormatError, UsageError
from clueval.formats.columns.token_documents import OpenSpan, TokenDocument
from clueval.formats.format import Format, Options
from clueval.formats.opened import Opened
from clueval.formats.recognition import first_lines
from clueval.spans.document import Document
from clueval.spans.span import DEFAULT_LAYER

_SOURCES = {"entity": 11, "parse": 6}
_WORD = 4
_NONE = ("*", "-", "_")
_BEGIN = re.compile(r"#begin document\s*(?:\((.*)\)|([^\s;]+))?\s*;?\s*(?:part\s+(\d+))?\s*$")
_BRACKETS = re.compile(r"\(([^()*|\s]+)|\*|(\))")


class _Conll2012Reader:
    """Reads the documents of one file, line by line."""

    def __init__(self, opened: Opened, options: Options) -> None:
        self._file, self._most = opened.file, options.max_document
        self._columns = _columns(options.layers, opened.file)
        self._document: TokenDocument | None = None
        self._open: dict[str, list[OpenSpan]] = {layer: [] for layer in self._columns}
        self._position = 0
        self._documents = 0

    def read(self, lines: Iterator[tuple[int, str]]) -> Iterator[Document]:
        for number, line in lines:
            if line.startswith("#begin document"):
                yield from self._finished(number)
                self._begin(number, line)
            elif line.startswith("#end document"):
                yield from self._finished(number)
            elif not line.strip():
                self._end_sentence()
            elif not line.startswith("#"):
                self._token(number, line)
        yield from self._finished(None)

    def _begin(self, number: int, line: str) -> None:
        found = _BEGIN.match(line)
        if found is None:
            raise self._wrong(
                number, "this line begins no document", "write it #begin document (ID); part 000"
            )
        self._documents += 1
        name = found[1] or found[2] or str(self._documents)
        identifier = name if found[3] is None else f"{name}#{int(found[3])}"
        self._document = TokenDocument(
            identifier, self._position, list(self._columns), self._file, self._most, number
        )

    def _finished(self, number: int | None) -> Iterator[Document]:
        if self._document is not None:
            self._end_sentence()
            self._position = self._document.end
            yield self._document.finished()
        self._document = None

    def _token(self, number: int, line: str) -> None:
        document = self._document
        if document is None:
            raise self._wrong(
                number, "a token outside documents", "begin one: #begin document (ID); part 000"
            )
        fields = line.split("\t") if "\t" in line else list(filter(None, line.split(" ")))
        for column in (_WORD, *self._columns.values()):
            if abs(column) > len(fields):
                raise self._wrong(number, f"the line has {len(fields)} columns, no column {column}")
        position = document.end
        document.add(fields[_WORD - 1], number)
        for layer, column in self._columns.items():
            value = fields[column - 1 if column > 0 else column]
            if value not in _NONE:
                self._brackets(layer, value, position, number, document)

    def _brackets(self, layer: str, value: str, position: int, number: int, document: TokenDocument) -> None:
        done, stack = 0, self._open[layer]
        for found in _BRACKETS.finditer(value):
            if found.start() != done:
                break
            done = found.end()
            if found[1]:
                stack.append(OpenSpan(position, found[1], number))
            elif found[2] and not stack:
                raise self._wrong(number, f"{value[:60]!r} closes a bracket that is not open")
            elif found[2]:
                document.add_span(layer, stack.pop(), position + 1)
        if done != len(value):
            raise self._wrong(number, f"{value[:60]!r} is not a bracket", "as in (ORG*, * or *)")

    def _end_sentence(self) -> None:
        """End the sentence. Raises `FormatError` for a bracket that is still open."""
        for stack in self._open.values():
            if stack:
                raise self._wrong(
                    stack[-1].line, f"the bracket ({stack[-1].label} is not closed in its sentence"
                )
        if self._document is not None:
            self._document.end_sentence()

    def _wrong(self, line: int, problem: str, advice: str | None = None) -> FormatError:
        document = None if self._document is None else self._document.id
        return FormatError(problem, file=self._file, line=line, document=document, advice=advice)


def _columns(layers: Mapping[str, int | str] | None, file: str) -> dict[str, int]:
    """Return the column of each layer. Raises `UsageError` for an unknown source."""
    columns = {}
    for layer, source in ({DEFAULT_LAYER: "entity"} if layers is None else layers).items():
        if isinstance(source, str) and source not in _SOURCES:
            raise UsageError(
                f"there is no source {source!r} for layer {layer!r}",
                file=file,
                advice=f"{', '.join(_SOURCES)}, or the number of a column",
            )
        columns[layer] = source if isinstance(source, int) else _SOURCES[source]
    return columns


def _read(opened: Opened, options: Options) -> Iterator[Document]:
    return _Conll2012Reader(opened, options).read(opened.lines())


FORMAT = Format(
    name="conll2012",
    of_tokens=True,
    holds="OntoNotes: one token per line, columns separated by blanks, entities in brackets, as in `(ORG*`",
    endings=(".gold_conll", ".auto_conll"),
    signs=(first_lines("#begin document"),),
    read=_read,
    options=frozenset({"layers"}),
)
