"""The columns of a table of spans, by its header."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from clueval.core.span_forms import DOCUMENTS, END_INCLUSIVE, ENDS, STARTS, ends_in
from clueval.files.errors import FormatError

_FRAGMENTS = re.compile(r"[0-9]{1,18}-[0-9]{1,18}(;[0-9]{1,18}-[0-9]{1,18})*")

_NUMBERS_OF_ROWS = re.compile(r"(Unnamed: \d+)?")


def is_number_of_row(name: str) -> bool:
    """Return whether a column has the index of pandas, which has no name, or had none in a file.

    >>> is_number_of_row(""), is_number_of_row("Unnamed: 0"), is_number_of_row("label")
    (True, True, False)
    """
    return _NUMBERS_OF_ROWS.fullmatch(name) is not None


def usual(name: str, known: Iterable[str]) -> str:
    """Return the known name that `name` is, perhaps with a capital; any other name unchanged.

    >>> usual("Start", STARTS), usual("Label", STARTS)
    ('start', 'Label')
    """
    small = name[:1].lower() + name[1:]
    return small if small in known else name


def fragments_in(cell: str) -> list[tuple[int, int]] | None:
    """Return the ranges of a discontinuous span, whose ends are inclusive in a cell; None for another text.

    >>> fragments_in("0-2;7-8"), fragments_in("0:2")
    ([(0, 3), (7, 9)], None)
    """
    if not _FRAGMENTS.fullmatch(cell):
        return None
    pairs = (part.split("-") for part in cell.split(";"))
    return sorted((int(first), int(last) + 1) for first, last in pairs)


RESERVED = {
    *(*STARTS, *ENDS, END_INCLUSIVE, *DOCUMENTS),
    *("id", "text", "score", "start_id", "end_id", "fragments"),
}


_NO_LAYERS = {
    *("document", "start", "end", "end_inclusive", "end_exclusive", "fragments"),
    *("id", "text", "start_id", "end_id"),
}
"""The names of columns that cannot be layers, even if they are named as such."""


def known_names(names: Iterable[str]) -> list[str]:
    """Return the names of columns; those of `RESERVED` may begin with a capital."""
    return [usual(name, RESERVED) for name in names]


class Header(NamedTuple):
    """The numbers of the columns of a table, and the name of that of the end."""

    document: int | None
    start: int
    end: int
    end_name: str
    layers: Mapping[str, int]
    width: int
    fragments: int | None
    text: int | None
    score: int | None


def header_of(
    given: Sequence[str],
    layers: Mapping[str, int | str] | None,
    file: str | None,
    number: int,
    *,
    with_id: bool,
) -> Header:
    """Return the uses of the columns; `with_id`: ``id`` is that of the document if no other column names it.

    Raises `FormatError` for a header without start or end, with two columns for one thing, or without a layer that is
    named.
    """
    names = known_names(given)
    places = {name: place for place, name in enumerate(names)}
    if len(places) != len(names):
        raise FormatError(
            "two columns of the header have the same name", file=file, line=number, advice="rename one"
        )
    as_given = {name: place for place, name in enumerate(given)}
    chosen = {}
    for layer, column in (layers or {}).items():
        chosen[layer] = place = _place(column, {**as_given, **places}, len(names))
        if 0 <= place < len(names) and names[place] in _NO_LAYERS:
            raise FormatError(
                f"column {column} is {names[place]!r}, which cannot be a layer",
                file=file,
                line=number,
            )
        if not 0 <= place < len(names):
            raise FormatError(
                f"there is no column {column} for layer {layer!r}",
                file=file,
                line=number,
                advice=f"the columns are {', '.join(names)}",
            )
    others = [name for name, place in places.items() if place not in chosen.values()]
    starts, ends = [name for name in others if name in STARTS], ends_in(others)
    documents = [name for name in others if name in DOCUMENTS] or ["id"] * (with_id and "id" in others)
    for what, found in (("the start", starts), ("the end", ends), ("the document", documents)):
        if len(found) > 1:
            raise FormatError(
                f"several columns of the header are for {what}: {', '.join(found)}",
                file=file,
                line=number,
                advice="remove all but one, or name the layers",
            )
    if not starts or not ends:
        raise FormatError(
            "the header lacks a column 'start' or one column for the end",
            file=file,
            line=number,
            advice="name the end 'end_inclusive' or 'end_exclusive'",
        )
    if layers is None:
        chosen = {
            name: places[name] for name in others if name not in RESERVED and not is_number_of_row(name)
        }
    return Header(
        places[documents[0]] if documents else None,
        places[starts[0]],
        places[ends[0]],
        ends[0],
        chosen,
        len(names),
        *(
            places[name] if name in others and name in places else None
            for name in ("fragments", "text", "score")
        ),
    )


def _place(column: int | str, places: Mapping[str, int], width: int) -> int:
    """Return the place of a column, given by its number or name; -1 if there is none."""
    if isinstance(column, str):
        return places.get(column, -1)
    return column - 1 if column > 0 else width + column
