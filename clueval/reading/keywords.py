"""The keyword arguments that stand for fields of `Reading`, for type checkers; no program imports this module."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypedDict


class ReadingOptions(TypedDict, total=False):
    """The fields of `Reading`, which may be given one by one."""

    input: str | None
    token: int | None
    token_id: int | None
    document_column: int | None
    meta: Mapping[str, int] | Iterable[str]
    scheme: str | None
    invalid: str | None
    document_tag: str
    sentence_tag: str
    text: str | Path | None
    ignore_punct: bool | None
    annotation_set: str | None
    offsets: str | None
    answers: str | None
    names: str | Path | Sequence[str] | Mapping[Any, str] | None
    text_key: str | None
    escapes: str | None
    labels: str | Sequence[str] | None
    inline_pattern: str | None
    unparsable: str | None
    max_line: int
    max_sentence: int
    max_document: int


class SidesOptions(ReadingOptions, total=False):
    """The same for two sides; `gold_set` and `predicted_set` are short for their annotation sets."""

    gold_set: str | None
    predicted_set: str | None
