"""Counts predicted spans against gold spans: `score`, the evaluation, the result.

`run` has `score`, `plan` what is to be counted, `engine` the evaluation, `result` the result. `column_clusters`,
`tag_lists` and `span_clusters` count by clusters without building documents (`clueval.clusters`), `accumulator` counts
batches. Error tables are in `clueval.findings`.

How ``score("gold.conll", "predicted.conll", metrics="exact")`` and the same call with two lists of lists of tags come
to a number:

1. `run.score` makes a `Plan` and an `Evaluation`. Lists of tags go to `tag_lists.count_tags`, column files to
   `column_clusters.count_columns`, lists and rows of spans to `span_clusters`; what cannot be counted by clusters
   (`Plan.counts_clusters`) goes to `Evaluation.count_group`, a document at a time.
2. Each token is a row of two tags, ``("B-PER", "B-PER")``; a row of O ends each sentence of a file or of the lists.
   `RowClusters` puts the rows into a `Bag`: runs of rows that are not O on both sides are its clusters.
3. When the bag is full, and at the end, `RowClusters` joins clusters into a gold and a predicted document, with a row
   of O after each cluster. `Decoder.columns` (`clueval.tagging.decoder`) makes spans of their tags.
4. `ClusterCounts.count` lets `Exact.count` count these documents, and multiplies the counts by the number of times that
   the clusters occur. Those who filled the clusters (`count_columns`, `count_tags`) ask for the sums
   (`RowClusters.tallies`), and give them to `Evaluation.count_part`, which adds them to the totals of everything and of
   each group.
5. `result.result_of` gives the totals to `Exact.scores`, where `clueval.first.metrics.counting` divides them. The
   number is ``result.get("exact.label.micro.f1")``, because a layer without a name is called ``label``.
"""
