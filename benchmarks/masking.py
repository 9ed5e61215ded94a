"""How long masking reports take: against metric `levels` on the same files, and for redacted texts.

Prints minima of CPU seconds over some runs in one process, all cases in turn, and ratios; and the greatest memory of a
process. The corpus is that of `generate.py`; in the redacted text every twentieth word is a placeholder. A bare loop
that writes the document, the place and the text of each leak that a report lists shows what writing them costs.

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
from clueval.transforms.recovery import recovery_of

HERE = Path(__file__).parent
CHARACTERS = 1_000_000
HOSTILE = ("X", ".", "X ", "A.", "_", "[", "a.", "x")


def generated(folder: Path, tokens: int, *further: str) -> tuple[str, str]:
    """Write the two files of a corpus, and return their paths."""
    command = [sys.executable, str(HERE / "generate.py"), "--tokens", str(tokens), "--out", str(folder)]
    subprocess.run([*command, *further], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return str(folder / "gold.vrt"), str(folder / "predicted.vrt")


def of_files(folder: Path, tokens: int, runs: int) -> None:
    """Print the times for two files of a generated corpus."""
    sides = generated(folder, tokens)
    layers = {"entity": 2}
    documents = [list(clueval.read(side, layers)) for side in sides]
    report = clueval.masking(*sides, layers=layers)
    cases: dict[str, Callable[[], object]] = {
        "levels, files": lambda: clueval.score(*sides, layers=layers),
        "reading documents": lambda: [list(clueval.read(side, layers)) for side in sides],
        "metric masking, files": lambda: clueval.score(*sides, metrics="masking", layers=layers),
        "masking report, files": lambda: clueval.masking(*sides, layers=layers),
        "its leaks in a bare loop": lambda: _in_a_loop(report, folder / "leaks"),
        "its leaks as JSON": report.to_json,
        "its leaks as TSV": lambda: report.write(folder / "leaks.tsv"),
        "its page": lambda: report.write(folder / "leaks.html"),
        "levels, documents": lambda: clueval.score(*documents),
        "metric masking, documents": lambda: clueval.score(*documents, metrics="masking"),
        "masking report, documents": lambda: clueval.masking(*documents),
    }
    seconds = dict.fromkeys(cases, float("inf"))
    for _ in range(runs):
        for name, run in cases.items():
            seconds[name] = min(seconds[name], least(run, 1))
    print(f"{tokens:,} tokens, {len(report.leaks):,} leaks, {len(report.string_leaks):,} string leaks")
    for name, least_seconds in seconds.items():
        ratio = least_seconds / seconds["levels, files"]
        print(f"  {name:28} {least_seconds:7.3f} s  {ratio:6.1f} x levels")


def _in_a_loop(report: clueval.MaskingReport, path: Path) -> None:
    with path.open("w", encoding="utf-8") as file:
        for leak in report.leaks:
            file.write(f"{leak.document}\t{leak.start}\t{leak.end}\t{leak.kind}\t{leak.text}\n")
        for one in report.string_leaks:
            file.write(f"{one.document}\t{one.start}\t{one.end}\t{one.text}\n")


def of_memory(folder: Path, tokens: int) -> None:
    """Print the greatest memory of processes, for many documents and for one."""
    commands = ("score --metric levels", "score --metric masking", "masking", "masking --format json")
    one = ("--no-sentences", "--document-length", "0")
    for name, further in (("many documents", ()), ("one document", one)):
        sides = generated(folder, tokens, *further)
        print(f"{tokens:,} tokens, {name}")
        for words in commands:
            line = [sys.executable, "-m", "clueval", *words.split(), *sides, "--layer", "entity=2", "--quiet"]
            line += ["-o", str(folder / "out.json")]
            found = subprocess.run([sys.executable, "-c", _MEMORY, *line], check=True, capture_output=True)
            print(f"  {words:28} {int(found.stdout) // 1024:7} MB")


_MEMORY = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


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
    from clueval.transforms.redaction import find_placeholders

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
        of_memory(Path(folder), options.tokens)
    of_redacted_texts(options.runs)


if __name__ == "__main__":
    main()
