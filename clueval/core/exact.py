"""Metric `exact`: a span is correct if the other side has a span with the same start, end and label.

The scores are those of conlleval and of seqeval's default mode, which reads the tags L, U and W otherwise:
equal spans of one side count once, macro and weighted are means over the labels of both sides, and f1 of an
average is the average of the f1s.
`token_accuracy` is the share of positions that have the same tag on both sides, as the tags are written.
For spans that do not come from tags, it compares the BIO tags that they would get. If gold has no text,
it is 0.

Sources: Tjong Kim Sang and De Meulder 2003 (conlleval); seqeval 1.2.2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any, ClassVar

from clueval.core.case import Case
from clueval.core.metric import Counts, Metric, Tally, averages_of, counts_by_label, rate
from clueval.core.span import Span, positions_in, shared_positions
from clueval.files.errors import UsageError
from clueval.files.options import is_number, require_choices, setting_field


@dataclass(frozen=True, slots=True)
class Exact(Metric):
    """Spans with the same start, end and label on both sides.

    With `min_overlap`, a span is correct if it is paired with a span of the same label of the other side with which it
    shares at least this part of the positions of gold's span (`overlap_of` is ``gold``, nervaluate's percentage) or of
    both together (``union``): one to one, as many pairs as possible, of those the greatest number of shared
    positions. None: both have the same start and end.

    Its tally has the keys ``(count, label)``, where count is gold, predicted, tp_gold or tp_predicted, and
    ``("positions", "all" or "equal")``.
    """

    name: ClassVar[str] = "exact"

    min_overlap: float | None = setting_field(
        None,
        "above 0, up to 1: spans of one label that share at least this part of their positions are correct",
        later=True,
    )
    overlap_of: str = setting_field(
        "gold",
        "with min_overlap: the part is of the positions of gold's span, or of those of both (union)",
        choices=("gold", "union"),
        later=True,
    )

    def __post_init__(self) -> None:
        least = self.min_overlap
        if least is not None and not (is_number(least) and 0 < least <= 1):
            raise UsageError(f"Exact.min_overlap must be above 0 and at most 1, not {least!r}")
        require_choices(self, "Exact")

    def count(self, case: Case) -> Tally:
        """Count by label the spans of each side, and those of them that are correct."""
        tally = Tally()
        if case.length:
            tally["positions", "all"] = case.length
            tally["positions", "equal"] = case.equal
        ranges = case.labelled_ranges()
        gold, predicted = set(ranges[0]), set(ranges[1])
        if self.min_overlap is None:
            both = gold & predicted
            correct = both, both
        else:
            from clueval.core.one_to_one import equal_or_best_overlaps  # most spans are compared exactly

            correct = equal_or_best_overlaps(case, ranges[0], ranges[1], self._is_enough)
        sides = (("gold", "tp_gold", gold), ("predicted", "tp_predicted", predicted))
        for side, (name, name_if_correct, keys) in enumerate(sides):
            flags = case.counted[side]
            counted = keys if flags is None else set(compress(ranges[side], flags))
            for count, spans in ((name, counted), (name_if_correct, counted & correct[side])):
                for _, _, label, _ in spans:
                    tally[count, label] = tally.get((count, label), 0) + 1
        return tally

    def _is_enough(self, gold: Span, predicted: Span) -> bool:
        assert self.min_overlap is not None
        shared = shared_positions(gold, predicted)
        size = positions_in(gold.fragments)
        if self.overlap_of == "union":
            size += positions_in(predicted.fragments) - shared
        return bool(shared) and shared / size >= self.min_overlap

    def scores(self, total: Tally, layers: Sequence[str]) -> dict[str, Any]:
        return {
            **averages_of(counts_by_label(total)),
            "token_accuracy": rate(total["positions", "equal"], total["positions", "all"]),
        }

    def headlines(self, total: Tally, layers: Sequence[str]) -> Mapping[str, Counts]:
        positions, equal = total["positions", "all"], total["positions", "equal"]
        return {
            "micro": Counts.total(counts_by_label(total).values()),
            "token_accuracy": Counts(positions, positions, equal),
        }
