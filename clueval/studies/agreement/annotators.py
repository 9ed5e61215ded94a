"""How annotators are found in what is given, and their documents of each text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from itertools import chain, islice
from os import PathLike
from pathlib import Path
from typing import Any

from clueval.core.bag import Bag
from clueval.core.count import Plan
from clueval.core.document import Document, Group, MissingId
from clueval.core.read import Read
from clueval.files.arguments import refuse_unknown, require_instance, require_kind
from clueval.files.errors import FileError, UsageError, described, warn
from clueval.files.opening import Progress, is_folder
from clueval.files.options import require_types, with_fields
from clueval.formats.documents import is_column_format
from clueval.formats.form import Form
from clueval.formats.label_studio import PREDICTION
from clueval.formats.options import FormatOptions, Reading
from clueval.reading.file_sides import (
    Side,
    files_of_side,
    joined,
    key_of,
    require_use,
    with_layers,
)
from clueval.reading.memory import GivenSide, side_of, with_text_of
from clueval.reading.options import PAIR_BY, require_layers, require_positions
from clueval.reading.paths import (
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
from clueval.reading.same_text import require_same_text
from clueval.reading.source import (
    Source,
    form_at,
    formats_that_read,
    need_placing,
    source_of,
)
from clueval.transforms.placing import placed_documents

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


@dataclass(frozen=True, slots=True)
class Annotator:
    """A named source of documents: files, with how to read them, or documents in memory.

    If `is_set`, it is an annotation set, and a file without this set is not annotated.
    """

    name: str
    files: Files = ()
    options: FormatOptions | None = None
    given: Sequence[Document] = ()
    is_set: bool = False


@dataclass(frozen=True, slots=True)
class Annotators:
    """All annotators, and maybe a system, which comes last."""

    listed: tuple[Annotator, ...]
    has_system: bool
    naming: Naming

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the annotators, without the system."""
        return tuple(each.name for each in self.listed[: len(self.listed) - self.has_system])

    @property
    def sides(self) -> tuple[str, ...]:
        """The names of the annotators and of the system."""
        return tuple(each.name for each in self.listed)

    @property
    def treatments(self) -> set[str]:
        """How ill-formed tags are treated in the files of annotators."""
        files = [each.options for each in self.listed[: len(self.names)] if each.options is not None]
        return {options.invalid or "conlleval" for options in files}

    def groups(self, read: Read | None = None) -> Iterator[Group]:
        """Yield the documents of each text, all with the id and positions of the first one; `read` notes what was read.

        Memory holds one text, and the documents that wait for those of others: none if all annotators have the same
        documents in the same order. Raises `TextMismatch` if texts differ.
        """
        noted = Read() if read is None else read
        for name in self._rounds():
            streams = [self._read(each, name, noted) for each in self.listed]
            first = [list(islice(stream, 1)) for stream in streams]
            forms = [form for _, form in chain(*first) if form is not None]
            differ = any(need_placing(forms[0], form) for form in forms[1:])
            numbered = self._are_numbered(name, chain(*first))
            keyed = [self._keyed(chain(*parts), numbered) for parts in zip(first, streams, strict=True)]
            for documents in joined(keyed, self.sides, self.naming.pair_by, may_lack=True):
                yield Group(self._checked(documents, differ))

    def _rounds(self) -> Iterator[str | None]:
        """Yield the name of each set of files whose documents are put together; None: all files."""
        by_name = self.naming.pair_by in (None, "name") and all(
            each.files and each.files[0][0] is not None for each in self.listed
        )
        yield from (
            sorted({name or "" for each in self.listed for name, _ in each.files}) if by_name else [None]
        )

    def _are_numbered(self, name: str | None, first: Iterable[tuple[Document, Form | None]]) -> bool:
        """Return whether documents are paired by their numbers, since an id is not in its file."""
        one_file = name is not None or all(len(each.files) < 2 for each in self.listed)
        return (
            one_file
            and self.naming.unannotated is None
            and any(
                isinstance(document.id, MissingId) or (form is not None and form.is_one_document)
                for document, form in first
            )
        )

    def _read(
        self, annotator: Annotator, only: str | None, read: Read
    ) -> Iterator[tuple[Document, Form | None]]:
        """Yield the documents of an annotator, with the format of their file; `only` those of files of this name."""
        for document in annotator.given:
            yield document, None
        for name, path in annotator.files:
            if only is not None and name != only:
                continue
            if annotator.is_set and len(annotator.files) > 1 and _lacks_set(path, annotator.options):
                continue
            source = self._source(annotator, name, path)
            if source.options.unannotated is not None and not is_column_format(source.form):
                raise UsageError(
                    f"the format {source.form.name} has no tags, so no document can have the tag "
                    f"{source.options.unannotated!r}",
                    file=str(path),
                    advice="leave out documents that are not annotated",
                )
            for document in source.documents():
                yield document, source.form
            source.see(read, annotator.name)

    def _source(self, annotator: Annotator, name: str | None, path: Path) -> Source:
        assert annotator.options is not None
        own = name if self.naming.pair_by in (None, "name") else None
        source = source_of(path, annotator.options, name=own, progress=self.naming.progress)
        require_positions(source.form.name, "agree")
        return source

    def _keyed(
        self, documents: Iterable[tuple[Document, Form | None]], numbered: bool
    ) -> Iterator[tuple[str, Document]]:
        """Yield documents with the keys by which they are paired."""
        pair_by = self.naming.pair_by
        for number, (document, _) in enumerate(documents, 1):
            if pair_by in ("id", "content"):
                yield key_of(document, pair_by), document
            else:
                yield str(number) if numbered else document.id, document

    def _checked(
        self, documents: Sequence[Document | None], texts_differ: bool
    ) -> tuple[Document | None, ...]:
        """Return the documents of one text; they are placed on one text if their formats or units differ."""
        present = [each for each in documents if each is not None]
        if len(present) > 1 and (texts_differ or any(_ends_otherwise(each, present[0]) for each in present)):
            placed = iter(placed_documents(present, named=False).documents)
            documents = [None if each is None else next(placed) for each in documents]
        first = next(number for number, each in enumerate(documents) if each is not None)
        own = documents[first]
        for number, document in enumerate(documents):
            if own is not None and document is not None and number != first:
                require_same_text(own, document, (self.listed[first].name, self.listed[number].name))
        return tuple(documents)

    def bag(self, plan: Plan) -> Bag | None:
        """Return the bag of column files of the same texts, which are counted line by line; None for others."""
        if self.naming.unannotated is not None or self.naming.pair_by is not None:
            return None
        if any(each.given or each.is_set for each in self.listed):
            return None
        from clueval.reading.column_files import bag_of_columns  # not needed in memory

        files = [dict(each.files) for each in self.listed]
        if any(of.keys() != files[0].keys() for of in files):
            return None
        total: Bag | None = None
        for name in sorted(files[0], key=str):
            sources = [
                self._source(each, name, of[name]) for each, of in zip(self.listed, files, strict=True)
            ]
            if any(source.options.token_id is not None for source in sources):
                return None  # token ids must be compared
            bag = bag_of_columns(sources, plan)
            if bag is None:
                return None
            for source, own in zip(sources, self.listed, strict=True):
                source.see(bag.read, own.name)
            if total is None:
                total = bag
            else:
                total.include(bag)
        return total


