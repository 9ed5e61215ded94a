"""How long masking reports take: against metric `levels` on the same files, and for redacted texts.

Prints minima of CPU seconds over some runs in one process, and ratios. The corpus is that of `generate.py`; in the
redacted text every twentieth word is a placeholder.

    python benchmarks/masking.py --tokens 300000 --runs 3
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from measure import least

import clueval
from clueval.transforms.redaction.recovery import recovery_of

HERE = Path(__file__).parent
CHARACTERS = 1_000_000
HOSTILE = ("X", ".", "X ", "A.", "_", "[", "a.", "x")


def of_files(folder: Path, tokens: int, runs: int) -> None:
    """Print the times for two files of a generated corpus."""
    command = [sys.executable, str(HERE / "generate.py"), "--tokens", str(tokens), "--out", str(folder)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    sides = str(folder / "gold.vrt"), str(folder / "predicted.vrt")
    layers = {"entity": 2}
    documents = [list(clueval.read(side, layers)) for side in sides]
    cases: dict[str, Callable[[], object]] = {
        "levels, files": lambda: clueval.score(*sides, layers=layers),
        "reading documents": lambda: [list(clueval.read(side, layers)) for side in sides],
        "metric masking, files": lambda: clueval.score(*sides, metrics="masking", layers=layers),
        "masking report, files": lambda: clueval.masking(*sides, layers=layers),
        "levels, documents": lambda: clueval.score(*documents),
        "metric masking, documents": lambda: clueval.score(*documents, metrics="masking"),
    }
    base = 0.0
    print(f"{tokens:,} tokens")
    for name, run in cases.items():
        seconds = least(run, runs)
        base = base or seconds
        print(f"  {name:28} {seconds:7.2f} s  {seconds / base:6.1f} x levels")


def of_redacted_texts(runs: int) -> None:
    """Print the times for a redacted text, and for texts that are nothing but placeholders or nearly so."""
    rng = random.Random(1)
    words = [f"Wort{rng.randrange(5000)}" for _ in range(CHARACTERS // 9)]
    original = " ".join(words)
    redacted = " ".join("[NAME]" if number % 20 == 0 else word for number, word in enumerate(words))
    seconds = least(lambda: recovery_of(original, redacted), runs)
    print(f"{len(redacted):,} redacted characters  {seconds:.2f} s")
    for unit in HOSTILE:
        texts = [unit * (size // len(unit)) for size in (CHARACTERS // 2, CHARACTERS)]
        half, whole = (least(partial(_placeholders, text), runs) for text in texts)
        print(f"  {CHARACTERS:,} characters of {unit!r:6} {whole:.2f} s, {whole / half:.1f} x half of it")


def _placeholders(text: str) -> object:
    from clueval.transforms.redaction.placeholders import find_placeholders

    return find_placeholders(text)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tokens", type=int, default=300_000)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    with TemporaryDirectory() as folder:
        of_files(Path(folder), options.tokens, options.runs)
    of_redacted_texts(options.runs)


if __name__ == "__main__":
    main()
