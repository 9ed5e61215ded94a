"""seqeval's face: ``from clueval.compat import seqeval`` replaces ``import seqeval.metrics as seqeval``.

The functions have the signatures, defaults, figures, warnings, errors and layout of seqeval 1.2.2, and stand in
modules of the same names (`metrics`, `metrics.sequence_labeling`, `metrics.v1`, `scheme`, `reporters`). Nothing
but the standard library is needed; where seqeval gives numbers and arrays of numpy, these are plain numbers
and lists.

>>> from clueval.compat import seqeval
>>> from clueval.compat.seqeval.scheme import IOB2
>>> true, predicted = [["B-PER", "I-PER", "O", "B-LOC"]], [["B-PER", "I-PER", "O", "I-LOC"]]
>>> seqeval.f1_score(true, predicted), seqeval.f1_score(true, predicted, mode="strict", scheme=IOB2)
(1.0, 0.6666666666666666)

Where seqeval crashes or misleads, this does not:

* No tag but ``O`` on either side: the text report is written, with the averages only (seqeval: ValueError).
  Without a scheme, strict mode tells it from the predicted tags if all true ones are ``O`` (ValueError).
* The macro average over no types is `zero_division`, with its warning (nan, with a warning of numpy's).
* `classification_report(output_dict=True)` is of plain numbers, so `json.dumps` takes it (TypeError).
* A position whose true label is None or -100 is left out on both sides; a predicted None or -100 counts as
  ``O``. In `get_entities` such a label neither begins nor ends a span (AttributeError).
* `accuracy_score` of no positions is 0.0 (ZeroDivisionError).
* `accuracy_score` and `performance_measure` refuse sides of different lengths (compared up to the shorter end).
* A scheme that is no class of ours is refused with a TypeError: one by its name, or seqeval's own class, whose
  import was left as it was (TypeError without a word on it; a report for whatever scheme is detected).
* `zero_division` other than "warn", 0 and 1 is refused with a ValueError (taken for 1).
* "seems not to be NE tag" is said once per tag and call (once per position).
* `UndefinedMetricWarning` is ours and, like scikit-learn's of this name, a UserWarning.

Errors are `CluevalError` and of seqeval's type at once: TypeError for what is no list of lists of tags, ValueError
for lengths that differ, for an unknown average and for a tag outside the scheme, KeyError in strict mode for a
prefix that no scheme knows, IndexError for an empty tag. Their text says where. Kept as they are, because
scores depend on them: `sample_weight` has no effect; any `mode` but "strict" is the default one, and so is
"strict" without a scheme (but in `classification_report`); see also `scheme`.
"""

from __future__ import annotations

from clueval.compat.seqeval import metrics, reporters, scheme
from clueval.compat.seqeval.metrics import (
    UndefinedMetricWarning,
    accuracy_score,
    classification_report,
    f1_score,
    get_entities,
    performance_measure,
    precision_recall_fscore_support,
    precision_score,
    recall_score,
)

__all__ = [
    "UndefinedMetricWarning",
    "accuracy_score",
    "classification_report",
    "f1_score",
    "get_entities",
    "metrics",
    "performance_measure",
    "precision_recall_fscore_support",
    "precision_score",
    "recall_score",
    "reporters",
    "scheme",
]
