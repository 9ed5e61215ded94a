"""Mentions: the answers of language models, which name spans by their texts, without positions.

Answers are looked for in the rows that OpenAI and Anthropic write for batches, whose documents are named by
``custom_id``, and under the keys `WRAPPERS`. They may be texts with JSON, in a code fence or with a comma too many;
reasoning in ``<think>``, and other text before and after the JSON, is passed over. ``formats.md`` has all rules.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from clueval.core.document import MENTION, OFFSETS, Document, MissingId
from clueval.core.span import NO_LABEL, Frozen, Span
from clueval.core.span_forms import (
    BY_ID,
    ID_KEYS,
    NO_ANSWER,
    REPAIRED_ANSWERS,
    TOKENS_OF_PIPELINE,
    UNPARSABLE,
    is_token_of_pipeline,
)
from clueval.files.errors import FormatError, UsageError
from clueval.formats.documents import FileFormat, only_layer
from clueval.formats.input_file import InputFile, Numbered
from clueval.formats.json_values import JsonValues, problem_of
from clueval.formats.options import FormatOptions

WRAPPERS = ("output", "response", "answer", "prediction", "completion", "generated_text", "content")
"""Keys of a row with an answer, in the order in which they are looked for."""
LISTS = ("entities", "extractions", "mentions", "spans", "ner")

_LABELS = ("label", "type", "entity_type", "category", "class", "extraction_class", "types", "entity_group")
_TEXTS = ("text", "extraction_text", "word", "span", "mention", "value", "name", "entity")

_OF_BATCH = {"response", "result", "error"}
"""Keys of a row of a batch, of which it has one."""

_DEEPEST = 10
"""The most wrappers around an answer."""
_ATTEMPTS = 100
"""The number of opening brackets in an answer from which JSON is tried."""
SHOWN = 10
"""The number of answers, or documents, that an error names."""

_Unreadable = tuple[str | None, int, str]
"""The file, the line and the problem of an answer that cannot be read."""

# Files


def _answers_in(file: InputFile) -> Iterable[Numbered]:
    if _is_one_value(file):
        return JsonValues(file.name, file.limits.max_line).of(file.byte_blocks())
    return _answers_in_lines(file.lines())


def _is_one_value(file: InputFile) -> bool:
    """Return whether a file is an array of rows, or JSON that goes over several lines."""
    beginning = file.beginning().lstrip("\ufeff \t\r\n")
    if not beginning.startswith("["):
        return beginning.partition("\n")[0].strip() == "{"
    try:
        _, first = next(JsonValues(file.name, file.limits.max_line).of(file.byte_blocks()), (0, None))
    except FormatError:  # these are answers that cannot be read, of which each line is one
        return False
    keys = first.keys() if isinstance(first, dict) else frozenset()
    has_id = not keys.isdisjoint(ID_KEYS) and keys.isdisjoint(_LABELS)  # an entity may have an id, too
    return has_id or not keys.isdisjoint((*LISTS, *WRAPPERS))


_FENCE = re.compile(r"\s*(?:```|~~~)\s*\w*\s*")


def _answers_in_lines(lines: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Yield the answers with their lines; of a code fence the whole block, if it is one answer, or its lines."""
    block: list[tuple[int, str]] | None = None
    for number, line in lines:
        fence = _FENCE.match(line)
        if fence is not None and fence.end() == len(line):
            yield from _answers_in_block(block or [])
            block = [] if block is None else None
        elif line.strip() and block is not None:
            block.append((number, line))
        elif line.strip():
            yield number, line
    yield from _answers_in_block(block or [])


def _answers_in_block(lines: list[tuple[int, str]]) -> Iterable[tuple[int, str]]:
    if len(lines) < 2:
        return lines
    whole = "\n".join(line for _, line in lines)
    try:
        _parsed(whole)
    except ValueError:
        if all(line.lstrip().startswith("{") for _, line in lines[1:]):
            return lines  # one answer in each line
    return [(lines[0][0], whole)]


