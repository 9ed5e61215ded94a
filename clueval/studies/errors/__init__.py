"""`errors` and `diff`: wrong spans, place by place, of one system, of two, or of an old and a new run.

To read the package: `search` (which spans are wrong, and why), `rows` (texts and rows), `report` (the places of one
system), `two_systems` and `noisy` (other reports), `view` (words and tables), `study` (the functions).
"""
