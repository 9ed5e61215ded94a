"""CoNLL-U of Universal Dependencies, and CoNLL-Plus, whose first line names its columns.

``# newdoc id = X`` begins a document, ``# sent_id = X`` names a sentence, ``# meta::key = value`` is metadata, and
``# global.columns = ID FORM ... MISC`` names the columns of CoNLL-Plus. Rows such as ``3-4`` and ``5.1`` are not
tokens: they are passed over and counted as multiword tokens and empty nodes. ``SpaceAfter=No`` is used for the text.

Sources: a key of ``MISC`` whose values are tags, as in ``NER=B-PER`` (a token without it has O); ``Entity``,
whose values are brackets, as in ``Entity=(e1-person-1`` and ``e1)``; or a column, by its number or name. The
default is the column ``ner``, else the only source that holds tags, or ``Entity`` if there is none; the file is read
once more to find it. Names of columns are compared without case, as in flair's ``id form ner``; the parts of flair's
``# relations = 1;2;4;4;type|...`` are passed over and counted.

``Entity`` may hold several brackets: ``(e1-person(e2-place)e3)``. The fields after the id are named by
``# global.Entity``. ``e1[1/2]`` and ``e1[2/2]`` are the parts of one discontinuous span. ``%28`` stands for ``(``.

Sources: the description of CoNLL-U at universaldependencies.org; CorefUD for ``Entity``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple
from urllib.parse import unquote

from clueval.core.span import DEFAULT_LAYER, NO_LABEL, Frozen, Span
from clueval.files.errors import FormatError, UsageError
from clueval.formats.columns.layout import KINDS_OF_ROWS, ColumnOptions, Sources
from clueval.formats.columns.made_lines import Brackets, MadeLines, OpenSpan, SentenceLines, TokenRows
from clueval.formats.columns.passages import TokenLines, without_empty_fields
from clueval.formats.format import Format
from clueval.formats.opened import Opened
from clueval.formats.recognition import Beginning, Sign
from clueval.spans.document import MissingId
from clueval.tagging.schemes import INVALID, OUTSIDE, is_tag
from clueval.textfiles import Complain

COLUMNS = ("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC")
ENTITY = "Entity"
_COMMENT = re.compile(r"#\s*(newdoc(?:\s+id)?|sent_id|meta::\S+|global\.\w+|relations)\s*(?:=(.*))?$")
_TOKEN = re.compile(r"1(?:-\d+)?\t(?:[^\t]*\t){5}(?:\d+|_)\t[^\t]*\t[^\t]*\t([^\t]*)")
_RANGE = re.compile(r"[0-9]+[-.][0-9]+")
_NO_TOKEN = re.compile(r"^([^\t\n]*[-.].*\n)", re.MULTILINE)
_BRACKETS = re.compile(r"(\(?)([^()]*)(\)?)")
_PART = re.compile(r"(.*)\[(\d+)/(\d+)\]")
_IDS, _TYPES = ("eid", "GRP"), ("etype", "entity")
NOTHING = "_"
_UNSPACED = "NoSpaceAfter"
_MOST_KEYS = 1000
"""The number of keys of MISC that are remembered for the message about a source that does not occur."""
_MOST_VALUES, _SHORT = 1 << 14, 200
"""The number of values of MISC that are remembered, and the length of longer ones, which are not."""


def pairs(misc: str) -> dict[str, str]:
    """Return the pairs of a value of ``MISC``.

    >>> pairs("NER=B-PER|SpaceAfter=No|x")
    {'NER': 'B-PER', 'SpaceAfter': 'No'}
    """
    parts = (part.partition("=") for part in misc.split("|")) if "=" in misc else ()
    return {key: value for key, equals, value in parts if equals}


class _MiscValues(dict[str, str]):
    """The value of one key in each value of ``MISC``, where ``_`` and nothing are none; remembers some thousand."""

    def __init__(self, key: str, none: str) -> None:
        self._key, self._none = key, none

    def __missing__(self, misc: str) -> str:
        if len(self) == _MOST_VALUES:
            self.clear()
        value = pairs(misc).get(self._key) or NOTHING
        value = self._none if value == NOTHING else value
        if len(misc) < _SHORT:
            self[misc] = value
        return value


class _ConlluLines(SentenceLines):
    """The lines of one file, whose ``# global`` comments name its columns."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.names: tuple[str, ...] = COLUMNS

    def comment(self, number: int, line: str) -> bool:
        if self.names[0] != "ID" and line.count("\t") + 1 == len(self.names):
            return False
        if (found := _COMMENT.match(line)) is not None:
            key, value = found[1], (found[2] or "").strip()
            if key == "global.columns":
                names = value.split()
                self.names = tuple(name.upper() if name.upper() in COLUMNS else name for name in names)
                if "FORM" not in self.names:
                    raise FormatError("the columns have no FORM", file=self.file, line=number)
            else:
                self.keyed(number, key, value)
        return True

    def keyed(self, number: int, key: str, value: str) -> None:
        """Read a comment with a key that is used."""

    def tokens(self, number: int, run: str) -> None:
        rows = TokenRows(run, "\t")
        if rows.are_regular and rows.width == len(self.names):
            forms = rows.column(self.names.index("FORM"))
            if "" not in forms:
                self.rows(number, run, forms, rows)
                return
        if run.count("\n") > 1:
            self.by_line(number, run)
            return
        width = run.count("\t") + 1
        if width != len(self.names):
            raise FormatError(
                f"the line has {width} columns, not {len(self.names)}",
                file=self.file,
                line=number,
                advice="columns are separated by tabs; a file of CoNLL-Plus names them in # global.columns; "
                "input='conll' reads other columns",
            )
        raise FormatError("the token is empty", file=self.file, line=number)

    def rows(self, number: int, run: str, forms: list[str], rows: TokenRows) -> None:
        """Read lines with the right number of columns."""
        raise NotImplementedError

    def column(self, name: str, rows: TokenRows) -> list[str] | None:
        """Return the column with this name; None if there is none."""
        place = self.place(name)
        return None if place is None else rows.column(place)

    def place(self, name: str) -> int | None:
        """Return the number of the column with this name, in any case; None if there is none."""
        if name not in self.names:
            folded = [each.casefold() for each in self.names]
            return folded.index(name.casefold()) if name.casefold() in folded else None
        return self.names.index(name)


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


