"""`error_table`: the rows of any spans of a document, given the document of the other side."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from clueval.core.document import Document
from clueval.core.matching import merge_layers
from clueval.core.overlap import SpanIndex
from clueval.core.span import MERGED, SIDES, Span, by_position
from clueval.files.arguments import checked_call, require_instance
from clueval.files.errors import UsageError
from clueval.studies.rows import Finding, RowColumns, SideTexts
from clueval.studies.wrong import match_in, wrong_span


@checked_call
def error_table(
    problem_spans: Iterable[Span],
    own: Document,
    other: Document,
    *,
    layer: str | None = None,
    side: str | None = None,
    window: int | None = None,
) -> Iterator[Finding]:
    """Yield the rows of an error table, one for each error span, in the given order.

    Args:
        problem_spans: spans of `own`.
        own, other: the document on the side of the spans, and on the other side.
        layer: the layer of `other` to compare with, or ``merged`` for all of them merged. None: its only one; of
            several, the one in which the span has a label, or all of them merged if it has several labels.
        side: the side of `own`; it is only repeated in the rows.
        window: show this number of positions on each side instead of the sentence.

    Holds an index over `other`, made once; rows are made one by one. Costs O(log n + k) for a row with k overlapping
    spans, plus the length of its context. Raises `UsageError` for a layer that `other` lacks, `SpanError` for a span
    outside the text.

    >>> own = Document("d", {"label": [Span(1, 3, "PER")]}, tokens=["Frau", "Anna", "Weiß", "wohnt"])
    >>> other = Document("d", {"label": [Span(0, 2, "PER")]}, tokens=own.tokens)
    >>> (row,) = error_table(own.layers["label"], own, other)
    >>> row.kind, row.text, row["other_text"], row.start, row.end
    ('partial', 'Anna Weiß', 'Frau Anna', 1, 2)
    """
    if layer is not None and layer != MERGED and layer not in other.layers:
        known = f"one of {', '.join(other.layers)}" if other.layers else "the document has no layers"
        raise UsageError(f"there is no layer {layer!r}", document=other.id, advice=known)
    if window is not None and window < 0:
        raise UsageError(f"the window cannot be {window} positions", advice="a number from 0 on")
    return _rows(problem_spans, own, other, layer, side, SideTexts(own, other, window))


def _rows(
    spans: Iterable[Span],
    own: Document,
    other: Document,
    layer: str | None,
    side: str | None,
    texts: SideTexts,
) -> Iterator[Finding]:
    sequences: dict[str, tuple[Sequence[Span], SpanIndex]] = {}
    columns: RowColumns | None = None
    for span in spans:
        require_instance(span, Span, "each of problem_spans")
        name = layer or _layer_of(span, other)
        if name not in sequences:
            of_layer: Sequence[Span] = other.layers.get(name, ())
            if name == MERGED and MERGED not in other.layers:
                of_layer = merge_layers(other.layers, document=other.id)
            sequences[name] = of_layer, SpanIndex(of_layer)
        of_layer, index = sequences[name]
        others = [of_layer[number] for number in index.overlapping(span)]
        if span.start == span.end:
            others += [each for each in of_layer if each.start == each.end == span.start]
        others.sort(key=by_position)
        judged = wrong_span(int(side == SIDES[1]), name, match_in(span, others), others, True)
        columns = columns or RowColumns.of(judged, texts)
        yield columns.row(judged, texts, side or "")


def _layer_of(span: Span, other: Document) -> str:
    """Return the layer of the other side with which a span is compared."""
    if len(other.layers) == 1:
        return next(iter(other.layers))
    labelled = [layer for layer, label in span.by_layer.items() if label is not None]
    return labelled[0] if len(labelled) == 1 and labelled[0] in other.layers else MERGED
