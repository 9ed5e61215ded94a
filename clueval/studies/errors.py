"""`errors`: the errors of a system, place by place, in their texts.

Errors of both sides and all layers that overlap are one place: a wrong boundary makes an error of each side in each
layer, and an annotator looks at this place once. The range of an error is from the first to the last position of its
span and of all spans of the other side that overlap it; errors of a document are at the same place if their ranges are
in the same overlap component. Every error is at exactly one place, so the errors of all places are those that the
scores count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from clueval.core.document import Pair
from clueval.core.overlap import components
from clueval.core.span import SIDES
from clueval.files.errors import warn
from clueval.reports.content import FIRST_PLACES
from clueval.reports.language import phrase
from clueval.reports.place import ANY_LAYER, Facet, Later, MarkKind, Place, fingerprint
from clueval.reports.report import Report
from clueval.reports.table import Table
from clueval.studies.corrections import corrected
from clueval.studies.corrections import tables_of as tables_of_decisions
from clueval.studies.decisions import PlaceDecisions
from clueval.studies.errors_view import (
    choices_of,
    entries_of,
    facets_of,
    facts_of,
    kinds_of,
    line_of,
    marked,
    store_of,
    tables_of,
    title_of,
    verdict_of,
)
from clueval.studies.rows import RowColumns, SideTexts, texts_of
from clueval.studies.wrong import (
    REASONS,
    Choice,
    JudgedSpan,
    ReasonKey,
    Search,
    counted,
    reason_keys,
    rereadable,
)

if TYPE_CHECKING:
    from clueval.results.result import Result

Pairs = Iterable[Pair] | Callable[[], Iterable[Pair]]
"""The pairs of all texts, or what returns them each time anew."""


class Seen(NamedTuple):
    """What one reading of all pairs finds.

    Attributes:
        report: the report of the metric of the choice by sequence.
        documents, positions: how many were read.
        reasons: how many spans are not exactly right, whatever of them is listed.
        listed: how many errors are listed, by sequence, side, label and reason.
        first: the first places.
        places: the number of places.
        decided: the number of errors by the choice that holds at their place, or nothing.
    """

    report: Mapping[str, Any]
    documents: int
    positions: int
    reasons: Counter[ReasonKey]
    listed: Counter[tuple[str, int, str, str]]
    first: Sequence[Place]
    places: int
    decided: Counter[str]


class Errors(Report):
    """The errors of predicted compared with gold.

    Iterating yields a `Place` after the other, as the pairs are read; holds one text. Forms, tables and files read the
    pairs again. Raises `UsageError` for pairs that can be read only once, and the errors of metrics and files.

    Args:
        pairs: the pairs of all texts, as they are counted; or a function that returns them.
        choice: selects the errors; by default those that metric ``exact`` counts.
        layers: the layers in their order; further ones follow as they occur.
        scored: returns the result of the choice's metric on the same texts; None: they are counted here. With it,
            `pairs` may leave out texts and sentences without errors, unless there are decisions.
        title: what was compared; empty: the names of the files.
        files: the names of the files, gold's first, if there are such; the browser keeps decisions under them, too.
        metadata: the names of metadata by which the page filters; None: all that documents have.
        decisions: decisions about places, which the places then have; the tables say whose the errors are, and what the
            scores are with gold corrected. Raises `UsageError` for conflicts; warns of decisions that do not hold.
        limit: list this number of places; tables and counts have all.

    >>> from clueval.core.document import Document
    >>> from clueval.core.span import Span
    >>> tokens = ["Frau", "Anna", "Weiß", "wohnt", "in", "Ulm"]
    >>> gold = Document("d", {"label": [Span(0, 2, "PER"), Span(5, 6, "LOC")]}, tokens=tokens)
    >>> predicted = Document("d", {"label": [Span(1, 3, "PER")]}, tokens=tokens)
    >>> [(place.at, [row["side"] for row in place.findings]) for place in Errors([Pair(gold, predicted)])]
    [(('d', 'label', 0, 3), ['gold', 'predicted']), (('d', 'label', 5, 6), ['gold'])]
    """

    def __init__(
        self,
        pairs: Pairs,
        choice: Choice | None = None,
        *,
        layers: Sequence[str] = (),
        scored: Callable[[], Result] | None = None,
        title: str = "",
        files: Sequence[str] = (),
        metadata: Sequence[str] | None = None,
        decisions: PlaceDecisions | None = None,
        limit: int | None = None,
    ) -> None:
        self.choice, self.layers, self.limit = choice or Choice(), layers, limit
        self.decisions, self._title, self._files, self._metadata = decisions, title, files, metadata
        self.store = store_of("errors.html", title, files)
        self.screen = None if limit is not None else self.screen
        self._pairs, self._scored = rereadable(pairs), scored
        self._record: _Record | None = None

    @cached_property
    def result(self) -> Result | None:
        """The result of the choice's metric; None if the texts were counted here."""
        return None if self._scored is None else self._scored()

    @property
    def signature(self) -> str:  # type: ignore[override]  # it is only read
        """The signature of the scores."""
        return "" if self.result is None else str(self.result.signature)

    @cached_property
    def metadata(self) -> Sequence[str]:
        """The names of metadata by which the page filters."""
        return metadata_of(self._metadata, self.result)

    # in the language of the context
    @property
    def title(self) -> str:  # type: ignore[override]  # it is only read
        return title_of(self._title, self._files, phrase("Errors"))

    @property
    def kinds(self) -> Sequence[MarkKind]:  # type: ignore[override]  # as above
        return kinds_of()

    @property
    def facets(self) -> Sequence[Facet]:  # type: ignore[override]  # as above
        return facets_of(self.choice, self.metadata)

    @property
    def choices(self) -> Sequence[tuple[str, str]]:  # type: ignore[override]  # as above
        return choices_of()

    @property
    def given(self) -> Sequence[Mapping[str, str | int]]:  # type: ignore[override]  # as above
        return () if self.decisions is None else list(self.decisions.rows())

    def __iter__(self) -> Iterator[Place]:
        return islice(self._places(None), self.limit)

    def places(self) -> Iterator[Place]:
        """Yield the places in the order of the texts; the tables need no further reading if all are read."""
        return islice(self._places(_Record(self.choice)), self.limit)

    def _places(self, record: _Record | None) -> Iterator[Place]:
        search, listing = self._search()
        for pair in self._pairs():
            wrong = search.wrong(pair)
            if record is not None:
                record.see(wrong)
            for place in listing.places(pair, wrong):
                if record is not None:
                    record.add(place)
                yield place
        search.end()
        listing.end()
        decisions = self.decisions
        if decisions is not None and (decisions.number("stale") or decisions.lost):
            warn(decisions.words())
        elif self._scored is not None and decisions is None:
            self._record = record

    def _search(self) -> tuple[Search, _Listing]:
        return Search(self.choice, self.layers), _Listing(self.choice, self.decisions, lambda: self.metadata)

    def first_places(self, number: int) -> tuple[Sequence[Place], int]:
        if self.limit is not None:
            return list(self.places()), self._seen.places
        if number > FIRST_PLACES:
            return super().first_places(number)
        return self._seen.first[:number], self._seen.places

    def counts(self) -> dict[str, dict[str, int]]:
        """Return the number of errors by side and reason."""
        found: Counter[tuple[int, str]] = Counter()
        for (_, side, _, reason), number in self._seen.listed.items():
            found[side, reason] += number
        return {name: {reason: found[side, reason] for reason in REASONS} for side, name in enumerate(SIDES)}

    def scores(self) -> dict[str, float]:
        """Return the numbers of errors by side and reason, as ``gold.missed``."""
        return {
            f"{side}.{reason}": float(n) for side, of in self.counts().items() for reason, n in of.items()
        }

    def only_wrong_labels(self) -> dict[str, int]:
        """Return, by layer, how many spans have only a wrong label, if errors are chosen whatever their labels."""
        choice = self.choice
        if not choice.by_levels or choice.labelled is not None or choice.kinds or choice.reasons:
            return {}
        found: Counter[str] = Counter()
        for of_sequence in self._seen.report.values():
            level = str(choice.at_level)
            for layer, by_level in of_sequence["labelled"].items():
                both = of_sequence["unlabelled"][level], by_level[level]["micro"]
                found[layer] += sum(both[0][f"tp_{side}"] - both[1][f"tp_{side}"] for side in choice.sides)
        return {layer: int(number) for layer, number in found.items() if number}

    def verdict(self) -> str:
        return verdict_of(self._seen.report, self._seen.listed, self.choice)

    def facts(self) -> Iterable[str]:
        seen = self._seen
        read = facts_of(seen.documents, seen.positions)
        return [*read, self.choice.in_words(), *([] if self.decisions is None else [self.decisions.words()])]

    def tables(self) -> Iterable[Table]:
        """Yield for each layer what is right and wrong, labels worst first; then which labels are taken for others."""
        seen = self._seen
        yield from tables_of(seen.report, seen.reasons, seen.listed, self.choice)
        if self.decisions is not None:
            after, _, _ = counted(self._corrected(), self.choice, self.layers)
            yield from tables_of_decisions(seen.decided, seen.report, after, self.choice)

    def first_tables(self, tables: Iterable[Table]) -> Iterable[Table]:
        """Return the tables that are not folded; what decisions say comes first."""
        found = [table for table in tables if not table.is_folded]
        of_labels = {entry.title for entry in entries_of(self._seen.report, self.choice)}
        return sorted(found, key=lambda table: table.title in of_labels)

    def _corrected(self) -> Iterator[Pair]:
        """Yield the pairs with gold corrected."""
        search, listing = self._search()
        for pair in self._pairs():
            decided = (
                (group, listing.choice_of(pair, group)) for group in listing.groups(search.wrong(pair))
            )
            yield corrected(pair, decided, flat=self.choice.by_levels)

    def to_dict(self) -> dict[str, Any]:
        """Return all errors as plain data, with texts of the corpus; positions are integers, all else is text."""
        return {"listed": self.choice.in_words(), "counts": self.counts(), "errors": self.rows()}

    @cached_property
    def _seen(self) -> Seen:
        """What a reading of all pairs has found, or finds now."""
        report: Mapping[str, Any]
        if self._record is not None and self.result is not None:
            report = self.result.metrics[self.choice.metric.name]
            return self._record.seen(report, self.result.documents, self.result.tokens)
        search, listing = self._search()
        record = _Record(self.choice)

        def see(pair: Pair) -> Pair:
            wrong = search.wrong(pair)
            record.see(wrong)
            if self.decisions is not None:
                for group in listing.groups(wrong):
                    record.decided[listing.choice_of(pair, group)] += len(group)
            if len(record.first) < FIRST_PLACES:
                for place in listing.places(pair, wrong):
                    record.add(place)
            else:
                record.places += sum(1 for _ in listing.groups(wrong))
            return pair

        texts = map(see, self._pairs())
        if self.result is None:
            report, documents, positions = counted(texts, self.choice, self.layers)
        else:
            report = self.result.metrics[self.choice.metric.name]
            documents, positions = self.result.documents, self.result.tokens
            for _ in texts:
                pass
        search.end()
        listing.end()
        return record.seen(report, documents, positions)