def _ends_otherwise(document: Document, first: Document) -> bool:
    """Return whether a document has another unit, or a text that differs only in the white space at its end."""
    if document.unit != first.unit or document.text is None or first.text is None:
        return document.unit != first.unit
    return document.text != first.text and document.text.rstrip() == first.text.rstrip()


def _lacks_set(path: Path, options: FormatOptions | None) -> bool:
    """Return whether the file, in a format with annotation sets, does not have the one that is to be read."""
    if options is None or options.annotation_set is None:
        return False
    source = source_of(path, replace(options, annotation_set=None))
    if not source.form.has_sets:
        return source.form.name in formats_that_read("annotation_set")
    return options.annotation_set not in source.sets()


# Finding annotators


def annotators_of(
    sources: Any, reading: Reading, options: Mapping[str, Any], caller: str, system: Any = None
) -> Annotators:
    """Return the annotators of the sources: a mapping by name, several paths, or one path with several annotators.

    `options` are fields of `Naming` and `Reading` by their own names; `caller` is for the error for others.
    """
    require_instance(reading, Reading, "reading")
    refuse_unknown(options, [each.name for group in (Naming, Reading) for each in fields(group)], caller)
    naming, reading = with_fields(Naming(), options), with_fields(reading, options)
    if naming.pair_by not in (None, *PAIR_BY):
        raise UsageError(
            f"documents cannot be paired by {naming.pair_by!r}", advice=f"one of {', '.join(PAIR_BY)}"
        )
    if naming.layout not in (None, *LAYOUTS):
        raise UsageError(f"unknown layout {naming.layout!r}", advice=f"one of {', '.join(LAYOUTS)}")
    require_layers(naming.layers)
    require_positions(reading.input, "agree")
    read = replace(FormatOptions.of(reading, naming.layers), unannotated=naming.unannotated)
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
    listed = [_annotator(name, source, read) for name, source in _with_texts(sources, read).items()]
    if len(listed) < 2:
        raise UsageError(
            f"there {'is one annotator' if listed else 'are no annotators'}, but agreement needs two",
            advice="give a second file, or name columns or annotation sets as annotators",
        )
    if system is not None:
        listed.append(replace(_annotator("system", system, read), name="system"))
    listed = _with_paired_files(listed, naming.pair_by)
    paths = [path for each in listed for _, path in each.files]
    require_use(read, paths)
    return Annotators(tuple(_with_columns_of_tags(listed)), system is not None, naming)


