"""Checks lines that are equal on both sides, which the search for errors does not parse."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

from clueval.exceptions import FormatError
from clueval.findings.disputed import Disputed
from clueval.formats.columns.columns import tables
from clueval.formats.columns.documents import located
from clueval.formats.columns.passages import Passage, misfits
from clueval.reading.layers import layer_names
from clueval.reading.source import Source
from clueval.reading.unique_ids import DocumentIds
from clueval.tagging.decoder import BadTag
from clueval.tagging.schemes import OUTSIDE


class LineCheck:
    """Checks the columns, tags and token ids of a file. Holds its different tags and the ids of one document.

    `equal` are the tags of each layer in the lines that are equal on both sides; only the check of gold sees them.
    """

    def __init__(self, source: Source) -> None:
        names = layer_names(source.options.layers)
        self._decoders = {name: source.options.decoder(str(source.path)) for name in names}
        self.equal: dict[str, set[str]] = {name: set() for name in names}
        self._tags: dict[str, set[str]] = {name: set() for name in names}
        self._ids = DocumentIds(source)

    def see(self, passage: Passage) -> None:
        """Check a passage. Raises `FormatError` and `TagError` with the line."""
        self._ids.see(passage, self._checked(passage, passage.sentences))

    def see_gold(self, passage: Passage, disputed: Disputed) -> None:
        """Check the sentences of gold that are equal on both sides; of the others, check the tags and the ids."""
        try:
            ids = self._checked(passage, disputed.equal)
            for layer in self._tags:
                self._check_tags(passage, layer, dict.fromkeys(disputed.gold.tags[layer]))
        except FormatError:
            self._checked(passage, passage.sentences)  # raises the error for the first of the lines
            raise
        self._ids.see(passage, ids + (disputed.gold.texts.token_ids or []))

    def see_predicted(self, passage: Passage, disputed: Disputed, gold: Passage) -> None:
        """Check the tags of the sentences of predicted that differ; if its layout does, its token ids, too."""
        for layer, known in self._tags.items():
            tags = disputed.predicted.tags[layer]
            if not known.issuperset(tags):
                self._check_tags(passage, layer, sorted(set(tags)))
        if passage.layout != gold.layout:
            self._ids.see(passage, disputed.predicted.texts.token_ids or ())

    def end(self, equal: Mapping[str, Collection[str]] | None = None) -> None:
        """Check the tags of the whole file, with those that the other check has seen in equal lines.

        Raises `TagError` for tags of two schemes.
        """
        for layer, decoder in self._decoders.items():
            decoder.accept((), Counter((OUTSIDE, tag) for tag in (equal or {}).get(layer, ())))
            decoder.scheme()

    def _checked(self, passage: Passage, sentences: Sequence[str]) -> list[str]:
        """Check sentences of a passage and return their token ids, with borders; none if the layout has none."""
        ids: list[str] = []
        try:
            for table in tables(sentences, passage.layout) if passage.layout is not None else ():
                for layer, tags in table.tags().items():
                    different = dict.fromkeys(tags)
                    self._check_tags(passage, layer, different)
                    self.equal[layer].update(different)
                ids += table.token_ids() or ()
        except ValueError as error:
            raise next(misfits(passage), error) from None
        return ids

    def _check_tags(self, passage: Passage, layer: str, different: Iterable[str]) -> None:
        new = [tag for tag in different if tag not in self._tags[layer]]
        try:
            # the error names the first bad tag
            self._decoders[layer].accept(new, Counter((OUTSIDE, tag) for tag in new))
        except BadTag as error:
            raise located(error, passage, layer) from None
        self._tags[layer].update(new)
