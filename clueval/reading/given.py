"""What people give to a function as gold and predicted: paths, tags, spans or documents, in any usual form.

Each side is a file or folder; or it holds one item for each document: a list of tags, a list of spans
(`clueval.spans.span_forms`), a `Document`, a spaCy ``Doc``, a row of a dataset (`clueval.reading.given_sides`). A
dictionary has the ids of documents as keys. A single list of tags or spans is one document. The first item
that is not empty decides; the other items must be of the same kind.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from clueval.exceptions import UsageError
from clueval.reading.pairing import same_documents
from clueval.reading.paths import is_path_or_paths
from clueval.spans.document import Document
from clueval.spans.span import SIDES

if TYPE_CHECKING:
    from clueval.reading.given_sides import GivenSide, Kind

InputSide = str | os.PathLike[str] | Document | Iterable[Any]
"""One side as people give it: a path, a document, or an open file, list, iterator or dictionary of items."""


class Given(NamedTuple):
    """Both sides, of one kind. The items are lists of tags, lists of spans or documents; paths are left as given.

    `golds` are other golds, as they were given.
    """

    kind: Kind
    gold: Any
    predicted: Any
    ids: Sequence[str] | None = None
    golds: Sequence[Any] = ()

    def documents(self) -> Iterator[tuple[Document, Document]]:
        """Yield pairs of documents, of spans or documents, one at a time.

        Raises `UsageError` if one side has more of them.
        """
        from clueval.reading.given_sides import pairs, span_documents

        if self.kind == "documents":
            yield from same_documents(self.gold, self.predicted)
            return
        for number, pair in enumerate(pairs(self.gold, self.predicted, "documents")):
            yield span_documents(pair, number, self.ids)


def given(gold: Any, predicted: Any) -> Given:
    """Return both sides, with their kind. Reads no more of an iterator than its first items.

    Raises `UsageError` for something else, and for sides of different kinds.
    """
    if is_path_or_paths(gold) and (predicted is None or is_path_or_paths(predicted)):
        return Given("paths", gold, predicted)
    from clueval.reading.given_sides import GivenSide, as_examples, side_of  # files do not need it

    if predicted is None:
        gold, predicted = as_examples(gold)
    sides = [side_of(side, name) for side, name in zip((gold, predicted), SIDES, strict=True)]
    kinds = dict.fromkeys(side.kind for side in sides if side.kind is not None)
    if len({side.kind == "paths" for side in sides}) > 1:
        one, other = ("paths" if side.kind == "paths" else "in memory" for side in sides)
        raise UsageError(
            f"gold is {one} and predicted is {other}", advice="give both sides as files, or both in memory"
        )
    if len(kinds) > 1:
        raise UsageError(
            f"gold is {sides[0].kind} and predicted is {sides[1].kind}", advice="give both sides in one form"
        )
    if any(side.nested is False for side in sides):  # the other side may be one empty list
        sides = [side if side.kind or side.items else GivenSide(None, [[]]) for side in sides]
    if len({side.nested for side in sides if side.nested is not None}) > 1:
        one, other = SIDES if sides[1].nested else SIDES[::-1]
        raise UsageError(
            f"{one} is a list of {sides[0].kind} and {other} a list of lists",
            advice="give a list for each document on both sides",
        )
    kind: Kind = next(iter(kinds), "spans")
    if kind == "documents" and any(side.kind is None and side.items for side in sides):
        raise UsageError("one side has documents and the other lists", advice="give both sides in one form")
    return _paired_by_id(kind, sides[0], sides[1])


def _paired_by_id(kind: Kind, gold: GivenSide, predicted: GivenSide) -> Given:
    if gold.ids is None and predicted.ids is None:
        return Given(kind, gold.items, predicted.items)
    if gold.ids is None or predicted.ids is None:
        one, other = SIDES if gold.ids is not None else SIDES[::-1]
        raise UsageError(
            f"{one} is a dictionary by document id and {other} is not", advice="give both in one form"
        )
    for name, own, others in (("gold", gold.ids, predicted.ids), ("predicted", predicted.ids, gold.ids)):
        if alone := sorted(set(own).difference(others)):
            more = f" and {len(alone) - 3} more" if len(alone) > 3 else ""
            raise UsageError(
                f"only {name} has document {', '.join(map(repr, alone[:3]))}{more}",
                advice="both sides need the same documents; an empty list is a document without spans",
            )
    by_id = dict(zip(predicted.ids, predicted.items, strict=True))
    return Given(kind, gold.items, [by_id[id_] for id_ in gold.ids], gold.ids)
