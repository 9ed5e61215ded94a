"""From paths to documents: a file with its format and options is a source of passages or documents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from clueval.exceptions import FileError, UsageError
from clueval.formats import COLUMN_FORMATS, spans_table
from clueval.formats.columns.documents import documents, recognised_schemes
from clueval.formats.columns.passages import Passage
from clueval.limits import MAX_LINE, MAX_SENTENCE, held_lines, in_sentences, require_few_values
from clueval.reading.layers import layer_names
from clueval.reading.options import WITH_SETS, ReadOptions, format_at
from clueval.reading.paths import files_of
from clueval.spans.document import Document
from clueval.spans.span import DEFAULT_LAYER
from clueval.tagging.decoder import Decoder
from clueval.textfiles import Complain, Progress, content, lines, raw_content, refuse


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

    @property
    def treatment(self) -> str | None:
        """How ill-formed tags of this file are treated; None if its format has no tags."""
        return self.options.treatment(self.format)

    def passages(self, complain: Complain = refuse) -> Iterator[Passage]:
        """The raw passages of a column format."""
        module = COLUMN_FORMATS[self.format]
        found: Iterator[Passage] = module.passages(
            self.path, self.options.columns(), name=self.name, progress=self.progress, complain=complain
        )
        return found

    def decoders(self) -> dict[str, Decoder]:
        """A decoder for each layer of a column format.

        Ill-formed tags can be discarded or refused only by a scheme. One that is not named is recognised from the
        whole file, which is read for that once more. Raises `TagError` for tags of two schemes.
        """
        options = self.options
        names = layer_names(options.layers)
        if options.scheme is not None or options.reads_leniently:
            return {name: options.decoder() for name in names}
        schemes = recognised_schemes(replace(self, progress=None).passages(), names)
        return {name: replace(options, scheme=scheme).decoder() for name, scheme in schemes.items()}

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
            return documents(self.passages(), self.decoders(), module.sentence_id)
        if self.format == "spans":
            return spans_table.read(
                self._held_lines(), self._text(), file=str(self.path), layers=self.options.layers
            )
        if self.options.layers is not None:
            raise UsageError(
                f"the format {self.format} has one layer, called {DEFAULT_LAYER!r}, and no columns to name",
                file=str(self.path),
            )
        return map(self._named, self._of_one_layer())

    def _of_one_layer(self) -> Iterator[Document]:
        """The documents of a format that has one layer without a name."""
        numbered = in_sentences(self._lines(), str(self.path), self.options.max_sentence)
        if self.format == "fair-spans":
            from clueval.formats.fair_spans import read_fair_spans

            return read_fair_spans(numbered, file=str(self.path))
        if self.format == "conll2000":
            from clueval.formats.conll2000 import read_conll2000

            punctuation = self.options.ignore_punct is not False
            return read_conll2000(
                numbered, file=str(self.path), ignore_punct=punctuation, invalid=self.treatment or "conlleval"
            )
        if self.format in WITH_SETS:
            return iter([self._of_set()])
        if self.format == "nerval":
            from clueval.formats.nerval import read_nerval

            treatment = self.treatment or "discard"
            return iter([read_nerval(self._held_lines(), file=str(self.path), invalid=treatment)])
        from clueval.formats.ltf import read_ltf

        return iter([read_ltf(self._content(), file=str(self.path))])

    def _lines(self) -> Iterator[tuple[int, str]]:
        return lines(self.path, self.progress, self.options.max_line, self.options.sizes.block)

    def _held_lines(self) -> Iterator[tuple[int, str]]:
        """The lines of a format that is held as a whole."""
        return held_lines(self._lines(), str(self.path), self.options.max_sentence)

    def _content(self) -> str:
        """The text of a format that is read as a whole."""
        text = content(self.path, self.options.max_line)
        require_few_values(text, str(self.path), self.options.max_sentence)
        return text

    def _raw_content(self) -> bytes:
        """The same, not decoded."""
        data = raw_content(self.path, self.options.max_line)
        require_few_values(data, str(self.path), self.options.max_sentence)
        return data

    def _of_set(self) -> Document:
        """The document of a format with annotation sets, and the set that is asked for."""
        from clueval.reading.annotation_sets import chosen_set

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

            return read_bdoc(self._content(), file=str(self.path))
        from clueval.formats.gate_xml import read_gate_xml

        return read_gate_xml(self._raw_content(), file=str(self.path))

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
            {},
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
    form = format_at(path, options)
    if options.annotation_set is not None and form not in WITH_SETS:
        raise UsageError(
            f"the format {form} has no annotation sets, and {options.annotation_set!r} is asked for",
            file=str(path),
            advice=f"sets are in {' and '.join(WITH_SETS)}",
        )
    try:
        options.treatment(form)
    except UsageError as error:
        error.file = str(path)
        raise
    return Source(path, form, options, name, progress, read)


def read(
    path: str | Path,
    layers: Mapping[str, int] | None = None,
    *,
    input: str | None = None,
    token: int | None = None,
    token_id: int | None = None,
    scheme: str | None = None,
    invalid: str | None = None,
    document_tag: str = "text",
    sentence_tag: str = "s",
    text: str | Path | None = None,
    ignore_punct: bool | None = None,
    annotation_set: str | None = None,
    max_line: int = MAX_LINE,
    max_sentence: int = MAX_SENTENCE,
) -> Iterator[Document]:
    """The documents of a file, or of all files below a folder, one at a time.

    Args:
        path: a file, packed or not, or a folder.
        layers: the name and column of each layer; columns count from 1, or from -1 at the end. None: the last
            column, called ``label``; of a table of spans, every column that is no position.
        input: the format (see `clueval.formats.FORMATS`); None: told from the first line.
        token, token_id: the columns of the tokens (None: the first that is nothing else) and of their ids.
        scheme: the tag scheme; None: told from the tags.
        invalid: how to treat ill-formed tags: ``conlleval``, ``discard`` or ``error``. None: as is usual for the
            format (``discard`` in Nerval's files, else ``conlleval``; see `clueval.formats.TREATMENTS`).
        document_tag, sentence_tag: the XML elements that are documents and sentences.
        text: the text file that belongs to a table of spans; None: the ``.vrt`` beside it.
        ignore_punct: whether punctuation is taken out of the spans of CoNLL-2000 files, as FairEval does;
            None: yes.
        annotation_set: the annotation set, of formats that have several by name (``gate-xml``, ``bdoc``).
        max_line: how many bytes a line may have, and a file of XML or JSON, unpacked.
        max_sentence: how many tokens a sentence may have; a file of ``nerval`` or ``spans`` has a fifth as many
            lines, one of XML or JSON a fifth as many tags or values.

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
        max_line=max_line,
        max_sentence=max_sentence,
    )
    return _documents(Path(path), options)


def _documents(path: Path, options: ReadOptions) -> Iterator[Document]:
    files = files_of(path)
    options.require_use(file for _, file in files)
    for name, file in files:
        yield from source_of(file, options, name=name).documents()
