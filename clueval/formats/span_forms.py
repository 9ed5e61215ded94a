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

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from operator import index, itemgetter
from typing import Any

from clueval.core.document import GROUP, OPTIONAL, Details, Layers, Row
from clueval.core.span import NO_LABEL, NOTHING, Ranges, Span, is_number
from clueval.files.errors import CluevalError, SpanError, UsageError, described, warn

ID_KEYS = ("id", "custom_id", "document_id", "doc_id", "uid")
"""The keys under which the rows of answers have their ids."""

REPAIRED_ANSWERS = "repaired answers"
"""What is counted beside what is passed over: answers whose JSON was read out of other text."""

REPAIRED_TAGS = "repaired tags"
"""What is counted there, too: ill-formed tags, which were read as conlleval does."""

FURTHER_ANSWERS = "answers after the first of a row"
"""What is passed over: the answers of a row after the first, if a service was asked for several."""

LABELS = ("label", "labels", "type", "entity_group", "entity_type", "entity", "tag", "category")
"""The keys of the label of a span, of which the first that occurs is used."""

TOKENS_OF_PIPELINE = (
    "tokens of a Hugging Face pipeline, not its spans",
    "call the pipeline with aggregation_strategy='simple'",
)
"""The problem with the objects of `is_token_of_pipeline`, and what to do."""

ALTERNATIVES = "alternatives"
"""The key under which the object of a span has its other members."""