def read_run(files: Sequence[tuple[str | None, InputFile]], options: FormatOptions) -> Iterator[Document]:
    """Yield the documents of the answers in files that belong together.

    A file with a name has one answer, whose document has this name unless the answer has an id; or it has rows of which
    the first has an id. Raises the `FormatError` of `read_answers` after the last file, for the answers of all.
    """

    def items() -> Iterator[Document | _Unreadable]:
        for name, file in files:
            answers = _answers_in(file) if name is None or _has_rows(file) else [(1, file.text())]
            for item in _items(answers, options, file.passed_over, file.name):
                if isinstance(item, Document) and isinstance(item.id, MissingId) and name is not None:
                    item = replace(item, id=name)
                yield item

    return _readable(items())


def _has_rows(file: InputFile) -> bool:
    """Return whether a file has rows with ids, and is not one answer with its id."""
    try:
        row = file.first_row()
        if not isinstance(row, dict) or row.keys().isdisjoint(ID_KEYS) or not row.keys().isdisjoint(_LABELS):
            return False
        return not isinstance(json_in(file.text())[0], dict)
    except FormatError:  # its beginning is no JSON
        return False
    except ValueError:  # several answers
        return True


# Documents


def read_answers(
    answers: Iterable[Numbered], options: FormatOptions, passed_over: Counter[str], file: str | None = None
) -> Iterator[Document]:
    """Yield the documents of answers, each with its line or number: texts as a model wrote them, or their JSON.

    Raises `FormatError` after the last answer for those that cannot be read; it names the first ten of them.

    >>> answers = [(1, '{"PER": ["Ada"]}'), (2, {"id": "r2", "entities": []})]
    >>> [document.id for document in read_answers(answers, FormatOptions(), Counter())]
    ['1', 'r2']
    """
    return _readable(_items(answers, options, passed_over, file))


def _items(
    answers: Iterable[Numbered], options: FormatOptions, passed_over: Counter[str], file: str | None
) -> Iterator[Document | _Unreadable]:
    """Yield the document of each answer, or what is wrong with it."""
    layer = only_layer(options, file)
    if options.unparsable not in (None, "empty"):
        problem = f"unparsable={options.unparsable!r} does not apply to the format mentions"
        raise UsageError(problem, file=file, advice="use empty")
    for number, (line, row) in enumerate(answers, 1):
        answer = Answer()
        metadata = {}
        spans: list[Span] = []
        try:
            for text, label, features in _mentions(_entities(answer.inside(row))):
                span_features = Frozen({MENTION: text, **features})
                spans.append(Span(0, 0, Frozen({layer: label}), span_features, line=line))
        except ValueError as error:
            if options.unparsable is None:
                yield file, line, str(error)
                continue
            spans, metadata[UNPARSABLE] = [], "1"
            if answer.id is None and isinstance(row, str):
                answer.id = _id_in(row)
        if answer.in_batch and answer.id is not None:
            metadata[BY_ID] = answer.id
        passed_over["texts around answers"] += answer.around
        passed_over[REPAIRED_ANSWERS] += answer.repaired
        identifier = MissingId(number) if answer.id is None else answer.id
        yield Document(identifier, {layer: spans}, metadata=metadata, unit="character", file=file)


