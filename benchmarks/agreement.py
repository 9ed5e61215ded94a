"""Measures `clueval agree` and `clueval curate`, compared with iterating over the lines of the annotators' files.

The first two annotators are the gold and the predicted file of the generated corpus; each further one tags every
sentence as one of these two, at random. In the last rows one annotator lacks a document. If it is not the last one, the
files are read once more, for the ids of their documents.

    python benchmarks/agreement.py
    python benchmarks/agreement.py --tokens 100000 --runs 2
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Sequence
from pathlib import Path

from generate import Corpus, write
from main_job import put_report
from measure import environment, measure, progress, require_from_1, table

LOOP = "import sys\nfor path in sys.argv[1:]:\n    for line in open(path, encoding='utf-8'):\n        pass"


def files_of(folder: Path, tokens: int, seed: int) -> list[str]:
    """Write the files of six annotators and return their paths. The same seed gives the same bytes."""
    write(Corpus(tokens=tokens, seed=seed), folder)
    gold, predicted = folder / "gold.vrt", folder / "predicted.vrt"
    paths = [gold, predicted]
    for number in range(4):
        rng = random.Random(seed + number)
        paths.append(folder / f"mixed{number}.vrt")
        with gold.open() as one, predicted.open() as other, paths[-1].open("w") as mixed:
            first = True
            for own, their in zip(one, other, strict=True):
                if own.startswith("<s"):
                    first = rng.random() < 0.5
                mixed.write(own if first else their)
    return list(map(str, paths))


def without_document(path: str, *, last: bool) -> str:
    """Write a copy of a file without its last document, or without one in the middle, and return its path."""
    text = Path(path).read_text(encoding="utf-8")
    begin = text.rindex("<text ") if last else text.index("<text ", len(text) // 2)
    end = len(text) if last else text.index("<text ", begin + 1)
    shorter = Path(path).with_suffix(f".{'last' if last else 'middle'}.vrt")
    shorter.write_text(text[:begin] + text[end:], encoding="utf-8")
    return str(shorter)


def report(tokens: int, seed: int, runs: int, folder: Path) -> str:
    """Measure; return machine, versions, settings and figures in Markdown. Raises `CommandFailed`."""
    paths = files_of(folder, tokens, seed)
    lacking = {
        f"3 annotators, one lacks {which} document": [*paths[:2], without_document(paths[2], last=last)]
        for which, last in (("the last", True), ("a", False))
    }
    clueval = [sys.executable, "-m", "clueval", "agree", "--format", "json"]
    loop = [sys.executable, "-c", LOOP]
    cases = {
        "3 annotators": {"lines": [*loop, *paths[:3]], "clueval": [*clueval, *paths[:3]]},
        "6 annotators": {"lines": [*loop, *paths], "clueval": [*clueval, *paths]},
    }
    places = [sys.executable, "-m", "clueval", "agree", *paths[:3], "--tsv", str(folder / "places.tsv")]
    curate = [sys.executable, "-m", "clueval", "curate", *paths[:3], "-o", str(folder / "curated.tsv")]
    cases["3 annotators, with places"] = {"lines": [*loop, *paths[:3]], "clueval": places}
    cases["3 annotators, curated"] = {"lines": [*loop, *paths[:3]], "clueval": curate}
    cases |= {case: {"lines": [*loop, *own], "clueval": [*clueval, *own]} for case, own in lacking.items()}
    figures = table({case: measure(commands, runs, progress) for case, commands in cases.items()})
    settings = f"* seed {seed}, {tokens:,} tokens each; one run to warm up, then {runs} in turn"
    return f"{environment(['clueval'])}\n{settings}\n\n{figures}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and print the report; 2 if a command fails."""
    parser = argparse.ArgumentParser(description="Measure how fast annotators are compared.")
    parser.add_argument("--tokens", type=int, default=1_000_000, help="of each annotator (%(default)s)")
    parser.add_argument("--runs", type=int, default=5, help="counted runs of each command (%(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    require_from_1(parser, options, "tokens", "runs")
    return put_report(
        "agreement.py", None, lambda folder: report(options.tokens, options.seed, options.runs, folder)
    )


if __name__ == "__main__":
    sys.exit(main())
