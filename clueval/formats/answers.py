"""The answers of language models as programs store them: in rows of services, under wrappers, and as JSON in texts.

Answers are looked for in the rows that OpenAI and Anthropic write for batches, whose documents are named by
``custom_id``, and under the keys `WRAPPERS`. They may be texts with JSON, in a code fence or with a comma too many;
reasoning in ``<think>``, and other text before and after the JSON, is passed over.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

from clueval.formats.json_values import problem_of

_FENCE = re.compile(r"\s*(?:```|~~~)\s*\w*\s*")

_THOUGHT = re.compile(r"^(?:(?!<think>).)*?</think>|<think>.*?(?:</think>|\Z)", re.DOTALL)

_ATTEMPTS = 100
"""The number of opening brackets in an answer from which JSON is tried."""

IDS = ("id", "custom_id", "document_id", "doc_id", "uid")

_ID = re.compile(rf'"(?:{"|".join(IDS)})"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+)')

WRAPPERS = ("output", "response", "answer", "prediction", "completion", "generated_text", "content")
"""Keys of a row with an answer, in the order in which they are looked for."""

LISTS = ("entities", "extractions", "mentions", "spans", "ner")

DEEPEST = 10
"""The most wrappers around an answer."""


@dataclass(slots=True)
class Answer:
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
        for _ in range(DEEPEST):
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
                keys = (key for key in WRAPPERS if isinstance(value.get(key), str | dict | list))
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
        ids = ("custom_id",) if in_batch else IDS
        given = next((each for key in ids if (each := value.get(key)) is not None), None)
        if given is None:
            return
        if isinstance(given, bool) or not isinstance(given, str | int):
            raise ValueError("its id is neither a text nor a number")
        self.id, self.in_batch = checked_text(str(given), "its id"), in_batch


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


def answers_in_lines(lines: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
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
            problem = problem_of(error) if isinstance(error, json.JSONDecodeError) else str(error)
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
        not value.keys().isdisjoint((*LISTS, *WRAPPERS)) or (bool(value) and _is_by_label(value))
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


def checked_text(value: object, what: str) -> str:
    """Return a text. Raises ValueError for another value, and for a text that no file can hold."""
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