def _readable(items: Iterable[Document | _Unreadable]) -> Iterator[Document]:
    """Yield the documents up to the first answer that cannot be read. Raises `FormatError` for all such answers."""
    wrong: list[_Unreadable] = []
    for item in items:
        if not isinstance(item, Document):
            wrong.append(item)
        elif not wrong:  # what follows would be paired with the wrong texts
            yield item
    if not wrong:
        return
    file, line, problem = wrong[0]
    if len(wrong) > 1:
        of_files = len({name for name, _, _ in wrong}) > 1
        places = [f"{name}:{number}" if of_files else str(number) for name, number, _ in wrong[:SHOWN]]
        unit = "" if of_files else "lines " if file else "rows "
        where = f"{unit}{', '.join(places)}{', ...' if len(wrong) > SHOWN else ''}"
        problem = f"{len(wrong)} answers cannot be read, in {where}; the first: {problem}"
    else:
        problem = f"the answer cannot be read: {problem}"
    advice = "correct it, or count it as an answer without spans with unparsable='empty'"
    raise FormatError(problem, file=file, line=line, advice=advice)


def without_answer(id_: str, options: FormatOptions) -> Document:
    """Return the document of an answer that is missing: it has no spans."""
    return Document(id_, {only_layer(options, None): ()}, metadata={NO_ANSWER: "1"}, unit="character")


# What is around an answer. Functions below raise ValueError for what is no answer.


@dataclass(slots=True)
class Answer:
    """What is around an answer.

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
        """Return an answer without what is around it."""
        for _ in range(_DEEPEST):
            if isinstance(value, str):
                value, around, repaired = json_in(value)
                self.around |= around
                self.repaired |= repaired
                continue
            if not isinstance(value, dict):
                return value
            self._take_id(value)
            inner = _answer_of_service(value)
            if inner is None:
                keys = (key for key in WRAPPERS if isinstance(value.get(key), str | dict | list))
                inner = value.get(next(keys, ""))
            if inner is None:
                return value
            value = inner
        raise ValueError("it is nested too deep")

    def _take_id(self, value: dict[str, Any]) -> None:
        """Take the id of an object, unless one around it had one. A service has ids of its own."""
        if self.id is not None or "choices" in value:
            return
        in_batch = "custom_id" in value and not _OF_BATCH.isdisjoint(value)
        ids = ("custom_id",) if in_batch else ID_KEYS
        identifier = next((item for key in ids if (item := value.get(key)) is not None), None)
        if identifier is None:
            return
        if isinstance(identifier, bool) or not isinstance(identifier, str | int):
            raise ValueError("its id is neither a text nor a number")
        self.id, self.in_batch = _checked_text(str(identifier), "its id"), in_batch


def _answer_of_service(value: dict[str, Any]) -> object:
    """Return the answer in a row of OpenAI or Anthropic; None for any other row."""
    error, response, result = (value.get(key) for key in ("error", "response", "result"))
    if error is not None and not isinstance(error, list):
        raise ValueError("the service reports an error")
    if isinstance(response, dict) and not {"body", "status_code"}.isdisjoint(response):
        if (status := response.get("status_code", 200)) != 200:
            raise ValueError(f"the service reports the status {str(status)[:20]}")
        return _answer_of_completion(response.get("body"))
    if isinstance(result, dict) and not {"type", "message"}.isdisjoint(result):
        if (kind := result.get("type", "succeeded")) != "succeeded":
            raise ValueError(f"the service reports {str(kind)[:20]!r}")
        return _answer_of_blocks(_at(result, "message", "content"))
    if _are_blocks(value.get("content"), ("text", "tool_use", "thinking")):
        return _answer_of_blocks(value["content"])
    is_completion = "choices" in value or _are_blocks(value.get("output"), ("message", "reasoning"))
    return _answer_of_completion(value) if is_completion else None


def _are_blocks(value: object, types: Sequence[str]) -> bool:
    """Return whether a value is a list of the parts of a message, which have these types."""
    return isinstance(value, list) and bool(value) and all(_at(part, "type") in types for part in value)


def _answer_of_completion(body: object) -> object:
    """Return the answer in what OpenAI's interfaces return."""
    message = _at(body, "choices", 0, "message")
    if message is not None:
        content = _at(message, "content") or _at(message, "tool_calls", 0, "function", "arguments")
        return _answer_of_blocks(content) if isinstance(content, list | None) else content
    items = _at(body, "output")
    messages = [item for item in items if _at(item, "type") == "message"] if isinstance(items, list) else []
    return _answer_of_blocks([block for item in messages for block in _at(item, "content") or ()])


