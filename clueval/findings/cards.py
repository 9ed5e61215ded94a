"""Places as cards of a web page: as a line of data for its script, and as the values of a template.

A card has the text with bars for the spans of both sides, and a line in words for each error. The first cards are
written into the page as well, for browsers that run no script.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, islice
from typing import Any
from urllib.parse import quote

from clueval.core.span import NO_LABEL
from clueval.findings.drawing import Bar, Drawing, drawn
from clueval.findings.places import ErrorPlace
from clueval.findings.systems import SharedPlace, System
from clueval.findings.table import Finding, joined, what
from clueval.reports.language import phrase
from clueval.reports.page import LONG
from clueval.reports.table import cut_label

MOST_ERRORS = 30
"""The number of errors of a place that a card without a script lists."""

_WORDS = re.compile(r"\s*\S+\s*|\s+")


def anchor(place: ErrorPlace) -> str:
    """Return the id of a card, made of the document and the positions, so that it is the same in every run."""
    return f"at:{_quoted(place.document)}:{place.start}-{place.end}"


@lru_cache(maxsize=16)  # places come by document
def _quoted(document: str) -> str:
    return quote(document, safe="", errors="surrogatepass")


def metadata_of(finding: Finding) -> dict[str, str]:
    """Return the metadata without the id, which a card shows anyway."""
    return {key: value for key, value in finding.metadata.items() if (key, value) != ("id", finding.document)}


def row(place: ErrorPlace, systems: Sequence[System] = ()) -> list[object]:
    """Return a place in the form that the page's script reads."""
    drawing = drawn(place)
    tips = tooltips(place, drawing, systems)
    return [
        "p",
        anchor(place),
        place.start,
        place.end,
        place.findings[0].unit,
        int(drawing.cut_before),
        int(drawing.cut_after),
        drawing.pieces,
        [
            [*bar, tip] for bar, tip in zip(drawing.bars, tips, strict=True)
        ],  # the fields of `Bar`, and its tooltip
        list(_errors(place, drawing)),
        place.layer,
        place.fingerprint,
    ]


def tooltips(place: ErrorPlace, drawing: Drawing, systems: Sequence[System] = ()) -> list[str]:
    """Return the tooltip of each bar: side, labels by layer, range; of an error also token ids, reason and class."""
    found: dict[int, list[Finding]] = {}
    if isinstance(place, SharedPlace):
        views = [[each for each in error.by if each is not None] for error in place.errors]
    else:
        views = [[finding] for finding in place.findings]
    for bars, of_error in zip(drawing.own, views, strict=True):
        # a gold span that is an error of both systems has one bar
        numbers = bars if len(bars) == len(of_error) else bars * len(of_error)
        for number, finding in zip(numbers, of_error, strict=True):
            found.setdefault(number, []).append(finding)
    unit = place.findings[0].unit
    return [_tooltip(bar, unit, found.get(number, ()), systems) for number, bar in enumerate(drawing.bars)]


def _tooltip(bar: Bar, unit: str, errors: Iterable[Finding], systems: Sequence[System]) -> str:
    side = phrase("predicted" if bar.row else "gold")
    if bar.row and systems:
        side = f"{side} {systems[bar.row - 1].short}"
    labels = ", ".join(
        f"{layer} {NO_LABEL if label is None else cut_label(label)}" for layer, label in bar.labels.items()
    )
    parts = [side, labels, f"{phrase(unit)} {_range(bar.start, bar.end)}"]
    for finding in errors:
        ids = _range(finding.first_token_id, finding.last_token_id)
        parts += [f"id {ids}" if ids else "", what(finding)]
    return " · ".join(dict.fromkeys(filter(None, parts)))


def _errors(place: ErrorPlace, drawing: Drawing) -> Iterator[list[object]]:
    """Yield the errors of a place; those of two systems end with their state, and with their class in each system."""
    if not isinstance(place, SharedPlace):
        for finding, bars in zip(place.findings, drawing.own, strict=True):
            yield _error(finding, bars[0])
        return
    for error, bars in zip(place.errors, drawing.own, strict=True):
        views = [
            [system, each.kind, each.reason, each.found]
            for system, each in enumerate(error.by)
            if each is not None
        ]
        yield [*_error(error.finding, bars[0]), error.state, views, bars[1:]]


def _error(finding: Finding, bar: int) -> list[object]:
    return [
        bar,
        finding.side or "",
        finding.sequence,
        finding.kind,
        finding.reason,
        finding.found,
        finding.first_token_id,
        finding.last_token_id,
        finding.sentences,
        finding.line,
    ]


