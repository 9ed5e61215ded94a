"""Fair evaluation of labelled spans: every error is counted once, with its type.

Gold and predicted spans are paired; one span may be paired with several parts of it. Each pair, and each span that is
left over, counts once:

====  ==============================================================
TP    same start, end and label
LE    same start and end, another label
BES   same label; the predicted span lies inside the gold span
BEL   same label; the predicted span contains the gold span
BEO   same label; the two spans overlap in another way
LBE   another label, and the two spans overlap
FN    a gold span that no predicted span is left for
FP    a predicted span that no gold span is left for
====  ==============================================================

Pairs are made in the order TP, LE, BES, BEL and BEO, LBE; short spans come first, and of several spans the one with the
most shared positions is taken. There are three kinds of scores, each for all labels and for each label:

* *traditional*: a span is correct if the other side has a span with the same start, end and label;
* *fair*: TP are correct; LE, BES, BEL, BEO and LBE count one half in precision and one half in recall, FP count in
  precision and FN in recall;
* *weighted*: as fair, with the weights of the setting `weights`; without it, there are none.

The report also has a matrix of the labels of each error. `clueval errors --metric fair` lists the errors with their
types, and `clueval faireval` runs configuration files of the program FairEval.

Source: Ortmann, Katrin. 2022. Fine-Grained Error Analysis and Fair Evaluation of Labeled Spans. LREC 2022, pages
1400-1407, and her program FairEval, which compares sentence by sentence; cases give the same numbers, because spans
of different cases do not overlap.
"""

from clueval.metrics.fair.metric import DEFAULT_WEIGHTS, Fair, FairError, parse_weights

__all__ = ["DEFAULT_WEIGHTS", "Fair", "FairError", "parse_weights"]
