"""The figures of presidio-research, with beta 2; 0/0 is None.

Tokens are ``\\w+`` or one sign, with the label of the first span that holds them. *token* compares tokens: whether they
have a label at all (``pii``), and for each label; wrong tokens among the ignored words are dropped. *span* compares
runs of labelled tokens, whatever their labels, without ignored words at their ends and joined over such words: a
gold run is right if its characters and those of all predicted runs that overlap it have an intersection of at least
0.9 of their union.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator, Sequence
from typing import Any, ClassVar

from clueval.compat.masking.program import LabelledRange, OtherProgram, labelled_sides
from clueval.core.document import Pair
from clueval.core.tally import Tally, f_measure
from clueval.metrics.masking.counts import share
from clueval.metrics.masking.text import Range
from clueval.transforms.redaction.strict import words_in

LEAST_IOU = 0.9
BETA = 2.0


class PresidioFigures(OtherProgram):
    """Counts as presidio-research does."""

    name: ClassVar[str] = "convention presidio"

    def count(self, pair: Pair) -> Tally:
        text, gold, predicted, _ = labelled_sides(self.metric, pair)
        tokens = words_in(text, 0, len(text))
        ignored = [text[start:end].casefold() in self.metric.ignore_words.words for start, end in tokens]
        own, other = labels_of(tokens, gold), labels_of(tokens, predicted)
        tally = Tally()
        for mine, theirs, is_ignored in zip(own, other, ignored, strict=True):
            if mine != theirs and is_ignored:
                continue
            _add_token(tally, mine, theirs)
        _add_spans(tally, _runs(tokens, own, ignored), _runs(tokens, other, ignored))
        return tally

    def scores(self, total: Tally, layers: Sequence[str]) -> dict[str, Any]:
        labels = sorted({key[1] for key in total if key[0] == "label"})
        return {
            "token": {
                "pii": _figures(total, "pii", ""),
                "per_type": {label: _figures(total, "label", label) for label in labels},
            },
            "span": _figures(total, "span", ""),
        }


def _figures(total: Tally, kind: str, name: str) -> dict[str, float | None]:
    tp, predicted, annotated = (total[kind, name, what] for what in ("tp", "predicted", "annotated"))
    precision, recall = share(tp, predicted), share(tp, annotated)
    f = None if precision is None or recall is None else f_measure(precision, recall, BETA)
    counts = {"tp": tp, "predicted": predicted, "annotated": annotated}
    return {"precision": precision, "recall": recall, "f": f, **counts}


def labels_of(tokens: Sequence[Range], spans: Collection[LabelledRange]) -> list[str | None]:
    """Return the label of each token: that of the first span that holds it."""
    labels: list[str | None] = [None] * len(tokens)
    ends = [end for _, end in tokens]
    starts = [start for start, _ in tokens]
    free = list(range(len(tokens) + 1))  # the next token without a label, from each token on

    def next_free(number: int) -> int:
        while free[number] != number:
            free[number] = free[free[number]]
            number = free[number]
        return number

    for start, end, label in sorted(spans, key=lambda span: span[:2]):
        number, past = next_free(bisect_left(starts, start)), bisect_right(ends, end)
        while number < past:
            labels[number] = label
            free[number] = number + 1
            number = next_free(number)
    return labels


def _add_token(tally: Tally, own: str | None, other: str | None) -> None:
    if own is not None:
        tally["pii", "", "annotated"] += 1
        tally["label", own, "annotated"] += 1
    if other is not None:
        tally["pii", "", "predicted"] += 1
        tally["label", other, "predicted"] += 1
        tally["pii", "", "tp"] += own is not None
        tally["label", other, "tp"] += own == other


def _runs(tokens: Sequence[Range], labels: Sequence[str | None], ignored: Sequence[bool]) -> list[Range]:
    """Return the runs of labelled tokens in characters, joined over ignored words, which they do not end with."""
    return [(tokens[run[0]][0], tokens[run[-1]][1]) for run in _numbers(labels, ignored) if run]


def _numbers(labels: Sequence[str | None], ignored: Sequence[bool]) -> Iterator[list[int]]:
    run: list[int] = []
    for number, label in enumerate(labels):
        if label is not None and not ignored[number]:
            run.append(number)
        elif not ignored[number]:
            yield run
            run = []
    yield run


def _add_spans(tally: Tally, gold: Sequence[Range], predicted: Sequence[Range]) -> None:
    """Add the runs of both sides, which are in order and do not overlap."""
    ends = [end for _, end in predicted]
    starts = [start for start, _ in predicted]
    touched: set[int] = set()
    for start, end in gold:
        numbers = range(bisect_right(ends, start), bisect_left(starts, end))
        touched.update(numbers)
        tally["span", "", "annotated"] += 1
        tally["span", "", "predicted"] += bool(numbers)
        shared = sum(min(end, ends[n]) - max(start, starts[n]) for n in numbers)
        whole = end - start + sum(ends[n] - starts[n] for n in numbers) - shared
        tally["span", "", "tp"] += bool(numbers) and shared >= LEAST_IOU * whole
    tally["span", "", "predicted"] += len(predicted) - len(touched)
