"""From paths to documents: which format, which options, which files belong together."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import islice, zip_longest
from pathlib import Path

from clueval.decoding import Decoder, documents
from clueval.exceptions import CluevalError, FileError, TextMismatch, UsageError
from clueval.formats import COLUMN_FORMATS, FORMATS, format_of, spans_table
from clueval.passages import ColumnOptions, Layout, Passage
from clueval.same_text import ADVICE, first_line
from clueval.sources import Complain, Part, Progress, blocks, content, lines, raw_content, refuse
from clueval.spans import DEFAULT_LAYER, Document
from clueval.tagging import INVALID, scheme_called

LayerColumns = Mapping[str, int | tuple[int, int]]
"""Layer names and their columns, from 1 (from -1 at the end); a pair has the gold and the predicted column."""

WITH_SETS = ("gate-xml", "bdoc")
"""The formats that have several annotation sets by name."""

_TABLES = (*COLUMN_FORMATS, "spans")
_READ_BY = {
    "token": _TABLES,
    "token_id": _TABLES,
    "scheme": tuple(COLUMN_FORMATS),
    "invalid": (*COLUMN_FORMATS, "conll2000", "nerval"),
    "document_tag": ("vrt", "spans"),
    "sentence_tag": ("vrt", "spans"),
    "text": ("spans",),
    "ignore_punct": ("conll2000", "fair-spans"),
}
"""Of each option, the formats that read it; a table of spans reads its text with it."""


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How files are to be read; see `read`. `whole_text`: lines of a token and a tag are one text (Nerval).
    `annotation_set`: of the formats that have named sets. `containing`: ``SET:TYPE``, annotations that become
    a layer of that name beside it. `part`: bytes of a column file, read as if they were a file."""

    layers: Mapping[str, int] | None = None
    input: str | None = None
    token: int | None = None
    token_id: int | None = None
    scheme: str | None = None
    invalid: str = "conlleval"
    document_tag: str = "text"
    sentence_tag: str = "s"
    text: Path | None = None
    ignore_punct: bool | None = None
    whole_text: bool = False
    annotation_set: str | None = None
    containing: str | None = None
    part: Part | None = None

    def __post_init__(self) -> None:
        if self.input is not None and self.input not in FORMATS:
            raise UsageError(f"unknown format {self.input!r}", advice=f"one of {', '.join(FORMATS)}")
        if self.invalid not in INVALID:
            raise UsageError(
                f"unknown treatment of ill-formed tags {self.invalid!r}",
                advice=f"one of {', '.join(INVALID)}",
            )
        if self.scheme is not None:
            scheme_called(self.scheme)
        if self.layers is not None and not self.layers:
            raise UsageError("no layer is named", advice="name one, as in entity=2")

    def require_use(self, paths: Iterable[Path]) -> None:
        """Raise `UsageError` for an option that is set, and that the format of no file reads.

        Files are looked into until every option has its use; without such an option, none is.
        """
        idle = self._set()
        formats: dict[str, Path] = {}
        for path in paths if idle else ():
            form = _format_of(path, self)
            formats.setdefault(form, path)
            idle = [name for name in idle if form not in _READ_BY[name]]
            if not idle:
                return
        for name in idle if formats else ():
            raise UsageError(
                f"{_flag(name, getattr(self, name))} has no use in the format {' or '.join(formats)}",
                file=str(next(iter(formats.values()))),
                advice=f"leave it out; it is for {', '.join(_READ_BY[name])}",
            )

    def require_none(self) -> None:
        """Raise `UsageError` for an option that says how files are read, where there are no files."""
        for name in [*self._set(), *["input"] * (self.input is not None)]:
            raise UsageError(
                f"{name}={getattr(self, name)!r} is for files, and both sides are documents",
                advice="leave it out, or give it to read",
            )

    def _set(self) -> list[str]:
        """The options that are set and that some format does not read.

        Punctuation that is to stay where it is stays there in every format.
        """
        return [
            each.name
            for each in fields(self)
            if each.name in _READ_BY
            and getattr(self, each.name) != each.default
            and (each.name, getattr(self, each.name)) != ("ignore_punct", False)
        ]

    def decoder(self) -> Decoder:
        return Decoder(self.scheme, self.invalid)

    def has_columns_of(self, other: ReadOptions) -> bool:
        """Whether the columns of two files hold the same, whatever part of them is read."""
        return replace(self, part=None).columns() == replace(other, part=None).columns()

    def columns(self) -> ColumnOptions:
        return ColumnOptions(
            self.layers, self.token, self.token_id, self.document_tag, self.sentence_tag, self.part
        )


