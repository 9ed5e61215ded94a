"""Tags: those that a file has had, the names of tags that are numbers, and the tags of a document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from clueval.core.document import Document
from clueval.core.span import NO_LABEL
from clueval.core.tags import OUTSIDE, first_illegal, is_legal, scheme_of, split_tag
from clueval.files.errors import FileError, FormatError, TagError

_KEYS_OF_NAMES = ("id2label", "label2id", "names", "class_label", "feature", "sequence", "list")
"""The keys under which configurations of models and data sets have the names of tags."""


class SeenTags:
    """The different tags of each layer of a file without a named scheme: all must belong to one."""

    def __init__(self, file: str | None) -> None:
        self._file = file
        self._tags: dict[str, set[str]] = {}
        self._by_prefix: dict[str, dict[str, str]] = {}  # one tag for each prefix: these tell the scheme

    def see(self, layer: str, tags: Sequence[str]) -> None:
        """Take note of the tags of a document. Raises `TagError` for tags of two schemes."""
        layer_tags = self._tags.setdefault(layer, set())
        if layer_tags.issuperset(tags):
            return
        new_tags = [tag for tag in dict.fromkeys(tags) if tag not in layer_tags]
        try:
            by_prefix = {split_tag(tag)[0]: tag for tag in new_tags} | self._by_prefix.get(layer, {})
            scheme_of((OUTSIDE, tag) for tag in by_prefix.values())
        except TagError as error:
            error.file = self._file
            raise
        layer_tags.update(new_tags)
        self._by_prefix[layer] = by_prefix


def place_of_error(tags: Sequence[str], scheme: str | None, error: TagError) -> tuple[int, str]:
    """Return the index of the tag of an error, and its problem."""
    for index, tag in enumerate(tags):
        try:
            split_tag(tag)
            if scheme is not None:
                is_legal(scheme, OUTSIDE, tag)
        except TagError as wrong:
            return index, wrong.problem
    assert scheme is not None
    illegal = first_illegal(tags, scheme)
    assert illegal is not None
    return illegal, error.problem


def names_of_tags(tag_names: Any, source: str) -> Mapping[int, str]:
    """Return the names by number in a file, a list or a mapping; `source` is the key of the tags.

    Raises `FormatError` for something without names, `FileError`.
    """
    file = None
    if isinstance(tag_names, str | Path):
        import json  # tags alone do not need it

        file = str(tag_names)
        try:
            tag_names = json.loads(Path(tag_names).read_text(encoding="utf-8-sig"))
        except OSError as error:
            raise FileError(f"cannot be read: {error.strerror or error}", file=file) from None
        except (ValueError, RecursionError):
            advice = "a list of tags, a config.json with id2label, or dataset_info.json"
            raise FormatError("not JSON", file=file, advice=advice) from None
    names = _names_in(tag_names, source)
    if names is None:
        raise FormatError(
            f"there are no names of the tags of {source!r}",
            file=file,
            advice="a list of tags, an object with id2label, or dataset_info.json",
        )
    return names


def _names_in(value: Any, source: str) -> Mapping[int, str] | None:
    """Return the names by number in a list, in ``id2label`` or ``label2id``, or of the feature `source`."""
    if isinstance(value, list | tuple):
        if all(isinstance(name, str) for name in value):
            return dict(enumerate(value))
        features = (
            item for item in value if isinstance(item, Mapping) and item.get("name", source) == source
        )
        return next(filter(None, (_names_in(item, source) for item in features)), None)
    if not isinstance(value, Mapping):
        return None
    if value and all(str(key).isdecimal() and isinstance(name, str) for key, name in value.items()):
        return {int(key): name for key, name in value.items()}
    if value and all(isinstance(number, int) for number in value.values()):
        return {number: str(name) for name, number in value.items()}
    for key in (*_KEYS_OF_NAMES, source, "features"):
        if (names := _names_in(value.get(key), source)) is not None:
            return names
    if "features" in value or "names" in value:
        return None
    configurations = (_names_in(item, source) for item in value.values() if isinstance(item, Mapping))
    return next((names for names in configurations if names is not None), None)


def tags_of(document: Document, layer: str) -> list[str]:
    """Return the BIO tags of a layer whose spans have tokens, no gaps, and do not overlap."""
    tags = [OUTSIDE] * len(document.tokens or ())
    for span in document.layers.get(layer, ()):
        places = range(span.start - document.start, span.end - document.start)
        for place in places:
            tags[place] = f"{'I' if place > places[0] else 'B'}-{span.label or NO_LABEL}"
    return tags
