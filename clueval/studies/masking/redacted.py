"""Redacted texts in the place of predicted spans: paired with the gold documents, and read."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath

from clueval.core.count import Step
from clueval.core.document import Document, Pair
from clueval.files.errors import FileError, UsageError
from clueval.files.opening import blocks, is_folder
from clueval.files.options import require_kind
from clueval.reading.paths import files_of


class RedactedTexts:
    """The redacted texts of gold documents: a file, a folder, texts in the order of the documents, or texts by id.

    In a folder, the text of a document is the file that is called, but for its ending, as the document's id is,
    or as the file of the document where that holds a single document.
    """

    def __init__(self, source: str | Path | Mapping[str, str] | Iterable[str]) -> None:
        self._files: dict[str, Path] = {}
        self._by_id: dict[str, str] = {}
        self._in_order: Iterator[str] | None = None
        self._single: Path | None = None
        self._folder: Path | None = None
        self._used: set[str] = set()
        if isinstance(source, Mapping):
            self._by_id = {str(name): text for name, text in source.items()}
        elif not isinstance(source, str | Path):
            self._in_order = iter(source)
        elif is_folder(path := Path(source)):
            self._folder = path
            for name, file in files_of(path):
                stem = _stem(name or file.name)
                if stem in self._files:
                    raise FileError(
                        f"has the name of {self._files[stem].name} with another ending",
                        file=str(file),
                        advice="rename one",
                    )
                self._files[stem] = file
        elif isinstance(source, str) and " " in source and not os.path.lexists(path):
            raise UsageError(
                "predicted is neither a file nor a folder", advice="a text goes into a list: [text]"
            )
        else:
            self._single = path

    def of(self, document: Document) -> tuple[str, str | None]:
        """Return the redacted text of a document, and its file. Raises `FileError` if there is none."""
        if self._single is not None:
            if self._used:
                raise UsageError(
                    "gold has several documents, and there is one redacted text",
                    document=document.id,
                    advice="give a folder with a file for each document, with the id of the document as its name",
                )
            self._used.add(document.id)
            return _read(self._single)
        if self._folder is not None:
            for name in _names_of(document):
                if name in self._files and name not in self._used:
                    self._used.add(name)
                    return _read(self._files[name])
            raise FileError(
                "has no redacted text for this document",
                file=str(self._folder),
                document=document.id,
                advice="name the file of the text like the id or the file of the document",
            )
        self._used.add(document.id)
        text = next(self._in_order, None) if self._in_order is not None else self._by_id.get(document.id)
        if text is None:
            raise UsageError(
                "there is no redacted text for this document",
                document=document.id,
                advice="give one text for each gold document, in the same order or by id",
            )
        require_kind(text, "str", "a redacted text")
        return text, None

    def require_all_used(self) -> None:
        """Raise `FileError` for a redacted text without a gold document."""
        if self._in_order is not None and next(self._in_order, None) is not None:
            raise UsageError(
                "there are more redacted texts than gold documents",
                advice="give a redacted text for each gold document, in the same order",
            )
        for name in sorted(self._by_id.keys() - self._used):
            raise UsageError(
                "there is a redacted text, but no gold document", document=name, advice="remove it"
            )
        for name in sorted(self._files.keys() - self._used):
            raise FileError(
                "belongs to no gold document",
                file=str(self._files[name]),
                advice="remove it, or name it like the id or the file of a gold document",
            )


def _stem(name: str) -> str:
    """Return a relative name without its ending, and without that of a packed file."""
    path = PurePosixPath(name.removesuffix(".gz"))
    return str(path.with_suffix("")) if path.suffix else str(path)


def _names_of(document: Document) -> Iterator[str]:
    """Yield the names that the redacted text of a document may have."""
    yield document.id
    yield _stem(document.id)
    before, colon, id_in_file = document.id.rpartition(":")
    if colon:
        yield id_in_file
        yield f"{_stem(before)}/{id_in_file}"
    if document.file is not None:
        yield _stem(Path(document.file).name)


def _read(path: Path) -> tuple[str, str]:
    if path.suffix in (".json", ".jsonl"):  # braces are placeholders, so a whole row could pass for masked
        raise FileError(
            "is JSON, and a redacted text is plain text",
            file=str(path),
            advice="give a folder with a .txt file for each document",
        )
    return "".join(text for _, text in blocks(path)), str(path)


def redacted_pairs(
    gold: Iterable[Document], texts: RedactedTexts, steps: Sequence[Step]
) -> Iterator[Sequence[Pair]]:
    """Yield for each gold document what the steps make of it and its redacted text.

    Raises the errors of `texts` and of the steps.
    """
    for document in gold:
        text, file = texts.of(document)
        redacted = Document(document.id, {}, text=text, unit="character", file=file)
        pairs: Sequence[Pair] = [Pair(document, redacted)]
        for step in steps:
            pairs = step(pairs)
        yield pairs
    texts.require_all_used()
