"""JSON for people to read, as `json.dumps` writes it with an indentation of two, in less than half the time.

The fast encoder of the standard library, written in C, cannot indent; the slow one takes seconds for a
report on 100,000 labels. Such a report consists mostly of dictionaries of plain numbers. The fast encoder
writes these here, with separators that break the lines.

The published JSON Schemas of results, ``score`` and ``conventions``, are files of the package.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from json import JSONEncoder
from typing import Any

from clueval.files.errors import UsageError, escaped_in_json
from clueval.files.options import require_kind


def dumps(value: Any) -> str:
    """Return a value as JSON: the same as ``json.dumps(value, ensure_ascii=False, indent=2)``, if keys are
    strings.

    Characters that could control a terminal are escapes.

    >>> print(dumps({"labels": {"PER": 1, "LOC": 0.5}, "none": []}))
    {
      "labels": {
        "PER": 1,
        "LOC": 0.5
      },
      "none": []
    }
    """
    return escaped_in_json(_written(value, "\n  "))


def _written(value: Any, line: str) -> str:
    """Return a value as JSON; `line` is the line end and indentation before each of its items."""
    if not value or not isinstance(value, dict | list | tuple):
        return _encoder(line).encode(value)
    if isinstance(value, dict):
        return _dictionary_text(value, line)
    items = [_written(item, f"{line}  ") for item in value]
    return f"[{line}{f',{line}'.join(items)}{line[:-2]}]"


def _dictionary_text(value: Mapping[str, Any], line: str) -> str:
    encode = _encoder(line).encode
    if _PLAIN.issuperset(map(type, value.values())):
        inside = encode(value)[1:-1]
    else:
        deeper = f"{line}  "
        inside = f",{line}".join([f"{encode(key)}: {_written(item, deeper)}" for key, item in value.items()])
    return f"{{{line}{inside}{line[:-2]}}}"


_PLAIN = {int, float, bool, str, type(None)}
"""Types of values that take one line."""


@cache
def _encoder(line: str) -> JSONEncoder:
    """Return an encoder that writes the items of one dictionary, each on a line."""
    return JSONEncoder(ensure_ascii=False, separators=(f",{line}", ": "))


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
