"""Tags in lists: the names of those that are numbers, and the tags of a document."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from clueval.core.document import Document
from clueval.core.span import NO_LABEL
from clueval.core.tags import OUTSIDE
from clueval.files.errors import FileError, FormatError

_KEYS_OF_NAMES = ("id2label", "label2id", "names", "class_label", "feature", "sequence", "list")
"""The keys under which configurations of models and data sets have the names of tags."""


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
