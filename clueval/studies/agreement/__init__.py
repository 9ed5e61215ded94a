"""`agree` and `curate`: agreement of annotators, as tallies on cases of several sides, and one gold out of their spans.

Each annotator is a side of a case; a system that is compared with them is one more, the last. Only documents that two
annotators have count. What is not defined is None, never 0, 1 or NaN, and enters no mean. The formulas and their
sources are in `clueval.statistics.agreement`.
"""

# To read the package: `conventions` says what annotators have marked in a case, in what they differ and how F1 is
# counted, `metric` counts a case and documents, `numbers` divides the sums; `annotators` finds annotators and their
# documents, `places` shows them place by place, `study` is `agree` with its report, `view` has its tables, and
# `curation` is `curate`.
