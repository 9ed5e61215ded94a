"""Results: a corpus is counted into a bag, and every number of a result is computed from its bag.

To read how a result comes about, begin with `score`, `options`, `texts` and `result`. For trust in scores, begin with
`units`, which has what was counted in each unit; `rates` computes the rates of many corpora from it, `intervals` their
intervals. `rows` has the numbers of reports, `paths` finds one of them, `tables` and `first_screen` show them.
"""
