"""`clueval.masking`: masking reports, with the figures of four other programs as they count them.

`run` is the function, and names the programs; each program's way of counting has a module of its own.
"""
