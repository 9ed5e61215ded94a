"""Annotators: where the documents of each come from, and the documents of one text side by side."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice, zip_longest
from pathlib import Path

from clueval.exceptions import TagError, UsageError
from clueval.formats.columns.documents import by_document, documents
from clueval.formats.columns.passages import Passage
from clueval.formats.format import Format
from clueval.reading.pairing import key_of, moved_to
from clueval.reading.paths import Files, with_equal_names, without_ending
from clueval.reading.read_options import ReadOptions
from clueval.reading.same_text import need_placing, require_same_text
from clueval.reading.source import Source, source_of
from clueval.spans.document import Document, MissingId
from clueval.textfiles import Progress

Group = tuple[Document | None, ...]
"""The documents of one text, in the order of the annotators; None: not annotated."""


@dataclass(frozen=True, slots=True)
class Annotator:
    """A named source of documents: files, with how to read them, or documents.

    If `is_set`, it is an annotation set, and a file without this set is not annotated.
    """

    name: str
    files: Files = ()
    options: ReadOptions | None = None
    given: Sequence[Document] = ()
    is_set: bool = False
    read: dict[Path, Document] = field(default_factory=dict, compare=False, repr=False)

    def source(self, name: str | None, path: Path, progress: Progress | None = None) -> Source:
        """Return one file, with the name that its documents get."""
        assert self.options is not None
        return source_of(path, self.options, name=name, progress=progress, read=self.read)


@dataclass(frozen=True, slots=True)
class Annotators:
    """All annotators, and the system that is compared with them, which comes last.

    `unannotated` is a tag: a document with nothing but this tag is not annotated.
    """

    listed: tuple[Annotator, ...]
    system: Annotator | None = None
    pair_by: str | None = None
    unannotated: str | None = None
    progress: Progress | None = field(default=None, compare=False)

    @property
    def names(self) -> list[str]:
        """The names of the annotators, without the system."""
        return [each.name for each in self.listed]

    @property
    def columns(self) -> tuple[Annotator, ...]:
        """The annotators and, last, the system."""
        return self.listed if self.system is None else (*self.listed, self.system)

    def with_paired_files(self) -> Annotators:
        """Return the annotators with their files by the names that pair them."""
        found: Sequence[Files] = [each.files for each in self.columns]
        if self.pair_by == "name":
            found = [[(name and without_ending(name), path) for name, path in files] for files in found]
        elif self.pair_by is None:
            found = with_equal_names(found)
        columns = [replace(each, files=own) for each, own in zip(self.columns, found, strict=True)]
        return replace(
            self,
            listed=tuple(columns[: len(self.listed)]),
            system=None if self.system is None else columns[-1],
        )

    def groups(self) -> Iterator[Group]:
        """Yield the documents of each text, all with the id and positions of the first one.

        Holds one text, and the documents that wait for those of others: none if all annotators have the same
        documents in the same order. Raises `TextMismatch` if texts differ.
        """
        for name in self._rounds():
            streams = [self._read(each, name) for each in self.columns]
            first = [list(islice(stream, 1)) for stream in streams]
            one_file = name is not None or all(len(each.files) < 2 for each in self.columns)
            numbered = one_file and self.unannotated is None and any(_lacks_id(*one) for one in chain(*first))
            forms = [form for _, form in chain(*first) if form is not None]
            differ = any(need_placing(forms[0], form) for form in forms[1:])
            keyed = [self._keyed(chain(*parts), numbered) for parts in zip(first, streams, strict=True)]
            for group in _joined(keyed, [each.name for each in self.columns]):
                yield self._checked(group, differ)

    def _rounds(self) -> Iterator[str | None]:
        """Yield the name of each set of files whose documents are put together; None: all files."""
        by_name = self.pair_by in (None, "name") and all(
            each.files and each.files[0][0] is not None for each in self.columns
        )
        if not by_name:
            yield None
            return
        yield from sorted({name or "" for each in self.columns for name, _ in each.files})

    def _read(self, annotator: Annotator, only: str | None) -> Iterator[tuple[Document, Format | None]]:
        """Yield the documents of an annotator, with the format of their file; `only` those of files of this name."""
        for document in annotator.given:
            yield document, None
        for name, path in annotator.files:
            if only is not None and name != only:
                continue
            source = annotator.source(name if self.pair_by in (None, "name") else None, path, self.progress)
            if annotator.is_set and len(annotator.files) > 1 and _lacks_set(source):
                continue
            for document in annotated(source, self.unannotated):
                yield document, source.form

    def _keyed(
        self, documents: Iterable[tuple[Document, Format | None]], numbered: bool
    ) -> Iterator[tuple[str, Document]]:
        """Yield documents with the keys by which they are paired."""
        for number, (document, _) in enumerate(documents, 1):
            if self.pair_by in ("id", "content"):
                yield key_of(document, self.pair_by), document
            else:
                yield str(number) if numbered else document.id, document

    def _checked(self, group: Group, texts_differ: bool) -> Group:
        """Return the documents of one text; they are placed on one text if their formats or units differ."""
        first = next(number for number, document in enumerate(group) if document is not None)
        own = group[first]
        assert own is not None
        present = [document for document in group if document is not None]
        if len(present) > 1 and (texts_differ or any(each.unit != own.unit for each in present)):
            escapes = (each.options.escapes for each in self.columns if each.options is not None)
            group = _placed(group, next(escapes, None))
            own = group[first] or own
        checked: list[Document | None] = []
        for number, document in enumerate(group):
            if document is None or number == first:
                checked.append(document)
                continue
            other = moved_to(document, own)
            require_same_text(own, other, (self.columns[first].name, self.columns[number].name))
            checked.append(other)
        return tuple(checked)


def _lacks_id(document: Document, form: Format | None) -> bool:
    """Return whether the id of a document is not in its file, so that only its number can pair it."""
    return isinstance(document.id, MissingId) or (form is not None and (form.single or form.nameless))


def _placed(group: Group, escapes: str | None) -> Group:
    """Return the documents of different formats, with positions in one text."""
    from clueval.transforms import group as groups
    from clueval.transforms.placing import Placing

    first, *others = (document for document in group if document is not None)
    placed = Placing(escapes, named=False)(groups.Group(first, others[0], tuple(others[1:])))
    found = iter([placed.gold, placed.predicted, *placed.further])
    return tuple(None if document is None else next(found) for document in group)


def _joined(streams: Sequence[Iterator[tuple[str, Document]]], names: Sequence[str]) -> Iterator[Group]:
    """Yield the documents of all streams, joined by key: complete groups at once, the others at the end."""
    waiting: dict[str, list[Document | None]] = {}
    seen: list[set[str]] = [set() for _ in streams]
    for row in zip_longest(*streams):
        for number, found in enumerate(row):
            if found is None:
                continue
            key, document = found
            if key in seen[number]:
                raise UsageError(
                    f"{names[number]} has two documents {key!r}",
                    file=document.file,
                    document=document.id,
                    advice="each annotator may have a document once; pair_by pairs in other ways",
                )
            seen[number].add(key)
            group = waiting.setdefault(key, [None] * len(streams))
            group[number] = document
            if None not in group:
                yield tuple(waiting.pop(key))
    yield from map(tuple, waiting.values())


def _lacks_set(source: Source) -> bool:
    """Return whether the file has annotation sets, but not the one that is to be read."""
    wanted = source.options.annotation_set
    return wanted is not None and source.form.has_sets and wanted not in source.sets()


def annotated(source: Source, tag: str | None) -> Iterator[Document]:
    """Yield the documents of a file, without those whose tags are all `tag`.

    The tag is no tag of the scheme, so it is recognised before tags are decoded. Raises `TagError` for a document in
    which only a part has this tag.
    """
    if tag is None:
        yield from source.documents()
        return
    lines = None if source.in_brackets else source.form.token_lines
    if lines is None:
        raise UsageError(
            f"the format {source.format} has no tags, so no document can have the tag {tag!r}",
            file=str(source.path),
            advice="leave out documents that are not annotated",
        )
    most = source.options.max_document
    decoders = source.decoders(_annotated_passages(source, tag))
    yield from documents(_annotated_passages(source, tag), decoders, lines.sentence_id, most)


def _annotated_passages(source: Source, tag: str) -> Iterator[Passage]:
    for passages in by_document(source.passages(), source.options.max_document):
        if not _is_unannotated(passages, tag):
            yield from passages


def _is_unannotated(passages: Sequence[Passage], tag: str) -> bool:
    """Return whether all tags of a document are the tag. Raises `TagError` if some are."""
    if not any(tag in text for passage in passages for text in passage.sentences):
        return False
    first: bool | None = None
    for passage in passages:
        if passage.layout is None:
            continue
        for sentence, row, fields in passage.rows():
            for _, column in passage.layout.layers:
                is_tag = column < len(fields) and fields[column] == tag
                first = is_tag if first is None else first
                if is_tag != first:
                    raise TagError(
                        f"the tag {tag!r} is on only some tokens of the document",
                        file=passage.file,
                        line=passage.line_of(sentence, row),
                        document=passage.document if passage.named else None,
                        advice="a document that is not annotated has this tag on every token",
                    )
    return bool(first)
