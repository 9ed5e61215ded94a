"""The spans of both sides of a document as other programs take them: characters and labels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from clueval.metrics.masking import Masking
from clueval.metrics.masking.exposure import Examination
from clueval.metrics.masking.metric import ANNOTATORS
from clueval.metrics.masking.text import MaskedText
from clueval.metrics.metric import Side
from clueval.spans.document import Document
from clueval.spans.span import Span
from clueval.transforms.group import Group

LabelledRange = tuple[int, int, str]
"""Start and end (half-open) in characters, and the label."""


class LabelledSides(NamedTuple):
    """The text of a document, its gold spans by one annotator, its predicted spans, its number of sentences."""

    text: str
    gold: Sequence[LabelledRange]
    predicted: Sequence[LabelledRange]
    sentences: int


def labelled_sides(metric: Masking, group: Group) -> LabelledSides:
    """Return both sides: all gold spans of the first annotator, those to keep, too, and all predicted spans."""
    gold, predicted = group.gold, group.predicted
    name = _first_layer(metric, gold)
    text = MaskedText.of(gold, "punctuation", (), in_characters=True)
    own = gold.layers.get(name, ())
    other, _ = metric.masking_spans(_side(predicted, name), name)
    return LabelledSides(
        text.characters,
        list(_ranges(own, gold, text)),
        list(_ranges(other, predicted, text)),
        len(gold.sentences),
    )


def examination_of(metric: Masking, group: Group) -> Examination | None:
    """Return the examination of all annotators, or of the first layer of mentions, in characters."""
    name = ANNOTATORS if metric.annotators else _first_layer(metric, group.gold)
    return metric.examine(_side(group.gold, name), _side(group.predicted, name), in_characters=True)


def _first_layer(metric: Masking, gold: Document) -> str:
    named = [name for name in metric.annotators if name in gold.layers]
    return next(iter(named or metric.layer_choice.of_mentions(gold.layers)), "")


def _side(document: Document, name: str) -> Side:
    return Side(document.layers.get(name, ()), document=document, sequence=name)


def _ranges(spans: Sequence[Span], document: Document, text: MaskedText) -> Iterator[LabelledRange]:
    for span in spans:
        ranges = text.ranges_of(span, document)
        yield ranges[0][0], ranges[-1][1], span.label
