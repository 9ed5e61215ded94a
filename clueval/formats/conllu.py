"""CoNLL-U of Universal Dependencies, and CoNLL-Plus, whose first line names its columns.

``# newdoc id = X`` begins a document, ``# sent_id = X`` names a sentence, ``# meta::key = value`` is metadata, and
``# global.columns = ID FORM ... MISC`` names the columns of CoNLL-Plus. Rows such as ``3-4`` and ``5.1`` are not
tokens: they are passed over and counted as multiword tokens and empty nodes. ``SpaceAfter=No`` is used for the text.

Sources: a key of ``MISC`` whose values are tags, as in ``NER=B-PER`` (a token without it has O); ``Entity``,
whose values are brackets, as in ``Entity=(e1-person-1`` and ``e1)``; or a column, by its number or name. The
default is the only source that holds tags, or ``Entity`` if there is none; the file is read once more to find it.

Sources: the description of CoNLL-U at universaldependencies.org; CorefUD for ``Entity``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from clueval.exceptions import FormatError, UsageError
from clueval.formats.columns.entity_brackets import ENTITY, EntityBrackets, entity_fields
from clueval.formats.columns.named import KINDS_OF_ROWS
from clueval.formats.columns.tag_columns import TagColumns
from clueval.formats.columns.token_documents import TokenDocument
from clueval.formats.format import Format, Options
from clueval.formats.opened import Opened
from clueval.formats.recognition import Beginning, Sign
from clueval.spans.document import Document
from clueval.spans.missing_id import MissingId
from clueval.spans.span import DEFAULT_LAYER
from clueval.tagging.decoder import Decoder
from clueval.tagging.schemes import INVALID, OUTSIDE, is_tag

COLUMNS = ("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC")
_COMMENT = re.compile(r"#\s*(newdoc(?:\s+id)?|sent_id|meta::\S+|global\.\w+)\s*(?:=(.*))?$")
_TOKEN = re.compile(r"1(?:-\d+)?\t(?:[^\t]*\t){5}(?:\d+|_)\t[^\t]*\t[^\t]*\t([^\t]*)")
_RANGE = re.compile(r"[0-9]+[-.][0-9]+")
_NOTHING = "_"
_MOST_KEYS = 1000
"""The number of keys of MISC that are remembered for the message about a source that does not occur."""


class Row(NamedTuple):
    """A line with columns: its number, its fields by the names of the columns, and the pairs of ``MISC``."""

    number: int
    fields: Mapping[str, str]
    misc: Mapping[str, str]

    def value(self, source: str) -> str:
        """Return the tag in a column or under a key of ``MISC``; O if there is none."""
        value = self.fields.get(source) or self.misc.get(source) or _NOTHING
        return OUTSIDE if value == _NOTHING else value


class Comment(NamedTuple):
    """A comment that is used, or a blank line, whose key is empty."""

    number: int
    key: str
    value: str


class _ConlluLines:
    """The lines of one file; `columns` and `entity` follow its ``# global`` comments."""

    def __init__(self, opened: Opened) -> None:
        self._file, self._opened = opened.file, opened
        self.columns: tuple[str, ...] = COLUMNS
        self.entity = entity_fields("")

    def __iter__(self) -> Iterator[Row | Comment]:
        for number, line in self._opened.lines():
            if not line.strip():
                yield Comment(number, "", "")
            elif line[0] == "#" and (self.columns[0] == "ID" or line.count("\t") + 1 != len(self.columns)):
                yield from self._comment(number, line)
            else:
                yield self._row(number, line)

    def _comment(self, number: int, line: str) -> Iterator[Comment]:
        comment = _COMMENT.match(line)
        if comment is None:
            return
        key, value = comment[1], (comment[2] or "").strip()
        if key == "global.columns":
            self.columns = tuple(value.split())
            if "FORM" not in self.columns:
                raise FormatError("the columns have no FORM", file=self._file, line=number)
        elif key == "global.Entity":
            self.entity = entity_fields(value)
        else:
            yield Comment(number, key, value)

    def _row(self, number: int, line: str) -> Row:
        values = line.split("\t")
        if len(values) != len(self.columns):
            raise FormatError(
                f"the line has {len(values)} columns, not {len(self.columns)}",
                file=self._file,
                line=number,
                advice="columns are separated by tabs; a file of CoNLL-Plus names them in # global.columns",
            )
        fields = dict(zip(self.columns, values, strict=True))
        if not fields["FORM"]:
            raise FormatError("the token is empty", file=self._file, line=number)
        misc = fields.get("MISC", _NOTHING)
        pairs = (part.partition("=") for part in misc.split("|")) if "=" in misc else ()
        return Row(number, fields, {key: value for key, equals, value in pairs if equals})


