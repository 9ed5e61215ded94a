"""The sides of a corpus, each with a name, and their documents side by side: of files, or in memory.

Gold and predicted, several golds, several systems and several annotators are sides. This is how they are read:

>>> from clueval.formats.options import Reading
>>> sides = sides_of({"gold": [["B-PER", "O"]], "predicted": [["O", "B-PER"]]}, [Reading(), Reading()])
>>> [[document.layers["label"][0].start for document in text] for text in sides.texts()]
[[0, 1]]

`sides_of` settles what each side is and how it is read (layers, columns of tags, options that do not apply), before a
document is read. `Sides.texts` yields a tuple for each text with the document of each side, in their order. What was
read is added to a `Read`. `joined` pairs the documents of
sides that may lack some, as annotators do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from clueval.core.document import Document, same_id
from clueval.core.read import Read
from clueval.files.errors import FileError, FormatError, UsageError
from clueval.files.opening import Progress, is_file
from clueval.formats.documents import is_column_format
from clueval.formats.form import Form
from clueval.formats.options import FormatOptions, Reading
from clueval.reading.options import (
    ANSWER_FORMATS,
    MENTIONS,
    PAIR_BY,
    LayerColumns,
    chosen_options,
    columns_of_side,
    require_none,
    require_pair_by,
    require_scheme,
    without_answers,
)
from clueval.reading.paths import (
    Files,
    Paths,
    as_path,
    files_of,
    is_path_or_paths,
    located,
    printable,
    with_equal_names,
    without_ending,
)
from clueval.reading.same_text import ends_early, require_same_text
from clueval.reading.source import (
    FOR_ALL,
    Source,
    beside,
    form_at,
    formats_that_read,
    options_of,
    source_of,
)

if TYPE_CHECKING:
    from clueval.reading.memory import Given, GivenSide

Text = tuple[Document, ...]
"""The documents of one text, one for each side."""


@dataclass(frozen=True, slots=True)
class Side:
    """One side: its name in errors, its files with their names, how they are read, and the path or paths given."""

    name: str
    files: Files
    options: FormatOptions
    given: Any = None


class FileGroup(NamedTuple):
    """Files of the same texts, one of each side, and the name of their documents."""

    name: str | None
    paths: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class Sides:
    """Sides of the same texts.

    Attributes:
        listed: the sides, if they are files.
        pair_by: how documents are paired: None (files by relative name, documents in order), or one of `PAIR_BY`.
        is_one_text: whether lines of a token and a tag are one text, as for a metric of noisy texts.
        is_single: whether gold and predicted are two columns of the same files.
        within: ``SET:TYPE``, annotations that become a further layer of that name, where annotation sets are files'.
        is_run: whether predicted has answers of a language model that are found by the ids of documents.
        given: the sides, if they are in memory.
        progress: is called with the number of bytes of each read.
    """

    listed: tuple[Side, ...]
    pair_by: str | None = None
    is_one_text: bool = False
    is_single: bool = False
    within: str | None = None
    is_run: bool = False
    given: Given | None = None
    progress: Progress | None = field(default=None, compare=False)

    @property
    def names(self) -> list[str]:
        return [side.name for side in self.listed]

    @property
    def kind(self) -> str:
        """What was given: ``paths``, ``tags``, ``spans`` or ``documents``."""
        return "paths" if self.given is None else self.given.kind

    def without_files(self) -> Sides:
        """Return how the sides are read, without the files, for other processes."""
        return replace(self, listed=tuple(replace(side, files=[], given=None) for side in self.listed))

    def with_absolute_texts(self) -> Sides:
        """Return the sides with absolute paths of the texts of tables."""
        listed = [
            side
            if side.options.text_path is None
            else replace(side, options=replace(side.options, text=side.options.text_path.absolute()))
            for side in self.listed
        ]
        return replace(self, listed=tuple(listed))

    def texts(self, read: Read | None = None) -> Iterator[Text]:
        """Yield the documents of each text; `read` gets what was read of files.

        Memory holds one text and the documents that wait for those of other sides: none if all sides have the same
        documents in the same order. Raises `TextMismatch` if one file has more documents than another, `UsageError` if
        documents cannot be paired, and the errors of reading.
        """
        if self.given is not None:
            return self._in_memory()
        return self._of_files(Read() if read is None else read)

    # Files

    def groups(self) -> list[FileGroup]:
        """Return the files of the same texts, paired by name; with one group, without names, for other ways to pair.

        Raises `FileError` and `UsageError` for files without counterparts.
        """
        if self.is_run or self.pair_by in ("id", "content"):
            return []
        return _by_name(self.listed) if self.pair_by == "name" else _in_order(self.listed)

    def sources(self, group: FileGroup) -> tuple[Source, ...]:
        """Return the files of a group."""
        seen: set[Path] = set()
        sources = []
        for side, path in zip(self.listed, group.paths, strict=True):
            progress = None if path in seen else self.progress  # it gets the bytes of a file once
            seen.add(path)
            sources.append(self.source(side, path, group.name, progress))
        return beside(*sources)

    def source(
        self, side: Side, path: Path, name: str | None = None, progress: Progress | None = None
    ) -> Source:
        """Return a file of a side."""
        found = source_of(path, side.options, name=name, progress=progress, is_one_text=self.is_one_text)
        if self.within is not None and found.form.has_sets:
            return replace(found, within=self.within)
        if self.is_single and side.options.token is None and is_column_format(found.form):
            of_file = found.form.columns(found.again().file.blocks, found.file.name, side.options)
            if of_file.token is None:
                return replace(found, options=replace(side.options, token=1))
        return found

    def texts_of(self, sources: Sequence[Source], read: Read) -> Iterator[Text]:
        """Yield the documents of files of the same texts, in order; `read` gets what was read of them."""
        nameless = any(source.form.is_one_document for source in sources)
        for found in _documents_of(sources):
            gold, *others = _all_of(sources, found)
            yield (gold, *(with_id_of(gold, other, is_nameless=nameless) for other in others))
        for side, source in zip(self.listed, sources, strict=True):
            source.see(read, side.name)

    def _of_files(self, read: Read) -> Iterator[Text]:
        if self.is_run:
            yield from self._checked(self._answered(read))
            return
        if self.pair_by in ("id", "content"):
            yield from self._checked(self._joined([self._in_turn(n, read) for n in range(len(self.listed))]))
            return
        for group in self.groups():
            yield from self._checked(self.texts_of(self.sources(group), read))

    def _in_turn(self, number: int, read: Read) -> Iterator[Document]:
        """Yield the documents of all files of a side with the ids from the files.

        A single table of spans without a text has the texts of all files of the other side.
        """
        side = self.listed[number]
        for _, path in side.files:
            source = self.source(side, path, None, self.progress)
            if len(side.files) == 1 and source.lacks_text:
                other = self.listed[number == 0]
                others = tuple(self.source(other, each) for _, each in other.files)
                source = replace(source, sides=others, in_turn=True)
            for document in source.documents():
                if self.pair_by == "id" and len(side.files) > 1 and source.form.is_one_document:
                    _require_name_of_file(document, path, source.form)
                yield document
            source.see(read, side.name)

    def _documents(self, side: Side, files: Files, read: Read) -> Iterator[Document]:
        for name, path in files:
            source = self.source(side, path, name, self.progress)
            yield from source.documents()
            source.see(read, side.name)

    def _answered(self, read: Read) -> Iterator[Text]:
        """Yield the documents of gold, each with its answer and those of further golds; memory holds all but gold's."""
        from clueval.formats.mentions import read_run, without_answer  # few corpora are answers

        gold, predicted, *golds = self.listed
        run = [(name, self.source(predicted, path, name, self.progress)) for name, path in _named(predicted)]
        files = [(name, source.file) for name, source in run]
        answers = _by_id(predicted.name, read_run(files, predicted.options))
        others = [_by_id(side.name, self._documents(side, self._files_by_id(side), read)) for side in golds]
        missing = []
        for document in self._documents(gold, self._files_by_id(gold), read):
            answer = answers.pop(document.id, None)
            if answer is None:
                missing.append(document.id)
                answer = without_answer(document.id, predicted.options)
            if not missing or predicted.options.missing is not None:
                if any(document.id not in each for each in others):
                    raise _not_parallel("id", {gold.name: [document.id]})
                more = (each.pop(document.id) for each in others)
                yield document, *(_moved_to(each, document) for each in (answer, *more))
        _require_answers(missing if predicted.options.missing is None else (), list(answers), predicted)
        if missing:
            run[0][1].file.passed_over["documents without an answer"] = len(missing)
        for _, source in run:
            source.see(read, predicted.name)

    def _files_by_id(self, side: Side) -> Files:
        """Return the files of a side; those that are one document each have the names that answers have."""
        return [
            (name if self.source(side, path).form.is_one_document else None, path)
            for name, path in _named(side)
        ]

    # Pairing

    def _joined(self, streams: Sequence[Iterable[Document]]) -> Iterator[Text]:
        """Yield the documents of all sides, joined by the keys of `key_of`."""
        keyed = [((key_of(document, self.pair_by), document) for document in stream) for stream in streams]
        for text in joined(keyed, self.names, self.pair_by):
            yield tuple(document for document in text if document is not None)

    def _checked(self, texts: Iterable[Text]) -> Iterator[Text]:
        """Yield texts; of more than two sides, those after the second must have the text of the first."""
        for text in texts:
            for name, document in zip(self.names[2:], text[2:], strict=True):
                require_same_text(text[0], document, (self.names[0], name))
            yield text

    def _in_memory(self) -> Iterator[Text]:
        assert self.given is not None
        options = [side.options for side in self.listed]
        if self.pair_by is None:
            yield from self._checked(self.given.documents(options))
            return
        if any(side.kind != "documents" for side in self.given.sides):
            raise UsageError(
                f"pair_by={self.pair_by!r} pairs documents, not lists of spans", advice="leave out pair_by"
            )
        yield from self._checked(self._joined([side.items for side in self.given.sides]))


