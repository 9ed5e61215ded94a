"""What is to be done with pairs of files, wherever they are counted."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from clueval.evaluation.engine import Evaluation
from clueval.evaluation.lockstep import FileEnd
from clueval.evaluation.plan import Plan
from clueval.reading.options import ReadOptions
from clueval.reading.pairing import source_pairs
from clueval.reading.source import Source
from clueval.textfiles import Progress

FilePair = tuple[str | None, Path, Path]
"""The name of a pair of files among others, and their paths."""

Count = Callable[[Evaluation, Source, Source], FileEnd | None]
"""Counts a pair of files, but for the tags whose number the end tells; other processes find it by its name."""


class Work(NamedTuple):
    """What is the same for all files: what is counted, how they are read, and the function that counts a pair.

    With `single`, gold and predicted stand in one file.
    """

    plan: Plan
    layers: tuple[str, ...]
    options: tuple[ReadOptions, ReadOptions]
    single: bool
    count_pair: Count

    def evaluation(self) -> Evaluation:
        """An evaluation in which nothing has been counted."""
        return Evaluation(self.plan, self.layers)

    def count_here(
        self, evaluation: Evaluation, pairs: Iterable[FilePair], progress: Progress | None = None
    ) -> None:
        """Count pairs of files, one after the other."""
        for own, other in source_pairs(pairs, self.options, progress):
            if self.single:
                own.require_both_sides()
            end = self.count_pair(evaluation, own, other)
            if end is not None:
                evaluation.add_spans(end)
                evaluation.add_tags(end)


def size_of(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:  # whoever reads it will complain
        return 0
