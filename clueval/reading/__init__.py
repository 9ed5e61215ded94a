"""Reading: the sides of a corpus, of files or in memory, as documents, and the fast way of counting them.

Column files, lists of tags and plain spans become a bag without documents. `clusters` is the heart of it: rows of tags
as text, cut where all sides are outside every span; it takes lists of tags. `column_files` reads files, as bytes
(`byte_reader`) or as text (`passages`); `triples` takes spans. The bag is that of `clueval.core.count.count` for the
documents of the same corpus. What is unusual is left to that way, which also finds every error. `span_lists` has the
functions of lists of spans, which count nothing.
"""