# Opening


def sides_of(
    given: Mapping[str, Any],
    readings: Sequence[Reading],
    layers: LayerColumns | None = None,
    *,
    pair_by: str | None = None,
    is_one_text: bool = False,
    within: str | None = None,
    progress: Progress | None = None,
) -> Sides:
    """Return the sides that are given by their names in errors, and how each is read.

    Args:
        given: by name, files as `clueval.reading.paths` describes them, or what is in memory
            (`clueval.reading.memory`). All sides are files, or all are in memory. A second side that is None is
            in other columns, or another annotation set, of the files of the first.
        readings: the options of each side; those of the last count for further sides.
        layers: the name and the source of each layer, or the sources of the first side and of the others as a pair.
        pair_by, is_one_text, within, progress: as in `Sides`.

    Mentions of the second side that have no place are spans.

    No document is read, but the first lines of column files for which no layers are named. Raises `UsageError` for
    sides that do not go together, and for an option that applies to none of their formats; `FileError`.
    """
    require_pair_by(pair_by)
    names = list(given)
    readings = [readings[min(number, len(readings) - 1)] for number in range(len(names))]
    others = [each for each in given.values() if each is not None]
    if not others or not all(map(is_path_or_paths, others)):
        return _sides_in_memory(given, readings, layers, pair_by)
    is_single = len(given) > 1 and given[names[1]] is None
    if is_single:
        given = {**given, names[1]: given[names[0]]}
    both_columns = is_single and readings[0].annotation_set is None
    options = _options_of_sides(readings, layers, both_columns)
    files = [files_of_side(side) for side in given.values()]
    listed = tuple(Side(*each) for each in zip(names, files, options, given.values(), strict=True))
    forms = _forms_of(listed, is_one_text=is_one_text)
    listed = _with_answers(listed, forms)
    found = Sides(
        listed,
        pair_by,
        is_one_text,
        both_columns,
        within,
        len(listed) > 1 and _is_run(listed, pair_by),
        progress=progress,
    )
    paths = [[path for _, path in each] for each in files]
    if pair_by is None:
        found.groups()  # refuses files without counterparts first
    if all(each == readings[0] for each in readings):
        require_use(options[0], [path for each in paths for path in each], is_one_text=is_one_text)
    else:
        for each, of_side in zip(options, paths, strict=True):
            require_use(each, of_side, is_one_text=is_one_text)
    if both_columns:
        if layers is None:
            from clueval.reading.tag_columns import require_two_tag_columns  # few calls need it

            plain = Side(names[0], files[0], replace(options[0], layers=None))
            require_two_tag_columns(found.source(plain, path) for path in paths[0])
        return found
    if layers is not None:
        return found
    return replace(found, listed=_with_columns(found.listed, forms))


