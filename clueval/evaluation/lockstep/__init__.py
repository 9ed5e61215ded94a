"""Compares two files of one format: lines that are equal on both sides are counted without decoding.

`compared` is the entrance for files::

     gold bytes ──┐  cut both where no span     regular pieces ─► hunks ─► tag runs, each once,─┐
                  ├─ crosses, into pieces ──►                              with its multiplicity├─► Compared
     predicted ───┘  irregular? ─► passages ────────────────────────────────────────────────────┘   agreed: labels
     any error? ─► start again with passages alone, whose errors name the place                     left over: spans

A *piece* is a sentence, a document without sentences, or a line. Pieces with the same bytes on both sides are not
decoded line by line. A *hunk* is a run of lines that are in a span of either side. A *tag run* is the tags of one layer
between two positions that are outside every span on both sides.

One sentence by hand, columns token and tag, lines written ``token/tag``::

    gold        a/O  b/B-X  c/O  d/B-Y  e/I-Y  f/O  g/O
    predicted   a/O  b/B-X  c/O  d/B-Y  e/O    f/O  g/O

The pieces differ in line e. The hunks are b, and d with e. They have one tag run each: ``B-X``, the same on both
sides, is one agreed span labelled X; ``B-Y I-Y`` and ``B-Y O`` leave over [0,2) of gold and [0,1) of predicted, both
labelled Y. There are 7 tokens, and 6 positions have the same tag on both sides.

Every reading has these properties:

* irregular lines are not guessed: all lines but plain token lines are read as passages, by the reader of the format;
* a tag run counts as often as it occurs: the sum over all columns of multiplicity times tokens is the number of
  tokens;
* the counts are those of the documents of both files, read one by one.

Read `regular`, `reader`, `compare`, `hunks`, `tag_runs`, in this order. `by_document` keeps documents
apart, where each has its own counts; `fair_spans` compares two files in FairEval's formats.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise, product, zip_longest
from typing import TYPE_CHECKING, NamedTuple

from clueval.evaluation.lockstep.compare import Decoders, compare, compare_columns
from clueval.evaluation.lockstep.reader import File, Lockstep
from clueval.evaluation.lockstep.reader import Stretch as Stretch
from clueval.evaluation.lockstep.regular import REGULAR
from clueval.evaluation.lockstep.tag_runs import Columns as Columns
from clueval.evaluation.plan import Plan
from clueval.exceptions import CluevalError
from clueval.formats.columns.layout import Layout
from clueval.formats.columns.passages import Passage
from clueval.formats.columns.sizes import Sizes
from clueval.reading.layers import layer_names
from clueval.reading.pairing import ends_early
from clueval.reading.same_text import first_line
from clueval.reading.source import Source
from clueval.reading.unique_ids import with_unique_ids
from clueval.spans.compared import SIDES, Compared
from clueval.spans.filters import ID
from clueval.spans.span import DEFAULT_LAYER
from clueval.textfiles import blocks, raw_blocks, refuse

if TYPE_CHECKING:
    from clueval.metrics.fair import Fair

Pair = tuple[Passage, Passage]


class FileEnd(NamedTuple):
    """The results of reading two files that are complete only at their end.

    Attributes:
        layouts: of the token lines of each file; None if it has none.
        decoders: by side and layer; they have counted the pairs of adjacent tags.
        more_repaired: repaired tags of each side that no decoder has counted.
        more_spans: spans of each side that no decoder has counted.
    """

    layouts: tuple[Layout | None, Layout | None]
    decoders: Decoders
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
            (side, layer): column + 1
            for side, layout in zip(SIDES, self.layouts, strict=True)
            for layer, column in (layout.layers if layout is not None else ())
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


def compared(gold: Source, predicted: Source, plan: Plan) -> FileReading | None:
    """Two files compared according to the plan; None if their documents must be counted.

    Holds some blocks of both files, or the longest sentence, and the tag runs. Reads nothing before the first value
    is requested.
    """
    if plan.needs_documents or not all(
        each.reads_passages(gold, predicted) for each in plan.passage_observers
    ):
        return None
    if (metric := _fair_alone(gold, predicted, plan)) is not None:
        return FileReading(_of_span_files(gold, predicted, metric), layer_names(None))
    if gold.token_lines is None or predicted.token_lines is None:
        return None
    layers = layer_names(gold.options.layers)
    passages = FileReading(_of_passages(gold, predicted, plan), layers)
    if not can_use_lockstep(gold, predicted):
        return passages
    in_step = _by_document if plan.wants_single_documents else _in_lockstep
    show = partial(_show_passages, gold, predicted, plan)
    return FileReading(in_step(gold, predicted, plan), layers, again=passages, show=show)


def _of_span_files(gold: Source, predicted: Source, metric: Fair) -> Generator[Compared, None, FileEnd]:
    """Count two files of FairEval's spans; comparing their spans sentence by sentence takes twice as long."""
    from clueval.evaluation.lockstep.fair_spans import run_blocks

    target, system = (
        blocks(
            source.path, source.progress, max_line=source.options.max_line, size=source.options.sizes.block
        )
        for source in (gold, predicted)
    )
    run = run_blocks(
        target,
        system,
        metric,
        target_file=str(gold.path),
        system_file=str(predicted.path),
        ignore_punct=gold.options.ignore_punct is not False,
        max_sentence=gold.options.max_sentence,
    )
    yield Compared(run.sentences, 0, tallies={(metric.name, DEFAULT_LAYER): run.tally}, has_text=False)
    return FileEnd((None, None), {}, run.repaired, run.spans)


