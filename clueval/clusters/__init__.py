"""Rows of tags of parallel texts, cut into clusters out of which no span reaches.

A row has the tags of all sides, in some layers, at one position. A cluster is a run of rows between two rows that are
outside every span. What is a sum over spans that overlap is found in each different cluster once, however often the
cluster occurs.

Read `bag`, `rows`, `places`, in this order. `merged` merges the layers of one file.
"""
