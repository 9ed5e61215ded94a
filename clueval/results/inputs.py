"""What a result says of its input, from what was read."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from clueval.core.document import MENTION
from clueval.core.read import Read
from clueval.core.span import SIDES, Span

DOCUMENTS = "documents"
"""The format of a side that is in memory."""


def inputs_of(read: Read, layers: Iterable[str], without: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Return for each side its format, its number of files, and its layers; `without` are left out.

    Of a layer: ``source`` (the column, from 1, or a key) and ``scheme``, both None if its spans do not come from tags,
    and the number of ``spans`` as they were read. Both sides have all layers, in this order.
    """
    names = dict.fromkeys([*layers, *(layer for _, layer in [*read.spans, *read.sources])])
    left_out = {*without}
    return {
        side: {
            "format": _joined(read.formats.get(side, ())) or DOCUMENTS,
            "files": read.files[side],
            "layers": {name: _layer(read, side, name) for name in names if name not in left_out},
        }
        for side in SIDES
    }


def _layer(read: Read, side: str, layer: str) -> dict[str, Any]:
    sources = read.sources.get((side, layer), ()) if read.files[side] else ()
    return {
        "source": next(iter(sources)) if len(sources) == 1 else _joined(map(str, sources)),
        "scheme": _joined(_schemes(read, side, layer)),
        "spans": read.spans[side, layer],
    }


def _schemes(read: Read, side: str, layer: str) -> list[str]:
    """Return the schemes of a layer in the files of a side, or in lists of tags."""
    return [
        scheme
        for (of_side, file, of_layer), scheme in read.schemes().items()
        if (of_side, of_layer) == (side, layer) and scheme is not None and (read.files[side] or file is None)
    ]


def schemes_of(read: Read) -> str:
    """Return the schemes of both sides for a signature; ``GOLD:PREDICTED`` if they differ."""
    sides = []
    for side in SIDES:
        layers = dict.fromkeys(layer for of_side, _, layer in read.schemes() if of_side == side)
        of_layers = [_joined(_schemes(read, side, layer)) for layer in layers]
        parts = dict.fromkeys(part for scheme in of_layers if scheme for part in scheme.split("+"))
        sides.append("+".join(parts) or "none")
    return ":".join(dict.fromkeys(sides))


def passed_over_of(read: Read) -> dict[str, dict[str, int]]:
    """Return what the formats of each side did not read, by kind."""
    return {
        side: {
            kind: number for (of, kind), number in sorted(read.passed_over.items()) if of == side and number
        }
        for side in SIDES
    }


class Unplaced(NamedTuple):
    """A span without a place in the text of gold, in its own positions, and the id of its document.

    A mention of a language model has no positions; its feature `MENTION` has its text.
    """

    document: str
    span: Span

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of the result; a mention has its text, and None for its positions."""
        span = self.span
        if MENTION in span.features:
            place: dict[str, Any] = {"start": None, "end_exclusive": None, "text": span.features[MENTION]}
        else:
            place = {"start": span.start, "end_exclusive": span.end}
        return {"document": self.document, "label": span.label, **place}


def _joined(values: Iterable[str]) -> str | None:
    """Return different values joined by ``+``, in order; None if there are none."""
    parts = {part for value in values for part in value.split("+")}
    return "+".join(sorted(parts)) or None
