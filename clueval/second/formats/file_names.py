"""The names of the files of a folder in which each document is written to a file of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain, count
from unicodedata import normalize

_DEVICE = re.compile(r"(con|prn|aux|nul|com[\d¹²³]|lpt[\d¹²³])(\.|$)", re.IGNORECASE)
"""Names that mean devices on Windows, whatever follows a period."""

_LONGEST = 200
"""The greatest length of a name in bytes; systems have 255, and an ending follows."""


class FileNames:
    """Gives documents names that are different on each system."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def of(self, identifier: str) -> str:
        """Return the name, without its ending, of the file of the document with an id.

        >>> names = FileNames()
        >>> [names.of(each) for each in ("a/b", "A_b", "con.txt", ".x")]
        ['a_b', 'A_b-2', '_con.txt', 'x']
        """
        name = "".join(c if c.isalnum() or c in "-_." else "_" for c in identifier).lstrip(".") or "_"
        name = f"_{name}" if _DEVICE.match(name) else name
        name = name.encode()[:_LONGEST].decode(errors="ignore")
        name = next(each for each in _numbered(name) if _compared(each) not in self._taken)
        self._taken.add(_compared(name))
        return name


def _numbered(name: str) -> Iterator[str]:
    return chain([name], (f"{name}-{number}" for number in count(2)))


def _compared(name: str) -> str:
    """Return a name as systems compare it that do not tell A from a, or one way to write ä from the other.

    >>> _compared("A_b") == _compared("a_B")
    True
    """
    return normalize("NFC", normalize("NFC", name).casefold())
