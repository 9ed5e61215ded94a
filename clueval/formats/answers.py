"""What is around the answers of language models: rows, what services return, code fences and other text.

Functions raise `ValueError` for what is no answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from clueval.files.errors import FormatError
from clueval.formats.json_values import DECODER, problem_of
from clueval.formats.span_forms import ID_KEYS, as_whole

WRAPPERS = ("output", "response", "answer", "prediction", "completion", "generated_text", "content")
"""Keys of a row with an answer, in the order in which they are looked for."""
LISTS = ("entities", "extractions", "mentions", "spans", "ner")

_OF_BATCH = {"response", "result", "error"}
"""Keys of a row of a batch, of which it has one."""

DEEPEST = 10
"""The most wrappers around an answer."""
_ATTEMPTS = 100
"""The number of opening brackets in an answer from which JSON is tried."""


@dataclass(slots=True)
class Answer:
    """What is around an answer.

    Attributes:
        id, in_batch: its id, and whether that is the id of a batch.
        around: whether there was other text.
        repaired: whether it stood in a code fence, or its JSON had a comma too many.
        further: the number of answers after the first that the service or the model returned (``n`` of OpenAI).
    """

    id: str | None = None
    in_batch: bool = False
    around: bool = False
    repaired: bool = False
    further: int = 0

    def inside(self, value: object) -> object:
        """Return an answer without what is around it."""
        for _ in range(DEEPEST):
            if isinstance(value, str):
                value, around, repaired = json_in(value)
                self.around |= around
                self.repaired |= repaired
                continue
            if isinstance(value, list) and value and all(_at(item, "generated_text") for item in value):
                self.further += len(value) - 1  # as a pipeline of Hugging Face returns them
                value = value[0]["generated_text"]
                continue
            if not isinstance(value, dict):
                return value
            inner = self.within(value)
            if inner is None:
                return value
            value = inner
        raise ValueError("it is nested too deep")

    def within(self, value: dict[str, Any]) -> object:
        """Return what an object has around: the answer of a service, or what stands under a key; None: nothing."""
        self._take_id(value)
        choices = value.get("choices") or _at(value, "response", "body", "choices") or _of_gemini(value)
        self.further += len(choices) - 1 if isinstance(choices, list) and choices else 0
        inner = _answer_of_service(value)
        if inner is None:
            keys = (key for key in WRAPPERS if isinstance(value.get(key), str | dict | list))
            inner = value.get(next(keys, ""))
        return inner

    def _take_id(self, value: dict[str, Any]) -> None:
        """Take the id of an object, unless one around it had one. A service has ids of its own."""
        if self.id is not None or "choices" in value:
            return
        of_gemini = _of_gemini(value.get("response")) is not None or isinstance(value.get("error"), dict)
        in_batch = "custom_id" in value and not _OF_BATCH.isdisjoint(value)
        in_batch |= "key" in value and of_gemini
        ids = ("custom_id", "key") if in_batch else ID_KEYS
        identifier = next((as_whole(item) for key in ids if (item := value.get(key)) is not None), None)
        if identifier is None:
            return
        if isinstance(identifier, bool) or not isinstance(identifier, str | int):
            raise ValueError("its id is neither a text nor a number")
        self.id, self.in_batch = checked_text(str(identifier), "its id"), in_batch


def _answer_of_service(value: dict[str, Any]) -> object:
    """Return the answer in a row of OpenAI, Anthropic or Gemini; None for any other row."""
    error, response, result = (value.get(key) for key in ("error", "response", "result"))
    if error is not None and not isinstance(error, list):
        raise ValueError("the service reports an error")
    if isinstance(response, dict) and not {"body", "status_code"}.isdisjoint(response):
        if (status := response.get("status_code", 200)) != 200:
            raise ValueError(f"the service reports the status {str(status)[:20]}")
        return _answer_of_completion(response.get("body"))
    if (candidates := _of_gemini(value)) is not None:
        parts = _at(candidates, 0, "content", "parts")
        parts = parts if isinstance(parts, list) else []
        return _answer_of_blocks([part for part in parts if not _at(part, "thought")])
    if isinstance(result, dict) and not {"type", "message"}.isdisjoint(result):
        if (kind := result.get("type", "succeeded")) != "succeeded":
            raise ValueError(f"the service reports {str(kind)[:20]!r}")
        return _answer_of_blocks(_at(result, "message", "content"))
    if _are_blocks(value.get("content"), ("text", "tool_use", "thinking")):
        return _answer_of_blocks(value["content"])
    is_completion = "choices" in value or _are_blocks(value.get("output"), ("message", "reasoning", *_INPUTS))
    return _answer_of_completion(value) if is_completion else None


def _are_blocks(value: object, types: Sequence[str]) -> bool:
    """Return whether a value is a list of the parts of a message, which have these types."""
    return isinstance(value, list) and bool(value) and all(_at(part, "type") in types for part in value)


def _of_gemini(value: object) -> list[Any] | None:
    """Return the candidates in a response of Gemini, none if it was blocked; None for another value."""
    candidates = _at(value, "candidates")
    if _at(candidates, 0, "content") or _at(candidates, 0, "finishReason"):
        return list(candidates)
    return None if _at(value, "promptFeedback") is None else []


def _answer_of_completion(body: object) -> object:
    """Return the answer in what OpenAI's interfaces return."""
    message = _at(body, "choices", 0, "message")
    if message is not None:
        content = _at(message, "content") or _at(message, "tool_calls", 0, "function", "arguments")
        return _answer_of_blocks(content) if isinstance(content, list | None) else content
    return _answer_of_blocks(_at(body, "output"))