@dataclass(frozen=True, slots=True)
class Source:
    """One file to read: its path, its format, how to read it, and what to call it among others.

    Sources that share `read` take several annotation sets out of one document that is read once.
    """

    path: Path
    format: str
    options: ReadOptions
    name: str | None = None
    progress: Progress | None = field(default=None, compare=False)
    read: dict[Path, Document] | None = field(default=None, compare=False, repr=False)

    @property
    def has_passages(self) -> bool:
        return self.format in COLUMN_FORMATS

    def passages(self, complain: Complain = refuse) -> Iterator[Passage]:
        """The raw passages of a column format."""
        module = COLUMN_FORMATS[self.format]
        found: Iterator[Passage] = module.passages(
            self.path, self.options.columns(), name=self.name, progress=self.progress, complain=complain
        )
        return found

    def see_layout(self, layout: Layout) -> None:
        """Take note of the layout of the file's token lines, which whoever reads them some other way tells."""

    def require_both_sides(self) -> None:
        """Raise `UsageError` unless a file of this format can hold gold and predicted in two columns."""
        if not self.has_passages:
            raise UsageError(
                f"a file of the format {self.format} has one side only",
                file=str(self.path),
                advice="give PREDICTED, too",
            )

    def documents(self) -> Iterator[Document]:
        """The documents of the file, one in memory at a time."""
        if self.has_passages:
            module = COLUMN_FORMATS[self.format]
            return documents(self.passages(), lambda _: self.options.decoder(), module.sentence_id)
        if self.format == "spans":
            return spans_table.read(
                lines(self.path, self.progress), self._text(), file=str(self.path), layers=self.options.layers
            )
        if self.options.layers is not None:
            raise UsageError(
                f"the format {self.format} has one layer, called {DEFAULT_LAYER!r}, and no columns to name",
                file=str(self.path),
            )
        return map(self._named, self._of_one_layer())

    def _of_one_layer(self) -> Iterator[Document]:
        """The documents of a format that has one layer without a name."""
        numbered = lines(self.path, self.progress)
        if self.format == "fair-spans":
            from clueval.formats.fair_spans import read_fair_spans

            return read_fair_spans(numbered, file=str(self.path))
        if self.format == "conll2000":
            from clueval.formats.conll2000 import read_conll2000

            punctuation, invalid = self.options.ignore_punct is not False, self.options.invalid
            return read_conll2000(numbered, file=str(self.path), ignore_punct=punctuation, invalid=invalid)
        if self.format in WITH_SETS:
            return iter([self._of_set()])
        if self.format == "nerval":
            from clueval.formats.nerval import read_nerval

            treatment = "error" if self.options.invalid == "error" else "discard"
            return iter([read_nerval(numbered, file=str(self.path), invalid=treatment)])
        from clueval.formats.ltf import read_ltf

        return iter([read_ltf(content(self.path), file=str(self.path))])

    def _of_set(self) -> Document:
        """The document of a format with annotation sets, and the set that is asked for."""
        from clueval.metrics.gate.selection import chosen_set

        document = self.read.get(self.path) if self.read is not None else None
        if document is None:
            document = self._with_all_sets()
            if self.read is not None:
                self.read[self.path] = document
        if self.options.annotation_set is None:
            sets = ", ".join(map(repr, document.layers)) or "none"
            raise UsageError(
                "the file has named annotation sets, and for one side none is asked for",
                file=str(self.path),
                advice=f"--gold-set, --predicted-set or, of one side, --set; there are {sets}",
            )
        chosen = chosen_set(document, self.options.annotation_set)
        containing = self.options.containing
        if containing is None:
            return chosen
        set_name, colon, kind = containing.rpartition(":")
        if not colon or not kind:
            raise UsageError(
                f"{containing!r} names no containing annotations",
                advice="write it SET:TYPE, as in Key:Section",
            )
        within = chosen_set(document, set_name, (kind,), layer=containing).layers[containing]
        return replace(chosen, layers={**chosen.layers, containing: within})

    def _with_all_sets(self) -> Document:
        if self.format == "bdoc":
            from clueval.formats.bdoc import read_bdoc

            return read_bdoc(content(self.path), file=str(self.path))
        from clueval.formats.gate_xml import read_gate_xml

        return read_gate_xml(raw_content(self.path), file=str(self.path))

    def _named(self, document: Document) -> Document:
        """The document with the name of its file before its id, where there are several files."""
        if self.name is None:
            return document
        return replace(
            document,
            id=self.name if self.format in ("ltf", "nerval", *WITH_SETS) else f"{self.name}:{document.id}",
        )

    def _text(self) -> Iterator[Document]:
        """The documents of the text that belongs to a table of spans, without layers."""
        path = self.options.text or self.path.with_name(self.path.name.removesuffix(".gz")).with_suffix(
            ".vrt"
        )
        if not path.is_file():
            raise FileError(
                f"the text file {path} of this table of spans is not there",
                file=str(self.path),
                advice="lay a .vrt file of the same name beside the table, or name the text with --text",
            )
        source = source_of(path, replace(self.options, input=None, text=None), name=self.name)
        module = COLUMN_FORMATS.get(source.format)
        if module is None:
            raise FileError("is no text file for a table of spans", file=str(path), advice="VRT or CoNLL")
        columns = replace(self.options.columns(), layers={})
        return documents(
            module.passages(path, columns, name=self.name),
            lambda _: self.options.decoder(),
            module.sentence_id,
        )


