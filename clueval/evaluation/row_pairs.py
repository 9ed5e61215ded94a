"""Counts two files of rows, without building documents of pairs of flat rows.

The spans of flat rows (`clueval.formats.flat_rows`) do not overlap. So a span that both rows have overlaps no
other span of either side, and it is counted by its label; the others are left over for the metrics, those of many
rows together. All other rows are counted as documents. The counts are those of the documents.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any

from clueval.evaluation.engine import Evaluation
from clueval.evaluation.left_over import TOGETHER, LeftOver, Located, count_left_over, label_of
from clueval.formats.flat_rows import FlatRow
from clueval.reading.pairing import ends_early, with_same_id
from clueval.reading.same_text import first_line
from clueval.reading.source import Source
from clueval.spans.compared import Compared
from clueval.spans.missing_id import same_id
from clueval.spans.span import DEFAULT_LAYER
from clueval.transforms.group import Group


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
            rows.add(first.spans, second.spans, len(first.text))
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
        self._left: LeftOver = [], []

    def __len__(self) -> int:
        """Return the number of spans."""
        return len(self._agreed) + sum(map(len, self._left))

    def add(self, gold: Sequence[Any], predicted: Sequence[Any], characters: int) -> None:
        """Add the spans of two rows of the same text, which has this number of characters.

        Each is a list of spans ``(start, end, label)`` by position; none is empty or overlaps another of its row.
        """
        first = self._characters + self._rows  # rows do not touch
        if gold == predicted:
            self._agreed += map(label_of, gold)
        else:
            own, others = self._left
            left = {span[0]: tuple(span) for span in predicted}  # no two begin at the same place
            for start, end, label in gold:
                if left.get(start) == (start, end, label):
                    self._agreed.append(label)
                    del left[start]
                else:
                    own.append((start + first, end + first, label))
            others += [(start + first, end + first, label) for start, end, label in left.values()]
        self._rows += 1
        self._characters += characters

    def count_into(
        self, evaluation: Evaluation, document: str = "", metadata: Mapping[str, str] | None = None
    ) -> None:
        """Count the rows, and begin again; `document` and `metadata` are those of a single row."""
        if self._rows:
            texts = Compared(
                self._rows,
                self._characters,
                document=document,
                metadata=metadata or {},
                unit="character",
            )
            equal = self._characters - _covered([*self._left[0], *self._left[1]])
            count_left_over(
                evaluation, self._layer, texts, Counter(self._agreed), self._left, equal, tags=None
            )
        self._begin()


def _covered(spans: Sequence[Located]) -> int:
    """Return the number of positions that these spans cover."""
    covered = past = 0
    for start, end, _ in sorted(spans):
        if end > past:
            covered += end - max(start, past)
            past = end
    return covered
