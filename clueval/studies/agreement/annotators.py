"""How annotators are found in what is given, and their documents of each text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from functools import partial
from itertools import chain, islice
from os import PathLike
from pathlib import Path
from typing import Any

from clueval.core.bag import Bag, Read
from clueval.core.count import Plan
from clueval.core.document import UNANNOTATED, Document, Group, MissingId, no_positions, with_positions
from clueval.files.errors import FileError, UsageError, described, warn, with_noun
from clueval.files.opening import Progress, is_folder
from clueval.files.options import (
    option_field,
    refuse_unknown,
    require_instance,
    require_kind,
    require_types,
    with_fields,
)
from clueval.formats.form import Form
from clueval.formats.options import MENTIONS, PAIR_BY, FormatOptions, Reading, require_layers
from clueval.reading import is_path_or_paths, with_id_of
from clueval.reading.clusters import Unusual
from clueval.reading.column_texts import column_texts
from clueval.reading.file_sides import (
    Side,
    files_of_side,
    groups_by_key,
    key_of,
    require_use,
    same_key,
    with_first_id,
    with_layers,
)
from clueval.reading.memory import GivenSide, require_sources, side_of
from clueval.reading.paths import (
    INCEPTION,
    Files,
    as_path,
    files_of,
    folders_of,
    is_in_archive,
    located,
    with_equal_names,
    without_ending,
)
from clueval.reading.same_text import require_same_text
from clueval.reading.source import (
    Source,
    form_at,
    formats_that_read,
    is_column_format,
    need_placing,
    source_of,
)

NOTHING_SHARED = "no document is shared by two annotators"
PAIRING = "documents are paired by id, files of folders by name; pair_by='content' pairs equal texts"

BY_DOCUMENT = "document/annotator"
LAYOUTS = "annotator/document", BY_DOCUMENT
"""What the folders and files of one folder are."""

DEFAULT_SET = "default set"
"""The annotator in the set without a name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Naming:
    """How annotators are found, and how their documents are put side by side.

    Attributes:
        annotators: the annotators of a single file: the name and the column, or annotation set, of each.
        layers: the name and column of each layer; None: the last column, called ``label``.
        progress: called with the numbers of bytes that were read.
    """

    annotators: Mapping[str, int | str] | None = None
    layers: Mapping[str, int] | None = None
    layout: str | None = option_field(
        None,
        "LAYOUT",
        "what the folders and files of the only folder are",
        choices=LAYOUTS,
        default="the first",
    )
    unannotated: str | None = option_field(
        None, "TAG", "a document with this tag on every token is not annotated"
    )
    pair_by: str | None = option_field(
        None,
        "HOW",
        "pair documents by id, name of the file, or content",
        choices=PAIR_BY,
        default="files of folders by name, documents by id",
    )
    progress: Progress | None = None

    def __post_init__(self) -> None:
        require_types(self)


