"""CoNLL-U of Universal Dependencies, and CoNLL-Plus, whose first line names its columns.

The rules of the format stand in ``formats.md``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import unquote

from clueval.core.span import DEFAULT_LAYER, NO_LABEL, Frozen, Span
from clueval.core.tags import is_tag
from clueval.files.errors import FormatError, UsageError
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
    place_of,
)
from clueval.formats.columns import pairs_of
from clueval.formats.input_file import InputFile
from clueval.formats.options import FormatOptions

COLUMNS = ("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC")
ENTITY = "Entity"
_NOTHING = "_"

# Entities in brackets

_BRACKETS = re.compile(r"(\(?)([^()]*)(\)?)")
_PART = re.compile(r"(.*)\[(\d+)/(\d+)\]")
_IDS, _TYPES = ("eid", "GRP"), ("etype", "entity")


class EntityBrackets(Brackets):
    """Brackets with ids; a span may have parts. ``# global.Entity`` names the fields of a value."""

    def __init__(self, layer: str, reader: ColumnInput) -> None:
        super().__init__(layer, reader)
        names = reader.state.get("Entity", "").split("-")
        id_place = next((names.index(name) for name in _IDS if name in names), 0)
        self._id_place = id_place
        self._type_place = next((names.index(name) for name in _TYPES if name in names), 0 if id_place else 1)
        self._by_id: dict[str, list[OpenSpan]] = {}
        self._parts: dict[str, tuple[OpenSpan, list[tuple[int, int]]]] = {}

    def see(self, value: str, position: int, line: int) -> Iterator[Span]:
        for opens, text, closes in _BRACKETS.findall(value)[:-1]:  # the last one is empty
            if not text or not (opens or closes):
                self.reader.refuse(line, f"the value {value[:60]!r} of {ENTITY} cannot be read")
            identifier = text
            if opens:
                parts = text.split("-")
                identifier = parts[self._id_place] if self._id_place < len(parts) else ""
                label = unquote(parts[self._type_place]) if self._type_place < len(parts) else ""
                self._by_id.setdefault(identifier, []).append(OpenSpan(position, label or NO_LABEL, line))
            if closes:
                yield from self._close(identifier, position + 1, line)

    def _close(self, identifier: str, end: int, line: int) -> Iterator[Span]:
        stack = self._by_id.get(identifier)
        if not stack:
            self.reader.refuse(line, f"{identifier[:60]!r} is closed but not open")
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
        yield Span.of_fragments(ranges, Frozen({self.layer: begun.label}), id=name or None, line=begun.line)

    def end_document(self) -> None:
        for identifier, stack in self._by_id.items():
            self.reader.refuse(
                stack[-1].line, f"the entity {identifier[:60]!r} is not closed in its document"
            )
        for identifier, (begun, _) in self._parts.items():
            self.reader.refuse(begun.line, f"the entity {identifier[:60]!r} has parts that are missing")


# Comments


def _sentence(reader: ColumnInput, number: int, match: re.Match[str]) -> None:
    reader.end_sentence()
    reader.require_document()
    reader.begin_sentence(match[1].strip())


def _meta(reader: ColumnInput, number: int, match: re.Match[str]) -> None:
    reader.require_document()
    reader.metadata[match[1]] = match[2].strip()


def _relations(reader: ColumnInput, number: int, match: re.Match[str]) -> None:
    reader.passed_over["relations"] += len(list(filter(None, match[1].strip().split("|"))))


def _is_token(reader: ColumnInput, line: str) -> bool:
    """Return whether a special line is a token: all but comments."""
    names = reader.columns.names
    return line[0] != "#" or (names[0] != "ID" and line.count("\t") + 1 == len(names))


_RANGE = re.compile(r"[0-9]+[-.][0-9]+")


def _kind_of_row(reader: ColumnInput, number: int, line: str) -> str | None:
    """Return the kind of a row that is no token, which its ID tells."""
    names = reader.columns.names
    place = place_of("ID", names)
    if place is None or (line[0] == "#" and not _is_token(reader, line)):
        return None
    fields = line.rstrip("\t").split("\t") if line.count("\t") >= len(names) else line.split("\t")
    if len(fields) != len(names) or not {"-", "."} & {*fields[place]}:
        return None
    if not _RANGE.fullmatch(fields[place]):
        reader.refuse(
            number,
            f"{fields[place][:20]!r} is not the ID of a token",
            "it is a number, as in 3, or 3-4 of a multiword token, or 5.1 of an empty node",
        )
    mark = "-" if "-" in fields[place] else "."
    misc = place_of("MISC", names)
    if mark == "-" and misc is not None and pairs_of(fields[misc]).get("SpaceAfter") == "No":
        _, _, last = fields[place].partition("-")
        reader.unspaced_words.add(last)
    reader.require_document()
    return KINDS_OF_ROWS[mark]


