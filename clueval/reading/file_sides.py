"""Sides of files: how each is read, which files and documents belong together, and the answers of a run."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from functools import partial
from itertools import chain, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

from clueval.core.document import Document, MissingId
from clueval.files.errors import FileError, FormatError, UsageError, differ_in_form
from clueval.files.opening import Progress, is_file
from clueval.formats.form import Form
from clueval.formats.input_file import InputFile
from clueval.formats.options import (
    MENTIONS,
    PAIR_BY,
    FormatOptions,
    LayerColumns,
    Reading,
    chosen_options,
    columns_of_side,
)
from clueval.reading import Text, answers_in_gold, checked_texts, with_id_of
from clueval.reading.paths import (
    Files,
    Paths,
    as_path,
    files_of,
    is_in_archive,
    is_pattern,
    located,
    printable,
    require_name,
    with_equal_names,
    without_ending,
)
from clueval.reading.source import (
    FOR_ALL,
    Source,
    beside,
    form_at,
    idle_option,
    is_column_format,
    is_dialect,
    options_of,
    source_of,
)

if TYPE_CHECKING:
    from clueval.core.bag import Read


@dataclass(frozen=True, slots=True, repr=False)
class Side:
    """One named side: its files and how they are read, or, where sides may lack documents, documents in memory."""

    name: str  # its name in errors
    files: Files
    options: FormatOptions
    given: Any = None  # the path or paths that were given
    documents: Sequence[Document] = ()
    is_set: bool = False  # whether it is an annotation set, and lacks the files that do not have this set
    # whether lines of a token and a tag are one text, as for a metric of noisy texts
    is_one_text: bool = False
    # how ill-formed tags of documents in memory were treated; None: there were none
    treatment: str | None = None
    # the formats of files that were recognised with these options
    forms: dict[Path, Form] = field(default_factory=dict, compare=False)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the side without formats, which cannot be pickled: another process recognises them again."""
        return Side, tuple(getattr(self, each.name) for each in fields(self) if each.name != "forms")

    @property
    def is_list(self) -> bool:
        return isinstance(self.given, list | tuple)

    @property
    def paths(self) -> list[Path]:
        return [path for _, path in self.files]

    @property
    def first_file(self) -> Path:
        return self.files[0][1]

    @property
    def is_folder(self) -> bool:
        """Whether the files have names, which are those below a folder."""
        return bool(self.files) and self.files[0][0] is not None

    def form_at(self, path: Path) -> Form:
        """Return the format of a file of the side, which is recognised once. Raises `FormatError`."""
        if path not in self.forms:
            self.forms[path] = form_at(path, self.options, is_one_text=self.is_one_text)
        return self.forms[path]

    def source(self, path: Path, name: str | None = None, progress: Progress | None = None) -> Source:
        """Return a file of the side. Raises as `source_of` does, and `FormatError`."""
        return source_of(path, self.options, name=name, progress=progress, form=self.form_at(path))

    def with_options(self, **changes: Any) -> Side:
        """Return the side with other options; with another format, files are recognised again."""
        options = replace(self.options, **changes)
        forms = self.forms if options.format == self.options.format else {}
        return replace(self, options=options, forms=forms)


