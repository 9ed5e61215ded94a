"""Shared code of the formats with one token per line.

Read `layout`, `passages`, `builder`, `columns`, `markup`, `documents`, in this order. Nothing here knows a
single format, and no two files are compared.
"""
