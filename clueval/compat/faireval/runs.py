"""Counts FairEval's errors in two files in its formats, sentence by sentence; equal sentences are counted by labels.

Counting documents with the metric `fair` gives the same numbers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import zip_longest

from clueval.exceptions import TextMismatch
from clueval.formats.conll2000 import sentence_of_tokens
from clueval.formats.fair_spans import is_span_line, sentence_of_spans, span_line
from clueval.limits import MAX_SENTENCE, sentences_of
from clueval.metrics.counting import Tally
from clueval.metrics.fair import Fair
from clueval.metrics.fair.metric import add_items
from clueval.metrics.fair.pairing import Item
from clueval.metrics.metric import Side
from clueval.reading.same_text import require_same_text
from clueval.spans.document import Document
from clueval.spans.span import DEFAULT_LAYER, PLACEHOLDERS, Span

Blocks = Iterable[tuple[int, str]]
"""Text in blocks of whole lines, each with the number of its first line (see `clueval.textfiles.blocks`)."""

_Sentence = tuple[int, list[str]]
"""The number of the first line, and the lines, none of which is blank."""


@dataclass(frozen=True, slots=True)
class Run:
    """The counts of two files; runs can be added.

    `labels` are those of target spans in the order of their first occurrence, as in FairEval's table.
    """

    tally: Tally
    labels: tuple[str, ...] = ()

    def __add__(self, other: Run) -> Run:
        total: Tally = Counter(self.tally)
        total.update(other.tally)
        return Run(total, tuple(dict.fromkeys(self.labels + other.labels)))


def run_blocks(
    target: Blocks,
    system: Blocks,
    metric: Fair,
    *,
    target_file: str,
    system_file: str,
    ignore_punct: bool = True,
) -> Run:
    """Count two files sentence by sentence; the spans of equal sentences are not built.

    Holds one sentence of each file at a time. The first line of each sentence determines its format. Raises the errors
    of both readers, and `TextMismatch` if the files differ in their number of sentences or in the tokens of a sentence.
    """
    total: Tally = Counter()
    equal: Counter[str] = Counter()
    order: dict[str, None] = {}
    sides = (sentences_of(*side, MAX_SENTENCE) for side in ((target, target_file), (system, system_file)))
    pairs = _pairs(next(sides), next(sides), target_file, system_file)
    for number, (gold_lines, predicted_lines) in enumerate(pairs, 1):
        if gold_lines[1] == predicted_lines[1] and _has_spans(gold_lines):
            labels = [label for label, _, _, _ in _items(gold_lines, target_file)]
            equal.update(labels)
            order.update(dict.fromkeys(labels))
            continue
        if _has_spans(gold_lines) and _has_spans(predicted_lines):
            golds, predictions = _items(gold_lines, target_file), _items(predicted_lines, system_file)
        else:
            gold = _document(gold_lines, number, target_file, ignore_punct)
            predicted = _document(predicted_lines, number, system_file, ignore_punct)
            require_same_text(gold, predicted, ("target", "system"))
            golds, predictions = _items_of(gold), _items_of(predicted)
        order.update(dict.fromkeys(span[0] for span in golds))
        add_items(
            total,
            [span for span in golds if metric.wanted(span[0])],
            [span for span in predictions if metric.wanted(span[0])],
        )
    for label, times in equal.items():
        side = Side([Span(0, 1, {DEFAULT_LAYER: label})])
        total.update({key: counted * times for key, counted in metric.count(side, side).items()})
    return Run(total, tuple(order))


def _items(sentence: _Sentence, file: str) -> list[Item]:
    found = [span_line(text, line, file=file) for line, text in enumerate(sentence[1], sentence[0])]
    return [
        (span.label, span.start, span.end, span.tokens) for span in found if span.label not in PLACEHOLDERS
    ]


def _items_of(document: Document) -> list[Item]:
    spans = document.layers[DEFAULT_LAYER]
    return [(span.label, span.start, span.end, span.tokens) for span in spans]


def _has_spans(sentence: _Sentence) -> bool:
    return is_span_line(sentence[1][0])


def _pairs(
    target: Iterator[_Sentence], system: Iterator[_Sentence], target_file: str, system_file: str
) -> Iterator[tuple[_Sentence, _Sentence]]:
    for number, (of_target, of_system) in enumerate(zip_longest(target, system)):
        if of_target is not None and of_system is not None:
            yield of_target, of_system
            continue
        longer = number + 1 + sum(1 for _ in (system if of_target is None else target))
        here, there = (number, longer) if of_target is None else (longer, number)
        raise TextMismatch(
            f"{target_file} has {_many(here)} and {system_file} has {_many(there)}",
            advice="both need the same sentences; one without spans has a placeholder: EMPTY 999 999 999",
        )


def _many(number: int) -> str:
    return f"{number} sentence{'' if number == 1 else 's'}"


def _document(sentence: _Sentence, number: int, file: str, ignore_punct: bool) -> Document:
    if _has_spans(sentence):
        return sentence_of_spans(sentence, number, file=file)
    return sentence_of_tokens(sentence, number, file=file, ignore_punct=ignore_punct)
