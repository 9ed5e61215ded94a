"""Two systems on the same gold, place by place; and `diff`, an old and a new run of one system.

A span is *one* error, whether one system has it or both: a gold span that both miss, a predicted span that both have.
It is the same span if document, sequence, side, range and labels are the same. So the errors of one system are those in
both and those only in it, as its score counts them. Errors of both systems that overlap are at the same place; a place
shows all spans of both systems there, also the correct ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from clueval.core.case import EqualCase
from clueval.core.count import collector_paused
from clueval.core.document import Document, Pair
from clueval.core.matching import KINDS, with_merged
from clueval.core.overlap import SpanIndex, components
from clueval.core.span import SIDES, Span
from clueval.files.errors import UsageError
from clueval.reports.content import FIRST_PLACES
from clueval.reports.language import phrase
from clueval.reports.place import ANY_LAYER, Facet, Later, MarkKind, Place, fingerprint
from clueval.reports.report import Report
from clueval.reports.table import Table
from clueval.studies.errors import metadata_of
from clueval.studies.errors_view import facets_of, facts_of, store_of, title_of
from clueval.studies.rows import SideTexts, texts_of
from clueval.studies.systems_view import (
    REASONS_OF_GOLD,
    SharedError,
    choices_of,
    line_of,
    marked,
    row_of,
    tables_of,
    transitions,
    verdict_of,
)
from clueval.studies.wrong import (
    RIGHT,
    Choice,
    JudgedSpan,
    Search,
    counted,
    judged,
    rereadable,
    right,
    text_order,
)

if TYPE_CHECKING:
    from clueval.results.result import Result

Texts = Iterable[Sequence[Pair]] | Callable[[], Iterable[Sequence[Pair]]]
"""Of each text gold with the first system and with the second one; or what returns them each time anew."""

Results = tuple[JudgedSpan | None, JudgedSpan | None]
"""A span in both systems; None: it does not have it, or does not count it."""

NEW, FIXED, CHANGED, STILL = "new", "fixed", "changed", "still"


class SeenByBoth(NamedTuple):
    """What one reading of all texts finds.

    Attributes:
        states: the number of errors by side and state.
        places: the number of places with an error in a state, and of all (None).
        reasons, classes: of how many gold spans these are the reasons, or the classes, in both systems.
        first: the first places.
    """

    states: Counter[tuple[int, str]]
    places: Counter[str | None]
    reasons: Counter[tuple[str, str]]
    classes: Counter[tuple[str, str]]
    first: list[Place]


class TwoSystems(Report):
    """The errors of two systems on the same gold: those in both, and those in one only.

    Iterating yields a `Place` after the other, as the texts are read; holds one text. The rest reads them again.

    Args:
        texts: of each text gold with the first system and gold with the second one, as they are counted; or a function
            that returns them.
        choice: selects the errors, as for `Errors`.
        names: the short names of the systems.
        layers: the layers in their order; further ones follow as they occur.
        scored: returns the result of the choice's metric for a system, 0 or 1; None: texts are counted here.
        title, files, metadata: as for `Errors`.
    """

    def __init__(
        self,
        texts: Texts,
        choice: Choice | None = None,
        *,
        names: tuple[str, str] = ("A", "B"),
        layers: Sequence[str] = (),
        scored: Callable[[int], Result] | None = None,
        title: str = "",
        files: Sequence[str] = (),
        metadata: Sequence[str] | None = None,
    ) -> None:
        self.choice, self.names, self.layers = choice or Choice(), names, layers
        if self.choice.fair is not None:
            advice = "use exact or levels"
            raise UsageError("errors of metric fair cannot be compared span by span", advice=advice)
        self._metadata, self._title, self._files = metadata, title, files
        self.store = store_of("errors_of_two.html", title, files)
        self._texts, self._scored = rereadable(texts), scored
        self._record: SeenByBoth | None = None

    @cached_property
    def results(self) -> Sequence[Result]:
        """The results of the choice's metric for both systems; none if the texts were counted here."""
        return [] if self._scored is None else [self._scored(0), self._scored(1)]

    @cached_property
    def metadata(self) -> Sequence[str]:
        """The names of metadata by which the page filters."""
        return metadata_of(self._metadata, next(iter(self.results), None))

    @property
    def signature(self) -> str:  # type: ignore[override]  # it is only read
        """The signature of the scores; of each system, if they differ."""
        found = dict.fromkeys(str(result.signature) for result in self.results)
        if len(found) < 2:
            return "".join(found)
        return "; ".join(f"{name}: {each}" for name, each in zip(self.names, found, strict=True))

    def state_names(self) -> Sequence[str]:
        """Return the states in their order."""
        return ("both", *(f"only {name}" for name in self.names))

    def state_of(self, side: int, results: Sequence[JudgedSpan | None]) -> str:
        """Return the state of an error, given its results in the systems that have it."""
        one, two = results
        both, only_one, only_two = self.state_names()
        return both if one and two else only_one if one else only_two

    def state_title(self) -> str:
        """Return what states are called, in the language of the context."""
        return phrase("Wrong in")

    def shown_names(self) -> tuple[str, str]:
        """Return the names of the systems in the language of the context."""
        return self.names

    # in the language of the context
    @property
    def title(self) -> str:  # type: ignore[override]  # it is only read
        return title_of(self._title, self._files, phrase("Errors"))

    @property
    def kinds(self) -> Sequence[MarkKind]:  # type: ignore[override]  # as above
        of_systems = (MarkKind("below", name, name) for name in self.shown_names())
        return [MarkKind("above", "", phrase("gold")), *of_systems]

    @property
    def facets(self) -> Sequence[Facet]:  # type: ignore[override]  # as above
        return [
            Facet("state", self.state_title(), True, self.state_names()),
            *facets_of(self.choice, self.metadata),
        ]

    @property
    def choices(self) -> Sequence[tuple[str, str]]:  # type: ignore[override]  # as above
        return choices_of(self.names, self.shown_names())

    def __iter__(self) -> Iterator[Place]:
        return self.places()

    def places(self) -> Iterator[Place]:
        """Yield the places in the order of the texts; the tables need no further reading if all are read."""
        seen = SeenByBoth(Counter(), Counter(), Counter(), Counter(), [])
        for pairs, found, equal in self._found():
            for place in self._places(pairs, self._see(seen, found, equal)):
                if len(seen.first) < FIRST_PLACES:
                    seen.first.append(place)
                yield place
        if self._scored is not None:
            self._record = seen

    def first_places(self, number: int) -> tuple[Sequence[Place], int]:
        if number > FIRST_PLACES:
            return super().first_places(number)
        return self._seen.first[:number], self._seen.places[None]

    def counts(self) -> dict[str, dict[str, int]]:
        """Return the number of errors by side and state."""
        states, found = self.state_names(), self._seen.states
        return {name: {state: found[side, state] for state in states} for side, name in enumerate(SIDES)}

    def scores(self) -> dict[str, float]:
        """Return the numbers of errors by side and state, as ``gold.new``."""
        return {f"{side}.{state}": float(n) for side, of in self.counts().items() for state, n in of.items()}

    def verdict(self) -> str:
        return verdict_of(self._scores_of_both[0], self.choice, self.counts())

    def facts(self) -> Iterable[str]:
        _, documents, positions = self._scores_of_both
        return [*facts_of(documents, positions), self.choice.in_words()]

    def tables(self) -> Iterable[Table]:
        """Yield the numbers of errors by state, and F1 of both systems by label, the greatest difference first."""
        reports, _, _ = self._scores_of_both
        return tables_of(reports, self.shown_names(), self.choice, self.counts(), self._seen.places)

    def to_dict(self) -> dict[str, Any]:
        """Return all errors as plain data, with texts of the corpus."""
        return {"listed": self.choice.in_words(), "counts": self.counts(), "errors": self.rows()}

    @cached_property
    def _scores_of_both(self) -> tuple[Sequence[Mapping[str, Any]], int, int]:
        if self.results:
            reports = [result.metrics[self.choice.metric.name] for result in self.results]
            return reports, self.results[0].documents, self.results[0].tokens
        found = [
            counted((pairs[system] for pairs in self._texts()), self.choice, self.layers) for system in (0, 1)
        ]
        return [report for report, _, _ in found], found[0][1], found[0][2]

    @cached_property
    def _seen(self) -> SeenByBoth:
        """What a reading of all texts has found, or finds now."""
        if self._record is not None:
            return self._record
        seen = SeenByBoth(Counter(), Counter(), Counter(), Counter(), [])
        for pairs, found, equal in self._found():
            of_text = self._see(seen, found, equal)
            if len(seen.first) < FIRST_PLACES:
                seen.first.extend(self._places(pairs, of_text[: FIRST_PLACES - len(seen.first)]))
        return seen

    def _see(
        self, seen: SeenByBoth, found: Sequence[Results], equal: int
    ) -> list[list[tuple[int, SharedError]]]:
        """Return the errors of a text, place by place; `seen` gets what was found."""
        if equal and SIDES[0] in self.choice.sides:
            seen.reasons[RIGHT, RIGHT] += equal
            seen.classes[KINDS[0], KINDS[0]] += equal
        for one, two in found:
            if one is not None and two is not None and one.side == 0 and SIDES[0] in self.choice.sides:
                seen.reasons[one.reason, two.reason] += 1
                seen.classes[_of_five(one), _of_five(two)] += 1
        of_text = list(groups(self._errors(found)))
        for group in of_text:
            errors = _once(group)
            seen.states.update((error.judged.side, error.state) for error in errors)
            seen.places.update({None, *(error.state for error in errors)})
        return of_text

    def _found(self) -> Iterator[tuple[Sequence[Pair], list[Results], int]]:
        """Yield the pairs of each text, the results in both systems of its spans that count, and how many are left out.

        These are gold spans that both systems have found, and that nothing else overlaps.
        """
        searches = Search(self.choice, self.layers), Search(self.choice, self.layers)
        for pairs in self._texts():
            with collector_paused(pairs):
                found, number = self._results(pairs, searches)
            yield pairs, found, number
        for search in searches:
            search.end()

    def _results(self, pairs: Sequence[Pair], searches: Sequence[Search]) -> tuple[list[Results], int]:
        found: dict[_Key, list[JudgedSpan | None]] = {}
        equal: list[set[_Key]] = []
        for system, (search, pair) in enumerate(zip(searches, pairs, strict=True)):
            left_out: list[EqualCase] | None = None if self.choice.where else []
            for case in search.cases(pair, left_out):
                for each in judged(pair, case, self.choice, also_right=True):
                    key = each.sequence, each.side, *place_and_labels(each.span)
                    found.setdefault(key, [None, None])[system] = each
            equal.append({(each.sequence, 0, *place_and_labels(each.span)) for each in left_out or ()})
        for (sequence, _, *place), results in found.items():
            for system, keys in enumerate(equal):
                if results[system] is None and (sequence, 0, *place) in keys:
                    results[system] = right(results[1 - system])
        return [(one, two) for one, two in found.values()], len(equal[0] & equal[1])

    def _errors(self, found: Iterable[Results]) -> Iterator[tuple[int, SharedError]]:
        """Yield the errors that are listed, once for each system that has them, with its number."""
        for results in found:
            by = tuple(each is not None and self.choice.lists(each) for each in results)
            if any(by):
                side = next(each.side for each in results if each is not None)
                wrong = [each if is_error else None for each, is_error in zip(results, by, strict=True)]
                error = SharedError(self.state_of(side, wrong), results, (by[0], by[1]))
                yield from ((system, error) for system, is_error in enumerate(by) if is_error)

    def _places(
        self, pairs: Sequence[Pair], found: Iterable[Sequence[tuple[int, SharedError]]]
    ) -> Iterator[Place]:
        spans: _SpansOfRows | None = None
        for group in found:
            spans = spans or _SpansOfRows(pairs, self.choice.merge)
            yield self._place(pairs, group, spans)

    def _place(
        self, pairs: Sequence[Pair], group: Sequence[tuple[int, SharedError]], spans: _SpansOfRows
    ) -> Place:
        ranges = [_of(error, system).range for system, error in group]
        start, end = min(ranges)[0], max([past for _, past in ranges])
        layers = list(dict.fromkeys(error.judged.sequence for _, error in group))
        shown = list(spans.at(start, end, layers))
        errors = _once(group)
        texts = spans.texts(pairs, self.choice.window)
        context = texts[0].context((start, end), (start, end))
        text = marked(context, shown, errors)
        sides = ("gold", *self.names)
        return Place(
            (pairs[0].first.id, layers[0] if len(layers) == 1 else ANY_LAYER, start, end),
            fingerprint((sides[row], span.fragments, span.label) for row, span in shown),
            [text],
            Later(
                lambda: [
                    line_of(error, texts[error.judged.side], self.shown_names(), self.metadata)
                    for error in errors
                ]
            ),
            Later(lambda: [row_of(error, texts[error.judged.side], self.names, text) for error in errors]),
        )


