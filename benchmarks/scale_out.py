"""Computes the cost of a billion to a trillion tokens on many cores from measurements on this machine.

Measures the speed of one core, also where every sentence has an error, the loss of two processes at the same time,
reading, cutting large files, adding counts, the tasks per second of a process pool and of a cluster of `distributed`
(extra ``dask``), and the memory that each document, sentence and span takes where they are held; then writes the page
``SCALE.md`` next to this script. Figures that cannot be measured here are in `Assumed` and called estimates.

    python benchmarks/scale_out.py
    python benchmarks/scale_out.py --keep figures.json
    python benchmarks/scale_out.py --figures figures.json

With ``--figures``, nothing is measured: the page is computed from saved figures. POSIX only.
"""

from __future__ import annotations

import argparse
import importlib
import json
import math
import os
import pickle
import statistics
import sys
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from time import perf_counter, process_time

import structures
from commands import GROUPS, SCORE
from generate import Corpus
from main_job import COMMANDS, HERE, files, filled, folder_for
from measure import CommandFailed, environment, progress, require_from_1, run_once

from clueval import score
from clueval.core.bag import Bag
from clueval.evaluation.parallel.cuts import Heads, cut
from clueval.evaluation.parallel.schedule import IN_FLIGHT, LARGEST, MOST_TASKS
from clueval.evaluation.parallel.tasks import in_order
from clueval.evaluation.parallel.workers import pool
from clueval.files.errors import CluevalError, FileError, UsageError
from clueval.formats.columns.layout import ColumnOptions
from clueval.second.results.dask import scheduler

SIZES = (10**9, 10**11, 10**12)
CORES = (1, 16, 1_000)
OTHERS = 1_000_000
"""The greatest number of tokens of the files on which other commands are measured."""

HOLDING = {
    "`--by document`": ("document", ("--by", "document")),
    "`--by document --format json`": ("document", ("--by", "document", "--format", "json")),
    "`--save`, `--intervals`": ("document", ("--save", "{out}", "--resample-by", "document")),
    "the same with `--resample-by sentence`": ("sentence", ("--save", "{out}", "--resample-by", "sentence")),
}
"""Options of `score` with which something is held for each unit: what they are, the unit, the options."""

UNITS = {"document": (50, 1_100), "sentence": (1, 22)}
"""The sentences and the tokens of the units that are measured; a sentence is the only one of its document."""

SPANS = 100_000
"""The spans a side of the document of which the memory is measured."""

_WORKERS = 2
_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class Assumed:
    """Estimates of figures that cannot be measured here."""

    network: float = 1.25e9
    """Bytes per second that a machine of a cluster reads from shared storage, with a network card of 10 Gbit/s."""
    cores: int = 16
    """Cores of such a machine; a machine with more cores counts as several machines."""
    task: float = 1e-3
    """Seconds of the scheduler for a task if `distributed` is not installed: the magnitude from its manual."""


ASSUMED = Assumed()


@dataclass(frozen=True, slots=True)
class Figures:
    """The measured figures. Times are seconds, sizes bytes; a rate of 0 was not measured.

    A *task* counts a part of both files. `per_token` does not include the `start` of the process; `crowding` is the
    ratio of the time of two processes at the same time to that of one alone.
    """

    tokens: int
    runs: int
    start: float
    per_token: float
    crowding: float
    memory: float
    bytes_per_token: float
    read_cached: float
    read_disk: float
    per_cut: float
    per_sum: float
    bytes_of_counts: float
    pool_tasks: float
    cluster_tasks: float
    per_command: Mapping[str, float] = field(default_factory=dict)
    """CPU seconds per token of other commands, on files of `OTHERS` tokens."""
    erring: float = 1.0
    """How many times as long counting takes if every sentence has an error."""
    per_unit: Mapping[str, float] = field(default_factory=dict)
    """Bytes that each unit takes with the options of `HOLDING`."""
    per_span: float = 0.0
    """Bytes that matching allocates for each span of one document, beyond the spans themselves (`structures.py`)."""


# --- measuring -----------------------------------------------------------------------------------------------


