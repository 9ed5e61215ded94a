"""How many tags were repaired, where documents come one by one.

Which tags are ill-formed depends on the scheme, and that is recognised from all tags of a file. So documents bring
along which tags follow each other in them, and what is ill-formed is counted when their file has ended.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from clueval.formats.columns.documents import FileTags, Transitions
from clueval.spans.document import Document
from clueval.tagging.transitions import Neighbours


class RepairCount:
    """Counts the repaired tags of documents. Held in memory: what follows what in the files that have not ended."""

    def __init__(self) -> None:
        self._counted = 0
        self._layers: dict[tuple[str, int | None, str | None], None] = {}
        self._files: dict[int, tuple[FileTags, dict[str, Neighbours]]] = {}

    def add(self, document: Document) -> None:
        """Count a document: by the scheme of its file, or, if it does not come from tags, as it says itself."""
        found = document.transitions
        if not isinstance(found, Transitions):
            self._counted += document.repaired
            return
        if id(found.file) not in self._files:
            self._settle_ended()
        _, known = self._files.setdefault(id(found.file), (found.file, {}))
        for layer, neighbours in found.neighbours.items():
            known.setdefault(layer, Counter()).update(neighbours)

    def include(self, other: RepairCount) -> None:
        """Add what another has counted."""
        self._counted += other._counted
        self._layers |= other._layers
        self._settle_ended()
        for key, (file, found) in other._files.items():
            _, known = self._files.setdefault(key, (file, {}))
            for layer, neighbours in found.items():
                known.setdefault(layer, Counter()).update(neighbours)

    def total(self) -> int:
        """The number of repaired tags, by what is known of their files now."""
        return self._counted + sum(_repaired(file, known) for file, known in self._files.values())

    def layers(self) -> list[tuple[str, int | None, str | None]]:
        """The layers that come from tags, each with its column, from 1, and its scheme in a file."""
        waiting = [layer for file, known in self._files.values() for layer in _layers(file, known)]
        return list(self._layers | dict.fromkeys(waiting))

    def _settle_ended(self) -> None:
        """Keep no more than a number of the files that have ended."""
        for key, (file, known) in list(self._files.items()):
            if file.ended:
                self._counted += _repaired(file, known)
                self._layers |= dict.fromkeys(_layers(file, known))
                del self._files[key]


def _repaired(file: FileTags, known: dict[str, Neighbours]) -> int:
    return sum(file.decoders[layer].repaired(found) for layer, found in known.items())


def _layers(file: FileTags, known: Iterable[str]) -> Iterator[tuple[str, int | None, str | None]]:
    columns = dict(file.layout.layers) if file.layout is not None else {}
    for layer in known:
        yield layer, columns[layer] + 1 if columns else None, file.decoders[layer].scheme()
