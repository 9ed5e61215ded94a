"""Counts two files of rows, without building documents of pairs of flat rows.

The spans of flat rows (`clueval.formats.flat_rows`) do not overlap. So a span that both rows have overlaps no
other span of either side, and it is counted by its label; the others are left over for the metrics, those of many
rows together. All other rows are counted as documents. The counts are those of the documents.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from itertools import zip_longest
from operator import itemgetter
from typing import Any

from clueval.evaluation.engine import Evaluation
from clueval.evaluation.inputs import add_layer
from clueval.formats.flat_rows import FlatRow
from clueval.reading.pairing import ends_early, with_same_id
from clueval.reading.same_text import first_line
from clueval.reading.source import Source
from clueval.spans.compared import SIDES, Compared, ComparedSequence
from clueval.spans.flat import Flat
from clueval.spans.missing_id import same_id
from clueval.spans.span import DEFAULT_LAYER, Frozen
from clueval.transforms.group import Group

TOGETHER = 20_000
"""Approximate number of spans that are counted together."""

_Located = tuple[int, int, str]
"""The start, the end and the label of a span."""

_label: Callable[[Any], str] = itemgetter(2)


def count_rows(evaluation: Evaluation, gold: Source, predicted: Source) -> bool:
    """Count two files of rows, and return whether it was possible; if not, nothing was counted.

    Some rows are counted only when `count_unfinished` is called.
    """
    plan = evaluation.plan
    if plan.needs_documents or plan.observers or plan.merge:
        return False
    layer, *others = {name for each in (gold, predicted) for name in each.options.layers or (DEFAULT_LAYER,)}
    if others or (own := gold.flat_items()) is None or (other := predicted.flat_items()) is None:
        return False
    rows: ComparedRows = evaluation.unfinished.setdefault(layer, ComparedRows(layer))
    single = plan.wants_single_documents
    nameless = gold.form.nameless or predicted.form.nameless
    for first, second in zip_longest(own, other):
        if first is None or second is None:
            extra = own.document(first) if first is not None else other.document(second)
            raise ends_early(gold, predicted, first is None, extra.id, first_line(extra))
        if (
            isinstance(first, FlatRow)
            and isinstance(second, FlatRow)
            and (nameless or same_id(first.id, second.id))
            and first.text == second.text
        ):
            rows.add(first, second)
            if single:
                rows.count_into(evaluation, own.id_of(first), own.metadata_of(first))
            elif len(rows) > TOGETHER:
                rows.count_into(evaluation)
        else:
            pair = with_same_id(own.document(first), other.document(second), nameless)
            evaluation.count_group(Group(*pair, ()))
    return True


def count_unfinished(evaluation: Evaluation) -> None:
    """Count the rows that `count_rows` has not counted yet."""
    for rows in evaluation.unfinished.values():
        rows.count_into(evaluation)


class ComparedRows:
    """Compared flat rows of both sides that are not counted yet."""

    def __init__(self, layer: str) -> None:
        self._layer = layer
        self._begin()

    def _begin(self) -> None:
        self._rows = self._characters = 0
        self._agreed: list[str] = []
        self._gold: list[_Located] = []
        self._predicted: list[_Located] = []

    def __len__(self) -> int:
        """Return the number of spans."""
        return len(self._agreed) + len(self._gold) + len(self._predicted)

    def add(self, gold: FlatRow, predicted: FlatRow) -> None:
        """Add two rows of the same text."""
        first = self._characters + self._rows  # rows do not touch
        if gold.spans == predicted.spans:
            self._agreed += map(_label, gold.spans)
        else:
            left = {span[0]: tuple(span) for span in predicted.spans}  # no two begin at the same place
            for start, end, label in gold.spans:
                if left.get(start) == (start, end, label):
                    self._agreed.append(label)
                    del left[start]
                else:
                    self._gold.append((start + first, end + first, label))
            self._predicted += [(start + first, end + first, label) for start, end, label in left.values()]
        self._rows += 1
        self._characters += len(gold.text)

    def count_into(
        self, evaluation: Evaluation, document: str = "", metadata: Mapping[str, str] | None = None
    ) -> None:
        """Count the rows, and begin again; `document` and `metadata` are those of a single row."""
        labels = {Frozen({self._layer: label}): number for label, number in Counter(self._agreed).items()}
        sequence = ComparedSequence(
            Counter(labels),
            self._flat(self._gold),
            self._flat(self._predicted),
            self._characters - _covered(self._gold, self._predicted),
            None,
        )
        if self._rows:
            compared = Compared(
                self._rows, self._characters, {self._layer: sequence}, document, metadata or {}
            )
            evaluation.see_layers([self._layer])
            evaluation.count_compared(compared._replace(unit="character"))
            for side, left in zip(SIDES, (self._gold, self._predicted), strict=True):
                add_layer(evaluation.inputs, side, self._layer, spans=len(self._agreed) + len(left))
        self._begin()

    def _flat(self, spans: list[_Located]) -> Flat:
        starts, ends, labels = ([span[part] for span in spans] for part in range(3))
        return Flat.of_tags(self._layer, starts, ends, labels)  # type: ignore[arg-type]  # two lists of int, one of str


def _covered(gold: list[_Located], predicted: list[_Located]) -> int:
    """Return the number of positions that spans of either side cover."""
    covered = past = 0
    for start, end, _ in sorted(gold + predicted):
        if end > past:
            covered += end - max(start, past)
            past = end
    return covered
