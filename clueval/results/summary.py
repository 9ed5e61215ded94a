"""What was read, in sentences: documents and positions, repaired tags, the spans of layers, the method of intervals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from clueval.files.errors import cut_label, visible
from clueval.reports.language import numeral, phrase
from clueval.results.inputs import layers_not_predicted

Content = Mapping[str, Any]
"""A result as plain dictionaries."""


def counted(documents: int, positions: int) -> Iterator[str]:
    """Yield the numbers of documents and, if there are any, of positions."""
    yield phrase("{n} document|{n} documents", n=documents)
    yield from positions_in_words(positions)


def positions_in_words(number: int) -> Iterator[str]:
    """Yield the number of positions, if there are any."""
    if number:
        yield phrase("{n} position|{n} positions", n=number)


def summary(report: Content) -> Iterator[str]:
    """Yield what could not be read as it stands, the numbers of the spans of each layer, the method of intervals."""
    yield from mended(report["repaired_tags"], report.get("prepared"))
    yield from layers_read(report.get("inputs", {}))
    if section := report.get("intervals"):
        resampled = ""
        if section["resamples"]:
            resampled = f", {section['resamples']:,} resamples, seed {section['seed']}"
        yield phrase(
            "{confidence} % intervals by {method} over {units} units (by {by}){resampled}; ± is half their width",
            confidence=numeral(100 * section["confidence"], "g"),
            method=phrase(section["method"]),
            units=section["units"],
            by=visible(section["resample_by"]),
            resampled=resampled,
        )
        for remark in section["remarks"]:
            yield f"remark: {visible(remark)}"


def mended(repaired_tags: Mapping[str, int], prepared: Content | None) -> Iterator[str]:
    """Yield the numbers of repaired tags, and of answers of language models that are missing or unreadable, if any."""
    for side, n in repaired_tags.items():
        if n:
            yield phrase("{n} repaired tag in {side}|{n} repaired tags in {side}", n=n, side=phrase(side))
    yield from answers_not_read(prepared)


def answers_not_read(prepared: Content | None) -> Iterator[str]:
    """Yield the numbers of answers of language models that are missing or unreadable, if any."""
    located = (prepared or {}).get("located", {})
    if located.get("answers") and located["unparsable"]:
        unread, number = located["unparsable"], located["answers"]
        yield phrase("{unread} of {number} answers could not be read", unread=unread, number=number)
    if different := located.get("differ"):
        yield phrase("{n} answer does not repeat the text|{n} answers do not repeat the text", n=different)
    if missing := located.get("missing"):
        yield phrase("{n} document has no answer|{n} documents have no answer", n=missing)


def answers_of_systems(prepared: Mapping[str, Content | None]) -> Iterator[str]:
    """Yield what `answers_not_read` says of each system, with its name.

    >>> list(answers_of_systems({"A": {"located": {"answers": 3, "unparsable": 1}}, "B": None}))
    ['A: 1 of 3 answers could not be read']
    """
    for name, changes in prepared.items():
        yield from (f"{name}: {line}" for line in answers_not_read(changes))


def layers_read(inputs: Content) -> Iterator[str]:
    """Yield a line for each layer with spans: its columns, its schemes and their numbers; one for all others.

    >>> side = {"layers": {"entity": {"source": 2, "scheme": "BIO", "spans": 3}}}
    >>> list(layers_read({"gold": side, "predicted": side}))
    ['entity: column 2, BIO, 3 gold and 3 predicted spans']
    """
    sides = [side["layers"] for side in inputs.values()]
    empty, lacking = layers_without_spans(inputs), layers_not_predicted(inputs)
    for layer in [name for name in sides[0] if name not in empty] if sides else ():
        of_sides = [layers[layer] for layers in sides]
        sources = [str(source) for source in dict.fromkeys(about["source"] for about in of_sides) if source]
        schemes = [scheme for scheme in dict.fromkeys(about["scheme"] for about in of_sides) if scheme]
        both = phrase(" and ")
        column = "columns {sources}" if len(sources) > 1 else "column {sources}"
        parts = [phrase(column, sources=both.join(sources))] if sources else []
        parts += [both.join(schemes)] if schemes else []
        gold, predicted = (about["spans"] for about in of_sides)
        if layer in lacking:
            parts.append(phrase("{n} gold span, not predicted|{n} gold spans, not predicted", n=gold))
        else:
            what = "{gold} gold and {n} predicted span|{gold} gold and {n} predicted spans"
            parts.append(phrase(what, gold=gold, n=predicted))
        yield f"{cut_label(visible(layer))}: {', '.join(parts)}"
    if empty:
        layers = ", ".join(cut_label(visible(layer)) for layer in empty)
        yield phrase("no spans on either side: {layers}", layers=layers)


def layers_without_spans(inputs: Content) -> list[str]:
    """Return the layers that have spans on no side, if another has some.

    >>> layers_without_spans({"gold": {"layers": {"a": {"spans": 1}, "b": {"spans": 0}}}})
    ['b']
    """
    numbers: dict[str, int] = {}
    for side in inputs.values():
        for layer, about in side["layers"].items():
            numbers[layer] = numbers.get(layer, 0) + about["spans"]
    return [layer for layer, number in numbers.items() if not number] if any(numbers.values()) else []
