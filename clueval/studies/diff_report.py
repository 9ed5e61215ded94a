"""The result of `clueval.diff`: counts, the classes of gold spans in both runs, and the errors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from clueval.exceptions import UsageError
from clueval.findings.summary import PARTS
from clueval.findings.systems import CHANGED, FIXED, NEW, STILL
from clueval.findings.table import joined
from clueval.hints import Hinting
from clueval.reports import json_text
from clueval.reports.table import Table
from clueval.reports.tsv import guarded
from clueval.spans.match_classes import KINDS, UNMATCHED

FORMS = ("text", "json", "tsv", "markdown")

STATES = {"gold": (NEW, FIXED, CHANGED, STILL), "predicted": (NEW, FIXED, STILL)}
_COLUMNS = (
    *("state", "document", "side", "layer", "start", "end_inclusive", "label"),
    *("old", "new", "text"),
)
_OF_GOLD = [part for part in PARTS if part != UNMATCHED["predicted"]]
_LISTED = (NEW, CHANGED, FIXED)
MOST_LISTED = 50
"""How many errors of each state tables show; JSON and TSV have all."""


@dataclass(frozen=True, slots=True)
class DiffFinding:
    """An error of one run or of both. The end is exclusive; `before` and `after` are its reasons in the runs.

    A span that is no error of a run may be ``right`` there; None: it is not in the run.
    """

    state: str
    side: str
    document: str
    sequence: str
    start: int
    end: int
    labels: Mapping[str, str | None]
    before: str | None
    after: str | None
    class_before: str | None
    class_after: str | None
    text: str

    def to_dict(self) -> dict[str, Any]:
        """Return the error as the JSON has it, without its text."""
        return {
            "state": self.state,
            "side": self.side,
            "document": self.document,
            "sequence": self.sequence,
            "start": self.start,
            "end": self.end,
            "labels": dict(self.labels),
        }


@dataclass(frozen=True, slots=True)
class ComparedErrors(Hinting):
    """The errors of two runs on the same gold.

    Attributes:
        documents: how many documents were compared.
        gold_classes: how many gold spans have these classes in the old and in the new run.
        gold_reasons: how many gold spans have these reasons in the old and in the new run, or are right.
        findings: all errors, in the order of the documents.
        listed: which errors are compared, in words.
    """

    documents: int
    gold_classes: Counter[tuple[str, str]]
    gold_reasons: Counter[tuple[str, str]]
    findings: Sequence[DiffFinding]
    listed: str

    @property
    def counts(self) -> dict[str, dict[str, int]]:
        """The number of errors by side and state."""
        found = Counter((finding.side, finding.state) for finding in self.findings)
        return {side: {state: found[side, state] for state in states} for side, states in STATES.items()}

    @property
    def new(self) -> int:
        """The number of new errors, of both sides."""
        return sum(of_side[NEW] for of_side in self.counts.values())

    def to_dict(self) -> dict[str, Any]:
        """Return the diff as plain data, without text of the corpus."""
        return {
            "counts": self.counts,
            "listed": self.listed,
            "reasons": {old: {new: self.gold_reasons[old, new] for new in _OF_GOLD} for old in _OF_GOLD},
            "classes": {old: {new: self.gold_classes[old, new] for new in KINDS} for old in KINDS},
            "findings": [finding.to_dict() for finding in self.findings],
        }

    def to_json(self) -> str:
        """Return `to_dict` as indented JSON."""
        return json_text.dumps(self.to_dict())

    def render(self, form: str) -> str:
        """Return the diff in one of `FORMS`. Raises `UsageError` for another."""
        if form not in FORMS:
            raise UsageError(f"unknown form {form!r}", advice=f"one of {', '.join(FORMS)}")
        if form == "json":
            return self.to_json()
        if form == "tsv":
            return "\n".join("\t".join(map(guarded, row)) for row in self._rows())
        rendered: str = import_module(f"clueval.reports.{form}").render_tables(self.tables())
        return rendered

    def __str__(self) -> str:
        return self.render("text")

    def tables(self) -> Iterator[Table]:
        """Yield the counts, the reasons of gold spans, then the errors that differ, new ones first."""
        counts = self.counts
        yield Table(
            f"Errors of the new run: {self.listed}",
            ["side", *STATES["gold"]],
            [
                [side, *(of_side.get(state, "-") for state in STATES["gold"])]
                for side, of_side in counts.items()
            ],
        )
        yield Table(
            "Gold spans by reason: rows in the old run, columns in the new run",
            ["old", *_OF_GOLD],
            [[old, *(self.gold_reasons[old, new] for new in _OF_GOLD)] for old in _OF_GOLD],
        )
        for state in _LISTED:
            found = [finding for finding in self.findings if finding.state == state]
            if found:
                more = f", the first {MOST_LISTED} of {len(found):,}" if len(found) > MOST_LISTED else ""
                yield Table(
                    f"{state.capitalize()} errors{more}",
                    list(_COLUMNS[1:]),
                    [_row(finding)[1:] for finding in found[:MOST_LISTED]],
                )

    def _rows(self) -> Iterator[Sequence[str]]:
        yield *_COLUMNS, "old_class", "new_class"
        for finding in self.findings:
            yield *_row(finding), finding.class_before or "-", finding.class_after or "-"


def _row(finding: DiffFinding) -> list[str]:
    return [
        finding.state,
        finding.document,
        finding.side,
        finding.sequence,
        str(finding.start),
        str(finding.end - 1),
        joined(finding.labels),
        finding.before or "-",
        finding.after or "-",
        finding.text,
    ]
