"""Spans in the forms that people have: `Span`, tuples, dictionaries and objects of other libraries.

A tuple or list is ``(start, end, label)``, or ``(start, end)`` without a label. A dictionary has the keys of spaCy,
Prodigy, doccano, GLiNER, nervaluate or a Hugging Face pipeline (`KEYS`); a named tuple or a dataclass has fields with
these names. Any other object with a label has attributes (`_POSITIONS`, `_LABELS`): the spans of spaCy, stanza, flair
and Presidio. The end is always **exclusive**, as in spaCy, Prodigy and doccano: ``{"start": 0, "end": 2}`` covers the
positions 0 and 1; only ``end_inclusive`` is the last position. A dictionary may have the ranges of a discontinuous span
(``"fragments": [[0, 3], [7, 9]]``) and other acceptable spans in its place (``"alternatives": [{"start": 3, "end":
8}]``, which `as_spans` returns after it).

The columns of a table have the same names in files, data frames and dictionaries. A bare end (`BARE_ENDS`) does not say
which position it is. In memory, it is exclusive. In a file, it is the last position if positions count tokens, as in
the tables of CLUEval and FairEval, and exclusive if they count characters.

Spans with alternatives are a group, of which one counts: its members have the same value of the feature ``group``, and
the first is the main one. A span of an answer of a language model may be a text whose place is looked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import index
from typing import Any, NoReturn

from clueval.core.document import GROUP, OPTIONAL
from clueval.core.span import NO_LABEL, NOTHING, Span
from clueval.files.errors import CluevalError, SpanError, UsageError, described, warn

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


KEYS = {"start": STARTS, "end": ENDS, "label": LABELS}
"""The keys of a dictionary for each part of a span; the first that occurs is used."""

_POSITIONS = (("start_char", "end_char"), ("start_position", "end_position"), ("start", "end"))
"""The attributes of an object with its positions; ``start`` of spaCy counts tokens, so it comes last."""

_LABELS = ("label_", "label", "entity_type", "entity_group", "tag", "type")
"""The attributes of an object with its label; in spaCy, ``label`` is a number."""

_NO_LABELS = ("text", "word", "id", "doc", "document", "token", "surface", "mention")
"""Keys of texts that are not taken for labels under an unknown key."""

_PLAIN = (int, int, str)
"""The types in the usual tuple, which needs no further check than that of its positions."""

FORMS = (
    "a span is a Span, (start, end, label) or {'start': 0, 'end': 2, 'label': 'PER'}; the end is exclusive"
)


def is_span(item: object) -> bool:
    """Return whether an item is meant as a span; `as_span` checks whether it is one.

    >>> is_span((0, 2, "PER")), is_span({"start": 0, "end": 2}), is_span(["B-PER", "O"])
    (True, True, False)
    """
    if isinstance(item, Span):
        return True
    fields = fields_of(item)
    if fields is not None:
        places = (fields.get(key) for key in (*STARTS, *ENDS, END_INCLUSIVE) if key in fields)
        return "fragments" in fields or any(not isinstance(place, list | tuple) for place in places)
    if isinstance(item, tuple | list) and 2 <= len(item) <= 4:
        if isinstance(item[0], str):  # a sentence of tags may have numbers, too
            return isinstance(item, tuple) and len(item) == 3 and all(map(is_number, item[1:]))
        if isinstance(item, list) and len(item) > 2 and all(map(is_number, item)):  # tags that are numbers
            return False
        others = (str, list, dict, type(None))
        return any(map(is_number, item[:2])) and all(
            is_number(each) or isinstance(each, others) for each in item
        )
    return _of_object(item) is not None


def as_span(item: Any, place: str = "the span") -> Span:
    """Return a span in one of the forms above as a `Span`; `place` is its name in errors, such as ``gold[0][2]``.

    Raises `UsageError` for another form, `SpanError` for positions that are negative or reversed.

    >>> as_span((0, 2, "PER")) == as_span({"start_offset": 0, "end_offset": 2, "label": "PER"})
    True
    """
    if isinstance(item, Span):
        return item
    fields = fields_of(item) or _of_object(item)
    if fields is not None and END_INCLUSIVE in fields:
        fields = _with_exclusive_end(fields, place)
    fragments = None if fields is None else _fragments(fields, place)
    if fields is not None and fragments is not None and not any(key in fields for key in KEYS["start"]):
        fields = {"start": min(fragments)[0], "end": max(fragments)[1], **fields}
    start, end, labels, features = _of_sequence(item, place) if fields is None else _of_mapping(fields, place)
    parts = None if fragments is None else sorted(fragments)
    start, end = _position(start, place), _position(end, place)
    if start == end and parts is None:
        warn("a span has the same start and end, so it covers nothing: the end is exclusive")
    try:
        return Span(start, end, labels, features, parts=parts)
    except SpanError as error:
        error.problem = f"{place}: {error.problem}"
        raise


def as_spans(items: Iterable[Any], name: str, text: str | None = None) -> list[Span]:
    """Return the spans of one document; `name` is the name of the list in errors.

    With the `text` of the document, an item that has its own text and other positions is a `UsageError`, which says
    so if its end is inclusive.
    """
    if isinstance(items, str | bytes | Mapping) or not isinstance(items, Iterable):
        raise UsageError(f"{name} must be a list of spans, not {described(items)}", advice=FORMS)
    found: list[Span] = []
    for number, item in enumerate(items):
        if type(item) is tuple and tuple(map(type, item)) == _PLAIN and 0 <= item[0] < item[1]:
            found.append(Span(*item))
            continue
        place = f"{name}[{number}]"
        if isinstance(item, Mapping) and item.get(ALTERNATIVES):
            found += _group(item, place, str(number), text)
            continue
        found.append(item if type(item) is Span else as_span(item, place))
        if text is not None:
            _require_own_text(item, found[-1], text, place)
    return found


def _require_own_text(item: Any, span: Span, text: str, place: str) -> None:
    """Raise `UsageError` if an item has another text than that at its positions, apart from white space.

    The words of pipelines and the texts of objects of libraries are made of tokens, so they may be written differently:
    they show only an inclusive end.
    """
    fields = fields_of(item)
    own = getattr(item, "text", None) if fields is None else fields.get("text", fields.get("word"))
    if not isinstance(own, str):
        return
    found = " ".join(text[start:end] for start, end in span.fragments)
    if own != found and own == text[span.start : span.end + 1]:
        raise UsageError(
            f"{place} ends with the last position of its text, but the end is exclusive",
            advice=f"add 1 to each end, or call it {END_INCLUSIVE}",
        )
    if own != found and END_INCLUSIVE in (fields or ()) and own == text[span.start : span.end - 1]:
        raise UsageError(
            f"{place} has an exclusive end under {END_INCLUSIVE!r}, as its text shows",
            advice="call it end_exclusive",
        )
    is_exact = fields is not None and "text" in fields
    if is_exact and " ".join(found.split()) not in (
        " ".join(own.split()),
        " ".join(own.replace(_GAP, " ").split()),
    ):
        raise UsageError(
            f"the text of {place} differs from the text at its positions",
            advice="check that text and spans belong together",
        )


_GAP = " [...] "
"""The mark between the fragments of a discontinuous span in its text."""


def _with_exclusive_end(fields: Mapping[str, Any], place: str) -> dict[str, Any]:
    """Return a dictionary with ``end`` in place of ``end_inclusive``."""
    if len(ends := ends_in(fields)) > 1:
        raise UsageError(f"{place} has several ends: {', '.join(ends)}", advice="leave out all but one")
    last = _position(fields[END_INCLUSIVE], place)
    return {**{key: value for key, value in fields.items() if key != END_INCLUSIVE}, "end": last + 1}


def _group(item: Mapping[str, Any], place: str, name: str, text: str | None) -> Iterator[Span]:
    """Yield the span of a dictionary and its alternatives; `text` is that of the document."""
    try:
        for member, features in members_of(item, name):
            span = as_span({**member, "features": {**(member.get("features") or {}), **features}}, place)
            if text is not None:
                _require_own_text(member, span, text, place)
            yield span
    except ValueError as error:
        if isinstance(error, CluevalError):
            raise
        raise UsageError(
            f"{place}: {error}", advice="as in {'alternatives': [{'start': 0, 'end': 2}]}"
        ) from None


def _fragments(fields: Mapping[str, Any], place: str) -> list[tuple[int, int]] | None:
    try:
        return fragments_of(fields)
    except ValueError as error:
        raise UsageError(f"{place}: {error}", advice="as in {'fragments': [[0, 3], [7, 9]]}") from None


def fields_of(item: Any) -> Mapping[str, Any] | None:
    """Return a dictionary, a named tuple or a dataclass as a mapping; None for anything else, and for ours."""
    if isinstance(item, Mapping):
        return item
    if isinstance(item, tuple):
        fields: Mapping[str, Any] | None = item._asdict() if hasattr(item, "_asdict") else None
        return fields
    if hasattr(item, "__dataclass_fields__") and not type(item).__module__.startswith("clueval."):
        return {name: getattr(item, name) for name in item.__dataclass_fields__}
    return None


def _of_object(item: object) -> Mapping[str, Any] | None:
    """Return the span of an object of another library as a dictionary; None for anything without label and positions.

    >>> from types import SimpleNamespace
    >>> _of_object(SimpleNamespace(start_position=0, end_position=4, tag="PER", text="Anna"))
    {'start': 0, 'end': 4, 'label': 'PER'}
    """
    if isinstance(item, str | list | tuple | Mapping) or type(item).__module__.startswith("clueval."):
        return None
    if hasattr(item, "get_spans"):  # a sentence of flair
        return None
    for names in _POSITIONS:
        start, end = (_attribute(item, name) for name in names)
        if is_number(start) and is_number(end):
            labels = (_attribute(item, name) for name in _LABELS)
            label = next((each for each in labels if isinstance(each, str)), None)
            score = _attribute(item, "score")
            more = {} if score is None else {"score": score}
            return None if label is None else {"start": start, "end": end, "label": label, **more}
    return None


def _attribute(item: object, name: str) -> Any:
    try:
        return getattr(item, name, None)
    except IndexError:  # flair, if there is no label
        return None


def is_number(value: object) -> bool:
    """Return whether a value is a whole number, also one of numpy or torch, whose arrays have a shape.

    >>> is_number(2), is_number(True), is_number(2.0)
    (True, False, False)
    """
    return hasattr(value, "__index__") and not isinstance(value, bool) and not getattr(value, "shape", ())


def _of_mapping(fields: Mapping[str, Any], place: str) -> tuple[Any, Any, Any, Mapping[str, Any]]:
    if is_token_of_pipeline(fields):
        problem, advice = TOKENS_OF_PIPELINE
        raise UsageError(f"{place} is one of the {problem}", advice=advice)
    found = {}
    for part, keys in KEYS.items():
        key = next((key for key in keys if key in fields), None)
        if key is None and part != "label":
            names = ", ".join(map(repr, fields)) or "none"
            raise UsageError(f"{place} has no {part} (its keys: {names})", advice=_advice_on(fields))
        if key is None:
            _require_no_other_label(fields, place)
        found[part] = None if key is None else fields[key]
    if found["start"] is None and "word" in fields:
        raise UsageError(
            f"{place} has no position", advice="load the tokenizer of the pipeline with use_fast=True"
        )
    features = fields.get("features") or NOTHING
    if not isinstance(features, Mapping):
        raise UsageError(f"{place}: features must be a dictionary, not {described(features)}")
    if (score := _score(fields.get("score"))) is not None:
        features = {"score": score, **features}
    return found["start"], found["end"], _labels(found["label"], place), features


def _advice_on(fields: Mapping[str, Any]) -> str:
    """Return what to do with a dictionary that has no start or no end."""
    if any(key in fields for key in LABELS) and any(key in fields for key in ("text", "word", "mention")):
        return "for answers of language models without positions, use input='mentions' and gold with texts"
    return FORMS


def _require_no_other_label(fields: Mapping[str, Any], place: str) -> None:
    """Raise `UsageError` for a dictionary without label that has a text under an unknown key, which may be one."""
    others = [
        key for key, value in fields.items() if isinstance(value, str) and str(key).lower() not in _NO_LABELS
    ]
    if others:
        names = ", ".join(map(repr, fields))
        raise UsageError(
            f"{place} has no label (its keys: {names})",
            advice=f"the key of the label is 'label' or 'type'; without labels, leave out {others[0]!r}",
        )


def _score(value: Any) -> float | None:
    """Return a score as a plain number, also one of numpy or torch; None for anything else."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    is_scalar = hasattr(value, "__float__") and getattr(value, "shape", None) in ((), [])
    return float(value) if is_scalar and not isinstance(value, bool) else None


