"""Runs commands as whole processes, in turn, and measures the time and memory of each.

First, every command has a warm-up run, which is not counted; then they run in the order ``A B A B ...``, so that a
disturbance affects all of them. Times are seconds, wall and CPU (user and system, including children); memory is
the peak resident size of the largest process, in bytes (see `run_once`). Standard output of the commands is
discarded. POSIX only, and the standard library only.

    python benchmarks/measure.py --runs 5 loop='python loop.py big.txt' count='wc -l big.txt'
"""

from __future__ import annotations

import argparse
import os
import platform
import shlex
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

_RUN_ONCE = Path(__file__).with_name("run_once.py")


def least(run: Callable[[], object], runs: int) -> float:
    """Return the least CPU seconds of some runs."""
    found = []
    for _ in range(runs):
        start = time.process_time()
        run()
        found.append(time.process_time() - start)
    return min(found)


def require_from_1(parser: argparse.ArgumentParser, options: argparse.Namespace, *names: str) -> None:
    """End the program with a message if one of these options is less than 1."""
    for name in names:
        if getattr(options, name) < 1:
            parser.error(f"--{name} must be at least 1, not {getattr(options, name)}")


class CommandFailed(RuntimeError):
    """A measured command failed, so there are no figures."""

    def __init__(self, name: str, command: Sequence[str], code: int, complaint: str) -> None:
        self.name = name
        self.command = tuple(command)
        self.code = code
        self.complaint = complaint
        super().__init__(
            f"{name}: exit code {code} from `{shlex.join(command)}`: {complaint or 'no message'}"
        )


class TookTooLong(RuntimeError):
    """A command was stopped because it reached its time limit, in seconds."""

    def __init__(self, name: str, limit: float) -> None:
        self.name = name
        self.limit = limit
        super().__init__(f"{name}: stopped after {limit:g} seconds")


@dataclass(frozen=True, slots=True)
class Run:
    """One process: seconds by the clock, seconds of CPU, peak memory in bytes."""

    wall: float
    cpu: float
    memory: float


@dataclass(frozen=True, slots=True)
class Spread:
    """Minimum, median and maximum of some figures."""

    least: float
    median: float
    greatest: float

    @classmethod
    def of(cls, figures: Iterable[float]) -> Spread:
        ordered = sorted(figures)
        return cls(ordered[0], statistics.median(ordered), ordered[-1])

    def show(self, unit: float = 1.0, digits: int = 2) -> str:
        """Return the median, with the minimum and maximum in brackets.

        >>> Spread.of([1.0, 1.5, 3.0]).show()
        '1.50 (1.00-3.00)'
        """
        least, median, greatest = (
            f"{figure / unit:.{digits}f}" for figure in (self.least, self.median, self.greatest)
        )
        return f"{median} ({least}-{greatest})"


@dataclass(frozen=True, slots=True)
class Measurement:
    """All counted runs of one command, at least one."""

    name: str
    command: tuple[str, ...]
    runs: tuple[Run, ...]

    @property
    def wall(self) -> Spread:
        return Spread.of(run.wall for run in self.runs)

    @property
    def cpu(self) -> Spread:
        return Spread.of(run.cpu for run in self.runs)

    @property
    def memory(self) -> Spread:
        return Spread.of(run.memory for run in self.runs)


def measure(
    commands: Mapping[str, Sequence[str]],
    runs: int = 5,
    report: Callable[[str], None] = lambda message: None,
) -> list[Measurement]:
    """Measure commands by name, in turn, after a warm-up run of each; `report` is called before each run.

    Raises `CommandFailed` as soon as a command exits with a code other than 0, `ValueError` for less than one run.
    """
    if runs < 1:
        raise ValueError(f"runs must be at least 1, not {runs}")
    done: dict[str, list[Run]] = {name: [] for name in commands}
    for number in range(runs + 1):
        for name, command in commands.items():
            report(f"{name}: " + (f"run {number} of {runs}" if number else "warm-up"))
            done[name].append(run_once(name, command))
    return [Measurement(name, tuple(commands[name]), tuple(all_runs[1:])) for name, all_runs in done.items()]


