"""Mentions: the answers of language models, which name spans by their texts, without positions.

    {"id": "1", "entities": [{"text": "Ada", "label": "PER"}, {"text": "Ulm", "label": "LOC", "start": 9, "end": 12}]}
    {"id": "2", "entities": {"PER": ["Ada", "Ada"], "LOC": []}}
    {"id": "3", "output": "<think>...</think> {\\"PER\\": [\\"Ada\\"]}"}

A line is an answer, and so is a block in a code fence. Answers are looked for in the rows that OpenAI and Anthropic
write for batches, whose documents are named by ``custom_id``, and under the keys `_WRAPPERS`. They may be texts with
JSON; reasoning in ``<think>``, and other text before and after the JSON, is passed over and counted.

The entities are a list under one of the keys `_LISTS`, a list alone, or lists of texts by label. Each entity is a pair
of its text and its label, or has both under one of the keys `_TEXTS` and `_LABELS`; the label may be null. Any other
answer is an error or, with ``--unparsable empty``, an answer without spans, which is counted. The format is for
PREDICTED alone: gold has the text in which the mentions are found.

A document has no text. Its spans are empty; their features `MENTION` and `OFFSETS` have what the answer says.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, NamedTuple

from clueval.core.document import Document
from clueval.core.span import NO_LABEL, Frozen, Span
from clueval.files.errors import FormatError, UsageError
from clueval.second.formats.dialect import Numbered
from clueval.second.formats.file_format import FileFormat, only_layer
from clueval.second.formats.input_file import InputFile
from clueval.second.formats.json_values import JsonValues
from clueval.second.formats.options import FormatOptions
from clueval.second.formats.span_objects import (
    BY_ID,
    MENTION,
    OFFSETS,
    TOKENS_OF_PIPELINE,
    UNPARSABLE,
    is_token_of_pipeline,
)

_FENCE = re.compile(r"\s*(?:```|~~~)\s*\w*\s*")
_THOUGHT = re.compile(r"^(?:(?!<think>).)*?</think>|<think>.*?(?:</think>|\Z)", re.DOTALL)
EMPTY = "empty"
"""The value of `unparsable` that counts an answer that cannot be read as one without spans."""

_ATTEMPTS = 100
"""The number of opening brackets in an answer from which JSON is tried."""

_IDS = ("id", "custom_id", "document_id", "doc_id", "uid")
_ID = re.compile(rf'"(?:{"|".join(_IDS)})"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+)')
_WRAPPERS = ("output", "response", "answer", "prediction", "completion", "generated_text", "content")
"""Keys of a row with an answer, in the order in which they are looked for."""

_LISTS = ("entities", "extractions", "mentions", "spans", "ner")
_LABELS = ("label", "type", "entity_type", "category", "class", "extraction_class", "types", "entity_group")
_TEXTS = ("text", "extraction_text", "word", "span", "mention", "value", "name", "entity")
_BESIDE = ("_attributes", "_index")
"""The endings of what LangExtract's answers have beside the text under a label."""

_DEEPEST = 10
"""The most wrappers around an answer."""


def _read(file: InputFile, options: FormatOptions) -> Iterator[Document]:
    rows = JsonValues(file.name, file.limits.max_line)
    answers = rows.of(file.bytes()) if _is_one_value(file) else _answers(file.lines())
    return read_answers(answers, options, file.passed_over, file.name)


def _is_one_value(file: InputFile) -> bool:
    """Return whether a file is an array of rows, or JSON that goes over several lines."""
    beginning = file.beginning().lstrip("\ufeff \t\r\n")
    if not beginning.startswith("["):
        return beginning.partition("\n")[0].strip() == "{"
    try:
        _, first = next(JsonValues(file.name, file.limits.max_line).of(file.bytes()), (0, None))
    except FormatError:  # these are answers that cannot be read, of which each line is one
        return False
    keys = first.keys() if isinstance(first, dict) else frozenset()
    has_id = not keys.isdisjoint(_IDS) and keys.isdisjoint(_LABELS)  # an entity may have an id, too
    return has_id or not keys.isdisjoint((*_LISTS, *_WRAPPERS))


