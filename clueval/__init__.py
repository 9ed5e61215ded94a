"""clueval scores labelled spans: gold against predicted, in every way of counting that people report."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clueval.accumulator import Accumulator
    from clueval.components import overlap_components
    from clueval.conventions import ConventionTable, compare_conventions
    from clueval.evaluation import evaluate
    from clueval.exceptions import CluevalError
    from clueval.findings import Finding, error_table
    from clueval.matching import Match, match_spans
    from clueval.merging import merge_layers
    from clueval.problem_files import find_errors
    from clueval.problems import Choice
    from clueval.reading import read
    from clueval.results import Result, Signature
    from clueval.spans import Document, Sentence, Span
    from clueval.version import __version__

_ROOMS = {
    "Accumulator": "accumulator",
    "CluevalError": "exceptions",
    "Choice": "problems",
    "ConventionTable": "conventions",
    "Document": "spans",
    "Finding": "findings",
    "Match": "matching",
    "Result": "results",
    "Sentence": "spans",
    "Signature": "results",
    "Span": "spans",
    "__version__": "version",
    "compare_conventions": "conventions",
    "error_table": "findings",
    "evaluate": "evaluation",
    "find_errors": "problem_files",
    "match_spans": "matching",
    "merge_layers": "merging",
    "overlap_components": "components",
    "read": "reading",
}
"""Where each public name is defined; its room is imported when the name is first used."""

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
    "compare_conventions",
    "error_table",
    "evaluate",
    "find_errors",
    "match_spans",
    "merge_layers",
    "overlap_components",
    "read",
]


def __getattr__(name: str) -> object:
    if name not in _ROOMS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_ROOMS[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
