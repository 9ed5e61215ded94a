"""The errors of metric ``noisy``: every gold span with the predicted span that it takes, where the texts differ.

A place has the text of the gold span above the predicted text. Without a predicted span, this is the text opposite to
the gold span. What differs is marked in both; the number of these characters is the distance.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from clueval.core.alignment import align
from clueval.core.count import Plan
from clueval.core.document import metadata_with_id
from clueval.metrics.noisy import Explanation, Noisy
from clueval.reports.language import numeral, phrase
from clueval.reports.place import Facet, Line, Mark, MarkedText, MarkKind, Place, fingerprint
from clueval.reports.table import Cell, Find, Part, Rate, Shares, Table
from clueval.studies.errors.report import ErrorReport, ErrorTally, Text, Texts
from clueval.studies.errors.view import title_of

RESULTS = ("matched", "not matched", "no counterpart")


class NoisyErrors(ErrorReport):
    """Every gold span with its counterpart, in the order of the texts.

    The metric says when texts match; `plan` has the filter. The arguments `about` are those of `ErrorReport`.
    """

    def __init__(
        self,
        texts: Texts,
        metric: Noisy = Noisy(),  # noqa: B008  # it cannot be changed
        *,
        plan: Plan = Plan(()),  # noqa: B008  # as above
        **about: Any,
    ) -> None:
        super().__init__(texts, metadata=(), **about)
        self._metric, self._plan, self.store = metric, plan, ""

    # in the language of the context
    @property
    def title(self) -> str:  # type: ignore[override]  # it is only read
        return title_of(self._title, self._files, phrase("Noisy texts"))

    @property
    def kinds(self) -> Sequence[MarkKind]:  # type: ignore[override]  # it is only read
        return [MarkKind("leak", "", phrase("differs (above: gold, below: predicted)"))]

    @property
    def facets(self) -> Sequence[Facet]:  # type: ignore[override]  # as above
        return [
            Facet("result", phrase("Result"), True, RESULTS),
            Facet("label", phrase("Label"), True),
            Facet("layer", phrase("Layer"), True),
            Facet("document", phrase("Document")),
        ]

    def _read(self, tally: ErrorTally | None) -> Iterator[tuple[Text, Sequence[tuple[str, Explanation]]]]:
        for text in self._texts():
            layers = [*dict.fromkeys(layer for side in text[0].sides for layer in side.layers)]
            metadata = metadata_with_id(text[0].first)
            if not self._plan.takes(metadata, layers):
                continue
            where = self._plan.on_spans(metadata, layers)
            explained = [
                (layer, explanation)
                for layer in layers
                for explanation in self._metric.explain(text[0], layer, where)
            ]
            if tally is not None:
                tally.places[None] += len(explained)
                tally.listed.update(
                    (layer, explanation.gold.label, _outcome(explanation)) for layer, explanation in explained
                )
            yield text, explained

    def _places_of(self, text: Text, places: Iterable[tuple[str, Explanation]]) -> Iterator[Place]:
        document = text[0].first.id
        for layer, explanation in places:
            spans = [("gold", explanation.gold), ("predicted", explanation.predicted)]
            yield Place(
                (document, layer, explanation.gold.start, explanation.gold.end),
                fingerprint((side, span.fragments, span.label) for side, span in spans if span is not None),
                _marked(
                    explanation.gold_text,
                    explanation.opposite if explanation.predicted is None else explanation.predicted_text,
                ),
                [_line(document, layer, explanation)],
                [_row(document, layer, explanation)],
            )

    def facts(self) -> Iterable[str]:
        return [] if self.result is None else self.result.facts()

    def counts(self) -> dict[str, dict[str, int]]:
        """Return the number of gold spans by result."""
        numbers = dict.fromkeys(RESULTS, 0)
        for (_, _, result), number in self._tally.listed.items():
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
        for (layer, label, result), number in self._tally.listed.items():
            counts.setdefault(layer, {}).setdefault(label, Counter())[result] = number
        for layer, labels in counts.items():
            shares = sorted(
                (results[RESULTS[0]] / results.total(), label) for label, results in labels.items()
            )
            rows: list[list[Cell]] = []
            for share, label in shares:
                find, results = {"layer": layer, "label": label}, labels[label]
                bar = Shares(
                    [Part(results[result], phrase(result), {"result": result, **find}) for result in RESULTS]
                )
                rows.append([Find(label, find), bar, Rate(share), Find(results.total(), find)])
            title = phrase("{layer}: gold spans by label", layer=layer)
            yield Table(title, ["", phrase("spans"), "R", phrase("number")], rows)

    def content(self) -> dict[str, Any]:
        """Return all gold spans as plain data, with texts of the corpus."""
        return {"spans": self.rows()}


def _outcome(explanation: Explanation) -> str:
    return RESULTS[2] if explanation.predicted is None else RESULTS[not explanation.matched]


def _marked(gold_text: str, opposite: str) -> list[MarkedText]:
    """Return two texts, in which that which differs is marked; no span is too long to be shown."""
    marks: tuple[list[Mark], list[Mark]] = [], []
    ends = [0, 0]
    for pieces in align(gold_text, opposite, max_cells=len(gold_text) * len(opposite)).pieces():
        for side, piece in enumerate(pieces):
            if piece and pieces[0] != pieces[1]:
                marks[side].append(Mark(0, ends[side], ends[side] + len(piece)))
            ends[side] += len(piece)
    return [MarkedText(gold_text, marks[0]), MarkedText(opposite, marks[1])]


def _line(document: str, layer: str, explanation: Explanation) -> Line:
    rate = "" if explanation.error_rate is None else f" = {numeral(100 * explanation.error_rate, '.2f')} %"
    distance = (
        f"{phrase('distance')} {numeral(explanation.distance)} / {numeral(len(explanation.gold_text))}{rate}"
    )
    result = _outcome(explanation)
    note = distance if explanation.predicted is not None else ""
    values = [result, explanation.gold.label, layer, document]
    if explanation.matched:  # no error
        return Line("", values, None, explanation.gold.label, "", f"{phrase(result)} {note}")
    return Line(phrase(result), values, None, explanation.gold.label, "", note)


def _row(document: str, layer: str, explanation: Explanation) -> dict[str, Any]:
    """Return the row of a gold span; ends are exclusive, and the error rate is a fraction."""
    predicted = explanation.predicted
    return {
        "document": document,
        "layer": layer,
        "label": explanation.gold.label,
        "gold_start": explanation.gold.start,
        "gold_end_exclusive": explanation.gold.end,
        "gold_text": explanation.gold_text,
        "predicted_start": None if predicted is None else predicted.start,
        "predicted_end_exclusive": None if predicted is None else predicted.end,
        "predicted_text": explanation.predicted_text,
        "opposite": explanation.opposite,
        "distance": explanation.distance,
        "error_rate": explanation.error_rate,
        "matched": "yes" if explanation.matched else "no",
    }
