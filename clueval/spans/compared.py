"""Parts of two parallel texts that have been counted without documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

SIDES = ("gold", "predicted")

_NOTHING: Mapping[Any, Any] = MappingProxyType({})


class Compared(NamedTuple):
    """One part of two parallel texts.

    `documents` is the number of documents that begin in this part, `tokens` its number of positions. `document` and
    `metadata` are the id and the metadata of the document that contains the part, if counts are broken down or filtered
    by document. `has_text` is false for spans without a text. `tallies` holds the counts by metric and sequence, which
    may include those of earlier parts. `unit` is what `tokens` counts. `sentence` is the number, from 1, of the
    first sentence of the part in its document, if no span reaches out of the part and it is as short as can be.
    """

    documents: int
    tokens: int
    document: str = ""
    metadata: Mapping[str, str] = _NOTHING
    has_text: bool = True
    tallies: Mapping[tuple[str, str], Counter[Any]] = _NOTHING
    unit: str = "token"
    sentence: int | None = None
