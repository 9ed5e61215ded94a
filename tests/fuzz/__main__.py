"""``python -m tests.fuzz``: run fuzzers by hand, and keep what fails, small, as regressions."""

from __future__ import annotations

import argparse
import hashlib
import sys
from pathlib import Path

from .cases import KINDS
from .running import run
from .smaller import smallest

REGRESSIONS = Path(__file__).parent / "regressions"


def main() -> int:
    """Run the cases; 1 if any of them fails."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--cases", type=int, default=2000, help="how many cases (%(default)s)")
    parser.add_argument("--first", type=int, default=0, help="the number of the first case (%(default)s)")
    parser.add_argument("--format", choices=KINDS, action="append", help="default: all")
    parser.add_argument("--keep", action="store_true", help="write what fails, made smaller, to regressions/")
    options = parser.parse_args()
    names: set[str] = set()
    for kind in options.format or KINDS:
        count = 0
        for found in run(kind, range(options.first, options.first + options.cases)):
            count += 1
            if (name := found.failure.name) in names:
                continue
            names.add(name)
            print(f"{kind} {found.number}: {found.failure.name}\n{found.failure.details}", flush=True)
            if options.keep:
                text = smallest(found.case, name).saved()
                path = REGRESSIONS / f"{kind}-{hashlib.sha256(text.encode()).hexdigest()[:8]}.json"
                path.write_text(text, encoding="utf-8")
                print(f"kept as {path}", flush=True)
        print(f"{kind}: {options.cases} cases, {count} failures", flush=True)
    return 1 if names else 0


if __name__ == "__main__":
    sys.exit(main())
