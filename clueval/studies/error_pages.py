"""The web pages of errors: those of one system with its scores, and those of two systems on the same gold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from clueval.evaluation.observer import Observer
from clueval.evaluation.options import Counting
from clueval.evaluation.result import Result
from clueval.evaluation.run import score
from clueval.exceptions import UsageError
from clueval.findings import page, systems_page
from clueval.findings.choice import Choice, ReasonKey, choice_with, metrics_of, reports_of
from clueval.findings.kept import KeptRows
from clueval.findings.observer import FindingsObserver
from clueval.findings.systems import States, System, shared_places
from clueval.findings.table import Finding
from clueval.options import with_fields
from clueval.reading.given import InputSide
from clueval.reading.layers import LayerColumns
from clueval.reading.options import Reading, Readings, readings_of
from clueval.reading.spooled import needs_spooling
from clueval.reading.trios import trios
from clueval.textfiles import Progress
from clueval.transforms.prepared import transforms_of
from clueval.transforms.preparing import Preparing


@dataclass(frozen=True, slots=True)
class ErrorPages:
    """Writes pages: which errors they show, and how the sides are read, prepared and counted."""

    choice: Choice
    layers: LayerColumns | None
    reading: tuple[Reading, ...]
    counting: Counting
    preparing: Preparing
    progress: Progress | None = None

    @classmethod
    def of(
        cls,
        choice: Choice | None,
        layers: LayerColumns | None,
        reading: Readings,
        preparing: Preparing,
        options: Mapping[str, Any],
    ) -> ErrorPages:
        """Return the pages for the arguments of `clueval.errors`."""
        chosen = choice_with(choice, options)
        where = {key: sorted(values) for key, values in chosen.where.conditions}
        counting = Counting(merge=chosen.merge, where=where, pair_by=options.get("pair_by"))
        readings = readings_of(reading, options)
        return cls(
            chosen, layers, readings, counting, with_fields(preparing, options), options.get("progress")
        )

    def write(
        self, path: Path, gold: InputSide, predicted: InputSide | None, *, title: str, lang: str
    ) -> Result:
        """Write the page of one system in one pass over both sides; return its scores."""
        counts: Counter[ReasonKey] = Counter()
        with KeptRows[Finding]() as rows:
            result = self._scored(gold, predicted, [FindingsObserver(self.choice, rows.take, counts)])
            self._require_layer([result])
            page.write(path, rows, result.to_dict(), self.choice, counts, title=title, lang=lang)
        return result

    def write_two(
        self,
        path: Path,
        sides: Mapping[str, InputSide],
        systems: Sequence[System],
        states: States,
        *,
        title: str,
        lang: str,
    ) -> tuple[Result, systems_page.Counts]:
        """Write the page of gold and two systems, which `sides` has by their names in errors; reads them three times.

        Returns the scores of the first system, and the number of errors by side and state.
        """
        preparing = self.preparing.without(["by_depth", "any_of"], "the page of two systems")
        gold, *others = sides.values()
        results = [self._scored(gold, predicted) for predicted in others]
        self._require_layer(results)
        options = {"pair_by": self.counting.pair_by, "progress": self.progress}
        documents = trios(sides, self.layers, self.reading, options)
        reasons: list[Counter[ReasonKey]] = [Counter() for _ in results]
        counts = systems_page.write(
            path,
            shared_places(documents, self.choice, states, transforms_of(preparing), reasons),
            [result.to_dict() for result in results],
            self.choice,
            reasons,
            systems,
            states,
            title=title,
            lang=lang,
        )
        return results[0], counts

    def _scored(
        self, gold: InputSide, predicted: InputSide | None, observers: Sequence[Observer] = ()
    ) -> Result:
        return score(
            gold,
            predicted,
            metrics=metrics_of(self.choice),
            layers=self.layers,
            reading=self.reading,
            counting=self.counting,
            preparing=self.preparing,
            observers=observers,
            progress=self.progress,
        )

    def _require_layer(self, results: Iterable[Result]) -> None:
        reports = [each for result in results for each in reports_of(result.metrics, self.choice).values()]
        self.choice.require_layer(layer for report in reports for layer in report.get("labelled", ()))


def require_again(**sides: InputSide | None) -> None:
    """Raise `UsageError` for a side that can be read only once."""
    for name, side in sides.items():
        if isinstance(side, Iterator) or needs_spooling(side):
            raise UsageError(
                f"{name} can be read only once, and the page reads it again", advice="give a list or a path"
            )


def name_of_run(side: InputSide, otherwise: str) -> str:
    """Return the name of the file or folder of a side; another name for what is in memory."""
    return Path(side).name if isinstance(side, str | PathLike) else otherwise
