"""Counts the column files of all annotators, and finds where they differ, by clusters of rows.

A row has the tags of all annotators at one position. It becomes one character, and a row of O a blank. A cluster is a
run of rows between blanks, so no span reaches out of it. Each different cluster is decoded a few times, however often
it occurs, and its shapes are counted like those of documents. Where annotators differ, only the sentences whose lines
differ become rows, and each different cluster is examined once.

An annotator may lack documents or files; those that it has must be in the order of the others. Anything irregular
(another order, texts that differ, lines or tags that cannot be read) is left to the way through documents, whose errors
name the place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import compress, groupby, islice, repeat
from operator import itemgetter, or_
from typing import NamedTuple, TypeVar

from clueval.clusters.bag import Bag, by_power
from clueval.clusters.places import Clusters
from clueval.clusters.rows import IrregularRows, ParallelRows, PassageRows, in_batches
from clueval.files.errors import CluevalError
from clueval.formats.columns.documents import FileTags, documents
from clueval.formats.columns.passages import Passage
from clueval.reading.source import Source
from clueval.spans.document import Document
from clueval.studies.annotators.counting import ShapeCounts
from clueval.studies.annotators.places import Mark, Shape, marks_of, places
from clueval.studies.annotators.source import Group
from clueval.studies.annotators.study import Study, StudyCounts
from clueval.tagging.decoder import BadTag, Decoder
from clueval.tagging.schemes import OUTSIDE, neighbours_of

IRREGULAR = (BadTag, CluevalError, ValueError)
"""What is wrong or unusual in files, which are then read as documents. `ValueError`: a line without all columns."""

Who = tuple[bool, ...]
"""Which annotators have a document."""


def counted(study: Study) -> StudyCounts:
    """Return the counts of a study: by clusters if its files allow it, else document by document."""
    counts = StudyCounts(study)
    try:
        for sources in _rounds(study):
            _count_files(counts, sources)
    except IRREGULAR:
        return StudyCounts(study).count()
    return counts


def _rounds(study: Study) -> Iterator[list[Source | None]]:
    """Yield the files with the same documents, one of each annotator; None: it lacks the file."""
    annotators = study.annotators
    if study.changes_documents or annotators.pair_by is not None or annotators.unannotated is not None:
        raise IrregularRows("documents are needed")
    files = [dict(each.files) for each in annotators.columns]
    if not all(files) or len({None in names for names in files}) > 1:
        raise IrregularRows("not only files, or not only folders")
    for name in sorted({name for names in files for name in names}, key=str):
        sources = [
            each.source(name, names[name], annotators.progress) if name in names else None
            for each, names in zip(annotators.columns, files, strict=True)
        ]
        if any(each and (each.token_lines is None or each.options.token_id is not None) for each in sources):
            raise IrregularRows("not tokens with tags, or token ids, which must be compared")
        yield sources


def _count_files(counts: StudyCounts, sources: Sequence[Source | None]) -> None:
    """Count files with the same documents, one of each annotator; None: it lacks the file."""
    sizes = next(source for source in sources if source is not None).options.sizes
    decoders = [{} if source is None else source.decoders() for source in sources]
    for layer in next(filter(None, decoders), ()):
        counts.of(layer)
    clusters: dict[tuple[str, Who], _Clusters] = {}
    having: Iterable[bool] = repeat(False, len(sources))  # the annotators who have any document
    for who, together in groupby(parallel_passages(sources), itemgetter(0)):
        having = list(map(or_, having, who))
        for rows in in_batches((passages for _, passages in together), sizes):
            for part in rows.parts:
                _count_positions(counts, who, part.passages[0])
            if not rows.have_one_text():
                raise IrregularRows("different tokens")
            for layer, of_sides in rows.tags():
                if (layer, who) not in clusters:
                    own = [each[layer] if has else None for each, has in zip(decoders, who, strict=True)]
                    clusters[layer, who] = _Clusters(layer, own)
                clusters[layer, who].add_tags(of_sides)
            if sum(each.size for each in clusters.values()) > sizes.runs:
                _settle(clusters, counts)
    _settle(clusters, counts)
    read = zip(compress(decoders, having), compress(counts.repairs, having), strict=False)
    for by_layer, repairs in read:  # the system's are not counted
        repairs.add_file(FileTags(by_layer), {layer: each.neighbours for layer, each in by_layer.items()})


def _count_positions(counts: StudyCounts, who: Who, passage: Passage) -> None:
    """Count the positions of a passage, and its document if it begins here."""
    humans = who[: counts.study.humans]
    if sum(humans) < 2:
        counts.left_out += passage.begins and any(humans)
        return
    _require_system(who, counts.study.humans)
    if passage.begins:
        counts.documents[humans] += 1
        counts.units.add("token")
    counts.positions[humans] += passage.tokens


def _require_system(who: Who, humans: int) -> None:
    if sum(who[:humans]) > 1 and not all(who[humans:]):
        raise IrregularRows("the system lacks a shared document")


class _Clusters(Bag):
    """The clusters of a layer in the documents of some annotators, who have a decoder each; others have None."""

    def __init__(self, layer: str, decoders: Sequence[Decoder | None]) -> None:
        super().__init__(sides=len(decoders) - decoders.count(None), layers=1)
        self._layer, self._decoders = layer, decoders

    def add_tags(self, tags: Sequence[Sequence[str]]) -> None:
        """Add rows, given the tags of each annotator, or once the tags that all of them have."""
        self.add(
            self.text_of_same(tags) if len(tags) == 1 else self.text(zip(repeat(1), *tags, strict=False))
        )

    def settle(self, counting: ShapeCounts | None) -> None:
        """Remove all clusters, and count the spans of all annotators in them; None: only their tags."""
        for times, clusters in by_power(self.take()):
            _, *columns = self.characters.columns_of(clusters)
            tags = iter(columns)
            spans = [
                None if each is None else self._marks(each, next(tags), times) for each in self._decoders
            ]
            if counting is not None:
                counting.add_spans(spans, times)

    def _marks(self, decoder: Decoder, tags: Sequence[str], times: int) -> list[Mark]:
        pairs = neighbours_of(tags)
        decoder.accept(tags, pairs, times)
        flat = decoder.columns(self._layer, tags, pairs, times)
        return list(zip(flat.starts, flat.ends, flat.labels_in(self._layer), strict=True))  # type: ignore[arg-type]


def _settle(clusters: dict[tuple[str, Who], _Clusters], counts: StudyCounts) -> None:
    """Count the clusters that are held, and forget them; those that no two annotators share are only decoded."""
    for (layer, who), of_layer in clusters.items():
        of_layer.settle(counts.of(layer) if sum(who[: counts.study.humans]) > 1 else None)
    clusters.clear()


def parallel_passages(sources: Sequence[Source | None]) -> Iterator[tuple[Who, Sequence[Passage]]]:
    """Yield parallel passages, with those who have them; None is an annotator who lacks the file.

    Where the next documents of the files differ, the files are read once more for the ids of all documents, which say
    who lacks one. Raises `IrregularRows` for documents in different orders and for ids that come again.
    """
    streams = [iter(()) if source is None else source.passages() for source in sources]
    heads = [next(stream, None) for stream in streams]
    files = sum(source is not None for source in sources)
    ids: list[set[str]] = []
    taken: set[str] = set()
    who: Who = ()
    while any(heads):
        going_on = tuple(head is not None and not head.begins for head in heads)
        if not any(going_on):
            first = [head for head in heads if head is not None]
            document = first[0].document
            differ = any(head.document != document for head in first)
            if not all(head.named for head in first):
                if differ or len(first) < files:
                    raise IrregularRows("documents without ids are numbered, so each file must have all")
            else:
                if differ:
                    ids = ids or [_ids_of(source) for source in sources]
                    document = _next_document(heads, ids)
                if document in taken:
                    raise IrregularRows("two documents with the same id")
                taken.add(document)
            who = tuple(head is not None and head.document == document for head in heads)
        elif going_on != who:
            raise IrregularRows("a document goes on in some files")
        yield who, [head for head, has in zip(heads, who, strict=True) if has and head is not None]
        heads = [
            next(stream, None) if has else head for stream, head, has in zip(streams, heads, who, strict=True)
        ]


def _next_document(heads: Sequence[Passage | None], ids: Sequence[set[str]]) -> str:
    """Return the id of the first document that is next in all files that have it, given the ids in each file."""
    for document in (head.document for head in heads if head is not None):
        if all(
            document not in of_file or (head is not None and head.document == document)
            for of_file, head in zip(ids, heads, strict=True)
        ):
            return document
    raise IrregularRows("documents in different orders")


def _ids_of(source: Source | None) -> set[str]:
    """Return the ids of all documents of a file, which is read once more."""
    passages = iter(()) if source is None else replace(source, progress=None).passages()
    return {passage.document for passage in passages if passage.begins}


Component = tuple[str, int, Shape]
"""A sequence, the position where a component begins, and its shape."""

Result = TypeVar("Result")


class DocumentRows(NamedTuple):
    """A document in the column files of the annotators, without a system.

    `sources` are the files of those who have it, `decoders` theirs by layer. Where their lines differ, there are rows;
    `parts` has these of each passage, with the components in them.
    """

    sources: Sequence[Source]
    decoders: Sequence[Mapping[str, Decoder]]
    rows: ParallelRows
    parts: Sequence[tuple[PassageRows, list[Component]]]

    def document(self) -> Document:
        """Return the document of the first annotator. Raises the errors of all files, with any place."""
        for side, decoders in enumerate(self.decoders[1:], 1):
            for tags in (self.rows.same.tags, self.rows.columns[side].tags):
                for layer, of_layer in tags.items():
                    _check(decoders[layer], set(of_layer))
        source, passages = self.sources[0], [part.passages[0] for part, _ in self.parts]
        assert source.token_lines is not None
        most = source.options.max_document
        return next(documents(passages, self.decoders[0], source.token_lines.sentence_id, most))


def _check(decoder: Decoder, tags: set[str]) -> None:
    """Raise an error for tags that no file with the earlier ones may have."""
    if new := tags - {tag for _, tag in decoder.neighbours}:
        decoder.accept(list(new), Counter((OUTSIDE, tag) for tag in new))
        decoder.scheme()


def results_of(
    study: Study, of_rows: Callable[[DocumentRows], Result], of_group: Callable[[Group], Result]
) -> Iterator[Result]:
    """Yield a result of each document, in the order of `Annotators.groups`: from its rows, or from documents.

    Holds one document, and the results of those that an annotator lacks, which come last.
    """
    number = 0
    try:
        for result in _of_rows(study, of_rows):
            yield result
            number += 1
    except IRREGULAR:
        yield from map(of_group, islice(study.groups(), number, None))


def _of_rows(study: Study, result_of: Callable[[DocumentRows], Result]) -> Iterator[Result]:
    for sources in _rounds(study):
        late: list[tuple[tuple[int, int], Result]] = []
        numbers, find = [0] * len(sources), _Components(sources, study.humans)
        for who, passages in _by_document(sources):
            numbers = [number + has for number, has in zip(numbers, who, strict=True)]
            _require_system(who, study.humans)
            if any(who[: study.humans]):
                found = result_of(find.of_document(who, passages))
                if all(who):
                    yield found
                else:
                    late.append((min((numbers[at], at) for at, has in enumerate(who) if has), found))
        yield from (found for _, found in sorted(late, key=itemgetter(0)))


def _by_document(sources: Sequence[Source | None]) -> Iterator[tuple[Who, list[Sequence[Passage]]]]:
    """Yield those who have a document, and its passages. Raises `IrregularRows` for a document that is too long."""
    most = next(source for source in sources if source is not None).options.max_document
    held: list[Sequence[Passage]] = []
    latest: Who = ()
    for who, passages in parallel_passages(sources):
        if held and passages[0].begins:
            yield latest, held
            held = []
        held.append(passages)
        latest = who
        if sum(each[0].tokens for each in held) > most:
            raise IrregularRows("a document is too long")
    if held:
        yield latest, held


class _Components:
    """Finds the components in the rows of documents. Holds a limited number of different clusters."""

    def __init__(self, sources: Sequence[Source | None], humans: int) -> None:
        present = [source for source in sources if source is not None]
        decoders = [source.options.decoder() for source in present]
        if len({source.format for source in present}) > 1 or not all(
            each.reads_neighbours for each in decoders
        ):
            raise IrregularRows("equal lines may have different spans")
        self._sources = sources[:humans]
        self._decoders = [{} if source is None else source.decoders() for source in self._sources]
        self._clusters: dict[Who, Clusters[Component]] = {}

    def of_document(self, who: Who, passages: Sequence[Sequence[Passage]]) -> DocumentRows:
        """Return the rows of a document. Raises `IrregularRows` if texts differ."""
        who = who[: len(self._sources)]
        sources = [source for source, has in zip(self._sources, who, strict=True) if source and has]
        if who not in self._clusters:
            if len(self._clusters) == _MOST:
                self._clusters.clear()
            self._clusters[who] = Clusters(sources, partial(_components, who))
        rows = ParallelRows([some[: len(sources)] for some in passages])
        if not rows.have_one_text():
            raise IrregularRows("different tokens")
        parts = [
            (part, [(layer, start + by, shape) for by, each in found for layer, start, shape in each])
            for part, found in self._clusters[who].found(rows)
        ]
        decoders = [each for each, has in zip(self._decoders, who, strict=True) if has]
        return DocumentRows(sources, decoders, rows, parts)


_MOST = 8
"""The number of sets of annotators whose clusters are held."""


def _components(who: Who, documents: Sequence[Document]) -> Iterator[tuple[int, Component]]:
    """Yield the components of the spans of those who have a document, each with its position."""
    for layer in documents[0].layers:
        own = iter(documents)
        columns = [marks_of(next(own).layers[layer]) if has else None for has in who]
        for start, shape in places(columns):
            yield start, (layer, start, shape)