def measured(tokens: int, runs: int, tasks: int, seed: int, folder: Path) -> Figures:
    """Measure everything on a corpus of `tokens` tokens. Raises `CommandFailed` and `CluevalError`."""
    corpus = Corpus(tokens, seed)
    gold, predicted = files(corpus, folder)
    command = filled(COMMANDS["clueval"], corpus, folder)
    little = filled(COMMANDS["clueval"], Corpus(1_000, seed), folder)
    progress("one process")
    run_once("clueval", command)
    alone = [run_once("clueval", command) for _ in range(runs)]
    start = min(run_once("clueval", little).cpu for _ in range(runs))
    cpu = min(run.cpu for run in alone)
    progress("an error in every sentence")
    wrong = filled(COMMANDS["clueval"], replace(corpus, errors=1.0), folder)
    erring = min(run_once("clueval", wrong).cpu for _ in range(runs))
    progress("two processes at once")
    crowding = max(1.0, _at_once(command, runs) / cpu)
    size = gold.stat().st_size + predicted.stat().st_size
    progress("reading, cutting, adding")
    counts = _counts(files(Corpus(min(tokens, 1_000_000), seed), folder))
    answer = len(pickle.dumps(counts))
    progress(f"{tasks} tasks on a pool, {tasks} on a cluster")
    return Figures(
        tokens,
        runs,
        start,
        max(cpu - start, 1e-9) / tokens,
        crowding,
        max(run.memory for run in alone),
        size / tokens,
        statistics.median(_rate(gold) for _ in range(runs)),
        statistics.median(_rate(gold, forget=True) for _ in range(runs)),
        statistics.median(_per_cut(gold, predicted) for _ in range(runs)),
        _per_sum(counts),
        answer,
        _pool_rate(tasks, answer),
        _cluster_rate(tasks, answer),
        _per_command(min(tokens, OTHERS), runs, seed, start, folder),
        max(erring - start, 1e-9) / max(cpu - start, 1e-9),
        _per_unit(min(tokens, OTHERS), seed, folder),
        structures.peak(structures.JOBS["match_spans"].ours, structures.SHAPES["ordinary"](SPANS)) / SPANS,
    )


