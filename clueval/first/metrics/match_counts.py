"""Counting matches: the number of spans of each side by class and by the label that was found.

The numbers follow from `clueval.spans.matching.match_spans`, but no match is built for each span.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import compress
from typing import NamedTuple

from clueval.core.span import Frozen, Labels, Span, name_of
from clueval.files.errors import UsageError
from clueval.first.metrics.metric import Side
from clueval.spans.document import Document
from clueval.spans.flat import Flat
from clueval.spans.match_classes import KINDS, Classes, Kind, classify, joined


class LabelCount(NamedTuple):
    """The number of spans of a side that have this label, this class and this found label in a layer."""

    layer: str
    label: str
    kind: Kind
    found: str | None
    number: int


def count_matches(gold: Side, predicted: Side) -> Iterator[tuple[str, Mapping[Kind, int], list[LabelCount]]]:
    """Yield for each side its name, the number of spans of each class, and the labels found in each layer.

    The numbers are those of `match_spans` in both directions, without a match for each span. Spans that are
    not counted can still be matched by spans of the other side; spans without a label in a layer are in none
    of its numbers. Costs O(n log n) for n spans.

    Raises `OverlapError` if two spans of one side overlap.
    """
    document = gold.document.id if gold.document is not None else None
    golds, predicteds = Flat.of(gold.spans, document), Flat.of(predicted.spans, document)
    of_gold, of_predicted = classify(golds, predicteds)
    (gold_keys, gold_labels), (predicted_keys, predicted_labels) = (
        golds.keyed_labels(),
        predicteds.keyed_labels(),
    )
    labels: dict[Hashable, Labels] = {**gold_labels, **predicted_labels, None: Frozen()}
    for name, side, own, keys, classes, other, other_keys in (
        ("gold", gold, golds, gold_keys, of_gold, predicteds, predicted_keys),
        ("predicted", predicted, predicteds, predicted_keys, of_predicted, golds, gold_keys),
    ):
        rows = zip(keys, classes.kinds, _found(own, other, other_keys, classes, labels), strict=True)
        if side.counted is not None:
            rows = compress(rows, map(side.counted.__getitem__, own.order))  # type: ignore[assignment]
        counted = Counter(rows)
        numbers: dict[Kind, int] = {}
        for (_, kind, _), number in counted.items():
            numbers[KINDS[kind]] = numbers.get(KINDS[kind], 0) + number
        yield name, numbers, list(_in_layers(counted, labels))


def _found(
    own: Flat, other: Flat, other_keys: Sequence[Hashable], classes: Classes, labels: dict[Hashable, Labels]
) -> list[Hashable]:
    """Return the key of each span's joined partner labels, None for no partner; add new ones to `labels`."""
    found = list(map([*other_keys, None].__getitem__, classes.firsts))  # the last one has the number -1
    starts, ends, own_starts, own_ends = other.starts, other.ends, own.starts, own.ends
    one_layer = len({tuple(of) for of in labels.values() if of}) == 1 and all(
        None not in of.values() for of in labels.values()
    )
    for number, past in classes.pasts.items():
        first = classes.firsts[number]
        if one_layer and past - first == 2:  # the two meet inside the span: the longer part decides
            if 2 * ends[first] < own_starts[number] + own_ends[number]:
                found[number] = other_keys[first + 1]
            continue
        keys = other_keys[first:past]
        if keys.count(keys[0]) == len(keys):
            continue
        ranges = zip(starts[first:past], ends[first:past], strict=True)
        partners = [labels[key] for key in keys]
        joint = joined((own_starts[number], own_ends[number]), ranges, partners)
        if joint in partners:
            found[number] = keys[partners.index(joint)]
        else:
            labels[id(joint)] = joint
            found[number] = id(joint)
    return found


def _in_layers(
    counted: Mapping[tuple[Hashable, int, Hashable], int], labels: Mapping[Hashable, Labels]
) -> Iterator[LabelCount]:
    """Yield the found labels layer by layer, from counts of keys that name the labels of all layers."""
    rows: dict[tuple[str, str, int, str | None], int] = {}
    for (key, kind, found), number in counted.items():
        others = labels[found]
        for layer, label in labels[key].items():
            if label is not None:
                row = layer, label, kind, others.get(layer)
                rows[row] = rows.get(row, 0) + number
    for (layer, label, kind, joint), number in rows.items():
        yield LabelCount(layer, label, KINDS[kind], joint, number)


def refuse_gaps(who: str, spans: Iterable[Span], document: Document | None) -> None:
    """Raise `UsageError` for a discontinuous span, which `who` cannot count."""
    if isinstance(spans, Flat) and spans.are_of_tags():
        return
    span = next((span for span in spans if span.parts is not None), None)
    if span is not None:
        raise UsageError(
            f"span {name_of(span)} has gaps, and {who} cannot count such spans",
            file=None if document is None else document.file,
            document=None if document is None else document.id,
            line=span.line,
            advice="exact, fair, gate, muc and partial can; or make each fragment a span with fragments='split', or "
            "one span from start to end with fragments='hull'",
        )
