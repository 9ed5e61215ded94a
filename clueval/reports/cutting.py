"""Labels cut for the screen: a table is as wide as its longest label, so a long one would pad every row.

Text, Markdown and web pages cut; JSON, CSV and TSV have everything whole.
"""

from __future__ import annotations

LONGEST_LABEL = 60
"""How many characters of a label or a name are shown."""

LONGEST_TEXT = 200
"""How many characters are shown of a cell that holds a text of the corpus."""


def cut_label(label: str, longest: int = LONGEST_LABEL) -> str:
    """A label as it is shown: after the first `longest` characters comes ``…``, and nothing more.

    >>> cut_label("PER"), len(cut_label("x" * 1000))
    ('PER', 61)
    """
    return label if len(label) <= longest else f"{label[:longest]}…"
