"""Redacted texts in the place of predicted spans: paired with the gold documents, and read."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import tee
from pathlib import Path, PurePosixPath

from clueval.arguments import require_kind
from clueval.core.span import DEFAULT_LAYER, Frozen, Span
from clueval.files.errors import CluevalError, FileError, UsageError
from clueval.first.metrics.masking.metric import FROM_THE_RIGHT, PLACEHOLDERS, REPLACED_WORDS, UNCERTAIN
from clueval.reading.paths import files_of
from clueval.spans.document import Document
from clueval.textfiles import blocks, is_folder
from clueval.transforms.characters import to_characters
from clueval.transforms.redaction.placeholders import patterns_of
from clueval.transforms.redaction.recovery import Recovery, recovery_of


@dataclass(frozen=True, slots=True)
class RedactedText:
    """A redacted text, and the file that it comes from."""

    text: str
    file: str | None = None


class RedactedTexts:
    """The redacted texts of gold documents: a file, a folder, texts in the order of the documents, or texts by id.

    In a folder, the text of a document is the file that is called, but for its ending, as the document's id is,
    or as the file of the document where that holds a single document.
    """

    def __init__(self, source: str | Path | Mapping[str, str] | Iterable[str]) -> None:
        self._files: dict[str, Path] = {}
        self._single = self._texts = None
        self._by_id: dict[str, str] | None = None
        self._used: set[str] = set()
        self.folder: Path | None = None
        if isinstance(source, Mapping):
            self._by_id = {str(name): text for name, text in source.items()}
        elif not isinstance(source, str | Path):
            self._texts = iter(source)
        elif is_folder(path := Path(source)):
            self.folder = path
            self._files = _by_stem(files_of(path))
        elif isinstance(source, str) and " " in source and not os.path.lexists(path):
            raise UsageError(
                "predicted is neither a file nor a folder", advice="a text goes into a list: [text]"
            )
        else:
            self._single = path

    def of(self, document: Document) -> RedactedText:
        """Return the redacted text of a document. Raises `FileError` if there is none."""
        if self._by_id is not None:
            self._used.add(document.id)
            return _given(self._by_id.get(document.id), document)
        if self._texts is not None:
            return _given(next(self._texts, None), document)
        if self._single is not None:
            if self._used:
                raise UsageError(
                    "gold has several documents, and there is one redacted text",
                    document=document.id,
                    advice="give a folder with a file for each document, with the id of the document as its name",
                )
            self._used.add(document.id)
            return _read(self._single)
        for name in _names_of(document):
            if name in self._files and name not in self._used:
                self._used.add(name)
                return _read(self._files[name])
        raise FileError(
            "has no redacted text for this document",
            file=str(self.folder),
            document=document.id,
            advice="name the file of the text like the id or the file of the document",
        )

    def require_all_used(self) -> None:
        """Raise `FileError` for a redacted text without a gold document."""
        if self._texts is not None and next(self._texts, None) is not None:
            raise UsageError(
                "there are more redacted texts than gold documents",
                advice="give a redacted text for each gold document, in the same order",
            )
        for name in sorted((self._by_id or {}).keys() - self._used):
            raise UsageError(
                "there is a redacted text, but no gold document", document=name, advice="remove it"
            )
        for name in sorted(self._files.keys() - self._used):
            raise FileError(
                "belongs to no gold document",
                file=str(self._files[name]),
                advice="remove it, or name it like the id or the file of a gold document",
            )


def _given(text: str | None, document: Document) -> RedactedText:
    if text is None:
        raise UsageError(
            "there is no redacted text for this document",
            document=document.id,
            advice="give one text for each gold document, in the same order or by id",
        )
    require_kind(text, "str", "a redacted text")
    return RedactedText(text)


def _by_stem(files: Sequence[tuple[str | None, Path]]) -> dict[str, Path]:
    found: dict[str, Path] = {}
    for name, path in files:
        stem = _stem(name or path.name)
        if stem in found:
            raise FileError(
                f"has the name of {found[stem].name} with another ending", file=str(path), advice="rename one"
            )
        found[stem] = path
    return found


def _stem(name: str) -> str:
    """Return a relative name without its ending, and without that of a packed file."""
    path = PurePosixPath(name.removesuffix(".gz"))
    return str(path.with_suffix("")) if path.suffix else str(path)


def _names_of(document: Document) -> Iterator[str]:
    """Yield the names that the redacted text of a document may have."""
    yield document.id
    yield _stem(document.id)
    before, colon, own = document.id.rpartition(":")
    if colon:
        yield own
        yield f"{_stem(before)}/{own}"
    if document.file is not None:
        yield _stem(Path(document.file).name)


def _read(path: Path) -> RedactedText:
    if path.suffix in (".json", ".jsonl"):  # braces are placeholders, so a whole row could pass for masked
        raise FileError(
            "is JSON, and a redacted text is plain text",
            file=str(path),
            advice="give a folder with a .txt file for each document",
        )
    return RedactedText("".join(text for _, text in blocks(path)), str(path))


class RedactedPairs:
    """Pairs of gold documents, in characters, and the documents that their redacted texts are.

    `aligned` counts the texts that had to be aligned.
    """

    def __init__(self, texts: RedactedTexts, placeholder: Iterable[str] | str, *, align: bool) -> None:
        self._texts = texts
        self._placeholder = [placeholder] if isinstance(placeholder, str) else list(placeholder)
        patterns_of(self._placeholder)  # what is wrong with them is said before anything is read
        self.may_align = align
        self.aligned = 0

    def sides(self, gold: Iterable[Document]) -> tuple[Iterator[Document], Iterator[Document]]:
        """Return the gold and the predicted documents, of which one pair is held at a time."""
        pairs = tee(self._pairs(gold))
        return (pair[0] for pair in pairs[0]), (pair[1] for pair in pairs[1])

    def _pairs(self, gold: Iterable[Document]) -> Iterator[tuple[Document, Document]]:
        for document in gold:
            redacted = self._texts.of(document)
            try:
                recovery = recovery_of(document, redacted.text, self._placeholder, align=self.may_align)
            except CluevalError as error:
                error.file = error.file or redacted.file
                error.document = document.id
                raise
            self.aligned += recovery.aligned
            own = _in_characters(document)
            yield own, _predicted(own, recovery)
        self._texts.require_all_used()


def _in_characters(document: Document) -> Document:
    """Return a document in characters that keeps its tokens, which are its words."""
    if document.unit == "character":
        return document
    return replace(to_characters(document), tokens=document.tokens, token_ids=document.token_ids)


def _predicted(gold: Document, recovery: Recovery) -> Document:
    """Return the predicted document: the recovered spans in each layer of gold."""
    shift = gold.start
    spans = [replace(span, start=span.start + shift, end=span.end + shift) for span in recovery.spans]
    layers: dict[str, Sequence[Span]] = dict.fromkeys(gold.layers or [DEFAULT_LAYER], spans)
    again = " ".join(f"{span.start}-{span.end}" for span in recovery.from_the_right)
    metadata = {
        PLACEHOLDERS: str(recovery.placeholders),
        REPLACED_WORDS: str(recovery.replaced_words),
        FROM_THE_RIGHT: again,
        UNCERTAIN: " ".join(f"{start}-{end}" for start, end in recovery.uncertain),
    }
    return replace(gold, layers=Frozen(layers), metadata=Frozen(metadata), tags=Frozen())