@dataclass(frozen=True, slots=True)
class Annotators:
    """All annotators, and maybe a system, which comes last."""

    listed: tuple[Side, ...]
    has_system: bool
    naming: Naming

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the annotators, without the system."""
        return self.sides[: len(self.listed) - self.has_system]

    @property
    def sides(self) -> tuple[str, ...]:
        """The names of the annotators and of the system."""
        return tuple(annotator.name for annotator in self.listed)

    def groups(self, read: Read | None = None) -> Iterator[Group]:
        """Yield the documents of each text, all with the id and positions of the first one; `read` notes what was read.

        Memory holds one text, and the documents that wait for those of others: none if all annotators have the same
        documents in the same order. Raises `TextMismatch` if texts differ.
        """
        noted = Read() if read is None else read
        pair_by = self.naming.pair_by
        names: Sequence[str | None] = [None]
        if pair_by in (None, "name") and all(
            annotator.files and annotator.files[0][0] is not None for annotator in self.listed
        ):
            names = sorted({name or "" for annotator in self.listed for name, _ in annotator.files})
        for file_name in names:
            streams = [self._read(annotator, file_name, noted) for annotator in self.listed]
            first = [list(islice(stream, 1)) for stream in streams]
            forms = [form for _, form in chain(*first) if form is not None]
            texts_differ = any(need_placing(forms[0], form) for form in forms[1:])
            have_no_ids = any(
                isinstance(document.id, MissingId) or (form is not None and form.is_one_document)
                for document, form in chain(*first)
            )
            is_one_file = file_name is not None or all(len(annotator.files) < 2 for annotator in self.listed)
            by = pair_by if pair_by in ("id", "content") else None
            are_numbered = have_no_ids and is_one_file and by is None and self.naming.unannotated is None
            parts = zip(first, streams, strict=True)
            documents_of_sides = ((document for document, _ in chain(*each)) for each in parts)
            keyed_streams = [
                (
                    (str(place) if are_numbered else key_of(document, by), document)
                    for place, document in each
                    if UNANNOTATED not in document.metadata
                )
                for each in map(enumerate, documents_of_sides)
            ]
            for documents in groups_by_key(keyed_streams, self.sides, partial(_same_key, by)):
                same_id = with_first_id(documents)
                yield Group(self._documents_on_one_text(same_id, texts_differ=texts_differ))

    def require_paired(self) -> None:
        """Raise `UsageError` if an annotator who shares no document has a text of another annotator, with another id.

        Reads all documents once more.
        """
        alone = {*self.names}
        first_with: dict[str, tuple[str, str]] = {}
        same: dict[tuple[str, str], tuple[Document, str]] = {}
        for group in self.groups():
            present = [
                (name, document)
                for name, document in zip(self.names, group.sides, strict=False)  # a system comes after them
                if document is not None
            ]
            if len(present) > 1:
                alone.difference_update(name for name, _ in present)
            for name, document in present:
                if document.text is not None or document.tokens is not None:
                    other, other_id = first_with.setdefault(key_of(document, "content"), (name, document.id))
                    same.setdefault((name, other), (document, other_id))
        for (name, other), (document, other_id) in same.items():
            if name != other and not alone.isdisjoint((name, other)):
                raise UsageError(
                    f"{name} has the text of document {other_id!r} of {other}, and "
                    f"{name if name in alone else other} shares no document with another annotator",
                    **document.in_errors,
                    advice=PAIRING,
                )

    def _read(
        self, annotator: Side, file_name: str | None, read: Read
    ) -> Iterator[tuple[Document, Form | None]]:
        """Yield the documents of an annotator, with the format of their file; with `file_name`, of such files only."""
        for document in map(with_positions, annotator.documents):
            yield document, None
        if annotator.treatment is not None:
            read.treatments.add(annotator.treatment)
        for name, path in annotator.files:
            if file_name is not None and name != file_name:
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
            for document in map(with_positions, source.documents()):
                yield document, source.form
            source.see(read, annotator.name)

    def _source(self, annotator: Side, name: str | None, path: Path) -> Source:
        file_name = name if self.naming.pair_by in (None, "name") else None
        return annotator.source(path, file_name, self.naming.progress)

    def _documents_on_one_text(
        self, documents: tuple[Document | None, ...], *, texts_differ: bool
    ) -> tuple[Document | None, ...]:
        """Return the documents of one text; they are placed on one text if their formats or units differ."""
        first, *others = present = [document for document in documents if document is not None]
        if others and (texts_differ or any(_ends_otherwise(document, first) for document in others)):
            from clueval.transforms.placing import placed_documents  # most texts are the same

            # on the longest text, so that their order does not decide which white space counts
            in_order = sorted(present, key=lambda document: (-len(document.text or ""), document.text or ""))
            placed = dict(
                zip(map(id, in_order), placed_documents(in_order, named=False).documents, strict=True)
            )
            documents = tuple(
                None if document is None else replace(placed[id(document)], id=first.id)
                for document in documents
            )
        named_documents = [
            (document, name)
            for document, name in zip(documents, self.sides, strict=True)
            if document is not None
        ]
        first, first_name = named_documents[0]
        for document, name in named_documents[1:]:
            require_same_text(first, document, (first_name, name))
        return documents

    def plain_groups(self, read: Read, *, only_differing: bool) -> Iterator[Group]:
        """Yield the same groups; documents of column files lack their tags.

        With `only_differing`, they also lack the spans of sentences that are equal in all files.
        """
        noted, ids = Read(), set[str]()
        try:
            for sources in self._files_of_all():
                for first, *others in column_texts(sources, only_differing=only_differing):
                    if first.id in ids:
                        raise Unusual("an id occurs again")
                    ids.add(first.id)
                    yield Group((first, *(with_id_of(first, document) for document in others)))
                for source, annotator in zip(sources, self.listed, strict=True):
                    source.see(noted, annotator.name)
        except Unusual:  # documents say what is wrong, if anything is
            yield from islice(self.groups(read), len(ids), None)
        else:
            read.include(noted)

    def bag(self, plan: Plan) -> Bag | None:
        """Return the bag of column files of the same texts, which are counted line by line; None for others."""
        from clueval.reading.column_files import bag_of_columns  # not needed in memory

        total: Bag | None = None
        try:
            for sources in self._files_of_all():
                have_ids = any(
                    source.options.token_id is not None for source in sources
                )  # ids must be compared
                bag = None if have_ids else bag_of_columns(sources, plan)
                if bag is None:
                    return None
                for source, annotator in zip(sources, self.listed, strict=True):
                    source.see(bag.read, annotator.name)
                if total is None:
                    total = bag
                else:
                    total.include(bag)
        except Unusual:
            return None
        return total

    def _files_of_all(self) -> Iterator[list[Source]]:
        """Yield files of all annotators that have the same name. Raises `Unusual` if these are not all there is."""
        files = [dict(annotator.files) for annotator in self.listed]
        if (
            self.naming.unannotated is not None
            or self.naming.pair_by is not None
            or any(annotator.documents or annotator.is_set for annotator in self.listed)
            or any(paths.keys() != files[0].keys() for paths in files)
        ):
            raise Unusual("documents must be paired")
        for name in sorted(files[0], key=str):
            yield [
                self._source(annotator, name, paths[name])
                for annotator, paths in zip(self.listed, files, strict=True)
            ]


def _same_key(pair_by: str | None, side: str, document: Document, other_id: str) -> UsageError:
    """Return the error for two documents of one annotator with the same key."""
    if pair_by == "content" or (pair_by == "id" and isinstance(document.id, MissingId)):
        return same_key(pair_by, side, document, other_id)
    return UsageError(
        f"{side} has two documents {document.id!r}",
        **document.in_errors,
        advice="each annotator may have a document once; pair_by='content' pairs equal texts",
    )


def _ends_otherwise(document: Document, first: Document) -> bool:
    """Return whether a document has another unit, or a text that differs only in the white space at its end."""
    text, first_text = document.text, first.text
    if document.unit != first.unit or text is None or first_text is None:
        return document.unit != first.unit
    return text != first_text and text.rstrip() == first_text.rstrip()


def _lacks_set(path: Path, options: FormatOptions) -> bool:
    """Return whether the file, in a format with annotation sets, does not have the one that is to be read."""
    source = source_of(path, replace(options, annotation_set=None))
    if not source.form.has_sets:
        return source.form.name in formats_that_read("annotation_set")
    return options.annotation_set not in source.sets()


# --- finding annotators


def annotators_of(
    sources: Any, reading: Reading, options: Mapping[str, Any], caller: str, system: Any = None
) -> Annotators:
    """Return the annotators of the sources: a mapping by name, several paths, or one path with several annotators.

    `options` are fields of `Naming` and `Reading` by their own names; `caller` is for the error for others.
    """
    require_instance(reading, Reading, "reading")
    refuse_unknown(options, [field.name for group in (Naming, Reading) for field in fields(group)], caller)
    naming, reading = with_fields(Naming(), options), with_fields(reading, options)
    require_layers(naming.layers)
    if reading.input == MENTIONS:  # all sides would be answers
        raise no_positions()
    read = FormatOptions.of(reading, naming.layers, unannotated=naming.unannotated, keeps_unannotated=True)
    if isinstance(sources, str | PathLike):
        sources = [sources]
    elif isinstance(sources, bytes) or not isinstance(sources, Iterable):
        raise UsageError(
            f"annotators must not be {described(sources)}",
            advice="give paths, or documents, lists of tags or lists of spans, for each annotator",
        )
    by_name = dict(sources) if isinstance(sources, Mapping) else None
    unnamed = [] if by_name is not None else list(sources)
    if len(unnamed) == 1 and isinstance(unnamed[0], str | PathLike):
        by_name = _annotators_at(as_path(unnamed[0]), read, naming, system)
        if isinstance(system, str | PathLike) and str(system) in by_name and not Path(system).exists():
            system = by_name.pop(str(system))
    elif naming.annotators is not None or naming.layout is not None:
        raise UsageError(
            "columns of annotators and a layout need one source", advice="give one file or folder"
        )
    elif by_name is None and all(isinstance(source, str | PathLike) for source in unnamed):
        paths = [as_path(path) for path in unnamed]
        for path in paths:
            files_of(path)  # raises for a path that does not exist
        by_name = dict(zip(names_of(paths), paths, strict=True))
    elif by_name is None:
        letters = (chr(ord("A") + n) if n < 26 else f"annotator {n + 1}" for n in range(len(unnamed)))
        by_name = dict(zip(letters, unnamed, strict=True))
    annotators = _annotators_of_sources(by_name, read)
    if len(annotators) < 2:
        raise UsageError(
            f"there {'is one annotator' if annotators else 'are no annotators'}, but agreement needs two",
            advice="give a second file, or name columns or annotation sets as annotators",
        )
    if system is not None:
        try:
            (system_annotator,) = _annotators_of_sources({"system": system}, read)
        except FileError as error:
            if len(unnamed) == 1:  # one of its annotators may be the system
                error.advice = error.advice or f"the annotators are {', '.join(by_name)}"
            raise
        for annotator in annotators:
            if annotator.files and replace(annotator, name="system") == system_annotator:
                raise UsageError(
                    f"the system has the file of the annotator {annotator.name}",
                    file=str(system),
                    advice="give the output of the system, or leave out the annotator",
                )
        annotators.append(replace(system_annotator, name="system"))
    require_use(read, annotators)
    listed = _with_names_and_layers(annotators, naming.pair_by)
    return Annotators(tuple(listed), system is not None, naming)


def _annotators_of_sources(sources: Mapping[Any, Any], options: FormatOptions) -> list[Side]:
    """Return the annotators of sources by name; in memory, lists of spans get the texts of another annotator."""
    for name in sources:
        require_kind(name, "str", "the name of an annotator")
        if not name or name != name.strip():
            raise UsageError(f"{name!r} cannot be the name of an annotator", advice="write it NAME=PATH")
    annotators: dict[str, Side] = {}
    sides: dict[str, GivenSide] = {}
    for name, source in sources.items():
        if isinstance(source, Side):
            annotators[name] = source
        elif is_path_or_paths(source):
            for path in source if isinstance(source, list | tuple) else ():
                files_of(as_path(path))  # raises for a path that does not exist
            annotators[name] = Side(name, files_of_side(source), options)
        else:
            sides[name] = side = side_of(GivenSide(name, options, options.layers), source).with_scheme()
            if side.kind == "documents":
                sides[name] = side._replace(items=list(side.items))
    texts = None
    if not annotators:
        require_sources(sides.values())
        document_lists = (list(side.items) for side in sides.values() if side.kind == "documents")
        texts = next(
            (
                documents
                for documents in document_lists
                if all(document.text is not None and document.unit == "character" for document in documents)
            ),
            None,
        )
    for name, side in sides.items():
        is_listed = side.kind in ("spans", None) and side.nested is not False
        documents = side.documents() if texts is None or not is_listed else _documents_on_texts(side, texts)
        annotators[name] = Side(name, (), options, documents=list(documents), treatment=side.treatment)
    return [annotators[name] for name in sources]


def _documents_on_texts(side: GivenSide, documents: Sequence[Document]) -> Iterator[Document]:
    """Yield lists of spans as documents with the texts of others."""
    keys = map(str, range(len(documents))) if side.ids is None else (document.id for document in documents)
    by_key = dict(zip(keys, documents, strict=True))
    for number, item in enumerate(side.items):
        id_ = side.id_of(number)
        if id_ not in by_key:
            raise UsageError(
                f"{side.name} has spans of document {id_!r}, of which no annotator has the text",
                advice="give documents with texts",
            )
        yield side.document(number, item, by_key[id_])


def _with_names_and_layers(listed: Sequence[Side], pair_by: str | None) -> list[Side]:
    """Return annotators with files by the names that pair them, and columns of tags as layers where none is named."""
    files: Sequence[Files] = [annotator.files for annotator in listed]
    if pair_by == "name":
        files = [
            [(name and without_ending(name), path) for name, path in named_files] for named_files in files
        ]
    elif pair_by is None:
        files = with_equal_names(files)
    listed = [
        replace(annotator, files=named_files) for annotator, named_files in zip(listed, files, strict=True)
    ]
    with_files = [annotator for annotator in listed if annotator.files]
    if any(annotator.options.layers is not None for annotator in with_files):
        return listed
    with_columns = iter(with_layers(with_files))
    return [next(with_columns) if annotator.files else annotator for annotator in listed]


def _annotators_at(path: Path, options: FormatOptions, naming: Naming, system: Any) -> dict[str, Any]:
    """Return the annotators of one file or folder, of which one may be the system."""
    folder, folders = _folders(located(path))
    columns, layout = naming.annotators, naming.layout
    for column, times in Counter(map(str, (columns or {}).values())).items():
        if times > 1:
            raise UsageError(
                f"two annotators have the column or set {column}", advice="give each annotator once"
            )
    if layout is None and folders:
        first = next(iter(folders.values()))
        if all(map(_DOCUMENT.search, folders)) or any(
            without_ending(name or "") in INCEPTION for name, _ in files_of(first)
        ):
            layout = BY_DOCUMENT
    if columns and layout != BY_DOCUMENT:
        return {name: _annotator_in_column(name, path, options, column) for name, column in columns.items()}
    if layout is None and not folders:
        from clueval.formats.label_studio import PREDICTION  # few files have sets

        sets = _sets_of_annotators(path, options)
        others = (name for name in sets if name != str(system))
        if model := next((name for name in others if name.startswith(PREDICTION)), None):
            warn(f"{model!r} counts as an annotator; annotators={ {'NAME': 'SET'} } names those that count")
        return {
            name or DEFAULT_SET: _annotator_in_column(name or DEFAULT_SET, path, options, name)
            for name in sets
        }
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
    if beside := [name for name, _ in files_of(folder) if name is not None and "/" not in name]:
        number = with_noun(len(beside), "files")
        warn(f"left out of {folder}: {number} beside the folders ({', '.join(beside[:3])})")
    if layout != BY_DOCUMENT:
        return {name: Side(name, files_of(subfolder), options) for name, subfolder in folders.items()}
    files: dict[str, list[tuple[str | None, Path]]] = {}
    for document, subfolder in folders.items():
        for name, file in files_of(subfolder):
            files.setdefault(without_ending(name or file.name), []).append((document, file))
    if columns:
        for name in map(str, columns.values()):
            if name not in files:
                raise UsageError(
                    f"no folder has a file of the annotator {name!r}",
                    file=str(folder),
                    advice=f"the annotators are {', '.join(sorted(files))}",
                )
        return {name: Side(name, files[str(column)], options) for name, column in columns.items()}
    for name in INCEPTION:
        if left_out := files.pop(name, []):
            number = with_noun(len(left_out), "documents")
            warn(f"{name} is left out, in {number}; annotators={ {'NAME': name} } reads it")
    return {name: Side(name, name_files, options) for name, name_files in sorted(files.items())}


def _folders(path: Path) -> tuple[Path, dict[str, Path]]:
    """Return the folders in a folder or an archive, or in its only folder or INCEpTION's, and the path of these."""
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
"""The end of the name of a document of INCEpTION that was a file when it was imported."""