class EntityBrackets(Brackets):
    """Brackets with ids; `fields` are those of the file."""

    def __init__(self, layer: str, file: str) -> None:
        super().__init__(layer, file)
        self.fields = entity_fields("")
        self._by_id: dict[str, list[OpenSpan]] = {}
        self._parts: dict[str, tuple[OpenSpan, list[tuple[int, int]]]] = {}

    def see(self, value: str, position: int, line: int) -> None:
        for opens, text, closes in _BRACKETS.findall(value)[:-1]:  # the last one is empty
            if not text or not (opens or closes):
                raise self.wrong(line, f"the value {value[:60]!r} of {ENTITY} cannot be read")
            if opens:
                parts = text.split("-")
                identifier = parts[self.fields.id] if self.fields.id < len(parts) else ""
                label = unquote(parts[self.fields.type]) if self.fields.type < len(parts) else ""
                self._by_id.setdefault(identifier, []).append(OpenSpan(position, label or NO_LABEL, line))
            else:
                identifier = text
            if closes:
                self._close(identifier, position + 1, line)

    def _close(self, identifier: str, end: int, line: int) -> None:
        stack = self._by_id.get(identifier)
        if not stack:
            raise self.wrong(line, f"{identifier[:60]!r} is closed but not open")
        begun = stack.pop()
        if not stack:
            del self._by_id[identifier]
        part = _PART.fullmatch(identifier) if identifier.endswith("]") else None
        name = identifier if part is None else part[1]
        ranges = [(begun.start, end)]
        if part is not None:
            first, before = self._parts.pop(name, (begun, []))
            begun, ranges = first, [*before, *ranges]
            if len(ranges) < int(part[3]):
                self._parts[name] = begun, ranges
                return
        labels = Frozen({self.layer: begun.label})
        self.ended.append(Span.of_fragments(ranges, labels, id=name or None, line=begun.line))

    def finish(self) -> None:
        for identifier, stack in self._by_id.items():
            raise self.wrong(stack[-1].line, f"the entity {identifier[:60]!r} is not closed in its document")
        for identifier, (begun, _) in self._parts.items():
            raise self.wrong(begun.line, f"the entity {identifier[:60]!r} has parts that are missing")


