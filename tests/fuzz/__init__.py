"""Fuzzers: pairs of files that are nearly right, through the commands.

Whatever is in a file, a command ends with a result or with one line that says what is wrong. Everything else is a
failure: an exception, ten seconds without an end, or 500 MB for files of less than a megabyte. The cases are made
from a seed, so each can be made again; those that failed once are kept, small, in ``regressions``.

    python -m tests.fuzz --cases 100000 --format vrt
"""
