"""The metric `masking`: its settings, and the examination of a document from its two sides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from clueval.exceptions import UsageError
from clueval.metrics.counting import Tally, f_measure
from clueval.metrics.masking.counts import TALLY_KEYS, WeightOf, count
from clueval.metrics.masking.exposure import PARTS, REPLACEMENT, Examination, Mask
from clueval.metrics.masking.figures import entities_told_by, report_of
from clueval.metrics.masking.flags import Flags, Range
from clueval.metrics.masking.layer_choice import ChosenSpans, LayerChoice
from clueval.metrics.masking.masked_words import MaskedWords
from clueval.metrics.masking.mention import CLASS_LAYER, Mention, MentionReader, risk_by
from clueval.metrics.masking.open_document import OpenDocument
from clueval.metrics.masking.setting_names import ENTITY, NO_MASK, RISKS, Layers, check_names, count_names
from clueval.metrics.masking.token_counts import TokenCounts
from clueval.metrics.masking.token_mentions import EntityNumbers, TokenReader, masks_of
from clueval.metrics.masking.token_spans import NotTokens, TokenSpans
from clueval.metrics.masking.token_text import TokenText
from clueval.metrics.masking.word_files import IgnoredWords, WordWeights, token_weights
from clueval.metrics.metric import Needs, Rates, Side
from clueval.metrics.tally_keys import Shape
from clueval.options import option, require_types
from clueval.spans.document import Document
from clueval.spans.flat import Flat
from clueval.spans.span import NO_LABEL, Span
from clueval.spans.token_pair import TokenPair
from clueval.statistics.checked import require_share

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

    risk_layer: str | None = field(
        default=None,
        metadata=option(
            "--risk-layer",
            "NAME",
            "the layer, or the feature of gold spans, that has the class of each mention",
            default=f"the layer {CLASS_LAYER}, else the feature identifier_type",
        ),
    )
    risk_order: tuple[str, ...] = field(
        default=RISKS, metadata=option("--risk-order", "CLASS,...", "the classes, riskiest first")
    )
    keep: tuple[str, ...] = field(
        default=(NO_MASK,),
        metadata=option("--keep", "NAME,...", "classes and labels that need no mask"),
    )
    masks: tuple[str, ...] = field(
        default=(),
        metadata=option(
            "--masks",
            "LAYER,...",
            "the predicted layers that mask, or all",
            default="the layer of the same name, or the only one",
        ),
    )
    ignore: str = field(
        default="punctuation",
        metadata=option(
            "--ignore",
            "WHAT",
            "characters of a mention that may stay readable: punctuation (all but letters and digits) or none",
            choices=("punctuation", "none"),
        ),
    )
    ignore_words: IgnoredWords = field(
        default=IgnoredWords(),
        metadata=option(
            "--ignore-words",
            "FILE",
            "words that may stay readable, one a line",
            parse=IgnoredWords.read,
            takes="a file of words",
            default="none",
        ),
    )
    entity: str = field(
        default=ENTITY,
        metadata=option(
            "--entity",
            "NAME",
            "the feature or layer of gold that says which mentions are one entity; without it, these are mentions with "
            "the same label and words",
        ),
    )
    annotators: tuple[str, ...] = field(
        default=(),
        metadata=option(
            "--annotators",
            "LAYER,...",
            "gold layers, each with the spans of one annotator; all: all layers",
        ),
    )
    confidence: float = field(
        default=0.95,
        metadata=option("--confidence", "C", "the confidence of the bound on documents that leak"),
    )
    beta: tuple[float, ...] = field(
        default=(1.0, 2.0), metadata=option("--beta", "B,...", "weights of recall in the F figures")
    )
    word_weights: WordWeights | None = field(
        default=None,
        metadata=option(
            "--word-weights",
            "FILE",
            "how often words occur: a word, a tab and its count on each line; rare words weigh more",
            parse=WordWeights.read,
            takes="a file of words and counts",
        ),
    )
    token_weights: bool = field(
        default=False,
        metadata=option("--token-weights", None, "the ids of gold's tokens (--token-id) are their weights"),
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
            count_pair = self.count_pair if self._masks_whole_tokens else None
            choices, reported = entities_told_by, self._reported
            return Needs(documents=True, sequences=reported, choices=choices, count_pair=count_pair)
        instead = "filter documents only, or use keep"
        return Needs(documents=True, every_span=instead, whole=ANNOTATORS, choices=entities_told_by)

    @property
    def class_layer(self) -> str:
        return self.risk_layer or CLASS_LAYER

    def count(self, gold: Side, predicted: Side) -> Tally:
        """Count one document. Raises `UsageError` for a side without a document, and for one without text."""
        tally = self._count_tokens(gold, predicted)
        if tally is None:
            examination = self.examine(gold, predicted)
            if examination is None:
                return Tally()
            tally = count(examination, risk_by(self.risk_order), self._weight_of(examination))
        assert gold.document is not None
        assert predicted.document is not None
        return self._with_layers(tally, gold.document.layers, predicted.document.layers, gold.sequence)

    def _with_layers(
        self, tally: Tally, gold: Layers, predicted: Layers, sequence: str | None, documents: int = 1
    ) -> Tally:
        """Add which of the layers and names in the settings the two sides of documents have."""
        count_names(tally, self, gold, predicted, documents)
        tally["gold", "layer"] += documents * (sequence in gold or bool(self.annotators))
        if self.risk_layer is not None:
            classified = any(key[0] == "class" and key[1] != NO_LABEL for key in tally)
            tally["gold", "classes"] += documents * (classified or self.risk_layer in gold)
        return +tally

    def _count_tokens(self, gold: Side, predicted: Side) -> Tally | None:
        """Count a document by sums over its tokens; None if its characters must be examined."""
        own, other = gold.document, predicted.document
        if own is None or other is None or not self._has_whole_tokens(own, other):
            return None
        views = self.layer_choice.views(own.layers, gold)
        if views is None:
            return None
        masks = self.masking_spans(predicted, gold.sequence)
        assert own.tokens is not None
        try:
            text = TokenText(own.tokens, self.ignore_words.words)
            return self.token_counts(
                text,
                self._reader(own.layers, own.start, text, EntityNumbers()),
                {name: TokenSpans.of(*view, own.start) for name, view in views.items()},
                TokenSpans.of(*masks, other.start),
            ).tally()
        except NotTokens:
            return None

    def count_pair(self, pair: TokenPair, sequence: str) -> Tally | None:
        """Count a document by sums over its tokens, as `count` does; None if it must be counted as documents."""
        if self.layer_choice.views(pair.gold, Side(pair.gold.get(sequence, ()), sequence=sequence)) is None:
            return Tally()
        other = Side(pair.predicted.get(sequence, ()), sequence=sequence)
        masks, _ = self.layer_choice.masking(pair.predicted, other, sequence)
        if not isinstance(masks, Flat):
            return None
        own = pair.gold.get(sequence, Flat.of_tags(sequence, [], [], []))
        document = None if pair.held is None else pair.held.setdefault((self.name, sequence), OpenDocument())
        try:
            text = TokenText(pair.tokens, self.ignore_words.words, pair.borders, pair.ends)
            reader = self._reader(
                pair.gold, 0, text, EntityNumbers() if document is None else document.entities
            )
            views = {sequence: TokenSpans.of_tags(own)}
            tally = self.token_counts(text, reader, views, TokenSpans.of_tags(masks)).tally(document)
        except NotTokens:
            return None
        if document is not None and pair.ended:
            document.close(tally, reader.risk)
        documents = len(pair.ends) if pair.ended else 0  # a document in parts counts once
        return self._with_layers(tally, pair.gold, pair.predicted, sequence, documents)

    def _reader(
        self,
        layers: Mapping[str, Sequence[Span]],
        base: int,
        text: TokenText,
        entities: EntityNumbers,
    ) -> TokenReader:
        risk, keep = risk_by(self.risk_order), frozenset(self.keep)
        return TokenReader(layers, base, text, self.risk_layer, risk, self.entity, keep, entities)

    def token_counts(
        self, text: TokenText, reader: TokenReader, views: Mapping[str, TokenSpans], masks: TokenSpans
    ) -> TokenCounts:
        """Return what counts documents by sums over their tokens. Raises `NotTokens` if these cannot."""
        found = masks_of(masks, self._is_mask)
        mentions = {name: reader.read(view) for name, view in views.items()}
        return TokenCounts(text, found, mentions, reader.risk)

    @property
    def _masks_whole_tokens(self) -> bool:
        """Whether sums over tokens are enough, since words have no weights and blanks need no mask."""
        return not self.token_weights and self.word_weights is None and self.ignore != "none"

    def _has_whole_tokens(self, own: Document, other: Document) -> bool:
        """Return whether tokens are masked as a whole, unless spans have gaps."""
        are_tokens = own.unit == other.unit == "token" and own.tokens is not None and other.tokens is not None
        if not are_tokens or not self._masks_whole_tokens or PLACEHOLDERS in other.metadata:
            return False
        return "" not in (own.tokens or ())

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
        from clueval.metrics.masking.tables import tables

        return tables(title, report)

    def check(self, total: Tally) -> None:
        """Raise `UsageError` if no document has a layer or feature that a setting names; warn of unknown classes."""
        check_names(total, self)

    def examine(self, gold: Side, predicted: Side) -> Examination | None:
        """Compare one document with its masks; None if the sequence is no sequence of mentions in it."""
        own, other = gold.document, predicted.document
        if own is None or other is None:
            raise UsageError("metric 'masking' needs documents", advice="give documents with their texts")
        views = self.layer_choice.views(own.layers, gold)
        if views is None:
            return None
        texted = own if own.end is not None or other.end is None else other
        words = MaskedWords.of(texted, self.ignore, self.ignore_words.words)
        reader = MentionReader(
            own, words, self.risk_layer, risk_by(self.risk_order), self.entity, frozenset(self.keep)
        )
        mentions = {
            name: sorted(reader.read(*view), key=lambda mention: (mention.start, mention.end))
            for name, view in views.items()
        }
        found = self.masking_spans(predicted, gold.sequence)
        return self._examination(words, own, other, mentions, found)

    def _examination(
        self,
        words: MaskedWords,
        own: Document,
        other: Document,
        mentions: Mapping[str, Sequence[Mention]],
        spans: ChosenSpans,
    ) -> Examination:
        masks = self._masks(words, other, *spans)
        if PLACEHOLDERS not in other.metadata:
            return Examination(own, words, mentions, masks)
        again = [
            Mask((place,), "", counted=True) for place in _ranges(other.metadata.get(FROM_THE_RIGHT, ""))
        ]
        details: dict[str, Any] = {
            name: int(other.metadata.get(name, 0)) for name in (PLACEHOLDERS, REPLACED_WORDS)
        }
        details["from_the_right"] = Examination(own, words, mentions, again)
        details["uncertain"] = Flags.at(_ranges(other.metadata.get(UNCERTAIN, "")), len(words.text))
        return Examination(own, words, mentions, masks, details)

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
        self, words: MaskedWords, document: Document, spans: Sequence[Span], counted: Sequence[bool] | None
    ) -> list[Mask]:
        """Return the masks among the spans of a predicted document."""
        return [
            Mask(
                words.ranges_of(span, document),
                str(span.features.get(REPLACEMENT, span.label)),
                counted is None or counted[number],
                span.features.get(PARTS, ()),
            )
            for number, span in enumerate(spans)
            if self._is_mask(span)
        ]

    def _is_mask(self, span: Span) -> bool:
        names = {span.label, span.by_layer.get(self.class_layer), span.features.get(self.class_layer)}
        return names.isdisjoint(set(self.keep) - {NO_LABEL})  # a mask without a label is a mask

    def _weight_of(self, examination: Examination) -> WeightOf | None:
        words = examination.words
        if self.word_weights is not None:
            weigh = self.word_weights.weigher()
            return lambda word: weigh(words.text[words.starts[word] : words.ends[word]])
        return token_weights(examination.document) if self.token_weights else None

    def _reported(self, tallies: Mapping[str, Tally]) -> list[str]:
        """Return the sequences to report: not those of classes or entities, nor those of the predicted side alone."""
        found = self.layer_choice.of_mentions(tallies)
        return [name for name in found if tallies[name]["gold", "layer"]] or found


def _ranges(text: str) -> list[Range]:
    """Return the ranges that stand in the metadata of a document, as in ``5-9 22-29``."""
    pairs = (place.split("-") for place in text.split())
    return [(int(start), int(end)) for start, end in pairs]
