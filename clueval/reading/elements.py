"""Checks that a file has the XML elements that options name: without them, it would be one document or one sentence."""

from __future__ import annotations

import re
from pathlib import Path

from clueval.exceptions import FormatError
from clueval.reading.options import Reading
from clueval.reading.read_options import ReadOptions
from clueval.textfiles import whole_lines

_TOKEN = re.compile(rb"^[^<\s]", re.MULTILINE)


def require_elements(path: Path, options: ReadOptions) -> None:
    """Raise `FormatError` if a file with tokens lacks an element that `options` name, unless that is the default.

    Reads the file up to the first such element.
    """
    for name in ("document_tag", "sentence_tag"):
        tag = getattr(options, name)
        if tag != getattr(Reading(), name) and not _has_element(path, tag, options.max_line):
            raise FormatError(
                f"there is no element <{tag}>",
                file=str(path),
                advice=f"check Reading.{name}",
            )


def _has_element(path: Path, tag: str, max_line: int) -> bool:
    """Return whether a file has an element; yes for a file without tokens."""
    element = re.compile(rb"^<%s[\s/>]" % re.escape(tag.encode()), re.MULTILINE)
    has_tokens = False
    for data in whole_lines(path, max_line=max_line):
        if element.search(data):
            return True
        has_tokens = has_tokens or _TOKEN.search(data) is not None
    return not has_tokens