def _per_unit(tokens: int, seed: int, folder: Path) -> dict[str, float]:
    """Return the bytes by which memory grows with each unit that is held."""
    found = {}
    for name, (unit, options) in HOLDING.items():
        progress(name)
        sizes = [Corpus(size, seed, document_length=UNITS[unit][0]) for size in (tokens // 4, tokens)]
        few, many = (files(size, folder)[0].read_text(encoding="utf-8").count("<text") for size in sizes)
        out = [str(folder / "held.clueval") if option == "{out}" else option for option in options]
        less, more = (
            min(run_once(name, [*filled(COMMANDS["clueval"], size, folder), *out]).memory for _ in range(3))
            for size in sizes
        )
        found[name] = max(more - less, 1.0) / max(many - few, 1)
    return found


def _per_command(tokens: int, runs: int, seed: int, start: float, folder: Path) -> dict[str, float]:
    """Return the CPU seconds per token of the commands of `commands.py`, without the start of a process."""
    found = {}
    for corpus, commands in GROUPS.values():
        paths = files(replace(corpus, tokens=tokens, seed=seed), folder)
        for name, command in commands.items():
            progress(name)
            line = command.filled(*paths, folder)
            seconds = min(run_once(name, line).cpu for _ in range(runs))
            if name != SCORE:
                found[name] = max(seconds - start, 1e-9) / tokens
    return found


def _at_once(command: Sequence[str], runs: int) -> float:
    """Return the least CPU seconds of a command while another process runs the same command."""

    def once(number: int) -> float:
        return run_once(f"clueval {number}", command).cpu

    with ThreadPoolExecutor(_WORKERS) as threads:
        return min(cpu for _ in range(runs) for cpu in threads.map(once, range(1, _WORKERS + 1)))


def _rate(path: Path, forget: bool = False) -> float:
    """Return bytes per second of reading a file in blocks; with `forget`, first drop it from the page cache."""
    if forget:
        _drop_cache(path)
    buffer = bytearray(_BLOCK)
    started = perf_counter()
    with path.open("rb", buffering=0) as file:
        size = 0
        while count := file.readinto(buffer):
            size += count
    return size / (perf_counter() - started)


def _drop_cache(path: Path) -> None:
    with path.open("rb+") as file:
        os.fsync(file.fileno())
        if hasattr(os, "posix_fadvise"):
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def _per_cut(gold: Path, predicted: Path, number: int = 100) -> float:
    """Return the CPU seconds for finding one position where both files can be cut."""
    heads = Heads("vrt", ColumnOptions({"entity": 2}))
    started = process_time()
    found = cut(gold, predicted, (heads, heads), number)
    return (process_time() - started) / max(len(found) - 1, 1)


def _counts(paths: tuple[Path, Path]) -> Bag:
    """Return what is counted in these files, which is most of what a task sends back."""
    return score(*paths, layers={"entity": 2}).bag


def _per_sum(counts: Bag, times: int = 1_000) -> float:
    """Return the CPU seconds for unpacking these counts and adding them to others."""
    packed = pickle.dumps(counts)
    total = pickle.loads(packed)
    started = process_time()
    for _ in range(times):
        total.include(pickle.loads(packed))
    return (process_time() - started) / times


def _pool_rate(tasks: int, answer: int) -> float:
    """Return the number of empty tasks per second, on processes of this machine."""
    with pool(_WORKERS) as executor:
        return _rate_of(executor, tasks, answer)


def _cluster_rate(tasks: int, answer: int) -> float:
    """Return the same for a cluster of `distributed` on this machine; 0 if it is not installed."""
    try:
        cluster = importlib.import_module("distributed").LocalCluster
    except ImportError:
        return 0.0
    settings = {"n_workers": _WORKERS, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with cluster(**settings) as local, scheduler(local.scheduler_address) as (executor, _):
        return _rate_of(executor, tasks, answer)


def _rate_of(executor: Executor, tasks: int, answer: int) -> float:
    """Return the number of tasks per second that send `answer` bytes back, after some warm-up tasks."""
    _send(executor, max(tasks // 10, 1), answer)
    started = perf_counter()
    _send(executor, tasks, answer)
    return tasks / (perf_counter() - started)


def _send(executor: Executor, tasks: int, answer: int) -> None:
    for _ in in_order(executor, bytes, [answer] * tasks, IN_FLIGHT):
        pass


# --- computing -----------------------------------------------------------------------------------------------


def task_size(size: float, cores: int) -> float:
    """Return the bytes of a task; on a cluster, they grow with the corpus."""
    return LARGEST if cores <= ASSUMED.cores else max(LARGEST, size / MOST_TASKS)


def costs(figures: Figures, tokens: int, cores: int) -> dict[str, float]:
    """Return the seconds of each stage for `tokens` tokens per side on `cores` cores.

    All stages run at the same time, so a user waits for the longest.
    """
    size = tokens * figures.bytes_per_token
    tasks = math.ceil(size / task_size(size, cores)) if cores > 1 else 0
    crowding = figures.crowding if cores > 1 else 1.0
    share = max(size / cores, min(size, task_size(size, cores)) if tasks else size) / figures.bytes_per_token
    stages = {
        "counting": figures.start + share * figures.per_token * crowding,
        "reading": size / reading_rate(figures, cores),
    }
    if tasks:
        stages |= {
            "cutting": tasks * figures.per_cut,
            "submitting tasks": tasks / task_rate(figures, cores),
            "adding counts": tasks * figures.per_sum,
        }
    return stages


def reading_rate(figures: Figures, cores: int) -> float:
    """Return bytes per second of the disk of this machine, or of as many machines as are needed."""
    if cores <= ASSUMED.cores:
        return figures.read_disk
    return math.ceil(cores / ASSUMED.cores) * ASSUMED.network


def task_rate(figures: Figures, cores: int) -> float:
    """Return tasks per second of a pool on one machine, or of a cluster's scheduler on several."""
    if cores <= ASSUMED.cores:
        return figures.pool_tasks
    return figures.cluster_tasks or 1 / ASSUMED.task


# --- the page ------------------------------------------------------------------------------------------------


def page(figures: Figures, note: str = "") -> str:
    """Return the page in Markdown; `note` is a remark on this measurement."""
    return "\n\n".join(
        [
            "# Estimated cost of very large corpora",
            _introduction(figures),
            *([note] if note else ()),
            "## Cost",
            _cost_table(figures),
            _core_hours(figures),
            "## Other commands",
            _other_commands(figures),
            "## Limits",
            _limits(figures),
            f"## What fails at {_power(SIZES[-1])} tokens",
            _memory(figures),
            "## Measurements and estimates",
            f"{environment(['clueval', 'distributed'])}\n* {_settings(figures)}",
            _figures_table(figures),
            _doubts(),
        ]
    )


def _introduction(figures: Figures) -> str:
    return (
        "`python benchmarks/scale_out.py` measures, computes and writes this page. Corpora of these sizes were not\n"
        "run: the page extrapolates the figures of the case *usual* of `main_job.py` (VRT, one layer, the levels,\n"
        "an error in 20 % of the sentences; "
        f"{figures.bytes_per_token:.1f} bytes per token, both files together).\n"
        "The stages run at the same time, so a user waits for the longest. No time is shorter than that of one\n"
        f"task. If every sentence has an error, counting takes {figures.erring:.1f} times as long; the other stages do "
        "not change."
    )


def _cost_table(figures: Figures) -> str:
    header = ["tokens per side", "cores", "both files", "tasks", *_STAGES, "waits for"]
    rows = [header, ["---:"] * (len(header) - 1) + ["---"]]
    for tokens in SIZES:
        for cores in CORES:
            stages = costs(figures, tokens, cores)
            size = tokens * figures.bytes_per_token
            tasks = f"{math.ceil(size / task_size(size, cores)):,}" if cores > 1 else ""
            slowest = max(stages, key=lambda name: stages[name])
            cells = [duration(stages[name]) if name in stages else "" for name in _STAGES]
            waits = f"{slowest}: **{duration(stages[slowest])}**"
            rows.append([_power(tokens), f"{cores:,}", _size(size), tasks, *cells, waits])
    return _markdown(rows)


_STAGES = ("counting", "reading", "cutting", "submitting tasks", "adding counts")


def _core_hours(figures: Figures) -> str:
    told = ", ".join(
        f"{tokens * figures.per_token * figures.crowding / 3600:,.1f} for {_power(tokens)} tokens"
        for tokens in SIZES
    )
    return (
        f"Core hours, if all cores of a machine count: {told}.\nThe peak memory of each process is "
        f"{figures.memory / 2**20:.0f} MiB for files of any size; counts grow with the number of labels,\nnot with "
        "the corpus."
    )


def _other_commands(figures: Figures) -> str:
    rows = [
        ["command", "ns per token", f"{_power(SIZES[0])} tokens, one core", "cores"],
        ["---", "---:", "---:", "---"],
    ]
    for name, seconds in figures.per_command.items():
        cores = "all, with --jobs" if name.startswith(f"{SCORE} ") else "one"
        cores = "one for each file, with --jobs" if name.endswith(" masking") else cores
        rows.append([f"`{name}`", f"{seconds * 1e9:,.0f}", duration(SIZES[0] * seconds), cores])
    return (
        "CPU time of the commands of `commands.py`, on CoNLL files with documents. Commands that use one core are run\n"
        "on parts of a corpus side by side. *Found* only iterates over the errors, of which a million tokens have\n"
        f"40,000; the others write them, too.\n\n{_markdown(rows)}"
    )


def _limits(figures: Figures) -> str:
    """Yield the number of cores that each stage can keep busy."""
    per_core = figures.bytes_per_token / (figures.per_token * figures.crowding)  # bytes per second
    part = LARGEST / per_core
    tasks = task_rate(figures, CORES[-1])
    lines = [
        f"* **Reading.** One core reads {per_core / 1e6:.0f} MB per second. The disk of this machine is fast enough "
        f"for {figures.read_disk / per_core:,.0f} such cores, its page cache for "
        f"{figures.read_cached / per_core:,.0f}, and a network card of {ASSUMED.network / 1e9:g} GB/s for "
        f"{ASSUMED.network / per_core:,.0f}. Storage for {CORES[-1]:,} cores must deliver "
        f"{CORES[-1] * per_core / 1e9:.0f} GB per second.",
        f"* **Cutting** takes {figures.per_cut * 1e3:.2f} ms per task, in one process, which is fast enough for "
        f"{part / figures.per_cut:,.0f} cores with tasks of {LARGEST / 1e6:.0f} MB. Corpora of many files are not "
        "cut.",
        f"* **Submitting tasks.** A task takes {part:.2f} s. The pool of one machine submits "
        f"{figures.pool_tasks:,.0f} tasks per second, enough for {figures.pool_tasks * part:,.0f} cores; "
        f"a Dask scheduler {tasks:,.0f}, enough for {tasks * part:,.0f} cores. For {CORES[-1]:,} cores, its tasks "
        f"must have {CORES[-1] / tasks * per_core / 1e6:,.0f} MB.",
        f"* **Adding counts** takes {figures.per_sum * 1e6:.0f} µs per task "
        f"({figures.bytes_of_counts / 1e3:.1f} kB of counts), which is fast enough for "
        f"{part / figures.per_sum:,.0f} cores.",
    ]
    return "\n".join(lines)


def _memory(figures: Figures) -> str:
    """Return what is held for each document, sentence or span, and how much that is for the largest corpus."""
    tokens, document, sentence = SIZES[-1], UNITS["document"][1], UNITS["sentence"][1]
    rows = [
        ["with", "held for each", "bytes", f"{_power(tokens)} tokens"],
        ["---", "---", "---:", "---:"],
    ]
    for name, held in figures.per_unit.items():
        unit = HOLDING[name][0]
        whole = held * tokens / UNITS[unit][1]
        rows.append([name, unit, f"{held:,.0f}", _size(whole)])
    return (
        f"`score` alone holds no document, id or sentence: {figures.memory / 2**20:.0f} MiB in each process, for any "
        "size. Where units\nare asked for, one process holds the counts and the id of each, which do not fit "
        f"(documents of {document:,} and\nsentences of {sentence} tokens). Score such a corpus without units, or take "
        f"units from a sample.\n\n{_markdown(rows)}\n\n"
        "A document is matched as a whole where spans are connected over its sentences, or lie over each other:\n"
        f"{figures.per_span:,.0f} bytes for each span of a side, beyond the spans (`structures.py`). A document is "
        f"never cut, and there\nare at most about {MOST_TASKS:,} tasks."
    )


def _figures_table(figures: Figures) -> str:
    cluster = (
        ("measured", f"{figures.cluster_tasks:,.0f}")
        if figures.cluster_tasks
        else ("**estimated**", f"{1 / ASSUMED.task:,.0f}")
    )
    rows = [
        ["figure", "value", "how"],
        ["---", "---:", "---"],
        ["start of a process", f"{figures.start:.3f} s", "measured: 1,000 tokens"],
        ["counting a token", f"{figures.per_token * 1e9:.0f} ns", "measured: the rest of the whole process"],
        [
            "two processes at the same time",
            f"{figures.crowding:.2f} times as long",
            "measured, CPU seconds: see below; for more cores **estimated**",
        ],
        ["an error in every sentence", f"{figures.erring:.1f} times as long", "measured, without the start"],
        ["reading, page cache", f"{figures.read_cached / 1e9:.1f} GB/s", "measured: one process"],
        [
            "reading, disk",
            f"{figures.read_disk / 1e9:.2f} GB/s",
            "measured: the file was not in the page cache",
        ],
        ["reading, a machine of a cluster", f"{ASSUMED.network / 1e9:g} GB/s", "**estimated**: 10 Gbit/s"],
        ["a cut", f"{figures.per_cut * 1e3:.2f} ms", "measured: 100 parts, files in the page cache"],
        ["adding a task's counts", f"{figures.per_sum * 1e6:.0f} µs", "measured: unpacked and added"],
        [
            "tasks per second, pool",
            f"{figures.pool_tasks:,.0f}",
            f"measured: {_WORKERS} processes, empty tasks",
        ],
        ["tasks per second, Dask", cluster[1], f"{cluster[0]}: {_WORKERS} workers, empty tasks, loopback"],
        ["16 cores per machine", "", "**estimated**"],
    ]
    return _markdown(rows)


def _settings(figures: Figures) -> str:
    return f"{figures.tokens:,} tokens per side; CPU seconds, the least of {figures.runs}; rates are medians"


def _doubts() -> str:
    return (
        "*Two processes at the same time* compares CPU seconds of a command, alone and beside another one: what\n"
        "sharing caches and memory costs. By the clock, `--jobs 2` takes more than half of the time of one process\n"
        "(`jobs.py`, [README](README.md)): before and after the counting, processes start, files are cut, one\n"
        "process waits for the other's last task, and counts are added.\n\n"
        "Not considered: the scheduler, two workers and the submitting process shared two cores here, so a\n"
        "scheduler on its own core is probably faster, but its network slower; the disk of a virtual machine may\n"
        "be in a cache of its host; 16 cores that share a memory bus lose more time than two; the task of a lost\n"
        "worker is repeated; and starting machines takes minutes, longer than some of these times."
    )


def _markdown(rows: Iterable[Sequence[str]]) -> str:
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def _power(tokens: int) -> str:
    """Return a round number of tokens as a power of ten."""
    return f"10^{round(math.log10(tokens))}"


def _size(size: float) -> str:
    return f"{size / 1e12:.1f} TB" if size >= 1e12 else f"{size / 1e9:.0f} GB"


def duration(seconds: float) -> str:
    """Return a duration as text, with about two digits.

    >>> [duration(seconds) for seconds in (0.004, 1.25, 75, 8000)]
    ['< 0.1 s', '1.2 s', '75 s', '2.2 h']
    """
    if seconds < 0.1:
        return "< 0.1 s"
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


# --- the command ---------------------------------------------------------------------------------------------


def read_figures(path: Path) -> Figures:
    """Return saved figures. Raises `UsageError` if the file does not contain them."""
    names = [field.name for field in fields(Figures)]
    try:
        kept: Mapping[str, float] = json.loads(path.read_text(encoding="utf-8"))
        return Figures(**{name: kept[name] for name in names})  # type: ignore[arg-type]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(
            f"{path} does not contain figures of this script: {error}", advice="create it with --keep"
        ) from error


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise FileError(
            f"cannot be written: {error.strerror}", file=str(path), advice="choose another place"
        ) from error


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description="Compute the cost of very large corpora, and write the page."
    )
    parser.add_argument("--tokens", type=int, default=5_000_000, help="size of the corpus (%(default)s)")
    parser.add_argument("--runs", type=int, default=3, help="runs of each measurement (%(default)s)")
    parser.add_argument("--tasks", type=int, default=2_000, help="number of empty tasks (%(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--out", type=Path, default=HERE / "SCALE.md", help="the page (default: next to this script)"
    )
    parser.add_argument("--keep", type=Path, metavar="JSON", help="save the measured figures")
    parser.add_argument("--figures", type=Path, metavar="JSON", help="use saved figures, measure nothing")
    parser.add_argument("--note", default="", help="a remark on this measurement, for the page")
    parser.add_argument("--corpora", type=Path, metavar="DIR", help="keep the corpora in this folder")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, or read saved figures, and write the page; return 2 if this fails."""
    parser = _parser()
    options = parser.parse_args(arguments)
    require_from_1(parser, options, "tokens", "runs", "tasks")
    try:
        if options.figures:
            figures = read_figures(options.figures)
        else:
            with folder_for(options.corpora) as folder:
                figures = measured(options.tokens, options.runs, options.tasks, options.seed, Path(folder))
        if options.keep:
            _write(options.keep, json.dumps(asdict(figures), indent=1) + "\n")
        _write(options.out, page(figures, options.note) + "\n")
    except (CluevalError, CommandFailed) as error:
        print(f"scale_out.py: {error}", file=sys.stderr)
        return 2
    print(options.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
