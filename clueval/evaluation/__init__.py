"""Gold against predicted, counted: the call, the engine, the result.

Read `run`, `plan`, `preparation`, `observer`, `engine`, `totals`, `result`, `signature`, in this order. `accumulator`
counts documents one by one, `lockstep` compares two files of one format without building documents, `parallel` counts
in several processes. Errors in their sentences belong to `clueval.findings`, which nothing here knows.
"""
