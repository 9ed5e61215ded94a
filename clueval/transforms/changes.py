"""What steps share, and the steps of every evaluation: alternatives of gold spans, and spans without a place.

A step is a frozen dataclass of its settings. It keeps no state: what it changed is in the notes of each pair, under its
name. Notes that only `check` needs, such as the names that occurred, are `HIDDEN`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import is_, is_not
from os import PathLike, fsencode
from pathlib import Path
from typing import Any, ClassVar

from clueval.core.case import TOKENS, order_in_key
from clueval.core.count import ALTERNATIVES, UNIT, Step
from clueval.core.document import (
    GROUP,
    MENTION,
    OPTIONAL,
    UNPLACED,
    Document,
    Notes,
    Pair,
    Sentence,
    are_of_different_documents,
)
from clueval.core.span import SIDES, Frozen, Span, by_position, name_of
from clueval.files.errors import TextMismatch, UsageError, described

HIDDEN = "hidden"
"""The second part, after the name of the step, of notes that no report shows."""

ANY_OF = "any_of"
"""The name of the step that chooses among golds."""


Note = tuple[str, ...]
"""What was changed."""


@dataclass(frozen=True)
class EachPair(Step):
    """Base of steps that make pairs of each pair of a text. A subclass has `signature` and `of_pair`."""

    def __call__(self, pairs: Sequence[Pair]) -> list[Pair]:
        return [changed for pair in pairs for changed in self.of_pair(pair)]

    def of_pair(self, pair: Pair) -> Iterable[Pair]:
        """Return the pairs that count instead of a pair."""
        raise NotImplementedError


@dataclass(frozen=True)
class EachSpan(EachPair):
    """Base of steps that change the spans of some `sides` one by one. A subclass has `signature` and `changed`."""

    sides: ClassVar[Sequence[str]] = SIDES

    def of_pair(self, pair: Pair) -> Iterator[Pair]:
        notes: Counter[Note] = Counter()
        documents = list(pair.sides)
        for number, side in enumerate(SIDES):
            document = documents[number]
            layers = {
                layer: [new for span in spans for new in self.changed(span, layer, side, document, notes)]
                for layer, spans in (document.layers.items() if side in self.sides else ())
            }
            documents[number] = with_layers(document, layers)
        gold, predicted = documents
        yield with_notes(replace(pair, gold=gold, predicted=predicted), self.signature[0], notes)

    def changed(
        self, span: Span, layer: str, side: str, document: Document, notes: Counter[Note]
    ) -> Sequence[Span]:
        """Return what takes the place of a span: nothing, a span or several; count in `notes` what was changed."""
        raise NotImplementedError


@dataclass(frozen=True)
class EachLabel(EachSpan):
    """Base of steps that rename single labels, or leave out their spans. A subclass has `signature` and `renamed`.

    Such a step needs no documents: readers of tags and rows rename the labels of what they have read.
    """

    is_of_labels: ClassVar[bool] = True

    def renamed(self, label: str | None, side: str) -> str | None:
        """Return the new name of a label; an empty one leaves the span out."""
        raise NotImplementedError

    @property
    def may_rename(self) -> bool:
        """Whether it may rename a label or leave out a span, so that tags are no longer those of the spans."""
        return True

    def of_pair(self, pair: Pair) -> Iterator[Pair]:
        return super().of_pair(without_tags(pair) if self.may_rename else pair)

    def noted(
        self, labels: Iterable[str | None], side: str, *, dropped: bool, renamed: bool
    ) -> Iterator[Note]:
        """Yield what is noted of a span with these labels; by default the side, if it was renamed."""
        if renamed:
            yield (side,)

    def changed(
        self, span: Span, layer: str, side: str, document: Document, notes: Counter[Note]
    ) -> Sequence[Span]:
        labels = {name: self.renamed(label, side) for name, label in span.by_layer.items()}
        dropped = "" in labels.values()
        new = span if dropped else with_labels(span, labels)
        notes.update(self.noted(span.by_layer.values(), side, dropped=dropped, renamed=new is not span))
        return [] if dropped else [new]


def with_notes(pair: Pair, step: str, notes: Mapping[Note, int]) -> Pair:
    """Return the pair with what a step changed in its notes, under the name of the step."""
    of_step = {(step, *what): number for what, number in notes.items() if number}
    return replace(pair, notes=dict(Counter(pair.notes) + Counter(of_step))) if of_step else pair


def hidden_names(notes: Notes, step: str, kind: str) -> dict[str, int]:
    """Return the names that a step has noted for its check, sorted, with their numbers."""
    return {key[3]: number for key, number in sorted(notes.items()) if key[:3] == (step, HIDDEN, kind)}


def without_tags(pair: Pair) -> Pair:
    """Return a pair that is compared by its spans alone, whether or not a step changes a span in its documents."""
    gold, predicted = (replace(side, tags={}) if side.tags else side for side in pair.sides)
    return replace(pair, gold=gold, predicted=predicted)


def with_layers(document: Document, layers: Mapping[str, Sequence[Span]]) -> Document:
    """Return the document with other spans; the same document, with its tags, if all spans stay the same."""
    if all(
        len(spans) == len(document.layers[layer]) and all(map(is_, spans, document.layers[layer]))
        for layer, spans in layers.items()
    ):
        return document
    return replace(document, layers={**document.layers, **layers}, tags={})


def with_labels(span: Span, labels: Mapping[str, str | None]) -> Span:
    """Return the span with these labels; the same span if it has them already."""
    if labels == span.labels:
        return span
    new = Frozen(labels)
    return Span(span.start, span.end, new, span.features, span.tokens, span.id, span.line, span.parts)


def require_same_id(gold: Document, predicted: Document, id: str | None = None) -> None:
    """Raise `TextMismatch` for two documents with different ids; `id` is one that is not the number of a row.

    Steps call it whose texts need not be equal.
    """
    if are_of_different_documents(gold.id, predicted.id) or id not in (None, gold.id):
        raise TextMismatch(
            f"gold has document {gold.id!r} where predicted has document {id or predicted.id!r}",
            file=gold.file,
            advice="give both in the same order, or pair them by their ids with pair_by='id'",
        )


# The order of spans


def in_counting_order(document: Document, layer: str) -> Sequence[Span]:
    """Return the spans of a layer in an order that does not depend on theirs, unless the document is `ordered`.

    It is that of a case: start, end, parts, labels, tokens, features. The members of a group of alternatives stay
    together, in their order, of which the first is the main one.

    >>> spans = [Span(4, 9, "A", {"group": 1}), Span(3, 8, "A", {"group": 1}), Span(3, 4, "B"), Span(3, 4, "A")]
    >>> [span.start for span in in_counting_order(Document("d", {"label": spans}), "label")]
    [3, 3, 4, 3]
    """
    spans = document.layers.get(layer, ())
    if document.ordered:
        return spans
    keys = [(order_in_key(span, "", [TOKENS, *sorted(span.features)]),) for span in spans]
    members: dict[str, list[Any]] = {}
    for span, (rank,) in zip(spans, keys, strict=True):
        if GROUP in span.features:
            members.setdefault(repr(span.features[GROUP]), []).append(rank)
    if members:
        keys = [
            tuple(members[repr(span.features[GROUP])]) if GROUP in span.features else key
            for span, key in zip(spans, keys, strict=True)
        ]
    return [spans[number] for number in sorted(range(len(spans)), key=keys.__getitem__)]


# Alternatives of gold spans


@dataclass(frozen=True)
class Alternatives(EachPair):
    """A step that turns each group of gold spans into one span: the one that fits the predicted spans.

    The gold spans of a layer with the same value of the feature ``group`` are one group; the first is the main one. A
    group becomes one of its members:

    1. As many groups as possible become a member that a predicted span equals in range and label, one to one
       (augmenting paths, Kuhn 1955; groups by position, members in order). Gold spans outside groups are matched after
       all groups, so that a group leaves a predicted span to them if it can have another one.
    2. Another group becomes the member that shares most positions with predicted spans of its label, the earlier of
       equal ones.
    3. A group that shares no position becomes its main member, or nothing if a member has the feature ``optional``.

    Gold [4,9) or [3,8) or [6,8), predicted [3,8) and [6,8): the group becomes [3,8), and [6,8) is a false positive.
    Features that a member lacks are those of the main one.

    Notes count the groups, and those that are counted by another member than the main one. Raises `UsageError` for
    predicted spans with alternatives, if gold has groups.
    """

    signature: ClassVar[tuple[str, str]] = (ALTERNATIVES, "yes")
    zeros: ClassVar[Sequence[Note]] = (("groups",), ("by_alternative",))

    def of_pair(self, pair: Pair) -> Iterator[Pair]:
        notes: Counter[Note] = Counter()
        layers: dict[str, Sequence[Span]] = {}
        for layer in pair.gold.layers:
            groups, others = _groups_and_others(pair.gold, layer)
            if not groups:
                continue
            for members in _groups_and_others(pair.predicted, layer)[0]:
                if len(members) > 1:
                    raise UsageError(
                        f"the predicted span {name_of(members[0])} has alternatives",
                        **pair.predicted.in_errors,
                        advice="only gold spans may have alternatives",
                    )
            chosen = _chosen_members(groups, others, pair.predicted.layers.get(layer, ()), layer)
            counted = {
                id(member): replace(member, features={**members[0].features, **member.features})
                for members, member in zip(groups, chosen, strict=True)
                if member is not None
            }
            of_groups = {id(member) for members in groups for member in members}
            layers[layer] = [
                counted.get(id(span), span)
                for span in pair.gold.layers[layer]
                if id(span) in counted or id(span) not in of_groups
            ]
            notes[("groups",)] += len(groups)
            mains = [members[0] for members in groups]
            notes[("by_alternative",)] += sum(map(is_not, chosen, mains)) - chosen.count(None)
        if layers:
            pair = replace(pair, gold=with_layers(pair.gold, layers))
        yield with_notes(pair, ALTERNATIVES, notes)


def _groups_and_others(document: Document, layer: str) -> tuple[list[list[Span]], list[Span]]:
    """Return the groups of a layer, by the position of their main member, and the other spans if there are groups."""
    if document.ranges_in(layer) is not None:  # rows have no groups
        return [], []
    if not any(GROUP in span.features for span in document.layers.get(layer, ())):
        return [], []
    groups: dict[Hashable, list[Span]] = {}
    others: list[Span] = []
    for span in in_counting_order(document, layer):
        value = span.features.get(GROUP)
        if value is None:
            others.append(span)
        else:
            groups.setdefault(value if isinstance(value, Hashable) else repr(value), []).append(span)
    return sorted(groups.values(), key=lambda members: by_position(members[0])), others


def _chosen_members(
    groups: Sequence[Sequence[Span]], others: Iterable[Span], predicted: Iterable[Span], layer: str
) -> list[Span | None]:
    """Return the member that each group becomes, as `Alternatives` says; None if it becomes nothing."""
    from clueval.core.one_to_one import most_pairs  # few golds have alternatives
    from clueval.core.span import Regions

    slots: dict[SpanPlace, list[int]] = {}
    ranges: dict[str | None, list[tuple[int, int]]] = {}
    for number, span in enumerate(predicted):
        slots.setdefault(place_and_label(span, layer), []).append(number)
        ranges.setdefault(span.by_layer.get(layer), []).extend(span.fragments)
    wanted = {place_and_label(member, layer) for members in groups for member in members}
    single = [[span] for span in others if place_and_label(span, layer) in wanted]
    edges = [
        [
            (slot, number)
            for number, member in enumerate(members)
            for slot in slots.get(place_and_label(member, layer), ())
        ]
        for members in (*groups, *single)
    ]
    regions = {label: Regions(several) for label, several in ranges.items()}
    none = Regions(())
    chosen: list[Span | None] = []
    for members, chosen_number in zip(groups, most_pairs(edges), strict=False):
        shared = [regions.get(member.by_layer.get(layer), none).shared(member) for member in members]
        if chosen_number is not None:
            chosen.append(members[chosen_number])
        elif max(shared):
            chosen.append(members[shared.index(max(shared))])
        else:
            is_optional = any(member.features.get(OPTIONAL) for member in members)
            chosen.append(None if is_optional else members[0])
    return chosen


SpanPlace = tuple[object, object]
"""The ranges and the label of a span."""


def place_and_label(span: Span, layer: str) -> SpanPlace:
    return span.fragments, span.by_layer.get(layer)


# Documents


def empty(document: Document, unit: Any = None) -> Document:
    """Return the document with its layers, but without spans and text: a side that has nothing beside the text."""
    layers: dict[str, Sequence[Span]] = dict.fromkeys(document.layers, ())
    unit = unit or document.unit
    return Document(document.id, layers, unit=unit, metadata=document.metadata, file=document.file)


# Options


def names_of(value: str | Iterable[str], option: str) -> tuple[str, ...]:
    """Return the names of a list, or of a text in which commas separate them. Raises `UsageError` for an empty one.

    >>> names_of("A, B", "generic")
    ('A', 'B')
    """
    names = [part.strip() for part in value.split(",")] if isinstance(value, str) else list(value)
    for name in names:
        if not isinstance(name, str):
            raise UsageError(f"each name of {option} must be text, not {described(name)}")
        if not name:
            raise UsageError(f"{option} has an empty name", advice="separate names by single commas")
    return tuple(dict.fromkeys(names))


def text_of_file(source: str | PathLike[str], option: str) -> tuple[str, str, str]:
    """Return the path, the text and the hash (`sha8`) of a file that an option names. Raises `CluevalError`."""
    from clueval.files.opening import decoded, raw_content  # few options name a file

    path = Path(source)
    try:
        valid = "\0" not in fsencode(path).decode("latin-1")
    except UnicodeError:
        valid = False
    if not valid:
        raise UsageError(f"{option} is not the path of a file", advice="check the name")
    content = raw_content(path)
    return str(path), decoded(content.removeprefix(b"\xef\xbb\xbf"), path, 1), sha8(content)


def sha8(content: str | bytes) -> str:
    """Return the first eight digits of the SHA-256 of a text."""
    from hashlib import sha256  # loads OpenSSL, so it is imported only here

    return sha256(content.encode() if isinstance(content, str) else content).hexdigest()[:8]


# Spans without a place


def beside(lost: Mapping[str, Sequence[Span]], gold: Document, file: str | None) -> Iterator[Pair]:
    """Yield the pair of the spans without a place, beside the text of gold; nothing if there are none.

    The predicted document has the id and the unit of gold, and a text that is made of the texts of the mentions, one
    after another.
    """
    if not any(lost.values()):
        return
    words: list[str] = []
    layers: dict[str, list[Span]] = {}
    size = 0
    for layer, spans in lost.items():
        layers[layer] = []
        for span in spans:
            mention = str(span.features.get(MENTION, "")).strip()
            of_mention, length = _words_and_length(mention, gold)
            features = {**span.features, MENTION: mention}
            layers[layer].append(Span(size, size + length, span.labels, features, line=span.line))
            words += of_mention
            size += length + (gold.unit == "character")
    if gold.unit == "token":
        predicted = Document(gold.id, layers, tokens=words, file=file)
    else:
        predicted = Document(gold.id, layers, text="\n".join(words), unit="character", file=file)
    yield Pair(empty(gold), predicted, beside=True)


def behind(systems: Sequence[Sequence[Pair]]) -> tuple[Pair, ...]:
    """Return for each system one pair with its spans without a place, given its pairs of a text, the first in the text.

    These spans stand in a text of their own, each in a sentence, whose positions begin where gold ends, so that no
    position means two things. Equal spans of several systems stand at the same position; those of one system do not.
    """
    gold = systems[0][0].gold
    in_tokens = gold.unit == "token"
    first = end = gold.end or 0
    words: list[str] = []
    sentences: dict[object, Sentence] = {}
    layers_of_systems = []
    for placed, *pairs in systems:
        layers: list[dict[str, list[Span]]] = [{layer: [] for layer in side.layers} for side in placed.sides]
        times: Counter[object] = Counter()
        for side, mention, spans in _by_place(pairs):
            key = side, mention, tuple((layer, span.label) for layer, span in spans)
            times[key] += 1
            if (key, times[key]) not in sentences:
                of_mention, length = _words_and_length(mention, gold)
                past = end + length
                sentences[key, times[key]] = Sentence(end, past)
                words += of_mention
                end = past + (not in_tokens)
            start, past, _ = sentences[key, times[key]]
            for layer, span in spans:
                layers[side].setdefault(layer, []).append(Span(start, past, span.labels, line=span.line))
        layers_of_systems.append(layers)
    text: dict[str, Any] = {"tokens": words} if in_tokens else {"text": "\n".join(words)}
    text |= {"unit": gold.unit, "start": first, "sentences": [*sentences.values()], "metadata": gold.metadata}

    def document_of(layers: Mapping[str, Sequence[Span]], side: Document) -> Document:
        return Document(gold.id, layers, file=side.file, **text)

    return tuple(
        Pair(document_of(of_gold, placed.gold), document_of(of_predicted, placed.predicted), beside=True)
        for (of_gold, of_predicted), (placed, *_) in zip(layers_of_systems, systems, strict=True)
    )


def _words_and_length(mention: str, gold: Document) -> tuple[list[str], int]:
    """Return the words of a mention in a text of mentions, and its length there: in the unit of gold."""
    if gold.unit == "token":
        words = mention.split() or [""]
        return words, len(words)
    return [mention], len(mention)


def _by_place(pairs: Iterable[Pair]) -> Iterator[tuple[int, str, Sequence[tuple[str, Span]]]]:
    """Yield the spans at each place of pairs beside a text, with the number of their side and their text.

    A span has its layer; merged layers have several spans at a place.
    """
    for side, document in [each for pair in pairs for each in enumerate(pair.sides)]:
        places: dict[object, list[tuple[str, Span]]] = {}
        for layer, spans in document.layers.items():
            for span in spans:
                places.setdefault(span.fragments, []).append((layer, span))
        for spans_there in places.values():
            yield side, document.text_of(spans_there[0][1]), spans_there


@dataclass(frozen=True)
class SetApart(EachPair):
    """A step that puts predicted spans that have no place, but only a text (`MENTION`), beside the text.

    Some formats have such spans among others, and say so in the metadata (`UNPLACED`). Nothing is said of the step,
    whose name is empty.
    """

    signature: ClassVar[tuple[str, str]] = ("", "")

    def of_pair(self, pair: Pair) -> Iterator[Pair]:
        predicted = pair.predicted
        if UNPLACED not in predicted.metadata:
            yield pair
            return
        layers = predicted.layers.items()
        lost = {layer: [span for span in spans if MENTION in span.features] for layer, spans in layers}
        placed = {layer: [span for span in spans if MENTION not in span.features] for layer, spans in layers}
        yield replace(pair, predicted=replace(predicted, layers=placed))
        yield from beside(lost, replace(predicted, id=pair.gold.id), predicted.file)


# What is said of steps


def checked(steps: Iterable[Step], notes: Notes) -> list[str]:
    """Return the warnings of all steps, given the sum of all notes. Raises `UsageError` for a name that is wrong."""
    return [warning for step in steps for warning in step.check(notes)]


def choices_of(steps: Iterable[Step], notes: Notes) -> dict[str, str]:
    """Return what the signature says of steps that have a name; choices among golds are one.

    >>> from clueval.transforms.options import Preparing, steps_of
    >>> choices_of(steps_of(Preparing(any_of=[[]], untyped=True)), {})
    {'untyped': 'yes', 'gold': 'best-of-2'}
    """
    choices = dict(step.signature for step in steps if step.signature[0])
    groups = choices.pop(ALTERNATIVES, None) is not None and notes.get((ALTERNATIVES, "groups"))
    golds = [choices.pop(ANY_OF, ""), ALTERNATIVES if groups else ""]
    of_golds = "+".join(filter(None, golds))
    return {**choices, "gold": of_golds} if of_golds else choices


def changes_of(steps: Iterable[Step], notes: Notes) -> dict[str, Any] | None:
    """Return how often each step changed what, for a report; the numbers of groups stand by themselves.

    None if there are neither groups nor other steps than of the unit.

    >>> from clueval.transforms.options import Preparing, steps_of
    >>> changes_of(steps_of(Preparing(untyped=True)), {("untyped", "gold"): 2})
    {'untyped': {'gold': 2}}
    """
    changes: dict[str, Any] = {}
    for step in steps:
        name, _ = step.signature
        if name in ("", UNIT):
            continue
        changed = {(name, *what): 0 for what in step.zeros}
        changed |= {key: number for key, number in notes.items() if key[0] == name and key[1] != HIDDEN}
        plain = {"/".join(key[1:]): changed[key] for key in sorted(changed)}
        if name != ALTERNATIVES:
            changes[name] = plain
        elif notes.get((ALTERNATIVES, "groups")):
            changes |= plain
    return changes or None
