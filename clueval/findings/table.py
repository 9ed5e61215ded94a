"""Error tables: an error span, all spans of the other side that overlap it, and the text around it.

The same function serves both directions: ``error_table(false_negatives, gold, predicted)`` and
``error_table(false_positives, predicted, gold)``. It is asymmetric: a row shows **one** error span and
**all** spans of the other side that overlap it. An index finds the overlapping spans, because the table also
shows partial overlaps, which are no match: a span is *partial* if something overlaps it without making a
match, and *missed* if nothing does (*spurious* on the predicted side, if the side is given). Beside the class, a row
has a *reason*, the first of `REASONS` that fits: what is wrong with the span, whatever the level.

**Positions in a row are inclusive at both ends**, as people read them in a corpus; a span of zero length ends
one position before it starts. Token ids are those of the first and the last token.

Source: the CLUEval algorithm, "Error analysis".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from operator import attrgetter
from typing import Any, Literal, NamedTuple, get_args

from clueval.arguments import checked_call, require_instance, require_kind
from clueval.core.ranges import Ranges
from clueval.core.span import MERGED, NO_LABEL, Labels, Span, name_of
from clueval.files.errors import SpanError, UsageError
from clueval.findings.context import Context, Contexts, Mark
from clueval.findings.decisions import PlaceDecision
from clueval.reports.language import phrase
from clueval.spans.document import Document, Unit
from clueval.spans.flat import by_position, clash
from clueval.spans.index import SpanIndex
from clueval.spans.limits import require_short_texts
from clueval.spans.match_classes import Kind
from clueval.spans.matching import Match, match_spans
from clueval.spans.merging import merge_layers
from clueval.spans.overlaps import shared_positions
from clueval.spans.span_forms import as_spans

FindingKind = Literal["exact", "superset", "tiling", "overlap", "partial", "missed", "spurious"]
FINDING_KINDS: tuple[FindingKind, ...] = get_args(FindingKind)
"""The classes of an error table; CLUEval's class 5 is `partial` if anything overlaps the span, otherwise
`missed` (gold, or a side that is not given) or `spurious` (predicted)."""

Reason = Literal["label", "boundary", "boundary+label", "missed", "spurious"]
REASONS: tuple[Reason, ...] = get_args(Reason)
"""Why a span is an error, the first that fits: `label` (a span of the other side has the same range and another
label), `boundary` (it overlaps a span that has its label and another range), `boundary+label` (it overlaps only spans
with other labels), `missed` or, on the predicted side, `spurious` (it overlaps nothing, or its equal is the partner of
another span)."""

_PIECE_HTML: dict[Mark, str] = {
    "both": '<b style="border-bottom:3px double #00734d">{}</b>',
    "own": '<u style="border-bottom:3px solid #b3261e;text-decoration:none">{}</u>',
    "other": '<i style="border-bottom:3px dashed #a35a00">{}</i>',
    "neither": "{}",
}
SideName = Literal["gold", "predicted"]

_end: Callable[[Span], int] = attrgetter("end")
_labels: Callable[[Span], Labels] = attrgetter("labels")

MOST_NESTED = 50
"""The greatest number of spans of the other side that a row shows, the first ones, if these overlap one another."""

GAP = " … "
"""Separates texts between which something is left out: fragments of a span, contexts of a place."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One row of an error table; see the module's docstring.

    `kind` is the class, one of `FINDING_KINDS` (or the type of one of FairEval's errors), `reason` one of
    `REASONS`. `side` is the side of the error span, `sequence` its layer (or ``merged``). `start` and `end` are the
    first and the last position of the span: unlike in a `Span`, `end` belongs to it. `labels` are the span's own
    labels by layer, `found` the joined labels of its match (empty if partial, missed or spurious). All values
    about the other side's spans are in the order of these spans (of more than `MOST_NESTED` that overlap one another,
    the first); `other_start` and `other_end` are their
    least start and greatest end, None if there are none. `sentences` are the ids of the sentences that the
    span is in, if the file gives them; `file` and `line` say where the span begins. `fragments` are the ranges of a
    discontinuous span, inclusive as all positions, and `other_fragments` those of each other span; None for a span that
    is one piece. `other_ranges` are the first and the last position of each other span.
    `decision` is what was decided about the place of the error; None if no decisions were read.
    """

    side: SideName | None
    sequence: str
    kind: str
    reason: Reason
    text: str
    labels: Mapping[str, str | None]
    start: int
    end: int
    first_token_id: str | None
    last_token_id: str | None
    found: Mapping[str, str | None]
    other_texts: tuple[str, ...]
    other_labels: tuple[Mapping[str, str | None], ...]
    other_start: int | None
    other_end: int | None
    other_first_token_id: str | None
    other_last_token_id: str | None
    document: str
    metadata: Mapping[str, str]
    sentences: tuple[str, ...]
    context: Context
    unit: Unit
    file: str | None
    line: int | None
    fragments: Ranges | None = None
    other_fragments: tuple[Ranges | None, ...] = ()
    other_ranges: Ranges = ()
    decision: PlaceDecision | None = None

    def __reduce__(self) -> tuple[type[Finding], tuple[Any, ...]]:
        """Return what pickling needs; the default of a dataclass with slots takes twice as long."""
        return Finding, _values(self)

    def _repr_html_(self) -> str:
        """Return the finding as HTML for a notebook: its class and labels, and its context with marked pieces."""
        head = (
            f"{self.side or ''} {self.kind} {joined(self.labels)} ({self.document}, {self.start}-{self.end})"
        )
        pieces = [_PIECE_HTML[piece.mark].format(escape(piece.text)) for piece in self.context.pieces]
        before, after = ("… " if self.context.cut_before else ""), (" …" if self.context.cut_after else "")
        text = before + self.context.joiner.join(pieces) + after
        return f"<p><b>{escape(head.strip())}</b><br><bdi>{text}</bdi></p>"


_values = attrgetter(*Finding.__dataclass_fields__)


@checked_call
def error_table(
    problem_spans: Iterable[Span],
    own: Document,
    other: Document,
    *,
    layer: str | None = None,
    side: SideName | None = None,
    window: int | None = None,
) -> Iterator[Finding]:
    """Yield the rows of an error table, one for each error span, in the given order.

    Args:
        problem_spans: spans of `own`.
        own, other: the document on the side of the spans, and on the other side.
        layer: the layer of `other` to compare with, or ``merged`` for all of them merged. None: its only one;
            of several, the one in which the span has a label, or all of them merged if it has several labels.
        side: the side of `own`; it is only repeated in the rows.
        window: show this number of positions on each side instead of the sentence.

    Holds an index over `other`, made once; rows are made one by one. Costs O(log n + k) for a row with k
    overlapping spans, plus the length of its context. If these overlap one another, the class is exact, superset or
    partial. Raises `UsageError` for a layer that `other` lacks, `SpanError` for a span outside the text.

    >>> own = Document("d", {"label": [Span(1, 3, "PER")]}, tokens=["Frau", "Anna", "Weiß", "wohnt"])
    >>> other = Document("d", {"label": [Span(0, 2, "PER")]}, tokens=own.tokens)
    >>> (row,) = error_table(own.layers["label"], own, other)
    >>> row.kind, row.text, row.other_texts, row.start, row.end
    ('partial', 'Anna Weiß', ('Frau Anna',), 1, 2)
    >>> [(piece.text, piece.mark) for piece in row.context.pieces]
    [('Frau', 'other'), ('Anna', 'both'), ('Weiß', 'own'), ('wohnt', 'neither')]
    """
    for document, name in ((own, "own"), (other, "other")):
        require_instance(document, Document, name)
    for value, kinds, name in (
        (layer, "str | None", "layer"),
        (window, "int | None", "window"),
    ):
        require_kind(value, kinds, name)
    spans = as_spans(problem_spans, "problem_spans")
    if layer is not None and layer != MERGED and layer not in other.layers:
        known = f"one of {', '.join(other.layers)}" if other.layers else "the document has no layers"
        raise UsageError(f"there is no layer {layer!r}", document=other.id, advice=known)
    if window is not None and window < 0:
        raise UsageError(f"the window cannot be {window} positions", advice="a number from 0 on")
    table = ErrorRows(own, other, side, window)
    judged = ((span, layer or table.layer_of(span)) for span in spans)
    return (table.row(span, name, table.judged(span, table.others(span, name))) for span, name in judged)


class ErrorMatch(NamedTuple):
    """A span that is an error: the spans of the other side that overlap or equal it, its match, and the reason.

    `kind` is its class, and `shown` are those of the spans that its row shows.
    """

    others: Sequence[Span]
    match: Match
    reason: Reason
    kind: str
    shown: Sequence[Span]


def reason_of(
    label: str, fragments: Ranges, others: Iterable[tuple[str, Ranges]], side: SideName | None
) -> Reason:
    """Return the reason of an error, given the labels and the fragments of the spans that overlap or equal it.

    >>> reason_of("PER", ((0, 2),), [("LOC", ((0, 2),)), ("PER", ((0, 3),))], "gold")
    'label'
    >>> reason_of("PER", ((0, 2),), [("LOC", ((0, 1),)), ("PER", ((0, 3),))], "gold")
    'boundary'
    """
    found = {(other == label, place == fragments) for other, place in others}
    if (False, True) in found:
        return "label"
    if (True, False) in found:
        return "boundary"
    if found == {(False, False)}:
        return "boundary+label"
    return "spurious" if side == "predicted" else "missed"


class _Sequence:
    """The spans of one sequence: finds those at a given span."""

    __slots__ = ("_empty", "_index")

    def __init__(self, spans: Sequence[Span], document: Document) -> None:
        self._index = SpanIndex(spans, document)
        self._empty: dict[int, list[Span]] = {}
        for span in self._index.spans:
            if span.start == span.end:
                self._empty.setdefault(span.start, []).append(span)

    def at(self, span: Span) -> list[Span]:
        """Return the spans that overlap a span, and its equals if it has zero length, by position."""
        found = self._index.overlapping(span)
        if span.start == span.end and span.start in self._empty:
            found = sorted([*found, *self._empty[span.start]], key=by_position)
        return found


class ErrorRows:
    """Makes the rows of one error table."""

    def __init__(self, own: Document, other: Document, side: SideName | None, window: int | None) -> None:
        self._own, self._other, self._side = own, other, side
        self._shared = own.id, own.metadata or other.metadata, own.unit, own.file
        self._text = own if own.end is not None else other
        self._end = self._text.end
        self._token_ids = own.token_ids or other.token_ids if own.unit == "token" else None
        self._contexts = Contexts(self._text, own.sentences or other.sentences, window)
        self._sequences: dict[str, _Sequence] = {}
        self._texts: dict[tuple[int, int, Ranges | None], str] = {}  # one object, even if many rows show it
        self._shown = 0

    def layer_of(self, span: Span) -> str:
        """Return the layer of the other side with which a span is compared; see `error_table`."""
        if len(self._other.layers) == 1:
            return next(iter(self._other.layers))
        labelled = [layer for layer, label in span.by_layer.items() if label is not None]
        return labelled[0] if len(labelled) == 1 and labelled[0] in self._other.layers else MERGED

    def others(self, span: Span, layer: str) -> Sequence[Span]:
        """Return the spans of a layer of the other side that overlap or equal a span."""
        if layer not in self._sequences:
            layers = self._other.layers
            spans = layers.get(layer, ())
            if layer == MERGED and MERGED not in layers:
                spans = merge_layers(layers, document=self._other.id)
            self._sequences[layer] = _Sequence(spans, self._other)
        return self._sequences[layer].at(span)

    def judged(self, span: Span, others: Sequence[Span], match: Match | None = None) -> ErrorMatch:
        """Return the reason and the match of an error, given all spans that overlap or equal it."""
        labelled = ((other.label, other.fragments) for other in others)
        reason = reason_of(span.label, span.fragments, labelled, self._side)
        match = match or self._match(span, others)
        kind: FindingKind = match.kind
        if match.kind == "missed":
            kind = "partial" if others else "spurious" if self._side == "predicted" else "missed"
        is_long = len(others) > MOST_NESTED and clash(others) is not None
        shown = others[:MOST_NESTED] if is_long else others
        return ErrorMatch(others, match, reason, kind, shown)

    def row(
        self, span: Span, layer: str, judged: ErrorMatch, by: int = 0, line: int | None = None
    ) -> Finding:
        """Return the row of an error; its positions are moved by `by`. `line`, if known, is where the span begins."""
        start, end = span.start + by, span.end + by
        self._require_inside(span, start, end)
        others = judged.shown
        other_start = other_end = None
        other_ids: tuple[str | None, str | None] = None, None
        if others:
            other_start, after = others[0].start + by, max(map(_end, others)) + by  # they come by position
            other_end, other_ids = after - 1, self._ids_of(other_start, after)
        document, metadata, unit, file = self._shared
        return Finding(
            self._side,
            layer,
            judged.kind,
            judged.reason,
            self._text_of(span, start, end, by),
            span.by_layer,
            start,
            end - 1,
            *self._ids_of(start, end),
            judged.match.labels,
            tuple([self._text_of(each, each.start + by, each.end + by, by) for each in others]),
            tuple(map(_labels, others)),
            other_start,
            other_end,
            *other_ids,
            document,
            metadata,
            self._contexts.sentence_ids(start, end),
            self._contexts.around(span, others, by),
            unit,
            file,
            self._line(span, start) if line is None else line,
            _inclusive(span),
            tuple(map(_inclusive, others)),
            tuple([(each.start + by, each.end + by - 1) for each in others]),
        )

    def _match(self, span: Span, others: Sequence[Span]) -> Match:
        """Return the match of a span, given all spans that overlap or equal it."""
        if span.parts is not None or any(other.parts is not None for other in others):
            return _fragment_match(span, others)
        if len(others) > 1:
            if clash(others) is not None:
                return _fragment_match(span, others)
            return match_spans([span], others, document=self._other.id)[0]
        if others and others[0].start <= span.start and span.end <= others[0].end:
            kind: Kind = "exact" if by_position(others[0]) == by_position(span) else "superset"
            return Match(span, kind, tuple(others), others[0].by_layer)
        return Match(span, "missed")

    def _text_of(self, span: Span, start: int, end: int, by: int) -> str:
        """Return the text of a span of either side; the positions that all rows show together are limited.

        Gaps are counted, too, since the context shows them.
        """
        self._shown += end - start
        require_short_texts(self._shown, self._text)
        fragments = None if span.parts is None else tuple([(a + by, b + by) for a, b in span.parts])
        key = start, end, fragments
        if key not in self._texts:
            between = self._text.text_between
            self._texts[key] = (
                between(start, end) if fragments is None else GAP.join([between(*part) for part in fragments])
            )
        return self._texts[key]

    def _ids_of(self, start: int, end: int) -> tuple[str | None, str | None]:
        """Return the ids of the first and the last token of a range."""
        ids, shift = self._token_ids, self._text.start
        return (None, None) if ids is None or start == end else (ids[start - shift], ids[end - 1 - shift])

    def _line(self, span: Span, start: int) -> int | None:
        lines = self._own.lines
        if span.line is not None or lines is None:
            return span.line
        try:
            return lines[start - self._own.start]
        except IndexError:
            return None

    def _require_inside(self, span: Span, start: int, end: int) -> None:
        text = self._text
        if self._end is not None and (start < text.start or end > self._end):
            raise SpanError(
                f"span {name_of(span)} lies outside the text",
                **text.in_errors,
                line=span.line,
                advice="give spans of the document itself",
            )


def _inclusive(span: Span) -> Ranges | None:
    """Return the fragments of a discontinuous span with inclusive ends."""
    return None if span.parts is None else tuple((start, end - 1) for start, end in span.parts)


def _fragment_match(span: Span, others: Sequence[Span]) -> Match:
    """Return the match of a span by fragments: exact with the same ones, superset with a span that has all of them."""
    for other in others:
        if other.fragments == span.fragments:
            return Match(span, "exact", (other,), other.by_layer)
    size = sum(end - start for start, end in span.fragments)
    for other in others:
        if shared_positions(span, other) == size:
            return Match(span, "superset", (other,), other.by_layer)
    return Match(span, "missed")


def joined(labels: Mapping[str, str | None]) -> str:
    """Return the labels of a span in the order of its layers, as reports show them; see `Span.label`.

    >>> joined({"entity": "PER", "risk": None})
    'PER|_'
    """
    return "|".join([NO_LABEL if label is None else label for label in labels.values()])


def what(finding: Finding) -> str:
    """Return the reason of an error, and its class if that is another word."""
    reason, kind = phrase(finding.reason), phrase(finding.kind)
    return reason if finding.kind == finding.reason else f"{reason} ({kind})"
