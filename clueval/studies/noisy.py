"""`errors` of metric ``noisy``: every gold span with the predicted span that it takes, where the texts differ.

A place has the text of the gold span above the predicted text. Without a predicted span, this is the text opposite to
the gold span. What differs is marked in both; the number of these characters is the distance.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from clueval.core.alignment import align
from clueval.core.case import Where
from clueval.core.span import NOTHING
from clueval.metrics.noisy import Explanation, Noisy
from clueval.reports.language import numeral, phrase
from clueval.reports.place import Facet, Line, Mark, MarkedText, MarkKind, Place, fingerprint
from clueval.reports.table import Cell, Find, Part, Rate, Shares, Table
from clueval.studies.errors import ErrorReport, Pairs, Seen, Text
from clueval.studies.errors_view import facts_of, title_of
from clueval.studies.wrong import rereadable

if TYPE_CHECKING:
    from clueval.results.result import Result

RESULTS = ("matched", "not matched", "no counterpart")


class NoisyErrors(ErrorReport):
    """Every gold span with its counterpart, in the order of the texts.

    The metric says when texts match; `where` has the labels that count, by layer. The other arguments are those of
    `clueval.studies.errors.Errors`.
    """

    def __init__(
        self,
        pairs: Pairs,
        metric: Noisy = Noisy(),  # noqa: B008  # it cannot be changed
        *,
        where: Where = NOTHING,
        scored: Callable[[int], Result] | None = None,
        title: str = "",
        files: Sequence[str] = (),
    ) -> None:
        read = rereadable(pairs)
        super().__init__(lambda: ([pair] for pair in read()), None, (), scored, (title, files, ()))
        self._metric, self._where, self.store = metric, where, ""

    # in the language of the context
    @property
    def title(self) -> str:  # type: ignore[override]  # it is only read
        return title_of(self._title, self._files, phrase("Noisy texts"))

    @property
    def kinds(self) -> Sequence[MarkKind]:  # type: ignore[override]  # it is only read
        return [MarkKind("leak", "", phrase("differs"))]

    @property
    def facets(self) -> Sequence[Facet]:  # type: ignore[override]  # as above
        return [
            Facet("result", phrase("Result"), True, RESULTS),
            Facet("label", phrase("Label"), True),
            Facet("layer", phrase("Layer"), True),
            Facet("document", phrase("Document")),
        ]

    def _read(self, seen: Seen | None) -> Iterator[tuple[Text, Sequence[Sequence[tuple[str, Explanation]]]]]:
        for text in self._texts():
            layers = dict.fromkeys(layer for side in text[0].sides for layer in side.layers)
            explained = [
                (layer, one) for layer in layers for one in self._metric.explain(text[0], layer, self._where)
            ]
            if seen is not None:
                seen.places[None] += len(explained)
                seen.listed.update((layer, one.gold.label, _result(one)) for layer, one in explained)
            yield text, [[each] for each in explained]

    def _places_of(self, text: Text, groups: Iterable[Sequence[tuple[str, Explanation]]]) -> Iterator[Place]:
        document = text[0].first.id
        for ((layer, one),) in groups:
            spans = [("gold", one.gold), ("predicted", one.predicted)]
            yield Place(
                (document, layer, one.gold.start, one.gold.end),
                fingerprint((side, span.fragments, span.label) for side, span in spans if span is not None),
                _marked(one.gold_text, one.opposite if one.predicted is None else one.predicted_text),
                [_line(document, layer, one)],
                [_row(document, layer, one)],
            )

    def facts(self) -> Iterable[str]:
        return [] if self.result is None else facts_of(self.result.documents, self.result.tokens)

    def counts(self) -> dict[str, dict[str, int]]:
        """Return the number of gold spans by result."""
        numbers = dict.fromkeys(RESULTS, 0)
        for (_, _, result), number in self._seen.listed.items():
            numbers[result] += number
        return {"gold": numbers}

    def verdict(self) -> str:
        numbers = self.counts()["gold"]
        return phrase(
            "{number} of {n} gold span matched|{number} of {n} gold spans matched",
            number=numbers[RESULTS[0]],
            n=sum(numbers.values()),
        )

    def tables(self) -> Iterator[Table]:
        """Yield for each layer how many gold spans match, by label, the least share first."""
        counts: dict[str, dict[str, Counter[str]]] = {}
        for (layer, label, result), number in self._seen.listed.items():
            counts.setdefault(layer, {}).setdefault(label, Counter())[result] = number
        for layer, labels in counts.items():
            shares = sorted((found[RESULTS[0]] / found.total(), label) for label, found in labels.items())
            rows: list[list[Cell]] = []
            for share, label in shares:
                find, found = {"layer": layer, "label": label}, labels[label]
                bar = Shares(
                    [Part(found[result], phrase(result), {"result": result, **find}) for result in RESULTS]
                )
                rows.append([Find(label, find), bar, Rate(share), Find(found.total(), find)])
            title = phrase("{layer}: gold spans by label", layer=layer)
            yield Table(title, ["", phrase("spans"), "R", phrase("number")], rows)

    def to_dict(self) -> dict[str, Any]:
        """Return all gold spans as plain data, with texts of the corpus."""
        return {"spans": self.rows()}


def _result(one: Explanation) -> str:
    return RESULTS[2] if one.predicted is None else RESULTS[not one.matched]


def _marked(own: str, other: str) -> list[MarkedText]:
    """Return two texts, in which that which differs is marked; no span is too long to be shown."""
    marks: tuple[list[Mark], list[Mark]] = [], []
    ends = [0, 0]
    for pieces in align(own, other, max_cells=len(own) * len(other)).pieces():
        for side, piece in enumerate(pieces):
            if piece and pieces[0] != pieces[1]:
                marks[side].append(Mark(0, ends[side], ends[side] + len(piece)))
            ends[side] += len(piece)
    return [MarkedText(own, marks[0]), MarkedText(other, marks[1])]


def _line(document: str, layer: str, one: Explanation) -> Line:
    rate = "" if one.error_rate is None else f" = {numeral(100 * one.error_rate, '.2f')} %"
    distance = f"{phrase('distance')} {numeral(one.distance)} / {numeral(len(one.gold_text))}{rate}"
    result = _result(one)
    note = distance if one.predicted is not None else ""
    values = [result, one.gold.label, layer, document]
    if one.matched:  # no error
        return Line("", values, None, one.gold.label, "", f"{phrase(result)} {note}")
    return Line(phrase(result), values, None, one.gold.label, "", note)


def _row(document: str, layer: str, one: Explanation) -> dict[str, Any]:
    """Return the row of a gold span; ends are exclusive, and the error rate is a fraction."""
    other = one.predicted
    return {
        "document": document,
        "layer": layer,
        "label": one.gold.label,
        "gold_start": one.gold.start,
        "gold_end_exclusive": one.gold.end,
        "gold_text": one.gold_text,
        "predicted_start": None if other is None else other.start,
        "predicted_end_exclusive": None if other is None else other.end,
        "predicted_text": one.predicted_text,
        "opposite": one.opposite,
        "distance": one.distance,
        "error_rate": one.error_rate,
        "matched": "yes" if one.matched else "no",
    }
