"""Files and rows that are not read: what they are, and what to do."""

from __future__ import annotations

import re
from typing import Any, NoReturn

from clueval.core.tags import is_tag
from clueval.files.errors import FormatError
from clueval.second.formats.dialect import has_sign
from clueval.second.formats.head import Head

_ROWS = (
    (
        "confidenceScore",
        "has entities of Azure, which counts positions in text elements and not in characters",
        'ask Azure for positions in code points (stringIndexType), and write {"text": ..., "spans": [...]}',
    ),
    (
        "entity_group start",
        "has spans without texts, as a Hugging Face pipeline returns them",
        'write a row for each text, {"text": ..., "spans": [...]}, or score the lists in Python',
    ),
    (
        "entity start",
        "has tokens without texts, as a Hugging Face pipeline returns them",
        "call it with aggregation_strategy='simple', and write a row for each text, "
        '{"text": ..., "entities": [...]}',
    ),
    (
        "entities !text !tokens",
        "has entities without texts",
        "add the text of each row, or input='mentions' if the entities are the answers of a language model",
    ),
    (
        "start end",
        "has spans without texts",
        'write a row for each text, {"text": ..., "spans": [...]}, or score the lists in Python',
    ),
)
"""Signs of rows that are not read: what is wrong, and what to do."""


_TEXTS = (
    (
        re.compile("\ufffd\ufffd.?\0"),
        "is UTF-16",
        "save the file as plain text in UTF-8, in Excel as 'CSV UTF-8'",
    ),
    (
        re.compile(r'c=".*" \d+:\d+ \d+:\d+\|\|t="'),
        "has concepts of i2b2 by line and word",
        "see clueval guide howto-i2b2 for a few lines of Python that do",
    ),
    (
        re.compile(r"[\w.-]+\|[ta]\|"),
        "is PubTator's format: a title and an abstract after bars, and spans below them",
        "see clueval guide howto-brat for a few lines of Python that convert it",
    ),
    (
        re.compile("PK\x03\x04|\ufffd*\x11\u0871\x1a"),
        "is a file of Word, Excel or another office program",
        "save a table as CSV or with tabs, and a text as plain text, in UTF-8",
    ),
    (re.compile("%PDF-"), "is a PDF file", "save its text as plain text, in UTF-8"),
)
"""What the first line of a file is like, what it is, and what to do."""


def is_csv(line: str) -> bool:
    """Return whether a first line has values that are separated by commas or semicolons, and no tag.

    >>> [is_csv(line) for line in ("Sentence #,Word,POS,Tag", '"id";"text"', "a,b B-X", ", ,")]
    [True, True, False, False]
    """
    fields = line.split()
    return bool(
        fields
        and line[0] != "#"
        and not {"\t", "\r"} & {*line}
        and re.search(r"\w\"?[,;]\"?\w", fields[-1])
        and not any(map(is_tag, fields))
    )


def refuse_unread_text(head: Head) -> None:
    """Raise `FormatError` for a file that is known, but not read."""
    for pattern, problem, advice in _TEXTS:
        if pattern.match(head.first_line):
            raise FormatError(
                f"{problem}, which clueval does not read", file=head.file_name, line=1, advice=advice
            )


def refuse_text(head: Head, tried: str) -> NoReturn:
    """Raise the `FormatError` for a file that no format has; `tried` are the names of those that were tried."""
    if "\r" in head.text:
        raise FormatError(
            "a carriage return without a line feed",
            file=head.file_name,
            line=head.text.count("\n", 0, head.text.index("\r")) + 1,
            advice="end lines with LF or CRLF",
        )
    if is_csv(head.first_line):
        raise FormatError(
            "the format is not recognised: the first line has commas or semicolons",
            file=head.file_name,
            line=1,
            advice="separate the columns of tokens and tags by tabs, and sentences by empty lines (see clueval guide "
            "howto-conll); a table of spans has the columns document, start, end_exclusive and label",
        )
    raise FormatError(
        "the format is not recognised: no format has such first lines",
        file=head.file_name,
        line=1,
        advice=f"name it with input=...; tried {tried}; 'clueval formats' shows how each is recognised",
    )


def refuse_row(row: Any, file: str | None) -> NoReturn:
    """Raise the `FormatError` for rows that no format has, given the first one."""
    first = row[0] if isinstance(row, list | tuple) and row else row
    entities = first.get("entities") if isinstance(first, dict) else None
    entity = entities[0] if isinstance(entities, list) and entities else None
    if has_sign(row, "clueval signature"):
        advice = "give the files with spans; compare and gates read results that save=... wrote"
        raise FormatError("is a report or a saved result of clueval", file=file, line=1, advice=advice)
    for sign, problem, advice in _ROWS:
        if has_sign(first, sign) or (sign == "confidenceScore" and has_sign(entity, sign)):
            raise FormatError(problem, file=file, line=1, advice=advice)
    raise FormatError(
        "the format is not recognised: no format has such keys",
        file=file,
        line=1,
        advice="name it with input=..., or its keys with row='text=...,spans=...,label=...,start=...,end=...'; "
        "'clueval formats' shows how each is recognised",
    )
