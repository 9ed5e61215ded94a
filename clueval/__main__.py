"""``python -m clueval``: the command line as a process of its own, which ends when the command does."""

import gc
import os
import sys
from contextlib import suppress

from clueval.cli import main

_MANY = 50_000
"""So many new containers are made before cycles are looked for; Python's own 700 are made again and again."""

_WANT_AN_ORDERLY_END = ("concurrent.futures", "coverage", "distributed", "threading")
"""Modules that have something to do when Python ends."""


def run() -> int:
    """Carry out the command that the process was started with, and return its exit code.

    What a command loads and makes has hardly a cycle in it, and all of it goes when the process ends: looking
    through it would take an eighth of the time of a small corpus, and giving it back piece by piece, which the
    system does at once, another thirtieth. So the process ends here, unless somebody waits for its end.
    """
    gc.set_threshold(_MANY)
    try:
        code = main()
    finally:
        gc.freeze()
    is_watched = sys.gettrace() is not None or sys.getprofile() is not None
    if not is_watched and sys.modules.keys().isdisjoint(_WANT_AN_ORDERLY_END):
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):  # the command has told what could not be written
                stream.flush()
        os._exit(code)
    return code


if __name__ == "__main__":
    sys.exit(run())
