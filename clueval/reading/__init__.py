"""Reading: the sides of a corpus, of files or in memory, as documents, and the fast way of counting them.

Column files, lists of tags and plain spans become a bag without documents. `clusters` is the heart of it: rows of tags
as text, cut where all sides are outside every span; it takes lists of tags. `column_files` reads files, as bytes
(`byte_reader`) or as text (`passages`); `triples` takes spans. The bag is that of `clueval.core.count.count` for the
documents of the same corpus. What is unusual is left to that way, which also finds every error. `span_lists` has the
functions of lists of spans, which count nothing.

Here stand what a side may be, and what becomes of the documents of a text, wherever these come from.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clueval.core.document import UNANNOTATED, Document, same_id
from clueval.core.tags import is_tag
from clueval.files.errors import UsageError

if TYPE_CHECKING:
    from clueval.core.bag import Read

InputSide = str | PathLike[str] | Document | Iterable[Any]
"""One side as people give it: a path, a document, or an open file, list, iterator or dictionary of items."""

Text = tuple[Document, ...]
"""The documents of one text, one for each side."""


def answers_in_gold(side: str, file: str | None) -> UsageError:
    return UsageError(
        f"{side} has answers of a language model, which have no text",
        file=file,
        advice="give gold with texts and spans; rows with other keys need row='text=...,spans=...'",
    )


def with_id_of(first: Document, other: Document, *, is_nameless: bool = False) -> Document:
    """Return a document with the id of the first of its text if one has none; `is_nameless`: in any case."""
    if first.id == other.id or not (is_nameless or same_id(first.id, other.id)):
        return other
    return replace(other, id=first.id)


def checked_texts(texts: Iterable[Text], names: Sequence[str], read: Read | None) -> Iterator[Text]:
    """Yield the texts that the first side has annotated; sides after the second must have the text of the first.

    `read` gets the number of the other texts.
    """
    for text in texts:
        if UNANNOTATED in text[0].metadata:
            if read is not None:
                read.passed_over[names[0], UNANNOTATED] += 1
            continue
        if len(text) > 2:
            from clueval.reading.same_text import require_same_text  # two sides: where they are counted

            for name, document in zip(names[2:], text[2:], strict=True):
                require_same_text(text[0], document, (names[0], name))
        yield text


# Paths and open files

STDIN = "-"
"""The path that stands for standard input."""


def _is_path(side: object) -> bool:
    return isinstance(side, str | PathLike) or is_open_file(side)


def is_path_or_paths(side: object) -> bool:
    """Return whether a side is a path, an open file, or a list of them; strings that are tags are tags."""
    if not isinstance(side, list | tuple):
        return _is_path(side)
    return bool(side) and all(map(_is_path, side)) and not (isinstance(side[0], str) and is_tag(side[0]))


def is_open_file(side: object) -> bool:
    """Return whether an argument is an open file, of text or bytes."""
    return hasattr(side, "read") and hasattr(side, "readline")


def is_read_once(side: object) -> bool:
    """Return whether a side can be read only once: an open file or an iterator, or a list or dictionary with one."""
    items = side.values() if isinstance(side, Mapping) else side if isinstance(side, list | tuple) else ()
    return _needs_spooling(side) or any(
        issubclass(kind, Iterator) for kind in {type(side), *map(type, items)}
    )


def _needs_spooling(side: object) -> bool:
    """Return whether an argument is standard input, an open file, or a list of files with one of them."""
    files: Iterable[object] = [side]
    if isinstance(side, list | tuple) and side and not isinstance(side[0], list | tuple):
        files = side
    return any(map(_is_open, files))


def _is_open(file: object) -> bool:
    return is_open_file(file) or (isinstance(file, str | Path) and str(file) == STDIN)


@contextmanager
def spooled(*sides: Any) -> Iterator[list[Any]]:
    """Provide the arguments with a path in place of standard input and of each open file; other arguments unchanged.

    Raises `UsageError` if standard input is used twice, `FileError` for a file that cannot be read.
    """
    if not any(map(_needs_spooling, sides)):
        yield list(sides)
        return
    from clueval.files.opening import copies  # not needed for what is in memory

    with copies() as copy:

        def path(file: Any) -> Any:
            return copy(file) if _is_open(file) else file

        yield [list(map(path, side)) if isinstance(side, list | tuple) else path(side) for side in sides]
