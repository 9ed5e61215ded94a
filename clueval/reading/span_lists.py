"""Functions of lists of spans in any form of `clueval.formats.span_forms`: matches, merged layers, components."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from clueval.core.document import Document
from clueval.core.levels import KINDS, Kind, class_of
from clueval.core.merging import merged_spans
from clueval.core.span import NOTHING, Labels, Span, SpanIndex, by_position, components, require_flat
from clueval.files.errors import UsageError, described
from clueval.formats.span_forms import as_spans


@dataclass(frozen=True, slots=True)
class Match:
    """How one span is matched by the other side; `kind` is the class of the match.

    `partners` are the spans of the other side that match the span, by position: one for exact and superset,
    the adjacent spans for tiling and overlap, none for missed (even if spans overlap it). `labels` holds for
    each layer the label of the partners that has most positions inside the span.

    >>> match_of(Span(0, 2, "A"), [Span(0, 3, "A")]).kind
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

    Spans are given in any form of `clueval.formats.span_forms`, such as ``Span(0, 4, "PER")`` or ``(0, 4, "PER")``.
    Called the other way round it classifies the predicted spans. Labels are not compared: a match has the
    labels that were found. `document` is named in errors. Costs O(n log n).

    Raises `OverlapError` if two spans of one side overlap.

    >>> gold = [Span(0, 4, "PER"), Span(6, 8, "LOC")]
    >>> predicted = [Span(0, 1, "LOC"), Span(1, 4, "PER")]
    >>> [(match.kind, dict(match.labels)) for match in match_spans(gold, predicted)]
    [('tiling', {'label': 'PER'}), ('missed', {})]
    """
    golds = as_spans(gold, "gold")
    predicteds = sorted(as_spans(predicted, "predicted"), key=by_position)
    for spans in (golds, predicteds):
        require_flat(spans, document)
    index = SpanIndex(predicteds)
    equal = {by_position(other): other for other in predicteds}
    matches = []
    for span in golds:
        same = equal.get(by_position(span))
        around = [same] if same is not None else [predicteds[number] for number in index.near(span)]
        matches.append(match_of(span, around))
    return matches


def merge_layers(
    layers: Mapping[str, Iterable[Any]] | Iterable[Iterable[Any]], *, document: str | None = None
) -> list[Span]:
    """Merge the spans of several layers into one sequence, by position. Costs O(n log n) for n spans.

    `layers` maps the name of each layer to its spans, or is a list of sequences of spans, in which case the
    names come from the labels of the spans; these have any form of `clueval.formats.span_forms`. The label of a span in
    its layer is ``labels[layer]``, or its only label under any name. `document` is the id of the document, for error
    messages. Raises `OverlapError` if two spans of one layer overlap, and `UsageError` for a `Document`.

    >>> entity, risk = [Span(0, 2, {"entity": "PER"})], [Span(1, 4, {"risk": "high"}), Span(6, 7, {"risk": "low"})]
    >>> for span in merge_layers({"entity": entity, "risk": risk}):
    ...     print(span.start, span.end, dict(span.labels))
    0 4 {'entity': 'PER', 'risk': 'high'}
    6 7 {'entity': None, 'risk': 'low'}
    """
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


def overlap_components(spans: Iterable[Any]) -> list[list[Span]]:
    """Return the overlap components of spans in any form of `clueval.formats.span_forms`, by position.

    The spans of each component come by position, equal spans in the given order. Costs O(n log n) for n spans. Worked
    example: [0,3) reaches to 3, so [2,5) joins its component and extends the reach to 5; [5,6) begins where the reach
    ends and is a component of its own.

    >>> [[(s.start, s.end) for s in c] for c in overlap_components([Span(5, 6), Span(0, 3), Span(2, 5)])]
    [[(0, 3), (2, 5)], [(5, 6)]]
    """
    rows = ((span.start, span.end, span) for span in sorted(as_spans(spans, "spans"), key=by_position))
    return [[span for _, _, span in component] for component in components(rows)]
