"""`errors`: the errors of a system, place by place, in their texts, and gold as it was decided.

Errors of both sides and all layers that overlap are one place: a wrong boundary makes an error of each side in each
layer, and an annotator looks at this place once. The range of an error is from the first to the last position of its
span and of all spans of the other side that overlap it; errors of a document are at the same place if their ranges are
in the same overlap component. Every error is at exactly one place, so the errors of all places are those that the
scores count.

The spans of a place are those that its card shows. The choice `predicted` replaces the gold spans that predicted does
not have by the predicted spans that gold does not have; `both` adds these; `none` takes the gold spans away. Other
spans, and places without a decision that holds, stay as they are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any

from clueval.core.case import LabelledRange, labelled_range
from clueval.core.document import Pair
from clueval.core.metric import RATES
from clueval.core.span import SIDES, Span, by_position, first_clash
from clueval.reports import FIRST_PLACES
from clueval.reports.language import phrase
from clueval.reports.place import ANY_LAYER, Facet, Later, MarkedText, MarkKind, Place, fingerprint
from clueval.reports.table import Cell, Rate, Table
from clueval.results import summary
from clueval.studies.decisions import BOTH, NONE, UNCLEAR, PlaceDecisions, ReportWithDecisions
from clueval.studies.errors.rows import RowColumns, SideTexts, texts_of
from clueval.studies.errors.search import REASONS, Choice, FoundPlace, JudgedSpan, Search, counted
from clueval.studies.errors.view import (
    entries_of,
    facets_of,
    line_of,
    marked,
    tables_of,
    title_of,
    verdict_of,
)

if TYPE_CHECKING:
    from clueval.results.result import Result


def changed_layers(
    side: int,
    layers: Mapping[str, Sequence[Span]],
    other_layers: Mapping[str, Sequence[Span]],
    wrong: Iterable[JudgedSpan],
    choice: str,
) -> dict[str, list[Span]]:
    """Return the layers of a side that a choice changes, with their spans by position."""
    shown: dict[str, list[dict[LabelledRange, Span]]] = {}
    for judged in wrong:
        sides = shown.setdefault(judged.sequence, [{}, {}])
        sides[judged.side][labelled_range(judged.span)] = judged.span
        sides[1 - judged.side].update((labelled_range(span), span) for span in judged.shown)
    changed = {}
    for layer, sides in shown.items():
        spans = layers.get(layer, ())
        keys = {*map(labelled_range, spans)}
        alone = sides[side].keys() - map(labelled_range, other_layers.get(layer, ()))
        kept = [span for span in spans if choice in (BOTH, SIDES[side]) or labelled_range(span) not in alone]
        if choice in (BOTH, SIDES[1 - side]):
            new = (span for key, span in sides[1 - side].items() if key not in keys)
            kept += [Span(span.start, span.end, span.labels, parts=span.parts) for span in new]
        if {*map(labelled_range, kept)} != keys:
            changed[layer] = sorted(kept, key=by_position)
    return changed


def tables_of_decisions(
    errors: Mapping[str, int], before: Mapping[str, Any], after: Mapping[str, Any], choice: Choice
) -> Iterator[Table]:
    """Yield whose the errors are, given their number by choice, and the scores as they are and with gold corrected."""
    owners = {
        "gold": phrase("the system's (gold is right)"),
        "predicted": phrase("gold's (the prediction is right)"),
        BOTH: phrase("gold's (both are right)"),
        NONE: phrase("of both (neither is right)"),
        UNCLEAR: phrase("unclear"),
        "": phrase("not decided"),
    }
    rows: list[list[Cell]] = [[words, errors.get(owner, 0)] for owner, words in owners.items()]
    yield Table(phrase("whose the errors are"), ["", phrase("errors")], rows)
    corrected_entries = {entry.title: entry for entry in entries_of(after, choice)}
    for entry in entries_of(before, choice):
        both = {
            phrase("gold as it is"): entry,
            phrase("gold corrected"): corrected_entries.get(entry.title, entry),
        }
        if entry.is_chosen:
            yield Table(
                phrase("{title}, with gold corrected", title=entry.title),
                ["", "P", "R", "F1", phrase("gold")],
                [
                    [
                        name,
                        *(Rate(version.micro[rate]) for rate in RATES),
                        version.micro["gold"],
                    ]
                    for name, version in both.items()
                ],
            )


Text = Sequence[Pair]
"""The pairs of one text, one for each system."""

Texts = Iterable[Text] | Callable[[], Iterable[Text]]
"""All texts, or what returns them each time anew."""


@dataclass
class ErrorTally:
    """What one reading of all texts finds.

    Attributes:
        first: the first places.
        places: the number of places; of two systems also that of places with an error in a state.
        listed: the number of errors by sequence, side, label and reason; of two systems by side and state.
        reasons: the number of spans that are not exactly right, whatever of them is listed, by `ReasonKey`; of two
            systems that of gold spans by their reasons in both.
        classes: the number of gold spans by their classes in both systems.
        decided: the number of errors by the choice that holds at their place, or nothing.
    """

    first: list[Place] = field(default_factory=list)
    places: Counter[str | None] = field(default_factory=Counter)
    listed: Counter[Any] = field(default_factory=Counter)
    reasons: Counter[Any] = field(default_factory=Counter)
    classes: Counter[tuple[str, str]] = field(default_factory=Counter)
    decided: Counter[str] = field(default_factory=Counter)


class ErrorReport(ReportWithDecisions):
    """The errors of one or two systems, place by place. Iterating reads the texts and holds one of them.

    `texts` are the pairs of each text, or what returns them each time anew; those of an iterator are held. `layers` are
    the layers in their order; further ones follow as they occur. `scored` returns the result of the choice's metric on
    the same texts, given the number of the system (from 0); without it they are counted here, with it `texts` may leave
    out texts and sentences without errors. `title` (else the names of the `files`, gold's first) says what was
    compared. `metadata` are the names by which the page filters (None: all).

    A subclass finds the errors of a text (`_read`), and makes a place of those that overlap (`_places_of`).
    """

    _store, _systems = "errors.html", 1

    def __init__(
        self,
        texts: Texts,
        choice: Choice | None = None,
        *,
        layers: Sequence[str] = (),
        scored: Callable[[int], Result] | None = None,
        title: str = "",
        files: Sequence[str] = (),
        metadata: Sequence[str] | None = None,
    ) -> None:
        held = list(texts) if isinstance(texts, Iterator) else texts
        self._texts: Callable[[], Iterable[Text]] = held if callable(held) else lambda: held
        self.choice, self.layers = choice or Choice(), layers
        self._scored, self._title, self._files, self._metadata = scored, title, files, metadata
        names = ": ".join(filter(None, ("Errors", " and ".join(files))))
        self.store = f"{self._store} {title or names}"
        self._record: ErrorTally | None = None

    def _read(self, tally: ErrorTally | None) -> Iterator[tuple[Text, Sequence[Any]]]:
        """Yield each text with its errors, place by place; `tally` counts them."""
        raise NotImplementedError

    def _places_of(self, text: Text, places: Iterable[Any]) -> Iterator[Place]:
        raise NotImplementedError

    def counts(self) -> dict[str, dict[str, int]]:
        raise NotImplementedError

    @cached_property
    def results(self) -> Sequence[Result]:
        """The result of the choice's metric for each system; none if the texts are counted here."""
        return [] if self._scored is None else [self._scored(system) for system in range(self._systems)]

    @property
    def result(self) -> Result | None:
        """The result for the first system."""
        return next(iter(self.results), None)

    @property
    def signature(self) -> str:  # type: ignore[override]  # it is only read
        """The signature of the scores."""
        return "" if self.result is None else str(self.result.signature)

    @cached_property
    def metadata(self) -> Sequence[str]:
        """The names of metadata by which the page filters: those that were given, or all that documents have."""
        if self._metadata is not None:
            return self._metadata
        return [] if self.result is None else [key for key in self.result.bag.read.keys if key != "id"]

    # in the language of the context
    @property
    def title(self) -> str:  # type: ignore[override]  # it is only read
        return title_of(self._title, self._files, phrase("Errors"))

    @property
    def facets(self) -> Sequence[Facet]:  # type: ignore[override]  # as above
        return facets_of(self.choice, self.metadata)

    def __iter__(self) -> Iterator[Place]:
        return self._listed(None)

    def places(self) -> Iterator[Place]:
        """Yield the places in the order of the texts; the tables need no further reading if all are read."""
        return self._listed(ErrorTally())

    def _listed(self, tally: ErrorTally | None) -> Iterator[Place]:
        for text, groups in self._read(tally):
            for place in self._places_of(text, groups):
                if tally is not None and len(tally.first) < FIRST_PLACES:
                    tally.first.append(place)
                yield place
        if self._scored is not None and tally is not None:
            self._record = tally

    @cached_property
    def _tally(self) -> ErrorTally:
        """What a reading of all texts has found, or finds now."""
        if self._record is not None:
            return self._record
        tally = ErrorTally()
        for text, groups in self._read(tally):
            if len(tally.first) < FIRST_PLACES:
                tally.first += self._places_of(text, groups[: FIRST_PLACES - len(tally.first)])
        return tally

    def first_places(self, number: int) -> tuple[Sequence[Place], int]:
        if number > FIRST_PLACES:
            return super().first_places(number)
        return self._tally.first[:number], self._tally.places[None]

    @cached_property
    def _reports(self) -> tuple[Sequence[Mapping[str, Any]], int, int]:
        """Of each system the report of the choice's metric by sequence; the numbers of documents and positions."""
        if self.results:
            reports = [result.metrics[self.choice.metric.name] for result in self.results]
            return reports, self.results[0].documents, self.results[0].tokens
        counts = [
            counted((text[system] for text in self._texts()), self.choice, self.layers)
            for system in range(self._systems)
        ]
        return [report for report, _, _ in counts], *counts[0][1:]

    def scores(self) -> dict[str, float]:
        """Return the numbers of `counts` by short paths, as ``gold.missed``."""
        return {
            f"{side}.{name}": float(n)
            for side, numbers in self.counts().items()
            for name, n in numbers.items()
        }

    @property
    def documents(self) -> int:
        """The number of documents."""
        return self._reports[1]

    def facts(self) -> Iterable[str]:
        _, documents, positions = self._reports
        return [*summary.counted(documents, positions), *self._answers_not_read(), self.choice.in_words()]

    def _answers_not_read(self) -> Iterable[str]:
        """Return what is said of answers of language models that are missing or unreadable."""
        return [] if self.result is None else summary.answers_not_read(self.result.prepared)

    def content(self) -> dict[str, Any]:
        """Return all errors as plain data, with texts of the corpus; positions are integers or empty."""
        prepared = [result.prepared for result in self.results if result.prepared is not None]
        return {
            "listed": self.choice.in_words(),
            "counts": self.counts(),
            **({"prepared": prepared} if prepared else {}),
            "errors": self.rows(),
        }


class Errors(ErrorReport):
    """The errors of predicted compared with gold, those that metric ``exact`` counts unless a choice selects others.

    Iterating yields a `Place` after the other, as the texts are read; holds one text. Forms, tables and files read the
    texts again. Raises the errors of metrics and files.

    The arguments `about` are those of `ErrorReport`; if there are decisions, all texts must be there.
    With `limit`, only this number of places is listed; tables and counts have all.

    >>> from clueval import Document, Span, errors
    >>> tokens = ["Frau", "Anna", "Weiß", "wohnt", "in", "Ulm"]
    >>> gold = Document("d", {"label": [Span(0, 2, "PER"), Span(5, 6, "LOC")]}, tokens=tokens)
    >>> predicted = Document("d", {"label": [Span(1, 3, "PER")]}, tokens=tokens)
    >>> [(place.at, [row["side"] for row in place.findings]) for place in errors([gold], [predicted])]
    [(('d', 'label', 0, 3), ['gold', 'predicted']), (('d', 'label', 5, 6), ['gold'])]
    """

    def __init__(
        self,
        texts: Texts,
        choice: Choice | None = None,
        *,
        decisions: PlaceDecisions | None = None,
        limit: int | None = None,
        **about: Any,
    ) -> None:
        super().__init__(texts, choice, **about)
        self.decisions, self.limit = decisions, limit
        if limit is not None:
            self.screen = None
        self._columns: RowColumns | None = None

    @property
    def kinds(self) -> Sequence[MarkKind]:  # type: ignore[override]  # in the language of the context
        return [MarkKind("above", "", phrase("gold")), MarkKind("below", "", phrase("predicted"))]

    @property
    def choices(self) -> Sequence[tuple[str, str]]:  # type: ignore[override]  # as above
        return [
            ("predicted", phrase("predicted is right")),
            ("gold", phrase("gold is right")),
            (BOTH, phrase("both are right")),
            (NONE, phrase("neither is right")),
            (UNCLEAR, phrase("unclear")),
        ]

    @property
    def decision_lines(self) -> Sequence[Mapping[str, str | int]]:  # type: ignore[override]  # it is only read
        return () if self.decisions is None else list(self.decisions.rows())

    def _read(self, tally: ErrorTally | None) -> Iterator[tuple[Text, Sequence[FoundPlace]]]:
        choice, decisions = self.choice, self.decisions
        search, search_of_all = Search(choice, self.layers), Search(choice.of_all, self.layers)
        documents: list[str] = []
        for text in self._texts():
            places = search.places(text)
            if tally is not None:
                tally.places[None] += len(places)
                if decisions is not None:
                    for found in places:
                        place = place_of(text[0], found.made())
                        tally.decided[decisions.at(place).holds] += len(found.errors)
            yield text, places
            if decisions is not None and not text[0].beside:
                documents.append(text[0].gold.id)
            if decisions is not None and choice != choice.of_all:
                for found in search_of_all.places(text):
                    decisions.leave_out(place_of(text[0], found.made()))
        search.end(tally)
        if decisions is not None:
            if choice.where:
                decisions.leave_out_lost()
            decisions.require_distinct(documents)
            decisions.checked()

    def _places_of(self, text: Text, places: Iterable[FoundPlace]) -> Iterator[Place]:
        texts = None
        for found in places:
            group = found.made()
            texts = texts or texts_of(text[0], self.choice.window)
            if self._columns is None:  # the first error says which columns rows have
                self._columns = RowColumns.of(group[0], texts[group[0].side])
            yield self._place(place_of(text[0], group), group, texts, self._columns)

    def _place(
        self, place: Place, group: Sequence[JudgedSpan], texts: Sequence[SideTexts], columns: RowColumns
    ) -> Place:
        around, impossible = place.at[2:], {}
        if texts[0].beside:
            impossible = dict.fromkeys(("predicted", BOTH), phrase("no position in the gold text"))

        def marked_texts() -> list[MarkedText]:
            others = ((1 - error.side, error.sequence, other) for error in group for other in error.shown)
            errors = ((error.side, error) for error in group)
            return [marked(texts[0].context(around, around), others, errors, texts)]

        return place._replace(
            texts=Later(marked_texts),
            lines=Later(lambda: [line_of(error, texts[error.side], self.metadata) for error in group]),
            findings=Later(lambda: [columns.row(error, texts[error.side]) for error in group]),
            decision={} if self.decisions is None else self.decisions.at(place).cells,
            impossible=impossible,
        )

    def _listed(self, tally: ErrorTally | None) -> Iterator[Place]:
        return islice(self._with_warning(super()._listed(tally)), self.limit)

    def _with_warning(self, places: Iterator[Place]) -> Iterator[Place]:
        yield from places
        if self.decisions is not None:
            self.decisions.warn_of_unused()

    def first_places(self, number: int) -> tuple[Sequence[Place], int]:
        if self.limit is not None:
            return list(self.places()), self._tally.places[None]
        return super().first_places(number)

    def counts(self) -> dict[str, dict[str, int]]:
        """Return the number of errors by side and reason."""
        numbers: Counter[tuple[int, str]] = Counter()
        for (_, side, _, reason), number in self._tally.listed.items():
            numbers[side, reason] += number
        return {
            name: {reason: numbers[side, reason] for reason in REASONS} for side, name in enumerate(SIDES)
        }

    def only_wrong_labels(self) -> dict[str, int]:
        """Return, by layer, how many spans have only a wrong label, if errors are chosen whatever their labels."""
        choice = self.choice
        if not choice.by_levels or choice.labelled is not None or choice.kinds or choice.reasons:
            return {}
        numbers: Counter[str] = Counter()
        level = str(choice.at_level)
        for of_sequence in self._reports[0][0].values():
            unlabelled = of_sequence["unlabelled"][level]
            for layer, by_level in of_sequence["labelled"].items():
                labelled = by_level[level]["micro"]
                for side in choice.sides:
                    numbers[layer] += unlabelled[f"tp_{side}"] - labelled[f"tp_{side}"]
        return {layer: int(number) for layer, number in numbers.items() if number}

    def verdict(self) -> str:
        return verdict_of(self._reports[0][0], self._tally.listed, self.choice)

    def facts(self) -> Iterable[str]:
        if self.decisions is None:
            return super().facts()
        _ = self._tally  # which decisions hold
        return [*super().facts(), self.decisions.words()]

    def tables(self) -> Iterable[Table]:
        """Yield for each layer what is right and wrong, labels worst first; then which labels are taken for others."""
        tally, report = self._tally, self._reports[0][0]
        yield from tables_of(report, tally.reasons, tally.listed, self.choice)
        if self.decisions is not None:
            after, _, _ = counted(self._corrected(self.decisions), self.choice, self.layers)
            yield from tables_of_decisions(tally.decided, report, after, self.choice)

    def first_tables(self, tables: Iterable[Table]) -> Iterable[Table]:
        """Return the tables that are not folded; what decisions say comes first."""
        of_labels = {entry.title for entry in entries_of(self._reports[0][0], self.choice)}
        return sorted(
            (table for table in tables if not table.is_folded), key=lambda table: table.title in of_labels
        )

    def _corrected(self, decisions: PlaceDecisions) -> Iterator[Pair]:
        """Yield the pairs with the gold spans that were chosen, in the order of the places.

        For metric ``levels``, a choice that would make spans of a layer overlap is not applied.
        """
        for (pair,), listed in self._read(None):
            layers: dict[str, Sequence[Span]] = dict(pair.gold.layers)
            for place in listed:
                group = place.made()
                choice = decisions.at(place_of(pair, group)).holds
                if pair.beside or choice not in ("predicted", BOTH, NONE):
                    continue
                changed = changed_layers(0, layers, pair.predicted.layers, group, choice)
                if layers.keys() >= changed.keys() and not (
                    self.choice.by_levels
                    and any(
                        first_clash(spans) is not None and first_clash(layers[layer]) is None
                        for layer, spans in changed.items()
                    )
                ):
                    layers |= changed
            yield replace(pair, gold=replace(pair.gold, layers=layers, tags={}))


def place_of(pair: Pair, group: Sequence[JudgedSpan]) -> Place:
    """Return the key and the fingerprint of a place."""
    layers = {error.sequence for error in group}
    layer = ANY_LAYER if len(layers) > 1 else group[0].sequence
    at = pair.first.id, layer, group[0].start, max([error.end for error in group])
    spans = {id(error.span): (error.side, error.span) for error in group}
    spans |= {id(other): (1 - error.side, other) for error in group for other in error.shown}
    named = [(SIDES[side], span.fragments, span.label) for side, span in spans.values()]
    return Place(at, fingerprint(named), (), ())
