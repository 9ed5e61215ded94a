"""String leaks as columns, since a report may have very many of them."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, chain, count, groupby, pairwise
from typing import Any, overload

from clueval.studies.masking.excerpt import NO_EXCERPT, Excerpt
from clueval.studies.masking.leak import StringLeak


@dataclass(slots=True)
class DocumentStrings:
    """The string leaks of one document; `excerpts` has those that a page may show, by number."""

    document: str
    starts: array[int] = field(default_factory=lambda: array("q"))
    ends: array[int] = field(default_factory=lambda: array("q"))
    texts: list[str] = field(default_factory=list)
    excerpts: dict[int, Excerpt] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.starts)

    def __iter__(self) -> Iterator[StringLeak]:
        for number, start, end, text in zip(count(), self.starts, self.ends, self.texts, strict=False):
            yield StringLeak(self.document, start, end, text, self.excerpts.get(number, NO_EXCERPT))

    def __getitem__(self, number: int) -> StringLeak:
        excerpt = self.excerpts.get(number, NO_EXCERPT)
        return StringLeak(self.document, self.starts[number], self.ends[number], self.texts[number], excerpt)

    @property
    def are_sorted(self) -> bool:
        places = zip(self.starts, self.ends, strict=True)
        return all(one <= other for one, other in pairwise(places))


def by_document(leaks: Iterable[StringLeak]) -> Iterator[DocumentStrings]:
    """Yield leaks as columns, those of one document that follow each other together."""
    for document, found in groupby(leaks, key=lambda leak: leak.document):
        columns = DocumentStrings(document)
        for number, leak in enumerate(found):
            columns.starts.append(leak.start)
            columns.ends.append(leak.end)
            columns.texts.append(leak.text)
            if leak.excerpt != NO_EXCERPT:
                columns.excerpts[number] = leak.excerpt
        yield columns


class StringLeakList(Sequence[StringLeak]):
    """String leaks by document and position; a `StringLeak` is made when it is looked at."""

    def __init__(self, found: Iterable[DocumentStrings]) -> None:
        by_id: dict[str, list[DocumentStrings]] = {}
        for one in found:
            by_id.setdefault(one.document, []).append(one)
        self._documents: list[DocumentStrings] = []
        for _, same in sorted(by_id.items()):
            if len(same) > 1 or not same[0].are_sorted:
                leaks = sorted(chain.from_iterable(same), key=lambda leak: leak.place)
                same = list(by_document(leaks))
            self._documents += same
        self._firsts = list(accumulate(map(len, self._documents), initial=0))

    def __len__(self) -> int:
        return self._firsts[-1]

    def __iter__(self) -> Iterator[StringLeak]:
        return chain.from_iterable(self._documents)

    @overload
    def __getitem__(self, number: int) -> StringLeak: ...
    @overload
    def __getitem__(self, number: slice) -> list[StringLeak]: ...
    def __getitem__(self, number: int | slice) -> StringLeak | list[StringLeak]:
        if isinstance(number, slice):
            return list(map(self.__getitem__, range(len(self))[number]))
        place = range(len(self))[number]
        document = bisect_right(self._firsts, place) - 1
        return self._documents[document][place - self._firsts[document]]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]  # as of a list

    def __repr__(self) -> str:
        return repr(list(self))

    def to_dicts(self) -> list[dict[str, Any]]:
        """The leaks for JSON."""
        return [
            {"document": one.document, "start": start, "end": end}
            for one in self._documents
            for start, end in zip(one.starts, one.ends, strict=True)
        ]