def _options_of_sides(
    readings: Iterable[Reading], layers: LayerColumns | None, is_single: bool
) -> list[FormatOptions]:
    return [
        FormatOptions.of(each, columns_of_side(layers, min(number, 1), is_single), unplaced=number == 1)
        for number, each in enumerate(readings)
    ]


def _forms_of(sides: Sequence[Side], *, is_one_text: bool) -> list[Form | None]:
    """Return the format of the first file of each side; None if it is not recognised, which opening the file says."""

    def form_of(side: Side) -> Form | None:
        try:
            return form_at(side.files[0][1], side.options, is_one_text=is_one_text)
        except FormatError:
            return None

    return [form_of(side) for side in sides]


def _with_answers(sides: Sequence[Side], forms: Sequence[Form | None]) -> tuple[Side, ...]:
    """Return the sides; the format of predicted is named if it has answers. Raises `UsageError` if gold has answers."""
    gold, *others = sides
    are_answers = [form is not None and form.name == MENTIONS for form in forms]
    if are_answers[0] and others:
        raise _answers_in_gold(gold.name, str(gold.files[0][1]))
    if others and are_answers[1]:
        others[0] = replace(others[0], options=replace(others[0].options, input=MENTIONS))
    return (gold, *others)


def _answers_in_gold(side: str, file: str | None) -> UsageError:
    return UsageError(
        f"{side} has answers of a language model, which have no text",
        file=file,
        advice="give gold with texts and spans; rows with other keys need row='text=...,spans=...'",
    )