class _ConlluReader(MadeLines, _ConlluLines):
    def __init__(self, file: str, options: ColumnOptions, name: str | None, _: Complain) -> None:
        assert options.sources is not None
        entities = {layer: EntityBrackets(layer, file) for layer in options.sources.in_brackets}
        _ConlluLines.__init__(self, file)
        MadeLines.__init__(self, file, options, name, entities)
        self._entities = entities
        self._values = {
            layer: _MiscValues(str(source), "" if layer in entities else OUTSIDE)
            for layer, source in self.sources.items()
        }
        self._spaces = _MiscValues("SpaceAfter", "")
        self._metadata: dict[str, str] = {}
        self._documents = 0
        self._last_unspaced = ""  # the id of the last word of a multiword token before which no blank follows
        self._missing = {str(source) for source in self.sources.values()} - {ENTITY}
        self._keys: dict[str, bool] = {}  # keys of MISC, and whether all their values are tags

    def keyed(self, number: int, key: str, value: str) -> None:
        if key == "global.Entity":
            for brackets in self._entities.values():
                brackets.fields = entity_fields(value)
        elif key.startswith("newdoc"):
            self._begin(value)
        elif key == "relations":
            self.builder.passed_over["relations"] += len(list(filter(None, value.split("|"))))
        elif key.startswith("meta::"):
            self._require_document()
            self._metadata[key.removeprefix("meta::")] = value
        elif key == "sent_id":
            self.end_sentence()
            self._require_document()
            self.builder.begin_sentence(f"={value}")

    def _begin(self, identifier: str = "") -> None:
        self.end_document()
        self._documents += 1
        self._metadata = {}
        self.builder.begin_document(identifier or MissingId(self._documents), self._metadata)

    def _require_document(self) -> None:
        if not self.builder.in_document:
            self._begin()

    def tokens(self, number: int, run: str) -> None:
        if "\t\n" in run:
            run, cut = without_empty_fields(run, len(self.names))
            self.builder.passed_over["empty fields"] += cut
        _ConlluLines.tokens(self, number, run)

    def rows(self, number: int, run: str, forms: list[str], rows: TokenRows) -> None:
        ids = self.column("ID", rows) or []
        miscs = self.column("MISC", rows) or [NOTHING] * len(forms)
        if "-" in (joined := "".join(ids)) or "." in joined:
            if len(ids) == 1:
                self._no_token(number, ids[0], miscs[0])
                return
            if self.names[0] != "ID":
                self.by_line(number, run)
                return
            for piece in filter(None, _NO_TOKEN.split(run)):
                self.tokens(number, piece)
                number += piece.count("\n")
            return
        self._require_document()
        flags = [NOTHING] * len(forms)
        if "SpaceAfter=No" in run:
            flags = [_UNSPACED if self._spaces[misc] == "No" else NOTHING for misc in miscs]
        if self._last_unspaced and self._last_unspaced in ids:
            flags[ids.index(self._last_unspaced)] = _UNSPACED
        if self._missing:
            self._see_keys(miscs)
        values = {layer: self._values_of(layer, rows, miscs) for layer in self.sources}
        self.add(number, forms, values, flags)

    def _no_token(self, number: int, identifier: str, misc: str) -> None:
        """Pass over a row that is no token."""
        if not _RANGE.fullmatch(identifier):
            raise FormatError(
                f"{identifier[:20]!r} is not the ID of a token",
                file=self.file,
                line=number,
                advice="it is a number, as in 3, or 3-4 of a multiword token, or 5.1 of an empty node",
            )
        self._require_document()
        mark = "-" if "-" in identifier else "."
        self.builder.passed_over[KINDS_OF_ROWS[mark]] += 1
        if mark == "-" and self._spaces[misc] == "No":
            self._last_unspaced = identifier.partition("-")[2]

    def _values_of(self, layer: str, rows: TokenRows, miscs: list[str]) -> list[str]:
        """Return the tags of a layer, or its brackets, in a column or under a key of ``MISC``."""
        own = self.column(str(self.sources[layer]), rows)
        other = map(self._values[layer].__getitem__, miscs)
        if own is None:
            return list(other)
        none = "" if layer in self._entities else OUTSIDE
        found = (value or under_key for value, under_key in zip(own, other, strict=True))
        return [none if value == NOTHING else value for value in found]

    def _see_keys(self, miscs: Iterable[str]) -> None:
        for misc in miscs:
            for key, value in pairs(misc).items():
                self._missing.discard(key)
                if self._keys.get(key, len(self._keys) < _MOST_KEYS):
                    self._keys[key] = is_tag(value)

    def end_sentence(self) -> None:
        self._last_unspaced = ""
        MadeLines.end_sentence(self)

    def finish(self) -> None:
        """End the file. Raises `UsageError` for a source that does not occur where other keys have tags."""
        MadeLines.finish(self)
        others = [key for key, holds_tags in self._keys.items() if holds_tags]
        for layer, source in self.sources.items():
            if others and source in self._missing and self.place(source) is None:
                raise UsageError(
                    f"the file has no {source!r} for layer {layer!r}",
                    file=self.file,
                    advice=f"sources with tags: {', '.join(others)}",
                )


