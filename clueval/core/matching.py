"""CLUEval's algorithms for lists of spans: matches, and the combined model of several layers.

Each span of one side has a match with the spans of the other side that overlap it; `clueval.core.levels` has the
classes of matches.

Several layers are merged into one sequence of spans with one label per layer: all spans of all layers are divided into
overlap components; each component becomes one span from its smallest start to its greatest end. In each layer, its
label is the one that covers most positions of it; of several such labels, the one that comes first in the text. If a
layer has no span there, the label is None. The order of the layers affects only the order in which a span lists its
labels.

Source: the CLUEval algorithm, "match.spans" and "Combined model".
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from operator import itemgetter
from typing import Any

from clueval.core.document import Document, Layers
from clueval.core.levels import KINDS, Kind, class_of
from clueval.core.overlap import SpanIndex, components, first_clash
from clueval.core.span import MERGED, NOTHING, Frozen, Labels, Span, by_position, name_of
from clueval.files.errors import OverlapError, UsageError, described


@dataclass(frozen=True, slots=True)
class Match:
    """How one span is matched by the other side; `kind` is the class of the match.

    `partners` are the spans of the other side that match the span, by position: one for exact and superset,
    the adjacent spans for tiling and overlap, none for missed (even if spans overlap it). `labels` holds for
    each layer the label of the partners that has most positions inside the span.

    >>> match_spans([Span(0, 2, "A")], [Span(0, 3, "A")])[0].kind
    'superset'
    """

    span: Span
    kind: Kind
    partners: tuple[Span, ...] = ()
    labels: Labels = NOTHING

    @property
    def level(self) -> int | None:
        """The lowest level at which the span is a true positive, or None if it is missed."""
        return None if self.kind == "missed" else KINDS.index(self.kind) + 1


def match_of(span: Span, around: Sequence[Span]) -> Match:
    """Return the match of a span, given the spans of the other side that overlap or equal it, by position."""
    kind, labels = class_of(
        span.start, span.end, [(other.start, other.end, other.by_layer) for other in around]
    )
    partners = tuple(around)
    if kind == "missed":
        partners = ()
    elif kind == "exact":
        partners = next((other,) for other in around if by_position(other) == by_position(span))
    return Match(span, kind, partners, labels)


def match_spans(gold: Iterable[Any], predicted: Iterable[Any], *, document: str | None = None) -> list[Match]:
    """Classify every gold span by the predicted spans; one `Match` per gold span, in the given order.

    Spans are given in any form of `clueval.core.span_forms`, such as ``Span(0, 4, "PER")`` or ``(0, 4, "PER")``.
    Called the other way round it classifies the predicted spans. Labels are not compared: a match has the
    labels that were found. `document` is named in errors. Costs O(n log n).

    Raises `OverlapError` if two spans of one side overlap.

    >>> gold = [Span(0, 4, "PER"), Span(6, 8, "LOC")]
    >>> predicted = [Span(0, 1, "LOC"), Span(1, 4, "PER")]
    >>> [(match.kind, dict(match.labels)) for match in match_spans(gold, predicted)]
    [('tiling', {'label': 'PER'}), ('missed', {})]
    """
    from clueval.core.span_forms import as_spans  # not needed where cases are counted

    golds = as_spans(gold, "gold")
    predicteds = sorted(as_spans(predicted, "predicted"), key=by_position)
    for spans in (golds, predicteds):
        _require_flat(spans, document)
    index = SpanIndex(predicteds)
    equal = {by_position(other): other for other in predicteds}
    matches = []
    for span in golds:
        same = equal.get(by_position(span))
        around = [same] if same is not None else [predicteds[number] for number in index.overlapping(span)]
        matches.append(match_of(span, around))
    return matches


def _require_flat(spans: Sequence[Span], document: str | None = None, file: str | None = None) -> None:
    clash = first_clash(spans)
    if clash is not None:
        raise OverlapError(
            f"spans {name_of(clash[0])} and {name_of(clash[1])} of one sequence overlap",
            file=file,
            document=document,
            line=clash[1].line,
            advice="spans of one sequence must not overlap",
        )


def merge_layers(
    layers: Mapping[str, Iterable[Any]] | Iterable[Iterable[Any]], *, document: str | None = None
) -> list[Span]:
    """Merge the spans of several layers into one sequence, by position. Costs O(n log n) for n spans.

    `layers` maps the name of each layer to its spans, or is a list of sequences of spans, in which case the
    names come from the labels of the spans; these have any form of `clueval.core.span_forms`. The label of a span in
    its layer is ``labels[layer]``, or its only label under any name. `document` is the id of the document, for error
    messages. Raises `OverlapError` if two spans of one layer overlap, and `UsageError` for a `Document`.

    >>> entity, risk = [Span(0, 2, {"entity": "PER"})], [Span(1, 4, {"risk": "high"}), Span(6, 7, {"risk": "low"})]
    >>> for span in merge_layers({"entity": entity, "risk": risk}):
    ...     print(span.start, span.end, dict(span.labels))
    0 4 {'entity': 'PER', 'risk': 'high'}
    6 7 {'entity': None, 'risk': 'low'}
    """
    from clueval.core.span_forms import as_spans  # not needed where cases are counted

    if isinstance(layers, Document):
        raise UsageError(
            "merge_layers takes the layers of a document, not the document",
            document=layers.id,
            advice="merge_layers(document.layers), or clueval.merge for the documents of a file",
        )
    if not isinstance(layers, Iterable) or isinstance(layers, str | bytes):
        raise UsageError(f"layers must be a dictionary or a list of lists of spans, not {described(layers)}")
    named: dict[str, list[Span]] = {}
    if isinstance(layers, Mapping):
        for layer, spans in layers.items():
            if not isinstance(layer, str):
                raise UsageError(f"the name of a layer must be text, not {described(layer)}")
            named[layer] = as_spans(spans, f"layers[{layer!r}]")
    else:
        for number, spans in enumerate(layers):
            for span in as_spans(spans, f"layers[{number}]"):
                for layer in [layer for layer, label in span.by_layer.items() if label is not None]:
                    named.setdefault(layer, []).append(span)
    return merged_spans(named, named, document)


def merged_spans(
    layers: Mapping[str, Sequence[Span]],
    names: Collection[str],
    document: str | None = None,
    file: str | None = None,
) -> list[Span]:
    """Return the merged spans of the layers with these names; `document` and `file` are for error messages."""
    entries: list[tuple[int, int, int, str | None]] = []
    for number, layer in enumerate(names):
        rows = layers.rows(layer) if isinstance(layers, Layers) else None
        if rows is None or any(
            start < end or start == begin for (begin, end, _), (start, _, _) in pairwise(rows)
        ):
            spans = layers.get(layer, ())
            _require_flat(spans, document, file)
            for span in spans:  # of a span with one label, this is the label, under any name
                labels = span.by_layer
                name = layer if layer in labels or len(labels) != 1 else next(iter(labels))
                entries.append((span.start, span.end, number, labels.get(name)))
        else:  # by position and apart, as tags are decoded
            entries += [(start, end, number, label) for start, end, label in rows]
    entries.sort(key=itemgetter(0, 1, 2))  # different for all entries, since the spans of a layer are flat
    frozen: dict[tuple[str | None, ...], Frozen] = {}  # most spans have the same labels as another span
    merged = []
    for component in components(entries):
        positions: list[dict[str, int]] = [{} for _ in names]
        for start, end, number, label in component:
            if label is not None:
                positions[number][label] = positions[number].get(label, 0) + end - start
        joined = tuple([max(of_layer, key=of_layer.__getitem__, default=None) for of_layer in positions])
        if joined not in frozen:
            frozen[joined] = Frozen(zip(names, joined, strict=True))
        merged.append(Span(component[0][0], max(entry[1] for entry in component), frozen[joined]))
    return merged


def with_merged(document: Document, layers: Iterable[str] = ()) -> Document:
    """Return the document with all its layers merged into one layer, `merged`.

    Labels are in the order of `layers`, which names all layers of the documents that it is compared with.
    """
    names = dict.fromkeys([*layers, *document.layers])
    merged = merged_spans(document.layers, names, document.id, document.file)
    return replace(document, layers={MERGED: merged}, tags=NOTHING)
