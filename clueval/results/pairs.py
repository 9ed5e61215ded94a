"""The pairs of documents of a corpus, as `score` counts them: for studies, which look at documents.

>>> from clueval.core.located import located
>>> pairs = pairs_of([["B-PER", "O"]], [["O", "B-PER"]])
>>> [case.first for pair in pairs for case in located(pair.sides, pairs.layers_of(pair))]
[0, 1]
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, zip_longest
from typing import Any

from clueval.core.bag import Bag, Read
from clueval.core.count import ALTERNATIVES, Plan, changed
from clueval.core.document import Document, Pair, metadata_with_id
from clueval.core.metric import AnyMetric
from clueval.core.span import MERGED, SIDES
from clueval.files.errors import CluevalError, UsageError, warn
from clueval.formats.options import USUAL_READING, LayerColumns, Readings, require_layers
from clueval.metrics import chosen_metrics
from clueval.reading import is_path_or_paths, is_read_once, spooled, with_id_of
from clueval.reading.clusters import Unusual, require_usual
from clueval.results.options import Groups, groups_of, plan_of, require_names, with_steps_of_documents
from clueval.results.texts import idle_options, kept, opened
from clueval.transforms.changes import checked


@dataclass
class Pairs:
    """The pairs of the texts of a corpus, read anew by each iteration; see `pairs_of`.

    Iterating yields the pairs of gold and the first system; a text has further pairs, beside it, for spans without a
    place. Memory holds one text.

    Attributes:
        gold, systems: what was given.
        plan: what counts, with the filter; its steps have been applied to the pairs.
        layers: the names of the layers that options name, without those of ignored regions.
        groups: the options of each system.
        columns: the layers as they were given.
    """

    gold: Any
    systems: Sequence[Any]
    plan: Plan
    layers: Sequence[str]
    groups: Sequence[Groups]
    columns: LayerColumns | None = None
    _was_read: bool = field(default=False, init=False)

    def __iter__(self) -> Iterator[Pair]:
        self.require_again()
        bag = Bag((), self.layers)
        yield from chain.from_iterable(self._texts_with(0, bag))
        self._check(bag)

    def texts(
        self, *, only_differing: bool = False, in_parts: bool = False, with_tags: bool = True
    ) -> Iterator[tuple[Pair, ...]]:
        """Yield for each text its pairs of gold and each system; then those of spans without a place, if it has some.

        With `only_differing`, they may lack spans of sentences that are equal in gold and all systems; see `skips`.
        With `in_parts`, a text may come in parts, cut between sentences. Without `with_tags`, documents may lack the
        tags as they were written.
        """
        self.require_again()
        if len(self.systems) > 1:
            self.gold = kept(self.gold)
        past: tuple[str | None, int] | None = None  # the file and the end of what was yielded
        if (only_differing or not with_tags) and self.skips:
            try:
                for text in self._texts_of_columns(only_differing, in_parts):
                    yield text
                    past = text[0].gold.file, text[0].gold.end or 0
            except Unusual:  # documents say what is wrong, if anything is
                pass
            else:
                return
        bag = Bag((), self.layers)
        of_systems = (self._texts_with(number, bag) for number in range(len(self.systems)))
        texts = chain.from_iterable(map(_placed_and_unplaced, zip_longest(*of_systems, fillvalue=())))
        yield from texts if past is None else _texts_after(texts, *past)
        self._check(bag)

    @property
    def skips(self) -> bool:
        """Whether sentences may be skipped: no option makes a difference of what is equal on all sides."""
        sides = self.gold, *self.systems
        if MERGED in self.layers or self.plan.where or self.groups[0].golds():
            return False
        if any(step.signature[0] != ALTERNATIVES for step in self.plan.steps):
            return False
        try:
            require_usual(self.plan, self.layers, are_tags=True)
        except Unusual:
            return False
        return all(is_path_or_paths(side) and not is_read_once(side) for side in sides)

    def _texts_of_columns(self, only_differing: bool, in_parts: bool) -> Iterator[tuple[Pair, ...]]:
        """Yield the texts of column files, which are read together. Raises `Unusual`, also for every error."""
        from clueval.reading.column_texts import column_texts  # not needed in memory

        bag = Bag((), self.layers)
        try:
            of_systems = [
                opened(self.gold, system, groups, self.columns, self.plan)
                for system, groups in zip(self.systems, self.groups, strict=True)
            ]
            if any(texts.steps or not texts.files for texts in of_systems):
                raise Unusual("documents are changed")
            for files in zip(*(texts.files for texts in of_systems), strict=True):
                readings = [texts.reading for texts in of_systems if texts.reading is not None]
                pairs = [reading.sources(pair) for reading, pair in zip(readings, files, strict=True)]
                gold = pairs[0][0]
                if any(of_pair[0].options != gold.options for of_pair in pairs):
                    raise Unusual("gold is read in different ways")
                sides = gold, *(of_pair[1] for of_pair in pairs)
                for first, *others in column_texts(sides, only_differing=only_differing, in_parts=in_parts):
                    text = [Pair(first, with_id_of(first, document)) for document in others]
                    yield tuple(_pairs_to_count([pair], self.plan, bag)[0] for pair in text)
            self._check(bag)
        except CluevalError as error:
            raise Unusual("a file cannot be read") from error

    def layers_of(self, pair: Pair) -> list[str]:
        """Return the named layers, then those of a pair."""
        return list(dict.fromkeys([*self.layers, *(name for side in pair.sides for name in side.layers)]))

    def require_again(self) -> None:
        """Raise `UsageError` if a side can be read only once, and was read."""
        names = [f"system {number}" for number in range(1, len(self.systems) + 1)]
        names = [SIDES[0], *(names if len(names) > 1 else SIDES[1:])]
        sides = zip(names, (self.gold, *self.systems), strict=True)
        for name, side in sides if self._was_read else ():
            if is_read_once(side):
                raise UsageError(
                    f"{name} can be read only once, and was read before",
                    advice="give a path, or a list without iterators",
                )
        self._was_read = True

    def _texts_with(self, system: int, bag: Bag) -> Iterator[Sequence[Pair]]:
        """Yield the pairs of each text with a system; `bag` gets what is checked at the end."""
        with spooled(self.gold, self.systems[system]) as (gold, predicted):
            texts = opened(gold, predicted, self.groups[system], self.columns, self.plan)
            plan = with_steps_of_documents(replace(self.plan, steps=(*texts.steps, *self.plan.steps)))
            tags = Read()
            for pairs in texts.pairs:
                for side, document in zip(SIDES, pairs[0].sides, strict=True):
                    tags.add_tags(side, document)
                yield _pairs_to_count(pairs, plan, bag)
            tags.settle(texts.schemes)  # it raises the errors of tags

    def _check(self, bag: Bag) -> None:
        """Raise `UsageError` for names of filters and steps that never occurred; warn of steps without effect."""
        if self.plan.where:
            require_names(bag, self.plan)
        for warning in checked(self.plan.steps, bag.notes):
            warn(warning)


def _placed_and_unplaced(systems: Sequence[Sequence[Pair]]) -> Iterator[tuple[Pair, ...]]:
    """Yield the pair of a text with each system, then, if there are any, those of spans without a place.

    Raises `UsageError` for systems with different documents, as data frames may have that gold lacks.
    """
    golds = [pairs[0].gold for pairs in systems if pairs]
    if len(golds) < len(systems) or (golds[0].end is None and len({gold.id for gold in golds}) > 1):
        raise UsageError(
            f"not all systems have document {golds[-1].id!r}",
            advice="give each the same documents; a row without start, end and label has no spans",
        )
    yield tuple(pairs[0] for pairs in systems)
    if any(len(pairs) > 1 for pairs in systems):
        from clueval.transforms.changes import behind  # most spans have a place

        yield behind(systems)


def _texts_after(
    texts: Iterable[tuple[Pair, ...]], file: str | None, past: int
) -> Iterator[tuple[Pair, ...]]:
    """Yield texts from a position in a file on, where a sentence begins; of the text around it, the spans behind it."""

    def after(document: Document) -> Document:
        layers = {
            layer: [span for span in spans if span.start >= past] for layer, spans in document.layers.items()
        }
        return replace(document, layers=layers)

    was_reached = False
    for text in texts:
        first = text[0].first
        was_reached = was_reached or first.file == file
        if first.file == file and first.start < past:
            if (first.end or 0) > past:
                yield tuple(
                    replace(pair, gold=after(pair.gold), predicted=after(pair.predicted)) for pair in text
                )
        elif was_reached:
            yield text


def _pairs_to_count(pairs: Sequence[Pair], plan: Plan, bag: Bag) -> Sequence[Pair]:
    """Return the pairs of a text as they are counted; `bag` gets what is checked at the end."""
    if plan.where:
        bag.read.add(zip(SIDES, pairs[0].sides, strict=True), plan.where)
    for step in (*plan.steps, *([] if plan.align is None else [plan.align])):
        pairs = changed(step, pairs)  # type: ignore[assignment]  # a step makes pairs of pairs
    bag.see_layers(layer for pair in pairs for side in pair.sides for layer in side.layers)
    for pair in pairs:
        if plan.where and plan.takes(metadata_with_id(pair.first), bag.layers):
            bag.read.add_counted(pair, plan.where)
        bag.notes.update(pair.notes)
    return pairs


def pairs_of(
    gold: Any,
    predicted: Any = None,
    *others: Any,
    metrics: Sequence[str | AnyMetric] | str | AnyMetric = "exact",
    layers: LayerColumns | None = None,
    reading: Readings = USUAL_READING,
    caller: str = "pairs_of",
    **options: Any,
) -> Pairs:
    """Return the pairs of the documents of gold with those of predicted, and of `others`, which are read alike.

    The arguments are those of `score`; `metrics` say whether texts may differ, and `caller` is named in errors.
    Nothing is read but the beginning of several systems, to tell their formats. Raises `UsageError` for options that do
    not go together, and when it is iterated the errors of `score`: texts and steps are the same.
    """
    require_layers(layers)
    systems = (predicted, *others)
    idle = idle_options(gold, systems, reading, options)
    groups = [groups_of(reading, {**options, **idle_of_system}, caller) for idle_of_system in idle]
    return pairs_with(gold, systems, chosen_metrics(metrics), layers, groups)


def pairs_with(
    gold: Any,
    systems: Sequence[Any],
    metrics: tuple[AnyMetric, ...],
    layers: LayerColumns | None,
    groups: Sequence[Groups],
) -> Pairs:
    """Return the pairs of the documents of gold with those of each system; see `pairs_of`."""
    gold = kept(gold) if groups[0].golds() else gold
    plan, names = plan_of(metrics, gold, layers, groups[0])
    return Pairs(gold, systems, plan, names, groups, layers)
