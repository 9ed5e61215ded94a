"""The published JSON Schemas of results: ``score`` and ``conventions``, files of the package."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

from clueval.exceptions import UsageError, checked_call

SCHEMAS = ("score", "conventions")
"""The commands whose JSON has a schema."""


@checked_call
def schema(command: str = "score") -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of what ``clueval COMMAND --format json`` prints.

    Raises `UsageError` for a command without one.

    >>> schema("score")["title"]
    'clueval score --format json'
    """
    if command not in SCHEMAS:
        raise UsageError(f"there is no schema of {command!r}", advice=f"one of {', '.join(SCHEMAS)}")
    text = (files("clueval") / "schemas" / f"{command}.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found
