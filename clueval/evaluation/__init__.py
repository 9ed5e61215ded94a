"""Counts predicted spans against gold spans: `score`, the evaluation, the result.

Read `run`, `plan`, `observer`, `engine`, `tallies`, `totals`, `result`, `signature`, in this order. `column_clusters`,
`tag_lists` and `span_clusters` count by clusters without building documents (`clueval.clusters`), `accumulator` counts
batches, `parallel` counts in several processes. Error tables are in `clueval.findings`.

How ``score([["B-PER", "O"]], [["B-PER", "O"]], metrics="exact")`` comes to a number:

1. `run.score` makes a `Plan` and an `Evaluation`. Lists of tags go to `tag_lists.count_tags`, column files to
   `column_clusters.count_columns`, lists and rows of spans to `span_clusters`; what cannot be counted by clusters
   (`Plan.counts_clusters`) goes to `Evaluation.count_group`, a document at a time.
2. `RowClusters` puts the tags of both sides into a `Bag`. At the end, it joins the distinct clusters to a few
   documents, whose tags are decoded to spans (`clueval.tagging.decoder`).
3. `ClusterCounts.count` lets `Exact.count` count each of these documents, and multiplies the counts.
   `Evaluation.count_part` adds them to the totals of everything and of each group.
4. `result.result_of` gives the sums to `Exact.scores`, where `clueval.metrics.counting` divides them.
"""
