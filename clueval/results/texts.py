"""The texts of a corpus as pairs of documents: of files and folders, and of what is in memory.

`opened` takes what people give as gold and predicted, and returns an iterator of texts, each the pairs of its golds
with the one predicted document, for `clueval.core.count.count`; and what was read, once all texts were.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from clueval.core.bag import Bag, Read
from clueval.core.count import Plan, Step, count, sum_of_parts
from clueval.core.document import Document, Pair, in_layer
from clueval.core.span import MERGED, SIDES, Span
from clueval.files.errors import UsageError
from clueval.formats.options import (
    ANSWER_FORMATS,
    MENTIONS,
    USUAL_READING,
    LayerColumns,
    Reading,
    Readings,
    chosen_options,
    readings_of,
)
from clueval.reading import checked_texts, is_open_file, is_path_or_paths, is_read_once
from clueval.results.options import Groups, texts_may_differ, with_steps_of_documents

if TYPE_CHECKING:
    from clueval.files.opening import Progress
    from clueval.reading.file_sides import FileGroup, FileSides
    from clueval.reading.memory import MemorySides
    from clueval.reading.source import Source


class Texts(NamedTuple):
    """The texts of a corpus, and what was read of them.

    Attributes:
        pairs: an iterator of texts.
        kind: what was given: ``paths``, ``tags``, ``spans`` or ``documents``.
        steps: the steps that give both sides one text, and places to answers; they come first.
        read: what was read of files, once `pairs` has ended.
        schemes: the scheme that was named for each side, or None.
        files: the pairs of files, by name, if these are paired by name; they can be counted apart from each other.
        reading: how each of these pairs is read.
        fast: returns the bag of lists in memory, or None if their documents must be counted.
    """

    pairs: Iterator[Sequence[Pair]]
    kind: str
    steps: tuple[Step, ...]
    read: Read
    schemes: dict[str, str | None]
    files: Sequence[FileGroup] = ()
    reading: FileReading | None = None
    fast: Callable[[Plan], Bag | None] = lambda plan: None

    def counted(self, plan: Plan, layers: Sequence[str]) -> Bag:
        """Count the texts, in this process; `layers` are those that options name."""
        bag = self.fast(plan)
        if bag is not None:
            bag.read.treatments |= self.read.treatments  # nothing else was read
            return bag
        bag = count(self.pairs, with_steps_of_documents(plan), layers)
        bag.read.include(self.read)
        return bag


def opened(
    gold: Any,
    predicted: Any,
    groups: Groups,
    layers: LayerColumns | None,
    plan: Plan,
    steps: Sequence[Step] = (),
) -> Texts:
    """Open both sides, before any document is read; `steps` are further ones that come first.

    Raises `UsageError` for sides that do not go together, and for options that do not apply to them.
    """
    readings, counting, workers, *_ = groups
    if predicted is None and counting.pair_by is not None:
        raise UsageError("a file that has both sides is paired with itself", advice="leave out pair_by")
    if len(readings) > 2:
        raise UsageError(
            "score takes one set of annotations of each side", advice="score the sets one by one"
        )
    decides = any if plan.align is None else all
    golds = {f"any_of[{number}]": gold_side for number, gold_side in enumerate(groups.golds())}
    sides = sides_of(
        {SIDES[0]: kept(gold) if golds else gold, SIDES[1]: predicted, **golds},
        [*readings, *(readings[0] for _ in golds)],
        layers,
        pair_by=counting.pair_by,
        is_one_text=layers is None and decides(not metric.same_text for metric in plan.metrics),
        within=next(iter(plan.frames), None),
        progress=workers.progress,
    )
    read = Read()
    schemes = {side.name: side.options.scheme for side in sides.listed[:2]}
    pairs = _pairs(sides.texts(read))
    if sides.kind == "tags":
        if counting.score_feature is not None:
            advice = "give spans with the feature, or leave out score_feature"
            raise UsageError("tags have no scores", advice=advice)
        read.treatments.update(filter(None, (side.treatment for side in sides.listed)))
    first = (*_first_steps(sides, groups, plan), *steps)
    if sides.kind != "paths":
        if counting.unit == "token" and any(side.form is None for side in sides.listed[:2]):
            pairs = _of_tokens(pairs)
        return Texts(pairs, sides.kind, first, read, schemes, fast=partial(_bag_in_memory, sides))
    files = [] if golds or sides.is_run or counting.pair_by is not None else sides.groups()
    without_files = replace(sides, listed=tuple(replace(side, files=[], given=None) for side in sides.listed))
    reading = FileReading(without_files, schemes, predicted is None and sides.is_single)
    return Texts(pairs, "paths", first, read, schemes, files, reading)


def kept(side: Any) -> Any:
    """Return a side that can be read several times: it and its items as lists if they are iterators."""
    side = list(side) if isinstance(side, Iterator) and not is_open_file(side) else side
    if isinstance(side, Mapping) and is_read_once(side):
        return {key: kept(item) for key, item in side.items()}
    return list(map(kept, side)) if isinstance(side, list | tuple) and is_read_once(side) else side


@dataclass(frozen=True, eq=False, repr=False)
class FileReading:
    """How pairs of files are read.

    Attributes:
        sides: how the files of each side are read, without the files.
        schemes: the scheme that was named for each side, or None.
        is_single: whether a file holds both sides in different columns.
    """

    sides: FileSides
    schemes: Mapping[str, str | None]
    is_single: bool

    def sources(self, pair: FileGroup, progress: Progress | None = None) -> tuple[Source, ...]:
        """Return the two files of a pair. Raises `UsageError` for one file that cannot have both sides."""
        sides = self.sides if progress is self.sides.progress else replace(self.sides, progress=progress)
        sources = sides.sources(pair)
        if self.is_single:
            sources[0].require_both_sides()
        return sources

    def count(
        self,
        pairs: Iterable[FileGroup],
        plan: Plan,
        layers: Sequence[str],
        progress: Progress | None = None,
    ) -> Iterator[Bag]:
        """Yield the bags of pairs of files, in their order; those of one document each have one together."""
        for are_documents, group in groupby(
            (self.sources(pair, progress) for pair in pairs),
            key=lambda sources: all(source.form.is_one_document for source in sources),
        ):
            for sources in () if are_documents else group:
                bag = self._bag_of_lines(sources, plan)
                yield self._bag_of_documents([sources], plan, layers) if bag is None else bag
            if are_documents:
                yield self._bag_of_documents(group, plan, layers)

    def _bag_of_lines(self, sources: Sequence[Source], plan: Plan) -> Bag | None:
        """Return the bag of two files of columns or rows; None if their documents must be counted."""
        from clueval.reading.column_files import bag_of_columns  # not needed for what is in memory

        bag = bag_of_columns(sources, plan)
        if bag is None and all(source.form.kind == "rows" for source in sources):
            from clueval.reading.triples import bag_of_row_files  # columns do not need it

            rows = [source.again(source.file.progress) for source in sources]
            bag = bag_of_row_files(rows, self.sides.texts_of(rows, Read()), plan)
            sources = rows
        if bag is not None:
            for side, source in zip(SIDES, sources, strict=True):
                source.see(bag.read, side)
            bag.read.settle(self.schemes)
        return bag

    def _bag_of_documents(self, pairs: Iterable[Sequence[Source]], plan: Plan, layers: Sequence[str]) -> Bag:
        read = Read()
        texts = chain.from_iterable(self.sides.texts_of(sources, read) for sources in pairs)
        bag = count(_pairs(checked_texts(texts, SIDES, read)), with_steps_of_documents(plan), layers)
        bag.read.include(read)
        bag.read.settle(self.schemes)
        return bag


def _first_steps(sides: FileSides | MemorySides, groups: Groups, plan: Plan) -> tuple[Step, ...]:
    """Return the step that gives both sides one text, if their formats differ, or places answers."""
    form = sides.listed[1].options.input
    if form in ANSWER_FORMATS:
        return (_answers_step(form == MENTIONS, groups, plan),)
    if groups.preparing is not None:
        groups.preparing.require_no_answers()
    if texts_may_differ(plan):
        return ()
    if sides.kind != "paths":
        forms = [side.form for side in sides.listed[:2]]
        if None in forms:
            return ()
        are_one_text = False
    else:
        gold, predicted = sides.listed[:2]
        if not gold.files or not predicted.files:
            return ()
        sources = [sides.source(side, side.files[0][1]) for side in (gold, predicted)]
        forms = [source.form for source in sources]
        are_one_text = sources[0].has_text_of(sources[1]) or sources[1].has_text_of(sources[0])
    from clueval.reading.source import need_placing  # not needed for lists in memory

    have_tokens = [form.counts_tokens for form in forms]
    is_of_tokens = groups.counting.unit == "token"
    in_tokens = is_of_tokens and not all(have_tokens)
    if any(form.name == "nerval" for form in forms):
        return ()
    if not in_tokens and (are_one_text or not need_placing(*forms)):
        return ()
    from clueval.transforms.placing import Placing  # few pairs of formats need it

    what = "tokens" if any(have_tokens) else "words" if in_tokens else "texts"
    return (Placing(is_of_tokens, what, not any(form.is_one_document for form in forms)),)


def _answers_step(are_mentions: bool, groups: Groups, plan: Plan) -> Step:
    """Return the step that places the answers of a language model on the text of gold."""
    from clueval.core.alignment import MAX_CELLS
    from clueval.transforms.locating import InlineAnswers, Locating  # few formats need it
    from clueval.transforms.options import FREE, Preparing

    preparing = groups.preparing or Preparing()
    if are_mentions:
        if plan.align is not None:
            raise UsageError("mentions are located, so their texts are not aligned", advice="leave out align")
        return Locating(preparing.occurrence or FREE, preparing.location_steps())
    preparing.require_no_answers()
    return InlineAnswers(MAX_CELLS if plan.align is None else getattr(plan.align, "max_cells", MAX_CELLS))


# Sides


def sides_of(
    inputs: Mapping[str, Any],
    readings: Sequence[Reading],
    layers: LayerColumns | None = None,
    *,
    pair_by: str | None = None,
    is_one_text: bool = False,
    within: str | None = None,
    progress: Progress | None = None,
) -> FileSides | MemorySides:
    """Return the sides that are given by their names in errors, and how each is read.

    Args:
        inputs: by name, files as `clueval.reading.paths` describes them, or what is in memory
            (`clueval.reading.memory`). All sides are files, or all are in memory. A second side that is None is
            in other columns, or another annotation set, of the files of the first.
        readings: the options of each side; those of the last count for further sides.
        layers: the name and the source of each layer, or the sources of the first side and of the others as a pair.
        is_one_text: as in `clueval.reading.file_sides.Side`.
        pair_by, within, progress: as in `clueval.reading.file_sides.FileSides`.

    Mentions of the second side that have no place are spans.

    No document is read, but the first lines of column files for which no layers are named. `texts` of the sides yields
    a tuple for each text with the document of each side. Raises `UsageError` for sides that do not go together, and for
    an option that applies to none of their formats; `FileError`.

    >>> sides = sides_of({"gold": [["B-PER", "O"]], "predicted": [["O", "B-PER"]]}, [Reading(), Reading()])
    >>> [[document.layers["label"][0].start for document in text] for text in sides.texts()]
    [[0, 1]]
    """
    readings = [readings[min(number, len(readings) - 1)] for number in range(len(inputs))]
    present = [side for side in inputs.values() if side is not None]
    if present and all(map(is_path_or_paths, present)):
        from clueval.reading.file_sides import sides_of_files  # not needed for what is in memory

        return sides_of_files(inputs, readings, layers, pair_by, is_one_text, within, progress)
    from clueval.reading.memory import sides_in_memory  # not needed for files

    return sides_in_memory(inputs, readings, layers, pair_by)


# Several systems

_OF_MENTIONS = frozenset({"occurrence", "locate"})
"""The options of `Preparing` that are for answers of a language model alone."""


def idle_options(
    gold: Any, systems: Sequence[Any], reading: Readings, options: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Return for each of several systems the options that only others have a use for, with their default values.

    With these beside `options`, each system can be read. An option that no system has a use for is not among them, so
    that reading says so. If options for reading are chosen, the first file of each side is opened.
    """
    of_gold, of_predicted, *_ = readings_of(reading, options)
    chosen = {name for name in _OF_MENTIONS if options.get(name) is not None}.union(
        chosen_options(of_predicted)
    )
    if len(systems) < 2 or not chosen:
        return [{} for _ in systems]
    by_gold = _used_by(gold, SIDES[0], of_gold, chosen)
    by_systems = [_used_by(system, SIDES[1], of_predicted, chosen) for system in systems]
    by_any = by_gold.union(*by_systems)
    return [
        {name: getattr(USUAL_READING, name, None) for name in sorted(by_any - by_gold - by_system)}
        for by_system in by_systems
    ]