def with_layers(sides: Sequence[Side]) -> tuple[Side, ...]:
    """Return the sides with the columns of tags as layers if there are column files that do not say them."""
    return _with_columns(sides, _forms_of(sides, is_one_text=False))


def _with_columns(sides: Sequence[Side], forms: Iterable[Form | None]) -> tuple[Side, ...]:
    if not any(form is not None and is_column_format(form) for form in forms):
        return tuple(sides)
    from clueval.reading.tag_columns import with_columns_of_tags  # other formats do not need it

    paths = [[path for _, path in side.files] for side in sides]
    options = with_columns_of_tags([side.options for side in sides], paths)
    return tuple(replace(side, options=each) for side, each in zip(sides, options, strict=True))


def _sides_in_memory(
    given: Mapping[str, Any],
    readings: Sequence[Reading],
    layers: LayerColumns | None,
    pair_by: str | None,
) -> Sides:
    from clueval.reading.memory import as_examples, given_sides  # not needed for files

    first = next(iter(given))
    missing = [name for name, each in given.items() if each is None and name != first]
    if missing:
        given = {**given, **dict(zip((first, *missing), as_examples(given[first]), strict=False))}
    answers = any(reading.input in ANSWER_FORMATS for reading in readings[1:])
    readings = [without_answers(readings[0]) if answers else readings[0], *readings[1:]]
    options = _options_of_sides(readings, layers, False)
    found = given_sides(given, options)
    if pair_by is not None and len(given) > 2:
        raise UsageError("several golds in memory are in the same order", advice="leave out pair_by")
    for side, each in zip(found.sides, options, strict=True):
        _require_use_in_memory(side, found.kind, each)
    are_answers = [side.form is not None and side.form.name == MENTIONS for side in found.sides[:2]]
    if are_answers[0]:
        raise _answers_in_gold(found.sides[0].name, None)
    options[1:2] = [
        replace(options[1], input=MENTIONS) if is_one else options[1] for is_one in are_answers[1:]
    ]
    listed = tuple(Side(name, [], each, given[name]) for name, each in zip(given, options, strict=True))
    return Sides(listed, pair_by, given=found)


