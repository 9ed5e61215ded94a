"""Making a failing case smaller: fewer commands, fewer lines, fewer bytes, with the same failure."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from .cases import Case
from .running import failure_of


def smallest(case: Case, name: str, seconds: float = 60) -> Case:
    """A smaller case with a failure of the same name; the case itself if that takes too long or it does not fail."""
    until = time.monotonic() + seconds

    def fails(other: Case) -> bool:
        found = failure_of(other) if time.monotonic() < until else None
        return found is not None and found.name == name

    for command in case.commands:
        alone = replace(case, commands=[command])
        if fails(alone):
            case = alone
            break
    for file in list(case.files):
        for end in (b"\n", b""):
            case = _shorter(case, file, end, fails)
    if len(case.commands) == 1:
        for size in (2, 1):  # an option with its value, then single words
            for place in range(len(case.commands[0]) - size, 0, -1):
                words = case.commands[0]
                fewer = replace(case, commands=[[*words[:place], *words[place + size :]]])
                if fails(fewer):
                    case = fewer
    return case


def _shorter(case: Case, file: str, end: bytes, fails: Callable[[Case], bool]) -> Case:
    """The case with as few pieces of a file as will do: ever smaller stretches are left out."""
    data = case.files[file]
    pieces = data.splitlines(keepends=True) if end else [bytes([byte]) for byte in data]
    size = len(pieces)
    while size:
        start = 0
        while start < len(pieces):
            fewer = pieces[:start] + pieces[start + size :]
            other = replace(case, files={**case.files, file: b"".join(fewer)})
            if fails(other):
                case, pieces = other, fewer
            else:
                start += size
        size //= 2
    return case
