"""Tags alone: a tag on each line, and one or more blank lines after each sentence, as MultiCoNER takes predictions.

The tokens are those of gold: the tags of the n-th block belong to its n-th sentence, the k-th tag to the k-th token. A
document of gold without sentences is one sentence. Comments such as ``# id X`` may stand before a block; an id must be
that of gold's document if the file of gold gives one.

Source: the task page of MultiCoNER 2022, and what its baseline reads and writes (``reader_utils.py``).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, pairwise
from typing import NamedTuple

from clueval.files.errors import FormatError, TagError
from clueval.formats.format import Format, Options, only_layer
from clueval.formats.json_rows import RowReader
from clueval.formats.opened import Opened
from clueval.formats.recognition import Beginning, Sign
from clueval.formats.tag_rows import TaggedRows
from clueval.spans.document import Document, MissingId, Sentence
from clueval.tagging.schemes import INVALID, is_tag, split_tag


class TagBlock(NamedTuple):
    """The tags between two blank lines: the line of the first, and the id in a comment before them."""

    line: int
    tags: list[str]
    id: str | None


def _read(opened: Opened, options: Options) -> Iterator[Document]:
    rows = RowReader(options, opened.file, opened.passed_over)
    layer = only_layer(options, opened.file)
    decoders = TaggedRows.of(rows, [layer])
    blocks, number = _blocks(opened), 0
    for document in opened.texts():
        tags: list[str] = []
        sentences = _sentences(document, opened.file)
        for place, (start, end) in enumerate(sentences):
            number += 1
            block = next(blocks, None)
            if block is None:
                problem = (
                    f"the file ends, but gold has a sentence {number}, of {_counted(end - start, 'token')}"
                )
                raise FormatError(problem, file=opened.file, document=document.id, advice=_ADVICE)
            rows.number = block.line if place == 0 else rows.number
            if len(block.tags) != end - start:
                found, tokens = _counted(len(block.tags), "tag"), _counted(end - start, "token")
                problem = f"the block has {found}, but sentence {number} of gold has {tokens}"
                raise FormatError(problem, file=opened.file, line=block.line, advice=_ADVICE)
            if block.id is not None and not _is_called(document, block.id):
                problem = (
                    f"the id is {block.id[:60]!r}, but sentence {number} of gold is in {document.id[:60]!r}"
                )
                raise FormatError(problem, file=opened.file, line=block.line, advice=_ADVICE)
            tags += block.tags
        first = document.start
        yield decoders.document(
            document.id,
            list(document.tokens or ()),
            {layer: tags},
            rows,
            sentences=[Sentence(start - first, end - first) for start, end in sentences],
            metadata=document.metadata,
            text=document.text,
        ).from_position(first)
    if (block := next(blocks, None)) is not None:
        problem = f"gold has {_counted(number, 'sentence')}, and no tokens for the block that begins here"
        raise FormatError(problem, file=opened.file, line=block.line, advice=_ADVICE)


_DOCSTART = "-DOCSTART-"
_ADVICE = "each block of tags belongs to a sentence of gold, in the same order"


def _counted(number: int, thing: str) -> str:
    return f"{number} {thing}{'s' * (number != 1)}"


def _blocks(opened: Opened) -> Iterator[TagBlock]:
    """Yield the blocks. Raises `FormatError` for a line of several columns, `TagError` for what is no tag."""
    line, tags, identifier = 0, list[str](), None
    for number, text in opened.lines():
        value = "" if text.startswith(_DOCSTART) else text.strip()
        if not value and tags:
            yield TagBlock(line, tags, identifier)
            tags, identifier = [], None
        elif value.startswith("#"):
            words = value[1:].split()
            identifier = words[1] if words[:1] == ["id"] and len(words) > 1 else identifier
        elif value:
            line = line if tags else number
            if len(value.split()) > 1:
                problem = "the line has several columns, and the first lines one tag each"
                raise FormatError(problem, file=opened.file, line=number, advice="see input=...")
            try:
                split_tag(value)
            except TagError as error:
                raise TagError(error.problem, file=opened.file, line=number, advice=error.advice) from None
            tags.append(value)
    if tags:
        yield TagBlock(line, tags, identifier)


def _sentences(document: Document, file: str) -> list[tuple[int, int]]:
    """Return the ranges of all tokens of a document, by sentence; tokens between sentences are one, too."""
    if document.tokens is None:
        problem = "has tags, but gold has no tokens"
        raise FormatError(
            problem, file=file, document=document.id, advice="give gold in a format with tokens"
        )
    edges = {document.start, document.start + len(document.tokens)}
    for sentence in document.sentences:
        edges |= {sentence.start, sentence.end}
    return list(pairwise(sorted(edges)))


def _is_called(document: Document, identifier: str) -> bool:
    """Return whether a document has this id, perhaps after the name of its file, or none in its file."""
    return isinstance(document.id, MissingId) or f":{document.id}".endswith(f":{identifier}")


def _has_tags(beginning: Beginning) -> bool:
    """Return whether each of the first three lines that are neither blank nor comments is one tag."""
    lines = (line.strip() for line in beginning.text[:100_000].removeprefix("\ufeff").split("\n"))
    first = list(islice((line for line in lines if line and not line.startswith(("#", _DOCSTART))), 3))
    return bool(first) and all(map(is_tag, first))


FORMAT = Format(
    name="tags",
    holds="a tag on each line, a blank line after each sentence, as MultiCoNER takes predictions; the tokens are "
    "those of gold",
    signs=(Sign("one tag alone on each of the first three lines without comments", _has_tags),),
    read=_read,
    options=frozenset({"layers", "scheme", "text"}),
    treatments=INVALID,
    lacks_tokens=True,
)