def _used_by(side: Any, name: str, reading: Reading, chosen: set[str]) -> set[str]:
    """Return those of some options that the format of a side has a use for; all, if it can be read only once."""
    if is_read_once(side):
        return chosen
    from clueval.reading.file_sides import files_of_side  # few calls have several systems and options
    from clueval.reading.memory import GivenSide, side_of
    from clueval.reading.source import form_at, options_of

    given = side_of(GivenSide(name, reading), side)
    form = form_at(files_of_side(side)[0][1], given.of_rows) if given.kind == "paths" else given.form
    if form is None:
        return chosen
    return chosen & (options_of(form) | _OF_MENTIONS if form.name == MENTIONS else options_of(form))


# In memory


def _bag_in_memory(sides: MemorySides, plan: Plan) -> Bag | None:
    """Return the bag of lists of tags or spans; None if documents must be counted."""
    if sides.kind == "documents" or len(sides.listed) > 2 or sides.pair_by is not None:
        return None
    if sides.are_lists:
        return _bag_of_lists(sides, plan)
    return sum_of_parts((_bag_of_part(part, plan) for part in sides.parts(_PART)), plan.units)


_PART = 10_000
"""The number of documents of iterators that are in memory together."""


def _bag_of_lists(sides: MemorySides, plan: Plan) -> Bag | None:
    if not sides.are_lists:
        return None
    gold, predicted = [side.items for side in sides.listed]
    if sides.kind == "spans":
        from clueval.reading.triples import bag_of_triples  # not needed for files

        return bag_of_triples(gold, predicted, plan)
    from clueval.reading.clusters import bag_of_tags  # not needed for files

    return bag_of_tags([gold, predicted], plan, [side.options for side in sides.listed], sides.ids)


