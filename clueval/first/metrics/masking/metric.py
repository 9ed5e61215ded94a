"""The metric `masking`: its settings, and the examination of a document from its two sides.

The settings name layers, features, classes and labels. A layer or feature without a document is an error. A class or
label without a span can be right, if a document has no span of a class, so it is a warning, but not for the usual names
of classes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from clueval.core.span import NO_LABEL, Span
from clueval.files.errors import UsageError, warn
from clueval.first.metrics.counting import Tally, f_measure
from clueval.first.metrics.masking.counts import TALLY_KEYS, WeightOf, count
from clueval.first.metrics.masking.exposure import PARTS, REPLACEMENT, Examination, Mask
from clueval.first.metrics.masking.figures import entities_told_by, report_of, weighing
from clueval.first.metrics.masking.mention import CLASS_LAYER, Mention, MentionReader, class_names, risk_by
from clueval.first.metrics.masking.text import MaskedText
from clueval.first.metrics.masking.weights import PositionWeights, Range
from clueval.first.metrics.masking.word_files import IgnoredWords, WordWeights, token_weights
from clueval.first.metrics.metric import Needs, Rates, Side
from clueval.first.metrics.rates import Shape
from clueval.options import option_field, require_share, require_types
from clueval.reports.table import cut_label
from clueval.spans.document import Document

if TYPE_CHECKING:
    from clueval.reports.table import Table

RISKS = ("high", "medium", "low", "hoch", "mittel", "niedrig", "DIRECT", "QUASI")
"""The usual classes, riskiest first."""
NO_MASK = "NO_MASK"
"""The usual label of a span that needs no mask."""
ENTITY = "entity_id"
"""The usual feature of a span that says of which entity it is a mention."""

EVERY = "all"
"""The setting that means all layers."""

Layers = Mapping[str, Sequence[Span]]

ChosenSpans = tuple[Sequence[Span], Sequence[bool] | None]
"""Spans, and whether each is counted (None: all are)."""


class LayerChoice(NamedTuple):
    """The settings that name layers: those of the classes, of the entities, of the annotators, of the masks."""

    classes: str
    entities: str
    annotators: tuple[str, ...]
    masks: tuple[str, ...]

    def of_mentions(self, layers: Mapping[str, object]) -> list[str]:
        """Return the layers less those of the classes and of the entities, unless there is no other."""
        found = [name for name in layers if name not in (self.classes, self.entities)]
        return found or list(layers)

    def views(self, layers: Layers, gold: Side) -> dict[str, ChosenSpans] | None:
        """Return the gold spans by annotator; None if the sequence is no sequence of mentions."""
        if self.annotators:
            names = self.of_mentions(layers) if self.annotators == (EVERY,) else self.annotators
            return {name: (layers[name], None) for name in names if name in layers}
        name = gold.sequence
        if name is not None and name not in layers and self.of_mentions(layers):
            return None
        if name in (self.classes, self.entities) and name not in self.of_mentions(layers):
            return None
        return {name or "": (gold.spans, gold.counted)}

    def masking(self, layers: Layers, predicted: Side, sequence: str | None) -> ChosenSpans:
        """Return the predicted spans that mask. Raises `UsageError` if several layers may and none is named."""
        if self.masks:
            return _of_all(layers, list(layers) if self.masks == (EVERY,) else self.masks), None
        if predicted.spans or sequence is None or (sequence in layers and not self.annotators):
            return predicted.spans, predicted.counted
        names = self.of_mentions(layers)
        if len(names) > 1:
            raise UsageError(
                f"the predicted side has the layers {', '.join(map(repr, names))}, and none of them is {sequence!r}",
                advice="name the layers that mask as Masking.masks",
            )
        return _of_all(layers, names), None


def _of_all(layers: Layers, names: Sequence[str]) -> Sequence[Span]:
    if len(names) == 1:
        return layers.get(names[0], ())
    return [span for name in names for span in layers.get(name, ())]


_KEPT = "kept"
_LISTED = 10
"""How many names a warning lists."""


def count_names(tally: Tally, settings: Masking, gold: Layers, predicted: Layers) -> None:
    """Count which of the layers that settings name a document has, and which of the names to keep spans have."""
    for key, names, layers in (("seen", settings.masks, predicted), ("annotator", settings.annotators, gold)):
        for name in names:
            tally[key, name] += name in layers
    if unusual := _unusual(settings):
        seen = set().union(*(_names_in(side, settings.risk_layer) for side in (gold, predicted)))
        for name in unusual & seen:
            tally[_KEPT, name] += 1


def check_names(total: Tally, settings: Masking) -> None:
    """Raise `UsageError` if no document has a layer or feature that a setting names; warn of unknown classes."""
    counted = any(key[0] in ("precision", "gold") for key in total)
    for names, side, key in (
        (settings.masks, "predicted", "seen"),
        (settings.annotators, "gold", "annotator"),
    ):
        for name in names if counted and names != (EVERY,) else ():
            if not total[key, name]:
                raise UsageError(f"no {side} document has a layer {name!r}", advice=_CHECK[side])
    if counted:
        for warning in _warnings(total, settings):
            warn(warning)
    if not total["all", "", "mentions"]:
        return
    if settings.risk_layer is not None and not total["gold", "classes"]:
        raise UsageError(
            f"no mention has a class in a layer or feature {settings.risk_layer!r}",
            advice="check Masking.risk_layer",
        )
    if settings.entity != ENTITY and not total["entities", "by id"]:
        raise UsageError(
            f"no mention has an entity in a layer or feature {settings.entity!r}",
            advice="check Masking.entity",
        )


_CHECK = {"predicted": "check Masking.masks", "gold": "check Masking.annotators"}


def _warnings(total: Tally, settings: Masking) -> Iterator[str]:
    classes, labels = (
        {str(key[1]) for key in total if key[0] == kind and key[1] != NO_LABEL} for kind in ("class", "label")
    )
    found = f"classes found: {_listed(classes)}; labels found: {_listed(labels)}"
    for name in sorted(_unusual(settings)):
        if not total[_KEPT, name]:
            yield f"keep: no span has the class or label {cut_label(name)!r} ({found})"
    missing = classes - {*settings.risk_order}
    for name in settings.risk_order:
        if (missing or not classes) and name not in {*classes, *RISKS, *settings.keep}:
            yield (
                f"risk_order: no mention has the class {cut_label(name)!r} "
                f"(classes found that it does not name: {_listed(missing)})"
            )


def _unusual(settings: Masking) -> set[str]:
    """Return the names to keep that are neither usual nor classes of the order."""
    return {*settings.keep} - {NO_MASK, NO_LABEL, *RISKS, *settings.risk_order}


def _names_in(layers: Layers, risk_layer: str | None) -> set[str]:
    """Return the labels of all spans of a document, and the classes that they have as features."""
    features = class_names(layers, risk_layer)
    found: set[str | None] = set()
    for span in (span for spans in layers.values() for span in spans):
        found.update(span.by_layer.values())
        found.update(str(span.features[name]) for name in features if name in span.features)
    return {name for name in found if name is not None}


def _listed(names: Iterable[str]) -> str:
    ordered = sorted(names)
    more = f" and {len(ordered) - _LISTED} more" if len(ordered) > _LISTED else ""
    return ", ".join(map(cut_label, ordered[:_LISTED])) + more if ordered else "none"


ANNOTATORS = "annotators"
"""The sequence that has all annotators."""

PLACEHOLDERS, REPLACED_WORDS = "placeholders", "replaced_words"
FROM_THE_RIGHT, UNCERTAIN = "from_the_right", "uncertain"
"""The metadata of a document that was recovered from a redacted text: how many placeholders it has, how many words
were replaced by others, and two lists of ranges of characters, as in ``5-9 22-29``: what is masked in its second
reading, and where no reading has its placeholders between words."""


@dataclass(frozen=True, slots=True)
class Masking:
    """The metric; the specification of its figures is in the guide, `concept-masking-figures`.

    A predicted document whose metadata has the number of ``placeholders`` was recovered from a redacted text.
    Raises `UsageError` for settings outside their range.
    """

    name: ClassVar[str] = "masking"
    zero: ClassVar[str] = "undefined"
    tally_keys: ClassVar[tuple[Shape, ...]] = TALLY_KEYS

    risk_layer: str | None = option_field(
        None,
        "--risk-layer",
        "NAME",
        "the layer, or the feature of gold spans, that has the class of each mention",
        default=f"the layer {CLASS_LAYER}, else the feature identifier_type",
    )
    risk_order: tuple[str, ...] = option_field(
        RISKS, "--risk-order", "CLASS,...", "the classes, riskiest first"
    )
    keep: tuple[str, ...] = option_field(
        (NO_MASK,), "--keep", "NAME,...", "classes and labels that need no mask"
    )
    masks: tuple[str, ...] = option_field(
        (),
        "--masks",
        "LAYER,...",
        "the predicted layers that mask, or all",
        default="the layer of the same name, or the only one",
    )
    ignore: str = option_field(
        "punctuation",
        "--ignore",
        "WHAT",
        "characters of a mention that may stay readable: punctuation (all but letters and digits) or none",
        choices=("punctuation", "none"),
    )
    ignore_words: IgnoredWords = option_field(
        IgnoredWords(),
        "--ignore-words",
        "FILE",
        "words that may stay readable, one a line",
        parse=IgnoredWords.read,
        takes="a file of words",
        default="none",
    )
    entity: str = option_field(
        ENTITY,
        "--entity",
        "NAME",
        "the feature or layer of gold that says which mentions are one entity; without it, these are mentions with "
        "the same label and words",
    )
    annotators: tuple[str, ...] = option_field(
        (), "--annotators", "LAYER,...", "gold layers, each with the spans of one annotator; all: all layers"
    )
    confidence: float = option_field(
        0.95, "--confidence", "C", "the confidence of the bound on documents that leak"
    )
    beta: tuple[float, ...] = option_field(
        (),
        "--beta",
        "B,...",
        "show F of word precision and recall, with these weights of recall",
        default="F1 and F2, in JSON only",
    )
    word_weights: WordWeights | None = option_field(
        None,
        "--word-weights",
        "FILE",
        "how often words occur: a word, a tab and its count on each line; rare words weigh more",
        parse=WordWeights.read,
        takes="a file of words and counts",
    )
    token_weights: bool = option_field(
        False, "--token-weights", None, "the ids of gold's tokens (--token-id) are their weights"
    )

    def __post_init__(self) -> None:
        if not isinstance(self.ignore_words, IgnoredWords):
            object.__setattr__(self, "ignore_words", IgnoredWords.of(self.ignore_words))
        if isinstance(self.word_weights, Mapping):
            object.__setattr__(self, "word_weights", WordWeights.of(self.word_weights))
        require_types(self)
        require_share("confidence", self.confidence)
        if self.ignore not in ("punctuation", "none"):
            raise UsageError(f"unknown value {self.ignore!r} of ignore", advice="punctuation or none")
        for beta in self.beta:
            if isinstance(beta, bool) or not isinstance(beta, int | float) or not 0 < beta < float("inf"):
                raise UsageError(f"beta must be a number above 0, not {beta!r}")
        if self.token_weights and self.word_weights is not None:
            raise UsageError("words have weights from a file and from a column", advice="give one of them")

    @property
    def needs(self) -> Needs:
        """Return that documents are needed; annotators are counted together."""
        if not self.annotators:
            return Needs(documents=True, sequences=self._reported, choices=entities_told_by, rates=weighing)
        instead = "filter documents only, or use keep"
        return Needs(
            documents=True, every_span=instead, whole=ANNOTATORS, choices=entities_told_by, rates=weighing
        )

    @property
    def class_layer(self) -> str:
        return self.risk_layer or CLASS_LAYER

    def count(self, gold: Side, predicted: Side) -> Tally:
        """Count one document. Raises `UsageError` for a side without a document, and for one without text."""
        examination = self.examine(gold, predicted)
        if examination is None:
            return Tally()
        own, other = examination.document.layers, predicted.document.layers if predicted.document else {}
        tally = count(examination, risk_by(self.risk_order), self._weight_of(examination))
        count_names(tally, self, own, other)
        tally["gold", "layer"] += gold.sequence in own or bool(self.annotators)
        if self.risk_layer is not None:
            classified = any(key[0] == "class" and key[1] != NO_LABEL for key in tally)
            tally["gold", "classes"] += classified or self.risk_layer in own
        return +tally

    def scores(self, total: Tally, layers: Sequence[str]) -> dict[str, Any]:
        """Return the report; the layers of a merged sequence are not reported separately."""
        return report_of(
            total,
            risk_by(self.risk_order),
            self.beta,
            self.confidence,
            weighted=self.token_weights or self.word_weights is not None,
        )

    def headlines(self, report: Mapping[str, Any]) -> dict[str, Rates]:
        """Return word precision and the recall of entities, where both are defined."""
        precision, recall = report["precision"]["word_precision"], report["classes"]["all"]["entity_recall"]
        if precision is None or recall is None:
            return {}
        return {"masking": (precision, recall, f_measure(precision, recall))}

    def tables(self, title: str, report: Mapping[str, Any]) -> Iterator[Table]:
        from clueval.first.metrics.masking.figures import tables

        return tables(title, report, self.beta)

    def check(self, total: Tally) -> None:
        """Raise `UsageError` if no document has a layer or feature that a setting names; warn of unknown classes."""
        check_names(total, self)

    def examine(self, gold: Side, predicted: Side, *, in_characters: bool = False) -> Examination | None:
        """Compare one document with its masks; None if the sequence is no sequence of mentions in it.

        Positions are tokens where these are masked as a whole, unless `in_characters`.
        """
        own, other = gold.document, predicted.document
        if own is None or other is None:
            raise UsageError("metric 'masking' needs documents", advice="give documents with their texts")
        views = self.layer_choice.views(own.layers, gold)
        if views is None:
            return None
        texted = own if own.end is not None or other.end is None else other
        text = MaskedText.of(texted, self.ignore, self.ignore_words.words, in_characters=in_characters)
        reader = MentionReader(
            own, text, self.risk_layer, risk_by(self.risk_order), self.entity, frozenset(self.keep)
        )
        mentions = {
            name: sorted(
                reader.read(*view), key=lambda mention: (mention.ranges[0][0], mention.ranges[-1][1])
            )
            for name, view in views.items()
        }
        found = self.masking_spans(predicted, gold.sequence)
        return self._examination(text, own, other, mentions, found)

    def _examination(
        self,
        text: MaskedText,
        own: Document,
        other: Document,
        mentions: Mapping[str, Sequence[Mention]],
        spans: ChosenSpans,
    ) -> Examination:
        masks = list(self._masks(text, other, *spans))
        if PLACEHOLDERS not in other.metadata:
            return Examination(own, text, mentions, masks)
        again = [
            Mask((place,), "", counted=True) for place in _ranges(other.metadata.get(FROM_THE_RIGHT, ""))
        ]
        details: dict[str, Any] = {
            name: int(other.metadata.get(name, 0)) for name in (PLACEHOLDERS, REPLACED_WORDS)
        }
        details["from_the_right"] = Examination(own, text, mentions, again)
        details["uncertain"] = PositionWeights.at(_ranges(other.metadata.get(UNCERTAIN, "")), text.size)
        return Examination(own, text, mentions, masks, details)

    @property
    def layer_choice(self) -> LayerChoice:
        """Which layers have mentions, and which have masks."""
        return LayerChoice(self.class_layer, self.entity, self.annotators, self.masks)

    def masking_spans(self, predicted: Side, sequence: str | None) -> ChosenSpans:
        """Return the predicted spans that mask, with the flags of those that are counted."""
        assert predicted.document is not None
        layers = predicted.document.layers
        if PLACEHOLDERS in predicted.document.metadata:  # every layer has the spans of the redacted text
            return next(iter(layers.values()), ()), None
        try:
            return self.layer_choice.masking(layers, predicted, sequence)
        except UsageError as error:
            error.document, error.file = predicted.document.id, predicted.document.file
            raise

    def _masks(
        self, text: MaskedText, document: Document, spans: Sequence[Span], counted: Sequence[bool] | None
    ) -> Iterator[Mask]:
        """Yield the masks among the spans of a predicted document."""
        keep = {*self.keep} - {NO_LABEL}  # a mask without a label is a mask
        known: dict[int, str | None] = {}  # the label of a mask by labels, which spans share
        for number, span in enumerate(spans):
            key, features = id(span.labels), span.features
            label = known.get(key, "") if not features else ""
            if label == "":
                names = {span.label, span.by_layer.get(self.class_layer), features.get(self.class_layer)}
                label = span.label if names.isdisjoint(keep) else None
                if not features:
                    known[key] = label
            if label is not None:
                ranges = text.ranges_of(span, document)
                shown = str(features.get(REPLACEMENT, label)) if features else label
                yield Mask(ranges, shown, counted is None or counted[number], features.get(PARTS, ()))

    def _weight_of(self, examination: Examination) -> WeightOf | None:
        spelled = examination.text.spelled
        if self.word_weights is not None:
            weigh = self.word_weights.weigher()
            return lambda word: weigh(spelled[word])
        return token_weights(examination.document) if self.token_weights else None

    def _reported(self, tallies: Mapping[str, Tally]) -> list[str]:
        """Return the sequences to report: not those of classes or entities, nor those of the predicted side alone."""
        found = self.layer_choice.of_mentions(tallies)
        return [name for name in found if tallies[name]["gold", "layer"]] or found


def _ranges(text: str) -> list[Range]:
    """Return the ranges that stand in the metadata of a document, as in ``5-9 22-29``."""
    pairs = (place.split("-") for place in text.split())
    return [(int(start), int(end)) for start, end in pairs]
