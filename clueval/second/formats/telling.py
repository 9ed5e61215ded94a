"""Which format a file has: its name, its first lines and its first JSON value tell, in one place."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from clueval.core.tags import is_tag
from clueval.second.formats.column_formats import COLUMN_FORMATS, column_format_of
from clueval.second.formats.columns import ColumnFormat
from clueval.second.formats.dialect import Dialect, sign_in_words
from clueval.second.formats.dialects import DIALECTS, dialect_of
from clueval.second.formats.markup import MARKUPS, Markup, markup_of

Form = Dialect | ColumnFormat | Markup
"""The description of a format."""

_JSON = re.compile(r'[\ufeff\s]*(\{\s*("|\}\s*$)|\[\s*([\[{"]|\]\s*(\[|$)))')


class Head(NamedTuple):
    """The beginning of a file: its name, its first block, and a function that returns its first JSON row.

    The row is the first one that is no empty list; None if there is none. The reader that will read the file parses it.
    """

    file_name: str
    text: str
    first: Callable[[], Any]

    @property
    def is_json(self) -> bool:
        """Whether the file begins as JSON does, and not with a token and its tag."""
        line = next((line for line in self.text.split("\n") if line.strip()), "")
        return _JSON.match(self.text) is not None and not is_tag(line.split()[-1])


def form_of(head: Head) -> Form | None:
    """Return the description of the format of a file, or None. Raises `FormatError` for JSON that no format has.

    >>> form_of(Head("a.jsonl", '{"text": "Ada", "label": []}', lambda: {"text": "Ada", "label": []})).name
    'doccano'
    >>> form_of(Head("a.txt", "Ada\\tB-PER\\n", lambda: None)).name
    'conll'
    """
    ending = head.file_name.removesuffix(".gz")
    by_name = next((form for form in COLUMN_FORMATS if ending.endswith(form.endings or "\n")), None)
    if by_name is not None:
        return by_name
    if head.is_json:
        return dialect_of(head.first(), file=head.file_name)
    return markup_of(head.text) or column_format_of(head.file_name, head.text)


def recognised_by(form: Form) -> str:
    """Return in words how files of a format are recognised, as ``clueval formats`` prints it.

    >>> from clueval.second.formats.markup import LTF
    >>> recognised_by(LTF)
    '`<body>` or `<body/>`'
    """
    if isinstance(form, Markup):
        return " or ".join(f"`{sign}`" for sign in form.signs)
    if isinstance(form, Dialect):
        return sign_in_words(form)
    return ", ".join([*(f"`{ending}`" for ending in form.endings), form.sign])


FORMS: tuple[Form, ...] = (*COLUMN_FORMATS, *MARKUPS, *DIALECTS)
"""All descriptions."""
