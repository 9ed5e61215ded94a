"""What people give to a function as gold and predicted: paths, tags, spans or documents, in any usual form.

Each side is a file or folder; or it holds one item for each document (`clueval.reading.items`): a list of tags, a list
of spans (`clueval.spans.span_forms`), a `Document`, a spaCy ``Doc``, a row of a dataset. A dictionary has the ids of
documents as keys. A single list of tags or spans is one document. A data frame has one span in each row
(`clueval.reading.data_frames`). The first item that is not empty decides; the other items must be of the same kind.

If one side has documents with texts or tokens, the other side may have lists (`clueval.reading.other_side`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from clueval.core.span import SIDES
from clueval.files.errors import UsageError
from clueval.reading.pairing import same_documents
from clueval.second.reading.paths import is_path_or_paths
from clueval.spans.document import Document, MissingId

if TYPE_CHECKING:
    from clueval.reading.items import GivenSide, Kind, TagNames


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
        if self.kind == "documents":
            yield from same_documents(self.gold, self.predicted)
            return
        from clueval.reading.items import pairs, span_documents

        for number, pair in enumerate(pairs(self.gold, self.predicted, "documents")):
            yield span_documents(pair, number, self.ids)


def given(gold: Any, predicted: Any, names: Any = None) -> Given:
    """Return both sides, with their kind. Reads no more of an iterator than its first items.

    `names` are those of tags that are numbers, as in `Reading.names`.

    Raises `UsageError` for something else, and for sides of different kinds.
    """
    if is_path_or_paths(gold) and (predicted is None or is_path_or_paths(predicted)):
        return Given("paths", gold, predicted)
    from clueval.reading.items import GivenSide, TagNames, side_of  # not needed for files

    if predicted is None:
        gold, predicted = as_examples(gold)
    known = [TagNames.of(names, *each) for each in ((gold, predicted), (predicted, gold))]
    sides = [side_of(*each) for each in zip((gold, predicted), SIDES, known, strict=True)]
    kinds = dict.fromkeys(side.kind for side in sides if side.kind is not None)
    if len({side.kind == "paths" for side in sides}) > 1:
        one, other = ("paths" if side.kind == "paths" else "in memory" for side in sides)
        raise UsageError(
            f"gold is {one} and predicted is {other}",
            advice="give both sides as files, or both in memory; read gives the documents of files, and texts "
            "that are answers of language models need input='mentions' or 'inline', redacted ones "
            "masking(gold, texts, redacted=True)",
        )
    if "documents" in kinds and any(side.kind != "documents" for side in sides):
        return _completed(sides[0], sides[1], known[0])
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
    found = _paired_by_id(next(iter(kinds), "spans"), sides[0], sides[1])
    if found.kind == "tags" and known[0].others is not None:
        from clueval.reading.other_side import named_sides

        own, others = named_sides(found.gold, found.predicted, known[0].others, found.ids)
        return found._replace(gold=own, predicted=others)
    return found


def _completed(gold: GivenSide, predicted: GivenSide, names: TagNames) -> Given:
    """Return documents of both sides, of which one has lists."""
    from clueval.reading.other_side import completed

    sides = [gold, predicted]
    number = 0 if gold.kind == "documents" else 1
    documents, lists = sides[number], sides[1 - number]
    if lists.ids is not None and documents.ids is None:
        items = list(documents.items)
        if any(isinstance(each.id, MissingId) for each in items):
            raise UsageError(
                f"{SIDES[1 - number]} is a dictionary by document id, and the documents of {SIDES[number]} have none",
                advice="give each row its id",
            )
        sides[number] = documents._replace(items=items, ids=[each.id for each in items])
    found = _paired_by_id("documents", sides[0], sides[1])
    own, other = (found.gold, found.predicted) if number == 0 else (found.predicted, found.gold)
    first, second = completed(own, other, SIDES[1 - number], names)
    return (
        found._replace(gold=first, predicted=second)
        if number == 0
        else found._replace(gold=second, predicted=first)
    )


def _paired_by_id(kind: Kind, gold: GivenSide, predicted: GivenSide) -> Given:
    """Return both sides in the order of gold. A side that is partial has no spans where it has no document."""
    if gold.ids is None and predicted.ids is None:
        return Given(kind, gold.items, predicted.items)
    if gold.ids is None or predicted.ids is None:
        one, other = SIDES if gold.ids is not None else SIDES[::-1]
        raise UsageError(
            f"{one} is a dictionary by document id and {other} is not", advice="give both in one form"
        )
    own_ids, gold_items = _filled(gold, predicted)
    other_ids, predicted_items = _filled(predicted, gold)
    for name, own, others in (("gold", own_ids, other_ids), ("predicted", other_ids, own_ids)):
        if alone := sorted(set(own).difference(others)):
            more = f" and {len(alone) - 3} more" if len(alone) > 3 else ""
            raise UsageError(
                f"only {name} has document {', '.join(map(repr, alone[:3]))}{more}",
                advice="both sides need the same documents; an empty list is a document without spans",
            )
    by_id = dict(zip(other_ids, predicted_items, strict=True))
    return Given(kind, gold_items, [by_id[id_] for id_ in own_ids], own_ids)


def _filled(side: GivenSide, other: GivenSide) -> tuple[Sequence[str], Iterable[Any]]:
    """Return the ids and the items of a side; if it is partial, with empty lists for documents of the other side.

    Raises `UsageError` for a partial side if no document is on both sides.
    """
    ids, others = side.ids or (), other.ids or ()
    if not side.is_partial:
        return ids, side.items
    if ids and others and not set(ids).intersection(others):
        raise UsageError(
            f"no document is on both sides: one has {ids[0]!r}, the other {others[0]!r}",
            advice="use the same ids on both sides",
        )
    missing = [id_ for id_ in others if id_ not in set(ids)]
    return [*ids, *missing], [*side.items, *([] for _ in missing)]


def as_examples(gold: Any) -> tuple[Any, Any]:
    """Return the documents of both sides of spaCy's ``Example`` objects. Raises `UsageError` for anything else."""
    if hasattr(gold, "label_ids"):  # a prediction of a Trainer of transformers
        raise UsageError(
            "predicted is missing",
            advice="score(output.label_ids, output.predictions.argmax(-1), names=names)",
        )
    items = [gold] if _is_example(gold) else gold
    items = list(items) if isinstance(items, Iterable) else []
    if not items or not all(map(_is_example, items)):
        raise UsageError(
            "predicted is missing",
            advice="give gold and predicted; only a file, a folder or spaCy's Examples hold both sides",
        )
    return [example.reference for example in items], [example.predicted for example in items]


def _is_example(item: object) -> bool:
    return hasattr(item, "reference") and hasattr(item, "predicted")