def run_once(name: str, command: Sequence[str], exit_code: int = 0, limit: float | None = None) -> Run:
    """Run a command once.

    Raises `CommandFailed` if its exit code is not `exit_code`, `TookTooLong` after `limit` seconds.
    """
    finished = finish(name, [sys.executable, "-I", "-S", str(_RUN_ONCE), *command], limit)
    require_exit_code(name, command, exit_code, finished)
    wall, cpu, memory = map(float, finished.stdout.split())
    return Run(wall, cpu, memory)


def finish(
    name: str, command: Sequence[str], limit: float | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run a command to its end and keep its output; all its processes are stopped at the limit.

    Raises `TookTooLong`, and `CommandFailed` if the command cannot be started.
    """
    pipe = subprocess.PIPE
    try:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, start_new_session=True
        )
    except OSError as error:
        raise CommandFailed(name, command, 127, error.strerror or str(error)) from error
    with process:
        try:
            output, complaint = process.communicate(timeout=limit)
        except BaseException as error:
            os.killpg(process.pid, signal.SIGKILL)
            if isinstance(error, subprocess.TimeoutExpired):
                raise TookTooLong(name, error.timeout) from None
            raise
    return subprocess.CompletedProcess(list(command), process.returncode, output, complaint)


def require_exit_code(
    name: str, command: Sequence[str], exit_code: int, finished: subprocess.CompletedProcess[bytes]
) -> None:
    """Raise `CommandFailed` for another exit code, with the last line of the error output, cut to 300 characters."""
    if finished.returncode != exit_code:
        complaint = finished.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        raise CommandFailed(name, command, finished.returncode, complaint[:300])


def ratios(measurements: Sequence[Measurement]) -> dict[tuple[str, str], float]:
    """Return, for each ordered pair of commands, the ratio of their median wall times."""
    return {
        (one.name, other.name): one.wall.median / other.wall.median
        for one in measurements
        for other in measurements
        if one is not other
    }


def table(cases: Mapping[str, Sequence[Measurement]], against: Iterable[str] | None = None) -> str:
    """Return a Markdown table with a row per case and command: medians, with minimum and maximum in brackets.

    A column ``/ X`` has the ratio of the median wall time to that of X in the same case, for each X in `against`
    (None: for every command).
    """
    names = list(dict.fromkeys(each.name for case in cases.values() for each in case))
    if against is not None:
        names = [name for name in against if name in names]
    header = ["case", "command", "wall s", "CPU s", "peak MiB", *(f"/ {name}" for name in names)]
    rows = [header, ["---", "---", *("---:" for _ in header[2:])]]
    for case, measurements in cases.items():
        pairs = ratios(measurements)
        for each in measurements:
            rows.append(
                [case, each.name, each.wall.show(), each.cpu.show(), each.memory.show(unit=2**20, digits=1)]
                + [f"{pairs[each.name, name]:.2f}" if (each.name, name) in pairs else "" for name in names]
            )
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def environment(packages: Iterable[str] = ()) -> str:
    """Return a Markdown list of the machine, the system, Python, and the versions of packages."""
    lines = [
        f"processor: {_processor()}, {os.cpu_count()} cores",
        f"system: {platform.system()} {platform.release()}, {platform.machine()}",
        f"Python: {platform.python_implementation()} {platform.python_version()}",
        *(f"{package}: {_version(package)}" for package in packages),
    ]
    return "\n".join(f"* {line}" for line in lines)


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    models = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(models, platform.processor() or "unknown")


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"


def progress(message: str) -> None:
    """Print a message to standard error."""
    print(message, file=sys.stderr, flush=True)


def _named_command(text: str) -> tuple[str, list[str]]:
    name, equals, command = text.partition("=")
    if not (name and equals and command.strip()):
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form NAME='COMMAND ARGUMENTS'")
    return name, shlex.split(command)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the commands and print the table; return 2 if one of them fails."""
    parser = argparse.ArgumentParser(description="Measure commands as whole processes, in turn.")
    parser.add_argument("commands", nargs="+", type=_named_command, metavar="NAME=COMMAND")
    parser.add_argument("--runs", type=int, default=5, help="counted runs of each (%(default)s)")
    options = parser.parse_args(arguments)
    require_from_1(parser, options, "runs")
    commands = dict(options.commands)
    if len(commands) < len(options.commands):
        parser.error("two commands have the same name")
    try:
        measurements = measure(commands, options.runs, progress)
    except CommandFailed as error:
        print(f"measure.py: {error}", file=sys.stderr)
        return 2
    print(environment(), table({"as given": measurements}), sep="\n\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
