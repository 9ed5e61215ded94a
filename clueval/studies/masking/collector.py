"""An observer that collects the leaks of all documents, and what else a page shows of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import chain
from typing import Any

from clueval.metrics.counting import Tally
from clueval.metrics.masking import Masking
from clueval.metrics.masking.exposure import Examination
from clueval.metrics.masking.mention import risk_by
from clueval.metrics.masking.token_counts import TokenCounts
from clueval.metrics.metric import Side
from clueval.spans.token_pair import TokenPair
from clueval.studies.masking.examined import inconsistent_of, leaks_of, needless_of, string_leaks_of
from clueval.studies.masking.first_places import ShownLeaks
from clueval.studies.masking.leak import Inconsistent, Leak
from clueval.studies.masking.string_leak_list import DocumentStrings, by_document
from clueval.studies.masking.token_leaks import TokenLeaks
from clueval.studies.masking.token_places import TokenPlaces
from clueval.transforms.group import Group


class WatchedMasking(Masking):
    """The metric, which keeps what it has made counts of, until `taken` hands it over.

    Of several pairs of tokens it keeps that of the last one, since a filter may leave out the others.
    """

    def count_pair(self, pair: TokenPair, sequence: str) -> Tally | None:
        kept = self.__dict__
        if kept.get("_last") is not pair:
            kept.update(_last=pair, _counted=[])
        kept["_pair"] = pair
        try:
            return super().count_pair(pair, sequence)
        finally:
            del kept["_pair"]

    def examine(self, gold: Side, predicted: Side) -> Examination | None:
        found = super().examine(gold, predicted)
        if found is not None:
            self._keep(found)
        return found

    def token_counts(self, *parts: Any) -> TokenCounts:
        found = super().token_counts(*parts)
        self._keep(found)
        return found

    def _keep(self, found: Examination | TokenCounts) -> None:
        self.__dict__.setdefault("_counted", []).append((self.__dict__.get("_pair"), found))

    def taken(self, pair: TokenPair | None = None) -> list[Examination | TokenCounts]:
        """Return what the counts of this pair, or of a document, were made of since the last call; drop the rest."""
        self.__dict__.pop("_last", None)
        kept = self.__dict__.pop("_counted", [])
        return [found for of, found in kept if of is None or of is pair]


class LeakCollector:
    """Sees all that is counted and keeps the leaks; the metric has counted it before."""

    name = "leaks"

    def __init__(self, metric: WatchedMasking) -> None:
        self._metric = metric
        self.leaks: list[Leak] = []
        self.string_leaks: list[DocumentStrings] = []
        self.needless: Counter[str] = Counter()
        self.inconsistent: list[Inconsistent] = []

    @cached_property
    def _shown(self) -> ShownLeaks:
        return ShownLeaks(risk_by(self._metric.risk_order))

    def see(self, group: Group) -> None:
        self._collect(self._metric.taken(), [group.gold.id])

    def see_tokens(self, pair: TokenPair) -> None:
        self._collect(self._metric.taken(pair), pair.ids)

    def anew(self) -> LeakCollector:
        """Return a collector of the same metric that has seen nothing."""
        found = LeakCollector(self._metric)
        found._shown = self._shown.copy()
        return found

    def add(self, other: LeakCollector) -> None:
        """Add what another one has seen."""
        self.leaks += other.leaks
        self.string_leaks += other.string_leaks
        self.needless += other.needless
        self.inconsistent += other.inconsistent
        self._shown = other._shown

    def _collect(self, counted: Sequence[Examination | TokenCounts], ids: Sequence[str]) -> None:
        """Collect from documents with these ids; a string leak of several sequences is one."""
        strings: list[Iterable[tuple[int, DocumentStrings]]] = []
        places: TokenPlaces | None = None
        for each in counted:
            if isinstance(each, Examination):
                self._add(leaks_of(each, self._shown), needless_of(each), inconsistent_of(each))
                strings.append((0, one) for one in by_document(string_leaks_of(each, self._shown)))
            else:
                places = places or TokenPlaces(each.text)
                tokens = TokenLeaks(each, places, ids, self._shown)
                self._add(tokens.leaks(), tokens.needless(), tokens.inconsistent())
                strings.append(tokens.string_leaks())
        if len(strings) == 1:
            self.string_leaks += (of_document for _, of_document in strings[0])
        else:
            every = ((number, leak) for number, of_document in chain(*strings) for leak in of_document)
            found = {(number, leak.start, leak.end): leak for number, leak in every}
            self.string_leaks += by_document(found.values())

    def _add(
        self, leaks: Iterable[Leak], needless: Iterable[str], inconsistent: Iterable[Inconsistent]
    ) -> None:
        self.leaks += leaks
        self.needless.update(needless)
        self.inconsistent += inconsistent

    def sent(self) -> Any:
        """What it has seen."""
        return self.leaks, self.string_leaks, self.needless, self.inconsistent

    def join(self, sent: Any) -> None:
        """Add what another process has seen."""
        found = self.anew()
        found.leaks, found.string_leaks, found.needless, found.inconsistent = sent
        self.add(found)

    def section(self) -> Mapping[str, Any]:
        """Return nothing: leaks are no figures."""
        return {}
