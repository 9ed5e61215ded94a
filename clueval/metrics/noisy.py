"""Metric `noisy`: spans whose texts are nearly the same, where gold and predicted *texts* differ.

For example, the predicted text comes from OCR or the recognition of handwriting. For each document:

1. The two texts are aligned (`clueval.core.alignment`). A span reaches from the column of its first
   character up to the column of the first character after it, so characters that only the other side has
   at its end belong to its columns.
2. Each gold span, in order of position, takes the first predicted span of the same label, in order of
   position, that is not yet taken and shares a column with it, whether or not the two match.
3. The two match if both have a text and the Levenshtein distance of their texts, divided by the length of
   the gold text, is at most the threshold: 0 requires equal texts, 1 may accept very different ones. Lengths and
   distances are in code points, including the blanks within a span.

Precision is the share of predicted spans that match, recall the share of gold spans; ``ALL`` is over all
labels. A rate with no spans to divide by is undefined, None, and so is F1 if precision or recall is: **not
0**, unlike in other metrics. ``file_mean`` is the unweighted mean of the documents' ``ALL`` rates, which
Nerval prints for several files (each file is a document); a document whose rate is undefined is not part of
that mean, and ``documents_with_precision`` and similar counts say how many documents are.

The example of Nerval's README: "Tolkien" was read as "Tolkieene", with 2 differences for 7 characters, and
"writer" as "writear".

>>> gold, predicted = "Tolkien was a writer .", "Tolkieene xas writear ,."
>>> own = Document("1", {"x": [Span(0, 7, "PER"), Span(14, 20, "OCC")]}, text=gold, unit="character")
>>> other = Document("1", {"x": [Span(0, 9, "PER"), Span(14, 21, "OCC")]}, text=predicted, unit="character")
>>> for one in Noisy().explain(Pair(own, other), "x"):
...     print(one.gold_text, one.predicted_text, one.distance, one.matched)
Tolkien Tolkieene 2 True
writer writear 1 True

Source: Nerval (Miret and Kermorvant 2021). It reserves ``§`` and is limited to 256 different characters; this
metric is not.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

from clueval.core.alignment import MAX_CELLS, Alignment, Characters, align, edit_distance
from clueval.core.case import Where, which_count
from clueval.core.document import Document, Pair, require_short_texts
from clueval.core.metric import RATES, Counts, DocumentMetric, Tally, f_measure, rate
from clueval.core.span import NOTHING, Span, name_of
from clueval.files.errors import UsageError
from clueval.files.options import is_number, option, setting_field


@dataclass(frozen=True, slots=True)
class Explanation:
    """A gold span, the predicted span that it takes, their texts, and whether they match.

    `predicted` is None if the gold span takes none (step 2); its text is then empty.
    `opposite` is the predicted text in the columns of the gold span, whichever spans are there.
    `distance` is the number of code points to insert, delete or replace in one text to get the other.
    """

    gold: Span
    predicted: Span | None
    gold_text: str
    predicted_text: str
    opposite: str
    distance: int
    matched: bool

    @property
    def error_rate(self) -> float | None:
        """Return the distance divided by the length of the gold text; None if the gold text is empty."""
        return self.distance / len(self.gold_text) if self.gold_text else None


class TextSpan(NamedTuple):
    """A span, its label, its characters ``[start, end)`` in the text, and whether it is counted."""

    start: int
    end: int
    label: str
    span: Span
    counted: bool


class Text(NamedTuple):
    """One side: its text, and its spans by position."""

    text: str
    entities: Sequence[TextSpan]

    @classmethod
    def of(cls, document: Document, sequence: str, where: Where) -> Text:
        """Return a side as text. Raises `UsageError` without one, `LimitError` if its spans have too long ones."""
        spans = document.layers.get(sequence, ())
        require_short_texts(sum(map(len, spans)), document)
        characters = Characters.of(document)
        entities = [
            TextSpan(*characters.range_between(span.start, span.end), span.label, span, counts)
            for span, counts in zip(spans, which_count(spans, document, where), strict=True)
        ]
        return cls(characters.text, sorted(entities, key=lambda entity: entity[:2]))

    def of_entity(self, entity: TextSpan | None) -> str:
        """Return the text of a span; empty for None."""
        return "" if entity is None else self.text[entity.start : entity.end]


def _texts(pair: Pair, sequence: str, where: Where) -> list[Text]:
    """Return the sides of a pair; one that stands beside the text has none."""
    return [
        Text("", ()) if pair.beside and side.end is None else Text.of(side, sequence, where)
        for side in pair.sides
    ]


def pair_entities(
    gold: Sequence[TextSpan], predicted: Sequence[TextSpan], alignment: Alignment
) -> Iterator[tuple[TextSpan, TextSpan | None]]:
    """Yield every gold span, in order, with the predicted span that it takes, or None.

    Both sides are sorted by position; `alignment` is the alignment of their texts. Holds the predicted spans;
    costs O(log n) for a span.
    """
    waiting: dict[str, list[TextSpan]] = {}
    for predicted_span in predicted:
        if predicted_span.start < predicted_span.end:
            waiting.setdefault(predicted_span.label, []).append(predicted_span)
    # Columns increase with positions. So a predicted span that ends before one gold span ends before all later ones,
    # and for each label the number of predicted spans that are taken or passed is enough.
    passed = dict.fromkeys(waiting, 0)
    for gold_span in gold:
        if gold_span.start == gold_span.end or gold_span.label not in waiting:
            yield gold_span, None
            continue
        of_label, i = waiting[gold_span.label], passed[gold_span.label]
        first, last = alignment.column_of_gold(gold_span.start), alignment.column_of_gold(gold_span.end)
        while i < len(of_label) and alignment.column_of_predicted(of_label[i].end) <= first:
            i += 1
        overlaps = i < len(of_label) and alignment.column_of_predicted(of_label[i].start) < last
        yield gold_span, of_label[i] if overlaps else None
        passed[gold_span.label] = i + overlaps


@dataclass(frozen=True, slots=True)
class Noisy(DocumentMetric):
    """The metric; see the module's docstring.

    `threshold` is the greatest error rate of a match, from 0 to 1 (see `Explanation.error_rate`).
    `max_alignment` is the greatest product of the lengths of two texts that are aligned; it only decides
    which texts are refused, never changes a score, and is not compared by ``==``.

    The keys of the tally: ``("gold", label)``, ``("predicted", label)`` and ``("matched", label)`` count
    spans and matches, ``("document", gold, predicted, matched)`` counts the documents that have these numbers
    of spans and matches over all labels. All counts are integers, so sums are exact; means are computed from
    the sums.

    Raises `UsageError` for settings outside their range.
    """

    name: ClassVar[str] = "noisy"
    zero: ClassVar[str] = "undefined"
    same_text: ClassVar[bool] = False
    gaps: ClassVar[bool] = False

    threshold: float = setting_field(
        0.30, "from 0 to 1: the greatest share of the text of a gold span that may differ"
    )
    max_alignment: int = field(
        default=MAX_CELLS,
        compare=False,
        metadata=option(
            "CELLS",
            "two texts are aligned if the product of their lengths in characters is at most this; others are an error "
            "(the default allows two texts of 316,000)",
        ),
    )

    def __post_init__(self) -> None:
        if not is_number(self.threshold) or not 0 <= self.threshold <= 1:
            raise UsageError(f"Noisy.threshold must be a number from 0 to 1, not {self.threshold!r}")
        if type(self.max_alignment) is not int or self.max_alignment < 1:
            raise UsageError(
                f"Noisy.max_alignment must be a whole number above 0, not {self.max_alignment!r}"
            )

    def count_documents(self, pairs: Sequence[Pair], sequence: str, where: Where) -> Tally:
        """Count the pairs of one text; the texts of a pair are aligned only if both sides have spans.

        Raises `UsageError` for a side without a text, for texts too long to be aligned, and if a filter
        excludes only one of two spans that match; `MissingExtra` if rapidfuzz is not installed.
        """
        tally = Tally()
        for pair in pairs:
            gold, predicted = _texts(pair, sequence, where)
            spans = []
            for name, side in (("gold", gold), ("predicted", predicted)):
                labels = [entity.label for entity in side.entities if entity.counted]
                tally.update((name, label) for label in labels)
                spans.append(len(labels))
            partners: Iterable[tuple[TextSpan, TextSpan | None]] = ()
            if gold.entities and predicted.entities:
                partners = pair_entities(
                    gold.entities, predicted.entities, self._align(gold, predicted, pair)
                )
            matched = 0
            for gold_span, partner in partners:
                texts = gold.of_entity(gold_span), predicted.of_entity(partner)
                if self._is_match(gold_span, partner, *texts):
                    tally["matched", gold_span.label] += 1
                    matched += 1
            tally["document", spans[0], spans[1], matched] += 1
        return tally

    def scores(self, total: Tally, layers: Sequence[str]) -> dict[str, Any]:
        """Return the report: ``ALL``, ``per_label`` and ``file_mean``. Labels are all labels of either side.

        The layers are not reported separately: a label is that of all layers together.
        """
        entries = {label: _entry(*counts) for label, counts in _counts(total).items()}
        return {"ALL": entries.pop(None), "per_label": entries, "file_mean": _mean(total)}

    def headlines(self, total: Tally, layers: Sequence[str]) -> Mapping[str, Counts]:
        """Return the counts of ``ALL`` and of each label, and of means those of which they are the recall."""
        headlines = {
            "ALL" if label is None else f"per_label.{label}": Counts(gold, predicted, matched, matched)
            for label, (gold, predicted, matched) in _counts(total).items()
        }
        for name, (number, whole) in _sums(total).items():
            headlines[f"file_mean.{name}"] = Counts(whole, whole, number, number)
        return headlines

    def explain(self, pair: Pair, sequence: str, where: Where = NOTHING) -> Iterator[Explanation]:
        """Yield every gold span that is counted, with the predicted span that it takes, in order of position.

        Holds one document, its alignment and its spans. Raises the same errors as `count_documents`.
        """
        gold, predicted = _texts(pair, sequence, where)
        alignment = self._align(gold, predicted, pair)
        for gold_span, partner in pair_entities(gold.entities, predicted.entities, alignment):
            if gold_span.counted:
                gold_text, predicted_text = gold.of_entity(gold_span), predicted.of_entity(partner)
                first, last = (
                    alignment.predicted_before(alignment.column_of_gold(position))
                    for position in (gold_span.start, gold_span.end)
                )
                yield Explanation(
                    gold_span.span,
                    None if partner is None else partner.span,
                    gold_text,
                    predicted_text,
                    alignment.predicted[first:last],
                    edit_distance(gold_text, predicted_text),
                    self._is_match(gold_span, partner, gold_text, predicted_text),
                )

    def _align(self, gold: Text, predicted: Text, pair: Pair) -> Alignment:
        return align(
            gold.text,
            predicted.text,
            max_cells=self.max_alignment,
            limit="Noisy.max_alignment",
            document=pair.gold.id,
        )

    def _is_match(
        self, gold_span: TextSpan, partner: TextSpan | None, gold_text: str, predicted_text: str
    ) -> bool:
        """Return whether two spans count and have texts that differ by no more than the threshold.

        Raises `UsageError` if only one of two spans with such texts counts.
        """
        if partner is None or not gold_text or not predicted_text:
            return False
        is_equal = gold_text == predicted_text
        if not is_equal and edit_distance(gold_text, predicted_text) / len(gold_text) > self.threshold:
            return False
        if gold_span.counted != partner.counted:
            raise UsageError(
                f"metric 'noisy' cannot count only one of a pair, as a filter asks for at {name_of(gold_span.span)}",
                advice="score without the filter, or filter the files",
            )
        return gold_span.counted


def _counts(total: Tally) -> dict[str | None, tuple[int, int, int]]:
    """Return the gold, predicted and matched spans, under None of all labels, then of each, labels in order."""
    of_labels: dict[str | None, tuple[int, int, int]] = {
        label: (total["gold", label], total["predicted", label], total["matched", label])
        for label in sorted({key[1] for key in total if key[0] != "document"})
    }
    gold, predicted, matched = (sum(counts[i] for counts in of_labels.values()) for i in range(3))
    return {None: (gold, predicted, matched), **of_labels}


def _entry(gold: int, predicted: int, matched: int) -> dict[str, float | None]:
    """Return the counts, and precision, recall and F1, None if they are undefined."""
    precision = rate(matched, predicted) if predicted else None
    recall = rate(matched, gold) if gold else None
    f1 = None if precision is None or recall is None else f_measure(precision, recall)
    counts: dict[str, float | None] = {"predicted": predicted, "matched": matched, "gold": gold}
    return {**counts, "precision": precision, "recall": recall, "f1": f1}


def _sums(total: Tally) -> dict[str, tuple[float, int]]:
    """Return the sum of the documents' rates of each name, and the number of documents that have it."""
    sums = {}
    for name in RATES:
        defined = [
            (value, n)
            for key, n in total.items()
            if key[0] == "document" and (value := _entry(*key[1:])[name]) is not None
        ]
        # fsum rounds once, whatever the order of its arguments
        sums[name] = math.fsum(value * n for value, n in defined), sum(n for _, n in defined)
    return sums


def _mean(total: Tally) -> dict[str, float | None]:
    """Return the means of the documents' rates, and how many documents have each."""
    sums = _sums(total)
    return {
        **{name: rate(number, whole) if whole else None for name, (number, whole) in sums.items()},
        "documents": sum(n for key, n in total.items() if key[0] == "document"),
        **{f"documents_with_{name}": whole for name, (_, whole) in sums.items()},
    }
