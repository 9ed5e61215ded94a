"""The web pages of errors: those of one system with its scores, and those of two systems on the same gold.

The page of two systems begins with the number of errors in each state and the scores of both systems. Its list shows
gold above the text and below it both systems, the first one nearer to the text.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any

from clueval.evaluation.observer import Observer
from clueval.evaluation.result import Result
from clueval.evaluation.run import score
from clueval.files.errors import UsageError, warn
from clueval.findings import page
from clueval.findings.choice import SIDES, Choice, ReasonKey, choice_with, metrics_of, reports_of
from clueval.findings.decisions import PlaceDecisions
from clueval.findings.kept import KeptRows
from clueval.findings.places import places_of_document, with_decisions
from clueval.findings.stream import FindingsObserver, decisions_about_errors
from clueval.findings.summary import MOST_LABELS, summaries
from clueval.findings.systems import SharedPlace, States, System, shared_places, trios_that_differ
from clueval.findings.table import Finding
from clueval.options import with_fields
from clueval.reading.trios import are_files, sources_of, trios
from clueval.reports.language import numeral, phrase
from clueval.reports.page import environment
from clueval.reports.table import Rate, cut_label
from clueval.reports.text import shown
from clueval.second.formats.options import Reading
from clueval.second.reading.options import InputSide, LayerColumns, Readings, readings_of
from clueval.second.reading.spooled import needs_spooling
from clueval.second.results.options import Counting
from clueval.second.transforms.options import Preparing
from clueval.spans.document import Document
from clueval.studies.corrections import Corrections
from clueval.textfiles import Progress
from clueval.transforms.of_options import transforms_of


@dataclass(frozen=True, slots=True)
class ErrorPages:
    """Writes pages: which errors they show, and how the sides are read, prepared and counted."""

    choice: Choice
    layers: LayerColumns | None
    reading: tuple[Reading, ...]
    counting: Counting
    preparing: Preparing
    progress: Progress | None = None
    decisions: PlaceDecisions | None = None

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
        prepared, files = with_fields(preparing, options), options.get("decisions")
        decisions = None if files is None else decisions_about_errors(files, options.get("conflicts"))
        return cls(chosen, layers, readings, counting, prepared, options.get("progress"), decisions)

    def write(
        self, path: Path, gold: InputSide, predicted: InputSide | None, *, title: str, store: str
    ) -> Result:
        """Write the page of one system in one pass over both sides; return its scores."""
        counts: Counter[ReasonKey] = Counter()
        decisions = self.decisions
        others = [] if decisions is None else [Corrections(self.choice, decisions)]
        with KeptRows[Finding]() as rows:

            def take(found: Iterable[Finding]) -> None:
                rows.take(
                    found if decisions is None else with_decisions(places_of_document(found), decisions)
                )

            observers: list[Observer] = [FindingsObserver(self.choice, take, counts), *others]
            result = self._scored(gold, predicted, observers)
            self._require_layer([result])
            if decisions is not None:
                decisions.checked()
            tables = [table for each in others for table in each.tables(result.metrics)]
            page.write(
                path,
                rows,
                result.to_dict(),
                self.choice,
                counts,
                title=title,
                store=store,
                decisions=decisions,
                decided=tables,
            )
        return result

    def corrected(
        self, gold: InputSide, predicted: InputSide | None, flat: bool = False
    ) -> Iterator[Document]:
        """Yield the documents of gold with the decisions applied; `flat` is that of `Corrections`.

        Raises `UsageError` without decisions.
        """
        if self.decisions is None:
            raise UsageError("no decisions were given", advice="errors(..., decisions='decisions.tsv')")
        if self.choice.merge:
            raise UsageError("decisions about merged layers cannot be applied", advice="leave out merge")
        with KeptRows[Document]() as documents:
            corrections = Corrections(self.choice, self.decisions, documents.take, flat)
            self._scored(gold, predicted, [corrections])
            self.decisions.checked()
            for problem in corrections.left:
                warn(f"not applied: {problem}")
            yield from documents

    def write_two(
        self,
        path: Path,
        sides: Mapping[str, InputSide],
        systems: Sequence[System],
        states: States,
        *,
        title: str,
        store: str,
    ) -> tuple[Result, Counts]:
        """Write the page of gold and two systems, which `sides` has by their names in errors.

        Reads each system twice, and gold three times. Returns the scores of the first system, and the number of errors
        by side and state.
        """
        preparing = self.preparing.without(["any_of"], "the page of two systems")
        gold, *others = sides.values()
        results = [self._scored(gold, predicted) for predicted in others]
        self._require_layer(results)
        options = {"pair_by": self.counting.pair_by, "progress": self.progress}
        transforms = transforms_of(preparing)
        given = sides, self.layers, self.reading, options
        in_files = not transforms and are_files(sides, options)
        documents = trios_that_differ(sources_of(*given), self.choice) if in_files else trios(*given)
        reasons: list[Counter[ReasonKey]] = [Counter() for _ in results]
        counts = _write_two(
            path,
            shared_places(documents, self.choice, states, transforms, reasons),
            [result.to_dict() for result in results],
            self.choice,
            reasons,
            systems,
            states,
            title=title,
            store=store,
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


def require_again(what: str, **sides: InputSide | None) -> None:
    """Raise `UsageError` for a side that can be read only once, because `what` reads it again."""
    for name, side in sides.items():
        if isinstance(side, Iterator) or needs_spooling(side):
            raise UsageError(
                f"{name} can be read only once, and {what} reads it again", advice="give a list or a path"
            )


def name_of_run(side: InputSide, otherwise: str) -> str:
    """Return the name of the file or folder of a side; another name for what is in memory."""
    return Path(side).name if isinstance(side, str | PathLike) else otherwise


Counts = Counter[tuple[str, str]]
"""The number of errors by side and state; of the side `PLACES`, the number of places with an error in the state."""

PLACES = "places"


def _write_two(
    path: Path,
    found: Iterable[SharedPlace],
    reports: Sequence[Mapping[str, Any]],
    choice: Choice,
    reasons: Sequence[Mapping[ReasonKey, int]],
    systems: Sequence[System],
    states: States,
    *,
    title: str,
    store: str,
) -> Counts:
    """Write the page, whole or not at all, and return how many errors it has.

    `reports` are the outputs of `Result.to_dict` for each system, with the metrics of the choice over the files, filter
    and merging that `found` comes from (see `clueval.findings.systems.shared_places`), which also fills `reasons` while
    the places are taken. Places are held in a file without a name. Raises `MissingExtra` without Jinja2, `FileError` if
    the file cannot be written.
    """
    environment()  # before the places are found
    counts = Counts()
    with KeptRows[SharedPlace]() as rows:
        rows.take(_counted(found, counts))
        page.write_places(
            path,
            "errors_of_two.html",
            lambda: rows,
            reports[0],
            choice,
            {
                "systems": [system.short for system in systems],
                "states": list(states.meanings),
                "stateTitle": states.title,
                "store": f"errors_of_two.html {store}",
            },
            systems=systems,
            title=title,
            states=states.meanings,
            counts=list(_rows(counts, states)),
            layers=list(_layers(reports, choice, reasons, systems)),
        )
    return counts


def _counted(places: Iterable[SharedPlace], counts: Counts) -> Iterator[SharedPlace]:
    """Yield the places, and add the number of errors and places in each state to `counts`."""
    for place in places:
        counts.update((error.finding.side or "gold", error.state) for error in place.errors)
        counts.update({(PLACES, error.state) for error in place.errors})
        yield place


def _rows(counts: Counts, states: States) -> Iterator[dict[str, Any]]:
    titles = {
        "gold": "gold spans not found",
        "predicted": "predicted spans wrong",
        PLACES: "places with such errors",
    }
    for side, title in titles.items():
        cells = []
        for state in states.meanings:
            chosen = {"state": state, **({} if side == PLACES else {"side": side})}
            n = counts[side, state]
            spoken = f"{numeral(n)} {phrase(title)}: {phrase(state)}"
            cells.append({"n": n, "filter": json.dumps(chosen), "spoken": spoken})
        yield {"title": phrase(title), "cells": cells}


def _layers(
    reports: Sequence[Mapping[str, Any]],
    choice: Choice,
    reasons: Sequence[Mapping[ReasonKey, int]],
    systems: Sequence[System],
) -> Iterator[dict[str, Any]]:
    """Yield the summaries of both systems for each layer that both have."""
    of_systems = [
        {each["title"]: each for each in summaries(report, choice, counts)}
        for report, counts in zip(reports, reasons, strict=True)
    ]
    for title in of_systems[0]:
        if not all(title in found for found in of_systems):
            continue
        both = [found[title] for found in of_systems]
        yield {
            "title": title,
            "headlines": [
                (system.short, _headline(each)) for system, each in zip(systems, both, strict=True)
            ],
            "bars": [
                (system.short, each["sides"][side])
                for side in range(len(SIDES))
                for system, each in zip(systems, both, strict=True)
            ],
            "labels": list(islice(_labels(both), MOST_LABELS)),
        }


def _headline(summary: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the headline that the errors belong to, else the last one, which has the labels."""
    headlines: Sequence[Mapping[str, Any]] = summary["headline"]
    return next((each for each in headlines if each["chosen"]), headlines[-1])


def _labels(both: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the F1 of each label in both systems and the difference in points, the greatest difference first."""
    rows = []
    for label in dict.fromkeys(label for one in both for label in one["per_label"]):
        one, two = (each["per_label"].get(label, _NOTHING) for each in both)
        difference = None if None in (one["f1"], two["f1"]) else 100 * (two["f1"] - one["f1"])
        rows.append(
            {
                "label": cut_label(label),
                "gold": one["gold"] or two["gold"],
                "figures": [*(shown(Rate(each["f1"])) for each in (one, two)), _points(difference)],
                "order": (difference is None, -abs(difference or 0), label),
            }
        )
    return sorted(rows, key=lambda row: row["order"])


_NOTHING: Mapping[str, Any] = {"f1": None, "gold": 0}


def _points(difference: float | None) -> str:
    return "" if difference is None else numeral(difference, "+.2f")
