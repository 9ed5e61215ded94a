"""Metric `strings`: a span is correct if gold has a span with the same text and label, anywhere in the same document.

Gold and predicted spans with the same text and label are paired one to one: if gold has ``Ann`` twice and predicted
has it three times, two are correct. The text of a span is that of its document, as it is written; the fragments of a
discontinuous span are joined by blanks. If a mention in the answer of a language model is not in the text of the
document, it counts with the text that the model gave.

>>> gold = Document("d", {}, text="Ann met Ann", unit="character")
>>> sides = [Side([Span(0, 3, "PER"), Span(8, 11, "PER")], document=gold), Side([Span(0, 3, "PER")] * 3, document=gold)]
>>> report = Strings().scores(Strings().count(*sides), ["label"])
>>> report["micro"]["tp_gold"], report["micro"]["fp"]
(2, 1)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from clueval.core.span import Span
from clueval.files.errors import UsageError
from clueval.first.metrics.counting import Tally, averages_of, counts_by_label
from clueval.first.metrics.metric import Metric, Needs, Side, no_tally
from clueval.first.metrics.rates import Shape, label_averages
from clueval.spans.document import Document
from clueval.spans.features import MENTION
from clueval.spans.limits import require_short_texts
from clueval.transforms.characters import are_unknown

if TYPE_CHECKING:
    from clueval.reports.table import Table


@dataclass(frozen=True, slots=True)
class Strings(Metric):
    """The metric; it has no settings.

    Its tally has the keys ``(count, label)``, where count is gold, predicted, tp_gold or tp_predicted.
    """

    name: ClassVar[str] = "strings"
    zero: ClassVar[str] = "0"
    tally_keys: ClassVar[tuple[Shape, ...]] = ((("gold", "predicted", "tp_gold", "tp_predicted"), str),)

    def count(self, gold: Side, predicted: Side) -> Tally:
        """Count one document. Raises `UsageError` for spans without a text, `LimitError` for too long ones."""
        tally: Tally = Tally()
        golds, predicteds = _strings(gold), _strings(predicted)
        for name, side, own, others in (
            ("gold", gold, golds, Counter(predicteds)),
            ("predicted", predicted, predicteds, Counter(golds)),
        ):
            counted = own
            if side.counted is not None:
                counted = [key for key, count in zip(own, side.counted, strict=True) if count]
            for key, number in Counter(counted).items():
                tally[name, key[1]] += number
                tally[f"tp_{name}", key[1]] += min(number, others[key])
        return tally

    def scores(self, total: Tally, layers: Sequence[str]) -> dict[str, Any]:
        return averages_of(counts_by_label(total))

    @property
    def needs(self) -> Needs:
        """Return that documents are needed, and that spans need no place."""
        return Needs(
            documents=True,
            places=False,
            rates=lambda keys, layers: label_averages(keys),
            empty=no_tally,
        )

    def tables(self, title: str, report: Mapping[str, Any]) -> Iterator[Table]:
        from clueval.first.metrics.tables import prf_per_label

        return prf_per_label(title, report)


def _strings(side: Side) -> list[tuple[str, str]]:
    require_short_texts(sum(map(len, side.spans)), side.document)
    return [(_text(span, side.document), span.label) for span in side.spans]


def _text(span: Span, document: Document | None) -> str:
    if MENTION in span.features:
        return str(span.features[MENTION]).strip()
    if (
        document is None
        or document.end is None
        or (document.unit == "token" and are_unknown(document.tokens or ()))
    ):
        raise UsageError(
            "metric 'strings' needs the text of the documents",
            document=None if document is None else document.id,
            file=None if document is None else document.file,
            advice="give documents with their texts",
        )
    if span.parts is None:
        return document.text_of(span)
    return " ".join(document.text_between(*part) for part in span.parts)
