"""Checks that the token ids of a document are different, in regular lines and XML tags as bytes."""

from __future__ import annotations

import re

from clueval.exceptions import FormatError
from clueval.formats.columns.layout import Layout


class TokenIds:
    """The token ids of the current document. Holds those of one document."""

    def __init__(self, layout: Layout, file: str) -> None:
        assert layout.token_id is not None
        self._entities, self._file = layout.entities, file
        field = rf"[^{layout.separator}\n]*+"
        fields = [field] * layout.width
        fields[layout.token_id] = f"({field})"
        self._line = re.compile((layout.separator.join(fields).removeprefix(field) + "\n").encode())
        self._seen: set[bytes] = set()

    def see(self, text: bytes, begins: bool) -> None:
        """Add token lines of the current document, or of the next, which `begins` with them.

        Raises `FormatError`, without the line, if an id occurs again, or may do so because of an XML entity.
        """
        if begins:
            self._seen.clear()
        ids = self._line.findall(text)
        known = len(self._seen)
        self._seen.update(ids)
        has_entity = self._entities and b"&" in text and b"&" in b"".join(ids)
        if len(self._seen) < known + len(ids) or has_entity:
            raise FormatError("a token id seems to occur again", file=self._file)
