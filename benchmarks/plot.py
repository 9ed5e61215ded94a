"""Draws a line chart with two logarithmic axes, as SVG text, without any package.

Lines have labels at their right ends instead of a legend. The background is white or dark, as in the reader's system.
Coordinates are pixels from the top left.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 820, 500
_LEFT, _RIGHT, _TOP, _BOTTOM = 84, 650, 84, 432
_APART = 19
"""The minimum distance of two labels, in pixels."""

COLOURS = (
    ("#0b62a8", "#5fb3ff"),
    ("#6b6b6b", "#a5a5a5"),
    ("#c24e00", "#ff9a57"),
    ("#9a3f87", "#e58ed2"),
    ("#00795a", "#3fcf9f"),
)
"""The colours of the lines in their order, on white and on dark; further lines repeat them."""

_STYLE = """
svg { font-family: Helvetica, Arial, sans-serif; font-size: 14px }
.ground { fill: #ffffff } text { fill: #222222 } .quiet { fill: #595959 }
.title { font-size: 18px; font-weight: 600 } .first { font-weight: 700 }
.grid { stroke: #e3e3e3; stroke-width: 1 } .fine { stroke: #f3f3f3; stroke-width: 1 }
.axis { stroke: #595959; stroke-width: 1.2; fill: none }
.line { fill: none; stroke-width: 2; stroke-linejoin: round } .line.first { stroke-width: 3.2 }
.label { paint-order: stroke; stroke: #ffffff; stroke-width: 4px; stroke-linejoin: round }
.dashed { stroke-dasharray: 6 4 } .leader { fill: none; stroke-width: 0.8 }
"""

_DARK_STYLE = """
.ground { fill: #15181d } text { fill: #e8e8e8 } .quiet { fill: #b0b0b0 }
.grid { stroke: #333941 } .fine { stroke: #22262c } .axis { stroke: #b0b0b0 }
.label { stroke: #15181d }
"""


@dataclass(frozen=True, slots=True)
class Line:
    """A line through points with positive coordinates, from left to right; the label may differ from the name."""

    name: str
    points: Sequence[tuple[float, float]]
    label: str = ""
    dashed: bool = False

    def __post_init__(self) -> None:
        if not self.points or min(min(point) for point in self.points) <= 0:
            raise ValueError(f"line {self.name!r} needs points with positive coordinates")


@dataclass(frozen=True, slots=True)
class Axis:
    """A logarithmic axis: from `least` at the pixel `start` to `greatest` at `stop`."""

    least: float
    greatest: float
    start: float
    stop: float

    def at(self, value: float) -> float:
        """The pixel of a value.

        >>> Axis(1, 100, 0, 200).at(10)
        100.0
        """
        share = math.log(value / self.least) / math.log(self.greatest / self.least)
        return self.start + share * (self.stop - self.start)

    def decades(self) -> list[float]:
        """The powers of ten on the axis."""
        first, last = math.ceil(math.log10(self.least) - 1e-9), math.floor(math.log10(self.greatest) + 1e-9)
        return [10.0**power for power in range(first, last + 1)]

    def between(self) -> list[float]:
        """Two to nine times the powers of ten, as far as they are on the axis."""
        first, last = math.floor(math.log10(self.least)), math.ceil(math.log10(self.greatest))
        values = (step * 10.0**power for power in range(first, last) for step in range(2, 10))
        return [value for value in values if self.least <= value <= self.greatest]


def chart(title: str, subtitle: str, x_title: str, y_title: str, lines: Sequence[Line]) -> str:
    """The picture. The first line is drawn boldest and last, so that it lies over the others."""
    x = _axis((point[0] for line in lines for point in line.points), _LEFT, _RIGHT, snap=False)
    y = _axis((point[1] for line in lines for point in line.points), _BOTTOM, _TOP, snap=True)
    drawn = list(enumerate(lines))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">',
        f"<title>{escape(title)}</title>",
        f"<desc>{escape(_told(lines))}</desc>",
        f"<style>{_STYLE}{_colours(len(lines), dark=False)}",
        f"@media (prefers-color-scheme: dark) {{{_DARK_STYLE}{_colours(len(lines), dark=True)}}}</style>",
        f'<rect class="ground" width="{WIDTH}" height="{HEIGHT}"/>',
        f'<text class="title" x="{_LEFT}" y="34">{escape(title)}</text>',
        f'<text class="quiet" x="{_LEFT}" y="58">{escape(subtitle)}</text>',
        *_grid(x, y),
        *_titles(x_title, y_title),
        *(_path(number, line, x, y) for number, line in reversed(drawn)),
        *_labels(drawn, x, y),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _axis(values: Iterable[float], start: float, stop: float, snap: bool) -> Axis:
    """The axis for these values; with `snap` from and to a value of the form 1 or 3 times a power of ten."""
    ordered = sorted(values)
    least, greatest = ordered[0], ordered[-1]
    if snap or least == greatest:
        steps = [step * 10.0**power for power in range(-12, 15) for step in (1, 3)]
        least = max(step for step in steps if step < least)
        greatest = min(step for step in steps if step > greatest)
    return Axis(least, greatest, start, stop)


def _told(lines: Sequence[Line]) -> str:
    """The figures in words, for those who cannot see the picture."""
    return "; ".join(
        f"{line.name}: " + ", ".join(f"{y:.3g} at {x:,.0f}" for x, y in line.points) for line in lines
    )


def _colours(number: int, dark: bool) -> str:
    chosen = (COLOURS[n % len(COLOURS)][dark] for n in range(number))
    return " ".join(
        f".c{n} {{ stroke: {colour} }} .d{n}, text.d{n} {{ fill: {colour} }}"
        for n, colour in enumerate(chosen)
    )


def _grid(x: Axis, y: Axis) -> Iterator[str]:
    for css, x_values, y_values in (("fine", x.between(), y.between()), ("grid", x.decades(), y.decades())):
        for value in x_values:
            yield _stroke(css, (x.at(value), _TOP), (x.at(value), _BOTTOM))
        for value in y_values:
            yield _stroke(css, (_LEFT, y.at(value)), (_RIGHT, y.at(value)))
    yield f'<path class="axis" d="M{_LEFT},{_TOP} V{_BOTTOM} H{_RIGHT}"/>'
    for value in x.decades():
        yield _stroke("axis", (x.at(value), _BOTTOM), (x.at(value), _BOTTOM + 6))
        yield f'<text x="{x.at(value):.1f}" y="{_BOTTOM + 23}" text-anchor="middle">{_number(value)}</text>'
    for value in y.decades():
        yield _stroke("axis", (_LEFT - 6, y.at(value)), (_LEFT, y.at(value)))
        yield f'<text x="{_LEFT - 11}" y="{y.at(value) + 5:.1f}" text-anchor="end">{_number(value)}</text>'


def _stroke(css: str, start: tuple[float, float], stop: tuple[float, float]) -> str:
    (x, y), (to_x, to_y) = start, stop
    return f'<path class="{css}" d="M{x:.1f},{y:.1f} L{to_x:.1f},{to_y:.1f}"/>'


def _number(value: float) -> str:
    if value >= 1e6:
        return f"{value / 1e6:g} million"
    return f"{value:,.0f}" if value >= 1 else f"{value:g}"


def _titles(x_title: str, y_title: str) -> Iterator[str]:
    middle = (_TOP + _BOTTOM) / 2
    yield (
        f'<text class="quiet" x="{(_LEFT + _RIGHT) / 2}" y="{_BOTTOM + 52}" text-anchor="middle">'
        f"{escape(x_title)}</text>"
    )
    yield (
        f'<text class="quiet" transform="translate(24 {middle}) rotate(-90)" text-anchor="middle">'
        f"{escape(y_title)}</text>"
    )


def _path(number: int, line: Line, x: Axis, y: Axis) -> str:
    places = [(x.at(a), y.at(b)) for a, b in line.points]
    css = f"line c{number}" + " first" * (number == 0) + " dashed" * line.dashed
    path = " L".join(f"{a:.1f},{b:.1f}" for a, b in places)
    dots = "".join(f'<circle class="d{number}" cx="{a:.1f}" cy="{b:.1f}" r="3.4"/>' for a, b in places)
    return f'<path class="{css}" d="M{path}"/>{dots}'


def _labels(drawn: Sequence[tuple[int, Line]], x: Axis, y: Axis) -> Iterator[str]:
    """Yield the labels next to the last points; labels that would overlap are moved apart."""
    ends: dict[float, list[tuple[float, int, Line]]] = {}
    for number, line in drawn:
        right, height = line.points[-1]
        ends.setdefault(x.at(right), []).append((y.at(height), number, line))
    for right, labels in ends.items():
        labels.sort(key=lambda label: label[0])
        heights = _apart([height for height, _, _ in labels])
        for (height, number, line), moved in zip(labels, heights, strict=True):
            yield (
                f'<path class="leader c{number}" d="M{right + 5:.1f},{height:.1f} '
                f'L{right + 16:.1f},{moved:.1f}"/>'
            )
            css = f"label d{number}" + " first" * (number == 0)
            text = escape(line.label or line.name)
            yield f'<text class="{css}" x="{right + 20:.1f}" y="{moved + 5:.1f}">{text}</text>'


def _apart(heights: Sequence[float]) -> list[float]:
    """Return ascending heights, moved as little as possible so that their distances are at least `_APART`.

    >>> _apart([100.0, 101.0, 200.0])
    [91.0, 110.0, 200.0]
    """
    crowds: list[list[float]] = []
    for height in heights:
        crowd = [height]
        while crowds and _top(crowd) - _bottom(crowds[-1]) < _APART:
            crowd = crowds.pop() + crowd
        crowds.append(crowd)
    return [_top(crowd) + _APART * n for crowd in crowds for n in range(len(crowd))]


def _top(crowd: Sequence[float]) -> float:
    return sum(crowd) / len(crowd) - _APART * (len(crowd) - 1) / 2


def _bottom(crowd: Sequence[float]) -> float:
    return _top(crowd) + _APART * (len(crowd) - 1)