class _Record:
    """What a reading of all pairs finds, while it is read; see `Seen`."""

    def __init__(self, choice: Choice) -> None:
        self._choice = choice
        self.reasons: Counter[ReasonKey] = Counter()
        self.listed: Counter[tuple[str, int, str, str]] = Counter()
        self.decided: Counter[str] = Counter()
        self.first: list[Place] = []
        self.places = 0

    def see(self, wrong: Iterable[JudgedSpan]) -> None:
        """Count wrong spans."""
        for each in wrong:
            self.reasons.update(reason_keys(each, self._choice))
            if self._choice.lists(each):
                self.listed[each.sequence, each.side, each.span.label, each.reason] += 1

    def add(self, place: Place) -> None:
        """Count a place, and keep it if it is one of the first."""
        self.places += 1
        if len(self.first) < FIRST_PLACES:
            self.first.append(place)

    def seen(self, report: Mapping[str, Any], documents: int, positions: int) -> Seen:
        """Return what was found, with the scores."""
        found = self.reasons, self.listed, self.first, self.places, self.decided
        return Seen(report, documents, positions, *found)


class _Listing:
    """Makes places of the wrong spans of one text after the other; the first error says which columns rows have."""

    def __init__(
        self, choice: Choice, decisions: PlaceDecisions | None, metadata: Callable[[], Sequence[str]]
    ) -> None:
        self._choice, self._decisions, self._metadata = choice, decisions, metadata
        self._columns: RowColumns | None = None

    def groups(self, wrong: Iterable[JudgedSpan]) -> Iterator[list[JudgedSpan]]:
        """Yield the errors that are listed, place by place."""
        return groups(each for each in wrong if self._choice.lists(each))

    def places(self, pair: Pair, wrong: Sequence[JudgedSpan]) -> Iterator[Place]:
        """Yield the places of a text."""
        texts: tuple[SideTexts, SideTexts] | None = None
        for group in self.groups(wrong):
            texts = texts or texts_of(pair, self._choice.window)
            self._columns = self._columns or RowColumns.of(group[0], texts[group[0].side])
            place = self._with_parts(place_of(pair, group), group, texts, self._columns)
            if self._decisions is not None:
                place = place._replace(decision=self._decisions.at(place).cells)
            yield place
        if self._decisions is not None and self._choice != self._choice.of_all:
            for group in groups(each for each in wrong if each.is_error):
                self._decisions.leave_out(place_of(pair, group))

    def _with_parts(
        self, place: Place, group: Sequence[JudgedSpan], texts: Sequence[SideTexts], columns: RowColumns
    ) -> Place:
        """Return the place with its text, its lines and its rows."""
        around = place.at[2:]
        return place._replace(
            texts=Later(lambda: [marked(group, texts[0].context(around, around), texts)]),
            lines=Later(lambda: [line_of(each, texts[each.side], self._metadata()) for each in group]),
            findings=Later(lambda: [columns.row(each, texts[each.side]) for each in group]),
        )

    def choice_of(self, pair: Pair, group: Sequence[JudgedSpan]) -> str:
        """Return the choice that holds at a place, or nothing."""
        return "" if self._decisions is None else self._decisions.at(place_of(pair, group)).holds

    def end(self) -> None:
        """Raise `UsageError` for conflicts of decisions."""
        if self._decisions is not None:
            if self._choice.where:
                self._decisions.leave_out_lost()
            self._decisions.checked()


