"""Counts kept by unit: what intervals, tests and saved results are made of.

A unit is a document, a part of one between two sentence ends, or all documents with one value of some metadata.
To read the package, begin with `unit`, then `columns`, `rates` and `intervals`. The score of some units is what
clueval would print for a corpus of just these units; that slow way is the model for the fast one here.
"""