def _of_sequence(item: Any, place: str) -> tuple[Any, Any, Any, Mapping[str, Any]]:
    if not isinstance(item, Sequence) or isinstance(item, str | bytes) or not 2 <= len(item) <= 3:
        _refuse(item, place)
    if isinstance(item[0], str) and isinstance(item[1], str) and not item[0].strip().isdecimal():
        raise UsageError(
            f"{place} has texts and no positions",
            advice="for answers of language models without positions, use input='mentions' and gold with texts",
        )
    if isinstance(item[0], str) and not item[0].strip().isdecimal():
        raise UsageError(
            f"{place} begins with a label, not with a position",
            advice=f"{FORMS}; ends of seqeval's get_entities are inclusive, so add 1",
        )
    return item[0], item[1], _labels(item[2] if len(item) > 2 else None, place), NOTHING


def _labels(label: Any, place: str) -> Any:
    """Return a label, or labels by layer. A list of one label, as in Label Studio and flair, is that label."""
    if isinstance(label, list | tuple) and len(label) == 1:
        label = label[0]
    if isinstance(label, Mapping) and label.keys() == {"value", "confidence"}:
        label = label["value"]
    if label is None:
        return NO_LABEL
    if isinstance(label, Mapping) and all(
        isinstance(layer, str) and (value is None or isinstance(value, str)) for layer, value in label.items()
    ):
        return label
    if not isinstance(label, str):
        advice = (
            "write its name; for lists of tags that are numbers, give names" if is_number(label) else FORMS
        )
        raise UsageError(f"{place}: the label must be text, not {described(label)}", advice=advice)
    return str(label)


def _position(value: Any, place: str) -> int:
    if not is_number(value):
        advice = f"write int({value!r})" if isinstance(value, str) and value.strip().isdecimal() else FORMS
        raise UsageError(f"{place}: positions must be integers, not {described(value)}", advice=advice)
    return index(value)


def _refuse(item: object, place: str) -> NoReturn:
    length = f" of length {len(item)}" if isinstance(item, tuple | list) else ""
    raise UsageError(f"{place} is not a span but {described(item)}{length}", advice=FORMS)
