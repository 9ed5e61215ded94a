"""`errors` of metric ``noisy``: every gold span with the predicted span that it takes, where the texts differ.

A place has the text of the gold span above the predicted text. Without a predicted span, this is the text opposite to
the gold span. What differs is marked in both; the number of these characters is the distance.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from clueval.core.alignment import align
from clueval.core.case import Where
from clueval.core.span import NOTHING
from clueval.metrics.noisy import Explanation, Noisy
from clueval.reports.language import numeral, phrase
from clueval.reports.place import Facet, Line, Mark, MarkedText, MarkKind, Place, fingerprint
from clueval.reports.report import Report
from clueval.reports.table import Cell, Find, Part, Rate, Shares, Table
from clueval.studies.errors import Pairs
from clueval.studies.errors_view import facts_of, title_of
from clueval.studies.wrong import rereadable

if TYPE_CHECKING:
    from clueval.results.result import Result

RESULTS = ("matched", "not matched", "no counterpart")


class NoisyErrors(Report):
    """Every gold span with its counterpart, in the order of the texts.

    Args:
        pairs: the pairs of all texts, as they are counted; or a function that returns them.
        metric: the metric, which says when texts match.
        where: the labels that count, by layer.
        scored: returns the result of the metric on the same texts; None: there are no scores.
        title, files: as for `clueval.studies.errors.Errors`.
    """

    def __init__(
        self,
        pairs: Pairs,
        metric: Noisy = Noisy(),  # noqa: B008  # it cannot be changed
        *,
        where: Where = NOTHING,
        scored: Callable[[], Result] | None = None,
        title: str = "",
        files: Sequence[str] = (),
    ) -> None:
        self._title, self._files, self._metric, self._where = title, files, metric, where
        self._pairs, self._scored = rereadable(pairs), scored

    @cached_property
    def result(self) -> Result | None:
        """The result of the metric; None if there are no scores."""
        return None if self._scored is None else self._scored()

    @property
    def signature(self) -> str:  # type: ignore[override]  # it is only read
        """The signature of the scores."""
        return "" if self.result is None else str(self.result.signature)

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

    def __iter__(self) -> Iterator[Place]:
        return self.places()

    def places(self) -> Iterator[Place]:
        for document, layer, one in self._explained():
            spans = [("gold", one.gold), ("predicted", one.predicted)]
            print_of = fingerprint(
                (side, span.fragments, span.label) for side, span in spans if span is not None
            )
            texts = _marked(one.gold_text, one.opposite if one.predicted is None else one.predicted_text)
            at = document, layer, one.gold.start, one.gold.end
            yield Place(at, print_of, texts, [_line(document, layer, one)], [_row(document, layer, one)])

    def _explained(self) -> Iterator[tuple[str, str, Explanation]]:
        """Yield the id of the document, the layer and the explanation of each gold span."""
        for pair in self._pairs():
            for layer in dict.fromkeys(layer for side in pair.sides for layer in side.layers):
                for one in self._metric.explain(pair, layer, self._where):
                    yield pair.first.id, layer, one

    def facts(self) -> Iterable[str]:
        return [] if self.result is None else facts_of(self.result.documents, self.result.tokens)

    def counts(self) -> dict[str, dict[str, int]]:
        """Return the number of gold spans by result."""
        found = Counter(_result(one) for _, _, one in self._explained())
        return {"gold": {result: found[result] for result in RESULTS}}

    def scores(self) -> dict[str, float]:
        """Return these numbers by short paths, as ``gold.matched``."""
        return {f"gold.{result}": float(number) for result, number in self.counts()["gold"].items()}

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
        for _, layer, one in self._explained():
            counts.setdefault(layer, {}).setdefault(one.gold.label, Counter())[_result(one)] += 1
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