def _with_paired_files(listed: Sequence[Annotator], pair_by: str | None) -> list[Annotator]:
    """Return the annotators with their files by the names that pair them."""
    found: Sequence[Files] = [each.files for each in listed]
    if pair_by == "name":
        found = [[(name and without_ending(name), path) for name, path in files] for files in found]
    elif pair_by is None:
        found = with_equal_names(found)
    return [replace(each, files=own) for each, own in zip(listed, found, strict=True)]


def _with_columns_of_tags(listed: Sequence[Annotator]) -> Iterator[Annotator]:
    """Yield the annotators with the columns of tags as layers where no layer is named."""
    sides = [Side(each.name, each.files, each.options) for each in listed if each.options is not None]
    found = iter(sides if any(side.options.layers is not None for side in sides) else with_layers(sides))
    for each in listed:
        yield each if each.options is None else replace(each, options=next(found).options)


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


def _annotator(name: str, source: Any, options: FormatOptions) -> Annotator:
    require_kind(name, "str", "the name of an annotator")
    if not name or name != name.strip():
        raise UsageError(f"{name!r} cannot be the name of an annotator", advice="write it NAME=PATH")
    if isinstance(source, Annotator):
        return source
    if are_paths(source) and is_path_or_paths(source):
        for path in [] if isinstance(source, str | Path) else source:
            files_of(Path(path))  # raises for a path that does not exist
        return Annotator(name, files_of_side(source), options)
    side = side_of(source, name, options)
    if side.kind == "paths":
        raise UsageError(f"{name} has paths", advice="give one file or one folder, or what is in memory")
    return Annotator(name, given=list(side.documents()))


def _with_texts(sources: Mapping[str, Any], options: FormatOptions) -> dict[str, Any]:
    """Return the sources, with documents in place of lists of spans if an annotator in memory has their texts.

    They are put together by id if the lists have ids, else by number.
    """
    if any(isinstance(source, Annotator) or are_paths(source) for source in sources.values()):
        return dict(sources)
    sides = {
        name: side_of(source, name, options)
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
                found[name] = list(_lent(side, numbered if side.ids is None else by_id))
    return {name: found.get(name, source) for name, source in sources.items()}


def _lent(side: GivenSide, documents: Mapping[str, Document]) -> Iterator[Document]:
    """Yield lists of spans as documents with the texts of others."""
    for number, item in enumerate(side.items):
        id_ = side.id_of(number)
        if id_ not in documents:
            raise UsageError(
                f"{side.name} has spans of document {id_!r}, of which no annotator has the text",
                advice="give documents with texts",
            )
        yield with_text_of(documents[id_], item, side.place(number), None)


def _of_one(
    path: Path, options: FormatOptions, columns: Mapping[str, Any] | None, layout: str | None, system: Any
) -> dict[str, Annotator]:
    """Return the annotators of one file or folder, of which one may be the system."""
    folder, folders = _folders(located(path))
    if layout is None and folders and _is_inception(folders):
        layout = LAYOUTS[1]
    if columns and layout != LAYOUTS[1]:
        return {name: _of_column(name, path, options, column) for name, column in columns.items()}
    if layout is None and not folders:
        sets = _require_sets(path, options)
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


def _of_column(name: str, path: Path, options: FormatOptions, column: Any) -> Annotator:
    """Return the annotator in one column of a file, or in one annotation set, whose name may be a number."""
    files = files_of(path)
    if form_at(files[0][1], options).has_sets:
        column = str(column)
        _require_set(column, files, options)
    else:
        with suppress(ValueError):
            column = int(column)
    if isinstance(column, int):
        layer = next(iter(options.layers or {"label": column}))
        return Annotator(name, files, replace(options, layers={layer: column}, token=options.token or 1))
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


def _require_sets(path: Path, options: FormatOptions) -> list[str]:
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


def _require_set(name: str, files: Iterable[tuple[str | None, Path]], options: FormatOptions) -> None:
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


def _sets_of(files: Iterable[tuple[str | None, Path]], options: FormatOptions) -> list[str]:
    found = (name for _, path in files for name in source_of(path, options).sets())
    return list(dict.fromkeys(found))