def _answer_of_blocks(value: object) -> object:
    """Return the input of the first tool in the blocks of a message, otherwise their texts."""
    blocks = [block for block in value if isinstance(block, dict)] if isinstance(value, list) else []
    inputs = [block["input"] for block in blocks if block.get("type") == "tool_use" and "input" in block]
    texts = [text for block in blocks if isinstance(text := block.get("text"), str)]
    if not inputs and not texts:
        raise ValueError("the message has no text")
    return inputs[0] if inputs else "".join(texts)


def _at(value: Any, *path: str | int) -> Any:
    """Return what is at a path of keys and numbers; None if there is nothing."""
    for key in path:
        if isinstance(key, int):
            value = value[key] if isinstance(value, list) and len(value) > key else None
        else:
            value = value.get(key) if isinstance(value, dict) else None
    return value


# JSON in texts

_THOUGHT = re.compile(r"^(?:(?!<think>).)*?</think>|<think>.*?(?:</think>|\Z)", re.DOTALL)
_COMMA_TOO_MANY = re.compile(r'("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])')
_ID = re.compile(rf'"(?:{"|".join(ID_KEYS)})"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+)')


def json_in(text: str) -> tuple[Any, bool, bool]:
    """Return the JSON in a text, whether other text stood around it, and whether it was repaired.

    It may stand in a code fence and have a comma after the last element of a list or an object, which are repaired, and
    it may have other text around it.

    >>> json_in('<think>Is it [a]?</think> Here it is: {"entities": []}. Anything else?')
    ({'entities': []}, True, False)
    >>> json_in('{"PER": ["Ada",]}')
    ({'PER': ['Ada']}, False, True)
    """
    try:
        return _json_as_written(text)
    except ValueError as error:
        without = _COMMA_TOO_MANY.sub(lambda match: match[1] or "", text)
        if without == text:
            raise
        try:
            value, around, _ = _json_as_written(without)
        except ValueError:
            raise error from None
        return value, around, True


def _json_as_written(text: str) -> tuple[Any, bool, bool]:
    for reply in dict.fromkeys((text, _THOUGHT.sub("", text))):
        fence = _FENCE.match(reply)
        inner = reply[fence.end() :] if fence else reply
        inner = inner.strip().removesuffix("```").removesuffix("~~~").strip()
        try:
            return _parsed(inner), reply != text, fence is not None
        except ValueError as error:
            problem = problem_of(error) if isinstance(error, json.JSONDecodeError) else str(error)
    first = next(_answers_within(inner), None)
    if first is None:
        raise ValueError(f"it is not JSON ({problem})")
    value, end = first
    if next(_answers_within(inner[end:]), None) is not None:
        raise ValueError("it has two answers")
    return value, True, False


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    unique = dict(pairs)
    if len(unique) < len(pairs):
        raise ValueError("a key occurs twice in an object")
    return unique


_decoder = json.JSONDecoder(object_pairs_hook=_once)


def _parsed(text: str) -> Any:
    try:
        value, end = _decoder.raw_decode(text)
    except RecursionError:
        raise ValueError("it is nested too deep") from None
    if text[end:].strip():
        raise ValueError("text follows the JSON")
    return value


def _answers_within(text: str) -> Iterator[tuple[Any, int]]:
    """Yield the JSON values inside other text that look like answers, not like its brackets, and where they end."""
    for bracket in islice(re.finditer(r"[{\[]", text), _ATTEMPTS):
        try:
            value, end = _decoder.raw_decode(text, bracket.start())
        except (ValueError, RecursionError):
            continue
        if isinstance(value, list):
            is_answer = all(isinstance(item, dict) for item in value) or all(
                isinstance(item, list)
                and len(item) == 2
                and all(isinstance(part, str | None) for part in item)
                for item in value
            )
        else:
            has_key = not value.keys().isdisjoint((*LISTS, *WRAPPERS))
            is_answer = has_key or all(texts is None or isinstance(texts, list) for texts in value.values())
        if value and is_answer:
            yield value, end


