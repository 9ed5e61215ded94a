"""Fair evaluation of labelled spans: every error is counted once.

Ortmann, Katrin. 2022. Fine-Grained Error Analysis and Fair Evaluation of Labeled Spans. LREC 2022, pages
1400-1407.
"""

# To read the package: `metric` counts and scores, `pairing` pairs the spans step by step, `most_similar` finds the most
# similar span, `weights` says how each type of error is weighted.
from clueval.metrics.fair.metric import Fair, FairError
from clueval.metrics.fair.weights import DEFAULT_WEIGHTS, parse_weights

__all__ = ["DEFAULT_WEIGHTS", "Fair", "FairError", "parse_weights"]