class _ConlluReader:
    """Builds the documents of one file; `decoders` has the decoder of each layer with tags."""

    def __init__(
        self, opened: Opened, sources: Mapping[str, str], options: Options, decoders: dict[str, Decoder]
    ) -> None:
        self._opened, self._file, self._most = opened, opened.file, options.max_document
        self._sources, self._lines = sources, _ConlluLines(opened)
        self._tags = TagColumns(decoders, opened.file)
        self._brackets = {
            layer: EntityBrackets(layer, opened.file) for layer in sources if layer not in decoders
        }
        self._document: TokenDocument | None = None
        self._documents = self._position = 0
        self._last_unspaced = ""  # the id of the last word of a multiword token before which no blank follows
        self._keys: dict[str, bool] = {}  # keys of MISC, and whether all their values are tags

    def read(self) -> Iterator[Document]:
        for each in self._lines:
            if isinstance(each, Row):
                self._row(each)
            elif each.key.startswith("newdoc"):
                yield from self._finished()
                self._begin(each.number, each.value)
            elif each.key.startswith("meta::"):
                self._current(each.number).metadata[each.key.removeprefix("meta::")] = each.value
            else:
                self._end_sentence()
                if each.key:
                    self._current(each.number).sentence_id = each.value
        yield from self._finished()
        self._tags.file_tags.ended = True
        self._require_sources()

    def _begin(self, line: int, identifier: str = "") -> TokenDocument:
        self._documents += 1
        name = identifier or MissingId(self._documents)
        self._document = TokenDocument(
            name, self._position, list(self._sources), self._file, self._most, line
        )
        return self._document

    def _current(self, line: int) -> TokenDocument:
        return self._document or self._begin(line)

    def _finished(self) -> Iterator[Document]:
        document, self._document = self._document, None
        if document is None:
            return
        for brackets in self._brackets.values():
            brackets.finish()
        document.end_sentence()
        more = self._tags.finish(document)
        self._position = document.end
        self._tags.clear()
        yield document.finished(**more)

    def _end_sentence(self) -> None:
        self._last_unspaced = ""
        self._tags.end_sentence()
        if self._document is not None:
            self._document.end_sentence()

    def _row(self, row: Row) -> None:
        document = self._current(row.number)
        number, has_space = row.fields.get("ID", ""), row.misc.get("SpaceAfter") != "No"
        for mark, kind in KINDS_OF_ROWS.items():
            if mark in number:
                if not _RANGE.fullmatch(number):
                    raise FormatError(
                        f"{number[:20]!r} is not the ID of a token",
                        file=self._file,
                        line=row.number,
                        advice="it is a number, as in 3, or 3-4 of a multiword token, or 5.1 of an empty node",
                    )
                self._opened.passed_over[kind] += 1
                if mark == "-" and not has_space:
                    self._last_unspaced = number.partition("-")[2]
                return
        has_space = has_space and (not number or number != self._last_unspaced)
        document.add(row.fields["FORM"], row.number, " " if has_space else "")
        self._see_keys(row.misc)
        for brackets in self._brackets.values():
            if value := row.misc.get(ENTITY) or row.fields.get(ENTITY):
                brackets.see(value, document, row.number, self._lines.entity)
        tagged = self._tags.file_tags.decoders
        self._tags.add(document.end - 1, ((layer, row.value(self._sources[layer])) for layer in tagged))

    def _see_keys(self, misc: Mapping[str, str]) -> None:
        for key, value in misc.items():
            if self._keys.get(key, len(self._keys) < _MOST_KEYS):
                self._keys[key] = is_tag(value)

    def _require_sources(self) -> None:
        """Raise `UsageError` for a source that does not occur in a file that has other keys with tags."""
        for layer, source in self._sources.items():
            if source in self._lines.columns or source in self._keys or source == ENTITY:
                continue
            others = [key for key, holds_tags in self._keys.items() if holds_tags]
            if others:
                raise UsageError(
                    f"the file has no {source!r} for layer {layer!r}",
                    file=self._file,
                    advice=f"sources with tags: {', '.join(others)}",
                )