def read_answers(
    answers: Iterable[Numbered],
    options: FormatOptions,
    passed_over: Counter[str],
    file: str | None = None,
) -> Iterator[Document]:
    """Yield the documents of answers, each with its line or number: texts as a model wrote them, or their JSON.

    Raises `FormatError` after the last answer for those that cannot be read; it names the first ten of them.

    >>> answers = [(1, '{"PER": ["Ada"]}'), (2, {"id": "r2", "entities": []})]
    >>> [document.id for document in read_answers(answers, FormatOptions(), Counter())]
    ['1', 'r2']
    """
    layer = only_layer(options, file)
    if options.unparsable not in (None, EMPTY):
        raise UsageError(
            f"unparsable={options.unparsable!r} does not apply to the format mentions",
            file=file,
            advice=f"use {EMPTY}",
        )
    wrong: list[tuple[int, str]] = []
    for number, (line, given) in enumerate(answers, 1):
        answer = _Answer()
        metadata = {}
        spans: list[Span] = []
        try:
            spans = _spans(answer.inside(given), layer, line)
        except ValueError as error:
            if options.unparsable is None:
                wrong.append((line, str(error)))
                continue
            metadata[UNPARSABLE] = "1"
            if answer.id is None and isinstance(given, str):
                answer.id = _id_in(given)
        if answer.in_batch and answer.id is not None:
            metadata[BY_ID] = answer.id
        passed_over["texts around answers"] += answer.around
        passed_over["repaired answers"] += answer.repaired
        own = str(number) if answer.id is None else answer.id
        yield Document(own, {layer: spans}, metadata=metadata, unit="character", file=file)
    if wrong:
        raise _unreadable(wrong, file)


_SHOWN = 10
"""The number of answers that cannot be read that an error names."""


def _unreadable(wrong: Sequence[tuple[int, str]], file: str | None) -> FormatError:
    line, problem = wrong[0]
    if len(wrong) > 1:
        others = ", ".join(str(number) for number, _ in wrong[:_SHOWN])
        more = ", ..." if len(wrong) > _SHOWN else ""
        where = f"{'lines' if file else 'rows'} {others}{more}"
        problem = f"{len(wrong)} answers cannot be read, in {where}; the first: {problem}"
    else:
        problem = f"the answer cannot be read: {problem}"
    return FormatError(
        problem,
        file=file,
        line=line,
        advice="correct it, or count it as an answer without spans with unparsable='empty'",
    )


def read_run(files: Iterable[InputFile], options: FormatOptions) -> Iterator[Document]:
    """Yield the documents of a folder with a file for each answer, which is named by the id of its document.

    An answer that says another id is found by that. Raises the `FormatError` of `read_answers`, with the file.
    """
    for file in files:
        for document in read_answers([(1, file.text())], options, file.passed_over, file.name):
            yield replace(document, id=file.stem) if document.id == "1" else document


@dataclass(slots=True)
class _Answer:
    """What is found around an answer.

    Attributes:
        id, in_batch: its id, and whether that is the id of a batch.
        around: whether there was other text.
        repaired: whether it stood in a code fence, or its JSON had a comma too many.
    """

    id: str | None = None
    in_batch: bool = False
    around: bool = False
    repaired: bool = False

    def inside(self, value: object) -> object:
        """Return an answer without what is around it. Raises ValueError for an answer that a service did not give."""
        for _ in range(_DEEPEST):
            if isinstance(value, str):
                found = json_in(value)
                value = found.value
                self.around |= found.around
                self.repaired |= found.repaired
                continue
            if not isinstance(value, dict):
                return value
            self._name(value)
            inner = _of_service(value)
            if inner is None:
                keys = (key for key in _WRAPPERS if isinstance(value.get(key), str | dict | list))
                inner = value.get(next(keys, ""))
            if inner is None:
                return value
            value = inner
        raise ValueError("it is nested too deep")

    def _name(self, value: dict[str, Any]) -> None:
        """Take the id of an object, unless one around it had one. A service has ids of its own."""
        if self.id is not None or "choices" in value:
            return
        in_batch = "custom_id" in value and not _OF_BATCH.isdisjoint(value)
        ids = ("custom_id",) if in_batch else _IDS
        given = next((each for key in ids if (each := value.get(key)) is not None), None)
        if given is None:
            return
        if isinstance(given, bool) or not isinstance(given, str | int):
            raise ValueError("its id is neither a text nor a number")
        self.id, self.in_batch = _text(str(given), "its id"), in_batch


_OF_BATCH = {"response", "result", "error"}
"""Keys of a row of a batch, of which it has one."""


def _of_service(value: dict[str, Any]) -> object:
    """Return the answer in a row of OpenAI or Anthropic; None for any other row.

    Raises ValueError if the row has no answer.
    """
    error, response, result = (value.get(key) for key in ("error", "response", "result"))
    if error is not None and not isinstance(error, list):
        raise ValueError("the service reports an error")
    if isinstance(response, dict) and not {"body", "status_code"}.isdisjoint(response):
        if (status := response.get("status_code", 200)) != 200:
            raise ValueError(f"the service reports the status {str(status)[:20]}")
        return _of_completion(response.get("body"))
    if isinstance(result, dict) and not {"type", "message"}.isdisjoint(result):
        if (kind := result.get("type", "succeeded")) != "succeeded":
            raise ValueError(f"the service reports {str(kind)[:20]!r}")
        return _of_blocks(_at(result, "message", "content"))
    if _are_blocks(value.get("content"), ("text", "tool_use", "thinking")):
        return _of_blocks(value["content"])
    is_completion = "choices" in value or _are_blocks(value.get("output"), ("message", "reasoning"))
    return _of_completion(value) if is_completion else None


