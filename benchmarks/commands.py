"""Measures every command that reads column files, compared with ``clueval score`` on the same files.

Measures whole processes on one core, in turn, on CoNLL files with and without borders of documents, and prints a
Markdown table: the least CPU seconds, the ratio to `score`, the ratio and the memory that we aim at. `errors` is
measured alone on a corpus with an error in 70 % of the sentences, of which a million tokens have 40,000 errors;
*found* only iterates over them, the others write them. Of three annotators, two are gold and predicted, and the third
tags every sentence as one of these two, at random.

    python benchmarks/commands.py
    python benchmarks/commands.py --tokens 10000000 --runs 1 --groups "one layer"
"""

from __future__ import annotations

import argparse
import os
import random
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from generate import Corpus
from main_job import files, put_report
from measure import Measurement, environment, measure, progress, require_from_1
from mistakes import KINDS

TOKENS = 1_000_000

MOST_MEMORY = 60
"""The aim for the peak memory of each command, in MiB, for files of any size."""

_CLUEVAL = (sys.executable, "-m", "clueval")
_LAYERS = ("--layer", "entity=-3", "--layer", "risk=-2", "--layer", "action=-1")
_FOUND = (
    "import sys, clueval\n"
    "for place in clueval.errors(sys.argv[1], sys.argv[2], level=1, labelled='label'): list(place.findings)\n"
)
_ERRORS = ("errors", "--level", "1", "--labelled", "label", "{gold}", "{predicted}")


_THREE = ("{gold}", "{predicted}", "{mixed}")


class Command(NamedTuple):
    """A command, and its greatest ratio to `score` that we aim at; None if there is no aim."""

    arguments: tuple[str, ...]
    wanted: float | None = None

    def filled(self, gold: Path, predicted: Path, folder: Path) -> list[str]:
        """Return the command with its files, of which further ones are written."""
        values: dict[str, Path] = {"{gold}": gold, "{predicted}": predicted}
        if "{mixed}" in self.arguments:
            values["{mixed}"] = mixed(gold, predicted)
        start = () if self.arguments[0] == sys.executable else _CLUEVAL
        named = (str(values.get(each, each)) for each in self.arguments)
        return [*start, *(each.replace("{out}", str(folder)) for each in named)]


def mixed(gold: Path, predicted: Path) -> Path:
    """Write a file of which each sentence is that of gold or of predicted, at random, and return its path."""
    rng = random.Random(1)
    path = gold.with_name(f"mixed{gold.suffix}")
    pairs = zip(*(side.read_text(encoding="utf-8").split("\n\n") for side in (gold, predicted)), strict=True)
    path.write_text("\n\n".join(pair[rng.random() < 0.5] for pair in pairs), encoding="utf-8")
    return path


def _score(*more: str) -> tuple[str, ...]:
    return ("score", "{gold}", "{predicted}", "--jobs", "1", "--quiet", *more)


SCORE = "score"
"""The name of the command that the others of a group are compared with."""

