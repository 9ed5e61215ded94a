"""clueval scores labelled spans: predicted spans against gold spans, by all common metrics.

To learn in half an hour how a number comes about, read the modules `core.span` and `core.case` (what is counted, and
how a document is cut into cases), `core.metric` and `core.exact` (what is divided, and how a case is counted),
`core.bag` (why equal cases are counted once, and what is added) and `core.count` (the loop over documents), in this
order.
"""

from __future__ import annotations

TYPE_CHECKING = False
"""True for type checkers. The module typing is imported where the command line ends Ctrl-C in order."""

if TYPE_CHECKING:
    from clueval.compat.faireval.config import faireval as faireval
    from clueval.compat.masking import masking as masking
    from clueval.core.document import Document as Document
    from clueval.core.document import Sentence as Sentence
    from clueval.core.span import Span as Span
    from clueval.files.errors import CluevalError as CluevalError
    from clueval.files.errors import CluevalWarning as CluevalWarning
    from clueval.files.errors import FileError as FileError
    from clueval.files.errors import FormatError as FormatError
    from clueval.files.errors import LimitError as LimitError
    from clueval.files.errors import MissingExtra as MissingExtra
    from clueval.files.errors import OverlapError as OverlapError
    from clueval.files.errors import SpanError as SpanError
    from clueval.files.errors import TagError as TagError
    from clueval.files.errors import TextMismatch as TextMismatch
    from clueval.files.errors import UsageError as UsageError
    from clueval.formats.options import Reading as Reading
    from clueval.reading.check import Problem as Problem
    from clueval.reading.check import check as check
    from clueval.reading.convert import convert as convert
    from clueval.reading.convert import merge as merge
    from clueval.reading.read import read as read
    from clueval.reading.records import documents_from as documents_from
    from clueval.reading.records import documents_from_spacy as documents_from_spacy
    from clueval.reading.records import to_rows as to_rows
    from clueval.reading.records import to_spacy as to_spacy
    from clueval.reading.span_lists import Match as Match
    from clueval.reading.span_lists import match_spans as match_spans
    from clueval.reading.span_lists import merge_layers as merge_layers
    from clueval.reading.span_lists import overlap_components as overlap_components
    from clueval.reports.json_text import schema as schema
    from clueval.reports.place import Place as Place
    from clueval.results.accumulator import Accumulator as Accumulator
    from clueval.results.result import Result as Result
    from clueval.results.result import load_result as load_result
    from clueval.results.score import score as score
    from clueval.results.signature import Signature as Signature
    from clueval.studies.agreement.curation import curate as curate
    from clueval.studies.agreement.study import Agreement as Agreement
    from clueval.studies.agreement.study import agree as agree
    from clueval.studies.comparison.report import Comparison as Comparison
    from clueval.studies.comparison.study import compare as compare
    from clueval.studies.conventions import Conventions as Conventions
    from clueval.studies.conventions import conventions as conventions
    from clueval.studies.errors.report import Errors as Errors
    from clueval.studies.errors.rows import Finding as Finding
    from clueval.studies.errors.rows import error_table as error_table
    from clueval.studies.errors.study import diff as diff
    from clueval.studies.errors.study import errors as errors
    from clueval.studies.errors.two_systems import Diff as Diff
    from clueval.studies.masking.report import MaskingReport as MaskingReport
    from clueval.studies.profile import Profile as Profile
    from clueval.studies.profile import profile as profile
    from clueval.studies.threshold import NoThreshold as NoThreshold
    from clueval.studies.threshold import Threshold as Threshold
    from clueval.studies.threshold import threshold as threshold
    from clueval.transforms.recovery import recover as recover
    from clueval.version import __version__ as __version__

_NAMES_OF = {
    "compat.faireval.config": "faireval",
    "compat.masking": "masking",
    "core.document": "Document Sentence",
    "core.span": "Span",
    "results.accumulator": "Accumulator",
    "results.result": "Result load_result",
    "results.score": "score",
    "results.signature": "Signature",
    "studies.errors.study": "diff errors",
    "studies.profile": "Profile profile",
    "studies.errors.rows": "Finding error_table",
    "studies.errors.two_systems": "Diff",
    "studies.errors.report": "Errors",
    "studies.conventions": "Conventions conventions",
    "files.errors": "CluevalError CluevalWarning FileError FormatError LimitError MissingExtra OverlapError SpanError "
    "TagError TextMismatch UsageError",
    "formats.options": "Reading",
    "reading.check": "Problem check",
    "reading.convert": "convert merge",
    "reading.records": "documents_from documents_from_spacy to_rows to_spacy",
    "reading.read": "read",
    "reading.span_lists": "Match match_spans merge_layers overlap_components",
    "reports.json_text": "schema",
    "reports.place": "Place",
    "studies.agreement.curation": "curate",
    "studies.agreement.study": "Agreement agree",
    "studies.comparison.study": "compare",
    "studies.comparison.report": "Comparison",
    "studies.masking.report": "MaskingReport",
    "studies.threshold": "NoThreshold Threshold threshold",
    "transforms.recovery": "recover",
    "version": "__version__",
}
"""The public names by the module that defines them, which is imported when one is first used."""

_MODULES = {name: module for module, names in _NAMES_OF.items() for name in names.split()}

__all__ = sorted(_MODULES)


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        from clueval.files.names import for_function  # only for names that do not exist

        message = f"module {__name__!r} has no attribute {name!r}{for_function(name, __all__)}"
        raise AttributeError(message, name=name, obj=None)  # Python adds no suggestion of its own
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
