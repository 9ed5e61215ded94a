"""Which spans count: ignored regions, least scores, and what discontinuous spans become."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any, ClassVar, NamedTuple

from clueval.core.document import Document, Notes, Pair
from clueval.core.metric import finite_number, score_of
from clueval.core.span import Regions, Span, name_of
from clueval.files.errors import FormatError, UsageError
from clueval.transforms.changes import (
    HIDDEN,
    EachPair,
    EachSpan,
    Note,
    hidden_names,
    text_of_file,
    with_layers,
    with_notes,
    without_tags,
)


@dataclass(frozen=True)
class Fragments(EachSpan):
    """A step that leaves no discontinuous span.

    The `choice` ``split`` makes each fragment a span, which shows what is masked; ``hull`` makes one span from the
    start to the end. Notes count the discontinuous spans of each side.
    """

    choice: str

    zeros: ClassVar[Sequence[Note]] = (("gold",), ("predicted",))

    @property
    def signature(self) -> tuple[str, str]:
        return "fragments", self.choice

    def changed(
        self, span: Span, layer: str, side: str, document: Document, notes: Counter[Note]
    ) -> Sequence[Span]:
        if span.parts is None:
            return [span]
        notes[(side,)] += 1
        pieces = span.parts if self.choice == "split" else [(span.start, span.end)]
        return [replace(span, start=start, end=end, parts=None) for start, end in pieces]


# Ignored regions


@dataclass(frozen=True)
class IgnoredRegions(EachPair):
    """A step that leaves out the spans in ignored regions: positions where spans of both sides do not count.

    Regions are the gold spans of some layers, which are then not scored, and the gold spans with some labels, which are
    then no gold spans; the latter are regions of their own layer alone. A gold span that lies wholly in the regions
    leaves the count. A predicted span leaves it

    * ``inside``: if it lies wholly in the regions, so that one that sticks out is judged;
    * ``touching``: if it has any ignored position and no counted gold span has the same fragments, which is spaCy's
      rule for tokens without annotation.

    Labels of predicted spans play no part, unless they are compared with those of the regions (PASCAL VOC's
    *difficult*).

    Notes count the spans of gold and of predicted that leave the count, and the positions of the regions.

    Attributes:
        layers: the layers of gold whose spans are regions.
        labels: gold spans with these labels are regions.
        mode: ``inside`` or ``touching``.
        same_label: only predicted spans with the label of the region leave the count.
    """

    layers: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    mode: str = "inside"
    same_label: bool = False

    zeros: ClassVar[Sequence[Note]] = (("gold",), ("predicted",), ("positions",))

    @property
    def signature(self) -> tuple[str, str]:
        names = [f"layer={name}" for name in self.layers] + list(self.labels)
        return "ignored", f"{self.mode}({','.join([*names, *['same-label'] * self.same_label])})"

    def of_pair(self, pair: Pair) -> Iterator[Pair]:
        notes: Counter[Note] = Counter()
        everywhere: list[tuple[int, int]] = []
        for layer in self.layers:
            if layer in pair.gold.layers:
                notes[HIDDEN, "layer", layer] += 1
                everywhere += [part for span in pair.gold.layers[layer] for part in span.fragments]
        every = list(everywhere)
        gold, predicted = map(self._without_layers, without_tags(pair).sides)
        for layer in dict.fromkeys([*gold.layers, *predicted.layers]):
            gold_spans, predicted_spans = gold.layers.get(layer, ()), predicted.layers.get(layer, ())
            of_labels: dict[str, list[tuple[int, int]]] = {}
            for span in gold_spans if self.labels else ():
                label = span.by_layer.get(layer)
                if label is not None and label in self.labels:
                    notes[HIDDEN, "label", label] += 1
                    of_labels.setdefault(label, []).extend(span.fragments)
            every += [part for several in of_labels.values() for part in several]
            counted, judged = self._counted_spans(gold_spans, predicted_spans, layer, everywhere, of_labels)
            gold = with_layers(gold, {layer: counted}) if layer in gold.layers else gold
            predicted = with_layers(predicted, {layer: judged}) if layer in predicted.layers else predicted
            notes[("gold",)] += len(gold_spans) - len(counted)
            notes[("predicted",)] += len(predicted_spans) - len(judged)
        notes[("positions",)] += Regions(every).positions
        yield with_notes(replace(pair, gold=gold, predicted=predicted), "ignored", notes)

    def _without_layers(self, document: Document) -> Document:
        if not any(layer in document.layers for layer in self.layers):
            return document
        layers = {layer: spans for layer, spans in document.layers.items() if layer not in self.layers}
        return replace(document, layers=layers)

    def _counted_spans(
        self,
        gold: Sequence[Span],
        predicted: Sequence[Span],
        layer: str,
        everywhere: Sequence[tuple[int, int]],
        of_labels: Mapping[str, Sequence[tuple[int, int]]],
    ) -> tuple[Sequence[Span], Sequence[Span]]:
        """Return the spans that count, given the regions of all layers, and those of the labels of this layer."""
        if not everywhere and not of_labels:
            return gold, predicted
        alone = Regions([*everywhere, *(part for of_label in of_labels.values() for part in of_label)])
        by_label = {}
        if self.same_label:
            alone = Regions(everywhere)
            by_label = {label: Regions([*everywhere, *several]) for label, several in of_labels.items()}

        def regions(span: Span) -> Regions:
            return by_label.get(span.by_layer.get(layer) or "", alone)

        counted = [
            span
            for span in gold
            if span.by_layer.get(layer) not in of_labels and not regions(span).hold(span)
        ]
        if self.mode == "inside":
            return counted, [span for span in predicted if not regions(span).hold(span)]
        places = {span.fragments for span in counted}
        return counted, [
            span for span in predicted if span.fragments in places or not regions(span).touch(span)
        ]

    def check(self, notes: Notes) -> Sequence[str]:
        """Raise `UsageError` for a label or layer that no gold document has."""
        for kind, names in (("layer", self.layers), ("label", self.labels)):
            in_gold = hidden_names(notes, "ignored", kind)
            for name in names:
                if name not in in_gold:
                    what = f"layer {name!r}" if kind == "layer" else f"span with the label {name!r}"
                    raise UsageError(
                        f"gold has no {what} to ignore",
                        advice=f"check ignore_{kind}; names count as written",
                    )
        return ()


# Least scores


@dataclass(frozen=True)
class MinScore(EachSpan):
    """A step that leaves out predicted spans below a threshold: one for all, or one for each label.

    Notes count the spans that stay and those that are left out. Raises `UsageError` for a span without a score, or with
    a label without a threshold.

    Attributes:
        feature: the feature with the scores.
        thresholds: the least score that counts, or that of each label.
        says: what the signature says of them.
    """

    feature: str
    thresholds: float | Mapping[str, float]
    says: str

    sides: ClassVar[Sequence[str]] = ("predicted",)
    zeros: ClassVar[Sequence[Note]] = (("kept",), ("left_out",))

    @property
    def signature(self) -> tuple[str, str]:
        return "min-score", self.says

    def changed(
        self, span: Span, layer: str, side: str, document: Document, notes: Counter[Note]
    ) -> Sequence[Span]:
        score, least = score_of(span, self.feature, document), self.thresholds
        if isinstance(least, Mapping):
            label = span.by_layer.get(layer)
            if label not in least:
                raise UsageError(
                    f"the label of the predicted span {name_of(span)} has no threshold",
                    **document.in_errors,
                    line=span.line,
                    advice=f"labels with thresholds: {', '.join(least)}",
                )
            least = least[str(label)]
        notes[("kept",) if score >= least else ("left_out",)] += 1
        return [span] if score >= least else []


class ThresholdFile(NamedTuple):
    """The content of a file of ``clueval threshold``: a threshold that was chosen on some data, to use on other data.

    {"threshold": 0.42, "score_feature": "score", "metric": "exact", "measure": "f1", "value": 0.81,
     "signature": "metrics:exact|...", "gold_sha256": "..."}

    `threshold` is one number, or one for each label. `gold_sha256` tells apart the gold for which the threshold was
    chosen; None if it is not known. `sha` is the beginning of the hash of the file itself.
    """

    threshold: float | Mapping[str, float]
    score_feature: str
    metric: str
    measure: str
    gold_sha256: str | None
    sha: str

    @classmethod
    def of(cls, source: str | PathLike[str]) -> ThresholdFile:
        """Return the content of a file. Raises `FormatError` for a file of another form, `FileError`."""
        import json  # only the file of a threshold needs it

        path, text, sha = text_of_file(source, "min_score")
        try:
            value = json.loads(text)
        except (json.JSONDecodeError, RecursionError):
            value = None
        content = value if isinstance(value, dict) else {}
        threshold, names = _threshold(content.get("threshold")), ("score_feature", "metric", "measure")
        if threshold is None or not all(isinstance(content.get(name), str) for name in names):
            raise FormatError(
                "is not a file of clueval threshold",
                file=path,
                advice="write one with clueval threshold GOLD PREDICTED --score-feature F -o T.json, or give a number",
            )
        sha256 = content.get("gold_sha256")
        own_sha = sha256 if isinstance(sha256, str) else None
        feature, metric, measure = (content[name] for name in names)
        return cls(threshold, feature, metric, measure, own_sha, sha)

    def step(self, *, same_data: bool = False) -> MinScore:
        """Return the step; `same_data`: the threshold is used on the data for which it was chosen."""
        shown = "per-label" if isinstance(self.threshold, Mapping) else f"{self.threshold:g}"
        more = ",same-data" if same_data else ""
        says = f"{shown}(dev,{self.measure},{self.metric},{self.sha}{more})"
        return MinScore(self.score_feature, self.threshold, says)


def _threshold(value: Any) -> float | dict[str, float] | None:
    if not isinstance(value, dict):
        return None if isinstance(value, str) else finite_number(value)
    numbers = {
        label: None if isinstance(score, str) else finite_number(score) for label, score in value.items()
    }
    return None if None in numbers.values() else numbers  # type: ignore[return-value]  # none is None
