"""The figures of four programs for masking, each as that program counts, in characters and with 0/0 as it has it.

The gold spans are all of the first annotator, those to keep, too; only `TabFigures` knows annotators.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, compress, pairwise
from operator import itemgetter
from typing import Any, ClassVar

from clueval.core.alignment import words_in
from clueval.core.case import Where, which_count
from clueval.core.document import Document, Pair
from clueval.core.metric import DocumentMetric, Tally, f_measure, rate
from clueval.core.span import Span
from clueval.metrics.masking import ANNOTATORS, Masking
from clueval.metrics.masking.counts import share, weighted_sums
from clueval.metrics.masking.exposure import Mention, MentionReader, risk_by
from clueval.metrics.masking.text import MaskedText, PositionWeights, Range, from_zero
from clueval.transforms.redaction import wildcards_of

LabelledRange = tuple[int, int, str]
"""Start and end (half-open) in characters, and the label."""

COUNTS = ("tp", "fp", "fn")


@dataclass(frozen=True)
class OtherProgram(DocumentMetric):
    """A metric that counts as another program does, with the settings of `Masking`.

    It counts documents without the spans that a filter leaves out, all layers together.
    """

    metric: Masking = field(compare=False)

    @property
    def whole(self) -> str:
        return "documents"

    def count_documents(self, pairs: Sequence[Pair], sequence: str, where: Where) -> Tally:
        tally = Tally()
        for pair in pairs:
            if where:
                gold, predicted = (_filtered_document(side, where) for side in pair.sides)
                pair = replace(pair, gold=gold, predicted=predicted)
            tally.update(self.count(pair))
        return tally

    def count(self, pair: Pair) -> Tally:
        """Count one document."""
        raise NotImplementedError

    def sides_of(self, pair: Pair) -> tuple[str, list[LabelledRange], list[LabelledRange]]:
        """Return the text of a document, its gold spans by one annotator, and its predicted spans."""
        gold, predicted = map(from_zero, pair.sides)
        name = self.first_layer(gold)
        text = MaskedText(gold, "punctuation", (), in_characters=True)
        masks, _ = self.metric.masking_spans(predicted, name, predicted.layers.get(name, ()), None)

        def ranges(spans: Iterable[Span], document: Document) -> list[LabelledRange]:
            placed = [text.placed(span, document) for span in spans]
            return [(span.start, span.end, span.label) for span in placed]

        return text.characters, ranges(gold.layers.get(name, ()), gold), ranges(masks, predicted)

    def first_layer(self, gold: Document) -> str:
        named = [name for name in self.metric.annotators if name in gold.layers]
        return next(iter(named or self.metric.of_mentions(gold.layers)), "")


def _filtered_document(document: Document, where: Where) -> Document:
    layers = {
        name: list(compress(spans, which_count(spans, document, where)))
        for name, spans in document.layers.items()
    }
    return replace(document, layers=layers)


_START, _END = itemgetter(0), itemgetter(1)


def tokens_within(tokens: Sequence[Range], ranges: Iterable[Range]) -> Iterator[tuple[Range, int]]:
    """Yield the tokens in ranges, or the parts of tokens, and in how many of the ranges each is.

    The ranges may lie in each other; not each token of each range is looked at.
    """
    changes: Counter[int] = Counter()
    parts: Counter[Range] = Counter()
    for start, end in ranges:
        first, past = bisect_right(tokens, start, key=_END), bisect_left(tokens, end, key=_START)
        if start >= end or first >= past:
            continue
        whole = range(first + (tokens[first][0] < start), past - (tokens[past - 1][1] > end))
        for number in {first, past - 1}.difference(whole[:1], whole[-1:]):
            token = tokens[number]
            parts[max(start, token[0]), min(end, token[1])] += 1
        if whole:
            changes[whole.start] += 1
            changes[whole.stop] -= 1
    yield from parts.items()
    depth = 0
    for first, past in pairwise(sorted(changes)):
        depth += changes[first]
        if depth:
            yield from ((token, depth) for token in tokens[first:past])


class Covers:
    """Ranges, to tell whether one of them holds another range."""

    def __init__(self, ranges: Collection[Range]) -> None:
        ordered = sorted(ranges)
        self._starts = [start for start, _ in ordered]
        self._reach = list(accumulate((end for _, end in ordered), max))

    def holds(self, start: int, end: int) -> bool:
        number = bisect_right(self._starts, start)
        return number > 0 and self._reach[number - 1] >= end


def _ranges(spans: Iterable[LabelledRange]) -> set[Range]:
    return {(start, end) for start, end, _ in spans}


def _tp_fp_fn(gold: set[Any], predicted: set[Any]) -> tuple[int, int, int]:
    """Return the numbers of what is on both sides, on the predicted side only, and on the gold side only."""
    return len(gold & predicted), len(predicted - gold), len(gold - predicted)


# --- Text Anonymization Benchmark

IGNORABLE = frozenset(" ,.-;:/&()[]–'\"’“”")
IGNORABLE_WORDS = frozenset(("mr", "mrs", "ms", "no", "nr", "about"))
_WORD = re.compile(r"\w+")


class TabFigures(OtherProgram):
    """Counts as the script of the Text Anonymization Benchmark does (Pilán et al. 2022).

    The class and the label of an entity are those of its first mention, in the order of the file. An entity must be
    masked if any of its mentions must; it is masked if its mentions that need masking are. Mention and token recall
    count all mentions of such entities, and count ignorable tokens as masked. In precision a token, or a whole span, is
    right for each annotator who has one mention to mask around it; the denominator has the annotators with any gold
    span. The script takes words of the classes ADP, PART, CCONJ and DET for ignorable; here these are the words of
    ``ignore_words``. 0/0 is 0.
    """

    name: ClassVar[str] = "convention tab"

    def count(self, pair: Pair) -> Tally:
        tally = Tally()
        metric = self.metric
        sequence = ANNOTATORS if metric.annotators else self.first_layer(pair.gold)
        examination = metric.examine(pair, sequence, {}, in_characters=True)
        if examination is None:
            return tally
        text = examination.text.characters
        words = IGNORABLE_WORDS | metric.ignore_words.words
        ignored = (match.span() for match in _WORD.finditer(text) if match[0].casefold() in words)
        visible = PositionWeights(bytes(character not in IGNORABLE for character in text))
        exposed = visible - PositionWeights.at(ignored, len(text)) - examination.masks.masked

        risk = risk_by(metric.risk_order)
        gold = examination.document
        reader = MentionReader(gold, examination.text, metric.risk_layer, risk, metric.entity, ())
        tokens = [match.span() for match in _WORD.finditer(text)]
        covers, annotators = [], 0
        for name in examination.judged:
            mentions = list(reader.read(gold.layers.get(name, ()), None))
            annotators += bool(mentions)
            covers.append(
                Covers([part for mention in mentions if self._needs_mask(mention) for part in mention.ranges])
            )
            self._add_recall(tally, mentions, exposed, tokens)
        weigh = None if metric.word_weights is None else metric.word_weights.weigher()
        masks = [(mask.start, mask.end) for mask in examination.masks.spans]
        for mask in masks:
            tally["mention", "right"] += sum(cover.holds(*mask) for cover in covers)
            tally["mention", "predicted"] += annotators
        for (start, end), number in tokens_within(tokens, masks):
            right, predicted = number * sum(cover.holds(start, end) for cover in covers), number * annotators
            tally["token", "right"] += right
            tally["token", "predicted"] += predicted
            if weigh is not None:
                weight = repr(weigh(text[start:end]))
                tally["weighted", "token", "", "right", weight] += right
                tally["weighted", "token", "", "predicted", weight] += predicted
        return tally

    def _needs_mask(self, mention: Mention) -> bool:
        return mention.kind not in self.metric.keep and mention.label not in self.metric.keep

    def _add_recall(
        self, tally: Tally, mentions: Iterable[Mention], exposed: PositionWeights, tokens: Sequence[Range]
    ) -> None:
        """Add the entities of an annotator with a mention that needs masking, their mentions, and tokens by label."""
        members: dict[int, list[Mention]] = {}
        for mention in mentions:
            members.setdefault(mention.entity, []).append(mention)
        by_label: dict[str, list[Range]] = {}
        for entity_mentions in members.values():
            to_mask = [mention for mention in entity_mentions if self._needs_mask(mention)]
            if not to_mask:
                continue
            kind = "direct" if entity_mentions[0].kind == "DIRECT" else "quasi"
            tally["entity", kind, "gold"] += 1
            tally["entity", kind, "masked"] += not any(exposed.within(mention.ranges) for mention in to_mask)
            for mention in entity_mentions:
                tally["mention", "gold"] += 1
                tally["mention", "masked"] += not exposed.within(mention.ranges)
                by_label.setdefault(entity_mentions[0].label, []).extend(mention.ranges)
        for label, ranges in by_label.items():
            for token, number in tokens_within(tokens, ranges):
                is_masked = not exposed.between(*token)
                for place in (("token",), ("token of", label)):
                    tally[*place, "gold"] += number
                    tally[*place, "masked"] += number * is_masked

    def scores(self, total: Tally, layers: Sequence[str]) -> dict[str, Any]:
        def share_of(place: tuple[str, ...], part: str, whole: str) -> float:
            return rate(total[*place, part], total[*place, whole])

        recall = share_of(("token",), "masked", "gold")
        precision = share_of(("token",), "right", "predicted")
        labels = sorted({key[1] for key in total if key[0] == "token of"})
        weighted = None
        if self.metric.word_weights is not None:
            sums = weighted_sums(total)
            weighted = rate(sums.get(("token", "", "right"), 0), sums.get(("token", "", "predicted"), 0))
        masked, gold = (
            sum(total["entity", kind, what] for kind in ("direct", "quasi")) for what in ("masked", "gold")
        )
        return {
            "token_recall": recall,
            "mention_recall": share_of(("mention",), "masked", "gold"),
            "recall_all_entities": rate(masked, gold),
            "recall_direct_entities": share_of(("entity", "direct"), "masked", "gold"),
            "recall_quasi_entities": share_of(("entity", "quasi"), "masked", "gold"),
            "token_recall_by_type": {
                label: share_of(("token of", label), "masked", "gold") for label in labels
            },
            "token_precision": precision,
            "mention_precision": share_of(("mention",), "right", "predicted"),
            "weighted_token_precision": weighted,
            "token_f1": f_measure(precision, recall),
        }


# --- i2b2 2014 and n2c2

NEAR = 2
"""How far apart the ends of spans may be in the relaxed comparison."""

_ASCII_TOKEN = re.compile("[a-zA-Z0-9]+")


class I2b2Figures(OtherProgram):
    """Counts as the scripts of the i2b2 2014 and the n2c2 tracks on de-identification do.

    *strict* compares start, end and label; *relaxed* allows the ends to differ by 2 (nearest first, one to one);
    *token* compares the tokens ``[a-zA-Z0-9]+`` of the spans with their labels, so that ``Öhler`` is ``hler``; *binary*
    ignores labels. Spans of a document are sets. Micro averages are over all spans; macro averages are the mean over
    documents with its population standard deviation. 0/0 is 0. The key of a count is the comparison and the counts of a
    document.
    """

    name: ClassVar[str] = "convention i2b2"

    def count(self, pair: Pair) -> Tally:
        text, *sides = self.sides_of(pair)
        tokens = [match.span() for match in _ASCII_TOKEN.finditer(text)]
        gold, predicted = map(set, sides)
        gold_tokens, predicted_tokens = (set(_labelled_tokens(tokens, side)) for side in sides)
        right = _relaxed_matches(gold, predicted)
        tally = Tally({("relaxed", right, len(predicted) - right, len(gold) - right): 1})
        for name, gold_set, predicted_set in (
            ("token", gold_tokens, predicted_tokens),
            ("strict", gold, predicted),
        ):
            tally[name, *_tp_fp_fn(gold_set, predicted_set)] += 1
            tally[f"binary_{name}", *_tp_fp_fn(_ranges(gold_set), _ranges(predicted_set))] += 1
        return tally

    def scores(self, total: Tally, layers: Sequence[str]) -> dict[str, Any]:
        report: dict[str, Any] = {}
        for name in ("token", "strict", "relaxed", "binary_token", "binary_strict"):
            documents = [(key[1:], number) for key, number in total.items() if key[0] == name]
            tp, fp, fn = (sum(counts[i] * number for counts, number in documents) for i in range(3))
            report[name] = {"tp": tp, "fp": fp, "fn": fn}
            report[name] |= {"micro_precision": rate(tp, tp + fp), "micro_recall": rate(tp, tp + fn)}
            n = sum(number for _, number in documents)
            for rate_name, wrong in (("precision", 1), ("recall", 2)):
                values = [
                    (rate(counts[0], counts[0] + counts[wrong]), number) for counts, number in documents
                ]
                mean = rate(math.fsum(value * number for value, number in values), n)
                variance = rate(math.fsum((value - mean) ** 2 * number for value, number in values), n)
                report[name] |= {f"macro_{rate_name}": mean, f"macro_{rate_name}_sd": math.sqrt(variance)}
        return report


def _labelled_tokens(tokens: Sequence[Range], spans: Iterable[LabelledRange]) -> Iterator[LabelledRange]:
    by_label: dict[str, list[Range]] = {}
    for start, end, label in spans:
        by_label.setdefault(label, []).append((start, end))
    for label, ranges in by_label.items():
        for (start, end), _ in tokens_within(tokens, ranges):
            yield start, end, label


def _relaxed_matches(gold: set[LabelledRange], predicted: set[LabelledRange]) -> int:
    """Return how many pairs have the same start and label and near ends, nearest first, one to one."""
    near = sorted(
        (abs(end - predicted_end), start, label, end, predicted_end)
        for start, end, label in gold
        for predicted_end in range(end - NEAR, end + NEAR + 1)
        if (start, predicted_end, label) in predicted
    )
    paired_gold: set[LabelledRange] = set()
    paired_predicted: set[LabelledRange] = set()
    for _, start, label, end, predicted_end in near:
        if (start, end, label) not in paired_gold and (start, predicted_end, label) not in paired_predicted:
            paired_gold.add((start, end, label))
            paired_predicted.add((start, predicted_end, label))
    return len(paired_gold)


# --- MEDDOCAN


class MeddocanFigures(OtherProgram):
    """Counts as the script of MEDDOCAN does (Marimon et al. 2019).

    *ner* compares start, end and label, *strict* start and end. For *merged*, sorted spans of a side are joined if
    there is no letter or digit between them; right are the strict agreements and those of joined spans, wrong the
    strict spans that lie in no span that is right. `leak` is the number of missed spans (ner) for each sentence; None
    if a text has no sentences, as in brat files. 0/0 is 0.
    """

    name: ClassVar[str] = "convention meddocan"

    def count(self, pair: Pair) -> Tally:
        text, gold, predicted = self.sides_of(pair)
        sentences = len(pair.gold.sentences)
        tally = Tally({("sentences", "all"): sentences})
        tally["documents", "without sentences"] += not sentences and bool(text.strip())
        gold_ranges, predicted_ranges = _ranges(gold), _ranges(predicted)
        right = (gold_ranges & predicted_ranges) | {*wildcards_of(text, gold_ranges)}.intersection(
            wildcards_of(text, predicted_ranges)
        )
        covers = Covers(right)
        spurious, missed = (
            sum(not covers.holds(*part) for part in side) for side in (predicted_ranges, gold_ranges)
        )
        for name, counts in (
            ("ner", _tp_fp_fn(set(gold), set(predicted))),
            ("strict", _tp_fp_fn(gold_ranges, predicted_ranges)),
            ("merged", (len(right), spurious, missed)),
        ):
            for what, number in zip(COUNTS, counts, strict=True):
                tally[name, what] += number
        return tally

    def scores(self, total: Tally, layers: Sequence[str]) -> dict[str, Any]:
        report: dict[str, Any] = {}
        for name in ("ner", "strict", "merged"):
            tp, fp, fn = (total[name, what] for what in COUNTS)
            precision, recall = rate(tp, tp + fp), rate(tp, tp + fn)
            report[name] = {"tp": tp, "fp": fp, "fn": fn, "precision": precision, "recall": recall}
            report[name]["f1"] = f_measure(precision, recall)
        sentences = total["sentences", "all"]
        has_sentences = sentences > 0 and not total["documents", "without sentences"]
        report["ner"]["leak"] = rate(report["ner"]["fn"], sentences) if has_sentences else None
        return report


# --- presidio-research

LEAST_IOU = 0.9
BETA = 2.0


class PresidioFigures(OtherProgram):
    """Counts as presidio-research does, with beta 2; 0/0 is None.

    Tokens are ``\\w+`` or one sign, with the label of the first span that holds them. *token* compares tokens: whether
    they have a label at all (``pii``), and for each label; wrong tokens among the ignored words are dropped. *span*
    compares runs of labelled tokens, whatever their labels, without ignored words at their ends and joined over such
    words: a gold run is right if its characters and those of all predicted runs that overlap it have an intersection of
    at least 0.9 of their union.
    """

    name: ClassVar[str] = "convention presidio"

    def count(self, pair: Pair) -> Tally:
        text, gold, predicted = self.sides_of(pair)
        tokens = words_in(text)
        ignored = [text[start:end].casefold() in self.metric.ignore_words.words for start, end in tokens]
        gold_labels, predicted_labels = labels_of(tokens, gold), labels_of(tokens, predicted)
        tally = Tally()
        for gold_label, predicted_label, is_ignored in zip(
            gold_labels, predicted_labels, ignored, strict=True
        ):
            if gold_label != predicted_label and is_ignored:
                continue
            for what, label in (("annotated", gold_label), ("predicted", predicted_label)):
                if label is not None:
                    tally["pii", "", what] += 1
                    tally["label", label, what] += 1
            if predicted_label is not None:
                tally["pii", "", "tp"] += gold_label is not None
                tally["label", predicted_label, "tp"] += gold_label == predicted_label
        gold_runs, predicted_runs = (
            _runs(tokens, labels, ignored) for labels in (gold_labels, predicted_labels)
        )
        touched: set[int] = set()
        for start, end in gold_runs:
            numbers = range(
                bisect_right(predicted_runs, start, key=_END), bisect_left(predicted_runs, end, key=_START)
            )
            touched.update(numbers)
            tally["span", "", "annotated"] += 1
            tally["span", "", "predicted"] += bool(numbers)
            runs = [predicted_runs[number] for number in numbers]
            shared = sum(min(end, last) - max(start, first) for first, last in runs)
            whole = end - start + sum(last - first for first, last in runs) - shared
            tally["span", "", "tp"] += bool(numbers) and shared >= LEAST_IOU * whole
        tally["span", "", "predicted"] += len(predicted_runs) - len(touched)
        return tally

    def scores(self, total: Tally, layers: Sequence[str]) -> dict[str, Any]:
        def figures(kind: str, name: str = "") -> dict[str, float | None]:
            counts = {what: total[kind, name, what] for what in ("tp", "predicted", "annotated")}
            tp, predicted, annotated = counts.values()
            precision, recall = share(tp, predicted), share(tp, annotated)
            f = f_measure(precision, recall, BETA) if precision and recall else None
            return {"precision": precision, "recall": recall, "f": f, **counts}

        labels = sorted({key[1] for key in total if key[0] == "label"})
        per_type = {label: figures("label", label) for label in labels}
        return {"token": {"pii": figures("pii"), "per_type": per_type}, "span": figures("span")}


def labels_of(tokens: Sequence[Range], spans: Collection[LabelledRange]) -> list[str | None]:
    """Return the label of each token: that of the first span that holds it."""
    labels: list[str | None] = [None] * len(tokens)
    reach = 0  # earlier spans begin no later, so they hold all tokens of this one before the token `reach`
    for start, end, label in sorted(spans):
        first = max(reach, bisect_left(tokens, start, key=_START))
        reach = max(reach, bisect_right(tokens, end, key=_END))
        labels[first:reach] = [label] * (reach - first)
    return labels


def _runs(tokens: Sequence[Range], labels: Sequence[str | None], ignored: Sequence[bool]) -> list[Range]:
    """Return the runs of labelled tokens in characters, joined over ignored words, which they do not end with."""
    runs: list[Range] = []
    start = None
    for token, label, is_ignored in zip(tokens, labels, ignored, strict=True):
        if is_ignored:
            continue
        if label is None:
            start = None
        elif start is None:
            start = token[0]
            runs.append(token)
        else:
            runs[-1] = start, token[1]
    return runs


FIGURES: dict[str, Callable[[Masking], OtherProgram]] = {
    "tab": TabFigures,
    "i2b2": I2b2Figures,
    "meddocan": MeddocanFigures,
    "presidio": PresidioFigures,
}
