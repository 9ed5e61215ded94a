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
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from clueval.evaluation.engine import Evaluation
from clueval.evaluation.inputs import Inputs, add_layer, include, schemes_of
from clueval.evaluation.plan import Plan, chosen_metrics
from clueval.evaluation.result import Result
from clueval.evaluation.signature import Signature, require_same
from clueval.exceptions import TagError, UsageError
from clueval.metrics.metric import Metric
from clueval.reading.pairing import same_documents
from clueval.spans.compared import SIDES
from clueval.spans.document import Document
from clueval.spans.filters import Filter
from clueval.spans.span import DEFAULT_LAYER, NO_LABEL, Frozen, Span
from clueval.tagging.decoding import decode, decode_tags
from clueval.tagging.schemes import INVALID, count_illegal, scheme_called, scheme_of
from clueval.tagging.transitions import Neighbours, Seams

Batch = (
    Document | Iterable[Document] | Sequence[Span] | Sequence[str] | Sequence[Sequence[Span] | Sequence[str]]
)
"""Documents; spans, or tags, of one document or of several in a list of lists."""


class Accumulator:
    """Counts batches of gold and predicted documents, spans or tags by some metrics.

    Args:
        metrics: a list of metrics or of their names (see `clueval.metrics.METRICS`), or one of them.
        merge: merge all layers into one sequence, `merged`, and score that.
        scheme: the scheme of tags; None: detected from the tags, only if `invalid` is ``conlleval``.
        invalid: how to treat ill-formed tags: ``conlleval``, ``discard`` or ``error``.

    Raises `UsageError` for unknown names, and if `scheme` is needed and None.
    """

    def __init__(
        self,
        metrics: Sequence[str | Metric] | str | Metric = ("levels",),
        *,
        merge: bool = False,
        scheme: str | None = None,
        invalid: str = "conlleval",
    ) -> None:
        if invalid not in INVALID:
            raise UsageError(
                f"unknown treatment of ill-formed tags {invalid!r}", advice=f"one of {', '.join(INVALID)}"
            )
        if scheme is None and invalid != "conlleval":
            raise UsageError(
                f"invalid={invalid!r} needs the scheme of the tags",
                advice="name it, as in scheme='BIO'",
            )
        self._plan = Plan(chosen_metrics(metrics), merge, Filter(), ())
        self._scheme = None if scheme is None else scheme_called(scheme)
        self._invalid = invalid
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
            **self._state.evaluation.choices(),
        }
        return Signature.of(self.metrics, choices, self._state.evaluation.units)

    def reset(self) -> None:
        """Set all counts to zero."""
        self._state = _State(Evaluation(self._plan, []))

    def update(self, gold: Batch, predicted: Batch) -> None:
        """Count a batch: documents, spans or tags, the same kind on both sides. After an error, nothing is counted.

        A list of spans is one document; a list of tags is one sentence, counted as a document; a list of lists
        is several documents. Empty lists on both sides count nothing.

        Raises `UsageError` for sides of different kinds or lengths, `TextMismatch` for documents with different
        texts, `TagError` for tags outside the scheme, `OverlapError` if a metric forbids overlapping spans.
        """
        kind, golds, predicteds = _same_kind(gold, predicted)
        new = _State(Evaluation(self._plan, self._state.evaluation.layers))
        if kind is Document:
            pairs: Iterable[tuple[Document, Document]] = same_documents(golds, predicteds)
        elif kind is str:
            pairs = self._of_tags(golds, predicteds, new)
        else:
            pairs = map(_of_spans, _paired(golds, predicteds, "documents"))
        for pair in pairs:
            new.count(pair)
        self._state.add(new, self._scheme)

    def compute(self) -> Result:
        """The result of all batches since the last `reset`; further batches can be added.

        Raises `UsageError` if a setting of a metric names a label that never occurred.
        """
        result = self._state.evaluation.result(self.signature)
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
        others = [other] if isinstance(other, Accumulator) else list(other)
        for accumulator in others:
            same_metrics = set(accumulator.metrics) == set(self.metrics)
            both_counted = bool(self._state.documents and accumulator._state.documents)
            if not same_metrics or (both_counted and not force):
                require_same(self.signature, accumulator.signature, "added")
        merged = _State(Evaluation(self._plan, self._state.evaluation.layers))
        for state in (self._state, *(accumulator._state for accumulator in others)):
            merged.add(state, self._scheme)
        self._state = merged

    def _of_tags(
        self, gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]], new: _State
    ) -> Iterator[tuple[Document, Document]]:
        """Pairs of sentences as documents; `new` records their tags."""
        for number, pair in enumerate(_paired(gold, predicted, "sentences")):
            if len(pair[0]) != len(pair[1]):
                raise UsageError(
                    f"sentence {number} has {len(pair[0])} gold and {len(pair[1])} predicted tags",
                    advice="each token has a tag on both sides",
                )
            documents = []
            for tags, side in zip(pair, SIDES, strict=True):
                try:
                    documents.append(self._of_sentence(tags, number))
                except TagError as error:
                    error.problem = f"{side}, sentence {number}: {error.problem}"
                    raise
                new.neighbours[side].update(Seams(tags).neighbours)
            new.tagged = True
            yield documents[0], documents[1]

    def _of_sentence(self, tags: Sequence[str], number: int) -> Document:
        """A sentence as a document with empty tokens, one for each tag."""
        lenient = self._scheme is None
        chunks = decode(tags) if lenient else decode_tags(tags, self._scheme, self._invalid)
        spans = [Span(start, end, Frozen({DEFAULT_LAYER: label})) for start, end, label in chunks]
        return Document(
            str(number),
            Frozen({DEFAULT_LAYER: spans}),
            tokens=("",) * len(tags),
            tags=Frozen({DEFAULT_LAYER: list(tags)}),
        )


