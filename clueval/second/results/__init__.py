"""Results: what is computed from the bag of a corpus.

To read about trust in scores, begin with `units`, which has what was counted in each unit; `rates` computes the rates
of many corpora from it, `intervals` their intervals, `comparing` the tests of several systems.
"""