GROUPS: dict[str, tuple[Corpus, dict[str, Command]]] = {
    "one layer": (
        Corpus(TOKENS, format="conll"),
        {
            SCORE: Command(_score()),
            "score --by document": Command(_score("--by", "document"), 1.5),
            "score --save": Command(_score("--save", "{out}/saved"), 1.7),
            "score --unit character": Command(_score("--unit", "character"), 3),
            "score --metric masking": Command(_score("--metric", "masking"), 6),
            "check": Command(("check", "{gold}", "{gold}", "-o", os.devnull), 2),
            "conventions": Command(("conventions", "{gold}", "{predicted}", "--quiet"), 2.5),
        },
    ),
    "three layers": (
        Corpus(TOKENS, format="conll", layers=3),
        {
            SCORE: Command(_score(*_LAYERS)),
            "score --where risk=HIGH": Command(_score(*_LAYERS, "--where", "risk=HIGH"), 2),
            "merge": Command(("merge", "{gold}", *_LAYERS), 2),
        },
    ),
    "an error in 70 % of the sentences": (
        Corpus(TOKENS, format="conll", errors=0.7),
        {
            SCORE: Command(_score()),
            "errors, found": Command((sys.executable, "-c", _FOUND, "{gold}", "{predicted}"), 2),
            "errors -o .tsv": Command((*_ERRORS, "-o", "{out}/errors.tsv"), 3),
            "errors -o .html": Command((*_ERRORS, "-o", "{out}/errors.html"), 5),
            "errors -o .xlsx": Command((*_ERRORS, "-o", "{out}/errors.xlsx"), 8),
        },
    ),
    "valid tags": (
        Corpus(TOKENS, format="conll", kinds=tuple(kind for kind in KINDS if kind != "ill-formed")),
        {
            SCORE: Command(_score()),
            "conventions": Command(("conventions", "{gold}", "{predicted}", "--quiet"), 2.5),
        },
    ),
    "three systems or annotators": (
        Corpus(TOKENS, format="conll"),
        {
            SCORE: Command(_score()),
            "diff": Command(("diff", *_THREE, "-o", os.devnull), 4),
            "profile": Command(("profile", "{gold}", "{predicted}"), 4),
            "profile --train": Command(("profile", "{gold}", "{predicted}", "--train", "{mixed}"), 8),
            "agree": Command(("agree", *_THREE), 3),
            "agree -o .tsv": Command(("agree", *_THREE, "-o", "{out}/places.tsv")),
            "curate": Command(("curate", *_THREE, "-o", "{out}/curated.tsv")),
        },
    ),
}

BORDERS = {"documents": 50, "no documents": 0}
"""The number of sentences of a document; with 0, the files have no borders of documents."""


def rows(found: Sequence[Measurement], commands: dict[str, Command]) -> Iterator[list[str]]:
    """Yield the name, seconds, ratio, aim and memory of each command."""
    base = next(each.cpu.least for each in found if each.name == SCORE)
    for each in found:
        wanted, memory = commands[each.name].wanted, each.memory.least / 2**20
        ratio = each.cpu.least / base
        missed = wanted is not None and ratio > wanted
        yield [
            each.name,
            f"{each.cpu.least:.2f}",
            f"**{ratio:.2f}**" if missed else f"{ratio:.2f}",
            "" if wanted is None else f"{wanted:g}",
            f"**{memory:.0f}**" if memory > MOST_MEMORY else f"{memory:.0f}",
        ]


def report(
    borders: Sequence[str], groups: Sequence[str], tokens: int, seed: int, runs: int, folder: Path
) -> str:
    """Measure; return machine, versions, settings and figures in Markdown. Raises `CommandFailed`."""
    lines = [
        "| files | command | CPU s | / score | wanted | peak MiB |",
        "| --- | --- | ---: | ---: | ---: | ---: |",
    ]
    for border in borders:
        for title in groups:
            corpus, commands = GROUPS[title]
            corpus = replace(corpus, tokens=tokens, seed=seed, document_length=BORDERS[border])
            gold, predicted = files(corpus, folder)
            named = {name: command.filled(gold, predicted, folder) for name, command in commands.items()}
            for row in rows(measure(named, runs, progress), commands):
                lines.append(f"| {border}, {title} | {' | '.join(row)} |")
    chosen = f"* seed {seed}, {tokens:,} tokens a side; least of {runs} in turn, after one run to warm up"
    aim = f"Bold: above what is wanted, or above {MOST_MEMORY} MiB."
    return "\n".join([environment(["clueval"]), chosen, "", *lines, "", aim])


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and print the report; 2 if a command fails or the settings are wrong."""
    parser = argparse.ArgumentParser(description="Measure every command against clueval score.")
    parser.add_argument("--tokens", type=int, default=TOKENS, help="size of the corpora (%(default)s)")
    parser.add_argument("--runs", type=int, default=3, help="counted runs of each command (%(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--borders", nargs="+", choices=BORDERS, default=list(BORDERS), metavar="KIND")
    parser.add_argument("--groups", nargs="+", choices=GROUPS, default=list(GROUPS), metavar="GROUP")
    parser.add_argument("--corpora", type=Path, metavar="DIR", help="keep the corpora in this folder")
    options = parser.parse_args(arguments)
    require_from_1(parser, options, "runs")
    settings = options.borders, options.groups, options.tokens, options.seed, options.runs
    return put_report("commands.py", options.corpora, lambda folder: report(*settings, folder))


if __name__ == "__main__":
    sys.exit(main())