@dataclass(slots=True)
class _State:
    """The counts, and the pairs of adjacent tags, which determine the repaired tags. States can be added."""

    evaluation: Evaluation
    neighbours: dict[str, Neighbours] = field(default_factory=lambda: {side: Counter() for side in SIDES})
    tagged: bool = False

    @property
    def documents(self) -> int:
        return self.evaluation.total.documents

    def count(self, pair: tuple[Document, Document]) -> None:
        self.evaluation.count_documents(*pair)
        self.evaluation.count_read(*pair)

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
        evaluation, added = self.evaluation, other.evaluation
        evaluation.see_layers(added.layers)
        evaluation.units |= added.units
        evaluation.total.include(added.total)
        evaluation.add_repaired(added.repaired)
        for side in SIDES:
            evaluation.repairs[side].include(added.repairs[side])
        include(evaluation.inputs, added.inputs)


_WORDS = {Document: "documents", Span: "spans", str: "tags"}


def _same_kind(gold: Any, predicted: Any) -> tuple[type, list[Any], list[Any]]:
    """The kind of both sides, `Document`, `Span` or `str` (tags), and the documents or lists of each side.

    Raises `UsageError` if the sides are not of one kind.
    """
    sides = [_listed(side, name) for side, name in zip((gold, predicted), SIDES, strict=True)]
    known = [found for side, name in zip(sides, SIDES, strict=True) if (found := _kind(side, name))]
    kinds = {kind for kind, _ in known if kind is not None}
    nestings = {nested for _, nested in known}
    if len(kinds) > 1:
        raise UsageError(f"one side is {' and the other '.join(sorted(_WORDS[kind] for kind in kinds))}")
    if len(nestings) > 1:
        raise UsageError("one side is a list and the other a list of lists")
    kind = next(iter(kinds), Span)
    if kind is Document or True in nestings or not known:
        return kind, sides[0], sides[1]
    return kind, [sides[0]], [sides[1]]


def _listed(side: Any, name: str) -> list[Any]:
    if isinstance(side, Document):
        return [side]
    if isinstance(side, str | bytes) or not isinstance(side, Iterable):
        raise UsageError(
            f"{name} must be documents, spans or tags, not a {type(side).__name__}",
            advice="lists of them; files are for clueval.score",
        )
    return list(side)


def _kind(items: Sequence[Any], name: str) -> tuple[type | None, bool] | None:
    """The type of the items of a side, and whether they are in lists; the type is None if all lists are empty.

    None for an empty side, which may be of any kind.
    """
    if not items:
        return None
    nestings = {isinstance(item, list | tuple) for item in items}
    nested = True in nestings
    if len(nestings) > 1:
        raise UsageError(f"{name} mixes lists and other items", advice="give a list, or a list of lists")
    found = {
        next((kind for kind in _WORDS if isinstance(item, kind)), type(item))
        for item in (chain.from_iterable(items) if nested else items)
    }
    wrong = sorted(kind.__name__ for kind in found if kind not in _WORDS or (nested and kind is Document))
    if wrong or len(found) > 1:
        raise UsageError(
            f"{name} must be all documents, all spans or all tags",
            advice=f"one item has the type {wrong[0]}" if wrong else "it mixes them",
        )
    return next(iter(found), None), nested


def _paired(gold: Sequence[Any], predicted: Sequence[Any], what: str) -> Iterator[tuple[Any, Any]]:
    if len(gold) != len(predicted):
        raise UsageError(f"there are {len(gold)} gold and {len(predicted)} predicted {what}")
    return zip(gold, predicted, strict=True)


def _of_spans(pair: tuple[Sequence[Span], Sequence[Span]]) -> tuple[Document, Document]:
    """The spans of both sides as documents without text."""
    return _document(pair[0]), _document(pair[1])


def _document(spans: Sequence[Span]) -> Document:
    """Spans as a document, with one span for each layer of a span."""
    layers: dict[str, list[Span]] = {}
    for span in spans:
        labels = span.by_layer or {DEFAULT_LAYER: NO_LABEL}
        for layer, label in labels.items():
            if label is not None:
                of_layer = span if len(span.by_layer) < 2 else replace(span, labels=Frozen({layer: label}))
                layers.setdefault(layer, []).append(of_layer)
    return Document("", Frozen(layers))