def _bag_of_part(part: MemorySides, plan: Plan) -> Bag:
    bag = _bag_of_lists(part, plan)
    return count(_pairs(part.texts()), with_steps_of_documents(plan)) if bag is None else bag


def _pairs(texts: Iterable[Sequence[Document]]) -> Iterator[Sequence[Pair]]:
    """Yield the pairs of each text: each gold with the predicted document."""
    for gold, predicted, *golds in texts:
        predicted_document = _in_counting_order(predicted)
        yield [Pair(_in_counting_order(document), predicted_document) for document in (gold, *golds)]


def _of_tokens(texts: Iterable[Sequence[Pair]]) -> Iterator[Sequence[Pair]]:
    """Yield the pairs of each text. Raises `UsageError` for a document of characters."""
    for pairs in texts:
        for document in (side for pair in pairs for side in pair.sides if side.unit == "character"):
            advice = (
                "give documents that count tokens, as of documents_from_spacy(docs, unit='token'), or rows"
            )
            problem = "unit='token' does not apply to documents of characters"
            raise UsageError(problem, document=document.id, advice=advice)
        yield pairs


def _in_counting_order(document: Document) -> Document:
    """Return an ordered document with its spans by place, then by id if all ids are numbers, as in GATE's formats.

    A layer that is called as merged layers are is a layer like any other.
    """
    layers: dict[str, Sequence[Span]] = {}
    if MERGED in document.layers:
        layers[MERGED] = in_layer(MERGED, document.layers[MERGED])
    if document.ordered:
        for name, spans in document.layers.items():
            if all(isinstance(span.id, int) for span in spans):
                layers[name] = sorted(spans, key=lambda span: (span.start, span.end, span.id))
    return replace(document, layers={**document.layers, **layers}) if layers else document