def source_of(
    path: Path,
    options: ReadOptions,
    *,
    name: str | None = None,
    progress: Progress | None = None,
    read: dict[Path, Document] | None = None,
) -> Source:
    """A file with its format, which is told from its first lines if `options.input` does not name it."""
    form = _format_of(path, options)
    if options.annotation_set is not None and form not in WITH_SETS:
        raise UsageError(
            f"the format {form} has no annotation sets, and {options.annotation_set!r} is asked for",
            file=str(path),
            advice=f"sets are in {' and '.join(WITH_SETS)}",
        )
    return Source(path, form, options, name, progress, read)


def _format_of(path: Path, options: ReadOptions) -> str:
    if options.input is not None:
        return options.input
    form = format_of(path.name, _first_lines(path))
    return "nerval" if form == "conll" and options.whole_text else form


def _flag(name: str, value: object) -> str:
    """An option as a command has it, with its value."""
    if name == "ignore_punct":
        return "--ignore-punctuation" if value else "--no-ignore-punctuation"
    return f"--{name.replace('_', '-')} {value}"


def _first_lines(path: Path) -> str:
    """The first three lines of a file that are not blank, of each no more than its beginning.

    Of JSON the name that tells what it is stands in front, wherever it is: the text may come before it.
    """
    text = next((text for _, text in blocks(path, complain=_keep_quiet)), "")
    if text.lstrip("\ufeff \t\r\n").startswith("{") and '"annotation_sets"' in text:
        return '{"annotation_sets"'
    lines = [line[:2000] for line in text[:100_000].split("\n")]
    return "\n".join(islice(filter(str.strip, lines), 3))


def _keep_quiet(_: CluevalError) -> None:
    """Whoever reads the file will complain."""


def files_of(path: Path) -> list[tuple[str | None, Path]]:
    """The file, without a name, or all files below a folder with their names in it, in order of the names.

    Hidden files and folders are left out. Raises `FileError` if there is nothing to read.
    """
    try:
        if stat.S_ISDIR(path.stat().st_mode):
            names = sorted(_names_below(path))
            if not names:
                raise FileError("the folder has no files", file=str(path))
            return [(name, path / name) for name in names]
        if not stat.S_ISREG(path.stat().st_mode):
            raise FileError(
                "is no regular file", file=str(path), advice="write what comes out of a pipe to a file"
            )
    except FileNotFoundError:
        raise FileError("there is no such file or folder", file=str(path)[:300]) from None
    except OSError as error:
        raise FileError(
            f"cannot be read: {error.strerror}", file=(error.filename or str(path))[:300]
        ) from None
    return [(None, path)]