def metadata_of(given: Sequence[str] | None, result: Result | None) -> Sequence[str]:
    """Return names of metadata: those given, or all that the documents of a result have."""
    keys = () if result is None else result.bag.read.keys
    return [key for key in keys if key != "id"] if given is None else given


def place_of(pair: Pair, group: Sequence[JudgedSpan]) -> Place:
    """Return the key and the fingerprint of a place."""
    layers = {each.sequence for each in group}
    at = pair.first.id, ANY_LAYER if len(layers) > 1 else group[0].sequence, *hull(group)
    return Place(at, fingerprint(_spans(group)), (), ())


def groups(wrong: Iterable[JudgedSpan]) -> Iterator[list[JudgedSpan]]:
    """Yield wrong spans of a text, which come in order, place by place.

    Worked example: gold has [0,2) and [5,6), predicted has [1,3); the first two are one place, [5,6) is another.
    """
    for run in components((each.start, each.end, each) for each in wrong):
        yield [each for _, _, each in run]


def hull(group: Sequence[JudgedSpan]) -> tuple[int, int]:
    """Return the range from the first to the last position of all spans of a place."""
    return group[0].start, max([each.end for each in group])


def _spans(group: Iterable[JudgedSpan]) -> Iterator[tuple[str, Sequence[tuple[int, int]], str]]:
    """Yield the spans of a place as `fingerprint` takes them."""
    for each in group:
        yield each.side_name, each.span.fragments, each.span.label
        other_side = SIDES[1 - each.side]
        yield from ((other_side, other.fragments, other.label) for other in each.shown)
