"""Mentions: the answers of language models, which name spans by their texts, without positions.

Answers are looked for in the rows that OpenAI and Anthropic write for batches, whose documents are named by
``custom_id``, and under the keys `WRAPPERS`. They may be texts with JSON, in a code fence or with a comma too many;
reasoning in ``<think>``, and other text before and after the JSON, is passed over. ``formats.md`` has all rules.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from clueval.core.document import BY_ID, GROUP, MENTION, NO_ANSWER, OFFSETS, UNPARSABLE, Document, MissingId
from clueval.core.span import NO_LABEL, Frozen, Span
from clueval.files.errors import FormatError, UsageError
from clueval.formats.answers import (
    DEEPEST,
    FENCE,
    LISTS,
    WRAPPERS,
    Answer,
    checked_text,
    id_in,
    json_in,
    parsed,
)
from clueval.formats.documents import FileFormat, only_layer
from clueval.formats.input_file import InputFile, Numbered
from clueval.formats.json_values import JsonValues
from clueval.formats.options import FormatOptions
from clueval.formats.span_forms import (
    FURTHER_ANSWERS,
    ID_KEYS,
    REPAIRED_ANSWERS,
    TOKENS_OF_PIPELINE,
    as_whole,
    is_token_of_pipeline,
)

_LABELS = ("label", "type", "entity_type", "category", "class", "extraction_class", "types", "entity_group")
_NO_FEATURES = frozenset({"start", "end", GROUP, MENTION, OFFSETS, *ID_KEYS})
_TEXTS = ("text", "extraction_text", "word", "span", "mention", "value", "name", "entity")

_OF_SEVERAL = frozenset(f"{key}s" for key in WRAPPERS)
"""Keys with several answers, which would be read as labels."""

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


def _answers_in_lines(lines: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Yield the answers with their lines; of a code fence the whole block, if it is one answer, or its lines."""
    block: list[tuple[int, str]] | None = None
    for number, line in lines:
        fence = FENCE.match(line)
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
        parsed(whole)
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
                answer.id = id_in(row)
        if answer.in_batch and answer.id is not None:
            metadata[BY_ID] = answer.id
        passed_over["texts around answers"] += answer.around
        passed_over[FURTHER_ANSWERS] += answer.further
        passed_over[REPAIRED_ANSWERS] += answer.repaired
        identifier = MissingId(number) if answer.id is None else answer.id
        yield Document(identifier, {layer: spans}, metadata=metadata, unit="character", file=file)


def answers_and_errors(file: InputFile, options: FormatOptions) -> Iterator[Document | FormatError]:
    """Yield the document of each answer of a file, or an error for an answer that cannot be read."""
    for item in _items(_answers_in(file), options, file.passed_over, file.name):
        yield (
            item if isinstance(item, Document) else _error(*item[:2], f"the answer cannot be read: {item[2]}")
        )


def _error(file: str | None, line: int, problem: str, more: str = "") -> FormatError:
    advice = f"correct it, or count it as an answer without spans with unparsable='empty'{more}"
    return FormatError(problem, file=file, line=line, advice=advice)


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
    if len(wrong) == 1:
        raise _error(file, line, f"the answer cannot be read: {problem}")
    of_files = len({name for name, _, _ in wrong}) > 1
    places = [f"{name}:{number}" if of_files else str(number) for name, number, _ in wrong[:SHOWN]]
    unit = "" if of_files else "lines " if file else "rows "
    where = f"{unit}{', '.join(places)}{', ...' if len(wrong) > SHOWN else ''}"
    problem = f"{len(wrong)} answers cannot be read, in {where}; the first: {problem}"
    raise _error(file, line, problem, "; clueval check says what is wrong with each" if file else "")


def without_answer(id_: str, options: FormatOptions) -> Document:
    """Return the document of an answer that is missing: it has no spans."""
    return Document(id_, {only_layer(options, None): ()}, metadata={NO_ANSWER: "1"}, unit="character")


# Entities of an answer


def _entities(value: object) -> list[Any] | dict[str, Any]:
    """Return the entities of an answer: a list, or an object of texts by label."""
    if not isinstance(value, dict | list):
        raise ValueError("it is not an object")
    entities: Any = value
    for _ in range(DEEPEST):
        if isinstance(entities, str):
            try:
                entities = json_in(entities)[0]
            except ValueError as error:
                raise ValueError(f"the text under 'entities' has none: {error}") from None
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
        if label in _OF_SEVERAL:
            raise ValueError(f"it has {label!r}, and one answer is read, under {label[:-1]!r}")
        if texts is not None and not isinstance(texts, list):
            shown = f"{_shown(label)} is not a label with a list of texts"
            raise ValueError(f"""it has no key 'entities', and {shown}, as in {{"PER": ["Ada"]}}""")
    return rest


def _mentions(entities: list[Any] | dict[str, Any]) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Yield the text, the label and the features of each entity."""
    if isinstance(entities, dict):
        for key, texts in entities.items():
            if any(isinstance(text, dict) for text in texts or ()):
                raise ValueError(f"{_shown(key)} is not a label with a list of texts")
        entities = [[text, label] for label, texts in entities.items() for text in texts or ()]
    for entity in entities:
        features: dict[str, Any] = {}
        if isinstance(entity, list) and len(entity) == 2:
            text, label = entity
        elif not isinstance(entity, dict):
            raise ValueError("an entity is not an object")
        elif is_token_of_pipeline(entity):
            raise ValueError(f"it has {'; '.join(TOKENS_OF_PIPELINE)}")
        else:
            text, label = _text_and_label(entity)
            features = {
                checked_text(key, "a key of an entity"): value
                for key, value in entity.items()
                if type(value) in (int, float) and key not in _NO_FEATURES  # such as a score
            }
            offsets = entity.get("start"), entity.get("end")
            if offsets != (None, None):
                features[OFFSETS] = tuple(map(_position, offsets))
        text = checked_text(text, "the text of an entity")
        name = "" if label is None else checked_text(label, "the label of an entity").strip()
        yield text, name or NO_LABEL, features


def _position(value: object) -> int:
    """Return a position, which models also write as text; -1 for what is none, so that the mention is looked for."""
    if isinstance(value, str) and value.isdecimal() and len(value) < 19:
        return int(value)
    value = as_whole(value)
    return value if type(value) is int else -1


def _text_and_label(entity: dict[str, Any]) -> tuple[object, object]:
    # LangExtract writes keys with these endings beside the text under a label
    others = [key for key in entity if not key.endswith(("_attributes", "_index"))]
    if len(others) == 1 and (len(entity) > 1 or others[0] not in (*_TEXTS, *_LABELS, *WRAPPERS)):
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
