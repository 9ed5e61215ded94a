"""Reads two files of one format in step: lines that are equal on both sides are not decoded one by one.

`lockstep` is the entrance::

     gold bytes ──┐  cut both where no span     regular pieces ─► hunks ─► tag runs, with their multiplicity ─► columns
                  ├─ crosses, into pieces ──►
     predicted ───┘                             irregular pieces ─► passages
     any error? ─► the caller reads both files as passages

A *piece* is a sentence, a document without sentences, or a line. Pieces with the same bytes on both sides are not
decoded line by line. A *hunk* is a run of lines that are in a span of either side. A *tag run* is the tags of one layer
between two positions that are outside every span on both sides; it is a cluster (`clueval.evaluation.row_clusters`).

One sentence by hand, columns token and tag, lines written ``token/tag``::

    gold        a/O  b/B-X  c/O  d/B-Y  e/I-Y  f/O  g/O
    predicted   a/O  b/B-X  c/O  d/B-Y  e/O    f/O  g/O

The pieces differ in line e. The hunks are b, and d with e. They have one tag run each: ``B-X``, the same on both
sides, and ``B-Y I-Y`` with ``B-Y O``.

Every reading has these properties:

* irregular lines are not guessed: all lines but plain token lines are read as passages, by the reader of the format;
* a tag run counts as often as it occurs: the sum over all columns of multiplicity times tokens is the number of
  tokens.

Read `regular`, `reader`, `hunks`, `tag_runs`, in this order. `by_document` keeps documents apart, where each has
its own counts.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from typing import NamedTuple

from clueval.evaluation.lockstep.reader import File, Lockstep
from clueval.evaluation.lockstep.reader import Stretch as Stretch
from clueval.evaluation.lockstep.regular import REGULAR
from clueval.formats.columns.layout import Layout
from clueval.reading.source import Source
from clueval.spans.compared import SIDES, Compared
from clueval.spans.span import DEFAULT_LAYER
from clueval.tagging.decoder import Decoder
from clueval.textfiles import raw_blocks, refuse


class FileEnd(NamedTuple):
    """The results of reading two files that are complete only at their end.

    Attributes:
        layouts: of the token lines of each file; None if it has none.
        decoders: by side and layer; they have counted the pairs of adjacent tags.
        more_repaired: repaired tags of each side that no decoder has counted.
        more_spans: spans of each side that no decoder has counted.
    """

    layouts: tuple[Layout | None, Layout | None]
    decoders: Mapping[tuple[str, str], Decoder]
    more_repaired: tuple[int, int] = (0, 0)
    more_spans: tuple[int, int] | None = None

    def schemes(self) -> dict[tuple[str, str], str | None]:
        """The scheme of each side and layer, named or detected; None if no tag determines it.

        Raises `TagError` for tags of two schemes.
        """
        return {place: decoder.scheme() for place, decoder in self.decoders.items()}

    def spans(self) -> dict[tuple[str, str], tuple[int | None, int]]:
        """The column, from 1, or None, and the number of spans of each side and layer."""
        columns = {
            (side, layer): column
            for side, layout in zip(SIDES, self.layouts, strict=True)
            for layer, column in (layout.columns.items() if layout is not None else ())
        }
        found = {place: (columns.get(place), decoder.spans()) for place, decoder in self.decoders.items()}
        for side, spans in zip(SIDES, self.more_spans or (), strict=False):
            found[side, DEFAULT_LAYER] = None, spans
        return found

    def repaired(self) -> dict[str, int]:
        """The number of repaired tags of each side. Raises `TagError` as `schemes` does."""
        numbers = dict(zip(SIDES, self.more_repaired, strict=True))
        for (side, _), decoder in self.decoders.items():
            numbers[side] += decoder.repaired()
        return numbers


class FileReading:
    """An iterator of `Compared` over two files, to be used once; when it has ended, `end` is set.

    Raises `TextMismatch`, `FormatError` or `TagError` for input that is wrong or irregular. Then `again` reads the
    files again as passages, whose errors name the place; it is None if the error already names it. `show` is called
    when all has been counted; it shows the passages to observers that have not seen them.
    """

    end: FileEnd

    def __init__(
        self,
        items: Generator[Compared, None, FileEnd],
        layers: Sequence[str],
        again: FileReading | None = None,
        show: Callable[[], object] = bool,
    ) -> None:
        self._items, self.layers, self.again, self.show = items, layers, again, show

    def __iter__(self) -> Iterator[Compared]:
        self.end = yield from self._items


def can_use_lockstep(gold: Source, predicted: Source) -> bool:
    """Whether a recogniser knows the format, and spans depend only on their own tags and the adjacent ones, in the
    same way on both sides."""
    decoders = [source.options.decoder() for source in (gold, predicted)]
    return (
        gold.format == predicted.format
        and gold.format in REGULAR
        and gold.options.named is None
        and gold.options.has_columns_of(predicted.options)
        and decoders[0].reads_neighbours
        and decoders[0].treatment == decoders[1].treatment
        and not gold.options.columns().describes_documents
        and min(gold.options.max_line, gold.options.max_sentence) >= gold.options.sizes.least_limit
    )


def lockstep(gold: Source, predicted: Source, *, merge: bool, by_document: bool) -> Lockstep:
    """The reader of two files for which `can_use_lockstep` holds; by document, stretches have parts."""
    if by_document:
        from clueval.evaluation.lockstep.by_document import DocumentLockstep

        return DocumentLockstep(_file(gold), _file(predicted), merge)
    return Lockstep(_file(gold), _file(predicted), merge)


def _file(source: Source) -> File:
    options = source.options.columns()
    assert source.token_lines is not None
    reader = source.token_lines.reader(str(source.path), options, source.name, refuse)
    recogniser = REGULAR[source.format](reader, options)
    data = raw_blocks(source.path, source.progress, options.part, options.sizes.block)
    return File(source.path, data, recogniser, options)
