"""An accumulator: counts batch by batch, for example in a training loop.

It holds counts, not spans, so its size does not depend on the number of batches. It can be pickled, and the
accumulators of several processes can be added, in any order, with the same result as one accumulator.

>>> scores = Accumulator(["exact"])
>>> scores.update([["B-PER", "I-PER", "O"]], [["B-PER", "O", "O"]])
>>> scores.update([["O", "B-LOC"]], [["O", "B-LOC"]])
>>> scores.compute().metrics["exact"]["label"]["micro"]["f1"]
0.5
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from clueval.arguments import require_instance, require_kind
from clueval.core.span import DEFAULT_LAYER, SIDES
from clueval.evaluation.engine import Evaluation
from clueval.evaluation.inputs import Inputs, add_layer, schemes_of
from clueval.evaluation.plan import Plan, chosen_metrics
from clueval.evaluation.result import Result, choices_of_counts, result_of
from clueval.evaluation.signature import Signature, require_same
from clueval.evaluation.span_clusters import SpanClusters, count_spans
from clueval.evaluation.tag_lists import count_tags
from clueval.files.errors import TagError, UsageError
from clueval.first.metrics.metric import Metric
from clueval.reading.given import Given, InputSide, given
from clueval.reading.tag_sentences import TagOptions
from clueval.reports.report import Hinting
from clueval.spans.filters import Filter
from clueval.tagging.schemes import INVALID, Neighbours, count_illegal, scheme_called, scheme_of
from clueval.transforms.group import Group


class Accumulator(Hinting):
    """Counts batches of gold and predicted documents, spans or tags by some metrics.

    Args:
        metrics: a list of metrics or of their names (see `clueval.first.metrics.METRICS`), or one of them.
        merge: merge all layers into one sequence, `merged`, and score that.
        scheme: the scheme of tags; None: detected from the tags, only if `invalid` is ``conlleval``.
        invalid: how to treat ill-formed tags: ``conlleval``, ``discard`` or ``error``.
        names: the names of tags that are numbers, as in `Reading.names`.

    Raises `UsageError` for unknown names, and if `scheme` is needed and None.
    """

    def __init__(
        self,
        metrics: Sequence[str | Metric] | str | Metric = ("levels",),
        *,
        merge: bool = False,
        scheme: str | None = None,
        invalid: str = "conlleval",
        names: Sequence[str] | Mapping[Any, str] | None = None,
    ) -> None:
        require_kind(merge, "bool", "merge")
        require_kind(scheme, "str | None", "scheme")
        require_kind(invalid, "str", "invalid")
        if invalid not in INVALID:
            raise UsageError(
                f"unknown treatment of ill-formed tags {invalid!r}", advice=f"one of {', '.join(INVALID)}"
            )
        self._plan = Plan(chosen_metrics(metrics), merge, Filter(), ())
        self._scheme = None if scheme is None else scheme_called(scheme)
        self._invalid, self._names = invalid, names
        self._options = TagOptions([self._scheme] * 2, [invalid] * 2)
        self.reset()

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The metrics that are counted."""
        return self._plan.metrics

    @property
    def signature(self) -> Signature:
        """The choices that the scores depend on."""
        tags = {"scheme": schemes_of(self._inputs()), "invalid": self._invalid}
        choices = {
            **(tags if self._state.tagged else dict.fromkeys(tags, "documents")),
            "merge": "yes" if self._plan.merge else "no",
            "text": "aligned" if self._plan.texts_may_differ else "equal",
            **choices_of_counts(self._state.evaluation),
        }
        return Signature.of(self.metrics, choices, self._state.evaluation.units)

    def reset(self) -> None:
        """Set all counts to zero."""
        self._state = _State(Evaluation(self._plan, []))

    def update(self, gold: InputSide, predicted: InputSide) -> None:
        """Count a batch: documents, spans or tags, the same kind on both sides. After an error, nothing is counted.

        They are given in any form that `clueval.score` takes, except files. A list of spans is one document; a list
        of tags is one sentence, counted as a document; a list of lists is several documents. Empty lists on both
        sides count nothing.

        Raises `UsageError` for sides of different kinds or lengths, `TextMismatch` for documents with different
        texts, `TagError` for tags outside the scheme, `OverlapError` if a metric forbids overlapping spans.
        """
        found = given(gold, predicted, self._names)
        new = _State(Evaluation(self._plan, self._state.evaluation.layers))
        if found.kind == "paths":
            raise UsageError(
                "gold and predicted must be documents, spans or tags, not files", advice="use clueval.score"
            )
        if found.kind == "tags":
            new.count_tags(found, self._options)
        elif found.kind != "spans" or not count_spans(new.evaluation, found):
            for pair in found.documents():
                new.evaluation.count_group(Group(*pair))
        self._state.add(new, self._scheme)

    @property
    def takes_rows(self) -> bool:
        """Whether `update_rows` counts as `update` does: the metrics need no documents, and layers are not merged."""
        return self._plan.counts_clusters([DEFAULT_LAYER]) and not self._plan.merge

    def update_rows(self, rows: SpanClusters) -> None:
        """Count compared rows, which are empty afterwards."""
        new = _State(Evaluation(self._plan, self._state.evaluation.layers))
        rows.count_into(new.evaluation)
        self._state.add(new, self._scheme)

    def compute(self) -> Result:
        """The result of all batches since the last `reset`; further batches can be added.

        Raises `UsageError` if a setting of a metric names a label that never occurred.
        """
        result = result_of(self._state.evaluation, self.signature)
        repaired = {
            side: number + self._state.repaired(side, self._scheme)
            for side, number in result.repaired_tags.items()
        }
        return replace(result, repaired_tags=repaired, inputs=self._inputs())

    def _inputs(self) -> Inputs:
        """The inputs of the result, with the schemes of tags."""
        inputs = self._state.evaluation.read()
        if self._state.tagged:
            for side, neighbours in self._state.neighbours.items():
                add_layer(inputs, side, DEFAULT_LAYER, scheme=self._scheme or scheme_of(neighbours))
        return inputs

    def merge_state(self, other: Accumulator | Iterable[Accumulator], *, force: bool = False) -> None:
        """Add the counts of one or several other accumulators, which do not change. After an error, none is added.

        Raises `UsageError` if their metrics differ, and, unless `force` is given, if their signatures differ. An
        accumulator that has counted nothing needs only the same metrics.
        """
        others = [other] if isinstance(other, Accumulator) or not isinstance(other, Iterable) else list(other)
        for each in others:
            require_instance(each, Accumulator, "other")
        for accumulator in others:
            same_metrics = set(accumulator.metrics) == set(self.metrics)
            both_counted = bool(self._state.documents and accumulator._state.documents)
            if not same_metrics or (both_counted and not force):
                require_same(self.signature, accumulator.signature, "added")
        merged = _State(Evaluation(self._plan, self._state.evaluation.layers))
        for state in (self._state, *(accumulator._state for accumulator in others)):
            merged.add(state, self._scheme)
        self._state = merged