def _annotator_in_column(name: str, path: Path, options: FormatOptions, column: Any) -> Side:
    """Return the annotator in one column of a file, or in one annotation set, whose name may be a number."""
    files = files_of(path)
    if form_at(files[0][1], options).has_sets:
        column = str(column)
        sets = (
            _sets_of(files, options) if len(files) > 1 else [column]
        )  # reading the only file says what it has
        if column not in sets:
            raise UsageError(
                f"no file has the annotation set {column!r}",
                advice=f"the sets are {', '.join(map(repr, sets)) or 'none'}",
            )
    else:
        with suppress(ValueError):
            column = int(column)
    if isinstance(column, int):
        layer = next(iter(options.layers or {"label": column}))
        return Side(name, files, replace(options, layers={layer: column}, token=options.token or 1))
    return Side(name, files, replace(options, annotation_set=column), is_set=True)


def names_of(paths: Sequence[Path]) -> list[str]:
    """Return for each path the shortest ending that no other path has.

    >>> names_of([Path("work/anna/d1.vrt"), Path("work/bob/d1.vrt"), Path("work/bob/d2.vrt")])
    ['anna/d1.vrt', 'bob/d1.vrt', 'd2.vrt']
    """

    def parts_of(path: Path) -> tuple[str, ...]:
        try:
            return path.resolve().parts
        except (OSError, RuntimeError, ValueError):  # reading the file raises the error
            return path.absolute().parts

    parts = list(map(parts_of, paths))
    names = []
    for path_parts in parts:
        for length in range(1, len(path_parts) + 1):
            if sum(other[-length:] == path_parts[-length:] for other in parts) == 1:
                break
        names.append(str(Path(*path_parts[-length:])))
    if len(set(names)) < len(names):
        twice = next(path for path, name in zip(paths, names, strict=True) if names.count(name) > 1)
        raise UsageError(f"two annotators have the path {twice}", advice="give each annotator once")
    return names


def _sets_of_annotators(path: Path, options: FormatOptions) -> list[str]:
    """Return the annotation sets of a file or folder. Raises `UsageError` if there are none, or one is chosen."""
    sets = _sets_of(files_of(path), options)
    if sets and options.annotation_set is None:
        return sets
    if sets:
        problem = f"the annotation set {options.annotation_set!r} is one annotator, but agreement needs two"
        advice = "name no set, or the sets of all annotators"
    elif is_folder(path):
        problem = "the folder has no subfolders, which would be the annotators"
        advice = "give the files of two annotators, or layout='document/annotator'"
    else:
        problem = "one file has one annotator, unless its columns or annotation sets are named"
        advice = "name each annotator, as in annotators={'anna': 2, 'bob': 3}"
    raise UsageError(problem, file=str(path), advice=advice)


def _sets_of(files: Iterable[tuple[str | None, Path]], options: FormatOptions) -> list[str]:
    return list(dict.fromkeys(name for _, path in files for name in source_of(path, options).sets()))
