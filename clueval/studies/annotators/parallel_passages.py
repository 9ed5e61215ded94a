"""The passages of the same documents in the files of all annotators, side by side; some may lack documents.

The files are read in step. Where their next documents differ, the files are read once more for the ids of all
documents, which say who lacks one. Documents that several annotators have must be in the same order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from clueval.formats.columns.passages import Passage
from clueval.reading.source import Source

Who = tuple[bool, ...]
"""Which annotators have a document."""


class IrregularFiles(Exception):
    """Files that cannot be counted in lockstep."""


class ParallelPassages:
    """Iterates over parallel passages, with those who have them; `sources` are files, None for one that lacks it.

    Raises `IrregularFiles` for documents in different orders and for ids that come again.
    """

    def __init__(self, sources: Sequence[Source | None]) -> None:
        self._sources = sources
        self._streams = [iter(()) if source is None else source.passages() for source in sources]
        self._next = [next(stream, None) for stream in self._streams]
        self._taken: set[str] = set()
        self._ids: list[set[str]] | None = None

    def __iter__(self) -> Iterator[tuple[Who, Sequence[Passage]]]:
        while any(self._next):
            document = self._next_document()
            who = tuple(each is not None and each.document == document for each in self._next)
            numbers = [number for number, has in enumerate(who) if has]
            begins = True
            while True:
                passages = [self._next[number] for number in numbers]
                parts = [each for each in passages if each is not None and (begins or not each.begins)]
                if not parts:
                    break
                if len(parts) < len(passages):
                    raise IrregularFiles
                for number in numbers:
                    self._next[number] = next(self._streams[number], None)
                yield who, parts
                begins = False

    def _next_document(self) -> str:
        """Return the id of a document that comes next in the files of all who have it."""
        heads = [each for each in self._next if each is not None]
        ids = list(dict.fromkeys(each.document for each in heads))
        is_named = all(each.named for each in heads)
        files = sum(source is not None for source in self._sources)
        if not is_named and (len(ids) > 1 or len(heads) < files):
            raise IrregularFiles  # documents without ids are numbered, so each file must have all
        found = ids[0] if len(ids) == 1 else self._first_complete(ids)
        if is_named:
            if found in self._taken:
                raise IrregularFiles
            self._taken.add(found)
        return found

    def _first_complete(self, ids: Sequence[str]) -> str:
        """Return the first of these documents that is next for all who have it."""
        if self._ids is None:
            self._ids = [set() if source is None else ids_of(source) for source in self._sources]
        for document in ids:
            if all(
                document not in own or (head is not None and head.document == document)
                for own, head in zip(self._ids, self._next, strict=True)
            ):
                return document
        raise IrregularFiles


def ids_of(source: Source) -> set[str]:
    """Return the ids of all documents of a file, which is read once more."""
    return {passage.document for passage in replace(source, progress=None).passages() if passage.begins}
