"""Counts the column files of all annotators by clusters of rows, without building documents.

A row has the tags of all annotators at one position, in one layer. It becomes one character, and a row of O a blank. A
cluster is a run of rows between blanks, so no span reaches out of it. Each different cluster is decoded a few times,
however often it occurs, and its shapes are counted like those of documents.

An annotator may lack documents or files; those that it has must be in the order of the others. Anything irregular
(another order, texts that differ, lines or tags that cannot be read) is left to the way through documents, whose errors
name the place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from clueval.evaluation.cluster_counts import by_power
from clueval.exceptions import CluevalError
from clueval.formats.columns.columns import TokenTable, batches
from clueval.formats.columns.documents import FileTags
from clueval.formats.columns.passages import Passage
from clueval.formats.columns.row_characters import RowCharacters
from clueval.formats.columns.sizes import Sizes
from clueval.reading.source import Source
from clueval.studies.annotators.places import Mark
from clueval.studies.annotators.study import Study, StudyCounts
from clueval.tagging.decoder import BadTag, Decoder
from clueval.tagging.schemes import neighbours_of

Who = tuple[bool, ...]
"""Which annotators have a document."""


class IrregularFiles(CluevalError):
    """Files that must be read as documents."""


def counted(study: Study) -> StudyCounts:
    """Return the counts of a study: by clusters if its files allow it, else document by document."""
    if not (study.merge or study.transforms or study.where):
        counts = StudyCounts(study)
        try:
            for sources in _rounds(study):
                _count_files(counts, sources)
        except (BadTag, CluevalError, ValueError):  # ValueError: a line without all columns
            pass
        else:
            return counts
    return StudyCounts(study).count()


def _rounds(study: Study) -> Iterator[list[Source | None]]:
    """Yield the files with the same documents, one of each annotator; None: it lacks the file."""
    annotators = study.annotators
    if annotators.pair_by is not None or annotators.unannotated is not None:
        raise IrregularFiles("documents are needed")
    files = [dict(each.files) for each in annotators.columns]
    if not all(files) or len({None in names for names in files}) > 1:
        raise IrregularFiles("not only files, or not only folders")
    for name in sorted({name for names in files for name in names}, key=str):
        yield [
            each.source(name, names[name], annotators.progress) if name in names else None
            for each, names in zip(annotators.columns, files, strict=True)
        ]


def _count_files(counts: StudyCounts, sources: Sequence[Source | None]) -> None:
    """Count files with the same documents, one of each annotator; None: it lacks the file."""
    present = [source for source in sources if source is not None]
    if any(source.token_lines is None or source.options.token_id is not None for source in present):
        raise IrregularFiles("not tokens with tags, or token ids, which must be compared")
    sizes = present[0].options.sizes
    decoders = [{} if source is None else source.decoders() for source in sources]
    for layer in next(filter(None, decoders), ()):
        counts.of(layer)
    clusters: dict[tuple[str, Who], _Clusters] = {}
    held = 0
    for who, passages in parallel_passages(sources):
        _count_positions(counts, who, passages[0])
        for tables in _parallel_tables(passages, sizes):
            columns = [table.tags() for table in tables]
            for layer in columns[0]:
                if (layer, who) not in clusters:
                    own = [each[layer] if has else None for each, has in zip(decoders, who, strict=True)]
                    clusters[layer, who] = _Clusters(layer, own)
                held += clusters[layer, who].add([tags[layer] for tags in columns])
        if held > sizes.runs:
            _settle(clusters, counts)
            held = 0
    _settle(clusters, counts)
    for by_layer, repairs in zip(decoders, counts.repairs, strict=False):  # the system's are not counted
        repairs.add_file(FileTags(by_layer), {layer: each.neighbours for layer, each in by_layer.items()})


def _count_positions(counts: StudyCounts, who: Who, passage: Passage) -> None:
    """Count the positions of a passage, and its document if it begins here."""
    humans = who[: counts.study.humans]
    if sum(humans) < 2:
        counts.left_out += passage.begins and any(humans)
        return
    if not all(who[counts.study.humans :]):
        raise IrregularFiles("the system lacks a shared document")
    if passage.begins:
        counts.documents[humans] += 1
        counts.units.add("token")
    counts.positions[humans] += passage.tokens


class _Clusters:
    """The clusters of a layer in the documents of some annotators, who have a decoder each; others have None."""

    def __init__(self, layer: str, decoders: Sequence[Decoder | None]) -> None:
        self._layer, self._decoders = layer, decoders
        self._columns = len(decoders) - decoders.count(None)
        self._characters = RowCharacters(self._columns)
        self._counter: Counter[str] = Counter()
        self._open = ""

    def add(self, tags: Sequence[Sequence[str]]) -> int:
        """Add rows, given the tags of each annotator, or once the tags that all of them have.

        Returns how many more different rows and clusters are held.
        """
        before = len(self._characters) + len(self._counter)
        if len(tags) == 1:
            of_all = {tag: self._characters[(tag,) * self._columns] for tag in set(tags[0])}
            text = "".join(map(of_all.__getitem__, tags[0]))
        else:
            text = "".join(map(self._characters.__getitem__, zip(*tags, strict=True)))
        if text.endswith(" "):
            self._counter.update((self._open + text).split())
            self._open = ""
        else:  # a part of a long sentence
            self._open += text
        return len(self._characters) + len(self._counter) - before

    def spans(self) -> Iterator[tuple[int, list[list[Mark] | None]]]:
        """Yield the spans of all annotators in some clusters, with the number of times that these occur."""
        for times, clusters in by_power(self._counter):
            rows = map(self._characters.rows.__getitem__, " ".join([*clusters, ""]))
            tags = zip(*rows, strict=True)
            yield (
                times,
                [
                    None if decoder is None else self._marks(decoder, next(tags), times)
                    for decoder in self._decoders
                ],
            )

    def _marks(self, decoder: Decoder, tags: Sequence[str], times: int) -> list[Mark]:
        pairs = neighbours_of(tags)
        decoder.accept(tags, pairs, times)
        flat = decoder.columns(self._layer, tags, pairs, times)
        return list(zip(flat.starts, flat.ends, flat.labels_in(self._layer), strict=True))  # type: ignore[arg-type]


def _settle(clusters: dict[tuple[str, Who], _Clusters], counts: StudyCounts) -> None:
    """Count the clusters that are held, and forget them; those that no two annotators share are only decoded."""
    for (layer, who), of_layer in clusters.items():
        for times, columns in of_layer.spans():
            if sum(who[: counts.study.humans]) > 1:
                counts.of(layer).add_spans(columns, times)
    clusters.clear()


def _parallel_tables(passages: Sequence[Passage], sizes: Sizes) -> Iterator[Sequence[TokenTable]]:
    """Yield the sentences of parallel passages: one table of those that all have in common, else a table of each.

    Raises `IrregularFiles` if the texts differ, and `ValueError` for lines that do not fit.
    """
    layouts = [passage.layout for passage in passages if passage.layout is not None]
    equal: list[str] = []
    others: list[tuple[str, ...]] = []
    if len({len(passage.sentences) for passage in passages}) > 1:
        raise IrregularFiles("different numbers of sentences")
    for sentences in zip(*(passage.sentences for passage in passages), strict=True):
        if sentences.count(sentences[0]) == len(sentences) == layouts.count(layouts[0]):
            equal.append(sentences[0])
        elif len({sentence.count("\n") for sentence in sentences}) > 1:
            raise IrregularFiles("sentences of different lengths")
        else:
            others.append(sentences)
    for (text,) in batches([equal], layouts[:1], sizes):
        yield [TokenTable(text, layouts[0])]
    for texts in batches(list(zip(*others, strict=True)), layouts, sizes):
        tables = list(map(TokenTable, texts, layouts))
        tokens = tables[0].tokens()
        if any(table.tokens() != tokens for table in tables[1:]):
            raise IrregularFiles("different tokens")
        yield tables


def parallel_passages(sources: Sequence[Source | None]) -> Iterator[tuple[Who, Sequence[Passage]]]:
    """Yield parallel passages, with those who have them; None is an annotator who lacks the file.

    Where the next documents of the files differ, the files are read once more for the ids of all documents, which say
    who lacks one. Raises `IrregularFiles` for documents in different orders and for ids that come again.
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
                    raise IrregularFiles("documents without ids are numbered, so each file must have all")
            else:
                if differ:
                    ids = ids or [_ids_of(source) for source in sources]
                    document = _next_document(heads, ids)
                if document in taken:
                    raise IrregularFiles("two documents with the same id")
                taken.add(document)
            who = tuple(head is not None and head.document == document for head in heads)
        elif going_on != who:
            raise IrregularFiles("a document goes on in some files")
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
    raise IrregularFiles("documents in different orders")


def _ids_of(source: Source | None) -> set[str]:
    """Return the ids of all documents of a file, which is read once more."""
    passages = iter(()) if source is None else replace(source, progress=None).passages()
    return {passage.document for passage in passages if passage.begins}
