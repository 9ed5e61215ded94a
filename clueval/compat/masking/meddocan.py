"""The figures of the evaluation script of MEDDOCAN (Marimon et al. 2019).

*ner* compares start, end and label, *strict* start and end. For *merged*, sorted spans of a side are joined if there
is no letter or digit between them; right are the strict agreements and those of joined spans, wrong the strict spans
that lie in no span that is right. `leak` is the number of missed spans (ner) for each sentence; None if a text has no
sentences, as in brat files. 0/0 is 0.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, ClassVar

from clueval.compat.masking.program import Covers, OtherProgram, labelled_sides
from clueval.core.document import Pair
from clueval.core.tally import Tally, f_measure, rate
from clueval.metrics.masking.text import Range
from clueval.transforms.redaction.strict import wildcards_of

NAMES = ("ner", "strict", "merged")


class MeddocanFigures(OtherProgram):
    """Counts as the script does."""

    name: ClassVar[str] = "convention meddocan"

    def count(self, pair: Pair) -> Tally:
        text, gold, predicted, sentences = labelled_sides(self.metric, pair)
        tally = Tally({("sentences", "all"): sentences})
        tally["documents", "without sentences"] += not sentences and bool(text.strip())
        own, other = set(gold), set(predicted)
        _add(tally, "ner", len(own & other), len(other - own), len(own - other))
        strict, others = {one[:2] for one in own}, {one[:2] for one in other}
        _add(tally, "strict", len(strict & others), len(others - strict), len(strict - others))
        right = (strict & others) | (joined(text, strict) & joined(text, others))
        _add(tally, "merged", len(right), _outside(others, right), _outside(strict, right))
        return tally

    def scores(self, total: Tally, layers: Sequence[str]) -> dict[str, Any]:
        found = {name: _figures(total, name) for name in NAMES}
        sentences = total["sentences", "all"]
        known = sentences > 0 and not total["documents", "without sentences"]
        found["ner"]["leak"] = rate(found["ner"]["fn"], sentences) if known else None
        return found


def _figures(total: Tally, name: str) -> dict[str, Any]:
    tp, fp, fn = (total[name, what] for what in ("tp", "fp", "fn"))
    precision, recall = rate(tp, tp + fp), rate(tp, tp + fn)
    rates = {"precision": precision, "recall": recall, "f1": f_measure(precision, recall)}
    return {"tp": tp, "fp": fp, "fn": fn, **rates}


def _add(tally: Tally, name: str, *counts: int) -> None:
    for what, number in zip(("tp", "fp", "fn"), counts, strict=True):
        tally[name, what] += number


def joined(text: str, spans: Collection[Range]) -> set[Range]:
    """Return the spans, joined where no letter or digit is between them.

    >>> sorted(joined("Ana, Eva y Luz", [(0, 3), (5, 8), (11, 14)]))
    [(0, 8), (11, 14)]
    """
    return set(wildcards_of(text, spans))


def _outside(spans: Collection[Range], right: Collection[Range]) -> int:
    """Return how many spans lie in no span that is right."""
    covers = Covers(right)
    return sum(not covers.holds(*span) for span in spans)
