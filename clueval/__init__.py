"""clueval scores labelled spans: predicted spans against gold spans, by all common metrics."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clueval.compat.gate.run import gate
    from clueval.evaluation.accumulator import Accumulator
    from clueval.evaluation.result import Result
    from clueval.evaluation.run import score
    from clueval.evaluation.signature import Signature
    from clueval.exceptions import (
        CluevalError,
        CluevalWarning,
        FileError,
        FormatError,
        MissingExtra,
        OverlapError,
        SpanError,
        TagError,
        TextMismatch,
        UsageError,
        WorkerLost,
    )
    from clueval.findings.choice import Choice
    from clueval.findings.stream import errors
    from clueval.findings.table import Finding, error_table
    from clueval.reading.source import read
    from clueval.spans.components import overlap_components
    from clueval.spans.document import Document, Sentence
    from clueval.spans.matching import Match, match_spans
    from clueval.spans.merging import merge_layers
    from clueval.spans.span import Span
    from clueval.studies.conventions import ConventionTable, conventions
    from clueval.version import __version__

_MODULES = {
    "Accumulator": "evaluation.accumulator",
    "CluevalError": "exceptions",
    "CluevalWarning": "exceptions",
    "FileError": "exceptions",
    "FormatError": "exceptions",
    "MissingExtra": "exceptions",
    "OverlapError": "exceptions",
    "SpanError": "exceptions",
    "TagError": "exceptions",
    "TextMismatch": "exceptions",
    "UsageError": "exceptions",
    "WorkerLost": "exceptions",
    "Choice": "findings.choice",
    "ConventionTable": "studies.conventions",
    "Document": "spans.document",
    "Finding": "findings.table",
    "Match": "spans.matching",
    "Result": "evaluation.result",
    "Sentence": "spans.document",
    "Signature": "evaluation.signature",
    "Span": "spans.span",
    "__version__": "version",
    "conventions": "studies.conventions",
    "error_table": "findings.table",
    "score": "evaluation.run",
    "errors": "findings.stream",
    "gate": "compat.gate.run",
    "match_spans": "spans.matching",
    "merge_layers": "spans.merging",
    "overlap_components": "spans.components",
    "read": "reading.source",
}
"""The module that defines each public name; it is imported when the name is first used."""

__all__ = [
    "Accumulator",
    "Choice",
    "CluevalError",
    "CluevalWarning",
    "ConventionTable",
    "Document",
    "FileError",
    "Finding",
    "FormatError",
    "Match",
    "MissingExtra",
    "OverlapError",
    "Result",
    "Sentence",
    "Signature",
    "Span",
    "SpanError",
    "TagError",
    "TextMismatch",
    "UsageError",
    "WorkerLost",
    "__version__",
    "conventions",
    "error_table",
    "errors",
    "gate",
    "match_spans",
    "merge_layers",
    "overlap_components",
    "read",
    "score",
]


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