def files_of_side(side: Paths) -> Files:
    """Return the names and paths of the files of one side; the name of a file of a list is its path."""
    if not isinstance(side, list | tuple):
        return files_of(as_path(side))
    paths = [located(as_path(path)) for path in side]
    for path in paths:
        if not is_file(path):
            raise FileError(
                "there is no such file",
                file=str(path)[:300],
                advice="a list of strings is a list of files, or of tags such as 'B-PER'",
            )
    return [(printable(str(path)), path) for path in paths]


def require_use(options: FormatOptions, paths: Iterable[Path], *, is_one_text: bool = False) -> None:
    """Raise `UsageError` for an option that is set but applies to the format of no file.

    Files are opened until each option applies to one of them; if no option is set, none is opened.
    """
    idle = [name for name in chosen_options(options) if name not in FOR_ALL]
    forms: dict[str, Path] = {}
    for path in paths if idle else ():
        form = form_at(path, options, is_one_text=is_one_text)
        forms.setdefault(form.name, path)
        idle = [name for name in idle if name not in options_of(form)]
        if not idle:
            return
    for name in idle if forms else ():
        raise _idle(name, getattr(options, name), list(forms), str(next(iter(forms.values()))))


def _require_use_in_memory(side: GivenSide, kind: str, options: FormatOptions) -> None:
    """Raise `UsageError` for an option that does not apply to what is in memory."""
    if side.form is not None:
        from clueval.files.names import in_memory  # only for options

        names = (name for name in chosen_options(options) if name not in FOR_ALL)
        for name in names:
            if name not in options_of(side.form):
                error = _idle(name, getattr(options, name), [side.form.name], None)
                error.advice = in_memory(name) or error.advice
                raise error
        return
    require_none(options, ("scheme", "invalid") if kind == "tags" else ())
    if kind == "tags":
        require_scheme(options.scheme, options.invalid)


def _idle(name: str, value: Any, forms: Sequence[str], file: str | None) -> UsageError:
    """Return the error for an option that applies to none of these formats."""
    value = str(value) if isinstance(value, Path) else list(value) if isinstance(value, tuple) else value
    filters = "; where='label=PER' counts only spans with this label" * (name == "labels")
    return UsageError(
        f"Reading.{name}={value!r} does not apply to the format {' or '.join(forms)}",
        file=file,
        advice=f"remove it; it applies to {', '.join(formats_that_read(name)) or 'JSON rows'}{filters}",
    )


# Files that belong together


def _in_order(sides: Sequence[Side]) -> list[FileGroup]:
    """Return the n-th files of sides that are all lists, or the files of all sides with equal names."""
    first, *others = sides
    for other in others:
        _require_alike(first, other)
    if _is_list(first):
        names = [name for name, _ in with_equal_names([first.files])[0]]
        paths = zip(*([path for _, path in side.files] for side in sides), strict=True)
        return [FileGroup(name, each) for name, each in zip(names, paths, strict=True)]
    own, *by_name = map(dict, with_equal_names([side.files for side in sides]))
    for side, of_side in zip(others, by_name, strict=True):
        for name in sorted(own.keys() ^ of_side.keys(), key=str):
            missing, there, files = (side, first, own) if name in own else (first, side, of_side)
            ending = files[name].suffix
            raise FileError(
                f"has no file {str(name).removesuffix(ending) + ending!r}, which {there.given} has",
                file=str(missing.given),
                advice="files are paired by name; see pair_by"
                + ("; an empty file has no spans" if ending == ".ann" else ""),
            )
    return [FileGroup(name, (path, *(each[name] for each in by_name))) for name, path in own.items()]


def _is_list(side: Side) -> bool:
    return isinstance(side.given, list | tuple)


