"""What the formats of one token per line share.

Read `layout`, `passages`, `builder`, `columns`, `markup`, `documents`, in this order. Nothing here knows a single
format, and no two files are compared.
"""