# Columns


def _columns(file: InputFile, options: FormatOptions) -> Columns:
    """Return the columns of a file, and the default source unless options name the sources."""
    names = _names(file)
    default = _default_source(file, names) if options.layers is None else ENTITY
    return Columns(names, default, names.index("FORM") + 1)


def _names(file: InputFile) -> tuple[str, ...]:
    """Return the names of the columns of the first tokens."""
    for number, text in file.blocks():
        for offset, line in enumerate(text.split("\n")):
            if header := re.match(r"#\s*global\.columns\s*=(.*)$", line):
                names = tuple(name.upper() if name.upper() in COLUMNS else name for name in header[1].split())
                if "FORM" not in names:
                    raise FormatError("the columns have no FORM", file=file.name, line=number + offset)
                return names
            if line and line[0] != "#":
                return COLUMNS
    return COLUMNS


def _default_source(file: InputFile, names: tuple[str, ...]) -> str:
    """Return the column ``ner``, the only source that holds tags, the key ``ner``, or `ENTITY`.

    Raises `UsageError` for several sources that hold tags.
    """
    for name in names:
        if name.casefold() == "ner":
            return name
    holds_tags: dict[str, bool] = {}
    hyphenated: set[str] = set()
    for name, value in _further_values(file, names):
        if value != _NOTHING and holds_tags.get(name, True):
            holds_tags[name] = is_tag(value)
            hyphenated.update([name] if "-" in value else ())
    sources = [name for name, holds in holds_tags.items() if holds and name in hyphenated]
    if len(sources) > 1:
        raise UsageError(
            f"several sources hold tags: {', '.join(sources)}",
            file=file.name,
            advice=f"name one, as in layers={ {DEFAULT_LAYER: sources[0]} }",
        )
    if not sources and ENTITY not in holds_tags:  # so that values that are no tags are an error
        sources = [name for name in holds_tags if name.casefold() == "ner"]
    return sources[0] if sources else ENTITY


def _further_values(file: InputFile, names: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Yield the names and values in columns that CoNLL-U does not have and in ``MISC``, equal ones of a block once."""
    others = [place for place, name in enumerate(names) if name not in COLUMNS]
    misc = names.index("MISC") if "MISC" in names else None
    is_last = misc == len(names) - 1
    for _, text in file.blocks():
        lines = [line for line in text.split("\n") if line[:1] != "#" and "\t" in line]
        rows = [] if is_last and not others else [line.split("\t") for line in lines]
        for place in others:
            for value in dict.fromkeys(row[place] for row in rows if place < len(row)):
                yield names[place], value
        values = [line[line.rfind("\t") + 1 :] for line in lines] if is_last else []
        if misc is not None and not is_last:
            values = [row[misc] for row in rows if misc < len(row)]
        for value in dict.fromkeys(values):
            yield from pairs_of(value).items()


CONLLU = ColumnFormat(
    name="conllu",
    options=frozenset({"invalid", "layers", "scheme"}),
    holds="CoNLL-U and CoNLL-Plus: ten columns, or those of `# global.columns`; tags under a key of the last column, "
    "as in `NER=B-PER`, or brackets as in `Entity=(e1-person`",
    separator="\t",
    special=re.compile(r"^(?:#|[^\t\n]*[-.])", re.MULTILINE),
    marks=(
        LineRule(
            r"#\s*global\.Entity\s*=(.*)$",
            lambda reader, number, match: reader.state.update(Entity=match[1].strip()),
        ),
        LineRule(r"#\s*relations\s*=(.*)$", _relations),
        LineRule(NEW_DOCUMENT, new_document),
        LineRule(SENTENCE, _sentence),
        LineRule(META, _meta),
    ),
    is_token=_is_token,
    passed_over=_kind_of_row,
    columns=_columns,
    bracketed=(ENTITY,),
    brackets=EntityBrackets,
    none=(_NOTHING,),
    pairs="MISC",
    has_columns=False,
    flags="MISC",
    no_space="SpaceAfter=No",
    is_named=True,
)