class FileGroup(NamedTuple):
    """Files of the same texts, one of each side, and the name of their documents."""

    name: str | None
    paths: tuple[Path, ...]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FileSides:
    """Sides of the same texts, which are files."""

    kind: ClassVar[Literal["paths"]] = "paths"
    listed: tuple[Side, ...]  # the sides
    # how documents are paired: None (files by relative name, documents in order), or one of `PAIR_BY`
    pair_by: str | None = None
    is_single: bool = False  # whether gold and predicted are two columns of the same files
    # ``SET:TYPE``, annotations that become a further layer of that name, where annotation sets are files'
    within: str | None = None
    # whether predicted has answers of a language model that are found by the ids of documents
    is_run: bool = False
    # is called with the number of bytes of each read
    progress: Progress | None = None

    def groups(self) -> list[FileGroup]:
        """Return the files of the same texts, paired by name; none for other ways to pair.

        Raises `FileError` and `UsageError` for files without counterparts.
        """
        if self.is_run or self.pair_by in ("id", "content"):
            return []
        return _by_name(self.listed) if self.pair_by == "name" else _in_order(self.listed)

    def sources(self, group: FileGroup) -> tuple[Source, ...]:
        """Return the files of a group."""
        counted_paths: set[Path] = set()
        sources = []
        for side, path in zip(self.listed, group.paths, strict=True):
            progress = None if path in counted_paths else self.progress  # it gets the bytes of a file once
            counted_paths.add(path)
            sources.append(self.source(side, path, group.name, progress))
        return beside(*sources)

    def source(
        self, side: Side, path: Path, name: str | None = None, progress: Progress | None = None
    ) -> Source:
        """Return a file of a side."""
        source = side.source(path, name, progress)
        if self.within is not None and source.form.has_sets:
            return replace(source, within=self.within)
        if self.is_single and side.options.token is None and is_column_format(source.form):
            columns = source.form.columns(source.again().file, side.options)
            if columns.token is None:
                return replace(source, options=replace(side.options, token=1))
        return source

    def texts(self, read: Read | None = None) -> Iterator[Text]:
        """Yield the documents of each text; `read` gets what was read of files.

        Memory holds one text and the documents that wait for those of other sides: none if all sides have the same
        documents in the same order. Raises `TextMismatch` if one file has more documents than another, `UsageError` if
        documents cannot be paired, and the errors of reading.
        """
        from clueval.core.bag import Read  # what only reads documents counts nothing

        read = Read() if read is None else read
        names = [side.name for side in self.listed]
        if self.is_run:
            texts = self._texts_with_answers(read)
        elif self.pair_by in ("id", "content"):
            streams = [self._in_turn(number, read) for number in range(len(self.listed))]
            texts = joined(streams, names, self.pair_by)
        else:
            texts = chain.from_iterable(self.texts_of(self.sources(group), read) for group in self.groups())
        return checked_texts(texts, names, read)

    def texts_of(self, sources: Sequence[Source], read: Read) -> Iterator[Text]:
        """Yield the documents of files of the same texts, in order; `read` gets what was read of them."""
        for place, documents in enumerate(zip_longest(*(source.documents() for source in sources))):
            if None in documents:
                from clueval.reading.same_text import ends_early  # only for an error

                number = next(number for number, document in enumerate(documents) if document is not None)
                ended = sources[documents.index(None)].file
                raise ends_early(ended, sources[number].file.name, documents[number], is_empty=place == 0)
            is_nameless = any(map(Source.is_nameless, sources, documents))
            gold, *others = documents
            yield (gold, *(with_id_of(gold, other, is_nameless=is_nameless) for other in others))
        for side, source in zip(self.listed, sources, strict=True):
            source.see(read, side.name)

    def _in_turn(self, number: int, read: Read) -> Iterator[Document]:
        """Yield the documents of a side with the ids from the files; a single table has the texts of the other side."""
        side = self.listed[number]
        for _, path in side.files:
            source = self.source(side, path, None, self.progress)
            if len(side.files) == 1 and source.lacks_text:
                other_side = self.listed[number == 0]
                others = tuple(self.source(other_side, other_path) for _, other_path in other_side.files)
                source = replace(source, sides=others, in_turn=True)
            has_no_ids = self.pair_by == "id" and len(side.files) > 1 and source.form.is_one_document
            for document in source.documents():
                if has_no_ids and document.id != source.file.stem:
                    raise UsageError(
                        f"documents of the format {source.form.name} have no ids",
                        file=str(path),
                        advice="pair by name or content",
                    )
                yield document
            source.see(read, side.name)

    # The answers of a run

    def _texts_with_answers(self, read: Read) -> Iterator[Text]:
        """Yield the documents of gold, each with its answer and those of further golds; memory holds all but gold's."""
        from clueval.formats.mentions import read_run, without_answer  # few corpora are answers

        gold, predicted, *golds = self.listed
        run = [
            (name, self.source(predicted, path, name, self.progress))
            for name, path in _files_with_names(predicted)
        ]
        answers = _by_id(
            predicted.name, read_run([(name, source.file) for name, source in run], predicted.options)
        )
        golds_by_id = [_by_id(side.name, self._documents(side, read)) for side in golds]
        missing = []
        for document in self._documents(gold, read):
            answer = answers.pop(document.id, None)
            if answer is None:
                missing.append(document.id)
                answer = without_answer(document.id, predicted.options)
            if not missing or predicted.options.missing is not None:
                if any(document.id not in by_id for by_id in golds_by_id):
                    raise _not_parallel("id", {gold.name: [document.id]})
                more = (by_id.pop(document.id) for by_id in golds_by_id)
                yield document, *(_moved_to(other, document) for other in (answer, *more))
        _require_answers(missing if predicted.options.missing is None else (), list(answers), predicted)
        for _, source in run:
            source.see(read, predicted.name)

    def _documents(self, side: Side, read: Read) -> Iterator[Document]:
        """Yield the documents of a side; files that are one document each have the names that answers have."""
        for name, path in _files_with_names(side):
            document_name = name if self.source(side, path).form.is_one_document else None
            source = self.source(side, path, document_name, self.progress)
            yield from source.documents()
            source.see(read, side.name)


