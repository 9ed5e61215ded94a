"""An observer that collects the leaks of all documents, and what else a page shows of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from clueval.evaluation.parallel.plain_values import a_list, text, whole
from clueval.metrics.counting import Tally
from clueval.metrics.masking import Masking
from clueval.metrics.masking.exposure import Examination
from clueval.metrics.masking.replacements import replacements_of
from clueval.metrics.metric import Side
from clueval.studies.masking.leak import (
    Leak,
    StringLeak,
    leaks_of,
    needless_of,
    replacements_by_entity,
    string_leaks_of,
)
from clueval.studies.masking.sent import leak_of, number_of_text, string_leak_of, written
from clueval.transforms.group import Group


class Inconsistent(NamedTuple):
    """An entity with several replacements, or a replacement of several entities, in one document.

    `start` is where the first of its mentions begins.
    """

    document: str
    start: int
    text: str
    replacements: tuple[str, ...]


class WatchedMasking(Masking):
    """The metric, which keeps the examinations of the document that it has counted last.

    So that no document is examined twice, and a document in which nothing is found need not be examined at all;
    `taken` hands them over.
    """

    def count(self, gold: Side, predicted: Side) -> Tally:
        known = len(self._kept())
        tally = super().count(gold, predicted)
        if len(self._kept()) == known and _has_findings(tally):
            self.examine(gold, predicted)
        return tally

    def examine(self, gold: Side, predicted: Side) -> Examination | None:
        found = super().examine(gold, predicted)
        if found is not None:
            self._kept().append(found)
        return found

    def _kept(self) -> list[Examination]:
        found: list[Examination] = self.__dict__.setdefault("_examinations", [])
        return found

    def taken(self) -> list[Examination]:
        """Return the examinations since the last call."""
        examinations: list[Examination] = self.__dict__.pop("_examinations", [])
        return examinations


def _has_findings(tally: Tally) -> bool:
    """Return whether a report lists something of a document with these counts."""
    leaks = tally["all", "", "mentions"] - tally["all", "", "protected"]
    lists = ("string_leaks", "all"), ("precision", "masks_needless"), ("replacements", "several")
    return bool(leaks) or any(tally[key] for key in lists)


class LeakCollector:
    """Sees every group that is counted and keeps its leaks; the metric has examined the documents before."""

    name = "leaks"

    def __init__(self, metric: WatchedMasking) -> None:
        self._metric = metric
        self.leaks: list[Leak] = []
        self.string_leaks: list[StringLeak] = []
        self.needless: Counter[str] = Counter()
        self.inconsistent: list[Inconsistent] = []

    def see(self, _: Group) -> None:
        strings: dict[tuple[int, int], StringLeak] = {}
        for examination in self._metric.taken():
            self.leaks += leaks_of(examination)
            strings |= {(leak.start, leak.end): leak for leak in string_leaks_of(examination)}
            self.needless.update(needless_of(examination))
            self.inconsistent += _inconsistent(examination)
        self.string_leaks += strings.values()

    def sent(self) -> Any:
        """What it has seen, as a value of JSON."""
        found = written(self.leaks), written(self.string_leaks), list(self.needless.items())
        return [*found, [list(each) for each in self.inconsistent]]

    def join(self, sent: Any) -> None:
        """Add what another process has seen. Raises `ValueError` for another value."""
        leaks, string_leaks, needless, inconsistent = (
            a_list(each, "a list") for each in a_list(sent, "it", 4)
        )
        found = (
            [leak_of(each) for each in leaks],
            [string_leak_of(each) for each in string_leaks],
            Counter(dict(map(number_of_text, needless))),
            [_inconsistent_of(each) for each in inconsistent],
        )
        self.leaks += found[0]
        self.string_leaks += found[1]
        self.needless += found[2]
        self.inconsistent += found[3]

    def section(self) -> Mapping[str, Any]:
        """Return nothing: leaks are no figures."""
        return {}


def _inconsistent_of(value: object) -> Inconsistent:
    document, start, shown, replacements = a_list(value, "an entity", 4)
    names = tuple(text(each, "a replacement") for each in a_list(replacements, "replacements"))
    return Inconsistent(
        text(document, "a document"), whole(start, "a position"), text(shown, "a text"), names
    )


def _inconsistent(examination: Examination) -> Iterator[Inconsistent]:
    for mention, replacements in replacements_by_entity(replacements_of(examination)).values():
        if len(replacements) > 1:
            text = examination.words.text[mention.start : mention.end]
            yield Inconsistent(examination.document.id, mention.start, text, tuple(sorted(replacements)))
