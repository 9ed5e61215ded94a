"""`clueval.masking`: masking reports, with the figures of four other programs as they count them.

`settings` reads the settings as they are given on the command line and in Python, `run` is the function; each
program's way of counting has a module of its own, and `conventions` names them.
"""
