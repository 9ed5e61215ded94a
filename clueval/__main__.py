"""``python -m clueval``: the command line as a process of its own, which ends when the command does."""

import gc
import sys

_MANY = 50_000
"""How many new containers are made before Python searches for cycles; by default 700, which is soon reached again."""


def run() -> int:
    """Carry out the command that the process was started with, and return its exit code.

    What a command loads and makes has hardly a cycle in it, and all of it goes when the process ends: looking
    through it, most of all at the end, would take an eighth of the time of a small corpus.
    """
    gc.set_threshold(_MANY)
    from clueval.cli import main

    try:
        return main()
    finally:
        gc.freeze()


if __name__ == "__main__":
    sys.exit(run())
