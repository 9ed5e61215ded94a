"""The fast way of counting: column files, lists of tags and plain spans become a bag without documents.

`clusters` is its heart: rows of tags as text, cut where all sides are outside every span. `column_files` reads files,
as bytes (`byte_reader`, `byte_rows`) or as text (`text_rows`); `tag_lists` and `triples` take lists in memory. The bag
is that of `clueval.core.count.count` for the documents of the same corpus. What is unusual is left to that way, which
also finds every error.
"""
