"""Totals: everything that has been counted, as values that add up and travel between processes.

Counts are integers, so their sum does not depend on who counted what, nor on the order in which it is added.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from clueval.evaluation.inputs import Inputs
from clueval.evaluation.result import Unprojected
from clueval.evaluation.seen_names import Known
from clueval.metrics.counting import Tally
from clueval.tagging.decoder import Decoder


class Totals:
    """Documents, positions, and a tally for each metric and sequence."""

    __slots__ = ("documents", "tallies", "tokens")

    def __init__(self, documents: int = 0, tokens: int = 0) -> None:
        self.documents = documents
        self.tokens = tokens
        self.tallies: dict[tuple[str, str], Tally] = {}

    def add(self, metric: str, sequence: str, tally: Tally) -> None:
        self.tallies.setdefault((metric, sequence), Tally()).update(tally)

    def include(self, other: Totals) -> None:
        """Add all that somebody else has counted."""
        self.documents += other.documents
        self.tokens += other.tokens
        for (metric, sequence), tally in other.tallies.items():
            self.add(metric, sequence, tally)


class Found(NamedTuple):
    """What an evaluation of some of the files has found; as large as its counts, not as its files.

    `layers` are those that were known in the end, None if nothing was counted; `grown` tells that some of them
    turned up only after the first document. `decoders`, by side and layer, are kept where a part of a file was
    read: what is ill-formed is told from the tags of the whole file. `prepared` is what each transform
    has changed, by its name; `inputs` are what was read (`clueval.evaluation.inputs`).
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
    known: Known
    frames: Mapping[str, int]
    decoders: Mapping[tuple[str, str], Decoder] | None
    prepared: Mapping[str, Tally]
    inputs: Inputs