def _sources(opened: Opened, layers: Mapping[str, int | str] | None) -> dict[str, str]:
    """Return the source of each layer by name: a column, a key of MISC or `ENTITY`."""
    if layers is None:
        return {DEFAULT_LAYER: _default_source(opened)}
    if all(isinstance(source, str) for source in layers.values()):
        return {layer: str(source) for layer, source in layers.items()}
    columns = _columns(opened)
    found = {}
    for layer, source in layers.items():
        if isinstance(source, int) and not -len(columns) <= source <= len(columns):
            raise FormatError(
                f"there is no column {source} for layer {layer!r}",
                file=opened.file,
                advice=f"the columns are {', '.join(columns)}",
            )
        found[layer] = source if isinstance(source, str) else columns[source - (source > 0)]
    return found


def _columns(opened: Opened) -> tuple[str, ...]:
    """Return the names of the columns of a file."""
    lines = _ConlluLines(replace(opened, progress=None))
    next(iter(lines), None)
    return lines.columns


def _default_source(opened: Opened) -> str:
    """Return the only source that holds tags, or `ENTITY`. Raises `UsageError` if there are several."""
    lines = _ConlluLines(replace(opened, progress=None))
    holds_tags: dict[str, bool] = {}
    named: set[str] = set()
    for row in lines:
        if isinstance(row, Row):
            own = {name: row.fields[name] for name in lines.columns if name not in COLUMNS}
            for name, value in (*own.items(), *row.misc.items()):
                if value != _NOTHING and holds_tags.get(name, True):
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


def _read(opened: Opened, options: Options) -> Iterator[Document]:
    sources = _sources(opened, options.layers)
    tagged = [layer for layer, source in sources.items() if source != ENTITY]
    schemes = dict.fromkeys(tagged, options.scheme)
    invalid = options.invalid or INVALID[0]
    if options.scheme is None and invalid != "conlleval" and tagged:
        first = {layer: Decoder(None, "conlleval", opened.file) for layer in tagged}
        quiet = replace(opened, progress=None, passed_over=Counter())
        for _ in _ConlluReader(quiet, sources, options, first).read():
            pass
        schemes = {layer: decoder.scheme() for layer, decoder in first.items()}
    decoders = {layer: Decoder(scheme, invalid, opened.file) for layer, scheme in schemes.items()}
    yield from _ConlluReader(opened, sources, options, decoders).read()


def _is_conllu(beginning: Beginning) -> bool:
    """Return whether the first line with columns is the first word of a sentence, in ten columns without tags."""
    lines = (line.rstrip("\r") for line in beginning.text[:100_000].removeprefix("\ufeff").split("\n"))
    token = _TOKEN.fullmatch(next((line for line in lines if line.strip() and line[0] != "#"), ""))
    return token is not None and not is_tag(token[1])


FORMAT = Format(
    name="conllu",
    of_tokens=True,
    holds="CoNLL-U and CoNLL-Plus: ten columns, or those of `# global.columns`; tags under a key of the last column, "
    "as in `NER=B-PER`, or brackets as in `Entity=(e1-person`",
    endings=(".conllu", ".conllup"),
    signs=(
        Sign("first line `# global.columns`", lambda beginning: "# global.columns" in beginning.first_line),
        Sign("ten columns, the first `1`, the seventh a number", _is_conllu),
    ),
    read=_read,
    options=frozenset({"layers", "scheme"}),
    treatments=INVALID,
)
