"""Labels cut for the screen: a table is as wide as its longest label, so a long one would widen every row.

Text, Markdown and web pages cut labels; JSON, CSV and TSV have them in full.
"""

from __future__ import annotations

LONGEST_LABEL = 60
"""The number of characters of a label or a name that are shown."""

LONGEST_TEXT = 200
"""The number of characters that are shown of a cell with text from the corpus."""


def cut_label(label: str, longest: int = LONGEST_LABEL) -> str:
    """Return a label as it is shown: a label longer than `longest` is cut there and ends with ``…``.

    >>> cut_label("PER"), len(cut_label("x" * 1000))
    ('PER', 61)
    """
    return label if len(label) <= longest else f"{label[:longest]}…"
