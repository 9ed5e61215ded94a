"""The number of repaired tags in documents.

Repaired tags depend on the scheme, which is detected from all tags of a file. So each document has the counts of
its pairs of adjacent tags, and repaired tags are counted when the file has ended.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from clueval.spans.document import Document
from clueval.tagging.schemes import Neighbours

if TYPE_CHECKING:
    from clueval.formats.columns.documents import FileTags


class RepairCount:
    """Counts the repaired tags of documents. Holds the pairs of adjacent tags of files that have not ended.

    `tagged` has the layers whose spans were read from tags, or from a file of tokens.
    """

    def __init__(self) -> None:
        self.tagged: set[str] = set()
        self._counted = 0
        self._layers: dict[tuple[str, int | None, str | None], None] = {}
        self._files: dict[int, tuple[FileTags, dict[str, Neighbours]]] = {}

    def add(self, document: Document) -> None:
        """Count a document, by the scheme of its file; if it has no tags, by `Document.repaired`."""
        from clueval.formats.columns.documents import Transitions  # most files are counted without documents

        of_tokens = document.unit == "token" and document.file is not None
        self.tagged.update(document.layers if of_tokens else document.tags)
        found = document.transitions
        if not isinstance(found, Transitions):
            self._counted += document.repaired
            return
        if id(found.file) not in self._files:
            self._settle_ended()
        self.add_file(found.file, found.neighbours)

    def add_file(self, file: FileTags, neighbours: Mapping[str, Neighbours]) -> None:
        """Count pairs of adjacent tags of a file, by layer."""
        _, in_file = self._files.setdefault(id(file), (file, {}))
        for layer, pairs in neighbours.items():
            in_file.setdefault(layer, Counter()).update(pairs)

    def include(self, other: RepairCount) -> None:
        """Add the counts of another one."""
        self.tagged |= other.tagged
        self._counted += other._counted
        self._layers |= other._layers
        self._settle_ended()
        for file, neighbours in other._files.values():
            self.add_file(file, neighbours)

    def total(self) -> int:
        """The number of repaired tags so far."""
        return self._counted + sum(_repaired(*in_file) for in_file in self._files.values())

    def layers(self) -> list[tuple[str, int | None, str | None]]:
        """Every layer that comes from tags, with its column, from 1, and its scheme, for each file."""
        not_settled = [layer for in_file in self._files.values() for layer in _layers(*in_file)]
        return list(self._layers | dict.fromkeys(not_settled))

    def _settle_ended(self) -> None:
        """Replace the pairs of tags of files that have ended by the number of repaired tags."""
        for key, in_file in list(self._files.items()):
            if in_file[0].ended:
                self._counted += _repaired(*in_file)
                self._layers |= dict.fromkeys(_layers(*in_file))
                del self._files[key]


def _repaired(file: FileTags, neighbours: Mapping[str, Neighbours]) -> int:
    return sum(file.decoders[layer].repaired(pairs) for layer, pairs in neighbours.items())


def _layers(file: FileTags, layers: Iterable[str]) -> Iterator[tuple[str, int | None, str | None]]:
    columns = {} if file.layout is None else file.layout.columns
    for layer in layers:
        yield layer, columns.get(layer), file.decoders[layer].scheme()
