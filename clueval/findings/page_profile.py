"""The profile on the page of errors: bars by bucket, which filter the list of places."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from clueval.findings.places import ErrorPlace
from clueval.findings.table import Finding, joined
from clueval.reports.page import json_inside
from clueval.reports.table import Rate, cut_label
from clueval.reports.text import shown

WrongSpan = tuple[str, str, str, int, int, str]
"""Document, side, sequence, start, end (exclusive) and label of a span."""


@dataclass(frozen=True, slots=True)
class PageProfile:
    """What the page needs of a profile.

    `section` has the entries by metric, sequence and feature, as the JSON of ``clueval profile``; `features` are the
    names of the features, and `wrong` has the buckets of a span in their order: by document, side, sequence, start,
    end (exclusive) and label.
    """

    section: Mapping[str, Any]
    features: Sequence[str]
    wrong: Mapping[WrongSpan, Sequence[str]]

    def values(self, finding: Finding) -> Sequence[str] | None:
        """Return the buckets of the span of a finding."""
        place = finding.sequence, finding.start, finding.end + 1
        return self.wrong.get((finding.document, finding.side or "", *place, joined(finding.labels)))

    def pictures(self) -> Iterator[dict[str, Any]]:
        """Yield the bars of each feature of each sequence."""
        for sequences in self.section.values():
            for sequence, features in sequences.items():
                for feature, entries in features.items():
                    bars = [_bar(sequence, feature, entry) for entry in entries]
                    yield {"sequence": cut_label(sequence), "feature": feature, "bars": bars}


def _bar(sequence: str, feature: str, entry: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "bucket": cut_label(entry["bucket"]),
        "filter": json_inside([feature, sequence, entry["bucket"]]),
        "rates": [
            {"name": rate, "share": 100 * entry[rate], "shown": shown(Rate(entry[rate]))}
            for rate in ("precision", "recall")
        ],
        "gold": entry["gold"],
        "predicted": entry["predicted"],
        "few": entry["few"],
    }


class BucketLines:
    """The buckets of the findings as JSON, in the order of the places that `see` was given."""

    def __init__(self, profile: PageProfile | None) -> None:
        self._profile = profile
        self._rows: list[list[int] | None] = []
        self._names: dict[str, int] = {}

    def see(self, place: ErrorPlace) -> None:
        """Take the buckets of the findings of the next place."""
        for finding in place.findings if self._profile is not None else ():
            assert self._profile is not None
            values = self._profile.values(finding)
            number = self._names.setdefault
            self._rows.append(
                None if values is None else [number(value, len(self._names)) for value in values]
            )

    def __iter__(self) -> Iterator[str]:
        if self._profile is not None:
            found = {"features": self._profile.features, "names": [*self._names], "rows": self._rows}
            yield json_inside(found)
