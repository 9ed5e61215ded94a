"""Files as tests read them: the sentences of span files of FairEval, from lines."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryDirectory

from clueval import Document, read


def fair_documents(lines: Iterable[tuple[int, str]], file: str = "gold.csv") -> list[Document]:
    """The sentences of a span file of FairEval with these numbered lines, and this name in errors."""
    with TemporaryDirectory() as folder, chdir(folder):
        Path(file).write_text("\n".join(line for _, line in lines), encoding="utf-8")
        return list(read(file, input="fair-spans"))
