"""The core: spans and documents become cases, a metric counts a case, a corpus is a bag of cases.

Read these modules in this order: `span` (also which spans overlap) and `document` (what is counted), `case` (the unit
of counting), `metric` (how a case is counted, and what is divided), `exact` and `levels` (two metrics), `bag` (what is
kept of a corpus), `count` (the loop over a corpus). All others are helpers, to be read where they are needed: `tags`,
`merging` (several layers become one), `located` (cases where they stand, for errors, and sentences as places),
`dictionaries` (documents as plain dictionaries), and `one_to_one` and `alignment` (of two texts). Everything else of
the package is built on these modules; other metrics stand in a package of their own and inherit from `metric.Metric` or
`metric.DocumentMetric`.

A number comes about in three steps: `count` puts the cases of documents into a bag, the bag asks a metric for the
counts of each distinct case and adds them up, and the metric makes a report of the sum.

>>> from clueval.core.count import Plan, count, sequences_of
>>> from clueval.core.document import Document, Pair
>>> from clueval.core.exact import Exact
>>> from clueval.core.span import Span
>>> gold = Document("d", {"entity": [Span(2, 4, "PER"), Span(9, 10, "LOC")]})
>>> predicted = Document("d", {"entity": [Span(2, 3, "PER"), Span(9, 10, "LOC")]})
>>> plan = Plan((Exact(),))
>>> bag = count([[Pair(gold, predicted)]], plan)
>>> for place, sequence, metric, tally in bag.tallies_of(plan.metrics, sequences_of(bag, plan)):
...     print(sequence, metric.name, metric.scores(tally, [sequence])["micro"]["f1"])
entity exact 0.5

Words: a *sequence* is a layer, or all layers merged. A *place* is what counts are kept by; a *unit* is a place that
intervals resample. A *key* is a case as a plain tuple, a *tally* what a metric counted. *Gold* is side 0, *predicted*
side 1; there may be more.
"""
