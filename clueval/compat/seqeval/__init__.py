"""seqeval's interface: ``from clueval.compat import seqeval`` replaces ``import seqeval.metrics as seqeval``.

The functions have the signatures, defaults, scores, warnings, errors and layout of seqeval 1.2.2, and are in
modules of the same names (`metrics`, `metrics.sequence_labeling`, `metrics.v1`, `scheme`). Only the standard
library is needed; where seqeval returns numbers and arrays of numpy, these functions return
plain numbers and lists.

>>> from clueval.compat import seqeval
>>> from clueval.compat.seqeval.scheme import IOB2
>>> true, predicted = [["B-PER", "I-PER", "O", "B-LOC"]], [["B-PER", "I-PER", "O", "I-LOC"]]
>>> seqeval.f1_score(true, predicted), seqeval.f1_score(true, predicted, mode="strict", scheme=IOB2)
(1.0, 0.6666666666666666)

Some cases in which seqeval crashes or misleads are different here (seqeval's behaviour is in brackets):

* No tag but ``O`` on either side: the text report is written, with the averages only (ValueError).
  Without a scheme, strict mode detects it from the predicted tags if all true ones are ``O`` (ValueError).
* The macro average over no types is `zero_division`, with its warning (nan, with a warning of numpy's).
* `classification_report(output_dict=True)` has plain numbers, so `json.dumps` accepts it (TypeError).
* A position whose true label is None or -100 is ignored on both sides; a predicted None or -100 counts as
  ``O``. In `get_entities` such a label neither begins nor ends a span (AttributeError).
* `accuracy_score` of no positions is 0.0 (ZeroDivisionError).
* `accuracy_score` and `performance_measure` refuse sides of different lengths (compared up to the shorter
  end).
* A scheme may be a name that `clueval.score` takes, such as "IOB2", "BIO" or "bioes"; an unknown one is a
  ValueError (TypeError without an explanation).
* A scheme that is neither a name nor one of these classes is a TypeError: seqeval's own class whose import was
  not changed (a report for another scheme that is detected).
* `zero_division` other than "warn", 0 and 1 is a ValueError (treated as 1).
* "seems not to be NE tag" is printed once per tag and call (once per position).
* `UndefinedMetricWarning` is defined here, a UserWarning and a RuntimeWarning; if scikit-learn is loaded, the
  warning is an instance of scikit-learn's class of this name, too.

Each error is a `CluevalError` and also of seqeval's type: TypeError for a value that is not a list of lists
of tags, ValueError for different lengths, for an unknown average and for a tag outside the scheme, KeyError
in strict mode for a prefix that no scheme has, IndexError for an empty tag. The messages name the position.
Two things are the same as in seqeval because scores depend on them: `sample_weight` has no effect; any `mode`
except "strict" is the default mode, and so is "strict" without a scheme (except in `classification_report`);
see also `scheme`.
"""

from __future__ import annotations

from clueval.compat.seqeval import metrics, scheme
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
    "scheme",
]