def _by_id(side: str, documents: Iterable[Document]) -> dict[str, Document]:
    by_id: dict[str, Document] = {}
    for document in documents:
        if document.id in by_id:
            raise UsageError(
                f"{side} has {document.id!r} twice", **document.in_errors, advice="a document has one answer"
            )
        by_id[document.id] = document
    return by_id


def _require_answers(missing: Sequence[str], others: Sequence[str], side: Side) -> None:
    """Raise `UsageError` for documents without an answer, and for answers to no document; it names the first ten."""
    from clueval.formats.mentions import SHOWN

    problems = [
        f"{len(ids)} {plural if len(ids) > 1 else singular}: {', '.join(map(repr, ids[:SHOWN]))}"
        + (", ..." if len(ids) > SHOWN else "")
        for ids, singular, plural in (
            (missing, "document has no answer", "documents have no answer"),
            (others, "answer is to no document", "answers are to no document"),
        )
        if ids
    ]
    if problems:
        more = "" if others else ", or count documents without an answer as empty with missing='empty'"
        advice = f"answers need the ids of documents, in their rows or as the names of their files{more}"
        raise UsageError("; ".join(problems), file=str(side.given)[:300], advice=advice)


# Opening


def sides_of_files(
    inputs: Mapping[str, Any],
    readings: Sequence[Reading],
    layers: LayerColumns | None,
    pair_by: str | None,
    is_one_text: bool,
    within: str | None,
    progress: Progress | None,
) -> FileSides:
    """Return sides that are files, as `clueval.results.texts.sides_of` does."""
    names = list(inputs)
    is_single = len(inputs) > 1 and inputs[names[1]] is None
    if is_single:
        inputs = {**inputs, names[1]: inputs[names[0]]}
    both_columns = is_single and readings[0].annotation_set is None
    files = [files_of_side(side) for side in inputs.values()]
    layers = _with_whole_names(layers, files[0][0][1], readings[0])
    options = [
        FormatOptions.of(
            reading,
            columns_of_side(layers, min(number, 1), both_columns),
            unplaced=number == 1,
            keeps_unannotated=True,
        )
        for number, reading in enumerate(readings)
    ]
    listed = [
        Side(*values, is_one_text=is_one_text)
        for values in zip(names, files, options, inputs.values(), strict=True)
    ]
    forms = _forms_of(listed)
    if len(listed) > 1:
        if forms[0] is not None and forms[0].name == MENTIONS:
            raise answers_in_gold(names[0], str(listed[0].first_file))
        if _has_answers(listed[0], listed[1], forms[1], pair_by):
            listed[1] = listed[1].with_options(input=MENTIONS)
    is_run = len(listed) > 1 and _is_run(listed[0], listed[1], pair_by)
    sides = FileSides(tuple(listed), pair_by, both_columns, within, is_run, progress)
    if pair_by is None:
        sides.groups()  # refuses files without counterparts first
    if all(reading == readings[0] for reading in readings):
        require_use(options[0], listed)
    else:
        for side_options, side in zip(options, listed, strict=True):
            require_use(side_options, [side])
    if layers is not None:
        return sides
    if not both_columns:
        return replace(sides, listed=_with_columns(sides.listed, forms))
    from clueval.reading.tag_columns import require_two_tag_columns  # few calls need it

    plain = listed[0].with_options(layers=None)
    require_two_tag_columns(sides.source(plain, path) for _, path in files[0])
    return sides


def _with_whole_names(layers: LayerColumns | None, file: Path, reading: Reading) -> LayerColumns | None:
    """Return the layers with one source in place of a pair that is the name of a column, as ``PARSEME:NE``."""
    pairs = {
        layer: f"{sources[0]}:{sources[1]}"
        for layer, sources in (layers or {}).items()
        if isinstance(sources, tuple) and all(isinstance(source, str) for source in sources)
    }
    if layers is None or not pairs:
        return layers
    from clueval.formats.column_format import place_of  # few layers are pairs of names

    options = FormatOptions.of(reading, layers={})
    form = form_at(file, options)
    names = form.columns(InputFile(file), options).names if is_column_format(form) else ()
    return {**layers, **{layer: name for layer, name in pairs.items() if place_of(name, names) is not None}}


