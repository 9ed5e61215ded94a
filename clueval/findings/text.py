"""Findings as text for a terminal.

Each finding has a line with its reason, class, labels and place, its context, and the spans of the other side. In the
context, brackets show which side has marked a piece; on a terminal with colours, colours show it too::

    [=both sides=]    [-only the span in question-]    {+only the other side+}

Characters that do not print, which could control a terminal or reverse the text, are written as escapes.
"""

from __future__ import annotations

from collections.abc import Iterator

from clueval.files.visible import visible
from clueval.findings.context import Context, Mark
from clueval.findings.rows import shortened
from clueval.findings.table import Finding, joined, what
from clueval.reports.table import cut_label

BRACKETS: dict[Mark, tuple[str, str]] = {
    "both": ("[=", "=]"),
    "own": ("[-", "-]"),
    "other": ("{+", "+}"),
    "neither": ("", ""),
}

_LEFT = {mark: left for mark, (left, _) in BRACKETS.items()}
_RIGHT = {mark: right for mark, (_, right) in BRACKETS.items()}

COLOURS: dict[Mark, str] = {"both": "1;32", "own": "1;31", "other": "1;33", "neither": ""}
"""Codes of SGR, the terminals' Select Graphic Rendition: bold green, red, yellow."""

HEAD = ("[=both=]  [-only this span-]  {+only the other side+}", "")
"""The lines before the first finding, which explain the brackets."""

_INDENT = "    "
_LONGEST = 2000


def lines_of(finding: Finding, *, width: int, colour: bool) -> Iterator[str]:
    """Yield the lines of a finding, the last one blank."""
    yield _painted(_head(finding), "1", colour)
    yield from _wrapped(finding.context, max(width, 40), colour)
    yield from _other(finding)
    yield from _decision(finding)
    yield ""


def _head(finding: Finding) -> str:
    side = f"{finding.side} " if finding.side else ""
    labels = f"{finding.sequence}={cut_label(joined(finding.labels))}"
    return visible(f"{side}{what(finding)}  {labels}  {_place(finding)}")


def _place(finding: Finding) -> str:
    """Return the place of a finding: document, sentence, positions, token ids, line."""
    ids = _range(finding.first_token_id, finding.last_token_id)
    parts = [
        f"document {finding.document}",
        f"sentence {', '.join(finding.sentences)}" if finding.sentences else "",
        f"{finding.unit} {_range(finding.start, finding.end)}",
        f"id {ids}" if ids else "",
        f"line {finding.line}" if finding.line is not None else "",
    ]
    return ", ".join(part for part in parts if part)


def _range(first: object, last: object) -> str:
    if first is None or last is None:
        return ""
    return f"{first}" if first == last else f"{first}-{last}"


def _other(finding: Finding) -> Iterator[str]:
    if not finding.other_texts:
        return
    name = {"gold": "predicted", "predicted": "gold"}.get(finding.side or "", "other side")
    spans = zip(finding.other_texts, finding.other_labels, strict=True)
    shown = "; ".join(f"{cut_label(joined(labels))} {shortened(text, 200)!r}" for text, labels in spans)
    yield f"{_INDENT}{name}: {visible(shortened(shown, _LONGEST))}"


def _decision(finding: Finding) -> Iterator[str]:
    words = "" if finding.decision is None else finding.decision.in_words()
    if words:
        yield f"{_INDENT}{visible(shortened(words, _LONGEST))}"


def _wrapped(context: Context, width: int, colour: bool) -> Iterator[str]:
    """Yield the context in lines, which are broken only at blanks; colours do not count in the width."""
    space = width - len(_INDENT)
    if context.joiner == " " and not colour:
        pieces = [
            shortened("".join((_LEFT[mark], text, _RIGHT[mark])), _LONGEST)
            for text, mark, _ in context.pieces
        ]
        yield from _wrapped_text(context, visible(" ".join([*pieces, ""])), space)
        return
    line: list[str] = []
    used = 0
    for word, mark in _words(context):
        if line and used + len(word) + 1 > space:
            yield _INDENT + "".join(line).rstrip()
            line, used = [], 0
        used += len(word)
        if colour and mark != "neither":
            bare = word.rstrip(" ")
            word = _painted(bare, COLOURS[mark], colour) + word[len(bare) :]
        line.append(word)
    if line:
        yield _INDENT + "".join(line).rstrip()


def _wrapped_text(context: Context, text: str, space: int) -> Iterator[str]:
    """Yield what `_wrapped` does for a text that ends with a blank: search for the blank where a line ends."""
    text = ("… " if context.cut_before else "") + text + ("…" if context.cut_after else "")
    start, length = 0, len(text)
    while length - start >= space:
        end = text.rfind(" ", start, start + space - 1) + 1 or text.find(" ", start) + 1 or length
        yield _INDENT + text[start:end].rstrip()
        start = end
    if start < length:
        yield _INDENT + text[start:].rstrip()


def _words(context: Context) -> Iterator[tuple[str, Mark]]:
    """Yield the parts of the context after which a line may be broken, each with its mark."""
    if context.cut_before:
        yield "… ", "neither"
    for piece in context.pieces:
        left, right = BRACKETS[piece.mark]
        text = shortened(f"{left}{piece.text}{right}", _LONGEST) + context.joiner
        *words, last = visible(text).split(" ")
        yield from ((f"{word} ", piece.mark) for word in words)
        if last:
            yield last, piece.mark
    if context.cut_after:
        yield "…", "neither"


def _painted(text: str, code: str, colour: bool) -> str:
    return f"\x1b[{code}m{text}\x1b[0m" if colour else text
