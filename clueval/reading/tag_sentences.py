"""Lists of tags, one for each sentence, as documents; and other golds of the same documents, in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from os import PathLike
from typing import Any

from clueval.core.span import DEFAULT_LAYER, SIDES
from clueval.files.errors import CluevalError, TagError, UsageError, described
from clueval.reading.given import Given, given
from clueval.reading.items import document_of_tags, materialised, pairs, place_of
from clueval.reading.same_text import require_same_text
from clueval.second.formats.options import Reading
from clueval.spans.document import Document
from clueval.tagging.decoder import BadTag, Decoder
from clueval.tagging.schemes import OUTSIDE, count_illegal, neighbours_of, split_tag

Decoders = Mapping[tuple[str, str], Decoder]
"""The decoder of each side, by side and layer."""


class TagOptions:
    """The scheme and the treatment of ill-formed tags of each side. Raises `UsageError` if the scheme is needed."""

    def __init__(self, schemes: Sequence[str | None], treatments: Sequence[str | None]) -> None:
        self.schemes = schemes
        self.treatments = [treatment or "conlleval" for treatment in treatments]
        for scheme, treatment in zip(self.schemes, self.treatments, strict=True):
            if scheme is None and treatment != "conlleval":
                raise UsageError(
                    f"invalid={treatment!r} needs the scheme of the tags",
                    advice="name it, as in scheme='BIO'",
                )

    @property
    def lenient(self) -> bool:
        """Whether spans depend only on their own tags and the adjacent ones, in the same way on both sides."""
        both = list(self.decoders().values())
        return (
            all(decoder.reads_neighbours for decoder in both)
            and both[0].treatment == both[1].treatment
            and both[0].named_scheme == both[1].named_scheme
        )

    def decoders(self) -> dict[tuple[str, str], Decoder]:
        """Return new decoders."""
        options = zip(SIDES, self.schemes, self.treatments, strict=True)
        return {(side, DEFAULT_LAYER): Decoder(scheme, how, side) for side, scheme, how in options}


def documents_of_tags(
    given: Given, options: TagOptions, decoders: Decoders
) -> Iterator[tuple[Document, Document]]:
    """Yield the sentences of both sides as documents; the decoders count their tags."""
    for number, pair in enumerate(pairs(given.gold, given.predicted, "sentences")):
        id_ = str(number) if given.ids is None else given.ids[number]
        sentences = [materialised(tags) for tags in pair]
        require_lengths([sentences[0]], [sentences[1]], number, given.ids)
        documents = []
        for side, tags, scheme, invalid in zip(
            SIDES, sentences, options.schemes, options.treatments, strict=True
        ):
            place = place_of(side, number, given.ids)
            try:
                document = document_of_tags(tags, id_, place, scheme=scheme, invalid=invalid)
                decoders[side, DEFAULT_LAYER].accept(tags, neighbours_of(tags))
            except (CluevalError, TypeError, ValueError) as error:  # arrays have no truth value
                _require_tags(sentences, options.schemes[0], number, given.ids)
                if isinstance(error, BadTag):
                    raise TagError(f"{place}: {error.problem}", advice=error.advice) from None
                raise
            documents.append(document)
        yield documents[0], documents[1]
    for decoder in decoders.values():
        decoder.scheme()  # raises `TagError` for tags of two schemes


def _require_tags(
    sides: Sequence[Sequence[Any]], scheme: str | None, number: int, ids: Sequence[str] | None
) -> None:
    """Raise the error of the first value of a sentence of both sides that is no tag of the scheme, with its place."""
    for side, tags in zip(SIDES, sides, strict=True):
        for position, tag in enumerate(tags):
            place = f"{place_of(side, number, ids)}[{position}]"
            if not isinstance(tag, str):
                problem = f"{place}: {described(tag)} is not a tag"
                raise UsageError(problem, advice="tags are text, such as 'B-PER'")
            try:
                split_tag(tag)
                if scheme is not None:
                    count_illegal({(OUTSIDE, tag): 1}, scheme)
            except CluevalError as error:
                error.problem = f"{place}: {error.problem}"
                raise


def require_lengths(
    gold: Sequence[Any], predicted: Sequence[Any], done: int, ids: Sequence[str] | None
) -> int:
    """Return the number of tokens. Raises `UsageError` for sentences that differ in length, or are no lists."""
    try:
        lengths, others = list(map(len, gold)), list(map(len, predicted))
    except TypeError:
        lengths, others = [], []
    if lengths != others or not {*map(type, gold), *map(type, predicted)} <= {list, tuple}:
        for number, pair in enumerate(zip(gold, predicted, strict=True), done):
            for side, tags in zip(SIDES, pair, strict=True):
                if isinstance(tags, str) or not isinstance(tags, Sequence):
                    raise UsageError(
                        f"{place_of(side, number, ids)} is {described(tags)}, not a list of tags",
                        advice="give a list of tags for each sentence",
                    )
            if len(pair[0]) != len(pair[1]):
                raise UsageError(
                    f"sentence {number} has {len(pair[0])} gold and {len(pair[1])} predicted tags"
                    if ids is None
                    else f"document {ids[number]!r} has {len(pair[0])} gold and {len(pair[1])} predicted tags",
                    advice="each token has a tag on both sides",
                )
    return sum(lengths)


def golds_in_memory(gold: Any, golds: Sequence[Any], reading: Reading) -> Iterator[tuple[Document, ...]]:
    """Yield for each document of `gold` those of all other golds, which are given in the same form.

    `reading` has the scheme of tags. Raises `UsageError` for another form or number of documents, `TextMismatch`.
    """
    streams = [
        documents_beside(gold, each, f"any_of[{number}]", reading) for number, each in enumerate(golds)
    ]
    yield from zip(*streams, strict=True)


def kept(gold: Any) -> Any:
    """Return a side that can be read several times: an iterator as a list, and everything else unchanged."""
    return list(gold) if isinstance(gold, Iterator) else gold


def documents_beside(gold: Any, other: Any, name: str, reading: Reading) -> Iterator[Document]:
    """Yield the documents of another side of `gold`; `name` is its name in errors, `reading` has scheme and names."""
    if isinstance(other, str | PathLike):
        raise UsageError(f"gold is in memory, and {name} is a path", advice="give both in one form")
    try:
        for own, document in _pairs(given(gold, other, reading.names), reading):
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
