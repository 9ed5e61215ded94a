"""Mentions: the answers of language models, which name spans by their texts, without positions.

    {"id": "1", "entities": [{"text": "Ada", "label": "PER"}, {"text": "Ulm", "label": "LOC", "start": 9, "end": 12}]}
    {"id": "2", "entities": {"PER": ["Ada", "Ada"], "LOC": []}}

A line is an answer, and so is a block in a code fence. Text before and after the JSON is passed over and counted.
``entities`` may be a text with such JSON; each has a ``label``, which may be null. Any other answer is an error or,
with ``--unparsable empty``, an answer without spans, which is counted. Only ``--input mentions`` reads the format, and
only for PREDICTED: gold has the text in which `clueval.transforms.locating` finds the mentions.

A document has no text. Its spans are empty; their features `MENTION` and `OFFSETS` have what the answer says.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from clueval.exceptions import FormatError, UsageError
from clueval.formats.format import Format, Options, only_layer
from clueval.formats.opened import Opened
from clueval.spans.document import Document
from clueval.spans.features import MENTION, OFFSETS, TOKENS_OF_PIPELINE, UNPARSABLE, is_token_of_pipeline
from clueval.spans.span import DEFAULT_LAYER, NO_LABEL, Frozen, Span

_FENCE = re.compile(r"\s*(?:```|~~~)\s*\w*\s*")
_ID = re.compile(r'"id"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+)')
EMPTY = "empty"
"""The value of `unparsable` that counts an answer that cannot be read as one without spans."""

_ATTEMPTS = 100
"""The number of opening brackets in an answer from which JSON is tried."""


def _read(opened: Opened, options: Options) -> Iterator[Document]:
    layer = only_layer(options, opened.file)
    if options.unparsable not in (None, EMPTY):
        raise UsageError(
            f"unparsable={options.unparsable!r} does not apply to the format mentions",
            file=opened.file,
            advice=f"use {EMPTY}",
        )
    for number, (line, answer) in enumerate(_answers(opened.lines()), 1):
        document, around = _document(answer, str(number), layer, options.unparsable, opened.file, line)
        opened.passed_over["texts around answers"] += around
        yield document


def mentions_answer(answer: object, id: str, options: Options) -> Document:
    """Return the document of one answer: a text as the model wrote it, or its JSON as dictionaries and lists.

    An answer that names no id has `id`. Raises `FormatError` for an answer that cannot be read.
    """
    return _document(answer, id, DEFAULT_LAYER, options.unparsable, None, None)[0]


def _document(
    answer: object, id: str, layer: str, unparsable: str | None, file: str | None, line: int | None
) -> tuple[Document, bool]:
    """Return the document of an answer, and whether there was text around it."""
    try:
        value, around = json_in(answer) if isinstance(answer, str) else (answer, False)
        named, spans = _answer(value, layer, line)
    except ValueError as error:
        if unparsable is None:
            raise FormatError(
                f"the answer cannot be read: {error}",
                file=file,
                line=line,
                advice="correct it, or count it as an answer without spans with unparsable='empty'",
            ) from None
        found = _id_in(answer, id) if isinstance(answer, str) else id
        return Document(found, {layer: []}, metadata={UNPARSABLE: "1"}, unit="character", file=file), False
    return Document(id if named is None else named, {layer: spans}, unit="character", file=file), around


def _answers(lines: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Yield the answers with their lines; of a code fence the whole block, if it is one answer, or its lines."""
    block: list[tuple[int, str]] | None = None
    for number, line in lines:
        fence = _FENCE.match(line)
        alone = fence is not None and fence.end() == len(line)
        if alone and block is None:
            block = []
        elif alone and block is not None:
            yield from _of_block(block)
            block = None
        elif block is not None:
            block.append((number, line))
        elif line.strip():
            yield number, line
    yield from _of_block(block or [])


