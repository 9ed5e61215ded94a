"""Layers in brackets: a value at a token opens spans that begin there, and closes spans that end there.

Brackets become spans of documents. Where spans are flat, that is, no span overlaps another or the end of a sentence,
they can become BIO tags instead, so that they are counted as the tags of column files are.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress
from typing import NamedTuple

from clueval.exceptions import CluevalError, FormatError
from clueval.spans.span import Span
from clueval.tagging.decoder import Decoder
from clueval.tagging.schemes import OUTSIDE


class NotFlat(CluevalError):
    """Brackets cannot become tags, so documents must be read."""


class OpenSpan(NamedTuple):
    """A span that has begun: its first token, its label and its line."""

    start: int
    label: str
    line: int


class Brackets:
    """The open brackets of one layer. A format defines `see`, and adds to `begun` and `ended`."""

    def __init__(self, layer: str, file: str) -> None:
        self.layer, self.file = layer, file
        self.document: str | None = None
        self.has_parts = False
        self.begun: list[OpenSpan] = []
        self.ended: list[Span] = []
        self._open: OpenSpan | None = None  # the only one, while brackets become tags

    def see(self, value: str, position: int, line: int) -> None:
        """Read the value of a token. Raises `FormatError` for one that cannot be read."""
        raise NotImplementedError

    def finish(self) -> None:
        """End the document. Raises `FormatError` for a bracket that is open."""

    def end_sentence(self) -> None:
        """End the sentence."""
        if self._open is not None:
            raise NotFlat("a span continues after its sentence")

    def spans(self, values: Sequence[str], position: int, line: int) -> list[Span]:
        """Return the spans that end at tokens with these values, the first with this position and line."""
        for offset in compress(range(len(values)), values):
            self.see(values[offset], position + offset, line + offset)
        found, self.ended = self.ended, []
        self.begun.clear()
        return found

    def tags(self, values: Sequence[str], position: int, line: int) -> list[str]:
        """Return the tags of these tokens. Raises `NotFlat`."""
        found = [OUTSIDE] * len(values)
        known = 0  # the tags before this one are known
        for offset in compress(range(len(values)), values):
            self._go_on(found, known, offset)
            self.see(values[offset], position + offset, line + offset)
            within = self.begun if self._open is None else [self._open, *self.begun]
            if len(within) > 1 or self.has_parts:
                raise NotFlat("spans overlap")
            for span in within:
                if "\t" in span.label or "\n" in span.label:
                    raise NotFlat("a label is no text of a column")
                found[offset] = f"{'B' if self._open is None else 'I'}-{span.label}"
                self._open = None if self.ended else span
            self.begun.clear()
            self.ended.clear()
            known = offset + 1
        self._go_on(found, known, len(found))
        return found

    def _go_on(self, tags: list[str], start: int, end: int) -> None:
        """Continue the span that is open from one tag to another."""
        if self._open is not None:
            tags[start:end] = [f"I-{self._open.label}"] * (end - start)

    def wrong(self, line: int, problem: str, advice: str | None = None) -> FormatError:
        return FormatError(problem, file=self.file, line=line, document=self.document, advice=advice)


class BracketDecoder(Decoder):
    """Decodes the tags that brackets have become. The file has no tags, so no scheme and no repaired tags."""

    def __init__(self) -> None:
        super().__init__("BIO", "conlleval")

    def scheme(self) -> None:
        return None