def _sources(opened: Opened, layers: Mapping[str, int | str] | None) -> Sources:
    """Return the source of each layer by name: a column, a key of MISC or `ENTITY`."""
    if layers is None:
        found = {DEFAULT_LAYER: _default_source(opened)}
    elif all(isinstance(source, str) for source in layers.values()):
        found = {layer: str(source) for layer, source in layers.items()}
    else:
        found = _named_sources(opened, layers)
    entities = tuple(layer for layer, source in found.items() if source == ENTITY)
    return Sources(found, entities, has_flags=True)


def _named_sources(opened: Opened, layers: Mapping[str, int | str]) -> dict[str, str]:
    """Return the sources of layers, with the names of columns in place of their numbers."""
    names, found = _column_names(opened), {}
    for layer, source in layers.items():
        if isinstance(source, int) and not -len(names) <= source <= len(names):
            raise FormatError(
                f"there is no column {source} for layer {layer!r}",
                file=opened.file,
                advice=f"the columns are {', '.join(names)}",
            )
        found[layer] = source if isinstance(source, str) else names[source - (source > 0)]
    return found


def _column_names(opened: Opened) -> tuple[str, ...]:
    """Return the names of the columns of the first tokens."""
    lines = _ConlluLines(opened.file)
    for number, line in opened.lines():
        if line.startswith("#") and not lines.comment(number, line):
            break
        if line[:1] not in ("#", ""):
            break
    return lines.names


def _default_source(opened: Opened) -> str:
    """Return the column ``ner``, the only source that holds tags, or `ENTITY`.

    Raises `UsageError` if several sources hold tags.
    """
    for name in _column_names(opened):
        if name.casefold() == "ner":
            return name
    holds_tags: dict[str, bool] = {}
    named: set[str] = set()
    for name, value in _further_values(opened):
        if value != NOTHING and holds_tags.get(name, True):
            holds_tags[name] = is_tag(value)
            named.update([name] if "-" in value else ())
    found = [name for name, holds in holds_tags.items() if holds and name in named]
    if len(found) > 1:
        raise UsageError(
            f"several sources hold tags: {', '.join(found)}",
            file=opened.file,
            advice=f"name one, as in layers={ {DEFAULT_LAYER: found[0]} }",
        )
    return found[0] if found else ENTITY


def _further_values(opened: Opened) -> Iterator[tuple[str, str]]:
    """Yield the names and values in columns that CoNLL-U does not have and in ``MISC``; most equal ones only once."""
    lines, seen = _ConlluLines(opened.file), {""}
    for number, text in opened.blocks():
        for offset, line in enumerate(text.split("\n")):
            if line[:1] == "#" and lines.comment(number + offset, line):
                continue
            misc = line[line.rfind("\t") + 1 :]
            if lines.names != COLUMNS:
                fields = dict(zip(lines.names, line.split("\t"), strict=False))
                yield from ((name, value) for name, value in fields.items() if name not in COLUMNS)
                misc = fields.get("MISC", "")
            if misc not in seen:
                if len(seen) == _MOST_VALUES:
                    seen.clear()
                if len(misc) < _SHORT:
                    seen.add(misc)
                yield from pairs(misc).items()


def _is_conllu(beginning: Beginning) -> bool:
    """Return whether the first line with columns is the first word of a sentence, in ten columns without tags."""
    lines = (line.rstrip("\r") for line in beginning.text[:100_000].removeprefix("\ufeff").split("\n"))
    token = _TOKEN.fullmatch(next((line for line in lines if line.strip() and line[0] != "#"), ""))
    return token is not None and not is_tag(token[1])


FORMAT = Format(
    name="conllu",
    holds="CoNLL-U and CoNLL-Plus: ten columns, or those of `# global.columns`; tags under a key of the last column, "
    "as in `NER=B-PER`, or brackets as in `Entity=(e1-person`",
    endings=(".conllu", ".conllup"),
    signs=(
        Sign("first line `# global.columns`", lambda beginning: "# global.columns" in beginning.first_line),
        Sign("ten columns, the first `1`, the seventh a number", _is_conllu),
    ),
    token_lines=TokenLines(_ConlluReader, lambda head: head[1:] if head else None, sources=_sources),
    options=frozenset({"layers", "scheme"}),
    treatments=INVALID,
)
