"""An accumulator: counts batch by batch, for example in a training loop.

It holds a bag, so its size does not depend on the number of batches. It can be pickled, and the accumulators of several
processes can be added, in any order, with the same result as one accumulator.

>>> scores = Accumulator(["exact"])
>>> scores.update([["B-PER", "I-PER", "O"]], [["B-PER", "O", "O"]])
>>> scores.update([["O", "B-LOC"]], [["O", "B-LOC"]])
>>> scores.compute().metrics["exact"]["label"]["micro"]["f1"]
0.5
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from clueval.core.bag import Bag
from clueval.core.count import Plan
from clueval.core.metric import AnyMetric
from clueval.core.span import SIDES
from clueval.core.tags import scheme_of
from clueval.files.errors import TagError, UsageError
from clueval.files.options import require_instance, require_kind
from clueval.formats.options import Reading
from clueval.metrics import chosen_metrics
from clueval.reading import is_path_or_paths
from clueval.reports.report import Hinting
from clueval.results.options import groups_of, with_steps_of_documents
from clueval.results.result import Result
from clueval.results.score import result_of, warn_of
from clueval.results.signature import Signature, require_same
from clueval.results.texts import opened


class Accumulator(Hinting):
    """Counts batches of gold and predicted documents, spans or tags by some metrics.

    Args:
        metrics: a list of metrics or of their names (see `clueval.metrics.METRICS`), or one of them.
        merge: merge all layers into one sequence, `merged`, and score that.
        scheme: the scheme of tags; None: detected from the tags, only if `invalid` is ``conlleval``.
        invalid: how to treat ill-formed tags: ``conlleval``, ``discard`` or ``error``.
        names: the names of tags that are numbers, as in `Reading.names`.

    Raises `UsageError` for unknown names, and if `scheme` is needed and None.

    >>> counts = Accumulator("exact")
    >>> for gold, predicted in [(["B-PER"], ["B-PER"]), (["B-LOC"], ["O"])]:
    ...     counts.update([gold], [predicted])
    >>> counts.compute().recall
    0.5
    """

    def __init__(
        self,
        metrics: Sequence[str | AnyMetric] | str | AnyMetric = ("levels",),
        *,
        merge: bool = False,
        scheme: str | None = None,
        invalid: str = "conlleval",
        names: Sequence[str] | Mapping[Any, str] | None = None,
    ) -> None:
        require_kind(merge, "bool", "merge")
        require_kind(invalid, "str", "invalid")
        self._plan = Plan(chosen_metrics(metrics), merge)
        named = None if invalid == "conlleval" else invalid  # spans have no tags that could be repaired
        self._reading = Reading(scheme=scheme, invalid=named, names=names)
        if self._reading.needs_scheme:
            raise UsageError(
                f"invalid={invalid!r} needs the scheme of the tags", advice="name it, as in scheme='BIO'"
            )
        self.reset()

    @property
    def metrics(self) -> tuple[AnyMetric, ...]:
        """The metrics that are counted."""
        return self._plan.metrics

    @property
    def signature(self) -> Signature:
        """The choices that the scores depend on."""
        return self._result().signature

    def __copy__(self) -> Accumulator:
        copy = Accumulator.__new__(type(self))
        vars(copy).update(vars(self), _bag=_copy(self._bag))
        return copy

    def reset(self) -> None:
        """Set all counts to zero."""
        self._bag = Bag(self._plan.metrics)

    def update(self, gold: Any, predicted: Any) -> None:
        """Count a batch: documents, spans or tags, the same kind on both sides. After an error, nothing is counted.

        They are given in any form that `clueval.score` takes, except files. A list of spans is one document; a list
        of tags is one sentence, counted as a document; a list of lists is several documents. Empty lists on both
        sides count nothing.

        Raises `UsageError` for sides of different kinds or lengths, `TextMismatch` for documents with different
        texts, `TagError` for tags outside the scheme, `OverlapError` if a metric forbids overlapping spans.
        """
        if is_path_or_paths(gold) or is_path_or_paths(predicted):
            raise UsageError(
                "gold and predicted must be documents, spans or tags, not files", advice="use clueval.score"
            )
        texts = opened(gold, predicted, groups_of(self._reading, {}, "update"), None, self._plan)
        new = texts.counted(self._plan, self._bag.layers)
        if not new.layers:
            new.read.without_text = 0  # empty lists may be tags or spans
        self._add(new)

    def _add(self, new: Bag) -> None:
        """Add a bag. Raises `TagError`, and adds nothing, if no scheme has the tags of both."""
        for source, pairs in new.read.neighbours.items() if self._reading.scheme is None else ():
            pairs_before = self._bag.read.neighbours.get(source)
            if pairs_before is not None:
                try:
                    scheme_of(pairs_before.keys() | pairs)
                except TagError as error:
                    raise TagError(f"{source[0]}: {error.problem}", advice="name the scheme") from None
        self._bag.include(new)

    def compute(self) -> Result:
        """The result of all batches since the last `reset`; further batches can be added.

        Warns as `clueval.score` does. Raises `UsageError` if a setting of a metric names a label that never occurred.
        """
        result = self._result()
        warn_of(result)
        return result

    def _result(self) -> Result:
        bag = _copy(self._bag)
        bag.read.settle(dict.fromkeys(SIDES, self._reading.scheme))
        if not bag.layers:
            bag.read.without_text = bag.documents.total()  # as `clueval.score` says of empty lists
        plan = with_steps_of_documents(self._plan) if bag.notes else self._plan
        return result_of(bag, plan, is_tagged=bool(bag.read.treatments), where="all", choices={})

    def merge(self, other: Accumulator | Iterable[Accumulator], *, force: bool = False) -> None:
        """Add the counts of one or several other accumulators, which do not change. After an error, none is added.

        Raises `UsageError` if their metrics differ, and, unless `force` is given, if their signatures differ. An
        accumulator that has counted nothing needs only the same metrics.
        """
        others = [other] if isinstance(other, Accumulator) or not isinstance(other, Iterable) else list(other)
        for accumulator in others:
            require_instance(accumulator, Accumulator, "other")
        for accumulator in others:
            same_metrics = set(accumulator.metrics) == set(self.metrics)
            both_counted = bool(self._bag.documents and accumulator._bag.documents)
            if not same_metrics or (both_counted and not force):
                require_same(self.signature, accumulator.signature, "added")
        before = _copy(self._bag)
        try:
            for accumulator in others:
                self._add(_copy(accumulator._bag))
        except TagError:
            self._bag = before
            raise


def _copy(bag: Bag) -> Bag:
    """Return an equal bag, which may be changed."""
    copy = Bag(bag.metrics, (), bag.bounds)
    copy.include(bag)
    return copy
