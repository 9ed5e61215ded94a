"""Other golds of the same documents, in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from os import PathLike
from typing import Any

from clueval.exceptions import UsageError
from clueval.reading.given import Given, given
from clueval.reading.options import Reading
from clueval.reading.same_text import require_same_text
from clueval.reading.tag_sentences import TagOptions, documents_of_tags
from clueval.spans.document import Document


def golds_in_memory(gold: Any, golds: Sequence[Any], reading: Reading) -> Iterator[tuple[Document, ...]]:
    """Yield for each document of `gold` those of all other golds, which are given in the same form.

    `reading` has the scheme of tags. Raises `UsageError` for another form or number of documents, `TextMismatch`.
    """
    streams = [_documents(gold, each, f"any_of[{number}]", reading) for number, each in enumerate(golds)]
    yield from zip(*streams, strict=True)


def kept(gold: Any) -> Any:
    """Return a side that can be read several times: an iterator as a list, and everything else unchanged."""
    return list(gold) if isinstance(gold, Iterator) else gold


def _documents(gold: Any, other: Any, name: str, reading: Reading) -> Iterator[Document]:
    if isinstance(other, str | PathLike):
        raise UsageError(f"gold is in memory, and {name} is a path", advice="give both in one form")
    try:
        for own, document in _pairs(given(gold, other), reading):
            require_same_text(own, document, ("gold", name))
            yield document
    except UsageError as error:
        error.problem = error.problem.replace("predicted", name)  # as `given` calls the second side
        raise


def _pairs(found: Given, reading: Reading) -> Iterator[tuple[Document, Document]]:
    if found.kind != "tags":
        return found.documents()
    options = TagOptions([reading.scheme] * 2, [reading.invalid] * 2)
    return documents_of_tags(found, options, options.decoders())
