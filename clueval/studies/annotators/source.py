"""Annotators: where the documents of each come from, and the documents of one text side by side."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import chain, islice, zip_longest
from os import PathLike
from pathlib import Path
from typing import Any

from clueval.arguments import refuse_unknown, require_instance, require_kind
from clueval.files.errors import FileError, TagError, UsageError, described, warn
from clueval.formats.columns.documents import by_document, documents
from clueval.formats.columns.passages import Passage
from clueval.formats.format import Format
from clueval.formats.label_studio import PREDICTION
from clueval.options import field_names, require_types, with_fields
from clueval.reading.items import GivenSide, TagNames, documents_of, place_of, side_of
from clueval.reading.other_side import with_text_of
from clueval.reading.pairing import files_of_side, key_of, moved_to
from clueval.reading.read_options import ReadOptions, with_columns_of_tags
from clueval.reading.same_text import need_placing, require_same_text
from clueval.reading.source import Source, source_of
from clueval.second.formats.options import Reading
from clueval.second.reading.options import require_layers, require_pair_by, require_positions
from clueval.second.reading.paths import (
    INCEPTION,
    Files,
    are_paths,
    files_of,
    folders_of,
    is_in_archive,
    is_path_or_paths,
    located,
    with_equal_names,
    without_ending,
)
from clueval.spans.document import Document, MissingId
from clueval.textfiles import Progress, is_folder

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
        return self._with([replace(each, files=own) for each, own in zip(self.columns, found, strict=True)])

    def with_columns_of_tags(self) -> Annotators:
        """Return the annotators with the columns of tags as layers where no layer is named."""
        of_files = [each for each in self.columns if each.options is not None]
        sides = [each.options for each in of_files if each.options is not None]
        found = iter(with_columns_of_tags(sides, [[path for _, path in each.files] for each in of_files]))
        return self._with(
            [each if each.options is None else replace(each, options=next(found)) for each in self.columns]
        )

    def _with(self, columns: Sequence[Annotator]) -> Annotators:
        """Return these columns in place of the annotators and the system."""
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
        if len(present) > 1 and (texts_differ or any(_ends_otherwise(each, own) for each in present)):
            group = _placed(group)
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


def _ends_otherwise(document: Document, first: Document) -> bool:
    """Return whether a document has another unit, or a text that differs only in the white space at its end."""
    if document.unit != first.unit or document.text is None or first.text is None:
        return document.unit != first.unit
    return document.text != first.text and document.text.rstrip() == first.text.rstrip()


def _lacks_id(document: Document, form: Format | None) -> bool:
    """Return whether the id of a document is not in its file, so that only its number can pair it."""
    return isinstance(document.id, MissingId) or (form is not None and (form.single or form.nameless))


def _placed(group: Group) -> Group:
    """Return the documents of different formats, with positions in one text."""
    from clueval.transforms import group as groups
    from clueval.transforms.placing import Placing

    first, *others = (document for document in group if document is not None)
    placed = Placing(named=False)(groups.Group(first, others[0], tuple(others[1:])))
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
                    **document.in_errors,
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


LAYOUTS = ("annotator/document", "document/annotator")
"""What the folders and files of one folder are."""

DEFAULT_SET = "default set"
"""The annotator in the set without a name."""

_SOURCES = "give paths, or documents, lists of tags or lists of spans, for each annotator"


@dataclass(frozen=True, slots=True, kw_only=True)
class Naming:
    """How annotators are found, and how their documents are put side by side.

    Attributes:
        annotators: the annotators of a single file: the name and the column, or annotation set, of each.
        layers: the name and column of each layer; None: the last column, called ``label``.
        layout: ``annotator/document`` or ``document/annotator``, for a single folder.
        unannotated: a tag; a document with this tag on every token is not annotated.
        pair_by: how documents are paired: None (files of folders by name, documents by id), or as in `clueval.score`.
        progress: called with the numbers of bytes that were read.
    """

    annotators: Mapping[str, int | str] | None = None
    layers: Mapping[str, int] | None = None
    layout: str | None = None
    unannotated: str | None = None
    pair_by: str | None = None
    progress: Progress | None = None

    def __post_init__(self) -> None:
        require_types(self)


def annotators_of(
    sources: Any,
    naming: Naming,
    reading: Reading,
    options: Mapping[str, Any],
    caller: str,
    system: Any = None,
) -> Annotators:
    """Return the annotators of the sources: a mapping by name, several paths, or one path with several annotators.

    `options` are fields of `naming` and `reading` by their own names; `caller` is for the error for others.
    """
    require_instance(naming, Naming, "naming")
    require_instance(reading, Reading, "reading")
    refuse_unknown(options, [*field_names(Naming), *field_names(Reading)], caller)
    naming, reading = with_fields(naming, options), with_fields(reading, options)
    require_pair_by(naming.pair_by)
    if naming.layout not in (None, *LAYOUTS):
        raise UsageError(f"unknown layout {naming.layout!r}", advice=f"one of {', '.join(LAYOUTS)}")
    require_layers(naming.layers)
    require_positions([reading], "agree")
    read = ReadOptions.of(reading, naming.layers)
    if not isinstance(sources, Mapping):
        sources = _listed(sources)
    if isinstance(sources, list) and len(sources) == 1 and isinstance(sources[0], str | PathLike):
        sources = _of_one(Path(sources[0]), read, naming.annotators, naming.layout, system)
        if isinstance(system, str | PathLike) and str(system) in sources and not Path(system).exists():
            system = sources.pop(str(system))
    elif naming.annotators is not None or naming.layout is not None:
        raise UsageError(
            "columns of annotators and a layout need one source", advice="give one file or folder"
        )
    elif isinstance(sources, list):
        sources = _by_name(sources)
    listed = tuple(
        _annotator(name, source, read) for name, source in _with_texts(sources, read.names).items()
    )
    if len(listed) < 2:
        raise UsageError(
            f"there {'is one annotator' if listed else 'are no annotators'}, but agreement needs two",
            advice="give a second file, or name columns or annotation sets as annotators",
        )
    last = None if system is None else replace(_annotator("system", system, read), name="system")
    found = Annotators(listed, last, naming.pair_by, naming.unannotated, naming.progress).with_paired_files()
    paths = [path for each in found.columns for _, path in each.files]
    read.require_use(paths)
    return found.with_columns_of_tags()


def _listed(sources: Any) -> list[Any]:
    if isinstance(sources, str | PathLike):
        return [sources]
    if isinstance(sources, bytes) or not isinstance(sources, Iterable):
        raise UsageError(f"annotators must not be {described(sources)}", advice=_SOURCES)
    return list(sources)


def _by_name(sources: list[Any]) -> dict[str, Any]:
    """Return sources without names by the names that they get."""
    if not all(isinstance(source, str | PathLike) for source in sources):
        return {_letter(number): source for number, source in enumerate(sources)}
    paths = [Path(path) for path in sources]
    for path in paths:
        files_of(path)  # raises for a path that does not exist
    return dict(zip(names_of(paths), paths, strict=True))


def _letter(number: int) -> str:
    return chr(ord("A") + number) if number < 26 else f"annotator {number + 1}"


def _annotator(name: str, source: Any, options: ReadOptions) -> Annotator:
    require_kind(name, "str", "the name of an annotator")
    if not name or name != name.strip():
        raise UsageError(f"{name!r} cannot be the name of an annotator", advice="write it NAME=PATH")
    if isinstance(source, Annotator):
        return source
    if are_paths(source) and is_path_or_paths(source):
        for path in [] if isinstance(source, str | Path) else source:
            files_of(Path(path))  # raises for a path that does not exist
        return Annotator(name, files_of_side(source), options)
    return Annotator(name, given=list(documents_of(source, name, options.names)))


def _with_texts(sources: Mapping[str, Any], names: Any) -> dict[str, Any]:
    """Return the sources, with documents in place of lists of spans if an annotator in memory has their texts.

    They are put together by id if the lists have ids, else by number.
    """
    if any(isinstance(source, Annotator) or are_paths(source) for source in sources.values()):
        return dict(sources)
    sides = {
        name: side_of(source, name, TagNames.of(names, source))
        for name, source in sources.items()
        if isinstance(source, list | tuple | Mapping)
    }
    found: dict[str, Any] = {
        name: list(side.items) if side.kind == "documents" else sources[name] for name, side in sides.items()
    }
    with_texts = [
        found[name]
        for name, side in sides.items()
        if side.kind == "documents"
        and all(each.text is not None and each.unit == "character" for each in found[name])
    ]
    if with_texts:
        numbered = {str(number): each for number, each in enumerate(with_texts[0])}
        by_id = {each.id: each for each in with_texts[0]}
        for name, side in sides.items():
            if side.kind in ("spans", None) and side.nested is not False:
                found[name] = list(_lent(name, side, numbered if side.ids is None else by_id))
    return {name: found.get(name, source) for name, source in sources.items()}


def _lent(name: str, side: GivenSide, documents: Mapping[str, Document]) -> Iterator[Document]:
    """Yield lists of spans as documents with the texts of others."""
    for number, item in enumerate(side.items):
        id_ = str(number) if side.ids is None else side.ids[number]
        if id_ not in documents:
            raise UsageError(
                f"{name} has spans of document {id_!r}, of which no annotator has the text",
                advice="give documents with texts",
            )
        yield with_text_of(documents[id_], item, place_of(name, number, side.ids), TagNames())


def _of_one(
    path: Path, options: ReadOptions, columns: Mapping[str, Any] | None, layout: str | None, system: Any
) -> dict[str, Annotator]:
    """Return the annotators of one file or folder, of which one may be the system."""
    folder, folders = _folders(located(path))
    if layout is None and folders and _is_inception(folders):
        layout = LAYOUTS[1]
    if columns and layout != LAYOUTS[1]:
        return {name: _of_column(name, path, options, column) for name, column in columns.items()}
    if layout is None and not folders:
        sets = require_sets(path, options)
        others = (name for name in sets if name != str(system))
        if model := next((name for name in others if name.startswith(PREDICTION)), None):
            warn(f"{model!r} counts as an annotator; annotators={ {'NAME': 'SET'} } names those that count")
        return {name or DEFAULT_SET: _of_column(name or DEFAULT_SET, path, options, name) for name in sets}
    if not folders:
        raise UsageError(
            "the layout is that of subfolders, but there are none",
            file=str(path),
            advice="give a folder with subfolders, or leave out the layout",
        )
    if layout is None and len(folders) == 1:
        raise UsageError(
            "there is one subfolder, so one annotator, but agreement needs two",
            file=str(path),
            advice="if the subfolders are documents, and their files annotators: layout='document/annotator'",
        )
    if layout != LAYOUTS[1]:
        return {name: Annotator(name, files_of(each), options) for name, each in folders.items()}
    found: dict[str, list[tuple[str | None, Path]]] = {}
    for document, each in folders.items():
        for name, file in files_of(each):
            found.setdefault(without_ending(name or file.name), []).append((document, _unpacked(file)))
    if columns:
        for name in map(str, columns.values()):
            if name not in found:
                raise UsageError(
                    f"no folder has a file of the annotator {name!r}",
                    file=str(folder),
                    advice=f"the annotators are {', '.join(sorted(found))}",
                )
        return {name: Annotator(name, found[str(of)], options) for name, of in columns.items()}
    for name in INCEPTION:
        if left_out := found.pop(name, []):
            number = f"{len(left_out)} document{'s' * (len(left_out) != 1)}"
            warn(f"{name} is left out, in {number}; annotators={ {'NAME': name} } reads it")
    return {name: Annotator(name, files, options) for name, files in sorted(found.items())}


def _folders(path: Path) -> tuple[Path, dict[str, Path]]:
    """Return the folders in a folder or an archive, and the path of what has them.

    These are the annotations of a whole project that INCEpTION exported. Of an archive with one folder they are those
    in it.
    """
    if not (is_folder(path) or is_in_archive(path)):
        files_of(path)  # refuses what cannot be read
        return path, {}
    folders = folders_of(path)
    if is_in_archive(path) and len(folders) == 1:
        (only,) = folders.values()
        if inner := folders_of(only):
            return (only, inner) if "annotation" not in inner else _folders(only)
    if {"annotation", "source"} <= folders.keys():
        return folders["annotation"], folders_of(folders["annotation"])
    return path, folders


_DOCUMENT = re.compile(r"\.(txt|tsv|csv|json|xmi|xml|tei|html?|pdf|docx?|conll\w*)$", re.IGNORECASE)
"""The end of the name of a document that was a file when it was imported."""


def _is_inception(folders: Mapping[str, Path]) -> bool:
    """Return whether folders are documents of INCEpTION: named like files, or with a file of one of its own names."""
    first = next(iter(folders.values()))
    return all(map(_DOCUMENT.search, folders)) or any(
        without_ending(name or "") in INCEPTION for name, _ in files_of(first)
    )


def _unpacked(path: Path) -> Path:
    """Return the only file in an archive of one annotator, as INCEpTION exports XMI; any other path is unchanged."""
    if is_in_archive(path):
        files = files_of(path)
        return files[0][1] if len(files) == 1 else path
    if "!" in str(path) and path.name.endswith(".zip"):
        raise FileError("is an archive in an archive", file=str(path), advice="unpack the outer one")
    return path


def _of_column(name: str, path: Path, options: ReadOptions, column: Any) -> Annotator:
    """Return the annotator in one column of a file, or in one annotation set, whose name may be a number."""
    files = files_of(path)
    if options.format_at(files[0][1]).has_sets:
        column = str(column)
        require_set(column, files, options)
    else:
        with suppress(ValueError):
            column = int(column)
    if isinstance(column, int):
        layer = next(iter(options.layers or {"label": column}))
        chosen = replace(options, layers={layer: column}, token=options.token or 1)
        return Annotator(name, files, chosen)
    return Annotator(name, files, replace(options, annotation_set=column), is_set=True)


def _parts_of(path: Path) -> tuple[str, ...]:
    try:
        return path.resolve().parts
    except (OSError, RuntimeError, ValueError):  # reading the file raises the error
        return path.absolute().parts


def names_of(paths: Sequence[Path]) -> list[str]:
    """Return for each path the shortest ending that no other path has.

    >>> names_of([Path("work/anna/d1.vrt"), Path("work/bob/d1.vrt"), Path("work/bob/d2.vrt")])
    ['anna/d1.vrt', 'bob/d1.vrt', 'd2.vrt']
    """
    parts = list(map(_parts_of, paths))
    names = []
    for own in parts:
        for length in range(1, len(own) + 1):
            if sum(other[-length:] == own[-length:] for other in parts) == 1:
                break
        names.append(str(Path(*own[-length:])))
    if len(set(names)) < len(names):
        twice = next(path for path, name in zip(paths, names, strict=True) if names.count(name) > 1)
        raise UsageError(f"two annotators have the path {twice}", advice="give each annotator once")
    return names


def require_sets(path: Path, options: ReadOptions) -> list[str]:
    """Return the annotation sets of a file or folder. Raises `UsageError` if there are none."""
    if found := _sets_of(files_of(path), options):
        if options.annotation_set is not None:
            raise UsageError(
                f"the annotation set {options.annotation_set!r} is one annotator, but agreement needs two",
                file=str(path),
                advice="name no set, or the sets of all annotators",
            )
        return found
    if is_folder(path):
        raise UsageError(
            "the folder has no subfolders, which would be the annotators",
            file=str(path),
            advice="give the files of two annotators, or layout='document/annotator'",
        )
    raise UsageError(
        "one file has one annotator, unless its columns or annotation sets are named",
        file=str(path),
        advice="name each annotator, as in annotators={'anna': 2, 'bob': 3}",
    )


def require_set(name: str, files: Iterable[tuple[str | None, Path]], options: ReadOptions) -> None:
    """Raise `UsageError` if no file of several has this annotation set."""
    listed = list(files)
    if len(listed) < 2:
        return  # reading the file says so
    found = _sets_of(listed, options)
    if name not in found:
        raise UsageError(
            f"no file has the annotation set {name!r}",
            advice=f"the sets are {', '.join(map(repr, found)) or 'none'}",
        )


def _sets_of(files: Iterable[tuple[str | None, Path]], options: ReadOptions) -> list[str]:
    found = (name for _, path in files for name in source_of(path, options).sets())
    return list(dict.fromkeys(found))
