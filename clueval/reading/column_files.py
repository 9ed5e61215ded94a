"""Parallel column files become a bag: two files as bytes where their lines are regular, others as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat

from clueval.core.bag import Bag, Bounds
from clueval.core.count import EITHER, FEW_DOCUMENTS, DocumentPlace, Plan
from clueval.files.errors import CluevalError
from clueval.formats.options import layer_names
from clueval.reading.byte_reader import BEFORE_SENTENCE, ByteReader, Stretch, TagCharacters, reads_bytes
from clueval.reading.clusters import (
    BLANK,
    ClusterCounting,
    LayerClusters,
    Unusual,
    require_usual,
)
from clueval.reading.passages import (
    SIZES,
    NamedDocument,
    PassageReader,
    PassageRows,
    Passages,
    Rows,
    RowSplitter,
    Sizes,
    have_ids,
    passages_in_step,
    require_parallel,
    require_sentences,
)
from clueval.reading.source import Source

Item = Stretch | Passages


def bag_of_columns(
    sources: Sequence[Source],
    plan: Plan,
    bounds: Bounds = Bounds(),  # noqa: B008  # it cannot be changed
    sizes: Sizes = SIZES,
) -> Bag | None:
    """Count parallel files of the same texts, one for each side of `plan`, each with one token per line.

    The bag is that of `clueval.core.count.count` for their documents; the files get what was read of them. Memory holds
    a block of each side, and a limited number of clusters; where ill-formed tags are discarded or refused and no scheme
    is named, all different clusters.

    Returns None, and documents must be counted, for

    * formats and plans for which clusters are not enough: spans that go on over the end of a sentence, brackets, tags
      without tokens, layers on one side only, metrics that need documents, steps that change them, positions in
      characters where documents are told apart or blanks are not known;
    * files without tokens;
    * every error: files that cannot be read, different texts, what is no line or tag, tags of two schemes, ill-formed
      tags that are refused, cases that a metric cannot count.
    """
    layers = layer_names(sources[0].options.layers)
    try:
        for source in sources:
            require_sentences(source.form, source.options)
            if not layers or layer_names(source.options.layers) != layers:
                raise Unusual("different layers, or none")
        require_usual(plan, layers, are_tags=True)
        if plan.counts_sentences:
            bag = _bag_of(sources, plan, bounds, sizes, in_sentences=True)
            if bag is not None:
                return bag
        return _bag_of(sources, plan, bounds, sizes, in_sentences=False)
    except Unusual:
        return None


def _bag_of(
    sources: Sequence[Source], plan: Plan, bounds: Bounds, sizes: Sizes, *, in_sentences: bool
) -> Bag | None:
    """Return the bag, or None if sentences are counted while documents are few, and there are many."""
    layers = layer_names(sources[0].options.layers)
    readings = [source.options for source in sources]
    files = [source.file.name for source in sources]
    if len(sources) == 2 and reads_bytes(sources[0], sources[1], sizes):
        counting = ClusterCounting(plan, layers, readings, files, bounds)
        lines = ByteReader(
            *(source.again(source.file.progress) for source in sources),
            by_document=counting.by_document,
            by_sentence=in_sentences,
            in_characters=counting.in_characters,
            sizes=sizes,
        )
        try:
            return _Files(lines.readers, plan, counting, sizes, in_sentences=in_sentences).bag(lines, sources)
        except Unusual:  # not all such files are unusual as text
            pass
    counting = ClusterCounting(plan, layers, readings, files, bounds)
    readers = [PassageReader(source.again(source.file.progress), sizes) for source in sources]
    passages = passages_in_step(readers)
    return _Files(readers, plan, counting, sizes, in_sentences=in_sentences).bag(passages, sources)


class _Files:
    """Counts files; `in_sentences`: sentence by sentence."""

    def __init__(
        self,
        readers: Sequence[PassageReader],
        plan: Plan,
        counting: ClusterCounting,
        sizes: Sizes,
        *,
        in_sentences: bool,
    ) -> None:
        self._readers, self._counting, self._sizes = readers, counting, sizes
        self._in_sentences = in_sentences
        self._most_documents = FEW_DOCUMENTS if in_sentences and plan.units == EITHER else None
        self._splitter = RowSplitter(readers)
        self._characters: dict[int, TagCharacters] = {}  # by the number of the group
        self._place = None if counting.by_document else counting.place_of()
        self._documents = 0  # that count
        self._sentence = 0  # the number of the last one in its document
        self._is_empty = False  # whether the document has no sentence so far
        self._has_tokens = False

    def bag(self, items: Iterable[Item], sources: Sequence[Source]) -> Bag | None:
        """Return the bag of stretches of lines and of parallel passages; None for too many documents.

        The `sources` get what was read.
        """
        try:
            for _ in self._add_items(items):
                self._counting.count_if_much()
                if self._most_documents is not None and self._documents >= self._most_documents:
                    return None  # documents are the units, and sentences are not
            for reader in self._readers:
                reader.require_sources()
        except CluevalError as error:
            raise Unusual("a file cannot be read") from error
        self._end()
        bag = self._counting.finish()
        for source, reader in zip(sources, self._readers, strict=True):
            source.file.passed_over.update(reader.passed_over)
            source.file.sources.update(reader.sources)
        return bag

    def _add_items(self, items: Iterable[Item]) -> Iterator[None]:
        """Add stretches, and passages, as many together as are split at a time; yield after each time."""
        waiting: list[Passages] = []
        number = 0
        for item in items:
            if isinstance(item, Stretch):
                self._add_passages(waiting)
                self._add_stretch(item)
            else:
                require_parallel(item)
                waiting.append(item)
                number += item[0].tokens
                if number <= self._sizes.rows and not have_ids(item):
                    continue
                self._add_passages(waiting)
            waiting, number = [], 0
            yield
        self._add_passages(waiting)
        yield

    def _begin(self, document: NamedDocument) -> None:
        self._end()
        self._place = self._counting.place_of(document.id, document.metadata)
        self._documents += self._place is not None and not self._place.waits
        self._sentence, self._is_empty = 0, True

    def _end(self) -> None:
        """Count a document without sentences, where sentences are told apart."""
        if self._in_sentences and self._is_empty:
            self._add_sentences([[""]] * len(self._counting.groups), [0])

    def _add_sentences(self, columns: Sequence[Sequence[str]], sizes: Sequence[int]) -> None:
        """Add sentences, each to a place of its own, given the characters of their rows in each group."""
        groups, place = self._counting.groups, self._place
        if place is None:
            for group, texts in zip(groups, columns, strict=True):
                group.add(None, BLANK.join(texts))
        else:
            first = self._sentence + 1
            places = [
                DocumentPlace(place.values, place.name, number, place.waits, place.repeat)
                for number in range(first, first + len(sizes))
            ]
            for group, texts in zip(groups, columns, strict=True):
                group.add_sentences(places, texts)
            self._counting.add_sentences(places, sizes, int(self._is_empty))
            self._sentence += len(sizes)
        self._is_empty = self._is_empty and not sizes

    # Bytes

    def _add_stretch(self, item: Stretch) -> None:
        for metadata in item.begins:
            self._counting.see(metadata)
        if item.document is not None and item.begins and self._counting.by_document:
            self._begin(item.document)
        texts = [self._text_of(item, number, group) for number, group in enumerate(self._counting.groups)]
        if self._in_sentences:
            columns = [text.split(BEFORE_SENTENCE)[1:] for text in texts]
            sizes = [item.sentences[number] for number in item.order]
            order = [place for place in sorted(range(len(sizes)), key=item.order.__getitem__) if sizes[place]]
            ordered = [[column[place] for place in order] for column in columns]
            self._add_sentences(ordered, [sizes[place] for place in order])
            return
        for group, text in zip(self._counting.groups, texts, strict=True):
            group.add(self._place, text)
        positions = item.tokens
        if self._counting.in_characters:
            positions += item.characters
            for number, has_tokens in enumerate(item.have_tokens):
                self._has_tokens = self._has_tokens and not number
                positions += self._blanks(has_tokens) - has_tokens
        self._counting.add_text(self._place, positions, len(item.begins))

    def _text_of(self, item: Stretch, number: int, group: LayerClusters) -> str:
        """Return the characters of the rows in spans, given their fields."""
        tag_characters = self._characters.get(number)
        if tag_characters is None or tag_characters.characters is not group.characters:
            form = self._readers[0].form
            tag_characters = TagCharacters(group.characters, item.layout.separator, decode=form.entities)
            self._characters[number] = tag_characters
        width, layers = item.layout.width, item.layout.layers
        columns = [
            item.fields[column::width]
            for name, column in layers.items()
            if name in group.layers and isinstance(column, int)
        ]
        separator = item.layout.separator.encode()
        tags = columns[0] if len(columns) == 1 else map(separator.join, zip(*columns, strict=True))
        if not self._counting.in_characters:
            return "".join(map(tag_characters.__getitem__, tags))
        tokens = b"\n".join(item.fields[::width]).decode().split("\n")
        return "".join(map(tag_characters.__getitem__, zip(map(len, tokens), tags, strict=False)))

    # Passages

    def _add_passages(self, groups: Sequence[Passages]) -> None:
        if not groups:
            return
        rows = self._splitter.split(groups)
        texts = [self._texts_of(rows, group) for group in self._counting.groups]
        for part in rows.parts:
            first = part.passages[0]
            if first.begins:
                self._counting.see(first.document.metadata)
                self._has_tokens = False
                if self._counting.by_document:
                    self._begin(first.document)
            if self._in_sentences:
                sentences = part.sentences()
                columns = [
                    [(differing if differs else same)[row : row + size] for differs, row, size in sentences]
                    for differing, same in texts
                ]
                self._add_sentences(columns, [size for _, _, size in sentences])
                continue
            for group, (differing, same) in zip(self._counting.groups, texts, strict=True):
                group.add(self._place, differing[part.differing] + same[part.same])
            self._counting.add_text(self._place, self._positions(part, rows), int(first.begins))

    def _texts_of(self, rows: Rows, group: LayerClusters) -> tuple[str, str]:
        differing = same = ""
        in_characters = self._counting.in_characters
        if rows.columns:
            tags = [column.tags[layer] for column in rows.columns for layer in group.layers]
            lengths = map(len, rows.columns[0].tokens) if in_characters else repeat(1)
            differing = group.text(tags, lengths)
        for column in rows.same:
            tags = [column.tags[layer] for layer in group.layers]
            if in_characters:
                same = group.text(tags * len(self._readers), map(len, column.tokens))
            else:
                same = group.text_of_same(tags)
        return differing, same

    def _positions(self, part: PassageRows, rows: Rows) -> int:
        passage = part.passages[0]
        if not self._counting.in_characters or not passage.sentences:
            return passage.tokens
        pairs = ((rows.columns, part.differing), (rows.same, part.same))
        characters = sum(len("".join(columns[0].tokens[rows_of])) for columns, rows_of in pairs if columns)
        # there is an O after each sentence
        return characters - len(passage.sentences) + self._blanks(passage.tokens)

    def _blanks(self, tokens: int) -> int:
        """Return the number of blanks before some tokens of a document, of which it may have others before."""
        if any(reader.form.no_space for reader in self._readers):
            raise Unusual("the text is not known from the tokens alone")
        has_tokens, self._has_tokens = self._has_tokens, self._has_tokens or tokens > 0
        return tokens - (not has_tokens and tokens > 0)
