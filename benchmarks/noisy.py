"""Measures the metric `noisy` on documents whose texts differ, compared with Nerval's own command.

Writes pairs of documents in Nerval's format, with a table that names them, then measures, in turn and as whole
processes, ``clueval score --metric noisy --pairs MAPPING FOLDER`` and the published tool (`rivals/nerval_cli.py`,
package ``teklia-nerval``) on all of them, and prints a Markdown table. Both read the same files and print the scores
of all pairs together; Nerval also prints those of each pair. See ``README.md`` for the caveats.

    python benchmarks/noisy.py
    python benchmarks/noisy.py --documents 10 --characters 2000 --runs 2
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from main_job import put_report
from measure import environment, measure, progress, require_from_1, table
from words import sample_of_words

HERE = Path(__file__).parent

COMMANDS: dict[str, tuple[str, ...]] = {
    "clueval": (
        sys.executable,
        "-m",
        "clueval",
        "score",
        "--metric",
        "noisy",
        "--pairs",
        "{mapping}",
        "{folder}",
    ),
    "nerval": (
        sys.executable,
        str(HERE / "rivals" / "nerval_cli.py"),
        "--csv",
        "{mapping}",
        "--folder",
        "{folder}",
    ),
}
"""The commands by name; ``{mapping}`` stands for the table of pairs, ``{folder}`` for the folder of files."""

LABELS = ("PER", "LOC", "ORG")
_LETTERS = "abcdefghijklmnopqrstuvwxyzäöü"

Token = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Noise:
    """The errors of a recogniser: the share of wrong characters, and the share of missed spans."""

    characters: float = 0.1
    spans: float = 0.1


def gold_tokens(characters: int, rng: random.Random, words: Sequence[str]) -> list[Token]:
    """Return tokens and tags of a text of about `characters` characters; one of five tokens begins a span."""
    tokens: list[Token] = []
    length = 0
    while length < characters:
        label = rng.choice(LABELS) if rng.random() < 0.2 else None
        for number in range(rng.randint(1, 3)):
            word = words[int(rng.random() * len(words))]
            tag = "O" if label is None else f"{'I' if number else 'B'}-{label}"
            tokens.append((word, tag))
            length += len(word) + 1
    return tokens


def predicted_tokens(gold: Sequence[Token], noise: Noise, rng: random.Random) -> Iterator[Token]:
    """Yield the tokens with the errors of a recogniser: lost, doubled or wrong characters, and missed spans."""
    seen = True
    for word, tag in gold:
        if tag.startswith("B-"):
            seen = rng.random() >= noise.spans
        read = "".join(_read(character, noise, rng) for character in word)
        yield read or word, tag if seen else "O"


def _read(character: str, noise: Noise, rng: random.Random) -> str:
    if rng.random() >= noise.characters:
        return character
    return rng.choice(("", character * 2, rng.choice(_LETTERS)))


def write(folder: Path, documents: int, characters: int, noise: Noise, seed: int) -> Path:
    """Write pairs of documents to a folder; return the path of their table. The same seed gives the same bytes."""
    rng = random.Random(seed)
    words = sample_of_words(1 << 15, seed)
    folder.mkdir(parents=True, exist_ok=True)
    rows = ["Annotation,Prediction"]
    for number in range(1, documents + 1):
        gold = gold_tokens(characters, rng, words)
        names = f"{number:04}-gold.bio", f"{number:04}-predicted.bio"
        for name, tokens in zip(names, (gold, predicted_tokens(gold, noise, rng)), strict=True):
            text = "".join(f"{word} {tag}\n" for word, tag in tokens)
            (folder / name).write_text(text, encoding="utf-8")
        rows.append(",".join(names))
    mapping = folder / "mapping.csv"
    mapping.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return mapping


def report(documents: int, characters: int, noise: Noise, seed: int, runs: int, folder: Path) -> str:
    """Measure; return machine, versions, settings and figures in Markdown. Raises `CommandFailed`."""
    places = {"{mapping}": str(write(folder, documents, characters, noise, seed)), "{folder}": str(folder)}
    commands = {name: [places.get(part, part) for part in command] for name, command in COMMANDS.items()}
    case = f"{documents:,} pairs of {characters:,} characters"
    figures = table({case: measure(commands, runs, progress)})
    settings = (
        f"* seed {seed}; {noise.characters:.0%} of the characters wrong, {noise.spans:.0%} of the spans not "
        f"seen; one run to warm up, then {runs} in turn; median (least-greatest)"
    )
    packages = environment(["clueval", "rapidfuzz", "teklia-nerval", "edlib", "editdistance"])
    return f"{packages}\n{settings}\n\n{figures}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Measure how fast noisy texts are scored.")
    parser.add_argument("--documents", type=int, default=100, help="pairs of documents (%(default)s)")
    parser.add_argument("--characters", type=int, default=5_000, help="of each document (%(default)s)")
    parser.add_argument("--noise", type=float, default=Noise().characters, help="share that is wrong")
    parser.add_argument("--runs", type=int, default=5, help="counted runs of each command (%(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and print the report; 2 if a command fails."""
    parser = _parser()
    options = parser.parse_args(arguments)
    require_from_1(parser, options, "documents", "characters", "runs")
    if not 0 <= options.noise <= 1:
        parser.error(f"the noise must be a share from 0 to 1, not {options.noise}")
    noise = Noise(options.noise)
    settings = options.documents, options.characters, noise, options.seed, options.runs
    return put_report("noisy.py", None, lambda folder: report(*settings, folder))


if __name__ == "__main__":
    sys.exit(main())
