"""Mentions: the answers of language models, which name spans by their texts, without positions.

The rules of the format stand in ``formats.md``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from clueval.core.document import MENTION, OFFSETS, Document, MissingId
from clueval.core.span import NO_LABEL, Frozen, Span
from clueval.core.span_forms import BY_ID, TOKENS_OF_PIPELINE, UNPARSABLE, is_token_of_pipeline
from clueval.files.errors import FormatError, UsageError
from clueval.formats.answers import (
    DEEPEST,
    IDS,
    LISTS,
    WRAPPERS,
    Answer,
    answers_in_lines,
    checked_text,
    id_in,
    json_in,
)
from clueval.formats.file_format import FileFormat, only_layer
from clueval.formats.input_file import InputFile, Numbered
from clueval.formats.json_values import JsonValues
from clueval.formats.options import FormatOptions

EMPTY = "empty"
"""The value of `unparsable` that counts an answer that cannot be read as one without spans."""


_LABELS = ("label", "type", "entity_type", "category", "class", "extraction_class", "types", "entity_group")
_TEXTS = ("text", "extraction_text", "word", "span", "mention", "value", "name", "entity")
_BESIDE = ("_attributes", "_index")
"""The endings of what LangExtract's answers have beside the text under a label."""


def _read(file: InputFile, options: FormatOptions) -> Iterator[Document]:
    return read_answers(_answers_in(file), options, file.passed_over, file.name)


def _answers_in(file: InputFile) -> Iterable[Numbered]:
    rows = JsonValues(file.name, file.limits.max_line)
    return rows.of(file.byte_blocks()) if _is_one_value(file) else answers_in_lines(file.lines())


def read_run(files: Sequence[tuple[str | None, InputFile]], options: FormatOptions) -> Iterator[Document]:
    """Yield the documents of the answers in files that belong together.

    A file with a name has one answer, whose document has this name unless the answer has an id; or it has rows of which
    the first has an id. Raises the `FormatError` of `read_answers` after the last file, for the answers of all.
    """
    wrong: list[tuple[str | None, int, str]] = []
    for name, file in files:
        answers = _answers_in(file) if name is None or _has_rows(file) else [(1, file.text())]
        for document in _documents(answers, options, file.passed_over, file.name, wrong):
            is_named = name is not None and isinstance(document.id, MissingId)
            yield replace(document, id=str(name)) if is_named else document
    if wrong:
        raise _unreadable(wrong)


def _has_rows(file: InputFile) -> bool:
    """Return whether a file has rows with ids, and is not one answer with its id."""
    try:
        row = file.first_row()
        if not isinstance(row, dict) or row.keys().isdisjoint(IDS) or not row.keys().isdisjoint(_LABELS):
            return False
        return not isinstance(json_in(file.text()).value, dict)
    except FormatError:  # its beginning is no JSON
        return False
    except ValueError:  # several answers
        return True


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
    has_id = not keys.isdisjoint(IDS) and keys.isdisjoint(_LABELS)  # an entity may have an id, too
    return has_id or not keys.isdisjoint((*LISTS, *WRAPPERS))


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
    wrong: list[tuple[str | None, int, str]] = []
    yield from _documents(answers, options, passed_over, file, wrong)
    if wrong:
        raise _unreadable(wrong)


def _documents(
    answers: Iterable[Numbered],
    options: FormatOptions,
    passed_over: Counter[str],
    file: str | None,
    wrong: list[tuple[str | None, int, str]],
) -> Iterator[Document]:
    """Yield the documents of answers; `wrong` gets the file, the line and the problem of those that cannot be read."""
    layer = only_layer(options, file)
    if options.unparsable not in (None, EMPTY):
        raise UsageError(
            f"unparsable={options.unparsable!r} does not apply to the format mentions",
            file=file,
            advice=f"use {EMPTY}",
        )
    for number, (line, given) in enumerate(answers, 1):
        answer = Answer()
        metadata = {}
        spans: list[Span] = []
        try:
            spans = _spans(answer.inside(given), layer, line)
        except ValueError as error:
            if options.unparsable is None:
                wrong.append((file, line, str(error)))
                continue
            metadata[UNPARSABLE] = "1"
            if answer.id is None and isinstance(given, str):
                answer.id = id_in(given)
        if answer.in_batch and answer.id is not None:
            metadata[BY_ID] = answer.id
        passed_over["texts around answers"] += answer.around
        passed_over["repaired answers"] += answer.repaired
        own = MissingId(number) if answer.id is None else answer.id
        yield Document(own, {layer: spans}, metadata=metadata, unit="character", file=file)


SHOWN = 10
"""The number of answers, or documents, that an error names."""


def _unreadable(wrong: Sequence[tuple[str | None, int, str]]) -> FormatError:
    """Return the error for answers that cannot be read, given the file, the line and the problem of each."""
    file, line, problem = wrong[0]
    if len(wrong) > 1:
        of_files = len({name for name, _, _ in wrong}) > 1
        places = [f"{name}:{number}" if of_files else str(number) for name, number, _ in wrong[:SHOWN]]
        what = "" if of_files else "lines " if file else "rows "
        where = f"{what}{', '.join(places)}{', ...' if len(wrong) > SHOWN else ''}"
        problem = f"{len(wrong)} answers cannot be read, in {where}; the first: {problem}"
    else:
        problem = f"the answer cannot be read: {problem}"
    return FormatError(
        problem,
        file=file,
        line=line,
        advice="correct it, or count it as an answer without spans with unparsable='empty'",
    )


def without_answer(id_: str, options: FormatOptions) -> Document:
    """Return the document of an answer that is missing: it counts as one that cannot be read, without spans."""
    return Document(id_, {only_layer(options, None): ()}, metadata={UNPARSABLE: "1"}, unit="character")


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
    for _ in range(DEEPEST):
        if isinstance(value, str):
            value = json_in(value).value
        if not isinstance(value, dict):
            return value
        key = next((key for key in LISTS if key in value), None)
        if key is None:
            break
        value = [] if value[key] is None else value[key]
        if isinstance(value, dict) and value.keys().isdisjoint(LISTS):
            return value
    assert isinstance(value, dict)
    rest = {key: each for key, each in value.items() if key not in (*IDS, "text")}
    if value and not rest:
        raise ValueError("""it has no key 'entities', as in {"entities": {"PER": ["Ada"]}}""")
    if rest and not any(isinstance(texts, list) for texts in rest.values()):
        missing = next((key for key in WRAPPERS if key in rest and rest[key] is None), None)
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
                yield checked_text(text, "the text of an entity"), _label(label), {}
        return
    if not isinstance(entities, list):
        raise ValueError("'entities' is neither a list nor an object")
    for entity in entities:
        if isinstance(entity, list) and len(entity) == 2:
            yield checked_text(entity[0], "the text of an entity"), _label(entity[1]), {}
            continue
        if not isinstance(entity, dict):
            raise ValueError("an entity is not an object")
        if is_token_of_pipeline(entity):
            raise ValueError(f"it has {'; '.join(TOKENS_OF_PIPELINE)}")
        text, label = _text_and_label(entity)
        offsets = entity.get("start"), entity.get("end")
        given = {} if offsets == (None, None) else {OFFSETS: tuple(map(_whole, offsets))}
        yield checked_text(text, "the text of an entity"), _label(label), given


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
    return NO_LABEL if label in (None, "") else checked_text(label, "the label of an entity")


MENTIONS = FileFormat(
    name="mentions",
    options=frozenset({"layers", "unparsable", "missing"}),
    holds="answers of language models: the texts and labels of entities, which are looked for in the text of gold",
    read=_read,
    rows=read_answers,
)
