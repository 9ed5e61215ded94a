"""clueval scores labelled spans: gold against predicted, in every way of counting that people report."""

from clueval.components import overlap_components
from clueval.evaluation import evaluate
from clueval.exceptions import CluevalError
from clueval.matching import Match, match_spans
from clueval.merging import merge_layers
from clueval.reading import read
from clueval.results import Result, Signature, __version__
from clueval.spans import Document, Sentence, Span

__all__ = [
    "CluevalError",
    "Document",
    "Match",
    "Result",
    "Sentence",
    "Signature",
    "Span",
    "__version__",
    "evaluate",
    "match_spans",
    "merge_layers",
    "overlap_components",
    "read",
]
