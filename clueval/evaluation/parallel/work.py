"""The work that is the same in every process: what is counted, and how files are read."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from clueval.evaluation.engine import Evaluation
from clueval.evaluation.file_reading import FileEnd
from clueval.evaluation.plan import Plan
from clueval.reading.pairing import source_pairs
from clueval.reading.read_options import ReadOptions
from clueval.reading.source import Source
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
            end = self.count_pair(evaluation, gold, predicted)
            if end is not None:
                evaluation.add_spans(end)
                evaluation.add_tags(end)
        finish(evaluation)


def finish(evaluation: Evaluation) -> None:
    """Count what was read and waits to be counted."""
    if evaluation.unfinished:
        from clueval.evaluation.span_lists import count_unfinished  # most formats do not need it

        count_unfinished(evaluation)


def size_of(path: Path) -> int:
    """The size of a file in bytes; 0 if it cannot be determined, because reading the file raises the error."""
    try:
        return path.stat().st_size
    except OSError:
        return 0
