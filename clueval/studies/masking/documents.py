"""Documents to review: those with leaks, riskiest first, one row each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from math import inf
from operator import itemgetter

from clueval.core.span import NO_LABEL
from clueval.first.metrics.masking.mention import Risk
from clueval.reports.language import numeral, phrase
from clueval.studies.masking.leak import Leak

COLUMNS = ("document", "class", "leaks", "leaks_by_class", "words_exposed", "entities_masked_elsewhere")

_NO_MORE = (inf,)
"""A class after all others, so that a document with a further class comes before one without."""


@dataclass(frozen=True, slots=True)
class DocumentToReview:
    """A document with leaks: `leaks` has their number for each class, riskiest first.

    `words_exposed` are the words of leaks that can be read, `entities_masked_elsewhere` the entities with a leak that
    are masked in other places of the document.
    """

    document: str
    leaks: tuple[tuple[str, int], ...]
    words_exposed: int
    entities_masked_elsewhere: int

    @property
    def kind(self) -> str:
        """The class of its worst leak."""
        return self.leaks[0][0]

    def cells(self) -> list[str | int]:
        """Its row in a table, as `COLUMNS` names it."""
        by_class = ", ".join(f"{kind} {number}" for kind, number in self.leaks)
        total = sum(number for _, number in self.leaks)
        return [
            self.document,
            self.kind,
            total,
            by_class,
            self.words_exposed,
            self.entities_masked_elsewhere,
        ]

    def in_words(self) -> str:
        """What its row says, as a line.

        >>> DocumentToReview("a", (("high", 2), ("_", 1)), 4, 1).in_words()
        'high; leaks: high 2, no class 1; 4 words exposed; 1 entity masked elsewhere'
        """
        named = [(phrase("no class") if kind == NO_LABEL else kind, number) for kind, number in self.leaks]
        leaks = ", ".join(f"{kind} {numeral(number)}" for kind, number in named)
        elsewhere = self.entities_masked_elsewhere
        parts = [
            named[0][0],
            phrase("leaks: {leaks}", leaks=leaks),
            phrase("{n} word exposed|{n} words exposed", n=self.words_exposed),
            phrase("{n} entity masked elsewhere|{n} entities masked elsewhere", n=elsewhere),
        ]
        return "; ".join(parts)


def documents_of(leaks: Iterable[Leak], risk: Risk) -> list[DocumentToReview]:
    """Return the documents of leaks, riskiest first.

    The first has the worst class, then more leaks of it, then worse and more leaks of other classes, then more words.
    """
    found: dict[str, list[Leak]] = {}
    for leak in leaks:
        found.setdefault(leak.document, []).append(leak)
    ranked = []
    for document, own in found.items():
        numbers = Counter(leak.kind for leak in own)
        by_class = tuple((kind, numbers[kind]) for kind in sorted(numbers, key=risk))
        words = sum(leak.words_exposed for leak in own)
        in_part = {(leak.annotator, leak.entity) for leak in own if leak.is_in_part}
        one = DocumentToReview(document, by_class, words, len(in_part))
        worst_first = [(*risk(kind), -number) for kind, number in by_class]
        ranked.append(([*worst_first, _NO_MORE], -words, document, one))
    return [one for *_, one in sorted(ranked, key=itemgetter(0, 1, 2))]
