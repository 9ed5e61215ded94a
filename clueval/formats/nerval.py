"""Nerval's files: one token per line, a blank, a BIO, BIOES or BILOU tag; the whole file is one text.

The text is the tokens joined by single blanks. Blank lines part sentences and nothing else: the text, and even
a span, goes on over them. Two files that are to be compared need not have the same tokens.

``B-``, ``S-`` and ``U-`` open a span. ``I-``, ``E-`` and ``L-`` continue the span of their label that is open:
the last one opened since the last ``O``. So a span may go on after tokens of other labels, and then contains
them; this is how Nerval reads nested spans, *approximately*, since the tags cannot say where a nested span at
the end of another one leaves that other one. In the README of Nerval

    Louis B-PER, par I-PER ... roy I-PER, de I-PER, France B-LOC, et I-PER, de I-PER, Navarre B-LOC, . O

is PER "Louis par ... roy de France et de", LOC "France" and LOC "Navarre". A tag that continues a label which
is not open is ill-formed: it opens nothing and its token belongs to no span, save one of another label that
goes on over it. `Document.repaired` counts such tags, `ill_formed_tags` lists them.

Source: Nerval (Miret and Kermorvant 2021), whose reading this is. It also reads a table of pairs of files.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, NamedTuple

from clueval.exceptions import FileError, FormatError, TagError
from clueval.formats.format import Format, Options
from clueval.formats.opened import Opened
from clueval.formats.recognition import Sign
from clueval.spans.document import Document, Sentence
from clueval.spans.span import DEFAULT_LAYER, Frozen, Span
from clueval.tagging.schemes import OUTSIDE, split_tag
from clueval.textfiles import lines as lines_of

HEADER = ("Annotation", "Prediction")
"""The header of a table of pairs: the gold file, then the predicted one."""

_OPENING = frozenset("BSU")
_BLANKS = re.compile(r"[ \t]+")


class IllFormed(NamedTuple):
    """A tag that continues nothing, and its line."""

    line: int
    tag: str


class _Entity:
    """A span while it grows, in characters of the text."""

    __slots__ = ("end", "label", "line", "start")

    def __init__(self, label: str, start: int, end: int, line: int) -> None:
        self.label, self.start, self.end, self.line = label, start, end, line


class _Entities:
    """The spans of a file, those that are open by label, and the tags that continue nothing."""

    __slots__ = ("_open", "found", "ill_formed")

    def __init__(self) -> None:
        self.found: list[_Entity] = []
        self.ill_formed: list[IllFormed] = []
        self._open: dict[str, _Entity] = {}

    def add(self, tag: str, start: int, end: int, line: int) -> None:
        """Go on by the tag of the token ``[start, end)``. Raises `TagError` for what is no tag."""
        prefix, label = split_tag(tag)
        if prefix == OUTSIDE:
            self._open.clear()
        elif prefix in _OPENING:
            self._open[label] = _Entity(label, start, end, line)
            self.found.append(self._open[label])
        elif label in self._open:
            self._open[label].end = end
        else:
            self.ill_formed.append(IllFormed(line, tag))


class _TaggedText(NamedTuple):
    """What a file says."""

    words: Sequence[str]
    sentences: list[Sentence]
    entities: list[_Entity]
    ill_formed: list[IllFormed]


def read_nerval(
    lines: Iterable[tuple[int, str]],
    *,
    file: str,
    name: str | None = None,
    layer: str = DEFAULT_LAYER,
    invalid: str = "discard",
) -> Document:
    """The document of a file, from its numbered lines; all of it is held. Positions are characters.

    `name` is the id of the document (of a file that stands alone it is "1"), `layer` the layer of its spans,
    which may be nested and are in order of their starts. An ill-formed tag is left out and counted; with
    `invalid` ``"error"`` it is an error.

    Raises `FormatError` with file and line for a line that is no token and tag, and for a file without
    tokens; `TagError` for what is no tag; `UsageError` for another value of `invalid`.

    >>> lines = ["Roy B-PER", "de I-PER", "France B-LOC", "et I-PER", "dort O", "ici I-LOC"]
    >>> document = read_nerval(enumerate(lines, 1), file="gold.bio")
    >>> [(span.label, document.text_of(span)) for span in document.layers["label"]], document.repaired
    ([('PER', 'Roy de France et'), ('LOC', 'France')], 1)
    """
    FORMAT.treatment(invalid)
    content = _followed(lines, file)
    labels = {one.label: Frozen({layer: one.label}) for one in content.entities}
    if invalid == "error" and content.ill_formed:
        first = content.ill_formed[0]
        raise TagError(
            f"tag {first.tag!r} continues no span", file=file, line=first.line, advice="begin a span with B-"
        )
    return Document(
        "1" if name is None else name,
        {layer: [Span(one.start, one.end, labels[one.label], line=one.line) for one in content.entities]},
        text=" ".join(content.words),
        unit="character",
        sentences=content.sentences,
        repaired=len(content.ill_formed),
        file=file,
    )


def ill_formed_tags(lines: Iterable[tuple[int, str]], *, file: str) -> list[IllFormed]:
    """The tags of a file that continue nothing, in order. Raises as `read_nerval` does.

    >>> ill_formed_tags([(1, "le O"), (2, "roy I-PER")], file="gold.bio")
    [IllFormed(line=2, tag='I-PER')]
    """
    return _followed(lines, file).ill_formed


def _followed(lines: Iterable[tuple[int, str]], file: str) -> _TaggedText:
    numbers, words, tags = _columns(lines, file)
    before = list(accumulate(map(len, words), initial=0))  # characters of words; as many blanks as words
    entities = _Entities()
    outside = False
    for number, tag in enumerate(tags):
        if tag == OUTSIDE and outside:
            continue
        try:
            entities.add(tag, before[number] + number, before[number + 1] + number, numbers[number])
        except TagError as error:
            raise TagError(error.problem, file=file, line=numbers[number], advice=error.advice) from None
        outside = tag == OUTSIDE
    sentences = [
        Sentence(before[first] + first, before[last] + last - 1) for first, last in pairwise(_breaks(numbers))
    ]
    return _TaggedText(words, sentences, entities.found, entities.ill_formed)


def _breaks(numbers: Sequence[int]) -> list[int]:
    """Where sentences begin among the lines that are not blank, and their end: blank lines left out a number."""
    if numbers[-1] - numbers[0] == len(numbers) - 1:
        return [0, len(numbers)]
    gaps = (i for i, (line, following) in enumerate(pairwise(numbers), 1) if following > line + 1)
    return [0, *gaps, len(numbers)]


def _columns(
    lines: Iterable[tuple[int, str]], file: str
) -> tuple[Sequence[int], Sequence[str], Sequence[str]]:
    """The numbers of the lines that are not blank, their tokens and their tags."""
    numbered = [(line, text) for line, text in lines if text]
    table = "\n".join([text for _, text in numbered])
    if numbered and "\t" not in table:
        # Line ends become fields of their own: if all of them are in every third place, every line has two.
        flat = table.replace("\n", " \n ").split(" ")
        if (
            len(flat) == 3 * len(numbered) - 1
            and flat[2::3].count("\n") == len(numbered) - 1
            and "" not in flat
        ):
            return [line for line, _ in numbered], flat[::3], flat[1::3]
    rows = [(line, *fields) for line, text in numbered if (fields := _fields(text, file, line))]
    if not rows:
        raise _malformed("the file has no tokens", file, 1)
    numbers, words, tags = zip(*rows, strict=True)
    return numbers, words, tags


def _fields(text: str, file: str, line: int) -> tuple[str, str] | None:
    """The token and the tag of a line; None if it is blank. Several blanks and tabs are one blank."""
    fields = _BLANKS.split(text.strip(" \t"))
    if fields == [""]:
        return None
    if len(fields) != 2:
        raise _malformed(
            f"the line has {len(fields)} field{'s' * (len(fields) != 1)} instead of 2", file, line
        )
    return fields[0], fields[1]


def _malformed(problem: str, file: str, line: int) -> FormatError:
    return FormatError(problem, file=file, line=line, advice="expected: a token, a blank, a tag")


def read_mapping(path: Path, folder: Path) -> list[tuple[Path, Path]]:
    """The pairs of files that a table names: gold and predicted, as paths below `folder`, in its order.

    The table is a CSV file with the header ``Annotation,Prediction``. A name is a path relative to the folder
    or, as for Nerval, the bare name of a file that stands anywhere below it.

    Raises `FormatError` with the line for another header, a row of other than two names and a table without
    pairs; `FileError` with the line for a file that is not there or whose bare name several files have.
    """
    if not folder.is_dir():
        raise FileError("there is no such folder", file=str(folder))
    find = _Finder(path, folder)
    pairs = [(find(gold, line), find(predicted, line)) for line, (gold, predicted) in _rows(path)]
    if not pairs:
        raise FormatError("the table names no pair of files", file=str(path), line=1)
    return pairs


def _rows(path: Path) -> Iterator[tuple[int, tuple[str, str]]]:
    """The rows after the header, with their lines."""
    import csv

    reader = csv.reader(text for _, text in lines_of(path))
    rows = _parsed(reader, path)
    header = tuple(next(rows, ()))
    if header != HEADER:
        raise FormatError(
            f"the header is {','.join(header)!r}",
            file=str(path),
            line=1,
            advice=f"expected {','.join(HEADER)}",
        )
    for row in rows:
        if not any(row):
            continue
        if len(row) != 2 or not all(row):
            raise FormatError(
                f"the row has {sum(map(bool, row))} name{'s' * (sum(map(bool, row)) != 1)} instead of 2",
                file=str(path),
                line=reader.line_num,
                advice=f"expected {','.join(HEADER)}",
            )
        yield reader.line_num, (row[0], row[1])


def _parsed(reader: Any, path: Path) -> Iterator[list[str]]:
    """The rows of a reader of CSV. Raises `FormatError` with the line where it is none."""
    import csv

    try:
        yield from reader
    except csv.Error as error:
        problem, advice = f"not CSV: {error}", f"expected {','.join(HEADER)}"
        raise FormatError(problem, file=str(path), line=reader.line_num, advice=advice) from None


class _Finder:
    """Finds the files of a table below its folder, whose files are listed only if that is needed."""

    def __init__(self, table: Path, folder: Path) -> None:
        self._table, self._folder = table, folder
        self._by_name: defaultdict[str, list[Path]] | None = None

    def __call__(self, name: str, line: int) -> Path:
        direct = self._folder / name
        if direct.is_file():
            return direct
        found = self._below(name)
        if len(found) == 1:
            return found[0]
        raise FileError(
            f"several files below {self._folder} are called {name!r}"
            if found
            else f"the file {name!r} is not in {self._folder}",
            file=str(self._table),
            line=line,
            advice="name it with its path in the folder"
            if found
            else "correct the table, or name its folder",
        )

    def _below(self, name: str) -> list[Path]:
        if self._by_name is None:
            self._by_name = defaultdict(list)
            for path in sorted(self._folder.rglob("*")):
                if path.is_file():
                    self._by_name[path.name].append(path)
        return self._by_name.get(name, [])


def _read(opened: Opened, options: Options) -> Iterator[Document]:
    yield read_nerval(opened.held_lines(), file=opened.file, invalid=options.invalid or "discard")


FORMAT = Format(
    name="nerval",
    holds="Nerval's files: a token, a blank, a tag; the file is one text",
    signs=(Sign("`--metric noisy`", lambda beginning: beginning.whole_text),),
    read=_read,
    treatments=("discard", "error"),
    scheme="nerval",
    single=True,
    nameless=True,
)
