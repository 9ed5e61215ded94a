"""A file that is read: its beginning, its lines, text, bytes and JSON rows, its tags, and what was not read of it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from typing import Any

from clueval.core.document import Document
from clueval.core.tags import OUTSIDE, is_tag, scheme_of, split_tag
from clueval.files.errors import TagError
from clueval.files.opening import (
    Complain,
    FileProgress,
    beginning_of,
    blocks,
    decoded_as_written,
    is_file,
    raw_blocks,
    raw_content,
    refuse,
    sentence_too_long,
    too_many,
)
from clueval.files.options import Limits

Numbered = tuple[int, Any]
"""A row and its number, from 1."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class InputFile:
    """A file with its limits. Each method reads it from its beginning.

    They raise `FileError` if it cannot be read, and `FormatError` for bytes that are not UTF-8 and for content above
    the limits.

    Attributes:
        path: the path of the file, or of a member of an archive.
        limits: the most that is read of it.
        progress: gets the number of bytes of each read.
        texts: returns the documents of the text that belongs to a file without one.
        passed_over: how often the file has what is not read, by kind in the plural.
        repaired: how many ill-formed tags were repaired, by layer, in formats whose tags do not tell it.
        sources: the columns, from 1, or the keys that layers were read from, by layer, where columns are counted.
    """

    path: Path
    limits: Limits = field(default_factory=Limits)
    progress: FileProgress | None = None
    texts: Callable[[], Iterable[Document]] = tuple
    passed_over: Counter[str] = field(default_factory=Counter)
    repaired: Counter[str] = field(default_factory=Counter)
    sources: dict[str, int | str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The name of the file in errors."""
        return str(self.path)

    @property
    def stem(self) -> str:
        """The name of the file without its ending: the id of a document to which its format gives none."""
        stem = self.path.name.removesuffix(".gz").rpartition("!")[2].rpartition("/")[2]
        return stem.rpartition(".")[0] or stem

    @property
    def exists(self) -> bool:
        return is_file(self.path)

    def at(self, path: Path) -> InputFile:
        """Return another file that belongs to this one, with the same limits."""
        counts = self.passed_over, self.repaired, self.sources
        return InputFile(path, self.limits, None, self.texts, *counts)  # `replace` takes five times as long

    def beside(self, ending: str) -> InputFile:
        """Return the file with the same name and another ending, packed if only that exists; it need not exist."""
        name = self.path.name.removesuffix(".gz")
        stem, _, own_ending = name.rpartition(".")
        path = self.path.with_name(f"{stem if stem and own_ending else name}{ending}")
        if not is_file(path) and is_file(packed := path.with_name(f"{path.name}.gz")):
            path = packed
        return self.at(path)

    def beginning(self) -> str:
        """Return the first block, by which the format is recognised; bytes that are not UTF-8 are replaced."""
        return beginning_of(self.path)

    def blocks(self, complain: Complain = refuse) -> Iterator[tuple[int, str]]:
        """Yield whole lines in blocks, each with the number of its first line.

        `complain` is called with the errors of single characters.
        """
        return blocks(self.path, self.progress, complain, max_line=self.limits.max_line)

    def lines(self) -> Iterator[tuple[int, str]]:
        """Yield the numbered lines without their ends; blank lines separate sentences."""
        first = size = 0
        for number, line in self._lines():
            if not line.strip():
                size = 0
            else:
                first = first if size else number
                size += 1
                if size > self.limits.max_sentence:
                    raise sentence_too_long(self.name, first, self.limits.max_sentence)
            yield number, line

    def held_lines(self) -> Iterator[tuple[int, str]]:
        """Yield the numbered lines for a format that holds all of them; the limit is lower."""
        most = self.limits.max_held
        for place, (number, line) in enumerate(self._lines()):
            if place == most:
                raise too_many("the file is held as a whole and has more lines than", self.name, number, most)
            yield number, line

    def sentences(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the lines between blank lines, with the number of the first one. Holds one sentence."""
        lines: list[str] = []
        first = 1
        for number, line in self._lines():
            if line and not line.isspace():
                first = first if lines else number
                lines.append(line)
                if len(lines) > self.limits.max_sentence:
                    raise sentence_too_long(self.name, first, self.limits.max_sentence)
            elif lines:
                yield first, lines
                lines = []
        if lines:
            yield first, lines

    def _lines(self) -> Iterator[tuple[int, str]]:
        return chain.from_iterable(enumerate(text[:-1].split("\n"), number) for number, text in self.blocks())

    def raw(self) -> bytes:
        """Return the whole content, unpacked but not decoded, without a byte-order mark."""
        return raw_content(self.path, self.limits.max_line, self.progress)

    def data(self) -> bytes:
        """Return the content of a file that is XML, or a text with tags; there is a limit on these."""
        data, most = self.raw(), self.limits.max_held
        if data[:4096].lstrip()[:1] not in (b"{", b"[") and data.count(b"<") > most:
            problem = "the file is held as a whole and has more tags or values than"
            raise too_many(problem, self.name, None, most)
        return data

    def text(self) -> str:
        """Return the whole text, with the line ends of the file."""
        return decoded_as_written(self.data(), self.path)

    def text_as_on_disk(self) -> str:
        """Return the whole text with its line ends and its byte-order mark, if it has one."""
        return decoded_as_written(
            raw_content(self.path, self.limits.max_line, self.progress, mark=True), self.path
        )

    def byte_blocks(self) -> Iterable[bytes]:
        """Yield the unpacked bytes, cut anywhere."""
        return raw_blocks(self.path, self.progress)

    def rows(self, *, empty_is_row: bool = False) -> Iterator[Numbered]:
        """Yield the rows of a JSON file, numbered from 1. Memory holds one row and a block."""
        from clueval.formats.json_values import file_rows  # columns do not need it

        return file_rows(self.byte_blocks, self.name, self.limits.max_line, empty_is_row=empty_is_row)

    def first_row(self) -> Any:
        """Return the first row of a JSON file that is no empty list, or the last one; None if it has no rows."""
        row = None
        for _, row in self.at(self.path).rows():
            if row != []:
                break
        return row


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


def schemes_of(documents: Iterable[Document], file: str | None) -> dict[str, str | None]:
    """Return the scheme of all tags of each layer of a file or a side. Raises `TagError` for tags of two schemes."""
    from clueval.core.bag import Read  # few files are read for their schemes before their spans

    read = Read()
    for document in documents:
        read.add([("", document)])
    try:
        return {layer: scheme for (_, _, layer), scheme in read.schemes().items()}
    except TagError as error:
        error.file = file
        raise


# The beginning, by which the format is recognised

_IS_JSON = re.compile(r'[\ufeff\s]*(\{\s*("|\}\s*($|[\[{]))|\[\s*([\[{"]|\]\s*($|[\[{])))')
_NOT_BLANK = re.compile(r"^[^\S\n]*[^\s][^\n]*", re.MULTILINE)
_LONGEST_LINE = 2000
_ENDS_OF_JSON = ("}", "]", ",", '"', "{", "[", ":")
"""How a line of JSON ends, and no tag."""


@dataclass(frozen=True, eq=False, repr=False)
class Head:
    """The beginning of a file.

    Attributes:
        file_name, text: the name of the file and its first block.
        first: returns the first JSON row that is no empty list, None if there is none; the reader that will read the
            file parses it.
        is_one_text: whether its lines are one text, as for a metric of noisy texts.
    """

    file_name: str
    text: str
    first: Callable[[], Any]
    is_one_text: bool = False

    @cached_property
    def lines(self) -> list[str]:
        """The first three lines that are not blank; long lines are cut."""
        matches = islice(_NOT_BLANK.finditer(self.text.removeprefix("\ufeff")), 3)
        return [match[0][:_LONGEST_LINE] for match in matches]

    @property
    def first_line(self) -> str:
        return next(iter(self.lines), "")

    @property
    def is_json(self) -> bool:
        """Whether the file begins as JSON does, and not with a token and its tag.

        >>> [Head("", line, dict).is_json for line in ('{"text": "an E-Mail"}', '{"\\tO', '["an", "E-Mail",')]
        [True, False, True]
        """
        if _IS_JSON.match(self.text) is None:
            return False
        line = self.first_line.rstrip()
        is_cut = len(self.first_line) == _LONGEST_LINE  # such a line ends anywhere
        return is_cut or line.endswith(_ENDS_OF_JSON) or not is_tag(line.split()[-1])
