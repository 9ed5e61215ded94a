"""Places as cards of a web page: as a line of data for its script, and as the values of a template.

A card has the text with bars for the spans of both sides, and a line in words for each error. The first cards are
written into the page as well, for browsers that run no script.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from clueval.findings.drawing import Bar, Drawing, drawn
from clueval.findings.places import ErrorPlace
from clueval.findings.table import Finding, joined
from clueval.reports.cutting import cut_label

MOST_ERRORS = 30
"""The number of errors of a place that a card without a script lists."""

_WORDS = re.compile(r"\s*\S+\s*|\s+")


def anchor(place: ErrorPlace) -> str:
    """Return the id of a card, made of the document and the positions, so that it is the same in every run."""
    return f"at:{quote(place.document, safe='', errors='surrogatepass')}:{place.start}-{place.end}"


def metadata_of(finding: Finding) -> dict[str, str]:
    """Return the metadata without the id, which a card shows anyway."""
    return {key: value for key, value in finding.metadata.items() if (key, value) != ("id", finding.document)}


def row(place: ErrorPlace) -> list[object]:
    """Return a place in the form that the page's script reads."""
    drawing = drawn(place)
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
            [int(bar.side == "predicted"), bar.labels, bar.start, bar.end, bar.first, bar.last, bar.lane]
            for bar in drawing.bars
        ],
        [_error(*pair) for pair in zip(place.findings, drawing.own, strict=True)],
    ]


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


def card(place: ErrorPlace) -> dict[str, Any]:
    """Return the values of a card for a template."""
    drawing, first = drawn(place), place.findings[0]
    lanes = {
        side: max((bar.lane + 1 for bar in drawing.bars if bar.side == side), default=0) for side in _SIDES
    }
    where = [
        place.document,
        ", ".join(dict.fromkeys(name for each in place.findings for name in each.sentences)),
        f"{first.unit} {_range(place.start, place.end)}",
    ]
    return {
        "anchor": anchor(place),
        "where": " · ".join(filter(None, where)),
        "lanes": lanes,
        "parts": list(_parts(drawing, set(drawing.own))),
        "cut_before": drawing.cut_before,
        "cut_after": drawing.cut_after,
        "errors": [_in_words(finding) for finding in place.findings[:MOST_ERRORS]],
        "more": max(len(place.findings) - MOST_ERRORS, 0),
    }


_SIDES = ("gold", "predicted")


def _parts(drawing: Drawing, wrong: set[int]) -> Iterator[dict[str, Any]]:
    """Yield the text, marked text word by word, so that lines can be broken."""
    for number, piece in enumerate(drawing.pieces):
        over = [(n, bar) for n, bar in enumerate(drawing.bars) if bar.first <= number < bar.last]
        if not over:
            yield {"text": piece, "bars": []}
            continue
        words = _WORDS.findall(piece) or ["‸"]
        for place, word in enumerate(words):
            ends = number, place == 0, place == len(words) - 1
            bars = [_bar(bar, n in wrong, *ends) for n, bar in over]
            yield {"text": word, "bars": bars, "width": max(each["width"] for each in bars)}


def _bar(bar: Bar, is_wrong: bool, piece: int, is_first: bool, is_last: bool) -> dict[str, Any]:
    begins, ends = is_first and piece == bar.first, is_last and piece == bar.last - 1
    label = cut_label(joined(bar.labels), 30) if begins else ""
    css = ["bar", bar.side, "wrong" if is_wrong else "", "begins" if begins else "", "ends" if ends else ""]
    return {
        "css": " ".join(filter(None, css)),
        "lane": bar.lane,
        "label": label,
        "width": round(len(label) * 0.68 + 1, 1) if label else 0,
    }


def _in_words(finding: Finding) -> dict[str, Any]:
    ids = _range(finding.first_token_id, finding.last_token_id)
    line = "" if finding.line is None else f"line {finding.line}"
    where = [f"{finding.unit} {_range(finding.start, finding.end)}", f"id {ids}" if ids else "", line]
    return {
        "side": finding.side or "gold",
        "label": joined(finding.labels),
        "text": cut_label(finding.text, 200),
        "kind": finding.kind,
        "what": what(finding),
        "where": " · ".join(filter(None, where)),
    }


def what(finding: Finding) -> str:
    """Return the class of an error, and that its label is wrong if its class is good enough."""
    return finding.kind + (", wrong label" if finding.reason == "label" else "")


def _range(first: object, last: object) -> str:
    if first is None or last is None:
        return ""
    return f"{first}" if first == last else f"{first}–{last}"


def examples(found: Iterator[ErrorPlace] | list[ErrorPlace], most: int = 3) -> list[dict[str, Any]]:
    """Return up to `most` errors of each kind, each at another place, in text order."""
    kinds: dict[str, list[dict[str, str]]] = {}
    for place in found:
        for name, finding in {what(each): each for each in reversed(place.findings)}.items():
            shown = kinds.setdefault(name, [])
            if len(shown) < most:
                shown.append({"anchor": anchor(place), **_in_words(finding)})
    return [{"what": name, "kind": shown[0]["kind"], "shown": shown} for name, shown in kinds.items()]
