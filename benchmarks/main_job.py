"""Measures the main job: reading two files with tags and scoring one against the other, on one core.

Measures, in turn and as whole processes, ``clueval score GOLD PREDICTED --layer entity=2 --jobs 1``, other tools
with the same tags (`rivals`), and a loop that only reads the lines (`rivals/line_loop.py`); prints a Markdown table
and, at `TOKENS`, whether the `AIMS` are met. See `CASES` for the corpora, and ``README.md`` for the caveats.

    python benchmarks/main_job.py
    python benchmarks/main_job.py --cases usual large huge
    python benchmarks/main_job.py --cases usual --tokens 50000 --runs 2
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

from generate import Corpus, write
from measure import CommandFailed, Measurement, environment, measure, progress, require_from_1, table

from clueval.files.errors import CluevalError

HERE = Path(__file__).parent
RIVALS = HERE / "rivals"

_SCORE = (sys.executable, "-m", "clueval", "score")
_ENTITY = ("--layer", "entity=2")
_THREE = (*_ENTITY, "--layer", "risk=3", "--layer", "action=4")
_ONE_CORE = ("--jobs", "1")
_IN_THREE = ("{gold:three}", "{predicted:three}")

COMMANDS: dict[str, tuple[str, ...]] = {
    "clueval": (*_SCORE, "{gold}", "{predicted}", *_ENTITY, *_ONE_CORE),
    "seqeval": (sys.executable, str(RIVALS / "seqeval_report.py"), "{gold}", "{predicted}"),
    "nervaluate": (sys.executable, str(RIVALS / "nervaluate_report.py"), "{gold}", "{predicted}"),
    "seqscore": (
        str(Path(sys.executable).with_name("seqscore")),
        *("score", "-q", "--labels", "BIO", "--repair-method", "conlleval"),
        *("--reference", "{gold:conll}", "{predicted:conll}"),
    ),
    "line loop": (sys.executable, str(RIVALS / "line_loop.py"), "{gold}", "{predicted}"),
    "one of three": (*_SCORE, *_IN_THREE, *_ENTITY, *_ONE_CORE),
    "three layers": (*_SCORE, *_IN_THREE, *_THREE, *_ONE_CORE),
    "merged": (*_SCORE, *_IN_THREE, *_THREE, "--merge", *_ONE_CORE),
    "line loop, three": (sys.executable, str(RIVALS / "line_loop.py"), *_IN_THREE),
}
"""The commands by name; ``{gold}`` and ``{predicted}`` stand for the two files, in the named one of `VARIANTS`."""

VARIANTS: dict[str, dict[str, str | int]] = {"": {}, "conll": {"format": "conll"}, "three": {"layers": 3}}
"""The forms of the same corpus: in VRT with one layer; in CoNLL; with three layers."""


@dataclass(frozen=True, slots=True)
class Case:
    """A corpus, `factor` times as large as ``--tokens``, and the commands to measure on it."""

    title: str
    factor: int = 1
    errors: float = 0.2
    broken: bool = True
    commands: tuple[str, ...] = ("clueval", "seqeval", "line loop")

    def corpus(self, tokens: int, seed: int) -> Corpus:
        """Return the settings; a corpus that is not `broken` is one document without sentence breaks."""
        return Corpus(
            tokens=self.factor * tokens,
            seed=seed,
            errors=self.errors,
            sentences=self.broken,
            document_length=50 if self.broken else 0,
        )


_ALONE = ("clueval", "line loop")

CASES: dict[str, Case] = {
    "usual": Case(
        "an error in 20 % of the sentences",
        commands=("clueval", "seqeval", "nervaluate", "seqscore", "line loop"),
    ),
    "hard": Case("an error in every sentence", errors=1.0),
    "unbroken": Case("one document, no sentence breaks", broken=False),
    "layers": Case(
        "three tag columns",
        commands=("clueval", "one of three", "three layers", "merged", "line loop, three"),
    ),
    "large": Case("ten times the size", factor=10, commands=_ALONE),
    "huge": Case("fifty times the size", factor=50, commands=_ALONE),
}

BY_DEFAULT = ("usual", "hard", "unbroken", "layers", "large")
"""The default cases: all except `huge`, whose corpus takes a minute and a gigabyte."""


@dataclass(frozen=True, slots=True)
class Aim:
    """A limit for the ratio of the median wall times of two commands; with `least`, a lower limit."""

    claim: str
    over: tuple[str, str]
    under: tuple[str, str]
    bound: float
    least: bool = False

    def told(self, measured: Mapping[str, Sequence[Measurement]]) -> str | None:
        """Return a line of Markdown; None if one of the two commands was not measured."""
        walls = [_wall(measured, *place) for place in (self.over, self.under)]
        if walls[0] is None or walls[1] is None:
            return None
        ratio = walls[0] / walls[1]
        met = ratio >= self.bound if self.least else ratio <= self.bound
        words = "at least" if self.least else "at most"
        return f"* {self.claim}: {ratio:.2f}, {words} {self.bound:g} wanted: {_met(met)}"


TOKENS = 1_000_000
"""The size of the corpora, in tokens, for the aims; at smaller sizes, the start takes most of the time."""

AIMS = (
    Aim("usual, seqeval / clueval", ("usual", "seqeval"), ("usual", "clueval"), 25, least=True),
    Aim("hard, seqeval / clueval", ("hard", "seqeval"), ("hard", "clueval"), 20, least=True),
    Aim("usual, clueval / line loop", ("usual", "clueval"), ("usual", "line loop"), 2.5),
    Aim("three layers / one layer", ("layers", "three layers"), ("layers", "clueval"), 3),
    Aim("three layers merged / one layer", ("layers", "merged"), ("layers", "clueval"), 3),
    Aim("ten times the tokens, clueval", ("large", "clueval"), ("usual", "clueval"), 10.5),
)
"""Our aims at `TOKENS`, for the figures of one run of this script."""

MOST_MEMORY = 60
"""The aim for the peak memory of clueval in MiB, in the cases *usual*, *large* and *huge*."""


def aims(measured: Mapping[str, Sequence[Measurement]]) -> str:
    """Return a Markdown list that shows whether the measured aims are met."""
    lines = [aim.told(measured) for aim in AIMS]
    for name in ("usual", "large", "huge"):
        for each in measured.get(name, ()):
            if each.name == "clueval":
                peak = each.memory.greatest / 2**20
                met = _met(peak <= MOST_MEMORY)
                lines.append(f"* {name}, peak memory: {peak:.0f} MiB, at most {MOST_MEMORY} wanted: {met}")
    return "\n".join(filter(None, lines))


def _wall(measured: Mapping[str, Sequence[Measurement]], case: str, command: str) -> float | None:
    return next((each.wall.median for each in measured.get(case, ()) if each.name == command), None)


def _met(met: bool) -> str:
    return "met" if met else "**not met**"


def files(corpus: Corpus, folder: Path) -> tuple[Path, Path]:
    """Return the two files of a corpus; write them unless this version of the generator has written them."""
    home = folder / _fingerprint(corpus)
    gold, predicted = (home / f"{side}.{corpus.format}" for side in ("gold", "predicted"))
    if not (gold.exists() and predicted.exists()):
        progress(f"writing {corpus.tokens:,} tokens")
        write(corpus, home)
    return gold, predicted


def _fingerprint(corpus: Corpus) -> str:
    sources = [(HERE / name).read_bytes() for name in ("generate.py", "mistakes.py", "words.py")]
    return sha256(b"\0".join([repr(corpus).encode(), *sources])).hexdigest()[:16]


_PLACE = re.compile(r"\{(gold|predicted)(?::(\w+))?\}")


def filled(command: Sequence[str], corpus: Corpus, folder: Path) -> list[str]:
    """Return a command with the paths of the corpus, which is written in the form of the command if necessary."""

    def path(part: str) -> str:
        place = _PLACE.fullmatch(part)
        if place is None:
            return part
        variant = replace(corpus, **VARIANTS[place[2] or ""])  # type: ignore[arg-type]
        return str(files(variant, folder)[place[1] == "predicted"])

    return [path(part) for part in command]


def run_case(case: Case, tokens: int, seed: int, runs: int, folder: Path) -> list[Measurement]:
    """Measure the commands of one case. Raises `CommandFailed` if one of them fails."""
    corpus = case.corpus(tokens, seed)
    return measure({name: filled(COMMANDS[name], corpus, folder) for name in case.commands}, runs, progress)


def report(cases: Sequence[str], tokens: int, seed: int, runs: int, folder: Path) -> str:
    """Measure `cases`; return machine, versions, settings and figures in Markdown."""
    measured = {name: run_case(CASES[name], tokens, seed, runs, folder) for name in cases}
    titled = {
        f"{name}: {CASES[name].factor * tokens:,} tokens, {CASES[name].title}": each
        for name, each in measured.items()
    }
    settings = f"* seed {seed}; one run to warm up, then {runs} in turn; median (least-greatest)"
    packages = environment(["clueval", "seqeval", "scikit-learn", "numpy", "nervaluate", "seqscore"])
    judged = (
        aims(measured)
        if tokens == TOKENS
        else f"The aims are for {TOKENS:,} tokens: this run does not check them."
    )
    return f"{packages}\n{settings}\n\n{table(titled, against=_ALONE)}\n\n{judged}".rstrip()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Measure the speed of the main job.")
    parser.add_argument("--tokens", type=int, default=TOKENS, help="size of the corpora (%(default)s)")
    parser.add_argument("--runs", type=int, default=5, help="counted runs of each command (%(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--cases", nargs="+", choices=CASES, default=list(BY_DEFAULT), metavar="CASE", help=", ".join(CASES)
    )
    parser.add_argument(
        "--corpora",
        type=Path,
        metavar="DIR",
        help="keep the corpora in this folder and reuse them (default: delete them)",
    )
    return parser


def folder_for(corpora: Path | None) -> AbstractContextManager[str | Path]:
    """Return the folder `corpora`, or one that is removed afterwards."""
    return nullcontext(corpora) if corpora else tempfile.TemporaryDirectory(prefix="clueval-benchmark-")


def put_report(script: str, corpora: Path | None, report: Callable[[Path], str]) -> int:
    """Print a report that is measured in a folder; return 2 if a command fails or the settings are wrong."""
    try:
        with folder_for(corpora) as folder:
            print(report(Path(folder)))
    except (CluevalError, CommandFailed) as error:
        print(f"{script}: {error}", file=sys.stderr)
        return 2
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and print the report; return 2 if a command fails or the settings are wrong."""
    parser = _parser()
    options = parser.parse_args(arguments)
    require_from_1(parser, options, "runs")
    settings = options.cases, options.tokens, options.seed, options.runs
    return put_report("main_job.py", options.corpora, lambda folder: report(*settings, folder))


if __name__ == "__main__":
    sys.exit(main())
