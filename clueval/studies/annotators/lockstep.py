"""Counts column files of all annotators sentence by sentence, without building documents.

Most sentences are the same in all files, line for line; they are decoded once, and each of their spans is a place at
which all agree. Of the other sentences the tags of each annotator are decoded, many sentences at a time. Spans never
cross sentences, so the counts are those of documents. An annotator may lack documents or files; those that it has must
be in the order of the others. Anything irregular (another order, texts that differ, lines or tags that cannot be read)
is left to the way through documents, whose errors name the place.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clueval.exceptions import CluevalError
from clueval.formats.columns.columns import TokenTable, tables
from clueval.formats.columns.documents import FileTags
from clueval.formats.columns.layout import Layout
from clueval.formats.columns.passages import Passage
from clueval.reading.source import Source
from clueval.studies.annotators.parallel_passages import IrregularFiles, ParallelPassages, Who
from clueval.studies.annotators.shape import Mark
from clueval.studies.annotators.study import Study, StudyCounts
from clueval.tagging.decoder import BadTag
from clueval.tagging.transitions import Seams

MOST_TOKENS = 20_000
"""The number of tokens of sentences that are decoded together."""


def counted(study: Study) -> StudyCounts:
    """Return the counts of a study: in lockstep if its files allow it, else document by document."""
    if not (study.merge or study.transforms or study.where):
        counts = StudyCounts(study)
        try:
            for sources in _rounds(study):
                _Round(counts, sources).count()
        except (IrregularFiles, BadTag, CluevalError, ValueError):  # ValueError: a line without all columns
            pass
        else:
            return counts
    return StudyCounts(study).count()


def _rounds(study: Study) -> Iterator[list[Source | None]]:
    """Yield the files with the same documents, one of each annotator; None: it lacks the file."""
    annotators = study.annotators
    if annotators.pair_by is not None or annotators.unannotated is not None:
        raise IrregularFiles
    files = [dict(each.files) for each in annotators.columns]
    if not all(files) or len({None in names for names in files}) > 1:
        raise IrregularFiles
    for name in sorted({name for names in files for name in names}, key=str):
        yield [
            each.source(name, names[name], annotators.progress) if name in names else None
            for each, names in zip(annotators.columns, files, strict=True)
        ]


class _Waiting:
    """Sentences that wait to be decoded together: those that are equal in all files, and the others."""

    def __init__(self, who: Who) -> None:
        self.numbers = [number for number, has in enumerate(who) if has]
        self.equal: list[str] = []
        self.other: list[list[str]] = [[] for _ in self.numbers]


class _Round:
    """Files with the same documents, one of each annotator; the sentences that wait to be decoded together."""

    def __init__(self, counts: StudyCounts, sources: Sequence[Source | None]) -> None:
        for source in sources:
            if source is None:
                continue
            options = source.options
            if source.token_lines is None or not options.reads_leniently or options.token_id is not None:
                raise IrregularFiles
        self._counts, self._sources = counts, sources
        self._humans = counts.study.humans
        self._decoders = [{} if source is None else source.decoders() for source in sources]
        for layer in next(filter(None, self._decoders), ()):
            counts.of(layer)
        self._layouts: list[Layout | None] = [None] * len(sources)
        self._waiting: dict[Who, _Waiting] = {}
        self._tokens = 0

    def count(self) -> None:
        """Count all documents of the files."""
        for who, passages in ParallelPassages(self._sources):
            self._take(who, passages)
            if self._tokens > MOST_TOKENS:
                self._settle()
        self._settle()
        for number, repairs in enumerate(self._counts.repairs):
            if self._sources[number] is None:
                continue
            file = FileTags(self._decoders[number])
            file.ended, file.layout = True, self._layouts[number]
            neighbours = {layer: each.neighbours for layer, each in self._decoders[number].items()}
            repairs.add_file(file, neighbours)

    def _take(self, who: Who, passages: Sequence[Passage]) -> None:
        """Sort the sentences of parallel passages into those that are equal in all files, and the others."""
        waiting = self._waiting.setdefault(who, _Waiting(who))
        first = passages[0]
        for number, passage in zip(waiting.numbers, passages, strict=True):
            if (passage.tokens, len(passage.sentences)) != (first.tokens, len(first.sentences)):
                raise IrregularFiles
            self._layouts[number] = self._layouts[number] or passage.layout
        self._add_document(who, first)
        self._tokens += first.tokens
        layouts = [self._layouts[number] for number in waiting.numbers]
        same_layout = all(layout == layouts[0] for layout in layouts)
        for sentences in zip(*(passage.sentences for passage in passages), strict=True):
            if same_layout and all(sentence == sentences[0] for sentence in sentences):
                waiting.equal.append(sentences[0])
            else:
                for column, sentence in zip(waiting.other, sentences, strict=True):
                    column.append(sentence)

    def _add_document(self, who: Who, passage: Passage) -> None:
        """Count the positions of a passage, and its document if it begins here."""
        counts, humans = self._counts, who[: self._humans]
        if sum(humans) < 2:
            counts.left_out += passage.begins and any(humans)
            return
        if not all(who[self._humans :]):
            raise IrregularFiles  # the system lacks a shared document
        if passage.begins:
            counts.documents[humans] += 1
            counts.units.add("token")
        counts.positions[humans] += passage.tokens

    def _settle(self) -> None:
        """Count the sentences that wait."""
        for who, waiting in self._waiting.items():
            self._count_equal(who, waiting)
            self._count_other(who, waiting)
        self._waiting.clear()
        self._tokens = 0

    def _count_equal(self, who: Who, waiting: _Waiting) -> None:
        layout = self._layouts[waiting.numbers[0]]
        if layout is None or not waiting.equal:
            return
        decoded = list(tables(waiting.equal, layout))
        is_shared = sum(who[: self._humans]) > 1
        for layer, _ in layout.layers:
            counting = self._counts.of(layer)
            for start, end, label in self._marks(decoded, layer, waiting.numbers):
                if not is_shared:
                    continue
                reading = ((0, end - start, label),)
                shape = tuple(reading if has else None for has in who)
                counting.add_shape(shape[: self._humans])
                if len(shape) > self._humans:
                    counting.add_shape(shape)

    def _count_other(self, who: Who, waiting: _Waiting) -> None:
        if not waiting.other[0]:
            return
        decoded: dict[int, list[TokenTable]] = {}
        for number, column in zip(waiting.numbers, waiting.other, strict=True):
            layout = self._layouts[number]
            if layout is None:
                raise IrregularFiles
            decoded[number] = list(tables(column, layout))
        first, *others = decoded.values()
        text = [token for table in first for token in table.tokens()]
        for each in others:
            if [token for table in each for token in table.tokens()] != text:
                raise IrregularFiles
        for layer in self._decoders[waiting.numbers[0]]:
            columns = [
                self._marks(decoded[number], layer, [number]) if number in decoded else None
                for number in range(len(who))
            ]
            if sum(who[: self._humans]) > 1:
                self._counts.of(layer).add_spans(columns)

    def _marks(self, decoded: Sequence[TokenTable], layer: str, annotators: Sequence[int]) -> list[Mark]:
        """Return the spans of a layer; positions include the borders between sentences."""
        tags = [tag for table in decoded for tag in table.tags()[layer]]
        seams = Seams(tags)
        for number in annotators:
            self._decoders[number][layer].accept(tags, seams.neighbours)
        flat = self._decoders[annotators[0]][layer].columns(layer, tags, seams)
        return list(zip(flat.starts, flat.ends, flat.labels_in(layer), strict=True))  # type: ignore[arg-type]
