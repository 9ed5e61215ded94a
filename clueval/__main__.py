"""``python -m clueval``."""

import sys

from clueval.cli import main

if __name__ == "__main__":
    sys.exit(main())
