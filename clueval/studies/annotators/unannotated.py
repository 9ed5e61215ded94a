"""Documents without annotation, which are marked as such: all their tags are one agreed tag.

The tag is no tag of the scheme, so it is recognised before tags are decoded.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from clueval.exceptions import TagError, UsageError
from clueval.formats.columns.documents import documents
from clueval.formats.columns.passages import Passage
from clueval.reading.source import Source
from clueval.spans.document import Document


def annotated(source: Source, tag: str | None) -> Iterator[Document]:
    """Yield the documents of a file, without those whose tags are all `tag`.

    Raises `TagError` for a document in which only a part has this tag.
    """
    if tag is None:
        yield from source.documents()
        return
    lines = None if source.in_brackets else source.form.token_lines
    if lines is None:
        raise UsageError(
            f"the format {source.format} has no tags, so no document can have the tag {tag!r}",
            file=str(source.path),
            advice="leave out documents that are not annotated",
        )
    filtered = _Filtered(source, tag)
    options = source.options
    yield from documents(filtered, source.decoders(filtered), lines.sentence_id, options.max_document)


class _Filtered:
    """The passages of a file without those of documents that are not annotated."""

    def __init__(self, source: Source, tag: str) -> None:
        self._source, self._tag = source, tag

    def __iter__(self) -> Iterator[Passage]:
        number = 0

        def ordinal(passage: Passage) -> int:
            nonlocal number
            number += passage.begins
            return number

        for _, passages in groupby(self._source.passages(), key=ordinal):
            listed = list(passages)
            if not self._is_unannotated(listed):
                yield from listed

    def _is_unannotated(self, passages: list[Passage]) -> bool:
        """Return whether all tags of a document are the tag. Raises `TagError` if some are."""
        if not any(self._tag in text for passage in passages for text in passage.sentences):
            return False
        first: tuple[Passage, int, int, bool] | None = None
        for passage in passages:
            if passage.layout is None:
                continue
            for sentence, row, fields in passage.rows():
                for _, column in passage.layout.layers:
                    is_tag = column < len(fields) and fields[column] == self._tag
                    first = first or (passage, sentence, row, is_tag)
                    if is_tag != first[3]:
                        raise self._in_part(passage, sentence, row)
        return first is not None and first[3]

    def _in_part(self, passage: Passage, sentence: int, row: int) -> TagError:
        return TagError(
            f"the tag {self._tag!r} is on only some tokens of the document",
            file=passage.file,
            line=passage.line_of(sentence, row),
            document=passage.document if passage.named else None,
            advice="a document that is not annotated has this tag on every token",
        )