def _names_below(folder: Path) -> Iterator[str]:
    """The relative names of the files below a folder, save hidden ones; links to folders are not followed."""

    def fail(error: OSError) -> None:
        raise error

    for here, folders, files in os.walk(folder, onerror=fail):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in files:
            path = Path(here, name)
            if not name.startswith(".") and path.is_file():
                yield path.relative_to(folder).as_posix()


def pairs_of(gold: Path, predicted: Path) -> list[tuple[str | None, Path, Path]]:
    """The pairs of files of two sides: the two files, or the files of two folders by relative name.

    Raises `FileError` for a folder beside a file and for a name that only one folder has.
    """
    if gold.is_dir() != predicted.is_dir():
        folder, file = (gold, predicted) if gold.is_dir() else (predicted, gold)
        raise FileError(
            f"is a folder, but {file} is not", file=str(folder), advice="give two files or two folders"
        )
    own, other = (dict(files_of(side)) for side in (gold, predicted))
    for name in sorted(own.keys() ^ other.keys(), key=str):
        missing, there = (predicted, gold) if name in own else (gold, predicted)
        raise FileError(f"has no file {name!r}, which {there} has", file=str(missing))
    return [(name, own[name], other[name]) for name in own]


def read(
    path: str | Path,
    layers: Mapping[str, int] | None = None,
    *,
    input: str | None = None,
    token: int | None = None,
    token_id: int | None = None,
    scheme: str | None = None,
    invalid: str = "conlleval",
    document_tag: str = "text",
    sentence_tag: str = "s",
    text: str | Path | None = None,
    ignore_punct: bool | None = None,
    annotation_set: str | None = None,
) -> Iterator[Document]:
    """The documents of a file, or of all files below a folder, one at a time.

    Args:
        path: a file, packed or not, or a folder.
        layers: the name and column of each layer; columns count from 1, or from -1 at the end. None: the last
            column, called ``label``; of a table of spans, every column that is no position.
        input: the format (see `clueval.formats.FORMATS`); None: told from the first line.
        token, token_id: the columns of the tokens (None: the first that is nothing else) and of their ids.
        scheme: the tag scheme; None: told from the tags.
        invalid: what becomes of ill-formed tags: ``conlleval``, ``discard`` or ``error``.
        document_tag, sentence_tag: the XML elements that are documents and sentences.
        text: the text file that belongs to a table of spans; None: the ``.vrt`` beside it.
        ignore_punct: whether punctuation is taken out of the spans of CoNLL-2000 files, as FairEval does;
            None: yes.
        annotation_set: the annotation set, of formats that have several by name (``gate-xml``, ``bdoc``).

    Raises `CluevalError` for input that is not what it should be, with file and line, and `UsageError` for an
    option that the formats of these files do not have.
    """
    options = ReadOptions(
        layers,
        input,
        token,
        token_id,
        scheme,
        invalid,
        document_tag,
        sentence_tag,
        None if text is None else Path(text),
        ignore_punct,
        annotation_set=annotation_set,
    )
    return _documents(Path(path), options)


def _documents(path: Path, options: ReadOptions) -> Iterator[Document]:
    files = files_of(path)
    options.require_use(file for _, file in files)
    for name, file in files:
        yield from source_of(file, options, name=name).documents()


Paths = str | Path | Sequence[str | Path]
Documents = Iterable[Document]