class Diff(TwoSystems):
    """The errors of two runs on the same gold, called old and new: which are new, fixed, changed, or still there.

    An error of the gold side that is in both runs has *changed* if its reason, its class, or the labels that were found
    are others. Raises `UsageError` for a choice of classes or reasons, because they can change.

    With `skips`, errors are those of metric ``exact``, and the texts may lack spans that are right in both runs.

    >>> from clueval import diff
    >>> gold = [["B-PER", "B-LOC"]]
    >>> diff(gold, [["B-PER", "O"]], gold).verdict()
    'F1 66.67 → 100.00 (+33.33); errors: 0 new, 1 fixed, 0 changed, 0 still'
    """

    def __init__(
        self, texts: Texts, choice: Choice | None = None, *, skips: bool = False, **options: Any
    ) -> None:
        if choice is not None and (choice.kinds or choice.reasons):
            advice = "leave out kinds and reasons"
            raise UsageError("diff compares errors of all classes and reasons", advice=advice)
        super().__init__(texts, choice, **{"names": ("old", "new"), **options})
        self._skips = skips

    def state_names(self) -> Sequence[str]:
        return NEW, FIXED, CHANGED, STILL

    def state_of(self, side: int, results: Sequence[JudgedSpan | None]) -> str:
        before, after = ((each.reason, each.kind, each.match.labels) if each else None for each in results)
        if before is None or after is None:
            return NEW if before is None else FIXED
        return STILL if side == 1 or before == after else CHANGED

    def state_title(self) -> str:
        return phrase("State")

    @property
    def title(self) -> str:  # type: ignore[override]  # in the language of the context
        if self._title or not self._files:
            return super().title
        _, old, new = self._files
        return phrase("What changed: {old} → {new}", old=old, new=new)

    def shown_names(self) -> tuple[str, str]:
        old, new = self.names
        return phrase("old") if old == "old" else old, phrase("new") if new == "new" else new

    def counts(self) -> dict[str, dict[str, int]]:
        """Return the number of errors by side and state; predicted spans do not change."""
        gold, predicted = super().counts().values()
        return {SIDES[0]: gold, SIDES[1]: {s: n for s, n in predicted.items() if s != CHANGED}}

    @property
    def new(self) -> int:
        """The number of new errors, of both sides."""
        return sum(of_side[NEW] for of_side in self.counts().values())

    def tables(self) -> Iterable[Table]:
        """Yield those of `TwoSystems`, and what became of the reasons of gold spans."""
        yield from super().tables()
        reasons, _ = self._of_gold
        yield transitions(reasons)

    def to_dict(self) -> dict[str, Any]:
        """Return the diff as plain data; reasons and classes of gold spans are by the old run, then by the new one."""
        reasons, classes = self._of_gold
        return {
            **super().to_dict(),
            "reasons": _nested(reasons, REASONS_OF_GOLD),
            "classes": _nested(classes, KINDS),
        }

    @cached_property
    def _of_gold(self) -> tuple[Counter[tuple[str, str]], Counter[tuple[str, str]]]:
        """The reasons and the classes of gold spans in both runs; spans that were skipped are right in both."""
        reasons, classes = self._seen.reasons, self._seen.classes
        if self._skips and SIDES[0] in self.choice.sides:
            (old, _), _, _ = self._scores_of_both
            right_in_old = sum(of_sequence["micro"][f"tp_{SIDES[0]}"] for of_sequence in old.values())
            skipped = right_in_old - sum(n for (before, _), n in reasons.items() if before == RIGHT)
            reasons = reasons + Counter({(RIGHT, RIGHT): skipped})
            classes = classes + Counter({(KINDS[0], KINDS[0]): skipped})
        return reasons, classes


