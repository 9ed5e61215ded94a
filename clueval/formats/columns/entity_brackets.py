"""Entities in brackets with ids, as in the key ``Entity`` of CoNLL-U: ``(e1-person-1`` opens, ``e1)`` closes.

A value may hold several: ``(e1-person(e2-place)e3)``. The fields after the id are named by ``# global.Entity``.
``e1[1/2]`` and ``e1[2/2]`` are the parts of one discontinuous span. ``%28`` stands for ``(``, and so on.

Source: the file format of CorefUD.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import unquote

from clueval.exceptions import FormatError
from clueval.formats.columns.token_documents import OpenSpan, TokenDocument
from clueval.spans.span import NO_LABEL, Frozen, Span

ENTITY = "Entity"
_PIECES = re.compile(r"[()]|[^()]+")
_PART = re.compile(r"(.*)\[(\d+)/(\d+)\]")
_IDS, _TYPES = ("eid", "GRP"), ("etype", "entity")


class EntityFields(NamedTuple):
    """The numbers of the fields of the id and of the type, from 0."""

    id: int = 0
    type: int = 1


def entity_fields(names: str) -> EntityFields:
    """Return the fields, given the value of ``# global.Entity``.

    >>> entity_fields("eid-etype-head-other"), entity_fields("etype-GRP")
    (EntityFields(id=0, type=1), EntityFields(id=1, type=0))
    """
    fields = names.split("-")
    identifier = next((fields.index(name) for name in _IDS if name in fields), None)
    kind = next((fields.index(name) for name in _TYPES if name in fields), None)
    return EntityFields(identifier or 0, (1 if not identifier else 0) if kind is None else kind)


class EntityBrackets:
    """The open brackets of one layer of a document, by id, and the parts of discontinuous spans so far."""

    def __init__(self, layer: str, file: str) -> None:
        self._layer, self._file = layer, file
        self._open: dict[str, list[OpenSpan]] = {}
        self._parts: dict[str, tuple[OpenSpan, list[tuple[int, int]]]] = {}

    def see(self, value: str, document: TokenDocument, line: int, fields: EntityFields) -> None:
        """Read the value at the last token of the document. Raises `FormatError` for one that cannot be read."""
        last = document.end - 1
        for opens, text, closes in _brackets(value):
            if not text or not (opens or closes):
                raise self._wrong(line, f"the value {value[:60]!r} of {ENTITY} cannot be read")
            if opens:
                parts = text.split("-")
                identifier = parts[fields.id] if fields.id < len(parts) else ""
                label = unquote(parts[fields.type]) if fields.type < len(parts) else ""
                begun = OpenSpan(last, label or NO_LABEL, line)
                self._open.setdefault(identifier, []).append(begun)
            else:
                identifier = text
            if closes:
                self._close(identifier, document, line)

    def _close(self, identifier: str, document: TokenDocument, line: int) -> None:
        stack = self._open.get(identifier)
        if not stack:
            raise self._wrong(line, f"{identifier[:60]!r} is closed but not open")
        begun = stack.pop()
        if not stack:
            del self._open[identifier]
        part = _PART.fullmatch(identifier)
        name = identifier if part is None else part[1]
        ranges = [(begun.start, document.end)]
        if part is not None:
            first, before = self._parts.pop(name, (begun, []))
            begun, ranges = first, [*before, *ranges]
            if len(ranges) < int(part[3]):
                self._parts[name] = begun, ranges
                return
        labels = Frozen({self._layer: begun.label})
        document.layers[self._layer].append(
            Span.of_fragments(ranges, labels, id=name or None, line=begun.line)
        )

    def finish(self) -> None:
        """End the document. Raises `FormatError` for a bracket that is open, or a part that is missing."""
        for identifier, stack in self._open.items():
            raise self._wrong(stack[-1].line, f"the entity {identifier[:60]!r} is not closed in its document")
        for identifier, (begun, _) in self._parts.items():
            raise self._wrong(begun.line, f"the entity {identifier[:60]!r} has parts that are missing")

    def _wrong(self, line: int, problem: str) -> FormatError:
        return FormatError(problem, file=self._file, line=line)


def _brackets(value: str) -> Iterator[tuple[bool, str, bool]]:
    """Yield the texts between brackets, and whether each is opened before and closed after it."""
    pieces = _PIECES.findall(value)
    place = 0
    while place < len(pieces):
        opens = pieces[place] == "("
        place += opens
        text = pieces[place] if place < len(pieces) and pieces[place] not in "()" else ""
        place += bool(text)
        closes = place < len(pieces) and pieces[place] == ")"
        place += closes
        yield opens, text, closes
