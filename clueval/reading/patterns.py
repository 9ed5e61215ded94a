"""Patterns of paths, such as ``gold/*.conll``: ``*``, ``?`` and ``[...]`` stand for text of a name, ``**`` for folders.

A pattern stands for the files that match it, by name, without hidden files. Two patterns are paired by the text that
their wildcards stand for. A file or folder whose name is the pattern itself is that file or folder.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from clueval.exceptions import FileError, UsageError

_WILDCARD = re.compile(r"(\*\*/|\*\*|\*|\?|\[!?[^\]]+\])")


def is_pattern(path: Path) -> bool:
    """Return whether a path is a pattern: it has a wildcard, and nothing has this very name."""
    return _WILDCARD.search(str(path)) is not None and not os.path.lexists(path)


def files_of_pattern(pattern: Path) -> list[tuple[str | None, Path]]:
    """Return the files that match a pattern, by their names below its folder, sorted. Raises `FileError` for none."""
    return [(name, path) for _, name, path in _matches(pattern)]


def pattern_pairs(gold: Path, predicted: Path) -> list[tuple[str | None, Path, Path]]:
    """Return the pairs of files of two patterns, whose wildcards stand for the same text in both.

    Raises `UsageError` if only one side is a pattern or the numbers of their wildcards differ, `FileError` for a
    file without counterpart.
    """
    numbers = [len(_WILDCARD.findall(str(side))) if is_pattern(side) else 0 for side in (gold, predicted)]
    if numbers[0] != numbers[1]:
        raise UsageError(
            f"the pattern {str(gold)!r} has {numbers[0]} wildcards and {str(predicted)!r} has {numbers[1]}",
            advice="both need the same number, because files are paired by what the wildcards stand for",
        )
    own, other = ({text: (name, path) for text, name, path in _matches(side)} for side in (gold, predicted))
    for text in sorted(own.keys() ^ other.keys()):
        there, missing = (own, predicted) if text in own else (other, gold)
        raise FileError(
            f"matches no file for {there[text][1]}",
            file=str(missing),
            advice="files are paired by what the wildcards stand for",
        )
    return [(name, path, other[text][1]) for text, (name, path) in own.items()]


def _matches(pattern: Path) -> Iterator[tuple[tuple[str, ...], str, Path]]:
    """Yield the text of the wildcards, the name below the pattern's folder and the path of each file, sorted."""
    from glob import glob

    text = pattern.as_posix()
    parts = _WILDCARD.split(text)
    expression = re.compile("".join(map(_expression, parts)), re.DOTALL)
    folder = parts[0].rpartition("/")[0]
    named = glob(text, recursive=True)  # noqa: PTH207  # Path.glob takes no pattern that begins at the root
    found = sorted(path for path in named if Path(path).is_file())
    if not found:
        raise FileError("no file matches this pattern", file=str(pattern))
    for path in found:
        match = expression.fullmatch(Path(path).as_posix())
        name = Path(path).relative_to(folder) if folder else Path(path)
        yield match.groups(default="") if match else (path,), name.as_posix(), Path(path)


def _expression(part: str) -> str:
    """Return the regular expression of a wildcard, or of the text between two."""
    known = {"**/": "(.*/)?", "**": "(.*)", "*": "([^/]*)", "?": "([^/])"}
    if part in known:
        return known[part]
    if _WILDCARD.fullmatch(part):
        return f"([{'^' if part[1] == '!' else ''}{part[1:-1].removeprefix('!')}])".replace("\\", "\\\\")
    return re.escape(part)
