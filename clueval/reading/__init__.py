"""From paths and options to documents, and to pairs of documents.

Read `paths`, `options`, `layers`, `source`, `pairing`, `same_text`, in this order; `check` lists the problems of one
file. This package does not deal with metrics.
"""