def _of_block(lines: list[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    filled = [(number, line) for number, line in lines if line.strip()]
    if len(filled) < 2:
        yield from filled
        return
    whole = "\n".join(line for _, line in filled)
    try:
        _parsed(whole)
    except ValueError:
        if all(line.lstrip().startswith("{") for _, line in filled[1:]):
            yield from filled  # one answer in each line
            return
    yield filled[0][0], whole


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key occurs twice in an object")
    return found


_decoder = json.JSONDecoder(object_pairs_hook=_once)


def _parsed(text: str) -> Any:
    try:
        value, end = _decoder.raw_decode(text)
    except RecursionError:
        raise ValueError("it is nested too deep") from None
    if text[end:].strip():
        raise ValueError("text follows the JSON")
    return value


def json_in(text: str) -> tuple[Any, bool]:
    """Return the JSON in a text, which may have other text around it, and whether it has. Raises ValueError.

    >>> json_in('Here it is: {"entities": []}. Anything else?')
    ({'entities': []}, True)
    """
    fence = _FENCE.match(text)
    inner = text[fence.end() :] if fence else text
    inner = inner.strip().removesuffix("```").removesuffix("~~~").strip()
    try:
        return _parsed(inner), False
    except ValueError as error:
        problem = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
    for begin in [match.start() for match in re.finditer(r"[{\[]", inner)][:_ATTEMPTS]:
        try:
            value, end = _decoder.raw_decode(inner, begin)
        except (ValueError, RecursionError):
            continue
        if _is_answer(value):
            if _holds_answer(inner[end:]):
                raise ValueError("it has two answers")
            return value, True
    raise ValueError(f"it is not JSON ({problem})")


def _is_answer(value: object) -> bool:
    """Return whether a JSON value inside other text looks like an answer, and not like a bracket of that text."""
    if isinstance(value, list):
        return bool(value) and all(isinstance(item, dict) for item in value)
    return isinstance(value, dict) and "entities" in value


def _holds_answer(text: str) -> bool:
    for begin in [match.start() for match in re.finditer(r"[{\[]", text)][:_ATTEMPTS]:
        try:
            if _is_answer(_decoder.raw_decode(text, begin)[0]):
                return True
        except (ValueError, RecursionError):
            continue
    return False


def _answer(value: object, layer: str, line: int | None) -> tuple[str | None, list[Span]]:
    """Return the id of an answer, if it names one, and its spans. Raises ValueError for what is no answer."""
    if isinstance(value, list):
        value = {"entities": value}
    if not isinstance(value, dict):
        raise ValueError("it is not an object")
    if "entities" not in value:
        raise ValueError("""it has no key 'entities', as in {"entities": {"PER": ["Ada"]}}""")
    entities = value["entities"]
    if isinstance(entities, str):
        entities = json_in(entities)[0]
        if isinstance(entities, dict) and "entities" in entities:
            entities = entities["entities"]
    identifier = value.get("id")
    if identifier is not None and (isinstance(identifier, bool) or not isinstance(identifier, str | int)):
        raise ValueError("its id is neither a text nor a number")
    mentions = _mentions(entities)
    spans = [
        Span(0, 0, Frozen({layer: label}), Frozen({MENTION: text, **more}), line=line)
        for text, label, more in mentions
    ]
    return None if identifier is None else _text(str(identifier), "its id"), spans


_Mention = tuple[str, str, Mapping[str, Any]]


def _mentions(entities: object) -> Iterator[_Mention]:
    if isinstance(entities, dict):
        for label, texts in entities.items():
            for text in [texts] if isinstance(texts, str) else texts if isinstance(texts, list) else [None]:
                yield _text(text, "the text of an entity"), _label(label), {}
        return
    if not isinstance(entities, list):
        raise ValueError("'entities' is neither a list nor an object")
    for entity in entities:
        if not isinstance(entity, dict):
            raise ValueError("an entity is not an object")
        if is_token_of_pipeline(entity):
            raise ValueError(f"it has {'; '.join(TOKENS_OF_PIPELINE)}")
        offsets = entity.get("start"), entity.get("end")
        given = {} if offsets == (None, None) else {OFFSETS: tuple(map(_whole, offsets))}
        text = _text(entity.get("text"), "the text of an entity")
        if "label" not in entity:
            raise ValueError(f"an entity has no key 'label' (its keys: {', '.join(map(repr, entity))})")
        yield text, _label(entity["label"]), given


def _whole(value: object) -> int:
    """Return a position, or -1 for what is none: it then stands nowhere, and the mention is looked for."""
    return value if type(value) is int else -1


def _label(label: object) -> str:
    return NO_LABEL if label in (None, "") else _text(label, "the label of an entity")


def _text(value: object, what: str) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{what} is not text")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{what} has half of a surrogate pair") from None
    return value


def _id_in(answer: str, id: str) -> str:
    """Return the id that an answer which cannot be read seems to have, otherwise `id`."""
    match = _ID.search(answer)
    try:
        return id if match is None else _text(str(json.loads(match[1])), "its id")
    except ValueError:
        return id


FORMAT = Format(
    name="mentions",
    holds="answers of language models: the texts and labels of entities, which are looked for in the text of gold",
    read=_read,
    options=frozenset({"layers", "unparsable"}),
    default_source="label",
)