def groups(found: Iterable[tuple[int, SharedError]]) -> Iterator[list[tuple[int, SharedError]]]:
    """Yield the errors of one text place by place, in the order of the text."""
    ordered = sorted(found, key=lambda each: (*text_order(_of(each[1], each[0])), each[0]))
    for run in components((*_of(error, system).range, (system, error)) for system, error in ordered):
        yield [each for _, _, each in run]


def _once(group: Iterable[tuple[int, SharedError]]) -> list[SharedError]:
    """Return the errors of a place, each once."""
    return list({id(error): error for _, error in group}.values())


def _of(error: SharedError, system: int) -> JudgedSpan:
    found = error.results[system]
    assert found is not None
    return found


def _of_five(each: JudgedSpan) -> str:
    """Return the class of a gold span, of the five by which levels count."""
    return "missed" if each.kind == "partial" else each.kind


def _nested(numbers: Mapping[tuple[str, str], int], names: Sequence[str]) -> dict[str, dict[str, int]]:
    return {one: {two: numbers.get((one, two), 0) for two in names} for one in names}


_Key = tuple[object, ...]
"""Sequence, side, position and labels of a span."""


def place_and_labels(span: Span) -> _Key:
    """Return what spans of two systems have in common that count as the same: position and labels."""
    labels = span.by_layer
    return (
        span.start,
        span.end,
        span.parts,
        tuple(labels.items() if len(labels) == 1 else sorted(labels.items(), key=str)),
    )


