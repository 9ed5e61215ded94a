"""Measures time against size for clueval and its rivals, and draws a picture.

Measures the commands of `main_job`, as whole processes, on the corpora of its case *usual* in several sizes. A command
that takes longer than the limit at one size is not measured at larger sizes. The picture, ``scaling.svg`` next to this
script, shows medians.

    python benchmarks/scaling.py
    python benchmarks/scaling.py --large
    python benchmarks/scaling.py --sizes 1000 3000 --runs 1 --svg small.svg
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from generate import Corpus
from main_job import COMMANDS, HERE, filled, folder_for
from measure import CommandFailed, Spread, TookTooLong, environment, progress, run_once
from plot import Line, chart

from clueval.files.errors import CluevalError, FileError

TOOLS = ("clueval", "line loop", "seqeval", "nervaluate", "seqscore")
"""The commands of `main_job` that are measured."""

SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000)
LARGE = 10_000_000
LARGE_TOOLS = ("clueval", "line loop")

Walls = Mapping[str, Mapping[int, Spread]]
"""Wall seconds by command and number of tokens; sizes that were not measured are absent."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The sizes in tokens, the seed, the number of measured runs, and the maximum seconds of a run."""

    sizes: tuple[int, ...]
    seed: int
    runs: int
    limit: float


def measured(settings: Settings, folder: Path) -> Walls:
    """Measure all commands at all sizes, in turn. Raises `CommandFailed`."""
    walls: dict[str, dict[int, Spread]] = {tool: {} for tool in TOOLS}
    out: set[str] = set()
    for size in sorted(settings.sizes):
        tools = LARGE_TOOLS if size >= LARGE else TOOLS
        corpus = Corpus(size, settings.seed)
        commands = {tool: filled(COMMANDS[tool], corpus, folder) for tool in tools if tool not in out}
        seconds: dict[str, list[float]] = {tool: [] for tool in commands}
        for number in range(settings.runs + 1):
            for tool, command in commands.items():
                if tool in out:
                    continue
                progress(f"{size:,} tokens, {tool}: " + (f"run {number}" if number else "warm-up"))
                try:
                    wall = run_once(tool, command, limit=settings.limit).wall
                except TookTooLong as error:
                    progress(str(error))
                    out.add(tool)
                    continue
                if number:
                    seconds[tool].append(wall)
        for tool, found in seconds.items():
            if tool not in out:
                walls[tool][size] = Spread.of(found)
    return walls


def table(walls: Walls) -> str:
    """Return a Markdown table with a row per size: median seconds, with minimum and maximum."""
    sizes = sorted({size for by_size in walls.values() for size in by_size})
    rows = [["tokens a side", *walls], ["---:"] * (len(walls) + 1)]
    for size in sizes:
        cells = [by_size[size].show() if size in by_size else "" for by_size in walls.values()]
        rows.append([f"{size:,}", *cells])
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def picture(walls: Walls, runs: int) -> str:
    """Return the picture of the medians, as SVG."""
    lines = []
    for tool, by_size in walls.items():
        points = [(size, spread.median) for size, spread in sorted(by_size.items())]
        if points:
            label = f"{tool}, {points[-1][1]:.{1 if points[-1][1] >= 1 else 2}f} s"
            lines.append(Line(tool, points, label, dashed=tool == "line loop"))
    return chart(
        "Scoring two files of tags",
        f"Whole process on one core; the median of {runs} run{'s' * (runs != 1)}. The line loop only reads.",
        "tokens in each of the two files",
        "seconds",
        lines,
    )


def report(settings: Settings, walls: Walls) -> str:
    """Return machine, versions, settings and figures in Markdown."""
    packages = environment(["clueval", "seqeval", "nervaluate", "seqscore"])
    told = (
        f"* seed {settings.seed}; seconds; one run to warm up, then {settings.runs} in turn; "
        f"median (least-greatest); stopped after {settings.limit:g} s"
    )
    return f"{packages}\n{told}\n\n{table(walls)}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Measure time against size, and draw it.")
    parser.add_argument(
        "--sizes", nargs="+", type=int, default=list(SIZES), metavar="TOKENS", help="(%(default)s)"
    )
    parser.add_argument("--large", action="store_true", help=f"{LARGE:,} tokens, too, with clueval alone")
    parser.add_argument("--runs", type=int, default=3, help="counted runs of each command (%(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit", type=float, default=60, help="seconds a run may take (%(default)s)")
    parser.add_argument("--svg", type=Path, default=HERE / "scaling.svg", help="the picture (beside this)")
    parser.add_argument("--corpora", type=Path, metavar="DIR", help="keep the corpora here")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print the table and write the picture; return 2 if a command fails or the settings are wrong."""
    parser = _parser()
    options = parser.parse_args(arguments)
    for name in ("runs", "limit"):
        if getattr(options, name) <= 0:
            parser.error(f"--{name} must be greater than 0, not {getattr(options, name)}")
    sizes = (*options.sizes, *[LARGE] * options.large)
    settings = Settings(sizes, options.seed, options.runs, options.limit)
    try:
        with folder_for(options.corpora) as folder:
            walls = measured(settings, Path(folder))
        _write(options.svg, picture(walls, options.runs))
        print(report(settings, walls))
    except (CluevalError, CommandFailed) as error:
        print(f"scaling.py: {error}", file=sys.stderr)
        return 2
    return 0


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise FileError(
            f"cannot be written: {error.strerror}", file=str(path), advice="choose another place"
        ) from error


if __name__ == "__main__":
    sys.exit(main())