def _are_blocks(value: object, types: Sequence[str]) -> bool:
    """Return whether a value is a list of the parts of a message, which have these types."""
    return isinstance(value, list) and bool(value) and all(_at(part, "type") in types for part in value)


def _of_completion(body: object) -> object:
    """Return the answer in what OpenAI's interfaces return."""
    message = _at(body, "choices", 0, "message")
    if message is not None:
        content = _at(message, "content") or _at(message, "tool_calls", 0, "function", "arguments")
        return _of_blocks(content) if isinstance(content, list | None) else content
    items = _at(body, "output")
    messages = [item for item in items if _at(item, "type") == "message"] if isinstance(items, list) else []
    return _of_blocks([block for item in messages for block in _at(item, "content") or ()])


def _of_blocks(blocks: object) -> object:
    """Return the input of the first tool in the blocks of a message, otherwise their texts."""
    found = [block for block in blocks if isinstance(block, dict)] if isinstance(blocks, list) else []
    used = [block["input"] for block in found if block.get("type") == "tool_use" and "input" in block]
    texts = [text for block in found if isinstance(text := block.get("text"), str)]
    if not used and not texts:
        raise ValueError("the message has no text")
    return used[0] if used else "".join(texts)


def _at(value: Any, *path: str | int) -> Any:
    """Return what is at a path of keys and numbers; None if there is nothing."""
    for key in path:
        if isinstance(key, int):
            value = value[key] if isinstance(value, list) and len(value) > key else None
        else:
            value = value.get(key) if isinstance(value, dict) else None
    return value


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


class _Found(NamedTuple):
    """The JSON in a text, whether other text stood around it, and whether it was repaired."""

    value: Any
    around: bool
    repaired: bool


_COMMA_TOO_MANY = re.compile(r'("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])')


def json_in(text: str) -> _Found:
    """Return the JSON in a text. Raises ValueError.

    It may stand in a code fence and have a comma after the last element of a list or an object, which are repaired, and
    it may have other text around it.

    >>> json_in('<think>Is it [a]?</think> Here it is: {"entities": []}. Anything else?')
    _Found(value={'entities': []}, around=True, repaired=False)
    >>> json_in('{"PER": ["Ada",]}')
    _Found(value={'PER': ['Ada']}, around=False, repaired=True)
    """
    try:
        return _as_written(text)
    except ValueError as error:
        without = _COMMA_TOO_MANY.sub(lambda match: match[1] or "", text)
        if without == text:
            raise
        try:
            return _as_written(without)._replace(repaired=True)
        except ValueError:
            raise error from None


def _as_written(text: str) -> _Found:
    for said in dict.fromkeys((text, _THOUGHT.sub("", text))):
        fence = _FENCE.match(said)
        inner = said[fence.end() :] if fence else said
        inner = inner.strip().removesuffix("```").removesuffix("~~~").strip()
        try:
            return _Found(_parsed(inner), said != text, fence is not None)
        except ValueError as error:
            problem = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
    for begin in _brackets(inner):
        try:
            value, end = _decoder.raw_decode(inner, begin)
        except (ValueError, RecursionError):
            continue
        if _is_answer(value):
            if _holds_answer(inner[end:]):
                raise ValueError("it has two answers")
            return _Found(value, True, False)
    raise ValueError(f"it is not JSON ({problem})")


def _brackets(text: str) -> list[int]:
    """Return where JSON is tried in a text."""
    return [match.start() for match in islice(re.finditer(r"[{\[]", text), _ATTEMPTS)]


def _is_answer(value: object) -> bool:
    """Return whether a JSON value inside other text looks like an answer, and not like a bracket of that text."""
    if isinstance(value, list):
        return bool(value) and (all(isinstance(item, dict) for item in value) or all(map(_is_pair, value)))
    return isinstance(value, dict) and (
        not value.keys().isdisjoint((*_LISTS, *_WRAPPERS)) or (bool(value) and _is_by_label(value))
    )


def _is_pair(value: object) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(isinstance(each, str | None) for each in value)


def _is_by_label(value: dict[str, Any]) -> bool:
    """Return whether an object has nothing but lists of texts, under the labels."""
    return all(texts is None or isinstance(texts, list) for texts in value.values())


