"""``python -m clueval``: the command line."""

import sys


def run() -> int:
    """Run the command line and return its exit code, also if it is interrupted while its modules are imported."""
    try:
        from clueval.cli import main

        return main()
    except (KeyboardInterrupt, RuntimeError) as error:
        # Python 3.11 wraps in a RuntimeError what is raised while a class is made.
        if not isinstance(error, KeyboardInterrupt) and not isinstance(error.__cause__, KeyboardInterrupt):
            raise
        from clueval.cli.printing import complain

        complain("clueval: interrupted")
        return 130


if __name__ == "__main__":
    sys.exit(run())
