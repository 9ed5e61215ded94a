"""Checks that the token ids of a document differ, in files that are read passage by passage."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from clueval.formats.columns.columns import tables
from clueval.formats.columns.documents import repeated_ids
from clueval.formats.columns.passages import Passage
from clueval.reading.source import Source
from clueval.tagging.schemes import OUTSIDE


class DocumentIds:
    """The token ids of the current document of a file. Holds those of one document, without its lines."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._documents = 0
        self._seen: set[str] = set()

    def see(self, passage: Passage, ids: Sequence[str]) -> None:
        """Add the ids of a passage, in which the id of a border is O.

        Raises `FormatError` for an id that has occurred in the document; to name the lines, it reads the file again.
        """
        if passage.begins:
            self._documents += 1
            self._seen.clear()
        if not ids:
            return
        known = len(self._seen)
        self._seen.update(ids)
        self._seen.discard(OUTSIDE)
        if len(self._seen) - known != passage.tokens:
            for error in repeated_ids(self._document()):
                raise error

    def _document(self) -> Iterator[Passage]:
        """The passages of the current document."""
        number = 0
        for passage in replace(self._source, progress=None).passages():
            number += passage.begins
            if number > self._documents:
                return
            if number == self._documents:
                yield passage


def with_unique_ids(source: Source) -> Iterator[Passage]:
    """Yield the passages of a column file. Raises `FormatError` for a token id that occurs again in its document."""
    known = DocumentIds(source)
    for passage in source.passages():
        if passage.layout is None or passage.layout.token_id is None:
            known.see(passage, ())
        else:
            known.see(passage, _ids(passage))
        yield passage


def _ids(passage: Passage) -> Sequence[str]:
    assert passage.layout is not None
    try:
        parsed = tables(passage.sentences, passage.layout)
        return [token_id for table in parsed for token_id in table.token_ids() or ()]
    except ValueError:  # a line is malformed, which the caller reports
        return ()