def _checked_text(value: object, what: str) -> str:
    """Return a text that a file can hold."""
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
        return None if match is None else _checked_text(str(json.loads(match[1])), "its id")
    except ValueError:
        return None


# Entities of an answer


def _entities(value: object) -> list[Any] | dict[str, Any]:
    """Return the entities of an answer: a list, or an object of texts by label."""
    if not isinstance(value, dict | list):
        raise ValueError("it is not an object")
    entities: Any = value
    for _ in range(_DEEPEST):
        if isinstance(entities, str):
            entities = json_in(entities)[0]
        if isinstance(entities, list):
            return entities
        if not isinstance(entities, dict):
            raise ValueError("'entities' is neither a list nor an object")
        key = next((key for key in LISTS if key in entities), None)
        if key is None:
            break
        entities = [] if entities[key] is None else entities[key]
        if isinstance(entities, dict) and entities.keys().isdisjoint(LISTS):
            for texts in entities.values():
                if texts is not None and not isinstance(texts, list):
                    raise ValueError("what stands under a label is no list of texts")
            return entities
    rest = {key: texts for key, texts in entities.items() if key not in (*ID_KEYS, "text")}
    if entities and not rest:
        raise ValueError("""it has no key 'entities', as in {"entities": {"PER": ["Ada"]}}""")
    if not any(isinstance(texts, list) for texts in rest.values()):
        missing = next((key for key in WRAPPERS if key in rest and rest[key] is None), None)
        if missing is not None:
            raise ValueError(f"{missing!r} is null: there is no answer")
    for label, texts in rest.items():
        if texts is not None and not isinstance(texts, list):
            shown = f"{_shown(label)} is not a label with a list of texts"
            raise ValueError(f"""it has no key 'entities', and {shown}, as in {{"PER": ["Ada"]}}""")
    return rest


def _mentions(entities: list[Any] | dict[str, Any]) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Yield the text, the label and the features of each entity."""
    if isinstance(entities, dict):
        entities = [[text, label] for label, texts in entities.items() for text in texts or ()]
    for entity in entities:
        features = {}
        if isinstance(entity, list) and len(entity) == 2:
            text, label = entity
        elif not isinstance(entity, dict):
            raise ValueError("an entity is not an object")
        elif is_token_of_pipeline(entity):
            raise ValueError(f"it has {'; '.join(TOKENS_OF_PIPELINE)}")
        else:
            text, label = _text_and_label(entity)
            offsets = entity.get("start"), entity.get("end")
            if offsets != (None, None):
                features[OFFSETS] = tuple(map(_position, offsets))
        text = _checked_text(text, "the text of an entity")
        is_unlabelled = label in (None, "")
        yield text, NO_LABEL if is_unlabelled else _checked_text(label, "the label of an entity"), features


def _position(value: object) -> int:
    """Return a position, which models also write as text; -1 for what is none, so that the mention is looked for."""
    if isinstance(value, str) and value.isdecimal() and len(value) < 19:
        return int(value)
    return value if type(value) is int else -1


def _text_and_label(entity: dict[str, Any]) -> tuple[object, object]:
    # LangExtract writes keys with these endings beside the text under a label
    others = [key for key in entity if not key.endswith(("_attributes", "_index"))]
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


MENTIONS = FileFormat(
    name="mentions",
    options=frozenset({"layers", "unparsable", "missing"}),
    holds="answers of language models: the texts and labels of entities, which are looked for in the text of gold",
    read=lambda file, options: read_answers(_answers_in(file), options, file.passed_over, file.name),
    rows=read_answers,
)