class _SpansOfRows:
    """The spans of gold (row 0) and of the systems in one text; gold's are those of both pairs, each once."""

    def __init__(self, pairs: Sequence[Pair], merge: bool) -> None:
        rows = [[pair.gold for pair in pairs], *([pair.predicted] for pair in pairs)]
        layers = [layer for row in rows for each in row for layer in each.layers]
        self._rows = [[with_merged(each, layers) for each in row] if merge else row for row in rows]
        self._found: dict[tuple[int, str], tuple[list[Span], SpanIndex]] = {}
        self._texts: tuple[SideTexts, SideTexts] | None = None

    def texts(self, pairs: Sequence[Pair], window: int | None) -> tuple[SideTexts, SideTexts]:
        """Return the texts for the errors of each side."""
        self._texts = self._texts or texts_of(pairs[0], window)
        return self._texts

    def at(self, start: int, end: int, layers: Iterable[str]) -> Iterator[tuple[int, Span]]:
        """Yield the spans of these layers that overlap a range, each with its row."""
        for layer in layers:
            for row, documents in enumerate(self._rows):
                if (row, layer) not in self._found:
                    spans = _union(documents, layer)
                    self._found[row, layer] = spans, SpanIndex(spans)
                spans, index = self._found[row, layer]
                yield from ((row, spans[number]) for number in index.overlapping(Span(start, end)))


def _union(documents: Sequence[Document], layer: str) -> list[Span]:
    """Return the spans of the first document, then those of the others that it does not have."""
    first, *others = ([*document.layers.get(layer, ())] for document in documents)
    known = {place_and_labels(span) for span in first}
    return first + [span for spans in others for span in spans if place_and_labels(span) not in known]
