"""Results, and the signature that says what they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from clueval.exceptions import UsageError
from clueval.spans import Span
from clueval.version import __version__


@dataclass(frozen=True, slots=True)
class Signature:
    """The choices that a score depends on, in a fixed order: what to print beside it and to cite.

    >>> str(Signature({"metrics": "levels", "unit": "token"}))
    'metrics:levels|unit:token'
    """

    choices: Mapping[str, str]

    def __str__(self) -> str:
        return "|".join(f"{key}:{_quoted(value)}" for key, value in self.choices.items())

    @classmethod
    def parse(cls, text: str) -> Signature:
        """The signature that prints like this. Raises `UsageError` if none does."""
        choices = {}
        for part in text.split("|"):
            key, colon, value = part.partition(":")
            if not key or not colon:
                raise UsageError(f"{part!r} is no part of a signature", advice="parts are written key:value")
            choices[key] = _unquoted(value)
        return cls(choices)


def _quoted(value: str) -> str:
    return value.replace("%", "%25").replace("|", "%7C").replace("\n", "%0A")


def _unquoted(value: str) -> str:
    return value.replace("%0A", "\n").replace("%7C", "|").replace("%25", "%")


class Unprojected(NamedTuple):
    """A predicted span that has no place on the gold text, as it was, and the id of its document."""

    document: str
    span: Span


@dataclass(frozen=True, slots=True)
class Result:
    """What an evaluation found.

    `metrics` holds, by metric and sequence, the reports whose shapes the documentation of each metric gives.
    `groups` holds the same for each value of the metadata that the evaluation was broken down by, if it was;
    `unprojected`, if texts were aligned, the predicted spans without a place on the gold text, which count as
    wrong.
    """

    documents: int
    tokens: int
    repaired_tags: Mapping[str, int]
    metrics: Mapping[str, Mapping[str, Any]]
    signature: Signature
    groups: Mapping[str, Mapping[str, Mapping[str, Any]]] | None = None
    unprojected: Sequence[Unprojected] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain dictionaries, strings, integers and floats. Rates are fractions."""
        report: dict[str, Any] = {
            "clueval": __version__,
            "signature": str(self.signature),
            "documents": self.documents,
            "tokens": self.tokens,
            "repaired_tags": dict(self.repaired_tags),
            "metrics": {name: dict(sequences) for name, sequences in self.metrics.items()},
        }
        if self.groups is not None:
            report["by"] = {key: dict(values) for key, values in self.groups.items()}
        if self.unprojected is not None:
            report["unprojected"] = [
                {"document": document, "label": span.label, "start": span.start, "end_exclusive": span.end}
                for document, span in self.unprojected
            ]
        return report

    def to_json(self) -> str:
        """`to_dict` as JSON, indented, the same bytes for the same result."""
        import json

        return json.dumps(self.to_dict(), ensure_ascii=False, indent=2)

    def _repr_html_(self) -> str:
        from clueval.reports.notebook import render

        return render(self.to_dict())

    def __str__(self) -> str:
        from clueval.reports.text import render  # only where it is wanted: most programs read the numbers

        return render(self.to_dict())
