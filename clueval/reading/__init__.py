"""From paths and options to documents, to pairs of documents, and to files of another format.

Read `paths`, `options`, `layers`, `source`, `pairing`, `same_text`, in this order; `check` lists the problems of one
file, `convert` writes. This package does not deal with metrics.
"""
