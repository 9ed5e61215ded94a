"""Features of spans that have a meaning, and the keys of objects and the columns of tables that hold spans.

Spans with alternatives are a group, of which one counts: its members have the same value of the feature ``group``, and
the first is the main one. A span of an answer of a language model may be a text whose place is looked for.

The columns of a table have the same names in files, data frames and dictionaries. A bare end (`BARE_ENDS`) does not say
which position it is. In memory, it is exclusive. In a file, it is the last position if positions count tokens, as in
the tables of CLUEval and FairEval, and exclusive if they count characters.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from clueval.core.document import GROUP, OPTIONAL
from clueval.core.span import Span

UNPARSABLE = "unparsable"
"""The metadata of a document with the number of what could not be read in an answer."""

BY_ID = "custom_id"
"""The metadata of an answer of a batch with its id, by which alone it is found."""

LABELS = ("label", "labels", "type", "entity_group", "entity_type", "entity", "tag", "category")
"""The keys of the label of a span, of which the first that occurs is used."""

TOKENS_OF_PIPELINE = (
    "tokens of a Hugging Face pipeline, not its spans",
    "call the pipeline with aggregation_strategy='simple'",
)
"""The problem with the objects of `is_token_of_pipeline`, and what to do."""

ALTERNATIVES = "alternatives"
"""The key under which the object of a span has its other members."""


def is_token_of_pipeline(item: Mapping[str, Any]) -> bool:
    """Return whether an object is a token, as a pipeline of Hugging Face returns it without aggregation.

    >>> is_token_of_pipeline({"entity": "B-PER", "start": 0}), is_token_of_pipeline({"entity": "PER", "start": 0})
    (True, False)
    """
    label, word = item.get("entity"), item.get("word")
    is_piece = "index" in item or (isinstance(word, str) and word.startswith("##"))
    has_tag = isinstance(label, str) and label.startswith(("B-", "I-"))
    return next((key for key in LABELS if key in item), None) == "entity" and (has_tag or is_piece)


def members_of(item: Mapping[str, Any], name: str) -> Iterator[tuple[Mapping[str, Any], dict[str, Any]]]:
    """Yield the objects of a span and of its alternatives, each with the features of its group.

    An alternative without a label has that of the span. `name` is the value of the feature. Raises ValueError for
    alternatives that are no list of objects.

    >>> [dict(member) for member, _ in members_of({"start": 4, "alternatives": [{"start": 3}]}, "1")]
    [{'start': 4}, {'start': 3}]
    """
    others = item.get(ALTERNATIVES)
    if not others:
        yield item, {}
        return
    if not isinstance(others, Sequence) or not all(isinstance(each, Mapping) for each in others):
        raise ValueError("the alternatives of a span are not a list of objects")
    features: dict[str, Any] = {GROUP: name}
    if item.get(OPTIONAL):
        features[OPTIONAL] = True
    main = {key: value for key, value in item.items() if key not in (ALTERNATIVES, OPTIONAL)}
    labels: dict[str, Any] = {key: main[key] for key in LABELS if key in main}
    yield main, features
    for each in others:
        yield ({**labels, **each} if not labels.keys() & each.keys() else each), features


def in_order(spans: Sequence[Span]) -> list[Span]:
    """Return the spans by position; the members of a group stay together, in their order, at the place of the first.

    >>> given = [Span(4, 9, "A", {"group": 1}), Span(3, 8, "A", {"group": 1}), Span(3, 4, "B")]
    >>> [(span.start, span.end) for span in in_order(given)]
    [(3, 4), (4, 9), (3, 8)]
    """
    mains: dict[str, tuple[int, int]] = {}
    places = []
    for span in spans:
        place = (span.start, span.end)
        value = span.features.get(GROUP) if span.features else None
        places.append(place if value is None else mains.setdefault(repr(value), place))
    return [spans[number] for number in sorted(range(len(spans)), key=places.__getitem__)]


def fragments_of(item: Mapping[str, Any]) -> list[tuple[int, int]] | None:
    """Return the fragments of the object of a span, or None. Raises ValueError unless they are pairs of positions."""
    found = item.get("fragments")
    if not found:
        return None
    pairs = (
        [tuple(part) if isinstance(part, Sequence) else () for part in found]
        if isinstance(found, Sequence)
        else []
    )
    if not pairs or any(len(pair) != 2 or not all(type(place) is int for place in pair) for pair in pairs):
        raise ValueError("the fragments of a span are not a list of [start, end]")
    return [(start, end) for start, end in pairs]


STARTS = ("start", "start_offset", "start_char", "start_pos", "start_position", "begin", "von")

END_INCLUSIVE = "end_inclusive"
"""The last position of a span."""

BARE_ENDS = ("end", "stop", "bis")

ENDS = ("end", "end_exclusive", "end_offset", "end_char", "end_pos", "end_position", "stop", "bis")
"""The ends that are exclusive in memory; in files, all but `BARE_ENDS` are."""

DOCUMENTS = ("document", "doc", "document_id", "doc_id", "docid", "file", "sentence", "sent_id", "dok")
"""The id of the document; without such a column, it is under ``id``."""

SAY_WHICH_END = "name the column end_inclusive if it has the last position of each span, else end_exclusive"


def ends_in(names: Iterable[str]) -> list[str]:
    """Return the names of ends.

    >>> ends_in(["start", "end_inclusive", "bis", "label"])
    ['end_inclusive', 'bis']
    """
    return [name for name in names if name == END_INCLUSIVE or name in ENDS]
