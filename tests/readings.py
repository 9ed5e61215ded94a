"""Files as tests read them: the sentences of span files of FairEval, from lines; the pairs of two files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryDirectory

from clueval import Document, read
from clueval.core.document import Pair


def fair_documents(lines: Iterable[tuple[int, str]], file: str = "gold.csv") -> list[Document]:
    """The sentences of a span file of FairEval with these numbered lines, and this name in errors."""
    with TemporaryDirectory() as folder, chdir(folder):
        Path(file).write_text("\n".join(line for _, line in lines), encoding="utf-8")
        return list(read(file, input="fair-spans"))


def pairs_in_files(gold: Path, predicted: Path, layers: Mapping[str, int]) -> Iterator[Pair]:
    """Yield the pairs of two files."""
    for sides in zip(*(read(path, layers=layers) for path in (gold, predicted)), strict=True):
        yield Pair(*sides)
