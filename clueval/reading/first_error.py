"""Finds the first error of column files that are read passage by passage, such as a token id that occurs again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest

from clueval.formats.columns.documents import parsed, tables
from clueval.formats.columns.passages import Passage
from clueval.reading.same_text import first_difference, first_line, require_same_frame
from clueval.reading.source import Source
from clueval.tagging.decoder import BadTag
from clueval.tagging.schemes import OUTSIDE, neighbours_of


def raise_first_error(gold: Source, predicted: Source) -> None:
    """Raise the first error of two column files with its place; return if their passages have none."""
    from clueval.formats.columns.documents import located  # most files have no errors
    from clueval.reading.pairing import ends_early

    own, other = (replace(source, progress=None) for source in (gold, predicted))
    decoders = own.decoders(), other.decoders()
    for pair in zip_longest(with_unique_ids(own), with_unique_ids(other)):
        for number, passage in enumerate(pair):
            if passage is None:
                extra = pair[1 - number]
                raise ends_early(gold, predicted, number == 0, extra.document, first_line(extra))
        require_same_frame(*pair)
        sides = [parsed(passage) for passage in pair]
        texts = [[token for table in found for token in table.tokens()] for found in sides]
        ids = [[id_ for table in found for id_ in table.token_ids() or ()] for found in sides]
        if texts[0] != texts[1] or (all(ids) and ids[0] != ids[1]):
            raise first_difference(*pair)
        for passage, found, of_side in zip(pair, sides, decoders, strict=True):
            for layer, decoder in of_side.items():
                tags = [tag for table in found for tag in table.tags()[layer]]
                try:
                    decoder.accept(tags, (pairs := neighbours_of(tags)))
                    decoder.columns(layer, tags, pairs)
                except BadTag as error:
                    raise located(error, passage, layer) from None


class DocumentIds:
    """The token ids of the current document of a file. Holds those of one document, without its lines."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._documents = 0
        self._seen: set[str] = set()
        self._has_outside = False

    def see(self, passage: Passage, ids: Sequence[str]) -> None:
        """Add the ids of a passage, in which the id of a border is O.

        Raises `FormatError` for an id that has occurred in the document; to name the lines, it reads the file again.
        """
        if passage.begins:
            self._documents += 1
            self._seen.clear()
            self._has_outside = False
        if not ids:
            return
        known = len(self._seen)
        self._seen.update(ids)
        self._seen.discard(OUTSIDE)
        if ids.count(OUTSIDE) > len(passage.sentences):  # the id of a token is O, too
            known -= not self._has_outside
            self._has_outside = True
        if len(self._seen) - known != passage.tokens:
            from clueval.formats.columns.documents import repeated_ids  # most files have no errors

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
