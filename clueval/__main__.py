"""``python -m clueval``: the command line."""

import sys

from clueval.cli import main as run

if __name__ == "__main__":
    sys.exit(run())