_INPUTS = {"tool_use": "input", "function_call": "arguments"}
"""The keys of the input of a tool, by the type of its block."""


def _answer_of_blocks(value: object) -> object:
    """Return the input of the first tool in the blocks of a message, or of several, otherwise their texts."""
    parts = value if isinstance(value, list) else []
    parts = [_at(part, "content") if _at(part, "type") == "message" else [part] for part in parts]
    blocks = [block for part in parts for block in part or () if isinstance(block, dict)]
    inputs = [block[key] for block in blocks if (key := _INPUTS.get(str(block.get("type")), "")) in block]
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

FENCE = re.compile(r"\s*(?:```|~~~)\s*\w*\s*")
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
        fence = FENCE.match(reply)
        inner = reply[fence.end() :] if fence else reply
        inner = inner.strip().removesuffix("```").removesuffix("~~~").strip()
        try:
            return parsed(inner), reply != text, fence is not None
        except FormatError:
            raise
        except ValueError as error:
            problem = problem_of(error) if isinstance(error, json.JSONDecodeError) else str(error)
    first = next(_answers_within(inner), None)
    if first is None:
        raise ValueError(f"it is not JSON ({problem})")
    value, end = first
    if next(_answers_within(inner[end:]), None) is not None:
        raise ValueError("it has two answers")
    return value, True, False


def parsed(text: str) -> Any:
    try:
        value, end = DECODER.raw_decode(text)
    except RecursionError:
        raise ValueError("it is nested too deep") from None
    if text[end:].strip():
        raise ValueError("text follows the JSON")
    return value


def _answers_within(text: str) -> Iterator[tuple[Any, int]]:
    """Yield the JSON values inside other text that look like answers, not like its brackets, and where they end."""
    for bracket in islice(re.finditer(r"[{\[]", text), _ATTEMPTS):
        try:
            value, end = DECODER.raw_decode(text, bracket.start())
        except FormatError:
            raise
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


def checked_text(value: object, what: str) -> str:
    """Return a text that a file can hold."""
    if not isinstance(value, str):
        raise ValueError(f"{what} is not text")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{what} has half of a surrogate pair") from None
    return value


def id_in(answer: str) -> str | None:
    """Return the id that an answer which cannot be read seems to have."""
    match = _ID.search(answer)
    try:
        return None if match is None else checked_text(str(json.loads(match[1])), "its id")
    except ValueError:
        return None
