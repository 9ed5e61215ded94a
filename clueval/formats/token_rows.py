"""Rows of tokens and tags, as data sets of Hugging Face have them.

    {"id": "0", "tokens": ["Frida", "paints"], "ner_tags": ["B-PER", "O"]}
    {"words": ["Frida", "paints"], "ner_tags": [1, 0]}                     with --names labels.json

The tags are under the one key that is ``ner`` or ends with ``tags``, or else ``labels``, or under the key that
``--layer NAME=KEY`` names. Numbers need ``--names``: a JSON list of tags, a model's ``config.json`` with ``id2label``
or a ``dataset_info.json``. A position with -100 or null has no tag (``ignored positions``). A row is a document.
Other texts and numbers of a row, and those of ``meta``, are metadata.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from clueval.core.span import DEFAULT_LAYER
from clueval.files.errors import FileError, FormatError, UsageError
from clueval.files.overwriting import note_input
from clueval.formats.flat_rows import TaggedRow
from clueval.formats.format import Writer
from clueval.formats.json_rows import Row, RowForm, RowReader, json_lines, row_format, scalars
from clueval.formats.recognition import Beginning, Sign
from clueval.formats.tag_rows import TaggedRows, tags_of
from clueval.spans.document import Document
from clueval.tagging.schemes import OUTSIDE

_TOKENS = ("tokens", "words")
_NO_TAG = -100
_KEYS_OF_NAMES = ("id2label", "label2id", "names", "class_label", "feature", "sequence", "list")


def _keys_of_tags(row: Iterable[str]) -> list[str]:
    """Return the keys of tags; ``labels`` is one if there is no other and no text, which has spans."""
    keys = list(row)
    found = [key for key in keys if key == "ner" or key.endswith("tags")]
    return found or [key for key in keys if key == "labels" and not {"text", "data"} & set(keys)]


def _documents(row: object, rows: RowReader) -> Iterator[Document]:
    found = rows.mapping(row)
    key = next((key for key in _TOKENS if key in found), None)
    if key is None:
        rows.refuse("the row has no 'tokens' or 'words'")
    tokens = rows.tokens(found, key)
    sources = _sources(found, rows)
    identifier = rows.id(found, "id")
    columns = {}
    for layer, source in sources.items():
        if source not in found:
            rows.refuse(f"the row has no key {source!r}")
        values = rows.listed(found[source], f"{source!r}")
        if len(values) != len(tokens):
            rows.refuse(f"{source!r} has {len(values)} values for {len(tokens)} tokens")
        columns[layer] = _tags(values, source, rows)
    left_out = (key, "id", "meta", *sources.values())
    yield TaggedRows.of(rows, list(sources)).document(
        identifier, tokens, columns, rows, metadata=scalars(found, left_out) | scalars(found.get("meta"))
    )


def _sources(row: Mapping[str, Any], rows: RowReader) -> Mapping[str, str]:
    if rows.options.layers is not None:
        return rows.sources("")
    keys = _keys_of_tags(row)
    if len(keys) != 1:
        raise UsageError(
            f"the row has several keys of tags: {', '.join(keys)}" if keys else "the row has no key of tags",
            file=rows.file,
            line=rows.number,
            advice="name one, as in layers={'entity': 'ner_tags'}",
        )
    return {DEFAULT_LAYER: keys[0]}


def _tags(values: Sequence[object], source: str, rows: RowReader) -> list[str]:
    """Return the tags of a list of tags or of their numbers."""
    names: Mapping[int, str] | None = None
    tags = []
    for value in values:
        if value is None or (value == _NO_TAG and not isinstance(value, str)):
            rows.passed_over["ignored positions"] += 1
            tags.append(OUTSIDE)
        elif isinstance(value, str):
            tags.append(value)
        elif isinstance(value, int) and not isinstance(value, bool):
            names = names or _names(rows, source)
            if value not in names:
                rows.refuse(f"the number {value} of {source!r} has no name", "check names=...")
            tags.append(names[value])
        else:
            rows.refuse(f"{source!r} has a value that is neither a tag nor a number")
    return tags


def _names(rows: RowReader, source: str) -> Mapping[int, str]:
    """Return the names of the numbers of a key."""
    given = rows.options.names
    if given is None:
        rows.refuse(
            f"the tags of {source!r} are numbers without names",
            "give the names with names='FILE': a JSON list of tags, a config.json with id2label, or dataset_info.json",
        )
    known: Mapping[int, str] | None = rows.known.get(source)
    if known is None:
        known = rows.known[source] = read_names(given, source)
    return known


def read_names(given: Any, source: str) -> Mapping[int, str]:
    """Return the names by number in a file, list or mapping of `Reading.names`; `source` is the key of the tags.

    Raises `FormatError` for something without names, `FileError`.
    """
    file = None
    if isinstance(given, str | Path):
        file = str(given)
        note_input(file)
        try:
            given = json.loads(Path(given).read_text(encoding="utf-8-sig"))
        except OSError as error:
            raise FileError(f"cannot be read: {error.strerror or error}", file=file) from None
        except (ValueError, RecursionError):
            raise FormatError(
                "not JSON",
                file=file,
                advice="a list of tags, a config.json with id2label, or dataset_info.json",
            ) from None
    names = _names_in(given, source)
    if names is None:
        raise FormatError(
            f"there are no names of the tags of {source!r}",
            file=file,
            advice="a list of tags, an object with id2label, or dataset_info.json",
        )
    return names


def _names_in(given: Any, source: str) -> Mapping[int, str] | None:
    """Return the names by number in a list, in ``id2label`` or ``label2id``, or of the feature `source`."""
    if isinstance(given, list | tuple):
        if all(isinstance(name, str) for name in given):
            return dict(enumerate(given))
        named = (item for item in given if isinstance(item, Mapping) and item.get("name", source) == source)
        return next(filter(None, (_names_in(item, source) for item in named)), None)
    if not isinstance(given, Mapping):
        return None
    if given and all(str(key).isdecimal() and isinstance(name, str) for key, name in given.items()):
        return {int(key): name for key, name in given.items()}
    if given and all(isinstance(number, int) for number in given.values()):
        return {number: str(name) for name, number in given.items()}
    for key in (*_KEYS_OF_NAMES, source, "features"):
        if (found := _names_in(given.get(key), source)) is not None:
            return found
    if "features" in given or "names" in given:
        return None
    configurations = (_names_in(own, source) for own in given.values() if isinstance(own, Mapping))
    return next((found for found in configurations if found is not None), None)


def rows_of(document: Document, layers: Sequence[str]) -> Row:
    """Return the row of a document: its tokens and BIO tags."""
    several = len(layers) > 1
    own = {key: value for key, value in document.metadata.items() if not _is_taken(key)}
    others = {key: value for key, value in document.metadata.items() if key not in own}
    return {
        "id": document.id,
        "tokens": list(document.tokens or ()),
        **{f"{layer}_tags" if several else "ner_tags": tags_of(document, layer) for layer in layers},
        **own,
        **({"meta": others} if others else {}),
    }


def _is_taken(key: str) -> bool:
    """Return whether a key of a row has another use than metadata."""
    return key in (*_TOKENS, "id", "meta") or bool(_keys_of_tags([key]))


def _is_token_rows(beginning: Beginning) -> bool:
    return bool(beginning.keys & {*_TOKENS}) and bool(_keys_of_tags(beginning.keys))


def _tagged(row: Any, rows: RowReader) -> TaggedRow | None:
    """Return a row with as many tags as tokens, with names for numbers; None if it must become a document."""
    if type(row) is not dict:
        return None
    shape = tuple(row)
    if rows.known.get("shape") != shape:  # mostly, all rows have the same keys
        tokens_key = next((key for key in _TOKENS if key in row), None)
        rows.known |= {"shape": shape, "keys": (tokens_key, *_sources(row, rows).values())}
    tokens_key, source = rows.known["keys"]
    tokens, tags = row.get(tokens_key), row[source]
    if type(tokens) is not list or type(tags) is not list or len(tags) != len(tokens):
        return None
    if tags and type(tags[0]) is int:
        names = _names(rows, source)
        if set(map(type, tags)) != {int} or not names.keys() >= set(tags):
            return None
        tags = list(map(names.__getitem__, tags))
    return TaggedRow(rows.id(row, "id"), tokens, tags)


FORM = RowForm(_documents, tagged=_tagged, independent=False)

FORMAT = row_format(
    FORM,
    name="token-rows",
    holds="rows of `tokens` and tags, JSON Lines or an array, as data sets of Hugging Face have them",
    signs=(
        Sign(
            "JSON with `tokens` or `words`, and `ner`, `labels` or a key that ends with `tags`",
            _is_token_rows,
        ),
    ),
    options=frozenset({"layers", "names", "scheme"}),
    treatments=("conlleval", "discard", "error"),
    of_tokens=True,
    write=Writer(
        json_lines(rows_of),
        ".jsonl",
        unit="token",
        holds=frozenset({"metadata", "layers", "spans across sentences"}),
        row=rows_of,
    ),
)
