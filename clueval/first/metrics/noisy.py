"""Metric `noisy`: spans whose texts are nearly the same, where gold and predicted *texts* differ.

For example, the predicted text comes from OCR or the recognition of handwriting. For each document:

1. The two texts are aligned (`clueval.statistics.alignment`). A span reaches from the column of its first
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

>>> from clueval.spans.document import Document
>>> gold = Document("1", {}, text="Tolkien was a writer .", unit="character")
>>> predicted = Document("1", {}, text="Tolkieene xas writear ,.", unit="character")
>>> own = Side([Span(0, 7, "PER"), Span(14, 20, "OCC")], document=gold)
>>> other = Side([Span(0, 9, "PER"), Span(14, 21, "OCC")], document=predicted)
>>> [(one.gold_text, one.predicted_text, one.distance, one.matched) for one in Noisy().explain(own, other)]
[('Tolkien', 'Tolkieene', 2, True), ('writer', 'writear', 1, True)]

Source: Nerval (Miret and Kermorvant 2021). It reserves ``§`` and is limited to 256 different characters; this
metric is not.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from clueval.core.span import Span, name_of
from clueval.files.errors import UsageError
from clueval.first.metrics.counting import Tally, f_measure, rate
from clueval.first.metrics.metric import Metric, Needs, Rates, Side
from clueval.first.metrics.rates import NUMBER, THREE, Columns, DeclaredRates, EntryRates, Numbers, Shape
from clueval.options import option, option_field
from clueval.spans.limits import require_short_texts
from clueval.statistics.alignment import MAX_CELLS, Alignment, align, edit_distance
from clueval.transforms.characters import Characters

if TYPE_CHECKING:
    from clueval.reports.table import Table


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
    def of(cls, name: str, side: Side) -> Text:
        """Return a side, called `name` in errors, as text. Raises `UsageError` if it has no text.

        Raises `LimitError` if the texts of its spans are too long.
        """
        if side.document is None:
            raise UsageError(
                f"metric 'noisy' needs the text of the {name} side", advice="give documents with their texts"
            )
        require_short_texts(sum(map(len, side.spans)), side.document)
        characters = Characters.of(side.document)
        counted = [True] * len(side.spans) if side.counted is None else side.counted
        entities = [
            TextSpan(*characters.range_of(span), span.label, span, count)
            for span, count in zip(side.spans, counted, strict=True)
        ]
        return cls(characters.text, sorted(entities, key=lambda entity: entity[:2]))

    def of_entity(self, entity: TextSpan | None) -> str:
        """Return the text of a span; empty for None."""
        return "" if entity is None else self.text[entity.start : entity.end]


def pair_entities(
    gold: Sequence[TextSpan], predicted: Sequence[TextSpan], alignment: Alignment
) -> Iterator[tuple[TextSpan, TextSpan | None]]:
    """Yield every gold span, in order, with the predicted span that it takes, or None.

    Both sides are sorted by position; `alignment` is the alignment of their texts. Holds the predicted spans;
    costs O(log n) for a span.
    """
    waiting: dict[str, list[TextSpan]] = {}
    for other in predicted:
        if other.start < other.end:
            waiting.setdefault(other.label, []).append(other)
    # Columns increase with positions. So a predicted span that ends before one gold span ends before all
    # later
    # ones, and for each label the number of predicted spans that are taken or passed is enough.
    passed = dict.fromkeys(waiting, 0)
    for one in gold:
        if one.start == one.end or one.label not in waiting:
            yield one, None
            continue
        others, i = waiting[one.label], passed[one.label]
        first, last = alignment.column_of_gold(one.start), alignment.column_of_gold(one.end)
        while i < len(others) and alignment.column_of_predicted(others[i].end) <= first:
            i += 1
        found = i < len(others) and alignment.column_of_predicted(others[i].start) < last
        yield one, others[i] if found else None
        passed[one.label] = i + found


@dataclass(frozen=True, slots=True)
class Noisy(Metric):
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
    tally_keys: ClassVar[tuple[Shape, ...]] = (
        (("gold", "predicted", "matched"), str),
        (("document",), NUMBER, NUMBER, NUMBER),
    )

    threshold: float = option_field(
        0.30, "--threshold", "T", "from 0 to 1: the greatest share of the text of a gold span that may differ"
    )
    max_alignment: int = field(
        default=MAX_CELLS,
        compare=False,
        metadata=option(
            "--max-alignment",
            "CELLS",
            "two texts are aligned if the product of their lengths in characters is at most this; others are an error "
            "(the default allows two texts of 316,000)",
        ),
    )

    def __post_init__(self) -> None:
        is_number = isinstance(self.threshold, int | float) and not isinstance(self.threshold, bool)
        if not is_number or not 0 <= self.threshold <= 1:
            raise UsageError(f"Noisy.threshold must be a number from 0 to 1, not {self.threshold!r}")
        if type(self.max_alignment) is not int or self.max_alignment < 1:
            raise UsageError(
                f"Noisy.max_alignment must be a whole number above 0, not {self.max_alignment!r}"
            )

    def count(self, gold: Side, predicted: Side) -> Tally:
        """Count one document; the texts are aligned only if both sides have spans.

        Raises `UsageError` for a side without a text, for texts too long to be aligned, and if a filter
        excludes only one of two spans that match; `MissingExtra` if rapidfuzz is not installed.
        """
        own, other = Text.of("gold", gold), Text.of("predicted", predicted)
        tally: Tally = Tally()
        spans = []
        for name, side in (("gold", own), ("predicted", other)):
            labels = [entity.label for entity in side.entities if entity.counted]
            tally.update((name, label) for label in labels)
            spans.append(len(labels))
        matched = 0
        if own.entities and other.entities:
            alignment = self._align(own, other, gold)
            for one, partner in pair_entities(own.entities, other.entities, alignment):
                if self._matches(own.of_entity(one), other.of_entity(partner)) and _both_count(one, partner):
                    tally["matched", one.label] += 1
                    matched += 1
        tally["document", spans[0], spans[1], matched] += 1
        return tally

    @property
    def needs(self) -> Needs:
        """Return that documents are needed, whose texts may differ, and that those without spans count."""
        return Needs(documents=True, same_text=False, contiguous=True, rates=_declared, empty=_empty)

    def headlines(self, report: Mapping[str, Any]) -> dict[str, Rates]:
        """Return nothing: the rates can be undefined."""
        return {}

    def tables(self, title: str, report: Mapping[str, Any]) -> Iterator[Table]:
        from clueval.first.metrics.tables import noisy

        return noisy(title, report)

    def scores(self, total: Tally, layers: Sequence[str]) -> dict[str, Any]:
        """Return the report: ``ALL``, ``per_label`` and ``file_mean``. Labels are all labels of either side.

        The layers are not reported separately: a label is that of all layers together.
        """
        per_label = {
            label: (total["gold", label], total["predicted", label], total["matched", label])
            for label in sorted({key[1] for key in total if key[0] in ("gold", "predicted")})
        }
        gold, predicted, matched = (sum(counts[i] for counts in per_label.values()) for i in range(3))
        documents = {key[1:]: n for key, n in total.items() if key[0] == "document"}
        return {
            "ALL": _entry(gold, predicted, matched),
            "per_label": {label: _entry(*counts) for label, counts in per_label.items()},
            "file_mean": _mean(documents),
        }

    def explain(self, gold: Side, predicted: Side) -> Iterator[Explanation]:
        """Yield every gold span that is counted, with the predicted span that it takes, in order of position.

        Holds one document, its alignment and its spans. Raises the same errors as `count`.
        """
        own, other = Text.of("gold", gold), Text.of("predicted", predicted)
        alignment = self._align(own, other, gold)
        for one, partner in pair_entities(own.entities, other.entities, alignment):
            if one.counted:
                own_text, other_text = own.of_entity(one), other.of_entity(partner)
                yield Explanation(
                    one.span,
                    None if partner is None else partner.span,
                    own_text,
                    other_text,
                    _opposite(one, alignment),
                    edit_distance(own_text, other_text),
                    self._matches(own_text, other_text) and _both_count(one, partner),
                )

    def _align(self, own: Text, other: Text, gold: Side) -> Alignment:
        document = None if gold.document is None else gold.document.id
        return align(
            own.text,
            other.text,
            max_cells=self.max_alignment,
            limit="Noisy.max_alignment",
            document=document,
        )

    def _matches(self, own: str, other: str) -> bool:
        """Return whether two texts differ by no more than the threshold; an empty text matches nothing."""
        if not own or not other:
            return False
        return own == other or edit_distance(own, other) / len(own) <= self.threshold


def _empty(documents: int) -> Tally:
    return Tally({("document", 0, 0, 0): documents})


def _both_count(one: TextSpan, partner: TextSpan | None) -> bool:
    """Return whether two spans that match are counted. Raises `UsageError` if only one of them is."""
    if partner is not None and one.counted != partner.counted:
        raise UsageError(
            f"metric 'noisy' cannot count only one of a pair, as a filter asks for at {name_of(one.span)}",
            advice="score without the filter, or filter the files",
        )
    return one.counted


def _opposite(one: TextSpan, alignment: Alignment) -> str:
    """Return the predicted text in the columns of a gold span."""
    first, last = (alignment.column_of_gold(position) for position in (one.start, one.end))
    return alignment.predicted[alignment.predicted_before(first) : alignment.predicted_before(last)]


def _rates(gold: int, predicted: int, matched: int) -> dict[str, float | None]:
    """Return precision, recall and F1; None if they are undefined."""
    precision = rate(matched, predicted) if predicted else None
    recall = rate(matched, gold) if gold else None
    f1 = None if precision is None or recall is None else f_measure(precision, recall)
    return {"precision": precision, "recall": recall, "f1": f1}


def _entry(gold: int, predicted: int, matched: int) -> dict[str, float | None]:
    return {"predicted": predicted, "matched": matched, "gold": gold, **_rates(gold, predicted, matched)}


def _declared(keys: Collection[tuple[Any, ...]], layers: Sequence[str]) -> Iterator[DeclaredRates]:
    labels = sorted({key[1] for key in keys if key[0] in ("gold", "predicted")})
    for path, names in ((("ALL",), labels), *((("per_label", label), [label]) for label in labels)):
        counts = [[(name, label) for label in names] for name in ("gold", "predicted", "matched")]
        yield EntryRates(path, THREE, counts, _rates_in_each, counts[0], counts[1])


def _rates_in_each(gold: Numbers, predicted: Numbers, matched: Numbers) -> Columns:
    rows = [_rates(*counts).values() for counts in zip(gold, predicted, matched, strict=True)]  # type: ignore[arg-type]
    return list(map(list, zip(*rows, strict=True)))


def _mean(documents: Mapping[tuple[int, int, int], int]) -> dict[str, float | None]:
    """Return the means of the documents' rates, from the number of documents with the same counts."""
    report: dict[str, float | None] = {}
    weights: dict[str, int] = {}
    for name in ("precision", "recall", "f1"):
        defined = [
            (value, n) for counts, n in documents.items() if (value := _rates(*counts)[name]) is not None
        ]
        weights[name] = sum(n for _, n in defined)
        # fsum rounds once, whatever the order of its arguments
        total = math.fsum(value * n for value, n in defined)
        report[name] = rate(total, weights[name]) if weights[name] else None
    report["documents"] = sum(documents.values())
    return report | {f"documents_with_{name}": n for name, n in weights.items()}
