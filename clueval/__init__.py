"""clueval scores labelled spans: predicted spans against gold spans, by all common metrics."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clueval.clusters.merged import merge
    from clueval.compat.convert import convert
    from clueval.compat.faireval.config import faireval
    from clueval.compat.gate.run import gate
    from clueval.compat.masking.run import masking
    from clueval.evaluation.accumulator import Accumulator
    from clueval.evaluation.citation import Citation
    from clueval.evaluation.result import Result
    from clueval.evaluation.run import score
    from clueval.evaluation.signature import Signature
    from clueval.evaluation.units.loaded import load_result
    from clueval.exceptions import (
        CluevalError,
        CluevalWarning,
        FileError,
        FormatError,
        LimitError,
        MissingExtra,
        OverlapError,
        SpanError,
        TagError,
        TextMismatch,
        UsageError,
        WorkerLost,
    )
    from clueval.findings.choice import Choice
    from clueval.findings.table import Finding, error_table
    from clueval.formats.records import documents_from, documents_from_spacy, to_rows, to_spacy
    from clueval.reading.check import Problem, check
    from clueval.reading.source import read
    from clueval.reports.schemas import schema
    from clueval.spans.components import overlap_components
    from clueval.spans.document import Document, Sentence
    from clueval.spans.matching import Match, match_spans
    from clueval.spans.merging import merge_layers
    from clueval.spans.span import Span
    from clueval.studies.annotators.agreement import Agreement, agree
    from clueval.studies.annotators.curation import Curated, curate
    from clueval.studies.annotators.places import Disagreement
    from clueval.studies.compare import Comparison, compare
    from clueval.studies.conventions import Conventions, conventions
    from clueval.studies.diff import Diff, diff
    from clueval.studies.errors import errors
    from clueval.studies.masking.report import MaskingReport
    from clueval.studies.profile import Profile, profile
    from clueval.studies.threshold import Threshold, threshold
    from clueval.transforms.redaction.recovery import recover
    from clueval.version import __version__

_MODULES = {
    "Accumulator": "evaluation.accumulator",
    "Citation": "evaluation.citation",
    "Agreement": "studies.annotators.agreement",
    "CluevalError": "exceptions",
    "CluevalWarning": "exceptions",
    "FileError": "exceptions",
    "FormatError": "exceptions",
    "LimitError": "exceptions",
    "MissingExtra": "exceptions",
    "OverlapError": "exceptions",
    "SpanError": "exceptions",
    "TagError": "exceptions",
    "TextMismatch": "exceptions",
    "UsageError": "exceptions",
    "WorkerLost": "exceptions",
    "Choice": "findings.choice",
    "Comparison": "studies.compare",
    "Conventions": "studies.conventions",
    "Curated": "studies.annotators.curation",
    "Disagreement": "studies.annotators.places",
    "Diff": "studies.diff",
    "Document": "spans.document",
    "Finding": "findings.table",
    "MaskingReport": "studies.masking.report",
    "Match": "spans.matching",
    "Result": "evaluation.result",
    "Sentence": "spans.document",
    "Signature": "evaluation.signature",
    "Span": "spans.span",
    "Profile": "studies.profile",
    "Threshold": "studies.threshold",
    "profile": "studies.profile",
    "__version__": "version",
    "agree": "studies.annotators.agreement",
    "compare": "studies.compare",
    "conventions": "studies.conventions",
    "documents_from": "formats.records",
    "documents_from_spacy": "formats.records",
    "curate": "studies.annotators.curation",
    "diff": "studies.diff",
    "error_table": "findings.table",
    "score": "evaluation.run",
    "to_rows": "formats.records",
    "to_spacy": "formats.records",
    "errors": "studies.errors",
    "gate": "compat.gate.run",
    "load_result": "evaluation.units.loaded",
    "masking": "compat.masking.run",
    "match_spans": "spans.matching",
    "merge_layers": "spans.merging",
    "overlap_components": "spans.components",
    "read": "reading.source",
    "recover": "transforms.redaction.recovery",
    "schema": "reports.schemas",
    "threshold": "studies.threshold",
    "merge": "clusters.merged",
    "check": "reading.check",
    "Problem": "reading.check",
    "convert": "compat.convert",
    "faireval": "compat.faireval.config",
}
"""The module that defines each public name; it is imported when the name is first used."""

__all__ = [
    "Accumulator",
    "Agreement",
    "Choice",
    "Citation",
    "CluevalError",
    "CluevalWarning",
    "Comparison",
    "Conventions",
    "Curated",
    "Diff",
    "Disagreement",
    "Document",
    "FileError",
    "Finding",
    "FormatError",
    "LimitError",
    "MaskingReport",
    "Match",
    "MissingExtra",
    "OverlapError",
    "Problem",
    "Profile",
    "Result",
    "Sentence",
    "Signature",
    "Span",
    "SpanError",
    "TagError",
    "TextMismatch",
    "Threshold",
    "UsageError",
    "WorkerLost",
    "__version__",
    "agree",
    "check",
    "compare",
    "conventions",
    "convert",
    "curate",
    "diff",
    "documents_from",
    "documents_from_spacy",
    "error_table",
    "errors",
    "faireval",
    "gate",
    "load_result",
    "masking",
    "match_spans",
    "merge",
    "merge_layers",
    "overlap_components",
    "profile",
    "read",
    "recover",
    "schema",
    "score",
    "threshold",
    "to_rows",
    "to_spacy",
]


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{_suggestion(name)}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)


def _suggestion(name: str) -> str:
    """Where the name is instead, for a name of seqeval or of another function; empty for others."""
    from difflib import get_close_matches

    if name in ("f1_score", "precision_score", "recall_score", "accuracy_score", "classification_report"):
        return f"; it is clueval.compat.seqeval.{name}"
    others = {"load": "load_result", "evaluate": "score", "find_errors": "errors"}
    near = [others[name]] if name in others else get_close_matches(name, __all__, n=1, cutoff=0.7)
    return f"; did you mean {near[0]}?" if near and not name.startswith("_") else ""


def __dir__() -> list[str]:
    return sorted(__all__)
