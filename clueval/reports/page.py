"""The page of a report: one template, one script, one style sheet, and data.

A page is written in parts: what stands above the list, which is HTML without a script, and a line of JSON for each
place, which the script reads, so that places are never held. The page loads nothing, and its content security policy
names the script by its hash. Text of a corpus is escaped in HTML and in JSON, and the script makes text nodes only.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from codecs import getincrementaldecoder
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from html import escape
from importlib.resources import files
from itertools import groupby
from math import ceil
from string import Template
from zlib import compressobj, decompressobj

from clueval.files.errors import cut_label, escaped_in_json, visible
from clueval.reports import IN_A_PAGE, Content
from clueval.reports.forms import without_bars
from clueval.reports.language import current_language, language_of_corpus, numeral, phrase, texts_of
from clueval.reports.place import ANY_LAYER, MarkKind, Place, in_words, positions, segments, with_ends
from clueval.reports.table import (
    Cell,
    Dot,
    Find,
    Part,
    Shares,
    Table,
    caption,
    percent,
    shown,
    text_columns,
)


def page_parts(report: Content) -> Iterator[str]:
    """Yield the page in parts, in the language of the context: its head, each place, its end.

    Places are made before the tables, which then need no further reading, and packed, as they may be many.
    """
    script = _asset("page.js")
    template = re.sub(r"{{(.+?)}}", lambda text: html(phrase(text[1])), _asset("page.html"))
    packer, unpacker, decoder = compressobj(1), decompressobj(), getincrementaldecoder("utf-8")()
    has_places, pieces = False, list[bytes]()
    for place in report.places():
        has_places = True
        pieces.append(packer.compress(f"{json_in_page(_place(place))}\n".encode()))
    pieces = [*filter(None, pieces), packer.flush()]
    yield Template(template).substitute(_values(report, script, has_places=has_places))
    words = [word for facet in report.facets for word in facet.words]
    settings = {
        "lang": current_language(),
        "text_lang": language_of_corpus(),
        "texts": texts_of(script, words),
        "facets": [facet._asdict() for facet in report.facets],
        "kinds": [kind._asdict() for kind in report.kinds],
        "choices": report.choices,
        "store": report.store or report.title,
        "given": report.decision_lines,
    }
    yield json_in_page(settings) + "\n"
    for piece in pieces:
        yield decoder.decode(unpacker.decompress(piece))
    yield f"</script>\n<script>{script}</script>\n</body>\n</html>\n"


def _asset(name: str) -> str:
    return (files(__package__) / name).read_text(encoding="utf-8")


def _values(report: Content, script: str, *, has_places: bool) -> dict[str, str]:
    """Return the values of the template; all are HTML."""
    policy = (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{script_hash(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    tables = list(report.drawn_tables())
    shown_tables = []
    for is_folded, run in groupby(tables, key=lambda table: table.is_folded):
        drawn = "\n".join(
            f'<details class="table"{"" if is_folded else " open"}><summary>{html(caption(table))}</summary>'
            f'<div class="wide" tabindex="0">{_table(table)}</div></details>'
            for table in run
        )
        # those that are closed and follow each other stand side by side
        shown_tables.append(f'<div class="folded">\n{drawn}\n</div>' if is_folded else drawn)
    return {
        "title": html(report.title or phrase("Scores")),
        "signature": html(str(report.signature)),
        "lang": current_language(),
        "policy": policy,
        "style": _asset("page.css"),
        "verdict": f'<p id="verdict">{html(report.verdict())}</p>' if report.verdict() else "",
        "facts": "<br>".join(map(html, filter(None, (" · ".join(report.facts()), *report.remarks())))),
        "legend": _legend(tables, has_places=has_places),
        "tables": "\n".join(shown_tables),
        "notes": "\n".join(f"<p>{html(title)} {html(text)}</p>" for title, text in report.notes()),
        "no_places": "" if has_places else " hidden",
        "no_sign_off": "" if report.has_sign_off else " hidden",
    }


def script_hash(script: str) -> str:
    """Return the hash by which a content security policy allows a script: SHA-256, base64."""
    return b64encode(sha256(script.encode()).digest()).decode()


def html(text: str) -> str:
    """Return text as HTML that shows it, with escapes for what would be invisible or steer the text.

    >>> html("<b>\\u202e")
    '&lt;b&gt;\\\\u202e'
    """
    return escape(visible(text))


# --- tables


def _table(table: Table, *, is_live: bool = True) -> str:
    """Return a table as HTML; the cells of a live one filter the list."""
    dots = [(n, cell) for row in table.rows for n, cell in enumerate(row) if isinstance(cell, Dot)]
    dotted = {number for number, _ in dots} if is_live else set()
    axis = _Axis([dot for _, dot in dots]) if dots and is_live else None
    texts, columns = text_columns(table) | dotted, range(len(table.header))
    if is_live:
        styles = [' class="text"' if number in texts else "" for number in columns]
    else:
        styles = [f' style="text-align:{"left" if number in texts else "right"}"' for number in columns]
    head = "".join(
        f'<th scope="col"{style}>{html(cut_label(name))}</th>' if name else "<td></td>"
        for name, style in zip(table.header, styles, strict=True)
    )
    rows = []
    for first, *others in table.rows:
        cells = [f'<th scope="row"{styles[0]}>{_cell(first, axis, is_live)}</th>']
        for cell, style in zip(others, styles[1:], strict=True):
            if isinstance(cell, Find) and cell.heat:
                style = f' class="heat" style="--heat:{cell.heat:.3f}"'
            cells.append(f"<td{style}>{_cell(cell, axis, is_live)}</td>")
        rows.append(f"<tr>{''.join(cells)}</tr>")
    if axis:
        ticks = (f"<td>{axis.ticks() if number in dotted else ''}</td>" for number in columns)
        rows.append(f"<tr>{''.join(ticks)}</tr>")
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def _cell(cell: Cell, axis: _Axis | None, is_live: bool) -> str:
    text = html(shown(cell))
    match cell:
        case Shares(parts) if is_live:
            drawn = "".join(_part(part, n) for n, part in enumerate(parts) if part.number)
            return f'<span class="shares">{drawn}</span>'
        case Dot() if axis:
            return axis.drawn(cell)
        case Find(value, find) if is_live and find and value not in (0, None, ""):
            return f"<button type=button {_finds(find)}>{text}</button>"
    return text


def _part(part: Part, number: int) -> str:
    text = html(f"{numeral(part.number)} {part.name}")
    how = f'class="part-{number}" style="flex-grow:{part.number}" title="{text}"'
    if not part.find:
        return f'<span {how} role="img" aria-label="{text}"></span>'
    return f'<button type=button {how} aria-label="{text}" {_finds(part.find)}></button>'


def _finds(find: Mapping[str, str]) -> str:
    return f'data-find="{escape(json_in_page(find))}"'


def _legend(tables: Sequence[Table], *, has_places: bool) -> str:
    """Return what the patterns of bars mean; an entry lists the places that its parts have in common."""
    entries: dict[tuple[int, str], list[Mapping[str, str]]] = {}
    cells = [cell for table in tables for row in table.rows for cell in row]
    bars = [cell for cell in cells if isinstance(cell, Shares)]
    for bar in bars:
        for number, part in enumerate(bar.parts):
            entries.setdefault((number, part.name), []).append(part.find)
    shown_entries = []
    for (number, name), finds in sorted(entries.items()):
        common = set.intersection(*(set(find.items()) for find in finds))
        text = f'<i class="part-{number}"></i> {html(name)}'
        button = f"<button type=button {_finds(dict(sorted(common)))}>{text}</button>"
        shown_entries.append(button if common else f"<span>{text}</span>")
    if has_places and any(isinstance(cell, Find) and cell.find for cell in cells):
        hint = phrase("Click a label or a number to list its places.")
        if bars:
            hint = phrase("Click a bar, a label or a number to list its places.")
        shown_entries.append(f'<small class="scripted">{html(hint)}</small>')
    return f'<p id="legend">{" ".join(shown_entries)}</p>' if shown_entries else ""


class _Axis:
    """The axis of a column of dots, in steps of 1, 2 or 5 times a power of ten."""

    def __init__(self, dots: Sequence[Dot]) -> None:
        values = [
            100 * value for dot in dots for value in (dot.value, dot.low, dot.high) if value is not None
        ]
        low, high = min(values), max(values)
        width = max(high - low, 0.1)
        steps = (factor * 10.0**power for power in range(-3, 3) for factor in (1, 2, 5))
        self._step = next(step for step in steps if width / step <= 5)
        self._low = low // self._step * self._step
        self._number = max(1, ceil((high - self._low) / self._step - 1e-9))
        self._style = f"--from:{self._low:.4g};--width:{self._number * self._step:.4g}"

    def drawn(self, dot: Dot) -> str:
        """Return a dot with its interval as a line; the style sheet computes the places."""
        has_line = dot.low is not None and dot.high is not None
        values = {"value": dot.value, "low": dot.low, "high": dot.high}
        style = ";".join(f"--{name}:{100 * value:.4g}" for name, value in values.items() if value is not None)
        base, text = ' class="baseline"' if dot.is_baseline else "", html(shown(dot))
        return (
            f'<span class="dotted"><span>{html(percent(dot.value))}</span>'
            f'<span class="dots" role="img" aria-label="{text}" title="{text}" style="{self._style};{style}">'
            f"{'<i></i>' if has_line else ''}<b{base}></b></span></span>"
        )

    def ticks(self) -> str:
        """Return the numbers below the axis."""
        digits = max(0, -int(f"{self._step:e}".partition("e")[2]))
        ticks = [self._low + n * self._step for n in range(self._number + 1)]
        texts = (f'<i style="--value:{tick:.4g}">{numeral(tick, f",.{digits}f")}</i>' for tick in ticks)
        drawn = f'<span class="dots ticks" style="{self._style}">{"".join(texts)}</span>'
        return f'<span class="dotted"><span></span>{drawn}</span>'


# --- data for the script


def _place(place: Place) -> list[object]:
    """Return a place as the script reads it; the range is inclusive, as in a file of decisions."""
    document, layer, start, end = place.at
    at = [document, layer, start, end - 1]
    entry: list[object] = [at, place.fingerprint, [*place.texts], [*place.lines]]
    return [*entry, place.impossible] if place.impossible else entry


_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def json_in_page(value: object) -> str:
    """Return JSON in one line that contains no end of a script element and begins no comment.

    >>> json_in_page(["</script>", 1])
    '["\\\\u003c/script\\\\u003e",1]'
    """
    text = _ENCODER.encode(value)
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return escaped_in_json(text)


# --- notebooks

FIRST_PLACES = 10
"""The number of places that a notebook shows."""

_STYLES = {
    "above": "border-bottom:3px solid #d9483f",
    "below": "border-bottom:3px dashed #b8742a",
    "both": "border-bottom:3px double #12946b",
    "masked": "background:#8884",
    "leak": "border-bottom:3px solid #d9483f;font-weight:bold",
}
"""How marks look on light and on dark ground."""


def notebook(report: Content) -> str:
    """Return verdict, tables, the first places and the folded signature as HTML without script or style sheet."""
    tables = "".join(
        f"<p><b>{html(caption(table))}</b></p>{_table(table, is_live=False)}"
        for table in map(without_bars, report.tables())
        if not table.is_folded
    )
    places, number = report.first_places(FIRST_PLACES)
    cards = "".join(f"<li>{_card(place, report.kinds)}</li>" for place in places)
    more = number - len(places)
    rest = phrase("{n} more place|{n} more places", n=more) + IN_A_PAGE if more else ""
    names: dict[str, list[str]] = {}  # what the marks mean
    for kind in report.kinds:
        names.setdefault(kind.style, []).append(kind.legend)
    if {"above", "below"} <= {*names}:
        names["both"] = [phrase("both")]
    key = " · ".join(
        f'<span style="{_STYLES[style]}">{html(", ".join(legends))}</span>'
        for style, legends in names.items()
    )
    return (
        f"<p><b>{html(report.title or phrase('Scores'))}</b><br>{html(report.verdict())}</p>{tables}"
        f"{f'<p><small>{key}</small></p><ul>{cards}</ul>' if cards else ''}<p>{html(rest)}</p>"
        f"<details><summary>{html(phrase('Signature:'))}</summary><code>{html(str(report.signature))}</code></details>"
    )


def _card(place: Place, kinds: Sequence[MarkKind]) -> str:
    document, layer, start, end = place.at
    layers = phrase("all layers") if layer == ANY_LAYER else layer
    texts = []
    for text in place.texts:
        pieces = (
            f'<span style="{_STYLES[style]}">{html(piece)}</span>' if style else html(piece)
            for piece, style in segments(text, kinds)
        )
        texts.append(f'<div dir="auto">{with_ends("".join(pieces), text)}</div>')
    lines = "<br>".join(html(in_words(line, kinds)) for line in place.lines if line.words or line.text)
    where = html(f"{document} · {layers} · {positions([(start, end)])}")
    return f"<small>{where}</small>{''.join(texts)}<small>{lines}</small>"