def _forms_of(sides: Sequence[Side]) -> list[Form | None]:
    """Return the format of the first file of each side; None if it is not recognised, which opening the file says."""
    forms: list[Form | None] = [None for _ in sides]
    for number, side in enumerate(sides):
        with suppress(FormatError):
            forms[number] = side.form_at(side.first_file)
    return forms


def with_layers(sides: Sequence[Side]) -> tuple[Side, ...]:
    """Return the sides with the columns of tags as layers if there are column files that do not say them."""
    return _with_columns(sides, _forms_of(sides))


def _with_columns(sides: Sequence[Side], forms: Iterable[Form | None]) -> tuple[Side, ...]:
    if not any(form is not None and is_column_format(form) for form in forms):
        return tuple(sides)
    from clueval.reading.tag_columns import with_columns_of_tags  # other formats do not need it

    options = with_columns_of_tags(
        [side.options for side in sides],
        [map(side.source, side.paths) for side in sides],
        [side.first_file.name for side in sides],  # standard input has a path that is not the user's
    )
    return tuple(replace(side, options=new) for side, new in zip(sides, options, strict=True))


def files_of_side(side: Paths) -> Files:
    """Return the names and paths of the files of one side; the name of a file of a list is its path."""
    if not isinstance(side, list | tuple):
        return files_of(as_path(side))
    paths = [located(as_path(path)) for path in side]
    for path in paths:
        if not is_file(path):
            require_name(path)
            raise FileError(
                "there is no such file",
                file=str(path)[:300],
                advice="a list of strings is a list of files, or of tags such as 'B-PER'",
            )
    return [(printable(str(path)), path) for path in paths]


def require_use(options: FormatOptions, sides: Iterable[Side]) -> None:
    """Raise `UsageError` for an option that is set but applies to the format of no file of these sides.

    Files are opened until each option applies to one of them; if no option is set, none is opened.
    """
    idle = [name for name in chosen_options(options) if name not in FOR_ALL]
    forms: dict[str, Path] = {}
    for side in sides:
        for path in side.paths:
            if not idle:
                return
            form = side.form_at(path)
            forms.setdefault(form.name, path)
            idle = [name for name in idle if name not in options_of(form)]
    if idle and forms:
        raise idle_option(idle[0], getattr(options, idle[0]), list(forms), str(next(iter(forms.values()))))


def _has_answers(gold: Side, predicted: Side, form: Form | None, pair_by: str | None) -> bool:
    """Return whether predicted has answers: by its format, or by the first file of a folder beside a file."""
    if form is not None and (form.name == MENTIONS or is_dialect(form)):
        return form.name == MENTIONS
    is_beside_file = predicted.is_folder and not (predicted.is_list or gold.is_folder or gold.is_list)
    if not is_beside_file or pair_by is not None or predicted.options.format is not None:
        return False
    from clueval.formats.mentions import read_run  # few predictions are folders beside a file

    first = "", InputFile(predicted.first_file, predicted.options.limits)
    with suppress(FormatError):
        return any(any(answer.layers.values()) for answer in read_run([first], predicted.options))
    return False


def _is_run(gold: Side, predicted: Side, pair_by: str | None) -> bool:
    """Return whether predicted has answers found by ids: in a folder, unless gold has files of the same names."""
    if predicted.options.input != MENTIONS or pair_by not in (None, "id"):
        return False
    if pair_by == "id" or predicted.options.missing is not None:
        return True
    if predicted.is_list or not predicted.is_folder:
        return False
    return not gold.is_folder or gold.form_at(gold.first_file).is_one_document


# Files that belong together