def _holds_answer(text: str) -> bool:
    for begin in _brackets(text):
        try:
            if _is_answer(_decoder.raw_decode(text, begin)[0]):
                return True
        except (ValueError, RecursionError):
            continue
    return False


def _spans(value: object, layer: str, line: int | None) -> list[Span]:
    """Return the spans of an answer. Raises ValueError for what is no answer."""
    return [
        Span(0, 0, Frozen({layer: label}), Frozen({MENTION: text, **more}), line=line)
        for text, label, more in _mentions(_entities(value))
    ]


def _entities(value: object) -> object:
    """Return the entities of an answer: a list, or an object of texts by label."""
    if not isinstance(value, dict | list):
        raise ValueError("it is not an object")
    for _ in range(_DEEPEST):
        if isinstance(value, str):
            value = json_in(value).value
        if not isinstance(value, dict):
            return value
        key = next((key for key in _LISTS if key in value), None)
        if key is None:
            break
        value = [] if value[key] is None else value[key]
        if isinstance(value, dict) and value.keys().isdisjoint(_LISTS):
            return value
    assert isinstance(value, dict)
    rest = {key: each for key, each in value.items() if key not in (*_IDS, "text")}
    if value and not rest:
        raise ValueError("""it has no key 'entities', as in {"entities": {"PER": ["Ada"]}}""")
    if rest and not any(isinstance(texts, list) for texts in rest.values()):
        missing = next((key for key in _WRAPPERS if key in rest and rest[key] is None), None)
        if missing is not None:
            raise ValueError(f"{missing!r} is null: there is no answer")
    for label, texts in rest.items():
        if texts is not None and not isinstance(texts, list):
            raise ValueError(
                f"it has no key 'entities', and {_shown(label)} is not a label with a list of texts, as in "
                '{"PER": ["Ada"]}'
            )
    return rest


_Mention = tuple[str, str, Mapping[str, Any]]


def _mentions(entities: object) -> Iterator[_Mention]:
    if isinstance(entities, dict):
        for label, texts in entities.items():
            if texts is not None and not isinstance(texts, list):
                raise ValueError("what stands under a label is no list of texts")
            for text in texts or ():
                yield _text(text, "the text of an entity"), _label(label), {}
        return
    if not isinstance(entities, list):
        raise ValueError("'entities' is neither a list nor an object")
    for entity in entities:
        if isinstance(entity, list) and len(entity) == 2:
            yield _text(entity[0], "the text of an entity"), _label(entity[1]), {}
            continue
        if not isinstance(entity, dict):
            raise ValueError("an entity is not an object")
        if is_token_of_pipeline(entity):
            raise ValueError(f"it has {'; '.join(TOKENS_OF_PIPELINE)}")
        text, label = _text_and_label(entity)
        offsets = entity.get("start"), entity.get("end")
        given = {} if offsets == (None, None) else {OFFSETS: tuple(map(_whole, offsets))}
        yield _text(text, "the text of an entity"), _label(label), given


def _text_and_label(entity: dict[str, Any]) -> tuple[object, object]:
    """Return what an entity has as its text and its label. Raises ValueError for an entity without label."""
    others = [key for key in entity if not key.endswith(_BESIDE)]
    if len(others) == 1 and (len(entity) > 1 or others[0] not in (*_TEXTS, *_LABELS)):
        return entity[others[0]], others[0]
    label = next((key for key in _LABELS if key in entity), None)
    texts = [key for key in _TEXTS if isinstance(entity.get(key), str)]
    if label is None and texts and texts[0] != "entity" and "entity" in entity:
        label = "entity"
    if not texts:
        return None, None
    if label is None:
        raise ValueError(f"an entity has no key 'label' (its keys: {', '.join(map(_shown, entity))})")
    value = entity[label]
    if isinstance(value, list) and label == "types" and len(value) == 1:
        (value,) = value
    return entity[texts[0]], value


def _shown(key: str) -> str:
    return repr(key[:40])


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


def _id_in(answer: str) -> str | None:
    """Return the id that an answer which cannot be read seems to have."""
    match = _ID.search(answer)
    try:
        return None if match is None else _text(str(json.loads(match[1])), "its id")
    except ValueError:
        return None


_IN_ROWS = {"response", "output", "completion"}
"""Keys by which a row with an answer is recognised, if no other format has such rows."""

MENTIONS = FileFormat(
    name="mentions",
    holds="answers of language models: the texts and labels of entities, which are looked for in the text of gold",
    sign="JSON with `response`, `output` or `completion`",
    told=lambda head: isinstance(row := head.first(), dict) and not _IN_ROWS.isdisjoint(row),
    read=_read,
    rows=read_answers,
)
