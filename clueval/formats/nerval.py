"""Nerval's files: one token per line, a blank, a BIO, BIOES or BILOU tag; the whole file is one text.

The rules of the format stand in ``formats.md``.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from pathlib import Path

from clueval.core.document import Document, Sentence
from clueval.core.span import DEFAULT_LAYER, Frozen, Span
from clueval.core.tags import OUTSIDE, split_tag
from clueval.files.errors import FileError, FormatError, TagError, with_noun
from clueval.files.opening import is_file, is_folder, lines
from clueval.formats.documents import FileFormat
from clueval.formats.input_file import InputFile
from clueval.formats.options import FormatOptions

_BLANKS = re.compile(r"[ \t]+")


@dataclass(slots=True)
class _NervalSpan:
    """A span that may still become longer, in characters of the text."""

    label: str
    start: int
    end: int
    line: int


def read_nerval(file: InputFile, options: FormatOptions) -> Document:
    """Return the document of a file, which is held as a whole. Positions are characters.

    Its spans may be nested, and are in the order of their starts. An ill-formed tag is ignored and counted; if
    ``invalid`` is ``"error"``, it is an error.

    Raises `FormatError` with file and line for a line that is not a token and a tag, and for a file without
    tokens; `TagError` for an invalid tag.
    """
    numbers, words, tags = _columns(file)
    starts = list(accumulate((len(word) + 1 for word in words), initial=0))  # a blank follows each word
    spans: list[_NervalSpan] = []
    open_spans: dict[str, _NervalSpan] = {}
    repaired = 0
    refused: TagError | None = None  # the first ill-formed tag, if these are errors
    for number, tag in enumerate(tags):
        if tag == OUTSIDE:
            open_spans.clear()
            continue
        start, end, line = starts[number], starts[number + 1] - 1, numbers[number]
        try:
            prefix, label = split_tag(tag)
        except TagError as error:
            raise TagError(error.problem, file=file.name, line=line, advice=error.advice) from None
        if prefix in ("B", "S", "U"):
            open_spans[label] = _NervalSpan(label, start, end, line)
            spans.append(open_spans[label])
        elif label in open_spans:
            open_spans[label].end = end
        else:
            repaired += 1
            if options.invalid == "error":
                problem, advice = f"tag {tag!r} continues no span", "begin a span with B-"
                refused = refused or TagError(problem, file=file.name, line=line, advice=advice)
    if refused is not None:
        raise refused
    file.repaired[DEFAULT_LAYER] += repaired
    labels = {span.label: Frozen({DEFAULT_LAYER: span.label}) for span in spans}
    breaks = [0, len(numbers)]
    if numbers[-1] - numbers[0] >= len(numbers):  # there are blank lines
        blanks = (place for place, (line, after) in enumerate(pairwise(numbers), 1) if after > line + 1)
        breaks = [0, *blanks, len(numbers)]
    return Document(
        "1",
        {DEFAULT_LAYER: [Span(span.start, span.end, labels[span.label], line=span.line) for span in spans]},
        text=" ".join(words),
        unit="character",
        sentences=[Sentence(starts[first], starts[last] - 1) for first, last in pairwise(breaks)],
        file=file.name,
    )


def _columns(file: InputFile) -> tuple[Sequence[int], Sequence[str], Sequence[str]]:
    """Return the numbers of the lines that are not blank, their tokens and their tags."""
    numbered_lines = [(line, text) for line, text in file.held_lines() if text]
    table = "\n".join([text for _, text in numbered_lines])
    if numbered_lines and "\t" not in table:
        # Each line end becomes a field: if exactly every third field is a line end, every line has two fields.
        flat = table.replace("\n", " \n ").split(" ")
        has_two = (
            len(flat) == 3 * len(numbered_lines) - 1 and flat[2::3].count("\n") == len(numbered_lines) - 1
        )
        if has_two and "" not in flat:
            return [line for line, _ in numbered_lines], flat[::3], flat[1::3]
    advice = "expected: a token, a blank, a tag"
    rows: list[tuple[int, str, str]] = []
    for line, text in numbered_lines:
        fields = _BLANKS.split(text.strip(" \t"))
        if fields == [""]:
            continue
        if len(fields) != 2:
            problem = f"the line has {with_noun(len(fields), 'fields')} instead of 2"
            raise FormatError(problem, file=file.name, line=line, advice=advice)
        rows.append((line, fields[0], fields[1]))
    if not rows:
        raise FormatError("the file has no tokens", file=file.name, line=1, advice=advice)
    numbers, words, tags = zip(*rows, strict=True)
    return numbers, words, tags


NERVAL = FileFormat(
    name="nerval",
    holds="Nerval's files: a token, a blank, a tag; the file is one text",
    read=lambda file, options: iter([read_nerval(file, options)]),
    is_one_document=True,
    options=frozenset({"invalid"}),
    scheme="nerval",
    invalid=("discard", "error"),
)

# Pairs of files

_HEADER = "Annotation,Prediction"
"""The header of a table of pairs: the gold file, then the predicted one."""


def read_mapping(path: Path, folder: Path) -> list[tuple[Path, Path]]:
    """Return the pairs of files in a table, gold and predicted, as paths below `folder`, in order.

    The table is a CSV file with the header ``Annotation,Prediction``. A name is a path relative to the folder
    or, as in Nerval, the name of a file in the folder or any of its subfolders.

    Raises `FormatError` with the line for another header, a row without exactly two names and a table without
    pairs; `FileError` with the line for a file that does not exist or a name that several files have.
    """
    if not is_folder(folder):
        raise FileError("there is no such folder", file=str(folder))
    table = str(path)
    by_name: dict[str, list[Path]] = {}
    pairs: list[tuple[Path, Path]] = []
    for line, names in _names_in(path):
        paths = [folder / name for name in names]
        for place, name in enumerate(names):
            if is_file(paths[place]):
                continue
            if not by_name:
                for file in filter(is_file, sorted(folder.rglob("*"))):
                    by_name.setdefault(file.name, []).append(file)
            files = by_name.get(name, [])
            if len(files) != 1:
                problem = f"the file {name!r} is not in {folder}"
                advice = "correct the table, or name its folder"
                if files:
                    problem = f"several files below {folder} are called {name!r}"
                    advice = "name it with its path in the folder"
                raise FileError(problem, file=table, line=line, advice=advice)
            paths[place] = files[0]
        pairs.append((paths[0], paths[1]))
    if not pairs:
        raise FormatError("the table names no pair of files", file=table, line=1)
    return pairs


def _names_in(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows after the header, with their line numbers."""
    reader = csv.reader(text for _, text in lines(path))
    line, problem = 1, None
    try:
        header = ",".join(next(reader, ()))
        if header != _HEADER:
            problem = f"the header is {header!r}"
        while problem is None and (row := next(reader, None)) is not None:
            line, names = reader.line_num, list(filter(None, row))
            if names and len(row) == 2 == len(names):
                yield line, names
            elif names:
                problem = f"the row has {with_noun(len(names), 'names')} instead of 2"
    except csv.Error as error:
        line, problem = reader.line_num, f"not CSV: {error}"
    if problem is not None:
        raise FormatError(problem, file=str(path), line=line, advice=f"expected {_HEADER}")