def _fair_alone(gold: Source, predicted: Source, plan: Plan) -> Fair | None:
    """The metric `fair`, if it is the only one and counts all spans of two files in FairEval's format, else None."""
    (metric, *others) = plan.metrics
    same_format = gold.format == predicted.format == "fair-spans"
    if others or plan.merge or plan.wants_single_documents or plan.unit or not same_format:
        return None
    from clueval.metrics.fair import Fair

    return metric if isinstance(metric, Fair) and gold.options.layers is None else None


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


def _in_lockstep(gold: Source, predicted: Source, plan: Plan) -> Generator[Compared, None, FileEnd]:
    """Compare the two files in lockstep: pieces where they are regular, else passages."""
    decoders = _decoders(gold, predicted)
    steps = lockstep(gold, predicted, plan.merge)
    yield from _compared(steps, decoders, plan, gold.options.sizes)
    return FileEnd(steps.layouts, decoders)


def _by_document(gold: Source, predicted: Source, plan: Plan) -> Generator[Compared, None, FileEnd]:
    """Compare the two files in lockstep, and count each document of regular pieces."""
    from clueval.evaluation.lockstep.by_document import DocumentLockstep, RunTallies

    decoders, sizes = _decoders(gold, predicted), gold.options.sizes
    steps = DocumentLockstep(_file(gold), _file(predicted), plan.merge)
    tallies = RunTallies(plan.metrics, _decoders(gold, predicted), plan.merge, sizes.runs)
    require_named = _needs_named_documents(gold, plan)
    for item in steps:
        if not isinstance(item, Stretch):
            _require_id(item[0].named or not require_named)
            yield from _compared_passages([item], decoders, plan, sizes)
            continue
        for columns in item.columns:  # counted already, except by the decoders
            compare_columns(columns, decoders, plan.merge)
        for part in item.parts:
            name, metadata, is_named = part.document
            _require_id(is_named or not require_named)
            yield Compared(
                int(part.begins), part.tokens, document=name, metadata=metadata, tallies=tallies.of(part)
            )
    return FileEnd(steps.layouts, decoders)


def _needs_named_documents(gold: Source, plan: Plan) -> bool:
    """Whether a document must have an id of its own, because its number in the file is not known."""
    by_id = ID in plan.metadata_keys(layer_names(gold.options.layers))
    return by_id and gold.options.part is not None and bool(gold.options.part[0])


def lockstep(gold: Source, predicted: Source, merge: bool) -> Lockstep:
    """The reader of the two files, whose items are not yet compared."""
    return Lockstep(_file(gold), _file(predicted), merge)


def _file(source: Source) -> File:
    options = source.options.columns()
    assert source.token_lines is not None
    reader = source.token_lines.reader(str(source.path), options, source.name, refuse)
    recogniser = REGULAR[source.format](reader, options)
    data = raw_blocks(source.path, source.progress, options.part, options.sizes.block)
    return File(source.path, data, recogniser, options)


