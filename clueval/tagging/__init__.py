"""Tags to spans: BIO (IOB2), IOB1, BIOES, BILOU, BMES, BMEOW, IO, IOE1 and IOE2.

Read `schemes` and `decoder`, in this order; `token_schemes` and `lenient_chunks` read tags as seqeval does. This
package does not deal with files, lines or documents.
"""

from __future__ import annotations

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
