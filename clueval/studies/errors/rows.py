"""Rows of error tables, and the texts around errors; `error_table` makes the rows of any spans of a document.

A row is asymmetric: it shows **one** error span and **all** spans of the other side that overlap it. Positions in a row
are inclusive at both ends, as people read them in a corpus; a span of zero length ends one position before it starts.
Token ids are those of the first and the last token. There is a column for each name of metadata that the first document
with an error has; further ones of later documents go into the column ``metadata``, and so do the fragments of
discontinuous spans. Merged spans have a column for each layer in addition to their joined label.

The context is the sentence of a span, or several if the span or one that overlaps it crosses a border; in a document
without sentences it is the line (characters) or the document (tokens). With a window it is that number of positions on
each side. It reaches at most `REACH` positions from the span unless a wider window is set. In the context of a row, the
first kind of marks is the span, the second one are the spans of the other side.

Source: the CLUEval algorithm, "Error analysis".
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, ItemsView, Iterable, Iterator, Mapping, Sequence, ValuesView
from itertools import accumulate, count
from operator import add
from typing import Any, NamedTuple

from clueval.core.document import Document, Pair, Unit, require_short_texts
from clueval.core.span import MERGED, SIDES, Span, SpanIndex, by_position, name_of
from clueval.files.errors import SpanError, UsageError
from clueval.files.options import checked_call, require_instance
from clueval.reading.span_lists import merge_layers
from clueval.reports.language import phrase
from clueval.reports.place import Mark, MarkedText
from clueval.studies.errors.search import JudgedSpan, match_in, wrong_span

REACH: dict[Unit, int] = {"token": 300, "character": 2000}
"""The number of positions shown at most before and after a span, unless a wider window is set."""

BETWEEN = " | "
"""Separates the texts, and the labels, of several spans."""

GAP = " … "
"""Separates the fragments of a discontinuous span."""

LONGEST_OTHER = 2_000
"""The greatest number of characters of one overlapping span, because a long span is in many rows."""

Row = dict[str, Any]
"""The cells of a row by the names of its columns."""


# Texts


class Context(NamedTuple):
    """A part of a text: its first position, where each position begins in it (None: as they are), and if it is cut.

    Without a text (`is_known`), nothing can be marked.
    """

    text: str
    first: int
    starts: Sequence[int] | None
    is_cut: tuple[bool, bool]
    is_known: bool = True

    def range(self, start: int, end: int) -> tuple[int, int]:
        """Return the range of characters that half-open positions have in the text; what is outside is cut off."""
        start, end = start - self.first, end - self.first
        size, starts = len(self.text), self.starts
        if starts is None:
            start, end = max(start, 0), min(end, size)
            return min(start, size), max(start, end)
        last = len(starts) - 1
        if 0 <= start < end <= last:  # nearly always
            return starts[start], starts[end] - 1
        begin = min(starts[min(max(start, 0), last)], size)
        return begin, max(begin, starts[min(max(end, 0), last)] - 1)

    def shows(self, start: int, end: int) -> bool:
        """Return whether a range shares a position with the text, or has none."""
        past = self.first + (len(self.text) if self.starts is None else len(self.starts) - 1)
        return self.is_known and (start == end or (start < past and end > self.first))

    def marks(self, kind: int, spans: Iterable[Span]) -> list[Mark]:
        """Return marks of a kind for the fragments of spans."""
        return [
            Mark(kind, *self.range(*part), span.label)
            for span in spans
            for part in span.fragments
            if self.shows(*part)
        ]


class SideTexts:
    """The texts of a pair for the errors of one side; what the side's document lacks is the other's.

    With `beside`, they are those of spans without a place, each by itself. The last context is kept, for both sides if
    these have one text.
    """

    def __init__(
        self, document: Document, other: Document, window: int | None, *, beside: bool = False
    ) -> None:
        self.document, self.beside = document, beside
        self.text = document if document.end is not None else other
        self.metadata = document.metadata or other.metadata
        self._ids = document.token_ids or other.token_ids if document.unit == "token" else None
        self._sentences, self._window = document.sentences or other.sentences, window
        self._starts = [sentence.start for sentence in self._sentences]
        self._has_names = any(sentence.id is not None for sentence in self._sentences)
        self._first, self._end = self.text.start, self.text.end
        self._reach = max(REACH[self.text.unit], window or 0)
        self.last_context: dict[tuple[int, int, bool, bool], Context] = {}
        self._shown = 0

    @property
    def unit_in_words(self) -> str:
        """What a position is, in the language of the context."""
        return phrase("token") if self.document.unit == "token" else phrase("character")

    def of(self, span: Span) -> str:
        """Return the text of a span. Raises `LimitError` if all texts so far are too long together."""
        self._shown += span.end - span.start  # with gaps, since contexts show them
        require_short_texts(self._shown, self.text)
        if span.parts is None:
            return self.text.text_between(span.start, span.end)
        return GAP.join([self.text.text_between(*part) for part in span.parts])

    def ids_of(self, start: int, end: int) -> tuple[str, str]:
        """Return the ids of the first and the last token of a range; empty without any."""
        if self._ids is None or start == end:
            return "", ""
        return self._ids[start - self.text.start], self._ids[end - 1 - self.text.start]

    def range_cells(self, name: str, spans: Sequence[Span]) -> Row:
        """Return the cells of the first and the last position of spans, by position, and of their token ids."""
        start, end = (spans[0].start, max([span.end for span in spans])) if spans else (0, 0)
        has_place = spans and not self.beside
        first_id, last_id = self.ids_of(start, end)
        return {
            f"{name}start": start if has_place else None,
            f"{name}end_inclusive": end - 1 if has_place else None,
            f"{name}first_token_id": first_id,
            f"{name}last_token_id": last_id,
        }

    def line_of(self, span: Span) -> int | None:
        """Return the line where a span begins."""
        lines, number = self.document.lines, span.start - self.document.start
        return span.line if span.line is not None or lines is None or number >= len(lines) else lines[number]

    def sentences_of(self, start: int, end: int) -> list[str]:
        """Return the ids of the sentences in which a range lies, without those that the file does not give."""
        if not self._has_names:
            return []
        starts = self._starts
        first = max(bisect_right(starts, start) - 1, 0)
        last = max(bisect_left(starts, end), first + 1)
        return [
            name
            for begin, past, name in self._sentences[first:last]
            if name is not None and begin < max(end, start + 1) and start < past
        ]

    def require_inside(self, span: Span) -> None:
        """Raise `SpanError` for a span outside the text, which its own document does not have."""
        text = self.text
        if self._end is not None and (span.start < text.start or span.end > self._end):
            raise SpanError(
                f"span {name_of(span)} lies outside the text",
                **text.in_errors,
                line=span.line,
                advice="give spans of the document itself",
            )

    def context(self, around: tuple[int, int], inner: tuple[int, int]) -> Context:
        """Return the context of a range, no further than `REACH` from a range within it."""
        text, first, last = self.text, self._first, self._end
        if last is None:
            return Context("", inner[0], None, (False, False), is_known=False)
        least, greatest = self._bounds(*around, last)
        least, greatest = max(least, first), min(greatest, last)
        start, end = max(least, inner[0] - self._reach), min(greatest, inner[1] + self._reach)
        if self._window is not None:
            least, greatest = first, last
        key = start, end, start > least, end < greatest
        if key not in self.last_context:
            starts = None
            if text.unit == "token":
                tokens = (text.tokens or ())[start - first : end - first]
                shown, sizes = " ".join(tokens), accumulate(map(len, tokens), initial=0)
                starts = list(map(add, sizes, count()))  # with blanks between
            else:
                shown = text.text_between(start, end)
            self.last_context.clear()
            self.last_context[key] = Context(shown, start, starts, key[2:])
        return self.last_context[key]

    def _bounds(self, start: int, end: int, last: int) -> tuple[int, int]:
        """Return the context of a range before it is limited by `REACH`; between sentences, it is all between them."""
        text, starts = self.text, self._starts
        if self._window is not None:
            return start - self._window, end + self._window
        if self._sentences:
            first = bisect_right(starts, start) - 1
            begin = text.start
            if first >= 0:
                sentence = self._sentences[first]
                begin = sentence.start if start < sentence.end else sentence.end
            final = max(start, end - 1)
            number = bisect_right(starts, final) - 1
            if number >= 0 and final < self._sentences[number].end:
                return begin, self._sentences[number].end
            return begin, starts[number + 1] if number + 1 < len(starts) else last
        if text.unit == "token" or text.text is None:
            return text.start, last
        # lines, searched within `REACH` only
        reach = REACH["character"]
        start, end = start - text.start, end - text.start
        before = text.text.rfind("\n", max(start - reach, 0), start)
        after = text.text.find("\n", end, end + reach)
        begin = before + 1 if before >= 0 else max(start - reach - 1, 0)
        return begin + text.start, (after if after >= 0 else end + reach + 1) + text.start


def texts_of(pair: Pair, window: int | None) -> tuple[SideTexts, SideTexts]:
    """Return the texts for the errors of each side of a pair."""
    window = None if pair.beside else window
    gold, predicted = (
        SideTexts(*sides, window, beside=pair.beside) for sides in (pair.sides, pair.sides[::-1])
    )
    if not pair.beside:
        predicted.last_context = gold.last_context
    return gold, predicted


# Rows


class Finding(Mapping[str, Any]):
    """A row of an error table: a mapping of its cells, with what is known of the span and its match as attributes.

    `side`, `sequence`, `kind` and `reason` are cells, too. `start` and `end` are the first and the last position,
    `labels` the span's own labels by layer, `found` the joined labels of its match, and `other_labels` those of each
    span of the other side that the row shows. Cells are made when one is first looked at.

    >>> from clueval import errors
    >>> [finding] = next(iter(errors([["B-PER", "I-PER"]], [["O", "O"]]))).findings
    >>> finding.side, finding.reason, finding.start, finding.end
    ('gold', 'missed', 0, 1)
    """

    def __init__(self, judged: JudgedSpan, make: Callable[[], Row], document: str, side: str) -> None:
        self.side, self.sequence, self.document = side, judged.sequence, document
        self.kind, self.reason = judged.kind, judged.reason
        self.start, self.end = judged.span.start, judged.span.end - 1
        self.labels, self.found = judged.span.by_layer, judged.found
        self.other_labels = tuple([other.by_layer for other in judged.shown])
        self._make: Callable[[], Row] | None = make
        self._row: Row = {}

    @property
    def _cells(self) -> Row:
        if self._make is not None:
            self._row, self._make = self._make(), None
        return self._row

    @property
    def text(self) -> str:
        """The text of the span."""
        return str(self["text"])

    def __getitem__(self, name: str) -> Any:
        return self._cells[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._cells)

    def __len__(self) -> int:
        return len(self._cells)

    def items(self) -> ItemsView[str, Any]:
        return self._cells.items()

    def values(self) -> ValuesView[Any]:
        return self._cells.values()

    def __repr__(self) -> str:
        return repr(self._cells)

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_row": self._cells, "_make": None}


class RowColumns(NamedTuple):
    """The columns that depend on the first error: its layers, if there are several, and metadata."""

    layers: Sequence[str] = ()
    metadata: Sequence[str] = ()

    @classmethod
    def of(cls, first: JudgedSpan, texts: SideTexts) -> RowColumns:
        labels = first.span.by_layer
        return cls(list(labels) if len(labels) > 1 else (), [key for key in texts.metadata if key != "id"])

    def row(self, wrong: JudgedSpan, texts: SideTexts, side: str | None = None) -> Finding:
        """Return the row of an error, with its side, or another name of it."""
        texts.require_inside(wrong.span)
        name = wrong.side_name if side is None else side
        return Finding(wrong, lambda: self._cells(wrong, texts, name), texts.document.id, name)

    def _cells(self, wrong: JudgedSpan, texts: SideTexts, side: str) -> Row:
        span, others, document = wrong.span, wrong.shown, texts.document
        start, end = span.start, span.end
        context = texts.context((wrong.start, wrong.end), (start, end))
        marks = [*context.marks(0, [span]), *context.marks(1, others)]
        return {
            "context": [MarkedText(context.text, marks, context.is_cut)],
            "side": side,
            "layer": wrong.sequence,
            "class": wrong.kind,
            "reason": wrong.reason,
            "label": span.label,
            **{f"label {layer}": span.by_layer.get(layer) or "" for layer in self.layers},
            "text": texts.of(span),
            **texts.range_cells("", [span]),
            **cells_of("other", others, texts),
            **{
                f"other_label {layer}": BETWEEN.join([other.by_layer.get(layer) or "" for other in others])
                for layer in self.layers
            },
            "document": document.id,
            "sentence": BETWEEN.join(texts.sentences_of(span.start, span.end)),
            "file": document.file or "",
            "line": texts.line_of(span),
            **{key: texts.metadata.get(key, "") for key in self.metadata},
            "metadata": "; ".join(self._rest(wrong, texts)),
        }

    def _rest(self, wrong: JudgedSpan, texts: SideTexts) -> list[str]:
        """Return what is in no column: metadata that the first document does not have, and fragments."""
        rest = [
            f"{key}={value}"
            for key, value in texts.metadata.items()
            if key not in self.metadata and (key, value) != ("id", texts.document.id)
        ]
        for name, spans in (("fragments", [wrong.span]), ("other_fragments", wrong.shown)):
            if any(span.parts for span in spans):
                ranges = [";".join(f"{start}-{end - 1}" for start, end in span.parts or ()) for span in spans]
                rest.append(f"{name}={BETWEEN.join(ranges)}")
        return rest


def cells_of(name: str, spans: Sequence[Span], texts: SideTexts) -> Row:
    """Return the cells of spans that overlap that of the row, by position; start and end are those of all together."""
    return {
        f"{name}_text": BETWEEN.join([shortened(texts.of(span), LONGEST_OTHER) for span in spans]),
        f"{name}_label": BETWEEN.join([span.label for span in spans]),
        **texts.range_cells(f"{name}_", spans),
    }


def shortened(text: str, longest: int) -> str:
    """Return a text that has at most `longest` characters; a longer one ends with the number of those cut off.

    >>> shortened("abcdefghijklmnopqrstuvwxyz", 24)
    'abcd [… 22 more chars …]'
    """
    if len(text) <= longest:
        return text
    space = longest
    while True:  # the remark grows with the number in it, by a digit at most
        remark = f" [… {len(text) - space} more chars …]"
        if space + len(remark) <= longest:
            return text[:space] + remark
        space -= space + len(remark) - longest


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
        advice = f"one of {', '.join(other.layers)}" if other.layers else "the document has no layers"
        raise UsageError(f"there is no layer {layer!r}", document=other.id, advice=advice)
    if window is not None and window < 0:
        raise UsageError(f"the window cannot be {window} positions", advice="a number from 0 on")
    return _rows(problem_spans, layer, side, SideTexts(own, other, window), other)


def _rows(
    spans: Iterable[Span], layer: str | None, side: str | None, texts: SideTexts, other: Document
) -> Iterator[Finding]:
    sequences: dict[str, tuple[Sequence[Span], SpanIndex]] = {}
    columns: RowColumns | None = None
    for span in spans:
        require_instance(span, Span, "each of problem_spans")
        name = layer or _layer_of(span, other)
        if name not in sequences:
            layer_spans: Sequence[Span] = other.layers.get(name, ())
            if name == MERGED and MERGED not in other.layers:
                layer_spans = merge_layers(other.layers, document=other.id)
            sequences[name] = layer_spans, SpanIndex(layer_spans)
        layer_spans, index = sequences[name]
        others = sorted((layer_spans[number] for number in index.near(span)), key=by_position)
        judged = wrong_span(int(side == SIDES[1]), name, match_in(span, others), others, True)
        columns = columns or RowColumns.of(judged, texts)
        yield columns.row(judged, texts, side or "")


def _layer_of(span: Span, other: Document) -> str:
    """Return the layer of the other side with which a span is compared."""
    if len(other.layers) == 1:
        return next(iter(other.layers))
    labelled = [layer for layer, label in span.by_layer.items() if label is not None]
    return labelled[0] if len(labelled) == 1 and labelled[0] in other.layers else MERGED
