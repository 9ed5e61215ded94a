"""Tags alone: a tag on each line, and one or more blank lines after each sentence, as MultiCoNER takes predictions.

The rules of the format stand in ``formats.md``.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from clueval.core.document import Document, Layers, MissingId, Row, Sentence
from clueval.core.span import Frozen
from clueval.core.tags import INVALID, decode_tags, split_tag
from clueval.files.errors import FormatError, TagError, with_noun
from clueval.formats.documents import FileFormat, only_layer
from clueval.formats.input_file import InputFile
from clueval.formats.options import FormatOptions
from clueval.formats.recognition import DOCSTART

_ADVICE = "each block of tags belongs to a sentence of gold, in the same order"


class _TagBlock(NamedTuple):
    """The tags between two blank lines: the line of the first, and the id in a comment before them."""

    line: int
    tags: list[str]
    id: str | None


def _read(file: InputFile, options: FormatOptions) -> Iterator[Document]:
    layer = only_layer(options, file.name)
    blocks, number = _blocks(file), 0
    for document in file.texts():
        tags: list[str] = []
        spans: list[Row] = []
        line = 0
        sentences = _sentences(document, file.name)
        for start, end in sentences:
            number += 1
            block = next(blocks, None)
            if block is None:
                problem = (
                    f"the file ends, but gold has a sentence {number}, of {with_noun(end - start, 'tokens')}"
                )
                raise FormatError(problem, file=file.name, document=document.id, advice=_ADVICE)
            line = line or block.line
            _require_same(block, document, number, end - start, file.name)
            try:
                chunks = decode_tags(block.tags, options.scheme, options.invalid or "conlleval")
            except TagError as error:
                error.file, error.line, error.document = file.name, line, document.id
                raise
            spans += [(start + first, start + last, label) for first, last, label in chunks]
            tags += block.tags
        yield Document(
            document.id,
            Layers({}, {layer: spans}, line),
            tokens=document.tokens,
            text=document.text,
            start=document.start,
            sentences=[Sentence(start, end) for start, end in sentences],
            metadata=document.metadata,
            tags=Frozen({layer: tags}),
            file=file.name,
        )
    if (block := next(blocks, None)) is not None:
        problem = f"gold has {with_noun(number, 'sentences')}, and no tokens for the block that begins here"
        raise FormatError(problem, file=file.name, line=block.line, advice=_ADVICE)


def _require_same(block: _TagBlock, document: Document, number: int, tokens: int, file: str) -> None:
    """Raise `FormatError` unless a block has a tag for each token of a sentence, and the id of its document."""
    tags, problem = with_noun(len(block.tags), "tags"), None
    # a document may have this id after the name of its file, or none in its file
    is_called = block.id is None or f":{document.id}".endswith(f":{block.id}")
    if len(block.tags) != tokens:
        problem = f"the block has {tags}, but sentence {number} of gold has {with_noun(tokens, 'tokens')}"
    elif block.id is not None and not is_called and not isinstance(document.id, MissingId):
        problem = f"the id is {block.id[:60]!r}, but sentence {number} of gold is in {document.id[:60]!r}"
    if problem is not None:
        raise FormatError(problem, file=file, line=block.line, advice=_ADVICE)


def _blocks(file: InputFile) -> Iterator[_TagBlock]:
    """Yield the blocks. Raises `FormatError` for a line of several columns, `TagError` for what is no tag."""
    line, tags, identifier = 0, list[str](), None
    for number, text in file.lines():
        value = "" if text.startswith(DOCSTART) else text.strip()
        if not value and tags:
            yield _TagBlock(line, tags, identifier)
            tags, identifier = [], None
        elif value.startswith("#"):
            words = value[1:].split()
            identifier = words[1] if words[:1] == ["id"] and len(words) > 1 else identifier
        elif value:
            line = line if tags else number
            if len(value.split()) > 1:
                problem = "the line has several columns, and a file of tags alone has one tag on each line"
                advice = "write sentences below each other, with empty lines between; see input=..."
                raise FormatError(problem, file=file.name, line=number, advice=advice)
            try:
                split_tag(value)
            except TagError as error:
                raise TagError(error.problem, file=file.name, line=number, advice=error.advice) from None
            tags.append(value)
    if tags:
        yield _TagBlock(line, tags, identifier)


def _sentences(document: Document, file: str) -> list[tuple[int, int]]:
    """Return the ranges of all tokens of a document, by sentence; tokens between sentences are one, too."""
    if document.tokens is None:
        problem, advice = "has tags, but gold has no tokens", "give gold in a format with tokens"
        raise FormatError(problem, file=file, document=document.id, advice=advice)
    edges = {document.start, document.start + len(document.tokens)}
    for sentence in document.sentences:
        edges |= {sentence.start, sentence.end}
    return list(pairwise(sorted(edges)))


TAGS = FileFormat(
    name="tags",
    options=frozenset({"invalid", "layers", "scheme", "text"}),
    holds="a tag on each line, a blank line after each sentence, as MultiCoNER takes predictions; the tokens are "
    "those of gold",
    read=_read,
    invalid=INVALID,
    lacks_tokens=True,
)
