"""clueval scores labelled spans: predicted spans against gold spans, by all common metrics.

To learn in half an hour how a number comes about, read the example in `clueval.evaluation`, then the modules
`spans.span` and `spans.document` (what is counted), `metrics.metric`, `metrics.exact` and `metrics.counting` (how one
document is counted, and what is divided), `evaluation.tallies` and `evaluation.engine` (what is added), and
`clusters.bag` and `evaluation.row_clusters` (why and how equal clusters of rows are counted once), in this order.
"""

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
    from clueval.reading.check import Problem, check
    from clueval.reading.records import documents_from, documents_from_spacy, to_rows, to_spacy
    from clueval.reading.source import read
    from clueval.reports.json_text import schema
    from clueval.spans.components import overlap_components
    from clueval.spans.document import Document, Sentence
    from clueval.spans.matching import Match, match_spans
    from clueval.spans.merging import merge_layers
    from clueval.spans.span import Span
    from clueval.studies.annotators.agreement import Agreement, agree
    from clueval.studies.annotators.curation import Curated, curate
    from clueval.studies.annotators.places import Disagreement
    from clueval.studies.compare import compare
    from clueval.studies.comparison import Comparison
    from clueval.studies.convention_rows import Conventions
    from clueval.studies.conventions import conventions
    from clueval.studies.diff import Diff, diff
    from clueval.studies.errors import errors
    from clueval.studies.masking.report import MaskingReport
    from clueval.studies.profile import Profile, profile
    from clueval.studies.threshold import Threshold, threshold
    from clueval.transforms.redaction.recovery import recover
    from clueval.version import __version__

_NAMES_OF = {
    "clusters.merged": "merge",
    "compat.convert": "convert",
    "compat.faireval.config": "faireval",
    "compat.gate.run": "gate",
    "compat.masking.run": "masking",
    "evaluation.accumulator": "Accumulator",
    "evaluation.citation": "Citation",
    "evaluation.result": "Result",
    "evaluation.run": "score",
    "evaluation.signature": "Signature",
    "evaluation.units.loaded": "load_result",
    "exceptions": "CluevalError CluevalWarning FileError FormatError LimitError MissingExtra OverlapError SpanError "
    "TagError TextMismatch UsageError WorkerLost",
    "findings.choice": "Choice",
    "findings.table": "Finding error_table",
    "reading.check": "Problem check",
    "reading.records": "documents_from documents_from_spacy to_rows to_spacy",
    "reading.source": "read",
    "reports.json_text": "schema",
    "spans.components": "overlap_components",
    "spans.document": "Document Sentence",
    "spans.matching": "Match match_spans",
    "spans.merging": "merge_layers",
    "spans.span": "Span",
    "studies.annotators.agreement": "Agreement agree",
    "studies.annotators.curation": "Curated curate",
    "studies.annotators.places": "Disagreement",
    "studies.compare": "compare",
    "studies.comparison": "Comparison",
    "studies.convention_rows": "Conventions",
    "studies.conventions": "conventions",
    "studies.diff": "Diff diff",
    "studies.errors": "errors",
    "studies.masking.report": "MaskingReport",
    "studies.profile": "Profile profile",
    "studies.threshold": "Threshold threshold",
    "transforms.redaction.recovery": "recover",
    "version": "__version__",
}
"""The public names by the module that defines them, which is imported when one is first used."""

_MODULES = {name: module for module, names in _NAMES_OF.items() for name in names.split()}

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
