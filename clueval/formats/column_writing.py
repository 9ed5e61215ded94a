"""Columns of documents: the token, a tag for each layer and, if asked for, the id of the token."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import filterfalse

from clueval.core.document import Document, Sentence
from clueval.core.span import name_of
from clueval.files.errors import UsageError
from clueval.formats.tag_lists import tags_of
from clueval.formats.writer import Writer, in_lines

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
