"""The metric `masking`: its settings, and the examination of a document from its two sides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from clueval.exceptions import UsageError
from clueval.metrics.counting import Tally, f_measure
from clueval.metrics.masking.counts import TALLY_KEYS, WeightOf, count
from clueval.metrics.masking.exposure import PARTS, REPLACEMENT, Examination, Mask
from clueval.metrics.masking.figures import entities_told_by, report_of
from clueval.metrics.masking.layers import (
    ENTITY,
    NO_MASK,
    RISKS,
    ChosenSpans,
    LayerChoice,
    check_names,
    count_names,
)
from clueval.metrics.masking.mention import CLASS_LAYER, Mention, MentionReader, risk_by
from clueval.metrics.masking.text import MaskedText
from clueval.metrics.masking.weights import PositionWeights, Range
from clueval.metrics.masking.word_files import IgnoredWords, WordWeights, token_weights
from clueval.metrics.metric import Needs, Rates, Side
from clueval.metrics.tally_keys import Shape
from clueval.options import option_field, require_share, require_types
from clueval.spans.document import Document
from clueval.spans.span import NO_LABEL, Span

if TYPE_CHECKING:
    from clueval.reports.table import Table

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
        (1.0, 2.0), "--beta", "B,...", "weights of recall in the F figures"
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
            return Needs(documents=True, sequences=self._reported, choices=entities_told_by)
        instead = "filter documents only, or use keep"
        return Needs(documents=True, every_span=instead, whole=ANNOTATORS, choices=entities_told_by)

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
        from clueval.metrics.masking.figures import tables

        return tables(title, report)

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
