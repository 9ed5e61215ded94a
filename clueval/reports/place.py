"""Places: what a card of a page shows, what one decides about, and how a place is written as text.

A place is a document, a layer (or ``*`` for several) and a range that holds all spans concerned; positions are
half-open, and files show the last position instead. These four are its *key*. Its *fingerprint* says which spans are
there, so that a decision is not applied to other spans.

>>> fingerprint([("anna", ((5, 13),), "PER"), ("bob", ((0, 13),), "PER")])
'5cb2e86028d9'
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, compress, pairwise
from textwrap import wrap
from typing import Any, NamedTuple, TypeVar

from clueval.files.errors import cut_label, visible
from clueval.reports.language import current_language, phrase

ANY_LAYER = "*"
"""The layer of a place that concerns several."""

DOCUMENT = "document"
KEY_COLUMNS = (DOCUMENT, "layer", "start", "end_inclusive", "fingerprint")
DECISION_COLUMNS = ("choice", "comment", "reviewer", "time")
"""With the columns of the key, those of a file of decisions."""


class MarkKind(NamedTuple):
    """A kind of marks: how they look, what is before their labels, and what they are, for the legend.

    `style` is ``above`` or ``below`` for a bar and a label beside the text, ``masked`` or ``leak`` to colour the text.
    """

    style: str
    short: str
    legend: str


class Mark(NamedTuple):
    """A span in a text: the number of its `MarkKind`, and a range of characters, half-open.

    `is_wrong` marks an error, and `note` is what the tooltip adds to the kind and the label.
    """

    kind: int
    start: int
    end: int
    label: str = ""
    is_wrong: bool = False
    note: str = ""


class MarkedText(NamedTuple):
    """A text with its marks; `is_cut` says whether more text of the document is before and behind it."""

    text: str
    marks: Sequence[Mark] = ()
    is_cut: tuple[bool, bool] = (False, False)


class Line(NamedTuple):
    """What is said about a place, in a reader's words, and its value for each facet of the report, or None.

    A line about one span has its kind of mark, its label and its `text`; `note` is shown small: positions, token ids.
    """

    words: str
    values: Sequence[str | None]
    kind: int | None = None
    label: str = ""
    text: str = ""
    note: str = ""


Item = TypeVar("Item")


class Later(Sequence[Item]):
    """A sequence that is made when it is first looked at: a table needs no texts of a page, and a page no rows.

    It is made anew in another language, because texts for readers are in that of the context.

    >>> lines = Later(lambda: ["one", "two"])
    >>> len(lines), lines[0]
    (2, 'one')
    """

    __slots__ = ("_items", "_language", "_make")

    def __init__(self, make: Callable[[], Sequence[Item]]) -> None:
        self._make, self._language = make, ""
        self._items: Sequence[Item] = ()

    def _current_items(self) -> Sequence[Item]:
        if self._language != current_language():
            self._items, self._language = self._make(), current_language()
        return self._items

    def __getitem__(self, number: Any) -> Any:
        return self._current_items()[number]

    def __len__(self) -> int:
        return len(self._current_items())

    def __iter__(self) -> Iterator[Item]:
        return iter(self._current_items())

    def __repr__(self) -> str:
        return repr(self._current_items())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and [*self] == [*other]

    __hash__ = None  # type: ignore[assignment]  # as of a list

    def __reduce__(self) -> tuple[Any, ...]:
        return list, ([*self],)


class Place(NamedTuple):
    """A card: document, layer, start and end (half-open), the fingerprint, texts with marks, and lines.

    `findings` are the rows that tables have of this place, mappings with the same columns, in errors each a `Finding`;
    without any, a table has one row for the place; the columns of the key and of decisions are added.
    `decision` has the columns `DECISION_COLUMNS` of what was decided, and `impossible` says of choices why they cannot
    be made here.

    >>> from clueval import errors
    >>> [place] = errors([["B-PER", "O"]], [["O", "O"]])
    >>> place.document, place.start, place.end, place.findings[0]["reason"]
    ('0', 0, 1, 'missed')
    """

    at: tuple[str, str, int, int]
    fingerprint: str
    texts: Sequence[MarkedText]
    lines: Sequence[Line]
    findings: Sequence[Any] = ()
    decision: Mapping[str, str] = {}
    impossible: Mapping[str, str] = {}

    def made(self) -> Place:
        """Return the place with what is otherwise made `Later`, so that no document is held for it."""
        return self._replace(texts=[*self.texts], lines=[*self.lines], findings=[*self.findings])

    @property
    def document(self) -> str:
        """The id of the document."""
        return self.at[0]

    @property
    def layer(self) -> str:
        """The layer, or `ANY_LAYER`."""
        return self.at[1]

    @property
    def start(self) -> int:
        """The first position."""
        return self.at[2]

    @property
    def end(self) -> int:
        """The position after the last one."""
        return self.at[3]

    @property
    def key(self) -> dict[str, str | int]:
        """The columns of the place in a file of decisions."""
        return dict(zip(KEY_COLUMNS, self.key_cells, strict=True))

    @property
    def key_cells(self) -> tuple[str, str, int, int, str]:
        """The values of `key`."""
        document, layer, start, end = self.at
        return document, layer, start, end - 1, self.fingerprint


class Facet(NamedTuple):
    """A filter over the values of lines. `is_main`: it is always shown, not behind *More filters*.

    `words` are those values that are words of clueval, such as ``boundary``; only these are translated.
    """

    name: str
    title: str
    is_main: bool = False
    words: Sequence[str] = ()


Ranges = Sequence[tuple[int, int]]


def positions(ranges: Ranges) -> str:
    """Return half-open ranges in a reader's words: with their last positions, one position as a number.

    >>> positions([(4, 6), (7, 8), (9, 9)])
    '4–5, 7, 9 (zero length)'
    """
    return ", ".join(_range(start, end - 1) for start, end in ranges)


def _range(start: int, last: int) -> str:
    if last < start:
        return phrase("{start} (zero length)", start=str(start))
    return str(start) if last == start else f"{start}–{last}"


def fingerprint(spans: Iterable[tuple[str, Ranges, str]]) -> str:
    """Return the fingerprint of spans, each with the name of its side, its half-open ranges and its label."""
    from hashlib import sha256  # few commands list places

    written = set()
    for side, ranges, label in spans:
        if len(ranges) == 1:
            written.add(f"{side}\t{ranges[0][0]}\t{ranges[0][1]}\t{label}")
        else:
            parts = ",".join(f"{start}-{end}" for start, end in ranges)
            written.add(f"{side}\t{parts}\t{label}")
    return sha256("\n".join(sorted(written)).encode("utf-8", "surrogatepass")).hexdigest()[:12]


def segments(text: MarkedText, kinds: Sequence[MarkKind]) -> Iterator[tuple[str, str]]:
    """Yield the text in pieces, each with the style of its marks: empty, a style, or ``both`` for above and below.

    Where marks of zero length stand, a piece is empty.

    >>> kinds = [MarkKind("above", "", "gold"), MarkKind("below", "", "predicted")]
    >>> list(segments(MarkedText("Frau Anna", [Mark(0, 5, 9), Mark(1, 0, 9)]), kinds))
    [('Frau ', 'below'), ('Anna', 'both')]
    """
    close, at_point, open_ = range(3)  # the order of what happens at a position
    events = [(len(text.text), close, "")]
    for kind, start, end, *_ in text.marks:
        style = kinds[kind].style
        events += [(start, at_point, style)] if start == end else [(start, open_, style), (end, close, style)]
    events.sort()
    past, styles, points = 0, list[str](), set[str]()
    for position, event, style in events:
        if points and (position, event) != (past, at_point):
            yield "", _style({*points, *styles})
            points.clear()
        if position > past:
            yield text.text[past:position], _style(styles)
            past = position
        if event == open_:
            styles.append(style)
        elif event == at_point:
            points.add(style)
        elif style:
            styles.remove(style)
    if points:
        yield "", _style({*points, *styles})


def _style(styles: Collection[str]) -> str:
    return "both" if "above" in styles and "below" in styles else min(styles, default="")


# --- in rows and as text

_BRACKETS = {"above": ("[", "]"), "below": ("{", "}"), "masked": ("<", ">"), "leak": ("[", "]")}
_SQUARES = {"above": "🟥", "below": "🟧", "both": "🟩", "masked": "⬛", "leak": "🟥"}
"""What stands before and behind a piece of a text in a spreadsheet: only the first side, only another, or both."""


def rows_of(
    places: Iterable[Place], facets: Sequence[Facet]
) -> tuple[Sequence[str], Iterator[Sequence[Any]]]:
    """Return the columns and the rows of places; no columns without places.

    Columns of findings that have the name of a column of the key are about a span, not about the place, and are called
    so.
    """
    others = iter(places)
    first = next(others, None)
    if first is None:
        return (), others
    names = list([*first.findings, _as_finding(first, facets)][0])
    is_column = [name != DOCUMENT for name in names]
    rows = (
        [*cells, *compress(finding.values(), is_column)]
        for place in chain([first], others)
        for cells in [[*place.key_cells, *(place.decision.get(name, "") for name in DECISION_COLUMNS)]]
        for finding in [*place.findings] or [_as_finding(place, facets)]
    )
    of_spans = (f"span_{name}" if name in KEY_COLUMNS else name for name in compress(names, is_column))
    return [*KEY_COLUMNS, *DECISION_COLUMNS, *of_spans], rows


def _as_finding(place: Place, facets: Sequence[Facet]) -> dict[str, Any]:
    """Return the row of a place without findings: the values of its facets, what is said, and its texts."""
    names = [*(facet.name for facet in facets), "what"]
    columns = zip(*([*line.values, line.words] for line in place.lines), strict=True)
    joined = ("; ".join(dict.fromkeys(filter(None, values))) for values in columns)
    return {**dict.fromkeys(names, ""), **dict(zip(names, joined, strict=False)), "text": [*place.texts]}


def as_text(value: object, kinds: Sequence[MarkKind]) -> Any:
    """Return a cell of `data_rows` without its `MarkedText`, which is drawn with squares."""
    return " / ".join(drawn(text, kinds) for text in value) if isinstance(value, list) else value


def drawn(text: MarkedText, kinds: Sequence[MarkKind]) -> str:
    """Return a text for a cell of a spreadsheet, with squares around marked pieces, without the blanks at their ends.

    >>> drawn(MarkedText("Frau Anna", [Mark(0, 5, 9)]), [MarkKind("above", "", "gold")])
    'Frau 🟥Anna🟥'
    """
    pieces, at = [], 0
    for piece, style in segments(text, kinds):
        if style:
            inside = piece.strip(" ")
            if not inside and any(mark[1:3] == (at, at + len(piece)) for mark in text.marks):
                inside = piece  # a span of blanks, or of zero length
            square = _SQUARES.get(style, "") if inside or not piece else ""
            before, _, behind = piece.partition(inside) if inside else (piece, "", "")
            pieces.append(f"{before}{square}{inside}{square}{behind}")
        else:
            pieces.append(piece)
        at += len(piece)
    return with_ends("".join(pieces), text)


def place_lines(
    places: Iterable[Place], kinds: Sequence[MarkKind], width: int | None = None
) -> Iterator[str]:
    """Yield the lines of places for a terminal: where it is, its texts with brackets around spans, what is said.

    Lines go on below, indented, if they are longer than `width`.
    """

    def indented(text: str, by: int) -> list[str]:
        begin = " " * by
        if width is None:
            return [f"{begin}{text}"]
        return wrap(text, max(width, 20), initial_indent=begin, subsequent_indent=f"{begin}  ")

    for place in places:
        document, layer, start, end = place.at
        layer = phrase("all layers") if layer == ANY_LAYER else layer
        yield from indented(visible(f"{document} {layer} {positions([(start, end)])}"), 0)
        for text in place.texts:
            if text.text.strip():  # it is empty or blank if the document has no text
                yield from indented(visible(bracketed(text, kinds)), 4)
        for line in place.lines:
            if line.words or line.text or line.note:
                yield from indented(visible(" ".join(filter(None, (in_words(line, kinds), line.note)))), 2)
        yield ""


def in_words(line: Line, kinds: Sequence[MarkKind]) -> str:
    """Return a line of a place without its note."""
    side = "" if line.kind is None else kinds[line.kind].legend
    text = phrase("“") + line.text[:200] + phrase("”") if line.text else ""
    return " ".join(filter(None, (side, cut_label(line.label), text, line.words)))


def bracketed(text: MarkedText, kinds: Sequence[MarkKind]) -> str:
    """Return a text for a terminal, with brackets around each span.

    >>> kinds = [MarkKind("above", "", "gold"), MarkKind("below", "", "predicted")]
    >>> bracketed(MarkedText("Frau Anna", [Mark(0, 5, 9), Mark(1, 0, 9)]), kinds)
    '{Frau [Anna]}'
    """
    at: dict[int, list[str]] = {}
    for mark in sorted(text.marks, key=lambda mark: (mark.start, -mark.end)):
        begin, end = _BRACKETS[kinds[mark.kind].style]
        at.setdefault(mark.start, []).append(begin)
        at.setdefault(mark.end, []).insert(0, end)
    cuts = sorted({0, len(text.text), *at})
    pieces = ["".join(at.get(cut, ())) + text.text[cut:end] for cut, end in pairwise([*cuts, len(text.text)])]
    return with_ends("".join(pieces), text)


def with_ends(shown_text: str, text: MarkedText) -> str:
    """Return a text as it is shown, with dots where it is cut."""
    before, behind = text.is_cut
    return f"{'… ' if before else ''}{shown_text}{' …' if behind else ''}"
