"""The tags of a row of JSON, which may be numbers, and their spans."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from clueval.core.document import Row, Sentence
from clueval.core.span import DEFAULT_LAYER
from clueval.core.tags import OUTSIDE
from clueval.files.errors import TagError, UsageError
from clueval.second.formats.dialect import Dialect
from clueval.second.formats.row_input import RowInput
from clueval.second.formats.row_keys import sources_of
from clueval.second.formats.tag_lists import chunks_of, keys_of_tags, names_of_tags

_NO_TAG = -100


class TagReader:
    """Reads the tags of the rows of one input."""

    def __init__(self, dialect: Dialect, rows: RowInput) -> None:
        self._dialect, self._input = dialect, rows
        self._names: dict[str, Mapping[int, str]] = {}

    def keys_of_layers(self, row: Mapping[str, Any]) -> Mapping[str, str]:
        """Return the key of the tags of each layer."""
        if self._dialect.tags != "*":
            return dict.fromkeys(
                sources_of(self._dialect, self._input.options, self._input.file), self._dialect.tags
            )
        if self._input.options.layers is not None:
            return sources_of(self._dialect, self._input.options, self._input.file)
        keys = keys_of_tags(row)
        if len(keys) != 1:
            several = f"several keys of tags: {', '.join(keys)}"
            raise UsageError(
                f"the row has {several if keys else 'no key of tags'}",
                file=self._input.file,
                line=self._input.number,
                advice="name one, as in layers={'entity': 'ner_tags'}",
            )
        return {DEFAULT_LAYER: keys[0]}

    def tags(self, row: Mapping[str, Any], tokens: list[str]) -> dict[str, list[str]]:
        """Return the tags of each layer."""
        tags = {}
        for layer, key in self.keys_of_layers(row).items():
            if key not in row:
                self._input.refuse(f"the row has no key {key!r}")
            values = self._input.listed(row[key], repr(key))
            if len(values) != len(tokens):
                self._input.refuse(f"{key!r} has {len(values)} values for {len(tokens)} tokens")
            is_text = all(type(value) is str for value in values)
            tags[layer] = values if is_text else [self._tag(value, key) for value in values]
        return tags

    def _tag(self, value: Any, key: str) -> str:
        if isinstance(value, str):
            return value
        if value is None or value == _NO_TAG:
            self._input.passed_over["ignored positions"] += 1
            return OUTSIDE
        if type(value) is not int:
            self._input.refuse(f"{key!r} has a value that is neither a tag nor a number")
        if self._input.options.names is None:
            self._input.refuse(
                f"the tags of {key!r} are numbers without names",
                "give the names with names='FILE': a JSON list of tags, a config.json with id2label, or "
                "dataset_info.json",
            )
        if key not in self._names:
            self._names[key] = names_of_tags(self._input.options.names, key)
        if value not in self._names[key]:
            self._input.refuse(f"the number {value} of {key!r} has no name", "check names=...")
        return self._names[key][value]

    def spans(self, tags: list[str], sentences: Sequence[Sentence], identifier: str) -> list[Row]:
        """Return the spans of tags. Raises `TagError` with the number of the row."""
        invalid = self._input.options.invalid or "conlleval"
        spans = []
        try:
            for first, last, _ in sentences or (Sentence(0, len(tags)),):
                for start, end, label in chunks_of(tags[first:last], self._input.options.scheme, invalid):
                    spans.append((first + start, first + end, label))
        except TagError as error:
            error.file, error.line, error.document = self._input.file, self._input.number, identifier
            raise
        return spans
