"""The texts of a corpus as pairs of documents: of files and folders, and of what is in memory.

`opened` takes what people give as gold and predicted, and returns an iterator of texts, each the pairs of its golds
with the one predicted document, for `clueval.core.count.count`; and what was read, once all texts were.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from clueval.core.bag import Bag
from clueval.core.count import SENTENCE, Plan, Step, count
from clueval.core.document import Pair
from clueval.core.read import Read
from clueval.core.span import SIDES
from clueval.files.errors import CluevalError, UsageError
from clueval.reading.given import Given, given
from clueval.reading.pairing import (
    document_groups,
    document_pairs,
    files_of_side,
    parallel,
    require_two_tag_columns,
    source_pairs,
)
from clueval.reading.paths import is_path_or_paths, path_pairs
from clueval.reading.read_options import ReadOptions, columns_of_sides, with_columns_of_tags
from clueval.reading.same_text import need_placing, raise_first_error
from clueval.reading.source import Source, source_of
from clueval.reading.tag_sentences import TagOptions, documents_of_tags, golds_in_memory, kept
from clueval.second.formats.options import Reading
from clueval.second.reading.options import ANSWER_FORMATS, MENTIONS, LayerColumns, require_none
from clueval.second.results.documents import Readers
from clueval.second.results.options import Groups
from clueval.second.results.plan import texts_may_differ
from clueval.second.transforms.options import FREE
from clueval.spans.document import Document as ReadDocument
from clueval.textfiles import Progress

_READING = Reading()

FilePair = tuple[str | None, Path, Path]


@dataclass
class Texts:
    """The texts of a corpus, and what was read of them.

    Attributes:
        pairs: an iterator of texts.
        kind: what was given: ``paths``, ``tags``, ``spans`` or ``documents``.
        steps: the steps that give both sides one text, and places to answers; they come first.
        readers: what was read, once `pairs` has ended.
        schemes: the schemes that were named, by side.
        files: the pairs of files, by name, if these are paired by name; they can be counted apart from each other.
        reading: how each of these pairs is read.
        fast: returns the bag of lists in memory, or None if their documents must be counted.
    """

    pairs: Iterator[Sequence[Pair]]
    kind: str
    steps: tuple[Step, ...]
    readers: Readers
    schemes: dict[str, str]
    files: Sequence[FilePair] = ()
    reading: FileReading | None = None
    fast: Callable[[Plan], Bag | None] = lambda plan: None

    def read(self) -> Read:
        """Return what was read, now that all of it was."""
        return self.readers.end()

    def parts(
        self, plan: Plan, progress: Progress | None = None
    ) -> Iterator[tuple[AbstractContextManager[None], Iterable[Sequence[Pair]]]]:
        """Yield the texts of each pair of files, or all texts, and a context in which their steps are made.

        Errors in it name the lines of column files.
        """
        if self.reading is None or not self.files:
            yield nullcontext(), self.pairs
            return
        for gold, predicted in self.reading.sources(self.files, progress):
            texts = _pairs(document_pairs(gold, predicted), self.readers, plan)
            yield _lines_named(gold, predicted, plan), texts


def opened(
    gold: Any, predicted: Any, groups: Groups, layers: LayerColumns | None, plan: Plan, unit: str | None
) -> Texts:
    """Open both sides, before any document is read.

    `unit` is what positions are to be. Raises `UsageError` for sides that do not go together, and for options that do
    not apply to them.
    """
    readings, counting, _, _, preparing = groups
    if predicted is None and counting.pair_by is not None:
        raise UsageError("a file that has both sides is paired with itself", advice="leave out pair_by")
    if preparing.golds():
        gold = kept(gold)
    if readings[1].input in ANSWER_FORMATS and predicted is not None and not is_path_or_paths(gold):
        from clueval.second.results.answers import answers_in_memory

        steps = (_answers_step(str(readings[1].input), groups, plan),)
        gold, predicted, others = answers_in_memory(gold, predicted, readings)
        found = _in_memory(gold, predicted, groups._replace(readings=others), plan)
        return replace(found, steps=(*steps, *found.steps))
    sides = given(gold, predicted, readings[0].names)
    if sides.kind == "paths":
        return _files(sides, groups, layers, plan, unit)
    return _in_memory(gold, predicted, groups, plan, sides)


# Files


def _files(sides: Given, groups: Groups, layers: LayerColumns | None, plan: Plan, unit: str | None) -> Texts:
    readings, counting, workers, _, preparing = groups
    gold, predicted, golds = sides.gold, sides.predicted, preparing.golds()
    single = predicted is None
    if len(readings) > 2:
        raise UsageError(
            "score takes one set of annotations of each side", advice="score the sets one by one"
        )
    decides = any if plan.align is None else all
    whole_text = layers is None and decides(not getattr(each, "same_text", True) for each in plan.metrics)
    within = next(iter(plan.frames), None)
    options = [ReadOptions.of(each, whole_text=whole_text, containing=within) for each in readings]
    pairs: list[FilePair] = path_pairs(gold, predicted) if counting.pair_by is None else []
    paths = [list(_paths(side, number, pairs)) for number, side in enumerate((gold, predicted))]
    steps = _first_steps(options, paths, sides, groups, plan, unit)
    if options[0] == options[1]:
        options[0].require_use([*paths[0], *paths[1]])
    else:
        for each, of_side in zip(options, paths, strict=True):
            each.require_use(of_side)
    if single and layers is None and options[0].annotation_set is None:
        require_two_tag_columns((path for _, path, _ in pairs), options[0])
    own, *others = with_columns_of_tags(columns_of_sides(options, layers, single), paths)
    both = [own, *(replace(each, unplaced=True) for each in others)]
    readers = Readers()

    def texts() -> Iterator[Sequence[Pair]]:
        found = document_groups(gold, predicted, both, counting.pair_by, workers.progress, readers.see, golds)
        yield from _pairs(found, readers, plan)

    named = {side: each.scheme for side, each in zip(SIDES, both, strict=True) if each.scheme is not None}
    alone = [] if golds else pairs
    reading = FileReading((both[0], both[1]), named, single and both[0].annotation_set is None)
    return Texts(texts(), "paths", steps, readers, named, alone, reading)


@dataclass(frozen=True)
class FileReading:
    """How pairs of files are read.

    Attributes:
        options: how the files of each side are read.
        schemes: the schemes that were named, by side.
        single: whether a file holds both sides in different columns.
    """

    options: tuple[ReadOptions, ReadOptions]
    schemes: Mapping[str, str]
    single: bool

    def count(
        self, pairs: Iterable[FilePair], plan: Plan, layers: Sequence[str], progress: Progress | None = None
    ) -> Iterator[Bag]:
        """Yield the bag of each pair of files."""
        from clueval.second.reading.column_files import bag_of_columns  # not needed for what is in memory
        from clueval.second.reading.row_files import bag_of_row_files

        for gold, predicted in self.sources(pairs, progress):
            readers = Readers()
            for number, source in enumerate((gold, predicted)):
                readers.see(source, number)
            bag = bag_of_columns((gold, predicted), plan)
            if bag is None:
                bag = bag_of_row_files(gold, predicted, plan)
            if bag is None:
                with _lines_named(gold, predicted, plan):
                    bag = count(_pairs(document_pairs(gold, predicted), readers, plan), plan, layers)
                bag.read.include(readers.end())
            else:
                bag.read.include(readers.read)
            bag.read.settle(self.schemes)
            yield bag

    def sources(
        self, pairs: Iterable[FilePair], progress: Progress | None
    ) -> Iterator[tuple[Source, Source]]:
        """Yield both files of each pair; `progress` gets the bytes of a file once."""
        for gold, predicted in source_pairs(pairs, self.options, progress):
            if self.single:
                gold.require_both_sides()
            if gold.path == predicted.path:
                predicted = replace(predicted, progress=None)
            yield gold, predicted


@contextmanager
def _lines_named(gold: Source, predicted: Source, plan: Plan) -> Iterator[None]:
    """Raise, for an error of the texts of two column files inside, the first error of these files, with its lines."""
    try:
        yield
    except UsageError:
        raise
    except CluevalError:
        in_columns = gold.token_lines is not None and predicted.token_lines is not None
        if in_columns and not texts_may_differ(plan):
            raise_first_error(gold, predicted)
        raise


def _paths(side: Any, number: int, pairs: Sequence[FilePair]) -> Iterator[Path]:
    """Yield the files of the gold (0) or the predicted (1) side, also before documents are paired."""
    if pairs:
        yield from ((gold, predicted)[number] for _, gold, predicted in pairs)
    elif side is not None:
        yield from (path for _, path in files_of_side(side))


def _first_steps(
    options: Sequence[ReadOptions],
    paths: Sequence[Sequence[Path]],
    sides: Given,
    groups: Groups,
    plan: Plan,
    unit: str | None,
) -> tuple[Step, ...]:
    """Return the step that gives both sides one text, if their formats differ, or places answers."""
    if options[1].input in ANSWER_FORMATS and sides.predicted is not None:
        return (_answers_step(str(options[1].input), groups, plan),)
    groups.preparing.require_no_answers()
    if texts_may_differ(plan) or not paths[0] or not paths[1]:
        return ()
    own, other = (each.format_at(of_side[0]) for each, of_side in zip(options, paths, strict=True))
    in_tokens = unit == "token" and not (own.counts_tokens and other.counts_tokens)
    if "nerval" in (own.name, other.name) or not (in_tokens or need_placing(own, other)):
        return ()
    gold, predicted = source_of(paths[0][0], options[0]), source_of(paths[1][0], options[1])
    if not in_tokens and (gold.has_text_of(predicted) or predicted.has_text_of(gold)):
        return ()
    from clueval.second.transforms.placing import Placing  # few pairs of formats need it

    has_tokens = own.counts_tokens or other.counts_tokens
    what = "tokens" if has_tokens else "words" if in_tokens else "texts"
    return (Placing(unit == "token", what, not (own.nameless or other.nameless)),)


def _answers_step(form: str, groups: Groups, plan: Plan) -> Step:
    """Return the step that places the answers of a language model in a format on the text of gold."""
    from clueval.second.transforms.locating import InlineAnswers, Locating  # few formats need it
    from clueval.statistics.alignment import MAX_CELLS

    preparing = groups.preparing
    if groups.trust.resample_by == SENTENCE:
        raise UsageError(
            "answers are placed in whole documents, so sentences cannot be units",
            advice="resample by document",
        )
    if form == MENTIONS:
        if plan.align is not None:
            raise UsageError("mentions are located, so their texts are not aligned", advice="leave out align")
        return Locating(preparing.occurrence or FREE, preparing.location_steps())
    preparing.require_no_answers()
    return InlineAnswers(MAX_CELLS if plan.align is None else getattr(plan.align, "max_cells", MAX_CELLS))


# In memory


def _in_memory(gold: Any, predicted: Any, groups: Groups, plan: Plan, sides: Given | None = None) -> Texts:
    readings, counting, _, _, preparing = groups
    found = given(gold, predicted, readings[0].names) if sides is None else sides
    golds = preparing.golds()
    if golds and counting.pair_by is not None:
        raise UsageError("several golds in memory are in the same order", advice="leave out pair_by")
    schemes: dict[str, str] = {}
    if found.kind == "tags":
        if counting.score_feature is not None:
            raise UsageError(
                "tags have no scores", advice="give spans with the feature, or leave out score_feature"
            )
        for each in readings:
            if each is not _READING:
                require_none(each, ("scheme", "invalid"))
        options = TagOptions([each.scheme for each in readings[:2]], [each.invalid for each in readings[:2]])
        documents: Iterator[tuple[ReadDocument, ...]] = documents_of_tags(found, options, options.decoders())
        schemes = {
            side: each.scheme for side, each in zip(SIDES, readings, strict=False) if each.scheme is not None
        }
    else:
        for each in readings:
            require_none(each)
        documents = _documents(found, counting.pair_by)
    if golds:
        further = golds_in_memory(gold, golds, readings[0])
        documents = ((*pair, *others) for pair, others in zip(documents, further, strict=True))
    readers = Readers()
    if found.kind == "tags":
        readers.read.treatments.update(options.treatments)
        from clueval.second.reading.clusters import TagReading  # not needed for spans

        tag_readings = [
            TagReading.of(*each) for each in zip(options.schemes, options.treatments, strict=True)
        ]

    def fast(plan: Plan) -> Bag | None:
        if golds or counting.pair_by is not None:
            return None
        if found.kind == "tags":
            from clueval.second.reading.tag_lists import bag_of_tags  # not needed for files

            return bag_of_tags((found.gold, found.predicted), plan, tag_readings, ids=found.ids)
        if found.kind != "spans":
            return None
        from clueval.second.reading.triples import bag_of_triples  # not needed for files

        return bag_of_triples(found.gold, found.predicted, plan, ids=found.ids)

    return Texts(_pairs(documents, readers, plan), found.kind, (), readers, schemes, fast=fast)


def _documents(found: Given, pair_by: str | None) -> Iterator[tuple[ReadDocument, ...]]:
    if pair_by is None:
        return found.documents()
    if found.kind != "documents":
        raise UsageError(
            f"pair_by={pair_by!r} pairs documents, not lists of spans", advice="leave out pair_by"
        )
    return parallel(((each,) for each in found.gold), ((each,) for each in found.predicted), pair_by)


def _pairs(
    documents: Iterable[tuple[ReadDocument, ...]], readers: Readers, plan: Plan
) -> Iterator[Sequence[Pair]]:
    """Yield the pairs of each text: each gold with the predicted document."""
    for gold, predicted, *golds in documents:
        other = readers.document(SIDES[1], predicted)
        yield [Pair(readers.document(SIDES[0], each), other) for each in (gold, *golds)]
