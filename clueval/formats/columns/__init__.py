"""Shared code of the formats with one token per line.

Read `layout`, `passages`, `builder`, `columns`, `markup`, `documents`, in this order. This package does not
depend on a particular format, and does not compare files.
"""
