"""JSON that people read, as `json.dumps` writes it with an indentation of two, in less than half the time.

The encoder of the standard library that is written in C knows no indentation; the other one takes seconds for a
report on 100,000 labels. Nearly all of such a report are dictionaries of plain numbers: those are written in C,
with separators that break the lines.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from json import JSONEncoder
from typing import Any

from clueval.visible import escaped_in_json


def dumps(value: Any) -> str:
    """A value as JSON: the same as ``json.dumps(value, ensure_ascii=False, indent=2)``, with strings for keys.

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
    """A value whose own items stand on lines that begin like this: with a line end and their indentation."""
    if not value or not isinstance(value, dict | list | tuple):
        return _encoder(line).encode(value)
    if isinstance(value, dict):
        return _of_dictionary(value, line)
    items = [_written(item, f"{line}  ") for item in value]
    return f"[{line}{f',{line}'.join(items)}{line[:-2]}]"


def _of_dictionary(value: Mapping[str, Any], line: str) -> str:
    encode = _encoder(line).encode
    if _PLAIN.issuperset(map(type, value.values())):
        inside = encode(value)[1:-1]
    else:
        deeper = f"{line}  "
        inside = f",{line}".join([f"{encode(key)}: {_written(item, deeper)}" for key, item in value.items()])
    return f"{{{line}{inside}{line[:-2]}}}"


_PLAIN = {int, float, bool, str, type(None)}
"""Values that take one line."""


@cache
def _encoder(line: str) -> JSONEncoder:
    """What writes the items of one dictionary, each on a line."""
    return JSONEncoder(ensure_ascii=False, separators=(f",{line}", ": "))
