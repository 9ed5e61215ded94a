"""Puts shapes back into their documents: where a place is, and the text around it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from clueval.findings.context import Context, Contexts
from clueval.spans.document import Document
from clueval.spans.span import Span
from clueval.studies.annotators.disagreement import MOST, Disagreement, kind_of, votes_of
from clueval.studies.annotators.shape import Shape, moved


def placed(
    names: Sequence[str], group: Sequence[Document | None], sequence: str, shapes: Iterable[tuple[int, Shape]]
) -> Iterator[Disagreement]:
    """Yield a row for each shape, given its start, with the readings of all annotators and its context."""
    present = [each for each in group if each is not None]
    document = next((each for each in present if each.end is not None), present[0])
    contexts = Contexts(document, document.sentences)
    for start, shape in shapes:
        end = start + max(mark[1] for reading in shape for mark in reading or ())
        kind, boundary = kind_of(shape)
        context, place = _around(contexts.around(Span(start, end), ()))
        yield Disagreement(
            document.id,
            start,
            end,
            kind,
            boundary,
            {
                name: None if reading is None else moved(reading, start)
                for name, reading in zip(names, shape, strict=False)
            },
            votes_of(shape),
            sequence,
            context,
            place,
            _tokens(document, start, end),
        )


def _tokens(document: Document, start: int, end: int) -> tuple[str, ...]:
    text = document.tokens if document.unit == "token" else document.text
    if text is None or end - start > MOST:
        return ()
    return tuple(text[start - document.start : end - document.start])


def _around(context: Context) -> tuple[str, tuple[int, int]]:
    """Return a context as text, and where the place is in it."""
    text = "… " if context.cut_before else ""
    place = (0, 0)
    for number, piece in enumerate(context.pieces):
        if number and piece.text:
            text += context.joiner
        begin = len(text)
        text += piece.text
        if piece.mark == "own":
            place = (begin, len(text))
    return text + (" …" if context.cut_after else ""), place
