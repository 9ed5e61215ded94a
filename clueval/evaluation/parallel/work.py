"""The work that is the same in every process: what is counted, how files are read, and how many processes pay."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from clueval.evaluation.engine import Evaluation
from clueval.evaluation.inputs import FileEnd
from clueval.evaluation.plan import Plan
from clueval.reading.pairing import source_pairs
from clueval.reading.read_options import ReadOptions
from clueval.reading.source import Source
from clueval.second.results.options import require_jobs
from clueval.textfiles import Progress

FilePair = tuple[str | None, Path, Path]
"""The name of a pair of files, and their paths."""

Count = Callable[[Evaluation, Source, Source], FileEnd | None]
"""A function of a module that counts a pair of files, except the spans and tags that its `FileEnd` counts."""


class Work(NamedTuple):
    """The plan, the layers, the options of reading for each side, and the function that counts a pair of files.

    `single` means that gold and predicted are in one file.
    """

    plan: Plan
    layers: tuple[str, ...]
    options: tuple[ReadOptions, ReadOptions]
    single: bool
    count_pair: Count

    def evaluation(self) -> Evaluation:
        """A new evaluation of the plan."""
        return Evaluation(self.plan, self.layers)

    def count_here(
        self, evaluation: Evaluation, pairs: Iterable[FilePair], progress: Progress | None = None
    ) -> None:
        """Count pairs of files, one after the other."""
        for gold, predicted in source_pairs(pairs, self.options, progress):
            if self.single:
                gold.require_both_sides()
            if gold.path == predicted.path:
                predicted = replace(predicted, progress=None)  # `progress` gets the bytes of a file once
            end = self.count_pair(evaluation, gold, predicted)
            if end is not None:
                evaluation.add_spans(end)
                evaluation.add_tags(end)
        finish(evaluation)


def finish(evaluation: Evaluation) -> None:
    """Count what was read and waits to be counted."""
    if evaluation.unfinished:
        from clueval.evaluation.span_clusters import count_unfinished  # most formats do not need it

        count_unfinished(evaluation)


def size_of(path: Path) -> int:
    """The size of a file in bytes; 0 if it cannot be determined, because reading the file raises the error."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


WORTH_IT = 100_000_000
"""Least number of bytes for which starting more processes saves time, if spans are counted without documents."""

BY_DOCUMENTS = 3
"""How many times as long the same bytes take if documents are built of them."""


def cores() -> int:
    """The number of processor cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def chosen_jobs(jobs: int | None, size: int, plan: Plan | None = None) -> tuple[int, str]:
    """The number of processes to count this number of bytes by a plan, and the reason for it.

    What observers find in other processes takes as long to receive as to find. Raises `UsageError` as
    `require_jobs` does.

    >>> chosen_jobs(None, 2_300_000)
    (1, '2 MB is too little to share between processes')
    >>> chosen_jobs(3, 2_300_000)
    (3, 'as requested')
    """
    require_jobs(jobs)
    if jobs is not None:
        return jobs, "as requested"
    if plan is not None and plan.observers:
        return 1, "receiving what other processes find takes as long as finding it"
    by_documents = plan is not None and not plan.counts_clusters((), in_columns=True)
    if size * (BY_DOCUMENTS if by_documents else 1) < WORTH_IT:
        return 1, f"{megabytes(size)} is too little to share between processes"
    number = cores()
    return number, f"{megabytes(size)}, and {number} core{'s' * (number != 1)}"


def megabytes(size: int) -> str:
    """A number of bytes as a remark shows it.

    >>> megabytes(512), megabytes(2_300_000), megabytes(12_345_000_000)
    ('less than 1 MB', '2 MB', '12,345 MB')
    """
    return f"{size / 1e6:,.0f} MB" if size >= 1_000_000 else "less than 1 MB"
