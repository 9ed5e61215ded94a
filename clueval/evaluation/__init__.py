"""Counts predicted spans against gold spans: `score`, the evaluation, the result.

Read `run`, `plan`, `observer`, `engine`, `tallies`, `totals`, `result`, `signature`, in this order. `column_clusters`,
`tag_lists` and `span_clusters` count by clusters without building documents (`clueval.clusters`), `accumulator` counts
batches, `parallel` counts in several processes. Error tables are in `clueval.findings`.
"""
