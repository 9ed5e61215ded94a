"""How fast is the main job: reading two files with tags and scoring one against the other.

Measures, in turn and as whole processes, ``clueval score GOLD PREDICTED --layer entity=2``, seqeval's report
over the same files (`rivals/seqeval_report.py`), and a bare loop over their lines (`rivals/line_loop.py`),
and prints a Markdown table. See `CASES` for the corpora, and ``README.md`` for the caveats.

    python benchmarks/main_job.py
    python benchmarks/main_job.py --cases usual --tokens 50000 --runs 2
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from generate import Corpus, write
from measure import CommandFailed, Measurement, environment, measure, progress, table

from clueval.exceptions import CluevalError

HERE = Path(__file__).parent

COMMANDS: dict[str, tuple[str, ...]] = {
    "clueval": (sys.executable, "-m", "clueval", "score", "{gold}", "{predicted}", "--layer", "entity=2"),
    "seqeval": (sys.executable, str(HERE / "rivals" / "seqeval_report.py"), "{gold}", "{predicted}"),
    "line loop": (sys.executable, str(HERE / "rivals" / "line_loop.py"), "{gold}", "{predicted}"),
}
"""The commands by name; ``{gold}`` and ``{predicted}`` stand for the two files."""


@dataclass(frozen=True, slots=True)
class Case:
    """A corpus, `factor` times as large as asked for, and the commands to measure on it."""

    title: str
    factor: int = 1
    errors: float = 0.2
    broken: bool = True
    commands: tuple[str, ...] = tuple(COMMANDS)

    def corpus(self, tokens: int, seed: int) -> Corpus:
        """The settings; a corpus that is not `broken` is one document without sentence breaks."""
        return Corpus(
            tokens=self.factor * tokens,
            seed=seed,
            errors=self.errors,
            sentences=self.broken,
            document_length=50 if self.broken else 0,
        )


CASES: dict[str, Case] = {
    "usual": Case("an error in 20 % of the sentences"),
    "hard": Case("an error in every sentence", errors=1.0),
    "unbroken": Case("one document, no sentence breaks", broken=False),
    "large": Case("ten times the size", factor=10, commands=("clueval", "line loop")),
}


def files(corpus: Corpus, folder: Path) -> tuple[Path, Path]:
    """The two files of a corpus, written unless this version of the generator has written them before."""
    home = folder / _fingerprint(corpus)
    gold, predicted = home / "gold.vrt", home / "predicted.vrt"
    if not (gold.exists() and predicted.exists()):
        progress(f"writing {corpus.tokens:,} tokens")
        write(corpus, home)
    return gold, predicted


def _fingerprint(corpus: Corpus) -> str:
    sources = [(HERE / name).read_bytes() for name in ("generate.py", "mistakes.py", "words.py")]
    return sha256(b"\0".join([repr(corpus).encode(), *sources])).hexdigest()[:16]


def run_case(case: Case, tokens: int, seed: int, runs: int, folder: Path) -> list[Measurement]:
    """Measure the commands of one case. Raises `CommandFailed` if one of them does not succeed."""
    gold, predicted = files(case.corpus(tokens, seed), folder)
    paths = {"{gold}": str(gold), "{predicted}": str(predicted)}
    commands = {name: [paths.get(part, part) for part in COMMANDS[name]] for name in case.commands}
    return measure(commands, runs, progress)


def report(cases: Sequence[str], tokens: int, seed: int, runs: int, folder: Path) -> str:
    """Measure the cases named and tell machine, versions, settings and figures in Markdown."""
    measured: Mapping[str, list[Measurement]] = {
        f"{name}: {CASES[name].factor * tokens:,} tokens, {CASES[name].title}": run_case(
            CASES[name], tokens, seed, runs, folder
        )
        for name in cases
    }
    settings = f"* seed {seed}; one run to warm up, then {runs} in turn; median (least-greatest)"
    packages = environment(["clueval", "seqeval", "scikit-learn", "numpy"])
    return f"{packages}\n{settings}\n\n{table(measured)}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Measure how fast the main job is done.")
    parser.add_argument("--tokens", type=int, default=1_000_000, help="size of the corpora (%(default)s)")
    parser.add_argument("--runs", type=int, default=5, help="counted runs of each command (%(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--cases", nargs="+", choices=CASES, default=list(CASES), metavar="CASE", help=", ".join(CASES)
    )
    parser.add_argument(
        "--corpora",
        type=Path,
        metavar="DIR",
        help="keep the corpora here and use them again (default: forget them)",
    )
    return parser


def _folder(corpora: Path | None) -> AbstractContextManager[str | Path]:
    return nullcontext(corpora) if corpora else tempfile.TemporaryDirectory(prefix="clueval-benchmark-")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and print the report; 2 if a command fails or the settings are wrong."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.runs < 1:
        parser.error(f"--runs must be at least 1, not {options.runs}")
    try:
        with _folder(options.corpora) as folder:
            print(report(options.cases, options.tokens, options.seed, options.runs, Path(folder)))
    except (CluevalError, CommandFailed) as error:
        print(f"main_job.py: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
