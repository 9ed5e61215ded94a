"""The pattern with which the spans in inline text are found."""

from __future__ import annotations

import re

from clueval.exceptions import UsageError


def require_pattern(pattern: str) -> None:
    """Raise `UsageError` for what is no regular expression with the groups text and label."""
    try:
        groups = re.compile(pattern).groupindex.keys()
    except (re.error, OverflowError, RecursionError) as error:
        raise UsageError(
            f"Reading.inline_pattern is not a regular expression: {error}", advice="correct it"
        ) from None
    if not {"text", "label"} <= groups:
        raise UsageError(
            "inline_pattern needs the groups text and label",
            advice=r"as in @@(?P<text>.*?)##(?P<label>\w+)",
        )