def _of_passages(gold: Source, predicted: Source, plan: Plan) -> Generator[Compared, None, FileEnd]:
    """Compare the passages of the two files."""
    decoders = _decoders(gold, predicted)
    layouts: list[Layout | None] = [None, None]

    def see(pairs: Sequence[Pair]) -> None:
        for observer, pair in product(plan.passage_observers, pairs):
            observer.see_passages((gold, predicted), pair)

    yield from _compared(_pairs(gold, predicted, plan, layouts), decoders, plan, gold.options.sizes, see)
    return FileEnd((layouts[0], layouts[1]), decoders)


def _show_passages(gold: Source, predicted: Source, plan: Plan) -> None:
    """Read two files that have been counted once more, and show their passages to the observers."""
    observers = plan.passage_observers
    sides = (replace(each, progress=None).short_passages() for each in (gold, predicted) if observers)
    for pair in zip(*sides, strict=True):
        for observer in observers:
            observer.see_passages((gold, predicted), pair)


def _decoders(gold: Source, predicted: Source) -> Decoders:
    return {
        (side, layer): decoder
        for side, source in zip(SIDES, (gold, predicted), strict=True)
        for layer, decoder in source.decoders().items()
    }


def _pairs(gold: Source, predicted: Source, plan: Plan, layouts: list[Layout | None]) -> Iterator[Pair]:
    """The passages of both files, in pairs; sets `layouts`. Raises `TextMismatch` if one file has fewer."""
    require_named = _needs_named_documents(gold, plan)
    for pair in zip_longest(with_unique_ids(gold), with_unique_ids(predicted)):
        for side, passage in enumerate(pair):
            if passage is None:
                extra = pair[1 - side]
                raise ends_early(gold, predicted, side == 0, extra.document, first_line(extra))
            layouts[side] = layouts[side] or passage.layout
            _require_id(passage.named or not require_named)
        yield pair


def _require_id(is_known: bool) -> None:
    if not is_known:
        raise CluevalError("a document without an id is known by its number")


def _compared(
    items: Iterable[Stretch | Pair],
    decoders: Decoders,
    plan: Plan,
    sizes: Sizes,
    see: Callable[[Sequence[Pair]], object] = len,
) -> Iterator[Compared]:
    """Compare stretches one by one, and passages many at a time; `see` is called with these passages afterwards."""
    waiting: list[Pair] = []
    tokens = 0
    try:
        for item in items:
            if isinstance(item, Stretch):
                for columns in item.columns:
                    yield Compared(0, 0, compare_columns(columns, decoders, plan.merge))
                yield Compared(item.documents, item.tokens)
                continue
            waiting.append(item)
            tokens += item[0].tokens
            if max(tokens, len(waiting)) >= sizes.rows:
                ready, waiting, tokens = waiting, [], 0
                yield from _compared_passages(ready, decoders, plan, sizes)
                see(ready)
    except CluevalError:
        for _ in _compared_passages(waiting, decoders, plan, sizes):  # may raise an error of an earlier line
            pass
        raise
    yield from _compared_passages(waiting, decoders, plan, sizes)
    see(waiting)


def _compared_passages(
    pairs: Sequence[Pair], decoders: Decoders, plan: Plan, sizes: Sizes
) -> Iterator[Compared]:
    """Compare passages, one by one if a filter or break-down needs it, else together."""
    if plan.wants_single_documents:
        for gold, predicted in pairs:
            sequences = compare([(gold, predicted)], decoders, plan.merge, sizes)
            yield Compared(gold.begins, gold.tokens, sequences, gold.document, gold.metadata)
        return
    for together in _comparable(pairs):
        documents = sum(gold.begins for gold, _ in together)
        tokens = sum(gold.tokens for gold, _ in together)
        yield Compared(documents, tokens, compare(together, decoders, plan.merge, sizes))


def _comparable(pairs: Sequence[Pair]) -> Iterable[Sequence[Pair]]:
    """The pairs that may be compared together: all, or those of one document if there are token ids."""
    if not pairs or all(gold.layout is None or gold.layout.token_id is None for gold, _ in pairs):
        return [pairs] if pairs else []
    begins = [number for number, (gold, _) in enumerate(pairs) if gold.begins and number]
    return [pairs[start:stop] for start, stop in pairwise([0, *begins, len(pairs)])]
