"""Which format a file has: its name, its first lines and its first JSON row tell, in one place; so do rows in memory.

A description is imported when it is needed: by name, or if the beginning of a file has one of its marks.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module
from typing import Any, NoReturn

from clueval.files.errors import FormatError, UsageError
from clueval.formats.column_format import ColumnFormat
from clueval.formats.dialect import Dialect, described_rows, has_sign, keys_of
from clueval.formats.file_format import FileFormat
from clueval.formats.input_file import Head
from clueval.formats.markup import Markup
from clueval.formats.names import ALL, NAMES, RECOGNISED, Described

Form = Dialect | ColumnFormat | Markup | FileFormat
"""The description of a format."""


@cache
def _form(entry: Described) -> Form:
    form: Form = getattr(import_module(f"clueval.formats.{entry.module}"), entry.value)
    return form


def all_forms() -> list[Form]:
    """Return all descriptions; several may have the name of one format."""
    return list(map(_form, ALL))


def forms_named(name: str) -> list[Form]:
    """Return the descriptions of a format; `name` may be a description of rows, ``text=a,spans=b``.

    Raises `UsageError` for an unknown name.
    """
    if "=" in name:
        return [described_rows(name)]
    if name not in NAMES:
        raise UsageError(f"unknown format {name!r}", advice=f"one of {', '.join(NAMES)}")
    return [_form(entry) for entry in ALL if entry.name == name]


def form_by_name(file: str, name: str | None = None) -> Form | None:
    """Return the description of a format that its name or that of a file tells; None if the content must.

    Raises `UsageError` for an unknown name.
    """
    if name is not None:
        forms = forms_named(name)
        return forms[0] if len(forms) == 1 else None
    ending = file.removesuffix(".gz")
    return next((_form(entry) for entry in ALL if ending.endswith(entry.endings or "\n")), None)


def form_of(head: Head, name: str | None = None) -> Form:
    """Return the description of the format of a file, given its beginning, and its name if it is known.

    Raises `UsageError` for an unknown name, and `FormatError` for a file that no format has.

    >>> form_of(Head("a.jsonl", '{"text": "Ada", "label": []}', lambda: {"text": "Ada", "label": []})).name
    'doccano'
    >>> form_of(Head("a.txt", "Ada\\tB-PER\\n", lambda: None)).name
    'conll'
    """
    if (known := form_by_name(head.file_name, name)) is not None:
        return known
    if name is not None:
        return _of_name(forms_named(name), head)
    if head.is_json:
        return _of_row(head.first(), head.file_name)
    refuse_unread_text(head)
    entries = [
        entry for entry in RECOGNISED if not entry.is_json and (head.is_one_text or not entry.is_one_text)
    ]
    for entry in entries:
        has_mark = any(mark in line for mark in entry.marks or ("",) for line in head.lines or ("",))
        if has_mark and (form := _form(entry)).is_told(head):
            return form
    return refuse_text(head, ", ".join(dict.fromkeys(entry.name for entry in entries)))


def _of_row(row: Any, file: str | None) -> Form:
    if row is None:
        return forms_named("doccano")[0]
    head = Head("", "", lambda: row)
    keys = row if isinstance(row, dict) else ("[]",)
    for entry in RECOGNISED:
        has_mark = not entry.marks or any(mark in keys for mark in entry.marks)
        if entry.is_json and has_mark and (form := _form(entry)).is_told(head):
            return form
    return refuse_row(row, file)


def _of_name(forms: list[Form], head: Head) -> Form:
    """Return the description that fits the beginning, or whose spans a row has, or the most general one."""
    if len(forms) == 1:
        return forms[0]
    told = next((form for form in forms if form.is_told(head)), None)
    if told is not None:
        return told
    dialects = [form for form in forms if isinstance(form, Dialect)]
    row = head.first() if dialects else None
    having = (form for form in dialects if (form.is_row([]) if row is None else _has_spans(row, form)))
    return next(having, dialects[0] if dialects else forms[-1])


def _has_spans(row: Any, dialect: Dialect) -> bool:
    return isinstance(row, dict) and any(key in row for key in keys_of(dialect.spans))


def reads_rows(form: Form) -> bool:
    """Return whether documents of a format may be rows in memory."""
    return isinstance(form, Dialect) or (isinstance(form, FileFormat) and form.rows is not None)


def form_of_rows(row: Any, name: str | None = None, file: str | None = None) -> Form:
    """Return the description of rows, given the first one that is no empty list, None if there is none.

    Raises `UsageError` for a format whose documents are no rows, and `FormatError` for rows that no format has.

    >>> form_of_rows({"text": "Ada", "label": [[0, 3, "PER"]]}).name
    'doccano'
    """
    forms = [_of_row(row, file)] if name is None else forms_named(name)
    of_rows = [form for form in forms if reads_rows(form)]
    if not of_rows:
        names = ", ".join(dict.fromkeys(form.name for form in all_forms() if reads_rows(form)))
        raise UsageError(f"documents of the format {forms[0].name!r} are not rows", advice=f"one of {names}")
    return of_rows[0] if name is None else _of_name(of_rows, Head("", "", lambda: row))


# Files and rows that are not read

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
    from clueval.formats.conll import is_csv  # only for a message

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
    documents = first.get("documents") if isinstance(first, dict) else None
    first = documents[0] if isinstance(documents, list) and documents else first
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