def _in_order(sides: Sequence[Side]) -> list[FileGroup]:
    """Return the n-th files of sides that are all lists, or the files of all sides with equal names."""
    first, *others = sides
    for other in others:
        _require_alike(first, other)
    if first.is_list:
        names = [name for name, _ in with_equal_names([first.files])[0]]
        paths = zip(*([path for _, path in side.files] for side in sides), strict=True)
        return [FileGroup(name, group_paths) for name, group_paths in zip(names, paths, strict=True)]
    by_name = [dict(files) for files in with_equal_names([side.files for side in sides])]
    for side, side_paths in zip(others, by_name[1:], strict=True):
        for name in sorted(by_name[0].keys() ^ side_paths.keys(), key=str):
            is_missing = name in by_name[0]
            missing, present = (side, first) if is_missing else (first, side)
            path = (by_name[0] if is_missing else side_paths)[name]
            file = next(str(relative) for relative, other in present.files if other == path)
            are_alike = name == file != without_ending(file)
            others_of_missing = side_paths if is_missing else by_name[0]
            in_form = any(differ_in_form(str(name), str(other_name)) for other_name in others_of_missing)
            raise FileError(
                f"has no file {file!r}, which {present.given} has",
                file=str(missing.given),
                advice="files are paired by name"
                + " with its ending, because two of a side differ in nothing else" * are_alike
                + "; see pair_by"
                + "".join(map(_within, (first, side), (side, first)))
                + ("; an empty file has no spans" if path.suffix == ".ann" else "")
                + ("; it has the name in another Unicode form (NFC, NFD)" if in_form else ""),
            )
    return [FileGroup(name, tuple(paths[name] for paths in by_name)) for name in by_name[0]]


def _within(side: Side, other: Side) -> str:
    """Return the advice to name the folder in a side whose files have the names of the other side, if it has one."""
    relative, path = side.files[0]
    folder, _, name = str(relative).partition("/")
    if [f"{folder}/{name}" for name, _ in other.files] != [name for name, _ in side.files]:
        return ""
    return f"; {folder!r} is a folder in {side.given}: give {str(path).removesuffix(f'/{name}')}"


def _require_alike(first: Side, other: Side) -> None:
    """Raise an error unless both sides are lists of as many files, both are files, or both have several by name."""
    if first.is_list != other.is_list:
        raise UsageError(
            "one side is a list of files and the other is not", advice="give two lists or two paths"
        )
    if first.is_list:
        if len(first.files) != len(other.files):
            raise UsageError(
                f"{len(first.files)} {first.name} files and {len(other.files)} {other.name} files cannot be paired",
                advice="give the same number of both",
            )
    elif first.is_folder != other.is_folder:
        folder, file = (first, other) if first.is_folder else (other, first)
        path = as_path(folder.given)
        kind = "a pattern" if is_pattern(path) else "an archive" if is_in_archive(path) else "a folder"
        raise FileError(
            f"is {kind}, but {file.given} is a file",
            file=str(folder.given),
            advice="give two files or two folders, or pair documents with pair_by='id' or pair_by='content'; "
            "input='mentions' reads a folder of answers of a language model, "
            "and masking with redacted=True one of redacted texts",
        )


def _by_name(sides: Sequence[Side]) -> list[FileGroup]:
    """Return the files with equal names, ignoring ``.gz`` and the ending before it."""
    by_name: list[dict[str, Path]] = []
    for side in sides:
        side_paths: dict[str, Path] = {}
        for relative, path in side.files:
            key = without_ending(path.name if relative is None else relative)
            if key in side_paths:
                raise UsageError(
                    f"two files of {side.name} have the name {key!r}: {side_paths[key]} and {path}",
                    advice="pair by id or content",
                )
            side_paths[key] = path
        by_name.append(side_paths)
    first = by_name[0]
    if any(paths.keys() != first.keys() for paths in by_name):
        shared = set(first).intersection(*by_name)
        alone = zip(sides, by_name, strict=True)
        raise _not_parallel("name", {side.name: sorted(paths.keys() - shared) for side, paths in alone})
    return [FileGroup(name, tuple(paths[name] for paths in by_name)) for name in first]


def _files_with_names(side: Side) -> Files:
    """Return the files of a side by the names that answers have: in a list, those of the files without folders."""
    if side.is_list:
        return [(without_ending(path.name), path) for _, path in side.files]
    return with_equal_names([side.files])[0]


# Documents that belong together


def joined(streams: Sequence[Iterable[Document]], names: Sequence[str], pair_by: str) -> Iterator[Text]:
    """Yield the documents of each text, joined by the keys of `key_of`, with the id and the positions of the first.

    Raises `UsageError` for two documents of one side with the same key, and one error that lists all without
    counterpart.
    """
    keyed_streams = [((key_of(document, pair_by), document) for document in stream) for stream in streams]
    alone: dict[str, list[str]] = {name: [] for name in names}
    for group in groups_by_key(keyed_streams, names, partial(same_key, pair_by)):
        if None not in group:
            yield tuple(document for document in with_first_id(group) if document is not None)
            continue
        for name, unpaired in zip(names, group, strict=True):
            if unpaired is not None:
                has_file = unpaired.file is not None and pair_by != "id"
                alone[name].append(f"{unpaired.id} in {unpaired.file}" if has_file else unpaired.id)
    if any(alone.values()):
        raise _not_parallel(pair_by, alone)


