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
    from clueval.exceptions import CluevalError
    from clueval.findings.choice import Choice
    from clueval.findings.stream import errors
    from clueval.findings.table import Finding, error_table
    from clueval.formats.records import documents_from, documents_from_spacy, to_rows, to_spacy
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
    "documents_from": "formats.records",
    "documents_from_spacy": "formats.records",
    "error_table": "findings.table",
    "score": "evaluation.run",
    "to_rows": "formats.records",
    "to_spacy": "formats.records",
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
    "ConventionTable",
    "Document",
    "Finding",
    "Match",
    "Result",
    "Sentence",
    "Signature",
    "Span",
    "__version__",
    "conventions",
    "documents_from",
    "documents_from_spacy",
    "error_table",
    "errors",
    "gate",
    "match_spans",
    "merge_layers",
    "overlap_components",
    "read",
    "score",
    "to_rows",
    "to_spacy",
]


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
