"""Results as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise

from clueval.files.visible import visible
from clueval.reports.language import numeral, phrase
from clueval.reports.table import Cell, Content, Estimate, Rate, Table, cut_label, with_decimals

MORE = 'all tables: --all, or in Python render("text", all=True)'


def render(
    report: Content,
    tables: Iterable[Table],
    *,
    before: Iterable[str] = (),
    after: Iterable[str] | None = None,
) -> str:
    """Return a report as text: what was read, its tables, the signature; `before` and `after` the tables more lines.

    With lines `after`, the signature is broken, too. Without a report, only the tables.
    """
    lines = [line for table in tables for line in _table(table)]
    if not report:
        return "\n".join(lines)
    end = [f"signature: {visible(report['signature'])}"] if after is None else [*after, *foot(report)]
    return "\n".join([*before, *summary(report), "", *lines, *end])


def narrow(table: Table, columns: int = 100) -> Iterator[Table]:
    """Yield the parts of a table, none wider than this number of characters; each part has the first column.

    >>> wide = Table("labels", ["label", "gold", "found"], [["PER", 3, 2]])
    >>> [(part.title, part.header) for part in narrow(wide, 12)]
    [('labels', ['label', 'gold']), ('labels, continued', ['label', 'found'])]
    """
    widths = _widths(_cells(table.cut()))
    starts, width = [1], widths[0]
    for column, own in enumerate(widths[1:], 1):
        if width + _GAP + own > columns and column > starts[-1]:
            starts.append(column)
            width = widths[0]
        width += _GAP + own
    for number, (start, end) in enumerate(pairwise([*starts, len(widths)])):
        kept = [0, *range(start, end)]
        yield Table(
            phrase("{title}, continued", title=table.title) if number else table.title,
            [table.header[column] for column in kept],
            [[row[column] for column in kept] for row in table.rows],
        )


def summary(report: Content) -> Iterator[str]:
    """Yield the numbers of documents and positions, of what could not be read as it stands, and of each layer's spans.

    Then the method of intervals, if there are some.
    """
    documents, tokens = report["documents"], report["tokens"]
    positions = phrase("{n} position|{n} positions", n=tokens)
    yield f"{phrase('{n} document|{n} documents', n=documents)}, {positions}"
    yield from mended(report["repaired_tags"], report.get("prepared"))
    yield from layers_read(report.get("inputs", {}))
    if "intervals" in report:
        yield from _about_intervals(report["intervals"])


def mended(repaired_tags: Mapping[str, int], prepared: Content | None) -> Iterator[str]:
    """Yield the numbers of repaired tags, and of answers of language models that could not be read, if any."""
    for side, n in repaired_tags.items():
        if n:
            yield phrase("{n} repaired tag in {side}|{n} repaired tags in {side}", n=n, side=phrase(side))
    located = (prepared or {}).get("located", {})
    if located.get("answers") and located["unparsable"]:
        unread, number = located["unparsable"], located["answers"]
        yield phrase("{unread} of {number} answers could not be read", unread=unread, number=number)


def _about_intervals(section: Content) -> Iterator[str]:
    """Yield how intervals were computed, and what to know about them."""
    resampled = (
        f", {section['resamples']:,} resamples, seed {section['seed']}" if section["resamples"] else ""
    )
    yield (
        f"{100 * section['confidence']:g} % intervals by {section['method']} over {section['units']:,} units "
        f"(by {visible(section['resample_by'])}){resampled}"
    )
    for remark in section["remarks"]:
        yield f"remark: {visible(remark)}"


def layers_read(inputs: Content) -> Iterator[str]:
    """Yield a line for each layer with spans: its columns, its schemes and their numbers; one for all others.

    >>> side = {"layers": {"entity": {"source": 2, "scheme": "BIO", "spans": 3}}}
    >>> list(layers_read({"gold": side, "predicted": side}))
    ['entity: column 2, BIO, 3 gold and 3 predicted spans']
    """
    sides = [found["layers"] for found in inputs.values()]
    empty, lacking = layers_without_spans(inputs), layers_not_predicted(inputs)
    for layer in [name for name in sides[0] if name not in empty] if sides else ():
        of_sides = [layers[layer] for layers in sides]
        sources = [str(each) for each in dict.fromkeys(found["source"] for found in of_sides) if each]
        schemes = [each for each in dict.fromkeys(found["scheme"] for found in of_sides) if each]
        both = phrase(" and ")
        column = "columns {sources}" if len(sources) > 1 else "column {sources}"
        parts = [phrase(column, sources=both.join(sources))] if sources else []
        parts += [both.join(schemes)] if schemes else []
        gold, predicted = (found["spans"] for found in of_sides)
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
    for found in inputs.values():
        for layer, about in found["layers"].items():
            numbers[layer] = numbers.get(layer, 0) + about["spans"]
    return [layer for layer, number in numbers.items() if not number] if any(numbers.values()) else []


def layers_not_predicted(inputs: Content) -> list[str]:
    """Return the layers that were named for gold only, if predicted has spans of another.

    >>> gold = {"a": {"source": 2, "spans": 3}, "b": {"source": 3, "spans": 1}}
    >>> predicted = {"a": {"source": 2, "spans": 1}, "b": {"source": None, "spans": 0}}
    >>> layers_not_predicted({"gold": {"layers": gold}, "predicted": {"layers": predicted}})
    ['b']
    """
    gold, predicted = (inputs.get(side, {}).get("layers", {}) for side in ("gold", "predicted"))
    if not any(about["spans"] for about in predicted.values()):
        return []
    lacking = [name for name, about in predicted.items() if about["source"] is None and not about["spans"]]
    return [name for name in lacking if name in gold and gold[name]["source"] is not None]


def foot(report: Content) -> list[str]:
    """Return the signature in lines of at most 80 columns; `Signature.parse` reads them joined or not."""
    text = f"signature: {visible(report['signature'])}"
    lines = []
    while len(text) > _COLUMNS:
        cut = max(text.rfind(mark, len(_INDENT), _COLUMNS) for mark in "|+,") + 1
        cut = cut if cut > len(_INDENT) else _COLUMNS
        lines.append(text[:cut])
        text = f"{_INDENT}{text[cut:]}"
    return [*lines, text]


_COLUMNS = 80
_INDENT = "  "


def _table(table: Table) -> Iterator[str]:
    table = table.cut()
    cells = _cells(table)
    widths = _widths(cells)
    yield visible(table.caption)
    for number, row in enumerate(cells):
        first, *others = row
        yield (
            (" " * _GAP)
            .join([first.ljust(widths[0]), *(c.rjust(w) for c, w in zip(others, widths[1:], strict=True))])
            .rstrip()
        )
        if number == 0:
            yield (" " * _GAP).join("-" * width for width in widths)
    yield ""


_GAP = 2
"""The blanks between two columns of a table."""


def _cells(table: Table) -> list[list[str]]:
    header = [visible(title) for title in table.header]
    return [header, *([shown(cell) for cell in row] for row in table.rows)]


def _widths(cells: Iterable[Iterable[str]]) -> list[int]:
    return [max(map(len, column)) for column in zip(*cells, strict=True)]


def shown(cell: Cell | Rate) -> str:
    """Return a cell as text: rates as percentages, integers with separators, other numbers with 3 decimals."""
    if isinstance(cell, Rate):
        if isinstance(cell.value, Estimate):
            return str(cell.value)
        return "-" if cell.value is None else with_decimals(100 * cell.value, 2)
    if isinstance(cell, str):
        return visible(cell)
    return numeral(int(cell)) if cell == int(cell) else with_decimals(cell, 3)
