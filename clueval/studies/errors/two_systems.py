"""Two systems on the same gold, place by place; and `diff`, an old and a new run of one system.

A span is *one* error, whether one system has it or both: a gold span that both miss, a predicted span that both have.
It is the same span if document, sequence, side, range and labels are the same. So the errors of one system are those in
both and those only in it, as its score counts them. Errors of both systems that overlap are at the same place; a place
shows all spans of both systems there, also the correct ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from clueval.core.document import Document
from clueval.core.levels import KINDS
from clueval.core.located import Located
from clueval.core.merging import with_merged
from clueval.core.span import SIDES, Span, SpanIndex, are_neighbours
from clueval.files.errors import UsageError
from clueval.reports.language import phrase
from clueval.reports.place import ANY_LAYER, Facet, Later, Line, MarkedText, MarkKind, Place, fingerprint
from clueval.reports.table import Cell, Table
from clueval.results.summary import answers_of_systems
from clueval.studies.decisions import NONE, UNCLEAR
from clueval.studies.errors.report import ErrorReport, ErrorTally, Text, Texts
from clueval.studies.errors.rows import Row, SideTexts, cells_of, texts_of
from clueval.studies.errors.search import (
    MOST_SHOWN,
    RIGHT,
    CaseErrors,
    Choice,
    FoundPlace,
    JudgedSpan,
    Search,
    parts_of,
)
from clueval.studies.errors.view import (
    RIGHT_OR_REASON,
    in_words,
    line_of,
    marked,
    tables_of_two,
    verdict_of_two,
)

Results = tuple[JudgedSpan | None, JudgedSpan | None]
"""A span in both systems; None: it does not have it, or does not count it."""

NEW, FIXED, CHANGED, STILL = "new", "fixed", "changed", "still"


class SharedError(NamedTuple):
    """A span that is an error of one system or of both: `by` says of which.

    `results` has the span in each system, and `listed` the error as each system has it that has it.
    """

    state: str
    results: Results
    by: tuple[bool, bool]
    listed: Sequence[JudgedSpan]

    @property
    def order(self) -> tuple[int, ...]:
        """The order of errors in a text: by range, those of the first system first."""
        return min([(*error.order, error is not self.results[0]) for error in self.listed])

    @property
    def end(self) -> int:
        """The position after the last one, of the error as each system has it."""
        return max([error.end for error in self.listed])

    def at(self, case: Located, found: CaseErrors) -> SharedError:
        """Return the error in a case that is equal to that of `found`."""
        first, second = self.results
        results = first and first.at(case, found, 0), second and second.at(case, found, 1)
        listed = [result for result, has in zip(results, self.by, strict=True) if result and has]
        return SharedError(self.state, results, self.by, listed)

    @property
    def rows(self) -> list[int]:
        """The rows of spans in the text of a place in which the error stands: 0 for gold, then the systems."""
        return [0] if self.listed[0].side == 0 else [row for row, has in enumerate(self.by, 1) if has]


class TwoSystems(ErrorReport):
    """The errors of two systems on the same gold: those in both, and those in one only.

    `texts` has of each text gold with the first system and gold with the second one, as they are counted. `names` are
    the short names of the systems. The arguments `about` are those of `ErrorReport`.
    """

    _store, _systems = "errors_of_two.html", 2

    def __init__(
        self,
        texts: Texts,
        choice: Choice | None = None,
        *,
        names: tuple[str, str] = ("A", "B"),
        **about: Any,
    ) -> None:
        super().__init__(texts, choice, **about)
        self.names = names

    @property
    def signature(self) -> str:  # type: ignore[override]  # it is only read
        """The signature of the scores; of each system, if they differ."""
        signatures = dict.fromkeys(str(result.signature) for result in self.results)
        if len(signatures) < 2:
            return "".join(signatures)
        return "; ".join(
            f"{name}: {signature}" for name, signature in zip(self.names, signatures, strict=True)
        )

    def state_names(self) -> Sequence[str]:
        """Return the states in their order."""
        return ("both", *(f"only {name}" for name in self.names))

    def state_of(self, side: int, results: Sequence[JudgedSpan | None]) -> str:
        """Return the state of an error, given its results in the systems that have it."""
        first, second = results
        both, only_one, only_two = self.state_names()
        return both if first and second else only_one if first else only_two

    # in the language of the context
    def state_title(self) -> str:
        """Return what states are called."""
        return phrase("Wrong in")

    def shown_names(self) -> tuple[str, str]:
        """Return the names of the systems."""
        return self.names

    @property
    def kinds(self) -> Sequence[MarkKind]:  # type: ignore[override]  # it is only read
        of_systems = (MarkKind("below", name, name) for name in self.shown_names())
        return [MarkKind("above", "", phrase("gold")), *of_systems]

    @property
    def facets(self) -> Sequence[Facet]:  # type: ignore[override]  # as above
        return [Facet("state", self.state_title(), True, self.state_names()), *super().facets]

    @property
    def choices(self) -> Sequence[tuple[str, str]]:  # type: ignore[override]  # as above
        shown = zip(self.names, self.shown_names(), strict=True)
        return [
            ("gold", phrase("gold is right")),
            *((name, phrase("{system} is right", system=in_language)) for name, in_language in shown),
            (NONE, phrase("none is right")),
            (UNCLEAR, phrase("unclear")),
        ]

    def counts(self) -> dict[str, dict[str, int]]:
        """Return the number of errors by side and state."""
        states, listed = self.state_names(), self._tally.listed
        return {name: {state: listed[side, state] for state in states} for side, name in enumerate(SIDES)}

    def verdict(self) -> str:
        return verdict_of_two(self._reports[0], self.choice, self.counts())

    def _answers_not_read(self) -> Iterable[str]:
        named = zip(self.shown_names(), self.results, strict=False)  # without results, texts are counted
        return answers_of_systems({name: result.prepared for name, result in named})

    def tables(self) -> Iterable[Table]:
        """Yield the numbers of errors by state, and F1 of both systems by label, the greatest difference first."""
        reports, _, _ = self._reports
        return tables_of_two(reports, self.shown_names(), self.choice, self.counts(), self._tally.places)

    def _read(self, tally: ErrorTally | None) -> Iterator[tuple[Text, Sequence[FoundPlace]]]:
        search = _SearchOfTwo(self)
        for text in self._texts():
            places = search.places(text)
            if tally is not None:
                tally.places[None] += len(places)
                for place in places:
                    tally.places.update({error.state for *_, error in place.errors})
            yield text, places
        search.end(tally)

    def _places_of(self, text: Text, places: Iterable[FoundPlace]) -> Iterator[Place]:
        spans: _SpansOfRows | None = None
        for found in places:
            group = found.made()
            if spans is None:
                spans, texts = _SpansOfRows(text, self.choice.merge), texts_of(text[0], self.choice.window)
            yield self._place(text[0].first.id, group, spans, texts)

    def _place(
        self, document: str, group: Sequence[SharedError], spans: _SpansOfRows, texts: Sequence[SideTexts]
    ) -> Place:
        wrong = [span for error in group for span in error.listed]
        start, end = min([span.start for span in wrong]), max([span.end for span in wrong])
        layers = list(dict.fromkeys(error.listed[0].sequence for error in group))
        errors = [(row, error.listed[0]) for error in group for row in error.rows]
        shown = [*spans.at(start, end, layers), *((row, error.sequence, error.span) for row, error in errors)]
        sides = "gold", *self.names

        def marked_texts() -> list[MarkedText]:
            return [marked(texts[0].context((start, end), (start, end)), shown, errors, texts)]

        def lines() -> list[Line]:
            names = self.shown_names()
            return [line_of_two(error, texts[error.listed[0].side], names, self.metadata) for error in group]

        def rows() -> list[Row]:
            return [self._row(error, texts[error.listed[0].side], place, spans) for error in group]

        place = Place(
            (document, layers[0] if len(layers) == 1 else ANY_LAYER, start, end),
            fingerprint((sides[row], span.fragments, span.label) for row, _, span in shown),
            Later(marked_texts),
            Later(lines),
            Later(rows),
        )
        return place

    def _row(self, error: SharedError, texts: SideTexts, place: Place, spans: _SpansOfRows) -> Row:
        """Return the row of an error: the reason and the class of its span in both systems, and what each has there."""
        first, named_results = error.listed[0], list(zip(self.names, error.results, strict=True))
        around = spans.at(first.span.start, first.span.end, [first.sequence])
        near = [(row, span) for row, _, span in around if are_neighbours(first.span, span)]
        one, two = ([span for row, span in near if row == number][:MOST_SHOWN] for number in (1, 2))
        return {
            "context": [*place.texts],
            "state": error.state,
            "document": texts.document.id,
            "side": first.side_name,
            "layer": first.sequence,
            **texts.range_cells("", [first.span]),
            "label": first.span.label,
            **{name: "-" if result is None else result.reason for name, result in named_results},
            "text": texts.of(first.span),
            **{f"{name}_class": "-" if result is None else result.kind for name, result in named_results},
            **cells_of(self.names[0], one, texts),
            **cells_of(self.names[1], two, texts),
        }


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
        before, after = ((result.reason, result.kind, result.found) if result else None for result in results)
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
        counts = super().counts()
        del counts[SIDES[1]][CHANGED]
        return counts

    @property
    def new(self) -> int:
        """The number of new errors, of both sides."""
        return sum(of_side[NEW] for of_side in self.counts().values())

    def tables(self) -> Iterable[Table]:
        """Yield those of `TwoSystems`, and what became of the reasons of gold spans."""
        yield from super().tables()
        reasons, _ = self._gold_counts
        rows: list[list[Cell]] = [
            [phrase(old), *(reasons[old, new] for new in RIGHT_OR_REASON)] for old in RIGHT_OR_REASON
        ]
        title = phrase("gold spans: rows in the old run, columns in the new run")
        yield Table(title, ["", *map(phrase, RIGHT_OR_REASON)], rows, is_folded=True)

    def content(self) -> dict[str, Any]:
        """Return the diff as plain data; reasons and classes of gold spans are by the old run, then by the new one."""

        def nested(numbers: Mapping[tuple[str, str], int], names: Sequence[str]) -> dict[str, dict[str, int]]:
            return {old: {new: numbers.get((old, new), 0) for new in names} for old in names}

        reasons, classes = self._gold_counts
        return {
            **super().content(),
            "reasons": nested(reasons, RIGHT_OR_REASON),
            "classes": nested(classes, KINDS),
        }

    @cached_property
    def _gold_counts(self) -> tuple[Counter[tuple[str, str]], Counter[tuple[str, str]]]:
        """The reasons and the classes of gold spans in both runs; spans that were skipped are right in both."""
        reasons, classes = self._tally.reasons, self._tally.classes
        if self._skips and SIDES[0] in self.choice.sides:
            old = self._reports[0][0]
            right_in_old = sum(of_sequence["micro"][f"tp_{SIDES[0]}"] for of_sequence in old.values())
            skipped = right_in_old - sum(n for (before, _), n in reasons.items() if before == RIGHT)
            reasons = reasons + Counter({(RIGHT, RIGHT): skipped})
            classes = classes + Counter({(KINDS[0], KINDS[0]): skipped})
        return reasons, classes


class _SearchOfTwo(Search):
    """Finds the errors of two systems; a case has the spans of gold and of a system, then those of the other pair."""

    def __init__(self, report: TwoSystems) -> None:
        super().__init__(report.choice, report.layers, systems=2)
        self._state_of = report.state_of

    def _errors_in(self, case: Located, text: Text) -> CaseErrors:
        results_by_key: dict[_Key, list[JudgedSpan | None]] = {}
        for system, pair in enumerate(text):
            of_pair = slice(2 * system, 2 * system + 2)
            for part in parts_of(case.sides[of_pair], case.counted[of_pair]):
                for judged in self.judged(pair, case.sequence, *part, also_right=True):
                    key = judged.side, *place_and_labels(judged.span)
                    results_by_key.setdefault(key, [None, None])[system] = judged
        errors: list[SharedError] = []
        counts: list[tuple[str, Any]] = []
        for first, second in results_by_key.values():
            wrong = self._if_listed(first), self._if_listed(second)
            listed = [result for result in wrong if result]
            if listed:
                state = self._state_of(listed[0].side, wrong)
                by = wrong[0] is not None, wrong[1] is not None
                errors.append(SharedError(state, (first, second), by, listed))
                counts.append(("listed", (listed[0].side, state)))
            if SIDES[0] in self.choice.sides and first and second and first.side == 0:
                old, new = ("missed" if each.kind == "partial" else each.kind for each in (first, second))
                counts += [("reasons", (first.reason, second.reason)), ("classes", (old, new))]
        return CaseErrors(case, sorted(errors, key=lambda error: error.order), counts)

    def _if_listed(self, result: JudgedSpan | None) -> JudgedSpan | None:
        return result if result and self.choice.lists(result) else None


_Key = tuple[object, ...]
"""Sequence, side, position and labels of a span."""


def place_and_labels(span: Span) -> _Key:
    """Return what spans of two systems have in common that count as the same: position and labels."""
    labels = tuple(span.by_layer.items())
    return span.start, span.end, span.parts, labels if len(labels) == 1 else tuple(sorted(labels, key=str))


class _SpansOfRows:
    """The spans of gold (row 0) and of the systems in one text; gold's are those of both pairs, each once."""

    def __init__(self, text: Text, merge: bool) -> None:
        rows = [[pair.gold for pair in text], *([pair.predicted] for pair in text)]
        layers = [layer for row in rows for document in row for layer in document.layers]
        self._rows = [[with_merged(document, layers) for document in row] if merge else row for row in rows]
        self._indexes: dict[tuple[int, str], tuple[list[Span], SpanIndex]] = {}

    def at(self, start: int, end: int, layers: Iterable[str]) -> Iterator[tuple[int, str, Span]]:
        """Yield the spans of these layers that overlap a range, each with its row and its layer."""
        for layer in layers:
            for row, documents in enumerate(self._rows):
                if (row, layer) not in self._indexes:
                    spans = _union(documents, layer)
                    self._indexes[row, layer] = spans, SpanIndex(spans)
                spans, index = self._indexes[row, layer]
                yield from ((row, layer, spans[number]) for number in index.near(Span(start, end)))


def _union(documents: Sequence[Document], layer: str) -> list[Span]:
    """Return the spans of the first document, then those of the others that it does not have."""
    first, *others = ([*document.layers.get(layer, ())] for document in documents)
    if all(spans == first for spans in others):
        return first
    places = {place_and_labels(span) for span in first}
    return first + [span for spans in others for span in spans if place_and_labels(span) not in places]


# --- how a place is shown


def line_of_two(error: SharedError, texts: SideTexts, names: Sequence[str], metadata: Sequence[str]) -> Line:
    """Return the line of an error, with its state, and what is wrong by system if that differs."""
    line = line_of(error.listed[0], texts, metadata)
    descriptions = [in_words(judged_span) for judged_span in error.listed]
    words = descriptions[0]
    if len(descriptions) == 2 and descriptions[0] != descriptions[1]:
        words = ", ".join(
            f"{name}: {description}" for name, description in zip(names, descriptions, strict=True)
        )
    words = f"{phrase(error.state)}: {words}"
    return line._replace(words=words, values=(error.state, *line.values), kind=error.rows[0])
