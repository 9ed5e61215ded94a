"""An accumulator: scores that grow batch by batch, as training loops want them.

It keeps counts, not spans, so its size does not grow with what it is given; it can be pickled, and accumulators
of several processes add up to what one would have counted, in any order.

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
from clueval.evaluation.plan import Plan
from clueval.evaluation.result import Counted, Result
from clueval.evaluation.signature import Signature, require_same
from clueval.exceptions import TagError, UsageError
from clueval.metrics import METRICS, metric_named
from clueval.metrics.counting import Tally
from clueval.metrics.metric import Metric
from clueval.reading.pairing import same_documents
from clueval.spans.compared import SIDES
from clueval.spans.document import Document
from clueval.spans.filters import Filter
from clueval.spans.span import DEFAULT_LAYER, MERGED, NO_LABEL, Frozen, Span
from clueval.tagging.decoding import decode, decode_tags
from clueval.tagging.schemes import INVALID, count_illegal, scheme_called, scheme_of
from clueval.tagging.transitions import Neighbours, Seams

Batch = (
    Document | Iterable[Document] | Sequence[Span] | Sequence[str] | Sequence[Sequence[Span] | Sequence[str]]
)
"""Documents; spans, or tags, of one document or of several in a list of lists."""


class Accumulator:
    """Counts what it is given, by some metrics, and scores it when asked.

    Args:
        metrics: names of metrics (see `clueval.metrics.METRICS`) or metrics; one name may stand alone.
        merge: merge all layers into one sequence, `merged`, and score that.
        scheme: the scheme of tags; None: told from them, which is possible if `invalid` is ``conlleval``.
        invalid: what becomes of ill-formed tags: ``conlleval``, ``discard`` or ``error``.

    Raises `UsageError` for names that are not known, and if the scheme is needed and not named.
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
                f"ill-formed tags cannot be told without their scheme (invalid={invalid!r})",
                advice="name it, as in scheme='BIO'",
            )
        self._plan = Plan(_metrics(metrics), merge, Filter(), ())
        self._scheme = None if scheme is None else scheme_called(scheme)
        self._invalid = invalid
        self.reset()

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The metrics that are counted."""
        return self._plan.metrics

    @property
    def signature(self) -> Signature:
        """The choices behind the scores of what has been given."""
        tags = {"scheme": schemes_of(self._inputs()), "invalid": self._invalid}
        choices = {
            **(tags if self._state.tagged else dict.fromkeys(tags, "documents")),
            "merge": "yes" if self._plan.merge else "no",
            "text": "aligned" if self._plan.texts_may_differ else "equal",
            **self._state.evaluation.choices(),
        }
        return Signature.of(self.metrics, choices, self._state.evaluation.units)

    def reset(self) -> None:
        """Forget everything that was counted."""
        self._state = _State(Evaluation(self._plan, []))

    def update(self, gold: Batch, predicted: Batch) -> None:
        """Count gold and predicted documents, spans or tags, both of the same kind; all of them or, if one is
        refused, none.

        A list of spans is one document, as is a list of tags (one sentence); a list of lists is several. Pairs
        of documents are checked as `clueval.score` does. Empty lists on both sides count nothing.

        Raises `UsageError` for sides of different kinds or lengths, `TextMismatch` for documents of different
        texts, `TagError` for tags outside the scheme, `OverlapError` where a metric forbids overlapping spans.
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
        """The scores of everything counted since the last `reset`; counting may go on.

        Raises `UsageError` if a metric was asked about labels that never occurred.
        """
        evaluation = self._state.evaluation
        layers = list(evaluation.layers)
        return replace(
            evaluation.result(self.signature),
            repaired_tags={
                side: n + self._state.ill_formed(side, self._scheme)
                for side, n in evaluation.repaired_tags().items()
            },
            inputs=self._inputs(),
            counted=Counted(
                self.metrics,
                {key: Tally(tally) for key, tally in evaluation.total.tallies.items()},
                {MERGED: layers} if self._plan.merge else {layer: [layer] for layer in layers},
            ),
        )

    def _inputs(self) -> Inputs:
        """What was given, with the schemes of tags."""
        found = self._state.evaluation.read()
        if self._state.tagged:
            for side, neighbours in self._state.neighbours.items():
                add_layer(found, side, DEFAULT_LAYER, scheme=self._scheme or scheme_of(neighbours))
        return found

    def merge_state(self, other: Accumulator | Iterable[Accumulator], *, force: bool = False) -> None:
        """Add what another accumulator, or several, have counted; they keep it. All are added, or none.

        Raises `UsageError` if they count otherwise (their signatures differ), unless `force` is given; if they
        have other metrics, in any case. One that has counted nothing need only have the same metrics.
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
        """Pairs of sentences as documents; `new` takes note of the tags."""
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
        """A sentence as a document. Its tokens are not known, only how many they are."""
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
    """What has been counted: the counts, and which tags stand next to each other, by which ill-formed ones are
    found. States add up, in any order."""

    evaluation: Evaluation
    neighbours: dict[str, Neighbours] = field(default_factory=lambda: {side: Counter() for side in SIDES})
    tagged: bool = False

    @property
    def documents(self) -> int:
        return self.evaluation.total.documents

    def count(self, pair: tuple[Document, Document]) -> None:
        self.evaluation.count_documents(*pair)
        self.evaluation.count_read(*pair)

    def ill_formed(self, side: str, scheme: str | None) -> int:
        """How many tags are ill-formed in this scheme, or in that which they are written in."""
        found = self.neighbours[side]
        scheme = scheme or scheme_of(found)
        return 0 if scheme is None else count_illegal(found, scheme)

    def add(self, other: _State, scheme: str | None) -> None:
        """Add what another has counted. Raises `TagError` if the tags of both are of no one scheme."""
        found = {side: self.neighbours[side] + other.neighbours[side] for side in SIDES}
        if scheme is None:
            for side, pairs in found.items():
                try:
                    scheme_of(pairs)
                except TagError as error:
                    raise TagError(f"{side}: {error.problem}", advice="name the scheme") from None
        self.neighbours = found
        self.tagged = self.tagged or other.tagged
        own, evaluation = self.evaluation, other.evaluation
        own.see_layers(evaluation.layers)
        own.units |= evaluation.units
        own.total.documents += evaluation.total.documents
        own.total.tokens += evaluation.total.tokens
        for (metric, sequence), tally in evaluation.total.tallies.items():
            own.total.add(metric, sequence, tally)
        for side in SIDES:
            own.repaired[side] += evaluation.repaired[side]
            own.repairs[side].include(evaluation.repairs[side])
        include(own.inputs, evaluation.inputs)


def _metrics(given: Sequence[str | Metric] | str | Metric) -> tuple[Metric, ...]:
    named: Sequence[str | Metric] | Metric = given.split(",") if isinstance(given, str) else given
    several = named if isinstance(named, Sequence) else [named]
    chosen = [metric_named(one) if isinstance(one, str) else one for one in several]
    if not chosen:
        raise UsageError("no metric is named", advice=f"one of {', '.join(METRICS)}")
    return tuple({metric.name: metric for metric in chosen}.values())


_WORDS = {Document: "documents", Span: "spans", str: "tags"}


def _same_kind(gold: Any, predicted: Any) -> tuple[type, list[Any], list[Any]]:
    """What both sides are, `Document`, `Span` or `str` (tags), and the documents, or lists, of each side.

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
    """What the items of a side are (None: there is none to tell), and whether they stand in lists.

    None for an empty list, which may be anything.
    """
    if not items:
        return None
    nestings = {isinstance(item, list | tuple) for item in items}
    nested = True in nestings
    if len(nestings) > 1:
        raise UsageError(f"{name} has lists beside what is none", advice="give a list, or a list of lists")
    found = {
        next((kind for kind in _WORDS if isinstance(item, kind)), type(item))
        for item in (chain.from_iterable(items) if nested else items)
    }
    strange = sorted(kind.__name__ for kind in found if kind not in _WORDS or (nested and kind is Document))
    if strange or len(found) > 1:
        raise UsageError(
            f"{name} must be all documents, all spans or all tags",
            advice=f"there is something of type {strange[0]}" if strange else "it has several of these",
        )
    return next(iter(found), None), nested


def _paired(gold: Sequence[Any], predicted: Sequence[Any], what: str) -> Iterator[tuple[Any, Any]]:
    if len(gold) != len(predicted):
        raise UsageError(f"there are {len(gold)} gold and {len(predicted)} predicted {what}")
    return zip(gold, predicted, strict=True)


def _of_spans(pair: tuple[Sequence[Span], Sequence[Span]]) -> tuple[Document, Document]:
    """The spans of both sides as documents without their text."""
    return _document(pair[0]), _document(pair[1])


def _document(spans: Sequence[Span]) -> Document:
    """Spans as a document, each of their layers for itself."""
    layers: dict[str, list[Span]] = {}
    for span in spans:
        labels = span.by_layer or {DEFAULT_LAYER: NO_LABEL}
        for layer, label in labels.items():
            if label is not None:
                alone = span if len(span.by_layer) < 2 else replace(span, labels=Frozen({layer: label}))
                layers.setdefault(layer, []).append(alone)
    return Document("", Frozen(layers))
