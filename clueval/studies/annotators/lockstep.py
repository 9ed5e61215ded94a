"""Counts column files of all annotators sentence by sentence, without building documents.

Most sentences are the same in all files, line for line; they are decoded once, and each of their spans is a place at
which all agree. Of the other sentences the tags of each annotator are decoded, many sentences at a time. Spans never
cross sentences, so the counts are those of documents. Anything irregular (documents that one annotator lacks, texts
that differ, lines or tags that cannot be read) is left to the way through documents, whose errors name the place.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from clueval.exceptions import CluevalError
from clueval.formats.columns.columns import TokenTable, tables
from clueval.formats.columns.documents import FileTags
from clueval.formats.columns.layout import Layout
from clueval.formats.columns.passages import Passage
from clueval.reading.source import Source
from clueval.studies.annotators.shape import Mark
from clueval.studies.annotators.study import Study, StudyCounts
from clueval.tagging.decoder import BadTag
from clueval.tagging.transitions import Seams

MOST_TOKENS = 20_000
"""The number of tokens of sentences that are decoded together."""


class _Irregular(Exception):
    """Something that only documents can count, or say what is wrong with it."""


def counted(study: Study) -> StudyCounts:
    """Return the counts of a study: in lockstep if its files allow it, else document by document."""
    if not study.merge and not study.transforms:
        counts = StudyCounts(study)
        try:
            for sources in _rounds(study):
                _Round(counts, sources).count()
        except (_Irregular, BadTag, CluevalError, ValueError):  # ValueError: a line without all columns
            pass
        else:
            return counts
    return StudyCounts(study).count()


def _rounds(study: Study) -> Iterator[list[Source]]:
    """Yield the files with the same documents, one of each annotator."""
    annotators = study.annotators
    if annotators.pair_by is not None or annotators.unannotated is not None:
        raise _Irregular
    columns = annotators.columns
    names = [[name for name, _ in each.files] for each in columns]
    if any(own != names[0] or not own for own in names):
        raise _Irregular
    for number, name in enumerate(names[0]):
        yield [each.source(name, each.files[number][1], annotators.progress) for each in columns]


class _Round:
    """Files with the same documents, one of each annotator; the sentences that wait to be decoded together."""

    def __init__(self, counts: StudyCounts, sources: Sequence[Source]) -> None:
        for source in sources:
            options = source.options
            if source.token_lines is None or not options.reads_leniently or options.token_id is not None:
                raise _Irregular
        self._counts, self._sources = counts, sources
        self._humans = counts.study.humans
        self._who = (True,) * self._humans
        self._decoders = [source.decoders() for source in sources]
        for layer in self._decoders[0]:
            counts.of(layer)
        self._layouts: list[Layout | None] = [None] * len(sources)
        self._equal: list[str] = []
        self._other: list[list[str]] = [[] for _ in sources]
        self._tokens = 0

    def count(self) -> None:
        """Count all documents of the files."""
        for passages in zip_longest(*(source.passages() for source in self._sources)):
            self._take(passages)
            if self._tokens > MOST_TOKENS:
                self._settle()
        self._settle()
        for number, repairs in enumerate(self._counts.repairs):
            file = FileTags(self._decoders[number])
            file.ended, file.layout = True, self._layouts[number]
            neighbours = {layer: each.neighbours for layer, each in self._decoders[number].items()}
            repairs.add_file(file, neighbours)

    def _take(self, passages: Sequence[Passage | None]) -> None:
        """Sort the sentences of parallel passages into those that are equal in all files, and the others."""
        listed = [passage for passage in passages if passage is not None]
        first = listed[0]
        for number, passage in enumerate(listed):
            own = (passage.document, passage.begins, passage.tokens, len(passage.sentences))
            if own != (first.document, first.begins, first.tokens, len(first.sentences)):
                raise _Irregular
            self._layouts[number] = self._layouts[number] or passage.layout
        if len(listed) < len(passages):
            raise _Irregular
        if first.begins:
            self._counts.documents[self._who] += 1
            self._counts.units.add("token")
        self._counts.positions[self._who] += first.tokens
        self._tokens += first.tokens
        same_layout = all(layout == self._layouts[0] for layout in self._layouts)
        for sentences in zip(*(passage.sentences for passage in listed), strict=True):
            if same_layout and all(sentence == sentences[0] for sentence in sentences):
                self._equal.append(sentences[0])
            else:
                for column, sentence in zip(self._other, sentences, strict=True):
                    column.append(sentence)

    def _settle(self) -> None:
        """Count the sentences that wait."""
        self._count_equal()
        self._count_other()
        self._equal.clear()
        self._tokens = 0
        for column in self._other:
            column.clear()

    def _count_equal(self) -> None:
        layout = self._layouts[0]
        if layout is None or not self._equal:
            return
        decoded = list(tables(self._equal, layout))
        for layer, _ in layout.layers:
            counting = self._counts.of(layer)
            for start, end, label in self._marks(decoded, layer, range(len(self._sources))):
                reading = ((0, end - start, label),)
                counting.add_shape((reading,) * self._humans)
                if len(self._sources) > self._humans:
                    counting.add_shape((reading,) * len(self._sources))

    def _count_other(self) -> None:
        if not self._other[0]:
            return
        decoded = []
        for layout, column in zip(self._layouts, self._other, strict=True):
            if layout is None:
                raise _Irregular
            decoded.append(list(tables(column, layout)))
        text = [token for table in decoded[0] for token in table.tokens()]
        for each in decoded[1:]:
            if [token for table in each for token in table.tokens()] != text:
                raise _Irregular
        assert self._layouts[0] is not None
        for layer, _ in self._layouts[0].layers:
            columns = [self._marks(each, layer, [number]) for number, each in enumerate(decoded)]
            self._counts.of(layer).add_spans(columns)

    def _marks(self, decoded: Sequence[TokenTable], layer: str, annotators: Sequence[int]) -> list[Mark]:
        """Return the spans of a layer; positions include the borders between sentences."""
        tags = [tag for table in decoded for tag in table.tags()[layer]]
        seams = Seams(tags)
        for number in annotators:
            self._decoders[number][layer].accept(tags, seams.neighbours)
        flat = self._decoders[annotators[0]][layer].columns(layer, tags, seams)
        return list(zip(flat.starts, flat.ends, flat.labels_in(layer), strict=True))  # type: ignore[arg-type]
