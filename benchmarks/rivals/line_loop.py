"""Decodes and discards every line of both files: the cost of only iterating over the lines.

python benchmarks/rivals/line_loop.py GOLD PREDICTED
"""

import sys

for path in sys.argv[1:]:
    with open(path, encoding="utf-8") as file:  # noqa: PTH123  # nothing is imported that the loop does not need
        for _line in file:
            pass
