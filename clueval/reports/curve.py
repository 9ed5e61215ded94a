"""Precision-recall curves as drawings (SVG) in pages: recall from left to right, precision from bottom to top."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from clueval.reports.language import numeral, phrase

MOST_DOTS = 200
"""A curve of more points is drawn without dots."""


class Frame(NamedTuple):
    """The square of the drawing: its left and top edge, its length, in units of the drawing, and its ticks."""

    left: int = 52
    top: int = 14
    side: int = 320
    ticks: tuple[float, ...] = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)


FRAME = Frame()


@dataclass(frozen=True, slots=True)
class Dot:
    """A point of a curve in the drawing, its description, and whether it is the one that was chosen."""

    x: float
    y: float
    title: str
    chosen: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """One curve: its style (``strict`` or ``lenient``) and name, its points from the highest threshold down."""

    kind: str
    name: str
    dots: tuple[Dot, ...]
    average_precision: float | None

    @property
    def points(self) -> str:
        """Return the points as SVG writes them."""
        return " ".join(f"{dot.x:g},{dot.y:g}" for dot in self.dots)

    @property
    def shown_dots(self) -> list[Dot]:
        """Return the points that are drawn as dots."""
        few = len(self.dots) <= MOST_DOTS
        return [dot for dot in self.dots if few or dot.chosen]


@dataclass(frozen=True, slots=True)
class Picture:
    """A precision-recall curve."""

    title: str
    lines: tuple[Line, ...]


def dot(threshold: str, precision: float, recall: float, *, chosen: bool = False) -> Dot:
    """Return the point of a threshold.

    >>> dot("0.5", 1.0, 0.0).title
    'threshold 0.5: precision 1.0000, recall 0.0000'
    """
    return Dot(
        round(FRAME.left + FRAME.side * recall, 2),
        round(FRAME.top + FRAME.side * (1 - precision), 2),
        phrase(
            "threshold {threshold}: precision {precision}, recall {recall}",
            threshold=threshold,
            precision=numeral(precision, ".4f"),
            recall=numeral(recall, ".4f"),
        ),
        chosen,
    )
