"""Counts the column files of all annotators by clusters of rows.

A row has the tags of all annotators at one position. It becomes one character, and a row of O a blank. A cluster is a
run of rows between blanks, so no span reaches out of it. Each different cluster is decoded a few times, however often
it occurs, and its shapes are counted like those of documents.

An annotator may lack files. Anything irregular (documents that one lacks, another order, texts that differ, lines or
tags that cannot be read) is left to the way through documents, whose errors name the place.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import compress, repeat, zip_longest

from clueval.clusters.bag import Bag, by_power
from clueval.clusters.rows import IrregularRows, in_batches
from clueval.exceptions import CluevalError
from clueval.formats.columns.documents import FileTags
from clueval.formats.columns.passages import Passage
from clueval.reading.source import Source
from clueval.studies.annotators.counting import ShapeCounts
from clueval.studies.annotators.places import Mark
from clueval.studies.annotators.study import Study, StudyCounts
from clueval.tagging.decoder import BadTag, Decoder
from clueval.tagging.schemes import neighbours_of

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
    present = [source for source in sources if source is not None]
    sizes, who = present[0].options.sizes, tuple(source is not None for source in sources)
    humans = who[: counts.study.humans]
    are_shared = sum(humans) > 1
    if are_shared and not all(who[len(humans) :]):
        raise IrregularRows("the system lacks shared documents")
    decoders = [{} if source is None else source.decoders() for source in sources]
    clusters: dict[str, _Clusters] = {}
    for layer in next(filter(None, decoders)):
        counts.of(layer)
        clusters[layer] = _Clusters(layer, [of_layer.get(layer) for of_layer in decoders])
    are_read = False
    for rows in in_batches(_parallel_passages(present), sizes):
        are_read = True
        for part in rows.parts:
            _count_positions(counts, humans, part.passages[0])
        if not rows.have_one_text():
            raise IrregularRows("different tokens")
        for layer, of_sides in rows.tags():
            clusters[layer].add_tags(of_sides)
        if sum(each.size for each in clusters.values()) > sizes.runs:
            _settle(clusters, counts, are_shared)
    _settle(clusters, counts, are_shared)
    having = humans if are_read else ()  # the schemes of files without documents are not known
    for by_layer, repairs in zip(compress(decoders, having), compress(counts.repairs, having), strict=True):
        repairs.add_file(FileTags(by_layer), {layer: each.neighbours for layer, each in by_layer.items()})


def _count_positions(counts: StudyCounts, who: Who, passage: Passage) -> None:
    """Count the positions of a passage, and its document if it begins here."""
    if sum(who) < 2:
        counts.left_out += passage.begins and any(who)
        return
    if passage.begins:
        counts.documents[who] += 1
        counts.units.add("token")
    counts.positions[who] += passage.tokens


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


def _settle(clusters: Mapping[str, _Clusters], counts: StudyCounts, are_shared: bool) -> None:
    """Count the clusters that are held, and forget them; those that no two annotators share are only decoded."""
    for layer, of_layer in clusters.items():
        of_layer.settle(counts.of(layer) if are_shared else None)


def _parallel_passages(sources: Sequence[Source]) -> Iterator[Sequence[Passage]]:
    """Yield parallel passages. Raises `IrregularRows` for different documents and for ids that come again."""
    taken: set[str] = set()
    for passages in zip_longest(*(source.passages() for source in sources)):
        if None in passages or len({(each.begins, each.document) for each in passages}) > 1:
            raise IrregularRows("different documents")
        if passages[0].begins and all(each.named for each in passages):
            if passages[0].document in taken:
                raise IrregularRows("two documents with the same id")
            taken.add(passages[0].document)
        yield passages
