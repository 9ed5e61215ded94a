"""JSON of results for people to read, and the published JSON Schemas: files of the package for ``score`` and
``conventions``."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

from clueval.files.errors import UsageError, escaped_in_json
from clueval.files.options import require_kind


def dumps(value: Any) -> str:
    """Return a value as JSON with an indentation of two; characters that could control a terminal are escapes."""
    return escaped_in_json(json.dumps(value, ensure_ascii=False, indent=2))


SCHEMAS = ("score", "conventions")
"""The commands whose JSON has a schema."""


def schema(command: str = "score") -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of what ``clueval COMMAND --format json`` prints.

    Raises `UsageError` for a command without one.

    >>> schema("score")["title"]
    'clueval score --format json'
    """
    require_kind(command, "str", "command")
    if command not in SCHEMAS:
        raise UsageError(f"there is no schema of {command!r}", advice=f"one of {', '.join(SCHEMAS)}")
    text = (files("clueval") / "schemas" / f"{command}.json").read_text(encoding="utf-8")
    json_schema: dict[str, Any] = json.loads(text)
    return json_schema
