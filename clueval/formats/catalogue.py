"""The formats by name: how documents are written in each, and what ``clueval formats`` prints of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, lru_cache
from itertools import filterfalse
from pathlib import Path

from clueval.core.document import Document, Sentence
from clueval.core.span import name_of
from clueval.files.errors import UsageError
from clueval.formats.dialect import Dialect, described
from clueval.formats.documents import FileFormat
from clueval.formats.form import NAMES, Form, entries_named, forms_named
from clueval.formats.label_studio import written_as
from clueval.formats.markup import Markup, markup_writer
from clueval.formats.row_writing import row_writer
from clueval.formats.tag_lists import tags_of
from clueval.formats.writer import Writer, in_lines


def writer_named(name: str, *, as_: str | None = None, types: Mapping[str, str] | None = None) -> Writer:
    """Return how documents are written in a format.

    `as_` is ``annotations`` or ``predictions`` for Label Studio, `types` the type and feature, ``TYPE|FEATURE``, of
    each layer for UIMA and WebAnno. Raises `UsageError` for a format that is unknown or only read, and for an option
    that does not apply to it.
    """
    forms = forms_named(name)
    if types is not None and name not in ("webanno", "xmi", "uima-json"):
        raise UsageError(f"types={types!r} does not apply to the format {name}", advice="remove it")
    if as_ is not None:
        return row_writer(written_as(name, as_))
    writer = next(filter(None, (_writer_of(form, types or {}) for form in forms)), None)
    if writer is None:
        raise UsageError(
            f"the format {name} cannot be written", advice=f"one of {', '.join(written_names())}"
        )
    return writer


def written_names() -> list[str]:
    """Return the names of the formats that can be written."""
    return [name for name in NAMES if any(_writer_of(form, {}) for form in forms_named(name))]


def _writer_of(form: Form, types: Mapping[str, str]) -> Writer | None:
    if isinstance(form, FileFormat):
        return None if form.writer is None else form.writer(types)
    if isinstance(form, Dialect):
        return row_writer(form) if form.is_written else None
    if isinstance(form, Markup):
        return None if form.label else markup_writer(form)
    return CONLL_WRITER if form.name == "conll" else None


def uses_of(name: str) -> list[str]:
    """Return what clueval does with the files of a format: ``read``, ``write``, ``add sets``, and the extra for it.

    >>> uses_of("xmi")
    ['read', 'write', 'extra uima']
    """
    forms = forms_named(name)
    uses = {
        "read": True,
        "write": any(_writer_of(form, {}) for form in forms),
        "add sets": any(isinstance(form, FileFormat) and form.adds_sets for form in forms),
        f"extra {forms[0].extra}": forms[0].extra,
    }
    return [use for use, has in uses.items() if has]


def recognised_by(name: str) -> str:
    """Return how the files of a format are recognised, in words.

    >>> recognised_by("brat")
    '`.ann`, `.a1`'
    """
    words = (entry.recognised_by for entry in entries_named(name))
    return "; ".join(filter(None, words)) or f"`--input {name}`"


def rows_of(name: str) -> list[str]:
    """Return how ``--row`` describes the rows of a format, of those descriptions whose keys tell it."""
    rows = (described(form) for form in forms_named(name) if isinstance(form, Dialect))
    return [description for description in rows if description is not None]


@cache
def details() -> dict[str, str]:
    """Return the sections of ``formats.md`` by the names of formats; a section may be about several."""
    text = Path(__file__).with_name("formats.md").read_text(encoding="utf-8")
    sections = (section.partition("\n") for section in text.removeprefix("# ").split("\n# "))
    return {name: body.strip() for names, _, body in sections for name in names.split(", ")}


# Columns of documents: the token, a tag for each layer and, if asked for, the id of the token

_NO_FIELD = re.compile(r"[\t\n\r\0]|^$|^ +$")
_NO_VALUE = re.compile(r"[\n\r\0]|^\s|\s$|^$")


def conll_lines(documents: Iterable[Document], *, with_ids: bool = False) -> Iterator[str]:
    """Yield the lines of a file of CoNLL: for each document its id and metadata, and its sentences as one text each.

    The documents are those that `fitted` returns. Raises `UsageError` for texts that the columns cannot hold.

    >>> from clueval.core.span import Span
    >>> document = Document("d", {"label": [Span(0, 1, "LOC")]}, tokens=["Ulm", "!"])
    >>> list(conll_lines([document]))
    ['# newdoc id = d', 'Ulm\\tB-LOC\\n!\\tO\\n']
    """
    is_empty = True
    for document in documents:
        is_empty = False
        yield f"# newdoc id = {_checked(document.id, 'an id', document)}"
        for key, value in document.metadata.items():
            if re.search(r"[\s=]", key):
                raise _unwritable(document, f"the name {key!r} of its metadata")
            yield f"# meta::{key} = {_checked(value, 'a value of metadata', document)}"
        yield from _rows(document, with_ids)
    if is_empty:
        yield "# no documents"


CONLL_WRITER = Writer(
    pieces=lambda documents, layers, with_ids: in_lines(conll_lines(documents, with_ids=with_ids)),
    ending=".conll",
    unit="token",
    holds=frozenset({"layers", "metadata"}),
)


def _checked(value: str, what: str, document: Document) -> str:
    if _NO_VALUE.search(value):
        raise _unwritable(document, f"{what} that is empty or has line ends or blanks at its edges")
    return value


def _rows(document: Document, with_ids: bool) -> Iterator[str]:
    tokens = document.tokens or ()
    columns = [tokens, *(_tags(document, layer) for layer in document.layers)]
    if with_ids and document.token_ids is not None:
        columns.append(document.token_ids)
    for token in filterfalse(_is_token, tokens):
        raise _unwritable(document, f"the token {token[:40]!r}")
    for start, end, name in _sentences(document):
        if name is not None:
            yield f"# sent_id = {_checked(name, 'the id of a sentence', document)}"
        sentence_columns = (column[start - document.start : end - document.start] for column in columns)
        yield "\n".join([*map("\t".join, zip(*sentence_columns, strict=True)), ""])


@lru_cache(maxsize=1 << 14)
def _is_token(field: str) -> bool:
    return not _NO_FIELD.search(field) and field != "-DOCSTART-"


def _sentences(document: Document) -> Iterator[Sentence]:
    """Yield sentences that cover all tokens."""
    place, end = document.start, document.start + len(document.tokens or ())
    for sentence in document.sentences:
        if sentence.start > place:
            yield Sentence(place, sentence.start)
        yield sentence
        place = sentence.end
    if place < end:
        yield Sentence(place, end)


def _tags(document: Document, layer: str) -> list[str]:
    for span in document.layers[layer]:
        if _NO_FIELD.search(span.label):
            raise _unwritable(document, f"{name_of(span)}, whose label or positions do not fit into tags")
    return tags_of(document, layer)


def _unwritable(document: Document, what: str) -> UsageError:
    return UsageError(
        f"columns with BIO tags cannot hold {what}",
        **document.in_errors,
        advice="change it, or use another format",
    )
