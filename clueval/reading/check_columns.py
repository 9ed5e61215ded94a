"""All problems of a file of columns, not only the first."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from clueval.core.document import Document
from clueval.core.tags import OUTSIDE, count_illegal, ill_formed, is_tag, scheme_called, scheme_of, split_tag
from clueval.files.errors import CluevalError, TagError
from clueval.formats.column_format import ColumnFormat, Layout, TokenLines, wanted_layers
from clueval.formats.columns import ColumnReader
from clueval.formats.input_file import InputFile
from clueval.formats.options import FormatOptions

ROWS = 4000
"""The number of token lines after which those read so far are checked, at the end of a sentence."""


class ColumnCheck(ColumnReader):
    """Lists the problems of the lines and the tags of a file.

    Attributes:
        tokens: the number of tokens, once `problems` has ended; `begun` is that of documents.
        schemes: the scheme of the tags of each layer; None: all of them are O.
    """

    def __init__(self, form: ColumnFormat, file: InputFile, options: FormatOptions) -> None:
        super().__init__(form, file.blocks, options, file.name, file.limits, file.passed_over)
        self.tokens = 0
        self.schemes: dict[str, str | None] = {}
        self._file = file
        self._found: list[CluevalError] = []
        self._pairs: dict[str, set[tuple[str, str]]] = {}
        self._ids: dict[str, int] = {}
        self._repeated: list[CluevalError] = []
        self._fits = True

    @property
    def has_brackets(self) -> bool:
        """Whether layers are brackets, which only documents show."""
        return any(map(self._values.is_bracketed, wanted_layers(self)))

    def problems(self) -> Iterator[CluevalError]:
        """Yield all problems by line, up to one after which the file cannot be read on."""
        try:
            for number, text in self._file.blocks(self.complain):
                self._feed(number, text)
                yield from self._sorted()
            self.form.at_end(self)
            self.end_document()
        except CluevalError as error:
            self._found.append(error)
        self.lines = TokenLines()
        yield from self._sorted()

    def _sorted(self) -> list[CluevalError]:
        first = self.lines.line_of(0) if self.lines.rows else sys.maxsize
        ready = [error for error in self._found if (error.line or 0) < first]
        self._found = [error for error in self._found if (error.line or 0) >= first]
        return sorted(ready, key=lambda error: error.line or 0)

    def complain(self, error: CluevalError) -> None:
        self._found.append(error)

    def end_sentence(self) -> None:
        super().end_sentence()
        if self.lines.rows >= ROWS and not self.form.sentence_end:
            self._check()

    def document(self) -> Document:
        """Check the rest of the document; its repeated token ids are problems if all its lines fit."""
        self._check()
        self._found += self._repeated if self._fits else ()
        self._ids, self._repeated, self._fits = {}, [], True
        return Document("", {})

    def end_document(self) -> None:
        super().end_document()
        self._ready = []

    def _check(self) -> None:
        layout, lines = self.layout, self.lines
        if layout is None or not lines.rows:
            return
        self.tokens += lines.rows
        try:
            columns, fits = self._values.columns(layout), True
        except CluevalError:
            columns, fits = self._columns_that_fit(layout), False
            self._found += self._values.misfits(layout)
        self._fits = self._fits and fits
        for layer, source in layout.layers.items():
            self._check_tags(layer, self._values.values(columns, source, layer), fits)
        if layout.token_id is not None and self._fits:
            self._check_ids(columns[layout.token_id])
        self.lines = TokenLines()

    def _columns_that_fit(self, layout: Layout) -> list[list[str]]:
        """Return the columns, with O in the lines that do not fit."""
        rows = (line.split(layout.separator) for line in self.lines.text[:-1].split("\n"))
        whole = [fields if len(fields) == layout.width else [OUTSIDE] * layout.width for fields in rows]
        decode = self.form.entities or str
        return [list(map(decode, column)) for column in zip(*whole, strict=True)]

    def _check_ids(self, token_ids: Sequence[str]) -> None:
        for row, token_id in enumerate(token_ids):
            line = self.lines.line_of(row)
            if self._ids.setdefault(token_id, line) != line:
                self._repeated.append(self._values.repeated_id(token_id, line, self._ids[token_id]))

    # Tags

    def _check_tags(self, layer: str, tags: Sequence[str], fits: bool) -> None:
        ends = self.lines.ends if self.lines.ends and not self.form.sentence_end else [len(tags)]
        bordered = [OUTSIDE]
        for first, end in pairwise([0, *ends]):
            bordered += tags[first:end]
            bordered.append(OUTSIDE)
        pairs = {*pairwise(bordered)}
        if fits and self._are_legal(layer, pairs):
            return
        sentences = [tags[first:end] for first, end in pairwise([0, *ends])]
        known = self._pairs.setdefault(layer, set())
        known |= {pair for own in sentences for pair in pairwise([OUTSIDE, *filter(is_tag, own), OUTSIDE])}
        self.schemes[layer] = scheme = self._scheme_of(known)
        for first, own in zip([0, *ends], sentences, strict=False):
            for row in range(len(own) + 1):
                if (problem := _problem(own, row, scheme)) is not None:
                    line = self.lines.line_of(first + min(row, len(own) - 1))
                    self._found.append(TagError(f"layer {layer!r}: {problem}", file=self.file, line=line))

    def _are_legal(self, layer: str, pairs: set[tuple[str, str]]) -> bool:
        """Whether all pairs of adjacent tags are legal; if so, they tell the scheme, together with others."""
        known = self._pairs.setdefault(layer, set())
        try:
            is_known = layer in self.schemes and pairs <= known
            scheme = self.schemes[layer] if is_known else self._scheme_of(known | pairs)
            if scheme is not None and count_illegal(dict.fromkeys(pairs, 1), scheme):
                return False
        except TagError:
            return False
        known |= pairs
        self.schemes[layer] = scheme
        return True

    def _scheme_of(self, pairs: Iterable[tuple[str, str]]) -> str | None:
        named = self.options.scheme
        return scheme_called(named) if named else scheme_of(pairs)


def _problem(tags: Sequence[str], row: int, scheme: str | None) -> str | None:
    """Return the problem of the tag in `row` after the tag before it; the row after the last stands for the end."""
    previous = tags[row - 1] if row and is_tag(tags[row - 1]) else OUTSIDE
    tag = tags[row] if row < len(tags) else OUTSIDE
    try:
        split_tag(tag)
        if scheme is not None and count_illegal({(previous, tag): 1}, scheme):
            return ill_formed(tags, row, scheme)
    except TagError as error:
        return error.problem
    return None
