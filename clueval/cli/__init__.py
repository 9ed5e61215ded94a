"""The command line: arguments in, exit code out.

0 done; 1 a check failed; 2 wrong use or bad input, one line on stderr; 129 the terminal was closed;
130 interrupted; 143 terminated.

Each command is a function: `declared` makes its options of the signature and the docstring. `options` and
`outputs` have the options that several commands share. `running` carries a command out. Only this package prints.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress

from clueval.version import __version__

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    words = sys.argv[1:] if arguments is None else arguments
    if list(words) in (["--version"], ["-V"]) and sys.stdout is not None:
        from clueval.cli.printing import put

        with suppress(OSError):  # if the output is closed, `run` ends as for any command
            put(f"clueval {__version__}")
            sys.stdout.flush()
            return 0
    if __doc__ is None:
        from clueval.cli.printing import complain

        complain("clueval: Python has removed the help that commands are made of (run it without -OO)")
        return 2
    from clueval.cli.running import run  # the version needs none of it

    return run(words)