def as_whole(value: Any) -> Any:
    """Return a number such as 3.0, as tables write it, as a whole number, and everything else unchanged."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def is_token_of_pipeline(item: Mapping[str, Any]) -> bool:
    """Return whether an object is a token, as a pipeline of Hugging Face returns it without aggregation."""
    label, word = item.get("entity"), item.get("word")
    is_piece = "index" in item or (isinstance(word, str) and word.startswith("##"))
    has_tag = isinstance(label, str) and label.startswith(("B-", "I-"))
    return next((key for key in LABELS if key in item), None) == "entity" and (has_tag or is_piece)


def members_of(
    item: Mapping[str, Any], name: str, label_keys: Collection[str] = LABELS
) -> Iterator[tuple[Mapping[str, Any], dict[str, Any]]]:
    """Yield the objects of a span and of its alternatives, each with the features of its group.

    An alternative without a label, which stands under one of `label_keys`, has that of the span. `name` is the value of
    the feature. Raises ValueError for alternatives that are no list of objects.

    >>> [dict(member) for member, _ in members_of({"start": 4, "alternatives": [{"start": 3}]}, "1")]
    [{'start': 4}, {'start': 3}]
    """
    alternatives = item.get(ALTERNATIVES)
    if not alternatives:
        yield item, {}
        return
    if not isinstance(alternatives, Sequence) or not all(
        isinstance(alternative, Mapping) for alternative in alternatives
    ):
        raise ValueError("the alternatives of a span are not a list of objects")
    features: dict[str, Any] = {GROUP: name}
    if item.get(OPTIONAL):
        features[OPTIONAL] = True
    main = {key: value for key, value in item.items() if key not in (ALTERNATIVES, OPTIONAL)}
    labels: dict[str, Any] = {key: main[key] for key in label_keys if key in main}
    yield main, features
    for alternative in alternatives:
        yield ({**labels, **alternative} if not labels.keys() & alternative.keys() else alternative), features


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


LayerSpan = tuple[Ranges, str, Details]
"""The fragments of a span of a layer, its label, and what it has besides."""


def layers_of(
    layers: Mapping[str, Sequence[LayerSpan]], *, ordered: bool = False
) -> Mapping[str, Sequence[Span]]:
    """Return layers with the spans by position, as in `in_order`, unless they are `ordered`.

    `Span` objects are made when they are asked for, unless there are gaps or groups.
    """
    if any(len(ranges) > 1 or GROUP in more[0] for spans in layers.values() for ranges, _, more in spans):
        return {layer: spans_of(layer, spans, ordered=ordered) for layer, spans in layers.items()}
    rows: dict[str, list[Row]] = {}
    details: dict[str, list[Details]] = {}
    for layer, spans in layers.items():
        sorted_spans = spans if ordered else sorted(spans, key=itemgetter(0))
        rows[layer] = [(*ranges[0], label) for ranges, label, _ in sorted_spans]
        details[layer] = [more for _, _, more in sorted_spans]
    return Layers({}, rows, details=details)


def spans_of(layer: str, layer_spans: Iterable[LayerSpan], *, ordered: bool) -> list[Span]:
    """Return the spans of a layer, in the order of `in_order` unless they are `ordered`."""
    spans = [
        Span.of_fragments(fragments, {layer: label}, features, id=identifier, line=line)
        for fragments, label, (features, identifier, line) in layer_spans
    ]
    return spans if ordered else in_order(spans)


def fragments_of(item: Mapping[str, Any]) -> list[tuple[int, int]] | None:
    """Return the fragments of the object of a span, or None. Raises ValueError unless they are pairs of positions."""
    fragments = item.get("fragments")
    if not fragments:
        return None
    listed = fragments if isinstance(fragments, Sequence) else [None]
    pairs = [tuple(part) if isinstance(part, Sequence) else () for part in listed]
    if any(len(pair) != 2 or not all(type(place) is int for place in pair) for pair in pairs):
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
    """Return the names of ends."""
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


_MENTIONS = "for answers of language models without positions, use input='mentions' and gold with texts"


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
        kinds = (str, list, dict, type(None))
        return any(map(is_number, item[:2])) and all(
            is_number(value) or isinstance(value, kinds) for value in item
        )
    return _span_of_object(item) is not None


def as_span(item: Any, place: str = "the span") -> Span:
    """Return a span in one of the forms above as a `Span`; `place` is its name in errors, such as ``gold[0][2]``.

    Raises `UsageError` for another form, `SpanError` for positions that are negative or reversed.

    >>> as_span((0, 2, "PER")) == as_span({"start_offset": 0, "end_offset": 2, "label": "PER"})
    True
    """
    if isinstance(item, Span):
        return item
    fields = fields_of(item) or _span_of_object(item) or _fields_of_sequence(item, place)
    values, features, fragments = _values_of_mapping(fields, place)
    label = _labels(values["label"], place)
    start, end = _position(values["start"], place), _position(values["end"], place)
    if start == end and fragments is None:
        warn("a span has the same start and end, so it covers nothing: the end is exclusive")
    parts = None if fragments is None else tuple(sorted(fragments))
    try:
        return Span(start, end, label, features, parts=parts)
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
    spans: list[Span] = []
    for number, item in enumerate(items):
        if type(item) is tuple and tuple(map(type, item)) == _PLAIN and 0 <= item[0] < item[1]:
            spans.append(Span(*item))
            continue
        place = f"{name}[{number}]"
        members = [item]
        if isinstance(item, Mapping) and item.get(ALTERNATIVES):
            with _usage_errors(place, "as in {'alternatives': [{'start': 0, 'end': 2}]}"):
                members = [
                    {**member, "features": {**(member.get("features") or {}), **features}}
                    for member, features in members_of(item, str(number))
                ]
        for member in members:
            spans.append(as_span(member, place))
            if text is not None:
                _require_same_text(member, spans[-1], text, place)
    return spans


@contextmanager
def _usage_errors(place: str, advice: str) -> Iterator[None]:
    """Turn a `ValueError` that is no error of clueval into a `UsageError` that names the place of the span."""
    try:
        yield
    except CluevalError:
        raise
    except ValueError as error:
        raise UsageError(f"{place}: {error}", advice=advice) from None


_GAP = " [...] "
"""The mark between the fragments of a discontinuous span in its text."""


def _require_same_text(item: Any, span: Span, text: str, place: str) -> None:
    """Raise `UsageError` if an item has another text than that at its positions, apart from white space.

    The words of pipelines and the texts of objects of libraries are made of tokens, so they may be written differently:
    they show only an inclusive end.
    """
    fields = fields_of(item)
    item_text = getattr(item, "text", None) if fields is None else fields.get("text", fields.get("word"))
    here = " ".join(text[start:end] for start, end in span.fragments)
    if not isinstance(item_text, str) or item_text == here:
        return
    if item_text == text[span.start : span.end + 1]:
        raise UsageError(
            f"{place} ends with the last position of its text, but the end is exclusive",
            advice=f"add 1 to each end, or call it {END_INCLUSIVE}",
        )
    if END_INCLUSIVE in (fields or ()) and item_text == text[span.start : span.end - 1]:
        raise UsageError(
            f"{place} has an exclusive end under {END_INCLUSIVE!r}, as its text shows",
            advice="call it end_exclusive",
        )
    is_exact = fields is not None and "text" in fields
    if is_exact and here.split() not in (item_text.split(), item_text.replace(_GAP, " ").split()):
        raise UsageError(
            f"the text of {place} differs from the text at its positions",
            advice="check that text and spans belong together",
        )


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


def _span_of_object(item: object) -> Mapping[str, Any] | None:
    """Return the span of an object of another library as a dictionary; None if it has no label or no positions."""
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


def _values_of_mapping(
    fields: Mapping[str, Any], place: str
) -> tuple[dict[str, Any], Mapping[str, Any], Sequence[tuple[int, int]] | None]:
    """Return the start, the end and the label of a span, which are not checked, its features and its fragments."""
    if END_INCLUSIVE in fields:
        if len(ends := ends_in(fields)) > 1:
            raise UsageError(f"{place} has several ends: {', '.join(ends)}", advice="leave out all but one")
        last = _position(fields[END_INCLUSIVE], place)
        fields = {**{key: value for key, value in fields.items() if key != END_INCLUSIVE}, "end": last + 1}
    with _usage_errors(place, "as in {'fragments': [[0, 3], [7, 9]]}"):
        fragments = fragments_of(fields)
    if fragments is not None and not any(key in fields for key in STARTS):
        fields = {"start": min(fragments)[0], "end": max(fragments)[1], **fields}
    if is_token_of_pipeline(fields):
        problem, advice = TOKENS_OF_PIPELINE
        raise UsageError(f"{place} is one of the {problem}", advice=advice)
    values = {}
    for part, keys in KEYS.items():
        key = next((key for key in keys if key in fields), None)
        if key is None:
            _require_optional(part, fields, place)
        values[part] = None if key is None else fields[key]
    if values["start"] is None and "word" in fields:
        advice = "load the tokenizer of the pipeline with use_fast=True"
        raise UsageError(f"{place} has no position", advice=advice)
    features = fields.get("features") or NOTHING
    if not isinstance(features, Mapping):
        raise UsageError(f"{place}: features must be a dictionary, not {described(features)}")
    score: Any = fields.get("score")
    if (
        hasattr(score, "__float__")
        and not isinstance(score, bool)
        and getattr(score, "shape", ()) in ((), [])
    ):
        features = {"score": score if isinstance(score, int | float) else float(score), **features}
    elif isinstance(score, str | bool):  # what needs a number says that it is none
        features = {"score": score, **features}
    return values, features, fragments


def _require_optional(part: str, fields: Mapping[str, Any], place: str) -> None:
    """Raise `UsageError` for a dictionary without a position, or whose label may be a text under an unknown key."""
    names = ", ".join(map(repr, fields)) or "none"
    problem = f"{place} has no {part} (its keys: {names})"
    if part != "label":
        has_text = any(key in fields for key in ("text", "word", "mention"))
        raise UsageError(
            problem, advice=_MENTIONS if has_text and any(key in fields for key in LABELS) else FORMS
        )
    for key, value in fields.items():
        if isinstance(value, str) and str(key).lower() not in _NO_LABELS:
            advice = f"the key of the label is 'label' or 'type'; without labels, leave out {key!r}"
            raise UsageError(problem, advice=advice)


def _fields_of_sequence(item: Any, place: str) -> dict[str, Any]:
    if not isinstance(item, Sequence) or isinstance(item, str | bytes) or not 2 <= len(item) <= 3:
        length = f" of length {len(item)}" if isinstance(item, tuple | list) else ""
        raise UsageError(f"{place} is not a span but {described(item)}{length}", advice=FORMS)
    if isinstance(item[0], str) and not item[0].strip().isdecimal():
        if isinstance(item[1], str):
            raise UsageError(f"{place} has texts and no positions", advice=_MENTIONS)
        raise UsageError(
            f"{place} begins with a label, not with a position",
            advice=f"{FORMS}; ends of seqeval's get_entities are inclusive, so add 1",
        )
    return dict(zip(("start", "end", "label"), [*item, None], strict=False))


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
        is_whole = value.is_integer() if isinstance(value, float) else str(value).strip().isdecimal()
        advice = f"write int({value!r})" if is_whole else FORMS
        raise UsageError(f"{place}: positions must be integers, not {described(value)}", advice=advice)
    return index(value)
