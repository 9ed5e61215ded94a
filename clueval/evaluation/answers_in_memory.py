"""The documents of answers of language models in memory: texts as the model wrote them, or JSON that has been read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from clueval.core.span import SIDES
from clueval.files.errors import FormatError, UsageError, described
from clueval.formats.inline import inline_answer
from clueval.formats.mentions import mentions_answer
from clueval.reading.items import documents_of, place_of, require_as_many
from clueval.reading.read_options import ReadOptions
from clueval.second.formats.options import Reading
from clueval.second.reading.options import INLINE, MENTIONS, without_answers
from clueval.spans.document import Document


def answers_in_memory(
    gold: Any, predicted: Any, readings: Sequence[Reading]
) -> tuple[list[Document], list[Document], tuple[Reading, ...]]:
    """Return the documents of gold and of the answers, and the options that are left for them."""
    documents = documents_of_answers(gold, predicted, readings[1])
    return *documents, (without_answers(readings[0]), Reading(), *readings[2:])


_Answer = Callable[[Any, str, ReadOptions], Document]

_READERS: Mapping[str, _Answer] = {MENTIONS: mentions_answer, INLINE: inline_answer}
"""By format: returns the document of an answer, from the answer, its id if it names none, and the options."""


def documents_of_answers(
    gold: Any, predicted: Any, reading: Reading
) -> tuple[list[Document], list[Document]]:
    """Return the documents of gold, and those of the answers about them.

    Answers are in the order of gold or by id in a dictionary. In a list, an answer without an id has that of gold.

    Raises `UsageError` for other answers than documents, `FormatError` for an answer that cannot be read.
    """
    documents = list(documents_of(gold, SIDES[0]))
    is_by_id = isinstance(predicted, Mapping)
    answers = list(_by_id(documents, predicted) if is_by_id else _listed(predicted))
    require_as_many(documents, answers, "documents")
    found, options = [], ReadOptions.of(reading)
    for number, (document, answer) in enumerate(zip(documents, answers, strict=True)):
        place = place_of(SIDES[1], number, [each.id for each in documents] if is_by_id else None)
        try:
            found.append(_READERS[str(reading.input)](answer, document.id, options))
        except FormatError as error:
            error.problem, error.file, error.line = f"{place}: {error.problem}", None, None
            raise
    return documents, found


def _listed(predicted: Any) -> Iterable[Any]:
    if isinstance(predicted, str | bytes) or not isinstance(predicted, Iterable):
        raise UsageError(
            f"predicted must not be {described(predicted)}", advice="give one answer for each document"
        )
    return predicted


def _by_id(documents: Iterable[Document], predicted: Mapping[str, Any]) -> Iterator[Any]:
    """Yield the answers in the order of gold. Raises `UsageError` if one is missing or too many."""
    ids = [document.id for document in documents]
    if alone := [repr(each) for each in predicted if each not in ids]:
        raise UsageError(f"only predicted has document {', '.join(alone[:3])}")
    for id_ in ids:
        if id_ not in predicted:
            raise UsageError(
                f"only gold has document {id_!r}", advice="an empty list is an answer without spans"
            )
        yield predicted[id_]