@dataclass(slots=True)
class _State:
    """The counts, and the pairs of adjacent tags, which determine the repaired tags. States can be added."""

    evaluation: Evaluation
    neighbours: dict[str, Neighbours] = field(default_factory=lambda: {side: Counter() for side in SIDES})
    tagged: bool = False

    def count_tags(self, given: Given, options: TagOptions) -> None:
        end = count_tags(self.evaluation, given, options, iter(()))
        for (side, _), decoder in end.decoders.items():
            self.neighbours[side].update(decoder.neighbours)
        self.tagged = self.tagged or self.evaluation.total.documents > 0

    @property
    def documents(self) -> int:
        return self.evaluation.total.documents

    def repaired(self, side: str, scheme: str | None) -> int:
        """The number of repaired tags in this scheme; None: in the scheme detected from the tags."""
        found = self.neighbours[side]
        scheme = scheme or scheme_of(found)
        return 0 if scheme is None else count_illegal(found, scheme)

    def add(self, other: _State, scheme: str | None) -> None:
        """Add another state. Raises `TagError` if no scheme has the tags of both."""
        found = {side: self.neighbours[side] + other.neighbours[side] for side in SIDES}
        if scheme is None:
            for side, pairs in found.items():
                try:
                    scheme_of(pairs)
                except TagError as error:
                    raise TagError(f"{side}: {error.problem}", advice="name the scheme") from None
        self.neighbours = found
        self.tagged = self.tagged or other.tagged
        self.evaluation.include(other.evaluation.counts())