def card(place: ErrorPlace, systems: Sequence[System] = ()) -> dict[str, Any]:
    """Return the values of a card for a template; `systems` are those of a `SharedPlace`."""
    drawing, first = drawn(place), place.findings[0]
    lanes = [0, 0]
    for bar in drawing.bars:
        lanes[bar.row > 0] = max(lanes[bar.row > 0], bar.lane + 1)
    where = [
        place.document,
        ", ".join(dict.fromkeys(name for each in place.findings for name in each.sentences)),
        f"{phrase(first.unit)} {_range(place.start, place.end)}",
    ]
    errors = list(islice(_lines(place, systems), MOST_ERRORS))
    return {
        "anchor": anchor(place),
        "where": " · ".join(filter(None, where)),
        "above": lanes[0],
        "below": lanes[1],
        "long": sum(map(len, drawing.pieces)) > LONG,
        "parts": list(_parts(drawing, tooltips(place, drawing, systems), systems)),
        "cut_before": drawing.cut_before,
        "cut_after": drawing.cut_after,
        "errors": errors,
        "more": len(drawing.own) - len(errors),
        "decision": "" if first.decision is None else first.decision.in_words(),
    }


def _lines(place: ErrorPlace, systems: Sequence[System]) -> Iterator[dict[str, Any]]:
    """Yield the lines in words, one for each error."""
    if not isinstance(place, SharedPlace):
        yield from map(_in_words, place.findings)
        return
    for error in place.errors:
        views = [(system.short, what(each)) for system, each in zip(systems, error.by, strict=True) if each]
        kinds = dict.fromkeys(words for _, words in views)
        words = ", ".join(kinds if len(kinds) == 1 else map(" ".join, views))
        yield {**_in_words(error.finding), "what": words, "state": error.state}


def _parts(drawing: Drawing, tips: Sequence[str], systems: Sequence[System]) -> Iterator[dict[str, Any]]:
    """Yield the text, marked text word by word, so that lines can be broken."""
    wrong = set(chain.from_iterable(drawing.own))
    names = ("", *(f"{system.short} " for system in systems)) if systems else ("", "")
    for number, (piece, over) in enumerate(zip(drawing.pieces, drawing.over(), strict=True)):
        if not over:
            yield {"text": piece, "bars": []}
            continue
        words = _WORDS.findall(piece) or ["‸"]
        for place, word in enumerate(words):
            ends = number, place == 0, place == len(words) - 1
            shown = ((n, drawing.bars[n]) for n in over)
            bars = [_bar(bar, names[bar.row], n in wrong, *ends) for n, bar in shown]
            yield {
                "text": word,
                "bars": bars,
                "width": max(each["width"] for each in bars),
                "tip": " | ".join(tips[n] for n in over),
                "begins": any(each["label"] for each in bars),
            }


_ROWS = ("gold", "predicted", "predicted second")
"""The classes of the style sheet for the spans of each row."""


def _bar(bar: Bar, name: str, is_wrong: bool, piece: int, is_first: bool, is_last: bool) -> dict[str, Any]:
    begins, ends = is_first and piece == bar.first, is_last and piece == bar.last - 1
    label = name + cut_label(joined(bar.labels), 30) if begins else ""
    css = [
        "bar",
        _ROWS[bar.row],
        "wrong" if is_wrong else "",
        "begins" if begins else "",
        "ends" if ends else "",
    ]
    return {
        "css": " ".join(filter(None, css)),
        "lane": bar.lane,
        "label": label,
        "width": round(len(label) * 0.68 + 1, 1) if label else 0,
    }


def _in_words(finding: Finding) -> dict[str, Any]:
    ids = _range(finding.first_token_id, finding.last_token_id)
    line = "" if finding.line is None else phrase("line {line}", line=str(finding.line))
    where = [f"{phrase(finding.unit)} {_range(finding.start, finding.end)}", f"id {ids}" if ids else "", line]
    return {
        "side": finding.side or "gold",
        "label": joined(finding.labels),
        "text": cut_label(finding.text, 200),
        "reason": finding.reason,
        "what": what(finding),
        "where": " · ".join(filter(None, where)),
    }


def _range(first: object, last: object) -> str:
    if first is None or last is None:
        return ""
    return f"{first}" if first == last else f"{first}–{last}"


def examples(
    found: Iterable[ErrorPlace], systems: Sequence[System] = (), most: int = 3
) -> list[dict[str, Any]]:
    """Return up to `most` errors of each reason, each at another place, in text order.

    Of two systems, these are up to `most` of each state.
    """
    kinds: dict[str, list[dict[str, Any]]] = {}
    for place in found:
        seen = set()
        for line in _lines(place, systems):
            name = line.get("state", line["reason"])
            shown = kinds.setdefault(name, [])
            if len(shown) < most and name not in seen:
                seen.add(name)
                shown.append({"anchor": anchor(place), **line})
    return [{"what": name, "reason": shown[0]["reason"], "shown": shown} for name, shown in kinds.items()]
