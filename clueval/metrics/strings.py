"""Metric `strings`: a span is correct if gold has a span with the same text and label, anywhere in the same document.

Gold and predicted spans with the same text and label are paired one to one: if gold has ``Ann`` twice and predicted
has it three times, two are correct. The text of a span is that of its document, as it is written; the fragments of a
discontinuous span are joined by blanks. If a mention in the answer of a language model is not in the text of the
document, it counts with the text that the model gave.

>>> gold, predicted = [Span(0, 3, "PER"), Span(8, 11, "PER")], [Span(0, 3, "PER")] * 3
>>> pair = Pair(*(Document("d", {"x": side}, text="Ann met Ann", unit="character") for side in (gold, predicted)))
>>> report = Strings().scores(Strings().count_documents([pair], "x", {}), ["x"])
>>> report["micro"]["tp_gold"], report["micro"]["fp"]
(2, 1)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any, ClassVar

from clueval.core.alignment import has_characters
from clueval.core.case import Where, which_count
from clueval.core.document import MENTION, Document, Pair, require_short_texts
from clueval.core.metric import Counts, DocumentMetric, Tally, averages_of, counts_by_label
from clueval.core.span import SIDES, Span
from clueval.files.errors import UsageError

_String = tuple[str, str]
"""The text and the label of a span."""


@dataclass(frozen=True, slots=True)
class Strings(DocumentMetric):
    """The metric; it has no settings.

    Its tally has the keys ``(count, label)``, where count is gold, predicted, tp_gold or tp_predicted.
    """

    name: ClassVar[str] = "strings"
    places: ClassVar[bool] = False

    def count_documents(self, pairs: Sequence[Pair], sequence: str, where: Where) -> Tally:
        """Count the pairs of one text: spans without a place are paired with gold as all others are.

        Raises `UsageError` for spans without a text, `LimitError` for too long ones.
        """
        tally = Tally()
        sides = [_strings([pair.sides[side] for pair in pairs], sequence, where) for side in (0, 1)]
        for side, name in enumerate(SIDES):
            (_, judged), (of_other_side, _) = sides[side], sides[1 - side]
            for key, number in judged.items():
                tally[name, key[1]] += number
                tally[f"tp_{name}", key[1]] += min(number, of_other_side[key])
        return tally

    def scores(self, total: Tally, layers: Sequence[str]) -> dict[str, Any]:
        return averages_of(counts_by_label(total))

    def headlines(self, total: Tally, layers: Sequence[str]) -> Mapping[str, Counts]:
        return {"micro": Counts.total(counts_by_label(total).values())}


def _strings(
    documents: Sequence[Document], sequence: str, where: Where
) -> tuple[Counter[_String], Counter[_String]]:
    """Return the texts and labels of the spans of a side, and of those that count."""
    strings, judged = Counter[_String](), Counter[_String]()
    for document in documents:
        spans = document.layers.get(sequence, ())
        require_short_texts(sum(map(len, spans)), document)
        texted = has_characters(document)
        keys = [(_text(span, document, texted), span.label) for span in spans]
        strings.update(keys)
        judged.update(compress(keys, which_count(spans, document, where)))
    return strings, judged


def _text(span: Span, document: Document, texted: bool) -> str:
    if span.features and MENTION in span.features:
        return str(span.features[MENTION]).strip()
    if not texted:
        raise UsageError(
            "metric 'strings' needs the text of the documents",
            **document.in_errors,
            advice="give documents with their texts",
        )
    if span.parts is None:
        return document.text_of(span)
    return " ".join([document.text_between(*part) for part in span.parts])
