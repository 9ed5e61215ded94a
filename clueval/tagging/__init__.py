"""Tags to spans: BIO (IOB2), IOB1, BIOES, BILOU, BMES, BMEOW, IO, IOE1 and IOE2.

Read `schemes`, `transitions`, `decoder`, in this order; `token_schemes` and
`lenient_chunks` read tags as seqeval does. This package does not deal with files, lines or documents.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clueval.tagging.decoder import Chunk, count_starts, decode, decode_strictly, decode_tags
    from clueval.tagging.schemes import (
        INVALID,
        OUTSIDE,
        SCHEMES,
        Invalid,
        continues,
        count_illegal,
        detect_scheme,
        first_illegal,
        ill_formed,
        scheme_called,
        scheme_of,
        split_tag,
    )

_MODULES = {
    "Chunk": "decoder",
    "INVALID": "schemes",
    "Invalid": "schemes",
    "OUTSIDE": "schemes",
    "SCHEMES": "schemes",
    "continues": "schemes",
    "count_illegal": "schemes",
    "count_starts": "decoder",
    "decode": "decoder",
    "decode_strictly": "decoder",
    "decode_tags": "decoder",
    "detect_scheme": "schemes",
    "first_illegal": "schemes",
    "ill_formed": "schemes",
    "scheme_called": "schemes",
    "scheme_of": "schemes",
    "split_tag": "schemes",
}
"""The module that defines each name; it is imported when the name is first used."""

__all__ = [
    "INVALID",
    "OUTSIDE",
    "SCHEMES",
    "Chunk",
    "Invalid",
    "continues",
    "count_illegal",
    "count_starts",
    "decode",
    "decode_strictly",
    "decode_tags",
    "detect_scheme",
    "first_illegal",
    "ill_formed",
    "scheme_called",
    "scheme_of",
    "split_tag",
]


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
