"""What readers of formats are told besides the file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class FormatOptions:
    """The options that formats read; None: not given.

    Attributes:
        layers: the source of each layer by its name.
        scheme, invalid: the scheme of tags, and the treatment of ill-formed ones.
        annotation_set: the annotation set that is read; `EVERY_SET`: each is a layer.
        offsets: the unit of positions in the file, one of `clueval.second.formats.reference.OFFSETS`.
        answers: ``accepted`` passes over rows that an annotator has rejected.
        names: the names of tags that are numbers, or a file that has them.
        text_key: the key of the text, where a row has several texts.
        unplaced: whether mentions without a place in the text are spans at its beginning.
        token, token_id: the columns of tokens and of their ids, from 1, or from -1 at the end.
        document_column: the column of the ids of documents; a document begins where its value changes.
        meta: the names and columns of metadata.
        document_tag, sentence_tag: the names of these elements in vertical text.
    """

    layers: Mapping[str, int | str] | None = None
    scheme: str | None = None
    invalid: str | None = None
    annotation_set: str | None = None
    offsets: str | None = None
    answers: str | None = None
    names: Any = None
    text_key: str | None = None
    unplaced: bool = False
    token: int | None = None
    token_id: int | None = None
    document_column: int | None = None
    meta: tuple[tuple[str, int], ...] = ()
    document_tag: str = "text"
    sentence_tag: str = "s"


EVERY_SET = "*"
"""The name that selects all annotation sets: each is a layer then."""
