"""The options for reading files: columns, format, and the options that each format uses."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from clueval.exceptions import CluevalError, UsageError, require_instance, require_kind
from clueval.formats import FORMATS, all_formats, format_by_ending, format_named, format_of
from clueval.formats.columns.layout import ColumnOptions
from clueval.formats.columns.named import NamedColumns, columns_of_layers
from clueval.formats.columns.sizes import SIZES, Sizes
from clueval.formats.format import Format
from clueval.formats.recognition import Beginning
from clueval.formats.reference import UNITS
from clueval.limits import MAX_DOCUMENT, MAX_LINE, MAX_SENTENCE, require_limits
from clueval.options import column, option, require_types, whole, with_fields
from clueval.reading.layers import LayerColumns, LayerSource, columns_of_side, meta_columns, require_name
from clueval.tagging.decoder import Decoder
from clueval.tagging.schemes import INVALID, SCHEMES, scheme_called
from clueval.textfiles import Part, blocks

ANSWERS = ("accepted",)

_FOR_ALL = ("input", "escapes", "max_line", "max_sentence", "max_document")
"""The options that every format reads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How files are read, except for their layers.

    Attributes:
        input: the format (see `clueval.formats.FORMATS`); None: recognised by the beginning of each file.
        token, token_id: the columns of the tokens (None: the first without tags and token ids) and of their ids.
        document_column: the column of the ids of documents; a document begins where the id changes.
        meta: names and columns of metadata of documents, as in ``{"domain": 4}``.
        scheme: the tag scheme; None: recognised from the tags.
        invalid: how to treat ill-formed tags: ``conlleval``, ``discard`` or ``error``; None: the usual treatment
            of the format (``discard`` for Nerval's files, otherwise ``conlleval``).
        document_tag, sentence_tag: the XML elements that are documents and sentences.
        text: the text file that belongs to a table of spans; None: the ``.vrt`` file next to the table.
        ignore_punct: whether to remove punctuation from the spans of CoNLL-2000 files, as FairEval does;
            None: yes.
        annotation_set: the annotation set, for formats that have several.
        offsets: the unit of positions: ``points`` (None), ``utf16`` or ``bytes``.
        answers: ``accepted``: rows of Prodigy with the answer ``reject`` are passed over; None: they are errors.
        names: the names of tags that are numbers: a file, a list or a mapping.
        escapes: ``ptb``: tokens such as ``-LRB-`` stand for characters of the text of the other side.
        text_key: the key of the text in rows with several texts.
        labels: the labels of inline tags, as a list or with commas; None: all names in upper case.
        max_line: the maximum number of bytes of a line, and of an unpacked XML or JSON file.
        max_sentence: the maximum number of tokens of a sentence; the maximum number of lines of a file of
            ``nerval`` or ``spans``, and of tags or values of an XML or JSON file, is a fifth of it.
        max_document: the maximum number of tokens of a document of a column file that is held as a whole.

    Raises `UsageError` for invalid values.
    """

    input: str | None = field(
        default=None,
        metadata=option(
            "--input",
            "FORMAT",
            "the format of the files",
            choices=FORMATS,
            paired=True,
            default="recognised by the beginning of each file",
        ),
    )
    token: int | None = field(
        default=None,
        metadata=option(
            "--token",
            "COLUMN",
            "the column of the tokens",
            topic="reading",
            parse=column,
            paired=True,
            default="the first that holds neither tags nor token ids",
        ),
    )
    token_id: int | None = field(
        default=None,
        metadata=option(
            "--token-id",
            "COLUMN",
            "the column of the token ids, which must be unique within a document and equal on both sides",
            parse=column,
            paired=True,
        ),
    )
    document_column: int | None = field(
        default=None,
        metadata=option(
            "--document-column",
            "COLUMN",
            "the column with the id of the document of each token; a document begins where the id changes",
            topic="reading",
            parse=column,
            paired=True,
        ),
    )
    meta: Mapping[str, int] | Iterable[str] = field(
        default=(),
        metadata=option(
            "--meta",
            "NAME=COLUMN",
            "metadata of documents and its column, for --by and --where; repeat the option for each",
            topic="reading",
            repeated=True,
        ),
    )
    scheme: str | None = field(
        default=None,
        metadata=option(
            "--scheme",
            "SCHEME",
            f"the scheme of the tags: {', '.join(SCHEMES)}",
            topic="reading",
            paired=True,
            default="recognised from the tags",
        ),
    )
    invalid: str | None = field(
        default=None,
        metadata=option(
            "--invalid",
            "HOW",
            "how to treat invalid tag sequences: conlleval repairs them as conlleval and seqeval do, discard drops "
            "their spans (seqeval's strict mode), error refuses them",
            topic="reading",
            choices=INVALID,
            paired=True,
        ),
    )
    document_tag: str = field(
        default="text",
        metadata=option(
            "--document-tag",
            "TAG",
            "the XML element that is a document",
            topic="reading",
            paired=True,
        ),
    )
    sentence_tag: str = field(
        default="s",
        metadata=option(
            "--sentence-tag",
            "TAG",
            "the XML element that is a sentence",
            topic="reading",
            paired=True,
        ),
    )
    text: str | Path | None = field(
        default=None,
        metadata=option(
            "--text",
            "FILE",
            "the VRT or CoNLL file with the text of a table of spans",
            topic="reading",
            parse=Path,
            default="the .vrt file of the same name next to the table",
        ),
    )
    ignore_punct: bool | None = field(
        default=None,
        metadata=option(
            "--ignore-punctuation",
            None,
            "whether to remove punctuation from the spans, as FairEval does",
            topic="reading",
            default="yes",
        ),
    )
    annotation_set: str | None = field(
        default=None,
        metadata=option("--annotation-set", "NAME", "the annotation set to read", topic="reading"),
    )
    offsets: str | None = field(
        default=None,
        metadata=option(
            "--offsets",
            "UNIT",
            "the unit of the positions in the files",
            topic="reading",
            choices=UNITS,
            paired=True,
            default="points, that is Unicode code points",
        ),
    )
    answers: str | None = field(
        default=None,
        metadata=option(
            "--answers",
            "WHICH",
            "the rows to read, by the answer of the annotator; without it, a rejected row is an error",
            topic="reading",
            choices=ANSWERS,
        ),
    )
    names: str | Path | Sequence[str] | Mapping[Any, str] | None = field(
        default=None,
        metadata=option(
            "--names",
            "FILE",
            "the names of tags that are numbers: a JSON list, id2label or dataset_info.json",
            topic="reading",
            parse=Path,
        ),
    )
    text_key: str | None = field(
        default=None,
        metadata=option(
            "--text-key", "KEY", "the key of the text, if a row has several texts", topic="reading"
        ),
    )
    escapes: str | None = field(
        default=None,
        metadata=option(
            "--escapes",
            "CONVENTION",
            "what tokens stand for where gold and predicted have different formats: ptb, as -LRB- for a bracket",
            topic="reading",
            choices=("ptb",),
        ),
    )
    labels: str | Sequence[str] | None = field(
        default=None,
        metadata=option(
            "--labels",
            "LABELS",
            "the labels of inline tags, separated by commas",
            topic="reading",
            parse=str,
            default="all names in upper case",
        ),
    )
    max_line: int = field(
        default=MAX_LINE,
        metadata=option(
            "--max-line",
            "BYTES",
            "the maximum number of bytes of a line, and of an unpacked XML or JSON file",
            topic="reading",
            parse=whole,
        ),
    )
    max_sentence: int = field(
        default=MAX_SENTENCE,
        metadata=option(
            "--max-sentence",
            "N",
            "the maximum number of tokens of a sentence; the maximum number of lines of a file (formats nerval and "
            "spans) and of tags or values of an XML or JSON file is a fifth of it",
            topic="reading",
            parse=whole,
        ),
    )
    max_document: int = field(
        default=MAX_DOCUMENT,
        metadata=option(
            "--max-document",
            "N",
            "the maximum number of tokens of a document of a column file that must be held as a whole",
            topic="reading",
            parse=whole,
        ),
    )

    def __post_init__(self) -> None:
        require_limits(max_line=self.max_line, max_sentence=self.max_sentence, max_document=self.max_document)
        require_types(self)
        object.__setattr__(self, "meta", meta_columns(self.meta))
        if self.text is not None:
            object.__setattr__(self, "text", Path(self.text))
        if isinstance(self.labels, str):
            labels = tuple(label.strip() for label in self.labels.split(",") if label.strip())
            object.__setattr__(self, "labels", labels)
        if self.input is not None and self.input not in FORMATS:
            raise UsageError(f"unknown format {self.input!r}", advice=f"one of {', '.join(FORMATS)}")
        if self.invalid is not None and self.invalid not in INVALID:
            raise UsageError(
                f"unknown treatment of ill-formed tags {self.invalid!r}",
                advice=f"one of {', '.join(INVALID)}",
            )
        for name, known in (("offsets", UNITS), ("answers", ANSWERS)):
            if getattr(self, name) not in (None, *known):
                raise UsageError(
                    f"{name}={getattr(self, name)!r} is unknown", advice=f"one of {', '.join(known)}"
                )
        for name in ("document_tag", "sentence_tag"):
            require_name(name, getattr(self, name))
        if self.scheme is not None:
            scheme_called(self.scheme)

    @property
    def text_path(self) -> Path | None:
        """The text file that belongs to a table of spans."""
        return None if self.text is None else Path(self.text)

    def require_none(self, allowed: Collection[str] = ()) -> None:
        """Raise `UsageError` for an option that is set, except the `allowed`, because there are no files to read."""
        for name in [*self._set(), *(each for each in ("input", "annotation_set") if getattr(self, each))]:
            if name not in allowed:
                raise UsageError(
                    f"{name}={getattr(self, name)!r} applies to files, but both sides are in memory",
                    advice="remove it, or pass it to read",
                )

    def _set(self) -> list[str]:
        """Return the options that are set and do not apply to every format.

        ``ignore_punct=False`` applies to every format, because no other format removes punctuation.
        """
        return [
            each.name
            for each in fields(Reading)
            if each.name not in ("input", "annotation_set", "escapes")
            and getattr(self, each.name) != each.default
            and (each.name, getattr(self, each.name)) != ("ignore_punct", False)
        ]


Readings = Reading | tuple[Reading, ...]
"""How files are read: one value for both sides, or one for gold, predicted and each further set of predicted."""

SETS = ("gold_set", "predicted_set")


def readings_of(reading: Readings, options: Mapping[str, Any]) -> tuple[Reading, ...]:
    """Return how gold, predicted and further sets are read; single `options` replace fields of `reading`."""
    several = reading if isinstance(reading, tuple) else (reading, reading)
    if len(several) < 2:
        raise UsageError(
            "reading has one side only", advice="pass one Reading for both sides, or one for each"
        )
    for each in several:
        require_instance(each, Reading, "reading")
    readings = [with_fields(each, options) for each in several]
    for side, name in enumerate(SETS):
        require_kind(options.get(name), "str | None", name)
        if options.get(name) is not None:
            readings[side] = with_fields(readings[side], {"annotation_set": options[name]})
    return tuple(readings)


def columns_of_sides(
    readings: Sequence[ReadOptions], layers: LayerColumns | None, single: bool
) -> list[ReadOptions]:
    """Return how gold, predicted and further sets are read, with the columns of their layers.

    If `single` is true, the same files hold both sides, in different columns or in different annotation sets.
    """
    both_columns = single and readings[0].annotation_set is None
    return [
        replace(
            each,
            layers=columns_of_side(layers, min(number, 1), both_columns),
            token=1 if each.token is None and both_columns else each.token,
        )
        for number, each in enumerate(readings)
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOptions(Reading):
    """How the files of one side are read: the options for reading, and further options of the evaluation.

    `layers`: the column or named source of each layer. `whole_text`: whether lines of a token and a tag are one
    text (Nerval). `containing`: ``SET:TYPE``, annotations that become a further layer of that name. `part`: bytes
    of a column file, which are read like a whole file. `sizes`: amounts that are read and held at a time.
    `unit`: the unit of the positions, for formats that have both. `named`: the names of the columns of a column
    file, once it is known which file is read.
    """

    layers: Mapping[str, LayerSource] | None = None
    whole_text: bool = False
    containing: str | None = None
    part: Part | None = None
    sizes: Sizes = SIZES
    unit: str | None = None
    named: NamedColumns | None = None

    def __post_init__(self) -> None:
        Reading.__post_init__(self)
        for layer in self.layers or ():
            require_name("layer", layer)
        if self.layers is not None and not self.layers:
            raise UsageError("there is no layer", advice="name one, as in entity=2")

    @classmethod
    def of(
        cls,
        reading: Reading,
        layers: Mapping[str, LayerSource] | None = None,
        *,
        whole_text: bool = False,
        containing: str | None = None,
        unit: str | None = None,
    ) -> ReadOptions:
        """Return the options `reading` for files with these layers."""
        given = {each.name: getattr(reading, each.name) for each in fields(Reading)}
        return cls(**given, layers=layers, whole_text=whole_text, containing=containing, unit=unit)

    def format_at(self, path: Path) -> Format:
        """Return the format of a file, recognised by its beginning if `input` is None. Raises `FormatError`."""
        if self.input is not None:
            return format_named(self.input)
        if (decided := format_by_ending(path.name)) is not None:
            return decided  # many small files need not be opened for it
        return format_of(Beginning(path.name, self._first_block(path), self.whole_text), str(path))

    def with_names(self, form: Format, path: Path) -> ReadOptions:
        """Return the options with the names of the columns of a file, if it gives them.

        Raises `UsageError` for a layer whose column has a name that the file does not have.
        """
        if form.token_lines is None:
            return self
        find = form.token_lines.named
        named = None if find is None else find(self._first_block(path))
        columns_of_layers(self.layers, named, str(path))
        return self if named is self.named else replace(self, named=named)

    def _first_block(self, path: Path) -> str:
        return next((text for _, text in blocks(path, complain=_keep_quiet, max_line=self.max_line)), "")

    def require_use(self, paths: Iterable[Path]) -> None:
        """Raise `UsageError` for an option that is set but applies to the format of no file.

        Files are opened until each option applies to one of them; if no option is set, none is opened.
        """
        idle = [name for name in self._set() if name not in _FOR_ALL]
        formats: dict[str, Path] = {}
        for path in paths if idle else ():
            form = self.format_at(path)
            formats.setdefault(form.name, path)
            idle = [name for name in idle if name not in form.reads]
            if not idle:
                return
        for name in idle if formats else ():
            raise UsageError(
                f"{_flag(name, getattr(self, name))} does not apply to the format {' or '.join(formats)}",
                file=str(next(iter(formats.values()))),
                advice=f"remove it; it applies to {', '.join(formats_that_read(name))}",
            )

    @property
    def reads_leniently(self) -> bool:
        """Whether ill-formed tags of column files are repaired, which does not depend on their scheme."""
        return self.invalid in (None, "conlleval")

    def decoder(self) -> Decoder:
        return Decoder(self.scheme, self.invalid or "conlleval")

    def has_columns_of(self, other: ReadOptions) -> bool:
        """Return whether the columns of two files have the same uses; the parts that are read may differ."""
        return replace(self, part=None).columns() == replace(other, part=None).columns()

    def columns(self) -> ColumnOptions:
        token = self.named.token if self.named is not None and self.token is None else self.token
        return ColumnOptions(
            columns_of_layers(self.layers, self.named, ""),
            token,
            self.token_id,
            self.document_column,
            tuple(meta_columns(self.meta)),
            self.document_tag,
            self.sentence_tag,
            self.part,
            self.max_line,
            self.max_sentence,
            self.sizes,
            self.named,
        )


def formats_that_read(option: str) -> list[str]:
    """Return the names of the formats that read `option`, a field of `Reading` or ``layers``."""
    return [form.name for form in all_formats() if option in (*form.reads, *_FOR_ALL)]


def _flag(name: str, value: object) -> str:
    """Return an option as on the command line, with its value."""
    if name == "ignore_punct":
        return "--ignore-punctuation" if value else "--no-ignore-punctuation"
    return f"--{name.replace('_', '-')} {value}"


def _keep_quiet(_: CluevalError) -> None:
    """Ignored here: reading the file reports the same error."""
