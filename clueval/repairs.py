"""How many tags were repaired, where documents come one by one.

Which tags are ill-formed depends on the scheme, and that is recognised from all tags of a file. So documents bring
along which tags follow each other in them, and what is ill-formed is counted when their file has ended.
"""

from __future__ import annotations

from collections import Counter

from clueval.decoding import FileTags, Transitions
from clueval.neighbours import Neighbours
from clueval.spans import Document


class RepairCount:
    """Counts the repaired tags of documents. Held in memory: what follows what in the files that have not ended."""

    def __init__(self) -> None:
        self._counted = 0
        self._files: dict[int, tuple[FileTags, dict[str, Neighbours]]] = {}

    def add(self, document: Document) -> None:
        """Count a document: by the scheme of its file, or, if it does not come from tags, as it says itself."""
        found = document.transitions
        if not isinstance(found, Transitions):
            self._counted += document.repaired
            return
        if id(found.file) not in self._files:
            self._settle(ended_only=True)
        _, known = self._files.setdefault(id(found.file), (found.file, {}))
        for layer, neighbours in found.neighbours.items():
            known.setdefault(layer, Counter()).update(neighbours)

    def settled(self) -> int:
        """The number of repaired tags since this was last asked, by what is known of their files now."""
        self._settle(ended_only=False)
        number, self._counted = self._counted, 0
        return number

    def _settle(self, ended_only: bool) -> None:
        for key, (file, known) in list(self._files.items()):
            if file.ended or not ended_only:
                self._counted += sum(file.decoders[layer].repaired(found) for layer, found in known.items())
                del self._files[key]
