"""Totals and partial counts, which are added and sent between processes.

Counts are integers, so their sum does not depend on the order in which they are added.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from clueval.evaluation.counted import Counted
from clueval.evaluation.inputs import Inputs
from clueval.metrics.counting import Tally
from clueval.spans.seen_names import SeenNames
from clueval.spans.span import Span
from clueval.tagging.decoder import Decoder


class Totals:
    """Documents, positions, and a tally for each metric and sequence."""

    __slots__ = ("documents", "tallies", "tokens")

    def __init__(self, documents: int = 0, tokens: int = 0) -> None:
        self.documents = documents
        self.tokens = tokens
        self.tallies: dict[tuple[str, str], Tally] = {}

    def add(self, metric: str, sequence: str, tally: Tally) -> None:
        own = self.tallies.get((metric, sequence))
        if own is None:
            own = self.tallies[metric, sequence] = Tally()
        for key, number in tally.items():  # takes a fifth of the time of `update` for few keys
            own[key] = own.get(key, 0) + number

    def include(self, other: Totals) -> None:
        """Add the counts of other totals."""
        self.documents += other.documents
        self.tokens += other.tokens
        for (metric, sequence), tally in other.tallies.items():
            self.add(metric, sequence, tally)


def add_to(receivers: Iterable[Totals], metric: str, sequence: str, tally: Tally) -> None:
    """Add a tally to several totals."""
    for totals in receivers:
        totals.add(metric, sequence, tally)


class GroupReports(Mapping[str, Mapping[str, Any]]):
    """The reports of a break-down by the values of its groups, in order of the values.

    Each report is made when it is asked for, because those of many documents take much memory.
    """

    def __init__(self, groups: Mapping[str, Totals], counted: Counted) -> None:
        """Take the totals by value, which must not change; `counted` has the metrics and the layers of sequences."""
        self._groups, self._counted = dict(sorted(groups.items())), counted

    def __getitem__(self, value: str) -> Mapping[str, Any]:
        totals = self._groups[value]
        scores = self._of(totals).scores()
        return {"documents": totals.documents, "tokens": totals.tokens, "metrics": scores}

    def __iter__(self) -> Iterator[str]:
        return iter(self._groups)

    def __len__(self) -> int:
        return len(self._groups)

    def __repr__(self) -> str:
        return repr(dict(self))

    def headlines(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Yield each value with the parts of the scores that have the headlines, which cost less than all scores."""
        for value, totals in self._groups.items():
            yield value, self._of(totals).headlines()

    def _of(self, totals: Totals) -> Counted:
        return Counted(self._counted.metrics, totals.tallies, self._counted.sequences)


class UnitPiece(NamedTuple):
    """What was counted in a unit, or in the part of a unit that has these values of the break-downs."""

    key: str
    values: tuple[str, ...]
    totals: Totals


class Unprojected(NamedTuple):
    """A predicted span without a place on the gold text, in predicted positions, and the id of its document.

    A mention of a language model has no positions; the feature `MENTION` has its text.
    """

    document: str
    span: Span

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of the result; a mention has its text, and None for its positions."""
        from clueval.spans.features import MENTION

        span = self.span
        if MENTION in span.features:
            places: dict[str, Any] = {"start": None, "end_exclusive": None, "text": span.features[MENTION]}
        else:
            places = {"start": span.start, "end_exclusive": span.end}
        return {"document": self.document, "label": span.label, **places}


class PartialCounts(NamedTuple):
    """The counts of an evaluation of some files, or of a part of a pair of files.

    Attributes:
        layers: all layers; None if nothing was counted.
        grown: whether some layers occurred only after the first document.
        frames: the number of annotations in each layer within which a metric counts.
        decoders: by side and layer, for a part of a pair of files only, because the tags of the whole file
            determine which tags are repaired.
        prepared: the numbers of changes by each transform, by its name.
        inputs: see `clueval.evaluation.inputs`.
        pieces: the counts by unit; None if they are not kept.
    """

    layers: list[str] | None
    grown: bool
    total: Totals
    groups: Mapping[str, Mapping[str, Totals]]
    repaired: Mapping[str, int]
    units: set[str]
    treatments: set[str]
    text: str
    unprojected: list[Unprojected]
    seen_names: SeenNames
    frames: Mapping[str, int]
    decoders: Mapping[tuple[str, str], Decoder] | None
    prepared: Mapping[str, Tally]
    inputs: Inputs
    pieces: list[UnitPiece] | None
