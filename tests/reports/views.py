"""Reports that prove the page: values, the errors of the German sample, and those of two systems."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from clueval.reports import Content
from clueval.reports.place import Facet, MarkKind, Place
from clueval.reports.report import Report
from clueval.reports.table import Table
from clueval.studies.errors.report import Errors
from clueval.studies.errors.two_systems import TwoSystems
from tests.readings import pairs_in_files

GERMAN = Path(__file__).parents[2] / "clueval" / "samples" / "german"
GOLD, PREDICTED = GERMAN / "gold.vrt", GERMAN / "predicted.vrt"
LAYERS = {"entity": 2, "risk": 3}


@dataclass
class View(Report):
    """A report of values."""

    title: str = "Errors"
    signature: str = "metric:exact"
    kinds: Sequence[MarkKind] = (MarkKind("above", "", "gold"), MarkKind("below", "", "predicted"))
    facets: Sequence[Facet] = ()
    choices: Sequence[tuple[str, str]] = ()
    store: str = ""
    decision_lines: Sequence[Mapping[str, str | int]] = ()
    said: str = ""
    about: Sequence[str] = ()
    shown_tables: Sequence[Table] = ()
    listed: Sequence[Place] = field(default_factory=list)

    def content(self) -> dict[str, Any]:
        return {
            "title": self.title,
            "verdict": self.said,
            "places": len(self.listed),
            "signature": self.signature,
        }

    def verdict(self) -> str:
        return self.said

    def facts(self) -> Iterable[str]:
        return self.about

    def tables(self) -> Iterable[Table]:
        return self.shown_tables

    def places(self) -> Iterator[Place]:
        return iter(self.listed)


def page(report: Report, **languages: str) -> str:
    """The page of a report."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "page.html")
        report.write(path, **languages)
        return path.read_text(encoding="utf-8")


class SampleErrors(Errors):
    """Errors whose places are held in `listed`, which tests may change, as they may the `decision_lines`."""

    decision_lines: Sequence[Mapping[str, str | int]] = ()  # type: ignore[assignment]  # not from decisions
    signature = "metric:exact"  # type: ignore[assignment]  # nothing is scored

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.listed = list(super().places())

    def places(self) -> Iterator[Place]:
        return iter(self.listed)

    def first_places(self, number: int) -> tuple[Sequence[Place], int]:
        return Content.first_places(self, number)


def errors_view(
    gold: Path = GOLD, predicted: Path = PREDICTED, layers: Mapping[str, int] = LAYERS
) -> SampleErrors:
    return SampleErrors(
        [[pair] for pair in pairs_in_files(gold, predicted, layers)],
        files=[gold.name, predicted.name],
    )


def third_system(folder: Path) -> Path:
    """Gold in the first half of each sentence pair, else predicted."""
    halves = zip(*(side.read_text(encoding="utf-8").split("</s>") for side in (GOLD, PREDICTED)), strict=True)
    path = folder / "third.vrt"
    path.write_text("</s>".join(pair[n % 2] for n, pair in enumerate(halves)), encoding="utf-8")
    return path


class SampleSystems(TwoSystems):
    signature = "metric:exact"  # type: ignore[assignment]  # nothing is scored


def two_systems_view(folder: Path) -> TwoSystems:
    sides = (pairs_in_files(GOLD, path, LAYERS) for path in (PREDICTED, third_system(folder)))
    title = "A (predicted.vrt) and B (third.vrt) against gold.vrt"
    return SampleSystems(list(zip(*sides, strict=True)), title=title)
