"""The options for reading, of one side and of all, and what a function that reads adds to them; the layers."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

from clueval.core.span import DEFAULT_LAYER
from clueval.core.tags import INVALID, SCHEMES, scheme_called
from clueval.files.errors import UsageError, described, with_noun
from clueval.files.options import (
    Limits,
    changed_values,
    column,
    field_names,
    input_path,
    option_field,
    require_instance,
    require_kind,
    require_types,
    whole,
    with_fields,
)

OFFSETS = ("points", "utf16", "bytes")
"""The units of positions in files: code points, UTF-16 code units, bytes of UTF-8."""


_LIMITS = Limits()


def _formats() -> Sequence[str]:
    from clueval.formats.form import NAMES  # not needed for lists of tags and spans

    return NAMES


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Reading:
    """How files, and rows in memory, are read, except for their layers.

    Each field is an option: its help says what it does, and what None stands for. In Python, `row` and `meta` may be
    mappings, `names` a list or a mapping, and `labels` a list; `EVERY_SET` as `annotation_set` makes each set a layer.

    Raises `UsageError` for invalid values.

    >>> from clueval import score
    >>> sides = Reading(scheme="IOB1"), Reading(scheme="BIO")
    >>> score([["I-PER", "O"]], [["B-PER", "O"]], metrics="exact", reading=sides).f1
    1.0
    """

    TOPIC: ClassVar[str] = "reading"

    input: str | None = option_field(
        None,
        "FORMAT",
        "the format of the files, as clueval formats lists them",
        topic="",
        choices=_formats,
        paired=True,
        default="recognised",
    )
    row: str | Mapping[str, str] | None = option_field(
        None,
        "KEY=NAME,...",
        "how JSON rows of any form are read, as in text=response,spans=labels,label=type,start=start,end=end; a name "
        "may be a path, as data.text or points.0.start; KEY is text or tokens, id, spans, label, start, and end or "
        "end_inclusive; :KEY=NAME,... describes PREDICTED alone",
        parse=str,
        paired=True,
    )
    token: int | None = option_field(
        None,
        "COLUMN",
        "the column of the tokens",
        parse=column,
        paired=True,
        default="the first that holds neither tags nor token ids, nor the numbers of tokens in their sentence",
    )
    token_id: int | None = option_field(
        None,
        "COLUMN",
        "the column of the token ids, which must be unique within a document and equal on both sides",
        topic="",
        parse=column,
        paired=True,
    )
    document_column: int | None = option_field(
        None,
        "COLUMN",
        "the column with the id of the document of each token; a document begins where the id changes",
        parse=column,
        paired=True,
    )
    meta: Mapping[str, int] | Iterable[str] = option_field(
        (),
        "NAME=COLUMN",
        "metadata of documents and its column, for --by and --where; can be repeated",
        repeated=True,
    )
    scheme: str | None = option_field(
        None,
        "SCHEME",
        f"the scheme of the tags: {', '.join(SCHEMES)}",
        paired=True,
        default="recognised from the tags",
    )
    invalid: str | None = option_field(
        None,
        "HOW",
        "how to treat invalid tag sequences: conlleval repairs them as conlleval and seqeval do, discard drops "
        "their spans (seqeval's strict mode), error refuses them",
        choices=INVALID,
        paired=True,
    )
    document_tag: str = option_field("text", "TAG", "the XML element that is a document", paired=True)
    sentence_tag: str = option_field("s", "TAG", "the XML element that is a sentence", paired=True)
    text: str | Path | None = option_field(
        None,
        "FILE",
        "the file with the text of a table of spans: VRT or CoNLL, or JSON rows such as doccano's, of which the "
        "table has character positions",
        parse=input_path,
        default="the .vrt file of the same name next to the table, else the text of the other side",
    )
    ignore_punct: bool | None = option_field(
        None,
        None,
        "whether to remove punctuation from the spans, as FairEval does",
        default="yes",
        flag="--ignore-punctuation",
    )
    annotation_set: str | None = option_field(None, "NAME", "the annotation set to read")
    offsets: str | None = option_field(
        None,
        "UNIT",
        "the unit of the positions in the files",
        choices=OFFSETS,
        paired=True,
        default="points, that is Unicode code points",
    )
    answers: str | None = option_field(
        None,
        "WHICH",
        "the rows to read, by the answer of the annotator; without it, a rejected row is an error",
        choices=("accepted",),
    )
    names: str | Path | Sequence[str] | Mapping[Any, Any] | None = option_field(
        None,
        "FILE",
        "the names of tags that are numbers: a JSON list, a config.json with id2label, or dataset_info.json",
        parse=input_path,
    )
    text_key: str | None = option_field(None, "KEY", "the key of the text, if a row has several texts")
    labels: str | Sequence[str] | None = option_field(
        None,
        "LABELS",
        "the labels of inline tags, separated by commas",
        parse=str,
        default="all names in upper case",
    )
    unparsable: str | None = option_field(
        None,
        "HOW",
        "what to do with answers of language models that cannot be read: count them as answers without spans "
        "(empty), or leave out inline tags that are not closed or cross (lenient); without it, they are errors",
        choices=("empty", "lenient"),
    )
    missing: str | None = option_field(
        None,
        "HOW",
        "what to do with documents without an answer of a language model, which is found by their id: count them as "
        "answers without spans (empty); without it, they are errors",
        choices=("empty",),
    )
    max_line: int = option_field(
        _LIMITS.max_line,
        "BYTES",
        "the maximum number of bytes of a line, and of an unpacked XML or JSON file",
        parse=whole,
    )
    max_sentence: int = option_field(
        _LIMITS.max_sentence,
        "N",
        "the maximum number of tokens of a sentence; a fifth of N is the maximum number of lines of a file "
        "(formats nerval and spans), and of tags or values of an XML or JSON file",
        parse=whole,
    )
    max_document: int = option_field(
        _LIMITS.max_document,
        "N",
        "the maximum number of tokens of a document of a column file that must be held as a whole",
        parse=whole,
    )

    def __repr__(self) -> str:
        values = (f"{name}={value!r}" for name, value in changed_values(self).items())
        return f"{type(self).__name__}({', '.join(values)})"

    def __post_init__(self) -> None:
        self.limits  # noqa: B018  # it raises the error of a limit
        for name, value in (("input", self.input), ("scheme", self.scheme)):
            if isinstance(value, str) and ":" in value:
                raise UsageError(
                    f"{name}={value!r} has several names",
                    advice="give one; if the sides differ, score takes both, in Python as a pair of Reading objects",
                )
        require_types(self)
        object.__setattr__(self, "meta", columns_of_metadata(self.meta))
        if self.row is not None:
            keys = described_keys(self.row)
            object.__setattr__(self, "row", ",".join(f"{key}={name}" for key, name in keys.items()))
        if self.text is not None:
            object.__setattr__(self, "text", Path(self.text))
        if isinstance(self.labels, str):
            labels = tuple(label.strip() for label in self.labels.split(",") if label.strip())
            object.__setattr__(self, "labels", labels)
        if self.row is not None and self.input not in (None, "mentions", "inline"):
            problem = f"row describes rows, and input={self.input!r} names their format"
            raise UsageError(problem, advice="give one of them")
        for name in ("document_tag", "sentence_tag"):
            require_encodable(name, getattr(self, name))
        if self.scheme is not None:
            object.__setattr__(self, "scheme", scheme_called(self.scheme))

    @property
    def format(self) -> str | None:
        """The name of the format, or the description of rows, by which `clueval.formats.form` finds the reader."""
        return self.input if self.input is not None else None if self.row is None else str(self.row)

    @property
    def limits(self) -> Limits:
        """The most that is read of a file."""
        return Limits(max_line=self.max_line, max_sentence=self.max_sentence, max_document=self.max_document)

    @property
    def repairs(self) -> bool:
        """Whether ill-formed tags are repaired as conlleval does."""
        return self.invalid in (None, "conlleval")

    @property
    def needs_scheme(self) -> bool:
        """Whether no tag can be read before the scheme of all tags is known."""
        return self.scheme is None and not self.repairs


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class FormatOptions(Reading):
    """How one side is read: the options for reading, and what the function that reads adds to them.

    Attributes:
        layers: the source of each layer by its name: a column, from 1 or from -1 at the end, or a name.
        unit: ``token`` for the positions of tokens in documents of spaCy.
        unplaced: whether mentions without a place in the text are spans at its beginning.
        unannotated: a tag; a document of a column file with this tag on every token is left out.
        keeps_unannotated: whether documents of spaCy without annotation are kept, with `UNANNOTATED`, for those of
            other sides.
    """

    layers: Mapping[str, int | str] | None = None
    unit: str | None = None
    unplaced: bool = False
    unannotated: str | None = None
    keeps_unannotated: bool = False

    def __post_init__(self) -> None:
        Reading.__post_init__(self)
        for layer in self.layers or ():
            require_encodable("layer", layer)

    @classmethod
    def of(
        cls,
        reading: Reading,
        layers: Mapping[str, int | str] | None = None,
        **added: Any,
    ) -> FormatOptions:
        """Return the options `reading` for files with these layers, and the values `added` of other attributes."""
        return cls(**{**changed_values(reading), "layers": layers, **added})


def columns_of_metadata(meta: Any) -> tuple[tuple[str, int], ...]:
    """Return the names and columns of metadata, given as a dictionary, as pairs or as ``NAME=COLUMN``.

    Raises `UsageError` for anything else.
    """
    columns: dict[str, int] = {}
    for item in meta.items() if isinstance(meta, Mapping) else [meta] if isinstance(meta, str) else meta:
        name, number = item if isinstance(item, tuple) and len(item) == 2 else (item, None)
        if isinstance(item, str):
            name, _, text = item.partition("=")
            with suppress(ValueError):
                number = column(text)
        if not isinstance(name, str) or not name or not isinstance(number, int) or isinstance(number, bool):
            raise UsageError("Reading.meta needs a name and a column", advice="NAME=COLUMN, as in domain=4")
        if name in columns:
            raise UsageError(f"meta names {name!r} twice", advice="give each name once")
        columns[name] = number
    return tuple(columns.items())


DESCRIBED = ("text", "tokens", "id", "spans", "label", "start", "end", "end_inclusive")
"""The keys of a description of rows."""


def described_keys(description: str | Mapping[str, str]) -> dict[str, str]:
    """Return the names in a description of rows by its keys.

    Raises `UsageError` for another key, for one that is there twice or not at all, and for what contradicts itself.

    >>> described_keys("text=data.text,spans=labels")
    {'text': 'data.text', 'spans': 'labels'}
    """
    pairs: Iterable[tuple[str, str]]
    if isinstance(description, Mapping):
        pairs = description.items()
    else:
        pairs = []
        for part in description.split(","):
            key, equals, name = part.partition("=")
            if not equals:
                advice = "as in text=response,spans=labels,label=label_type"
                raise UsageError(f"{part!r} is not KEY=NAME", advice=advice)
            pairs.append((key.strip(), name.strip()))
    names: dict[str, str] = {}
    for key, name in pairs:
        if key not in DESCRIBED:
            from clueval.files.names import nearest  # only for a message

            near = nearest(str(key), DESCRIBED)
            advice = f"{f'did you mean {near}? ' if near else ''}The keys are {', '.join(DESCRIBED)}"
            raise UsageError(f"a description of rows has no key {key!r}", advice=advice)
        if key in names:
            raise UsageError(f"the description of rows names {key!r} twice", advice="separate names by |")
        parts = name.split("|") if isinstance(name, str) and not {",", "="} & {*name} else [""]
        if not all(all(part.split(".")) for part in parts):
            problem = f"{name!r} is not the name of a key"
            raise UsageError(problem, advice="name it, or a path such as data.text")
        require_encodable("row", name)
        names[key] = name
    if "spans" not in names:
        raise UsageError("the description of rows does not name the spans", advice="add spans=KEY")
    for first, second in (("text", "tokens"), ("end", "end_inclusive")):
        if first in names and second in names:
            problem = f"the description of rows names {first!r} and {second!r}"
            raise UsageError(problem, advice="name one of them")
    return names


def require_encodable(option: str, name: str) -> None:
    """Raise `UsageError` for a name that UTF-8 cannot represent, so that no file can contain it."""
    try:
        name.encode()
    except UnicodeEncodeError:
        raise UsageError(f"{option}={name!r} is not valid UTF-8", advice="check the name") from None


USUAL_READING = Reading()
"""How files are read without options."""

EVERY_SET = "*"
"""The name that selects all annotation sets: each is a layer then."""

SELECT_SETS = "select with gold_set and predicted_set, or with annotation_set if there is one side"


def sets_error(problem: str, file: str | None, sets: Iterable[str]) -> UsageError:
    """Return the error for an annotation set that is not named, or that a file does not have."""
    names = ", ".join(repr(name) if name else "'' (the default set)" for name in sets) or "none"
    return UsageError(problem, file=file, advice=f"its sets: {names}; {SELECT_SETS}")


# Sides

Readings = Reading | tuple[Reading, ...]
"""How files are read: one value for both sides, or one for gold, predicted and each further set of predicted."""

PAIR_BY = ("id", "name", "content")
"""The ways to pair documents: by the id of the document, by the name of its file, by its text."""

SETS = ("gold_set", "predicted_set")

MENTIONS, INLINE = ANSWER_FORMATS = ("mentions", "inline")
"""The formats of answers of language models; only predicted can have the first."""


def readings_of(reading: Readings, options: Mapping[str, Any]) -> tuple[Reading, ...]:
    """Return how gold, predicted and further sets are read; single `options` replace fields of `reading`."""
    several = reading if isinstance(reading, tuple) else (reading, reading)
    if len(several) < 2:
        raise UsageError("reading has one side only", advice="pass one Reading, or one for each side")
    for side_reading in several:
        require_instance(side_reading, Reading, "reading")
    readings = [with_fields(side_reading, options) for side_reading in several]
    if readings[1].input in (MENTIONS, INLINE):
        if readings[0].input != INLINE or readings[0].row is not None:
            readings[0] = without_answers(readings[0])
        readings[1] = replace(readings[1], row=None)
    for side, name in enumerate(SETS):
        require_kind(options.get(name), "str | None", name)
        if options.get(name) is not None:
            readings[side] = with_fields(readings[side], {"annotation_set": options[name]})
    return tuple(readings)


def without_answers(reading: Reading) -> Reading:
    """Return the options of gold, whose text answers are placed on, without those for answers."""
    format_name = None if reading.input in (MENTIONS, INLINE) else reading.input
    return replace(reading, input=format_name, unparsable=None, missing=None, labels=None)


def chosen_options(reading: Reading) -> list[str]:
    """Return the names of the options that are set, except the input and the annotation set.

    ``ignore_punct=False`` applies to every format, because no other format removes punctuation.
    """
    return [
        name
        for name, value in changed_values(reading).items()
        if name in _APPLYING and (name, value) != ("ignore_punct", False)
    ]


_APPLYING = frozenset(field_names(Reading)) - {"input", "annotation_set"}


def require_none(reading: Reading, allowed: Collection[str]) -> None:
    """Raise `UsageError` for an option that is set, except the `allowed`, because there are no files to read."""
    always = [name for name in ("input", "annotation_set") if getattr(reading, name)]
    for name in [*chosen_options(reading), *always]:
        if name not in allowed:
            from clueval.files.names import in_memory  # only for options that do not apply

            setting = name if name == "text" else f"{name}={getattr(reading, name)!r}"
            raise UsageError(
                f"{setting} applies to files, but both sides are in memory",
                advice=in_memory(name) or "remove it, or pass it to read",
            )


# Layers

LayerSource = int | str
"""Where the labels of a layer stand: a column, from 1 (from -1 at the end), or the name of a source of the format."""

LayerColumns = Mapping[str, LayerSource | tuple[LayerSource, LayerSource | None]]
"""Layer names and their sources; a pair has the gold and the predicted source.

