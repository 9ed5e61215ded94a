"""Counts predicted spans against gold spans: `score`, the evaluation, the result.

Read `run`, `plan`, `preparation`, `observer`, `engine`, `totals`, `result`, `signature`, in this order. `accumulator`
counts batches, `file_pairs` counts two files without building documents, `parallel` counts in several
processes. Error tables are in `clueval.findings`.
"""