def path_pairs(
    gold: Paths | Documents, predicted: Paths | Documents | None
) -> list[tuple[str | None, Path, Path]] | None:
    """The pairs of files that two arguments name, with their names among others; None if they are documents.

    Lists of files are paired in order; a file of a list is called as the gold file is. Raises `UsageError` for
    lists of different length, `FileError` for files that are not there.
    """
    if isinstance(gold, str | Path):
        if predicted is None:
            return pairs_of(Path(gold), Path(gold))
        return pairs_of(Path(gold), Path(predicted)) if isinstance(predicted, str | Path) else None
    lists = [side for side in (gold, predicted) if isinstance(side, list | tuple) and side]
    if len(lists) != 2 or not all(isinstance(path, str | Path) for paths in lists for path in paths):
        return None
    if len(lists[0]) != len(lists[1]):
        raise UsageError(f"{len(lists[0])} gold files and {len(lists[1])} predicted files cannot be paired")
    pairs = [(Path(own), Path(other)) for own, other in zip(*lists, strict=True)]
    for path in (path for pair in pairs for path in pair):
        if not path.is_file():
            raise FileError("there is no such file", file=str(path))
    return [(str(own), own, other) for own, other in pairs]


def are_paths(side: Paths | Documents | None) -> bool:
    """Whether an argument names files or folders, and does not hold documents."""
    if isinstance(side, list | tuple):
        return bool(side) and all(isinstance(path, str | Path) for path in side)
    return isinstance(side, str | Path)


def documents_of(side: Paths | Documents | None) -> Documents:
    """A side that is documents, as its type says. Raises `UsageError` for something else."""
    if side is None or isinstance(side, str | Path):
        raise UsageError("documents are wanted, not a path")
    return side  # type: ignore[return-value]  # lists of paths have been told apart by path_pairs


def source_pairs(
    pairs: Iterable[tuple[str | None, Path, Path]], options: Sequence[ReadOptions], progress: Progress | None
) -> Iterator[tuple[Source, Source]]:
    """The gold and the predicted source of each pair of files."""
    for name, own, other in pairs:
        read: dict[Path, Document] = {}
        yield (
            source_of(own, options[0], name=name, progress=progress, read=read),
            source_of(other, options[1], name=name, progress=progress, read=read),
        )


def document_pairs(own: Source, other: Source) -> Iterator[tuple[Document, Document]]:
    """The documents of two sources, pair by pair. Raises `TextMismatch` if one source has more."""
    for gold, predicted in zip_longest(own.documents(), other.documents()):
        if gold is None or predicted is None:
            extra = gold or predicted
            assert extra is not None
            raise ends_early(own, other, gold is None, extra.id, first_line(extra))
        yield gold, predicted


def ends_early(own: Source, other: Source, gold_ends: bool, document: str, line: int | None) -> TextMismatch:
    """The error for a side that ends where the other goes on with a document, the first token of it on a line."""
    shorter, longer = (own, other) if gold_ends else (other, own)
    place = longer.path if line is None else f"{longer.path}:{line}"
    return TextMismatch(
        f"the file ends where {place} goes on with document {document!r}",
        file=str(shorter.path),
        advice=ADVICE,
    )


def layer_names(layers: LayerColumns | None) -> list[str]:
    """The names of the layers."""
    return [DEFAULT_LAYER] if layers is None else list(layers)


def columns_of_side(layers: LayerColumns | None, side: int, single_file: bool) -> Mapping[str, int] | None:
    """The columns of the gold (0) or predicted (1) side; in a single file without layers the last two."""
    if layers is None:
        return {DEFAULT_LAYER: side - 2} if single_file else None
    if single_file and (alone := [name for name, columns in layers.items() if isinstance(columns, int)]):
        raise UsageError(
            f"layer {alone[0]!r} has one column, but gold and predicted are in one file",
            advice="name both columns, as in entity=2:3",
        )
    return {name: columns if isinstance(columns, int) else columns[side] for name, columns in layers.items()}


def same_documents(
    gold: Iterable[Document], predicted: Iterable[Document]
) -> Iterator[tuple[Document, Document]]:
    """Documents of two sides in pairs. Raises `UsageError` if one side has more."""
    for number, (own, other) in enumerate(zip_longest(gold, predicted)):
        if own is None or other is None:
            extra, lacking = (other, "gold") if own is None else (own, "predicted")
            raise UsageError(
                f"{lacking} has {number} document{'s' * (number != 1)} and ends where the other side goes on",
                file=extra.file,
                document=extra.id,
                advice="both sides must have the same documents in the same order",
            )
        yield own, other