The predicted source is None if only gold has the layer.
"""


def require_layers(layers: object) -> None:
    """Raise `UsageError` unless layers are None or a dictionary of names and columns."""
    if layers is None:
        return
    if not isinstance(layers, Mapping):
        raise UsageError(
            f"layers must be a dictionary, not {described(layers)}", advice="layers={'entity': 2}"
        )
    for name, columns in layers.items():
        require_kind(name, "str", "the name of a layer")
        both = columns if isinstance(columns, tuple) else (columns, columns)
        if len(both) != 2:
            raise UsageError(
                f"layer {name!r} has {with_noun(len(both), 'columns')}",
                advice="give one column, or one for gold and one for predicted",
            )
        for number, source in enumerate(both):
            named = " | str" if not str(source).lstrip("+-").isdigit() else ""  # "2" is meant as a column
            kinds = f"int{named} | None" if number else f"int{named}"
            require_kind(source, kinds, f"the column of layer {name!r}")


def layer_names(layers: LayerColumns | None) -> list[str]:
    """Return the names of the layers; without `layers`, there is one, called `DEFAULT_LAYER`."""
    return [DEFAULT_LAYER] if layers is None else list(layers)


def columns_of_side(
    layers: LayerColumns | None, side: int, single_file: bool
) -> Mapping[str, LayerSource] | None:
    """Return the sources of the gold (0) or predicted (1) side: by default, the last two columns of a single file."""
    if layers is None:
        return {DEFAULT_LAYER: side - 2} if single_file else None
    if single_file and (
        alone := [name for name, columns in layers.items() if not isinstance(columns, tuple)]
    ):
        raise UsageError(
            f"layer {alone[0]!r} has one column, but gold and predicted are in one file",
            advice="give both columns, as in layers={'entity': (2, 3)}",
        )
    sources = {
        name: columns[side] if isinstance(columns, tuple) else columns for name, columns in layers.items()
    }
    return {name: source for name, source in sources.items() if source is not None}