def _require_alike(first: Side, other: Side) -> None:
    """Raise an error unless both sides are lists of as many files, both are files, or both have several by name."""
    if _is_list(first) != _is_list(other):
        raise UsageError(
            "one side is a list of files and the other is not", advice="give two lists or two paths"
        )
    if _is_list(first):
        if len(first.files) != len(other.files):
            raise UsageError(
                f"{len(first.files)} {first.name} files and {len(other.files)} {other.name} files cannot be paired",
                advice="give the same number of both",
            )
        return
    several = [side for side in (first, other) if side.files and side.files[0][0] is not None]
    if len(several) == 1:
        (folder,), (file,) = several, [side for side in (first, other) if side not in several]
        raise FileError(
            f"is a folder, but {file.given} is a file",
            file=str(folder.given),
            advice="give two files or two folders, or pair documents with pair_by='id' or pair_by='content'",
        )


def _by_name(sides: Sequence[Side]) -> list[FileGroup]:
    """Return the files with equal names, ignoring ``.gz`` and the ending before it."""
    found: list[dict[str, Path]] = []
    for side in sides:
        of_side: dict[str, Path] = {}
        for relative, path in side.files:
            key = without_ending(path.name if relative is None else relative)
            if key in of_side:
                raise UsageError(
                    f"two files of {side.name} have the name {key!r}: {of_side[key]} and {path}",
                    advice="pair by id or content",
                )
            of_side[key] = path
        found.append(of_side)
    if any(each.keys() != found[0].keys() for each in found):
        shared = set(found[0]).intersection(*found)
        raise _not_parallel(
            "name", {side.name: sorted(each.keys() - shared) for side, each in zip(sides, found, strict=True)}
        )
    return [FileGroup(name, tuple(each[name] for each in found)) for name in found[0]]


def _named(side: Side) -> Files:
    """Return the files of a side by the names that answers have: in a list, those of the files without folders."""
    if _is_list(side):
        return [(without_ending(path.name), path) for _, path in side.files]
    return with_equal_names([side.files])[0]


def _is_run(sides: Sequence[Side], pair_by: str | None) -> bool:
    """Return whether predicted has answers that are found by ids: in a folder, unless gold has files of the same names.

    Where a file of gold is one document, the file of the same name has one answer.
    """
    gold, predicted, *_ = sides
    if predicted.options.input != MENTIONS or pair_by not in (None, "id"):
        return False
    if pair_by == "id" or predicted.options.missing is not None:
        return True
    if _is_list(predicted) or predicted.files[0][0] is None:
        return False
    if gold.files[0][0] is None:
        return True
    return form_at(gold.files[0][1], gold.options).is_one_document


# Documents that belong together


def _by_id(side: str, documents: Iterable[Document]) -> dict[str, Document]:
    found: dict[str, Document] = {}
    for document in documents:
        if document.id in found:
            raise UsageError(
                f"{side} has {document.id!r} twice", **document.in_errors, advice="a document has one answer"
            )
        found[document.id] = document
    return found


def _require_answers(missing: Sequence[str], others: Sequence[str], side: Side) -> None:
    """Raise `UsageError` for documents without an answer, and for answers to no document; it names the first ten."""
    from clueval.formats.mentions import SHOWN

    problems = [
        f"{len(ids)} {what if len(ids) > 1 else one}: {', '.join(map(repr, ids[:SHOWN]))}"
        + (", ..." if len(ids) > SHOWN else "")
        for ids, one, what in (
            (missing, "document has no answer", "documents have no answer"),
            (others, "answer is to no document", "answers are to no document"),
        )
        if ids
    ]
    if problems:
        more = "" if others else ", or count documents without an answer as empty with missing='empty'"
        advice = f"answers need the ids of documents, in their rows or as the names of their files{more}"
        raise UsageError("; ".join(problems), file=str(side.given)[:300], advice=advice)


def with_id_of(first: Document, other: Document, *, is_nameless: bool = False) -> Document:
    """Return a document with the id of the first of its text if one has none; `is_nameless`: in any case."""
    if first.id == other.id or not (is_nameless or same_id(first.id, other.id)):
        return other
    return replace(other, id=first.id)