def groups_by_key(
    streams: Sequence[Iterable[tuple[str, Document]]],
    names: Sequence[str],
    error_of: Callable[[str, Document, str], UsageError],
) -> Iterator[tuple[Document | None, ...]]:
    """Yield the documents of all sides with the same key, in the order of the first side, then of the second.

    Once the first side has a document that another lacks, all others wait for the end, where this is known. A side has
    None where it lacks a document. Raises what `error_of` returns for two documents of one side with the
    same key: it takes the side, the document and the id of the other.
    """
    waiting: dict[str, list[Document | None]] = {}
    ids: list[dict[str, str]] = [{} for _ in streams]
    first_keys = deque[str]()
    for row in zip_longest(*streams):
        for number, keyed in enumerate(row):
            if keyed is None:
                continue
            key, document = keyed
            if key in ids[number]:
                raise error_of(names[number], document, ids[number][key])
            ids[number][key] = document.id
            text = waiting.setdefault(key, [None] * len(streams))
            text[number] = document
            if number == 0:
                first_keys.append(key)
        while first_keys and None not in waiting[first_keys[0]]:
            yield tuple(waiting.pop(first_keys.popleft()))
    for keys in ids:
        yield from (tuple(waiting.pop(key)) for key in keys if key in waiting)


def with_first_id(text: Sequence[Document | None]) -> tuple[Document | None, ...]:
    """Return the documents of a text with the id of the first, and its first position if they have the same unit."""
    first = next(document for document in text if document is not None)
    return tuple(document if document is None else _moved_to(document, first) for document in text)


def _moved_to(document: Document, first: Document) -> Document:
    moved = document.from_position(first.start) if first.unit == document.unit else document
    return moved if moved.id == first.id else replace(moved, id=first.id)


def key_of(document: Document, pair_by: str | None) -> str:
    """Return the key by which a document is paired: its id, the name of its file, or what its text has.

    The content is the SHA-256 of the text without white space, which tokens and the text that they come from share.
    """
    if pair_by in (None, "id"):
        return document.id
    if pair_by == "name":
        return without_ending(Path(document.file or document.id).name)
    text = document.text
    if text is None and document.tokens is not None:
        text = "".join(document.tokens)
    if text is None:
        raise UsageError(
            "the document has no text to pair it by", **document.in_errors, advice="pair by id or name"
        )
    from hashlib import sha256  # loads OpenSSL, so it is imported only here

    return sha256("".join(text.split()).encode("utf-8", "surrogatepass")).hexdigest()


def same_key(pair_by: str, side: str, document: Document, other_id: str) -> UsageError:
    """Return the error for two documents of one side with the same key."""
    what = {"id": "id", "name": "file name", "content": "content"}[pair_by]
    whose = "another document" if other_id == document.id else f"document {other_id!r}"
    problem = f"has the same {what} as {whose} of {side}"
    if pair_by == "id" and isinstance(document.id, MissingId):
        problem = f"has no id, and its number in its file is that of another document of {side}"
        advice = (
            "leave out pair_by: files are paired by name, and their documents in order; or pair by content"
        )
    elif pair_by == "content" and other_id == document.id:
        advice = "they have the same id, too, so nothing tells them apart; leave one of them out"
    else:
        advice = f"pair by {' or '.join(way for way in PAIR_BY if way != pair_by)}"
    return UsageError(problem, **document.in_errors, advice=advice)


_LISTED = 50
"""The number of documents without counterpart that an error names for each side; it counts the others."""


def _not_parallel(pair_by: str | None, alone: Mapping[str, Sequence[str]]) -> UsageError:
    """Return the error for documents or files that not every side has, by side."""
    parts = []
    for side, names in alone.items():
        if names:
            more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
            parts.append(f"only {side} has {', '.join(map(repr, names[:_LISTED]))}{more}")
    return UsageError(
        f"the documents cannot be paired by {pair_by}: {'; '.join(parts)}",
        advice="every document must be on both sides"
        + ("" if pair_by == "content" else "; pair_by='content' pairs those with the same text"),
    )
