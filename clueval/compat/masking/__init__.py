"""`clueval.masking`: masking reports, with the figures of four other programs as they count them.

`run` is the function, and `programs` counts as the programs do.
"""