def _documents_of(sources: Sequence[Source]) -> Iterator[tuple[Any, ...]]:
    """Yield the n-th documents of all files; column files are read together as long as this is possible."""
    number = 0
    if len(sources) > 1 and all(is_column_format(source.form) for source in sources):
        from clueval.reading.column_texts import column_texts  # other formats do not need it
        from clueval.reading.usual import Unusual

        together = [source.anew() for source in sources]
        try:
            for text in column_texts(together):
                yield text
                number += 1
        except Unusual:  # documents say what is wrong, if anything is
            pass
        else:
            for source, other in zip(sources, together, strict=True):
                source.file.passed_over.update(other.file.passed_over)
                source.file.sources.update(other.file.sources)
            return
    yield from islice(zip_longest(*(source.documents() for source in sources)), number, None)


def _all_of(sources: Sequence[Source], found: Sequence[Document | None]) -> Text:
    """Return the documents of all files. Raises `TextMismatch` if one file ends where another one has a document."""
    present = [(source, each) for source, each in zip(sources, found, strict=True) if each is not None]
    if len(present) < len(sources):
        (longer, document), *_ = present
        raise ends_early(sources[found.index(None)].file.name, longer.file.name, document)
    return tuple(document for _, document in present)


def _moved(text: Sequence[Document | None]) -> tuple[Document | None, ...]:
    """Return the documents of a text with the id of the first, and its first position if they have the same unit."""
    first = next(document for document in text if document is not None)
    return tuple(document if document is None else _moved_to(document, first) for document in text)


def _moved_to(document: Document, first: Document) -> Document:
    moved = document.from_position(first.start) if first.unit == document.unit else document
    return moved if moved.id == first.id else replace(moved, id=first.id)


def joined(
    streams: Sequence[Iterable[tuple[str, Document]]],
    names: Sequence[str],
    pair_by: str | None = None,
    *,
    may_lack: bool = False,
) -> Iterator[tuple[Document | None, ...]]:
    """Yield the documents of all sides, joined by their keys: complete texts at once, the others at the end.

    The documents get the id and the positions of the first. Raises `UsageError` for two documents of one side with
    the same key, and, unless sides may lack documents, one error that lists all without counterpart.
    """
    waiting: dict[str, list[Document | None]] = {}
    seen: list[dict[str, str]] = [{} for _ in streams]
    for row in zip_longest(*streams):
        for number, found in enumerate(row):
            if found is None:
                continue
            key, document = found
            if key in seen[number]:
                raise _twice(names[number], document, seen[number][key], pair_by, may_lack=may_lack)
            seen[number][key] = document.id
            text = waiting.setdefault(key, [None] * len(streams))
            text[number] = document
            if None not in text:
                yield _moved(waiting.pop(key))
    if waiting and not may_lack:
        alone = {
            name: [_called(document, pair_by) for text in waiting.values() if (document := text[number])]
            for number, name in enumerate(names)
        }
        raise _not_parallel(pair_by, alone)
    yield from map(_moved, waiting.values())


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


def _require_name_of_file(document: Document, path: Path, form: Form) -> None:
    """Raise `UsageError` if the id of a document, which its file does not give, is not the name of the file."""
    if document.id != without_ending(path.name):
        raise UsageError(
            f"documents of the format {form.name} have no ids",
            file=str(path),
            advice="pair by name or content",
        )


def _twice(side: str, document: Document, other: str, pair_by: str | None, *, may_lack: bool) -> UsageError:
    if pair_by is None or may_lack:
        return UsageError(
            f"{side} has two documents {document.id!r}",
            **document.in_errors,
            advice="each annotator may have a document once; pair_by pairs in other ways",
        )
    what = {"id": "id", "name": "file name", "content": "content"}[pair_by]
    whose = "another document" if other == document.id else f"document {other!r}"
    return UsageError(
        f"has the same {what} as {whose} of {side}",
        **document.in_errors,
        advice=f"pair by {' or '.join(way for way in PAIR_BY if way != pair_by)}",
    )


_LISTED = 50
"""The number of documents without counterpart that an error names for each side; it counts the others."""


def _called(document: Document, pair_by: str | None) -> str:
    if document.file is None or pair_by == "id":
        return document.id
    return f"{document.id} in {document.file}"


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
